"""The games in a terminal: play one, watch one, read its rules, check a new one.

python -m engine play GAME --seats 4 --me 0 --bots greedy
python -m engine watch GAME --seats 4 --seed 7
python -m engine rules GAME
python -m engine check path/to/mygame.py
python -m engine lab GAME --games 1000
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from engine import bots, game, grammar, installed, lab, orders, registry, testing
from engine.auctions import auctions, with_bids
from engine.board import WIDTH, in_words, plain
from engine.chance import Stream, seed_from
from engine.decisions import Decision, Refused
from engine.facts import SPECTATOR
from engine.options import Listed, parse_choices
from engine.table import Table, begin
from engine.tell import Teller, say
from engine.testing.reference import reference as reference_page

NAMES: Final = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")

HELP: Final = """Type one of the choices shown, or:
  board   show the table again
  log     show everything so far
  rules   read the rules
  silent  show what happens if you miss the deadline
  orders  show the possible standing orders
  quit    leave the table
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    installed.offer_all()
    parser = _parser()
    arguments = parser.parse_args(words)
    try:
        code: int = arguments.run(arguments)
    except Refused as refused:
        parser.exit(2, f"{refused}\n")
    except (EOFError, KeyboardInterrupt):
        print("\nYou leave the table.")
        return 1
    except BrokenPipeError:
        # The reader has closed the pipe; the interpreter would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def play(arguments: argparse.Namespace) -> int:
    """Play a whole game against bots."""
    table = _begin(arguments)
    if not 0 <= arguments.me < table.position.seats:
        raise Refused(say("This table has seats 0 to {last}.", last=table.position.seats - 1))
    _Sitting(table, arguments.me, bots.BOTS[arguments.bots], Stream(table.position.seed, 2**40)).play()
    return 0


def watch(arguments: argparse.Namespace) -> int:
    """Watch bots play a game: every event, then the table."""
    table = _begin(arguments)
    luck = Stream(table.position.seed, 2**40)
    teller = table.position.game.teller(None, NAMES)
    _tell(table.told(SPECTATOR), teller)
    while asks := table.asks():
        seat, decision = next((s, d) for s, d in asks.items() if s not in table.position.box)
        before = len(table.log)
        choice = bots.BOTS[arguments.bots](table.position.game, table.view(seat), decision, luck)
        table = table.submit(seat, choice)
        _tell(table.told(SPECTATOR, before), teller)
    _show_end(table, SPECTATOR, teller)
    return 0


def rules(arguments: argparse.Namespace) -> int:
    """Print the rules, examples, options and credits of a game."""
    found = _game(arguments.game)
    teller = found.teller()
    print(_page(found))
    print(f"\n{_filled(f'For {teller(found.players)}. {teller(found.length)}')}")
    if found.options:
        print("\nOptions")
    for option in found.options:
        possible = teller(option.possible())
        print(_filled(f"{option.name} ({option.default}; {possible}): {teller(option.about)}", "  "))
        if isinstance(option, Listed):
            for value, spoken in option.spoken:
                print(_filled(f"{value}: {teller(spoken)}", "    "))
    print(f"\n{_filled(teller(found.credits))}")
    return 0


def check(arguments: argparse.Namespace) -> int:
    """Run the conformance kit on one game or on all games."""
    troubles = 0
    for name in [arguments.game] if arguments.game else registry.names():
        named = arguments.game is not None
        found = testing.check(_game(name), thorough=arguments.thorough, report=print, summary=named)
        troubles += len(found)
    return 1 if troubles else 0


