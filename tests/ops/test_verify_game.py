"""The verifier in the handbook: it accepts what was played and names what was changed, and so does `pbem verify`.

It is one file, written from the page on the game file and knowing none of our code, so it also shows that the page says
everything. Each tampered file is one that a forger could make: either a change alone, or with every hash made again from
there on, which leaves only what the fingerprints in emails and the log itself bind.
"""

import ast
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from engine import codec, registry
from engine.chance import commitment
from pbem import paths
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput
from pbem.ops.verify import verify_file
from pbem.service.archive import export
from pbem.service.play.log import Kind
from pbem.service.play.move import Actor
from tests.ops.eventful import play_eventfully
from tests.ops.verifier import SCRIPT, VERIFIER, says
from tests.service.running_game import RunningGame

Document = dict[str, Any]
Change = Callable[[Document], None]

FOLDER = Path(__file__).parent / "game_files"
PLAYED = json.loads((FOLDER / "sunset-poker-version-2.json").read_text(encoding="utf-8"))


@pytest.fixture
def database_url(sqlite_alone: str) -> str:
    """A file is the same from any database."""
    return sqlite_alone


def run(path: Path, *fingerprints: str) -> subprocess.CompletedProcess[str]:
    """Run the script as a player does, in a Python that finds none of our packages."""
    command = [sys.executable, "-I", str(SCRIPT), str(path), *fingerprints]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_verifier_is_one_short_file_that_needs_python_alone() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    assert imported <= sys.stdlib_module_names
    assert text.count("\n") <= 150


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_the_verifier_accepts_the_files_of_every_version(path: Path) -> None:
    done = run(path)
    assert (done.returncode, done.stdout) == (0, "Nothing was changed.\n"), done.stderr


@pytest.mark.parametrize("kind", registry.names())
def test_the_verifier_accepts_an_eventful_game_of_every_kind(
    table: Callable[..., RunningGame], tmp_path: Path, kind: str
) -> None:
    rules = registry.load(kind)
    game = table(kind, max(3, rules.seats[0]), options=dict(rules.short))
    play_eventfully(game)
    document = json.loads(export.write(game.server.read(export.of_game, game.id)))
    VERIFIER.check(document, [hash_chain.fingerprint(game.row().entry_head)])
    assert not own_problems(document, tmp_path)


def own_problems(document: Document, folder: Path) -> str:
    """What `pbem verify` says of a file."""
    path = folder / "game.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return problems_of(path)


def problems_of(path: Path) -> str:
    """What `pbem verify` says of a file at a path."""
    try:
        return "\n".join(each.says for each in verify_file(path).problems)
    except BadInput as refused:
        return refused.what


# How a file is changed.


def rows_of(document: Document, kind: str) -> list[Document]:
    return [row for row in document["log"] if row["kind"] == kind]


def say(row: Document, change: Callable[[Document], object]) -> None:
    """Change the body of a row."""
    body = json.loads(row["body"])
    change(body)
    row["body"] = codec.dumps(body)


def hash_again(document: Document) -> None:
    """Number the rows again and make their hashes again, the best that a forger can do."""
    name = document["game"]["key"]
    head = hash_chain.genesis(name)
    for number, row in enumerate(document["log"], start=1):
        row["seq"] = number
    for row in export.read(json.dumps(document)).log:
        fields = {field: getattr(row, field) for field in ("seq", "kind", "seat", "by", "at", "rules", "body", "nonce")}
        again = hash_chain.next_row(head, game=name, **fields)
        head = again.hash
        document["log"][row.seq - 1] |= {"body_hash": again.body_hash.hex(), "hash": head.hex()}
    document["head"] = head.hex()


def first_turn(document: Document) -> list[Document]:
    """The sealed choices of the first turn: three of seat 0, then three of seat 1. Only the last of each count."""
    sealed = rows_of(document, "Sealed")[:6]
    assert [row["seat"] for row in sealed] == [0, 0, 0, 1, 1, 1]
    return sealed


def exchange_bids(document: Document) -> None:
    mine, yours = first_turn(document)[2], first_turn(document)[5]
    mine_says, yours_says = json.loads(mine["body"])["choice"], json.loads(yours["body"])["choice"]
    say(mine, lambda body: body.update(choice=yours_says))
    say(yours, lambda body: body.update(choice=mine_says))


