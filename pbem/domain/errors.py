"""The exceptions raised on purpose, in one tree that HTTP and email each map in one place.

    PbemError              all of them
    ├── Refusal            a person asked for something impossible: a 4xx page, a friendly email
    │   ├── BadInput       the input cannot be read, or is out of range
    │   ├── Forbidden      it exists, but this person may not do it
    │   ├── NotFound       it does not exist
    │   ├── Gone           it existed and is over: revoked, expired, closed
    │   ├── Stale          it was possible when asked for, but the game has moved on
    │   │   └── TimedOut   time ran out, and the clock has decided
    │   └── TooMany        a limit was reached; waiting or removing something helps
    └── Fault              something of the server is broken: a 5xx page, an alarm for the organiser
        └── Unavailable    the database is full or unreachable
            └── Unplayable the rules of another package's game are missing or have failed

Every message to a person says what happened, why, and what to do now, in that order and in whole sentences. A message must
never hold a secret, a token, an address or a trace, and this module must never know a status code.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import ClassVar, TypeVar

from pbem.i18n.speech import gettext, mark

T = TypeVar("T")
Readers = Mapping[str, Callable[[], T]]
"""For each field of a form, what reads it. Raises BadInput."""

# Enough to recognise the input; a whole pasted email would bury the message.
MOST_QUOTED = 40


class PbemError(Exception):
    """What happened, why, and what to do now; the class has a usual remedy, for where no better one is given."""

    usual_remedy: ClassVar[str]

    def __init__(self, what: str, *, why: str = "", remedy: str = "") -> None:
        self.what = what
        self.why = why
        self.remedy = remedy or gettext(self.usual_remedy)
        super().__init__(" ".join(part for part in (what, why, self.remedy) if part))


class Refusal(PbemError):
    """A person asked for something impossible. Nothing was changed. `fields` says what is wrong in each field of a form."""

    fields: "Mapping[str, BadInput]" = MappingProxyType({})
    usual_remedy = mark("Nothing changed. If you need this, contact the organiser.")


class BadInput(Refusal):
    """The input cannot be read, or is out of range."""

    usual_remedy = mark("Nothing changed. Please correct it and try again.")

    def __init__(
        self, what: str, *, why: str = "", remedy: str = "", fields: "Mapping[str, BadInput]" = MappingProxyType({})
    ) -> None:
        super().__init__(what, why=why, remedy=remedy)
        self.fields = fields
        self.beside = " ".join(part for part in (what, why, remedy) if part)
        """What is said beside a field."""


class Forbidden(Refusal):
    """It exists, but this person may not do it."""

    usual_remedy = mark("Nothing changed. If you think this is wrong, contact the organiser.")


class NotFound(Refusal):
    """It does not exist."""

    usual_remedy = mark("Check that you copied the whole address, or get an email with links to all your games.")


class Gone(Refusal):
    """It existed and is over: revoked, expired, closed. `table` or `tournament` is the key of what it was about, if that is public."""

    usual_remedy = mark("Use this game's latest email, or get an email with links to all your games.")

    def __init__(self, what: str, *, why: str = "", remedy: str = "", table: str = "", tournament: str = "") -> None:
        super().__init__(what, why=why, remedy=remedy)
        self.table = table
        self.tournament = tournament


class Stale(Refusal):
    """It was possible when asked for, but the game has moved on."""

    usual_remedy = mark("Nothing changed. Open the table to see the current turn.")


class TimedOut(Stale):
    """Time ran out, and the clock has decided instead."""


class TooMany(Refusal):
    """A limit was reached; waiting or removing something helps."""

    usual_remedy = mark("Nothing changed. Please try again later.")


class Fault(PbemError):
    """Something of the server is broken, and the person who met it cannot help it."""

    usual_remedy = mark("It's our fault, not yours. Try again later, or contact the organiser.")


class Unavailable(Fault):
    """The database is full or unreachable; an operator must fix it."""

    usual_remedy = mark("Try again in a few minutes. The page will show whether this counted.")


class Unplayable(Unavailable):
    """The rules of a game from another package are missing or have failed. Only its tables are stopped."""

    usual_remedy = mark("Nothing is lost. We'll email you when it resumes.")


def read_fields(readers: Readers[T]) -> dict[str, T]:
    """What the reader of each field of a form returns. Raises one BadInput for all that is wrong in them."""
    values: dict[str, T] = {}
    wrong: dict[str, BadInput] = {}
    for field, read in readers.items():
        try:
            values[field] = read()
        except BadInput as error:
            wrong |= error.fields or {field: error}
    if len(wrong) == 1:
        (only,) = wrong.values()
        raise BadInput(only.what, why=only.why, remedy=only.remedy, fields=wrong)
    if wrong:
        raise BadInput(" ".join(error.beside for error in wrong.values()), fields=wrong)
    return values


def quoted(text: str) -> str:
    """A person's input, made fit for a message: one line, short, printable."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line) > MOST_QUOTED:
        line = line[: MOST_QUOTED - 1].rstrip() + "…"
    return f"“{line}”"