def study(arguments: argparse.Namespace) -> int:
    """Let bots play many games, and report who wins, how long games last, and what each choice and option does."""
    found = _game(arguments.game)
    chosen = parse_choices(found.options, arguments.option)
    seats = arguments.seats or found.seats[0]
    settled = found.settle(seats, chosen)
    plans = {"": settled, **(dict(lab.variants(found, settled)) if arguments.compare else {})}
    records: dict[str, list[lab.Record]] = {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name, options in plans.items():
            experiment = lab.Experiment(seats, options, arguments.bots, arguments.seed)
            played = pool.map(partial(_study_one, arguments.game, experiment), range(arguments.games), chunksize=4)
            records[name] = list(_with_progress(name or found.title, played, arguments.games))
    about = (
        f"{arguments.games} games of {seats} players, all of them the bot “{arguments.bots}”, seed {arguments.seed}."
    )
    about += "".join(f" {name}: {value}." for name, value in chosen.items())
    parts = list(lab.sections(records.pop(""), records))
    text = lab.as_markdown(found.title, about, parts)
    if arguments.out is None:
        print(text, end="")
        return 0
    for ending, content in ((".md", text), (".html", lab.as_page(found.title, about, parts))):
        path = Path(f"{arguments.out}{ending}")
        path.write_text(content, encoding="utf-8")
        print(path)
    return 0


def _study_one(name: str, experiment: lab.Experiment, number: int) -> lab.Record:
    """Play one game in a process of its own, which loads the game by its name."""
    return lab.play(_loaded(name), experiment, number)


def _with_progress(name: str, played: Iterable[lab.Record], many: int) -> Iterator[lab.Record]:
    """Pass the records on. On a terminal, show how many there are."""
    for number, record in enumerate(played, start=1):
        if sys.stderr.isatty():
            bar = "#" * (30 * number // many)
            print(
                f"\r{name}: [{bar:30}] {number}/{many}", end="\n" if number == many else "", file=sys.stderr, flush=True
            )
        yield record


def reference(arguments: argparse.Namespace) -> int:
    """Print the reference page of the engine."""
    print(reference_page(), end="")
    return 0


class _Sitting:
    """One person at a table of bots."""

    def __init__(self, table: Table, me: int, bot: bots.Bot, luck: Stream) -> None:
        self._table = table
        self._me = me
        self._bot = bot
        self._luck = luck
        self._game = table.position.game
        self._teller = self._game.teller(me, NAMES)
        self._shown = 0
        self._order: orders.Order | None = None

    def play(self) -> None:
        """Play until the game is over."""
        while asks := self._table.asks():
            waiting = [seat for seat in asks if seat not in self._table.position.box]
            seat = next((s for s in waiting if s != self._me), self._me)
            if seat == self._me:
                self._decide(asks[seat])
            else:
                choice = self._bot(self._game, self._table.view(seat), asks[seat], self._luck)
                self._table = self._table.submit(seat, choice)
        self._news()
        _show_end(self._table, self._me, self._teller)

    def _decide(self, decision: Decision) -> None:
        if self._order is not None and self._obey(decision):
            return
        self._news()
        self._board()
        while True:
            print(f"\n{_filled(self._teller(decision.prompt))}")
            print("\n".join(_filled(usage, "  ", "      ") for usage in grammar.usages(decision)))
            line = input("> ").strip()
            if self._command(line.casefold(), decision):
                continue
            try:
                self._table = self._table.submit(self._me, grammar.read(decision, line))
            except Refused as refused:
                if not self._leave_order(line, decision):
                    print(_filled(self._teller(refused.text)))
                    continue
            return

    def _leave_order(self, line: str, decision: Decision) -> bool:
        """Take the line as a standing order if it is one that can answer this decision."""
        try:
            self._order = orders.read_order(line, decision)
        except Refused:
            return False
        return self._obey(decision)

    def _obey(self, decision: Decision) -> bool:
        """Let the standing order answer, and say so if it has ended."""
        assert self._order is not None
        given = orders.answer(self._order, self._game, self._table.view(self._me), self._me)
        self._order = given.order
        if given.note is not None:
            print(_filled(self._teller(given.note)))
        if given.choice is None:
            return False
        print(f"By your order: {grammar.write(decision, given.choice)}")
        self._table = self._table.submit(self._me, given.choice)
        return True

    def _command(self, line: str, decision: Decision) -> bool:
        """Obey a line that is meant for the terminal. Return whether it was one."""
        match line:
            case "" | "help" | "?":
                print(HELP)
            case "board":
                self._board()
            case "rules":
                print(_page(self._game))
            case "orders":
                print("\n".join((*orders.offered(decision), *orders.usages(decision))))
            case "log":
                _tell(self._table.told(self._me), self._teller)
            case "silent":
                print(f"If you miss the deadline: {grammar.write(decision, decision.default)}")
            case "quit" | "exit":
                raise EOFError
            case _:
                return False
        return True

    def _news(self) -> None:
        print()
        _tell(self._table.told(self._me, self._shown), self._teller)
        self._shown = len(self._table.log)

    def _board(self) -> None:
        facts = ((turn, each) for turn, entry in enumerate(self._table.log) for each in entry.facts)
        board = with_bids(self._game.board(self._table.view(self._me), self._me), auctions(facts))
        print(f"\n{plain(board, self._teller)}", end="")


def _begin(arguments: argparse.Namespace) -> Table:
    found = _game(arguments.game)
    word = secrets.token_hex(4) if arguments.seed is None else str(arguments.seed)
    print(f"{found.title} (to see this game again: --seed {word})")
    seats = arguments.seats or found.seats[0]
    return begin(found, seats, seed_from(b"terminal", [word]), parse_choices(found.options, arguments.option))


def _game(name: str) -> game.Game[Any]:
    path = Path(name)
    if name.endswith(".py") or "/" in name:
        if not path.exists():
            raise Refused(say("There's no file {name}.", name=name))
        return registry.load_file(path)
    return registry.load(name)


_loaded = cache(_game)


def _tell(happened: Sequence[Any], teller: Teller) -> None:
    for each in happened:
        if (line := teller.tell(each)) is not None:
            print(_filled(line, "", "  "))


def _show_end(table: Table, seat: int, teller: Teller) -> None:
    found = table.position.game
    print(f"\n{plain(found.board(table.view(seat), seat), teller)}")
    standing = found.standing(table.position.state)
    place = 1
    for tied in standing.ranking:
        players = teller(say("{seats:seats}", seats=tied))
        print(f"{place}. {players[:1].upper()}{players[1:]}, {standing.scores[tied[0]]}")
        place += len(tied)
    for reason in standing.reasons:
        print(teller(reason))


def _page(found: game.Game[Any]) -> str:
    """Return the rules page, as wide as the boards."""
    passages = [_filled(" ".join(paragraph.split())) for paragraph in found.rules.split("\n\n")]
    return "\n\n".join([*passages, *("\n".join(in_words(each, found.teller())) for each in found.examples)])


def _filled(text: str, first: str = "", rest: str | None = None) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=first if rest is None else rest, break_on_hyphens=False
    )


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise ValueError(word)
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m engine", description="The games in a terminal.")
    commands = parser.add_subparsers(required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.set_defaults(run=run)
        return added

    for name, run, about in (
        ("play", play, "Play a whole game against bots."),
        ("watch", watch, "Watch bots play a game."),
    ):
        table = command(name, run, about)
        table.add_argument("game", help=f"one of {', '.join(registry.names())}, or a path to a module or package")
        table.add_argument("--seats", type=int, help="how many players (default: the fewest)")
        table.add_argument("--seed", help="a word that decides the chance: the same word gives the same game")
        table.add_argument("--bots", choices=sorted(bots.BOTS), default="greedy", help="who plays the other seats")
        table.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a variant")
        if name == "play":
            table.add_argument("--me", type=int, default=0, help="your seat, counted from 0")
    command("rules", rules, "Print the rules page of a game.").add_argument("game")
    checking = command("check", check, "Check that a game keeps every law of the kit.")
    checking.add_argument("game", nargs="?", help="a game, or a path to a module or package (default: all games)")
    checking.add_argument("--thorough", action="store_true", help="every set of options at every number of players")
    study_of = command("lab", study, "Let bots play many games, and report on seats, length, choices and options.")
    study_of.add_argument("game", help="a game, or a path to a module or package")
    study_of.add_argument("--seats", type=int, help="how many players (default: the fewest)")
    study_of.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a variant")
    study_of.add_argument("--compare", action="store_true", help="also play each other value of each option")
    study_of.add_argument("--bots", choices=sorted(bots.BOTS), default="greedy", help="who plays all seats")
    study_of.add_argument("--games", type=_positive, default=1000, help="how many games (default: 1000)")
    study_of.add_argument("--processes", type=_positive, default=2, help="how many at once (default: 2)")
    study_of.add_argument("--seed", default="1", help="a word that decides the chance: the same word, the same report")
    study_of.add_argument("--out", metavar="NAME", help="write NAME.md and NAME.html, with charts")
    command("reference", reference, "Print the reference page of the engine, in Markdown.")
    return parser


if __name__ == "__main__":
    sys.exit(main())
