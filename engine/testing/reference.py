"""The reference page of the engine: the names that games and programs need, each with its signature and its docstring.

It is read from the source text and not from imported modules, so that it is the same on every version of Python.
`make reference` writes it into the handbook. This module must never describe anything itself: what is missing on the
page is missing in a docstring.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import engine

FOR_GAMES: Final = (
    "facts",
    "records",
    "tell",
    "decisions",
    "options",
    "game",
    "rulings",
    "board",
    "chance",
    "seats",
    "decks.decktet",
    "decks.piecepack",
)
"""The modules that a game imports, in the order in which one meets them."""

AROUND: Final = (
    "registry",
    "table",
    "grammar",
    "wording",
    "orders",
    "order_words",
    "conditions",
    "bots",
    "search",
    "search.levels",
    "testing",
)
"""The modules that play a game, for servers and tests."""

INTRODUCTION: Final = """# Engine reference

What games, and programs that play them, use of the engine (`make reference` writes this page from its docstrings). Begin
with [Add a game](add-a-game.md).
"""

_LONGEST_VALUE: Final = 90
"""A longer value of a constant is not shown."""

_FOR_ITS_AUTHORS: Final = re.compile(r"\s*This\s+module\s+must\s+never [^.]*\.")
"""What a module says to those who change it, and not to those who use it."""


def reference() -> str:
    """The whole page."""
    lines = [INTRODUCTION, "## For games", ""]
    for name in FOR_GAMES:
        lines += _module(name)
    lines += ["## Around games", ""]
    for name in AROUND:
        lines += _module(name)
    return "\n".join(lines).rstrip() + "\n"


def _module(name: str) -> Iterator[str]:
    text = _source(name)
    tree = ast.parse(text)
    yield f"### `engine.{name}`"
    yield ""
    yield from _prose(_FOR_ITS_AUTHORS.sub("", ast.get_docstring(tree) or ""))
    nodes = list(tree.body)
    shared = _shared(nodes)
    for at, node in enumerate(nodes):
        about = _string(nodes[at + 1]) if at + 1 < len(nodes) else None
        yield from _entry(text, node, about, shared)


def _shared(nodes: list[ast.stmt]) -> dict[str, list[ast.FunctionDef]]:
    """For each union of classes of a module, and for each of its classes, the methods that all of these have.

    They are described once, with the union. Those of a class are told by their names.
    """
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    shared: dict[str, list[ast.FunctionDef]] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=union)], value=ast.BinOp(op=ast.BitOr()) as value):
                parts = [
                    classes[each.id] for each in ast.walk(value) if isinstance(each, ast.Name) and each.id in classes
                ]
                for name in (union, *(part.name for part in parts)):
                    shared[name] = _of_all(parts)
    return shared


def _of_all(classes: list[ast.ClassDef]) -> list[ast.FunctionDef]:
    """The methods of the first class that all of these classes have, with the same parameters and result."""
    heads = [
        {
            (each.name, ast.dump(each.args), ast.dump(each.returns or each.args))
            for each in node.body
            if isinstance(each, ast.FunctionDef)
        }
        for node in classes
    ]
    common = {name for name, *_ in set.intersection(*heads)} if heads else set[str]()
    return [
        each for node in classes[:1] for each in node.body if isinstance(each, ast.FunctionDef) and each.name in common
    ]


def _source(name: str) -> str:
    home = Path(engine.__file__).parent.joinpath(*name.split("."))
    path = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
    return path.read_text(encoding="utf-8")


def _entry(text: str, node: ast.stmt, about: str | None, shared: dict[str, list[ast.FunctionDef]]) -> Iterator[str]:
    """What the page says of one statement of a module, if it says anything."""
    match node:
        case ast.ClassDef(name=name) if not name.startswith("_"):
            yield f"#### class `{name}{_bases(node)}`"
            yield ""
            yield from _prose(ast.get_docstring(node) or "")
            yield from _members(text, node, {each.name for each in shared.get(name, ())})
        case ast.FunctionDef(name=name) if not name.startswith("_"):
            yield f"#### `{_signature(text, node)}`"
            yield ""
            yield from _prose(ast.get_docstring(node) or "")
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ) if not name.startswith("_") and not _is_private(name, value):
            shown = ast.get_source_segment(text, value) or ""
            yield f"#### `{name} = {shown}`" if len(shown) <= _LONGEST_VALUE and "\n" not in shown else f"#### `{name}`"
            yield ""
            yield from _prose(about or "")
            yield from _listed(
                _item(_signature(text, each), None) for each in shared.get(name, ()) if each.name[0] != "_"
            )


def _listed(items: Iterable[str]) -> Iterator[str]:
    """A list with an empty line after it, or nothing."""
    lines = list(items)
    if lines:
        yield from lines
        yield ""


def _is_private(name: str, value: ast.expr) -> bool:
    """Type variables and the list of a package's names are of no use to a reader."""
    return name == "__all__" or (isinstance(value, ast.Call) and getattr(value.func, "id", "") == "TypeVar")


def _bases(node: ast.ClassDef) -> str:
    bases = ", ".join(map(ast.unparse, node.bases))
    return f"({bases})" if bases else ""


def _members(text: str, node: ast.ClassDef, shared: set[str]) -> Iterator[str]:
    """The fields, class variables and methods of a class, a line each, without the methods it shares with others."""
    lines = []
    for at, member in enumerate(node.body):
        about = _string(node.body[at + 1]) if at + 1 < len(node.body) else None
        match member:
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
                lines.append(_item(ast.get_source_segment(text, member) or "", about))
            case ast.FunctionDef(name=name) if not name.startswith("_") and name not in shared:
                lines.append(_item(_signature(text, member), ast.get_docstring(member)))
    yield from _listed(lines)


def _item(code: str, about: str | None) -> str:
    first = " ".join((about or "").split("\n\n")[0].split())
    return f"- `{code}`" + (f": {first}" if first else "")


def _signature(text: str, node: ast.FunctionDef) -> str:
    """The head of a function as it stands in the source, on one line and without `self`."""
    lines = text.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    head = (
        " ".join(" ".join(line.partition("  #")[0] for line in lines if not line.lstrip().startswith("#")).split())
        .removeprefix("def ")
        .rstrip(":")
        .rstrip()
    )
    head = head.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return head.replace("(self, ", "(").replace("(self)", "()")


def _string(node: ast.stmt) -> str | None:
    """The text of a statement that is nothing but a text: what is said of the constant or field before it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return inspect.cleandoc(node.value.value)
    return None


def _prose(docstring: str) -> Iterator[str]:
    """The paragraphs of a docstring; examples and other indented lines as code."""
    for paragraph in filter(None, (each.strip("\n") for each in docstring.split("\n\n"))):
        first = paragraph.splitlines()[0]
        if first.startswith(">>> "):
            yield f"```pycon\n{paragraph}\n```"
        elif first.startswith("    ") or "\n    " in paragraph:
            yield f"```text\n{inspect.cleandoc(paragraph)}\n```"
        else:
            yield paragraph
        yield ""
