"""A database file that is moved away or replaced under a running server: it confirms nothing that would be gone with the next start."""

import shutil
from pathlib import Path

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from pbem.config import read
from pbem.domain.errors import Unavailable
from pbem.ops import backup
from pbem.ops.monitoring.readiness import readiness
from pbem.ops.setup import make_ready, open_store, server_on
from pbem.service.people import addresses
from pbem.store import people
from pbem.store.database import Store
from pbem.store.database_errors import for_visitors, is_outage


@pytest.mark.parametrize("restored", [False, True])
def test_nothing_is_confirmed_once_the_file_was_moved_away(tmp_path: Path, restored: bool) -> None:
    config = make_ready(read({"PBEM_DATA_DIR": str(tmp_path / "data")}))
    file, saved = tmp_path / "data" / "pbem.sqlite3", tmp_path / "saved"
    with open_store(config) as store:
        server = server_on(store, config)
        server.run(addresses.register, "ann@example.org", "Ann")
        backup.backup(config, saved, with_keys=True)
        for each in file.parent.glob("pbem.sqlite3*"):
            each.rename(tmp_path / each.name)
        if restored:
            backup.restore(config, saved)
        with pytest.raises(OperationalError) as refused:
            server.run(addresses.register, "ben@example.org", "Ben")
        assert is_outage(refused.value)
        assert isinstance(for_visitors(refused.value), Unavailable)
        with pytest.raises(OperationalError):
            server.query(people.mailboxes)
        assert file.exists() == restored
        (wrong,) = (each for each in readiness(server, config, None) if each.what == "database")
        assert wrong.severity == "error"
        assert wrong.says.startswith("The database file was moved or replaced.")
        if not restored:
            # Put back, it's the same file, and nothing is lost.
            for each in tmp_path.glob("pbem.sqlite3*"):
                each.rename(file.parent / each.name)
            server.run(addresses.register, "ben@example.org", "Ben")


def test_nothing_is_written_once_the_file_was_moved_while_a_change_waited_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make_ready(read({"PBEM_DATA_DIR": str(tmp_path / "data")}))
    with open_store(config) as store:
        server = server_on(store, config)
        server.run(addresses.register, "ann@example.org", "Ann")
        begin = store._begin_to_write

        def begin_late(connection: Connection) -> None:
            begin(connection)
            (tmp_path / "data" / "pbem.sqlite3").rename(tmp_path / "moved")

        monkeypatch.setattr(store, "_begin_to_write", begin_late)
        with pytest.raises(OperationalError, match="moved or replaced"):
            server.run(addresses.register, "ben@example.org", "Ben")


def test_another_file_of_the_name_is_used_by_the_next_store(tmp_path: Path) -> None:
    config = make_ready(read({"PBEM_DATA_DIR": str(tmp_path / "data")}))
    file = tmp_path / "data" / "pbem.sqlite3"
    store = Store(config.database_url)
    with store.read():
        pass
    store.close()
    shutil.copy(file, tmp_path / "copy")
    (tmp_path / "copy").replace(file)
    with store.read() as tx:
        assert people.mailboxes(tx) == []
    store.close()
