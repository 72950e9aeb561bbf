"""The page of promises names tests that exist, and its figures are those that the commands have written."""

import json
import re
from pathlib import Path

import pytest

from tests import figures
from tests.handbook.named import ROOT, page
from tests.scale.pages import KINDS

PAGE = page("promises")
TESTS = re.findall(r"^- `(tests/\S+\.py)::(test_\w+)`$", PAGE, re.MULTILINE)
MEASURED = figures.read()


def test_every_promise_names_a_test():
    promises = re.split(r"\n\n(?=\*\*)", PAGE.partition("\n## What was measured\n")[0])[1:]
    assert len(promises) > 15
    assert [promise for promise in promises if "\n\n- `tests/" not in promise] == []


def test_every_test_named_exists():
    assert len(TESTS) > 40
    gone = [
        f"{file}::{name}"
        for file, name in TESTS
        if not re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert gone == []


@pytest.mark.parametrize("name", figures.PAGES)
def test_the_figures_of_a_page_are_those_that_were_written_last(name):
    text = page(name)
    assert figures.filled(text, MEASURED) == text, "python -m tests.figures"


def test_every_figure_is_on_one_page_with_the_command_that_writes_it():
    blocks = re.findall(r"^\[figures\]: # \((?!end)(\w+)\)$", "\n".join(map(page, figures.PAGES)), re.MULTILINE)
    assert sorted(blocks) == sorted(figures.COMMANDS)
    rules = (ROOT / "Makefile").read_text(encoding="utf-8").split("\n\n")
    for command in figures.COMMANDS:
        (rule,) = (rule for rule in rules if f"\n{command}: " in rule)
        assert "FIGURES" in rule, command


def test_every_figure_is_noted_by_a_test():
    sources = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py") if file.name != "figures.py"
    )
    # Some end with what a test only knows while it runs.
    endings = ('"', ' {kind}"', ' {what}"', " {database_url.partition(")
    never = set()
    for name in figures.FIGURES:
        words = re.sub(rf" (sqlite|postgresql|web|worker|{'|'.join(KINDS)})$", "", name)
        short = words.partition(".")[2]
        if f'"{short}"' not in sources and not any(f"{words}{ending}" in sources for ending in endings):
            never.add(name)
    assert never == set()


def test_nothing_is_measured_that_no_page_shows():
    for command, measured in MEASURED.items():
        assert measured["run"].split()[0] == command
        assert measured["figures"].keys() <= figures.FIGURES.keys()


def test_the_figures_of_a_run_are_put_together_and_shown_with_what_was_typed(tmp_path, monkeypatch):
    (tmp_path / "figures.json").write_text("{}")
    for name in figures.PAGES:
        (tmp_path / f"{name}.md").write_text(
            "[figures]: # (fuzz)\n[figures]: # (end)\n[figures]: # (kit)\n[figures]: # (end)\n"
            "[figures]: # (bench)\n[figures]: # (end)\n"
        )
    monkeypatch.setattr(figures, "FILE", tmp_path / "figures.json")
    monkeypatch.setattr(figures.paths, "handbook", lambda: tmp_path)
    noted = [("fuzz.inputs", 1500), ("fuzz.inputs", 20), ("bench.desk", 1.5), ("nonsense", "x")]
    monkeypatch.delenv(figures.VARIABLE, raising=False)
    figures.note(noted, passed=True)
    assert json.loads(figures.FILE.read_text()) == {}
    monkeypatch.setenv(figures.VARIABLE, "fuzz EXAMPLES=3")
    figures.note(noted, passed=False)
    assert json.loads(figures.FILE.read_text()) == {}
    figures.note(noted, passed=True)
    # A run that was cut short has measured nothing.
    monkeypatch.setenv(figures.VARIABLE, "fuzz EXAMPLES=9")
    figures.note([("nonsense", "x")], passed=True)
    # What misses its aim is shown beside it.
    monkeypatch.setenv(figures.VARIABLE, "bench")
    figures.note([("bench.desk", 2.5)], passed=False)
    for name in figures.PAGES:
        shown = (tmp_path / f"{name}.md").read_text()
        assert "`make fuzz EXAMPLES=3` on 20" in shown
        assert "hostile inputs tried | 1,520 |" in shown
        assert "where it's accepted) | not measured yet |" in shown
        assert "the worst | 2.50 | at most 2 |" in shown
        assert "`make kit`: not measured yet." in shown
        assert figures.filled(shown, figures.read()) == shown


def test_of_several_ratios_the_worst_is_shown_and_an_unknown_figure_is_refused():
    assert figures.combined("bench", [("bench.desk", 1.5), ("bench.desk", 1.25)]) == {"bench.desk": 1.5}
    with pytest.raises(AssertionError, match="not in tests"):
        figures.combined("bench", [("bench.nonsense", 1)])


def test_no_figure_tells_of_the_machine_that_measured_it():
    for text in (figures.FILE.read_text(encoding="utf-8"), "".join(map(page, figures.PAGES))):
        assert not re.search(r"/(home|root|tmp|work)/|\d\s?(ms|seconds?|GHz)\b", text)
    assert str(Path.home()) not in figures.FILE.read_text(encoding="utf-8")
