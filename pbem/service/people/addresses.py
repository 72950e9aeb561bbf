"""People and their addresses: adding, confirming, naming, and how they like to be reminded.

Players have no password: only following a link in an email confirms an address. No function may reveal whether an address
is known, so that nobody can find out who plays here.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from functools import lru_cache, partial
from typing import Final
from unicodedata import normalize
from zoneinfo import ZoneInfo

from email_validator import EmailNotValidError, validate_email

from pbem.domain.deleted_people import is_former
from pbem.domain.delivery import AT_ONCE, DEFAULT_DIGEST, Delivery, Way
from pbem.domain.errors import BadInput, Forbidden, Gone, quoted, read_fields
from pbem.domain.guests import guest_address
from pbem.domain.localtime import parse_zone
from pbem.domain.quiet_hours import parse_quiet
from pbem.domain.reminder import DEFAULT, parse_cadence
from pbem.domain.states import EmailKind
from pbem.domain.strangers import fold_aliases
from pbem.domain.topics import USUAL, topics_text
from pbem.domain.user_text import parse_name
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.clocks.deadlines import lock_games_of, settle_person
from pbem.service.people import strangers
from pbem.service.server import Server
from pbem.store import insiders, limits, organisers, outbox, people, results
from pbem.store.database import Tx
from pbem.store.people import PersonRow

LONGEST_ADDRESS: Final = 254
"""The limit of SMTP."""

_LONGEST_LABEL: Final = 63
"""The limit of DNS for the words between the dots of a domain, which are no shorter in its own form."""

_MOST_READ: Final = 500
"""Addresses that were read last: a list of them is read to check it, to find whose they are, and to count them."""

TOGETHER: Final = timedelta(minutes=10)
"""Emails that say the same and are asked for within this time are one."""

_KEY_BYTES: Final = 10


def register(tx: Tx, server: Server, address: str, name: str = "") -> PersonRow:
    """Find or add the person with this address, and email a link to confirm it if it is unconfirmed."""
    person = find_or_add(tx, server, address, name)
    if person.confirmed_at is None:
        ask_to_confirm(tx, server, person)
    return person


def confirm(tx: Tx, server: Server, person_id: int) -> PersonRow:
    """Mark an address as confirmed. Confirming twice changes nothing. Raises Gone if it is another person's by now."""
    person = people.lock(tx, person_id)
    must_be_here(person)
    if person.confirmed_at is None:
        people.change(tx, person_id, confirmed_at=server.now())
        return people.read(tx, person_id)
    return person


def must_be_here(person: PersonRow) -> None:
    """Raise Gone if the address of the person of a link is another person's by now; their emails' facts are forgotten, too."""
    if is_former(person.address):
        raise Gone(_("This address belongs to another account now."), why=_("It was moved there after that email."))


def read(tx: Tx, server: Server, person_id: int) -> PersonRow:
    """One person. Raises NotFound."""
    return people.read(tx, person_id)


def change_settings(
    tx: Tx,
    server: Server,
    person_id: int,
    *,
    name: str | None = None,
    zone: str | None = None,
    quiet: str | None = None,
    cadence: str | None = None,
) -> PersonRow:
    """Change the given settings of a person, or none if one is invalid. Returns the person. Raises BadInput.

    A new name is for new tables; those they have joined keep the old one. No deadline falls in the `quiet` hours, which an
    empty text or `none` removes. `cadence` says when reminders come, such as `50%,80%,2h`, or `none`.
    """
    given = {"name": name, "zone": zone, "quiet": quiet, "cadence": cadence}
    readers: dict[str, Callable[[str], str | None]] = {
        "name": lambda text: read_name(tx, server, text),
        "zone": lambda text: parse_zone(text).key,
        "quiet": _stored_quiet_hours,
        "cadence": lambda text: str(parse_cadence(text)),
    }
    values: dict[str, object] = read_fields(
        {field: partial(readers[field], text) for field, text in given.items() if text is not None}
    )
    if zone is not None:
        values["zone_chosen"] = True
    # Games are locked before people, as everywhere. Deadlines follow the quiet hours, which are local times.
    timed = values.keys() & {"quiet", "zone"}
    locked = lock_games_of(tx, person_id) if timed else {}
    people.lock(tx, person_id)
    people.change(tx, person_id, **values)
    if timed:
        settle_person(tx, server, person_id, locked)
    return people.read(tx, person_id)


