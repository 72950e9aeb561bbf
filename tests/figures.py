"""Figures that long runs measure, kept in `tests/figures.json` and shown on pages of the handbook.

A test notes a figure with `record_property("soak.killed", 12)`. Only the commands of the Makefile write what was noted, and
only if every test of the run has passed: the figures of one command are always those of one run. `bench` writes them even if an
aim was missed, because the page shows what is aimed at beside what was measured. A page has a block for a command between two
lines that no reader sees:

    [figures]: # (soak)
    [figures]: # (end)

`python -m tests.figures` fills the blocks again, after a figure got other words. Timings have no place here: a figure is a
count or a ratio, so it means the same on every machine.
"""

import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pbem import paths

FILE: Final = Path(__file__).with_name("figures.json")
PAGES: Final = ("promises", "scaling")
VARIABLE: Final = "PBEM_TEST_FIGURES"
"""Holds what was typed after `make`, as the Makefile knows it; nothing is written without it."""

UNKNOWN: Final = "not measured yet"

WITH_AIMS: Final = "bench"
"""The command whose figures have aims, and are written even if one was missed."""

Number = int | float


@dataclass(frozen=True, slots=True)
class Figure:
    """What a figure says in words, what becomes of the values that several tests note, and what is aimed at, if anything."""

    words: str
    of: Callable[[Iterable[Any]], Any] = sum
    aim: str = ""


