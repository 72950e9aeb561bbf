"""Tables before they begin: announced, offered, joined, declined.

The secret of a table's seed is made with the table, and its commitment can be read before anybody gives a word; so the
host, too, takes a place in a second step, and one is kept free for that. An address that somebody merely typed gets a
mail first: what was asked for waits as a wish, and comes true when the link in that mail is used.

`join` is for people who are known to be who they are; `accept` is for a link in a mail to them. How a table is left, is
closed or expires is told in `leaving`.
"""

from datetime import datetime, timedelta
from typing import Final

from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, Refusal, TooMany
from pbem.domain.speech import gettext as _
from pbem.domain.words import name_of, word_of
from pbem.service import blocks
from pbem.service import people as persons
from pbem.service.begin import begin_in
from pbem.service.house import House
from pbem.service.tables import Created, Joined, Wanted, add_table, must_have_room
from pbem.store import blocks as block_rows
from pbem.store import games, lobby, outbox, people
from pbem.store.database import Tx
from pbem.store.games import GameRow, PlaceRow
from pbem.store.lobby import WishRow
from pbem.store.people import PersonRow

WAITS: Final = timedelta(days=14)
"""So long a table waits for its players."""

WAITS_FOR_HOST: Final = timedelta(days=7)
"""So long a table waits for the address that it was asked for from."""

MOST_INVITED: Final = 20
"""Addresses that one table can be offered to."""

INVITATIONS_A_DAY: Final = 5
"""So many invitations one address gets in a day, from all tables together."""

MOST_WISHES: Final = 50
"""So many addresses can wait to say yes to one table; behind each there is a mail to somebody."""


def create_table(house: House, person_id: int, wanted: Wanted) -> Created:
    """Announce a table and send its invitations; its host reads the commitment there and takes a place with `join`."""
    return house.write(lambda tx: create_in(tx, house, person_id, wanted))


def ask_to_create(house: House, address: str, name: str, wanted: Wanted) -> Created:
    """Plan a table for an address that somebody typed; it is announced when `accept` comes from there."""
    return house.write(lambda tx: _plan(tx, house, address, name, wanted))


def join(house: House, game_id: int, person_id: int, *, name: str = "", word: str = "", holding: int = 1) -> Joined:
    """Take places until the person holds so many; the last place begins the game."""
    return house.write(lambda tx: _join(tx, house, game_id, people.read(tx, person_id), name, word, holding))


def ask_to_join(house: House, game_id: int, address: str, name: str, word: str = "", *, invited: bool = False) -> None:
    """Ask for a place with an address that somebody typed; it is taken when `accept` comes from there.

    A private table is there for those alone who are known to be invited.
    """
    house.write(lambda tx: _ask_to_join(tx, house, game_id, address, name, word, invited=invited))


def accept(house: House, game_id: int, person_id: int, *, name: str = "", word: str | None = None) -> Joined:
    """Take the place that a mail to this person leads to; that the link was followed shows that the address is theirs.

    The address stays confirmed where there is no place any more.
    """
    joined = house.write(lambda tx: _accept(tx, house, game_id, person_id, name, word))
    if isinstance(joined, Refusal):
        raise joined
    return joined


def invite(house: House, game_id: int, host_id: int, addresses: tuple[str, ...]) -> int:
    """Offer a table to more people; how many of them had not been asked before."""
    return house.write(lambda tx: _invite_more(tx, house, game_id, host_id, addresses))


def decline(house: House, game_id: int, person_id: int) -> None:
    """Answer an invitation with no; again changes nothing."""
    house.write(lambda tx: _decline(tx, house, game_id, person_id))


def create_in(tx: Tx, house: House, person_id: int, wanted: Wanted, key: str = "") -> Created:
    """The same in a transaction that is under way; the public name of the table is drawn where none is given."""
    host = people.lock(tx, person_id)
    _must_be_confirmed(host)
    must_have_room(tx, house, host)
    now = house.now()
    created = add_table(tx, house, host, wanted, "open", now + WAITS, key)
    _invite(tx, house, created.game_id, host, wanted.invited)
    _mail_invitations(tx, house, games.read(tx, created.game_id), host.name)
    return created


def _plan(tx: Tx, house: House, address: str, name: str, wanted: Wanted) -> Created:
    host = persons.known_in(tx, house, address)
    now = house.now()
    created = add_table(tx, house, host, wanted, "planned", now + WAITS_FOR_HOST)
    _invite(tx, house, created.game_id, host, wanted.invited)
    lobby.wish(tx, WishRow(created.game_id, host.id, name_of(name), "", now))
    persons.ask_to_confirm_in(tx, house, host, created.game_id)
    return created


