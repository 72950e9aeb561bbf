"""The coach: what it says of a finished game, with a blunder, a fine move and an unlucky one planted."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine import codec
from engine.bots import BOTS
from engine.chance import Stream, bot_seed
from engine.coach import (
    KINDS,
    Luck,
    Outcome,
    Reasons,
    Review,
    Side,
    Tried,
    Verdict,
    bids as bidding,
    endings,
    review_of,
    study,
)
from engine.coach.endings import Ended, Sentences, Watch
from engine.coach.playouts import Playouts
from engine.coach.remarks import of_best, of_luck, of_mistake, of_verdict
from engine.coach.review import Change
from engine.coach.study import GAMES, MOST_POINTS, NAMED
from engine.coach.swings import ended_with
from engine.decisions import Choice
from engine.decks import decktet
from engine.facts import Step
from engine.game import Game
from engine.games.sun_bid.cards import value_of_sun
from engine.registry import load, load_file, names
from engine.table import Entry, begin
from engine.tell import Teller, common, say
from tests.conftest import EVERYTHING

pytestmark = pytest.mark.slow

PURSES = load_file(Path(__file__).parent / "toys" / "purses.py")
BAITS = load_file(Path(__file__).parent / "toys" / "baits.py")
SEED = b"c" * 32
EVER = range(10_000)


def purses(poor, rich, planted):
    """A game of Purses with these purses, in which the first player makes some planted choices and takes coins otherwise."""
    for number in range(10_000):
        table = begin(PURSES, 2, number.to_bytes(32, "big"))
        if table.position.state.purses == (poor, rich):
            break
    for turn in range(10):
        table = table.submit(0, Choice(planted.get(turn, "take"))).submit(1, Choice("take"))
    return table


def reviewed(table, seat=0, own=EVER, game=PURSES, seed=SEED):
    return review_of(game, table.position.seats, table.options, list(enumerate(table.log)), seat, own, seed)


def chosen(verdicts):
    return [(each.turn, each.chosen) for each in verdicts]


def verdict(why, gain=-200):
    return Verdict(3, "pass", "bid 9", 400, gain, gain - 60, gain + 60, "pass", "bid 9", why)


def sentences(why, gain=-200):
    """The sentences after the first, of a mistake or a good move."""
    says = of_mistake(verdict(why, gain)) if gain < 0 else of_best(verdict(why, gain))
    return [Teller(0, ("Ann", "Ben"))(each) for each in says[1:]]


WINS = say("{seat} [takes|take] the Sea.", seat=0)
BEN_WINS = say("{seat} [takes|take] the Sea.", seat=1)


@pytest.mark.parametrize(
    ("known", "opened", "by_sight", "with_all_hands"),
    [
        (
            -200,
            -100,
            "With every hand visible, it was a mistake too.",
            "From what you could see, it was a mistake too.",
        ),
        (
            -200,
            100,
            "With every hand visible, it was one of your best decisions: you were lucky.",
            "From what you could see, it was a mistake: you were lucky.",
        ),
        (
            200,
            -100,
            "With every hand visible, it was a mistake: that was bad luck.",
            "From what you could see, it was one of your best decisions: that was bad luck.",
        ),
        (
            200,
            100,
            "With every hand visible, it was one of your best decisions too.",
            "From what you could see, it was one of your best decisions too.",
        ),
    ],
)
def test_a_decision_that_both_sides_name_is_judged_by_both(known, opened, by_sight, with_all_hands):
    def side(gain, *others):
        found = (verdict(Reasons(), gain), *others)
        return Side((), tuple(v for v in found if v.gain < 0), tuple(v for v in found if v.gain > 0))

    alone = replace(verdict(Reasons()), turn=5)
    review = Review(0, 0, 1, 1, side(known, alone), side(opened), ())
    assert str(of_verdict(verdict(Reasons(), known), review, review.known)[-1]) == by_sight
    assert str(of_verdict(verdict(Reasons(), opened), review, review.opened)[-1]) == with_all_hands
    assert of_verdict(alone, review, review.known) == of_mistake(alone)
    open_game = replace(review, opened=None)
    assert len(of_verdict(verdict(Reasons(), known), open_game, open_game.known)) == 1


def test_a_mistake_tells_what_would_have_been_better_and_by_how_much():
    (says,) = of_mistake(verdict(Reasons()))
    assert str(says) == (
        "You chose to pass. It would have been better to bid 9: that wins about 60 of 100 games instead of about 40."
    )


def test_reasons_are_told_from_the_better_choice():
    """What happens more often then, and whose score changes by how much. A rival's that rises is no reason."""
    why = Reasons((Outcome(WINS, 210, 790),), points=-3_200, rival=Change(1, 1_900))
    assert sentences(why) == [
        "If you bid 9, in 8 of 10 games instead of 2 of 10: you take the Sea.",
        "On average, you end with about 3 points more, and Ben with 2 fewer.",
    ]
    assert sentences(why, gain=200) == [
        "If you pass, in 2 of 10 games instead of 8 of 10: you take the Sea.",
        "On average, you end with about 3 points fewer.",
    ]


