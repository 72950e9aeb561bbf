"""The acts of the organisers' desk, and who may perform them.

An organiser moderates every table they don't play at, and everyone they don't play with. The host of a table helps at
that table and sees only what a player sees. An account on the machine gives access to the database, so the command line
may do everything. A test compares this with the table on the handbook's page on organising.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pbem.domain.errors import Forbidden
from pbem.i18n.speech import gettext as _


class Act(StrEnum):
    """An act of moderation. Its value is stored in the audit for good, so it must never change."""

    # Read only.
    OVERVIEW = "overview"
    TABLE = "table"
    PEOPLE = "people"
    PERSON = "person"
    CALLS = "calls"
    CALL = "call"
    AUDIT = "audit"
    ACCOUNT = "account"  # the organiser's own passphrase, codes and devices

    # At one table.
    PAUSE = "pause"
    RESUME = "resume"
    EXTEND = "extend"
    RESEND = "resend"
    RESEND_TURN = "resend turn"
    RETRY_DEADLINE = "retry deadline"
    SUBSTITUTE = "substitute"
    NEW_LINKS = "new links"  # of a seat, or of a person
    REWIND = "rewind"
    CORRECT = "correct"
    CLOSE = "close"
    FREEZE = "freeze"
    UNFREEZE = "unfreeze"
    REDACT = "redact"
    SEE_AS = "see as"
    READ_MAIL = "read mail"  # including emails about no table
    EXPORT_TABLE = "export table"
    PUT_BACK = "put back"

    # People, emails and time.
    ADDRESS = "address"
    BAN = "ban"
    UNBAN = "unban"
    RELEASE = "release"
    MERGE = "merge"
    EXPORT = "export"
    DELETE = "delete"
    RETRY = "retry"
    OUTAGE = "outage"
    PAUSE_MAIL = "pause mail"
    RESUME_MAIL = "resume mail"
    ANSWER = "answer"
    CLOSE_CALL = "close call"

    # At all tables at once.
    PAUSE_ALL = "pause all"
    RESUME_ALL = "resume all"
    EXTEND_ALL = "extend all"
    RESEND_ALL = "resend all"
    ANNOUNCE = "announce"

    # A host's tournament, which an operator can open or change too.
    TOURNAMENT = "tournament"

    # Organisers themselves.
    ORGANISER_ADDED = "organiser added"
    ORGANISER_REMOVED = "organiser removed"
    CODES_ON = "codes on"
    CODES_OFF = "codes off"
    PASSPHRASE = "passphrase"  # noqa: S105 - the word for changing one


class Role(StrEnum):
    """The role in which a person acts."""

    ORGANISER = "organiser"
    HOST = "host"
    MACHINE = "command line"


READ_ONLY: Final = frozenset(
    {Act.OVERVIEW, Act.TABLE, Act.PEOPLE, Act.PERSON, Act.CALLS, Act.CALL, Act.AUDIT, Act.ACCOUNT}
)
"""Acts that leave no entry in the audit."""

NEEDS_PASSPHRASE: Final = frozenset(
    {
        Act.SUBSTITUTE,
        Act.REWIND,
        Act.CORRECT,
        Act.CLOSE,
        Act.SEE_AS,
        Act.READ_MAIL,
        Act.EXPORT_TABLE,
        Act.ADDRESS,
        Act.BAN,
        Act.MERGE,
        Act.EXPORT,
        Act.DELETE,
        Act.PAUSE_MAIL,
        Act.PAUSE_ALL,
        Act.EXTEND_ALL,
        Act.RESEND_ALL,
        Act.ANNOUNCE,
        Act.CODES_ON,
        Act.CODES_OFF,
    }
)
"""Acts that need the passphrase again, because a stranger at an organiser's screen could do lasting harm with them."""

ABOUT_ONE_PERSON: Final = frozenset(
    {
        Act.PERSON,
        Act.READ_MAIL,
        Act.NEW_LINKS,
        Act.ADDRESS,
        Act.BAN,
        Act.UNBAN,
        Act.RELEASE,
        Act.MERGE,
        Act.EXPORT,
        Act.DELETE,
    }
)
"""Acts on all of a person's data, at every table: forbidden to an organiser who plays against them."""

_ONLY_AT_THE_MACHINE: Final = frozenset({Act.ORGANISER_ADDED, Act.ORGANISER_REMOVED, Act.PUT_BACK})

PERMISSIONS: Final = {
    Role.MACHINE: frozenset(Act),
    Role.ORGANISER: frozenset(Act) - _ONLY_AT_THE_MACHINE - {Act.TOURNAMENT},
    Role.HOST: frozenset({Act.TABLE, Act.PAUSE, Act.RESUME, Act.EXTEND, Act.RESEND_TURN, Act.TOURNAMENT}),
}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who performs an act. `person_id` is their row as a player: always set for a host, for an organiser if they play."""

    role: Role
    name: str
    organiser_id: int | None = None
    person_id: int | None = None

    def __str__(self) -> str:
        """The actor in the audit: `organiser Ann`, `command line root`, or a host by their number, since names go and the audit stays."""
        return f"{self.role} {self.person_id if self.role is Role.HOST else self.name}"

    def require(self, act: Act) -> None:
        """Check that this role has permission for an act. Raises Forbidden."""
        if act in PERMISSIONS[self.role]:
            return
        if self.role is Role.HOST:
            raise Forbidden(
                _("A table's host can't do that."),
                why=_("A host can pause and resume the table, give more time and resend a turn."),
                remedy=_("Ask the organiser to do it."),
            )
        raise Forbidden(_("This can only be done on the server itself."), remedy=_("Nothing changed."))
