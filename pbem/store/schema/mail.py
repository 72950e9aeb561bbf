"""Outgoing and incoming emails, their links, and what limits them."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Final, NamedTuple

from sqlalchemy import Index, UniqueConstraint, text

from pbem.domain.states import EmailStatus, ReceivedStatus
from pbem.store.schema.base import KEY, GameId, Id, PersonId, Reference, one_of, table

_IS_QUEUED: Final = text("status = 'queued'")
_CAN_BE_EDITED: Final = text("remote_id IS NOT NULL")


LEFT: Final = 2
"""The rank of emails that a sender left behind."""

BY_CHANNEL: Final = 3
"""The rank of messages through channels, which have senders of their own."""


@dataclass(frozen=True, slots=True)
class EmailRow:
    """An outgoing email or message: what it is about, then its bytes, then its outcome.

    `body` has placeholders for the links; a token is never stored. An email about a game exists once for each row of
    the log, seat and kind. One of status `digest` waits for its reader's next digest; one that is `withheld` its reader
    does not want, or has had too many like it. What a game waits for has `rank` 0, and `domain` is the receiver's: all domains take turns. `lease_id` is
    the lease under which it is being sent, or 0 if its sender left it behind. `lines` is the number of lines of talk that had
    been said at its table when it was written.

    One with a `channel_id`, which is 0 for an email, goes through that channel: `body` is its message as JSON, and
    `remote_id` the service's name for it, as long as it may have to be edited.
    """

    id: Id
    person_id: PersonId
    game_id: GameId | None
    seq: int | None
    seat: int | None
    turn: int | None
    kind: str
    rank: int
    domain: str
    facts: str
    status: str
    queued_at: datetime
    due_at: datetime
    lease_id: int | None
    attempts: int
    message_id: str | None
    rendered_at: datetime | None
    body: bytes | None
    accepted_at: datetime | None
    channel_id: int
    remote_id: str | None
    lines: int | None


OUTBOX = table(
    "outbox",
    EmailRow,
    UniqueConstraint("game_id", "seq", "seat", "kind", "channel_id"),
    one_of("status", *EmailStatus),
    Index("ix_outbox_due", "status", "due_at"),
    Index("ix_outbox_turns", "rank", "domain", "id", sqlite_where=_IS_QUEUED, postgresql_where=_IS_QUEUED),
    Index(None, "person_id", "queued_at"),
    Index("ix_outbox_editable", "due_at", sqlite_where=_CAN_BE_EDITED, postgresql_where=_CAN_BE_EDITED),
)


@dataclass(frozen=True, slots=True)
class PersonNameRow:
    """A name by which emails call a person. `outbox.facts` have its id, so that it goes everywhere when the person is deleted."""

    id: Id
    person_id: PersonId
    name: str


PERSON_NAME = table("person_name", PersonNameRow, Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """A batch of emails that is being sent: they are its sender's until then, which a living worker keeps ahead of now."""

    id: Annotated[int, KEY]
    until: datetime


