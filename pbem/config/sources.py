"""The sources of settings: the environment, a TOML file, and files of secrets.

Mistakes are collected, so that all can be shown at once. No value may ever be in a message.
"""

import difflib
import os
import stat
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pbem.config.fields import Setting
from pbem.domain.errors import BadInput

# A secret is a line or a few; a settings file is a page.
_MOST_BYTES = 100_000
# These name the file, or belong to the tests.
_OTHERS = ("PBEM_CONFIG", "PBEM_TEST_")


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a setting, and where it was found."""

    text: str
    where: str


def from_environment(
    settings: Collection[Setting], environ: Mapping[str, str], problems: list[str]
) -> dict[str, SourceText]:
    """The settings in the environment, by name. An empty variable counts as not set."""
    texts = {
        name: text
        for name, text in environ.items()
        if name.startswith("PBEM_") and text and not name.startswith(_OTHERS)
    }
    return _named({setting.variable: setting for setting in settings}, "_FILE", texts, "", problems)


def from_file(settings: Collection[Setting], path: Path, problems: list[str]) -> dict[str, SourceText]:
    """The settings in a TOML file, by name."""
    try:
        document = tomllib.loads(read_text(path))
    except BadInput as refusal:
        problems.append(str(refusal))
        return {}
    except tomllib.TOMLDecodeError as error:
        problems.append(f"{path} is not TOML: {error}.")
        return {}
    texts = {}
    for name, value in _flat(document):
        text = _as_text(value)
        if text is None:
            problems.append(f"{name} in {path}: write text, a whole number, true, false or a list.")
        else:
            texts[name] = text
    return _named({setting.name: setting for setting in settings}, "_file", texts, f" in {path}", problems)


def read_text(path: Path) -> str:
    """The text of a small file. Raises BadInput."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        why = error.strerror or "it can't be opened"
        raise BadInput(f"{path} cannot be read: {why}.", remedy="Correct the path or the permissions.") from None
    if len(data) > _MOST_BYTES:
        raise BadInput(f"{path} is too long.", remedy="Check that it is the right file.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadInput(f"{path} isn't UTF-8 text.", remedy="Save it as UTF-8.") from None


def give_to_owner_of_folder(path: Path) -> None:
    """Give a file that root has made in the folder of another account to that account: its server has to write it."""
    if os.name == "posix" and os.geteuid() == 0 and path.exists():
        owner = path.parent.stat()
        # A link may lead out of the folder, to what is not that account's.
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def read_private_text(path: Path) -> str:
    """The text of a file readable by its owner alone. Raises BadInput if others can read it."""
    if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadInput(f"{path} can be read by other people on this machine.", remedy=f"Close it: chmod 600 {path}")
    return read_text(path)


def _named(
    by_name: Mapping[str, Setting], suffix: str, texts: Mapping[str, str], place: str, problems: list[str]
) -> dict[str, SourceText]:
    """The texts by the names of their settings; a secret may be given by the path of a file."""
    files = {name + suffix: name for name, setting in by_name.items() if setting.secret}
    values = {}
    for name, text in texts.items():
        where = name + place
        if name in by_name:
            values[by_name[name].name] = SourceText(text, where)
        elif name not in files:
            nearest = difflib.get_close_matches(name, [*by_name, *files], n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else "remove it."
            problems.append(f"{where}: there is no such setting; {hint}")
        elif files[name] in texts:
            problems.append(f"{where}: {files[name]} is set as well; remove one of the two.")
        else:
            try:
                values[by_name[files[name]].name] = SourceText(read_text(Path(text)).rstrip(), where)
            except BadInput as refusal:
                problems.append(f"{where}: {refusal}")
    return values


def _flat(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in document.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", item) for inner, item in value.items())
        else:
            yield name, value


def _as_text(value: object) -> str | None:
    """The value as text, in the form that an environment variable has."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | str():
            return str(value)
        case list() if value and all(isinstance(item, str) for item in value):
            return ", ".join(value)
        case _:
            return None