def _ask_to_join(tx: Tx, house: House, game_id: int, address: str, name: str, word: str, *, invited: bool) -> None:
    row = games.lock(tx, game_id)
    if (row.private and not invited) or row.status == "planned":
        raise NotFound(
            _("There is no such table in the lobby."), remedy=_("To a private table its host invites by mail.")
        )
    _must_be_open(row)
    # Whether the address has a place already is told to its owner alone, by the mail.
    _must_be_free(row, games.places(tx, game_id), None, 1)
    person = persons.known_in(tx, house, address)
    if len(lobby.wishes(tx, game_id)) >= MOST_WISHES and lobby.wished(tx, game_id, person.id) is None:
        raise TooMany(
            _("Too many people have asked for a place at this table and not answered the mail about it."),
            why=_("%(most_wishes)s can wait for that at once.", most_wishes=MOST_WISHES),
        )
    lobby.wish(tx, WishRow(game_id, person.id, name_of(name), word_of(word), house.now()))
    persons.ask_to_confirm_in(tx, house, person, game_id)


def _accept(tx: Tx, house: House, game_id: int, person_id: int, name: str, word: str | None) -> Joined | Refusal:
    row = games.lock(tx, game_id)
    person = persons.confirm_in(tx, house, person_id)
    wish = lobby.wished(tx, game_id, person_id)
    called = name or (wish.name if wish else "") or person.name
    said = word if word is not None else wish.word if wish else ""
    try:
        # A place that cannot be had must not undo what the link has shown about the address.
        with tx.begin_nested():
            if row.status == "planned" and row.host_id == person_id:
                _announce(tx, house, row, person, called)
            return _join(tx, house, game_id, person, called, said, 1)
    except Refusal as refused:
        return refused


def _announce(tx: Tx, house: House, row: GameRow, host: PersonRow, name: str) -> None:
    must_have_room(tx, house, host)
    lobby.change_game(tx, row.id, status="open", expires_at=house.now() + WAITS)
    _mail_invitations(tx, house, row, name)


def _join(tx: Tx, house: House, game_id: int, person: PersonRow, name: str, word: str, holding: int) -> Joined:
    row = games.lock(tx, game_id)
    places = games.places(tx, game_id)
    held = [place.place for place in places if place.person_id == person.id]
    if held and len(held) >= holding:
        return Joined(game_id, tuple(held), again=True, begun=row.status == "playing")
    _must_be_open(row)
    _must_be_confirmed(person)
    _must_be_asked(tx, row, person)
    blocks.must_be_welcome_in(tx, row, person.id)
    if holding > 1 and not row.doubles:
        raise Forbidden(_("At this table nobody has two seats."), why=_("Its host wanted it so."))
    _must_be_free(row, places, person.id, holding - len(held))
    if not held:
        must_have_room(tx, house, people.lock(tx, person.id), row)
    called, said, now = name_of(name or person.name), word_of(word), house.now()
    if not person.name:
        people.change(tx, person.id, name=called)
    taken = _take(tx, row, places, person, called, said, holding - len(held), now)
    lobby.answer_invitation(tx, game_id, person.id, "accepted", now)
    lobby.drop_wish(tx, game_id, person.id)
    begun = len(places) == row.seats
    if begun:
        begin_in(tx, house, row, places)
    else:
        # The mail is the player's witness of what the server was bound to when the word was given.
        facts = {"commitment": row.commitment, "word": said}
        outbox.queue(tx, [outbox.Letter(person.id, "joined", game_id, facts=facts)], now, now)
    return Joined(game_id, (*held, *taken), again=False, begun=begun)


def _take(
    tx: Tx,
    row: GameRow,
    places: list[PlaceRow],
    person: PersonRow,
    name: str,
    word: str,
    many: int,
    now: datetime,
) -> list[int]:
    """Add the places to those at the table, and say which they are."""
    first = max((place.place for place in places), default=-1) + 1
    for number in range(first, first + many):
        place = PlaceRow(row.id, number, None, person.id, None, free_name(places, name), word, now, 0)
        lobby.add_place(tx, place)
        places.append(place)
    return list(range(first, first + many))


def _invite_more(tx: Tx, house: House, game_id: int, host_id: int, addresses: tuple[str, ...]) -> int:
    row = games.lock(tx, game_id)
    if row.host_id != host_id:
        raise Forbidden(_("Only its host invites people to a table."))
    _must_be_open(row)
    host = people.read(tx, host_id)
    invited = _invite(tx, house, game_id, host, addresses)
    _mail_invitations(tx, house, row, host.name, invited)
    return len(invited)