def test_events_that_never_or_always_happened_are_not_called_impossible_or_sure():
    assert sentences(Reasons((Outcome(WINS, 0, 1000),))) == [
        "If you bid 9, nearly always instead of hardly ever: you take the Sea."
    ]


def test_an_event_that_hardly_ever_follows_the_better_choice_is_told_of_the_other():
    assert sentences(Reasons((Outcome(WINS, 1000, 0),))) == ["If you pass, nearly always: you take the Sea."]
    assert sentences(Reasons((Outcome(WINS, 20, 300),)), gain=200) == [
        "If you bid 9, in 3 of 10 games: you take the Sea."
    ]


def test_a_rival_who_would_have_had_it_otherwise_is_named_beside_what_the_player_wins():
    both = (Outcome(WINS, 100, 900), Outcome(BEN_WINS, 800, 100))
    assert sentences(Reasons(both))[1:] == ["If you pass, in 8 of 10 games: Ben takes the Sea."]
    assert sentences(Reasons((both[0], Outcome(BEN_WINS, 980, 100))))[1:] == [
        "If you pass, nearly always: Ben takes the Sea."
    ]
    swapped = (Outcome(WINS, 900, 100), Outcome(BEN_WINS, 100, 800))
    assert sentences(Reasons(swapped), gain=200)[1:] == ["If you bid 9, in 8 of 10 games: Ben takes the Sea."]
    assert sentences(Reasons(both[1:])) == ["If you bid 9, in 1 of 10 games instead of 8 of 10: Ben takes the Sea."]


def test_a_bid_is_told_what_it_was_worth_and_what_it_would_have_cost():
    assert sentences(Reasons(worth=8, paid=(12_100, 9_000))) == [
        "The most that was worth bidding was about 8.",
        "When you win, your bid is about 9 instead of 12.",
    ]
    assert sentences(Reasons(worth=0)) == ["No bid was worth it."]


def test_a_cheaper_win_tells_how_much_money_is_kept():
    assert sentences(Reasons(paid=(12_100, 9_000), money="coins")) == [
        "When you win, your bid is about 9 instead of 12, so you keep about 3 more coins."
    ]
    # A better choice that costs more saves nothing, nor does a bid that isn't paid.
    dearer = ["When you win, your bid is about 12 instead of 9."]
    assert sentences(Reasons(paid=(9_000, 12_100), money="coins")) == dearer
    assert sentences(Reasons(paid=(9_000, 12_100))) == dearer


def test_only_what_is_clearly_different_is_a_reason():
    """A difference as chance makes them is none, however large it looks in a few games."""

    def ended(score, bought):
        watch = Watch(PURSES, 0, PURSES.start(2, {}))
        if bought:
            watch.outcomes["Won", 0, "x"] = Sentences(WINS, None, 0)
        return Ended((0, 0), (score, 0), watch)

    few = [(ended(4, False), ended(5, True)), (ended(9, True), ended(2, False)), (ended(4, False), ended(8, True))]
    assert endings.outcomes(few, 0, {}, better=False) == ()
    assert endings.changes(few, 0) == (None, None)
    many = [(ended(4 + n % 2, False), ended(7 + n % 3, n % 10 != 0)) for n in range(100)]
    assert endings.outcomes(many, 0, {}, better=False) == (Outcome(WINS, 0, 900),)
    assert endings.changes(many, 0) == (-3_490, None)


