"""What the pages for organisers tell to write into files works as it stands there, and lets no token into a log."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from email import message_from_bytes
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from pbem import paths
from pbem.config import read
from pbem.domain.outage import SETTLING_TIME
from pbem.web import security
from tests.ports import free_port

Tool = Callable[[str], str]

TOKEN = "am234567abcdefghijklmnopqrstuvwxy"
CERTIFICATE = Path(__file__).parents[1] / "mail" / "localhost.pem"
PAGES = ("small-machine", "several-machines")


def files(page: str) -> dict[str, str]:
    """The files that a page says to write, by their names."""
    text = (paths.handbook() / f"{page}.md").read_text(encoding="utf-8")
    return dict(re.findall(r"```\w+\n# (/\S+)\n(.*?)```", text, re.DOTALL))


def with_what_is_here(text: str, changes: Mapping[str, str]) -> str:
    """A file with the places of this machine; each of the places has to be in it."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_web_server_in_front_lets_the_largest_file_through_that_a_page_takes() -> None:
    caps = re.findall(r"(?:client_max_body_size|max_size) (\d+)MB?", "\n".join(files("small-machine").values()), re.I)
    assert [int(each) * 10**6 >= security.MOST_UPLOADED for each in caps] == [True, True]


@pytest.mark.parametrize("page", PAGES)
def test_the_settings_of_the_page_can_be_used(page: str, tmp_path: Path) -> None:
    secrets = {
        "smtp-password": "secret",
        "database-url": "postgresql://pbem:secret@db.example.org/pbem",
        "keys": f"a {'2026-11-21'} {'00' * 40}",
    }
    text = files(page)["/etc/pbem/pbem.toml"]
    for name, secret in secrets.items():
        (tmp_path / name).write_text(secret)
        text = text.replace(f"/etc/pbem/{name}", str(tmp_path / name))
    settings = tmp_path / "pbem.toml"
    settings.write_text(text.replace("keys_file = ", "# keys_file = "))
    config = read({"PBEM_CONFIG": str(settings)})
    assert config.base_url == "https://games.example.org"
    assert config.smtp is not None
    assert config.smtp.password == "secret"
    assert config.database_url.startswith("postgresql:" if page == "several-machines" else "sqlite:")
    assert not config.development


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize("page", PAGES)
def test_systemd_takes_the_units_of_the_page(page: str, tmp_path: Path, tool: Tool) -> None:
    units = {path: text for path, text in files(page).items() if path.startswith("/etc/systemd/")}
    assert len(units) >= 2
    for path, text in units.items():
        # The folder of this checkout may have spaces in its name.
        programs = str(Path(sys.executable).parent).replace(" ", r"\x20")
        here = text.replace("/srv/pbem/venv/bin/", f"{programs}/")
        (tmp_path / Path(path).name).write_text(here)
    written = sorted(map(str, tmp_path.iterdir()))
    checked = subprocess.run(
        [tool("systemd-analyze"), "verify", "--man=no", *written], capture_output=True, text=True, check=False
    )
    # It only warns of a name that it does not know.
    assert (checked.returncode, checked.stderr) == (0, "")


@contextmanager
def running(*command: str, folder: Path) -> Iterator[None]:
    """A program that stays until the end of the block; what it says goes into a file."""
    with (folder / "said").open("w") as output:
        environ = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=environ)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def asked(port: int, path: str) -> int:
    """The status with which a program on this machine answers, as soon as it listens."""
    while True:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("GET", path, headers={"Host": "games.example.org", "Referer": f"http://x{path}"})
            return connection.getresponse().status
        except ConnectionRefusedError:
            continue
        finally:
            connection.close()


def everything_written(folder: Path) -> str:
    return "".join(file.read_text(errors="replace") for file in folder.rglob("*") if file.is_file())


