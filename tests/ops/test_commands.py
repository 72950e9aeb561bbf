"""What the commands of `pbem` do and say, through the door that organisers use."""

import os
import re
import stat
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from pbem.clock import SystemClock
from pbem.config import read
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.mail.send.smtp import Outcome, Result
from pbem.ops.setup import open_server, open_store, remember_keys, server_on
from pbem.service.clocks import clock_steps
from pbem.service.outgoing.deliver import deliver
from pbem.service.outgoing.post import post_of
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import organisers, outbox
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring, rotate
from tests.mail.transports import FunctionTransport
from tests.ops.conftest import Run
from tests.service.running_game import RunningGame


def begin_here(kind: str = "sunset-poker") -> int:
    """Begin a game of two people and a bot on the server in this folder."""
    with open_store(read(os.environ)) as store:
        server = server_on(store, read(os.environ))
        players = [
            server.run(addresses.confirm, server.run(addresses.register, f"{n}@example.org", n).id).id
            for n in ("Ann", "Ben")
        ]
        game_id = server.run(joining.create_table, players[0], TableSettings(kind, 3, bots=("random",))).game_id
        for player in players:
            server.run(joining.join, game_id, player)
        return game_id


def change(statement: str, **values: object) -> None:
    """Change the database in this folder behind everyone's back."""
    with open_store(read(os.environ)) as store:
        store.write(lambda tx: tx.execute(text(statement), values))


def test_init_makes_everything_and_for_its_owner_alone(pbem: Run, folder: Path) -> None:
    done = pbem("init")
    assert done.exit_code == 0
    data = folder / ".pbem"
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    for name in ("keys", "pbem.sqlite3"):
        assert stat.S_IMODE((data / name).stat().st_mode) == 0o600
    assert pbem("doctor").exit_code == 0


def test_files_that_root_makes_belong_to_the_account_of_the_folder(pbem: Run, folder: Path) -> None:
    data = folder / ".pbem"
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(data, 65534, 65534)
    owner = data.stat().st_uid

    def owners() -> dict[str, int]:
        return {each.name: each.stat().st_uid for each in data.iterdir()}

    assert pbem("init").exit_code == 0
    assert owners() == dict.fromkeys(("keys", "pbem.sqlite3", "pbem.sqlite3.lock"), owner)
    assert pbem("keys", "rotate").exit_code == 0
    assert pbem("backup", "saved").exit_code == 0
    for each in data.iterdir():
        each.unlink()
    assert pbem("restore", "saved").exit_code == 0
    assert owners() == dict.fromkeys(("keys", "pbem.sqlite3", "pbem.sqlite3.lock"), owner)


def test_init_again_changes_nothing(pbem: Run, folder: Path) -> None:
    pbem("init")
    keys = (folder / ".pbem" / "keys").read_text()
    again = pbem("init")
    assert "Nothing was changed" in again.output
    assert (folder / ".pbem" / "keys").read_text() == keys


@pytest.mark.slow
def test_keys_that_games_need_are_never_made_again_but_asked_for(pbem: Run, folder: Path) -> None:
    pbem("init")
    begin_here()
    keys = folder / ".pbem" / "keys"
    assert pbem("backup", "saved").exit_code == 0
    keys.unlink()
    commands = ["serve"], ["init"], ["doctor"], ["backup", "other"], ["keys", "list"], ["keys", "rotate"], ["worker"]
    for command in commands:
        result = pbem(*command)
        assert result.exit_code == 1
        assert "The keys of this server are missing." in result.output
        assert f"Restore them from the backup: the file ending in .keys belongs at {keys}." in result.output
        assert "Make them with `pbem init`" not in result.output
        assert not keys.exists()
    new = pbem("keys", "new")
    assert new.exit_code == 0
    assert "open turn" in new.output
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert pbem("keys", "new").exit_code == 1
    keys.unlink()
    keys.write_bytes((folder / "saved.keys").read_bytes())
    keys.chmod(0o600)
    assert "Nothing was changed" in pbem("init").output


