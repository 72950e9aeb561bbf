"""Golden games: finished games as text files, so that a change of the rules shows in review as a change of a story.

The files of a game together show every fact, every verb, every value of every listed option and every ending that a
search has found. `NAME.txt` is for people: the choices as written, and what a spectator read. `NAME.jsonl` is the stored
log. The text is made again from its choices with today's rules and compared; the log is applied as if it were years old,
and must lead to the same table.

This module must never decide what is right: read the difference before you commit remade files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from engine import codec, grammar
from engine.board import plain
from engine.chance import Stream
from engine.facts import SPECTATOR, fact, fold, seen
from engine.game import Game, Standing, facts_of
from engine.options import Listed, Number, OptionValue
from engine.table import Entry, Table, begin
from engine.tell import Teller, sentence
from engine.testing.bench import Playout, Trouble, branch, play
from engine.testing.plans import STYLES, Plan, option_sets, options_in

_LONGEST: Final = 600
"""The most choices in a golden game: nobody reads longer ones."""

_SHORT: Final = 40
_SETS: Final = 10
_ROUNDS: Final = 30
_BRANCHES: Final = 2000
"""How far the search goes: sets of options that make short games, games with each, and variations of long ones."""

_PAGE: Final = 40
"""A file more costs its reader as much as this many choices."""

Shown = frozenset[tuple[str, ...]]
"""What a game shows: `("fact", "Sold")`, `("verb", "bid")`, `("option", "lots", "1-2-3")`, `("end", ...)`."""


@fact
class Golden:
    """A game as read from its file, which is enough to play it again."""

    game: Game[Any]
    seats: int
    options: Mapping[str, OptionValue]
    seed: bytes
    choices: tuple[tuple[int, str], ...]


def check_golden(game: Game[Any], folder: Path) -> Iterator[Trouble]:
    """Every file is what today's rules tell, and together the files show everything."""
    law = "golden games"
    shown: set[tuple[str, ...]] = set()
    offered: set[tuple[str, ...]] = set()
    for path in files(game, folder):
        text = path.read_text(encoding="utf-8")
        where = f"{path.parent.name}/{path.name}"
        golden = parse(game, text)
        *before, table = replayed(golden)
        offered |= {("verb", act.verb) for t in before for d in t.position.asks().values() for act in d.acts}
        if (story := tell(table, golden.options)) != text:
            line = next(
                (new for new, old in zip(story.splitlines(), text.splitlines(), strict=False) if new != old),
                "the length",
            )
            yield Trouble(law, f"today's rules tell another story: {line.strip()}", where)
        yield from _check_log(game, path.with_suffix(".jsonl"), table)
        shown |= shows(table)
    for missing in sorted(everything(game) - shown):
        yield Trouble(law, f"no golden game shows the {' '.join(missing)}: remake them", game.slug)
    for missing in sorted(offered - shown):
        yield Trouble(law, f"“{missing[1]}” is offered in a golden game and chosen in none: remake them", game.slug)


def files(game: Game[Any], folder: Path) -> list[Path]:
    """Return the golden games of a game."""
    return sorted((folder / game.slug).glob("*.txt"))


def remake(game: Game[Any], folder: Path) -> list[Path]:
    """Search for games that show everything, and write them over the old ones."""
    chosen = search(game)
    home = folder / game.slug
    home.mkdir(parents=True, exist_ok=True)
    for old in home.iterdir():
        if old.suffix in (".txt", ".jsonl"):
            old.unlink()
    made = []
    for number, playout in enumerate(chosen, start=1):
        table, plan = playout.tables[-1], playout.plan
        path = home / f"{number:02d}-{plan.seats}-players.txt"
        path.write_text(tell(table, plan.options), encoding="utf-8")
        path.with_suffix(".jsonl").write_text(log_of(table), encoding="utf-8")
        made.append(path)
    return made


