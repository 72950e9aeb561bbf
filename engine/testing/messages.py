"""Messages of games for translators: an extraction method for Babel.

Messages are the docstrings of facts, the templates given to `say`, the names of verbs and blanks, and the paragraphs of
a game's rules page. Servers do not use this; `make catalogue` does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

CALLS: Final = frozenset({"say", "Act", "Amount", "OneOf", "Some", "Ranking", "Split"})
"""Calls whose first argument is a message."""

_NOUN: Final = re.compile(r"\{\w+:([^{}|]+\|[^{}|]+)\}")
"""A noun in two forms inside a template, which is a message of its own."""

Message = tuple[int, str | None, str, list[str]]
"""What Babel takes: the line, the function (none), the message, the comments (none)."""


def messages(file: IO[bytes], keywords: Any, comment_tags: Any, options: Any) -> Iterator[Message]:
    """Yield the messages of a module of the engine, as Babel's extraction methods do."""
    tree = ast.parse(file.read())
    if _holds_rules(Path(getattr(file, "name", ""))):
        yield from ((1, None, paragraph, []) for paragraph in (ast.get_docstring(tree) or "").split("\n\n"))
    for node in ast.walk(tree):
        found = _of_fact(node) if isinstance(node, ast.ClassDef) else _of_call(node)
        for message in (found, *_NOUN.findall(found)) if found else ():
            yield node.lineno, None, message, []  # type: ignore[attr-defined]  # every node with a message has a line


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
