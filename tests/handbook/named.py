"""Names of files and tables on the handbook's pages for contributors, and whether they exist."""

import re
from pathlib import Path

from pbem.paths import handbook
from pbem.store.schema import METADATA

ROOT = Path(__file__).parent.parent.parent
TOP = ("engine", "pbem", "templates", "migrations", "tests")
TABLES = frozenset(METADATA.tables)


def page(name):
    """The text of a page."""
    return (handbook() / f"{name}.md").read_text(encoding="utf-8")


def code(text):
    """Everything between backticks in a text, listings left out."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def rows(text, heading):
    """The cells of the table under this heading."""
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def files(text):
    """The files and folders that a text names, from the root of the repository."""
    return {name for name in code(text) if name.partition("/")[0] in TOP and " " not in name}


def gone(text):
    """The files and folders among them that do not exist."""
    return {name for name in files(text) if not (ROOT / name).exists()}