def test_cards_in_a_reason_have_the_notes_of_the_page():
    """As in the choice that's told beside it: the value of a Sun, and the rank and suits of other cards."""
    game = load("sun-bid")
    table = begin(game, 2, SEED)
    while not table.position.state.pool:
        seat = next(iter(table.asks()))
        table = table.submit(seat, Choice("flip"))
    notes = endings.notes_of(game, table.view(0), 0)
    (card,), sun = table.position.state.pool, table.position.state.suns[0][0]
    watch = Watch(game, 0, table.position.state)
    says = say("{seat} [takes|take] {cards}.", seat=0, cards=(sun, card))
    watch.outcomes["Took", 0, "x"] = Sentences(says, None, 0)
    nothing = Watch(game, 0, table.position.state)
    pairs = [(Ended((0, 0), (0, 0), nothing), Ended((0, 0), (0, 0), watch))] * 20
    (found,) = endings.outcomes(pairs, 0, notes, better=False)
    value = decktet.name(sun), value_of_sun(sun, False), decktet.name(card), decktet.FACES[card].note
    assert game.teller(0)(found.says) == "You take the {} ({}) and the {} ({}).".format(*value)


def test_values_that_differ_between_imagined_games_are_told_as_one():
    sold = [say("{seat} [pays|pay] {price:coin|coins} for {card}.", seat=0, price=n, card="Sea") for n in (3, 4, 9)]
    assert str(common(sold)) == "Player 1 pays about 4 coins for Sea."
    assert common([*sold, say("{seat} [passes|pass].", seat=0)]) is None
    assert common([say("{card} is gone.", card=card) for card in ("Sea", "Forest")]) is None
    assert common([say("{seat} [passes|pass].", seat=seat) for seat in (0, 1)]) is None


def test_a_review_from_before_there_were_reasons_can_still_be_read():
    old = (
        '{"chance":400,"chosen":"bid 5","gain":-100,"high":-50,"is":"Verdict","low":-150,"other":"bid 4",'
        '"other_sold":700,"sold":900,"turn":2,"worth":4}'
    )
    found = codec.decoder(KINDS).decode(old)
    assert " ".join(map(str, of_mistake(found))) == (
        "You chose to “bid 5”. It would have been better to “bid 4”: that wins about 50 of 100 games instead of about 40. "
        "The most that was worth bidding was about 4."
    )


def test_a_review_from_when_only_amounts_were_tried_can_still_be_read():
    old = (
        '{"is":"Reasons","outcomes":[],"paid":null,"points":null,"rival":null,'
        '"tried":[{"amount":4,"is":"Tried","paid":3900,"won":700}],"worth":4}'
    )
    found = codec.decoder(KINDS).decode(old)
    assert found == Reasons(tried=(Tried("4", 700, 3_900),), worth=4)
    assert codec.decoder(KINDS).decode(codec.dumps(found)) == found


def asked(game, seats=3, options=None, choices=()):
    """The first decision of a game after some choices that the first one asked makes, with its view."""
    table = begin(game, seats, SEED, options)
    for choice in choices:
        table = table.submit(next(iter(table.asks())), choice)
    seat, decision = next(iter(table.asks().items()))
    return seat, table.view(seat), decision


def test_tiles_and_suns_are_bids_that_can_be_tried_as_amounts_are():
    """Bid! is about tiles, and Sun Bid about Suns."""
    _seat, _view, tiles = asked(load("bid"))
    bids = tiles.acts[0].choices()
    pair = tuple(bids)[:2]
    act = bidding.act_of(tiles, *pair)
    assert act == tiles.acts[0]
    rows, worth = bidding.tried(tiles, act, pair, lambda choices: ([], [[] for _ in choices]))
    assert [each.bid for each in rows] == [", ".join(map(str, each.numbers())) for each in act.choices()]
    assert worth is None
    assert all(each.paid is None for each in rows)
    _seat, _view, suns = asked(load("sun-bid"), choices=(Choice("call"),))
    act = next(act for act in suns.acts if act.verb == "bid")
    pair = (next(act.choices()), suns.default)
    rows, _worth = bidding.tried(suns, bidding.act_of(suns, *pair), pair, lambda choices: ([], [[] for _ in choices]))
    assert all(re.fullmatch(r"[A-Z][a-z]+ \(\d+\)", each.bid) for each in rows)
    # A card that is picked or played is no bid.
    _seat, _view, pick = asked(load("sunset-poker"))
    assert bidding.act_of(pick, *pick.choices(2)) is None


