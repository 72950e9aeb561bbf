"""Replies by real mail programs: exactly the intended commands are read."""

import pytest

from pbem.domain import reply_commands
from pbem.domain.reply_commands import Slip
from pbem.mail.read.auto_replies import automation_sign
from pbem.mail.read.inbound import parse, sanitise
from pbem.mail.read.reply import parse_reply
from tests.mail.corpus import Sample, offering, same, samples, understood

DOMAIN = "play.example.org"
OUTSIDE, INSIDE = samples("outside"), samples("inside")


def named(sample: Sample) -> str:
    return sample.name


def intended(sample: Sample) -> tuple[str, ...]:
    """The lines that the server may read as commands, without a program's text."""
    stored = parse(sanitise(sample.raw, "somebody@example.net"))
    if automation_sign(stored, DOMAIN, f"games@{DOMAIN}") is not None:
        return ()
    return understood(sample.message, sample.legal)


def test_there_are_sixty_replies_and_a_third_are_from_outside() -> None:
    assert len(OUTSIDE) + len(INSIDE) >= 60
    assert len(OUTSIDE) * 3 >= len(OUTSIDE) + len(INSIDE)


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_a_reply_is_read_as_intended(sample: Sample) -> None:
    read_as = intended(sample)
    assert same(read_as, sample.commands), f"{read_as} was read, {sample.commands} was meant"


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_a_reply_reads_the_same_after_storage(sample: Sample) -> None:
    stored = parse(sanitise(sample.raw, "somebody@example.net"))
    assert parse_reply(stored).lines == parse_reply(sample.message).lines


@pytest.mark.parametrize("sample", [*OUTSIDE, *INSIDE], ids=named)
def test_only_legal_commands_of_a_reply_could_be_played(sample: Sample) -> None:
    decision = offering(sample.legal)
    read_as = [reply_commands.read(line, decision) for line in parse_reply(sample.message).lines]
    moves = [command.choice for command in read_as if isinstance(command, reply_commands.Move)]
    assert all(choice in decision for choice in moves)
    assert len(moves) + sum(isinstance(command, Slip) for command in read_as) <= len(sample.commands)
