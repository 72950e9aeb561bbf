"""Sun Bid: every ruling, every worked example, and whole games at every table."""

from collections import Counter
from dataclasses import replace
from itertools import permutations, product
from random import Random

import pytest

from engine.board import plain
from engine.chance import Scripted, Stream
from engine.decisions import Choice, Refused
from engine.decks.decktet import EXTENDED, NAMES, in_order, rank, suits
from engine.facts import SPECTATOR, fold
from engine.game import facts_of
from engine.games.sun_bid import aces
from engine.games.sun_bid.aces import cheapest_way, losses, lost, misfit
from engine.games.sun_bid.cards import FOR_SALE, SUNS, beats, sum_of_suns
from engine.games.sun_bid.facts import (
    Bid,
    Called,
    DeckRanOut,
    Flipped,
    LeadPassed,
    LetGo,
    PaidForAces,
    Passed,
    PoolFilled,
    RoundBegan,
    RoundEnded,
    Scored,
    Unsold,
    Used,
    Won,
)
from engine.games.sun_bid.scoring import (
    points_for_sequences,
    points_of_a_kind,
    points_of_take,
    undominated,
    ways_to_bind,
)
from engine.games.sun_bid.state import all_sums
from engine.grammar import read, usages, write
from engine.registry import load
from engine.table import Position, begin, deal, replay
from tests.engine.barred import reasons
from tests.engine.games import brute_sun_bid as brute

GAME = load("sun-bid")
PEOPLE = ("Ann", "Ben", "Cleo", "Dan")
ID = {name: card for card, name in NAMES.items()}
OPTIONS = [
    (seats, {name: value, "sequence_scoring": scoring})
    for seats, name, value in (
        (2, "stacks2", "A"),
        (2, "stacks2", "B"),
        (3, "equal_pawns", "off"),
        (3, "equal_pawns", "on"),
        (4, "equal_pawns", "off"),
        (4, "equal_pawns", "on"),
    )
    for scoring in ("once", "per_suit")
]


def cards(*names):
    """Cards by their names: `cards("Author", "Forest")`."""
    return tuple(ID[name] for name in names)


def table(seats, options=None, *, suns=None, **changes):
    """A position in which seat 0 begins the first round, with the Suns in their printed order and some changes.

    The changes must leave the same cards on the table: what is put into a take or the pool comes out of the deck.
    """
    start = GAME.start(seats, GAME.settle(seats, options or {}))
    state = fold(start, [RoundBegan(1, 0, max(start.suns[0], key=SUNS.index))])
    state = replace(state, **changes)
    if suns is not None:
        # Suns that are not face up have been spent; those that no other player has are the first player's.
        held = tuple(cards(*own) for own in suns)
        used = {state.centre, *(sun for own in held for sun in own)}
        owner = {sun: seat for seat, own in enumerate(start.suns) for sun in own}
        spent = tuple(
            tuple(sun for sun in (*sum(start.suns, ()), SUNS[0]) if sun not in used and owner.get(sun, 0) == seat)
            for seat in range(seats)
        )
        state = replace(state, suns=held, spent=spent)
    if "deck" not in changes:
        out = Counter(state.pool + state.gone + sum(state.takes, ()))
        state = replace(state, deck=in_order(tuple((Counter(state.deck) - out).elements())))
    return Position(GAME, seats, bytes(32), state)


def do(position, seat, text):
    """The position after this choice, written as a player writes it, and the facts that came of it."""
    after, entries = position.submit(seat, read(position.asks()[seat], text))
    return after, [happened for entry in entries for happened in entry.facts]


def refusal(position, seat, text):
    """The reason that a player reads when a choice is refused."""
    with pytest.raises(Refused) as caught:
        do(position, seat, text)
    return GAME.teller(seat, PEOPLE)(caught.value.text)


def play(position, *moves):
    """The position after several choices: `(0, "call"), (1, "bid 4")`."""
    for seat, text in moves:
        position, _ = do(position, seat, text)
    return position


def flip(position, name):
    """The position after this card was flipped, and the facts that came of it; no seat is asked in between."""
    draw = Scripted([position.state.deck.index(ID[name])])
    seat = position.state.lead
    choices = {seat: Choice("flip")}
    after, entry = position.enter(GAME.resolve(position.state, choices, draw), draw, choices)
    return after, list(entry.facts)


def asked(position):
    """Who is asked, and which verbs that player may use."""
    ((seat, decision),) = position.asks().items()
    return seat, [act.verb for act in decision.acts]


def targets(position, seat):
    """What a player could take with which card."""
    return {
        NAMES[choice.values[0]]: {NAMES[other.values[1]] for other in uses if other.values[0] == choice.values[0]}
        for uses in [[c for c in position.asks()[seat].choices() if c.verb == "use"]]
        for choice in uses
    }


def bids(position, seat):
    """The Suns a player may bid."""
    return {NAMES[choice.values[0]] for choice in position.asks()[seat].choices() if choice.verb == "bid"}


def kinds(facts):
    return [type(happened) for happened in facts]


# Worked examples.


@pytest.mark.parametrize(
    "names, court, kind, once, per_suit",
    [
        pytest.param("Author, Journey, Huntress, Forest", 0, 0, 4, 4, id="SB-V1"),
        pytest.param("Author, Author, Journey, Huntress, Forest", 0, 4, 5, 5, id="SB-V2"),
        pytest.param("Mill, Betrayal, Darkness, Merchant", 0, 8, 4, 8, id="SB-V3"),
        pytest.param("Chance Meeting, Huntress", 0, 0, 2, 2, id="SB-V4"),
        pytest.param("Author, Origin, Journey, Savage", 0, 8, 4, 6, id="SB-V5"),
        pytest.param("Author, Chance Meeting, Huntress, Huntress", 0, 4, 4, 4, id="SB-V8"),
        pytest.param("Sea", 0, 0, 0, 0, id="SB-V11-sea"),
        pytest.param("Sea, End", 0, 4, 0, 0, id="SB-V11-sea-end"),
        pytest.param("Sea, Sea", 0, 4, 2, 2, id="SB-V11-sea-sea"),
        pytest.param("Borderland, Consul, Mill, Mill", 6, 4, 0, 0, id="SB-V12"),
        pytest.param("Ace of Waves, Origin, Journey", 0, 0, 3, 3, id="SB-V13"),
    ],
)
def test_sb_what_a_take_scores(names, court, kind, once, per_suit):
    take = cards(*names.split(", "))
    assert points_of_take(take, False) == (court, kind, once)
    assert points_of_take(take, True) == (court, kind, per_suit)


