"""IPv6 numbers as addresses to listen on, with and without brackets: pages, email by LMTP, the admin port, links, logs, doctor."""

import json
import smtplib
import sys
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import pytest

from pbem import sockets
from pbem.config import read
from tests.ops.processes import run, serving
from tests.ports import free_port
from tests.service.conftest import postgresql_database
from tests.waiting import until

GUNICORN = (sys.executable, "-m", "gunicorn", "--config", "python:pbem.ops.gunicorn")


def settings(host: str) -> dict[str, str]:
    """A server that listens there on all its ports."""
    port, admin, lmtp, relay = (str(free_port()) for _ in range(4))
    # The mailbox for trying out is refused at an address that other machines reach.
    open_to_others = {
        "PBEM_DEVELOPMENT": "no",
        "PBEM_SMTP_HOST": "localhost",
        "PBEM_SMTP_PORT": relay,
        "PBEM_SMTP_SECURITY": "none",
        "PBEM_INBOUND_REPLIES": "yes",
    }
    return (open_to_others if host.strip("[]") == "::" else {}) | {
        "PBEM_WEB_HOST": host,
        "PBEM_WEB_PORT": port,
        "PBEM_WEB_ADMIN_HOST": host,
        "PBEM_WEB_ADMIN_PORT": admin,
        "PBEM_INBOUND_LMTP_HOST": host,
        "PBEM_INBOUND_LMTP_PORT": lmtp,
        "PBEM_BASE_URL": f"http://[::1]:{port}",
    }


def get(host: str, port: str, path: str) -> tuple[int, str]:
    """What a server answers at an address; the browser names it as in a URL."""
    connection = HTTPConnection(host, int(port), timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def _is_ready(host: str, port: str) -> bool:
    return get(host, port, "/ready")[0] == 200


@pytest.mark.slow
@pytest.mark.parametrize("host", ["[::]", "[::1]", "::", "::1"])
def test_every_port_listens_at_an_ipv6_number(tmp_path: Path, host: str) -> None:
    here = settings(host)
    assert run("init", folder=tmp_path, **here).returncode == 0
    with serving("serve", folder=tmp_path, **here) as server:
        assert f"http://[::1]:{here['PBEM_WEB_PORT']}/" in server.until("The site:")
        started = json.loads(server.until("web_started"))
        assert started["at"] == f"[{host.strip('[]')}]:{here['PBEM_WEB_PORT']}"
        asked = ["::1", "127.0.0.1"] if host.strip("[]") == "::" else ["::1"]
        for number in asked:
            status, page = get(number, here["PBEM_WEB_PORT"], "/")
            assert status == 200, page
            until(partial(_is_ready, number, here["PBEM_WEB_ADMIN_PORT"]), "it is ready")
            with smtplib.LMTP(number, int(here["PBEM_INBOUND_LMTP_PORT"])) as mail_server:
                assert mail_server.noop()[0] == 250
        findings = run("doctor", folder=tmp_path, **here).stdout
        assert f"email is accepted at {host.strip('[]')}, port {here['PBEM_INBOUND_LMTP_PORT']}" in findings
        assert f"the server says it is ready ({host.strip('[]')}, port" in findings
        assert ("The admin port listens at [::]:" in findings) == (host.strip("[]") == "::")
        # Only the numbers that are ours: another site's name at the same address is refused.
        connection = HTTPConnection("::1", int(here["PBEM_WEB_PORT"]), timeout=60)
        connection.request("GET", "/", headers={"Host": "[::2]"})
        assert connection.getresponse().status == 400
        connection.close()
        assert server.stop() == 0
    assert "Traceback" not in "".join(server.output)


@pytest.mark.slow
@pytest.mark.postgresql
def test_gunicorn_listens_at_ipv6_numbers_too(tmp_path: Path) -> None:
    with postgresql_database() as url:
        here = settings("[::1]") | {"PBEM_DATABASE_URL": url, "WEB_CONCURRENCY": "1"}
        assert run("init", folder=tmp_path, **here).returncode == 0
        with serving(folder=tmp_path, program=GUNICORN, **here) as pages:
            pages.until("admin_started")
            assert get("::1", here["PBEM_WEB_PORT"], "/")[0] == 200
            assert get("::1", here["PBEM_WEB_ADMIN_PORT"], "/ready")[0] == 200
            assert pages.stop() == 0


def test_links_and_addresses_are_made_of_an_ipv6_number() -> None:
    config = read({"PBEM_BASE_URL": "http://[::1]:8000", "PBEM_WEB_HOST": "[::1]"})
    assert config.web.host == "::1"
    assert read(settings("[::]")).web.host == "::"
    assert config.trusted_hosts == ("[::1]", "localhost", "127.0.0.1")
    assert config.mail.domain == "localhost"
    assert config.development
    assert read(
        {"PBEM_TRUSTED_HOSTS": "2001:db8::1, [::1], a.example", "PBEM_SMTP_HOST": "relay.example"}
    ).trusted_hosts == ("[2001:db8::1]", "[::1]", "a.example")
    assert [sockets.with_port(host, 80) for host in ("::1", "127.0.0.1", "a.b")] == [
        "[::1]:80",
        "127.0.0.1:80",
        "a.b:80",
    ]
