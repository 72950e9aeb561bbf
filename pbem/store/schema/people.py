"""People: who they are, how they want to be emailed, and whether email reaches them."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Final

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text

from pbem.domain.channels import ChannelKind, ChannelStatus
from pbem.domain.states import Audience
from pbem.store.schema.base import KEY, GameId, Id, Part, PersonId, Reference, one_of, table


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A person with an address. `mailbox` is the normalised address, unique for each person.

    `delivery` is how they want to be emailed, `digest_at` the time of day of their digest, `digest_on` the last day
    whose digest was dealt with, `sealed` whether they get an email when a sealed choice is in, `reviews` whether
    they get their reviews by email, `show_ratings` whether others see their ratings. `topics` are the kinds of emails
    they want, `zone_chosen` whether they have said which time zone is theirs. `week` is the text of their week in that zone.
    """

    id: Id
    key: str
    address: str
    mailbox: str
    name: str
    zone: str
    zone_chosen: bool
    quiet: str | None
    week: str | None
    cadence: str
    delivery: str
    topics: str
    digest_at: str
    digest_on: date | None
    sealed: bool
    reviews: bool
    show_ratings: bool
    created_at: datetime
    confirmed_at: datetime | None

    def __repr__(self) -> str:
        # No trace or log may show an address.
        return f"PersonRow(id={self.id})"

    @property
    def zoned_week(self) -> str | None:
        """The text of this person's week with its zone, as `read_week` reads it."""
        return f"{self.week}|{self.zone}" if self.week else None

    @property
    def delivery_address(self) -> str:
        """The address for email to this person: as they typed it, but with the domain in its ASCII form."""
        return f"{self.address.rpartition('@')[0]}@{self.mailbox.rpartition('@')[2]}"


_READS_DIGESTS: Final = text("delivery = 'daily'")

PERSON = table(
    "person",
    PersonRow,
    UniqueConstraint("mailbox"),
    UniqueConstraint("key"),
    Index("ix_person_digest", "delivery", sqlite_where=_READS_DIGESTS, postgresql_where=_READS_DIGESTS),
)


@dataclass(frozen=True, slots=True)
class LinkRequestRow:
    """A typed address whose owner, if there is one, shall be emailed their links. A worker takes it within seconds.

    `quota` is the one of the network that asked, for this address.
    """

    id: Id
    mailbox: str
    quota: str
    at: datetime

    def __repr__(self) -> str:
        # No trace or log may show an address.
        return f"LinkRequestRow(id={self.id})"


LINK_REQUEST = table("link_request", LinkRequestRow)


@dataclass(frozen=True, slots=True)
class TablePreferenceRow:
    """How a person wants to be emailed about one table, if not as about all."""

    game_id: Annotated[GameId, KEY]
    person_id: Annotated[PersonId, KEY]
    delivery: str


PREFERENCE = table(
    "preference",
    TablePreferenceRow,
    Index(None, "person_id"),
    Index(
        "ix_preference_digest", "delivery", "person_id", sqlite_where=_READS_DIGESTS, postgresql_where=_READS_DIGESTS
    ),
)


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A person's profile, while they show it: to those they have played with, or to everyone.

    `key` is the random end of its address, `name` what they are called there, and `punctual` whether it says how many of their
    turns were on time. A person who shows no profile has no row.
    """

    person_id: Annotated[PersonId, KEY]
    key: str
    audience: str
    name: str
    punctual: bool


PROFILE = table("profile", ProfileRow, UniqueConstraint("key"), one_of("audience", *Audience))


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A person's private notes about a table where they have a seat, or had one."""

    game_id: Annotated[GameId, KEY]
    seat: Part
    person_id: Annotated[PersonId, KEY]
    text: str = field(repr=False)
    at: datetime


