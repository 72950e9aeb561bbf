"""Whether a reply is from its player, as far as the settings ask for that.

`off` asks for the token in the address alone; `token` also for the player's own address as the only sender; `strict` also for our
mail server's word for its domain, and for our address among the recipients that its writer named.
"""

from dataclasses import dataclass, field

from pbem.config.settings import Config, ResultsPlace, SenderCheck
from pbem.domain.errors import BadInput
from pbem.domain.states import Doubt
from pbem.mail.read import inbound, sender_check
from pbem.mail.read.inbound import InboundEmail
from pbem.service.incoming import round_trip
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.store import people as person_rows, received as rows
from pbem.store.received import ReceivedRow


@dataclass(frozen=True, slots=True)
class InboundSettings:
    """The settings that decide about incoming email."""

    domain: str
    sender: str = field(repr=False)
    authserv_id: str
    check: SenderCheck = SenderCheck.STRICT
    replies: bool = True
    most_bytes: int = 2**20
    results_place: ResultsPlace = ResultsPlace.MEASURED


def inbound_settings(config: Config) -> InboundSettings:
    """Those of a configuration."""
    return InboundSettings(
        config.mail.domain,
        config.mail.sender,
        config.inbound.authserv_id,
        config.inbound.sender_check,
        config.inbound.replies,
        config.limits.mail_bytes,
        config.inbound.results_place,
    )


def find_doubt(
    server: Server, settings: InboundSettings, person_id: int, row: ReceivedRow, email: InboundEmail
) -> Doubt | None:
    """The reason to doubt that a reply is from its player, if any."""
    if settings.check is SenderCheck.OFF:
        return None
    with server.store.read() as tx:
        mailbox = person_rows.read(tx, person_id).mailbox
        again = rows.came_before(tx, row, person_id)
        above = round_trip.received_above(tx, settings.results_place, settings.authserv_id)
    address = sender_check.sender_of(email)
    if address is None or _mailbox(address) != mailbox:
        return Doubt.ANOTHER_SENDER
    if not is_vouched_for(settings, email, address, above):
        return Doubt.UNVOUCHED
    if again:
        return Doubt.REPLAYED
    if sender_check.is_altered(email):
        return Doubt.ALTERED
    return None if is_addressed(settings, email) else Doubt.ELSEWHERE


def vouched_sender(server: Server, settings: InboundSettings, email: InboundEmail) -> str:
    """The mailbox that an email is from, by the word of our mail server as far as the settings ask for it; empty if that's unknown."""
    with server.store.read() as tx:
        above = round_trip.received_above(tx, settings.results_place, settings.authserv_id)
    address = sender_check.sender_of(email)
    return _mailbox(address) if address is not None and is_vouched_for(settings, email, address, above) else ""


def is_vouched_for(settings: InboundSettings, email: InboundEmail, address: str, above: int | None) -> bool:
    """Whether our mail server vouches for a sender, as far as the settings ask for that."""
    return settings.check is not SenderCheck.STRICT or sender_check.is_authenticated(
        email, address, settings.authserv_id, above
    )


def is_addressed(settings: InboundSettings, email: InboundEmail) -> bool:
    """Whether an email was written to us, as far as the settings ask for that: if not, someone may have passed it on."""
    return settings.check is not SenderCheck.STRICT or inbound.is_addressed(email)


def _mailbox(address: str) -> str:
    """An address in the form in which addresses are compared; empty if it is none."""
    try:
        return addresses.normalised(address)[1]
    except BadInput:
        return ""