def test_doctor_and_migrate_name_what_is_not_as_this_release_makes_it(pbem: Run) -> None:
    pbem("init")
    change("DROP INDEX ix_outbox_due")
    change("ALTER TABLE ban DROP COLUMN reason")
    for command in ("doctor", "migrate"):
        result = pbem(command)
        assert result.exit_code == 1
        assert "The table outbox lacks the index ix_outbox_due (status, due_at)." in result.output
        assert "Create it again: CREATE INDEX ix_outbox_due ON outbox (status, due_at);" in result.output
        assert "The table ban lacks the column reason" in result.output


def test_keys_of_another_server_are_refused_until_its_own_are_back(pbem: Run, folder: Path) -> None:
    pbem("init")
    remember()
    file = folder / ".pbem" / "keys"
    own, other = file.read_text(), Keyring.new(b"o" * SECRET_BYTES, date(2026, 11, 1))
    file.write_text(other.text())
    for command in ["doctor"], ["serve"], ["worker"], ["backup", "other"], ["keys", "rotate"], ["organiser", "list"]:
        refused = pbem(*command)
        assert refused.exit_code == 1
        assert "These keys are another server's." in refused.output
        assert str(file) in refused.output
        assert "`pbem keys new`" in refused.output
        assert file.read_text() == other.text()
    file.write_text(own)
    assert pbem("organiser", "list").exit_code == 0


@pytest.mark.parametrize("serves", [True, False], ids=["a worker has used the new key", "no worker has"])
def test_keys_are_known_after_rotation_and_those_that_were_revoked_are_not(
    pbem: Run, folder: Path, *, serves: bool
) -> None:
    pbem("init")
    remember()
    file = folder / ".pbem" / "keys"
    first = file.read_text()
    pbem("keys", "rotate")
    if serves:
        remember()
    pbem("keys", "revoke", "a")
    assert pbem("organiser", "list").exit_code == 0
    newest = file.read_text()
    file.write_text(first)
    assert "another server's" in pbem("organiser", "list").output
    file.unlink()
    assert pbem("keys", "new").exit_code == 0
    assert pbem("organiser", "list").exit_code == 0
    file.write_text(newest)
    assert pbem("organiser", "list").exit_code == 0


def test_the_doctor_finds_a_machine_that_lacks_the_key_which_others_sign_with(pbem: Run, folder: Path) -> None:
    missing = "The key that new links are made with is missing here"
    pbem("init")
    file = folder / ".pbem" / "keys"
    first = file.read_text()
    pbem("keys", "rotate")
    file.write_text(first)
    found = pbem("doctor")
    assert found.exit_code == 1
    assert missing in found.output
    assert f"Copy {file} from the machine where it was made" in " ".join(found.output.split())
    # Where it's lost for good, another one takes its place.
    assert pbem("keys", "rotate").exit_code == 0
    assert missing not in pbem("doctor").output


def test_no_key_can_be_had_from_what_the_database_knows_of_it() -> None:
    secret = bytes(range(SECRET_BYTES))
    keys = Keyring.new(secret, date(2026, 11, 1))
    (fingerprint,) = keys.fingerprints
    assert secret.hex() not in fingerprint
    assert fingerprint not in keys.text()
    assert Keyring.new(secret[::-1], date(2026, 11, 1)).fingerprints != keys.fingerprints
    assert rotate(keys, b"n" * SECRET_BYTES, date(2026, 11, 2)).fingerprints > keys.fingerprints


def remember() -> None:
    """What a worker does first with its keys."""
    with open_server(read(os.environ)) as server:
        remember_keys(server)


def test_keys_that_are_set_elsewhere_are_not_made(pbem: Run, folder: Path, tmp_path: Path) -> None:
    pbem("init")
    keys = tmp_path / "secret"
    keys.write_text((folder / ".pbem" / "keys").read_text())
    (folder / ".pbem" / "keys").unlink()
    pbem("init", PBEM_KEYS_FILE=str(keys))
    assert not (folder / ".pbem" / "keys").exists()
    refused = pbem("keys", "rotate", PBEM_KEYS_FILE=str(keys))
    assert refused.exit_code == 1
    assert "not in its data folder" in refused.output


