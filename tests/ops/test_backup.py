"""A server saved, brought back and moved: everything arrives and verifies, or nothing stays."""

import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, text

from engine import registry
from pbem import paths
from pbem.clock import SystemRandomness
from pbem.config import read, save_keys
from pbem.config.settings import Config
from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Fault, Forbidden, Gone, NotFound
from pbem.ops import backup
from pbem.ops.process_lock import alone
from pbem.ops.setup import make_ready, open_server, remember_keys
from pbem.ops.verify import games_to_verify, verify_games
from pbem.service import links
from pbem.service.desk import audit
from pbem.service.outgoing import deliver
from pbem.service.people import addresses, sessions
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import database_copy, migrations
from pbem.store.database import Store
from pbem.store.links import LinkKey, LinkRow
from pbem.store.schema import LINK, METADATA
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.fakes import FakeClock
from tests.mail.sink import Sink
from tests.migrations.filled import fill, rows
from tests.service.actors import ROOT
from tests.service.conftest import postgresql_database
from tests.service.outgoing.test_deliver import post_to
from tests.service.running_game import RunningGame

Table = Callable[..., RunningGame]

LOST = "There is nothing at this address"
"""What players read behind a link that was lost."""

Back = Callable[[Config, Store, Path], AbstractContextManager[Callable[[], str]]]

pytestmark = pytest.mark.slow


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database made by the steps, because that is what is saved and moved: SQLite unless a test says otherwise."""
    if getattr(request, "param", "sqlite") == "postgresql":
        with postgresql_database() as url:
            yield migrated(url)
    else:
        yield migrated(f"sqlite:///{tmp_path}/source.sqlite3")


both = pytest.mark.parametrize(
    "database_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


def migrated(url: str) -> str:
    store = Store(url)
    migrations.upgrade(store)
    store.close()
    return url


@pytest.fixture
def config(folder: Path, database_url: str) -> Config:
    """The settings of a server on that database, with keys."""
    return make_ready(read({"PBEM_DATABASE_URL": database_url}))


@pytest.fixture
def games_there(config: Config, table: Table) -> list[RunningGame]:
    """Games of all kinds in their middles, and one that is over."""
    begun = [table(kind, registry.load(kind).seats[0], bots=("random",)) for kind in registry.names()]
    for each in begun:
        for _, _receipt in zip(range(5), each.play_defaults(), strict=False):
            pass
    over = table("bid", 3)
    for _ in over.play_defaults():
        pass
    return [*begun, over]


def everything(url: str) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables."""
    store = Store(url)
    try:
        with store.read() as tx:
            return {
                table.name: [
                    dict(row._mapping) for row in tx.execute(table.select().order_by(*table.primary_key.columns))
                ]
                for table in METADATA.sorted_tables
            }
    finally:
        store.close()


def sound(url: str) -> int:
    """How many games verify; all have to."""
    store = Store(url)
    try:
        reports = list(verify_games(store, games_to_verify(store)[0]))
    finally:
        store.close()
    assert [wrong for report in reports for wrong in report.problems] == []
    return len(reports)


