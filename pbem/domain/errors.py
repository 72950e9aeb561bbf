"""The one exception tree, so that HTTP and mail each need to map errors in one place only.

    PbemError              everything we raise on purpose
    ├── Refusal            a person asked for what cannot be: a 4xx page, a friendly mail
    │   ├── BadInput       what was typed cannot be read, or is out of range
    │   ├── Forbidden      it is there, and it is not theirs to do
    │   ├── NotFound       there is no such thing
    │   ├── Gone           there was such a thing, and it is over: revoked, expired, closed
    │   ├── Stale          it was possible when it was asked for, and the game has moved on
    │   └── TooMany        a limit was reached, which waiting or removing something will cure
    └── Fault              something of ours is broken: a 5xx page, an alarm for the organiser
        └── Unavailable    the records cannot be read or written: a full disk, a database that is away
            └── Unplayable the rules of a game that another package brings are not there, or have failed

Every message to a person says what happened, why, and what to do now; so does every error, in that
order and in whole sentences. A message never holds a secret, a token, an address or a trace, and
nothing in here knows about status numbers or mail.
"""

from typing import ClassVar

from pbem.i18n.speech import gettext, marked

# Enough to recognise what one typed; a whole pasted mail would bury the message.
MOST_QUOTED = 40


class PbemError(Exception):
    """What happened, why, and what to do now.

    A class says what to do in general; whoever raises it says so in particular where it can.
    """

    usual_remedy: ClassVar[str]

    def __init__(self, what: str, *, why: str = "", remedy: str = "") -> None:
        self.what = what
        self.why = why
        self.remedy = remedy or gettext(self.usual_remedy)
        super().__init__(" ".join(part for part in (what, why, self.remedy) if part))


class Refusal(PbemError):
    """A person asked for what cannot be. Nothing was changed."""

    usual_remedy = marked("Nothing was changed; if this is in your way, call the organiser.")


class BadInput(Refusal):
    """What was typed cannot be read, or is out of range."""

    usual_remedy = marked("Nothing was changed; please correct it and send it again.")


class Forbidden(Refusal):
    """It is there, and it is not theirs to do."""

    usual_remedy = marked("Nothing was changed; if you think that it should be yours to do, call the organiser.")


class NotFound(Refusal):
    """There is no such thing."""

    usual_remedy = marked("Please check that the address was copied whole, or ask for a mail with all your games.")


class Gone(Refusal):
    """There was such a thing, and it is over: revoked, expired, closed."""

    usual_remedy = marked("Please use the newest mail of this game, or ask for a mail with all your games.")


class Stale(Refusal):
    """It was possible when it was asked for, and the game has moved on."""

    usual_remedy = marked("Nothing was changed; please look at the present turn and decide there.")


class TooMany(Refusal):
    """A limit was reached, which waiting or removing something will cure."""

    usual_remedy = marked("Nothing was changed; please try again later.")


class Fault(PbemError):
    """Something of ours is broken, and no act of the person who met it would help."""

    usual_remedy = marked("It is our fault and not yours; please try again later, or call the organiser.")


class Unavailable(Fault):
    """What we keep our records in is full or away; somebody of ours has to mend it, and then it works again."""

    usual_remedy = marked("Please try again in a few minutes; the page shows then whether this counts.")


class Unplayable(Unavailable):
    """The rules of a game that another package brings are not there, or have failed. Its tables are stopped; no other is."""

    usual_remedy = marked("Nothing is lost; you get a mail when it goes on.")


def quoted(text: str) -> str:
    """What a person typed, fit to stand in a message: one line, short, nothing unprintable."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line) > MOST_QUOTED:
        line = line[: MOST_QUOTED - 1].rstrip() + "…"
    return f"“{line}”"
