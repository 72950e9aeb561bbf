"""Replies as mail programs write them: exactly the commands meant are read, or none."""

import pytest

from pbem.domain import reply_commands
from pbem.domain.reply_commands import Slip
from pbem.mail.read.addressed import fit_to_keep, read
from pbem.mail.read.automatic import sign_of_a_program
from pbem.mail.read.reply import reply_of
from tests.mail.corpus import Sample, offering, same, samples, understood

DOMAIN = "play.example.org"
OUTSIDE, INSIDE = samples("outside"), samples("inside")


def named(sample: Sample) -> str:
    return sample.name


def meant(sample: Sample) -> tuple[str, ...]:
    """What the server takes for commands: nothing of what a program wrote."""
    kept = read(fit_to_keep(sample.raw, "somebody@example.net"))
    if sign_of_a_program(kept, DOMAIN, f"games@{DOMAIN}") is not None:
        return ()
    return understood(sample.message, sample.legal)


def test_there_are_sixty_replies_and_a_third_of_them_is_from_outside() -> None:
    assert len(OUTSIDE) + len(INSIDE) >= 60
    assert len(OUTSIDE) * 3 >= len(OUTSIDE) + len(INSIDE)


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_a_reply_is_read_as_it_was_meant(sample: Sample) -> None:
    read_as = meant(sample)
    assert same(read_as, sample.commands), f"{read_as} was read, {sample.commands} was meant"


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_a_reply_reads_the_same_after_it_was_kept(sample: Sample) -> None:
    kept = read(fit_to_keep(sample.raw, "somebody@example.net"))
    assert reply_of(kept).lines == reply_of(sample.message).lines


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_of_a_reply_only_what_is_legal_could_be_played(sample: Sample) -> None:
    decision = offering(sample.legal)
    read_as = [reply_commands.read(line, decision) for line in reply_of(sample.message).lines]
    moves = [command.choice for command in read_as if isinstance(command, reply_commands.Move)]
    assert all(choice in decision for choice in moves)
    assert len(moves) + sum(isinstance(command, Slip) for command in read_as) <= len(sample.commands)
