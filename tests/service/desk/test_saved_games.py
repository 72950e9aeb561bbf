"""A saved game that cannot have been, such as the altered file of a table, is found out before anything of it is put back."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from pbem.domain.errors import BadInput, PbemError
from pbem.ops.verify import verify_game, verify_saved
from pbem.service.archive import table_file
from pbem.service.desk import export_table
from pbem.service.desk.put_back import put_back
from pbem.service.tables import talk
from tests.service.actors import ROOT
from tests.service.desk.test_put_back import WHY, back, plays, poker, saved_of, vanish

__all__ = ["poker"]

Way = tuple[str | int, ...]

ODD: tuple[object, ...] = (None, -1, 2**62, "impossible", "[]", "[1]", "0001-01-01T00:00:00+10:00", [], {})
"""Values that are nonsense in most places."""


def file_of(server, game) -> dict[str, Any]:
    _, text = server.run(export_table.export, ROOT, game.id, WHY)
    return json.loads(text)


def altered(document: dict[str, Any], way: Way, value: object) -> str:
    document = json.loads(json.dumps(document))
    inside: Any = document
    *first, last = way
    for each in first:
        inside = inside[each]
    inside[last] = value
    return json.dumps(document)


def test_a_game_as_the_server_saves_it_is_sound(server, poker):
    plays(poker, 4)
    server.run(talk.say, poker.id, 1, poker.person_at(1), "hello")
    assert verify_saved(saved_of(server, poker)).problems == ()


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("game", "status"), "impossible"),
        (("game", "status"), "over"),
        (("game", "successor"), "impossible"),
        (("game", "pace"), "impossible"),
        (("game", "missed_limit"), 2**40),
        (("game", "options"), "{"),
        (("game", "seals"), "["),
        (("game", "seals"), "[]"),
        (("game", "box"), "["),
        (("game", "state"), "[]"),
        (("game", "seq"), 1),
        (("game", "turn"), 2**40),
        (("game", "paused"), True),
        (("players", 0, "bot"), "impossible"),
        (("players", 1, "number"), 0),
        (("players", 1, "seat"), 7),
        (("deadlines", 0, "status"), "impossible"),
        (("deadlines", 0, "turn"), 2**40),
        (("deadlines", 0, "seat"), 3),
        (("insiders",), [[1, "impossible"]]),
        (("log", 1, "kind"), "Impossible"),
        (("log", 1, "body"), "{}"),
        (("log", 1, "seq"), 9),
    ],
)
def test_a_value_that_cannot_have_been_is_a_problem(server, poker, way, value):
    # One player has sealed a choice.
    plays(poker, 1)
    assert verify_saved(table_file.read(altered(file_of(server, poker), way, value))).problems


def test_a_moment_that_no_database_keeps_is_refused(server, poker):
    with pytest.raises(BadInput):
        table_file.read(altered(file_of(server, poker), ("game", "created_at"), "0001-01-01T00:00:00+10:00"))


def test_rows_that_are_there_twice_are_a_problem(server, poker):
    document = file_of(server, poker)
    document["deadlines"].append(document["deadlines"][0])
    assert verify_saved(table_file.read(json.dumps(document))).problems


def test_a_number_that_no_game_can_have_is_not_taken(server, poker):
    saved = table_file.read(altered(file_of(server, poker), ("game", "id"), -1))
    vanish(server, poker)
    done, _ = back(server, saved)
    assert done.game_id > 0


@pytest.mark.slow
def test_a_file_with_any_one_value_altered_is_refused_in_words_or_put_back_sound(server, poker):
    plays(poker, 2)
    server.run(talk.say, poker.id, 1, poker.person_at(1), "hello")
    document = file_of(server, poker)
    plays(poker, 1)
    for way in ways(document):
        for value in ODD:
            text = altered(document, way, value)
            try:
                saved = table_file.read(text)
            except BadInput:
                continue
            if verify_saved(saved).sound:
                put_back_or_refused(server, saved)


def put_back_or_refused(server, saved) -> None:
    """Put a game back and verify it there, then forget it; any exception but a refusal is a bug."""

    def work(tx, server):
        return verify_game(tx, put_back(tx, server, ROOT, saved, WHY, replacing=True).game_id).problems

    with suppress(PbemError):
        assert server.dry_run(work) == ()


def ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """The way to each value of a file; of its log, to those of the first and the last row."""
    if way:
        yield way
    if isinstance(value, dict):
        for name, each in value.items():
            yield from ways(each, (*way, name))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            if way != ("log",) or at in (0, len(value) - 1):
                yield from ways(each, (*way, at))
