"""What `pbem verify` finds: nothing in a game as it was played, and everything that was changed afterwards."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from engine import codec, registry
from engine.facts import SPECTATOR
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput, Refusal
from pbem.ops.verify import games_to_verify, verify_file, verify_games
from pbem.service.archive import export
from pbem.service.archive.verify import Report
from pbem.service.play import standing_orders, undo, views
from pbem.service.play.move import Actor
from pbem.service.tables import leaving, talk
from pbem.store import games, views as kept_views
from pbem.store.database import Store
from tests.service.running_game import RunningGame

Table = Callable[..., RunningGame]


def found(begun: RunningGame, *printed: str) -> Report:
    """What is found in one game."""
    return next(verify_games(begun.server.store, [begun.id], printed))


def problems(begun: RunningGame, *printed: str) -> str:
    """All that is found in one game, as text."""
    return "\n".join(f"{each.seq}: {each.says}" for each in found(begun, *printed).problems)


def tamper(begun: RunningGame, statement: str, **values: Any) -> None:
    """Change the database behind everyone's back."""
    begun.server.store.write(lambda tx: tx.execute(text(statement), {"game": begun.id} | values))


def keep_views(begun: RunningGame) -> None:
    """Store the views of all readers as they are now."""

    def keep(tx: Any) -> None:
        row = games.lock(tx, begun.id)
        known = {seat: views.view(tx, row, seat) for seat in (*range(row.seats), SPECTATOR)}
        bodies = {seat: codec.dumps(view) for seat, view in known.items()}
        kept_views.keep(tx, row.id, row.turn - 1, row.seq, bodies)

    begun.server.store.write(keep)


@pytest.mark.parametrize("kind", registry.names())
def test_a_game_as_it_was_played_is_sound_at_every_moment(table: Table, kind: str) -> None:
    begun = table(kind, registry.load(kind).seats[1])
    for number, _ in enumerate(begun.play_defaults()):
        if number % 7 == 3:
            keep_views(begun)
        if number % 9 == 0:
            assert problems(begun) == ""
        if number == 60:
            break
    report = found(begun)
    assert report.sound
    assert report.rows == begun.row().seq
    assert report.made_again == report.entries > 0


def test_a_game_that_is_over_is_sound_and_so_is_its_file(table: Table, tmp_path: Path) -> None:
    begun = table("sorcerous-futures", 3)
    assert list(begun.play_defaults())[-1].over
    assert problems(begun) == ""
    file = tmp_path / "game.json"
    file.write_text(export.write(begun.server.read(export.of_game, begun.id)), encoding="utf-8")
    report = verify_file(file)
    assert report.problems == ()
    assert report.made_again == report.entries == found(begun).entries


def test_choices_taken_back_sealed_choices_and_orders_are_sound(table: Table) -> None:
    begun = table("sun-bid", 3)
    for number in range(12):
        for seat, decision in begun.asked().items():
            turn = begun.row().turn
            receipt = begun.play(seat, decision.default)
            if number % 2 and took_back(begun, turn, seat):
                assert problems(begun) == ""
                begun.play(seat, receipt.choice)
            break
    assert any(row.kind in ("Undone", "Withdrawn") for row in begun.log())
    assert problems(begun) == ""


def took_back(begun: RunningGame, turn: int, seat: int) -> bool:
    try:
        begun.server.run(undo.take_back, begun.id, turn, seat)
    except Refusal:
        return False
    return True


@pytest.mark.slow
def test_standing_orders_are_sound_while_they_answer_and_after_they_ended(table: Table) -> None:
    begun = table("sun-bid", 3)
    for _ in range(40):
        for seat, decision in begun.asked().items():
            ordered = dict(codec.loads(registry.load("sun-bid"), begun.row().orders))
            if seat == 1 and seat not in ordered and decision.default.verb == "flip":
                begun.server.run(standing_orders.set_order, begun.id, seat, "always flip")
                break
            begun.play(seat, decision.default)
            break
        assert problems(begun) == ""
    assert any(row.by == Actor.ORDER for row in begun.log())


def test_a_game_that_was_left_and_ended_without_a_result_is_sound(table: Table) -> None:
    begun = table("sunset-poker", 3)
    begun.server.run(leaving.resign, begun.id, 0, begun.person_at(0))
    assert problems(begun) == ""
    for seat in (1, 2):
        begun.server.run(leaving.agree_to_end, begun.id, begun.person_at(seat))
    assert begun.row().status == "void"
    assert problems(begun) == ""


