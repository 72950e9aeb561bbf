"""The settings of a server: read once at the start, checked as a whole, and never changed.

A setting is an environment variable (`PBEM_SMTP_HOST`) or a key of a TOML file (`host` in `[smtp]`): `pbem.toml` in the
current folder, or the file named by `PBEM_CONFIG`. The environment wins. A secret may be in its own file, named by
`PBEM_SMTP_PASSWORD_FILE`. Without any settings, the server is for this machine only, with emails in a local mailbox.

All mistakes are reported at once, each with a remedy. Nothing outside this module may read the environment, and no secret
may be in a `repr`, a message or a listing.
"""

import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from gettext import GNUTranslations
from pathlib import Path
from tempfile import mkstemp

from pbem.config.checks import CONFLICTS
from pbem.config.fields import FOLDER_OR_NONE, Derived, Setting, build
from pbem.config.settings import KEYS_FILE, SETTINGS, Config
from pbem.config.sources import SourceText, from_environment, from_file, give_to_owner_of_folder
from pbem.domain.errors import BadInput, quoted
from pbem.i18n.speech import ENGLISH, Language
from pbem.tokens import Keyring


def read(environ: Mapping[str, str]) -> Config:
    """The configuration from the environment and the file. Raises BadInput with everything that is wrong."""
    problems: list[str] = []
    sources = _source_texts(environ, problems)
    values: dict[str, object] = {}
    texts: dict[str, str] = {}
    for setting in SETTINGS:
        # KeyError: a default that depends on a wrong setting is unknown.
        with suppress(KeyError):
            try:
                text = sources[setting.name].text if setting.name in sources else _default(setting, texts)
                values[setting.name] = setting.kind.parse(text)
                texts[setting.name] = setting.kind.show(values[setting.name])
            except BadInput as refusal:
                problems.append(f"{_where(setting, sources)}: {refusal}")
            except ValueError:
                what = "this" if setting.secret else quoted(text)
                problems.append(f"{_where(setting, sources)}: {what} is not {setting.kind.name}.")
    for conflict in CONFLICTS:
        # KeyError here and below, too: a check that needs a wrong setting is skipped.
        with suppress(KeyError):
            problems += conflict(texts)
    with suppress(KeyError):
        problems += _catalogue_problems(texts)
    if problems:
        raise BadInput(
            "\n- ".join(["These settings are wrong:", *problems]),
            remedy="\nNothing was started. Correct them and try again.",
        )
    config = build(Config, values)
    if not texts["smtp.host"]:
        config = replace(config, smtp=None)
    return config if texts["dkim.private_key"] == "set" else replace(config, dkim=None)


def language_of(config: Config) -> Language:
    """The language of this server. Raises BadInput if its catalogue can't be read."""
    return _language(config.language, config.catalogues)


def show(config: Config) -> str:
    """All settings in force, one a line, with secrets as "set" or "not set"."""
    width = max(len(setting.variable) for setting in SETTINGS)
    return "".join(f"{setting.variable:{width}}  {_shown(setting, config)}".rstrip() + "\n" for setting in SETTINGS)


def save_keys(data_dir: Path, keyring: Keyring) -> None:
    """Write the keys to their default file, whole or not at all, readable by the owner alone: that of the folder."""
    data_dir.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = mkstemp(dir=data_dir, prefix=KEYS_FILE)
    try:
        # mkstemp makes the file readable by its owner alone, before anything is in it.
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write("# The keys of all links, newest first. Keep them secret and keep a copy.\n")
            file.write(keyring.text())
            file.flush()
            os.fsync(file.fileno())
        give_to_owner_of_folder(Path(temporary))
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
        _language(texts["language"], FOLDER_OR_NONE.parse(texts["catalogues"]))
    except BadInput as refusal:
        yield f"PBEM_LANGUAGE: {refusal}"


def _language(tag: str, folder: Path | None) -> Language:
    """A language with its catalogue; what that lacks stays English. Raises BadInput if it can't be read."""
    if tag == ENGLISH.tag:
        return ENGLISH
    if folder is None:
        raise BadInput(
            f"there is no catalogue for {tag}.", remedy="Name the folder of the catalogues in PBEM_CATALOGUES."
        )
    path = folder / tag.replace("-", "_") / "LC_MESSAGES" / "pbem.mo"
    try:
        with path.open("rb") as file:
            return Language(tag, GNUTranslations(file))
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {error.strerror or 'the file is unreadable'}.",
            remedy="Correct PBEM_CATALOGUES, or compile the catalogue there.",
        ) from None
    except (struct.error, ValueError, LookupError, SyntaxError):
        # The errors of gettext for a broken file: cut short, wrongly encoded, or with an invalid plural rule.
        raise BadInput(
            f"{path} isn't a compiled catalogue.", remedy="Compile it again with msgfmt or pybabel."
        ) from None


def _default(setting: Setting, texts: Mapping[str, str]) -> str:
    return setting.default.text(texts) if isinstance(setting.default, Derived) else setting.default


def _where(setting: Setting, sources: Mapping[str, SourceText]) -> str:
    if setting.name in sources:
        return sources[setting.name].where
    return f"{setting.variable} (not set, so {setting.default_words})"


def _shown(setting: Setting, config: Config) -> str:
    value: object = config
    for name in setting.name.split("."):
        value = getattr(value, name, None)
    unused = value is None and setting.name.startswith(("smtp.", "dkim."))
    return "" if unused else setting.kind.show(value)