NOTE = table("note", NoteRow, Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class VacationRow:
    """A time in which a person's clocks stand still.

    `first` and `last` are the days booked, which the yearly budget counts; the moments are those days in the person's
    zone at that time, so that a change of zone moves no deadline.
    """

    id: Id
    person_id: PersonId
    first: date
    last: date
    start_at: datetime
    end_at: datetime


VACATION = table("vacation", VacationRow, Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class UnreachableRow:
    """A time in which email to a person failed; open while it still does.

    The `cause` is our relay's refusal, a bounce, or a report as spam by the person's mail program. From `covered_at` on,
    the person's own channel tells them of their turns, and their clocks run.
    """

    id: Id
    person_id: PersonId
    start_at: datetime
    end_at: datetime | None
    cause: str
    why: str
    covered_at: datetime | None


UNREACHABLE = table(
    "unreachable",
    UnreachableRow,
    UniqueConstraint("person_id", "start_at"),
    Index(None, "end_at", "start_at"),
    one_of("cause", "refused", "bounced", "complained"),
)


@dataclass(frozen=True, slots=True)
class ChannelRow:
    """Another way than email to tell a person, or with a `game_id` everyone around that table, whose turn it is.

    `person_id` is who entered it, `host` the name of the service's computer. `tries` counts wrong codes.
    `device` names a browser to its person. A channel that was removed or has failed keeps its row, because messages refer to
    it, but a removed one neither address nor secret.
    """

    id: Id
    person_id: PersonId
    game_id: GameId | None
    kind: str
    address: str = field(repr=False)
    secret: str = field(repr=False)
    host: str
    device: str
    status: str
    tries: int
    made_at: datetime
    proved_at: datetime | None
    ended_at: datetime | None
    why: str


CHANNEL = table(
    "channel",
    ChannelRow,
    one_of("kind", *ChannelKind),
    one_of("status", *ChannelStatus),
    Index(None, "person_id"),
    Index(None, "game_id"),
)


@dataclass(frozen=True, slots=True)
class BounceRow:
    """A day on which emails to a person bounced. A day counts once, by the worst bounce."""

    person_id: Annotated[PersonId, KEY]
    day: Annotated[date, KEY]
    points: int


BOUNCE = table("bounce", BounceRow)


@dataclass(frozen=True, slots=True)
class BanRow:
    """A ban from new seats, until a moment or until it is lifted. The audit says who banned the person."""

    id: Id
    person_id: PersonId
    at: datetime
    until: datetime | None
    reason: str
    lifted_at: datetime | None


BAN = table("ban", BanRow, Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class VolunteerRow:
    """A person ready to take over seats whose players are gone."""

    person_id: Annotated[PersonId, KEY]
    since: datetime


VOLUNTEER = table("volunteer", VolunteerRow)


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A player blocked by a person, with the name they were met under."""

    person_id: Annotated[PersonId, KEY]
    blocked_id: Annotated[PersonId, KEY]
    name: str
    since: datetime


BLOCK = table("block", BlockRow, Index(None, "blocked_id"))


@dataclass(frozen=True, slots=True)
class FriendRow:
    """A friend of a person, with the name they were met under."""

    person_id: Annotated[PersonId, KEY]
    friend_id: Annotated[PersonId, KEY]
    name: str
    since: datetime


FRIEND = table("friend", FriendRow, Index(None, "friend_id"))


@dataclass(frozen=True, slots=True)
class AliasRow:
    """One of several people known to be the same: they were merged, or had the address of one organiser.

    They have the same `identity`, the smallest id among them.
    """

    person_id: Annotated[PersonId, KEY]
    identity: int


ALIAS = table("alias", AliasRow, Index(None, "identity"))


@dataclass(frozen=True, slots=True)
class OrganiserRow:
    """An organiser, who may sign in to the desk.

    `totp` is the secret of their one-time codes, if they use them, and `totp_step` the time step of the last code
    accepted, because none is accepted twice.
    """

    id: Id
    name: str
    address: str = field(repr=False)
    person_id: PersonId
    passphrase: str = field(repr=False)
    created_at: datetime
    totp: str | None = field(repr=False)
    totp_step: int | None


ORGANISER = table("organiser", OrganiserRow, UniqueConstraint("name"))


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A browser in which a person, by an emailed link, or an organiser, by a passphrase, is signed in.

    The browser holds a secret whose hash is stored here. `label` names the device, `used_on` is the last day a button
    was pressed, `checked_at` when a passphrase was last asked for, `ended_at` when the session was ended early.
    """

    id: Id
    person_id: PersonId | None
    organiser_id: Annotated[int, Reference("organiser.id", ondelete="CASCADE")] | None
    secret_hash: bytes = field(repr=False)
    label: str
    made_at: datetime
    used_on: date
    checked_at: datetime | None
    ended_at: datetime | None


SESSION = table(
    "session",
    SessionRow,
    UniqueConstraint("secret_hash"),
    CheckConstraint("(person_id IS NULL) <> (organiser_id IS NULL)", name="whose"),
    Index(None, "person_id"),
    Index(None, "organiser_id"),
)