def test_a_table_that_has_not_begun_is_sound(table: Table, person: Callable[[str], int]) -> None:
    begun = table()
    from pbem.service.tables import joining
    from pbem.service.tables.new import TableSettings

    waiting = begun.server.run(joining.create_table, person("Ann"), TableSettings("bid", 3)).game_id
    assert problems(RunningGame(begun.server, waiting)) == ""


@pytest.fixture
def played(table: Table) -> RunningGame:
    """A game in its middle, with views kept and a choice in the box."""
    begun = table("sunset-poker", 3)
    for _, _receipt in zip(range(10), begun.play_defaults(), strict=False):
        pass
    keep_views(begun)
    return begun


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE log SET body = :junk WHERE game_id = :game AND seq = 5", "5: the text of row 5"),
        ("UPDATE log SET nonce = :nonce WHERE game_id = :game AND seq = 5", "5: the text of row 5"),
        ("UPDATE log SET by = 'clock' WHERE game_id = :game AND seq = 5", "5: row 5 breaks the chain"),
        ("UPDATE log SET seat = 9 WHERE game_id = :game AND seq = 5", "5: row 5 breaks the chain"),
        ("UPDATE log SET rules = 9 WHERE game_id = :game AND seq = 5", "5: row 5 breaks the chain"),
        ("DELETE FROM log WHERE game_id = :game AND seq = 5", "row 5 was expected here, but this is row 6"),
        ("DELETE FROM log WHERE game_id = :game AND seq > 5", "rows are missing at the end"),
        ("UPDATE log SET seq = seq + 100 WHERE game_id = :game AND seq = 5", "row 5 was expected here"),
        ("UPDATE game SET head = :nonce WHERE id = :game", "rows are missing at the end"),
        ("UPDATE game SET state = '{}' WHERE id = :game", "the stored state is not what the log says"),
        ("UPDATE game SET state = 'no JSON' WHERE id = :game", "the stored state is not what the log says"),
        ("UPDATE game SET box = '[[9,9]]' WHERE id = :game", "the stored box is not what the log says"),
        ("UPDATE game SET seals = '[]' WHERE id = :game", "the stored seals are not what the log says"),
        ("UPDATE game SET orders = '[[1,2]]' WHERE id = :game", "the stored orders is not what the log says"),
        ('UPDATE game SET "turn" = 3 WHERE id = :game', "the stored turn is 3"),
        ("UPDATE game SET status = 'over' WHERE id = :game", "stored as over, but the log says playing"),
        ("UPDATE game SET entry_head = :nonce WHERE id = :game", "head of the last entry"),
        ("UPDATE game SET seq = 2 WHERE id = :game", "stored with 2 rows"),
        ("UPDATE game SET secret = :nonce WHERE id = :game", "doesn't match its commitment"),
        ("UPDATE game SET seed = :nonce WHERE id = :game", "stored seed doesn't follow from"),
        ("UPDATE game SET commitment = 'x' WHERE id = :game", "stored commitment"),
        ("UPDATE game SET options = '{}' WHERE id = :game", "seats or options"),
        ("UPDATE player SET word = 'x' WHERE game_id = :game AND number = 1", "stored words"),
        ("UPDATE player SET seat = NULL WHERE game_id = :game AND number = 1", "stored seats"),
        ("UPDATE view SET body = '{}' WHERE game_id = :game AND seat = 1", "view kept for seat 1"),
        ("UPDATE view SET turn = 9 WHERE game_id = :game", "is said to be of entry 9"),
        ("UPDATE view SET seq = 500 WHERE game_id = :game AND seat = 1", "kept for row 500"),
    ],
)
def test_a_change_in_the_database_is_found(played: RunningGame, statement: str, says: str) -> None:
    assert problems(played) == ""
    tamper(played, statement, **{name: value for name, value in TAMPERED.items() if f":{name}" in statement})
    assert says in problems(played)


TAMPERED = {"junk": b'{"a":1}', "nonce": bytes(16)}