def test_sb_v18_the_higher_bid_wins_and_the_suns_change_places():
    position = play(table(2), (0, "call"), (1, "bid 4"), (0, "bid 5"))
    state = position.state
    assert state.centre == "5SW"
    assert state.spent == (("AS",), ())
    assert state.suns[1] == cards("Painter", "Mountain", "Castle", "Diplomat")
    assert all_sums(state) == (18, 22)
    # Were the round over now, the second player would have the bonus.
    last = replace(state, auction=None, deck=(), pool=cards("Author"))
    _, facts = do(replace(position, state=last), 1, "pass")
    assert [happened.suns for happened in facts if isinstance(happened, Scored)] == [0, 5]


def test_sb_v19_who_called_must_bid_and_a_full_pool_may_be_left():
    called = play(table(2), (0, "call"), (1, "pass"))
    assert asked(called) == (0, ["bid"])
    with pytest.raises(Refused):
        called.submit(0, Choice("pass"))
    filled = table(2, pool=cards("Author", "Origin", "Journey"))
    filled, _ = flip(filled, "Savage")
    left, facts = do(play(filled, (1, "pass")), 0, "pass")
    assert kinds(facts) == [Passed, Unsold, LeadPassed]
    assert left.state.pool == ()
    assert Counter(left.state.gone) == Counter(cards("Author", "Origin", "Journey", "Savage"))
    assert left.state.centre == "AS"


def test_sb_v20_pawns_beat_each_other_only_where_they_are_equal():
    around = {"suns": (("Window",), ("Harvest",), ("Lightkeeper",))}
    won = play(table(3, **around), (0, "call"), (1, "bid harvest"), (2, "bid lightkeeper"), (0, "bid window"))
    assert won.state.centre == ID["Window"]
    reverse = {"suns": (("Window",), ("Lightkeeper",), ("Harvest",))}
    strict = play(table(3, **reverse), (0, "call"))
    _, facts = do(strict, 1, "bid lightkeeper")
    assert facts == [Bid(1, ID["Lightkeeper"]), Passed(2)]
    equal = play(table(3, {"equal_pawns": "on"}, **reverse), (0, "call"), (1, "bid lightkeeper"), (2, "bid harvest"))
    assert equal.state.auction.leader == 2
    assert play(equal, (0, "pass")).state.centre == ID["Harvest"]
    court = {"suns": (("Pact",), ("Window",), ("Harvest",))}
    _, facts = do(play(table(3, {"equal_pawns": "on"}, **court), (0, "call")), 1, "bid window")
    assert facts[:2] == [Bid(1, ID["Window"]), Passed(2)]


@pytest.mark.parametrize(
    "seats, options, sums",
    [
        (2, {"stacks2": "A"}, {22}),
        (2, {"stacks2": "B"}, {22}),
        (3, {}, {28, 30, 32}),
        (3, {"equal_pawns": "on"}, {25, 28, 31}),
        (4, {}, {21, 22, 23, 24}),
        (4, {"equal_pawns": "on"}, {18, 20, 22, 24}),
    ],
)
def test_sb_v21_the_sums_of_the_stacks(seats, options, sums):
    position, _ = deal(GAME, seats, bytes(32), options)
    assert set(all_sums(position.state)) == sums
    assert len(set(all_sums(position.state))) == len(sums)
    every = (*sum(position.state.suns, ()), position.state.centre)
    assert sum_of_suns(every, False) == (45 if seats == 2 else 91)


def test_sb_v23_silence_loses_what_is_cheapest():
    kept = cards("Author", "Journey", "Huntress", "Forest", "Watchman")
    assert sum(points_of_take(kept, False)) == 7
    cost = {
        name: 7 - sum(points_of_take(tuple(card for card in kept if card != ID[name]), False))
        for name in ("Author", "Forest", "Journey", "Huntress", "Watchman")
    }
    assert cost == {"Author": 1, "Forest": 1, "Journey": 2, "Huntress": 2, "Watchman": 3}
    assert cheapest_way(("AM",), in_order(kept), False) == cards("Author")
    position = table(3, takes=(kept, (), ()), pool=("AM",))
    position = play(position, (0, "call"), (1, "pass"), (2, "pass"), (0, "bid 2"))
    assert asked(position) == (0, ["discard"])
    assert position.asks()[0].default == Choice("discard", cards("Author"))


def test_sb_v25_who_flips_the_last_card_may_be_asked_for_the_last_auction():
    position = table(2, suns=(("Pact",), ()), pool=cards("Author", "Origin"), deck=cards("Journey"))
    position, facts = flip(position, "Journey")
    assert kinds(facts) == [Flipped, DeckRanOut]
    assert asked(position) == (0, ["pass", "call"])


def test_sb_v23_of_cards_that_cost_the_same_silence_loses_the_lower_rank():
    kept = in_order(cards("Journey", "Savage", "Forest", "Soldier", "Huntress", "Watchman"))
    cost = {
        name: sum(points_of_take(kept, False)) - sum(points_of_take(tuple(c for c in kept if c != ID[name]), False))
        for name in ("Journey", "Forest", "Huntress", "Watchman")
    }
    assert cost == {"Journey": 5, "Forest": 5, "Huntress": 3, "Watchman": 3}
    # A Pawn ranks below a Crown.
    assert cheapest_way(("AM",), kept, False) == cards("Watchman")


# Rulings, one by one.


def test_sb_1_the_fourth_stack_is_what_is_left():
    suns = GAME.start(4, GAME.settle(4, {})).suns
    assert cards("Discovery", "Pact", "Harvest") in suns
    assert sorted(sum(suns, ())) == sorted(SUNS[1:])


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_sb_2_the_island_is_in_no_game(seats):
    state = table(seats).state
    assert ID["Island"] not in state.deck + sum(state.suns, ()) + (state.centre,)
    assert len(FOR_SALE) == 30
    assert Counter(state.deck) == Counter(FOR_SALE * (1 if seats == 2 else 2))
    assert not any("S" in suits(card) for card in state.deck)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_sb_3_the_ace_of_suns_lies_in_the_centre_first(seats):
    position, _ = deal(GAME, seats, bytes(32))
    assert position.state.centre == ID["Ace of Suns"]


