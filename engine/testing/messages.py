"""What a catalogue of translations needs of the rules: every message that a game may say, as Babel asks for them.

The sentences of facts are their docstrings, the others are templates of `say`; verbs and blanks are called by names that
pages show; and a game's rules page is its module's docstring, paragraph by paragraph. Nothing here is used by a
server: `make catalogue` calls it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

CALLS: Final = frozenset(
    {"say", "Act", "Amount", "OneOf", "Some", "Ranking", "Split"},
)
"""Calls whose first argument is a message."""

_NOUN: Final = re.compile(r"\{\w+:([^{}|]+\|[^{}|]+)\}")
"""A noun in two forms within a template, which is translated by itself."""

Message = tuple[int, str | None, str, list[str]]
"""A line, no function, the message, no comments: what Babel takes."""


def messages(file: IO[bytes], keywords: Any, comment_tags: Any, options: Any) -> Iterator[Message]:
    """The messages of a module of the engine: Babel's extraction method."""
    tree = ast.parse(file.read())
    if _holds_rules(Path(getattr(file, "name", ""))):
        yield from ((1, None, paragraph, []) for paragraph in (ast.get_docstring(tree) or "").split("\n\n"))
    for node in ast.walk(tree):
        found = _of_fact(node) if isinstance(node, ast.ClassDef) else _of_call(node)
        for message in (found, *_NOUN.findall(found)) if found else ():
            yield node.lineno, None, message, []  # type: ignore[attr-defined]  # whatever holds a message has a line


def _holds_rules(path: Path) -> bool:
    """Whether this is the module that defines a game: `games/bid.py`, or `games/bid/__init__.py`."""
    home = path.parent if path.name == "__init__.py" else path
    return home.parent.name == "games"


def _of_fact(node: ast.ClassDef) -> str:
    bases = {each.id for base in node.bases for each in ast.walk(base) if isinstance(each, ast.Name)}
    return " ".join((ast.get_docstring(node) or "").split()) if "Fact" in bases else ""


def _of_call(node: ast.AST) -> str:
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Name)
        or node.func.id not in CALLS
        or not node.args
    ):
        return ""
    first = node.args[0]
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return ""
    return first.value
