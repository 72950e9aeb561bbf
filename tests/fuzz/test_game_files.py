"""The door for game files: a file is checked or refused, whatever was done to it, in steps that its length explains."""

import json
from contextlib import suppress
from copy import deepcopy
from itertools import cycle

import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

from engine import registry
from pbem.cli import main
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput
from pbem.ops.commands.terminal import CommandError
from pbem.service.archive import export, verify_upload
from tests.fuzz.door import TooManySteps, examples, growing, must_be_linear, pieces, steps
from tests.service.archive.test_reviews import over

pytestmark = pytest.mark.slow

SYNTAX = (
    *(
        '{"format": "pbem-game", "version": 2, ',
        '"log": [',
        '"game": {',
        '"chance": {',
        '"seq": 1',
        "null",
        "true",
        "[[[[",
    ),
    *('{"is": ', '"Entry"', '"Began"', '"\\ud800"', "2026-11-21T12:00:00+00:00", "1e400", "-0", "{}", "[]"),
)
NUMBERS = st.integers(0, 100_000)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    # Larger numbers fill memory in one step. The process of its own has limits for that.
    st.integers(-1000, 1000),
    st.just(0.5),
    st.lists(st.integers(-1, 9), max_size=3),
    st.dictionaries(st.sampled_from(["is", "seat", "x"]), st.sampled_from(["Game", "Entry", 1, None]), max_size=2),
    pieces(*SYNTAX),
)


@pytest.fixture(params=registry.names())
def file(request, table):
    """The file of a finished game, short enough to be checked a hundred times."""
    rules = registry.load(request.param)
    game = table(request.param, rules.seats[0], options=dict(rules.short))
    for _ in game.play_defaults():
        pass
    return File(json.loads(export.write(game.server.read(export.of_game, game.id))))


MOST_STEPS = 300_000

of_each_game = settings(examples, max_examples=max(examples.max_examples // 5, 1))


def checked(text):
    """Check a file."""
    with suppress(BadInput):
        verify_upload._check(text)


class File(dict):
    """A file that is not printed whole where a test fails."""

    def __repr__(self):
        return f"<a file of {self['game']['kind']}>"


def check(document):
    """Check a file as the process for that does, which is stopped where it takes too long."""
    text = document if isinstance(document, str) else json.dumps(document)
    with suppress(BadInput, TooManySteps):
        steps(lambda: verify_upload._check(text), MOST_STEPS)


def places(value, at=()):
    """The way to each value within a value."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from places(each, (*at, name))


def changed(value, way, new):
    """A copy with one value replaced."""
    if not way:
        return new
    copied = deepcopy(value)
    inner = copied
    for name in way[:-1]:
        inner = inner[name]
    inner[way[-1]] = new
    return copied


def chained(document):
    """The same file with a sound chain, so that what its rows say is read."""
    head, log = hash_chain.genesis(str(document["game"]["key"])), []
    for row in export.read(json.dumps(document)).log:
        fields = {
            name: getattr(row, name) for name in ("game", "seq", "kind", "seat", "by", "at", "rules", "body", "nonce")
        }
        again = hash_chain.next_row(head, **fields)
        head = again.hash
        log.append(document["log"][row.seq - 1] | {"body_hash": again.body_hash.hex(), "hash": head.hex()})
    return document | {"log": log, "head": head.hex()}


@examples
@given(text=growing(*SYNTAX))
def test_a_text_that_is_no_file_is_refused_in_steps_that_its_length_explains(text):
    must_be_linear(lambda length: checked(text.at(length)))


@of_each_game
@given(data=st.data())
def test_a_file_with_any_value_replaced_is_checked_or_refused(data, file):
    ways = st.one_of(
        st.sampled_from([way for way in places(file) if len(way) < 3]), st.sampled_from(list(places(file)))
    )
    check(changed(file, data.draw(ways), data.draw(VALUES)))


@of_each_game
@given(data=st.data())
def test_a_file_whose_rows_say_anything_is_checked_or_refused(data, file):
    row = data.draw(st.integers(0, len(file["log"]) - 1))
    body = json.loads(file["log"][row]["body"])
    body = changed(body, data.draw(st.sampled_from(list(places(body)))), data.draw(VALUES))
    check(chained(changed(file, ("log", row, "body"), json.dumps(body))))


@of_each_game
@given(place=NUMBERS, kind=st.sampled_from(["log", "talk"]), in_turn=st.booleans())
def test_more_rows_take_steps_that_their_number_explains(place, kind, in_turn, file):
    row = file["log"][place % len(file["log"])]

    def check_with(many):
        more = [row | {"seq": number + len(file["log"]) * in_turn + 1} for number in range(many)]
        longer = file | {kind: (file[kind] if kind == "log" else []) + more}
        checked(json.dumps(chained(longer) if kind == "log" and in_turn else longer))

    must_be_linear(check_with, 25)


def test_a_file_neither_stops_the_command_nor_steers_its_terminal(table, tmp_path):
    game = over(table)
    document = json.loads(export.write(game.server.read(export.of_game, game.id)))
    signatures = cycle(["\x1b]0;mine\x07", 5, ["x"], None])
    for row in document["log"]:
        if row["kind"] in ("Sealed", "Entry") and row["seat"] is not None:
            row["by"] = "bot"
            row["body"] = json.dumps(json.loads(row["body"]) | {"bot": next(signatures)})
    document["log"][-1]["kind"] = "\x1b[2K\rNo faults.\x9b2J"
    file = tmp_path / "game.json"
    file.write_text(json.dumps(chained(document)))
    result = CliRunner().invoke(main, ["verify", str(file), "--bots"])
    assert "not repeatable" in result.output
    assert "No faults" in result.output
    assert isinstance(result.exception, SystemExit)
    assert all(line.isprintable() for line in result.output.split("\n"))


def test_an_exported_audit_does_not_steer_the_terminal(tmp_path):
    row = {"seq": 1, "at": "2026-11-21T12:00:00+00:00", "actor": "x", "act": "\x9b2K\x07", "text": None, "nonce": None}
    file = tmp_path / "audit.jsonl"
    file.write_text(json.dumps(row | {"body_hash": "", "hash": ""}))
    result = CliRunner().invoke(main, ["audit", "verify", str(file)])
    assert "has lost its text" in result.output
    assert all(line.isprintable() for line in result.output.split("\n"))


def test_an_error_does_not_steer_the_terminal():
    assert CommandError("Row \x1b[2K\nis wrong.").message == "Row \N{REPLACEMENT CHARACTER}[2K\nis wrong."
