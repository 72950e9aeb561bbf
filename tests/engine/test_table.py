"""Windows, the box, and what a choice does, through the public methods of a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import codec
from engine.chance import Scripted, follows
from engine.decisions import Choice, Refused
from engine.facts import HIDDEN, SPECTATOR
from engine.registry import load, load_file, names
from engine.table import Table, begin, deal, replay

TOYS = Path(__file__).parent / "toys"
SEED = bytes(range(32))
YES, VETO = Choice("allow"), Choice("veto")


@pytest.fixture(scope="module")
def lanterns():
    return load_file(TOYS / "lanterns.py")


@pytest.fixture(scope="module")
def thieves():
    return load_file(TOYS / "thieves.py")


def bid(coins):
    return Choice("bid", (coins,))


def written(table: Table) -> str:
    return codec.dumps((table.position.state, table.position.turn, table.position.box, table.log, table.views))


def test_a_game_begins_with_the_deal_as_its_first_entry(lanterns):
    table = begin(lanterns, 3, SEED)
    assert [type(happened).__name__ for happened in table.log[0].facts] == ["Liked", "Liked", "Liked", "Offered"]
    assert (len(table.log), table.position.turn, table.log[0].choices) == (1, 1, {})
    assert follows(SEED, 0, table.log[0].drawn)


def test_a_turn_waits_for_its_last_seat_and_then_tells_everything_at_once(lanterns):
    table = begin(lanterns, 3, SEED)
    for seat in (2, 0):
        table = table.submit(seat, YES)
        assert len(table.log) == 1
    table = table.submit(1, YES)
    assert table.log[1].choices == {2: YES, 0: YES, 1: YES}
    assert table.position.box == {}


def test_a_choice_may_be_changed_until_the_turn_closes(lanterns):
    table = _bidding(lanterns)
    table = table.submit(0, bid(9)).submit(0, bid(2)).submit(1, bid(3)).submit(2, bid(1))
    assert table.log[-1].choices[0] == bid(2)


def test_a_choice_can_be_taken_back_while_the_turn_is_open(lanterns):
    position = _bidding(lanterns).position
    sealed, _ = position.submit(0, bid(9))
    assert sealed.withdraw(0) == position


def test_a_seat_can_take_back_only_its_own_choice(lanterns):
    sealed = _bidding(lanterns).submit(0, bid(9)).position
    for stranger in (1, 3, -1, False, 0.0, None, "0", HIDDEN):
        with pytest.raises(Refused):
            sealed.withdraw(stranger)


def test_a_closing_verb_ends_the_turn_and_drops_the_other_choices(lanterns):
    table = begin(lanterns, 3, SEED).submit(0, YES).submit(2, VETO)
    assert table.log[1].choices == {2: VETO}
    assert table.position.box == {}
    assert not table.position.state.vetoes[2]


def test_a_sealed_choice_is_in_no_state_and_no_view(lanterns):
    before = _bidding(lanterns)
    after = before.submit(0, bid(9))
    assert codec.dumps((after.position.state, after.views)) == codec.dumps((before.position.state, before.views))
    assert after.asks() == before.asks()


@pytest.mark.parametrize(
    ("seat", "choice"),
    [
        (0, VETO),
        (0, bid(13)),
        (0, bid(-1)),
        (0, bid(True)),
        (0, bid(3.0)),
        (0, bid("3")),
        (0, bid(10**30)),
        (0, bid(HIDDEN)),
        (0, Choice("bid", (3, 3))),
        (0, None),
        (3, bid(3)),
        (-1, bid(3)),
        (True, bid(3)),
        ("0", bid(3)),
        (None, bid(3)),
    ],
    ids=lambda value: f"{value!r}",
)
def test_a_refused_choice_changes_nothing_at_all(lanterns, seat, choice):
    table = _bidding(lanterns).submit(1, bid(4))
    before = written(table)
    with pytest.raises(Refused):
        table.submit(seat, choice)
    assert written(table) == before


def test_after_the_end_no_seat_is_asked_and_no_choice_accepted(lanterns):
    table = _to_the_end(begin(lanterns, 2, SEED))
    assert table.asks() == {}
    with pytest.raises(Refused, match="have nothing to decide"):
        table.submit(0, bid(0))


def test_an_objection_of_the_game_is_a_refusal():
    caravans = load_file(TOYS / "caravans.py")
    table = begin(caravans, 2, SEED)
    with pytest.raises(Refused, match="lame camel does not go to Cairo"):
        table.submit(0, Choice("send", (("old", "lame"), (4, 0, 0), ("Cairo", "Aleppo", "Basra"))))
    assert table.submit(0, Choice("send", (("old", "lame"), (4, 0, 0), ("Basra", "Aleppo", "Cairo")))).position.box


def test_the_table_makes_an_only_public_choice_and_records_that(lanterns):
    table = _bidding(lanterns)
    table = table.submit(0, bid(12)).submit(1, bid(0)).submit(2, bid(0))
    for seat in (0, 1, 2):
        table = table.submit(seat, YES)
    # The first player has no coins left and can only bid 0, as everyone knows.
    assert set(table.asks()) == {1, 2}
    with pytest.raises(Refused):
        table.submit(0, bid(0))
    table = table.submit(1, bid(1)).submit(2, bid(2))
    assert table.log[-1].alone == {0}
    assert table.log[-1].choices == {0: bid(0), 1: bid(1), 2: bid(2)}


def test_a_seat_with_an_only_choice_that_is_secret_is_asked(thieves):
    table = begin(thieves, 4, SEED)
    while all(len(hand) > 1 for hand in table.position.state.hands):
        for seat in range(4):
            table = table.submit(seat, table.asks()[seat].default)
    last = next(seat for seat, hand in enumerate(table.position.state.hands) if len(hand) == 1)
    assert table.asks()[last].count() == 1
    for seat in {0, 1, 2, 3} - {last}:
        table = table.submit(seat, table.asks()[seat].default)
    assert last in table.asks()
    assert table.submit(last, table.asks()[last].default).log[-1].alone == frozenset()


def test_turns_without_any_choice_are_settled_at_once(lanterns):
    table = begin(lanterns, 2, SEED, {"purse": 1, "vetoes": "none"})
    table = table.submit(0, bid(1)).submit(1, bid(0))
    table = table.submit(1, bid(1))
    assert table.asks() == {}
    assert lanterns.standing(table.position.state).over
    assert len(table.log) == 16
    assert all(entry.alone == {0, 1} for entry in table.log[3:])


def test_every_reader_sees_only_their_own_secrets(thieves):
    table = begin(thieves, 3, SEED)
    for seat in range(3):
        hands = table.view(seat).hands
        assert hands[seat] == table.position.state.hands[seat]
        assert all(hand == (HIDDEN,) * 4 for other, hand in enumerate(hands) if other != seat)
    assert table.view(SPECTATOR).hands == ((HIDDEN,) * 4,) * 3


def test_only_two_players_know_a_stolen_card(thieves):
    table = begin(thieves, 3, SEED)
    for seat in range(3):
        table = table.submit(seat, table.asks()[seat].default)
    stolen = table.log[-1].facts[-1]
    card = stolen.card
    knowing = [seat for seat in (0, 1, 2) if table.told(seat, 1)[-1].card == card]
    assert sorted(knowing) == sorted({stolen.thief, stolen.victim})
    assert table.told(SPECTATOR, 1)[-1].card is HIDDEN


def test_a_log_replays_to_the_same_state_and_views_without_the_rules(lanterns):
    table = _to_the_end(begin(lanterns, 3, SEED))
    log = codec.loads(lanterns, codec.dumps(table.log))
    assert replay(lanterns, 3, table.options, log) == table.position.state
    for reader in (0, 1, 2, SPECTATOR):
        assert replay(lanterns, 3, table.options, log, reader) == table.view(reader)


def test_chance_can_be_scripted(lanterns):
    start = lanterns.start(2, lanterns.settle(2, {}))
    story = lanterns.setup(start, Scripted([4, 0, 7]))
    liked = [next(story), story.send(start)]
    assert [happened.colour for happened in liked] == ["amber", "red"]


def test_the_same_seed_deals_the_same_game_and_another_seed_another(lanterns):
    assert deal(lanterns, 3, SEED) == deal(lanterns, 3, SEED)
    assert deal(lanterns, 3, SEED)[1] != deal(lanterns, 3, bytes(32))[1]


@pytest.mark.parametrize("seats", [0, 1, 5, -1, True, "3", None, 3.0])
def test_a_wrong_number_of_players_is_refused(lanterns, seats):
    with pytest.raises(Refused, match="2 to 4 players"):
        begin(lanterns, seats, SEED)


@pytest.mark.parametrize(
    "chosen",
    [
        {"purse": 0},
        {"purse": 41},
        {"purse": "12"},
        {"purse": True},
        {"vetoes": "two"},
        {"vetoes": 1},
        {"colour": "red"},
    ],
    ids=str,
)
def test_an_unknown_option_is_refused(lanterns, chosen):
    with pytest.raises(Refused):
        begin(lanterns, 3, SEED, chosen)


@pytest.mark.parametrize("name", names())
def test_positions_are_values(name):
    game = load(name)
    table = begin(game, game.seats[0], SEED)
    before = written(table)
    for seat, decision in table.asks().items():
        table.submit(seat, decision.default)
    assert written(table) == before


def _bidding(game) -> Table:
    table = begin(game, 3, SEED)
    for seat in range(3):
        table = table.submit(seat, YES)
    return table


def _to_the_end(table: Table) -> Table:
    while asks := table.asks():
        seat = next(seat for seat in asks if seat not in table.position.box)
        table = table.submit(seat, asks[seat].default)
    return table
