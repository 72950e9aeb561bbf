"""Servers to look after: those of the service tests, and whole ones in folders of their own."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pbem.cli import main
from tests.service.conftest import (
    clock,
    database_url,
    empty_postgresql,
    empty_sqlite,
    offered,
    person,
    server,
    sink,
    sqlite_alone,
    store,
    table,
)

__all__ = [
    "clock",
    "database_url",
    "empty_postgresql",
    "empty_sqlite",
    "offered",
    "person",
    "server",
    "sink",
    "sqlite_alone",
    "store",
    "table",
]

Run = Callable[..., Result]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Try a third of the slow tests, which start whole servers."""
    if item.get_closest_marker("slow"):
        item.add_marker(pytest.mark.slice(1 / 3, among="tests/ops"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run commands in, with no setting at all."""
    for name in list(os.environ):
        if name.startswith("PBEM_") and not name.startswith("PBEM_TEST_"):
            monkeypatch.delenv(name)
    inside = tmp_path / "a server"
    inside.mkdir()
    monkeypatch.chdir(inside)
    return inside


@pytest.fixture
def pbem(folder: Path) -> Run:
    """Run a command in the empty folder: pbem("keys", "list", PBEM_SITE_NAME="Ours", typed="yes\\n")."""

    def run(*arguments: str, typed: str | None = None, **environ: str) -> Result:
        settings: Mapping[str, str | None] = environ
        result = CliRunner().invoke(main, arguments, input=typed, env=settings)
        # Only an expected end: anything else is a fault, and the test has to see it.
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run
