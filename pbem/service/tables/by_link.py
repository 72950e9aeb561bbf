"""The doorstep of a table: what the link of a confirming, inviting or welcoming mail opens.

The link is a person's: it shows that the address is theirs, and lets them take a place, decline or leave before the game
begins; while it runs, take over a seat that is on offer, or come back to their own. A link without a table confirms the
address and nothing else.
"""

from dataclasses import dataclass

from pbem.domain.errors import Forbidden, Gone
from pbem.domain.missed_turns import Successor
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.absence import substitutes
from pbem.service.clocks import reachability
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.service.tables import invitations, invite_link, joining, leaving, listing
from pbem.service.tables.listing import Announced
from pbem.service.tables.new import Joined
from pbem.store import games, people, tables
from pbem.store.database import Tx
from pbem.tokens import Purpose


@dataclass(frozen=True, slots=True)
class Free:
    """A seat that can be taken over: by which offer, which it is, and what whoever has it so far is called at the table."""

    offer: int
    seat: int
    name: str


@dataclass(frozen=True, slots=True)
class Doorstep:
    """What a person finds at the link: the table, if it is for one, and how they stand to it.

    `name` and `word` are what they have asked for already. `invited` is what became of an invitation, if there was one.
    `offers` are seats that they can take over; `no_second` says that there are such, and that they sit at this table already,
    where nobody has two. `lost` are their own that they can come back to. `pass_on` is the token of the link by which the host
    of a private table invites, and `unanswered` how many of the invited have not answered that host yet.
    """

    person_id: int
    confirmed: bool
    table: Announced | None
    hosts: bool = False
    joined: tuple[str, ...] = ()
    invited: str = ""
    name: str = ""
    word: str = ""
    offers: tuple[Free, ...] = ()
    no_second: bool = False
    lost: tuple[int, ...] = ()
    pass_on: str = ""
    unanswered: int = 0


def at(tx: Tx, server: Server, token: str) -> Doorstep:
    """What stands at a link."""
    link = links.follow_person(tx, server, token, Purpose.CONFIRM)
    person = people.read(tx, link.person_id)
    confirmed = person.confirmed_at is not None
    if link.game_id is None:
        return Doorstep(person.id, confirmed, None, name=person.name)
    row = games.read(tx, link.game_id)
    wish = tables.wished(tx, row.id, person.id)
    invited = tables.invitations(tx, row.id)
    mine = [each for each in invited if each.person_id == person.id]
    table = listing.of_row(tx, server, row)
    hosts = row.host_id == person.id
    pass_on = invite_link.of_table(tx, server, row.id, person.id) if hosts and row.status == "open" else ""
    free = tables.offers_of_game(tx, row.id) if row.status == "playing" else []
    joined = tuple(name for name, each in zip(table.players, table.people, strict=True) if each == person.id)
    to_take = tuple(
        Free(offer.id, offer.seat, name)
        for offer, name, _kept in free
        if offer.person_id != person.id and offer.successor == Successor.SUBSTITUTE
    )
    no_second = bool(joined) and not row.doubles
    return Doorstep(
        person.id,
        confirmed,
        table,
        hosts=hosts,
        joined=joined,
        invited=mine[0].status if mine else "",
        name=(wish.name if wish else "") or person.name,
        word=wish.word if wish else "",
        offers=() if no_second else to_take,
        no_second=no_second and bool(to_take),
        # A seat on offer stays its player's until a bot or somebody else plays it.
        lost=tuple(offer.seat for offer, _name, kept in free if offer.person_id == person.id and not kept),
        pass_on=pass_on,
        unanswered=sum(each.status == "open" for each in invited) if hosts else 0,
    )


def come_in(server: Server, token: str, name: str, word: str) -> Joined | None:
    """Confirm the address and take the place that the link leads to; None where it leads to no table."""
    link = server.read(links.follow_person, token, Purpose.CONFIRM)
    person_id = link.person_id
    if link.game_id is None:
        server.run(persons.confirm, person_id)
        # Whoever follows a link that was mailed since mails failed has had a mail.
        server.run(reachability.note_contact, person_id, link.created_at)
        return None
    return joining.accept(server, link.game_id, person_id, name=name, word=word)


def take_over(server: Server, token: str, offer_id: int, name: str) -> None:
    """Take a seat of the running game that is on offer."""
    game_id, person_id = _of_table(server, token)
    if server.read(substitutes.offered, offer_id).game_id != game_id:
        raise Forbidden(_("This seat is at another table."))
    server.run(persons.confirm, person_id)
    server.run(substitutes.take, offer_id, person_id, name)


def come_back(server: Server, token: str, seat: int) -> None:
    """Come back to one's own seat of the running game."""
    game_id, person_id = _of_table(server, token)
    server.run(substitutes.come_back, game_id, seat, person_id)


def decline(server: Server, token: str) -> None:
    """Answer an invitation with no."""
    game_id, person_id = _of_table(server, token)
    server.run(invitations.decline, game_id, person_id)


def leave(server: Server, token: str) -> None:
    """Leave the table before it begins; with its host it closes."""
    game_id, person_id = _of_table(server, token)
    server.run(leaving.leave, game_id, person_id)


def invite(server: Server, token: str, addresses: tuple[str, ...]) -> int:
    """Offer one's own table to more people; how many of them had not been asked before."""
    game_id, person_id = _of_table(server, token)
    return server.run(invitations.invite, game_id, person_id, addresses)


def _of_table(server: Server, token: str) -> tuple[int, int]:
    link = server.read(links.follow_person, token, Purpose.CONFIRM)
    if link.game_id is None:
        raise Gone(_("This link is for no table."), why=_("It only confirms an address."))
    return link.game_id, link.person_id


def resign(server: Server, token: str) -> None:
    """Give the seat away for good."""
    link = server.read(links.follow_seat, token)
    server.run(leaving.resign, link.game_id, link.seat, link.person_id)


def agree_to_end(server: Server, token: str) -> bool:
    """Agree to end the game without a result; True if it has ended by that."""
    link = server.read(links.follow_seat, token)
    return server.run(leaving.agree_to_end, link.game_id, link.person_id)


def play_on(server: Server, token: str) -> None:
    """Agree no longer to end the game."""
    link = server.read(links.follow_seat, token)
    server.run(leaving.play_on, link.game_id, link.person_id)
