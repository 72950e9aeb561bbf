"""The kit itself: sound games pass, and a game with one fault is caught by the law for it."""

from __future__ import annotations

import contextlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import facts, registry
from engine.chance import Stream
from engine.decisions import Amount, Refused
from engine.facts import SPECTATOR, seen
from engine.game import Game
from engine.registry import load_file
from engine.testing import LAWS, Bench, Mutant, Server, Trouble, broken, check, check_mutants, mutants, noticed
from engine.testing.bench import play, story
from engine.testing.coupled import Echo, OutOfStep, Remembered
from engine.testing.courses import run
from engine.testing.differences import Pool, exchanges, hidings, secret_fields, shown, with_difference
from engine.testing.elsewhere import digest, find, where_is
from engine.testing.golden import check_golden, files, parse, remake, replayed, shows
from engine.testing.numbers import numbers, ranges
from engine.testing.plans import MOST_COMBINED, Plan, combined, option_sets, plans, values_of
from engine.testing.repeat import repeat
from engine.testing.steps import TooManySteps, bounded

pytestmark = pytest.mark.slow

TOYS = Path(__file__).parent / "toys"
NAMES = ("lanterns", "thieves", "caravans")


@pytest.fixture(scope="module", params=NAMES)
def toy(request) -> Game:
    return load_file(TOYS / f"{request.param}.py")


@pytest.fixture(scope="module")
def thieves() -> Game:
    return load_file(TOYS / "thieves.py")


