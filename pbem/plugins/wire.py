"""What a server and the child that runs a game say to each other: canonical JSON, each message after its length.

A request is answered by one reply; between them the child may ask for numbers to be drawn, one at a time.
"""

import json
import socket
import time
from collections.abc import Mapping
from typing import Any, Final

from engine import board, codec, decisions, facts, game, options, tell

LONGEST: Final = 2**23
"""Bytes in one message: more than a thousand times a large state."""

OUT_OF_MEMORY: Final = 77
"""The status with which a child ends that has no memory left to say anything else."""

_HEAD: Final = 4

_SHOWN: Final = (
    decisions.Decision,
    decisions.Act,
    decisions.Amount,
    decisions.OneOf,
    decisions.Some,
    decisions.Ranking,
    decisions.Split,
    decisions.Thing,
    board.Board,
    board.Line,
    board.Row,
    board.Face,
    board.Amounts,
    board.Grid,
    board.Panel,
    board.Fold,
    facts.Step,
    game.Standing,
    options.Listed,
    options.Number,
)
"""Values of the engine that stand in no record. A game may have kinds of the same names, so here they have longer ones."""

_LONG_NAMES: Final[dict[type, str]] = {kind: f"engine.{kind.__name__}" for kind in _SHOWN}
_ENGINE: Final[dict[str, type]] = {
    "Choice": decisions.Choice,
    "Text": tell.Text,
    **{name: kind for kind, name in _LONG_NAMES.items()},
}


class Ended(Exception):
    """The other end is gone."""


def send(line: socket.socket, text: str) -> None:
    """Send one message. Raises Ended, or TimeoutError if the socket has a timeout."""
    data = text.encode()
    if len(data) > LONGEST:
        raise ValueError(f"a message of {len(data)} bytes is too long")
    try:
        line.sendall(len(data).to_bytes(_HEAD, "big") + data)
    except TimeoutError:
        raise
    except OSError as error:
        raise Ended from error


def receive(line: socket.socket, until: float | None = None) -> str:
    """The next message. Raises Ended, or TimeoutError if it is not there at a moment of the monotonic clock."""
    length = int.from_bytes(_bytes(line, _HEAD, until), "big")
    if length > LONGEST:
        raise ValueError(f"a message of {length} bytes is too long")
    return _bytes(line, length, until).decode()


def dumps(value: Any) -> str:
    """A message as text."""
    return _ENCODER.encode(value)


def decoder(kinds: Mapping[str, type]) -> json.JSONDecoder:
    """What reads messages about a game with these kinds of values."""
    return codec.decoder({**kinds, **_ENGINE})


def _bytes(line: socket.socket, number: int, until: float | None) -> bytes:
    data = bytearray()
    while len(data) < number:
        if until is not None:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            line.settimeout(left)
        try:
            more = line.recv(min(number - len(data), 2**16))
        except TimeoutError:
            raise
        except OSError as error:
            raise Ended from error
        if not more:
            raise Ended
        data += more
    return bytes(data)


def _tagged(value: object) -> Any:
    data = codec.as_data(value)
    if (name := _LONG_NAMES.get(type(value))) is not None:
        data["is"] = name
    return data


_ENCODER: Final = json.JSONEncoder(
    default=_tagged, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