def test_sb_4_the_highest_sun_begins_were_the_highest_of_all_in_the_centre():
    position, _ = deal(GAME, 3, bytes(32))
    begins = next(seat for seat, own in enumerate(position.state.suns) if ID["Bard"] in own)
    assert position.state.lead == begins
    position = table(3, centre=ID["Bard"], deck=(), pool=cards("Author"), suns=(("Desert",), ("Window",), ("Castle",)))
    _, facts = do(position, 0, "pass")
    assert facts[-1] == RoundBegan(2, 1, ID["Window"])


def test_sb_5_the_centre_sun_stays_for_the_next_round():
    position = table(2, centre="7SK", deck=(), pool=cards("Author"))
    assert play(position, (0, "pass")).state.centre == "7SK"


def test_sb_6_takes_pool_and_discard_go_back_into_the_deck():
    position = table(2, takes=(cards("Mill"), cards("Cave")), gone=cards("Author"), pool=cards("Origin"), deck=())
    state = play(position, (0, "pass")).state
    assert Counter(state.deck) == Counter(FOR_SALE)
    assert (state.takes, state.pool, state.gone) == (((), ()), (), ())


def test_sb_7_who_has_no_sun_face_up_sits_out():
    position = table(3, suns=(("Pact",), (), ("Window",)), takes=((), cards("Watchman"), ()), pool=cards("Author"))
    _, facts = flip(position, "Mill")
    assert facts[-1] == LeadPassed(2)
    assert play(position, (0, "call")).state.auction.bidders == (2, 0)


def test_sb_8_the_turn_passes_from_who_called_and_not_from_who_won():
    position = play(table(4), (0, "call"), (1, "pass"), (2, "bid 8"), (3, "pass"), (0, "pass"))
    assert position.state.lead == 1


def test_sb_9_using_one_card_is_the_whole_turn():
    position = table(2, takes=(cards("Watchman", "Rite"), ()), pool=cards("Author", "Forest"))
    after, facts = do(position, 0, "use watchman for forest")
    assert facts == [Used(0, ID["Watchman"], ID["Forest"]), LeadPassed(1)]
    assert after.state.takes[0] == cards("Rite", "Forest")
    assert after.state.gone == cards("Watchman")
    assert after.state.pool == cards("Author")


def test_sb_10_there_is_nothing_to_use_a_card_for_without_a_shared_suit():
    mine = cards("Watchman", "Borderland")
    assert asked(table(2, takes=(mine, ())))[1] == ["flip", "call"]
    assert asked(table(2, takes=(cards("Watchman"), ()), pool=cards("Sailor")))[1] == ["flip", "call"]
    position = table(2, takes=(mine, ()), pool=cards("Sailor", "Author"))
    assert targets(position, 0) == {"Watchman": {"Author"}, "Borderland": {"Sailor"}}
    with pytest.raises(Refused):
        position.submit(0, Choice("use", cards("Watchman", "Sailor")))
    theirs = table(2, takes=((), mine), pool=cards("Sailor", "Author"))
    assert asked(theirs)[1] == ["flip", "call"]


def test_sb_11_a_card_may_be_used_for_anything_that_shares_a_suit():
    pool = cards("Ace of Moons", "Watchman", "Rite", "Huntress")
    position = table(3, takes=(cards("Watchman", "Consul", "Author", "Huntress"), (), ()), pool=pool)
    every = {"Ace of Moons", "Watchman", "Rite", "Huntress"}
    assert targets(position, 0) == {"Watchman": every, "Consul": every}


def test_sb_12_an_ace_taken_by_use_costs_nothing_and_stays():
    position = table(2, takes=(cards("Watchman", "Author", "Journey"), ()), pool=cards("Ace of Moons"))
    after, facts = do(position, 0, "use watchman for ace of moons")
    assert kinds(facts) == [Used, LeadPassed]
    assert points_of_take(after.state.takes[0], False) == (0, 0, 3)
    assert ("AM",) in losses(("AM",), after.state.takes[0])


def test_sb_13_the_cards_in_the_pool_now_are_what_fills_it():
    position = table(2, takes=(cards("Watchman"), ()), pool=cards("Author", "Journey", "Forest"))
    position = play(position, (0, "use watchman for author"))
    position, facts = flip(position, "Mill")
    assert kinds(facts) == [Flipped, LeadPassed]
    position, facts = flip(position, "Sailor")
    assert kinds(facts) == [Flipped, PoolFilled]


@pytest.mark.parametrize("seats, full", [(2, 4), (3, 5), (4, 5)])
def test_the_card_that_fills_the_pool_starts_an_auction(seats, full):
    position = table(seats)
    for name in ("Author", "Origin", "Journey", "Savage", "Sailor")[: full - 1]:
        position, facts = flip(position, name)
        assert kinds(facts) == [Flipped, LeadPassed]
    lead = position.state.lead
    position, facts = flip(position, "Battle")
    assert kinds(facts) == [Flipped, PoolFilled]
    assert position.state.auction.bidders == tuple((lead + 1 + i) % seats for i in range(seats))


def test_sb_14_any_card_of_the_suit_can_be_lost_old_or_new():
    old = cards("Ace of Moons", "Author", "Mill", "Watchman", "Rite")
    position = table(3, takes=((), old, ()), pool=cards("Ace of Moons", "Huntress", "Forest"))
    position = play(position, (0, "call"), (1, "bid 9"), (2, "pass"), (0, "pass"))
    seat, _ = asked(position)
    assert seat == 1
    names = {NAMES[choice.values[0]] for choice in position.asks()[1].choices()}
    assert names == {"Ace of Moons", "Author", "Watchman", "Rite", "Huntress", "Forest"}
    after, facts = do(position, 1, "discard the ace of moons")
    assert facts[0] == PaidForAces(1, ("AM",), ("AM",))
    assert Counter(after.state.gone) == Counter({"AM": 2})


def test_sb_15_the_aces_of_one_pool_cannot_pay_for_each_other():
    position = table(3, pool=cards("Ace of Moons", "Ace of Moons", "Forest"))
    after, facts = do(play(position, (0, "call"), (1, "pass"), (2, "pass")), 0, "bid 2")
    assert PaidForAces(0, ("AM", "AM"), cards("Forest")) in facts
    assert after.state.takes[0] == ()
    assert list(losses(("AM", "AM"), ())) == [()]