def test_wrong_settings_are_all_told_at_once_without_a_trace(pbem: Run) -> None:
    for command in (["init"], ["serve"], ["doctor"], ["config", "show"], ["verify"]):
        wrong = pbem(*command, PBEM_WEB_PORT="many", PBEM_SITE_TIMEZONE="Mars/Olympus", PBEM_SMPT_HOST="x")
        assert wrong.exit_code == 2
        for words in ("PBEM_WEB_PORT", "PBEM_SITE_TIMEZONE", "did you mean PBEM_SMTP_HOST", "Nothing was started"):
            assert words in wrong.output
        assert "Traceback" not in wrong.output


@pytest.mark.parametrize("command", [["verify"], ["rebuild"], ["backup", "b"], ["migrate"], ["organiser", "list"]])
def test_without_a_server_commands_say_how_to_make_one_and_make_none(
    pbem: Run, folder: Path, command: list[str]
) -> None:
    ended = pbem(*command)
    assert ended.exit_code == 1
    assert "`pbem init`" in ended.output
    assert list(folder.iterdir()) == []


def test_config_show_tells_no_secret(pbem: Run, folder: Path) -> None:
    pbem("init")
    shown = pbem("config", "show").output
    secret = (folder / ".pbem" / "keys").read_text().split(":")[-1].strip()
    assert "PBEM_KEYS" in shown
    assert secret not in shown


def test_verify_says_what_is_wrong_and_at_which_row(pbem: Run) -> None:
    pbem("init")
    game_id = begin_here()
    good = pbem("verify")
    assert good.exit_code == 0
    assert "1 game, " in good.output
    assert "no choices of bots made again." in pbem("verify", "--bots").output
    change("UPDATE log SET body = :body WHERE game_id = :game AND seq = 2", body=b"{}", game=game_id)
    bad = pbem("verify", "--game", str(game_id))
    assert bad.exit_code == 1
    assert f"game {game_id}, row 2: the text of row 2" in bad.output
    assert pbem("verify", "--game", "99").exit_code == 1


def test_rebuild_mends_a_snapshot_and_leaves_a_bad_log_alone(pbem: Run) -> None:
    pbem("init")
    first, second = begin_here(), begin_here("bid")
    change("UPDATE game SET state = '{}', status = 'frozen' WHERE id = :game", game=first)
    change("DELETE FROM log WHERE game_id = :game AND seq = 2", game=second)
    assert pbem("verify", "--game", str(first)).exit_code == 1
    rebuilt = pbem("rebuild")
    assert rebuilt.exit_code == 1
    assert f"game {first}: the stored state is not what the log says; corrected" in rebuilt.output
    assert f"game {second}: left alone, because its log fails verification" in rebuilt.output
    assert pbem("verify", "--game", str(first)).exit_code == 0
    assert pbem("verify", "--game", str(second)).exit_code == 1


def test_a_rebuilt_game_goes_on(pbem: Run) -> None:
    pbem("init")
    game_id = begin_here()
    change("UPDATE game SET state = 'lost', box = 'lost', seals = 'lost', orders = 'lost', \"turn\" = 99")
    assert pbem("rebuild", "--game", str(game_id)).exit_code == 0
    with open_store(read(os.environ)) as store:
        begun = RunningGame(server_on(store, read(os.environ)), game_id)
        seat, decision = next(iter(begun.asked().items()))
        begun.play(seat, decision.default)
    assert pbem("verify").exit_code == 0


