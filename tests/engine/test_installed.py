"""Games of other packages: found without an import, and each that cannot be played says why and what to do."""

from __future__ import annotations

import shutil
from importlib.metadata import distributions
from pathlib import Path

import pytest

import engine
from engine import installed, registry
from engine.__main__ import main
from engine.decisions import Refused
from tests.engine.published import PLAYED, on_the_path, publish

TOYS = Path(__file__).parent / "toys"


def found_in(folder):
    """The games of the distributions in a folder."""
    points = [each for dist in distributions(path=[str(folder)]) for each in dist.entry_points]
    return {(each.name, each.distribution): each for each in installed.find(points)}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages, which Python knows, and which leaves nothing behind."""
    with on_the_path(tmp_path, monkeypatch):
        yield tmp_path


def test_a_game_is_found_with_its_distribution_and_nothing_is_imported(tmp_path):
    publish(tmp_path, "nine-cards", "nine-cards = no_such_module")
    found = found_in(tmp_path)["nine-cards", "nine-cards"]
    assert found == installed.Installed("nine-cards", "no_such_module", "nine-cards", "1.2")
    assert found.source == "nine-cards 1.2"


METADATA = b"Metadata-Version: 2.1\nName: nine-cards\nVersion: 1.2\nRequires-Dist: " + PLAYED.encode() + b"\n"
POINTS = b"[pbem.games]\nnine-cards = nine_cards\n"


@pytest.mark.parametrize(
    "metadata, points, says",
    [
        pytest.param(None, POINTS, "is only partly installed", id="no metadata"),
        pytest.param(b"", POINTS, "is only partly installed", id="empty metadata"),
        pytest.param(METADATA.replace(b"Version: 1.2\n", b""), POINTS, "is only partly installed", id="no version"),
        pytest.param(METADATA + b"Author: J\xfcrgen\n", POINTS, "is only partly installed", id="not UTF-8"),
        pytest.param(METADATA, b"[pbem.games]\nnine-cards\n", "can't be read", id="half a line"),
        pytest.param(
            METADATA.replace(b">=1.0", b">=" + b"9" * 5000), POINTS, "is for engine >=999", id="a long version"
        ),
    ],
)
def test_a_package_that_is_installed_in_part_is_in_the_way_of_no_other(site, metadata, points, says):
    publish(site, "other", "ten-cards = other")
    folder = site / "nine_cards-1.2.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_bytes(points)
    if metadata is not None:
        (folder / "METADATA").write_bytes(metadata)
    found = {each.name: each for each in installed.installed()}
    assert found["ten-cards"].trouble is None
    assert says in found["nine-cards"].trouble.says
    assert "nstall" in found["nine-cards"].trouble.remedy


@pytest.mark.parametrize("points", [b"[console_scripts]\nhalf\n", b"\xff"])
def test_another_packages_broken_files_are_none_of_our_business(site, points):
    publish(site, "other", "ten-cards = other")
    (site / "broken-1.0.dist-info").mkdir()
    (site / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(points)
    (site / "broken-1.0.dist-info" / "METADATA").write_bytes(METADATA.replace(b"nine-cards", b"broken"))
    assert [each.trouble for each in installed.installed() if each.name == "ten-cards"] == [None]


def test_two_games_of_one_name_are_both_left_out_and_name_each_other(tmp_path):
    publish(tmp_path, "one", "nine-cards = one")
    publish(tmp_path, "other", "nine-cards = other", "ten-cards = other")
    found = found_in(tmp_path)
    for name in ("one", "other"):
        trouble = found["nine-cards", name].trouble
        assert "one 1.2 and other 1.2" in trouble.says
        assert trouble.remedy == "Uninstall one of the two."
    assert found["ten-cards", "other"].trouble is None


def test_a_game_named_like_a_built_in_one_is_left_out(tmp_path):
    publish(tmp_path, "rival", "bid = rival")
    assert "which pbem brings itself" in found_in(tmp_path)["bid", "rival"].trouble.says


@pytest.mark.parametrize("name", ["Nine-Cards", "nine cards", "9", "nine--cards", "a" * 41])
def test_a_name_that_could_not_stand_in_an_address_is_left_out(tmp_path, name):
    publish(tmp_path, "odd", f"{name} = odd")
    assert "lower-case words" in found_in(tmp_path)[name, "odd"].trouble.remedy


@pytest.mark.parametrize(
    "requires",
    [
        PLAYED,
        "pbem-engine",
        "Pbem_Engine (>=1)",
        "pbem-engine~=1.0 ; python_version > '3'",
        "pbem-engine==1.*",
        "pbem-engine==1",
        "pbem-engine!=1.1",
        "pbem-engine<=1.0,>0.9",
    ],
)
def test_a_package_that_fits_this_engine_is_played(tmp_path, requires):
    assert engine.__version__ == "1.0"
    publish(tmp_path, "nine-cards", "nine-cards = nine_cards", requires=requires)
    assert found_in(tmp_path)["nine-cards", "nine-cards"].trouble is None


@pytest.mark.parametrize(
    "versions", [">=2", "<1", "~=1.1", "==0.*", "==1.0.1", "!=1.0", "<=0.9", ">1", "===1.0", ">=1.0rc1", "!=1.*"]
)
def test_a_package_for_another_engine_says_for_which(tmp_path, versions):
    publish(tmp_path, "nine-cards", "nine-cards = nine_cards", requires=f"pbem-engine{versions}")
    trouble = found_in(tmp_path)["nine-cards", "nine-cards"].trouble
    assert f"“nine-cards” of nine-cards 1.2 is for engine {versions}, and this is 1.0." in trouble.says
    assert trouble.remedy == "Install a version of nine-cards that is for this one."


@pytest.mark.parametrize("requires", ["", "pbem>=1", "pbem-engine>=1; extra == 'tests'"])
def test_a_package_that_names_no_engine_is_told_how_to(tmp_path, requires):
    publish(tmp_path, "nine-cards", "nine-cards = nine_cards", requires=requires)
    assert "“pbem-engine>=1.0,<2”" in found_in(tmp_path)["nine-cards", "nine-cards"].trouble.remedy


def test_the_terminal_plays_a_game_of_another_package(site, capsys):
    shutil.copy(TOYS / "lanterns.py", site / "paper_lanterns.py")
    publish(site, "lamps", "paper-lanterns = paper_lanterns")
    assert main(["watch", "paper-lanterns", "--seed", "7", "--bots", "random"]) == 0
    assert "\n1. " in capsys.readouterr().out


@pytest.mark.slow
def test_the_kit_checks_a_game_of_another_package(site, capsys):
    shutil.copy(TOYS / "caravans.py", site / "caravans.py")
    publish(site, "desert", "caravans = caravans:Caravans")
    main(["check", "caravans"])
    assert "caravans" in capsys.readouterr().out.lower()


@pytest.mark.parametrize(
    "source, says",
    [
        ("import no_such_library", "cannot be imported. ModuleNotFoundError: No module named 'no_such_library'"),
        ("raise SystemExit(3)", "cannot be imported. SystemExit: 3"),
        ("", "must define one game"),
        ((TOYS / "lanterns.py").read_text(), "publishes the game “dud” as “nine-cards”"),
    ],
    ids=["missing library", "exit", "no game", "misnamed"],
)
def test_a_game_that_cannot_be_imported_is_refused_with_what_to_do_and_the_others_play_on(site, capsys, source, says):
    (site / "dud.py").write_text(source)
    publish(site, "nine-cards", "nine-cards = dud")
    with pytest.raises(SystemExit):
        main(["rules", "nine-cards"])
    assert says in capsys.readouterr().err
    assert main(["rules", "bid"]) == 0


def test_the_terminal_says_why_a_game_cannot_be_played(site):
    publish(site, "nine-cards", "nine-cards = nine_cards", requires="pbem-engine>=7")
    installed.offer_all()
    with pytest.raises(Refused, match=r"is for engine >=7, and this is 1\.0"):
        registry.load("nine-cards")