_BY_COMMAND: Final[dict[str, dict[str, Figure]]] = {
    "soak": {
        "killed": Figure("processes killed with SIGKILL, each at a point inside its work"),
        "acknowledged": Figure("choices that a page acknowledged"),
        "lost": Figure("acknowledged choices that were lost"),
        "doubled": Figure("choices or missed turns that were counted twice"),
        "emails": Figure("emails that players received"),
        "repeated": Figure("emails that came twice because their sender was killed before it could note them"),
        "changed": Figure("emails that came twice with different bytes"),
    },
    "simulate": {
        "seeds": Figure("runs, each with its own seed"),
        "games": Figure("games played to the end"),
        "weeks": Figure("simulated weeks, all runs together"),
        "rows": Figure("rows in their logs"),
        "acknowledged": Figure("choices that a page acknowledged"),
        "emails": Figure("emails that arrived"),
        "lost connection": Figure("emails that came twice because the connection broke after the relay had taken them"),
        "crashed": Figure("emails that came twice because the worker died after the relay had taken them"),
        "restored": Figure("emails that came twice because an older backup was restored"),
        "crashes": Figure("crashes of web servers and workers"),
        "restores": Figure("restores of a backup in the middle of play"),
        "outages": Figure("outages, pauses of email, and steps of the clock"),
        "time-outs": Figure("turns that were decided because time ran out"),
    },
    "mutants": {
        "simulator": Figure("faults planted in the server"),
        "simulator found": Figure("of these, found by a simulation"),
        "kit": Figure("faults planted in the games"),
        "kit found": Figure("of these, found by the game test kit"),
    },
    "kit": {
        "games": Figure("games checked with every set of options"),
        "options": Figure("sets of options, with their number of players"),
        "playouts": Figure("games played to the end"),
        "laws": Figure("general rules checked for each game", max),
        "mutants": Figure("planted faults, all of them noticed"),
    },
    "faults": {
        "stories": Figure("scenarios, each run twice: normally, and with every call failing in turn"),
        "broken": Figure("calls to the database that were made to fail"),
        "use cases": Figure("use cases that change something, each of them broken", max),
    },
    "fuzz": {
        "doors": Figure("entry points (a kind of input, and where it's accepted)"),
        "inputs": Figure("hostile inputs tried"),
        "largest": Figure("inputs of the largest size an entry point accepts"),
        "slowest": Figure("slowest of these: processor time, as a share of a fifth of a second", max),
    },
    "twins": {
        "pairs": Figure("pairs of servers that differ in one email address"),
        "compared": Figure("pages and emails of other readers compared, byte by byte"),
    },
    "scale": {
        "turn": Figure("the bare parts of a turn, as a share of the processor time of the whole turn", min),
        "turn emails": Figure("emails of each of these turns", max),
        "times web": Figure("requests to one web server"),
        "grown web": Figure("KB by which it grew with every 1,000 of them", max),
        "times worker": Figure("simulated minutes of one worker, every tick in each"),
        "grown worker": Figure("KB by which it grew with every 1,000 of them", max),
        "games postgresql": Figure("PostgreSQL: running games", max),
        "emails postgresql": Figure("PostgreSQL: finished emails", max),
        "move postgresql": Figure(
            "PostgreSQL: a move and taking it back, as a multiple of the same among 1,000 games", max
        ),
        "email postgresql": Figure(
            "PostgreSQL: writing and sending the email of a turn, as a multiple of the same among 1,000 games", max
        ),
        "page postgresql": Figure("PostgreSQL: the page of a seat, as a multiple of the same among 1,000 games", max),
        "verify postgresql": Figure(
            "PostgreSQL: `pbem verify` of one game, as a multiple of the same among 1,000 games", max
        ),
        "ticks postgresql": Figure(
            "PostgreSQL: every tick of a worker, once, as a multiple of the same among 1,000 games", max
        ),
        "overview postgresql": Figure(
            "PostgreSQL: the overview of the desk, as a multiple of the same among 1,000 games", max
        ),
        "search postgresql": Figure(
            "PostgreSQL: a search at the desk: the worst, as a multiple of the same among 1,000 games", max
        ),
        "backup postgresql": Figure(
            "PostgreSQL: a backup, for each row, as a multiple of the same among 1,000 games", max
        ),
        "scans postgresql": Figure("PostgreSQL: large tables that one of these reads from one end to the other", max),
        "games sqlite": Figure("SQLite: running games", max),
        "emails sqlite": Figure("SQLite: finished emails", max),
        "move sqlite": Figure("SQLite: a move and taking it back, as a multiple of the same among 1,000 games", max),
        "email sqlite": Figure(
            "SQLite: writing and sending the email of a turn, as a multiple of the same among 1,000 games", max
        ),
        "page sqlite": Figure("SQLite: the page of a seat, as a multiple of the same among 1,000 games", max),
        "verify sqlite": Figure("SQLite: `pbem verify` of one game, as a multiple of the same among 1,000 games", max),
        "ticks sqlite": Figure(
            "SQLite: every tick of a worker, once, as a multiple of the same among 1,000 games", max
        ),
        "overview sqlite": Figure("SQLite: the overview of the desk, as a multiple of the same among 1,000 games", max),
        "search sqlite": Figure(
            "SQLite: a search at the desk: the worst, as a multiple of the same among 1,000 games", max
        ),
        "backup sqlite": Figure("SQLite: a backup, for each row, as a multiple of the same among 1,000 games", max),
        "scans sqlite": Figure("SQLite: large tables that one of these reads from one end to the other", max),
    },
    "community": {
        "games": Figure("PostgreSQL: finished public rated games", max),
        "people": Figure("people, with 30 seats in these on average", max),
        "busiest": Figure("games of the person who has played most", max),
        **{
            f"{what} {kind}": Figure(f"{words}: {what}{also}", max)
            for kind, words in {
                "front page": "the front page",
                "hall": "all public tables, by state and game, the first pages and later ones",
                "table": "the page of a table",
                "profile": "a profile, also of who has played most",
                "statistics": "statistics of a game",
                "tournaments": "lists of tournaments",
                "tournament": "a tournament with its standings",
                "calendar": "the calendar with the winners, its files and news",
                "groups": "a group with its tables and ratings",
                "my pages": "the pages and files of who has played most",
                "open data": "`/api/v1`, the first pages and later ones",
                "ticks": "rating or counting a game, or a hundred games of the dump",
            }.items()
            for what, also in (("statements", ", at most"), ("rows", " read, at most"))
        },
        "scans": Figure("large tables that one of these reads from one end to the other", max),
    },
    "bench": {
        "move of insert sqlite": Figure("moves a second, as a share of single inserts (SQLite)", aim="at least 0.35"),
        "move of insert postgresql": Figure(
            "moves a second, as a share of single inserts (PostgreSQL)", aim="at least 0.35"
        ),
        "move of shape sqlite": Figure(
            "moves a second, as a share of the same reads and writes without rules (SQLite)", aim="at least 0.5"
        ),
        "move of shape postgresql": Figure(
            "moves a second, as a share of the same reads and writes without rules (PostgreSQL)", aim="at least 0.5"
        ),
        "email of bare sqlite": Figure(
            "emails a second, as a share of bare templates, SMTP and commits (SQLite)", aim="at least 0.8"
        ),
        "email of bare postgresql": Figure(
            "emails a second, as a share of bare templates, SMTP and commits (PostgreSQL)", aim="at least 0.8"
        ),
        "late move": Figure(
            "a move at row 500 of a log, as a multiple of one at row 5: the worst game", max, "at most 1.1"
        ),
        "move while reviewing": Figure(
            "a move while the coach reviews a game on the same core, as a multiple of one without", aim="at most 1.1"
        ),
        "late page": Figure(
            "the page of a seat at row 500, as a multiple of that at row 50: the worst game", max, "at most 1.2"
        ),
        "first look": Figure(
            "the page of a seat, first opened after a move, as a multiple of an empty page: the worst game",
            max,
            "at most 4",
        ),
        "news of empty": Figure(
            "time to check an unchanged table for updates from 1,000 open pages, as a multiple of an empty page",
            aim="at most 1.2",
        ),
        "replay": Figure(
            "speed of replaying the slowest game, as a share of simply copying an object", min, "at least 0.3"
        ),
        "desk": Figure(
            "a page of the desk among 100,000 tables, as a multiple of that among 1,000: the worst", max, "at most 2"
        ),
        "two": Figure("moves a second with two web servers and two workers, as a multiple of those with one of each"),
        "four": Figure(
            "moves a second with four web servers and four workers, as a multiple of those with one of each"
        ),
    },
}

