"""Tables before they begin: announced, offered, joined, declined.

The secret of a table's seed is made with the table, and its commitment can be read before anybody gives a word; so the
host, too, takes a place in a second step, and one is kept free for that. An address that somebody merely typed gets a
mail first: what was asked for waits as a wish, and comes true when the link in that mail is used.

`join` is for people who are known to be who they are; `accept` is for a link in a mail to them. How a table is left, is
closed or expires is told in `leaving`.
"""

from datetime import datetime, timedelta
from typing import Final

from pbem.domain.errors import Forbidden, Gone, NotFound, Refusal, TooMany
from pbem.domain.user_text import parse_name, parse_seed_word
from pbem.i18n.speech import gettext as _
from pbem.service.absence.seats import free_name
from pbem.service.people import addresses as persons
from pbem.service.people import blocks
from pbem.service.people.admission import must_have_room
from pbem.service.server import Server
from pbem.service.tables.invitations import email_invitations, invite_addresses, must_be_open
from pbem.service.tables.new import Created, Joined, Wanted, add_table
from pbem.service.tables.start import start_game
from pbem.store import games, outbox, people, tables
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow
from pbem.store.tables import WishRow

WAITS: Final = timedelta(days=14)
"""So long a table waits for its players."""

WAITS_FOR_HOST: Final = timedelta(days=7)
"""So long a table waits for the address that it was asked for from."""

MOST_WISHES: Final = 50
"""So many addresses can wait to say yes to one table; behind each there is a mail to somebody."""


def create_table(tx: Tx, server: Server, person_id: int, wanted: Wanted, key: str = "") -> Created:
    """Announce a table and send its invitations; its host reads the commitment there and takes a place with `join`."""
    host = people.lock(tx, person_id)
    _must_be_confirmed(host)
    must_have_room(tx, server, host)
    now = server.now()
    created = add_table(tx, server, host, wanted, "open", now + WAITS, key)
    invite_addresses(tx, server, created.game_id, host, wanted.invited)
    email_invitations(tx, server, games.read(tx, created.game_id), host.name)
    return created


def ask_to_create(tx: Tx, server: Server, address: str, name: str, wanted: Wanted) -> Created:
    """Plan a table for an address that somebody typed; it is announced when `accept` comes from there."""
    host = persons.find_or_add(tx, server, address)
    now = server.now()
    created = add_table(tx, server, host, wanted, "planned", now + WAITS_FOR_HOST)
    invite_addresses(tx, server, created.game_id, host, wanted.invited)
    tables.wish(tx, WishRow(created.game_id, host.id, parse_name(name), "", now))
    persons.ask_to_confirm(tx, server, host, created.game_id)
    return created


def join(
    tx: Tx, server: Server, game_id: int, person_id: int, *, name: str = "", word: str = "", holding: int = 1
) -> Joined:
    """Take places until the person holds so many; the last place begins the game."""
    return _join(tx, server, game_id, people.read(tx, person_id), name, word, holding)


def ask_to_join(
    tx: Tx, server: Server, game_id: int, address: str, name: str, word: str = "", *, invited: bool = False
) -> None:
    """Ask for a place with an address that somebody typed; it is taken when `accept` comes from there.

    A private table is there for those alone who are known to be invited.
    """
    row = games.lock(tx, game_id)
    if (row.private and not invited) or row.status == "planned":
        raise NotFound(
            _("There is no such table in the lobby."), remedy=_("To a private table its host invites by mail.")
        )
    must_be_open(row)
    # Whether the address has a place already is told to its owner alone, by the mail.
    _must_be_free(row, player_rows.of_game(tx, game_id), None, 1)
    person = persons.find_or_add(tx, server, address)
    if len(tables.wishes(tx, game_id)) >= MOST_WISHES and tables.wished(tx, game_id, person.id) is None:
        raise TooMany(
            _("Too many people have asked for a place at this table and not answered the mail about it."),
            why=_("%(most_wishes)s can wait for that at once.", most_wishes=MOST_WISHES),
        )
    tables.wish(tx, WishRow(game_id, person.id, parse_name(name), parse_seed_word(word), server.now()))
    persons.ask_to_confirm(tx, server, person, game_id)


def accept(server: Server, game_id: int, person_id: int, *, name: str = "", word: str | None = None) -> Joined:
    """Take the place that a mail to this person leads to; that the link was followed shows that the address is theirs.

    The address stays confirmed where there is no place any more.
    """
    joined = server.run(_accept, game_id, person_id, name, word)
    if isinstance(joined, Refusal):
        raise joined
    return joined


