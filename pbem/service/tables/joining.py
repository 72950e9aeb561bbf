"""Creating and joining tables whose game has not begun.

The commitment to a table's secret is published before any player adds a word of their own. So the host, too, joins in a
second step, and one seat is kept free for them. A typed address is emailed first: its join request waits until the link
in that email is followed.

`join` is for a person who has proved who they are, `accept` for the link in an email.
"""

from datetime import datetime, timedelta
from typing import Final

from pbem.domain.errors import Forbidden, Gone, NotFound, Refusal, TooMany, read_fields
from pbem.domain.states import EmailKind, InvitationStatus, TableStatus
from pbem.domain.user_text import parse_name, parse_seed_word
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.absence.seats import free_name
from pbem.service.people import addresses as persons, blocks
from pbem.service.people.addresses import must_be_confirmed
from pbem.service.people.bans import must_have_room
from pbem.service.server import Server
from pbem.service.tables.conditions import must_meet
from pbem.service.tables.invitations import check_addresses, invite_addresses, must_be_open
from pbem.service.tables.new import LONGEST_AHEAD, Created, Joined, TableSettings, add_table, check_settings
from pbem.service.tables.start import start_if_ready
from pbem.store import games, groups, limits, outbox, people, players as player_rows, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow
from pbem.store.tables import JoinRequestRow

WAITS: Final = timedelta(days=14)
"""How long a table waits for players."""

JOINS_A_DAY: Final = 3
"""How often one person can join the same table in a day: each time they leave it again, its host gets an email."""


def create_table(
    tx: Tx, server: Server, person_id: int, settings: TableSettings, key: str = "", network: str = ""
) -> Created:
    """Open a table and send its invitations. The host takes a seat with `join`."""
    host = people.lock(tx, person_id)
    must_be_confirmed(host)
    must_have_room(tx, server, host)
    now = server.now()
    created = add_table(tx, server, host, settings, "open", _waits_until(settings.starts_at, now), key)
    invite_addresses(tx, server, games.read(tx, created.game_id), host, settings.invited, host.name, network)
    return created


def ask_to_create(
    tx: Tx, server: Server, address: str, name: str, settings: TableSettings, network: str = ""
) -> Created:
    """Plan a table for a typed address. It opens, and its invitations leave, when that is confirmed with `accept`."""
    read_fields(
        {
            "address": lambda: persons.normalised(address),
            "name": lambda: parse_name(name),
            "invited": lambda: check_addresses(settings.invited),
            "settings": lambda: check_settings(settings, server.now()),
        }
    )
    host = persons.find_or_add(tx, server, address)
    now = server.now()
    created = add_table(tx, server, host, settings, "planned", now + server.strangers.lifetime)
    request = JoinRequestRow(
        created.game_id, host.id, persons.read_name(tx, server, name), "", now, "\n".join(settings.invited)
    )
    tables.save_join_request(tx, request)
    persons.ask_to_confirm(tx, server, host, created.game_id, network)
    return created


def join(
    tx: Tx, server: Server, game_id: int, person_id: int, *, name: str = "", word: str = "", holding: int = 1
) -> Joined:
    """Take seats until the person holds `holding` of them. With enough players, the game starts unless it waits for a date."""
    return _join(tx, server, game_id, people.read(tx, person_id), name, word, holding)


def ask_to_join(
    tx: Tx,
    server: Server,
    game_id: int,
    address: str,
    name: str,
    word: str = "",
    *,
    invited: bool = False,
    network: str = "",
) -> None:
    """Save a join request for a typed address. The seat is taken when the address is confirmed with `accept`.

    Raises NotFound for a private table unless the caller has checked the invitation.
    """
    row = games.lock(tx, game_id)
    if (row.private and not invited) or row.status == TableStatus.PLANNED:
        raise _not_in_lobby()
    must_be_open(row)
    # Only the email may say whether this address has joined already.
    _must_be_free(row, player_rows.of_game(tx, game_id), None, 1)
    read_fields(
        {
            "address": lambda: persons.normalised(address),
            "name": lambda: parse_name(name),
            "word": lambda: parse_seed_word(word),
        }
    )
    person = persons.find_or_add(tx, server, address)
    word = links.without_tokens(tx, server, parse_seed_word(word))
    request = JoinRequestRow(game_id, person.id, persons.read_name(tx, server, name), word, server.now())
    tables.save_join_request(tx, request)
    persons.ask_to_confirm(tx, server, person, game_id, network)


def accept(
    server: Server, game_id: int, person_id: int, *, name: str = "", word: str | None = None, network: str = ""
) -> Joined:
    """Confirm the address by its emailed link, and take the seat. It stays confirmed even if no seat is left."""
    joined = server.run(confirm_and_join, game_id, person_id, name=name, word=word, network=network)
    if isinstance(joined, Refusal):
        raise joined
    return joined


