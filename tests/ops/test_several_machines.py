"""The page about several machines, line by line: its commands and files on two machines, and a game played through its nginx."""

import os
import re
import shutil
import signal
import smtplib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from pbem import paths
from pbem.config import read
from pbem.ops.setup import server_on
from pbem.service.people import addresses
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store.database import Store
from tests.crash.nodes import Node
from tests.handbook.test_running import files, with_what_is_here
from tests.mail.sink import PASSWORD, USER, Sink, knows
from tests.ops.processes import Serving, environment, get, serving
from tests.ports import free_port
from tests.service.running_game import RunningGame
from tests.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgresql,
    pytest.mark.needs("nginx", "curl"),
    pytest.mark.filterwarnings("ignore:Requiring AUTH"),
]

PAGE = (paths.handbook() / "several-machines.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```\w*\n# (/\S+)\n(.*?)```", PAGE, re.DOTALL))
UNITS = ("pbem-web", "pbem-worker", "pbem-mail")
SITE = "games.example.org"


def lines(heading: str) -> str:
    """The commands of the page that begin with this comment."""
    (found,) = re.findall(rf"```sh\n# {re.escape(heading)}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


class Machine:
    """A folder that looks to the page's lines like the machine they were written for."""

    def __init__(self, root: Path, number: int, database: int, relay: int) -> None:
        self.root = root / f"machine{number}"
        self.etc, self.data, self.programs = (self.root / name for name in ("etc", "lib", "bin"))
        for each in (self.root, self.etc, self.data, self.programs):
            each.mkdir()
        self.port, self.lmtp = free_port(), free_port()
        self.admin = {"8001": free_port(), "8002": free_port()}
        self.changes = {
            "/etc/pbem/": f"{self.etc}/",
            "/var/lib/pbem": str(self.data),
            "/srv/pbem/venv/bin/": f"{self.programs}/",
            '"10.0.0.11"\nport = 8000': f'"127.0.0.1"\nport = {self.port}',
            "lmtp_port = 8024": f"lmtp_port = {self.lmtp}",
            "db.example.org:5432": f"127.0.0.1:{database}",
            # A relay on this machine, which has no name and no certificate for one.
            '"relay.example.org"': f'"127.0.0.1"\nport = {relay}\nsecurity = "none"',
            'user = "games"': f'user = "{USER}"',
        } | {f"127.0.0.1:{old}": f"127.0.0.1:{new}" for old, new in self.admin.items()}
        self._program("pbem", f'exec "{sys.executable}" -m pbem "$@"')
        self._program("gunicorn", f'exec "{sys.executable}" -m gunicorn "$@"')
        self._program("pip", f'echo "$@" >> {self.root}/installed')
        self._program("sudo", 'shift 2; exec env "$@"')
        self._program("install", 'shift 4; exec /usr/bin/install "$@"')
        self._program("systemctl", f'echo "$@" >> {self.root}/services')
        for name in ("pbem.toml", "database-url"):
            (self.etc / name).write_text(self.here(FILES[f"/etc/pbem/{name}"]))
        (self.etc / "smtp-password").write_text(PASSWORD)
        for each in self.etc.iterdir():
            each.chmod(0o400)
        self.environ = environment(
            PATH=f"{self.programs}:{os.environ['PATH']}", PBEM_MAIL_HOLD="0", WEB_CONCURRENCY="1"
        )

    def here(self, text: str) -> str:
        """Lines of the page with the places of this machine."""
        for old, new in self.changes.items():
            text = text.replace(old, new)
        return text

    def does(self, commands: str) -> str:
        """Run lines of the page; returns what they print."""
        done = subprocess.run(
            ["sh", "-e"],
            input=self.here(commands),
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def starts(self, unit: str, stack: ExitStack) -> Serving:
        """What systemd would start for a unit."""
        text = self.here(FILES[f"/etc/systemd/system/{unit}.service"])
        (command,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
        settings = dict(each.split("=", 1) for each in re.findall(r"^Environment=(.*)$", text, re.MULTILINE)[0].split())
        for name, value in settings.items():
            settings[name] = str(self.admin.get(value, value)) if name == "PBEM_WEB_ADMIN_PORT" else value
        at_once = {"PBEM_MAIL_HOLD": "0", "PBEM_MAIL_PER_DOMAIN": "0", "PBEM_MAIL_PER_SECOND": "0"}
        return stack.enter_context(serving(folder=self.data, program=command.split(), **settings, **at_once))

    def _program(self, name: str, script: str) -> None:
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)


@pytest.fixture
def database() -> Iterator[Node]:
    """A PostgreSQL as Debian installs it, and nothing in it."""
    root = Path(tempfile.mkdtemp(prefix="pbem-several-"))
    root.chmod(0o755)
    node = Node(root, "db1", {"db1": free_port()})
    try:
        node.does(f"initdb -U postgres -N -D '{node.data}'\npg_ctlcluster 17 main start")
        node.does(lines("On the database machine."))
        yield node
    finally:
        node.stop()
        shutil.rmtree(root)


@pytest.fixture
def relay() -> Iterator[Sink]:
    """A relay that wants a login."""
    with Sink(authenticator=knows, auth_require_tls=False, auth_required=True) as sink:
        yield sink


def nginx(folder: Path, machines: list[Machine], tool: Callable[[str], str]) -> tuple[int, list[str]]:
    """The port and the command of an nginx in front of the machines. Its files are in the folder."""
    port, logs = free_port(), folder / "logs"
    logs.mkdir()
    site = with_what_is_here(
        files("small-machine")["/etc/nginx/sites-available/pbem"],
        {
            "listen 80;": f"listen 127.0.0.1:{free_port()};",
            # Without the lock: nobody signs for the name here.
            "listen 443 ssl;": f"listen 127.0.0.1:{port};",
            "ssl_certificate /etc/letsencrypt/live/games.example.org/fullchain.pem;": "",
            "ssl_certificate_key /etc/letsencrypt/live/games.example.org/privkey.pem;": "",
            "proxy_pass http://127.0.0.1:8000;": "proxy_pass http://pbem;",
            "/var/log/nginx/": f"{logs}/",
            # Everyone here comes from one address.
            "rate=20r/s": "rate=10000r/s",
            "rate=2r/s": "rate=10000r/s",
        },
    )
    assert "`proxy_pass http://pbem;`" in PAGE
    upstream = FILES["/etc/nginx/conf.d/pbem-upstream.conf"]
    for number, machine in enumerate(machines, start=11):
        upstream = with_what_is_here(upstream, {f"10.0.0.{number}:8000": f"127.0.0.1:{machine.port}"})
    (folder / "pbem-upstream.conf").write_text(upstream)
    places = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    account = "user root;" if os.getuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(
        f"{account} pid {folder}/pid; daemon off; error_log {logs}/start.log;\n"
        f"events {{}} http {{ {places}\ninclude {folder}/pbem-upstream.conf;\n{site} }}"
    )
    return port, [tool("nginx"), "-p", str(folder), "-c", str(config), "-e", str(logs / "start.log")]


@contextmanager
def in_front(folder: Path, command: list[str]) -> Iterator[None]:
    """A running nginx; told to stop, since its workers outlive a main process that is killed."""
    with serving(folder=folder, program=command) as process:
        try:
            yield
        finally:
            process.stop(signal.SIGTERM)


def ask(port: int, method: str, path: str) -> int:
    """The status of an answer through nginx."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"Host": SITE, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, urlencode({"press": "yes"}) if method == "POST" else None, headers)
        return connection.getresponse().status
    except ConnectionError:
        return 0
    finally:
        connection.close()


def test_two_machines_set_up_line_by_line_play_a_game_and_one_goes_on_alone(
    tmp_path: Path, database: Node, relay: Sink, tool: Callable[[str], str]
) -> None:
    first, second = (Machine(tmp_path, number, database.ports["db1"], relay.port) for number in (1, 2))
    first.does(lines("On the first machine."))
    assert "pbem[postgresql]" in (first.root / "installed").read_text()
    (second.root / "keys").write_bytes((first.data / "keys").read_bytes())
    shown = second.does(lines("On every other machine, with the keys of the first in this folder."))
    assert shown == first.does("PBEM_CONFIG=/etc/pbem/pbem.toml /srv/pbem/venv/bin/pbem keys list")
    port, command = nginx(tmp_path, [first, second], tool)
    with ExitStack() as stack:
        started = [first.starts(unit, stack) for unit in UNITS]
        others = [second.starts(unit, stack) for unit in UNITS[:2]]
        stack.enter_context(in_front(tmp_path, command))
        for machine in (first, second):
            for admin in machine.admin.values():
                until(partial(is_ready, admin), "it is ready")
        for machine in (first, second):
            output = machine.does(lines("On each machine; the last only where email comes in."))
            assert output.count('"ready": true') == 2
            assert set(UNITS) <= set((machine.root / "services").read_text().split())
        until(lambda: ask(port, "GET", "/") == 200, "nginx answers")
        started[2].until("Accepting email by LMTP")
        with smtplib.LMTP("127.0.0.1", first.lmtp) as mail_server:
            assert mail_server.noop()[0] == 250
        game = begin(first)
        _play(game, relay, port, 3)
        # The first machine goes, and nobody notices.
        assert [process.stop() for process in started] == [0, 0, 0]
        _play(game, relay, port, 3)
        assert game.verifies()
        assert [process.stop() for process in others] == [0, 0]
        game.server.store.close()
    for process in (*started, *others):
        assert "Traceback" not in "".join(process.output)
    _restored(second)


def is_ready(port: int) -> bool:
    try:
        return get(port, "/ready")[0] == 200
    except OSError:
        return False


def begin(machine: Machine, kind: str = "sun-bid", names: tuple[str, ...] = ("ann", "ben")) -> RunningGame:
    """A game of these players that has begun."""
    config = read({"PBEM_CONFIG": str(machine.etc / "pbem.toml")})
    server = server_on(Store(config.database_url), config)
    people = [
        server.run(addresses.confirm, server.run(addresses.register, f"{name}@example.net", name).id).id
        for name in names
    ]
    game_id = server.run(joining.create_table, people[0], TableSettings(kind, len(names), {}, "1d")).game_id
    for person in people:
        server.run(joining.join, game_id, person)
    return RunningGame(server, game_id)


def _play(game: RunningGame, relay: Sink, port: int, moves: int) -> None:
    """Click on links of the newest email that asks, until so many moves more are made."""
    for _ in range(moves):
        turn = game.row().turn
        found = until(partial(_asking, relay, turn), f"a mail asks for turn {turn}")
        assert found
        path = found[0]
        assert ask(port, "GET", path) == 200
        assert ask(port, "POST", path) == 303
        assert game.row().turn > turn


def _asking(relay: Sink, turn: int) -> list[str]:
    """The paths of the links in an email that asks for a turn; none if there is none yet."""
    for email in reversed(relay.emails):
        if f", turn {turn}: " in str(email.message["Subject"]):
            return re.findall(rf"https://{SITE}(/m/[a-z2-7]{{33}}/[^\s/]+)\s", email.text)
    return []


def _restored(machine: Machine) -> None:
    """The page's backup, into PostgreSQL's stead an SQLite file, for the drill."""
    pbem = f"PBEM_CONFIG={machine.etc}/pbem.toml {machine.programs}/pbem"
    machine.does(f"{pbem} backup {machine.root}/saved")
    drill = f"PBEM_DATA_DIR={machine.root}/drill {machine.programs}/pbem"
    assert "Restored and verified 1 game" in machine.does(f"{drill} restore {machine.root}/saved\n{drill} verify")
