"""Words the project does without, found in its docstrings, comments, names, pages, help of commands, and messages.

`python -m tests.words [FOLDER...]` prints every hit and how many there are in each folder. The list is `words.toml`.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, TypeGuard, get_args

import click
from babel.messages.pofile import read_po

from pbem.cli import main as main_command

ROOT: Final = Path(__file__).parent.parent
LIST: Final = ROOT / "tests" / "words.toml"
FOLDERS: Final = ("engine", "pbem", "migrations", "tests")
PAGES: Final = ("*.md", "pbem/handbook/*.md", "pbem/handbook/decisions/*.md")
QUOTING: Final = ROOT / "pbem" / "handbook" / "style.md"
"""The page that quotes words that we do without, and so is not read for them."""

Kind = Literal["prose", "names", "modules", "messages"]


@dataclass(frozen=True)
class Passage:
    """A docstring, a block of comments, a paragraph of a page, a name as words, or a message that people read."""

    path: str
    line: int
    kind: Kind
    text: str


@dataclass(frozen=True)
class Stay:
    """Files that keep a word, and why."""

    at: str
    why: str


@dataclass(frozen=True)
class Word:
    """A retired word or form: how to find it, what to write instead, where to look, and where it stays."""

    find: str
    write: str
    kinds: tuple[Kind, ...]
    only: tuple[str, ...]
    hits: tuple[str, ...]
    fine: tuple[str, ...]
    stays: tuple[Stay, ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression; a blank in it also matches the end of a line."""
        return _compiled(self.find)

    def is_looked_for_in(self, path: str) -> bool:
        """Whether a file is read for this word."""
        return any(fnmatch(path, each) for each in self.only) and not any(fnmatch(path, each.at) for each in self.stays)


@dataclass(frozen=True)
class Hit:
    """A retired word in a passage."""

    path: str
    line: int
    found: str
    word: Word

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.found!r}: write {self.word.write}"


def words() -> list[Word]:
    """The list, as written in `words.toml`."""
    return [
        Word(
            find=entry["find"],
            write=entry["write"],
            kinds=tuple(entry.get("kinds", ("prose", "names"))),
            only=tuple(entry.get("only", ("*",))),
            hits=tuple(entry["hits"]),
            fine=tuple(entry.get("fine", ())),
            stays=tuple(Stay(**each) for each in entry.get("stays", ())),
        )
        for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["word"]
    ]


def hits(folders: Iterable[str] = ()) -> Iterator[Hit]:
    """Every retired word in these folders, or everywhere, except where it stays."""
    listed = words()
    for path in _files(folders):
        name = path.relative_to(ROOT).as_posix()
        # A page is prose that everyone reads, so it keeps to what is asked of messages, too.
        also = {"messages"} if path.suffix == ".md" else set()
        retired: dict[str, list[Word]] = {
            kind: [word for word in listed if word.is_looked_for_in(name) and {kind, *also} & {*word.kinds}]
            for kind in get_args(Kind)
        }
        for passage in passages(name, path.read_text(encoding="utf-8")):
            for word in retired[passage.kind]:
                if word.pattern.search(passage.text):
                    yield from _found(word, passage)


def hits_in_messages() -> Iterator[Hit]:
    """Every retired word in the messages of pages, emails, errors, games, commands, findings and settings."""
    listed = [word for word in words() if "messages" in word.kinds]
    for message in (*messages(), *helps(), *findings()):
        for word in listed:
            if word.is_looked_for_in(message.path):
                yield from _found(word, message)


def messages() -> Iterator[Passage]:
    """Every message of the catalogue."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "messages.pot")
        extract = [
            "extract",
            "--mapping=pyproject.toml",
            "--keyword=mark",
            "--keyword=translate",
            f"--output={path}",
            ".",
        ]
        command = [sys.executable, "-m", "babel.messages.frontend", "--quiet", *extract]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        with path.open("rb") as file:
            for message in read_po(file):
                if message.id:
                    name, line = message.locations[0]
                    text = message.id if isinstance(message.id, str) else "\n".join(message.id)
                    yield Passage(name, line or 1, "messages", text)


def helps() -> Iterator[Passage]:
    """The help of every command, and of its options."""
    yield from _helps(main_command, "pbem")


def findings() -> Iterator[Passage]:
    """Everything that the server tells its operator and that no catalogue has: findings, settings, errors, reports."""
    for path in sorted((ROOT / "pbem").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if "/handbook/" not in name:
            for node in _sentences(ast.parse(path.read_text(encoding="utf-8"))):
                yield Passage(name, node.lineno, "messages", _text_of(node))


def passages(name: str, text: str) -> list[Passage]:
    """Everything that is read of a file, in the order of its lines."""
    if not name.endswith(".py"):
        return list(_paragraphs(name, text))
    return sorted((*_comments(name, text), *_of_tree(name, ast.parse(text))), key=lambda passage: passage.line)


def as_words(name: str) -> str:
    """A name as the words it is made of: `take_back` and `TakeBack` are `take back`."""
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)).lower()


def _helps(command: click.Command, name: str) -> Iterator[Passage]:
    yield Passage(name, 1, "messages", _prose(command.help or ""))
    for option in command.params:
        if isinstance(option, click.Option):
            yield Passage(name, 1, "messages", _prose(option.help or ""))
    if isinstance(command, click.Group):
        # Commands are loaded when they are asked for.
        context = click.Context(command)
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            assert inner is not None
            yield from _helps(inner, f"{name} {each}")


def _sentences(tree: ast.Module) -> Iterator[ast.Constant | ast.JoinedStr]:
    """The texts of a module that have a sentence's blanks, docstrings and pieces of other texts left out."""
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    apart |= {id(each) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for each in node.values}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str()) | ast.JoinedStr() if id(node) not in apart and " " in _text_of(node):
                yield node


