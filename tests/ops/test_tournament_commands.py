"""Tournaments from the command line: opened for a host, shown, and run in the host's place, on record."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import pytest

from pbem.config import read
from pbem.domain.conditions import Conditions
from pbem.ops.setup import open_store, server_on
from pbem.plugins import offers
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.service.tournaments import sign_up
from pbem.store import audit, tournaments
from pbem.store.schema import TournamentRow
from tests.engine.published import on_the_path, publish
from tests.ops.conftest import Run
from tests.plugins import broken

T = TypeVar("T")

CHOSEN = ("--variant", "target=60", "--in-time", "80", "--highest", "2500")
WHY = ("--reason", "Ann has asked for it.")


def here(look: Callable[[Server], T]) -> T:
    """Look at the server in this folder."""
    with open_store(read(os.environ)) as store:
        return look(server_on(store, read(os.environ)))


def people_of(server: Server) -> list[int]:
    """Ann, Ben and Cleo, who have confirmed their addresses."""
    found = []
    for name in ("Ann", "Ben", "Cleo"):
        person = server.run(addresses.find_or_add, f"{name.lower()}@example.org")
        found.append(server.run(addresses.confirm, person.id).id)
    return found


def row_of(key: str) -> TournamentRow:
    return here(lambda server: server.query(tournaments.by_key, key))


def on_record() -> list[str]:
    with open_store(read(os.environ)) as store, store.read() as tx:
        return [row.body for row in reversed(audit.newest(tx, audit.AuditFilter("tournament"), None, 50))]


@pytest.fixture
def key(pbem: Run) -> str:
    """A tournament opened by a command, with three players."""
    pbem("init")
    ann, *others = here(people_of)
    with open_store(read(os.environ)) as store:
        closes = server_on(store, read(os.environ)).now() + timedelta(days=7)
    given = (
        "tournament",
        "open",
        "sunset-poker",
        "Cup",
        "--host",
        "ann@example.org",
        "--closes",
        f"{closes:%Y-%m-%d %H:%M}",
        *WHY,
    )
    chosen = (*given, "--seeding", "hand", "--size", "3", "--advance", "1", *CHOSEN)
    assert "It could be opened." in pbem(*chosen, "--dry-run").output
    assert on_record() == []
    opened = pbem(*chosen).output
    found = opened.strip().rpartition("/")[2]

    def all_sign_up(server: Server) -> None:
        for person, name in zip((ann, *others), ("Ann", "Ben", "Cleo"), strict=True):
            server.run(sign_up.sign_up, row_id(server, found), person, name)

    here(all_sign_up)
    return found


def row_id(server: Server, key: str) -> int:
    return server.query(tournaments.by_key, key).id


def test_a_tournament_of_another_packages_game_is_opened(pbem: Run, tmp_path, monkeypatch) -> None:
    pbem("init")
    here(people_of)
    closes = here(lambda server: f"{server.now() + timedelta(days=7):%Y-%m-%d %H:%M}")
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "lanterns.py").write_text(broken.LANTERNS)

    def opened(kind: str) -> str:
        chosen = ("--host", "ann@example.org", "--closes", closes, "--size", "4", "--variant", "purse=9")
        return pbem("tournament", "open", kind, "Cup", *chosen, *WHY, "--dry-run").output

    try:
        with on_the_path(folder, monkeypatch):
            publish(folder, "paper-lamps", "lanterns = lanterns")
            offers.close()
            assert "There's no game called “lantern”." in opened("lantern")
            assert "It could be opened." in opened("lanterns")
    finally:
        offers.close()


def test_a_tournament_is_run_from_the_command_line_and_on_record(pbem: Run, key: str) -> None:
    assert "Cup" in pbem("tournament", "list").output
    opened = row_of(key)
    assert json.loads(opened.settings)["options"]["target"] == 60
    assert Conditions.of(opened.conditions) == Conditions(in_time=80, highest=2500)
    closes = opened.closes_at
    preview = pbem("tournament", "extend", key, "3", *WHY, "--dry-run").output
    assert "Sign-up ends" in preview
    assert preview.count("mail to") == 3
    assert "Nothing was changed" in preview
    assert row_of(key).closes_at == closes
    pbem("tournament", "extend", key, "3", *WHY)
    assert (row_of(key).closes_at - closes).days == 3
    assert "seed 1: Cleo" in pbem("tournament", "seed", key, "3", "1", "2", *WHY).output
    pbem("tournament", "pause", key, *WHY)
    pbem("tournament", "resume", key, *WHY)
    assert "out from the next round on: Ben" in pbem("tournament", "remove", key, "2", *WHY).output
    pbem("tournament", "invite", key, "zoe@example.org", *WHY)
    shown = pbem("tournament", "show", key).output
    assert "removed  Ben" in shown
    pbem("tournament", "call-off", key, *WHY)
    assert row_of(key).status == "called off"
    done = ("open", "extend", "seed", "pause", "resume", "remove", "invite", "call-off")
    record = on_record()
    assert len(record) == len(done)
    assert all(f'"{what}"' in body for what, body in zip(done, record, strict=True))
    assert not any("@" in body for body in record)
