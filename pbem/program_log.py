"""Logs for the operator: one JSON line on stdout for each event; on a terminal only problems, as lines to read.

An event has a name in the past tense (`mail_accepted`) and values; never a sentence with values formatted into it.
Libraries that use `logging` are logged in the same form. No token, email address or key may get through, however deep
in an event: everything is redacted last, after tracebacks were formatted. Nothing may be read back from a log.
"""

import json
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from pbem.redaction import redact

# Values are flat or nearly so; anything nested deeper than this is a mistake or a cycle.
_DEEPEST = 8

_PLAIN: Final = frozenset({type(None), bool, int, float})
"""Types that cannot contain a secret."""

_SHOWN_APART: Final = frozenset({"event", "level", "logger", "timestamp", "exception"})
"""Keys of an event that a line to read shows apart, or leaves out."""

_ENCODER: Final = json.JSONEncoder()


def configure(stream: TextIO = sys.stdout, level: int = logging.INFO, *, structured: bool | None = None) -> None:
    """Send the events of this process to a stream, redacted. Called once, by the commands.

    Unless `structured` says which, they are JSON except on a terminal, which shows only problems.
    """
    if structured is None:
        structured = not stream.isatty()
    if not structured:
        level = max(level, logging.WARNING)
    context_processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
    ]
    format_processors: list[Processor] = [
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        redact_event,
        # The time comes after redaction: it is as long as a secret, and would be checked for one.
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _line if structured else _readable_line,
    ]
    # Our own events are written directly: through `logging`, each would cost as much as the rules of a move.
    structlog.configure(
        processors=[*context_processors, *format_processors],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *names: _Logger(stream, *names),
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=context_processors,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *format_processors],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)


class _Logger:
    """A logger that writes the lines of one module."""

    def __init__(self, stream: TextIO, name: str = "") -> None:
        self.name = name
        self._stream = stream

    def msg(self, line: str) -> None:
        """Write one line in one piece, so that threads do not write into each other's lines."""
        # A full disk or a closed pipe must not fail the work that is logged.
        with suppress(OSError, ValueError):
            self._stream.write(line + "\n")
            self._stream.flush()

    debug = info = warning = error = critical = msg


def redact_event(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Redact every key and value of an event. The last processor before it becomes a line."""
    return {redact(key): _clean(value) for key, value in event.items()}


def _line(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    return _ENCODER.encode(event)


def _readable_line(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    """An event as its time, level and name, its values, and its traceback below."""
    shown = {key: value for key, value in event.items() if key not in _SHOWN_APART}
    values = ", ".join(f"{key.replace('_', ' ')}: {value}" for key, value in shown.items())
    name = str(event.get("event", "")).replace("_", " ")
    line = f"{str(event.get('timestamp', ''))[11:19]} {event.get('level', '')}: {name}{values and f' ({values})'}"
    return "\n".join(map(_printable, [line, *str(event.get("exception") or "").splitlines()]))


def _printable(text: str) -> str:
    """The text with escapes for what a terminal would obey: a relay or a client may have written some of it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class RedactingFilter(logging.Filter):
    """A filter that redacts records, for other handlers such as the access logs of the web servers."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record's message and traceback, and let it pass."""
        record.msg, record.args = redact(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        # Formatters prefer the text, but would format the exception itself if it were left.
        record.exc_info = None
        if record.exc_text:
            record.exc_text = redact(record.exc_text)
        return True


def _clean(value: object, depth: int = 0) -> object:
    if type(value) in _PLAIN:
        return value
    if type(value) is str:
        return redact(value)
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {redact(str(key)): _clean(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [_clean(item, depth + 1) for item in value]
    # Any other type would be logged as its text.
    return redact(str(value))
