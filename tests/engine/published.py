"""Packages with games, written into a folder as an installer leaves them there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine import registry

PLAYED = "pbem-engine>=1.0,<2"


def publish(
    folder: Path, name: str, *points: str, requires: str = PLAYED, version: str = "1.2", source: str | None = None
) -> None:
    """Write down a distribution, the games that it publishes and, if it has one, the module of its name."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
    (info / "entry_points.txt").write_text("\n".join(["[pbem.games]", *points, ""]))
    if source is not None:
        (folder / f"{name.replace('-', '_')}.py").write_text(source)


@contextmanager
def on_the_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let Python know the packages in a folder; nothing of them is left behind."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    try:
        yield
    finally:
        for name, module in tuple(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(folder)):
                del sys.modules[name]
        for name in set(registry.names()) - registry.own_names():
            registry.withdraw(name)
