"""Texts that people enter: names, titles of tables, words for the seed, messages to the organiser.

Parsed texts are fit for an email header, a page and a sentence of a game: no control characters, no direction marks,
nothing invisible, and no web address that would turn invitations into advertisements. A text that is too long is refused,
never cut. Whether it is polite is not decided here.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from pbem.domain.errors import BadInput, quoted
from pbem.domain.look_alikes import seen_as
from pbem.i18n.speech import gettext as _

LONGEST_NAME: Final = 40
LONGEST_TITLE: Final = 80
LONGEST_SEED_WORD: Final = 100
LONGEST_TALK: Final = 500
SHORTEST_REASON: Final = 3
LONGEST_REASON: Final = 500
LONGEST_TEXT: Final = 4000
"""Two printed pages: any more is better sent as a second message."""

# Categories of characters without a shape of their own: controls, formats (direction marks among them), surrogates,
# private use, unassigned, and separators of lines and paragraphs.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters and marks that Unicode has programs leave out (Default_Ignorable_Code_Point), as far as their category does not say
# so, and some that have a shape only in theory.
_IGNORABLE: Final = re.compile(
    r"[\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0e\U000e0100-\U000e01ef\ufffc\U00013441\U00013442\U00016fe4\U0001d159]"
)
# Joiners form letters in several scripts and pictures of families. Anywhere else they only make one name look like another.
_JOINERS: Final = frozenset("\u200c\u200d")
_AS_PICTURE: Final = "\ufe0f"
"""It turns the sign before it into a coloured picture."""

# Letters and signs that are blank.
_BLANKS: Final = re.compile(r"[\u115f\u1160\u2800\u3164\uffa0]")
# No language puts more marks above and below one letter, and no mark twice: they would run over the lines above and below.
_MOST_MARKS: Final = 3
_MOST_SORTED: Final = 30
_MOST_MARKS_OF_SCRIPT: Final = {"HEBREW": 4, "ARABIC": 4, "TIBETAN": 6, "MYANMAR": 6, "TAI": 6}
# The directions of letters and numbers in right-to-left scripts.
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
_AT_SIGN: Final = re.compile(r"\S@\S")
_URL: Final = re.compile(r"://|\bwww\.", re.IGNORECASE)
_ORGANISER: Final = re.compile(r"(?:the)?organi[sz]er")
# Mail programs make a link of `evil.com`, too, and no list of such endings stays true.
_LIKE_A_DOMAIN: Final = re.compile(r"\w\.[^\W\d_]{2}")


def parse_name(text: str, *, stored: bool = False) -> str:
    """Parse a player's name; a stored one may have dots as in `J.Smith`. Raises BadInput."""
    name = _line(text, _("a name"), LONGEST_NAME, stored=stored)
    if not name:
        raise BadInput(
            _("Please enter a name."),
            why=_("The others at the table need something to call you."),
            remedy=_("Any name will do."),
        )
    if name.casefold() == "you" or "@" in name:
        raise BadInput(
            _("You can't use %(given)s as a name.", given=quoted(text)),
            why=_("In an email it would be read as a command, or show everyone an address."),
            remedy=_("Choose another."),
        )
    if not stored and _looks_like_organiser(name):
        raise BadInput(
            _("You can't use %(given)s as a name.", given=quoted(text)),
            why=_("Others would take you for an organiser of this server."),
            remedy=_("Choose another."),
        )
    return name


def isolate(name: str) -> str:
    """A name that keeps its own direction of writing within a sentence, and leaves the sentence its own."""
    # Most names are, and a page asks for each of them many times.
    if name.isascii():
        return name
    # The marks are invisible, but they are characters, so only names that need them get them.
    return f"\u2068{name}\u2069" if any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in name) else name


def parse_title(text: str, *, stored: bool = False) -> str:
    """Parse the title of a table, empty if the host has none; a stored one may have dots as in `Dr.X`. Raises BadInput."""
    return _line(text, _("a title"), LONGEST_TITLE, stored=stored)


def parse_seed_word(text: str) -> str:
    """Parse a player's word for the seed, which may be empty. Raises BadInput."""
    return _line(text, _("your own randomness"), LONGEST_SEED_WORD)


def parse_talk(text: str) -> str:
    """Parse a talk message into one paragraph. Raises BadInput."""
    message = " ".join(_visible(text).split())
    _must_not_pile_up(message)
    if not message:
        raise BadInput(_("Your message is empty."), remedy=_("Write something first."))
    if len(message) > LONGEST_TALK:
        raise BadInput(
            _("Your message has %(many)s characters.", many=len(message)),
            why=_("The limit is %(longest_said)s, because it goes into everyone's emails.", longest_said=LONGEST_TALK),
            remedy=_("Shorten it, or send two messages."),
        )
    return message


def parse_reason(text: str) -> str:
    """Parse the reason for an act of moderation, which players and other organisers read. Raises BadInput."""
    reason = " ".join(_visible(text).split())
    if not SHORTEST_REASON <= len(reason) <= LONGEST_REASON:
        raise BadInput(
            _(
                "Please give a reason of %(shortest_reason)s to %(longest_reason)s characters.",
                shortest_reason=SHORTEST_REASON,
                longest_reason=LONGEST_REASON,
            ),
            why=_("Yours has %(many)s.", many=len(reason)) if reason else "",
        )
    _must_not_pile_up(reason)
    refuse_addresses(reason)
    return reason