def _accept(tx: Tx, server: Server, game_id: int, person_id: int, name: str, word: str | None) -> Joined | Refusal:
    row = games.lock(tx, game_id)
    person = persons.confirm(tx, server, person_id)
    wish = tables.wished(tx, game_id, person_id)
    called = name or (wish.name if wish else "") or person.name
    said = word if word is not None else wish.word if wish else ""
    try:
        # A place that cannot be had must not undo what the link has shown about the address.
        with tx.begin_nested():
            if row.status == "planned" and row.host_id == person_id:
                _announce(tx, server, row, person, called)
            return _join(tx, server, game_id, person, called, said, 1)
    except Refusal as refused:
        return refused


def _announce(tx: Tx, server: Server, row: GameRow, host: PersonRow, name: str) -> None:
    must_have_room(tx, server, host)
    tables.change_game(tx, row.id, status="open", expires_at=server.now() + WAITS)
    email_invitations(tx, server, row, name)


def _join(tx: Tx, server: Server, game_id: int, person: PersonRow, name: str, word: str, holding: int) -> Joined:
    row = games.lock(tx, game_id)
    players = player_rows.of_game(tx, game_id)
    held = [player.number for player in players if player.person_id == person.id]
    if held and len(held) >= holding:
        return Joined(game_id, tuple(held), again=True, begun=row.status == "playing")
    must_be_open(row)
    _must_be_confirmed(person)
    _must_be_asked(tx, row, person)
    blocks.must_be_welcome(tx, row, person.id)
    if holding > 1 and not row.doubles:
        raise Forbidden(_("At this table nobody has two seats."), why=_("Its host wanted it so."))
    _must_be_free(row, players, person.id, holding - len(held))
    if not held:
        must_have_room(tx, server, people.lock(tx, person.id), row)
    called, said, now = parse_name(name or person.name), parse_seed_word(word), server.now()
    if not person.name:
        people.change(tx, person.id, name=called)
    taken = _take(tx, row, players, person, called, said, holding - len(held), now)
    tables.answer_invitation(tx, game_id, person.id, "accepted", now)
    tables.drop_wish(tx, game_id, person.id)
    begun = len(players) == row.seats
    if begun:
        start_game(tx, server, row, players)
    else:
        # The mail is the player's witness of what the server was bound to when the word was given.
        facts = {"commitment": row.commitment, "word": said}
        outbox.queue(tx, [outbox.NewEmail(person.id, "joined", game_id, facts=facts)], now, now)
    return Joined(game_id, (*held, *taken), again=False, begun=begun)


def _take(
    tx: Tx,
    row: GameRow,
    players: list[PlayerRow],
    person: PersonRow,
    name: str,
    word: str,
    many: int,
    now: datetime,
) -> list[int]:
    """Add the places to those at the table, and say which they are."""
    first = max((player.number for player in players), default=-1) + 1
    for number in range(first, first + many):
        player = PlayerRow(row.id, number, None, person.id, None, free_name(players, name), word, now, 0)
        tables.add_player(tx, player)
        players.append(player)
    return list(range(first, first + many))


def _must_be_confirmed(person: PersonRow) -> None:
    if person.confirmed_at is None:
        raise Forbidden(
            _("This address has not been confirmed."),
            why=_("Turns go there by mail, and nobody has shown that they arrive."),
            remedy=_("Please use the link in the mail that was sent to it."),
        )


def _must_be_asked(tx: Tx, row: GameRow, person: PersonRow) -> None:
    if row.private and person.id != row.host_id:
        asked = {invitation.person_id for invitation in tables.invitations(tx, row.id)}
        # At a private table a wish comes by the link that its host has passed on, and by no other way.
        if person.id not in asked and tables.wished(tx, row.id, person.id) is None:
            raise NotFound(
                _("There is no such table in the lobby."), remedy=_("To a private table its host invites by mail.")
            )


def _must_be_free(row: GameRow, players: list[PlayerRow], person_id: int | None, many: int) -> None:
    host_waits = person_id != row.host_id and all(player.person_id != row.host_id for player in players)
    if many > row.seats - len(players) - host_waits:
        raise Gone(
            _("There is no place left at this table."),
            why=_("The last one is kept for its host.") if host_waits else "",
            remedy=_("Other tables wait in the lobby, and you can open one yourself."),
        )