def nginx_of_the_page(folder: Path, port: int, behind: int, tool: Tool) -> tuple[str, ...]:
    """The command of nginx with the site of the page, on this port, in front of a server on another."""
    # The folder of the tests may have a space in its name, which would need quotes there.
    certificate = shutil.copy(CERTIFICATE, folder)
    logs = folder / "logs"
    logs.mkdir()
    site = with_what_is_here(
        files("small-machine")["/etc/nginx/sites-available/pbem"],
        {
            "listen 80;": f"listen 127.0.0.1:{free_port()};",
            # The same without the lock, so that this test can ask.
            "listen 443 ssl;": f"listen 127.0.0.1:{port};",
            "/etc/letsencrypt/live/games.example.org/fullchain.pem": str(certificate),
            "/etc/letsencrypt/live/games.example.org/privkey.pem": str(certificate),
            "http://127.0.0.1:8000": f"http://127.0.0.1:{behind}",
            "/var/log/nginx/": f"{logs}/",
        },
    )
    places = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    upstream = files("several-machines")["/etc/nginx/conf.d/pbem-upstream.conf"]
    config = folder / "nginx.conf"
    config.write_text(
        f"pid {folder}/pid; daemon off; master_process off; error_log {logs}/start.log;\n"
        # Debian compresses pages, unless a site says otherwise.
        f"events {{}} http {{ gzip on; {places}\n{upstream}\n{site} }}"
    )
    nginx = (tool("nginx"), "-p", str(folder), "-c", str(config), "-e", str(logs / "start.log"))
    checked = subprocess.run([*nginx, "-t", "-q"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    return nginx


def caddy_of_the_page(folder: Path, port: int, behind: int, tool: Tool) -> tuple[str, ...]:
    """The command of Caddy with the site of the page, on this port, in front of a server on another."""
    config = folder / "Caddyfile"
    config.write_text(
        with_what_is_here(
            files("small-machine")["/etc/caddy/Caddyfile"],
            {
                "{\n    log {": "{\n    admin off\n    log {",
                "games.example.org {": f"http://:{port} {{\n    bind 127.0.0.1",
                "reverse_proxy 127.0.0.1:8000": f"reverse_proxy 127.0.0.1:{behind}",
            },
        )
    )
    return tool("caddy"), "run", "--adapter", "caddyfile", "--config", str(config)


FRONTS = [
    pytest.param(nginx_of_the_page, marks=pytest.mark.needs("nginx"), id="nginx"),
    pytest.param(caddy_of_the_page, marks=pytest.mark.needs("caddy"), id="caddy"),
]


@pytest.mark.slow
@pytest.mark.needs("nginx")
def test_no_log_of_nginx_has_a_token_even_when_the_server_is_away(tmp_path: Path, tool: Tool) -> None:
    port, logs = free_port(), tmp_path / "logs"
    with running(*nginx_of_the_page(tmp_path, port, free_port(), tool), folder=logs):
        assert asked(port, f"/m/{TOKEN}/bid-7") == 502
        assert asked(port, f"/{TOKEN[:10]}?t={TOKEN}") == 502
        while asked(port, f"/m/{TOKEN}/bid-7") != 429:
            pass
    logged = everything_written(logs)
    assert re.search(r" GET /m 502 ", logged)
    assert re.search(r" GET /m 429 ", logged)
    assert TOKEN not in logged


@pytest.mark.slow
@pytest.mark.needs("caddy")
def test_no_log_of_caddy_has_a_token_even_when_the_server_is_away(tmp_path: Path, tool: Tool) -> None:
    port = free_port()
    with running(*caddy_of_the_page(tmp_path, port, free_port(), tool), folder=tmp_path):
        assert asked(port, f"/m/{TOKEN}/bid-7") == 502
    logged = everything_written(tmp_path)
    assert "serving initial configuration" in logged
    assert TOKEN not in logged


class Echo(BaseHTTPRequestHandler):
    """Answers with the headers it was sent, as a page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(str(self.headers).encode())

    def log_message(self, *args: object) -> None:
        """Log nothing."""


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server behind the web server, which answers with the headers it was sent."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def answer_of(port: int, headers: dict[str, str]) -> tuple[HTTPResponse, bytes]:
    """The answer to a request with these headers, as soon as something listens, and its body."""
    asked(port, "/")
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/", headers={"Host": "games.example.org"} | headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


@pytest.mark.slow
@pytest.mark.parametrize("front", FRONTS)
def test_the_web_server_in_front_says_who_asks_whatever_the_client_claims(
    front: Callable[[Path, int, int, Tool], tuple[str, ...]], tmp_path: Path, tool: Tool, echo: int
) -> None:
    port = free_port()
    with running(*front(tmp_path, port, echo, tool), folder=tmp_path):
        claims = {"X-Forwarded-For": "192.0.2.7, 10.0.0.1", "X-Forwarded-Proto": "gopher"}
        passed_on = message_from_bytes(answer_of(port, claims)[1])
    assert passed_on.get_all("X-Forwarded-For") == ["127.0.0.1"]
    assert passed_on.get_all("X-Forwarded-Proto") == ["http"]
    assert passed_on["Host"] == "games.example.org"


@pytest.mark.slow
@pytest.mark.parametrize("front", FRONTS)
def test_the_web_server_in_front_compresses_no_page(
    front: Callable[[Path, int, int, Tool], tuple[str, ...]], tmp_path: Path, tool: Tool, echo: int
) -> None:
    """The size of a compressed page could give away the token in it."""
    port = free_port()
    with running(*front(tmp_path, port, echo, tool), folder=tmp_path):
        answer, body = answer_of(port, {"Accept-Encoding": "gzip, zstd, br"})
    assert len(body) > 100
    assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
    assert answer.getheader("Content-Encoding") is None


def test_postfix_delivers_replies_from_an_outage_before_anyone_is_timed_out() -> None:
    page = (paths.handbook() / "receiving-mail.md").read_text(encoding="utf-8")
    seconds = {name: int(value) for name, value in re.findall(r"^    (\w+) = (\d+)s$", page, re.MULTILINE)}
    # The queue is looked through so often, and what has waited that long by then is tried.
    latest = timedelta(seconds=seconds["maximal_backoff_time"] + seconds["queue_run_delay"])
    assert seconds["minimal_backoff_time"] <= seconds["maximal_backoff_time"]
    assert latest < SETTLING_TIME


@pytest.mark.slow
@pytest.mark.needs("nginx")
def test_nginx_answers_a_person_and_refuses_a_flood(tmp_path: Path, tool: Tool, echo: int) -> None:
    port = free_port()
    with running(*nginx_of_the_page(tmp_path, port, echo, tool), folder=tmp_path):
        assert {asked(port, "/") for _ in range(50)} == {200}
        assert 429 in {asked(port, "/") for _ in range(400)}
