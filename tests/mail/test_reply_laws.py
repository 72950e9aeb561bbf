"""Laws of reading replies, for emails of every game and every way of quoting."""

from functools import cache
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from engine import grammar, orders, registry
from engine.chance import Stream
from engine.decisions import Act, Decision
from engine.table import begin
from pbem.domain import reply_commands
from pbem.domain.reply_commands import Move, StandingOrder, Word, WordCommand
from pbem.mail.read.reply import parse_reply
from tests.mail.clients import PROGRAMS
from tests.mail.kinds import emails_of, kind_of
from tests.mail.sink import ReceivedEmail

GAMES = registry.names()
ANSWERABLE = {"turn", "reminder", "receipt"}
MOST_EMAILS, MOST_MOVES, EXAMPLES = 5, 120, 40

pytestmark = pytest.mark.slow


@cache
def answerable(game: str) -> tuple[ReceivedEmail, ...]:
    """A few emails of a game that can be answered, early and late ones."""
    found = [received for received in emails_of(game) if kind_of(received.message) in ANSWERABLE]
    return tuple(found[:: len(found) // MOST_EMAILS + 1])


@cache
def decisions(game: str) -> tuple[Decision, ...]:
    """The decisions of a random game."""
    rules = registry.load(game)
    draw, table = Stream(b"answers" + bytes(25), 0), begin(rules, min(rules.seats), bytes(32))
    found: list[Decision] = []
    while (asked := {s: d for s, d in table.position.open().items() if s not in table.position.box}) and (
        len(found) < MOST_MOVES
    ):
        seat, decision = next(iter(asked.items()))
        found.append(decision)
        choice = decision.sample(draw)
        objected = rules.objects(table.view(seat), seat, choice) is not None
        table = table.submit(seat, decision.default if objected else choice)
    return tuple(found)


@cache
def everything_asked(game: str) -> Decision:
    """All decisions of a game as one, beside which any line could be a command."""
    acts: dict[str, Act] = {}
    for decision in decisions(game):
        for act in decision.acts:
            acts.setdefault(grammar.usage(act), act)
    return Decision(0, decisions(game)[0].prompt, tuple(acts.values())[:80], decisions(game)[0].default)


@pytest.mark.slice(2 / 5)
@pytest.mark.parametrize("game", GAMES)
def test_our_own_words_are_never_a_command_in_any_quote(game: str) -> None:
    asked, chance = everything_asked(game), Random(game)
    for name, program in PROGRAMS.items():
        for received in answerable(game):
            for answer in ((), ("I will think about it.",)):
                reply = parse_reply(program(answer, received, chance))
                assert [line for line in reply.lines if reply_commands.read(line, asked) is not None] == [], name
                assert all(line in reply.lines for line in answer), name


@pytest.mark.parametrize("game", GAMES)
def test_none_of_our_words_is_a_verb_of_a_game(game: str) -> None:
    verbs = {act.verb for decision in decisions(game) for act in decision.acts}
    assert not verbs & set(Word)
    assert not any(verb.startswith(tuple(Word)) for verb in verbs)


@pytest.mark.slice(2 / 5)
@settings(max_examples=EXAMPLES)
@given(data=st.data(), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("game", GAMES)
def test_every_legal_command_is_read_from_every_program(game: str, data: st.DataObject, seed: int) -> None:
    chance = Random(seed)
    decision = data.draw(st.sampled_from(decisions(game)))
    choice = decision.sample(Stream(seed.to_bytes(32), 0))
    written = grammar.write(decision, choice)
    dressed = data.draw(
        st.sampled_from(("{}", "{}.", "*{}*", "- {}", "“{}”", "{}, please", "  {}  ", "{}!", "\u200e{}\u200f"))
    ).format(written)
    order = data.draw(st.sampled_from((*orders.offered(decision), "")))
    answer = [
        data.draw(st.sampled_from(("Hello all,", "This one is hard.", "Well, well."))),
        data.draw(st.sampled_from((dressed, dressed.upper()))),
        "talk Good luck to you, and see you next week!",
    ]
    program = data.draw(st.sampled_from(sorted(PROGRAMS)))
    message = PROGRAMS[program](answer, data.draw(st.sampled_from(answerable(game))), chance)
    read = [found for line in parse_reply(message).lines if (found := reply_commands.read(line, decision)) is not None]
    first, second = read
    assert isinstance(first, Move)
    assert first.choice == choice
    assert isinstance(second, WordCommand)
    assert second.rest == "Good luck to you, and see you next week!"
    if order and "<" not in order:
        assert isinstance(reply_commands.read(order, decision), StandingOrder)


@pytest.mark.parametrize("game", GAMES)
def test_the_quoted_email_tells_which_turn_was_seen(game: str) -> None:
    for name, program in PROGRAMS.items():
        for received in answerable(game)[:2]:
            turn = int(received.text.partition("[pbem ")[2].partition("]")[0].partition(" t")[2])
            assert parse_reply(program(["pass"], received, Random(1))).turn == turn, name
