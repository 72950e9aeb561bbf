"""Tables by link: the page of a link about joining or offered seats, and what it lets its reader do.

A personal link proves the address. Before the game begins it lets the person join, decline, leave or invite; while it
runs, take over an offered seat or return to their own. A link without a table only confirms the address.

The host of a private table may also share an invitation link. It shows the settings of the table and nothing of the game;
its reader types an address and joins once that is confirmed, without the host learning the address.
"""

from dataclasses import dataclass

from pbem.domain.errors import Forbidden, Gone
from pbem.domain.missed_turns import Successor
from pbem.domain.states import InvitationStatus, TableStatus
from pbem.domain.week import Week, read_week
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.absence import bots, offers, substitutes
from pbem.service.clocks import reachability
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.service.tables import joining, listing
from pbem.service.tables.listing import TableSummary
from pbem.service.tables.new import Joined
from pbem.store import games, links as link_rows, people, players as player_rows, tables
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.tokens import Purpose


@dataclass(frozen=True, slots=True)
class OfferedSeat:
    """A seat that can be taken over, with the name of its present player.

    `remains` is whether that player still has it, `reserved` whether someone has asked for it, `own` whether the reader has.
    `withdrawn` says that the reader has, but withdrew.
    """

    offer: int
    seat: int
    name: str
    remains: bool
    reserved: bool
    own: bool
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class TablePage:
    """What a person can see and do at a table by their link; `table` is None for a link that only confirms an address.

    `name` and `word` are those of their join request, `invited` the status of their invitation. `offers` are seats they can
    take over; `no_second` means there are some, but the table allows nobody two seats. `lost` are own seats they can return
    to. `invite_token` is the host's invitation link to a private table, `unanswered` their number of open invitations.
    """

    person_id: int
    confirmed: bool
    table: TableSummary | None
    hosts: bool = False
    joined: tuple[str, ...] = ()
    invited: str = ""
    name: str = ""
    word: str = ""
    offers: tuple[OfferedSeat, ...] = ()
    no_second: bool = False
    lost: tuple[int, ...] = ()
    invite_token: str = ""
    unanswered: int = 0
    week: Week | None = None


def table_page(tx: Tx, server: Server, token: str) -> TablePage:
    link = links.follow_person(tx, server, token, Purpose.CONFIRM)
    person = people.read(tx, link.person_id)
    confirmed = person.confirmed_at is not None
    if link.game_id is None:
        return TablePage(person.id, confirmed, None, name=person.name)
    row = games.read(tx, link.game_id)
    playing = row.status == TableStatus.PLAYING
    # Once a game has begun, nobody joins it any more.
    request = None if playing else tables.join_request(tx, row.id, person.id)
    invited = [] if playing else tables.invitations(tx, row.id)
    own = [row for row in invited if row.person_id == person.id]
    table = listing.of_row(tx, server, row)
    hosts = row.host_id == person.id
    on_offer = tables.offers_of_game(tx, row.id) if playing else []
    joined = tuple(name for name, player in zip(table.players, table.people, strict=True) if player == person.id)
    withdrawn = substitutes.withdrawn_from(tx, server, [offer.id for offer, *_rest in on_offer], person.id)
    to_take = tuple(
        OfferedSeat(
            offer.id,
            offer.seat,
            name,
            remains,
            reserved=offer.taken_by is not None,
            own=offer.taken_by == person.id,
            withdrawn=offer.id in withdrawn,
        )
        for offer, name, remains, _resigned in on_offer
        if offer.person_id != person.id and offer.successor == Successor.SUBSTITUTE
    )
    no_second = bool(joined) and not row.doubles
    # An offered seat stays its player's until a bot or another person plays it.
    lost = tuple(
        offer.seat
        for offer, _name, remains, resigned in on_offer
        if offer.person_id == person.id and not remains and resigned < substitutes.MOST_RESIGNATIONS
    )
    return TablePage(
        person.id,
        confirmed,
        table,
        hosts=hosts,
        joined=joined,
        invited=own[0].status if own else "",
        name=(request.name if request else "") or person.name,
        word=request.word if request else "",
        offers=() if no_second else to_take,
        no_second=no_second and bool(to_take),
        lost=lost,
        invite_token=_invite_token(tx, server, row.id, person.id) if hosts and row.status == TableStatus.OPEN else "",
        unanswered=sum(invitation.status == InvitationStatus.OPEN for invitation in invited) if hosts else 0,
        week=None if person.zoned_week is None else read_week(person.zoned_week),
    )


