"""Games to be measured: many that have begun, what will be played in each, and the links by which it is played.

The moves are worked out beforehand with the engine alone, from the seed that the server itself has drawn, so that a
benchmark only has to send requests.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from sqlalchemy import insert

from engine import codec, registry
from engine.chance import Stream
from pbem.clock import SystemClock
from pbem.domain.choice_links import choice_segment
from pbem.domain.strangers import StrangerLimits
from pbem.service.people import addresses
from pbem.service.play.positions import position_of
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games, players as player_rows
from pbem.store.database import Store
from pbem.store.schema import LINK, METADATA
from pbem.tokens import SECRET_BYTES, Keyring, Purpose
from tests.fakes import SeededRandomness

SEATS = 4
KEYS = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))


@dataclass(frozen=True)
class Move:
    """One request to come, and what it is going to write."""

    game_id: int
    turn: int
    seat: int
    option: str
    bodies: tuple[int, ...]
    """The length of each row that the log gains."""
    state: str
    asked: tuple[int, ...]
    """The seats that are asked next. Each gets an email."""
    link: int = 0

    @property
    def path(self) -> str:
        """Where to post it."""
        return f"/m/{KEYS.make(Purpose.MOVE, self.link, 0)}/{self.option}"


def server_on(url: str, *, make: bool = False) -> Server:
    """A server on this database, where people may sit at as many tables as a measurement needs."""
    store = Store(url)
    if make:
        METADATA.create_all(store.engine)
    return Server(
        store, SystemClock(), SeededRandomness(7), KEYS, open_tables=10**6, strangers=StrangerLimits(0, 0, 0, 0)
    )


def crowd(server: Server, number: int = SEATS) -> list[int]:
    """Some people with confirmed addresses."""
    found = (server.run(addresses.register, f"player{i}@example.org", f"Player {i}") for i in range(number))
    return [server.run(addresses.confirm, person.id).id for person in found]


def begin(
    server: Server,
    kind: str,
    players: list[int],
    bots: tuple[str, ...] = (),
    options: Mapping[str, str | int] | None = None,
) -> int:
    """A game that has begun."""
    settings = TableSettings(kind, len(players) + len(bots), options or {}, "1d", bots=bots)
    game_id = server.run(joining.create_table, players[0], settings).game_id
    for player in players:
        server.run(joining.join, game_id, player)
    return game_id


def begin_one_of_each(server: Server, players: list[int]) -> list[int]:
    """A game of every kind there is."""
    return [begin(server, kind, players) for kind in registry.names()]


def moves_of(server: Server, game_id: int, most: int) -> list[Move]:
    """The moves to play in a game: random legal choices, at most this many."""
    with server.store.read() as tx:
        position = position_of(tx, games.read(tx, game_id))
    luck = Stream(b"luck", game_id)
    found: list[Move] = []
    while (asks := position.open()) and len(found) < most:
        seat = next(seat for seat in asks if seat not in position.box)
        choice = asks[seat].sample(luck)
        if position.game.objects(position.state, seat, choice) is not None:
            choice = asks[seat].default
        turn, (position, entries) = position.turn, position.submit(seat, choice)
        bodies = [{"turn": turn + i, "entry": entry} for i, entry in enumerate(entries)]
        written = tuple(len(codec.dumps(body)) for body in bodies or [{"turn": turn, "choice": choice}])
        asked = tuple(position.open()) if entries else ()
        option = choice_segment(choice)
        found.append(Move(game_id, turn, seat, option, written, codec.dumps(position.state), asked))
    return found


def with_links(server: Server, moves: list[Move]) -> list[Move]:
    """The same moves, each with a link in the database by which it can be made."""
    with server.store.read() as tx:
        first = 1 + max((row[0] for row in tx.execute(LINK.select())), default=0)
        seated = {
            (row.id, player.seat): player.person_id
            for row in (games.read(tx, game_id) for game_id in {move.game_id for move in moves})
            for player in player_rows.of_game(tx, row.id)
        }
    numbers = {
        key: number for number, key in enumerate(dict.fromkeys((m.game_id, m.turn, m.seat) for m in moves), first)
    }
    rows = [
        {
            "id": number,
            "purpose": Purpose.MOVE,
            "nonce": 0,
            "replaced": "",
            "person_id": seated[game_id, seat],
            "game_id": game_id,
            "turn": turn,
            "seat": seat,
            "created_at": server.now(),
        }
        for (game_id, turn, seat), number in numbers.items()
    ]
    server.store.write(lambda tx: tx.execute(insert(LINK), rows))
    return [replace(move, link=numbers[move.game_id, move.turn, move.seat]) for move in moves]
