"""Why a choice was made that no person made: who may know it while the game runs, and how it is told."""

from dataclasses import replace

import pytest

from engine.facts import SPECTATOR, Fact, fact
from engine.tell import Teller
from pbem.domain.causes import Cause, TurnFacts, tell_turn
from pbem.domain.errors import TimedOut
from pbem.service.play.log import Maker, causes, entries_back, standing_entries
from pbem.service.play.move import Actor
from pbem.service.play.rules import rules_of
from tests.service.database import all_rows
from tests.service.play.test_undo import leave, opens_a_sealed_auction


@fact
class Passed(Fact[None]):
    """{seat} [passes|pass]."""

    seat: int


@fact
class Dealt(Fact[None]):
    """Cards!"""


def entries(game):
    """The entries that stand, which are the same whichever way the log is read."""
    rules, rows = rules_of(game.row()), game.log()
    forwards = standing_entries(rules, rows)
    assert list(entries_back(rules, reversed(rows))) == forwards[::-1]
    return forwards


def known(game, reader, *, ended=False):
    """What a reader may know of the last entry."""
    return causes(entries(game)[-1], reader, ended=ended)


def choose(game, *makers):
    """Let the clock or others choose the default for the seats that are asked, one after the other; return the seats."""
    seats = sorted(game.asked())
    for seat, by in zip(seats, makers, strict=True):
        game.play(seat, game.asked()[seat].default, by)
    return seats


def test_the_maker_of_a_sealed_choice_is_known_once_the_turn_closes(table):
    game = table("sunset-poker", 3)
    one, two, three = choose(game, Actor.CLOCK, Actor.PERSON, Actor.CLOCK)
    last = entries(game)[-1]
    assert {seat: maker.by for seat, maker in last.makers.items()} == {one: "clock", two: "person", three: "clock"}
    assert known(game, SPECTATOR, ended=True) == {one: Cause.CLOCK, three: Cause.CLOCK}


def test_the_last_choice_of_a_seat_counts(table):
    game = table("sunset-poker", 3)
    first, second, *_ = game.asked()[0].choices()
    game.play(0, first, Actor.CLOCK)
    game.play(0, second)
    choose(game, Actor.PERSON, Actor.PERSON)
    assert known(game, 0) == {}


def test_while_a_game_runs_the_clock_is_named_to_others_only_where_anyone_could_have_named_the_choice(table):
    secret = table("sunset-poker", 3)
    one, two, three = choose(secret, Actor.CLOCK, Actor.PERSON, Actor.PERSON)
    assert known(secret, one) == {one: Cause.CLOCK}
    assert known(secret, two) == known(secret, three) == known(secret, SPECTATOR) == {}
    public = table("templari", 3)
    (seat,) = choose(public, Actor.CLOCK)
    for reader in (0, 1, 2, SPECTATOR):
        assert known(public, reader) == {seat: Cause.CLOCK}
    assert entries(public)[-1].makers == {seat: Maker("clock", public=True)}


def test_a_sealed_choice_of_the_clock_that_anyone_could_have_named_is_no_secret(table):
    game, *_ = opens_a_sealed_auction(table)
    one, two, _ = choose(game, Actor.PERSON, Actor.CLOCK, Actor.PERSON)
    assert known(game, one) == known(game, SPECTATOR) == {two: Cause.CLOCK}


def test_a_standing_order_is_its_players_secret_until_the_game_is_over(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    leave(game, seat, "up to 3")
    others = {0, 1, 2, SPECTATOR} - {seat}
    assert known(game, seat) == {seat: Cause.ORDER}
    assert all(known(game, other) == {} for other in others)
    assert all(known(game, other, ended=True) == {seat: Cause.ORDER} for other in others)


def test_the_choice_of_a_bot_and_an_only_choice_are_known_to_all(table):
    game = table("templari", 3, bots=("random",))
    bot = next(seat for seat, player in game.players().items() if player.bot)
    while bot not in game.asked():
        choose(game, Actor.PERSON)
    game.play(bot, game.asked()[bot].default, Actor.BOT)
    standing = next(each for each in entries(game)[::-1] if bot in each.entry.choices.keys() - each.entry.alone)
    assert causes(standing, SPECTATOR, ended=False) == {bot: Cause.BOT}
    alone = replace(standing.entry, alone=frozenset({bot}))
    assert causes(replace(standing, entry=alone), SPECTATOR, ended=False) == {bot: Cause.ONLY}


def test_a_choice_after_the_clock_has_decided_is_told_so_whichever_it_is(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "pass", Actor.CLOCK)
    before = all_rows(game.server.store)
    for late in ("pass", "bid 1"):
        with pytest.raises(TimedOut, match=f"Time ran out on turn {turn}, so we played “pass” for you"):
            game.play(seat, late, turn=turn)
    assert all_rows(game.server.store) == before


@pytest.mark.parametrize(
    ("facts", "causes", "sentences"),
    [
        ([Passed(1)], {1: Cause.CLOCK}, ["Ben passes (time ran out)."]),
        ([Passed(1), Dealt(), Passed(1)], {1: Cause.ORDER}, ["Ben passes (standing order).", "Cards!", "Ben passes."]),
        ([Passed(0), Passed(1)], {1: Cause.BOT}, ["You pass.", "Ben passes (bot)."]),
        ([Dealt()], {0: Cause.ONLY, 1: Cause.CLOCK}, ["Cards! (You: no other choice; Ben: time ran out)"]),
        ([Dealt()], {0: Cause.ONLY, 1: Cause.ONLY}, ["Cards! (You and Ben: no other choice)"]),
        ([Passed(0)], {0: Cause.ONLY, 1: Cause.ONLY}, ["You pass (no other choice; Ben: no other choice)."]),
        ([], {1: Cause.CLOCK}, []),
    ],
    ids=[
        "one",
        "only the first",
        "several seats",
        "no sentence about the seat",
        "shared",
        "own and another",
        "silence",
    ],
)
def test_the_reason_is_told_with_the_first_sentence_about_its_seat(facts, causes, sentences):
    assert tell_turn(TurnFacts(1, tuple(facts), causes), Teller(0, ("Ann", "Ben"))) == sentences