def test_sb_16_the_winner_chooses_the_order_of_two_aces():
    position = table(3, pool=cards("Ace of Moons", "Ace of Leaves", "Forest", "Author"))
    position = play(position, (0, "call"), (1, "pass"), (2, "pass"), (0, "bid 2"))
    decision = position.asks()[0]
    assert usages(decision) == ("discard <Author | Forest> for moons, <Forest | nothing> for leaves",)
    kind, facts = do(position, 0, "discard forest for moons, nothing for leaves")
    assert facts[0] == PaidForAces(0, ("AM", "AL"), cards("Forest"))
    assert kind.state.takes[0] == cards("Author")
    _, facts = do(position, 0, "discard author, forest")
    assert facts[0] == PaidForAces(0, ("AM", "AL"), cards("Author", "Forest"))
    assert refusal(position, 0, "discard author for moons, nothing for leaves") == (
        "The Ace of Leaves must cost you a card of its suit. Choose the Forest."
    )
    assert refusal(position, 0, "discard forest for moons, forest for leaves") == (
        "The Forest can pay for only one Ace. Choose another card for the other."
    )
    assert "“nothing for moons" in refusal(position, 0, "discard nothing for moons, forest for leaves")


def test_sb_16_cards_for_two_aces_are_chosen_together_in_any_order():
    position = table(
        3, takes=(cards("Forest", "Author"), (), ()), pool=cards("Ace of Moons", "Ace of Leaves", "Forest", "Author")
    )
    position = play(position, (0, "call"), (1, "pass"), (2, "pass"), (0, "bid 2"))
    decision, teller = position.asks()[0], GAME.teller(0, PEOPLE)
    selection = GAME.selection(position.state, decision)
    assert [thing.word for thing in selection.things] == ["Author", "Author", "Forest", "Forest"]
    assert (selection.fewest, selection.most) == (2, 2)
    for chosen in ("Author", "Forest"), ("Forest", "Author"), ("Forest", "Forest"):
        choice = GAME.choice_of(position.state, decision, cards(*chosen))
        assert sorted(choice.every_text()) == sorted(cards(*chosen))
        assert choice in decision
        assert GAME.objects(position.state, 0, choice) is None
    refusals = {}
    for wrong in "", "Forest", "Author Author", "Forest Forest Author":
        with pytest.raises(Refused) as refused:
            GAME.choice_of(position.state, decision, cards(*wrong.split()))
        refusals[wrong] = teller(refused.value.text)
    assert refusals == {
        "": "The Ace of Moons must cost you a card of its suit. Choose the Author or the Forest.",
        "Forest": "The Ace of Leaves must cost you a card of its suit. Choose the Forest.",
        "Author Author": "Discard one card of its suit for each Ace: the Ace of Moons and the Ace of Leaves.",
        "Forest Forest Author": "Discard one card of its suit for each Ace: the Ace of Moons and the Ace of Leaves.",
    }
    assert GAME.selection(position.state, table(3).asks()[0]) is None


def test_sb_16_an_ace_that_can_find_nothing_takes_one_card_less():
    position = table(3, pool=cards("Ace of Moons", "Ace of Leaves", "Forest", "Author"))
    position = play(position, (0, "call"), (1, "pass"), (2, "pass"), (0, "bid 2"))
    decision = position.asks()[0]
    selection = GAME.selection(position.state, decision)
    assert (selection.fewest, selection.most) == (1, 2)
    assert GAME.choice_of(position.state, decision, cards("Forest")) == Choice("discard", (*cards("Forest"), "none"))


def test_sb_16_two_copies_of_a_card_can_both_be_lost():
    assert list(losses(("AM", "AM"), cards("Forest", "Forest"))) == [cards("Forest", "Forest")]
    assert misfit(cards("Forest", "Forest"), ("AM", "AM"), cards("Forest", "Forest")) is None


@pytest.mark.parametrize(
    "pool, gone",
    [
        ("Ace of Moons", ""),
        ("Ace of Moons, Sailor", ""),
        ("Ace of Moons, Forest", "Forest"),
        ("Ace of Moons, Ace of Leaves, Forest", "Forest"),
        ("Ace of Moons, Forest, Forest", "Forest"),
        ("Ace of Moons, Ace of Leaves, Sailor, Author", "Author, Sailor"),
    ],
)
def test_sb_17_where_there_is_no_choice_nobody_is_asked(pool, gone):
    position = table(3, pool=cards(*pool.split(", ")))
    position, facts = do(play(position, (0, "call"), (1, "pass"), (2, "pass")), 0, "bid 2")
    paid = next(happened for happened in facts if isinstance(happened, PaidForAces))
    assert paid.cards == cards(*filter(None, gone.split(", ")))
    assert position.state.auction is None
    assert position.state.lead == 1


def test_sb_18_aces_are_paid_for_before_the_round_is_scored():
    position = table(2, suns=((), ("Castle",)), lead=1, pool=cards("Ace of Waves", "Origin", "Journey"))
    position, facts = do(position, 1, "call")
    assert kinds(facts) == [Called, Bid, Won]
    position, facts = do(position, 1, "discard journey")
    assert kinds(facts) == [PaidForAces, RoundEnded, Scored, Scored, RoundBegan]
    assert facts[3].sequences == 0


def test_sb_19_the_lead_must_bid_when_all_pass():
    position = play(table(3), (0, "call"), (1, "pass"), (2, "pass"))
    assert asked(position) == (0, ["bid"])
    assert bids(position, 0) == {"Desert", "Discovery", "Diplomat", "Bard"}
    assert position.asks()[0].default == Choice("bid", cards("Desert"))
    equal = table(3, {"equal_pawns": "on"}, suns=(("Harvest", "Lightkeeper"), ("Castle",), ("Pact",)))
    equal = play(equal, (0, "call"), (1, "pass"), (2, "pass"))
    assert equal.asks()[0].default == Choice("bid", cards("Harvest"))


def test_sb_20_a_lead_who_cannot_outbid_passes_without_being_asked():
    position = play(table(3), (0, "call"), (1, "pass"))
    assert bids(position, 2) == {"Mountain", "Castle", "Harvest", "Lightkeeper"}
    low = table(3, suns=(("Desert",), ("Painter",), ("Castle",)))
    _, facts = do(play(low, (0, "call"), (1, "pass")), 2, "bid 7")
    assert kinds(facts)[:3] == [Bid, Passed, Won]