@pytest.fixture
def changed(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """Load a toy with some code replaced, as if its author had made a mistake."""
    before = set(sys.modules)

    def load(name: str, *changes: tuple[str, str]) -> Game:
        text = (TOYS / f"{name}.py").read_text()
        for old, new in changes:
            assert old in text, f"{name} has changed: there is no {old!r}"
            text = text.replace(old, new)
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        return load_file(path)

    yield SimpleNamespace(load=load)
    for name in set(sys.modules) - before:
        if name.startswith("outside."):
            del sys.modules[name]


@pytest.mark.slow
def test_a_sound_game_keeps_every_law(toy):
    assert check(toy, report=None) == []


def test_a_check_reports_every_law_by_its_name():
    lines: list[str] = []
    check(load_file(TOYS / "caravans.py"), report=lines.append)
    assert lines == [f"caravans: {name}: holds" for name in (*LAWS, "notices mutants")]


FAULTS = {
    "a demo for too many": ("introduces itself", "lanterns", ("seats = (2, 4)", "seats = (2, 4)\n    demo = 5")),
    "a short game that is none": (
        "introduces itself",
        "lanterns",
        ("seats = (2, 4)", 'seats = (2, 4)\n    short = {"purse": 99}'),
    ),
    "a cover of ids": ("introduces itself", "lanterns", ("seats = (2, 4)", 'seats = (2, 4)\n    cover = ("red",)')),
    "no credits": ("introduces itself", "lanterns", ('    credits = say("A toy.")\n', "")),
    "no rules": ("introduces itself", "thieves", ("\n\nA toy for", "\nA toy for")),
    "its bound is too low": ("ends", "lanterns", ("return 2 * 15 + seats + 2", "return 5")),
    "it stops without a result": ("ends", "lanterns", ("yield TastesRevealed(state.tastes)", "return")),
    "a result that no one can check": ("ends", "lanterns", ("tastes=self.colours, over=True", "over=True")),
    "an endless game behind an option": (
        "ends in time",
        "lanterns",
        ("return 2 * 15 + seats + 2", "return 300"),
        (
            "        if state.bidding:",
            (
                "        if state.bidding and sum(state.coins) == 40 * len(state.coins) and not max(c.values[0] for c in choices.values()):\n"
                "            state = yield Allowed()\n"
                "        elif state.bidding:"
            ),
        ),
    ),
    "a bound too low for one option": (
        "ends in time",
        "caravans",
        ("        return 4\n", '        return 4 if options["seasons"] == "two" else 3\n'),
    ),
    "a story that never ends": (
        "ends",
        "lanterns",
        (
            "        elif vetoed :=",
            (
                "        elif state.vetoes[0] and all(c.verb == 'allow' for c in choices.values()):\n"
                "            while not state.bidding:\n"
                "                state = yield Liked(0, state.tastes[0])\n"
                "        elif vetoed :="
            ),
        ),
    ),
    "a turn that makes itself again forever": (
        "ends",
        "lanterns",
        (
            "        if not view.lot:\n            return None\n",
            '        if not view.lot:\n            return Decision(seat, say("Wait."), (Act("wait"),), Choice("wait"), public=True)\n',
        ),
        ("        if state.bidding:", "        if not state.lot:\n            return\n        if state.bidding:"),
    ),
    "a number that no bot bids": (
        "takes every number",
        "lanterns",
        ("bids.index(max(bids)), max(bids))", "bids.index(max(bids)), max(bids) + 0 // (max(bids) - 23))"),
    ),
    "two that bid the same middle number": (
        "takes every number",
        "lanterns",
        ("bids.index(max(bids)), max(bids))", "bids.index(max(bids)), max(bids) + 0 // (sum(bids) - 2 * 17))"),
    ),
    "coins vanish": ("conserves", "lanterns", ("spent=state.spent + self.price,", "")),
    "a tally of nothing": (
        "conserves",
        "thieves",
        ('{"cards": len(state.bag) +', '{"cards": 0 * len(state.bag) + 0 *'),
    ),
    "half a coin": ("holds plain values", "lanterns", ("bidding=True)", "bidding=True, spent=state.spent * 1.0)")),
    "an impossible default": (
        "asks from views",
        "lanterns",
        ('Choice("bid", (0,)), topic', 'Choice("bid", (-1,)), topic'),
    ),
    "a refused default": (
        "asks from views",
        "caravans",
        ('if choice.verb == "send" and', 'if choice.verb != "send" or'),
    ),
    "public, but not marked so": ("asks from views", "lanterns", (', topic="lot", public=True', ', topic="lot"')),
    "marked public, but is not": ("asks from views", "thieves", ('topic="round",', 'topic="round", public=True,')),
    "marked public, but its default is not": (
        "asks from views",
        "lanterns",
        ('Choice("bid", (0,)), topic', 'Choice("bid", (view.coins[seat] * (view.tastes[seat] == view.lot),)), topic'),
    ),
    "a decision that knows too much": (
        "asks from views",
        "lanterns",
        ("if not view.lot:", "if not view.lot or (seat and HIDDEN not in view.tastes):"),
    ),
    "an offer that breaks it": (
        "keeps the door",
        "lanterns",
        (
            "bids.index(max(bids)), max(bids))",
            "bids.index(max(bids)), max(bids) * (12 // max(bids)) * max(bids) // 12)",
        ),
    ),
    "two things of one name": (
        "reads what it writes",
        "caravans",
        ('Thing(camel, f"{camel} camel")', 'Thing(camel, "camel")'),
    ),
    "an apply that remembers": (
        "replays",
        "lanterns",
        ("over: bool = False", "over: bool = False\n    noise: int = 0"),
        ("bidding=True)", "bidding=True, noise=len(NOISE) + bool(NOISE.append(1)))"),
        ("COLOURS: Final =", "NOISE: list[int] = []\nCOLOURS: Final ="),
    ),
    "chance of its own": (
        "reruns",
        "lanterns",
        ("Offered(draw.pick(state.bag))", "Offered(__import__('random').choice(state.bag))"),
    ),
    "the order of a set": (
        "is the same elsewhere",
        "lanterns",
        ("Offered(draw.pick(state.bag))", "Offered(next(iter(set(state.bag))))"),
    ),
    "a sentence with a hole": (
        "speaks",
        "lanterns",
        ("{seat} [buys|buy] the lantern", "{buyer} [buys|buy] the lantern"),
    ),
    "a sentence with a bracket left": ("speaks", "lanterns", ("[has|have] the lantern", "[has/have] the lantern")),
    "a fact without words": ("speaks", "lanterns", ('"""Nobody objects; bids are taken."""', "")),
    "a prompt with code in it": ("speaks", "thieves", ('say("Which card do you play?")', 'say(str(Choice("play")))')),
    "secrets without a name": ("speaks", "thieves", ('    hidden = ("a card", "cards")\n', "")),
    "a board too wide": ("fits the page", "lanterns", ('(say("coins"), coins)', '(say("coins " * 20), coins)')),
    "a board that counts the hidden": ("fits the page", "thieves", ("len(view.hands[i])", "sum(view.hands[i])")),
    "a tie broken by a secret": (
        "secret twins",
        "lanterns",
        (
            "yield Sold(bids, bids.index(max(bids)),",
            "yield Sold(bids, max(range(len(bids)), key=lambda i: (bids[i], state.tastes[i] == state.lot)),",
        ),
    ),
    "a winner by what is in hand": (
        "secret twins",
        "thieves",
        ("best = cards.index(max(cards))", "best = sum(map(sum, state.hands)) % len(cards)"),
    ),
    "a tie broken by a secret with one option": (
        "secret twins",
        "lanterns",
        (
            "yield Sold(bids, bids.index(max(bids)),",
            (
                "yield Sold(bids, max(range(len(bids)), key=lambda i: (bids[i], sum(state.coins) + state.spent == "
                "len(bids) and state.tastes[i] == state.lot)),"
            ),
        ),
    ),
    "a public field made of a secret in the deal": (
        "deal twins",
        "thieves",
        ("    cards: Cards = secret()\n", "    cards: Cards = secret()\n    best: int = 0\n"),
        (
            "            state = yield Dealt(seat, tuple(draw.shuffle(state.bag)[:HAND]))",
            "            hand = tuple(draw.shuffle(state.bag)[:HAND])\n            state = yield Dealt(seat, hand, max(hand))",
        ),
    ),
    "a public field made of a secret drawn later": (
        "deal twins",
        "thieves",
        (
            '    card: Any = secret("thief", "victim")\n',
            '    card: Any = secret("thief", "victim")\n    high: bool = False\n',
        ),
        (
            "            yield Stolen(best, victim, draw.pick(state.hands[victim]))",
            "            card = draw.pick(state.hands[victim])\n            yield Stolen(best, victim, card, card > 112)",
        ),
    ),
    "a secret that never happens": (
        "secret twins",
        "lanterns",
        (
            "class Lanterns(",
            '@fact\nclass Whispered(Fact[State]):\n    """Psst."""\n\n    seat: int\n    word: str = secret()\n\n\nclass Lanterns(',
        ),
    ),
    "an imagined state with holes": (
        "imagines",
        "lanterns",
        ("return replace(view, tastes=tuple(", "return replace(view) or tuple(("),
    ),
    "an imagined state with more cards": ("imagines", "thieves", ("bag=tuple(left))", "bag=(*left, *left))")),
}


@pytest.mark.slice(1 / 4)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_caught_by_its_law(changed, fault):
    law, name, *changes = fault
    found = broken(law, LAWS[law], Bench(changed.load(name, *changes)))
    assert found != []
    # The line to look at is in the game, in a form that editors and terminals can open.
    path, line, what = re.fullmatch(r"(.+):(\d+) \((.+)\)", found[0].code).groups()
    assert Path(path).name == f"{name}.py"
    if what.isidentifier() and not found[0].what.startswith("the game raises"):
        assert re.search(rf"(class|def) {what}\b", Path(path).read_text())
    assert str(found[0]).startswith(f"{path}:{line} ({what}): {law}: ")


def test_an_error_is_reported_with_the_line_that_raised_it(changed):
    wrecked = changed.load("thieves", ("for seat in range(len(state.points)):", "for seat in state.nothing:"))
    trouble = broken("ends", LAWS["ends"], Bench(wrecked))[0]
    path, line = re.match(r"(.+):(\d+) \(setup\): ends: AttributeError", str(trouble)).groups()
    assert "state.nothing" in Path(path).read_text().splitlines()[int(line) - 1]


def test_a_named_fact_is_found_at_the_line_of_its_class(thieves):
    path, line = re.match(r"(.+):(\d+) \(Stolen\)", Bench(thieves).line_of("Stolen")).groups()
    assert Path(path).read_text().splitlines()[int(line) - 1] == "class Stolen(Fact[State]):"
    assert Bench(thieves).line_of("no such thing") == Bench(thieves).line_of("prospect") == ""


def test_a_check_ends_with_a_summary_of_what_was_seen(thieves):
    lines: list[str] = []
    check(thieves, report=lines.append, summary=True)
    summary = lines[-1]
    assert max(map(len, summary.splitlines())) <= 72
    assert "Stolen.card: known to thief and victim" in summary
    assert "Stolen: Ann steals a card from Ben." in summary
    assert "Verbs\n  play\n" in summary
    assert "entries where longest() says 7 at most" in summary
    # The turn is what a player would get: what happened, the prompt, the board and the choices.
    turn = summary.partition("A turn, as an email")[2]
    assert re.search(r"Subject: Thieves, turn \d: Which card do you play\?", turn)
    assert "Your side\n  Your hand: " in turn
    assert "If you miss the deadline: play card" in turn


def test_a_game_that_always_raises_is_reported_with_how_to_see_it_again(changed):
    wrecked = changed.load(
        "thieves", ("for seat in range(len(state.points)):", "for seat in range(len(state.nothing)):")
    )
    lines: list[str] = []
    troubles = check(wrecked, report=lines.append)
    assert any("AttributeError" in str(trouble) for trouble in troubles)
    assert re.search(r'python -m engine.testing repeat \S+thieves.py "\d players, usual options, playing', lines[-1])


def test_every_planted_fault_is_noticed(toy):
    bench = Bench(toy, counting=False)
    assert [mutant.name for mutant in mutants(bench) if not noticed(mutant)] == []


def test_every_secret_field_has_its_own_mutant(thieves):
    names = {mutant.name for mutant in mutants(Bench(thieves))}
    assert {"Dealt.cards is told to everyone", "Stolen.card is told to everyone"} <= names
    assert "a page that shows the box" in names
    assert "a decision that peeks at the truth" in names


PLANTED = {
    "lanterns": {
        "a page that shows the truth with vetoes=none",
        "a game that stands still with vetoes=none",
        "a clue about secrets in the deal",
        "a number that breaks the game",
    },
    "thieves": {"a clue about secrets in the deal"},
    "caravans": {"a page that shows the truth with seasons=one", "a game that stands still with seasons=one"},
}
ENDLESS = {"a story that never begins", "a question that is never put", "a table that decides for itself forever"}


def test_faults_that_hang_or_hide_behind_options_and_numbers_are_planted(toy):
    assert {mutant.name for mutant in mutants(Bench(toy, counting=False))} >= PLANTED[toy.slug] | ENDLESS


def test_a_thorough_run_plants_a_fault_behind_every_value_of_an_option():
    lanterns = load_file(TOYS / "lanterns.py")
    names = {mutant.name for mutant in mutants(Bench(lanterns, thorough=True))}
    values = [(o.name, value) for o in lanterns.options for value in values_of(o) if value != o.default]
    assert {f"a game that stands still with {name}={value}" for name, value in values} <= names


def test_a_sound_game_is_not_reported_as_a_mutant(thieves):
    bench = Bench(thieves)
    assert not any(noticed(Mutant("nothing at all", law, bench)) for law in LAWS.values())


def test_a_fault_that_goes_unnoticed_is_a_trouble(thieves):
    class Deaf(Bench):
        def with_server(self, server):
            return self

    unnoticed = {trouble.what for trouble in check_mutants(Deaf(thieves, counting=False))}
    assert "“Stolen.card is told to everyone” was not noticed" in unnoticed
    assert "“a server that accepts anything” was not noticed" in unnoticed


def test_earlier_troubles_do_not_count_as_noticing_a_fault(thieves):
    mutant = next(iter(mutants(Bench(thieves))))
    there = frozenset(trouble.what for trouble in mutant.law(mutant.bench))
    assert noticed(mutant)
    assert not noticed(mutant, there)


def test_a_planted_fault_leaves_nothing_behind(thieves):
    before = digest(thieves), facts.seen, set(sys.modules)
    bench = Bench(thieves, counting=False)
    assert list(check_mutants(bench)) == []
    assert (digest(thieves), facts.seen, set(sys.modules)) == before
    assert [trouble for name, law in LAWS.items() for trouble in broken(name, law, bench)] == []


def test_a_server_that_shows_too_much_is_caught(thieves):
    class Gossip(Server):
        def page(self, table, reader, since=0):
            hands = table.position.state.hands
            return {**super().page(table, reader, since), "gossip": str(sorted(hands[0]))}

    bench = Bench(thieves, server=Gossip())
    assert any("the gossip tells" in trouble.what for trouble in LAWS["secret twins"](bench))


# Steps.


def test_a_call_that_goes_on_is_stopped_at_the_same_step_every_time(changed):
    spinning = changed.load(
        "thieves",
        (
            "        cards = tuple(choices",
            "        while True:\n            choices = dict(choices)\n        cards = tuple(choices",
        ),
    )
    found = [broken("ends", LAWS["ends"], Bench(spinning)) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0][0].what == "resolve() goes on after 1,000,000 steps, and was stopped"
    path, line = re.match(r"(.+):(\d+) \(resolve\): ends: resolve", str(found[0][0])).groups()
    assert Path(path).read_text().splitlines()[int(line) - 1].strip() in ("while True:", "choices = dict(choices)")


def test_a_law_that_is_stopped_says_where(changed):
    staring = changed.load(
        "thieves",
        (
            "        mine: tuple[Part, ...] =",
            "        while view.rounds == 2:\n            pass\n        mine: tuple[Part, ...] =",
        ),
    )
    trouble = broken("fits the page", LAWS["fits the page"], Bench(staring))[0]
    assert trouble.what == "board() goes on after 1,000,000 steps, and was stopped"
    assert re.fullmatch(r"\d players, usual options, playing \w+ #\d, after \d+ of \d+ choices", trouble.where)


def _nothing():
    """One step."""


def _forever():
    """Work without an end that lets no error through, as a careless game might."""
    while True:
        with contextlib.suppress(Exception):
            _nothing()


def test_a_stopped_call_keeps_no_error_to_itself_and_leaves_no_tracer_behind(thieves):
    before = sys.gettrace()
    with pytest.raises(TooManySteps), bounded(thieves):
        _forever()
    assert sys.gettrace() is before


def test_counting_goes_on_around_a_call_that_was_stopped(thieves):
    with bounded(thieves):
        outer = sys.gettrace()
        with pytest.raises(TooManySteps), bounded(thieves):
            _forever()
        again = sys.gettrace()
    assert again is outer is not None


# A place to see again.


def test_a_trouble_is_seen_again_from_its_place(changed):
    wrecked = changed.load(
        "lanterns", ("bids.index(max(bids)), max(bids))", "bids.index(max(bids)), max(bids) + 0 // (max(bids) - 23))")
    )
    trouble = broken("takes every number", LAWS["takes every number"], Bench(wrecked))[0]
    first, *lines, last = repeat(wrecked, trouble.where)
    assert first.startswith("Lanterns, ")
    assert lines[-1].endswith(": bid 23")
    assert re.fullmatch(r".+lanterns\.py:\d+ \(resolve\): ZeroDivisionError: .+", last)


def test_a_place_may_be_an_entry_or_a_whole_game(thieves):
    whole = list(repeat(thieves, "2 players, usual options, playing any #0"))
    entry = list(repeat(thieves, "2 players, usual options, playing any #0, entry 0"))
    assert whole[: len(entry)] == entry
    assert "   entry 0: Ben is dealt" in "\n".join(entry)
    with pytest.raises(Refused):
        list(repeat(thieves, "somewhere"))


# Numbers.


def test_a_short_range_is_tried_whole_and_a_long_one_at_its_ends_and_round_numbers():
    luck = Stream(bytes(32), 0)
    assert numbers(Amount("coins", 0, 255), luck) == list(range(256))
    assert numbers(Amount("coins", 0, 200, endings=frozenset({0, 5})), luck) == list(range(0, 201, 5))
    many = numbers(Amount("coins", 10, 100_000), luck)
    assert {10, 11, 99, 100, 101, 1024, 50_005, 99_999, 100_000} <= {*many}
    assert len(many) < 200


def test_the_widest_range_of_every_set_of_options_is_tried():
    highest = Counter[object]()
    for each in ranges(Bench(load_file(TOYS / "lanterns.py"))):
        purse = each.playout.plan.options.get("purse", 12)
        highest[purse] = max(highest[purse], each.amount.high)
    assert highest == {purse: purse for purse in (1, 12, 16, 40)}


# Courses.


def test_a_course_of_one_who_insists_chooses_a_verb_wherever_it_can():
    lanterns = load_file(TOYS / "lanterns.py")
    tables = play(lanterns, Plan(3, {}, "insisting on veto")).tables
    assert [choice.verb for entry in tables[-1].log for choice in entry.choices.values()].count("allow") == 0


def test_a_course_is_the_same_game_as_its_playout(toy):
    for style in ("silent", "any", "climb"):
        plan = Plan(toy.seats[1], {}, style)
        course, playout = run(toy, plan), play(toy, plan)
        assert (course.entries, course.fault) == (len(playout.tables[-1].log), "")


# Plans.


def test_few_options_are_combined_and_of_many_all_pairs_are(toy):
    for seats in range(toy.seats[0], toy.seats[1] + 1):
        ways = combined(toy, seats)
        assert ways <= MOST_COMBINED
        assert sum(n == seats for n, _ in option_sets(toy, thorough=True)) == ways - 1


@pytest.mark.parametrize("name", registry.names())
def test_all_values_of_every_two_options_meet(name):
    played = registry.load(name)
    usual = {option.name: option.default for option in played.options}
    rows = [(seats, usual | chosen) for seats, chosen in option_sets(played)]
    rows += [(seats, usual) for seats in range(played.seats[0], played.seats[1] + 1)]
    for one, other in combinations(played.options, 2):
        common = [
            seats
            for seats in range(played.seats[0], played.seats[1] + 1)
            if all(not option.seats or seats in option.seats for option in (one, other))
        ]
        if common:
            met = {(row[one.name], row[other.name]) for _, row in rows}
            assert met >= {(a, b) for a in values_of(one) for b in values_of(other)}


@pytest.mark.parametrize("name", registry.names())
def test_a_thorough_run_meets_every_value_at_every_number_of_players(name):
    played = registry.load(name)
    rows = option_sets(played, thorough=True)
    for option in played.options:
        for seats in option.seats or range(played.seats[0], played.seats[1] + 1):
            met = {chosen.get(option.name, option.default) for n, chosen in rows if n == seats}
            assert met | {option.default} == set(values_of(option))


def _met(played, options, seats):
    """Return every pair of values of a game, including the number of players."""
    values = {"seats": seats, **{option.name: options.get(option.name, option.default) for option in played.options}}
    return set(combinations(values.items(), 2))


@pytest.mark.parametrize("name", registry.names())
def test_every_pair_of_values_is_played_with_every_number_of_players(name):
    played = registry.load(name)
    low, high = played.seats
    everything = set()
    for seats in range(low, high + 1):
        fits = [option for option in played.options if not option.seats or seats in option.seats]
        ways = [[("seats", seats)], *([(option.name, value) for value in values_of(option)] for option in fits)]
        possible = {pair for one, other in combinations(ways, 2) for pair in product(one, other)}
        chosen = [plan for plan in plans(played, thorough=True) if plan.style == "any" and plan.seats == seats]
        assert possible <= set().union(*(_met(played, plan.options, seats) for plan in chosen))
        everything |= possible
    silent = [plan for plan in plans(played, thorough=True) if plan.style == "silent"]
    assert everything <= set().union(*(_met(played, plan.options, plan.seats) for plan in silent))


def test_every_plan_is_a_different_game(toy):
    seeds = [plan.seed for plan in plans(toy)]
    assert len(set(seeds)) == len(seeds)


def test_a_game_is_found_again_in_another_process(toy):
    assert digest(find(where_is(toy))) == digest(toy)
    assert [where_is(registry.load(name)) for name in registry.names()] == list(registry.names())


# Twins.


@pytest.mark.parametrize("reader", [0, 1, 2, SPECTATOR])
def test_twins_look_the_same_and_differ(thieves, reader):
    pool = Pool()
    luck = Stream(bytes(32), 9)
    bench = Bench(thieves)
    tales = [story(playout.tables[-2]) for playout in bench.playouts() if playout.plan.seats == 3]
    for tale in tales:
        pool.add(tale)
    met = 0
    for tale in tales:
        for difference in exchanges(tale, reader, pool, secret_fields(thieves), luck):
            twin = with_difference(tale, reader, difference)
            assert twin != tale
            assert [seen(happened, reader) for happened in twin] == [seen(happened, reader) for happened in tale]
            assert not difference.named & shown(tale, reader)
            met += 1
    assert met


def test_hidings_are_the_fields_that_a_reader_does_not_see(thieves):
    tale = story(next(Bench(thieves).playouts()).tables[0])
    assert {hiding.at for hiding in hidings(tale, 0)} == {1}
    assert {hiding.at for hiding in hidings(tale, SPECTATOR)} == {0, 1}


def test_the_same_chance_gives_each_world_its_own_card():
    luck = Remembered(bytes(32), 0)
    drawn = luck.pick(("a", "b", "c")), luck.shuffle("abc"), luck.below(6)
    swap = {"a": "b", "b": "a"}
    echo = Echo(luck, swap, by_place=False)
    again = echo.pick(("c", "b", "a")), echo.shuffle("cba"), echo.below(6)
    assert again == (swap.get(drawn[0], drawn[0]), [swap.get(x, x) for x in drawn[1]], drawn[2])
    by_place = Echo(luck, swap, by_place=True)
    assert (by_place.pick(("a", "b", "c")), by_place.shuffle("abc"), by_place.below(6)) == drawn


def test_chance_asked_for_something_else_is_out_of_step():
    luck = Remembered(bytes(32), 0)
    luck.below(6)
    for ask in (
        lambda echo: echo.pick("ab"),
        lambda echo: echo.shuffle("ab"),
        lambda echo: (echo.below(6), echo.below(6)),
    ):
        with pytest.raises(OutOfStep):
            ask(Echo(luck, {}, by_place=False))


def test_recorded_chance_draws_the_same_numbers():
    plain, remembered = Stream(bytes(32), 4), Remembered(bytes(32), 4)
    assert [plain.pick("abc"), plain.shuffle("abcd"), plain.below(9)] == [
        remembered.pick("abc"),
        remembered.shuffle("abcd"),
        remembered.below(9),
    ]
    assert plain.drawn == remembered.drawn


# Golden games.


@pytest.fixture(scope="module")
def golden(tmp_path_factory) -> SimpleNamespace:
    lanterns, folder = load_file(TOYS / "lanterns.py"), tmp_path_factory.mktemp("golden")
    return SimpleNamespace(game=lanterns, folder=folder, made=remake(lanterns, folder))


def test_a_search_finds_golden_games_that_show_everything(golden):
    assert list(check_golden(golden.game, golden.folder)) == []
    shown_there = set().union(*(shows(replayed(parse(golden.game, path.read_text()))[-1]) for path in golden.made))
    assert {("fact", "Vetoed"), ("verb", "veto"), ("option", "vetoes", "none"), ("seats", "4")} <= shown_there
    assert len(golden.made) <= 5


def test_remade_golden_games_are_the_same(golden, tmp_path):
    again = remake(golden.game, tmp_path)
    assert [path.read_text() for path in again] == [path.read_text() for path in golden.made]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("Nobody objects; bids are taken.", "Nobody minds.", "today's rules tell another story"),
        ("The game is over.", "It is over.", "today's rules tell another story"),
    ],
)
def test_a_golden_game_with_another_story_is_a_trouble(golden, tmp_path, old, new, what):
    _copy(golden, tmp_path)
    for path in files(golden.game, tmp_path):
        path.write_text(path.read_text().replace(old, new))
    assert any(what in trouble.what for trouble in check_golden(golden.game, tmp_path))


