"""The examples in the engine's docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import engine

MODULES = [name for _, name, _ in pkgutil.walk_packages(engine.__path__, "engine.") if not name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_modules_that_teach_have_examples():
    for name in ("facts", "chance", "decisions", "grammar", "board"):
        assert doctest.testmod(importlib.import_module(f"engine.{name}")).attempted > 0