def search(game: Game[Any]) -> list[Playout]:
    """Return a few short games that together show everything that any game played here shows."""
    found = [(shows(playout.tables[-1]), playout) for playout in _candidates(game) if playout.whole()]
    everything_shown = everything(game)
    seen = {each for shown, _ in found for each in shown}
    luck = Stream(b"golden games", 0)
    roots = [playout for _, playout in found if len(playout.moves) > _SHORT] or [playout for _, playout in found]
    for number in range(_BRANCHES):
        if everything_shown <= seen:
            break
        # Rare events are mostly late ones, so the last third of some game is played differently.
        root = luck.pick(roots)
        places = len(root.tables)
        playout = branch(game, root, places - 1 - luck.below(1 + places // 3), number)
        if playout.whole():
            found.append((shows(playout.tables[-1]), playout))
            seen |= found[-1][0]
    chosen: list[Playout] = []
    while seen:
        best, playout = max(found, key=lambda pair: len(pair[0] & seen) / (_PAGE + len(pair[1].moves)))
        chosen.append(playout)
        seen -= best
    return sorted(chosen, key=lambda playout: (playout.plan.seats, len(playout.moves)))


def everything(game: Game[Any]) -> frozenset[tuple[str, ...]]:
    """Return what golden games must show at least, as far as the game declares it."""
    low, high = game.seats
    found: set[tuple[str, ...]] = {("fact", name) for name in facts_of(game)}
    found |= {("seats", str(seats)) for seats in range(low, high + 1)}
    for option in game.options:
        if isinstance(option, Listed):
            found |= {("option", option.name, value) for value in option.values}
        else:
            found.add(("option", option.name, "another number"))
    return frozenset(found)


def shows(table: Table) -> Shown:
    """Return what a table shows."""
    game, final = table.position.game, table.position.game.standing(table.position.state)
    found: set[tuple[str, ...]] = {("seats", str(table.position.seats))}
    for entry in table.log:
        found |= {("fact", type(happened).__name__) for happened in entry.facts}
        found |= {("verb", choice.verb) for choice in entry.choices.values()}
    for option in game.options:
        value = table.options[option.name]
        if isinstance(option, Number):
            found |= {("option", option.name, "another number")} if value != option.default else set()
        elif not option.seats or table.position.seats in option.seats:
            found.add(("option", option.name, str(value)))
    last = table.log[-1].facts[-1]
    ending = sentence(last)
    found.add(
        ("end", type(last).__name__, ending.template if ending else "", *(str(reason) for reason in final.reasons))
    )
    if len(final.ranking[0]) > 1:
        found.add(("end", "a shared victory"))
    return frozenset(found)


def tell(table: Table, options: Mapping[str, OptionValue]) -> str:
    """Return a finished game as text: the choices, and what a spectator read."""
    game, teller = table.position.game, table.position.game.teller()
    chosen = ", ".join(f"{name}={value}" for name, value in options.items())
    lines = [
        f"Game     {game.slug}, rules {game.version}",
        f"Players  {table.position.seats}",
        f"Options  {chosen or 'as usual'}",
        f"Seed     {table.position.seed.hex()}",
    ]
    position = replace(table.position, state=game.start(table.position.seats, table.options), turn=0, box={})
    for number, entry in enumerate(table.log):
        lines += ["", f"{number}." if entry.choices else f"{number}. The deal."]
        asks = position.asks() if entry.choices else {}
        for seat, choice in entry.choices.items():
            alone = " (the only choice)" if seat in entry.alone else ""
            lines.append(f"   {teller.name(seat)}: {grammar.write(asks[seat], choice)}{alone}")
        sentences = (teller.tell(seen(happened, SPECTATOR)) for happened in entry.facts)
        lines += [f"      {sentence}" for sentence in sentences if sentence is not None]
        position = replace(position, state=fold(position.state, entry.facts), turn=number + 1)
    lines += ["", "The end.", "", plain(game.board(table.view(SPECTATOR), SPECTATOR), teller).rstrip(), ""]
    return "\n".join([*lines, *_result(game.standing(table.position.state), teller)]) + "\n"


def log_of(table: Table) -> str:
    """Return the stored log: a line about the game, then a line for each entry."""
    position = table.position
    head = {
        "game": position.game.slug,
        "rules": position.game.version,
        "seats": position.seats,
        "options": dict(table.options),
        "seed": position.seed.hex(),
    }
    return "\n".join((json.dumps(head), *map(codec.dumps, table.log))) + "\n"


def parse(game: Game[Any], text: str) -> Golden:
    """Return the game in a text."""
    head = dict(re.findall(r"^(Players|Options|Seed) +(.*)$", text, re.MULTILINE))
    choices = tuple(
        (int(seat) - 1, written)
        for seat, written, alone in re.findall(r"^   player (\d+): (.*?)( \(the only choice\))?$", text, re.MULTILINE)
        if not alone
    )
    options = options_in(game, head["Options"])
    return Golden(game, int(head["Players"]), options, bytes.fromhex(head["Seed"]), choices)


def replayed(golden: Golden) -> list[Table]:
    """Return the tables of a golden game by today's rules, one after each choice."""
    tables = [begin(golden.game, golden.seats, golden.seed, golden.options)]
    for seat, written in golden.choices:
        tables.append(tables[-1].submit(seat, grammar.read(tables[-1].position.asks()[seat], written)))
    return tables


def _check_log(game: Game[Any], path: Path, table: Table) -> Iterator[Trouble]:
    """The facts of the stored log lead to the same table, and are the ones that today's rules give."""
    law, where = "golden games", f"{path.parent.name}/{path.name}"
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    entries: list[Entry] = []
    for line in lines:
        try:
            entries.append(codec.loads(game, line))
        except codec.Malformed as malformed:
            yield Trouble(law, str(malformed), where)
            return
    known = json.loads(head)
    state = fold(game.start(known["seats"], known["options"]), (f for entry in entries for f in entry.facts))
    if state != table.position.state:
        yield Trouble(law, "the stored log leads to another table", where)
    if tuple(entries) != table.log:
        yield Trouble(law, "the stored log is not what today's rules make of the choices", where)


def _candidates(game: Game[Any]) -> Iterator[Playout]:
    """Yield games to choose from: every set of options in every style, then many more with short games."""
    low, high = game.seats
    lengths: dict[str, list[int]] = {}
    plans: dict[str, Plan] = {}
    sets: list[tuple[int, dict[str, OptionValue]]] = [(seats, {}) for seats in range(low, high + 1)]
    for seats, options in sets + option_sets(game):
        for style in STYLES:
            plan = Plan(seats, options, style, most=_LONGEST)
            playout = play(game, plan)
            lengths.setdefault(f"{seats} {options}", []).append(len(playout.moves))
            plans[f"{seats} {options}"] = plan
            yield playout
    shortest = sorted(lengths, key=lambda name: sum(lengths[name]))[:_SETS]
    for number in range(1, _ROUNDS):
        for name in shortest:
            yield play(game, replace(plans[name], style=("any", "lazy", "edges")[number % 3], number=number))


def _result(final: Standing, teller: Teller) -> Iterator[str]:
    place = 1
    for tied in final.ranking:
        for seat in tied:
            yield f"{place}. {teller.name(seat)}, {final.scores[seat]}"
        place += len(tied)
    yield from (teller(reason) for reason in final.reasons)
