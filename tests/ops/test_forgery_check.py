"""The doctor's email to the server itself, with forged results: what comes back, and what the doctor says of it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from pbem import config
from pbem.clock import SystemClock
from pbem.config.settings import Config
from pbem.domain.finding import Finding
from pbem.ops import mail_intake
from pbem.ops.setup import make_ready, server_on
from pbem.service.incoming import authenticity, processing, receive
from pbem.store import heartbeats
from pbem.store.database import Store
from tests.mail.sink import Sink
from tests.waiting import until

HOST = "play.example.org"
RECEIVED = f"Received: from relay by {HOST}\r\n".encode()
RESULTS = f"Authentication-Results: {HOST}; dkim=pass header.d={HOST}\r\n".encode()

Try = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def relay() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink


@pytest.fixture
def try_forgery(relay: Sink, tmp_path: Path) -> Try:
    """Let the doctor try, with a mail server that does this with each email; returns the findings."""

    def attempt(
        mail_server: Callable[[bytes], bytes] | None = None, worker: bool = True, **given: str
    ) -> list[tuple[str, str]]:
        settings = {
            "PBEM_DATA_DIR": str(tmp_path / "data"),
            "PBEM_BASE_URL": f"https://{HOST}",
            "PBEM_SMTP_HOST": "127.0.0.1",
            "PBEM_SMTP_PORT": f"{relay.port}",
            "PBEM_SMTP_SECURITY": "none",
            "PBEM_INBOUND_REPLIES": "yes",
        }
        ready = make_ready(config.read({name: each for name, each in (settings | given).items() if each}))
        with closing(Store(ready.database_url)) as store, ThreadPoolExecutor(1) as doctor:
            now = SystemClock().now()
            if worker:
                store.write(lambda tx: heartbeats.record(tx, "one", now, now))
            patience = timedelta(seconds=30 if mail_server else 0)
            found = doctor.submit(lambda: list(mail_intake.try_forgery(ready, store, patience)))
            if mail_server is not None:
                _bring_in(ready, store, relay, mail_server)
            return [(each.severity, _text(each)) for each in found.result()]

    return attempt


def _bring_in(ready: Config, store: Store, relay: Sink, mail_server: Callable[[bytes], bytes]) -> None:
    """Take the email from the relay, as a mail server hands it in, and read it as a worker does."""
    until(lambda: relay.emails, "the doctor's mail")
    (email,) = relay.emails
    server, inbound = server_on(store, ready), authenticity.inbound_settings(ready)
    assert receive.receive(server, inbound, "", email.recipient, mail_server(email.content)) == "kept"
    processing.process(server, inbound)


def _text(found: Finding) -> str:
    return f"{found.what}: {found.says} {found.remedy}"


def cleaned(content: bytes) -> bytes:
    """As a mail server does by the handbook: what a stranger brought along is removed, its own results are on top."""
    return (
        RESULTS
        + RECEIVED
        + b"\r\n".join(line for line in content.split(b"\r\n") if not line.startswith(b"Authentication-Results"))
    )


def test_a_mail_server_that_removes_forged_results_is_well(try_forgery: Try) -> None:
    (forgery, place) = try_forgery(cleaned)
    assert forgery == ("ok", "forgery: our mail server removed a forged Authentication-Results ")
    assert place[0] == "ok"
    assert "count above all Received lines, and nowhere else" in place[1]


def test_forged_results_that_only_their_place_gives_away_are_a_warning(try_forgery: Try) -> None:
    (forgery, place) = try_forgery(lambda content: RESULTS + RECEIVED + content)
    assert forgery[0] == "warning"
    assert "lets in a forged Authentication-Results of play.example.org; only its place gives it away." in forgery[1]
    assert "receiving-mail in the handbook" in forgery[1]
    assert place[0] == "ok"


@pytest.mark.parametrize(
    ("mail_server", "settings"),
    [
        # It writes nothing of its own; it writes below its own line; an operator allows any place.
        (lambda content: RECEIVED + content, {}),
        (lambda content: RECEIVED + RESULTS + content, {}),
        (lambda content: RESULTS + RECEIVED + content, {"PBEM_INBOUND_RESULTS_PLACE": "anywhere"}),
    ],
)
def test_forged_results_that_would_be_believed_are_an_error(
    try_forgery: Try, mail_server: Callable[[bytes], bytes], settings: dict[str, str]
) -> None:
    forgery, _place = try_forgery(mail_server, **settings)
    assert forgery[0] == "error"
    assert "which would be believed. Anyone could move for any player." in forgery[1]


def test_results_whose_place_nobody_knows_are_a_warning(try_forgery: Try) -> None:
    _forgery, place = try_forgery(lambda content: cleaned(content).removeprefix(RESULTS))
    assert place[0] == "warning"
    assert "so they count anywhere" in place[1]
    assert "PBEM_INBOUND_RESULTS_PLACE" in place[1]


def test_an_email_that_does_not_come_back_is_a_warning(try_forgery: Try) -> None:
    ((severity, text),) = try_forgery()
    assert severity == "warning"
    assert "A test email to ourselves hasn't come back within 0 seconds." in text


def test_a_relay_that_takes_no_email_to_ourselves_is_a_warning(relay: Sink, try_forgery: Try) -> None:
    relay.does("550 rcpt")
    ((severity, text),) = try_forgery()
    assert severity == "warning"
    assert "The relay refused a test email to ourselves." in text


@pytest.mark.parametrize(
    "settings",
    [
        # In development there is no relay.
        dict.fromkeys(("PBEM_SMTP_HOST", "PBEM_SMTP_PORT", "PBEM_SMTP_SECURITY", "PBEM_BASE_URL"), ""),
        {"PBEM_INBOUND_REPLIES": "no"},
        {"PBEM_INBOUND_SENDER_CHECK": "token"},
        {"PBEM_INBOUND_SENDER_CHECK": "off"},
        {"worker": False},
    ],
)
def test_nothing_is_sent_where_it_would_decide_nothing_or_nobody_would_read_it(
    relay: Sink, try_forgery: Try, settings: dict[str, str]
) -> None:
    assert try_forgery(**settings) == []
    assert relay.emails == []