def _invite(tx: Tx, house: House, game_id: int, host: PersonRow, addresses: tuple[str, ...]) -> list[int]:
    """Write down who is asked, and say who of them was not before."""
    now = house.now()
    known = {invitation.person_id for invitation in lobby.invitations(tx, game_id)}
    new: list[int] = []
    for address in addresses:
        person = persons.known_in(tx, house, address)
        if person.id in known or person.id in new or person.id == host.id:
            continue
        if lobby.invited_since(tx, person.id, now - timedelta(days=1)) >= INVITATIONS_A_DAY:
            raise TooMany(
                _("%(address)s was invited to many tables today.", address=person.address),
                why=_(
                    "We send an address %(invitations_a_day)s invitations in a day at most.",
                    invitations_a_day=INVITATIONS_A_DAY,
                ),
                remedy=_("Please leave it out for now."),
            )
        new.append(person.id)
        lobby.invite(tx, game_id, person.id, now)
    if len(known) + len(new) > MOST_INVITED:
        raise BadInput(
            _("%(value)s invitations are too many.", value=len(known) + len(new)),
            why=_("A table is offered to %(most_invited)s at most.", most_invited=MOST_INVITED),
        )
    return new


def _mail_invitations(tx: Tx, house: House, row: GameRow, host_name: str, to: list[int] | None = None) -> None:
    now = house.now()
    asked = [invitation.person_id for invitation in lobby.invitations(tx, row.id)] if to is None else to
    facts = {"host": host_name}
    # Whoever does not want to hear the host is not told of that, and neither is the host.
    unheard = block_rows.who_block(tx, row.host_id)
    letters = [outbox.Letter(person, "invitation", row.id, facts=facts) for person in asked if person not in unheard]
    outbox.queue(tx, letters, now, now)


def _decline(tx: Tx, house: House, game_id: int, person_id: int) -> None:
    row = games.lock(tx, game_id)
    mine = next((each for each in lobby.invitations(tx, game_id) if each.person_id == person_id), None)
    if mine is None:
        raise NotFound(_("You were not invited to this table."))
    if mine.status == "accepted":
        raise Gone(_("You have a place at this table."), remedy=_("You can leave it on its page."))
    now = house.now()
    if lobby.answer_invitation(tx, game_id, person_id, "declined", now) and row.status == "open":
        facts = {"who": people.read(tx, person_id).address}
        outbox.queue(tx, [outbox.Letter(row.host_id, "declined", game_id, facts=facts)], now, now)


def _must_be_open(row: GameRow) -> None:
    if row.status == "planned":
        raise NotFound(_("There is no such table in the lobby."))
    if row.status != "open":
        raise Gone(
            _("This table does not wait for players any more."),
            why={
                "playing": _("It was full, and its game has begun."),
                "closed": _("Its host has closed it."),
                "expired": _("It waited for players for too long."),
            }.get(row.status, _("Its game is over.")),
            remedy=_("Other tables wait in the lobby, and you can open one yourself."),
        )


def _must_be_confirmed(person: PersonRow) -> None:
    if person.confirmed_at is None:
        raise Forbidden(
            _("This address has not been confirmed."),
            why=_("Turns go there by mail, and nobody has shown that they arrive."),
            remedy=_("Please use the link in the mail that was sent to it."),
        )


def _must_be_asked(tx: Tx, row: GameRow, person: PersonRow) -> None:
    if row.private and person.id != row.host_id:
        asked = {invitation.person_id for invitation in lobby.invitations(tx, row.id)}
        # At a private table a wish comes by the link that its host has passed on, and by no other way.
        if person.id not in asked and lobby.wished(tx, row.id, person.id) is None:
            raise NotFound(
                _("There is no such table in the lobby."), remedy=_("To a private table its host invites by mail.")
            )


def _must_be_free(row: GameRow, places: list[PlaceRow], person_id: int | None, many: int) -> None:
    host_waits = person_id != row.host_id and all(place.person_id != row.host_id for place in places)
    if many > row.seats - len(places) - host_waits:
        raise Gone(
            _("There is no place left at this table."),
            why=_("The last one is kept for its host.") if host_waits else "",
            remedy=_("Other tables wait in the lobby, and you can open one yourself."),
        )


def free_name(places: list[PlaceRow], name: str) -> str:
    """The name, with a number behind it if another at the table has it."""
    taken = {place.name.casefold() for place in places}
    numbered = (name if n == 1 else f"{name} {n}" for n in range(1, len(taken) + 2))
    return next(each for each in numbered if each.casefold() not in taken)