def rewritten(
    begun: RunningGame, seq: int, change: Callable[[dict[str, Any]], object] = lambda _: None, **columns: Any
) -> None:
    """Change a row's body or columns and hash everything again from there on, the heads too: the best that a forger can do."""
    rows = begun.log()
    head = hash_chain.genesis(begun.row().key)
    entry_head = head
    forged = []
    for row in rows:
        body = row.body
        assert body is not None
        if row.seq == seq:
            document = json.loads(body)
            change(document)
            body = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        assert row.nonce is not None
        names = ("game", "seq", "kind", "seat", "by", "at", "rules", "nonce")
        fields = {name: getattr(row, name) for name in names} | (columns if row.seq == seq else {})
        again = hash_chain.next_row(head, body=body, **fields)
        head = again.hash
        entry_head = again.hash if row.kind in ("Entry", "Undone") else entry_head
        forged.append(again)

    def put(tx: Any) -> None:
        for row in forged:
            values = {"game": begun.id, "seq": row.seq, "body": row.body, "a": row.body_hash, "b": row.hash}
            tx.execute(
                text(
                    "UPDATE log SET body = :body, body_hash = :a, hash = :b, rules = :rules"
                    " WHERE game_id = :game AND seq = :seq"
                ),
                values | {"rules": row.rules},
            )
        values = {"game": begun.id, "head": head, "entry": entry_head}
        tx.execute(text("UPDATE game SET head = :head, entry_head = :entry WHERE id = :game"), values)

    begun.server.store.write(put)


def test_a_fact_that_was_forged_with_all_its_hashes_is_found_by_playing_again(played: RunningGame) -> None:
    entry = next(row for row in played.log() if row.kind == "Entry" and row.seq > 4)

    def drop(document: dict[str, Any]) -> None:
        document["entry"]["facts"].pop()

    rewritten(played, entry.seq, drop)
    assert f"{entry.seq}: the choices of row {entry.seq}, made again, lead to other facts" in problems(played)


def test_sealed_bids_that_were_exchanged_are_found(table: Table) -> None:
    begun = table("sunset-poker", 3)
    for seat in (0, 1, 2):
        begun.play(seat, begun.open()[seat].default)
    mine, yours = (row.seq for row in begun.log() if row.kind == "Sealed")
    says = [json.loads(begun.log()[seq - 1].body or b"")["choice"] for seq in (mine, yours)]
    rewritten(begun, mine, lambda document: document.update(choice=says[1]))
    assert "the sealed choice of seat 0 is not in row 5" in problems(begun)
    rewritten(begun, yours, lambda document: document.update(choice=says[0]))

    def exchange(document: dict[str, Any]) -> None:
        document["entry"]["choices"][:2] = [[0, says[1]], [1, says[0]]]

    rewritten(begun, yours + 1, exchange)
    assert "row 5 does not have the fingerprints of the choices sealed in its turn" in problems(begun)


def test_a_sealed_choice_that_names_another_seat_or_game_is_found(table: Table) -> None:
    begun = table("sunset-poker", 3)
    begun.play(0, begun.open()[0].default)
    rewritten(begun, 3, lambda document: document.update(game="other"))
    assert "the sealed choice in row 3 names another game or seat than its row" in problems(begun)
    rewritten(begun, 3, lambda document: [document.pop(name) for name in ("game", "seat")])
    assert "the sealed choice in row 3 names no game and seat" in problems(begun)


def test_choices_that_were_played_by_other_rules_are_found(tmp_path: Path) -> None:
    path = Path(__file__).parent / "game_files" / "bid-version-2.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["game"]["rules"] == registry.load("bid").version == 2
    document["game"]["rules"], head = 1, hash_chain.genesis(document["game"]["key"])
    for row, written in zip(export.read(json.dumps(document)).log, document["log"], strict=True):
        names = ("game", "seq", "kind", "seat", "by", "at", "body", "nonce")
        again = hash_chain.next_row(head, rules=1, **{name: getattr(row, name) for name in names})
        head = again.hash
        written |= {"rules": 1, "body_hash": again.body_hash.hex(), "hash": head.hex()}
    document["head"] = head.hex()
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(document), encoding="utf-8")
    says = {problem.says for problem in verify_file(forged).problems}
    assert says == {f"the choices of row {row}, made again, lead to other facts" for row in (21, 25)}


def test_a_row_stamped_with_another_version_is_found(played: RunningGame) -> None:
    row = next(row for row in played.log() if row.kind == "Sealed")
    rewritten(played, row.seq, rules=9)
    assert problems(played) == f"{row.seq}: row {row.seq} names rules 9, but the game began with rules {row.rules}"