def test_a_stored_log_that_leads_elsewhere_is_a_trouble(golden, tmp_path):
    _copy(golden, tmp_path)
    path = files(golden.game, tmp_path)[0].with_suffix(".jsonl")
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join((head, *lines[:-1], lines[-1].replace('"is":"TastesRevealed"', '"is":"TastesRevaled"'))))
    assert any("not a record of this game" in trouble.what for trouble in check_golden(golden.game, tmp_path))
    path.write_text("\n".join((head, *lines[:-1])))
    assert any("leads to another table" in trouble.what for trouble in check_golden(golden.game, tmp_path))


def test_a_fact_that_no_golden_game_shows_is_a_trouble(golden, tmp_path):
    _copy(golden, tmp_path)
    for path in files(golden.game, tmp_path)[1:]:
        path.unlink()
    assert any("no golden game shows" in trouble.what for trouble in check_golden(golden.game, tmp_path))


def test_a_trouble_says_where_it_was_found():
    assert str(Trouble("ends", "it does not", "3 players")) == "ends: it does not (3 players)"
    assert str(Trouble("ends", "it does not", code="fish.py:7 (asks)")) == "fish.py:7 (asks): ends: it does not"


def _copy(golden: SimpleNamespace, to: Path) -> None:
    home = to / golden.game.slug
    home.mkdir()
    for path in (golden.folder / golden.game.slug).iterdir():
        (home / path.name).write_text(path.read_text())