@pytest.mark.parametrize(
    ("name", "topic", "says"),
    [
        ("bid", "auction 1", "auction 1"),
        ("sorcerous-futures", "auction 18", "auction 18"),
        ("templari", "lot 1", "lot 1"),
        ("templari", "sale 1 R3", "the next auction"),
        ("sun-bid", "auction 18", "the next auction"),
        ("sunset-poker", "round 1", "round 1"),
    ],
)
def test_an_auction_has_a_number_only_where_the_page_counts_by_it(name, topic, says):
    game = load(name)
    table = begin(game, 3, SEED)
    while name == "sorcerous-futures" and next(iter(table.asks().values())).topic == "the Crowns":
        table = table.submit(*next((seat, decision.default) for seat, decision in table.asks().items()))
    watch = Watch(game, 0, table.position.state, "", endings.counted_by(game, table.view(0), 0))
    assert str(watch.won(Step(ends=True, winner=1), topic)) == f"Player 2 wins {says}."
    assert str(watch.won(Step(ends=True), topic)) == f"Nobody wins {says}."
    same = Watch(game, 0, table.position.state, topic, ())
    assert str(same.won(Step(ends=True), topic)) == "Nobody wins this auction."


def test_a_bid_that_can_not_be_paid_is_told_as_such():
    """And not as an auction that nobody wins: the others go on bidding."""
    game = load("templari")
    table = begin(game, 3, SEED)
    seat = next(iter(table.asks()))

    def chosen():
        """What is chosen next: the highest bid by the first player, and the default by the others."""
        (bidder, decision) = next(iter(table.asks().items()))
        bids = [each for act in decision.acts if act.verb == "bid" for each in act.choices()]
        return bidder, max(bids, key=Choice.number) if bidder == seat and bids else decision.default

    # They have the coins for the first lot, and no card to give up.
    while chosen()[1].verb != "bid" or not table.position.state.cards[seat]:
        table = table.submit(*chosen())
    topic, highest = table.asks()[seat].topic, chosen()[1]
    watch = Watch(game, seat, table.position.state, topic)
    while not watch.over:
        before = table.position.state
        table = table.submit(*chosen())
        watch.see(topic, before, table.log[-1].facts, table.position.state)
    nothing = Watch(game, seat, before)
    pairs = [(Ended((0,) * 3, (0,) * 3, watch), Ended((0,) * 3, (0,) * 3, nothing))] * 20
    (found,) = endings.outcomes(pairs, seat, {}, better=False)
    assert str(found.says).startswith(f"Player {seat + 1} can't pay {highest.number()} and must give up a card.")
    assert (found.often, found.other) == (1000, 0)


def test_the_blunder_is_named_first_with_its_price():
    review = reviewed(purses(5, 5, {2: "burn"}))
    blunder = review.known.mistakes[0]
    assert (blunder.turn, blunder.chosen, blunder.other) == (3, "burn", "take")
    assert blunder.high < 0
    assert blunder.low <= blunder.gain <= blunder.high
    assert abs(blunder.gain) > 400
    assert "It would have been better to take" in str(of_mistake(blunder)[0])
    # The chance that was left is in the sentence, and what never happened is not called impossible.
    assert blunder.chance == 0
    assert "instead of fewer than 1." in str(of_mistake(blunder)[0])
    assert "instead of over 99." in str(of_mistake(replace(blunder, chance=1000))[0])
    assert "instead of about 42." in str(of_mistake(replace(blunder, chance=421))[0])
    # Twenty coins are burnt, and one is taken or lost again otherwise.
    assert 19_000 < -blunder.reasons.points < 22_000
    assert "points more" in str(of_mistake(blunder)[-1])


def test_the_fine_move_is_named_first_and_is_no_mistake():
    review = reviewed(purses(5, 5, {3: "grab"}))
    best = review.known.best[0]
    assert (best.turn, best.chosen, best.other) == (4, "grab", "take")
    assert best.low > 0
    assert (4, "grab") not in chosen(review.known.mistakes)
    assert (4, "grab") not in chosen(review.opened.mistakes)
    assert str(of_best(best)[0]).startswith("The obvious choice was to take, which wins ")


