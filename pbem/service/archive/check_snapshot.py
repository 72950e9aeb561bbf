"""Comparing what is stored beside a log, to be read faster, with what the log itself says."""

from collections.abc import Iterator, Mapping
from typing import Any

from engine import codec
from engine.game import Game
from pbem.service.archive.check_log import LogReader


def snapshot(reader: LogReader, stored: Mapping[str, Any]) -> Iterator[str]:
    """What differs between the stored snapshot and the log."""
    if not reader.dealt or reader.broken:
        return
    expected: dict[str, Any] = {"state": reader.position.state, "box": tuple(sorted(reader.box.items()))}
    if reader.orders_known:
        expected["orders"] = tuple(sorted(reader.orders.items()))
    for name, value in expected.items():
        text = stored[name]
        if not means(reader.rules, text, value):
            yield f"the stored {name} is not what the log says"
    if stored["seals"] != reader.seals.dumps():
        yield "the stored seals are not what the log says"
    if stored["turn"] != reader.position.turn:
        yield f"the stored turn is {stored['turn']}, but the log says {reader.position.turn}"
    if stored["entry_head"] != reader.entry_head:
        yield "the stored head of the last entry is not the log's"
    if stored["status"] not in (reader.status, "frozen"):
        yield f"the game is stored as {stored['status']}, but the log says {reader.status}"


def means(rules: Game[Any], text: str, value: Any) -> bool:
    """Whether a stored text, perhaps in another form, means this value. One of another shape is never read, so it means any."""
    expected = codec.dumps(value)
    try:
        return text == expected or codec.dumps(codec.loads(rules, text)) == expected
    except codec.OtherShape:
        return True
    except codec.Malformed:
        return False