def test_the_doctor_says_what_to_do_for_each_trouble(pbem: Run, folder: Path) -> None:
    ill = pbem("doctor")
    assert ill.exit_code == 1
    for words in ("no keys", "There is no database", "-> Create them with `pbem init`"):
        assert words in ill.output
    pbem("init")
    game_id = begin_here()
    with open_store(read(os.environ)) as store:
        server_on(store, read(os.environ)).run(clock_steps.go_back, timedelta(hours=2))
    change("UPDATE game SET status = 'frozen'")
    change(f"INSERT INTO flaw VALUES ({game_id}, '2026-11-21 00:00:00.000000', 3, 'it was altered')")
    flawed = pbem("doctor").output
    assert "`pbem restore BACKUP --game N` restores one" in flawed
    change("UPDATE outbox SET status = 'parked' WHERE id = (SELECT min(id) FROM outbox)")
    an_hour_ago = "strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 hours') || '000'"
    change(f"INSERT INTO heartbeat VALUES ('w', {an_hour_ago}, {an_hour_ago})")
    change("UPDATE outbox SET due_at = '2020-01-01 00:00:00.000000'")
    ill = pbem("doctor")
    assert ill.exit_code == 1
    for words in (
        f"Games {game_id} were stopped",
        "given up",
        "no email leaves",
        "emails are waiting, the oldest for",
        "clock was set back by 2 hours",
    ):
        assert words in ill.output
    assert all(re.search(r"-> [A-Z`]", line) for line in ill.output.splitlines() if "->" in line)


def test_the_doctor_reaches_for_the_relay(pbem: Run) -> None:
    pbem("init")
    public = {"PBEM_BASE_URL": "https://games.example.org", "PBEM_SMTP_HOST": "127.0.0.1", "PBEM_SMTP_PORT": "9"}
    ill = pbem("doctor", **public, PBEM_SMTP_SECURITY="none")
    assert ill.exit_code == 1
    assert "refuses email. It said: ConnectionRefusedError" in ill.output


def test_the_doctor_finds_a_database_that_is_something_else(pbem: Run, folder: Path) -> None:
    pbem("init")
    (folder / ".pbem" / "pbem.sqlite3").write_bytes(b"no database at all" * 1000)
    ill = pbem("doctor")
    assert ill.exit_code == 1
    assert "something else" in ill.output
    assert "pbem restore" in ill.output


def test_keys_are_rotated_retired_when_old_and_revoked_at_once(pbem: Run) -> None:
    pbem("init")
    assert "Key b signs" in pbem("keys", "rotate").output
    early = pbem("keys", "retire", "a")
    assert early.exit_code == 1
    assert "still in use" in early.output
    assert re.search(r"^a .*may be retired on \d{4}-", pbem("keys", "list").output, re.MULTILINE)
    assert pbem("keys", "revoke", "a").exit_code == 0
    assert "a  made" not in pbem("keys", "list").output
    assert "Rotate first" in pbem("keys", "revoke", "b").output


def test_after_a_revoked_key_every_open_turn_is_emailed_again_with_links_that_work(pbem: Run) -> None:
    pbem("init")
    game_id = begin_here()
    send_everything()
    with open_store(read(os.environ)) as store:
        server = server_on(store, read(os.environ))
        asked = [
            seat
            for seat in RunningGame(server, game_id).asked()
            if RunningGame(server, game_id).players()[seat].bot is None
        ]
        mailbox = post_of(read(os.environ)).transport
        assert isinstance(mailbox, LocalMailbox)
        before = {email.key for email in mailbox.entries()}
    pbem("keys", "rotate")
    done = pbem("keys", "revoke", "a")
    assert f"mails {len(asked) or 'no'} open turn" in done.output
    send_everything()
    with open_store(read(os.environ)) as store:
        server = server_on(store, read(os.environ))
        fresh = [email for email in mailbox.entries() if email.key not in before]
        assert len(fresh) == len(asked)
        for email in fresh:
            content = mailbox.read(email.key).text
            tokens = set(re.findall(r"/[ms]/([a-z2-7]{33})", content))
            assert tokens
            assert {token[0] for token in tokens} == {"b"}