def read_name(tx: Tx, server: Server, text: str, *, stored: bool = False) -> str:
    """Parse a name that others will read, typed or stored, with stars instead of tokens of this server. Raises BadInput."""
    return links.without_tokens(tx, server, parse_name(text, stored=stored))


def find_or_add(tx: Tx, server: Server, address: str, name: str = "") -> PersonRow:
    """The person with this address, added if it is new. Confirms nothing and sends no email."""
    given, mailbox = normalised(address)
    person = people.by_mailbox(tx, mailbox)
    if person is None:
        return _add(tx, server, given, mailbox, name and read_name(tx, server, name), AT_ONCE)
    # Anyone can type an address, so a name is taken from the form only while it is unconfirmed.
    if name and not person.name and person.confirmed_at is None:
        people.change(tx, person.id, name=read_name(tx, server, name))
        return people.read(tx, person.id)
    return person


def invitees(tx: Tx, server: Server, addresses: Collection[str]) -> dict[str, PersonRow]:
    """The people with these addresses, by the address as typed, to invite them: locked, so that nobody merges them meanwhile.

    One who was merged with another is that one: only there is anyone who would answer.
    """
    typed = {address: find_or_add(tx, server, address) for address in addresses}
    for person_id in sorted({person.id for person in typed.values()}):
        people.lock(tx, person_id)
    merged = results.present_keys(tx, {person.key for person in typed.values()})
    return {address: _as_merged(tx, person, merged) for address, person in typed.items()}


def _as_merged(tx: Tx, person: PersonRow, merged: Mapping[str, str]) -> PersonRow:
    """The person that someone was merged into, or they themselves."""
    now = person if merged[person.key] == person.key else people.by_key(tx, merged[person.key])
    return person if now is None or is_former(now.address) else now


def add_guest(tx: Tx, server: Server, name: str) -> PersonRow:
    """Add a guest of the demo, with an address that nobody can type and that gets no email."""
    address = guest_address(server.randomness.bytes(_KEY_BYTES).hex())
    return confirm(tx, server, _add(tx, server, address, address, name, Delivery(Way.NOTHING)).id)


def ask_to_confirm(tx: Tx, server: Server, person: PersonRow, game_id: int | None = None, network: str = "") -> None:
    """Email a link to confirm an address typed by someone in this network, unless it has just been emailed.

    Raises TooMany where a budget is over.
    """
    now = server.now()
    people.lock(tx, person.id)
    if outbox.is_under_way(tx, person.id, EmailKind.CONFIRM, game_id, limits.last(TOGETHER, now)):
        return
    strangers.count_emails(tx, server, [person.mailbox], network)
    outbox.queue(tx, [outbox.NewEmail(person.id, EmailKind.CONFIRM, game_id)], now, now)


def must_be_confirmed(person: PersonRow) -> None:
    """Raise Forbidden unless the person's address is confirmed."""
    if person.confirmed_at is None:
        raise Forbidden(
            _("This address isn't confirmed yet."),
            why=_("Turns are sent there, so we need to know that email arrives."),
            remedy=_("Use the link in the email we sent there."),
        )


