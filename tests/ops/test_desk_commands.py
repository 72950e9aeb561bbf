"""What the commands of the desk do and say."""

import json
import os
from pathlib import Path

import pytest

from pbem.config import read
from pbem.ops.setup import open_store, server_on
from pbem.service.desk import calls
from pbem.service.people import addresses
from pbem.store import organisers
from tests.ops.conftest import Run
from tests.ops.test_commands import change

WORDS = "correct horse battery staple"

LINE = {"seq": 1, "at": "2026-11-21T12:00:00+00:00", "actor": "x", "act": "x", "text": ""}
LINE |= {"nonce": "00" * 16, "body_hash": "00" * 32, "hash": "00" * 32}


def add(pbem: Run, name: str = "Ann") -> None:
    assert pbem("organiser", "add", name, f"{name}@example.org", typed=f"{WORDS}\n{WORDS}\n").exit_code == 0


def call_here(text: str) -> int:
    """Send a message from Zoe to the organisers of the server in this folder. Returns its number."""
    with open_store(read(os.environ)) as store:
        server = server_on(store, read(os.environ))
        return server.run(calls.call, server.run(addresses.register, "zoe@example.org", "Zoe").id, text)


def totp_of(name: str) -> str | None:
    with open_store(read(os.environ)) as store, store.read() as tx:
        found = organisers.by_name(tx, name)
        assert found is not None
        return found.totp


def test_codes_are_in_force_only_when_one_of_them_was_typed(pbem: Run) -> None:
    pbem("init")
    add(pbem)
    refused = pbem("organiser", "totp", "Ann", typed="000000\n")
    assert refused.exit_code == 1
    assert "The secret: " in refused.output
    assert totp_of("Ann") is None
    assert pbem("organiser", "totp", "Nobody").exit_code == 1


def test_codes_are_taken_away_from_an_organiser_who_lost_their_phone(pbem: Run) -> None:
    pbem("init")
    add(pbem)
    change("UPDATE organiser SET totp = 'JBSWY3DPEHPK3PXP', totp_step = 1")
    assert "with codes" in pbem("organiser", "list").output
    assert pbem("organiser", "totp", "Ann", "--off").exit_code == 0
    assert totp_of("Ann") is None


def test_calls_are_listed_answered_and_closed(pbem: Run) -> None:
    pbem("init")
    assert "Nobody waits." in pbem("call", "list").output
    first, second, third = call_here("My mail is gone."), call_here("Hello?"), call_here("And now?")
    waiting = pbem("call", "list").output
    assert "Zoe" in waiting
    assert waiting.index("My mail is gone.") < waiting.index("Hello?")
    assert pbem("call", "answer", str(first), "--text", "It is in the other folder.").exit_code == 0
    assert pbem("call", "answer", str(second), typed="Hello!\n\nGreetings\n").exit_code == 0
    assert pbem("call", "close", str(third)).exit_code == 2
    assert pbem("call", "close", str(third), "--reason", "Twice the same.").exit_code == 0
    assert "Nobody waits." in pbem("call", "list").output
    closed = pbem("call", "list", "--closed").output
    assert all(text in closed for text in ("It is in the other folder.", "Greetings", "Twice the same."))
    assert pbem("call", "close", "99", "--reason", "There is none.").exit_code == 1


def test_the_audit_names_the_account_on_the_machine(pbem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "carla")
    pbem("init")
    add(pbem)
    listed = pbem("audit", "list").output
    assert "command line carla  organiser added" in listed
    assert "No such acts" in pbem("audit", "list", "--act", "ban").output


NO_LINES: dict[str, dict[str, object]] = {
    "a moment without a zone": {"at": "2026-11-21T12:00:00"},
    "a moment after all time": {"at": "9999-12-31T23:59:59-23:59"},
    "half a letter": {"actor": "\ud800"},
    "a number for an act": {"act": 5},
}
NO_TEXTS = {name: json.dumps(LINE | fields).encode() for name, fields in NO_LINES.items()} | {
    "a deep list": b"[" * 100_000,
    "letters that are not UTF-8": b"\xff",
}


@pytest.mark.parametrize("name", NO_TEXTS)
def test_no_line_makes_the_check_of_an_audit_fall_over(pbem: Run, folder: Path, name: str) -> None:
    (folder / "audit.jsonl").write_bytes(NO_TEXTS[name])
    assert "isn't an exported audit" in pbem("audit", "verify", "audit.jsonl").output


def test_the_audit_verifies_until_it_is_altered(pbem: Run, folder: Path) -> None:
    pbem("init")
    add(pbem)
    exported = pbem("audit", "export").output
    (folder / "audit.jsonl").write_text(exported)
    head = json.loads(exported.splitlines()[-1])["hash"][:20]
    pbem("organiser", "remove", "Ann")
    assert pbem("audit", "verify", "--head", head).exit_code == 0
    assert pbem("audit", "verify", "audit.jsonl", "--head", head).exit_code == 0
    assert pbem("audit", "verify", "--head", "0" * 20).exit_code == 1
    change("UPDATE audit SET reason = 'Another.' WHERE seq = 1")
    altered = pbem("audit", "verify")
    assert altered.exit_code == 1
    assert "row 1" in altered.output
    (folder / "audit.jsonl").write_text(exported.replace("organiser added", "organiser removed"))
    assert pbem("audit", "verify", "audit.jsonl").exit_code == 1
    (folder / "other.txt").write_text("Dear diary\n")
    assert "isn't an exported audit" in pbem("audit", "verify", "other.txt").output
