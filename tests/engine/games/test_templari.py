"""Templari: the rules one by one, the vectors, and many games at random."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from engine.board import WIDTH, plain
from engine.chance import Scripted, Stream
from engine.decisions import Choice, Refused
from engine.facts import SPECTATOR, fold
from engine.games.templari.cards import BALANCED, COLOURS, layouts, random_layout
from engine.games.templari.digits import endings_allowed, payment, receivers_of
from engine.games.templari.facts import Paid, RoundBegan, Took, TurnedUp
from engine.games.templari.scoring import cheapest_loss, sum_of_numbers, worth_of_colours
from engine.games.templari.terms import LOTS
from engine.grammar import read, write
from engine.registry import load
from engine.table import Position, begin, deal
from tests.engine.barred import reasons

GAME = load("templari")
SEED = bytes(range(32))
OPEN_LOT = ("P0", "P1")


def table(cards, coins=None, active=0, lot=OPEN_LOT, pot=0, number=2, **options):
    """A position in which a lot has just come up; the players own these cards."""
    own = tuple(tuple(hand) for hand in cards)
    gone = tuple(card for hand in own for card in hand)
    state = replace(
        GAME.start(len(cards), GAME.settle(len(cards), options)),
        cards=own,
        deck=tuple(card for card in BALANCED if card not in gone),
        pot=pot,
    )
    if coins is not None:
        state = replace(state, coins=tuple(coins))
    state = fold(state, [RoundBegan(number, active, ()), TurnedUp(number, lot)])
    return Position(GAME, len(cards), SEED, state, 1)


def selling(cards, coins, active=0, number=2, **options):
    """A position before a lot, in which the start player may sell a card."""
    position = table(cards, coins, active, **options)
    own = tuple(tuple(hand) for hand in cards)
    gone = tuple(card for hand in own for card in hand)
    state = replace(position.state, lot=(), auction=None, deck=tuple(card for card in BALANCED if card not in gone))
    sellers = (
        tuple((active + i) % len(cards) for i in range(len(cards)))
        if options.get("side_auction") == "any"
        else (active,)
    )
    return replace(position, state=fold(state, [RoundBegan(number, active, sellers)]))


def go(position, *moves):
    """The position after these moves, each a seat and what it writes; a lone pass may be left to the table."""
    for seat, text in moves:
        decision = position.asks()[seat]
        position, _ = position.submit(seat, read(decision, text))
    return position


def asked(position):
    (seat,) = position.open()
    return seat


# The vectors.


@pytest.mark.parametrize(
    ("cards", "digit", "pot", "price", "paid", "left"),
    [
        pytest.param((("B3",), ("R4",), ("G1",)), 4, 0, 4, {1: 4}, 0, id="TP-V1"),
        pytest.param((("B3",), ("R4",), ("G1",)), 4, 0, 14, {1: 14}, 0, id="TP-V2"),
        pytest.param((("B3",), ("R4",), ("G4",)), 4, 0, 14, {1: 7, 2: 7}, 0, id="TP-V3"),
        pytest.param((("B3",), ("R4", "Y4"), ("G4",)), 4, 0, 14, {1: 14}, 0, id="TP-V4"),
        pytest.param((("B3",), ("R7",), ("P7",)), 7, 0, 7, {1: 3, 2: 3}, 1, id="TP-V6-first"),
        pytest.param((("B8",), ("R3",), ("W3",)), 3, 1, 3, {1: 2, 2: 2}, 0, id="TP-V6-second"),
        pytest.param((("B3",), ("Y0", "P0"), ("B0",)), 0, 1, 20, {1: 21}, 0, id="TP-V9"),
        pytest.param((("B3",), ("R7",), ("G1",)), 7, 0, 7, {1: 7}, 0, id="TP-V11"),
    ],
)
def test_a_payment_is_shared_among_its_receivers(cards, digit, pot, price, paid, left):
    receivers = receivers_of(digit, 0, cards)
    each, remainder = payment(price, pot, len(receivers))
    assert dict.fromkeys(receivers, each) == paid
    assert remainder == left


def test_tp_v5_a_colour_is_worth_1_3_6_10_15():
    reds = [card for card in BALANCED if card[0] == "R"]
    assert [worth_of_colours(tuple(reds[:n])) for n in range(1, 6)] == [1, 3, 6, 10, 15]


def test_tp_v13_no_bid_may_end_in_a_number_one_owns():
    decision = table([("R2", "B4"), ("G1",), ("G6",)], (40, 10, 10)).open()[0]
    (bid,) = (blank for act in decision.acts for blank in act.blanks)
    allowed = [n for n in range(26) if n in bid]
    assert allowed == [0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 17, 18, 19, 20, 21, 23, 25]


def test_tp_v14_a_lot_nobody_bids_for_is_free_for_the_start_player():
    position = table([("Y0",), ("G1",), ("G6",)], pot=1, active=0)
    after = go(position, (0, "pass"), (1, "pass"), (2, "pass")).state
    assert after.cards[0] == ("Y0", *OPEN_LOT)
    assert (after.coins, after.pot, after.active) == ((12, 12, 12), 1, 0)


def test_tp_v15_an_opener_that_nobody_tops_pays_the_bid():
    after = go(table([("B8",), ("G1",), ("G6",)]), (0, "bid 3"), (1, "pass"), (2, "pass")).state
    assert after.coins[0] == 9


def test_tp_v18_a_tie_goes_to_the_higher_sum_of_numbers():
    start = GAME.start(3, GAME.settle(3, {}))
    state = replace(start, cards=(("R1", "R3"), ("B2", "B8"), ("R4",)), coins=(10, 10, 10), over=True)
    standing = GAME.standing(state)
    assert standing.scores == (5, 5, 3)
    assert [sum_of_numbers(hand) for hand in state.cards[:2]] == [4, 10]
    assert standing.ranking == ((1,), (0,), (2,))
    assert "higher total of card numbers" in str(standing.reasons[0])


def test_tp_v19_coins_and_cards_are_never_made_nor_lost():
    for seats in (3, 4, 5):
        for seed in range(20):
            table_ = begin(GAME, seats, bytes([seed]) * 32, {"side_auction": "any"})
            tally = GAME.tally(table_.position.state)
            assert tally == {"coins": 12 * seats, "cards": 30}
            for position in playout(table_.position, seed):
                assert GAME.tally(position.state) == tally


def test_tp_v20_the_balanced_layout():
    by_colour = {colour: {int(card[1]) for card in BALANCED if card[0] == colour} for colour in COLOURS}
    assert Counter(int(card[1]) for card in BALANCED) == dict.fromkeys(range(10), 3)
    assert all(len(numbers) == 5 for numbers in by_colour.values())
    assert all(len(one & other) == 2 for one, other in combinations(by_colour.values(), 2))
    assert [sum(numbers) for numbers in by_colour.values()] == [23, 22, 22, 23, 22, 23]


# The rulings.


def test_tp_1_a_random_layout_has_each_number_three_times_and_never_twice_in_a_colour():
    for seed in range(50):
        cards = random_layout(Stream(bytes([seed]) * 32, 0))
        assert Counter(card[1] for card in cards) == {str(n): 3 for n in range(10)}
        assert all(len({card for card in cards if card[0] == colour}) == 5 for colour in COLOURS)


@pytest.mark.slow
def test_tp_1_every_layout_has_its_own_number():
    every = layouts(6, (3,) * 10)
    assert len({random_layout(Scripted([which])) for which in range(0, every, every // 1000)}) >= 1000
    assert layouts(2, (1,) * 10) == 252
    assert layouts(1, (1, 1, 1, 1, 1, 0, 0, 0, 0, 0)) == 1


def test_tp_1_a_random_layout_is_told_before_the_first_lot():
    position, entries = deal(GAME, 3, SEED, {"layout": "random"})
    assert "The cards in this game:" in str(GAME.teller().tell(entries[0].facts[0]))
    assert GAME.tally(position.state)["cards"] == 30


def test_tp_2_a_lot_is_two_cards_sold_together():
    position, _ = deal(GAME, 3, SEED)
    assert len(position.state.lot) == 2


def test_tp_2_lots_of_one_two_and_three_cards_by_option():
    sizes = []
    for position in playout(deal(GAME, 3, SEED, {"lots": "1-2-3", "side_auction": "off"})[0], 1):
        if position.state.lot and (not sizes or sizes[-1][0] != position.state.round):
            sizes.append((position.state.round, len(position.state.lot)))
    assert [size for _, size in sizes] == [1, 2, 3] * 5


def test_tp_3_the_lot_comes_up_after_the_sale():
    position = selling([("R1", "R3"), ("G1",), ("G6",)], (3, 10, 10))
    assert position.state.lot == ()
    assert len(go(position, (0, "no")).state.lot) == 2


def test_tp_4_the_first_start_player_is_random():
    assert {deal(GAME, 4, bytes([seed]) * 32)[0].state.active for seed in range(40)} == {0, 1, 2, 3}


def test_tp_5_a_bid_of_0_is_a_bid():
    position = table([("B8",), ("Y0",), ("G6",)], pot=3)
    after = go(position, (0, "bid 0"), (1, "pass"), (2, "pass")).state
    assert after.coins == (12, 15, 12)
    assert after.pot == 0
    with pytest.raises(Refused):
        read(table([("Y0",), ("G1",), ("G6",)]).asks()[0], "bid 0")


def test_tp_6_a_free_lot_is_no_payment():
    position = table([("B8",), ("Y0",), ("G6",)], pot=3)
    after = go(position, (0, "pass"), (1, "pass"), (2, "pass")).state
    assert (after.coins, after.pot) == ((12, 12, 12), 3)


def test_tp_8_an_opener_who_passed_is_out():
    position = go(table([("B8",), ("G1",), ("G6",)]), (0, "pass"), (1, "bid 0"))
    assert position.state.auction.bidders == (1, 2)


def test_tp_9_the_last_player_may_take_the_lot_for_0_or_leave_it_to_the_opener():
    position = go(table([("B8",), ("G1",), ("G6",)]), (0, "pass"), (1, "pass"))
    assert go(position, (2, "bid 0")).state.cards[2] == ("G6", *OPEN_LOT)
    assert go(position, (2, "pass")).state.cards[0] == ("B8", *OPEN_LOT)


def test_tp_10_only_cards_owned_now_bar_a_digit():
    assert endings_allowed(("R4",)) == set(range(10)) - {4}
    assert endings_allowed(()) == set(range(10))


def test_tp_11_and_20_the_lot_itself_counts_for_nothing():
    position = table([("B8",), ("R7",), ("G6",)], lot=("P7", "W7"))
    after = go(position, (0, "bid 7"), (1, "pass"), (2, "pass")).state
    assert after.coins == (5, 19, 12)


def test_tp_12_a_forbidden_digit_is_refused_and_costs_nothing():
    position = table([("R4",), ("G1",), ("G6",)])
    with pytest.raises(Refused, match="your bids can't end in a number you own"):
        read(position.asks()[0], "bid 4")
    with pytest.raises(Refused):
        position.submit(0, Choice("bid", (4,)))


def test_tp_13_a_player_without_a_legal_bid_passes_by_the_table():
    every_digit = ("Y0", "R1", "G2", "R3", "R4", "W5", "G6", "R7", "R8", "G9")
    position, entries = table([("B8",), every_digit, ("B3",)]).submit(0, Choice("bid", (0,)))
    assert [sorted(entry.alone) for entry in entries] == [[], [1]]
    assert asked(position) == 2


def test_tp_14_no_bid_is_higher_than_all_the_coins_there_are():
    position = table([("B8",), ("G1",), ("G6",)], (2, 30, 3), pot=1)
    with pytest.raises(Refused, match="the maximum is 36"):
        read(position.asks()[0], "bid 37")
    assert read(position.asks()[0], "bid 36") == Choice("bid", (36,))


def test_the_board_says_before_the_bid_what_it_costs_to_win_above_ones_coins():
    position = table([("B8",), (), ("G6",)], (2, 30, 3))
    price = "You can bluff up to 35: if a bid above your {} coins wins, you get nothing and give up a card."
    texts = [" ".join(plain(GAME.board(position.state, seat), GAME.teller()).split()) for seat in range(3)]
    assert [price.format(coins) in text for coins, text in zip((2, 30, 3), texts, strict=True)] == [True, False, True]


def test_the_board_names_the_digits_that_a_bid_may_end_in_while_its_reader_may_bid():
    position = table([("B8", "R1"), (), ("G6",)], (2, 30, 3))
    own = "Your bids can end in 0, 2, 3, 4, 5, 6, 7 or 9, the numbers you don't own."
    first = " ".join(plain(GAME.board(position.state, 0), GAME.teller()).split())
    assert own in first
    selling = fold(position.state, [RoundBegan(3, 0, (0,))])
    assert "bids can end" not in plain(GAME.board(replace(selling, auction=None), 0), GAME.teller())


def test_tp_15_an_overbid_that_does_not_win_has_no_consequence():
    position = go(
        table([("B8",), ("G1",), ("G6",)], (2, 30, 2)), (0, "bid 20"), (1, "bid 22"), (2, "pass"), (0, "pass")
    )
    assert position.state.cards[1] == ("G1", *OPEN_LOT)
    assert position.state.gone == ()


def test_tp_16_a_player_who_cannot_pay_gives_up_a_card_and_no_coin():
    position = go(table([("B8", "R1"), ("G1",), ("G6",)], (2, 10, 10)), (0, "bid 20"), (1, "pass"), (2, "pass"))
    assert asked(position) == 0
    after = go(position, (0, "discard red 1")).state
    assert after.cards[0] == ("B8",)
    assert after.coins == (2, 10, 10)
    assert after.lot == OPEN_LOT


def test_tp_16_who_owns_no_card_may_not_overbid():
    position = table([(), ("G1",), ("G6",)], (5, 10, 10))
    with pytest.raises(Refused, match="the maximum is 5"):
        read(position.asks()[0], "bid 6")


def test_tp_17_a_card_given_up_is_out_of_the_game():
    position = go(table([("B8",), ("G1",), ("G6",)], (2, 10, 10)), (0, "bid 20"), (1, "pass"), (2, "pass"))
    # One card to give up is no choice: the table has taken it already.
    assert position.state.gone == ("B8",)
    assert worth_of_colours(position.state.cards[0]) == 0


def test_tp_18_the_active_player_reopens_or_the_next_who_did_not_offend():
    by_active = go(table([("B8", "R1"), ("G1",), ("G6",)], (2, 10, 10)), (0, "bid 20"), (1, "pass"), (2, "pass"))
    by_active = go(by_active, (0, "discard blue 8"))
    assert by_active.state.auction.opener == 1
    by_other = go(table([("B8",), ("G1", "R1"), ("G6",)], (9, 2, 12)), (0, "pass"), (1, "bid 20"), (2, "pass"))
    by_other = go(by_other, (1, "discard red 1"))
    assert by_other.state.auction.opener == 0
    after = go(by_other, (0, "pass"), (2, "pass")).state
    assert after.cards[0] == ("B8", *OPEN_LOT)


def test_tp_19_the_only_one_who_did_not_offend_gets_the_lot_for_nothing():
    position = table([("B8", "R1"), ("G1", "R3"), ("G6",)], (2, 2, 32))
    position = go(position, (0, "bid 20"), (1, "pass"), (2, "pass"), (0, "discard red 1"))
    after = go(position, (1, "bid 20"), (2, "pass"), (1, "discard red 3")).state
    assert after.cards[2] == ("G6", *OPEN_LOT)
    assert after.coins == (2, 2, 32)
    assert after.banned == ()


@pytest.mark.parametrize(
    ("hands", "receivers"),
    [
        ((("R7", "W7", "P7"), ()), (1,)),
        ((("R7", "W7"), ("P7",)), (1,)),
        ((("R7",), ("W7",)), (1, 2)),
        ((("R7",), ()), (1,)),
    ],
)
def test_tp_21_only_those_with_most_of_the_number_share(hands, receivers):
    assert receivers_of(7, 0, ((), *hands)) == receivers


def test_tp_22_a_remainder_is_added_to_the_next_payment():
    position = go(table([("B8",), ("R7",), ("P7",)]), (0, "bid 7"), (1, "pass"), (2, "pass"))
    assert position.state.pot == 1


def test_tp_23_a_pot_left_at_the_end_is_nobodys():
    position = table([("B8",), ("R7",), ("P7",)], number=LOTS)
    after = go(position, (0, "bid 7"), (1, "pass"), (2, "pass")).state
    assert after.over
    assert after.pot == 1
    assert GAME.standing(after).scores == (worth_of_colours(after.cards[0]), 1 + 2, 1 + 2)


def test_tp_24_only_a_player_short_of_coins_may_sell():
    cards = [("R1", "R3"), ("G1",), ("G6",)]
    position = table(cards, (17, 5, 5), number=2)
    poor = go(position, (0, "bid 12"), (1, "pass"), (2, "pass"))
    assert poor.state.coins[0] == 5
    assert "sell" in [act.verb for act in poor.open()[0].acts]
    rich = go(table(cards, (18, 5, 5), number=2), (0, "bid 12"), (1, "pass"), (2, "pass"))
    assert rich.state.auction is not None
    assert "sell" not in [act.verb for act in rich.open()[0].acts]


def test_tp_24_the_limit_is_an_option():
    cards = [("R1", "R3"), ("G1",), ("G6",)]
    position = go(table(cards, (12, 5, 5), side_limit=0), (0, "bid 12"), (1, "pass"), (2, "pass"))
    assert "sell" in [act.verb for act in position.open()[0].acts]
    position = go(table(cards, (13, 5, 5), side_limit=0), (0, "bid 12"), (1, "pass"), (2, "pass"))
    assert position.state.auction is not None


def test_tp_25_any_lets_everyone_sell_in_turn_and_off_nobody():
    cards = [("R1", "R3"), ("G1",), ("G6",)]
    position = selling(cards, (3, 9, 4), side_auction="any")
    assert asked(position) == 0
    position = go(position, (0, "no"))
    assert asked(position) == 2
    assert go(position, (2, "no")).state.lot != ()
    poor = go(table(cards, (12, 5, 5), side_auction="off"), (0, "bid 12"), (1, "pass"), (2, "pass"))
    assert poor.state.auction is not None


def test_tp_25_eligibility_is_looked_at_when_ones_turn_comes():
    position = selling([("R1", "R3"), ("G1",), ("G6",)], (3, 6, 9), side_auction="any")
    position = go(position, (0, "sell red 1"), (1, "bid 2"), (2, "pass"))
    assert position.state.coins == (5, 4, 9)
    assert asked(position) == 1
    assert "sell" in [act.verb for act in position.open()[1].acts]


def test_tp_26_and_27_the_others_bid_at_least_1_and_the_seller_gets_it_all():
    position = selling([("R1", "R3"), ("G6",), ("B8",)], (3, 10, 10))
    position = go(position, (0, "sell red 1"))
    with pytest.raises(Refused, match="minimum is 1"):
        read(position.asks()[1], "bid 0")
    with pytest.raises(Refused):
        read(position.asks()[1], "bid 6")
    after = go(position, (1, "bid 4"), (2, "bid 5"), (1, "pass")).state
    assert after.coins == (8, 10, 5)
    assert after.cards == (("R3",), ("G6",), ("B8", "R1"))
    assert after.pot == 0


def test_tp_26_an_overbid_in_a_sale_costs_a_card_and_the_sale_goes_on_without_the_offender():
    position = selling([("R1", "R3"), ("G6", "B2"), ("B8",)], (3, 2, 10))
    position = go(position, (0, "sell red 1"), (1, "bid 9"), (2, "pass"), (1, "discard blue 2"))
    assert asked(position) == 2
    alone = go(position, (2, "bid 1")).state
    assert alone.cards[2] == ("B8", "R1")
    assert alone.coins == (4, 2, 9)
    kept = go(position, (2, "pass")).state
    assert kept.cards[0] == ("R1", "R3")


def test_tp_28_the_buyer_in_a_sale_does_not_become_start_player():
    position = selling([("R1", "R3"), ("G6",), ("B8",)], (3, 10, 10))
    after = go(position, (0, "sell red 1"), (1, "bid 1"), (2, "pass")).state
    assert (after.active, after.auction.opener) == (0, 0)


def test_tp_29_nobody_sells_before_the_first_lot():
    position, _ = deal(GAME, 3, SEED, {"side_auction": "any", "side_limit": 60})
    assert position.state.auction is not None
    assert position.state.auction.seller is None


def test_tp_30_most_coins_are_worth_2_to_each_if_tied():
    state = replace(GAME.start(3, GAME.settle(3, {})), cards=(("R1",), (), ()), coins=(9, 13, 13), over=True)
    assert GAME.standing(state).scores == (1, 2, 2)
    three = replace(GAME.start(3, GAME.settle(3, {"money_bonus": 3})), coins=(9, 13, 14), over=True)
    assert GAME.standing(three).scores == (0, 0, 3)


def test_tp_31_a_tie_in_everything_is_shared():
    state = replace(GAME.start(3, GAME.settle(3, {})), cards=(("R1",), ("G1",), ()), over=True)
    assert GAME.standing(state).ranking == ((0, 1), (2,))


def test_tp_32_coins_are_shown_by_option_only():
    for money, shown in (("hidden", False), ("open", True)):
        position, _ = deal(GAME, 3, SEED, {"money": money})
        text = plain(GAME.board(position.state, SPECTATOR), GAME.teller())
        assert ("points  cards  coins" in text) is shown


def test_tp_33_without_overbidding_nobody_bids_more_than_they_have():
    position = table([("B8",), ("G1",), ("G6",)], (5, 10, 10), overbid="forbidden")
    with pytest.raises(Refused, match="the maximum is 5"):
        read(position.asks()[0], "bid 6")


# Silence.


def test_silence_neither_sells_nor_bids():
    assert selling([("R1",), ("G1",), ("G6",)], (3, 9, 9)).open()[0].default == Choice("no")
    assert table([("R1",), ("G1",), ("G6",)]).open()[0].default == Choice("pass")


@pytest.mark.parametrize(
    ("cards", "card"),
    [(("R1", "R3", "B0"), "B0"), (("R1", "B2"), "R1"), (("G1", "R1"), "R1"), (("R8", "R3", "B2", "B9"), "B2")],
)
def test_silence_gives_up_the_card_that_costs_least(cards, card):
    assert cheapest_loss(cards) == card


# Many games.


def playout(position, seed):
    """Every position of a game at random."""
    luck = Stream(b"luck", seed)
    while asks := position.open():
        seat, decision = next(iter(asks.items()))
        choice = decision.sample(luck)
        assert read(decision, write(decision, choice)) == choice
        position, _ = position.submit(seat, choice)
        yield position


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_every_game_ends_within_its_bound_and_every_board_fits_its_column(seats):
    names = ("Ann", "Bartholomew", "Cleo", "Dan", "Eve")
    for seed in range(12):
        options = [{}, {"overbid": "forbidden", "money": "open"}, {"lots": "1-2-3", "side_auction": "any"}][seed % 3]
        position = deal(GAME, seats, bytes([seed]) * 32, options)[0]
        for each in playout(position, seed):
            position = each
            if position.turn % 7 == 0:
                for seat in (*range(seats), SPECTATOR):
                    text = plain(GAME.board(position.state, seat), GAME.teller(seat, names))
                    assert max(map(len, text.splitlines())) <= WIDTH
        assert GAME.standing(position.state).over
        assert position.state.round == LOTS
        assert position.turn <= GAME.longest(seats, GAME.settle(seats, options))


# What is said.


def test_payments_and_free_cards_in_words():
    teller = GAME.teller(0, ("Ann", "Ben", "Cleo"))
    sentences = [
        teller.tell(happened)
        for happened in (
            Paid(0, 9, (1, 2), 4, 1),
            Paid(1, 8, (0,), 8, 0),
            Paid(2, 0, (0, 1), 0, 0),
            Took(1, ("R1", "B2"), free=True),
            Took(0, ("R1",)),
        )
    ]
    assert sentences == [
        "You pay 9 coins: 4 each to Ben and Cleo. In the pot: 1.",
        "Ben pays 8 coins: 8 to you.",
        "Cleo pays nothing.",
        "Ben takes Red 1 and Blue 2 for nothing.",
        "You take Red 1.",
    ]


def test_tp_7_only_a_lot_that_nobody_bid_for_is_taken_for_nothing():
    for position, free in (
        (go(table([("B8",), ("G1",), ("G6",)]), (0, "bid 3"), (1, "pass")), False),
        (go(table([("B8",), ("G1",), ("G6",)]), (0, "pass"), (1, "pass")), True),
    ):
        _, entries = position.submit(2, Choice("pass"))
        (took,) = (happened for entry in entries for happened in entry.facts if isinstance(happened, Took))
        assert (took.seat, took.free) == (0, free)


def test_tp_20_the_winners_own_cards_of_the_number_do_not_even_count_for_the_majority():
    assert receivers_of(4, 0, (("R4", "G4"), ("Y4",), ())) == (1,)
    assert receivers_of(4, 0, (("R4", "G4"), (), ())) == (1, 2)
    # The lot holds a 9; what its winner is about to get does not count either.
    position = go(table([("B8",), ("G9",), ("G6",)], lot=("B9", "P0")), (0, "bid 9"), (1, "pass"), (2, "pass"))
    assert position.state.coins == (3, 21, 12)


def test_a_player_is_told_why_a_verb_cannot_be_chosen_now():
    assert set(reasons(GAME)) == {"bid", "sell"}