def test_sb_21_a_lone_player_must_buy_what_he_calls_and_may_leave_a_full_pool():
    alone = {"suns": ((), ("Mountain", "Castle")), "lead": 1}
    called = play(table(2, **alone, pool=cards("Author")), (1, "call"))
    assert asked(called) == (1, ["bid"])
    bought = play(called, (1, "bid castle"))
    assert bought.state.takes[1] == cards("Author")
    assert bought.state.lead == 1
    full, _ = flip(table(2, **alone, pool=cards("Author", "Origin", "Journey")), "Mill")
    assert asked(full) == (1, ["pass", "bid"])
    assert play(full, (1, "pass")).state.lead == 1
    _, facts = do(table(2, suns=((), ("Castle",)), lead=1), 1, "call")
    assert kinds(facts)[:3] == [Called, Bid, Won]


def test_sb_22_a_full_pool_without_a_bid_is_discarded_and_the_turn_passes_on():
    filled, _ = flip(table(3, pool=cards("Author", "Origin", "Journey", "Mill")), "Savage")
    after = play(filled, (1, "pass"), (2, "pass"), (0, "pass"))
    assert len(after.state.gone) == 5
    assert (after.state.pool, after.state.centre, after.state.lead) == ((), "AS", 1)


def test_sb_23_suns_face_down_count_and_the_one_in_the_centre_does_not():
    position = table(2, suns=(("Pact",), ("Castle",)), centre="8MS", deck=(), pool=cards("Author"))
    assert position.state.spent == (("2SY", "5SW", "6SY", "AS"), ("3SK", "4MS"))
    _, facts = do(position, 0, "pass")
    assert [happened.suns for happened in facts if isinstance(happened, Scored)] == [5, 0]


def test_sb_24_all_who_share_the_highest_sum_score():
    _, facts = do(table(2, deck=(), pool=cards("Author")), 0, "pass")
    assert [happened.suns for happened in facts if isinstance(happened, Scored)] == [5, 5]


def test_sb_25_where_pawns_are_equal_the_second_pawn_wins_and_never_beats_court_or_crown():
    pact, harvest, keeper, window, bard = cards("Pact", "Harvest", "Lightkeeper", "Window", "Bard")
    assert beats(harvest, keeper, equal_pawns=True)
    assert beats(keeper, harvest, equal_pawns=True)
    assert not beats(harvest, keeper, equal_pawns=False)
    assert beats(harvest, pact, equal_pawns=True)
    assert not beats(pact, harvest, equal_pawns=True)
    for pawn, higher in product((harvest, keeper), (window, bard)):
        assert not beats(pawn, higher, equal_pawns=True)
        assert beats(higher, pawn, equal_pawns=True)
    assert beats(bard, window, equal_pawns=True)
    assert not beats(window, bard, equal_pawns=True)


def test_sb_25_without_equal_pawns_the_order_is_strict():
    for sun, high in product(SUNS, SUNS):
        assert beats(sun, high, equal_pawns=False) == (SUNS.index(sun) > SUNS.index(high))


def test_sb_26_where_pawns_are_equal_the_four_highest_suns_count_ten():
    four = cards("Harvest", "Lightkeeper", "Window", "Bard")
    assert sum_of_suns(four, equal_pawns=True) == 40
    assert sum_of_suns(four, equal_pawns=False) == 46
    # Strictly the sums are 22 and 23; where Pawns are equal both are 21, and the Window decides.
    suns = (cards("Lightkeeper", "Desert", "Pact"), cards("Window", "Diplomat", "Painter"), cards("Mountain"))
    ended = {"suns": suns, "scores": (20, 20, 3), "over": True}
    for value, reason in (("on", "the highest single Sun"), ("off", "the higher Sun total")):
        standing = GAME.standing(replace(table(3, {"equal_pawns": value}).state, **ended))
        assert standing.ranking == ((1,), (0,), (2,))
        assert [str(text) for text in standing.reasons] == [f"A tie went to {reason}."]


def test_sb_27_equal_pawns_change_nothing_for_two():
    state = table(2, {"equal_pawns": "on"}).state
    assert all_sums(state) == (22, 22)
    assert bids(play(table(2, {"equal_pawns": "on"}), (0, "call"), (1, "bid 4")), 0) == {
        "Discovery",
        "Penitent",
        "Pact",
    }


def test_sb_28_aces_are_not_of_a_kind():
    assert points_of_a_kind(cards("Ace of Moons", "Ace of Moons", "Ace of Leaves")) == 0
    assert points_of_a_kind(cards("Watchman", "Watchman", "Rite", "Rite")) == 0
    assert points_of_a_kind(cards("Huntress", "Sea", "End")) == 6


def test_sb_29_copies_are_of_a_kind():
    assert points_of_a_kind(cards("Author", "Author")) == 4


def test_sb_30_two_cards_are_a_sequence():
    assert points_for_sequences(cards("Author", "Journey"), per_suit=False) == 2
    assert points_for_sequences(cards("Author", "Sailor"), per_suit=False) == 0


def test_sb_31_a_card_scores_once_or_once_a_suit():
    four = cards("Mill", "Betrayal", "Darkness", "Merchant")
    assert points_for_sequences(four, per_suit=False) == 4
    assert points_for_sequences(four, per_suit=True) == 8
    position = table(2, {"sequence_scoring": "per_suit"}, takes=(four, ()), deck=(), pool=cards("Author"))
    _, facts = do(position, 0, "pass")
    assert facts[2] == Scored(0, 5, 0, 8, 8)
    _, facts = do(table(2, takes=(four, ()), deck=(), pool=cards("Author")), 0, "pass")
    assert facts[2] == Scored(0, 5, 0, 8, 4)


def test_sb_31_both_pairs_of_eights_and_nines_are_the_best_four_cards_counted_by_suit():
    # Forty four-card takes of two neighbouring pairs reach 12 counted once; counted by suit one reaches 16, alone.
    numbers = [card for card in FOR_SALE if rank(card).isdigit()]
    pairs = [
        (a, b, c, d)
        for a, b in permutations(numbers, 2)
        for c, d in permutations(numbers, 2)
        if a < b and c < d and rank(a) == rank(b) and rank(c) == rank(d) and int(rank(c)) == int(rank(a)) + 1
    ]
    by_suit = Counter(sum(points_of_take(take, True)) for take in pairs)
    assert max(by_suit) == 16
    assert by_suit[16] == 1
    assert sum(points_of_take(cards("Mill", "Betrayal", "Darkness", "Merchant"), True)) == 16


