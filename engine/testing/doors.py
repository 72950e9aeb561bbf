"""Laws about input: everything that a decision offers is accepted; everything else is refused and changes nothing.

This module works out for itself what a decision offers, from the blanks and the exact types of their values, so that a
missing check cannot hide itself. It must never accept a choice that it did not expect.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from engine import codec, grammar
from engine.chance import Draw, Stream
from engine.decisions import Act, Amount, Blank, Choice, Decision, OneOf, Refused, Split
from engine.facts import HIDDEN
from engine.table import Table
from engine.testing.bench import Bench, Playout, Trouble, describe, sampled

_SAMPLES: Final = 4
_MOST_ACTS: Final = 3
"""The most acts of a decision that are tried with odd values in every blank."""

_MOST_VALUES: Final = 4000


class _Word(str):
    """Almost a text."""

    __slots__ = ()


class _Whole(IntEnum):
    """Almost numbers."""

    ZERO, ONE, TWO, THREE, FOUR, FIVE = range(6)


class _Pair(NamedTuple):
    """Almost a tuple."""

    one: object
    two: object


class _Chosen(Choice):
    """Almost a choice."""

    __slots__ = ()


ODD_VALUES: Final[tuple[Any, ...]] = (
    *(True, False, None, HIDDEN, 3.0, 0.0, float("nan"), float("inf"), 1j),
    *("", "3", "0", "x" * 10_000, "\x00", "a\r\nBcc: x", "\u202e", "no such thing", b"3"),
    *(-1, 10**30, -(10**30), 2**63, _Whole.ONE, _Word("3")),
    *((), ((),), (((1,),),), (None,), (True,), (HIDDEN,), (3.0,), _Pair(1, 2), [], [1], {}, {1}, object()),
)
"""Values that fit no blank of any game."""

ODD_TEXTS: Final = (
    *("", " ", "\x00", "\n", "\r\n.\r\n", "\u202e", "﷽" * 9, "{}", "{0}", "%s", "”“", "the", "-", "--", "?", "*"),
    *(
        "9" * 200,
        "bid " + "9" * 150,
        "bid -1",
        "bid 1.5",
        "bid 1e3",
        "bid ７",
        "bid ²",
        "bid ٣",
        "pass pass pass",
        "(",
        "[",
    ),
    *("a " * 99, "x" * 10_000, "ſ", "ß", "İ", "ǆ", "\ud800", "../../etc/passwd", "<script>", "=1+1", "None", "True"),
)
"""Texts that people, programs and attackers send."""


def keeps_the_door(bench: Bench) -> Iterator[Trouble]:
    """Samples are accepted. Anything else, from any seat, is refused and leaves the table unchanged, byte for byte."""
    law = "keeps the door"
    for playout, at in _places(bench):
        table = playout.tables[at]
        asks = table.position.open()
        where = playout.where(at)
        before = _bytes(table)
        luck = Stream(playout.plan.seed, 2**50 + at)
        for seat, decision in _two(asks, luck):
            for what, code in _lets_in(bench, table, seat, decision, luck):
                yield Trouble(law, what, where, code)
            for wrong in _wrong(decision, luck):
                if (why := _refuses(bench, table, seat, wrong)) is not None:
                    yield Trouble(law, why, where, bench.line_of("resolve"))
        for stranger in _strangers(table):
            for choice in (*(decision.default for _, decision in _two(asks, luck)), Choice("pass"), None):
                if (why := _refuses(bench, table, stranger, choice)) is not None:
                    yield Trouble(law, f"from {stranger!r}: {why}", where, bench.line_of("resolve"))
        if _bytes(table) != before:
            yield Trouble(law, "a refused choice left something behind", where)
    yield from _after_the_end(bench)


def reads_or_refuses(bench: Bench) -> Iterator[Trouble]:
    """Any text is read as one of the possible choices or refused with a reason, and never raises anything else."""
    law = "reads or refuses"
    for playout, at in _places(bench):
        table = playout.tables[at]
        luck = Stream(playout.plan.seed, 2**51 + at)
        for _, decision in _two(table.position.open(), luck):
            for text in (*ODD_TEXTS, *_scribbled(bench, table, decision, luck)):
                try:
                    choice: object = grammar.read(decision, text)
                except Refused as refused:
                    if not str(refused).strip():
                        yield Trouble(
                            law, f"{text[:60]!r} is refused without a reason", playout.where(at), bench.line_of("asks")
                        )
                    continue
                except Exception as error:  # noqa: BLE001 - the law is that nothing else is raised.
                    yield Trouble(
                        law, f"{text[:60]!r} raises {describe(error)}", playout.where(at), bench.raised_at(error)
                    )
                    continue
                if not offered(decision, choice):
                    yield Trouble(
                        law,
                        f"{text[:60]!r} reads as {choice}, which is not offered",
                        playout.where(at),
                        bench.line_of("asks"),
                    )


def takes_the_last_word(bench: Bench) -> Iterator[Trouble]:
    """While a turn is open a choice can be changed and taken back, and only the last one counts."""
    law = "takes the last word"
    for playout, at in _places(bench):
        table = playout.tables[at]
        asks = table.position.open()
        luck = Stream(playout.plan.seed, 2**52 + at)
        waiting = [seat for seat in asks if seat not in table.position.box]
        if len(waiting) < 2:
            continue
        seat = luck.pick(waiting)
        one, other = (_open_choice(bench, table, asks[seat], luck) for _ in range(2))
        if one is None or other is None:
            continue
        direct = table.submit(seat, other).position
        changed = table.submit(seat, one).submit(seat, other).position
        if codec.dumps(changed.box) != codec.dumps(direct.box) or changed.turn != direct.turn:
            yield Trouble(law, "after a change the box does not contain the last choice", playout.where(at))
        if table.submit(seat, one).position.withdraw(seat) != table.position:
            yield Trouble(law, "a choice taken back left something behind", playout.where(at))
        try:
            table.position.withdraw(seat)
            yield Trouble(law, "a choice could be taken back that was never made", playout.where(at))
        except Refused:
            # This is right.
            pass


def offered(decision: Decision, choice: object) -> bool:
    """Whether the decision offers exactly this choice, by the types and values of its blanks."""
    return type(choice) is Choice and type(choice.values) is tuple and any(_fits(act, choice) for act in decision.acts)


def _fits(act: Act, choice: Choice) -> bool:
    return (
        type(choice.verb) is str
        and choice.verb == act.verb
        and len(choice.values) == len(act.blanks)
        and all(_in_blank(blank, value) for blank, value in zip(act.blanks, choice.values, strict=True))
    )


def _in_blank(blank: Blank, value: object) -> bool:
    if isinstance(blank, Amount):
        return type(value) is int and blank.low <= value <= blank.high and value % 10 in blank.endings
    if isinstance(blank, OneOf):
        return any(_exactly(value, thing.value) for thing in blank.things)
    if isinstance(blank, Split):
        parts = value if type(value) is tuple else ()
        right = len(parts) == len(blank.things) and all(type(part) is int and part >= 0 for part in parts)
        return right and sum(parts) == blank.total
    if blank.count() <= _MOST_VALUES:
        return any(_exactly(value, possible) for possible in blank.values())
    return value in blank


def _exactly(value: object, expected: object) -> bool:
    if type(value) is not type(expected):
        return False
    if isinstance(value, tuple) and isinstance(expected, tuple):
        return len(value) == len(expected) and all(map(_exactly, value, expected))
    return value == expected


def _lets_in(bench: Bench, table: Table, seat: int, decision: Decision, luck: Draw) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with choices that are offered, each with the line of code to look at."""
    game, asks, objects = bench.game, bench.line_of("asks"), bench.line_of("objects")
    for choice in (decision.default, *(decision.sample(luck) for _ in range(_SAMPLES))):
        if not offered(decision, choice):
            yield f"the sample {choice} is not among the choices", asks
        elif (objection := game.objects(table.position.state, seat, choice)) is None:
            try:
                bench.server.submit(table, seat, choice)
            except Refused as refused:
                yield f"{choice} is offered and refused: {refused}", asks
            except Exception as error:  # noqa: BLE001 - a choice that is offered must not break anything.
                yield f"{choice} is offered and breaks the game: {describe(error)}", bench.raised_at(error)
        elif not str(objection).strip():
            yield f"{choice} is refused without a reason", objects
        elif (what := _refuses(bench, table, seat, choice)) is not None:
            yield what, objects


