"""The current language: every sentence for people passes through here.

Sentences of templates arrive by Jinja's gettext calls, those of code by `gettext` and `ngettext`, and those of the rules and
facts of a game by a Teller from here. English needs no catalogue, since templates and code are in English.

    from pbem.i18n.speech import gettext as _

    raise BadInput(_("%(many)s bots are too many.", many=bots))

Values are named in a sentence, so that another language can reorder them; a percent sign is doubled. A translation that names
others, or has a single percent sign, is left out: a mistake in a catalogue must not keep an email from leaving. A sentence stored
before it is read, such as one of a class, is marked where it is written and translated where it is used. Commands and names
of settings are the same in every language, and so is everything stored in a log.
"""

import re
from collections.abc import Callable, Mapping
from gettext import NullTranslations
from typing import Any, Final, NamedTuple

from engine.game import Game
from engine.tell import Teller, Text


class Language(NamedTuple):
    """A language: its tag, as pages and emails give it, and its translations."""

    tag: str
    translations: NullTranslations


ENGLISH: Final = Language("en", NullTranslations())

_SERVER_LANGUAGE: Final = [ENGLISH]
"""The one language of a server, in all threads; a process sets it once at its start."""

_FULL_STOP: Final = re.compile(r"(%\((\w+)\)s)\.(?!\.)")
_ENDS: Final = (".", "!", "?", "…")


def language() -> NullTranslations:
    """The translations of the current language, for keys of caches."""
    return _SERVER_LANGUAGE[0].translations


def tag() -> str:
    """The tag of the current language: `en`, `pt-BR`."""
    return _SERVER_LANGUAGE[0].tag


def capital(text: str) -> str:
    """The text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def set_server_language(language: Language) -> None:
    _SERVER_LANGUAGE[0] = language


def gettext(message: str, /, **values: object) -> str:
    """A sentence in the current language, with its values."""
    return fill(translate(message), message, values)


def ngettext(one: str, many: str, number: int, /, **values: object) -> str:
    """One of two sentences in the current language, chosen by a number, which it contains as `num`."""
    return fill_plural(one, many, number, values)


def fill(sentence: str, english: str, values: Mapping[str, object], kind: Callable[[str], str] = str) -> str:
    """A translated sentence of a kind with its values, or the English one if the translation is none of it."""
    try:
        return kind(drop_double_stop(sentence, values)) % values
    except (KeyError, TypeError, ValueError):
        if sentence == english:
            raise
        return kind(drop_double_stop(english, values)) % values


def fill_plural(
    one: str, many: str, number: int, values: Mapping[str, object], kind: Callable[[str], str] = str
) -> str:
    """One of two sentences, chosen by a number, with its values; in English if its translation is none of it."""
    english = one if number == 1 else many
    return fill(translate_plural(one, many, number), english, {"num": number, **values}, kind)


def mark(message: str) -> str:
    """The message itself, marked for the catalogue and translated where it is used."""
    return message


def drop_double_stop(message: str, values: Mapping[str, object]) -> str:
    """The message without its full stop after a value that ends in one itself, as the title of Bid! does."""
    if ")s." not in message:
        return message
    return _FULL_STOP.sub(lambda stop: stop[1] if str(values.get(stop[2], "")).endswith(_ENDS) else stop[0], message)


def translate(message: str) -> str:
    """A message in the current language, before its values are inserted."""
    # The entry of a catalogue for the empty message is its own header.
    return language().gettext(message) if message else ""


def translate_plural(one: str, many: str, number: int) -> str:
    """A message with two forms in the current language, before its values are inserted."""
    return language().ngettext(one, many, number)


def teller(game: Game[Any], reader: int | None = None, names: tuple[str, ...] = ()) -> Teller:
    """A Teller of a game's facts for one reader, in the current language."""
    return game.teller(reader, names, translate)


def render(text: Text) -> str:
    """A text of the rules in the current language, without a reader."""
    return Teller(translate=translate)(text)
