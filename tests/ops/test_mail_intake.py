"""The ways in for emails, as an organiser sets them up: the pipe, the port, and what the doctor says of both."""

import signal
import smtplib
from pathlib import Path

import pytest

from pbem.clock import SystemClock, SystemRandomness
from pbem.config import read
from pbem.domain.states import Doubt
from pbem.ops.setup import open_store
from pbem.store import links, received as rows
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.ops.conftest import Run
from tests.ops.processes import run, serving
from tests.ports import free_port
from tests.service.conftest import postgresql_database

TO = "r+" + "a" * 33 + "@localhost"
EMAIL = "Subject: x\r\nMessage-ID: <x@example.net>\r\n\r\nbid 7\r\n"


def received(pbem: Run, *arguments: str, **settings: str) -> tuple[int, str]:
    """The exit code and the output of the pipe."""
    ended = pbem("mail", "receive", *arguments, typed=EMAIL, **settings)
    return ended.exit_code, ended.output


def test_the_pipe_takes_an_email_and_says_nothing(pbem: Run) -> None:
    assert pbem("init").exit_code == 0
    assert received(pbem, "--from", "ann@example.net", "--to", TO) == (0, "")
    assert "1 email came in this week" in pbem("doctor").output


def test_emails_that_were_given_up_wait_again_after_one_command(pbem: Run) -> None:
    assert pbem("init").exit_code == 0
    assert "No emails are parked." in pbem("mail", "retry").output
    with open_store(read({})) as store:
        now = SystemClock().now()
        link_id = store.write(
            lambda tx: (
                links.add_all(tx, SystemRandomness(), {LinkKey(Purpose.REPLY): None}, now)[LinkKey(Purpose.REPLY)].id
            )
        )
        email_id = store.write(
            lambda tx: rows.add(
                tx, fingerprint=b"x", link_id=link_id, nonce=0, message_id="", raw=EMAIL.encode(), now=now
            )
        )
        assert email_id is not None
        store.write(lambda tx: rows.change(tx, email_id, status="parked", attempts=5))
        assert "`pbem mail retry`" in pbem("doctor").output
        assert "1 email will be tried again." in pbem("mail", "retry").output
        with store.read() as tx:
            again = rows.read(tx, email_id)
    assert again is not None
    assert (again.status, again.attempts) == ("waiting", 0)


def test_the_pipe_asks_the_mail_server_to_try_again_after_any_fault(pbem: Run, folder: Path) -> None:
    code, output = received(pbem, "--to", TO)
    assert (code, "There is no database" in output) == (75, True)
    assert pbem("init").exit_code == 0
    assert received(pbem, "--to", TO, PBEM_WEB_PORT="x")[0] == 75
    (folder / ".pbem" / "pbem.sqlite3").write_bytes(b"nonsense" * 1000)
    code, output = received(pbem, "--to", TO)
    assert code == 75
    assert "Traceback" not in output


def test_on_sqlite_the_server_takes_emails_itself(pbem: Run) -> None:
    pbem("init")
    refused = pbem("mail", "serve")
    assert refused.exit_code == 1
    assert "pbem serve" in refused.output


def test_the_doctor_says_whether_emails_can_come_in(pbem: Run) -> None:
    pbem("init")
    assert "replies aren't read" in pbem("doctor", PBEM_INBOUND_REPLIES="no").output
    port = str(free_port())
    assert f"Nothing accepts email at 127.0.0.1, port {port}" in pbem("doctor", PBEM_INBOUND_LMTP_PORT=port).output


def test_the_doctor_sees_when_our_mail_server_vouches_for_nobody(pbem: Run) -> None:
    pbem("init")
    with open_store(read({})) as store:
        today = SystemClock().now().date()
        for _ in range(3):
            store.write(lambda tx: rows.count(tx, today, Doubt.UNVOUCHED))
    assert "PBEM_INBOUND_AUTHSERV_ID" in pbem("doctor").output


@pytest.mark.slow
def test_a_server_takes_emails_by_lmtp_and_reads_them(tmp_path: Path) -> None:
    settings = {"PBEM_WEB_PORT": str(free_port()), "PBEM_INBOUND_LMTP_PORT": str(free_port())}
    with serving("serve", folder=tmp_path, **settings) as server:
        server.until("Stop it with Ctrl-C")
        with smtplib.LMTP("127.0.0.1", int(settings["PBEM_INBOUND_LMTP_PORT"])) as mail_server:
            assert mail_server.sendmail("ann@example.net", [TO], EMAIL.encode()) == {}
        doctor = run("doctor", folder=tmp_path, **settings)
        assert f"email is accepted at 127.0.0.1, port {settings['PBEM_INBOUND_LMTP_PORT']}" in doctor.stdout
        assert "1 email came in this week" in doctor.stdout
        # Another process can hand one in as well, while the server has the file.
        piped = run("mail", "receive", "--to", TO, folder=tmp_path, **settings)
        assert piped.returncode == 0, piped.stdout
        assert server.stop() == 0
    assert "Traceback" not in "".join(server.output)


@pytest.mark.slow
@pytest.mark.postgresql
def test_on_postgresql_a_process_of_its_own_takes_emails(tmp_path: Path) -> None:
    with postgresql_database() as url:
        settings = {"PBEM_DATABASE_URL": url, "PBEM_INBOUND_LMTP_PORT": str(free_port())}
        assert run("init", folder=tmp_path, **settings).returncode == 0
        with serving("mail", "serve", folder=tmp_path, **settings) as server:
            server.until("Stop it with Ctrl-C")
            with smtplib.LMTP("127.0.0.1", int(settings["PBEM_INBOUND_LMTP_PORT"])) as mail_server:
                assert mail_server.sendmail("ann@example.net", [TO], EMAIL.encode()) == {}
            assert server.stop(signal.SIGTERM) == 0
        assert "1 email came in this week" in run("doctor", folder=tmp_path, **settings).stdout
