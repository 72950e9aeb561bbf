"""Which functions of the services change something, found by walking the code, so that a new one cannot be forgotten.

A function changes something if it mentions a statement that writes, or a function of the services or the store that does.
What is chosen only while the program runs, such as an act by its name, is not followed; its chooser writes something too.
"""

import dis
import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Final

from sqlalchemy.sql.dml import UpdateBase

import pbem.service
import pbem.store

_WRITING: Final = {"insert", "update", "delete"}
_WORDS: Final = ("INSERT", "UPDATE", "DELETE")


def writers() -> dict[CodeType, str]:
    """The public functions of the services that change something, by their code: their names within the services."""
    return {
        function.__code__: f"{function.__module__.removeprefix('pbem.service.')}.{function.__name__}"
        for module in _modules(pbem.service)
        for function in _functions(module)
        if not function.__name__.startswith("_") and _writes(function)
    }


def _modules(package: ModuleType) -> list[ModuleType]:
    """A package and everything in it."""
    names = [each.name for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [package, *map(importlib.import_module, names)]


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    return (each for each in vars(module).values() if _is_ours(each) and each.__module__ == module.__name__)


def _is_ours(thing: object) -> bool:
    return isinstance(thing, FunctionType) and thing.__module__.startswith(("pbem.service", "pbem.store"))


@cache
def _writes(function: FunctionType) -> bool:
    """Whether this or anything that it mentions writes."""
    found, waiting = {function}, [function]
    while waiting:
        here = waiting.pop()
        for thing in _mentioned(here.__code__, here.__globals__):
            if isinstance(thing, UpdateBase):
                return True
            if isinstance(thing, FunctionType) and _is_ours(thing) and thing not in found:
                found.add(thing)
                waiting.append(thing)
        if here.__module__.startswith("pbem.store.") and _has_statement(here.__code__):
            return True
    return False


def _has_statement(code: CodeType) -> bool:
    """Whether a function of the store writes a statement itself, in Python or in SQL."""
    texts = [each for each in code.co_consts if isinstance(each, str)]
    within = [each for each in code.co_consts if isinstance(each, CodeType)]
    return (
        not _WRITING.isdisjoint(code.co_names)
        or any(each.lstrip().startswith(_WORDS) for each in texts)
        or any(map(_has_statement, within))
    )


def _mentioned(code: CodeType, names: dict[str, object]) -> Iterator[object]:
    """The globals that some code mentions, and their attributes."""
    owner: object = None
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            owner = names.get(str(step.argval))
            yield owner
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(owner, ModuleType):
            owner = getattr(owner, str(step.argval), None)
            yield owner
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _mentioned(each, names)
