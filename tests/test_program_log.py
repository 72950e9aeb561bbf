import io
import json
import logging
from datetime import UTC, date, datetime

import pytest
import structlog
from hypothesis import given, strategies as st

from pbem.program_log import RedactingFilter, configure, redact_event
from pbem.tokens import Keyring, Purpose

TOKEN = Keyring.new(bytes(range(40)), date(2026, 11, 21)).make(Purpose.MOVE, 12, 0)
ADDRESS = "anna@example.org"
SECRETS = (TOKEN, TOKEN.upper(), ADDRESS)


@pytest.fixture
def stream() -> io.StringIO:
    stream = io.StringIO()
    configure(stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_line_of_json_with_its_name(stream: io.StringIO) -> None:
    structlog.get_logger("pbem.worker").info("mail_accepted", game=12, tries=1)
    (line,) = lines(stream)
    assert line.pop("timestamp")
    assert line == {"event": "mail_accepted", "game": 12, "tries": 1, "level": "info", "logger": "pbem.worker"}


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def fail() -> None:
    try:
        raise ValueError(f"nothing for {ADDRESS}")
    except ValueError:
        structlog.get_logger("pbem.worker").exception("tick_failed", tick="send", to=ADDRESS)


def test_a_terminal_shows_only_problems_as_lines_to_read() -> None:
    terminal = Terminal()
    configure(terminal)
    structlog.get_logger("pbem.worker").info("worker_started")
    structlog.get_logger("pbem.worker").warning("relay_down", failures=2, said="451 later")
    logging.getLogger("library").warning("odd")
    fail()
    first, second, third, *trace = terminal.getvalue().splitlines()
    assert first[8:] == " warning: relay down (failures: 2, said: 451 later)"
    assert second[8:] == " warning: odd"
    assert third[8:] == " error: tick failed (tick: send, to: <address>)"
    assert trace[-1] == "ValueError: nothing for <address>"


def test_a_terminal_obeys_nothing_that_others_wrote() -> None:
    terminal = Terminal()
    configure(terminal)
    structlog.get_logger().warning("relay_down", said="later\n12:00:00 error: all is lost\x1b[2J\x9b1A")
    (line,) = terminal.getvalue().split("\n")[:-1]
    assert r"later\n12:00:00 error: all is lost\x1b[2J\x9b1A" in line


def test_a_terminal_shows_json_when_asked_to() -> None:
    terminal = Terminal()
    configure(terminal, structured=True)
    structlog.get_logger().info("worker_started")
    assert lines(terminal)[0]["event"] == "worker_started"


def test_a_library_is_logged_in_the_same_form(stream: io.StringIO) -> None:
    logging.getLogger("waitress").warning("Task queue depth is %d for %s", 3, ADDRESS)
    (line,) = lines(stream)
    assert line["event"] == "Task queue depth is 3 for <address>"
    assert line["level"] == "warning"
    assert line["logger"] == "waitress"


def test_events_below_the_level_are_not_logged(stream: io.StringIO) -> None:
    structlog.get_logger().debug("deadline_looked_at")
    logging.getLogger("library").debug("chatter")
    assert lines(stream) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("I/O operation on closed file")])
def test_a_failed_write_does_not_fail_the_work(error: Exception) -> None:
    class Full(io.StringIO):
        def write(self, _text: str) -> int:
            raise error

    configure(Full())
    structlog.get_logger("pbem.web").info("request_answered")


def test_no_secret_passes_in_a_traceback(stream: io.StringIO) -> None:
    def fail() -> None:
        raise RuntimeError(f"no mail to {ADDRESS}, link {TOKEN}")

    for log in (structlog.get_logger().exception, logging.getLogger("library").exception):
        try:
            fail()
        except RuntimeError:
            log("mail_refused")
    text = stream.getvalue()
    assert text.count("RuntimeError: no mail to <address>, link ***") == 2
    assert not any(secret in text for secret in SECRETS)


def test_no_secret_passes_in_context_variables(stream: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(path=f"/m/{TOKEN}/2"):
        structlog.get_logger().info("page_served")
    assert lines(stream)[0]["path"] == "/m/***/2"


secrets = st.sampled_from(SECRETS)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | secrets | secrets.map(str.encode),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | secrets, inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), values))
def test_no_secret_passes_in_a_nested_value(event: dict[str, object]) -> None:
    text = json.dumps(redact_event(None, "info", event))
    assert not any(secret in text for secret in SECRETS)


def test_no_secret_passes_in_the_text_of_an_object() -> None:
    class Email:
        def __repr__(self) -> str:
            return f"<mail to {ADDRESS}>"

    assert redact_event(None, "info", {"mail": Email(), "mails": {Email()}}) == {
        "mail": "<mail to <address>>",
        "mails": ["<mail to <address>>"],
    }


def test_plain_values_keep_their_types() -> None:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    event = {"event": "x", "n": 3, "part": 0.5, "late": True, "seat": None, "at": at}
    assert redact_event(None, "info", event) == {**event, "at": "2026-11-21 00:00:00+00:00"}


def test_a_cyclic_value_is_cut_off() -> None:
    value: list[object] = [TOKEN]
    value.append(value)
    assert TOKEN not in json.dumps(redact_event(None, "info", {"value": value}))


def test_access_logs_contain_no_token() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter())
    log = logging.getLogger("tests.access")
    log.handlers, log.level, log.propagate = [handler], logging.INFO, False
    log.info('%(h)s "%(r)s" %(s)s', {"h": "-", "r": f"GET /m/{TOKEN}/2 HTTP/1.1", "s": "200"})
    try:
        raise RuntimeError(ADDRESS)
    except RuntimeError:
        log.exception("%s failed", TOKEN)
    text = stream.getvalue()
    assert text.startswith('- "GET /m/***/2 HTTP/1.1" 200\n*** failed\nTraceback')
    assert "RuntimeError: <address>" in text
    assert not any(secret in text for secret in SECRETS)


def test_no_formatter_behind_the_filter_can_format_the_traceback_again() -> None:
    try:
        raise RuntimeError(ADDRESS)
    except RuntimeError as error:
        trace = (RuntimeError, error, error.__traceback__)
    record = logging.LogRecord("gunicorn.error", logging.ERROR, "", 1, "failed", None, trace)
    assert RedactingFilter().filter(record)
    assert record.exc_info is None
