"""The page about the architecture: complete, and no name on it is out of date."""

import re

from pbem.paths import handbook
from pbem.worker.ticks import TICKS
from tests.handbook.named import ROOT, TABLES, code, files, gone, page, rows

PAGE = page("architecture")


def test_every_file_named_exists():
    assert len(files(PAGE)) > 80
    assert gone(PAGE) == set()


def test_a_file_that_is_gone_would_be_noticed():
    assert gone("`pbem/service/gone.py` and `pbem/service/server.py`") == {"pbem/service/gone.py"}


def test_short_names_are_names_of_files_above():
    short = {name for name in code(PAGE) if re.fullmatch(r"\w+\.py", name)}
    assert short <= {name.rpartition("/")[2] for name in files(PAGE)}


def test_every_table_of_the_schema_has_its_line():
    named = [row[0].strip("`") for row in rows(PAGE, "Data")]
    assert sorted(named) == sorted(TABLES)


def test_tables_and_ticks_named_in_the_walks_exist():
    walks = PAGE[PAGE.index("\n## Follow") :]
    words = {name for name in code(walks) if re.fullmatch(r"[a-z_]+", name)}
    assert words - {tick.name for tick in TICKS} - {"turn", "resolve"} <= TABLES


def test_every_stage_of_an_email_is_a_type_of_the_file_beside_it():
    stages = [(name.strip("`"), file.strip("`")) for name, file, _ in rows(PAGE, "Follow one email")]
    assert len(stages) == 7
    missing = [name for name, file in stages if f"\nclass {name}:" not in (ROOT / file).read_text(encoding="utf-8")]
    assert missing == []


def test_every_package_has_its_line():
    # The games share one line, so that a new game needs none.
    packages = {
        init.parent.relative_to(ROOT).as_posix()
        for top in ("engine", "pbem")
        for init in (ROOT / top).rglob("__init__.py")
        if init.parent.parent != ROOT / "engine" / "games"
    }
    lines = rows(PAGE, "Subjects") + rows(PAGE, "Packages")
    assert packages - {row[0].strip("`") for row in lines} == set()


def test_every_layer_and_subject_is_in_the_picture():
    picture = PAGE.split("```")[1]
    modules = {path.stem for path in (ROOT / "pbem").glob("*.py")} - {"__init__", "__main__"}
    layers = {path.parent.name for path in (ROOT / "pbem").glob("*/__init__.py")}
    subjects = {path.parent.name for path in (ROOT / "pbem" / "service").glob("*/__init__.py")}
    assert {name for name in modules | layers | subjects if not re.search(rf"\b{name}\b", picture)} == set()


def test_a_contributor_is_led_to_the_architecture_and_the_glossary_by_names_that_exist():
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        linked = set(re.findall(r"\]\(([^)]+)\)", text))
        assert {"pbem/handbook/architecture.md", "pbem/handbook/glossary.md"} <= linked, name
        assert {link for link in linked if ":" not in link and not (ROOT / link).exists()} == set(), name
        assert gone(text) == set(), name


def test_security_is_found_from_the_other_pages_and_names_what_exists():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert all(
        "](SECURITY.md)" in (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")
    )
    assert {link for link in re.findall(r"\]\(([^)]+)\)", text) if not (ROOT / link).exists()} == set()
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make (\w+)", text)) == {"fuzz", "audit"} <= targets


def test_records_of_decisions_are_numbered_short_and_name_files_that_exist():
    records = sorted((handbook() / "decisions").glob("*.md"))
    assert [int(record.name[:4]) for record in records] == list(range(1, len(records) + 1))
    for number, record in enumerate(records, start=1):
        text = record.read_text(encoding="utf-8")
        assert text.startswith(f"# {number}. "), record.name
        assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == ["Context", "Decision", "Consequences"], (
            record.name
        )
        assert len(text.splitlines()) <= 40, record.name
        assert gone(text) == set(), record.name