def test_sb_32_a_crown_may_follow_a_nine():
    assert points_for_sequences(cards("Darkness", "Sea"), per_suit=False) == 2


def test_sb_33_a_crown_may_double_a_number():
    moons = cards("Author", "Journey", "Huntress")
    assert points_for_sequences(moons, per_suit=False) == 3


def test_sb_34_two_crowns_of_a_suit_are_a_sequence():
    assert points_for_sequences(cards("Sea", "Sea"), per_suit=False) == 2
    assert points_for_sequences(cards("Sea", "End"), per_suit=False) == 0


def test_sb_35_a_crown_is_a_crown_among_cards_of_a_kind():
    assert points_of_a_kind(cards("Huntress", "Author")) == 0
    assert points_of_take(cards("Huntress", "Sea", "Author"), False) == (0, 4, 2)


def test_sb_36_pawns_and_courts_are_in_no_sequence():
    assert points_for_sequences(cards("Darkness", "Borderland", "Rite", "Watchman", "Consul"), per_suit=False) == 0


def test_sb_37_an_ace_does_not_follow_a_nine():
    assert points_for_sequences(cards("Ace of Waves", "Darkness"), per_suit=False) == 0
    # The Crown helps one of them, not both.
    assert points_for_sequences(cards("Ace of Waves", "Darkness", "Sea"), per_suit=False) == 2


def test_sb_38_nobody_is_asked_how_to_score():
    _, facts = do(table(2, takes=(cards("Chance Meeting", "Huntress"), ()), deck=(), pool=cards("Author")), 0, "pass")
    assert facts[2] == Scored(0, 5, 0, 0, 2)


def test_sb_39_when_the_deck_is_out_the_next_player_with_a_sun_calls_or_passes():
    position = table(
        3,
        suns=(("Pact",), (), ("Castle",)),
        pool=cards("Author"),
        deck=cards("Mill"),
        takes=((), (), cards("Watchman")),
    )
    position, facts = flip(position, "Mill")
    assert facts[-1] == DeckRanOut(2)
    assert asked(position) == (2, ["pass", "call"])
    assert position.asks()[2].default == Choice("pass")
    _, facts = do(position, 2, "pass")
    assert kinds(facts)[:2] == [LetGo, RoundEnded]
    assert facts[1].spent is False
    called = play(position, (2, "call"))
    assert called.state.auction.bidders == (0, 2)
    _, facts = do(called, 0, "bid pact")
    assert kinds(facts)[:4] == [Bid, Passed, Won, RoundEnded]


def test_sb_40_a_lone_flipper_is_the_next_player():
    position = table(3, suns=(("Pact",), (), ()), pool=cards("Author"), deck=cards("Mill"))
    _, facts = flip(position, "Mill")
    assert facts[-1] == DeckRanOut(0)


def test_sb_41_the_last_card_may_fill_a_pool_that_nobody_wants():
    position = table(2, pool=cards("Author", "Origin", "Journey"), deck=cards("Mill"))
    position, facts = flip(position, "Mill")
    assert kinds(facts) == [Flipped, PoolFilled]
    _, facts = do(play(position, (1, "pass")), 0, "pass")
    assert kinds(facts) == [Passed, Unsold, RoundEnded, Scored, Scored, RoundBegan]


def test_sb_42_the_round_ends_with_the_deck_even_if_suns_are_left():
    position = table(2, pool=cards("Author", "Origin", "Journey"), deck=cards("Mill"))
    position, _ = flip(position, "Mill")
    _, facts = do(play(position, (1, "bid 3")), 0, "pass")
    assert kinds(facts) == [Passed, Won, RoundEnded, Scored, Scored, RoundBegan]
    assert facts[2].spent is False


def test_sb_43_the_round_ends_with_the_last_sun_and_nothing_is_left_in_the_pool():
    position = table(2, suns=((), ("Castle",)), lead=1, pool=cards("Author"))
    _, facts = do(position, 1, "call")
    assert kinds(facts)[:4] == [Called, Bid, Won, RoundEnded]
    assert facts[3].spent is True
    state = fold(position.state, facts[:4])
    assert state.deck
    assert state.pool == ()


def test_sb_44_an_empty_pool_may_be_called():
    position = play(table(2), (0, "call"), (1, "pass"), (0, "bid 2"))
    assert position.state.takes == ((), ())
    assert position.state.centre == "2SY"
    assert position.state.lead == 1


def test_sb_45_the_winner_takes_the_sun_of_the_centre():
    _, facts = do(play(table(2), (0, "call"), (1, "pass")), 0, "bid 2")
    assert Won(0, (), "2SY", "AS") in facts


def test_sb_46_a_tie_goes_to_the_sum_of_suns_and_then_to_the_highest_sun():
    state = replace(table(2).state, scores=(9, 9), over=True)
    assert GAME.standing(state).ranking == ((0,), (1,))
    more = replace(state, suns=(("2SY", "5SW", "6SY", "8MS"), ("3SK", "4MS", "7SK", "9MS")))
    standing = GAME.standing(more)
    assert standing.ranking == ((1,), (0,))
    assert len(standing.reasons) == 1
    assert GAME.standing(replace(state, scores=(10, 9))).ranking == ((0,), (1,))
    assert not GAME.standing(replace(state, over=False)).over


# Arithmetic against brute force.


def hands(seed, times, most, copies, crowns=3):
    """Random takes, seldom with more Crowns than brute force can bear."""
    luck = Random(seed)
    for _ in range(times):
        hand = tuple(luck.sample(FOR_SALE * copies, luck.randint(0, most)))
        if sum(rank(card) == "X" for card in hand) <= crowns:
            yield hand


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("per_suit", [False, True])
def test_takes_score_what_brute_force_finds(copies, per_suit):
    for hand in hands(copies, 500, 10, copies, crowns=2):
        points = points_of_take(hand, per_suit)
        assert points == (brute.pawns_and_courts(hand), brute.of_a_kind(hand), brute.sequences(hand, per_suit)), hand


