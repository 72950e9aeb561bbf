"""`pbem overview` and `pbem all`, as they are typed."""

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from pbem.cli import main
from pbem.ops.commands.terminal import read_settings
from pbem.ops.setup import open_server
from pbem.service.people import addresses
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import audit, games, ledger, outbox, results
from pbem.store.schema import ResultRow


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """Types a command on a machine where two people play at one table."""
    monkeypatch.setenv("PBEM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PBEM_MAIL_HOLD", "0")

    def run(*words, **more):
        return CliRunner().invoke(main, list(words), **more)

    assert run("init").exit_code == 0
    with open_server(read_settings()) as server:
        players = [
            server.run(addresses.confirm, server.run(addresses.register, f"{n}@example.org", n.title()).id).id
            for n in ("ann", "ben")
        ]
        table = server.run(joining.create_table, players[0], TableSettings("sun-bid", 2, title="Friday club")).game_id
        for player in players:
            server.run(joining.join, table, player)
    return run


def seen():
    """The table, and the acts on record."""
    with open_server(read_settings()) as server, server.store.read() as tx:
        return games.read(tx, 1), [(row.act, row.actor.partition(" ")[0]) for row in audit.chain(tx)]


def test_the_overview_tells_of_trouble_and_of_tables(typed):
    output = typed("overview").output
    assert "No worker has been seen" in output
    assert "0 paused tables" in output
    typed("all", "pause", "--reason", "The server moves.")
    output = typed("overview", "--trouble", "paused").output
    assert "1 paused tables" in output
    assert "table 1: Friday club" in output
    assert "@" not in output


def test_an_email_about_no_table_that_was_given_up_is_listed_and_sent_again(typed):
    with open_server(read_settings()) as server:
        server.store.write(lambda tx: outbox.queue(tx, [outbox.NewEmail(1, "links")], server.now(), server.now()))
        with server.store.read() as tx:
            (email,) = outbox.of_kind(tx, 1, "links", "queued")
        server.store.write(lambda tx: outbox.change(tx, email.id, status="parked"))
        server.store.write(lambda tx: ledger.note(tx, email.id, server.now(), "parked", "554 no"))
    assert f"mail {email.id} (links) to person 1 was given up: 554 no" in typed("overview").output
    assert typed("person", "resend", str(email.id), "--reason", "The relay was mended.").exit_code == 0
    assert "was given up:" not in typed("overview").output
    assert seen()[1] == [("retry", "command")]


def test_a_look_beforehand_changes_nothing_and_the_act_is_on_record(typed):
    look = typed("all", "pause", "--reason", "The server moves.", "--dry-run")
    assert (look.exit_code, "1: Friday club" in look.output) == (0, True)
    assert seen()[1] == []
    done = typed("all", "pause", "--reason", "The server moves.")
    assert (done.exit_code, "1 of 1 done" in done.output) == (0, True)
    game, acts = seen()
    assert game.paused
    assert [act for act, _ in acts] == ["pause all", "pause"]


def test_everyone_is_sent_the_text_from_standard_input(typed):
    done = typed("all", "announce", "-", "--reason", "Everybody should know.", input="On Sunday we move.\n")
    assert "2 of 2 done" in done.output


@pytest.mark.parametrize(
    "words", [("all", "pause"), ("all", "extend", "soon", "--reason", "why not"), ("overview", "--trouble", "sorrow")]
)
def test_arguments_that_make_no_sense_are_refused_in_one_message(typed, words):
    refused = typed(*words)
    assert refused.exit_code in (1, 2)
    assert "Traceback" not in refused.output
    assert seen()[1] == []


def test_ratings_are_made_again_by_one_command_and_a_second_run_changes_nothing(typed):
    assert typed("ratings", "rebuild").output.endswith(
        "no games. Ratings differed after 0.\nno public games in the statistics.\n"
    )
    at = datetime(2026, 11, 21, tzinfo=UTC)
    rows = [ResultRow(0, 0, "ended", 1, "sun-bid", seat, key, seat + 1, None, at) for seat, key in enumerate("ab")]
    with open_server(read_settings()) as server:
        server.store.write(lambda tx: results.add(tx, rows))
    assert "1 game. Ratings differed after 1.\n" in typed("ratings", "rebuild").output
    assert "1 game. Ratings differed after 0.\n" in typed("ratings", "rebuild").output
