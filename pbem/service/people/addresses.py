"""People: an address, whether it is theirs, and how they want to be written to.

Nobody has a password. An address is somebody's when they have answered a mail to it: a link in a mail is the only thing
that confirms one. Nothing here says whether an address is known, so that nobody can find out who plays here.
"""

from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from email_validator import EmailNotValidError, validate_email

from pbem.domain.delivery import AT_ONCE, DEFAULT_DIGEST, Delivery, Way
from pbem.domain.errors import BadInput, TooMany, quoted
from pbem.domain.guests import guest_address
from pbem.domain.localtime import parse_zone
from pbem.domain.quiet_hours import parse_quiet
from pbem.domain.reminder import DEFAULT, parse_cadence
from pbem.domain.user_text import parse_name
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import outbox, people
from pbem.store.database import Tx
from pbem.store.people import PersonRow

LONGEST_ADDRESS: Final = 254
"""What SMTP can carry."""

CONFIRM_MAILS_A_DAY: Final = 5
"""So many mails an address gets because somebody typed it; whoever typed it need not be its owner."""

_KEY_BYTES: Final = 10


def create(tx: Tx, server: Server, address: str, name: str = "") -> PersonRow:
    """Enter an address; if it is not confirmed, a mail with a link goes there, and clicking that confirms it."""
    person = find_or_add(tx, server, address, name)
    if person.confirmed_at is None:
        ask_to_confirm(tx, server, person)
    return person


def confirm(tx: Tx, server: Server, person_id: int) -> PersonRow:
    """Note that a person has followed a link in a mail to their address; again changes nothing."""
    person = people.lock(tx, person_id)
    if person.confirmed_at is None:
        people.change(tx, person_id, confirmed_at=server.now())
        return people.read(tx, person_id)
    return person


def read(tx: Tx, server: Server, person_id: int) -> PersonRow:
    """What is known of a person."""
    return people.read(tx, person_id)


def rename(tx: Tx, server: Server, person_id: int, name: str) -> str:
    """Change what a person is called at tables that have not begun; those that have keep the name they know."""
    chosen = parse_name(name)
    _change(tx, person_id, name=chosen)
    return chosen


def set_zone(tx: Tx, server: Server, person_id: int, zone: str) -> str:
    """Change the zone in which moments are told to a person."""
    chosen = parse_zone(zone).key
    _change(tx, person_id, zone=chosen)
    return chosen


def set_quiet_hours(tx: Tx, server: Server, person_id: int, quiet: str) -> str | None:
    """Change the hours in which no clock of a person runs out; nothing, or `none`, for no such hours."""
    chosen = quiet_of(quiet)
    _change(tx, person_id, quiet=chosen)
    return chosen


def quiet_of(text: str) -> str | None:
    """Quiet hours as they are kept; None where nothing, or `none`, was typed."""
    if text.strip().lower() in ("", "none"):
        return None
    # They are told by the clock on the wall, wherever the wall is; so the zone is of no matter here.
    return str(parse_quiet(text, ZoneInfo("UTC")))


def set_cadence(tx: Tx, server: Server, person_id: int, cadence: str) -> str:
    """Change when a person is reminded, such as `50%,80%,2h`, or `none`."""
    chosen = str(parse_cadence(cadence))
    _change(tx, person_id, cadence=chosen)
    return chosen


def find_or_add(tx: Tx, server: Server, address: str, name: str = "") -> PersonRow:
    """The person with an address, entered if it is new. Does not confirm it, and mails nobody."""
    given, mailbox = normalised(address)
    known = people.by_mailbox(tx, mailbox)
    if known is None:
        return _enter(tx, server, given, mailbox, parse_name(name) if name else "", AT_ONCE)
    # Only as long as the address is nobody's may somebody else's typing give it a name.
    if name and not known.name and known.confirmed_at is None:
        people.change(tx, known.id, name=parse_name(name))
        return people.read(tx, known.id)
    return known


def add_guest(tx: Tx, server: Server, name: str) -> PersonRow:
    """A guest of the demo, who has no mailbox: nothing is mailed to them, and nobody can type their address."""
    address = guest_address(server.randomness.bytes(_KEY_BYTES).hex())
    return confirm(tx, server, _enter(tx, server, address, address, name, Delivery(Way.NOTHING)).id)


def ask_to_confirm(tx: Tx, server: Server, person: PersonRow, game_id: int | None = None) -> None:
    """Mail a link to an address that somebody typed; at most a few a day, because it may be a stranger's."""
    now = server.now()
    people.lock(tx, person.id)
    if people.letters_since(tx, person.id, "confirm", now - timedelta(days=1)) >= CONFIRM_MAILS_A_DAY:
        raise TooMany(
            _("This address was sent as many mails as we send in a day to an address that was typed here."),
            why=_("Whoever types an address need not be its owner."),
            remedy=_("Please use the link in one of those mails, or try again tomorrow."),
        )
    outbox.queue(tx, [outbox.NewEmail(person.id, "confirm", game_id)], now, now)


def normalised(address: str) -> tuple[str, str]:
    """The address as it is written to, and as it is compared; refused if no mail could go there."""
    text = address.strip()
    try:
        if len(text) > LONGEST_ADDRESS:
            raise BadInput(
                _("%(given)s is too long for an address.", given=quoted(text)),
                why=_("It has more than %(longest_address)s characters.", longest_address=LONGEST_ADDRESS),
            )
        checked = validate_email(text, check_deliverability=False, strict=True)
    except EmailNotValidError as error:
        raise BadInput(_("%(given)s is not a mail address.", given=quoted(text)), why=str(error)) from error
    if checked.ascii_email is None:
        raise BadInput(
            _("%(given)s cannot be written to from here.", given=quoted(text)),
            why=_("What stands before the @ has letters that many mail servers do not take."),
            remedy=_("Please give an address in plain letters, if you have one."),
        )
    return checked.normalized, checked.ascii_email.casefold()


def _enter(tx: Tx, server: Server, address: str, mailbox: str, name: str, delivery: Delivery) -> PersonRow:
    person_id = people.add(
        tx,
        key=server.randomness.bytes(_KEY_BYTES).hex(),
        address=address,
        mailbox=mailbox,
        name=name,
        zone=server.zone,
        quiet=None,
        cadence=str(DEFAULT),
        delivery=str(delivery),
        digest_at=f"{DEFAULT_DIGEST:%H:%M}",
        sealed=False,
        created_at=server.now(),
        confirmed_at=None,
    )
    return people.read(tx, person_id)


def _change(tx: Tx, person_id: int, **values: str | None) -> None:
    people.read(tx, person_id)
    people.change(tx, person_id, **values)