def test_emails_that_wait_when_a_key_is_revoked_are_written_again(pbem: Run) -> None:
    pbem("init")
    begin_here()
    with open_store(read(os.environ)) as store:
        server = server_on(store, read(os.environ))
        post = post_of(read(os.environ))
        post.transport = FunctionTransport(lambda _email: Outcome(Result.LATER, "451 not now"))
        deliver(server, post)
        with store.read() as tx:
            assert any(row.body for row in outbox.with_status(tx, "queued", 100))
    pbem("keys", "rotate")
    pbem("keys", "revoke", "a")
    with open_store(read(os.environ)) as store, store.read() as tx:
        assert not any(row.body for row in outbox.with_status(tx, "queued", 100))


def send_everything() -> None:
    """Send all emails that are due, to the mailbox in this folder."""
    with open_store(read(os.environ)) as store:
        server = server_on(store, read(os.environ))
        ahead = Server(store, Ahead(), server.randomness, server.keys)
        deliver(ahead, post_of(read(os.environ)), limit=100)


class Ahead(SystemClock):
    """A clock that is far enough ahead for emails that are held back."""

    def now(self) -> datetime:
        return super().now() + timedelta(minutes=5)


def test_organisers_are_added_with_a_passphrase_that_is_nowhere_to_be_seen(pbem: Run, folder: Path) -> None:
    pbem("init")
    words = "correct horse battery"
    added = pbem("organiser", "add", "Ann", "ann@example.org", typed=f"{words}\n{words}\n")
    assert added.exit_code == 0
    assert words not in added.output
    listed = pbem("organiser", "list").output
    assert listed.startswith("Ann  ann@example.org")
    with open_store(read(os.environ)) as store, store.read() as tx:
        found = organisers.by_name(tx, "Ann")
    assert found is not None
    assert found.passphrase.startswith("$argon2id$")
    assert pbem("organiser", "remove", "Ann").exit_code == 0
    assert "There is none" in pbem("organiser", "list").output
    assert pbem("organiser", "remove", "Ann").exit_code == 1


@pytest.mark.parametrize(
    "typed", ["short\nshort\n", "aaaaaaaaaaaaaaaa\naaaaaaaaaaaaaaaa\n", "correct horse bat\nanother one here\n"]
)
def test_a_passphrase_that_is_poor_or_mistyped_makes_no_organiser(pbem: Run, typed: str) -> None:
    pbem("init")
    refused = pbem("organiser", "add", "Ann", "ann@example.org", typed=typed)
    assert refused.exit_code == 1
    assert "There is none" in pbem("organiser", "list").output


def test_a_passphrase_on_the_command_line_is_not_taken(pbem: Run) -> None:
    pbem("init")
    assert pbem("organiser", "add", "Ann", "ann@example.org", "correct horse battery").exit_code == 2


def test_no_command_prints_a_trace_for_a_database_of_a_newer_release(pbem: Run) -> None:
    pbem("init")
    change("UPDATE alembic_version SET version_num = '9999'")
    for command in (["migrate"], ["verify"], ["serve"], ["doctor"], ["backup", "b"]):
        ended = pbem(*command)
        assert ended.exit_code == 1
        assert "newer than this release" in ended.output


def test_a_missing_postgresql_is_told_without_a_trace_and_without_its_password(pbem: Run) -> None:
    url = "postgresql://pbem:hunter2@127.0.0.1:9/pbem"
    for command in (["doctor"], ["verify"], ["init"]):
        ended = pbem(*command, PBEM_DATABASE_URL=url)
        assert ended.exit_code == 1
        assert "database can't be reached" in ended.output
        assert "hunter2" not in ended.output


def test_serve_refuses_to_leave_the_work_to_nobody(pbem: Run) -> None:
    refused = pbem("serve", "--no-worker")
    assert refused.exit_code == 1
    assert "no email would leave" in refused.output


def test_a_store_knows_the_file_of_its_url() -> None:
    assert Store.file_of("sqlite:////var/a b.sqlite3") == Path("/var/a b.sqlite3")
    assert Store.file_of("postgresql://x@y/z") is None