def _text_of(node: ast.Constant | ast.JoinedStr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return _prose("".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in parts))


def _files(folders: Iterable[str]) -> list[Path]:
    modules = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    pages = [path for page in PAGES for path in sorted(ROOT.glob(page)) if path != QUOTING]
    within = [(ROOT / folder).resolve() for folder in folders]
    return [path for path in modules + pages if not within or any(path.is_relative_to(each) for each in within)]


def _found(word: Word, passage: Passage) -> Iterator[Hit]:
    for match in word.pattern.finditer(passage.text):
        line = passage.line + passage.text.count("\n", 0, match.start())
        yield Hit(passage.path, line, " ".join(match.group().split()), word)


def _comments(name: str, text: str) -> Iterator[Passage]:
    """Comments, those on successive lines as one."""
    block: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if block and token.start[0] != block[-1][0] + 1:
            yield Passage(name, block[0][0], "prose", _prose("\n".join(line for _, line in block)))
            block = []
        block.append((token.start[0], token.string.lstrip("# ")))
    if block:
        yield Passage(name, block[0][0], "prose", _prose("\n".join(line for _, line in block)))


def _of_tree(name: str, tree: ast.Module) -> Iterator[Passage]:
    yield Passage(name, 1, "names", as_words(Path(name).stem))
    yield Passage(name, 1, "modules", as_words(Path(name).stem))
    for_players = {id(node.body[0]) for node in ast.walk(tree) if _speaks_to_players(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))) if id(node) not in for_players:
                yield Passage(name, node.lineno, "prose", _prose(text))
        for named in _names(node):
            yield Passage(name, getattr(node, "lineno", 1), "names", as_words(named))


def _speaks_to_players(node: ast.AST) -> TypeGuard[ast.Module | ast.ClassDef]:
    """Whether the docstring of this is the sentence of a fact, or a game's page of rules."""
    if isinstance(node, ast.Module):
        return any(_derives(each, "Game") for each in node.body)
    return _derives(node, "Fact")


def _derives(node: ast.AST, base: str) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef) and any(ast.unparse(each).partition("[")[0] == base for each in node.bases)


def _names(node: ast.AST) -> list[str]:
    """The names that a node brings into the world."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return [name]
        case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
            return [name]
        case _:
            return []


def _paragraphs(name: str, text: str) -> Iterator[Passage]:
    """The paragraphs and table rows of a page, without its code."""
    text = re.sub(r"^```.*?^```", lambda code: "\n" * code.group().count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    line = 1
    for paragraph in re.split(r"(\n(?:\s*\n|(?=[|#-])))", text):
        if paragraph.strip():
            yield Passage(name, line, "prose", _prose(paragraph))
        line += paragraph.count("\n")


def _prose(text: str) -> str:
    """A text without its code: what is between backticks, and doctests."""
    text = re.sub(r"`[^`\n]*`", "`", text)
    return re.sub(r"^\s*>>>.*$", "", text, flags=re.MULTILINE)


@cache
def _compiled(find: str) -> re.Pattern[str]:
    return re.compile(find.replace(" ", r"\s+"), re.IGNORECASE)


def main() -> None:
    """Print the hits in the folders named, then their number in each folder."""
    found = [*hits(sys.argv[1:]), *(hits_in_messages() if not sys.argv[1:] else ())]
    print(*found, sep="\n")
    counts = Counter(str(Path(hit.path).parent) for hit in found)
    print(*(f"{count:6} {folder}" for folder, count in sorted(counts.items())), sep="\n")
    print(f"{len(found):6} in all")


if __name__ == "__main__":
    main()