def confirm_and_join(server: Server, token: str, name: str, word: str, network: str = "") -> Joined | None:
    """Confirm the address, and take a seat at the table of the link. Returns None if the link has no table."""
    link = server.read(links.follow_person, token, Purpose.CONFIRM)
    person_id = link.person_id
    if link.game_id is None:
        server.run(persons.confirm, person_id)
        # Following a link emailed since delivery failed shows that email arrives again.
        server.run(reachability.note_contact, person_id, link.created_at)
        return None
    return joining.accept(server, link.game_id, person_id, name=name, word=word, network=network)


def to_seat(server: Server, token: str) -> str:
    """Let the bots answer what is asked of them at a table that has begun. Returns the token of the reader's seat."""
    bots.play_bots_of(server, server.read(table_and_person, token)[0])
    return server.run(_seat_token, token)


def _seat_token(tx: Tx, server: Server, token: str) -> str:
    game_id, person_id = table_and_person(tx, server, token)
    game = games.lock(tx, game_id)
    own = (player.seat for player in player_rows.of_game(tx, game_id) if player.person_id == person_id)
    seat = next((seat for seat in own if seat is not None), None)
    if seat is None:
        raise links.changed_hands()
    return links.make_seat_token(tx, server, person_id, game, seat)


def table_and_person(tx: Tx, server: Server, token: str) -> tuple[int, int]:
    """The ids of the table and the person of a personal link. Raises Gone if the link only confirms an address."""
    link = links.follow_person(tx, server, token, Purpose.CONFIRM)
    if link.game_id is None:
        raise Gone(_("This link isn't for a table."), why=_("It only confirms an address."))
    return link.game_id, link.person_id


def take_over(server: Server, token: str, offer_id: int, seat: int, name: str) -> None:
    """Take over an offered seat of the running game, or reserve it until the open turn is over."""
    person_id = _reader_of_offer(server, token, offer_id, seat)
    server.run(persons.confirm, person_id)
    server.run(substitutes.take, offer_id, person_id, name)


def withdraw(server: Server, token: str, offer_id: int, seat: int) -> bool:
    """Withdraw the reader's request for an offered seat. Returns False if there is none any more."""
    return server.run(substitutes.withdraw, offer_id, _reader_of_offer(server, token, offer_id, seat))


def _reader_of_offer(server: Server, token: str, offer_id: int, seat: int) -> int:
    """The id of the person of a link to the table of an offer. Raises Forbidden for an offer of another table.

    Raises Gone if the offer is of another seat than was shown: its number was given out again after a restore.
    """
    game_id, person_id = server.read(table_and_person, token)
    offer = server.read(offers.read_offer, offer_id)
    if offer.game_id != game_id:
        raise Forbidden(_("This seat is at another table."))
    if offer.seat != seat:
        raise Gone(_("This seat is no longer on offer."), remedy=_("Nothing changed. Open the link again."))
    return person_id


def invited_table(server: Server, token: str) -> TableSummary:
    """The table behind its host's invitation link. Raises Gone if it is not open yet."""
    table = server.read(listing.by_id, server.read(links.follow_invitation, token))
    if table.status == TableStatus.PLANNED:
        raise Gone(_("This table isn't open yet."), remedy=_("Try again once its host has confirmed it."))
    return table


def ask_to_join(server: Server, token: str, address: str, name: str, word: str = "", network: str = "") -> None:
    """Save a join request for a typed address, by the host's invitation link."""
    game_id = server.read(links.follow_invitation, token)
    server.run(joining.ask_to_join, game_id, address, name, word, invited=True, network=network)


def _invite_token(tx: Tx, server: Server, game_id: int, host_id: int) -> str:
    """The token of the host's invitation link; empty if the table has none."""
    link = link_rows.find(tx, LinkKey(Purpose.INVITE, host_id, game_id))
    return "" if link is None else links.token(server, link)
