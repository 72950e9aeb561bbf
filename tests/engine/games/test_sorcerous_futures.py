"""Sorcerous Futures: every ruling, every worked example, and whole games at every table."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from engine.board import plain
from engine.chance import Scripted, Stream
from engine.decisions import Choice, Refused
from engine.decks.decktet import ACES, COURTS, CROWNS, NUMBERS, PAWNS, SUITS, in_order
from engine.facts import HIDDEN, SPECTATOR, Fact, fold, seen
from engine.games.sorcerous_futures.cards import AUCTIONS, DECK, MARKERS, MARKET, opening_bid, valuation
from engine.games.sorcerous_futures.crowns import assignments, ritual
from engine.games.sorcerous_futures.facts import (
    Began,
    Bid,
    BidsShown,
    Bought,
    Closed,
    ExcuseTurnedUp,
    GaveCrown,
    GotAces,
    KeptCrown,
    Looked,
    Opened,
    Passed,
    Revealed,
    SawSeven,
    TookExcuse,
    TurnedUp,
)
from engine.games.sorcerous_futures.state import winner_of
from engine.games.sorcerous_futures.worth import crown_bonus, total_in_front, total_worth, worth_of_card, worths_of
from engine.grammar import read, write
from engine.registry import load
from engine.table import Position, answers_itself, begin, deal, replay
from tests.conftest import EVERYTHING
from tests.engine.barred import reasons
from tests.engine.games.brute_sorcerous_futures import allowed_crowns, closed_winner, final_score, law_of_the_ritual

GAME = load("sorcerous-futures")
NAMES = ("Ann", "Ben", "Cleo", "Dan")

HARVEST, CASTLE, AUTHOR, MERCHANT, SAILOR, SOLDIER, JOURNEY = "PMSL", "7SK", "2MK", "9LK", "4WL", "5YK", "3MW"
UNDER = (HARVEST, CASTLE, AUTHOR, MERCHANT, SAILOR, SOLDIER, JOURNEY)
"""Under the Aces of Moons, Suns, Waves, Leaves, Wyrms and Knots, and under the Excuse, as in the worked examples."""

WORTHS = worths_of(UNDER)
PAIRS = (("AM", "AS"), ("AW", "AL"), ("AY", "AK"))
ROW = ("7WY", "2SY", "PWLY", "9MS", "5ML")
TABLES = [
    pytest.param(3, {}, id="three"),
    pytest.param(4, {}, id="four"),
    pytest.param(4, {"sly_excuse": "on"}, id="four, sly"),
    pytest.param(4, {"excuse_seat": "1"}, id="four, first volunteers"),
    pytest.param(4, {"excuse_seat": "4", "sly_excuse": "on"}, id="four, last volunteers, sly"),
]


def seed(number):
    return number.to_bytes(32, "big")


def beginning(seats, under=UNDER, crowns=("XL", "XM", "XW", "XS")):
    """What happened before the first group came up; of four players the last has the Excuse."""
    facts: list[Fact] = [TookExcuse(3)] if seats == 4 else []
    facts += [GotAces(seat, aces) for seat, aces in enumerate(PAIRS)]
    facts += [KeptCrown(seat, crown) for seat, crown in enumerate(crowns[:seats])]
    for seat, markers in enumerate((*PAIRS, ("E",))[:seats]):
        facts.append(Looked(seat, markers, tuple(under[MARKERS.index(marker)] for marker in markers)))
    return [*facts, Began(0)]


def table(facts, seats=3, gold=None):
    """A table at which these facts have happened, and perhaps some gold been spent elsewhere."""
    state = fold(GAME.start(seats, GAME.settle(seats, {})), facts)
    if gold is not None:
        state = replace(state, gold=gold, bank=sum(state.gold) - sum(gold) + state.bank)
    return Position(GAME, seats, seed(0), state)


def market(seats=3, row=ROW, gold=None, group=1):
    """The first auction of a group: seat 0 has the Ace of Suns and is active."""
    return table([*beginning(seats), TurnedUp(group, row)], seats, gold)


def ended(gold, bought, seats=3, under=UNDER, crowns=("XL", "XM", "XW", "XS")):
    """The standing after a game that ended so."""
    facts = [
        *beginning(seats, under, crowns),
        TurnedUp(4, tuple(card for own in bought for card in own)),
        *(Bought(seat, card, 0) for seat, own in enumerate(bought) for card in own),
        Revealed(under, crowns[:seats]),
    ]
    return GAME.standing(table(facts, seats, gold).state)


def play(position, *moves):
    """The position after these moves, written as `seat, words`, and all the facts on the way."""
    facts = []
    for seat, words in moves:
        position, entries = position.submit(seat, read(position.asks()[seat], words))
        facts += [happened for entry in entries for happened in entry.facts]
    return position, facts


def bought(facts):
    return [happened for happened in facts if isinstance(happened, Bought)]


def fits(table, seat, decision, luck):
    """Any choice that the rules do not object to."""
    while True:
        choice = decision.sample(luck)
        if GAME.objects(table.view(seat), seat, choice) is None:
            return choice


def playout(seats, options, number, each=lambda table: None):
    """A whole game of random players; `each` looks at the table before every turn."""
    table, luck = begin(GAME, seats, seed(number), options), Stream(b"players", number)
    each(table)
    while asks := table.asks():
        entries = len(table.log)
        for seat, decision in asks.items():
            table = table.submit(seat, fits(table, seat, decision, luck))
        assert len(table.log) > entries, "everyone has answered and nothing happened"
        each(table)
    return table


# Worked examples.


def test_SF_V1_a_card_scores_both_its_suits():
    assert worth_of_card("4MS", WORTHS) == 8


def test_SF_V2_the_crown_adds_the_card_under_the_excuse():
    assert worth_of_card("4MS", WORTHS) + crown_bonus("4MS", WORTHS, "XS") == 11


def test_SF_V3_gold_a_pawn_and_a_crown():
    assert 10 + total_worth(("PWLY",), WORTHS, "XL") == 28
    assert ended((10, 90, 90), (("PWLY",), (), ())).scores[0] == 28


def test_SF_V5_gold_alone_scores_itself():
    assert ended((90, 90, 90), ((), (), ())).scores == (90, 90, 90)


def test_SF_V7_what_breaks_a_tie():
    assert total_in_front(("AM", "AS"), WORTHS) == 8


def test_SF_V9_an_open_auction_of_a_seven():
    position, facts = play(market(), (0, "open cave"), (1, "bid 8"), (2, "pass"), (0, "bid 9"))
    assert facts == [Opened(0, "7WY", 7), Bid(1, 8), Passed(2), Bid(0, 9), Bought(0, "7WY", 9)]
    assert position.state.gold == (81, 90, 90)
    position, facts = play(market(), (0, "open cave"), (1, "pass"), (2, "pass"))
    assert bought(facts) == [Bought(0, "7WY", 7)]


def test_SF_V12_the_ritual_with_the_first_card_chosen_every_time():
    sets = (("AM", "AS"), ("AW", "AL"), ("AY", "AK"))
    assert ritual(sets, Scripted([0] * 6)) == ("XK", "XS", "XL")


def test_SF_V12_all_64_runs_of_the_ritual():
    runs = Counter(ritual(PAIRS, Scripted(choices)) for choices in product((0, 1), repeat=6))
    assert len(runs) == 40
    assert Counter(runs.values()) == {2: 24, 1: 16}


def test_SF_V13_four_players_have_120_ways_to_share_the_crowns():
    ways = assignments((*PAIRS, ()))
    assert len(ways) == len(set(ways)) == 120
    assert len(assignments(PAIRS)) == 40


def test_SF_V14_the_deck_is_the_market_without_the_valuations():
    assert len(MARKET) - len(MARKERS) == DECK == 21 == AUCTIONS + 1


# Rulings.


@pytest.mark.parametrize("card", MARKET)
def test_sf_1_the_opening_bid_is_exactly_the_rank_and_ten_for_a_pawn(card):
    under = tuple(c for c in MARKET if c != card)[:7]
    others = tuple(c for c in MARKET if c not in (card, *under))[:4]
    position = table([*beginning(3, under), TurnedUp(1, (card, *others))])
    state = position.submit(0, Choice("open", (card,)))[0].state
    assert state.auction.high == (10 if card in PAWNS else int(card[0]))
    assert state.auction.leader == 0


def test_sf_2_no_open_auction_that_one_cannot_begin_oneself():
    position = market(gold=(7, 90, 90))
    acts = {act.verb: act for act in position.asks()[0].acts}
    assert set(acts["open"].blanks[0].values()) == {"7WY", "2SY", "5ML"}
    assert set(acts["closed"].blanks[0].values()) == set(ROW)
    with pytest.raises(Refused, match="you have 7 gold"):
        read(position.asks()[0], "open pact")


def test_sf_3_any_higher_bid_up_to_the_own_gold():
    position, _ = play(market(gold=(90, 31, 90)), (0, "open cave"))
    decision = position.asks()[1]
    assert decision.choices() == [Choice("pass"), *(Choice("bid", (gold,)) for gold in range(8, 32))]


def test_sf_4_nobody_is_asked_twice_but_the_seller():
    position, _ = play(market(), (0, "open cave"))
    asked = []
    for words in ("bid 8", "bid 9", "bid 10"):
        ((seat, _),) = position.asks().items()
        asked.append(seat)
        position, facts = play(position, (seat, words))
    assert asked == [1, 2, 0]
    assert bought(facts) == [Bought(0, "7WY", 10)]


def test_sf_5_the_last_word_is_for_a_seller_who_was_outbid():
    position, facts = play(market(), (0, "open cave"), (1, "bid 12"), (2, "pass"))
    assert not bought(facts)
    assert list(position.asks()) == [0]
    assert Choice("bid", (12,)) not in position.asks()[0]
    assert Choice("bid", (13,)) in position.asks()[0]
    position, facts = play(position, (0, "pass"))
    assert bought(facts) == [Bought(1, "7WY", 12)]


def test_sf_6_if_all_pass_the_seller_pays_the_opening_bid():
    position, facts = play(market(seats=4), (0, "open borderland"), (1, "pass"), (2, "pass"), (3, "pass"))
    assert bought(facts) == [Bought(0, "PWLY", 10)]
    assert position.state.gold == (80, 90, 90, 90)
    assert position.state.bank == 10


def test_sf_7_if_nobody_bids_the_seller_has_it_for_nothing():
    position, facts = play(market(), (0, "closed pact"), (1, "bid 0"), (2, "bid 0"), (0, "bid 0"))
    assert bought(facts) == [Bought(0, "9MS", 0)]
    assert position.state.gold == (90, 90, 90)


def test_sf_8_all_closed_bids_are_shown_to_all():
    position, facts = play(market(), (0, "closed pact"), (1, "bid 5"), (2, "bid 11"))
    assert facts == [Closed(0, "9MS")], "nothing is shown before the last bid is in"
    position, facts = play(position, (0, "bid 3"))
    assert seen(facts[0], SPECTATOR) == BidsShown("9MS", (3, 5, 11))
    assert facts[1] == Bought(2, "9MS", 11)
    assert position.state.gold == (90, 90, 79), "who loses pays nothing"
    assert GAME.teller(1, NAMES).tell(facts[0]) == "Bids for the Pact: 3 from Ann, 5 from you and 11 from Cleo."


@pytest.mark.parametrize(
    "active, bids, winner",
    [(0, (4, 4, 4), 0), (0, (3, 4, 4), 1), (2, (4, 4, 3), 0), (2, (1, 4, 4), 2), (1, (4, 0, 4), 2)],
)
def test_a_closed_tie_goes_clockwise_from_the_seller(active, bids, winner):
    assert winner_of(bids, active) == winner


def test_closed_auctions_agree_with_a_walk_round_the_table():
    for seats in (3, 4):
        for bids in product(range(4), repeat=seats):
            for active in range(seats):
                assert winner_of(bids, active) == closed_winner(bids, active)


def test_sf_9_the_exact_law_of_the_ritual():
    label = {
        "X" + ace[1]: f"{letter}{i}" for letter, pair in zip("ABC", PAIRS, strict=True) for i, ace in enumerate(pair, 1)
    }
    runs: dict[tuple, Fraction] = defaultdict(Fraction)
    for choices in product((0, 1), repeat=6):
        runs[tuple(label[crown] for crown in ritual(PAIRS, Scripted(choices)))] += Fraction(1, 64)
    assert runs == law_of_the_ritual()


def test_sf_9_what_one_crown_tells_of_the_others():
    runs = [ritual(PAIRS, Scripted(choices)) for choices in product((0, 1), repeat=6)]
    with_waves = [crowns for crowns in runs if crowns[0] == "XW"]
    assert len(with_waves) * 4 == len(runs)
    assert sum(crowns[2] == "XL" for crowns in with_waves) * 2 == len(with_waves)


@pytest.mark.slow
def test_sf_9_the_law_holds_over_thousands_of_deals():
    law, deals = law_of_the_ritual(), 64_000 if EVERYTHING else 8_000
    found: Counter[tuple] = Counter()
    for number in range(deals):
        state = deal(GAME, 3, seed(number))[0].state
        label = {
            "X" + ace[1]: f"{letter}{i}"
            for letter, pair in zip("ABC", state.aces, strict=True)
            for i, ace in enumerate(pair, 1)
        }
        found[tuple(label[crown] for crown in state.down.crowns)] += 1
    assert set(found) == set(law)
    distance = sum((found[way] - deals * chance) ** 2 / (deals * chance) for way, chance in law.items())
    # With 39 degrees of freedom chi-square stays below 72.1 in all but one of a thousand fair runs.
    assert distance < Fraction(721, 10)


def test_sf_10_the_excuse_player_may_keep_any_crown():
    position, _ = deal(GAME, 4, seed(1), {"excuse_seat": "2"})
    (keep,) = (act.blanks[-1] for act in position.asks()[1].acts if act.verb == "give")
    assert tuple(keep.values()) == CROWNS
    kept = {crowns[1] for crowns in assignments(position.state.aces)}
    assert kept == set(CROWNS)


def test_sf_11_the_crowns_come_before_any_valuation():
    position, entries = deal(GAME, 4, seed(1))
    assert position.state.down.valuations == ("",) * 7
    assert not any(isinstance(happened, Looked) for happened in entries[0].facts)
    _, entries = position.submit(position.state.excuse, Choice("deal"))
    kinds = [type(happened) for happened in entries[0].facts]
    assert kinds == [GaveCrown] * 3 + [KeptCrown] + [Looked] * 4 + [Began, TurnedUp]


def test_sf_12_a_sly_excuse_player_sees_the_seven_after_the_crowns_without_their_places():
    for number in range(20):
        position, _ = deal(GAME, 4, seed(number), {"sly_excuse": "on"})
        giver = position.state.excuse
        position, entries = position.submit(giver, Choice("deal"))
        kinds = [type(happened) for happened in entries[0].facts]
        assert kinds.index(KeptCrown) < kinds.index(SawSeven) < kinds.index(Looked)
        (shown,) = (happened for happened in entries[0].facts if isinstance(happened, SawSeven))
        assert shown.cards == in_order(position.state.down.valuations)
        assert seen(shown, giver) == shown
        for other in (*range(4), SPECTATOR):
            if other != giver:
                assert set(map(repr, seen(shown, other).cards)) == {"HIDDEN"}


def test_sf_13_a_sly_excuse_player_looks_under_the_excuse_all_the_same():
    table = begin(GAME, 4, seed(5), {"sly_excuse": "on", "excuse_seat": "3"}).submit(2, Choice("deal"))
    down = table.view(2).down
    assert down.valuations[:6] == (HIDDEN,) * 6
    assert down.valuations[6] == table.position.state.down.valuations[6]
    assert set(down.seven) >= {down.valuations[6]}


def test_without_the_option_nobody_sees_the_seven():
    table = begin(GAME, 4, seed(5), {"excuse_seat": "3"}).submit(2, Choice("deal"))
    assert table.position.state.down.seven == ()


@pytest.mark.parametrize("named", ["1", "2", "3", "4"])
def test_sf_14_a_volunteer_has_the_excuse(named):
    for number in range(5):
        assert deal(GAME, 4, seed(number), {"excuse_seat": named})[0].state.excuse == int(named) - 1


def test_sf_14_else_it_is_drawn():
    assert {deal(GAME, 4, seed(number))[0].state.excuse for number in range(40)} == {0, 1, 2, 3}


@pytest.mark.parametrize("seats", [3, 4])
def test_sf_15_the_owner_of_the_ace_of_suns_begins(seats):
    for number in range(40):
        position, _ = deal(GAME, seats, seed(number))
        if seats == 4:
            position, _ = position.submit(position.state.excuse, Choice("deal"))
        assert "AS" in position.state.aces[position.state.active]
        assert position.state.active != position.state.excuse


@pytest.mark.parametrize("seats", [3, 4])
def test_sf_16_and_27_the_turn_to_sell_goes_on_to_the_left(seats):
    log = playout(seats, {}, 3).log
    sellers = [happened.seat for entry in log for happened in entry.facts if isinstance(happened, Opened | Closed)]
    assert sellers == [(sellers[0] + i) % seats for i in range(20)]
    assert sorted(Counter(sellers).values()) == ([6, 7, 7] if seats == 3 else [5] * 4)


def test_sf_17_of_three_nobody_knows_the_card_under_the_excuse_before_ten_auctions():
    def look(table):
        state = table.position.state
        sold = 5 * state.group - len(state.row)
        if sold < 10:
            assert state.down.valuations[6] == ""
        else:
            assert {view.down.valuations[6] for view in table.views} == {state.down.valuations[6]} != {""}

    table = playout(3, {}, 8, look)
    kinds = [type(happened) for entry in table.log for happened in entry.facts]
    assert kinds.count(ExcuseTurnedUp) == 1
    assert kinds[: kinds.index(ExcuseTurnedUp)].count(Bought) == 10
    assert kinds[kinds.index(ExcuseTurnedUp) + 1] is TurnedUp


def test_with_four_only_its_player_knows_the_card_under_the_excuse():
    def look(table):
        state = table.position.state
        if state.group and not state.over:
            for seat in (*range(4), SPECTATOR):
                card = table.view(seat).down.valuations[6]
                assert card == state.down.valuations[6] if seat == state.excuse else card is HIDDEN

    kinds = [type(h) for entry in playout(4, {}, 8, look).log for h in entry.facts]
    assert ExcuseTurnedUp not in kinds


@pytest.mark.parametrize("seats", [3, 4])
def test_sf_18_gold_is_public(seats):
    def look(table):
        assert all(view.gold == table.position.state.gold for view in table.views)

    assert begin(GAME, seats, seed(0)).view(SPECTATOR).gold == (90,) * seats
    playout(seats, {}, 2, look)


def test_sf_19_without_gold_one_passes_and_bids_nothing_unasked():
    position, _ = play(market(gold=(20, 0, 9)), (0, "open cave"))
    assert list(position.open()) == [2], "the player without gold was not asked"
    position, facts = play(position, (2, "pass"), (1, "closed pact"))
    assert list(position.open()) == [0, 2]
    position, facts = play(position, (0, "bid 4"), (2, "bid 5"))
    assert facts[0] == BidsShown("9MS", (4, 0, 5))


def test_too_little_gold_to_raise_is_a_pass_too():
    _, facts = play(market(gold=(20, 7, 7)), (0, "open cave"))
    assert facts == [Opened(0, "7WY", 7), Passed(1), Passed(2), Bought(0, "7WY", 7)]


def test_when_all_gold_is_spent_the_table_plays_the_rest_alone():
    position, facts = play(market(gold=(0, 1, 0), row=ROW[:2], group=4), (0, "closed cave"), (1, "bid 1"))
    assert bought(facts) == [Bought(1, "7WY", 1), Bought(1, "2SY", 0)]
    assert position.state.over


def test_sf_20_a_pawn_scores_three_suits():
    assert worth_of_card("PWLY", WORTHS) == 2 + 9 + 4


@pytest.mark.parametrize("card", MARKET)
def test_sf_21_the_crown_counts_once_a_card(card):
    for crown in CROWNS:
        assert crown_bonus(card, WORTHS, crown) == (3 if crown[1] in card[1:] else 0)


def test_sf_22_a_pawn_under_the_excuse_adds_one():
    worths = worths_of((JOURNEY, *UNDER[1:6], HARVEST))
    assert crown_bonus("4MS", worths, "XS") == 1


@pytest.mark.parametrize("card", MARKET)
def test_a_card_counts_its_rank_as_a_valuation_and_a_pawn_one(card):
    assert valuation(card) == (1 if card in PAWNS else int(card[0]))
    assert opening_bid(card) == (10 if card in PAWNS else int(card[0]))


def test_sf_23_the_lower_cards_in_front_win_a_tie():
    standing = ended((90, 90, 90), ((), (), ()))
    # In front of the seats lie 1 + 7, 2 + 9 and 4 + 5.
    assert standing.ranking == ((0,), (2,), (1,))
    assert "lower total under the players' Aces or Excuse" in str(standing.reasons[0])


def test_sf_23_the_excuse_player_counts_one_card():
    standing = ended((90,) * 4, ((),) * 4, seats=4)
    assert standing.ranking == ((3,), (0,), (2,), (1,)), "only 3 lies under the Excuse"


def test_sf_24_who_is_still_tied_shares_the_victory():
    under = ("2MK", "6LK", "3MW", "5YK", SAILOR, MERCHANT, JOURNEY)
    standing = ended((90, 90, 80), ((), (), ()), under=under)
    assert standing.ranking == ((0, 1), (2,))
    assert standing.reasons == ()


@pytest.mark.parametrize("seats, options", TABLES)
def test_sf_25_what_becomes_of_the_cards(seats, options):
    state = playout(seats, options, 11).position.state
    assert sum(map(len, state.bought)) == 20
    assert len(state.bag) == 1, "the last card of the deck stays where it is"
    everywhere = (*state.bag, *state.down.valuations, *(card for own in state.bought for card in own))
    assert sorted(everywhere) == sorted(MARKET)


def test_the_last_card_is_not_shown_during_play():
    def look(table):
        state = table.position.state
        if state.group == 4 and not state.over:
            assert all(len(view.bag) > 1 for view in table.views)

    playout(3, {}, 11, look)
    playout(4, {}, 11, look)


def test_sf_26_courts_are_not_used():
    assert set(MARKET) == set(NUMBERS + PAWNS)
    assert not set(MARKET) & set(COURTS)


def test_sf_28_without_gold_a_card_is_sold_by_closed_bids():
    position = market(gold=(0, 10, 10))
    assert {act.verb for act in position.asks()[0].acts} == {"closed"}


@pytest.mark.parametrize("seats", [2, 5])
def test_sf_29_the_older_game_for_five_is_not_this_one(seats):
    with pytest.raises(Refused, match="for 3 or 4 players"):
        begin(GAME, seats, seed(0))


def test_sf_30_the_crowns_set_aside_are_known_at_the_end():
    for seats, aside in ((3, 3), (4, 2)):

        def look(table, seats=seats, aside=aside):
            state = table.position.state
            if state.group and not state.over:
                for seat in (*range(seats), SPECTATOR):
                    view = table.view(seat)
                    assert view.down.aside == (state.down.aside if seat == state.excuse else (HIDDEN,) * aside)

        table = playout(seats, {}, 12, look)
        assert {view.down.aside for view in table.views} == {table.position.state.down.aside}
        assert not set(table.position.state.down.aside) & set(table.position.state.down.crowns)


# Crowns of four players.


def crowns_of_four():
    return begin(GAME, 4, seed(4), {"excuse_seat": "2"})


def test_only_the_excuse_player_is_asked_for_crowns_and_silence_deals_at_random():
    table = crowns_of_four()
    assert list(table.asks()) == [1]
    assert table.asks()[1].default == Choice("deal")
    table = table.submit(1, Choice("deal"))
    state = table.position.state
    assert state.down.crowns in assignments(state.aces)
    assert table.log[-1].drawn[0][0] == 120, "one of all the ways, each equally likely"


def test_every_random_deal_of_crowns_can_come_up():
    position = crowns_of_four().position
    ways = assignments(position.state.aces)
    for number in (0, 57, 119):
        story = GAME.resolve(position.state, {1: Choice("deal")}, Scripted([number, *[0] * 12]))
        state = position.enter(story, Scripted([]), {})[0].state
        assert state.down.crowns == ways[number]


def test_crowns_are_given_as_they_were_named():
    table = crowns_of_four()
    wanted = assignments(table.position.state.aces)[77]
    ann, kept, cleo, dan = (SUITS[crown[1]] for crown in wanted)
    words = f"give {ann} to 1, {cleo} to 3, {dan} to 4 and keep {kept}"
    decision = table.asks()[1]
    choice = read(decision, words.lower())
    assert write(decision, choice) == words
    table = table.submit(1, choice)
    assert table.position.state.down.crowns == wanted
    for seat in (0, 2, 3):
        alone = tuple(crown if s == seat else HIDDEN for s, crown in enumerate(wanted))
        assert table.view(seat).down.crowns == alone, "only the giver knows more than their own Crown"
    assert table.view(1).down.crowns == wanted
    assert table.view(SPECTATOR).down.crowns == (HIDDEN,) * 4


def test_the_crowns_that_may_be_given_are_the_legal_ones():
    for number in range(10):
        table = begin(GAME, 4, seed(number))
        ((giver, decision),) = table.asks().items()
        choices = {c for c in decision.choices() if GAME.objects(table.view(giver), giver, c) is None}
        given = set()
        for choice in choices - {Choice("deal")}:
            *gifts, kept = (str(crown)[1] for crown in choice.values)
            given.add((*gifts[:giver], kept, *gifts[giver:]))
        assert len(choices) == 121
        assert given == allowed_crowns([{ace[1] for ace in own} for own in table.position.state.aces])


def test_a_crown_named_twice_is_refused():
    table = crowns_of_four()
    decision = table.asks()[1]
    twice = next(c for c in decision.choices() if c.verb == "give" and len(set(c.values)) < 4)
    with pytest.raises(Refused, match="Choose a different Crown"):
        table.submit(1, twice)


def test_a_crown_of_an_own_ace_is_refused():
    table = begin(GAME, 4, seed(4), {"excuse_seat": "4"})
    suit = table.position.state.aces[0][0][1]
    with pytest.raises(Refused, match="in the suit of one of their Aces"):
        read(table.asks()[3], f"give {SUITS[suit]} to 1")


def test_three_players_know_their_own_crown_only():
    table = begin(GAME, 3, seed(9))
    crowns = table.position.state.down.crowns
    for seat in range(3):
        assert table.view(seat).down.crowns == tuple(c if s == seat else HIDDEN for s, c in enumerate(crowns))
        assert "A" + crowns[seat][1] not in table.position.state.aces[seat]
    assert table.view(SPECTATOR).down.crowns == (HIDDEN,) * 3


# Defaults.


def test_silence_sells_the_leftmost_card_by_closed_bids_passes_and_bids_nothing():
    position = market()
    assert position.asks()[0].default == Choice("closed", (ROW[0],))
    opened, _ = play(position, (0, "open cave"))
    assert opened.asks()[1].default == Choice("pass")
    closed, _ = play(position, (0, "closed cave"))
    assert {decision.default for decision in closed.asks().values()} == {Choice("bid", (0,))}


@pytest.mark.parametrize("seats, options", TABLES)
def test_a_game_of_missed_turns_alone_ends(seats, options):
    table = begin(GAME, seats, seed(6), options)
    while asks := table.asks():
        for seat, decision in asks.items():
            table = table.submit(seat, decision.default)
    assert table.position.state.gold == (90,) * seats
    assert table.position.state.over


# Whole games.


@pytest.mark.parametrize("seats, options", TABLES)
def test_random_games_keep_every_promise(seats, options):
    luck = Stream(b"looks", 0)

    def look(table):
        position = table.position
        state, log = position.state, table.log
        assert len(log) <= GAME.longest(seats, table.options)
        assert GAME.tally(state) == {"gold": 90 * seats, "cards": 28, "Crowns": 6}
        assert bool(position.asks()) != GAME.standing(state).over
        for reader in (*range(seats), SPECTATOR):
            shown = plain(GAME.board(table.view(reader), reader), GAME.teller(reader, NAMES))
            assert all(len(line) <= 72 for line in shown.splitlines())
            assert "HIDDEN" not in shown
            assert GAME.standing(table.view(reader)) == GAME.standing(state)
            assert GAME.prospect(table.view(reader), 0) is not None
        for seat in range(seats):
            decision = GAME.asks(state, seat)
            assert GAME.asks(table.view(seat), seat) == decision
            if decision is None:
                continue
            assert decision.default in decision
            assert decision.prompt is not None
            if answers_itself(decision):
                assert GAME.asks(table.view(SPECTATOR), seat) == decision
            for choice in (decision.default, *(fits(table, seat, decision, luck) for _ in range(3))):
                assert read(decision, write(decision, choice)) == choice

    for number in range(4):
        table = playout(seats, options, number, look)
        assert replay(GAME, seats, table.options, table.log) == table.position.state
        for reader in (*range(seats), SPECTATOR):
            assert replay(GAME, seats, table.options, table.log, reader) == table.view(reader)
            sentences = [GAME.teller(reader, NAMES).tell(happened) for happened in table.told(reader)]
            assert all(sentences), "every fact of this game is told"


@pytest.mark.parametrize("seats, options", TABLES)
def test_the_final_scores_agree_with_a_plain_count(seats, options):
    for number in range(12):
        table = playout(seats, options, number)
        state = table.position.state
        under = dict(zip((*SUITS.values(), "Excuse"), state.down.valuations, strict=True))
        scores = tuple(
            final_score(state.gold[seat], state.bought[seat], under, SUITS[state.down.crowns[seat][1]])
            for seat in range(seats)
        )
        assert GAME.standing(state).scores == scores
        assert all(GAME.standing(view).scores == scores for view in table.views)


def test_every_view_holds_what_it_cannot_place_in_the_bag():
    def look(table):
        state = table.position.state
        for view in table.views:
            named = {card for card in view.down.valuations if card in MARKET}
            assert set(state.bag) <= set(view.bag)
            assert set(view.bag) == set(MARKET) - named - set(view.row) - {c for own in view.bought for c in own}

    for seats in (3, 4):
        playout(seats, {}, 1, look)


# Bots.


@pytest.mark.parametrize("seats, options", TABLES)
def test_an_imagined_state_agrees_with_the_view(seats, options):
    luck = Stream(b"imagination", 0)

    def look(table):
        for seat in range(seats):
            view, truth = table.view(seat), table.position.state
            dreamt = GAME.imagine(view, seat, luck)
            assert GAME.tally(dreamt) == GAME.tally(truth)
            assert [GAME.asks(dreamt, s) for s in range(seats)] == [GAME.asks(truth, s) for s in range(seats)]
            for known, guessed in (
                (view.down.valuations, dreamt.down.valuations),
                (view.down.crowns, dreamt.down.crowns),
                (view.down.seven, dreamt.down.seven),
            ):
                assert all(a is HIDDEN or a == b for a, b in zip(known, guessed, strict=True))
                assert HIDDEN not in guessed
            if dreamt.down.seven:
                assert dreamt.down.seven == in_order(dreamt.down.valuations)
            if dreamt.group:
                assert dreamt.down.crowns in assignments(dreamt.aces)
            assert len(dreamt.bag) == len(truth.bag)

    for number in range(3):
        playout(seats, options, number, look)


RICH, POOR = ("PMSL", "7SK", "9LK", "9MS", "4WL", "5YK", "3MW"), ("PMSL", "7SK", "2MK", "3MW", "4WL", "5YK", "9LK")
"""Much under the Aces of Waves and Leaves, which player 2 has, or little."""


@pytest.mark.parametrize(
    "facts, likelier",
    [
        ((Closed(0, "7WY"), BidsShown("7WY", (3, 12, 3))), RICH),
        ((Closed(0, "7WY"), BidsShown("7WY", (3, 2, 3))), POOR),
        ((Opened(0, "7WY", 7), Bid(1, 12)), RICH),
        ((Opened(0, "7WY", 7), Passed(1)), POOR),
    ],
)
def test_a_truth_is_plausible_if_those_who_bid_more_know_of_more(facts, likelier):
    rich, poor = (table([*beginning(3, under), TurnedUp(1, ROW), *facts]).state for under in (RICH, POOR))
    assert (GAME.plausible(rich, 0) > GAME.plausible(poor, 0)) == (likelier is RICH)
    assert GAME.plausible(rich, 1) == GAME.plausible(poor, 1), "one's own bids tell one nothing"


def test_a_pass_tells_more_the_more_the_card_is_worth_than_the_bid():
    rich, poor = (
        table([*beginning(3, under), TurnedUp(1, ROW), Opened(0, "7WY", 7), Passed(1)]).state for under in (RICH, POOR)
    )
    # To player 2 it's worth 14 at most, which is twice the bid, or 8.
    assert GAME.plausible(poor, 0) > 4 * GAME.plausible(rich, 0)


def test_a_low_open_bid_is_no_low_sealed_bid():
    opened = fold(market().state, [Opened(0, "7WY", 7), Bid(1, 8)])
    sealed = fold(market().state, [Closed(0, "7WY"), BidsShown("7WY", (0, 8, 0))])
    assert [answer.sealed for answer in (*opened.answers, *sealed.answers)] == [False, True, True, True]


def test_a_bid_of_all_the_gold_someone_has_says_nothing_about_the_card():
    state = fold(market(gold=(90, 2, 90)).state, [Closed(0, "7WY"), BidsShown("7WY", (3, 2, 3))])
    assert [answer.seat for answer in state.answers] == [0, 2]


# Words.


def test_every_player_reads_their_own_secrets_and_no_others():
    happened = [GotAces(0, ("AM", "AS")), KeptCrown(0, "XL"), Looked(0, ("AM", "AS"), (HARVEST, CASTLE))]
    assert [GAME.teller(0, NAMES).tell(seen(each, 0)) for each in happened] == [
        "You get the Ace of Moons and the Ace of Suns.",
        "You keep the Crown of Leaves.",
        "You find the Harvest under the Ace of Moons and the Castle under the Ace of Suns.",
    ]
    assert [GAME.teller(1, NAMES).tell(seen(each, 1)) for each in happened] == [
        "Ann gets the Ace of Moons and the Ace of Suns.",
        "Ann keeps a face-down card.",
        "Ann looks under the Ace of Moons and the Ace of Suns.",
    ]


def test_a_crown_given_is_told_to_giver_and_taker():
    given = GaveCrown(1, 0, "XK")
    assert [GAME.teller(reader, NAMES).tell(seen(given, reader)) for reader in (0, 1, 2)] == [
        "Ben gives the Crown of Knots to you.",
        "You give the Crown of Knots to Ann.",
        "Ben gives a face-down card to Ann.",
    ]


def test_the_end_is_told_in_full():
    sentence = GAME.teller(1, NAMES).tell(Revealed(UNDER, ("XL", "XM", "XW")))
    assert sentence == (
        "Everything is revealed. Suit values: Moons 1 (the Harvest), Suns 7 (the Castle), Waves 2 (the Author), "
        "Leaves 9 (the Merchant), Wyrms 4 (the Sailor) and Knots 5 (the Soldier). Under the Excuse: 3 (the Journey). "
        "Crowns: Leaves (Ann), Moons (you) and Waves (Cleo). Set aside: Suns, Wyrms and Knots."
    )


def test_the_board_names_who_is_still_to_bid():
    position, _ = play(market(), (0, "open cave"))
    shown = plain(GAME.board(position.state, 1), GAME.teller(1, NAMES))
    assert "Still to bid: you and Cleo; then Ann, if outbid." in shown
    position, _ = play(position, (1, "bid 8"))
    shown = plain(GAME.board(position.state, 0), GAME.teller(0, NAMES))
    assert "Still to bid: Cleo and you." in shown


def test_the_board_counts_what_its_reader_knows():
    facts = [*beginning(3), TurnedUp(1, ("4MS", "5ML")), Bought(0, "4MS", 11)]
    position = table(facts)
    view = fold(GAME.start(3, GAME.settle(3, {})), [seen(happened, 0) for happened in facts])
    assert GAME.asks(view, 1) == GAME.asks(position.state, 1)
    shown = " ".join(plain(GAME.board(view, 0), GAME.teller(0, NAMES)).split())
    for line in (
        "You 79 1",
        "Under the Ace of Moons: Harvest (Pawn Moons Suns Leaves)",
        "Under the Ace of Suns: Castle (7 Suns Knots)",
        "Crown: End (Crown Leaves)",
        "Your cards score 8, plus the values you don't know (Waves, Leaves, Wyrms, Knots and the Excuse).",
        "Not counting those, the cards for sale would score: Forest 1.",
    ):
        assert line in shown


def test_aces_are_all_dealt():
    for number in range(20):
        state = deal(GAME, 3, seed(number))[0].state
        assert sorted(ace for own in state.aces for ace in own) == sorted(ACES)
        assert all(own == in_order(own) for own in state.aces)


def test_the_excuse_player_is_told_which_number_is_whose():
    position, _ = deal(GAME, 4, seed(1), {"excuse_seat": "2"})
    decision = position.asks()[1]
    asked = GAME.teller(1, ("Ann", "Ben", "Cleo", "Dan"))(decision.prompt)
    assert asked.endswith("1 is Ann, 3 is Cleo and 4 is Dan.")
    assert read(decision, "deal at random") == read(decision, "deal") == Choice("deal")


def test_of_the_seven_cards_others_hear_only_that_they_were_seen():
    happened = SawSeven(0, MARKET[:7])
    teller = GAME.teller(1, ("Ann", "Ben", "Cleo", "Dan"))
    assert teller.tell(seen(happened, 1)).endswith("that go under the Aces and the Excuse.")
    assert "the Author" in GAME.teller(0).tell(seen(happened, 0))


def test_sf_27_three_players_sell_seven_seven_and_six_cards_and_four_five_each():
    for seats, sales in ((3, [7, 7, 6]), (4, [5, 5, 5, 5])):
        position, _ = deal(GAME, seats, seed(3))
        sold = []
        while asks := position.open():
            if position.state.auction is None and position.state.group:
                sold.append(position.state.active)
            for seat, decision in asks.items():
                position, _ = position.submit(seat, decision.default)
        first = sold[0]
        assert [sold.count((first + i) % seats) for i in range(seats)] == sales


def test_a_player_is_told_why_a_verb_cannot_be_chosen_now():
    assert set(reasons(GAME)) == {"open"}
