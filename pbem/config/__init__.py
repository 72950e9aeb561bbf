"""The settings of a server: read once at the start, checked as a whole, and never changed.

A setting is an environment variable (`PBEM_SMTP_HOST`) or a key of a TOML file (`host` in `[smtp]`): `pbem.toml` in the
current folder, or the file named by `PBEM_CONFIG`. The environment wins. A secret may be in its own file, named by
`PBEM_SMTP_PASSWORD_FILE`. Without any settings, the server is for this machine only, with emails in a local mailbox.

All mistakes are reported at once, each with a remedy. Nothing outside this module may read the environment, and no secret
may be in a `repr`, a message or a listing.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkstemp

from pbem.config import catalogues
from pbem.config.checks import CONFLICTS
from pbem.config.fields import FOLDER_OR_NONE, Derived, Setting, build
from pbem.config.settings import KEYS_FILE, SETTINGS, Config
from pbem.config.sources import SourceText, from_environment, from_file
from pbem.domain.errors import BadInput, quoted
from pbem.i18n.speech import Language
from pbem.tokens import Keyring


def read(environ: Mapping[str, str]) -> Config:
    """The configuration from the environment and the file. Raises BadInput with everything that is wrong."""
    problems: list[str] = []
    sources = _source_texts(environ, problems)
    values: dict[str, object] = {}
    texts: dict[str, str] = {}
    for each in SETTINGS:
        # KeyError: a default that depends on a wrong setting is unknown.
        with suppress(KeyError):
            try:
                text = sources[each.name].text if each.name in sources else _default(each, texts)
                values[each.name] = each.kind.parse(text)
                texts[each.name] = each.kind.show(values[each.name])
            except BadInput as refusal:
                problems.append(f"{_where(each, sources)}: {refusal}")
            except ValueError:
                what = "this" if each.secret else quoted(text)
                problems.append(f"{_where(each, sources)}: {what} is not {each.kind.name}.")
    for conflict in CONFLICTS:
        # KeyError here and below, too: a check that needs a wrong setting is skipped.
        with suppress(KeyError):
            problems += conflict(texts)
    with suppress(KeyError):
        problems += _catalogue_problems(texts)
    if problems:
        raise BadInput(
            "\n- ".join(["These settings cannot be used:", *problems]),
            remedy="\nNothing was started; correct them and try again.",
        )
    config = build(Config, values)
    if not texts["smtp.host"]:
        config = replace(config, smtp=None)
    return config if texts["dkim.private_key"] == "set" else replace(config, dkim=None)


def language_of(config: Config) -> Language:
    """The language of this server. Raises BadInput if its catalogue cannot be read."""
    return catalogues.language(config.language, config.catalogues)


def show(config: Config) -> str:
    """All settings in force, one a line, with secrets as "set" or "not set"."""
    width = max(len(each.variable) for each in SETTINGS)
    return "".join(f"{each.variable:{width}}  {_shown(each, config)}".rstrip() + "\n" for each in SETTINGS)


def save_keys(data_dir: Path, keyring: Keyring) -> None:
    """Write the keys to their default file, whole or not at all, readable by the owner alone."""
    data_dir.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = mkstemp(dir=data_dir, prefix=KEYS_FILE)
    try:
        # mkstemp makes the file readable by its owner alone, before anything is in it.
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write("# The keys of all links, newest first. Keep them secret, and keep a copy.\n")
            file.write(keyring.text())
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(data_dir / KEYS_FILE)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _source_texts(environ: Mapping[str, str], problems: list[str]) -> dict[str, SourceText]:
    named = environ.get("PBEM_CONFIG")
    path = Path(named or "pbem.toml")
    from_toml = from_file(SETTINGS, path, problems) if named or path.exists() else {}
    return from_toml | from_environment(SETTINGS, environ, problems)


def _catalogue_problems(texts: Mapping[str, str]) -> Iterator[str]:
    """Problems with the catalogue of the language, better found at the start."""
    try:
        catalogues.language(texts["language"], FOLDER_OR_NONE.parse(texts["catalogues"]))
    except BadInput as refusal:
        yield f"PBEM_LANGUAGE: {refusal}"


def _default(each: Setting, texts: Mapping[str, str]) -> str:
    return each.default.text(texts) if isinstance(each.default, Derived) else each.default


def _where(each: Setting, sources: Mapping[str, SourceText]) -> str:
    if each.name in sources:
        return sources[each.name].where
    return f"{each.variable} (not set, so {each.default_words})"


def _shown(each: Setting, config: Config) -> str:
    value: object = config
    for name in each.name.split("."):
        value = getattr(value, name, None)
    unused = value is None and each.name.startswith(("smtp.", "dkim."))
    return "" if unused else each.kind.show(value)
