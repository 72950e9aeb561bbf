"""Sunset Poker: the rules one by one, the vectors, and many games at random."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from engine.board import WIDTH, plain
from engine.chance import Scripted, Stream
from engine.decisions import Choice, Refused
from engine.decks.decktet import BACK, BASIC, EXTENDED, NAMES, PAWNS
from engine.facts import HIDDEN, SPECTATOR, fold
from engine.games.sunset_poker.facts import (
    Beaten,
    Dealt,
    Ended,
    Folded,
    NobodyFinished,
    PassedOn,
    Picked,
    PlayBegan,
    RoundBegan,
    Tied,
    Won,
)
from engine.games.sunset_poker.sets import BestSet, best_set, cards_each, circle_for, deck_for
from engine.games.sunset_poker.state import points_for_folding
from engine.grammar import read, write
from engine.registry import load
from engine.table import Position, begin, deal, replay
from tests.engine.barred import reasons
from tests.engine.games.brute_sunset_poker import strongest

GAME = load("sunset-poker")
SEED = bytes(range(32))
IDS = {name: card for card, name in NAMES.items()}
NAMES_OF_PEOPLE = ("Ann", "Bartholomew", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")

MOONS_2_TO_5 = ("Author", "Journey", "Mountain", "Forest")
WYRMS_2_TO_5 = ("Desert", "Savage", "Battle", "Soldier")
"""Two straight flushes of four, 5 high: a perfect tie."""


def ids(*names):
    return tuple(IDS[name] for name in names)


def best(*names, seats=4, split_min=2):
    return best_set(ids(*names), circle_for(seats), split_min)


def strength(*names, **how):
    return best(*names, **how).strength()


def words_of_best_set(*names, **how):
    return str(best(*names, **how).words())


def full_hands(seats, given):
    """Full hands: the given cards by name, and any others."""
    hands = {seat: list(ids(*names)) for seat, names in given.items()}
    rest = [card for card in deck_for(seats) if not any(card in hand for hand in hands.values())]
    for seat in range(seats):
        hand = hands.setdefault(seat, [])
        while len(hand) < cards_each(seats):
            hand.append(rest.pop())
    return hands


def playing(seats, given=None, scores=None, first=0, number=1, **options):
    """A position at the beginning of the play of a round, with these hands."""
    state = GAME.start(seats, GAME.settle(seats, options))
    hands = full_hands(seats, given or {})
    facts = [RoundBegan(number, first)]
    for seat, hand in sorted(hands.items()):
        facts.append(Dealt(seat, tuple(hand)))
    for seat, hand in sorted(hands.items()):
        facts += (Picked(seat, (seat + 1) % seats, card, tuple(hand[i + 1 :])) for i, card in enumerate(hand))
    facts.append(PlayBegan(first))
    return Position(GAME, seats, SEED, replace(fold(state, facts), scores=scores or state.scores), turn=1)


def act(position, command):
    """The seat whose turn it is does what the command says."""
    ((seat, decision),) = position.asks().items()
    position, entries = position.submit(seat, read(decision, command))
    return position, [happened for entry in entries for happened in entry.facts]


def run(position, plans):
    """Every seat follows its plan, a letter a turn: play a card, take the sun, fold. Gives the facts of all of it."""
    left = {seat: list(plan) for seat, plan in plans.items()}
    happened = []
    while position.state.turn is not None and not position.state.over:
        seat = position.state.turn
        letter = left[seat].pop(0)
        card = NAMES[position.state.hands[seat][0]]
        position, facts = act(position, {"p": f"play {card}", "s": "take the Sun", "f": "fold"}[letter])
        happened += facts
    assert not any(left.values()), "a plan was longer than the round"
    return position, happened


def only(happened, kind):
    return [each for each in happened if type(each) is kind]


# The best Set.


@pytest.mark.parametrize(
    "hand, words, cards",
    [
        pytest.param(
            ("Author", "Desert", "Origin", "Journey", "Sailor"),
            "3 of a kind, 2s",
            ("Author", "Desert", "Origin"),
            id="SP-V1",
        ),
        pytest.param(
            ("Author", "Journey", "Mountain", "Forest", "Merchant"),
            "a straight flush of 4, 5 high",
            MOONS_2_TO_5,
            id="SP-V2",
        ),
        pytest.param(
            ("Pact", "Diplomat", "Huntress", "Ace of Moons", "Author"),
            "a straight flush of 5, Ace high",
            ("Diplomat", "Pact", "Huntress", "Ace of Moons", "Author"),
            id="SP-V4",
        ),
        pytest.param(
            ("Huntress", "Sea", "Ace of Suns", "Ace of Waves", "Author"),
            "a split of 4, Ace high",
            ("Huntress", "Sea", "Ace of Suns", "Ace of Waves"),
            id="SP-V6",
        ),
        pytest.param(
            ("Author", "Desert", "Diplomat", "Mill", "Ace of Knots"),
            "a split of 4, 8 high",
            ("Author", "Desert", "Diplomat", "Mill"),
            id="SP-V7",
        ),
        pytest.param(
            ("Ace of Moons", "Ace of Suns", "Ace of Waves", "Ace of Leaves", "Bard"),
            "4 of a kind, Aces",
            ("Ace of Moons", "Ace of Suns", "Ace of Waves", "Ace of Leaves"),
            id="SP-V9",
        ),
        pytest.param(
            ("Ace of Moons", "Author", "Journey", "Mountain", "Cave"),
            "a straight flush of 4, Ace high",
            ("Ace of Moons", "Author", "Journey", "Mountain"),
            id="SP-V10",
        ),
    ],
)
def test_best_sets(hand, words, cards):
    assert words_of_best_set(*hand) == words
    assert set(best(*hand).cards) == set(ids(*cards))


def test_SP_V1_the_kind_outranks_the_straight_flush_of_the_same_size():
    assert words_of_best_set("Origin", "Journey", "Sailor") == "a straight flush of 3, 4 high"
    assert strength("Author", "Desert", "Origin") > strength("Origin", "Journey", "Sailor")


def test_SP_V12_and_V13_the_smallest_split_decides_which_hand_is_better():
    nines = ("Pact", "Merchant", "Ace of Knots", "Lunatic", "Battle")
    crowns = ("Sea", "End", "Pact", "Penitent", "Battle")
    assert words_of_best_set(*nines) == "a split of 3, Ace high"
    assert words_of_best_set(*crowns) == "a split of 3, Crown high"
    assert strength(*nines) > strength(*crowns)
    assert words_of_best_set(*nines, split_min=4) == "a pair of 9s"
    assert words_of_best_set(*crowns, split_min=4) == "a pair of Crowns"
    assert strength(*crowns, split_min=4) > strength(*nines, split_min=4)


def test_a_split_is_spelled_out_by_its_ranks():
    teller = GAME.teller(0, NAMES_OF_PEOPLE)
    assert teller(best("Author", "Desert", "Mill", "Betrayal").spelled_out()) == "A split of 4, 8 high (8s and 2s)"
    assert teller(best("Author", "Merchant").spelled_out()) == "A split of 2, 9 high (9 and 2)"


def test_SP_V16_pawn_and_court_stand_between_9_and_crown():
    hand = ("Excuse", "Pact", "Harvest", "Window", "Bard")
    assert words_of_best_set(*hand, seats=9) == "a straight flush of 4, Crown high"
    assert set(best(*hand, seats=9).cards) == set(ids(*hand[1:]))


def test_SP_V27_splits_are_as_even_as_possible():
    twos, threes = ("Author", "Desert", "Origin"), ("Journey", "Painter", "Savage")
    aces = tuple(f"Ace of {suit}" for suit in ("Moons", "Suns", "Waves", "Leaves"))
    sizes = {4: (*twos[:2], *aces[:2]), 5: (*twos[:2], *aces[:3]), 6: (*twos, *aces[:3]), 7: (*twos, *aces)}
    for size, hand in sizes.items():
        assert strength(*hand)[:2] == (size, 0)
    # Four and one are no split of five, and four and two none of six.
    assert strength(*twos[:1], *aces) == (4, 3, 11)
    assert strength(*twos[:2], *aces) == (5, 0, 11)
    assert strength(*twos, *threes)[:2] == (6, 0)


def test_SP_V27_and_sp_01_cards_a_player():
    assert [cards_each(seats) for seats in range(3, 10)] == [12, 9, 7, 6, 5, 5, 5]
    assert [len(deck_for(seats)) % seats for seats in range(3, 10)] == [0, 0, 1, 0, 1, 0, 0]
    assert all(deck_for(seats) == BASIC for seats in range(3, 8))
    assert set(deck_for(8)) == {*BASIC, *PAWNS}
    assert set(deck_for(9)) == set(EXTENDED)


def test_sp_02_with_pawns_and_courts_9_and_crown_are_no_neighbours():
    assert circle_for(7) == "A23456789X"
    assert circle_for(8) == "A23456789PX"
    assert circle_for(9) == "A23456789PTX"
    assert words_of_best_set("Pact", "Huntress") == "a straight flush of 2, Crown high"
    assert words_of_best_set("Pact", "Huntress", seats=8) == "a split of 2, Crown high"
    assert words_of_best_set("Harvest", "Huntress", seats=8) == "a straight flush of 2, Crown high"
    assert words_of_best_set("Harvest", "Huntress", seats=9) == "a split of 2, Crown high"
    assert strength("Window", seats=9) > strength("Harvest", seats=9) > strength("Pact", seats=9)


def test_sp_03_the_excuse_is_played_like_a_card_and_is_in_no_set():
    assert best("Excuse", seats=9).cards == ()
    assert words_of_best_set("Excuse", seats=9) == "no Set"
    assert words_of_best_set("Excuse", "Author", seats=9) == "a single 2"
    position = playing(9, {0: ("Excuse",)})
    position, _ = act(position, "play the Excuse")
    assert position.state.played[0] == ("E",)
    assert "Folding now gains you 1 point." in plain(GAME.board(position.state, 0), GAME.teller(0))


def test_sp_20_and_21_the_ace_is_next_to_both_and_always_highest():
    assert words_of_best_set("Ace of Moons", "Author") == "a straight flush of 2, Ace high"
    assert words_of_best_set("Ace of Moons", "Huntress") == "a straight flush of 2, Ace high"
    low = strength("Ace of Moons", "Author", "Journey", "Mountain")
    high = strength("Lunatic", "Chance Meeting", "Diplomat", "Pact")
    assert low[:2] == high[:2] == (4, 2)
    assert low > high


def test_sp_22_a_row_goes_round_the_corner():
    assert words_of_best_set("Pact", "Huntress", "Ace of Moons", "Author") == "a straight flush of 4, Ace high"


def test_sp_23_crown_and_ace_must_share_their_suit():
    assert words_of_best_set("Huntress", "Ace of Moons") == "a straight flush of 2, Ace high"
    assert words_of_best_set("Huntress", "Ace of Suns") == "a split of 2, Ace high"


def test_sp_24_each_rank_once_up_to_the_whole_circle():
    moons = [card for card in BASIC if "M" in card[1:]]
    assert best_set(tuple(moons), circle_for(3), 2).strength() == (10, 2, 11)
    assert best_set(BASIC, circle_for(3), 2).strength()[:2] == (12, 0)
    eleven = (*moons, "PMSL")
    assert best_set(eleven, circle_for(8), 2).strength() == (11, 2, 11)
    assert best_set((*eleven, "TMWK"), circle_for(9), 2).strength() == (12, 2, 11)


def test_sp_24_a_second_card_of_a_rank_does_not_lengthen_a_run():
    assert strength("Author", "Origin", "Journey", "Mountain")[0] == 3


def test_sp_25_a_run_may_branch_and_its_ends_need_share_nothing():
    # Moons, then Waves, then Leaves; the other 3 leads nowhere.
    assert words_of_best_set("Author", "Journey", "Painter", "Sailor", "Market") == "a run of 3, 4 high"
    assert set(best("Author", "Journey", "Painter", "Sailor").cards) == set(ids("Author", "Journey", "Sailor"))


def test_sp_26_a_straight_flush_has_one_suit_on_all_its_cards():
    assert words_of_best_set("Origin", "Journey", "Sailor") == "a straight flush of 3, 4 high"
    assert words_of_best_set("Author", "Journey", "Sailor") == "a run of 3, 4 high"
    assert strength("Origin", "Journey", "Sailor") > strength("Author", "Journey", "Sailor")


def test_sp_27_any_two_cards_are_a_split_unless_four_are_needed():
    assert words_of_best_set("Author", "Merchant") == "a split of 2, 9 high"
    assert words_of_best_set("Author", "Merchant", split_min=4) == "a single 9"
    assert words_of_best_set("Author", "Desert", "Mill", "Betrayal", split_min=4) == "a split of 4, 8 high"


def test_sp_28_three_and_one_are_no_split_of_four():
    assert strength("Author", "Desert", "Origin", "Merchant") == (3, 3, 0)


def test_sp_29_the_second_highest_card_breaks_no_tie():
    assert strength("Diplomat", "Betrayal", "Author", "Origin") == strength("Diplomat", "Mill", "Painter", "Journey")


def test_sp_30_size_comes_before_kind_before_height():
    split_of_four = strength("Author", "Desert", "Painter", "Savage")
    three_aces = strength("Ace of Moons", "Ace of Suns", "Ace of Waves")
    assert split_of_four > three_aces
    run = strength("Author", "Journey", "Sailor", "Discovery")
    assert run[0] == 4
    assert run > strength("Ace of Moons", "Ace of Suns", "Huntress", "Bard")


@pytest.mark.parametrize("split_min", [2, 4])
@pytest.mark.parametrize("seats", [7, 8, 9])
def test_sp_36_the_search_agrees_with_every_subset(seats, split_min):
    chance = Random(seats * split_min)
    deck = deck_for(seats)
    for _ in range(1500):
        hand = tuple(chance.sample(deck, chance.randint(1, 7)))
        found = best_set(hand, circle_for(seats), split_min)
        assert found.strength() == strongest(hand, deck, split_min), hand
        assert strongest(found.cards, deck, split_min) == found.strength()


@pytest.mark.slow
@pytest.mark.slice(1 / 3)
@pytest.mark.parametrize("split_min", [2, 4])
@pytest.mark.parametrize("seats", [3, 8, 9])
def test_the_search_agrees_with_every_subset_of_large_hands(seats, split_min):
    chance = Random(seats * split_min)
    deck = deck_for(seats)
    for _ in range(1000):
        hand = tuple(chance.sample(deck, chance.randint(8, 12)))
        assert best_set(hand, circle_for(seats), split_min).strength() == strongest(hand, deck, split_min), hand


# The draft.


def picks(position, names=None):
    """Everyone picks the first card of the pack in its dealt order, or the one named."""
    for seat in sorted(position.open()):
        card = (names or {}).get(seat, position.state.packs[seat][0])
        position, entries = position.submit(seat, Choice("pick", (card,)))
    return position, entries


def test_everyone_picks_at_once_and_nothing_happens_before_the_last_pick():
    position, _ = deal(GAME, 4, SEED)
    assert set(position.open()) == {0, 1, 2, 3}
    state = position.state
    for seat in range(3):
        position, entries = position.submit(seat, Choice("pick", (state.packs[seat][3],)))
        assert entries == ()
        assert position.state == state
    position, entries = position.submit(3, Choice("pick", (state.packs[3][3],)))
    assert len(entries) == 1
    assert position.state.hands == tuple((pack[3],) for pack in state.packs)


def test_only_a_card_of_the_pack_can_be_picked():
    position, _ = deal(GAME, 4, SEED)
    with pytest.raises(Refused):
        position.submit(0, Choice("pick", (position.state.packs[1][0],)))


@pytest.mark.parametrize("seats", [3, 5, 9])
def test_sp_05_packs_always_go_to_the_left_in_their_order(seats):
    position, _ = deal(GAME, seats, SEED)
    while position.state.turn is None:
        before = position.state.packs
        position, _ = picks(position)
        for seat in range(seats):
            if len(before[0]) > 2:
                assert position.state.packs[(seat + 1) % seats] == before[seat][1:]


def test_the_last_card_of_a_pack_is_taken_without_asking():
    position, _ = deal(GAME, 7, SEED)
    for asked in range(4):
        assert len(position.state.packs[0]) == 5 - asked
        before = position.state.packs
        position, entries = picks(position)
    assert len(entries) == 1
    assert all(not pack for pack in position.state.packs)
    assert all(len(hand) == 5 for hand in position.state.hands)
    assert position.state.hands[1][-1] == before[0][-1]
    assert position.state.turn == position.state.first


@pytest.mark.parametrize("seats", range(3, 10))
def test_a_draft_has_one_turn_fewer_than_cards(seats):
    position, _ = deal(GAME, seats, SEED)
    turns = 0
    while position.state.turn is None:
        position, _ = picks(position)
        turns += 1
    assert turns == cards_each(seats) - 1


def test_silence_picks_the_first_card_in_the_dealt_order():
    position, _ = deal(GAME, 4, SEED)
    for seat, decision in position.open().items():
        assert decision.default == Choice("pick", (position.state.packs[seat][0],))


@pytest.mark.parametrize("seats", [5, 7])
def test_sp_04_the_card_left_over_is_seen_by_nobody_and_comes_back(seats):
    table = begin(GAME, seats, SEED)
    (spare,) = table.position.state.deck
    for seat in (*range(seats), SPECTATOR):
        facts = repr(table.told(seat))
        assert repr(spare) not in facts
        assert spare in table.view(seat).deck
    position = playing(seats, number=1, max_rounds=2)
    position, happened = run(position, dict.fromkeys(range(seats), "f"))
    dealt = {card for each in only(happened, Dealt) for card in each.cards}
    assert len(dealt) == len(BASIC) - 1
    assert len(position.state.deck) == 1


def test_sp_06_the_first_player_is_left_of_a_random_dealer():
    for dealer in range(4):
        empty = GAME.start(4, GAME.settle(4, {}))
        facts, state = [], empty
        story = GAME.setup(empty, Scripted([dealer, *range(35, 0, -1)]))
        each = next(story)
        try:
            while True:
                facts.append(each)
                state = each.apply(state)
                each = story.send(state)
        except StopIteration:
            # All has been dealt.
            pass
        assert facts[0] == RoundBegan(1, (dealer + 1) % 4)
        assert state.packs == tuple(BASIC[i : i + 9] for i in (0, 9, 18, 27))


# What others may know.


def test_packs_hands_and_picks_are_told_to_those_who_hold_them():
    table = begin(GAME, 4, SEED)
    for seat, decision in table.asks().items():
        table = table.submit(seat, decision.default)
    state = table.position.state
    for seat in range(4):
        view = table.view(seat)
        assert view.packs[seat] == state.packs[seat]
        assert view.hands[seat] == state.hands[seat]
        # The pack that one has just passed on is the only other thing known.
        for other in range(4):
            if other != seat:
                assert view.hands[other] == (HIDDEN,)
                passed = other == (seat + 1) % 4
                assert view.packs[other] == (state.packs[other] if passed else (HIDDEN,) * 8)
    spectator = table.view(SPECTATOR)
    assert spectator.hands == ((HIDDEN,),) * 4
    assert spectator.packs == ((HIDDEN,) * 8,) * 4


def test_a_pick_is_told_in_words_to_nobody_else():
    table = begin(GAME, 4, SEED)
    for seat, decision in table.asks().items():
        table = table.submit(seat, decision.default)
    heard = {}
    for reader in (0, SPECTATOR):
        teller = GAME.teller(reader)
        heard[reader] = [text for each in table.told(reader, 1) if (text := teller.tell(each))]
    all_picked = "Everyone has picked. The packs are passed left, with 8 cards in each."
    assert heard[SPECTATOR] == [all_picked]
    assert heard[0] == [f"You pick {GAME.word(table.position.state.hands[0][0])}.", all_picked]


def test_a_passed_pack_is_unknown_again_after_the_next_pick():
    table = begin(GAME, 4, SEED)
    for _ in range(2):
        for seat, decision in table.asks().items():
            table = table.submit(seat, decision.default)
    assert table.view(0).packs[2] == (HIDDEN,) * 7


def test_sp_35_the_unplayed_cards_of_a_folder_are_never_shown():
    table = begin(GAME, 5, SEED, {"max_rounds": 1})
    while table.position.state.turn is None:
        for seat, decision in table.asks().items():
            table = table.submit(seat, decision.default)
    for _ in range(5):
        ((seat, decision),) = table.asks().items()
        table = table.submit(seat, decision.default)
    assert table.position.state.over
    for seat in (*range(5), SPECTATOR):
        view = table.view(seat)
        for other in range(5):
            assert view.hands[other] == (table.position.state.hands[other] if other == seat else (HIDDEN,) * 7)


def test_an_imagined_truth_fits_what_was_seen():
    table = begin(GAME, 5, SEED)
    luck = Stream(SEED, 99)
    for _ in range(60):
        for seat, decision in table.asks().items():
            table = table.submit(seat, decision.sample(luck))
        for seat in (*range(5), SPECTATOR):
            view = table.view(seat)
            world = GAME.imagine(view, seat, luck)
            assert GAME.tally(world) == GAME.tally(table.position.state)
            for known, made in zip((*view.hands, *view.packs), (*world.hands, *world.packs), strict=True):
                assert len(known) == len(made)
                assert all(a == b for a, b in zip(known, made, strict=True) if a is not HIDDEN)
            assert world.played == view.played


# The play.


@pytest.mark.parametrize(
    "played, sun_taken, points",
    [
        pytest.param(3, False, 3, id="SP-V19"),
        pytest.param(5, True, -3, id="SP-V20"),
        pytest.param(0, True, 0, id="SP-V26-none"),
        pytest.param(1, True, -1, id="SP-V26-one"),
        pytest.param(2, True, -1, id="SP-V26-two"),
        pytest.param(0, False, 0, id="SP-08"),
        pytest.param(3, True, -2, id="SP-14"),
    ],
)
def test_points_for_folding(played, sun_taken, points):
    assert points_for_folding(played, sun_taken) == points
    position = playing(3)
    others = "s" if sun_taken else "p"
    plans = {0: "p" * played + "f", 1: others + "p" * 12 if sun_taken else "p" * 12, 2: "p" * 12}
    if sun_taken and not played:
        # Nobody plays before the first turn of seat 0: it waits by taking the Sun itself.
        plans = {0: "sf", 1: "p" * 12, 2: "p" * 12}
    _, happened = run(position, plans)
    (folded,) = only(happened, Folded)
    assert (folded.seat, folded.cards, folded.points) == (0, played, points)


def test_SP_V21_fold_before_and_after_the_sun_and_two_finish():
    given = {2: ("Ace of Moons", "Ace of Suns", "Ace of Waves", "Ace of Leaves", "Ace of Wyrms", "Ace of Knots")}
    given[2] = (*given[2], "Huntress", "Bard", "Sea")
    given[3] = ("Author", "Painter", "Forest", "Penitent", "Cave", "Mill", "Darkness", "Battle", "Windfall")
    plans = {0: "pppf", 1: "pppppf", 2: "ppps" + "p" * 6, 3: "p" * 9}
    position, happened = run(playing(4, given), plans)
    assert position.state.scores == (53, 47, 71, 41)
    (won,) = only(happened, Won)
    assert (won.seat, won.points, won.lost) == (2, 9, 12)
    assert position.state.lost == 0


def test_SP_V24_nobody_finishes():
    plans = {0: "f", 1: "p" * 8 + "f", 2: "p" * 8 + "sf", 3: "p" * 8 + "f"}
    position, happened = run(playing(4), plans)
    assert position.state.scores == (50, 58, 46, 46)
    assert only(happened, NobodyFinished)
    assert not only(happened, Won)


def test_sp_07_without_a_winner_the_left_neighbour_is_first():
    position, happened = run(playing(4, first=3), dict.fromkeys(range(4), "f"))
    assert only(happened, RoundBegan) == [RoundBegan(2, 0)]
    assert position.state.first == 0


def test_the_winner_of_a_round_is_first_in_the_next():
    position, happened = run(playing(4, first=3), {0: "f", 1: "p" * 9, 2: "f", 3: "f"})
    assert only(happened, RoundBegan) == [RoundBegan(2, 1)]
    assert position.state.first == 1


def test_a_new_round_starts_with_the_sun_and_new_packs_and_nothing_lost():
    position, _ = run(playing(4), {0: "spf", 1: "pf", 2: "f", 3: "pppf"})
    state = position.state
    assert (state.round, state.turn, state.sun, state.folded, state.lost) == (2, None, None, (), 0)
    assert all(len(pack) == 9 for pack in state.packs)
    assert not any((*state.hands, *state.played))


def test_sp_08_the_sun_may_be_taken_and_one_may_fold_without_a_card_played():
    position, facts = act(playing(3), "take the Sun")
    assert position.state.sun == 0
    position, facts = act(position, "fold")
    assert facts[0] == Folded(1, 0, 0)


def test_sp_09_taking_the_sun_is_the_whole_turn_and_it_can_be_taken_once():
    position, _ = act(playing(3), "take the Sun")
    assert position.state.turn == 1
    with pytest.raises(Refused):
        position.submit(1, Choice("take"))


def test_sp_10_the_player_who_took_the_sun_pays_like_everyone_else():
    _, happened = run(playing(3), {0: "psppf", 1: "f", 2: "f"})
    assert only(happened, Folded)[-1] == Folded(0, 3, -2, 2)


def test_sp_11_a_finished_player_is_not_asked_again():
    position, _ = act(playing(7), "play " + NAMES[playing(7).state.hands[0][0]])
    while position.state.hands[0]:
        card = NAMES[position.state.hands[position.state.turn][0]]
        position, _ = act(position, f"play {card}")
    assert position.state.sun is None
    while position.state.round == 1:
        assert position.state.turn != 0
        with pytest.raises(Refused):
            position.submit(0, Choice("take"))
        position, _ = act(position, "fold")


def test_sp_12_the_last_player_goes_on_turn_by_turn():
    position = playing(3)
    for _ in range(2):
        position, _ = act(position, "fold")
    for command in ("play", "take the Sun", "play"):
        assert position.state.turn == 2
        card = f" {NAMES[position.state.hands[2][0]]}" if command == "play" else ""
        position, _ = act(position, command + card)
    position, facts = act(position, "fold")
    assert facts[0] == Folded(2, 2, -1, 1)


def test_sp_13_the_only_one_to_finish_wins_with_whatever_it_is():
    given = {1: ("Ace of Moons", "Painter", "Soldier", "Mill", "Huntress")}
    position, happened = run(playing(7, given), {**dict.fromkeys(range(7), "f"), 1: "ppppp"})
    (won,) = only(happened, Won)
    assert (won.seat, won.points, won.lost) == (1, 5, 0)
    assert position.state.scores[1] == 55


@pytest.mark.parametrize("settle, collected", [("actual", 3), ("nominal", 7)])
def test_sp_15_the_winner_collects_what_was_really_lost(settle, collected):
    given = {0: MOONS_2_TO_5, 1: ("Painter", "Betrayal", "Huntress", "Ace of Suns")}
    scores = (50, 2, 1, 50, 50, 50, 50)
    position = playing(7, given, scores, settle=settle)
    plans = {0: "s" + "p" * 5, 1: "p" * 5, 2: "p" * 3 + "f"} | dict.fromkeys(range(3, 7), "f")
    position, happened = run(position, plans)
    (beaten,), (won,) = only(happened, Beaten), only(happened, Won)
    assert (beaten.seat, beaten.points) == (1, 2)
    assert only(happened, Folded)[-1].points == -1
    assert (won.points, won.lost) == (5, collected)
    assert position.state.scores[:3] == (55 + collected, 0, 0)


def test_sp_16_all_losses_come_before_the_gain():
    given = {0: MOONS_2_TO_5, 1: ("Painter", "Betrayal", "Huntress", "Ace of Suns")}
    plans = dict.fromkeys(range(7), "ppppp")
    _, happened = run(playing(7, given), plans)
    kinds = [type(each) for each in happened if type(each) in (Beaten, Won)]
    assert kinds == [Beaten] * 6 + [Won]


def test_sp_17_a_perfect_tie_spares_only_those_who_tie():
    given = {0: (*MOONS_2_TO_5, "Merchant"), 3: (*WYRMS_2_TO_5, "Pact"), 5: ("Painter", "Market", "Betrayal", "Sea")}
    given[5] = (*given[5], "Ace of Suns")
    plans = dict.fromkeys((1, 2), "f") | {0: "sppppp", 3: "ppppp", 4: "pf", 5: "ppppp", 6: "f"}
    position, happened = run(playing(7, given, first=0), plans)
    (tied,) = only(happened, Tied)
    assert tied.seats == (0, 3)
    assert position.state.scores == (50, 50, 50, 50, 49, 45, 50)
    assert only(happened, RoundBegan)[0].seat == 1
    assert position.state.lost == 0


def test_sp_18_points_lost_where_nobody_finishes_are_gone():
    position, happened = run(playing(3), {0: "sppf", 1: "ppf", 2: "f"})
    assert position.state.scores == (49, 49, 50)
    assert not only(happened, Won)


def test_sp_19_without_the_sun_taken_folds_gain_and_the_showdown_is_as_usual():
    given = {0: MOONS_2_TO_5, 1: ("Painter", "Betrayal", "Huntress", "Ace of Suns")}
    plans = {0: "ppppp", 1: "ppppp", 2: "pppf"} | dict.fromkeys(range(3, 7), "f")
    position, happened = run(playing(7, given), plans)
    assert not any(each.lost for each in only(happened, Folded))
    assert position.state.scores == (60, 45, 53, 50, 50, 50, 50)


def test_silence_folds():
    position = playing(4)
    assert position.open()[0].default == Choice("fold")


# The end.


def test_the_game_ends_when_a_player_reaches_the_target():
    position, happened = run(playing(3, scores=(99, 50, 50)), {0: "pf", 1: "f", 2: "f"})
    assert happened[-1] == Ended(reached=True)
    assert GAME.standing(position.state).ranking == ((0,), (1, 2))


def test_sp_31_a_shared_top_score_means_another_round():
    position, happened = run(playing(4, scores=(120, 120, 99, 20)), dict.fromkeys(range(4), "f"))
    assert only(happened, RoundBegan) == [RoundBegan(2, 1, shared=True)]
    assert not position.state.over
    position, happened = run(playing(4, scores=(120, 119, 101, 20)), dict.fromkeys(range(4), "f"))
    assert position.state.over


def test_sp_31_the_highest_score_wins_where_several_reached_the_target():
    position, _ = run(playing(4, scores=(101, 119, 101, 20)), dict.fromkeys(range(4), "f"))
    assert GAME.standing(position.state).ranking == ((1,), (0, 2), (3,))


def test_sp_32_a_round_in_which_the_target_is_reached_is_played_out():
    position, _ = act(playing(3, scores=(99, 95, 50)), f"play {NAMES[playing(3).state.hands[0][0]]}")
    for _ in range(2):
        position, _ = act(position, f"play {NAMES[position.state.hands[position.state.turn][0]]}")
    position, _ = act(position, "fold")
    assert position.state.scores[0] == 100
    assert not position.state.over
    position, _ = run(position, {1: "p" * 11, 2: "f"})
    assert position.state.over
    assert GAME.standing(position.state).ranking == ((1,), (0,), (2,))


def test_sp_33_a_player_without_points_plays_on():
    position, happened = run(playing(3, scores=(0, 50, 50)), {0: "spf", 1: "f", 2: "f"})
    assert only(happened, Folded)[-1] == Folded(0, 1, 0)
    assert position.state.scores == (0, 50, 50)
    assert 0 in position.open()


def test_sp_34_the_last_round_ends_the_game_even_with_a_shared_victory():
    position, happened = run(playing(3, max_rounds=1), dict.fromkeys(range(3), "f"))
    assert happened[-1] == Ended(reached=False)
    assert GAME.standing(position.state).ranking == ((0, 1, 2),)
    tied, _ = run(playing(3, scores=(100, 100, 3), max_rounds=1), dict.fromkeys(range(3), "f"))
    assert GAME.standing(tied.state).ranking == ((0, 1), (2,))
    with pytest.raises(Refused):
        GAME.settle(3, {"max_rounds": 0})


def test_the_target_is_any_number_above_50():
    assert GAME.settle(3, {"target": 51})["target"] == 51
    with pytest.raises(Refused):
        GAME.settle(3, {"target": 50})


def test_sp_37_places_below_the_first_are_by_score_and_shared():
    position, _ = run(playing(5, scores=(30, 100, 40, 40, 0)), dict.fromkeys(range(5), "f"))
    assert GAME.standing(position.state).ranking == ((1,), (2, 3), (0,), (4,))


# What is told.


def sentences(happened, reader=None):
    teller = GAME.teller(reader, NAMES_OF_PEOPLE)
    return [text for each in happened if (text := teller.tell(each))]


def test_the_showdown_in_words():
    given = {0: (*MOONS_2_TO_5, "Merchant"), 1: ("Painter", "Betrayal", "Huntress", "Ace of Suns", "Market")}
    plans = {0: "s" + "p" * 5, 1: "p" * 5, 2: "pf"} | dict.fromkeys(range(3, 7), "f")
    _, happened = run(playing(7, given), plans)
    *before, won, after = sentences(happened, 1)
    assert before[-2:] == [
        "Ann plays the Merchant and is finished.",
        "You have only a split of 2, Ace high and lose 5 points.",
    ]
    assert won == (
        "Ann wins the round with a straight flush of 4, 5 high (the Author, the Journey, the Mountain and the "
        "Forest), and gains 5 points plus the 6 the others lost."
    )
    assert after == "Round 2 begins with new packs. Ann plays first."


def test_a_finished_player_and_a_folder_read_where_they_stand():
    position = playing(7)
    while position.state.hands[0] or position.state.turn != 1:
        position, _ = act(position, f"play {NAMES[position.state.hands[position.state.turn][0]]}")
    board = {seat: plain(GAME.board(position.state, seat), GAME.teller(seat)) for seat in (0, 1)}
    assert "You've finished and are in the showdown." in board[0]
    assert "Folding now gains you 4 points." in board[1]
    position, _ = act(position, "fold")
    assert "You have folded." in plain(GAME.board(position.state, 1), GAME.teller(1))


def test_folding_in_words():
    lines = [Folded(0, 0, 0), Folded(0, 3, 3), Folded(0, 1, -1, 1), Folded(0, 4, 0, 2)]
    assert sentences(lines) == [
        "Ann folds before playing a card.",
        "Ann folds after 3 cards and gains 3 points.",
        "Ann folds after 1 card and loses 1 point.",
        "Ann folds after 4 cards and has no points left to lose.",
    ]


def test_sentences_of_rare_events():
    pair = BestSet("kind", ids("Author", "Desert"))
    lines = [Tied((0, 2), pair), Beaten(0, pair, 0, 0), RoundBegan(8, 0, shared=True), Ended(reached=True)]
    assert sentences(lines, 0) == [
        "You and Cleo tie with a pair of 2s, gaining and losing nothing. Nobody gets the points the others lost.",
        "You have only a pair of 2s and no points left to lose.",
        "The top score is shared, so there's a round 8, with new packs. You play first.",
        "The target is reached.",
    ]


# Many games.

OPTIONS = [{"max_rounds": 3}, {"max_rounds": 2, "split_min": "4", "settle": "nominal"}, {"target": 51, "max_rounds": 4}]


@pytest.mark.parametrize("options", OPTIONS, ids=["default", "four-nominal", "short"])
@pytest.mark.parametrize("seats", range(3, 10))
def test_random_games_keep_every_promise(seats, options):
    settled = GAME.settle(seats, options)
    for number in range(3):
        table = begin(GAME, seats, number.to_bytes(4, "big"), options)
        luck = Stream(SEED, number)
        tally = GAME.tally(table.position.state)
        while asks := table.asks():
            state = table.position.state
            assert not GAME.standing(state).over
            for seat in range(seats):
                assert GAME.asks(table.view(seat), seat) == GAME.asks(state, seat)
            for reader in (*range(seats), SPECTATOR):
                teller = GAME.teller(reader, NAMES_OF_PEOPLE)
                shown = plain(GAME.board(table.view(reader), reader), teller)
                assert max(map(len, shown.splitlines())) <= WIDTH
                assert "HIDDEN" not in shown
            for seat, decision in asks.items():
                # Folding is rare here, so that games see showdowns too.
                choice = decision.sample(luck)
                if choice.verb == "fold" and luck.below(8):
                    choice = decision.sample(luck)
                assert read(decision, write(decision, choice)) == choice
                table = table.submit(seat, choice)
            assert GAME.tally(table.position.state) == tally
            assert min(table.position.state.scores) >= 0
        assert GAME.standing(table.position.state).over
        assert len(table.log) <= GAME.longest(seats, settled)
        for reader in (*range(seats), SPECTATOR):
            assert replay(GAME, seats, settled, table.log, reader) == table.view(reader)
            assert plain(GAME.board(table.view(reader), reader), GAME.teller(reader, NAMES_OF_PEOPLE))
        assert replay(GAME, seats, settled, table.log) == table.position.state


@pytest.mark.parametrize("seats", [3, 5, 8])
def test_no_game_is_longer_than_the_longest(seats):
    options = {"max_rounds": 1}
    table = begin(GAME, seats, SEED, options)
    while asks := table.asks():
        for seat, decision in asks.items():
            choices = decision.choices()
            sun = Choice("take")
            table = table.submit(seat, sun if sun in choices else choices[0])
    assert len(table.log) == GAME.longest(seats, GAME.settle(seats, options))


def test_the_game_ends_on_missed_turns_alone():
    table = begin(GAME, 3, SEED)
    while asks := table.asks():
        for seat, decision in asks.items():
            table = table.submit(seat, decision.default)
    assert table.position.state.round == 25


def test_facts_a_pick_are_a_fact_a_seat_and_one_for_the_packs():
    position, _ = deal(GAME, 9, SEED)
    _, (entry,) = picks(position)
    assert Counter(map(type, entry.facts)) == {Picked: 9, PassedOn: 1}


@pytest.mark.slow
def test_a_player_is_told_why_a_verb_cannot_be_chosen_now():
    assert set(reasons(GAME)) == {"fold", "play", "take"}


def test_the_board_draws_hidden_cards_face_down_but_not_those_of_a_folder():
    position = playing(3)
    for panel in GAME.board(position.state, 1).players:
        assert panel.scenery.count(BACK) == (0 if panel.seat == 1 else len(position.state.hands[panel.seat]))
    position, _ = act(position, "fold")
    assert [panel.scenery for panel in GAME.board(position.state, 1).players][:2] == [(), ()]


def test_the_board_draws_the_sun_in_the_middle_until_someone_has_taken_it():
    position = playing(3)
    before = GAME.board(position.state, SPECTATOR)
    position, _ = act(position, "take the Sun")
    after = GAME.board(position.state, SPECTATOR)
    (sun,) = before.scenery
    assert [sun in panel.scenery for panel in before.players] == [False, False, False]
    assert after.scenery == ()
    assert [sun in panel.scenery for panel in after.players] == [True, False, False]


def test_the_board_says_what_the_turn_is_for():
    position = playing(3)
    tell = GAME.teller(None, NAMES_OF_PEOPLE)
    assert tell(GAME.board(position.state, 2).turn) == "It's Ann's turn to play a card, take the Sun or fold."
    position, _ = act(position, "take the Sun")
    assert tell(GAME.board(position.state, 2).turn) == "It's Bartholomew's turn to play a card or fold."
