"""The folders of templates, migrations and handbook pages.

They are in the package once it is installed, and beside it in the repository: the wheel carries the top-level folders
`templates` and `migrations` as `_templates` and `_migrations`. Nothing else may guess these paths.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def templates() -> Path:
    """The folder of all templates."""
    return _folder("templates")


def migrations() -> Path:
    """The folder of the migrations."""
    return _folder("migrations")


def handbook() -> Path:
    """The folder of the handbook's pages."""
    return _PACKAGE / "handbook"


def _folder(name: str) -> Path:
    inside = _PACKAGE / f"_{name}"
    return inside if inside.is_dir() else _PACKAGE.parent / name