def refuse_addresses(text: str) -> None:
    """Check that a text about moderation contains no email address. Raises BadInput."""
    if _AT_SIGN.search(text):
        raise BadInput(
            _("That contains an email address."),
            why=_("Moderation notes are kept forever, and others can read them."),
            remedy=_("Refer to people by name."),
        )


def parse_message(text: str) -> str:
    """Parse a message of several lines. Raises BadInput."""
    message = _paragraphs(text)
    if not message:
        raise BadInput(_("Your message is empty."), remedy=_("Write something first."))
    if len(message) > LONGEST_TEXT:
        raise BadInput(
            _("Your message has %(many)s characters.", many=len(message)),
            why=_("The limit is %(longest_text)s.", longest_text=LONGEST_TEXT),
            remedy=_("Shorten it, or send a second message."),
        )
    return message


def parse_notes(text: str) -> str:
    """Parse a player's notes, which may be empty. Raises BadInput."""
    notes = _paragraphs(text)
    if len(notes) > LONGEST_TEXT:
        raise BadInput(
            _("Your notes have %(many)s characters.", many=len(notes)),
            why=_("The limit is %(longest_text)s.", longest_text=LONGEST_TEXT),
            remedy=_("Shorten them."),
        )
    return notes


def _paragraphs(text: str) -> str:
    lines = [_visible(line).rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    paragraphs = "\n".join(lines).strip()
    _must_not_pile_up(paragraphs)
    return paragraphs


def _line(text: str, what: str, longest: int, *, stored: bool = False) -> str:
    line = " ".join(_visible(text).split())
    if len(line) > longest:
        raise BadInput(
            _("%(line)s is too long for %(what)s.", line=quoted(line), what=what),
            why=_("It has %(many)s characters; the limit is %(longest)s.", many=len(line), longest=longest),
            remedy=_("Choose a shorter one."),
        )
    if _piles_up(line):
        raise BadInput(
            _("You can't use that as %(what)s.", what=what),
            why=_("It has too many accents stacked on one letter."),
            remedy=_("Choose another."),
        )
    if _URL.search(line) or "=?" in line or (not stored and _LIKE_A_DOMAIN.search(line)):
        raise BadInput(
            _("You can't use %(line)s as %(what)s.", line=quoted(line), what=what),
            why=_("It appears in emails to others, so it can't contain a web address or code."),
            remedy=_("Choose another, or put a space after the dot."),
        )
    return line


def _visible(text: str) -> str:
    """A text without the characters that nobody can see, in its normal form."""
    text = _BLANKS.sub(" ", _IGNORABLE.sub("", text))
    bare = "".join(
        c if c in _JOINERS or unicodedata.category(c) not in _INVISIBLE else " " if c.isspace() else "" for c in text
    )
    shown: list[str] = []
    for c, after in zip(bare, f"{bare[1:]} ", strict=False):
        if _changes(shown[-1] if shown else " ", c, after):
            shown.append(c)
    return unicodedata.normalize("NFC", "".join(_without_endless_marks(shown)))


def _without_endless_marks(characters: Iterable[str]) -> Iterator[str]:
    """The characters without marks beyond any that a letter may have: the library sorts them, each past all others."""
    marks = 0
    for c in characters:
        marks = marks + 1 if unicodedata.combining(c) else 0
        if marks <= _MOST_SORTED:
            yield c


def _changes(before: str, c: str, after: str) -> bool:
    """Whether a character changes what is seen between these two: a joiner needs something to join, and a mark a letter."""
    if c == _AS_PICTURE:
        return unicodedata.category(before).startswith("S")
    if c in _JOINERS:
        return not after.isascii() and after not in _JOINERS and (_joins(before) or _is_mark(after))
    return not (_is_mark(c) and before.isspace())


def _joins(before: str) -> bool:
    """Whether a joiner after this character can be seen: in connected scripts, after the marks of a script, in pictures."""
    if _is_mark(before):
        return not unicodedata.name(before, "").startswith("COMBINING ")
    return unicodedata.bidirectional(before) == "AL" or unicodedata.category(before).startswith("S")


def _is_mark(c: str) -> bool:
    return unicodedata.category(c).startswith("M")


def _must_not_pile_up(text: str) -> None:
    """Check that a text has no letter with more marks than any language puts there. Raises BadInput."""
    if _piles_up(text):
        raise BadInput(
            _("Your text has too many accents stacked on one letter."),
            why=_("They would cover the lines around it."),
            remedy=_("Please remove them."),
        )


def _looks_like_organiser(name: str) -> bool:
    """Whether a word of a name, or all of its letters set apart, can be read as "organiser"."""
    words = ["".join(filter(str.isalnum, seen_as(word))) for word in name.split()]
    return any(_ORGANISER.match(each) for each in (*words, "".join(words) if max(map(len, words)) == 1 else ""))


def _piles_up(text: str) -> bool:
    """Whether there are more marks above and below a letter than any language puts there."""
    base, marks = " ", ""
    for c in text:
        category = unicodedata.category(c)
        if category in ("Mn", "Me") and c != _AS_PICTURE:
            most = _MOST_MARKS_OF_SCRIPT.get(unicodedata.name(base, "").split(" ")[0], _MOST_MARKS)
            if c in marks or len(marks) == most:
                return True
            marks += c
        elif category != "Mc" and c not in _JOINERS:
            base, marks = c, ""
    return False
