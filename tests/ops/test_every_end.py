"""The files of games in which everything happened and that ended in every way: both verifiers accept them and no other."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from engine import registry
from pbem import paths
from pbem.domain import hash_chain
from pbem.domain.missed_turns import Successor
from pbem.domain.states import TableStatus
from pbem.service.archive import export
from pbem.service.people import addresses
from pbem.service.play.log import Kind
from pbem.service.play.move import Actor
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import saved_games
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring
from tests.fakes import FakeClock, SeededRandomness
from tests.ops.lifecycle import ENDS, Life, come_back, live
from tests.ops.test_verify_game import Document, hash_again, own_problems, rows_of, say
from tests.ops.verifier import VERIFIER, says
from tests.service.clock import Time
from tests.service.conftest import START
from tests.service.running_game import RunningGame

pytestmark = pytest.mark.xdist_group("every end")

NAMES = [end.__name__ for end in ENDS]


@pytest.fixture(scope="module")
def files(empty_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Document]]:
    """The file of one game after each end: it is put back before the next."""
    clock = FakeClock(START)
    store = Store(f"sqlite:///{shutil.copy(empty_sqlite, tmp_path_factory.mktemp('every end'))}")
    server = Server(store, clock, SeededRandomness(7), Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1)))

    def person(name: str) -> int:
        found = server.run(addresses.register, f"{name.lower()}@example.org", name)
        return server.run(addresses.confirm, found.id).id

    life = Life(_begun(server, [person(name) for name in ("Ann", "Ben", "Cleo")]), Time(server, clock), person)
    live(life)
    life.time.sends()
    saved = server.query(saved_games.read, life.game.id)
    found = {}
    for end in ENDS:
        end(life)
        found[end.__name__] = json.loads(export.write(server.read(export.of_game, life.game.id)))
        if end is not [*ENDS][-1]:
            life.time.sends()
            come_back(life, saved)
    yield found
    store.close()


def _begun(server: Server, people: list[int]) -> RunningGame:
    options = dict(registry.load("sorcerous-futures").short)
    settings = TableSettings("sorcerous-futures", len(people), options, "1d", successor=Successor.SUBSTITUTE)
    game_id = server.run(joining.create_table, people[0], settings).game_id
    for each in people:
        server.run(joining.join, game_id, each)
    return RunningGame(server, game_id)


@pytest.fixture
def document(files: dict[str, Document]) -> Document:
    """A file with rows of every kind."""
    return deepcopy(files["organiser_closed_it"])


def last_email(document: Document) -> str:
    """The fingerprint in the last email about a turn."""
    heads = [row["hash"] for row in document["log"] if row["kind"] in {Kind.ENTRY, Kind.UNDONE, Kind.REWOUND}]
    return heads[-1][: hash_chain.FINGERPRINT_DIGITS]


@pytest.mark.parametrize("name", NAMES)
def test_both_verifiers_accept_a_game_that_ended_so(files: dict[str, Document], name: str, tmp_path: Path) -> None:
    document = files[name]
    VERIFIER.check(document, [last_email(document)])
    assert not own_problems(document, tmp_path)


def test_everything_that_a_log_can_tell_happened(files: dict[str, Document]) -> None:
    for name, status in zip(NAMES, ENDS.values(), strict=True):
        document = files[name]
        assert document["game"]["status"] == status
        met = {row["kind"] for row in document["log"]}
        assert met == {*Kind} - ({Kind.VOIDED} if status == TableStatus.OVER else set())
    assert {row["by"] for row in files["bots_and_the_clock_played_it_out"]["log"]} >= {*Actor, "table", "organiser"}
    fates = VERIFIER.check(files[NAMES[0]], sealed(files[NAMES[0]]))
    for fate in ("was replaced in", "was taken back in", "was dropped when", "counts:", "counted until"):
        assert any(fate in each for each in fates), fate


def sealed(document: Document) -> list[str]:
    return [row["body_hash"] for row in rows_of(document, "Sealed")]


FIELDS: dict[str, Callable[[Document], object]] = {
    "seq": lambda row: row["seq"] + 1,
    "kind": lambda row: Kind.PAUSED if row["kind"] != Kind.PAUSED else Kind.RESUMED,
    "seat": lambda row: 0 if row["seat"] is None else None,
    "by": lambda row: "bot" if row["by"] != "bot" else "person",
    "at": lambda row: (datetime.fromisoformat(row["at"]) + timedelta(microseconds=1)).isoformat(),
    "rules": lambda row: row["rules"] + 1,
    "body": lambda row: row["body"].replace("{", '{"a":0,', 1),
    "nonce": lambda row: "00" * 16,
    "body_hash": lambda row: "00" * 32,
    "hash": lambda row: "00" * 32,
}
"""Another value for each field of a row."""


@pytest.mark.parametrize("kind", Kind)
def test_another_value_of_any_field_of_any_kind_of_row_is_found(document: Document, kind: Kind, tmp_path: Path) -> None:
    assert FIELDS.keys() == rows_of(document, kind)[-1].keys()
    for field, other in FIELDS.items():
        changed = deepcopy(document)
        row = rows_of(changed, kind)[-1]
        row[field] = other(row)
        found = says(changed)
        assert f"row {rows_of(document, kind)[-1]['seq']}" in found or "KeyError" in found, (field, found)
        if field == "by":
            assert own_problems(changed, tmp_path)


def set_other(field: str, _log: list[Document], row: Document) -> None:
    row[field] = FIELDS[field](row)


BOUND_BY_EMAILS = [kind for kind in Kind if kind not in {Kind.VOIDED, Kind.REVEALED}]
"""Rows after the last turn are in no fingerprint of an email about one."""

HASHED = FIELDS.keys() - {"seq", "body_hash", "hash"}


@pytest.mark.parametrize("kind", BOUND_BY_EMAILS)
def test_a_forger_of_all_hashes_is_found_by_the_fingerprint_in_an_email(document: Document, kind: Kind) -> None:
    printed = last_email(document)

    def forged(change: Callable[[list[Document], Document], object]) -> str:
        forgery = deepcopy(document)
        change(forgery["log"], rows_of(forgery, kind)[0])
        hash_again(forgery)
        return says(forgery, printed)

    for field in sorted(HASHED):
        assert forged(partial(set_other, field)), field
    assert forged(lambda log, row: log.remove(row)), "left out"
    assert forged(lambda log, row: log.insert(log.index(row), dict(row))), "added"


def exchange_choices(entry: Document) -> None:
    (mine, its), (yours, others), *rest = entry["choices"]
    entry["choices"] = [[mine, others], [yours, its], *rest]


OF_BODIES: dict[Kind, dict[str, Callable[[Document], object]]] = {
    Kind.BEGAN: {
        "kind": lambda body: body.update(kind="bid"),
        "seats": lambda body: body.update(seats=4),
        "options": lambda body: body["options"].update(x=1),
        "commitment": lambda body: body.update(commitment="00" * 32),
        "words": lambda body: body["words"].append("x"),
        "seating": lambda body: body["seating"].reverse(),
    },
    Kind.ENTRY: {
        "turn": lambda body: body.update(turn=body["turn"] + 1),
        "entry.choices": lambda body: exchange_choices(body["entry"]),
        "entry.alone": lambda body: body["entry"]["alone"].append(body["entry"]["choices"][0][0]),
        "entry.drawn": lambda body: body["entry"]["drawn"].append([2**60, 0]),
        "sealed": lambda body: body["sealed"].pop(),
        "all_sealed": lambda body: body.update(all_sealed="00" * 32),
    },
    Kind.SEALED: {
        "game": lambda body: body.update(game="x"),
        "turn": lambda body: body.update(turn=body["turn"] + 1),
        "seat": lambda body: body.update(seat=body["seat"] + 1),
        "choice": lambda body: body.update(choice={}),
    },
    Kind.WITHDRAWN: {"turn": lambda body: body.update(turn=body["turn"] + 1)},
    Kind.UNDONE: {
        "from": lambda body: body.update({"from": body["from"] - 1}),
        "all_sealed": lambda body: body.update(all_sealed="00" * 32),
    },
    Kind.REWOUND: {
        "from": lambda body: body.update({"from": body["from"] + 2}),
        "turn": lambda body: body.update(turn=body["turn"] + 1),
        "all_sealed": lambda body: body.update(all_sealed="00" * 32),
    },
    Kind.VOIDED: {"all_sealed": lambda body: body.update(all_sealed="00" * 32)},
    Kind.REDACTED: {"line": lambda body: body.update(line=1)},
    Kind.REVEALED: {"secret": lambda body: body.update(secret="00" * 32)},
}
"""Another value for each field that the page on the file names. Why a game was ended binds nobody."""


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind, fields in OF_BODIES.items() for field in fields])
def test_a_forger_of_all_hashes_is_found_by_what_bodies_bind(document: Document, kind: Kind, field: str) -> None:
    row = next(row for row in rows_of(document, kind) if kind != Kind.ENTRY or "sealed" in json.loads(row["body"]))
    say(row, OF_BODIES[kind][field])
    hash_again(document)
    assert says(document)


def test_every_field_of_a_body_that_the_page_names_is_forged() -> None:
    page = (paths.handbook() / "game-file.md").read_text(encoding="utf-8")
    named = {
        kind: set(re.findall(r"`([\w.]+)`", says)) for kind, says in re.findall(r"(?m)^\| `([A-Z]\w+)` \| (.*)$", page)
    }
    # Without it a log is one of an earlier release, unless its choices name their game; the rules alone can check facts.
    named["Began"].remove("fingerprints")
    named["Entry"].remove("entry.facts")
    named["Voided"].remove("why")
    assert named == {kind: {*fields} for kind, fields in OF_BODIES.items()}