LEASE = table("lease", LeaseRow)


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line about an email: queued, rendered, accepted, retried, bounced, superseded, parked."""

    id: Id
    outbox_id: Annotated[int, Reference("outbox.id")]
    at: datetime
    what: str
    detail: str


LEDGER = table("ledger", LineRow, Index(None, "outbox_id"))


_OF_AN_EMAIL: Final = text("outbox_id IS NOT NULL")
_OF_NOBODY: Final = "person_id IS NULL AND game_id IS NULL"


class LinkRow(NamedTuple):
    """The meaning of a token. The token is derived from the row and stored nowhere.

    There is one row for each purpose, turn, seat and person. `nonce` is random: drawing it again revokes the token, and the
    `replaced` ones, newest first, tell old tokens from forged ones. `outbox_id` is set if a link belongs to one email. Links without
    a person and a game exist once for each purpose. `turn` is negative, and no other link's, once its turn was undone.
    """

    id: Id
    purpose: str
    nonce: int
    replaced: str
    person_id: PersonId | None
    game_id: GameId | None
    turn: int | None
    seat: int | None
    outbox_id: Annotated[int, Reference("outbox.id")] | None
    created_at: datetime
    expires_at: datetime | None


LINK = table(
    "link",
    LinkRow,
    UniqueConstraint("game_id", "seat", "turn", "purpose", "person_id"),
    Index(None, "person_id"),
    # Without the many links of no email: SQLite would look for one of a person among them.
    Index("ix_link_outbox_id", "outbox_id", sqlite_where=_OF_AN_EMAIL, postgresql_where=_OF_AN_EMAIL),
    Index(
        "ix_link_of_nobody", "purpose", unique=True, sqlite_where=text(_OF_NOBODY), postgresql_where=text(_OF_NOBODY)
    ),
)


@dataclass(frozen=True, slots=True)
class ReceivedRow:
    """An email that arrived at one of our addresses, stored before anything is done about it, so that it is neither
    lost nor handled twice.

    `fingerprint` is the same for every copy of an email. `link_id` is the link of the address's token, and `nonce` the one it
    had when the email arrived: another one now means that the address was revoked since. The token itself is not stored,
    not even in `raw`, which is deleted once the email is done. A `doubted` email waits for the person
    whose address it was sent from. `signatures` are hashes of its signatures, by which it is known when it comes again.
    `acts` is what each line of a reply led to, written in the same transaction.
    """

    id: Id
    fingerprint: bytes
    link_id: Annotated[int, Reference("link.id")]
    nonce: int
    message_id: str
    signatures: str
    raw: bytes | None = field(repr=False)
    received_at: datetime
    status: str
    outcome: str
    acts: str
    attempts: int
    due_at: datetime
    claimed_until: datetime | None


RECEIVED = table(
    "received",
    ReceivedRow,
    UniqueConstraint("fingerprint"),
    one_of("status", *ReceivedStatus),
    Index("ix_received_due", "status", "due_at"),
    Index(None, "link_id", "received_at"),
)


@dataclass(frozen=True, slots=True)
class ReceivedCountRow:
    """The number of emails of each kind that arrived in a day, including those that are not stored."""

    day: Annotated[date, KEY]
    what: Annotated[str, KEY]
    count: int


RECEIVED_COUNT = table("received_count", ReceivedCountRow)


@dataclass(frozen=True, slots=True)
class MailServerRow:
    """Our mail server as test emails showed it: how many `Received` headers stand above its results."""

    authserv_id: Annotated[str, KEY]
    received_above: int
    measured_at: datetime


MAIL_SERVER = table("mail_server", MailServerRow)


@dataclass(frozen=True, slots=True)
class KnownKeyRow:
    """A key that links were made with, by its fingerprint: neither the key nor a token can be had from it."""

    fingerprint: Annotated[str, KEY]
    used_since: datetime


KNOWN_KEY = table("known_key", KnownKeyRow)


@dataclass(frozen=True, slots=True)
class DomainTrafficRow:
    """What became of a day's emails to one domain, in numbers and without addresses."""

    day: Annotated[date, KEY]
    domain: Annotated[str, KEY]
    sent: int
    deferred: int
    bounced: int
    complained: int


DOMAIN_TRAFFIC = table("domain_traffic", DomainTrafficRow)


@dataclass(frozen=True, slots=True)
class QuotaRow:
    """Until when a share is used up: of sending, for all emails or one domain; of what strangers may ask for, for one
    network, name or device; of emails to typed addresses, a row each, for all, one network, mailbox or domain."""

    bucket: Annotated[str, KEY]
    used_until: datetime


QUOTA = table("quota", QuotaRow)


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """Something organisers must hear of; `emailed_at` is when an email about it was queued.

    One that names a person has their `person_id`, and is deleted with them.
    """

    id: Id
    at: datetime
    what: str
    game_id: GameId | None
    person_id: PersonId | None
    says: str
    emailed_at: datetime | None


ALARM = table("alarm", AlarmRow, Index(None, "emailed_at", "id"), Index(None, "person_id"))
