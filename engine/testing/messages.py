"""Messages of games for translators: an extraction method for Babel.

Messages are the docstrings of facts, the templates given to `say`, also by a name, the names of verbs and blanks, and the paragraphs of
a game's rules page. Servers do not use this; `make catalogue` does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
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
    named = _named(tree)
    for node in ast.walk(tree):
        for found in [_of_fact(node)] if isinstance(node, ast.ClassDef) else _of_call(node, named):
            for message in (found, *_NOUN.findall(found)) if found else ():
                yield node.lineno, None, message, []  # type: ignore[attr-defined]  # every node with a message has a line


def _holds_rules(path: Path) -> bool:
    """Whether this is the module that defines a game: `games/bid.py`, or `games/bid/__init__.py`."""
    home = path.parent if path.name == "__init__.py" else path
    return home.parent.name == "games"


def _of_fact(node: ast.ClassDef) -> str:
    bases = {each.id for base in node.bases for each in ast.walk(base) if isinstance(each, ast.Name)}
    return " ".join((ast.get_docstring(node) or "").split()) if "Fact" in bases else ""


def _of_call(node: ast.AST, named: Mapping[str, list[str]]) -> list[str]:
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS
    return _strings(node.args[0], named) if is_call and node.args else []  # type: ignore[attr-defined]  # it's a call


def _named(tree: ast.AST) -> dict[str, list[str]]:
    """The strings that a module gives to each name, wherever it does."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in (each.id for each in ast.walk(target) if isinstance(each, ast.Name)):
                    found.setdefault(name, []).extend(_strings(node.value, {}))
    return found


def _strings(value: ast.AST | None, named: Mapping[str, list[str]]) -> list[str]:
    """The strings that a value can be: itself, one of several, or one that has a name."""
    match value:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.IfExp(body=one, orelse=other):
            return _strings(one, named) + _strings(other, named)
        case ast.Tuple(elts=several) | ast.Dict(values=several):
            return [text for each in several for text in _strings(each, named)]
        case ast.Subscript(value=several):
            return _strings(several, named)
        case ast.Call(func=ast.Attribute(value=several, attr="get"), args=[_, otherwise]):
            return _strings(several, named) + _strings(otherwise, named)
        case ast.Name(id=name):
            return named.get(name, [])
    return []