def test_missing_the_fine_move_is_a_mistake():
    review = reviewed(purses(5, 5, {}))
    assert [(each.turn, each.other) for each in review.known.mistakes] == [(4, "grab")]


def test_a_move_is_judged_by_what_its_player_knew_and_again_with_all_hands_open():
    """With one coin in the purse, nearly every other purse is better; this one was empty."""
    review = reviewed(purses(1, 0, {3: "grab", 6: "swap"}))
    assert (7, "swap") in chosen(review.known.best)
    assert (7, "swap") not in chosen(review.known.mistakes)
    assert (7, "swap") not in chosen(review.opened.best)


def test_a_turn_is_never_named_both_a_mistake_and_one_of_the_best_moves():
    """Not even right by what was known, and wrong with all hands open."""
    review = reviewed(purses(2, 0, {6: "swap"}))
    sides = (review.known, review.opened)
    mistakes = {each.turn for side in sides for each in side.mistakes}
    best = {each.turn for side in sides for each in side.best}
    assert 7 in best
    assert not mistakes & best


def baits(number, choices):
    """A game of Baits in which the first player makes these choices, and nobody bites."""
    table = begin(BAITS, 2, number.to_bytes(32, "big"))
    for verb in choices:
        table = table.submit(0, Choice(verb))
        if 1 in table.asks():
            table = table.submit(1, Choice("spit"))
    return table


def test_a_move_that_only_thoughtless_rivals_fall_for_is_not_named_the_better_one():
    """At first sight every bait is bitten: among such players waiting costs five coins a round."""
    review = reviewed(baits(1, ["wait"] * 10), game=BAITS)
    assert review.known.mistakes == ()
    offered = reviewed(baits(1, ["wait"] * 4 + ["offer"] + ["wait"] * 5), game=BAITS)
    assert 5 not in {each.turn for each in offered.known.best}


def test_a_decision_that_lost_by_luck_alone_is_not_named(monkeypatch):
    """The games that pick a decision have it lose each time. Fresh ones, which measure it, show no difference."""
    seen, play = set(), Playouts.pairs

    def pairs(self, moment, other, many):
        found = play(self, moment, other, many)
        lucky = (moment.turn, other) not in seen
        seen.add((moment.turn, other))
        won, lost = (study.WHOLE, 0), (0, study.WHOLE)
        return [(mine._replace(shares=lost), others._replace(shares=won if lucky else lost)) for mine, others in found]

    monkeypatch.setattr(Playouts, "pairs", pairs)
    review = reviewed(purses(5, 5, {2: "burn"}))
    assert any(turn == 3 for turn, _ in seen)
    assert review.known.mistakes == ()
    assert review.known.best == ()


def test_a_difference_that_no_player_would_notice_is_not_named():
    def pairs(shares):
        nothing = Watch(PURSES, 0, PURSES.start(2, {}))
        return [(Ended((0, 0), (0, 0), nothing), Ended((shares, 0), (0, 0), nothing))] * 100

    known = study._Study(PURSES, 2, 0, SEED, 100, open_hands=False)
    assert known._favoured(pairs(study.LEAST), -1) is None
    assert known._favoured(pairs(study.LEAST + 1), -1) == study.LEAST + 1


def test_turns_that_the_player_did_not_choose_are_not_judged():
    review = reviewed(purses(5, 5, {2: "burn", 3: "grab"}), own={each for each in range(20) if each != 3})
    assert review.decisions == 9
    assert (3, "burn") not in chosen(review.known.mistakes)


def test_the_chart_has_a_point_for_each_decision_with_its_interval():
    review = reviewed(purses(5, 5, {2: "burn", 3: "grab"}))
    assert [point.turn for point in review.known.chart] == list(range(1, 11))
    for side in (review.known, review.opened):
        for point in side.chart:
            assert 0 <= point.low <= point.chance <= point.high <= 1000
    # After the blunder there is next to no chance.
    assert review.known.chart[2].high < 100 < review.known.chart[1].low
    assert review.imagined >= 2 * 10 * GAMES


def test_luck_that_decided_the_game_is_told_and_has_the_right_sign():
    """The deal: nine coins against none."""
    lucky = reviewed(purses(9, 0, {3: "grab"})).luck
    assert lucky[0].turn == 0
    assert lucky[0].low > 0
    assert "Good luck raised" in str(of_luck(lucky[0])[-1])
    unlucky = reviewed(purses(0, 9, {3: "grab"})).luck
    assert unlucky[0].turn == 0
    assert unlucky[0].high < 0
    assert "Bad luck lowered" in str(of_luck(unlucky[0])[-1])