FIGURES: Final = {
    f"{command}.{name}": figure for command, named in _BY_COMMAND.items() for name, figure in named.items()
}
"""Every figure by its name. That begins with the command that measures it."""

COMMANDS: Final = tuple(_BY_COMMAND)


def read() -> dict[str, Any]:
    """What was measured last, by command."""
    measured: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return measured


def note(properties: Iterable[tuple[str, object]], *, passed: bool) -> None:
    """Write the figures of the command that is running, if one is and its tests have noted any; `passed`: all of them have."""
    run = os.environ.get(VARIABLE, "")
    command = run.partition(" ")[0]
    if (passed or command == WITH_AIMS) and (figures := combined(command, properties)):
        write(command, run, figures)


def combined(command: str, properties: Iterable[tuple[str, object]]) -> dict[str, Number]:
    """The figures of a command from the values noted, in the order of the page."""
    noted: dict[str, list[Any]] = defaultdict(list)
    for name, value in properties:
        if name.startswith(f"{command}."):
            noted[name].append(value)
    unknown = noted.keys() - FIGURES.keys()
    assert not unknown, f"{sorted(unknown)}: not in tests/figures.py"
    return {name: FIGURES[name].of(noted[name]) for name in FIGURES if name in noted}


def write(block_name: str, run: str, figures: Mapping[str, Number]) -> None:
    """Keep the figures of a block from a run, and show them on the pages."""
    measured = read()
    rounded = {name: round(value, 3) for name, value in figures.items()}
    measured[block_name] = {
        "run": run,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": _commit(),
        "figures": rounded,
    }
    FILE.write_text(json.dumps(measured, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    fill_pages()


def fill_pages() -> None:
    """Show the figures on their pages."""
    for name in PAGES:
        page = paths.handbook() / f"{name}.md"
        page.write_text(filled(page.read_text(encoding="utf-8"), read()), encoding="utf-8")


_BLOCK: Final = re.compile(
    r"(?<=^\[figures\]: # \()(?!end\))(\w+)\)\n.*?(?=^\[figures\]: # \(end\)$)", re.DOTALL | re.MULTILINE
)


def filled(page: str, measured: Mapping[str, Any]) -> str:
    """The text of a page with these figures in its blocks."""
    return _BLOCK.sub(lambda found: f"{found[1]})\n\n{block(found[1], measured.get(found[1]))}\n\n", page)


def block(command: str, measured: Mapping[str, Any] | None) -> str:
    """The figures of a command as a table, with what was run."""
    figures = {} if measured is None else measured["figures"]
    about = f"`make {command}`: {UNKNOWN}."
    if measured is not None:
        at = f", with the program as of commit {measured['commit']}" if measured["commit"] else ""
        about = f"`make {measured['run']}` on {measured['date']}{at}:"
    aims = command == WITH_AIMS
    rows = [
        f"| {figure.words} | {_shown(figures.get(name))} |" + (f" {figure.aim} |" if aims else "")
        for name, figure in FIGURES.items()
        if name.startswith(f"{command}.")
    ]
    head = ("| what | figure | aim |", "|---|--:|---|") if aims else ("| what | figure |", "|---|--:|")
    return "\n".join((about, "", *head, *rows))


def _shown(value: Number | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _commit() -> str:
    """The commit that last changed the program itself; empty outside a checkout."""
    program = ("engine", "pbem", "templates", "migrations", ":!pbem/handbook")
    root = Path(__file__).parent.parent
    found = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--abbrev=8", "--", *program],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip()


if __name__ == "__main__":
    fill_pages()
