"""Releases whose rules are not those that games were played by, and a server whose games are replayed."""

import json
from collections.abc import Callable
from dataclasses import fields, make_dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import Result
from sqlalchemy import text

from engine import codec, game, registry, table as engine_table
from engine.bots import random_bot
from engine.chance import Stream
from engine.decisions import Act, Choice, Decision, OneOf
from pbem.config import read
from pbem.config.settings import Config
from pbem.ops import doctor, replay, replay_gate
from pbem.service.archive import check_log
from pbem.service.clocks import stopped_tables
from pbem.service.tables import leaving
from pbem.store import games, migrations
from pbem.store.database import Store
from tests.service.running_game import RunningGame

Table = Callable[..., RunningGame]
Replay = Callable[..., Result]
KINDS = registry.names()
SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For what no database could make a difference to."""
SCORES = "the scores or ranks differ from those that were shown"


def stamped(store: Store) -> None:
    """Say that the database is at the newest step, as a server's is."""

    def stamp(tx: Any) -> None:
        tx.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        tx.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": migrations.head()})

    store.write(stamp)


def played(begun: RunningGame, moves: int) -> RunningGame:
    """The game after some moves of people who choose at random."""
    luck = Stream(b"replayed", begun.id)
    for _ in range(moves):
        asked = begun.asked()
        if not asked:
            break
        seat, decision = next(iter(asked.items()))
        begun.play(seat, random_bot(registry.load(begun.row().kind), begun.view(seat), decision, luck))
    return begun


@pytest.fixture
def config(store: Store, tmp_path: Path) -> Config:
    """The settings of a server on this database."""
    stamped(store)
    url = store.url.render_as_string(hide_password=False)
    return read({"PBEM_DATA_DIR": str(tmp_path / "data"), "PBEM_DATABASE_URL": url})


@pytest.fixture
def replayed(pbem: Callable[..., Result], config: Config) -> Replay:
    """Run a command on this database."""
    return lambda *words: pbem(*words, PBEM_DATABASE_URL=config.database_url)


def found(result: Result) -> dict[int, list[str]]:
    """The parts that differ, by game."""
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return {line["game"]: [each["what"] for each in line["differences"]] for line in lines if line.get("differences")}


def ended(begun: RunningGame) -> RunningGame:
    """The game after all have agreed to end it without a result."""
    for seat in range(begun.row().seats):
        begun.server.run(leaving.agree_to_end, begun.id, begun.person_at(seat))
    assert begun.row().status == "void"
    return begun


def stopped(begun: RunningGame) -> None:
    """The game after an organiser has stopped it."""

    def stop(tx: Any, server: Any) -> None:
        stopped_tables.freeze(tx, server, games.lock(tx, begun.id), "organiser", "Someone looks at it.")

    begun.server.run(stop)


def of_another_release(monkeypatch: pytest.MonkeyPatch, name: str = "another") -> None:
    """Let the code at hand have other names than the code that made the recordings."""
    named = {kind: f"{name} {kind}" for kind in KINDS}
    for module in (replay, replay_gate, doctor):
        monkeypatch.setattr(module, "codes", lambda _config: named)


def fewer_choices(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A choice that is no default is offered no more."""
    rules = type(registry.load(kind))
    asks = rules.asks

    def without(act: Act, default: Choice) -> Act | None:
        for number, blank in enumerate(act.blanks):
            things = getattr(blank, "things", ())
            if isinstance(blank, OneOf) and len(things) > 1:
                rest = [thing for thing in things if thing.value not in default.values]
                smaller = replace(blank, things=tuple(thing for thing in things if thing is not rest[-1]))
                return replace(act, blanks=(*act.blanks[:number], smaller, *act.blanks[number + 1 :]))
        return None if act.verb != default.verb else act

    def fewer(self: Any, view: Any, seat: int) -> Decision | None:
        decision: Decision | None = asks(self, view, seat)
        if decision is None:
            return None
        last = without(decision.acts[-1], decision.default)
        return replace(decision, acts=decision.acts[:-1] + ((last,) if last is not None else ()))

    monkeypatch.setattr(rules, "asks", fewer)


def blind_spectator(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The spectator is not told the last fact of an entry."""
    watch = engine_table.watch

    def watched(views: tuple[Any, ...], happened: Any) -> tuple[Any, ...]:
        happened = tuple(happened)
        return (*watch(views, happened)[:-1], watch(views, happened[:-1])[-1])

    monkeypatch.setattr(check_log, "watch", watched)


def score_off_by_one(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The first seat has a point more than it had."""
    rules = type(registry.load(kind))
    standing = rules.standing

    def off(self: Any, state: Any) -> Any:
        right = standing(self, state)
        return replace(right, scores=(right.scores[0] + 1, *right.scores[1:]))

    monkeypatch.setattr(rules, "standing", off)


def renamed_field(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A field of every kind of fact has another name."""
    rules = registry.load(kind)
    kinds = dict(game.kinds_of(rules))
    for name, fact in game.facts_of(rules).items():
        renamed = [f"new_{field.name}" for field in fields(cast("Any", fact))] or ["new"]
        kinds[name] = make_dataclass(name, [(each, object) for each in renamed])
    monkeypatch.setattr(codec, "_decoder", lambda _game: codec.decoder(kinds | codec._EVERYWHERE))


def other_draws(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A number is drawn before all others of an entry."""
    rules = type(registry.load(kind))
    setup = rules.setup

    def drawing(self: Any, state: Any, draw: Any) -> Any:
        draw.below(6)
        return setup(self, state, draw)

    monkeypatch.setattr(rules, "setup", drawing)