def test_luck_tells_what_was_drawn():
    """With the last sentence of the turn; a deal has many, and the page of the deal shows them."""
    assert [str(each) for each in of_luck(Luck(4, 90, 50, 130, WINS))] == [
        "Player 1 takes the Sea.",
        "Good luck raised your chance of winning by 9 percentage points.",
    ]
    entry = purses(5, 5, {}).log[-1]
    assert Teller(0, ("Ann", "Ben"))(ended_with(entry, 0)) == "There are 5 and 5 in the purses."
    assert ended_with(Entry({}, ()), 0) is None


def test_a_loser_and_a_winner_get_their_own_reviews():
    table = purses(5, 5, {2: "burn"})
    first, second = reviewed(table, 0), reviewed(table, 1)
    assert (first.share, second.share) == (0, 1000)
    assert chosen(first.known.mistakes)[0] == (3, "burn")
    # The second player took coins and won anyway: nothing cost anything.
    assert second.known.mistakes == ()
    assert second.known.chart[-1].low > 900


class Public(type(PURSES)):  # type: ignore[misc]
    """Purses of five coins each, which everyone sees."""

    imagine, mask = Game.imagine, Game.mask

    def start(self, seats, options):
        return replace(super().start(seats, options), purses=(5, 5))

    def setup(self, state, draw):
        yield from ()


def test_a_game_without_secrets_has_one_side():
    game = Public()
    table = begin(game, 2, SEED)
    for _ in range(10):
        table = table.submit(0, Choice("take")).submit(1, Choice("take"))
    review = reviewed(table, game=game)
    assert review.opened is None
    assert [(each.turn, each.other) for each in review.known.mistakes] == [(4, "grab")]


def test_a_review_can_be_stored_and_read():
    review = reviewed(purses(5, 5, {2: "burn"}))
    assert codec.decoder(KINDS).decode(codec.dumps(review)) == review
    assert isinstance(review, Review)


def test_the_same_game_has_the_same_review_in_every_process():
    found = subprocess.run(
        [sys.executable, "-m", "tests.engine.test_coach"],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout) == _plain()


def _plain():
    return codec.plain(reviewed(purses(4, 6, {2: "burn", 5: "burn"})))


@pytest.mark.slow
# On a busy machine: a review of Sunset Poker takes minutes of a processor.
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", names())
def test_each_game_has_reviews_within_the_budget(name, monkeypatch):
    if not EVERYTHING:
        for figure in ("GAMES", "WORLDS", "WORLDS_FOR_WORTH", "BUDGET", "COMPARISONS"):
            monkeypatch.setattr(study, figure, getattr(study, figure) // 8)
        monkeypatch.setattr(study, "COMPARED", tuple(figure // 8 for figure in study.COMPARED))
    game = load(name)
    table = begin(game, game.seats[0], SEED, game.short)
    while asks := table.asks():
        seat = next(seat for seat in asks if seat not in table.position.box)
        bot, luck = BOTS["greedy" if seat else "random"], Stream(bot_seed(SEED, table.position.turn, seat), 0)
        table = table.submit(seat, bot(game, table.view(seat), asks[seat], luck))
    review = reviewed(table, game=game)
    assert review.decisions
    sides = (review.known, review.opened) if review.opened else (review.known,)
    assert not {v.turn for each in sides for v in each.mistakes} & {v.turn for each in sides for v in each.best}
    for side in sides:
        assert 2 <= len(side.chart) <= min(MOST_POINTS, review.decisions)
        assert len(side.mistakes) <= NAMED
        assert len(side.best) <= NAMED
        # The chart shows the same chance there.
        charted = {point.turn: point.chance for point in side.chart}
        assert all(charted[each.turn] == each.chance for each in (*side.mistakes, *side.best))
    # Even a long game is played on from its middle for half of its length, on average.
    assert review.imagined <= 2 * (MOST_POINTS * study.GAMES + 18 * study.COMPARED[1] + 12 * study.GAMES)
    assert codec.decoder(KINDS).decode(codec.dumps(review)) == review


if __name__ == "__main__":
    print(json.dumps(_plain()))