def _refuses(bench: Bench, table: Table, seat: Any, choice: Any) -> str | None:
    """Return None if the choice is refused and the box unchanged, or else what happened."""
    before = dict(table.position.box)
    try:
        bench.server.submit(table, seat, choice)
    except Refused as refused:
        if not str(refused).strip():
            return f"{choice!r} is refused without a reason"[:200]
    except Exception as error:  # noqa: BLE001 - the law is that nothing else is raised.
        return f"{choice!r} raises {describe(error)}"[:200]
    else:
        return f"{choice!r} is accepted"[:200]
    return None if table.position.box == before else "a refused choice left something in the box"


def _wrong(decision: Decision, luck: Draw) -> Iterator[object]:
    """Yield things that are not among the choices, some very odd and some almost right."""
    yield from (None, "pass", ("pass", ()), 0, HIDDEN, decision, decision.acts[0])
    verbs = {act.verb for act in decision.acts}
    for verb in ("no such verb", "", next(iter(verbs)).upper() + " ", None, 7, HIDDEN, b"pass"):
        yield Choice(verb, ())  # type: ignore[arg-type]  # wrong on purpose
    for act in luck.shuffle(decision.acts)[:_MOST_ACTS]:
        good = act.sample(luck)
        yield _Chosen(good.verb, good.values)
        yield from (c for c in _off_by_a_little(act, good, luck) if not offered(decision, c))


