"""Words that people choose: names, titles of tables, words for the seed, texts to the organiser.

What comes out is fit to stand in a mail's header, in a page and in a sentence of a game: no control characters, nothing
that turns the direction of writing, nothing that cannot be seen, no web address that would make our invitations
somebody's advertisement. What is too long is refused and never cut. Whether somebody may say a thing is not decided here.
"""

import re
import unicodedata
from typing import Final

from pbem.domain.errors import BadInput, quoted
from pbem.i18n.speech import gettext as _

LONGEST_NAME: Final = 40
LONGEST_TITLE: Final = 80
LONGEST_WORD: Final = 100
LONGEST_SAID: Final = 500
SHORTEST_REASON: Final = 3
LONGEST_REASON: Final = 500
LONGEST_TEXT: Final = 4000
"""Two printed pages: more to the organiser is better said in an answer to the answer."""

# Categories of characters without a shape of their own: controls, formats (direction marks among them), surrogates,
# private use, unassigned, and separators of lines and paragraphs.
_SHAPELESS: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Joiners make letters in several scripts and pictures of families; beside a plain letter, or at an end, they are a trick
# by which one name looks like another.
_JOINERS: Final = frozenset("\u200c\u200d")
_IDLE_JOINER: Final = re.compile(r"(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])")
# Letters and signs that show nothing.
_BLANKS: Final = re.compile(r"[\u115f\u1160\u2800\u3164\uffa0]")
# No language piles up so many marks on one letter; written like that, a name runs over the lines above and below it.
_PILED: Final = re.compile(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{4}")
# The directions of letters and numbers of scripts that are written from the right.
_BACKWARDS: Final = frozenset({"R", "AL", "AN"})
_ADDRESS: Final = re.compile(r"\S@\S")
_WEB: Final = re.compile(r"://|\bwww\.", re.IGNORECASE)


def name_of(text: str) -> str:
    """What somebody wants to be called."""
    name = _line(text, _("a name"), LONGEST_NAME)
    if not name:
        raise BadInput(
            _("A name is missing."),
            why=_("The others at the table have to call you something."),
            remedy=_("Please give one."),
        )
    if name.casefold() == "you" or "@" in name:
        raise BadInput(
            _("%(given)s cannot be a name here.", given=quoted(text)),
            why=_("It would be read as something else in a mail, or tell everybody an address."),
            remedy=_("Please choose another."),
        )
    return name


def set_apart(name: str) -> str:
    """A name that keeps its own direction of writing within a sentence, and leaves the sentence its own."""
    # The marks are invisible, but they are characters: only names that need them get them.
    return f"\u2068{name}\u2069" if any(unicodedata.bidirectional(c) in _BACKWARDS for c in name) else name


def title_of(text: str) -> str:
    """What a table is to be called; empty where its host has no wish."""
    return _line(text, _("a title"), LONGEST_TITLE)


def word_of(text: str) -> str:
    """A player's word for the seed, which may be anything or nothing."""
    return _line(text, _("a word for the seed"), LONGEST_WORD)


def said_of(text: str) -> str:
    """One paragraph to everybody at a table."""
    said = " ".join(_shaped(unicodedata.normalize("NFC", text)).split())
    if not said:
        raise BadInput(_("There is nothing in that to be said."), remedy=_("Please write what the others should hear."))
    if len(said) > LONGEST_SAID:
        raise BadInput(
            _("What you want to say has %(many)s characters.", many=len(said)),
            why=_("%(longest_said)s are the most, because it stands in everybody's mail.", longest_said=LONGEST_SAID),
            remedy=_("Please say it shorter, or in two lines."),
        )
    return said


def reason_of(text: str) -> str:
    """Why somebody moderates as they do. Players and other organisers read it, and it stays."""
    reason = " ".join(_shaped(unicodedata.normalize("NFC", text)).split())
    if not SHORTEST_REASON <= len(reason) <= LONGEST_REASON:
        raise BadInput(
            _("Please say why.")
            if len(reason) < SHORTEST_REASON
            else _("Your reason has %(many)s characters.", many=len(reason)),
            why=_(
                "A reason of %(shortest_reason)s to %(longest_reason)s characters is kept with "
                "everything that is done here.",
                shortest_reason=SHORTEST_REASON,
                longest_reason=LONGEST_REASON,
            ),
            remedy=_("Nothing was changed; please write one that those whom it concerns may read."),
        )
    must_hold_no_address(reason)
    return reason


def must_hold_no_address(text: str) -> None:
    """Refuse words about what moderators do in which there is somebody's address."""
    if _ADDRESS.search(text):
        raise BadInput(
            _("There is an address in that."),
            why=_("What is written about moderation is kept for ever and read by others."),
            remedy=_("Nothing was changed; please name people by their names."),
        )


def text_of(text: str) -> str:
    """Several lines to a person."""
    lines = [_shaped(line).rstrip() for line in unicodedata.normalize("NFC", text).replace("\r\n", "\n").split("\n")]
    said = "\n".join(lines).strip()
    if not said:
        raise BadInput(_("There is no text in that."), remedy=_("Please write what it is about."))
    if len(said) > LONGEST_TEXT:
        raise BadInput(
            _("Your text has %(many)s characters.", many=len(said)),
            why=_("%(longest_text)s are the most.", longest_text=LONGEST_TEXT),
            remedy=_("Please say it shorter; you can add to it in a second message."),
        )
    return said


def _line(text: str, what: str, longest: int) -> str:
    line = " ".join(_shaped(unicodedata.normalize("NFC", text)).split())
    if len(line) > longest:
        raise BadInput(
            _("%(line)s is too long for %(what)s.", line=quoted(line), what=what),
            why=_("It has %(many)s characters, and %(longest)s are the most.", many=len(line), longest=longest),
            remedy=_("Please choose a shorter one."),
        )
    if _PILED.search(line):
        raise BadInput(
            _("What you wrote cannot be %(what)s.", what=what),
            why=_("It piles up marks on a letter, which run over the lines of others."),
            remedy=_("Please choose another."),
        )
    if _WEB.search(line) or "=?" in line:
        raise BadInput(
            _("%(line)s cannot be %(what)s.", line=quoted(line), what=what),
            why=_("It stands in mails to others, where a web address or code has no place."),
            remedy=_("Please choose another."),
        )
    return line


def _shaped(text: str) -> str:
    shaped = "".join(
        c if c in _JOINERS or unicodedata.category(c) not in _SHAPELESS else " " if c.isspace() else "" for c in text
    )
    return _IDLE_JOINER.sub("", _BLANKS.sub(" ", shaped))
