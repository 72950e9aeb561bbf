"""The language that people are spoken to in: every sentence of ours that people read goes through here.

Those in templates come by Jinja's gettext calls, those in code by `gettext` and `ngettext`, and those that the rules and the
facts of a game say by a teller from here. English is what stands in templates and code, so it needs no catalogue.

    from pbem.domain.speech import gettext as _

    raise BadInput(_("%(many)s bots are too many.", many=bots))

Values stand in a sentence by their names, so that another language can put them elsewhere; a percent sign is written twice.
A sentence that is kept before anybody reads it, such as one of a class, is marked where it stands, and translated where it
is said. What people type (commands, names of settings) is the same in every language, and so is what is kept in a log.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations
from typing import Any, Final, NamedTuple

from engine.game import Game
from engine.tell import Teller, Text


class Language(NamedTuple):
    """A language that is spoken: its tag as pages and mails name it, and its words."""

    tag: str
    words: NullTranslations


ENGLISH: Final = Language("en", NullTranslations())

_OF_HOUSE: Final = [ENGLISH]
"""The one language of a server, in all of its threads; a process settles it once, before it begins."""

_SPOKEN: Final[ContextVar[Language | None]] = ContextVar("spoken", default=None)

_STOP: Final = re.compile(r"(%\((\w+)\)s)\.(?!\.)")
_ENDS: Final = (".", "!", "?", "…")


def language() -> NullTranslations:
    """The language that is spoken: for whoever keeps what was said in it."""
    return _spoken().words


def tag() -> str:
    """What the language that is spoken is called: `en`, `pt-BR`."""
    return _spoken().tag


def settle(server: Language) -> None:
    """Let everybody be spoken to in this language from now on."""
    _OF_HOUSE[0] = server


def gettext(message: str, /, **values: object) -> str:
    """A sentence in the language that is spoken, with its values."""
    return stopped_once(translated(message), values) % values


def ngettext(one: str, many: str, number: int, /, **values: object) -> str:
    """One of two sentences, by a number, which stands in it as `num`."""
    return translated_by_number(one, many, number) % {"num": number, **values}


def marked(message: str) -> str:
    """A sentence that is translated where it is said, and found by its mark where it stands."""
    return message


def stopped_once(message: str, values: Mapping[str, object]) -> str:
    """The message without its full stop after a value that ends a sentence itself, as the title of Bid! does."""
    if ")s." not in message:
        return message
    return _STOP.sub(lambda stop: stop[1] if str(values.get(stop[2], "")).endswith(_ENDS) else stop[0], message)


def translated(message: str) -> str:
    """A message as the catalogue has it, with the places of its values."""
    # What a catalogue has for no words is what it says of itself.
    return language().gettext(message) if message else ""


def translated_by_number(one: str, many: str, number: int) -> str:
    """The same of one that has two forms."""
    return language().ngettext(one, many, number)


def teller(game: Game[Any], reader: int | None = None, names: tuple[str, ...] = ()) -> Teller:
    """Somebody who tells a game's facts to one reader in the language that is spoken."""
    return game.teller(reader, names, translated)


def told(text: Text) -> str:
    """What the rules say to nobody in particular."""
    return Teller(translate=translated)(text)


@contextmanager
def speaking(translations: NullTranslations) -> Iterator[None]:
    """Speak another language for a while, in this thread."""
    before = _SPOKEN.set(Language(tag(), translations))
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def _spoken() -> Language:
    return _SPOKEN.get() or _OF_HOUSE[0]
