"""What the server says to its operator: one JSON line on stdout for each event.

An event has a name in the past tense (`mail_accepted`) and values; never a sentence with values
written into it. Libraries that use the standard `logging` come out in the same form. No token, no
mail address and no key may pass, wherever in an event it hides: everything is redacted last, after
traces were turned into text. This module decides nothing, and nothing is read back from a log.
"""

import json
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from pbem.tokens import redact

# Values are flat or nearly so; what is nested deeper than this is a mistake, or holds itself.
_DEEPEST = 8

_PLAIN: Final = frozenset({type(None), bool, int, float})
"""What cannot hold a secret."""

_ENCODER: Final = json.JSONEncoder()


def configure(stream: TextIO = sys.stdout, level: int = logging.INFO) -> None:
    """Send the events of the whole process to a stream, redacted. Called once, by the commands."""
    said: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
    ]
    written: list[Processor] = [
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        redacted,
        # What is ours alone comes after that: it is as long as a secret, and would be looked at for one.
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _line,
    ]
    # Our own events are written at once: by way of `logging`, one costs as much as the rules of a move.
    structlog.configure(
        processors=[*said, *written],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *names: _Logger(stream, *names),
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=said,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *written],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)


class _Logger:
    """Writes the lines of one module."""

    def __init__(self, stream: TextIO, name: str = "") -> None:
        self.name = name
        self._stream = stream

    def msg(self, line: str) -> None:
        """One line, in one piece, so that threads do not write into each other's lines."""
        # A full disk or a reader that is gone must not fail the work that is told of.
        with suppress(OSError, ValueError):
            self._stream.write(line + "\n")
            self._stream.flush()

    debug = info = warning = error = critical = msg


def redacted(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The last processor before an event becomes a line: nothing in it is a secret any more."""
    return {redact(key): _clean(value) for key, value in event.items()}


def _line(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    return _ENCODER.encode(event)


class Redaction(logging.Filter):
    """For handlers that are not ours, such as the access logs of the web servers."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record's message and trace, and let it pass."""
        record.msg, record.args = redact(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        # Formatters take the text where there is one, so the trace itself must not be left.
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
    # Whatever else there is would come out as its text.
    return redact(str(value))