@both
def test_a_backup_has_everything_and_is_restored_with_its_keys(
    games_there: list[RunningGame], config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup"
    saved = backup.backup(config, file, with_keys=True)
    assert saved.games == len(games_there)
    assert {each.name for each in tmp_path.glob("backup*")} == {"backup", "backup.keys"}
    assert [stat.S_IMODE(each.stat().st_mode) for each in tmp_path.glob("backup*")] == [0o600, 0o600]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    fresh = read({})
    restored = backup.restore(fresh, file)
    assert (restored.games, restored.rows, restored.with_keys) == (saved.games, saved.rows, True)
    assert everything(fresh.database_url) == everything(config.database_url)
    assert sound(fresh.database_url) == len(games_there)
    assert read({}).keys == config.keys


# Ways back to an earlier moment. Each yields what goes back there, and returns the database that there is then.


@contextmanager
def by_restoring(config: Config, _store: Store, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """A backup, into a database of the other kind."""
    file = tmp_path / "backup"
    backup.backup(config, file, with_keys=False)
    on_sqlite = Store.file_of(config.database_url) is not None
    with postgresql_database() if on_sqlite else nullcontext(f"sqlite:///{tmp_path}/restored.sqlite3") as url:

        def go_back() -> str:
            backup.restore(read({"PBEM_DATABASE_URL": url}), file)
            return url

        yield go_back


@contextmanager
def by_other_tools(config: Config, store: Store, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """PostgreSQL's own, or those of a machine: this server hears nothing of it."""
    # Nobody may use what is copied, and closing the last connection writes everything into the file.
    store.engine.dispose()
    if (file := Store.file_of(config.database_url)) is not None:
        copied = shutil.copy(file, tmp_path / "rolled-back.sqlite3")
        yield lambda: f"sqlite:///{copied}"
        return
    with postgresql_database(make_url(config.database_url).database or "") as url:
        yield lambda: url


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("database_url", "back"),
    [("sqlite", by_restoring), ("sqlite", by_other_tools), ("postgresql", by_other_tools)],
    indirect=["database_url"],
)
def test_an_email_sent_after_the_backup_opens_nothing_on_the_restored_server(
    config: Config, table: Table, server: Server, clock: FakeClock, sink: Sink, tmp_path: Path, back: Back
) -> None:
    table("sunset-poker", 3)
    with back(config, server.store, tmp_path) as go_back:
        first = _an_evening(server, clock, sink, ("Tom", "Uma", "Vic"))
        with closing(Store(go_back())) as store:
            restored = replace(server, store=store, randomness=SystemRandomness())
            second = _an_evening(restored, clock, sink, ("Yan", "Xenia", "Zoe"))
            # The same row numbers, for the same purposes, of other people.
            common = first.links.keys() & second.links.keys()
            assert {Purpose.MOVE, Purpose.SEAT, Purpose.REPLY, Purpose.STOP, Purpose.BOUNCE} <= {
                purpose for purpose, _ in common
            }
            for purpose, row in common:
                with pytest.raises(NotFound, match=LOST):
                    restored.read(links.follow, first.links[purpose, row], purpose)
                assert restored.read(links.follow, second.links[purpose, row], purpose).id == row
    assert f"A link in a later one says “{LOST}”" in (paths.handbook() / "small-machine.md").read_text(encoding="utf-8")
    assert first.message_ids
    assert first.message_ids.isdisjoint(second.message_ids)


@pytest.mark.postgresql
def test_a_restore_ends_sessions_and_links_that_sign_in_or_consent(
    config: Config, server: Server, table: Table, tmp_path: Path
) -> None:
    person_id = table("sunset-poker", 3).person_at(0)
    secret = server.run(sessions.start, Holder(person_id=person_id), "Firefox")
    tokens = {}
    for purpose in (Purpose.SIGN_IN, Purpose.YES, Purpose.STOP):
        key = LinkKey(purpose, person_id)
        tokens[purpose] = server.run(links.make_token, key)
        server.read(links.follow, tokens[purpose], purpose)
    with by_restoring(config, server.store, tmp_path) as go_back, closing(Store(go_back())) as store:
        restored = replace(server, store=store)
        for purpose in (Purpose.SIGN_IN, Purpose.YES):
            with pytest.raises((NotFound, Gone)):
                restored.read(links.follow, tokens[purpose], purpose)
        restored.read(links.follow, tokens[Purpose.STOP], Purpose.STOP)
        assert restored.read(sessions.find, secret) is None
        fresh = restored.run(sessions.start, Holder(person_id=person_id), "Firefox")
        assert restored.read(sessions.find, fresh) is not None
    assert server.read(sessions.find, secret) is not None


@dataclass(frozen=True)
class _Evening:
    """What left a server: the token of each purpose and row, and the Message-IDs."""

    links: dict[tuple[Purpose, int], str]
    message_ids: set[str]


def _an_evening(server: Server, clock: FakeClock, sink: Sink, names: tuple[str, ...]) -> _Evening:
    """Let people begin a game, and send them their emails."""
    people = [server.run(addresses.register, f"{name}@example.org", name) for name in names]
    for person in people:
        server.run(addresses.confirm, person.id)
    game_id = server.run(joining.create_table, people[0].id, TableSettings("sunset-poker", 3, {}, "1d")).game_id
    for person in people:
        server.run(joining.join, game_id, person.id)
    before = len(sink.emails)
    clock.advance(timedelta(hours=1))
    deliver.deliver(server, post_to(sink), limit=100)
    with server.store.read() as tx:
        rows = [LinkRow(**row._mapping) for row in tx.execute(LINK.select())]
    tokens = {
        (Purpose(row.purpose), row.id): links.token(server, row) for row in rows if row.game_id in (None, game_id)
    }
    return _Evening(tokens, {str(email.message["message-id"]) for email in sink.emails[before:]})


def test_a_backup_taken_while_moves_are_made_is_a_server_of_one_moment(
    config: Config, table: Table, server: Server, tmp_path: Path
) -> None:
    tables = [table("sunset-poker", 3) for _ in range(3)]
    stop, moves = threading.Event(), [0]

    def play_on() -> None:
        while not stop.is_set():
            for begun in tables:
                asked = begun.asked()
                if asked and not stop.is_set():
                    seat, decision = next(iter(asked.items()))
                    begun.play(seat, decision.default)
                    moves[0] += 1

    player = threading.Thread(target=play_on)
    player.start()
    try:
        files = [tmp_path / f"backup-{number}" for number in range(4)]
        before = moves[0]
        for file in files:
            while moves[0] == before and player.is_alive():
                pass
            before = moves[0]
            backup.backup(config, file, with_keys=False)
    finally:
        stop.set()
        player.join()
    lengths = []
    for number, file in enumerate(files):
        target = read({"PBEM_DATABASE_URL": f"sqlite:///{tmp_path}/restored-{number}.sqlite3"})
        backup.restore(target, file)
        assert sound(target.database_url) == len(tables)
        lengths.append(len(everything(target.database_url)["log"]))
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_a_backup_overwrites_nothing(config: Config, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    for name in ("backup", "backup.keys"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(BadInput, match="already exists"):
            backup.backup(config, file, with_keys=True)
        assert (tmp_path / name).read_text() == "mine"
        (tmp_path / name).unlink()


@both
def test_a_game_that_does_not_verify_is_told_when_it_is_saved(
    games_there: list[RunningGame], config: Config, server: Server, tmp_path: Path
) -> None:
    server.store.write(lambda tx: tx.execute(text("UPDATE game SET state = '{}' WHERE id = 3")))
    with pytest.raises(Fault, match="Game 3 does not verify"):
        backup.backup(config, tmp_path / "backup", with_keys=True)
    assert list(tmp_path.glob("backup*")) == []


@both
def test_an_audit_that_was_altered_is_told_when_it_is_saved(
    games_there: list[RunningGame], config: Config, server: Server, tmp_path: Path
) -> None:
    server.store.write(lambda tx: audit.record(tx, server, ROOT, Act.PAUSE, "It was asked for.", game_id=1))
    backup.backup(config, tmp_path / "backup", with_keys=False)
    server.store.write(lambda tx: tx.execute(text("UPDATE audit SET reason = 'Another.'")))
    with pytest.raises(Fault, match="The audit fails verification"):
        backup.backup(config, tmp_path / "later", with_keys=False)
    assert list(tmp_path.glob("later*")) == []


def test_a_restore_into_a_server_that_is_in_use_is_refused(
    games_there: list[RunningGame], config: Config, tmp_path: Path
) -> None:
    backup.backup(config, tmp_path / "backup", with_keys=False)
    before = everything(config.database_url)
    with pytest.raises(Forbidden, match="not empty"):
        backup.restore(config, tmp_path / "backup")
    with alone(config.database_url), pytest.raises(Forbidden, match="Another pbem is using"):
        backup.restore(config, tmp_path / "backup")
    assert everything(config.database_url) == before


def test_a_restore_does_not_mix_keys(games_there: list[RunningGame], config: Config, tmp_path: Path) -> None:
    backup.backup(config, tmp_path / "backup", with_keys=True)
    (config.data_dir / "keys").unlink()
    other = read({"PBEM_DATABASE_URL": f"sqlite:///{tmp_path}/other.sqlite3"})
    make_ready(other)
    with pytest.raises(Forbidden, match="different keys from the backup"):
        backup.restore(read({"PBEM_DATABASE_URL": other.database_url}), tmp_path / "backup")


def test_a_backup_without_keys_is_not_restored_with_those_of_another_server(
    games_there: list[RunningGame], config: Config, tmp_path: Path
) -> None:
    with open_server(config) as server:
        remember_keys(server)
    backup.backup(config, tmp_path / "backup", with_keys=False)
    other = tmp_path / "other"
    make_ready(read({"PBEM_DATA_DIR": str(other)}))
    (other / "pbem.sqlite3").unlink()
    with pytest.raises(Forbidden, match="another server's"):
        backup.restore(read({"PBEM_DATA_DIR": str(other)}), tmp_path / "backup")
    assert not (other / "pbem.sqlite3").exists()
    save_keys(other, config.keyring())
    assert backup.restore(read({"PBEM_DATA_DIR": str(other)}), tmp_path / "backup").games == len(games_there)
    with open_server(read({"PBEM_DATA_DIR": str(other)})):
        pass


def test_something_else_is_no_backup(config: Config, tmp_path: Path) -> None:
    junk = tmp_path / "junk"
    for content in (b"", b"text", b"SQLite format 3\x00" + bytes(100)):
        junk.write_bytes(content)
        with pytest.raises(BadInput, match=rf"The backup {junk} can't be used\."):
            backup.restore(read({"PBEM_DATABASE_URL": f"sqlite:///{tmp_path}/new.sqlite3"}), junk)


@pytest.mark.postgresql
def test_a_server_moves_to_postgresql_and_back_with_every_row_and_every_chain(
    games_there: list[RunningGame], config: Config, tmp_path: Path
) -> None:
    here = everything(config.database_url)
    with postgresql_database() as there:
        moved = backup.copy(config.database_url, there)
        assert moved.games == len(games_there)
        assert everything(there) == here
        assert sound(there) == len(games_there)
        back = f"sqlite:///{tmp_path}/back.sqlite3"
        assert backup.copy(there, back) == moved
    assert everything(back) == here
    assert sound(back) == len(games_there)
    assert everything(config.database_url) == here


@pytest.mark.postgresql
def test_rows_of_every_table_are_copied_and_numbers_go_on_after_them(tmp_path: Path) -> None:
    source = Store(migrated(f"sqlite:///{tmp_path}/full.sqlite3"))
    fill(source)
    with postgresql_database() as url:
        target = Store(migrated(url))
        with source.read() as reading:
            target.write(lambda writing: database_copy.copy_all(reading, writing))
        assert {name: len(found) for name, found in rows(target).items()} == {
            name: len(found) for name, found in rows(source).items()
        }
        for table in METADATA.sorted_tables:
            if table.autoincrement_column is not None:
                following = text(f"SELECT nextval(pg_get_serial_sequence('{table.name}', 'id'))")
                with target.engine.begin() as tx:
                    assert tx.execute(following).scalar_one() == 2, table.name
        target.close()
    source.close()


@pytest.mark.postgresql
def test_a_move_goes_on_where_the_server_has_moved_to(
    games_there: list[RunningGame], config: Config, server: Server
) -> None:
    from dataclasses import replace

    with postgresql_database() as there:
        backup.copy(config.database_url, there)
        store = Store(there)
        moved = RunningGame(replace(server, store=store), games_there[0].id)
        seat, decision = next(iter(moved.asked().items()))
        moved.play(seat, decision.default)
        assert moved.verifies()
        store.close()


@pytest.mark.postgresql
def test_a_game_that_does_not_verify_does_not_move_and_nothing_stays(
    games_there: list[RunningGame], config: Config, server: Server
) -> None:
    server.store.write(
        lambda tx: tx.execute(text("UPDATE log SET seat = 1 WHERE game_id = 2 AND seq = 2 AND seat IS NULL"))
    )
    with postgresql_database() as there:
        with pytest.raises(Fault, match="Game 2 does not verify"):
            backup.copy(config.database_url, there)
        store = Store(there)
        assert migrations.current(store) == migrations.EMPTY
        store.close()


def test_a_copy_never_touches_a_database_that_has_something_in_it(
    games_there: list[RunningGame], config: Config, tmp_path: Path
) -> None:
    url = migrated(f"sqlite:///{tmp_path}/full.sqlite3")
    store = Store(url)
    fill(store)
    before = rows(store)
    with pytest.raises(Forbidden, match="not empty"):
        backup.copy(config.database_url, url)
    assert rows(store) == before
    store.close()


def test_a_copy_of_a_server_that_is_running_is_refused(
    games_there: list[RunningGame], config: Config, tmp_path: Path
) -> None:
    with alone(config.database_url), pytest.raises(Forbidden, match=f"It is process {os.getpid()}"):
        backup.copy(config.database_url, f"sqlite:///{tmp_path}/new.sqlite3")


def test_a_database_is_not_copied_onto_itself(config: Config) -> None:
    with pytest.raises(BadInput, match="the same database"):
        backup.copy(config.database_url, config.database_url)


@pytest.mark.parametrize("in_the_way", ["backup", "backup.keys"])
def test_a_backup_that_fails_at_its_end_leaves_nothing(config: Config, tmp_path: Path, in_the_way: str) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()

    def begin(_what: str, _length: int) -> Callable[[int], None]:
        # A folder has the name of a file that the backup is about to write.
        (saved / in_the_way).mkdir(exist_ok=True)
        return lambda _: None

    with pytest.raises(OSError, match=in_the_way):
        backup.backup(config, saved / "backup", with_keys=True, begin=begin)
    assert [each.name for each in saved.iterdir()] == [in_the_way]


def test_a_private_file_that_cannot_be_written_whole_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        backup.write_privately(tmp_path / "keys", "half of a letter: \ud800")
    assert list(tmp_path.iterdir()) == []
