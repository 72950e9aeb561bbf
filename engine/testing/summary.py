"""What a check has seen of a game, to be read: its secrets, facts, verbs and options, its longest game, and a turn.

The turn is put together from the same pieces as an email of a server: what happened, the prompt, the board and the
choices. A contributor reads here what a player will read. This module must never judge a game.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from engine import grammar, orders
from engine.board import WIDTH, plain, wrap
from engine.decisions import Decision
from engine.facts import SPECTATOR, secrets_of, seen
from engine.game import Game, facts_of
from engine.table import Table
from engine.testing.bench import NAMES, Bench, Playout, story
from engine.testing.plans import MOST_COMBINED, combined, option_sets, values_of

_RULE: Final = "-" * WIDTH


def summary_of(bench: Bench) -> str:
    """The whole summary, in plain text of the width of an email."""
    game = bench.game
    lines = [
        f"{game.title}: {game.players}, rules {game.RULES}",
        *_part("Secrets, and who knows them", _secrets(game)),
        *_part("Facts", _facts(bench)),
        *_part("Verbs", [", ".join(sorted(_verbs(bench)))]),
        *_part("Options", [*_options(game), *_combinations(bench)]),
        *_part("Longest game seen", _longest(bench)),
        *_part("A turn, as an email", []),
        *_turn(bench),
    ]
    return "\n".join(lines)


def _part(heading: str, items: list[str]) -> list[str]:
    shown = [line for item in items for line in wrap(item, WIDTH, "  ", "    ")]
    return ["", heading, *shown]


def _secrets(game: Game[Any]) -> list[str]:
    lines = [
        f"{name}.{field}: known to {' and '.join(readers)}"
        for name, kind in facts_of(game).items()
        for field, readers in secrets_of(cast(type, kind))
    ]
    return lines or ["none: everyone sees everything"]


def _facts(bench: Bench) -> list[str]:
    """Every kind of fact with its sentence as a spectator reads it, the first time that it happens."""
    teller = bench.game.teller(None, NAMES)
    sentences: dict[str, str] = {}
    kinds = facts_of(bench.game)
    for playout in bench.playouts():
        for happened in story(playout.tables[-1]) if playout.tables else ():
            name = type(happened).__name__
            if not sentences.get(name):
                sentences[name] = "silent" if happened.silent else teller.tell(seen(happened, SPECTATOR)) or ""
        if all(map(sentences.get, kinds)):
            break
    return [f"{name}: {sentences.get(name) or 'never told to a spectator in the games seen'}" for name in kinds]


def _verbs(bench: Bench) -> set[str]:
    positions = (playout.tables[at].position for playout, at in bench.positions(1))
    return {act.verb for position in positions for decision in position.asks().values() for act in decision.acts}


def _options(game: Game[Any]) -> list[str]:
    lines = [
        f"{option.name}: {option.default} as a rule; tried with {', '.join(map(str, values_of(option)))}"
        for option in game.options
    ]
    return lines or ["none"]


def _combinations(bench: Bench) -> Iterator[str]:
    """How far the sets of options go, as one line."""
    game = bench.game
    low, high = game.seats
    ways = {seats: combined(game, seats) for seats in range(low, high + 1)}
    if not game.options:
        return
    if not bench.thorough:
        yield f"{1 + len(option_sets(game))} of {sum(ways.values())} combinations played, with every pair of values in them"
        return
    for seats, many in ways.items():
        played = many if many <= MOST_COMBINED else 1 + sum(n == seats for n, _ in option_sets(game, thorough=True))
        pairs = "" if many == played else ", with every pair of values in them"
        yield f"{seats} players: {played} of {many} combinations played{pairs}"


def _longest(bench: Bench) -> list[str]:
    """The playout that came nearest to its bound."""
    whole = [playout for playout in bench.playouts() if playout.whole()]
    if not whole:
        return ["no game came to its end"]
    seen, bound, plan = max(
        (
            (
                len(playout.tables[-1].log),
                bench.game.longest(playout.plan.seats, playout.tables[0].options),
                playout.plan,
            )
            for playout in whole
        ),
        key=lambda found: found[0] / found[1],
    )
    return [f"{seen} entries where longest() says {bound} at most ({plan})"]


def _turn(bench: Bench) -> Iterator[str]:
    """What a player reads whose turn it is in the middle of a game."""
    playout = next((playout for playout in bench.playouts() if playout.whole() and playout.moves), None)
    if playout is None:
        return
    table, since = _middle(playout)
    seat, decision = next(iter(table.position.open().items()))
    teller = bench.game.teller(seat, NAMES[: table.position.seats])
    yield _RULE
    yield from wrap(f"Subject: {bench.game.title}, turn {table.position.turn}: {teller(decision.prompt)}", WIDTH)
    yield ""
    for sentence in filter(None, map(teller.tell, table.told(seat, since))):
        yield from wrap(sentence, WIDTH)
    yield ""
    yield from plain(bench.game.board(table.view(seat), seat), teller).splitlines()
    yield from _choices(decision)
    yield _RULE


def _middle(playout: Playout) -> tuple[Table, int]:
    """The table half way through, and the entry with which the last round of choices began."""
    at = len(playout.moves) // 2
    return playout.tables[at], len(playout.tables[max(at - playout.plan.seats, 0)].log)


def _choices(decision: Decision) -> Iterator[str]:
    yield ""
    yield "You can write"
    for line in (*grammar.usages(decision), *orders.offered(decision)):
        yield from wrap(line, WIDTH, "  ", "    ")
    yield from wrap(f"If you miss the deadline: {grammar.write(decision, decision.default)}", WIDTH)