@pytest.mark.slow
@pytest.mark.parametrize("per_suit", [False, True])
def test_takes_with_many_crowns_score_what_brute_force_finds(per_suit):
    luck = Random(7)
    for _ in range(60):
        crowns = luck.sample([card for card in FOR_SALE * 2 if rank(card) == "X"], 3)
        others = luck.sample([card for card in FOR_SALE * 2 if rank(card) != "X"], luck.randint(2, 9))
        hand = tuple(crowns + others)
        assert points_for_sequences(hand, per_suit) == brute.sequences(hand, per_suit), hand


@pytest.mark.parametrize("per_suit", [False, True])
def test_crowns_of_one_suit_score_what_brute_force_finds(per_suit):
    luck = Random(8)
    for _ in range(150):
        moons = [card for card in FOR_SALE * 2 if "M" in suits(card) and rank(card) != "X"]
        hand = ("XM", "XM", *luck.sample(moons, luck.randint(0, 8)))
        assert points_for_sequences(hand, per_suit) == brute.sequences(hand, per_suit), hand


def test_undominated_sets_are_part_of_no_other():
    assert undominated(frozenset({0b001, 0b011, 0b100})) == {0b011, 0b100}
    assert undominated(frozenset({0})) == {0}
    assert ways_to_bind(cards("Sea")) == {0}


def test_aces_cost_what_brute_force_finds():
    luck = Random(9)
    asked_twice = 0
    for hand in hands(10, 800, 7, 2, crowns=1):
        won = in_order(tuple(f"A{luck.choice('MWLYK')}" for _ in range(luck.randint(1, 3))))
        kept = in_order(hand)
        found = [tuple(sorted(cards)) for cards in losses(won, kept)]
        assert len(found) == len(set(found))
        assert set(found) == brute.losses(won, kept), (won, kept)
        asked_twice += len(found) > 1
    assert asked_twice > 100


def test_four_or_five_aces_are_paid_for_without_scoring_every_answer(monkeypatch):
    scored = []
    monkeypatch.setattr(
        aces, "points_of_take", lambda left, per_suit: scored.append(left) or points_of_take(left, per_suit)
    )
    luck = Random(17)
    answers = 0
    for hand in hands(18, 60, 25, 2, crowns=4):
        won, kept = in_order(tuple(f"A{luck.choice('MWLYK')}" for _ in range(luck.randint(4, 5)))), in_order(hand)
        answers += sum(1 for _ in losses(won, kept))
        cheapest_way(won, kept, False)
    assert answers > 10_000
    assert len(scored) < answers / 4


@pytest.mark.parametrize("per_suit", [False, True])
def test_silence_loses_what_brute_force_finds_cheapest(per_suit):
    luck = Random(11)
    for hand in hands(12, 250, 7, 2, crowns=1):
        won = in_order(tuple(f"A{luck.choice('MWLYK')}" for _ in range(luck.randint(1, 2))))
        kept = in_order(hand)
        found = lost(cheapest_way(won, kept, per_suit))
        assert tuple(sorted(found)) == brute.cheapest_loss(won, kept, per_suit), (won, kept)


def test_every_answer_that_fits_is_accepted_and_no_other():
    luck = Random(13)
    seen = 0
    for hand in hands(14, 400, 6, 2, crowns=1):
        won = in_order(tuple(f"A{suit}" for suit in luck.sample("MWLYK", 2)))
        out = Counter(hand) + Counter(won)
        if out - Counter(FOR_SALE * 2):
            continue
        position = table(3, takes=(hand, (), ()), pool=won)
        position = play(position, (0, "call"), (1, "pass"), (2, "pass"))
        position, _ = do(position, 0, "bid 2")
        possible = brute.losses(won, hand)
        if len(possible) == 1:
            assert position.state.auction is None
            continue
        seen += 1
        decision = position.asks()[0]
        lost_cards = set()
        for choice in decision.choices():
            objection = GAME.objects(position.state, 0, choice)
            if objection is None:
                assert read(decision, write(decision, choice)) == choice
                lost_cards.add(tuple(sorted(card for card in choice.values if card != "none")))
        assert lost_cards == possible
        assert GAME.objects(position.state, 0, decision.default) is None
    assert seen > 50


# The deal.


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_deal_of_the_stacks_comes_as_often(seats):
    dealt = Counter()
    for numbers in product(*(range(bound) for bound in range(seats, 1, -1))):
        start = GAME.start(seats, GAME.settle(seats, {}))
        position, entry = Position(GAME, seats, b"", start).enter(
            GAME.setup(start, Scripted(numbers)), Scripted(()), {}
        )
        assert GAME.tally(position.state) == GAME.tally(start)
        assert [happened.seat for happened in entry.facts[:-1]] == list(range(seats))
        dealt[position.state.suns] += 1
    assert dealt == Counter(permutations(start.terms.stacks))


def test_a_flip_turns_up_any_card_of_the_deck_alike():
    position = table(2)
    for place, card in enumerate(position.state.deck):
        story = GAME.resolve(position.state, {0: Choice("flip")}, draw := Scripted([place]))
        assert next(story) == Flipped(0, card)
        assert draw.drawn == [(30, place)]


# What players write and read.


def test_a_sun_is_named_by_its_name_or_by_its_value():
    position = play(table(3), (0, "call"), (1, "pass"), (2, "pass"))
    decision = position.asks()[0]
    assert read(decision, "bid 13") == read(decision, "bid the Bard") == read(decision, "bid bard")
    assert read(decision, "bid 8") == Choice("bid", cards("Diplomat"))


def test_a_number_is_not_taken_for_another_that_begins_with_it():
    position = play(table(3), (0, "call"), (1, "pass"), (2, "pass"))
    with pytest.raises(Refused):
        read(position.asks()[0], "bid 1")


def test_a_bid_that_is_too_low_is_refused_with_the_reason():
    position = play(table(2), (0, "call"), (1, "bid 4"))
    with pytest.raises(Refused, match="higher than every bid so far"):
        read(position.asks()[0], "bid 2")


