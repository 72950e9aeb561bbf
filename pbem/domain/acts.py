"""What can be done at the organisers' desk, and who may do it.

An organiser moderates all tables but those at which they play, and all people but those they play with; the host of a table helps at that one, and is shown nothing
that a player would not be shown; whoever has an account on the machine has the database anyway, and may do everything. The
handbook's page on organising holds this as a table, which a test compares.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pbem.domain.errors import Forbidden
from pbem.i18n.speech import gettext as _


class Act(StrEnum):
    """One thing that can be done. The words stand in the audit for ever, so none is ever changed."""

    # Looking.
    OVERVIEW = "overview"
    TABLE = "table"
    PEOPLE = "people"
    PERSON = "person"
    CALLS = "calls"
    CALL = "call"
    AUDIT = "audit"
    ACCOUNT = "account"  # one's own passphrase, codes and devices

    # At one table.
    PAUSE = "pause"
    RESUME = "resume"
    EXTEND = "extend"
    RESEND = "resend"
    RETRY_DEADLINE = "retry deadline"
    SUBSTITUTE = "substitute"
    REWIND = "rewind"
    CORRECT = "correct"
    CLOSE = "close"
    FREEZE = "freeze"
    UNFREEZE = "unfreeze"
    REDACT = "redact"
    SEE_AS = "see as"
    READ_MAIL = "read mail"  # also one that is about no table

    # About people, mails and time.
    ADDRESS = "address"
    BAN = "ban"
    UNBAN = "unban"
    RELEASE = "release"
    MERGE = "merge"
    EXPORT = "export"
    DELETE = "delete"
    RETRY = "retry"
    OUTAGE = "outage"
    ANSWER = "answer"
    CLOSE_CALL = "close call"

    # At all tables at once.
    PAUSE_ALL = "pause all"
    RESUME_ALL = "resume all"
    EXTEND_ALL = "extend all"
    RESEND_ALL = "resend all"
    ANNOUNCE = "announce"

    # About organisers themselves.
    ORGANISER_ADDED = "organiser added"
    ORGANISER_REMOVED = "organiser removed"
    CODES_ON = "codes on"
    CODES_OFF = "codes off"
    PASSPHRASE = "passphrase"  # noqa: S105 - the word for changing one


class Role(StrEnum):
    """As what somebody acts."""

    ORGANISER = "organiser"
    HOST = "host"
    MACHINE = "command line"


LOOKING: Final = frozenset(
    {Act.OVERVIEW, Act.TABLE, Act.PEOPLE, Act.PERSON, Act.CALLS, Act.CALL, Act.AUDIT, Act.ACCOUNT}
)
"""What nothing is written down of."""

DANGEROUS: Final = frozenset(
    {
        Act.SUBSTITUTE,
        Act.REWIND,
        Act.CORRECT,
        Act.CLOSE,
        Act.SEE_AS,
        Act.READ_MAIL,
        Act.ADDRESS,
        Act.BAN,
        Act.MERGE,
        Act.EXPORT,
        Act.DELETE,
        Act.PAUSE_ALL,
        Act.EXTEND_ALL,
        Act.RESEND_ALL,
        Act.ANNOUNCE,
        Act.CODES_ON,
        Act.CODES_OFF,
    }
)
"""What cannot be made good at once if somebody else sits at an organiser's screen: it needs the passphrase again."""

ABOUT_ONE_PERSON: Final = frozenset(
    {Act.PERSON, Act.READ_MAIL, Act.ADDRESS, Act.BAN, Act.UNBAN, Act.RELEASE, Act.MERGE, Act.EXPORT, Act.DELETE}
)
"""What shows or changes everything of a person, at whatever table: not for whoever plays against them."""

_ONLY_AT_THE_MACHINE: Final = frozenset({Act.ORGANISER_ADDED, Act.ORGANISER_REMOVED})

MAY: Final = {
    Role.MACHINE: frozenset(Act),
    Role.ORGANISER: frozenset(Act) - _ONLY_AT_THE_MACHINE,
    Role.HOST: frozenset({Act.TABLE, Act.PAUSE, Act.RESUME, Act.EXTEND, Act.RESEND}),
}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. `person_id` is who they are at tables: a host's always, an organiser's where their address has a person."""

    role: Role
    name: str
    organiser_id: int | None = None
    person_id: int | None = None

    def __str__(self) -> str:
        """As they are called in the audit: organiser Ann, host Ben, command line root."""
        return f"{self.role} {self.name}"

    def must_be_allowed(self, act: Act) -> None:
        """Refuse what nobody in this role may ever do."""
        if act in MAY[self.role]:
            return
        if self.role is Role.HOST:
            raise Forbidden(
                _("This is not for the host of a table."),
                why=_("A host may pause the table and let it go on, give more time, and send a mail again."),
                remedy=_("Nothing was changed; the organiser can do more: call them."),
            )
        raise Forbidden(
            _("This is done at the machine itself, and not over the web."), remedy=_("Nothing was changed.")
        )