def exchange_bids_and_choices(document: Document) -> None:
    exchange_bids(document)

    def exchange(body: Document) -> None:
        (_, mine), (_, yours), _third = body["entry"]["choices"]
        body["entry"]["choices"][:2] = [[0, yours], [1, mine]]

    say(rows_of(document, "Entry")[1], exchange)


def close_with_another(document: Document) -> None:
    """Let a seat that had sealed close the turn with another choice, and make the last to choose seem to have sealed."""
    entry = rows_of(document, "Entry")[1]
    body = json.loads(entry["body"])
    (seat, mine), _second, (last, its) = body["entry"]["choices"]
    sealed = [json.loads(row["body"])["choice"] for row in first_turn(document)]
    other = next(choice for choice in sealed if choice != mine)
    seal = first_turn(document)[5]
    forged = {"game": document["game"]["key"], "turn": body["turn"], "seat": last, "choice": its}
    document["log"].insert(document["log"].index(entry), seal | {"seat": last, "body": codec.dumps(forged)})
    entry["seat"] = seat
    say(entry, lambda body: body["entry"]["choices"].__setitem__(0, [seat, other]))


def list_again(document: Document) -> None:
    """Make the lists of fingerprints again, as the page on the file says."""
    hash_again(document)
    box: dict[int, str] = {}
    hashed = b""
    for row in document["log"]:
        if row["kind"] == "Sealed":
            box[row["seat"]] = row["body_hash"]
            hashed = hashlib.sha256(hashed + bytes.fromhex(row["body_hash"])).digest()
        elif row["kind"] == "Withdrawn":
            box.pop(row["seat"])
        elif row["kind"] in VERIFIER.CLOSING:
            body = json.loads(row["body"])
            choices = dict(body.get("entry", {"choices": []})["choices"])
            alone = body.get("entry", {"alone": []})["alone"]
            listed = sorted(box[seat] for seat in choices.keys() - {*alone, row["seat"]})
            lists = {"sealed": listed, "all_sealed": hashed.hex()}
            rest = {name: value for name, value in body.items() if name not in lists}
            row["body"] = codec.dumps(rest | {name: value for name, value in lists.items() if value})
            box, hashed = {}, b""
    hash_again(document)


def leave_out(document: Document, *rows: Document) -> None:
    for row in rows:
        document["log"].remove(row)


def leave_out_counting(document: Document) -> None:
    leave_out(document, first_turn(document)[5])


def leave_out_replaced(document: Document) -> None:
    leave_out(document, first_turn(document)[0])


def leave_out_withdrawn(document: Document) -> None:
    leave_out(document, first_turn(document)[1], rows_of(document, "Withdrawn")[0])


def leave_out_before_the_rewind(document: Document) -> None:
    rewound = document["log"].index(rows_of(document, "Rewound")[0])
    last = [row for row in document["log"][:rewound] if row["kind"] == "Sealed"][-2]
    leave_out(document, last)


def add_sealed(document: Document) -> None:
    row = first_turn(document)[0]
    document["log"].insert(document["log"].index(row), deepcopy(row) | {"nonce": "00" * 16})


def other_secret(document: Document) -> None:
    """Exchange the secret with its commitment, everywhere."""
    secret = bytes(32)
    document["chance"] |= {"secret": secret.hex(), "commitment": commitment(secret)}
    say(document["log"][0], lambda body: body.update(commitment=commitment(secret)))
    say(rows_of(document, "Revealed")[0], lambda body: body.update(secret=secret.hex()))


def set_all(name: str, value: object) -> Change:
    """Change what the file and its first row say."""

    def change(document: Document) -> None:
        (document["game"] if name in document["game"] else document["chance"])[name] = value
        say(document["log"][0], lambda body: body.update({name: value}))

    return change


def set_in(part: str | None, name: str, value: object) -> Change:
    return lambda document: (document if part is None else document[part]).update({name: value})


def set_field(number: int, **values: object) -> Change:
    return lambda document: document["log"][number - 1].update(values)


def set_body(kind: str, **values: object) -> Change:
    return lambda document: say(rows_of(document, kind)[0], lambda body: body.update(values))


def drop_from_body(kind: str, name: str) -> Change:
    return lambda document: say(rows_of(document, kind)[0], lambda body: body.pop(name))


def draw_another(document: Document) -> None:
    def change(body: Document) -> None:
        bound, number = body["entry"]["drawn"][0]
        body["entry"]["drawn"][0] = [bound, (number + 1) % bound]

    say(rows_of(document, "Entry")[0], change)


