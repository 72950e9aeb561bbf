"""Every library we depend on has its reason in the handbook, and no reason outlives its library."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
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


def test_every_imported_library_is_declared_and_not_only_a_dependency_of_another():
    distributions = packages_distributions()
    own = {"engine", "pbem", "tests", "migrations"}
    imported = {
        name.partition(".")[0]
        for folder in ("engine", "pbem", "migrations", "tests")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in named(node)
    }
    libraries = {
        re.sub(r"[-_.]+", "-", library).lower()
        for name in imported - own - set(sys.stdlib_module_names)
        for library in distributions.get(name, [])
    }
    assert len(libraries) > 20
    assert libraries <= {re.sub(r"[-_.]+", "-", name).lower() for name in declared()}


def named(node):
    """The modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
