"""Tables before they begin: announced, joined, left, declined, closed, expired.

The secret of a table's seed is made with the table, and its commitment can be read before anybody gives a word; so the
host, too, takes a place in a second step, and a place is kept free for that. An address that was only typed gets a mail
first: what was asked for waits as a wish, and comes true when the link in that mail is used.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from engine import game
from engine.bots import BOTS
from engine.chance import commitment
from engine.decisions import Refused
from pbem.domain import chain
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany, quoted
from pbem.domain.pace import parse_pace
from pbem.domain.silence import FEWEST, MOST, Successor
from pbem.domain.words import name_of, title_of, word_of
from pbem.service.begin import begin_in
from pbem.service.house import House
from pbem.store import games, lobby, people
from pbem.store.database import Tx
from pbem.store.games import GameRow, PlaceRow
from pbem.store.people import PersonRow

WAITS: Final = timedelta(days=14)
"""So long a table waits for its players."""

WAITS_FOR_HOST: Final = timedelta(days=7)
"""So long a table waits for the address that it was asked for from."""

MOST_INVITED: Final = 20
"""Addresses that one table can be offered to."""

INVITATIONS_A_DAY: Final = 5
"""So many invitations one address gets in a day, from all tables together."""

_SECRET_BYTES: Final = 32
_KEY_BYTES: Final = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """The table that somebody wants, as it was typed. `bots` names the kind of each bot's place."""

    kind: str
    seats: int
    options: Mapping[str, str | int] = field(default_factory=dict)
    pace: str = "1d"
    title: str = ""
    bots: tuple[str, ...] = ()
    invited: tuple[str, ...] = ()
    private: bool = False
    doubles: bool = False
    silent_limit: int = 3
    successor: str = Successor.BOT


@dataclass(frozen=True, slots=True)
class Created:
    """A new table: its number, its public name, and what binds the server to its secret."""

    game_id: int
    key: str
    commitment: str


@dataclass(frozen=True, slots=True)
class Joined:
    """The places that a person has at a table, whether that was so before, and whether the game has begun."""

    game_id: int
    places: tuple[int, ...]
    again: bool
    begun: bool


def create_table(house: House, person_id: int, wanted: Wanted) -> Created:
    """Announce a table; its host reads the commitment there, and takes a place with `join`."""
    return house.write(lambda tx: _create(tx, house, people.lock(tx, person_id), wanted, "open"))


def join(house: House, game_id: int, person_id: int, *, name: str = "", word: str = "", holding: int = 1) -> Joined:
    """Take a place, so that the person holds so many; the last place begins the game."""
    return house.write(lambda tx: join_in(tx, house, game_id, people.read(tx, person_id), name, word, holding))


def join_in(tx: Tx, house: House, game_id: int, person: PersonRow, name: str, word: str, holding: int = 1) -> Joined:
    """The same within a transaction that is under way."""
    row = games.lock(tx, game_id)
    places = games.places(tx, game_id)
    held = tuple(place.place for place in places if place.person_id == person.id)
    if held and len(held) >= holding:
        return Joined(game_id, held, again=True, begun=row.status != "open")
    _must_be_open(row)
    if person.confirmed_at is None:
        raise Forbidden(
            "This address has not been confirmed.",
            why="Turns go there by mail, and nobody has shown that they arrive.",
            remedy="Please use the link in the mail that was sent to it.",
        )
    called = _name_at(places, name_of(name or person.name))
    _may_join(tx, house, row, places, person, holding)
    said = word_of(word)
    if not person.name:
        people.change(tx, person.id, name=name_of(name))
    now = house.now()
    taken = []
    for _ in range(holding - len(held)):
        number = max((place.place for place in places), default=-1) + 1
        place = PlaceRow(game_id, number, None, person.id, None, _name_at(places, called), said, now, 0)
        lobby.add_place(tx, place)
        places.append(place)
        taken.append(number)
    lobby.answer_invitation(tx, game_id, person.id, "accepted", now)
    lobby.drop_wish(tx, game_id, person.id)
    begun = len(places) == row.seats
    if begun:
        begin_in(tx, house, row, places)
    return Joined(game_id, (*held, *taken), again=False, begun=begun)


