"""Every library we depend on has its reason in the handbook, and no reason outlives its library."""

import re
import tomllib
from pathlib import Path

import pbem

ROOT = Path(pbem.__file__).parent.parent
PAGE = ROOT / "pbem" / "handbook" / "dependencies.md"


def declared():
    """The names in pyproject.toml, as they are written there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lists = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    return {re.match(r"[\w.-]+", entry)[0] for entries in lists for entry in entries if isinstance(entry, str)}


def test_every_dependency_has_its_reason_in_the_handbook():
    explained = {
        cell
        for line in PAGE.read_text().splitlines()
        if line.startswith("|")
        for cell in re.findall(r"\| `([\w.-]+)` (?=\| [A-Z])", line)
    }
    assert declared() == explained