def recognise(tx: Tx, person_id: int, mailbox: str) -> None:
    """Note that a person who has just got this mailbox is the organiser who has or had it, if there is one.

    So is one who has another spelling of it, such as with a tag; but only an organiser's very address makes anyone an organiser.
    """
    for organiser in organisers.all_of_them(tx):
        address = normalised(organiser.address)[1]
        known = {address, *insiders.mailboxes(tx, organiser.person_id)}
        if organiser.person_id != person_id and fold_aliases(mailbox) in map(fold_aliases, known):
            insiders.join(tx, organiser.person_id, person_id)
            if address == mailbox and is_former(people.read(tx, organiser.person_id).address):
                organisers.change(tx, organiser.id, person_id=person_id)
    if insiders.is_organiser(tx, person_id):
        join_spellings(tx, person_id, mailbox)


def join_spellings(tx: Tx, person_id: int, mailbox: str) -> None:
    """Note that everyone with a spelling of this mailbox of an organiser is them."""
    for other, spelling in people.mailboxes(tx):
        if other != person_id and fold_aliases(spelling) == fold_aliases(mailbox):
            insiders.join(tx, person_id, other)


def mailboxes_of(addresses: Iterable[str]) -> list[str]:
    """Typed addresses in the form in which they are compared, each once. Raises BadInput."""
    return list(dict.fromkeys(normalised(address)[1] for address in addresses))


@lru_cache(maxsize=_MOST_READ)
def normalised(address: str) -> tuple[str, str]:
    """The address as emailed and as compared. Raises BadInput if it cannot be emailed."""
    text = address.strip()
    try:
        # Before it is read, because that takes long for letters that stand for several others.
        if len(text) > LONGEST_ADDRESS or len(normalize("NFKC", text)) > LONGEST_ADDRESS:
            raise BadInput(
                _("%(given)s is too long for an email address.", given=quoted(text)),
                why=_("It can have up to %(longest_address)s characters.", longest_address=LONGEST_ADDRESS),
            )
        if any(len(label) > _LONGEST_LABEL for label in text.rpartition("@")[2].split(".")):
            raise EmailNotValidError
        checked = validate_email(text, check_deliverability=False, strict=True)
    except EmailNotValidError as error:
        raise BadInput(
            _("%(given)s isn't an email address.", given=quoted(text)),
            why=_why_no_address(text),
            remedy=_("Use the format ann@example.org."),
        ) from error
    if checked.ascii_email is None:
        raise BadInput(
            _("We can't email %(given)s.", given=quoted(text)),
            why=_("Many mail servers can't handle the part before the @."),
            remedy=_("Use an address with plain letters, if you have one."),
        )
    return checked.normalized, checked.ascii_email.casefold()


def _why_no_address(text: str) -> str:
    """What an address is missing, or has too many of, in our words."""
    before, at, domain = text.rpartition("@")
    if not at:
        return _("It has no @.")
    if "@" in before:
        return _("It has more than one @.")
    if not before or not domain:
        return _("Something is missing before or after the @.")
    if any(character.isspace() for character in text):
        return _("It has a space in it.")
    if "." not in domain:
        return _("The part after the @ has no dot.")
    return _("It has a character or a dot in the wrong place.")


def _add(tx: Tx, server: Server, address: str, mailbox: str, name: str, delivery: Delivery) -> PersonRow:
    person_id = people.add(
        tx,
        key=server.randomness.bytes(_KEY_BYTES).hex(),
        address=address,
        mailbox=mailbox,
        name=name,
        zone=server.zone,
        zone_chosen=False,
        quiet=None,
        week=None,
        cadence=str(DEFAULT),
        delivery=str(delivery),
        topics=topics_text(USUAL),
        digest_at=f"{DEFAULT_DIGEST:%H:%M}",
        sealed=False,
        reviews=True,
        show_ratings=False,
        created_at=server.now(),
        confirmed_at=None,
    )
    recognise(tx, person_id, mailbox)
    return people.read(tx, person_id)


def _stored_quiet_hours(text: str) -> str | None:
    if text.strip().lower() in ("", "none"):
        return None
    # They are stored as local times, so the zone does not matter here.
    return str(parse_quiet(text, ZoneInfo("UTC")))