def _create(tx: Tx, house: House, host: PersonRow, wanted: Wanted, status: str) -> Created:
    rules = _rules(wanted.kind)
    try:
        options = rules.settle(wanted.seats, wanted.options)
    except Refused as refused:
        raise BadInput(rules.teller()(refused.text)) from refused
    _check(wanted)
    if status == "open" and host.confirmed_at is None:
        raise Forbidden("This address has not been confirmed.", remedy="Please use the link in the mail to it first.")
    _must_have_room(tx, house, host)
    now = house.now()
    secret, key = house.randomness.bytes(_SECRET_BYTES), house.randomness.bytes(_KEY_BYTES).hex()
    game_id = lobby.add_game(
        tx,
        key=key,
        kind=wanted.kind,
        rules=rules.RULES,
        seats=wanted.seats,
        options=json.dumps(options, sort_keys=True),
        title=title_of(wanted.title) or rules.title,
        pace=str(parse_pace(wanted.pace)),
        host_id=host.id,
        private=wanted.private,
        doubles=wanted.doubles,
        silent_limit=wanted.silent_limit,
        successor=str(wanted.successor),
        status=status,
        paused=False,
        created_at=now,
        expires_at=now + (WAITS if status == "open" else WAITS_FOR_HOST),
        commitment=commitment(secret),
        secret=secret,
        seq=0,
        window=0,
        head=chain.genesis(key),
        entry_head=chain.genesis(key),
        state="",
        box="[]",
        orders="[]",
    )
    for number, bot in enumerate(wanted.bots):
        lobby.add_place(tx, PlaceRow(game_id, number, None, None, bot, f"Bot {number + 1}", "", now, 0))
    return Created(game_id, key, commitment(secret))


def _rules(kind: str) -> "game.Game[object]":
    try:
        return game.load(kind)
    except Refused as refused:
        raise NotFound(str(refused.text)) from refused


def _check(wanted: Wanted) -> None:
    if len(wanted.bots) >= wanted.seats:
        raise BadInput("A table needs a person.", why=f"It has {wanted.seats} seats and {len(wanted.bots)} bots.")
    for bot in wanted.bots:
        if bot not in BOTS:
            raise BadInput(f"{quoted(bot)} is no bot.", why=f"There are {' and '.join(sorted(BOTS))}.")
    if not FEWEST <= wanted.silent_limit <= MOST:
        raise BadInput("That many silent turns cannot be agreed on.", why=f"A table bears {FEWEST} to {MOST} in a row.")
    if wanted.successor not in set(Successor):
        raise BadInput(f"{quoted(wanted.successor)} cannot take over a seat.", why="A substitute or a bot can.")


def _must_be_open(row: GameRow) -> None:
    if row.status != "open":
        raise Gone("This table does not wait for players any more.")


def _may_join(tx: Tx, house: House, row: GameRow, places: list[PlaceRow], person: PersonRow, holding: int) -> None:
    held = sum(place.person_id == person.id for place in places)
    if holding > 1 and not row.doubles:
        raise Forbidden("At this table nobody has two seats.", why="Its host wanted it so.")
    if not held:
        _must_have_room(tx, house, people.lock(tx, person.id), row)


def _must_have_room(tx: Tx, house: House, person: PersonRow, row: GameRow | None = None) -> None:
    busy = lobby.busy_with(tx, person.id)
    if busy >= house.open_tables and (row is None or row.host_id != person.id):
        raise TooMany(
            f"You have {busy} tables open or under way.",
            why=f"{house.open_tables} are the most for one person.",
            remedy="Please end one first.",
        )


def _name_at(places: list[PlaceRow], name: str) -> str:
    """The name, with a number behind it if another at the table has it."""
    taken = {place.name.casefold() for place in places}
    numbered = (name if n == 1 else f"{name} {n}" for n in range(1, len(taken) + 2))
    return next(each for each in numbered if each.casefold() not in taken)