def _off_by_a_little(act: Act, good: Choice, luck: Draw) -> Iterator[Choice]:
    yield Choice(_Word(good.verb), good.values)
    yield Choice(good.verb, list(good.values))  # type: ignore[arg-type]  # wrong on purpose
    yield Choice(good.verb, _Pair(0, 0)[:0] + good.values + (0,))
    yield Choice(good.verb, (*good.values, None))  # type: ignore[arg-type]  # wrong on purpose
    yield Choice(good.verb, (good.values,))
    if good.values:
        yield Choice(good.verb, good.values[:-1])
    for place, (blank, value) in enumerate(zip(act.blanks, good.values, strict=True)):
        odd = (*ODD_VALUES, *_near(blank, value), *(blank.sample(luck) for blank in act.blanks))
        for wrong in odd:
            yield Choice(good.verb, (*good.values[:place], wrong, *good.values[place + 1 :]))


def _near(blank: Blank, value: Any) -> Iterator[object]:
    """Yield what could be mistaken for a value of the blank."""
    if isinstance(blank, Amount):
        yield from (blank.low - 1, blank.high + 1, float(value), str(value), (value,), value + 0.5)
        yield from range(blank.low, min(blank.high, blank.low + 12) + 1)
        return
    if isinstance(blank, OneOf):
        yield from ((value,), [value], str(value) + " ", _Word(value) if type(value) is str else float(value))
        return
    yield from (
        list(value),
        value[:-1],
        (*value, *value[:1]),
        value[::-1],
        frozenset(value),
        (value,),
        _Pair(*(value * 2)[:2]),
    )
    if isinstance(blank, Split):
        yield from ((value[0] + 1, *value[1:]), (-1, *value[1:-1], blank.total + 1), tuple(map(float, value)))
        yield from (tuple(map(str, value)), tuple(map(bool, value)))
    elif value:
        yield from ((value[0],) * len(value), (*value[:-1], "no such thing"), tuple(map(_Word, value)))


def _strangers(table: Table) -> Iterator[object]:
    """Yield seats that are not asked, and things that are not seats."""
    seats = table.position.seats
    yield from (seat for seat in range(seats) if seat not in table.position.open())
    yield from (-1, seats, 10**30, None, True, False, 0.0, "0", HIDDEN, (), [0], _Whole.ONE)


def _after_the_end(bench: Bench) -> Iterator[Trouble]:
    """After the end of a game no choice is accepted."""
    for playout in bench.playouts():
        if not playout.whole() or not playout.moves:
            continue
        for seat, choice in playout.moves[-3:]:
            if (what := _refuses(bench, playout.tables[-1], seat, choice)) is not None:
                yield Trouble("keeps the door", f"after the end {what}", playout.where(len(playout.moves)))


def _scribbled(bench: Bench, table: Table, decision: Decision, luck: Draw) -> Iterator[str]:
    """Yield commands typed in a hurry: words missing, doubled, reversed, abbreviated or joined."""
    usages = grammar.usages(decision)
    for _ in range(_SAMPLES * 3):
        choice = sampled(bench.game, table.view(decision.seat), decision, luck)
        words = grammar.write(decision, choice).split()
        place = luck.below(len(words))
        yield " ".join((*words[:place], *words[place + 1 :]))
        yield " ".join((*words[: place + 1], *words[place:]))
        yield " ".join(reversed(words))
        yield " ".join(words).swapcase() + "\t"
        yield " ".join(word[: 1 + luck.below(len(word))] for word in words)
        yield "".join(words)
        yield " ".join((*words, luck.pick(luck.pick(usages).split())))
        yield unicodedata.normalize("NFKD", " ".join(words)) + chr(luck.below(0xD800))


def _places(bench: Bench) -> Iterator[tuple[Playout, int]]:
    """Yield a few positions of every kind; in a thorough run with every number of players."""
    return bench.positions(3, _all_seats(bench) if bench.thorough else ())


def _all_seats(bench: Bench) -> range:
    low, high = bench.game.seats
    return range(low, high + 1)


def _two(asks: Mapping[int, Decision], luck: Draw) -> list[tuple[int, Decision]]:
    """Return two of the seats that are asked: seats asked together are asked alike."""
    return luck.shuffle(asks.items())[:2]


def _open_choice(bench: Bench, table: Table, decision: Decision, luck: Draw) -> Choice | None:
    """Return a choice that does not end the turn, or None if none comes up."""
    view = table.view(decision.seat)
    tries = (sampled(bench.game, view, decision, luck) for _ in range(8))
    return next((choice for choice in tries if choice.verb not in decision.closes), None)


def _bytes(table: Table) -> str:
    position = table.position
    return codec.dumps((position.state, position.turn, position.box, table.log, table.views))