@pytest.mark.parametrize(
    "happened, sentence, sentence_for_ann",
    [
        (Called(0), "Ann calls an auction.", "You call an auction."),
        (Bid(0, "9MS"), "Ann bids the Pact.", "You bid the Pact."),
        (
            PaidForAces(0, ("AM",), ()),
            "Ann loses nothing to the Ace of Moons.",
            "You lose nothing to the Ace of Moons.",
        ),
        (
            Won(0, cards("Author"), "9MS", "2SY"),
            "Ann wins the pool: the Author. The Pact goes to the centre, and Ann gets the Desert face down.",
            "You win the pool: the Author. The Pact goes to the centre, and you get the Desert face down.",
        ),
        (
            Won(0, (), "9MS", "AS"),
            "Ann wins the empty pool. The Pact goes to the centre, and Ann gets the Ace of Suns face down.",
            "You win the empty pool. The Pact goes to the centre, and you get the Ace of Suns face down.",
        ),
        (
            Scored(0, 5, 0, 4, 1),
            "Ann scores 10 points: 5 for the Sun total, 4 for matching ranks and 1 for sequences.",
            "You score 10 points: 5 for the Sun total, 4 for matching ranks and 1 for sequences.",
        ),
        (Scored(0, 0, 0, 0, 0), "Ann scores nothing.", "You score nothing."),
        (LeadPassed(0), None, None),
    ],
)
def test_facts_are_told_in_plain_sentences(happened, sentence, sentence_for_ann):
    assert GAME.teller(None, PEOPLE).tell(happened) == sentence
    assert GAME.teller(0, PEOPLE).tell(happened) == sentence_for_ann


@pytest.mark.parametrize(
    ("moves", "changes", "sentence"),
    [
        ((), {}, "It's Ann's turn to flip a card or call an auction."),
        (
            (),
            {"pool": ("Author",), "takes": (("Consul",), (), ())},
            "It's Ann's turn to flip a card, call an auction, or use a Pawn or Court.",
        ),
        (((0, "call"),), {}, "It's Ben's turn to bid for the centre Sun. Nobody has bid yet."),
        (((0, "call"),), {"pool": ("Author",)}, "It's Ben's turn to bid for the pool. Nobody has bid yet."),
        (((0, "call"), (1, "pass"), (2, "pass")), {}, "Nobody else bid, so Ann must bid for the centre Sun."),
    ],
)
def test_the_board_says_what_the_turn_is_for(moves, changes, sentence):
    changes = {
        name: tuple(cards(*own) for own in value) if name == "takes" else cards(*value)
        for name, value in changes.items()
    }
    state = play(table(3, **changes), *moves).state
    assert GAME.teller(None, PEOPLE)(GAME.board(state, 2).turn) == sentence


def test_the_board_says_that_the_pool_is_empty():
    assert "  The pool is empty.\n" in plain(GAME.board(table(3).state, 0), GAME.teller(0, PEOPLE))


def test_the_board_shows_what_a_bid_depends_on():
    position = table(3, {"equal_pawns": "on"}, pool=cards("Author", "Forest"), takes=((), cards("Mill", "Mill"), ()))
    position = play(position, (0, "call"), (1, "bid 3"))
    text = plain(GAME.board(position.state, 2), GAME.teller(2, PEOPLE))
    for shown in (
        "It's your turn to bid for the pool. Ben has the high bid: the Painter.",
        "The pool: Author (2 Moons Knots); Forest (5 Moons Leaves)",
        "Centre Sun: Ace of Suns (1)",
        "Ann called.",
        "Still to bid, in order: you and Ann.",
        "  Suns face up: Mountain (4); Castle (7); Harvest (Pawn, 10);",
        "    Take: Mill (8 Waves Leaves); Mill (8 Waves Leaves)",
    ):
        assert shown in text


# Whole games.


def whole_game(seats, options, seed):
    """A table after each entry of a game, and the decision and choice that come next."""
    luck = Stream(seed, 1)
    game = begin(GAME, seats, seed, options)
    while open_seats := game.position.open():
        ((seat, decision),) = open_seats.items()
        choice = decision.sample(luck)
        # Calls are rarer than at random, so that pools are full and takes grow.
        if choice.verb == "call" and luck.below(3):
            choice = decision.default
        if GAME.objects(game.position.state, seat, choice) is None:
            yield game, decision, choice
            game = game.submit(seat, choice)
    yield game, None, None


@pytest.mark.parametrize("seats, options", OPTIONS)
def test_whole_games_keep_the_laws(seats, options):
    readers = (*range(seats), SPECTATOR)
    for number in range(3):
        for game, decision, choice in whole_game(seats, options, number.to_bytes(32, "big")):
            state = game.position.state
            assert GAME.tally(state) == {"cards": 30 if seats == 2 else 60, "Suns": 9 if seats == 2 else 13}
            # Nothing is secret, so every view is the whole truth.
            assert all(game.view(reader) == state for reader in readers)
            if decision is not None:
                assert GAME.objects(state, decision.seat, decision.default) is None
                assert decision.default in decision
                assert read(decision, write(decision, choice)) == choice
        assert GAME.standing(state).over
        assert game.position.turn <= GAME.longest(seats, game.options)
        assert replay(GAME, seats, game.options, game.log) == state


@pytest.mark.parametrize("seats, options", OPTIONS)
def test_every_board_of_a_game_fits_its_width(seats, options):
    tellers = {reader: GAME.teller(reader, ("Bartholomew",) * seats) for reader in (*range(seats), SPECTATOR)}
    for number, (game, _, _) in enumerate(whole_game(seats, options, b"b" * 32)):
        if number % 7 == 0 or game.position.state.over:
            for reader, teller in tellers.items():
                text = plain(GAME.board(game.view(reader), reader), teller)
                assert max(map(len, text.splitlines())) <= 72


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_game_ends_on_missed_turns_alone(seats):
    position, _ = deal(GAME, seats, bytes(32))
    while asks := position.open():
        ((seat, decision),) = asks.items()
        position, _ = position.submit(seat, decision.default)
    assert position.state.over
    # Only the Suns score: no one has bid, and the stacks have not changed.
    assert max(position.state.scores) == 15


def test_games_show_everything_that_can_happen():
    happened, verbs = set(), set()
    for number in range(30):
        moments = list(whole_game(2 + number % 2, {}, bytes([number]) * 32))
        verbs |= {choice.verb for _, _, choice in moments if choice is not None}
        happened |= {type(each) for entry in moments[-1][0].log for each in entry.facts}
    assert verbs == {"flip", "call", "use", "bid", "pass", "discard"}
    assert happened == set(facts_of(GAME).values())


def test_the_deck_has_every_card_without_a_sun():
    assert len(FOR_SALE) == 30
    assert {card for card in EXTENDED if "S" in suits(card)} == {*SUNS, ID["Island"]}


def test_a_player_is_told_why_a_verb_cannot_be_chosen_now():
    assert set(reasons(GAME)) == {"flip", "pass", "use"}