def confirm_and_join(
    tx: Tx, server: Server, game_id: int, person_id: int, *, name: str = "", word: str | None = None, network: str = ""
) -> Joined | Refusal:
    """Confirm the address, and take the seat. Returns the refusal if there is no seat: the address stays confirmed."""
    row = games.lock(tx, game_id)
    person = persons.confirm(tx, server, person_id)
    request = tables.join_request(tx, game_id, person_id)
    name = name or (request.name if request else "")
    seed_word = word if word is not None else request.word if request else ""
    try:
        # A refused seat must not undo the confirmation of the address.
        with tx.begin_nested():
            if row.status == TableStatus.PLANNED and row.host_id == person_id:
                must_have_room(tx, server, person)
                tables.change_game(
                    tx, row.id, status=TableStatus.OPEN, expires_at=_waits_until(row.starts_at, server.now())
                )
                typed = tuple(request.invited.splitlines()) if request else ()
                invite_addresses(tx, server, row, person, typed, name, network)
            return _join(tx, server, game_id, person, name, seed_word, 1)
    except Refusal as refused:
        return refused


def _join(tx: Tx, server: Server, game_id: int, person: PersonRow, name: str, word: str, holding: int) -> Joined:
    row = games.lock(tx, game_id)
    players = player_rows.of_game(tx, game_id)
    held = [player.number for player in players if player.person_id == person.id]
    if held and len(held) >= holding:
        return Joined(game_id, tuple(held), again=True, begun=row.status == TableStatus.PLAYING)
    must_be_open(row)
    must_be_confirmed(person)
    _must_be_invited(tx, row, person)
    if not held:
        must_meet(tx, server, row, person)
    blocks.must_not_be_blocked(tx, row, person.id)
    if holding > 1 and not row.doubles:
        raise Forbidden(_("This table allows one seat per player."), why=_("Its host set this rule."))
    _must_be_free(row, players, person.id, holding - len(held))
    if not held:
        person = people.lock(tx, person.id)
        must_be_confirmed(person)
        must_have_room(tx, server, person, row)
        _must_not_join_for_ever(tx, server, row, person)
    typed, now = name or person.name, server.now()
    read_fields({"name": lambda: parse_name(typed, stored=not name), "word": lambda: parse_seed_word(word)})
    name, word = (
        persons.read_name(tx, server, typed, stored=not name),
        links.without_tokens(tx, server, parse_seed_word(word)),
    )
    if not person.name:
        people.change(tx, person.id, name=name)
    taken = _add_players(tx, row, players, person, name, word, holding - len(held), now)
    tables.answer_invitation(tx, game_id, person.id, InvitationStatus.ACCEPTED, now)
    tables.drop_join_request(tx, game_id, person.id)
    begun = start_if_ready(tx, server, row, players)
    if not begun:
        # The email proves what the server had committed to when the player gave the word.
        facts = {"commitment": row.commitment, "word": word}
        outbox.queue(tx, [outbox.NewEmail(person.id, EmailKind.JOINED, game_id, facts=facts)], now)
    return Joined(game_id, (*held, *taken), again=False, begun=begun)


def _waits_until(starts_at: datetime | None, now: datetime) -> datetime:
    """How long an open table waits for players: from the date of its start, if that is still to come."""
    # A later date is refused with the other settings.
    return max(now, min(starts_at or now, now + LONGEST_AHEAD)) + WAITS


def _add_players(
    tx: Tx, row: GameRow, players: list[PlayerRow], person: PersonRow, name: str, word: str, count: int, now: datetime
) -> list[int]:
    """Add a person to the table `count` times. Returns the numbers of the new players."""
    first = max((player.number for player in players), default=-1) + 1
    for number in range(first, first + count):
        player = PlayerRow(
            row.id, number, None, person.id, None, free_name([other.name for other in players], name), word, now, 0
        )
        tables.add_player(tx, player)
        players.append(player)
    return list(range(first, first + count))


def _must_not_join_for_ever(tx: Tx, server: Server, row: GameRow, person: PersonRow) -> None:
    day = limits.last(timedelta(days=1), server.now())
    if people.count_emails_in(tx, person.id, EmailKind.JOINED, day, row.id) >= JOINS_A_DAY:
        raise TooMany(
            _("You've joined this table %(times)s times today.", times=JOINS_A_DAY),
            why=_("Each time you leave it again, its host gets an email."),
            remedy=_("Join another open table, or try again tomorrow."),
        )


def _must_be_invited(tx: Tx, row: GameRow, person: PersonRow) -> None:
    if row.private and person.id != row.host_id:
        invited = {invitation.person_id for invitation in tables.invitations(tx, row.id)}
        # A join request at a private table can only come from the host's invitation link.
        if person.id not in invited and tables.join_request(tx, row.id, person.id) is None:
            group_id = groups.group_of_table(tx, row.id)
            if group_id is None or not groups.is_member(tx, group_id, person.id):
                raise _not_in_lobby()


def _not_in_lobby() -> NotFound:
    return NotFound(_("There's no such table."), remedy=_("If it's private, ask its host for an invitation."))


def _must_be_free(row: GameRow, players: list[PlayerRow], person_id: int | None, count: int) -> None:
    host_waits = person_id != row.host_id and all(player.person_id != row.host_id for player in players)
    if count > row.seats - len(players) - host_waits:
        raise Gone(
            _("There's no seat left at this table."),
            why=_("The last one is kept for its host.") if host_waits else "",
            remedy=_("Join another open table, or start your own."),
        )