def true_for_one(*path: str | int, kind: str | None = None) -> Change:
    """Put JSON's `true` in place of a 1, in the file or in the body of its first row of a kind."""

    def put(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        assert data[path[-1]] == 1
        data[path[-1]] = True

    return put if kind is None else lambda document: say(rows_of(document, kind)[0], put)


def true_for_a_number_drawn(document: Document) -> None:
    drawn = json.loads(rows_of(document, "Entry")[0]["body"])["entry"]["drawn"]
    at = next(at for at, (_bound, number) in enumerate(drawn) if number == 1)
    true_for_one("entry", "drawn", at, 1, kind="Entry")(document)


def draw_below_nothing(document: Document) -> None:
    say(rows_of(document, "Entry")[0], lambda body: body["entry"]["drawn"].insert(0, [0, 0]))


def list_another(document: Document) -> None:
    say(rows_of(document, "Entry")[1], lambda body: body["sealed"].__setitem__(0, "00" * 32))


def exchange_rows(document: Document) -> None:
    document["log"][3:5] = reversed(document["log"][3:5])


def exchange_entries(document: Document) -> None:
    log = document["log"]
    last, before = (log.index(row) for row in rows_of(document, "Entry")[-1:-3:-1])
    log[last], log[before] = log[before], log[last]


def cut(count: int, *, adjust: bool) -> Change:
    """Cut off the last rows, and give the file the head of those that are left."""

    def change(document: Document) -> None:
        del document["log"][-count:]
        if adjust:
            document["head"] = document["log"][-1]["hash"]

    return change


def stop_early(document: Document) -> None:
    """Leave out the end of a game, and say that it's still being played."""
    cut(5, adjust=True)(document)
    document["game"]["status"] = "playing"


def reveal_at_once(document: Document) -> None:
    document["log"].insert(2, document["log"].pop())


def reveal_twice(document: Document) -> None:
    document["log"].append(dict(document["log"][-1]))


def write_otherwise(old: str, new: str) -> Change:
    """Write the same body in another way."""

    def change(document: Document) -> None:
        entry = rows_of(document, "Entry")[1]
        entry["body"] = entry["body"].replace(old, new, 1)

    return change


def add_row(kind: str, /, **body: object) -> Change:
    """Add a row before the last."""
    row = PLAYED["log"][-1] | {"kind": kind, "body": codec.dumps(body), "seat": None}
    return lambda document: document["log"].insert(-1, dict(row))


ALONE: dict[str, tuple[Change, str]] = {
    "the number of a row": (set_field(9, seq=90), "row 9 is missing or out of place"),
    "the kind of a row": (set_field(9, kind="Order"), "a field of row 9 was changed"),
    "the seat of a row": (set_field(9, seat=2), "a field of row 9 was changed"),
    "how a row came": (set_field(9, by="clock"), "a field of row 9 was changed"),
    "the moment of a row": (set_field(9, at="2026-11-21T12:00:01+00:00"), "a field of row 9 was changed"),
    "the rules of a row": (set_field(9, rules=2), "a field of row 9 was changed"),
    "the text of a row": (set_field(9, body="{}"), "the text of row 9"),
    "the nonce of a row": (set_field(9, nonce="00" * 16), "the text of row 9"),
    "a longer nonce": (set_field(9, nonce="00" * 17), "the text of row 9"),
    "the text and nonce of a row lost": (set_field(9, body=None, nonce=None), "the text of row 9"),
    "the hash of a text": (set_field(9, body_hash="00" * 32), "the text of row 9"),
    "the hash of a row": (set_field(9, hash="00" * 32), "a field of row 9 was changed, or the row before it"),
    "the head": (set_in(None, "head", "00" * 32), "rows at the end are gone or added"),
    "the format": (set_in(None, "format", "chess"), "its form is unknown"),
    "the version": (set_in(None, "version", 99), "its form is unknown"),
    "a version that is no number": (set_in(None, "version", True), "its form is unknown"),
    "a row with no number": (true_for_one("log", 0, "seq"), "row 1 is missing or out of place"),
    "a line with no number": (true_for_one("talk", 0, "seq"), "line 1 is missing or out of place"),
    "rules without a number": (true_for_one("game", "rules"), "names rules 1, and the game rules"),
    "an option without a number": (true_for_one("game", "options", "max_rounds"), "other options than the first row"),
    "a seat without a number": (true_for_one("chance", "seating", 1), "other seating than the first row"),
    "a version with a fraction": (set_in(None, "version", 2.0), "its form is unknown"),
    "the key": (set_in("game", "key", "x"), "a field of row 1 was changed"),
    "the game": (set_in("game", "kind", "bid"), "other kind than the first row"),
    "the version of the rules": (set_in("game", "rules", 2), "names rules 1, and the game rules 2"),
    "the number of seats": (set_in("game", "seats", 4), "other seats than the first row"),
    "the options": (set_in("game", "options", {"x": 1}), "other options than the first row"),
    "the end": (set_in("game", "status", "void"), "the game did not end as the file says"),
    "the commitment": (set_in("chance", "commitment", "00" * 32), "other commitment than the first row"),
    "the secret": (set_in("chance", "secret", "00" * 32), "the secret is not the one"),
    "the words": (set_in("chance", "words", ["a", "b", "c"]), "other words than the first row"),
    "the seating": (set_in("chance", "seating", [2, 1, 0]), "other seating than the first row"),
    "rows in another order": (exchange_rows, "row 4 is missing or out of place"),
    "a row left out": (leave_out_replaced, "is missing or out of place"),
    "the end cut off": (cut(3, adjust=False), "rows at the end are gone or added"),
    "the end cut off with its head": (cut(3, adjust=True), "does not tell the secret"),
    "a game that is not over": (stop_early, "does not tell the secret"),
    "what was said": (lambda document: document["talk"][0].update(body="Bad luck!"), "the text of line 1"),
    "who said it": (lambda document: document["talk"][0].update(seat=1), "a field of line 1 was changed"),
    "a line without its text": (
        lambda document: document["talk"][0].update(body=None, nonce=None),
        "the text of these lines of the talk is gone, and no row says why: [1]",
    ),
    "a line left out": (lambda document: document["talk"].pop(1), "line 2 is missing"),
    "a part left out": (lambda document: document.pop("talk"), "KeyError"),
}
"""A change of one thing, and what the verifier says."""

HASHED_AGAIN: dict[str, tuple[Change, str]] = {
    "sealed bids exchanged": (exchange_bids, "the choice of seat 0 in row 12 is not the one that was sealed"),
    "sealed bids and choices exchanged": (exchange_bids_and_choices, "row 12 does not list the fingerprints"),
    "a sealed row left out": (leave_out_counting, "the choice of seat 1 in row 11 is not the one that was sealed"),
    "a replaced sealed row left out": (leave_out_replaced, "row 11 leaves out a sealed choice"),
    "a withdrawn sealed row left out": (leave_out_withdrawn, "row 10 leaves out a sealed choice"),
    "a sealed row left out before a rewind": (leave_out_before_the_rewind, "row 37 leaves out a sealed choice"),
    "a sealed row added": (add_sealed, "or has one too many"),
    "a sealed choice of another seat": (set_body("Sealed", seat=1), "row 4 names another seat"),
    "a sealed choice of another game": (set_body("Sealed", game="x"), "row 4 names another game"),
    "a sealed choice that names no game": (drop_from_body("Sealed", "game"), "row 4 names another game"),
    "a sealed choice for another turn": (set_body("Sealed", turn=2), "row 4 is for turn 2, not 1"),
    "a sealed choice taken back for another turn": (set_body("Withdrawn", turn=2), "row 6 is for turn 2"),
    "another seat's choice taken back": (set_field(6, seat=1), "row 6 takes back a choice that was not sealed"),
    "another fingerprint listed": (list_another, "row 12 does not list the fingerprints"),
    "a number that was not drawn": (draw_another, "the numbers drawn in row 2 are not of the seed"),
    "true for a number drawn": (true_for_a_number_drawn, "the numbers drawn in row 2 are not of the seed"),
    "true for the number of a turn": (true_for_one("turn", kind="Withdrawn"), "row 6 is for turn"),
    "true for an option": (true_for_one("options", "max_rounds", kind="Began"), "other options than the first row"),
    "true for a seat": (true_for_one("seating", 1, kind="Began"), "other seating than the first row"),
    "a number drawn below nothing": (draw_below_nothing, "no number can be drawn below 0"),
    "other words": (set_all("words", ["a", "b", "c"]), "the seats were not drawn from the seed"),
    "other seats": (set_all("seating", [2, 1, 0]), "the seats were not drawn from the seed"),
    "another commitment": (set_all("commitment", "00" * 32), "the secret is not the one"),
    "another secret": (other_secret, "drawn"),
    "the secret told otherwise": (set_body("Revealed", secret="00" * 32), "does not tell the secret"),
    "the secret not told": (cut(1, adjust=False), "does not tell the secret"),
    "the secret told before the end": (reveal_at_once, "the secret was told before the end"),
    "the secret told twice": (reveal_twice, "does not tell the secret"),
    "a name twice in a body": (write_otherwise("{", '{"turn":99,'), "a name is twice in one object, of turn"),
    "an entry left out": (lambda document: leave_out(document, rows_of(document, "Entry")[1]), "is for turn 2, not 1"),
    "entries in another order": (exchange_entries, "is for turn"),
    "the rules of a row alone": (set_field(9, rules=2), "row 9 names rules 2, and the game rules 1"),
    "a rewind to a turn that never was": (set_body("Rewound", **{"from": 99}), "goes back to turn 99"),
    "a rewind to luck that is known": (set_body("Rewound", turn=3), "row 38 opens turn 3, whose luck may be known"),
    "another line redacted": (set_body("Redacted", line=1), "lines of the talk is gone, and no row says why: [2]"),
    "an end without a result": (add_row("Voided", why="all agreed"), "the game did not end as the file says"),
    "a row of no known kind": (add_row("Blessed"), "is of a kind that cannot be there, Blessed"),
    "a second beginning": (add_row("Began", kind="bid"), "does not begin with its only row Began"),
}
"""A change with all hashes made again, and what the verifier says."""


@pytest.mark.parametrize("name", ALONE)
def test_a_change_is_found_and_named(name: str, tmp_path: Path) -> None:
    change, fault = ALONE[name]
    document = deepcopy(PLAYED)
    change(document)
    assert fault in says(document)
    assert own_problems(document, tmp_path)


@pytest.mark.parametrize("name", HASHED_AGAIN)
def test_a_change_with_all_hashes_made_again_is_found_and_named(name: str, tmp_path: Path) -> None:
    change, fault = HASHED_AGAIN[name]
    document = deepcopy(PLAYED)
    change(document)
    hash_again(document)
    assert fault in says(document)
    assert own_problems(document, tmp_path)


@pytest.mark.parametrize(("old", "new"), [('"turn":1', '"turn":1.0'), (":", ": "), ("{", '{"turn":99,')])
def test_a_body_written_in_another_way_than_a_log_writes_it_is_found(old: str, new: str, tmp_path: Path) -> None:
    document = deepcopy(PLAYED)
    write_otherwise(old, new)(document)
    hash_again(document)
    assert "row 12 is not written in the canonical way" in own_problems(document, tmp_path)


def test_a_fact_with_true_in_place_of_a_number_is_found(tmp_path: Path) -> None:
    document = deepcopy(PLAYED)
    true_for_one("entry", "facts", 0, "round", kind="Entry")(document)
    hash_again(document)
    found = own_problems(document, tmp_path)
    assert "row 2 has true or false in place of a number" in found
    assert "the choices of row 2, made again, lead to other facts" in found


def test_a_seat_that_has_sealed_cannot_close_the_turn_with_another_choice(tmp_path: Path) -> None:
    """Every hash and list is made again, and the facts are left to the rules, which may not be there."""
    document = deepcopy(PLAYED)
    list_again(document)
    assert document == PLAYED, "as honest code makes them"
    close_with_another(document)
    list_again(document)
    with pytest.raises(SystemExit, match="the choice of seat 0 in row 13 is not the one that was sealed"):
        VERIFIER.check(document, [])
    assert "the sealed choice of seat 0 is not in row 13" in own_problems(document, tmp_path)


def test_the_verifiers_say_what_became_of_each_sealed_choice() -> None:
    mine = first_turn(PLAYED)
    fates = VERIFIER.check(deepcopy(PLAYED), [row["body_hash"] for row in mine])
    own = verify_file(FOLDER / "sunset-poker-version-2.json", sealed=[row["body_hash"] for row in mine]).fates
    assert [each.fate for each in own] == ["replaced", "taken back", "counts"] * 2
    words = {"replaced": "was replaced in row", "taken back": "was taken back in row", "counts": "counts: it is in row"}
    lines = {f"{fate.fingerprint} {words[fate.fate]} {fate.by}." for fate in own}
    assert {*fates} == lines | {"Nothing was changed."}
    dropped = [each for each in every_fate(deepcopy(PLAYED)) if "was dropped when row" in each]
    undone = [each for each in every_fate(deepcopy(PLAYED)) if "counted until row" in each]
    kinds = {row["seq"]: row["kind"] for row in PLAYED["log"]}
    assert dropped
    assert {kinds[int(re.findall(r"row (\d+)", each)[0])] for each in dropped + undone} <= VERIFIER.CLOSING


def every_fate(document: Document) -> list[str]:
    return VERIFIER.check(document, [row["body_hash"][:20].upper() for row in rows_of(document, "Sealed")])[:-1]


NONSENSE: dict[str, Callable[[str], bytes]] = {
    "a moment before all time": lambda text: text.replace(
        '"2026-11-21T', '"0001-01-01T00:00:00+23:59", "x": "', 1
    ).encode(),
    "a deep list": lambda text: b"[" * 100_000,
    "a deep body": lambda text: text.replace('"body": "{', '"body": "' + "[" * 100_000 + "{", 1).encode(),
    "a huge number": lambda text: text.replace('"seq": 1,', f'"seq": {"9" * 5000},', 1).encode(),
    "a huge number of seats": lambda text: text.replace('"seats": 3', '"seats": 99999999999999999999').encode(),
    "letters that are not UTF-8": lambda text: text.encode() + b"\xff",
    "half a letter": lambda text: (
        text.replace('"seating"', '"\\ud800": 1, "seating"').replace('"rules": 1', '"rules": "\\ud800"').encode()
    ),
    "no file of JSON": lambda text: b"Nothing was changed.",
    "a list": lambda text: b"[1]",
    "a part twice": lambda text: text.replace("{", '{"log": [],', 1).encode(),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_no_file_makes_the_verifier_fall_over(name: str, tmp_path: Path) -> None:
    path = tmp_path / "nonsense.json"
    path.write_bytes(NONSENSE[name]((FOLDER / "sunset-poker-version-2.json").read_text(encoding="utf-8")))
    done = run(path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert problems_of(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = run(tmp_path / "nothing.json")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "nothing.json" in done.stderr


def test_a_fingerprint_can_be_worked_out_by_hand_as_the_page_says() -> None:
    page = (paths.handbook() / "game-file.md").read_text(encoding="utf-8")
    (line,) = (line.strip() for line in page.splitlines() if line.startswith("    hashlib."))
    row = first_turn(PLAYED)[0]
    by_hand = line.replace("NONCE", row["nonce"]).replace("TEXT", row["body"])
    assert eval(by_hand, {"hashlib": hashlib}) == row["body_hash"]


def test_the_page_names_every_kind_of_row_and_every_actor() -> None:
    page = (paths.handbook() / "game-file.md").read_text(encoding="utf-8")
    (kinds,) = (line for line in page.splitlines() if line.startswith("| `kind` | what happened"))
    assert {*Kind} == set(re.findall(r"`([A-Z]\w+)`", kinds)) - {"Said"} == VERIFIER.OF_LOG
    (actors,) = (line for line in page.splitlines() if line.startswith("| `by` |"))
    assert {*Actor, "table", "organiser", "host"} == set(re.findall(r"`(\w+)`", actors)) - {"by"}


def without_fingerprints(document: Document) -> None:
    """Make it a log of an earlier release, which binds the server to no sealed choice, and exchange two of them."""
    exchange_bids_and_choices(document)
    say(document["log"][0], lambda body: body.pop("fingerprints"))
    for row in document["log"]:
        for name in ("game", "seat") if row["kind"] == "Sealed" else ("sealed", "all_sealed"):
            say(row, methodcaller("pop", name, None))


def test_a_forger_of_everything_is_found_by_the_fingerprints_in_emails(tmp_path: Path) -> None:
    fingerprint = first_turn(PLAYED)[2]["body_hash"]
    head = rows_of(PLAYED, "Entry")[1]["hash"][: hash_chain.FINGERPRINT_DIGITS]
    VERIFIER.check(deepcopy(PLAYED), [fingerprint, head.upper()])
    assert verify_file(FOLDER / "sunset-poker-version-2.json", [fingerprint, head.upper()]).sound
    document = deepcopy(PLAYED)
    without_fingerprints(document)
    hash_again(document)
    VERIFIER.check(document, [])
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    for printed in (fingerprint, head):
        done = run(path, printed)
        assert done.returncode == 1
        assert f"no row has the fingerprint {printed}" in done.stderr
        assert any(printed in each.says for each in verify_file(path, [printed]).problems)
