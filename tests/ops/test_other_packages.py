"""Games of other packages in the hands of an operator: what the doctor says of them, and what is checked of their tables."""

import shutil

import pytest
from sqlalchemy import text

from pbem.config import read
from pbem.domain.finding import Severity
from pbem.ops import doctor, rules_code
from pbem.ops.verify import verify_game
from pbem.plugins import offers
from pbem.service.archive import daily_check, export, verify_upload
from pbem.service.clocks import stopped_tables
from pbem.store import alarms, migrations
from tests.engine.published import on_the_path, publish
from tests.plugins import broken


@pytest.fixture
def database_url(empty_sqlite, tmp_path):
    """No database could make a difference here."""
    return f"sqlite:///{shutil.copy(empty_sqlite, tmp_path / 'pbem.sqlite3')}"


@pytest.fixture
def findings(tmp_path, server):
    """The doctor's findings on games and tables, with these settings."""

    def stamp(tx):
        # The tables were not made step by step, as a server's are.
        tx.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        tx.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": migrations.head()})

    server.store.write(stamp)

    def examined(**settings):
        offers.close()
        config = read({"PBEM_DATA_DIR": str(tmp_path), **settings})
        return [each for each in doctor.examine(config) if each.what in ("games", "tables")]

    return examined


def test_the_doctor_says_nothing_of_other_packages_where_there_are_none(findings, monkeypatch):
    monkeypatch.setattr(offers.installed, "installed", tuple)
    assert [each.what for each in findings()] == ["tables"]


def test_the_doctor_names_what_is_played_and_how(offered, findings):
    offered(broken.LANTERNS)
    assert "lanterns (paper-lamps 1.2, in a process of its own)" in findings()[0].says
    assert "lanterns (paper-lamps 1.2, inside the server)" in findings(PBEM_GAMES_TRUSTED="paper-lamps")[0].says


def test_the_doctor_names_what_is_not_played_with_what_to_do(offered, findings, tmp_path):
    offered("import no_such_library")
    publish(tmp_path / "packages", "rival", "bid = rival")
    publish(tmp_path / "packages", "old", "antique = antique", requires="pbem-engine<1")
    found = {each.says: each for each in findings()}
    assert all(each.severity is Severity.WARNING for each in found.values() if each.what == "games")
    sentences = " ".join(f"{each.says} {each.remedy}" for each in found.values())
    assert "can't be imported: ModuleNotFoundError: No module named 'no_such_library'" in sentences
    assert "publishes a game named “bid”, which pbem brings itself. Ours is played. Uninstall rival" in sentences
    assert "is for engine <1, and this is 1.0. Install a version of old that is for this one." in sentences


def test_a_file_of_a_package_that_cannot_be_read_keeps_no_server_from_starting(tmp_path, monkeypatch):
    folder = tmp_path / "packages"
    (folder / "lanterns").mkdir(parents=True)
    (folder / "lanterns" / "__init__.py").write_text(broken.LANTERNS)
    # Reading its beginning fails for everyone, as reading another account's file fails for most.
    (folder / "lanterns" / "cards.txt").symlink_to("/proc/self/mem")
    publish(folder, "paper-lamps", "lanterns = lanterns")
    config = read({"PBEM_DATA_DIR": str(tmp_path)})
    with on_the_path(folder, monkeypatch):
        offers.close()
        before = rules_code.codes(config)["lanterns"]
        assert before == rules_code.codes(config)["lanterns"]
        (folder / "lanterns" / "more.txt").write_text("a card")
        assert before != rules_code.codes(config)["lanterns"]
        offers.close()


def test_the_doctor_names_trust_in_what_is_not_there(offered, findings):
    offered(broken.LANTERNS)
    found = findings(PBEM_GAMES_TRUSTED="Paper.Lamps, paper-tigers")
    assert "PBEM_GAMES_TRUSTED names paper-tigers, but no such package or game is installed." in found[0].says


def test_the_doctor_names_tables_that_were_stopped(offered, findings, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    offers.close()
    stopped_tables.check_rules(server)
    (found,) = (each for each in findings() if each.what == "tables")
    assert found.severity is Severity.ERROR
    assert f"Games {game.id} were stopped because their rules are missing, have failed or have changed." in found.says


def test_of_a_table_without_rules_the_chain_is_checked_and_nothing_is_called_wrong(offered, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    game.play(0, "allow")
    offers.close()
    stopped_tables.check_rules(server)
    with server.store.read() as tx:
        report = verify_game(tx, game.id)
    assert report.sound
    assert report.rows == game.row().seq


def test_the_daily_check_leaves_a_table_alone_whose_rules_fail_while_it_looks(offered, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    game.play(0, "allow")
    game.play(1, "allow")
    offered(broken.lanterns("apply", broken.FOR_EVER))

    def look(tx, game_id):
        report = verify_game(tx, game_id)
        return daily_check.CheckResult(report.rows, len(report.problems))

    assert daily_check.check_some(server, look) == 1
    stopped_tables.stop_failed(server)
    assert game.row().status == "frozen"
    with server.store.read() as tx:
        assert [row.what for row in alarms.take(tx, server.now())] == ["game"], "nothing is wrong with its record"


@pytest.mark.slow
def test_a_finished_games_file_is_checked_where_its_package_is_installed(offered, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    list(game.play_defaults())
    found = verify_upload.inspect(export.write(server.read(export.of_game, game.id)))
    assert (found.kind, found.problems) == ("lanterns", ())
    assert found.made_again > 1