def test_a_number_that_was_not_drawn_is_found(played: RunningGame) -> None:
    deal = next(row for row in played.log() if row.kind == "Entry")

    def other(document: dict[str, Any]) -> None:
        bound, number = document["entry"]["drawn"][0]
        document["entry"]["drawn"][0] = [bound, (number + 1) % bound]

    rewritten(played, deal.seq, other)
    assert "are not those that the seed gives" in problems(played)


def test_a_rewritten_history_does_not_have_the_heads_printed_in_emails(played: RunningGame) -> None:
    printed = hash_chain.fingerprint(played.row().entry_head)
    assert problems(played, printed) == ""
    first = played.log()[0]
    rewritten(played, first.seq, lambda document: document.update(pace="7d"))
    assert f"no row has the head {printed}" in problems(played, printed)


def test_a_row_that_means_nothing_ends_the_replay_and_is_named(played: RunningGame) -> None:
    entry = next(row for row in played.log() if row.kind == "Entry" and row.seq > 4)
    rewritten(played, entry.seq, lambda document: document["entry"].update(facts=[{"is": "NoSuchFact"}]))
    assert f"{entry.seq}: row {entry.seq} (Entry) makes no sense here" in problems(played)


def test_verifying_changes_nothing(played: RunningGame) -> None:
    def digest() -> str:
        with played.server.store.read() as tx:
            tables = ("game", "log", "player", "view", "outbox", "deadline", "ledger")
            rows = [tuple(row) for name in tables for row in tx.execute(text(f"SELECT * FROM {name} ORDER BY 1, 2"))]
        return hashlib.sha256(repr(rows).encode()).hexdigest()

    before = digest()
    assert problems(played) == ""
    assert digest() == before


def test_all_games_are_checked_and_their_rows_counted(store: Store, table: Table) -> None:
    first, second = table("bid", 3), table("sunset-poker", 3)
    ids, rows = games_to_verify(store)
    read: list[int] = []
    reports = list(verify_games(store, ids, progress=read.append))
    assert [report.game_id for report in reports] == [first.id, second.id]
    assert sum(read) == rows == first.row().seq + second.row().seq
    assert games_to_verify(store, second.id) == ([second.id], second.row().seq)


@pytest.fixture
def file(table: Table, tmp_path: Path) -> Path:
    """The file of a finished game."""
    begun = table("sorcerous-futures", 3)
    for _ in begun.play_defaults():
        pass
    path = tmp_path / "game.json"
    path.write_text(export.write(begun.server.read(export.of_game, begun.id)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("game", "seats", 4),
        ("game", "status", "void"),
        ("game", "options", {"x": 1}),
        ("chance", "commitment", "00"),
        ("chance", "secret", "00" * 32),
        ("chance", "words", ["a", "b"]),
        ("chance", "seating", [0]),
        (None, "head", "00" * 32),
    ],
)
def test_a_file_in_which_anything_was_changed_is_found_out(
    file: Path, part: str | None, name: str, value: object
) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    (document if part is None else document[part])[name] = value
    file.write_text(json.dumps(document), encoding="utf-8")
    assert not verify_file(file).sound


def test_the_talk_in_a_file_is_checked_and_may_be_redacted_where_the_log_says_so(table: Table, tmp_path: Path) -> None:
    begun = table("sorcerous-futures", 3)
    for line in ("first", "second", "third"):
        begun.server.run(talk.say, begun.id, 0, begun.person_at(0), line)
    for _ in begun.play_defaults():
        pass
    path = tmp_path / "game.json"
    whole = export.write(begun.server.read(export.of_game, begun.id))
    path.write_text(whole, encoding="utf-8")
    assert verify_file(path).sound
    for change in ({"body": "other"}, {"seat": 1}, {"body": None, "nonce": None}):
        document = json.loads(whole)
        document["talk"][1] |= change
        path.write_text(json.dumps(document), encoding="utf-8")
        assert any("table talk" in wrong.says for wrong in verify_file(path).problems)


def test_something_else_than_a_game_file_is_refused(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"{}", b"\xff\xfe", b'{"format": "pbem-game", "version": 99}')):
        path = tmp_path / str(number)
        path.write_bytes(content)
        with pytest.raises(BadInput, match="isn't a game file"):
            verify_file(path)


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "game_files").iterdir()), ids=lambda path: path.stem)
def test_a_file_of_an_earlier_version_is_still_verified(path: Path) -> None:
    report = verify_file(path)
    assert report.sound
    assert report.made_again == report.entries > 0
