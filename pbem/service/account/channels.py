"""Channels in a person's settings: entered, proved by a code that went through them, removed.

A person's own channel may show a link to their seat, so its address is nobody else's and no table's. A table's channel is
entered by its host while a game is played; everyone there is told when it begins and ends. Nothing returned here has an
address or a secret, but for the secret of a webhook that is being entered.
"""

import hmac
from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pbem.channels import web_push
from pbem.domain.channels import (
    CODE_TRIES,
    SECRET_PREFIX,
    ChannelKind,
    ChannelStatus,
    host_of,
    parse_address,
    parse_kind,
    parse_secret,
)
from pbem.domain.deleted_people import PersonName, is_former
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany, read_fields
from pbem.domain.guests import is_guest
from pbem.domain.states import EmailKind, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import deadlines, outages, reachability
from pbem.service.outgoing.channel_messages import code_of, push_key
from pbem.service.server import Server
from pbem.store import channels, games, limits, outbox, people, players as player_rows, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.schema import ChannelRow

MOST: Final = 5
"""Channels of one person, and of one table."""

CODES_A_DAY: Final = 10
"""Codes that one person may have sent through channels in a day."""

CODES_OF_TABLE: Final = 5
"""Codes in a day for one table: each may lead to emails to everyone there."""

KEPT_FOR: Final = timedelta(days=7)
"""How long a channel is kept after its table's game ended, or without being proved."""

_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class OwnChannel:
    """A channel on the page of its owner. `secret` is set for a webhook until it is proved; `table` is a title.

    `device` is a guess at the device of a browser.
    """

    id: int
    kind: ChannelKind
    host: str
    status: ChannelStatus
    why: str
    made_at: datetime
    table: str = ""
    secret: str = ""
    device: str = ""


@dataclass(frozen=True, slots=True)
class MyChannels:
    """The page: the channels, the tables that may have one with when each was made, and the services that the operator allows.

    `push_key` is what a browser has to agree to for notifications; empty if the operator doesn't allow them.
    """

    listed: tuple[OwnChannel, ...]
    tables: tuple[tuple[int, str, datetime], ...]
    kinds: tuple[ChannelKind, ...]
    push_key: str


def mine(tx: Tx, server: Server, person_id: int) -> MyChannels:
    """A person's own channels, and those of tables they host."""
    hosted = {row.id: row for row in tables.hosted_by(tx, person_id, (TableStatus.PLAYING,))}
    rows = [*channels.of_person(tx, person_id), *channels.of_tables(tx, hosted.keys())]
    return MyChannels(
        tuple(_shown(row, "" if row.game_id is None else hosted[row.game_id].title) for row in rows),
        tuple((number, row.title, row.created_at) for number, row in hosted.items()),
        tuple(kind for kind in ChannelKind if kind in server.channels.kinds and kind is not ChannelKind.BROWSER),
        web_push.public_key(push_key(server.keys.keys[0])) if ChannelKind.BROWSER in server.channels.kinds else "",
    )


def enter(
    tx: Tx,
    server: Server,
    person_id: int,
    kind: str,
    address: str,
    token: str = "",
    game_id: int | None = None,
    *,
    device: str = "",
) -> int:
    """Enter a channel and send a code through it; returns its id. Raises BadInput with the fields that are wrong.

    A browser that was entered before and isn't in use is forgotten first.
    """
    game = None if game_id is None else _hosted(tx, game_id, person_id)
    person = people.lock(tx, person_id)
    if is_guest(person.address) or is_former(person.address):
        raise Forbidden(_("Guests have no channels."), remedy=_("Join a table with your address first."))
    service = read_fields({"kind": lambda: parse_kind(kind, server.channels)})["kind"]
    found = read_fields(
        {
            "address": lambda: parse_address(service, address, server.channels),
            "token": lambda: parse_secret(service, token),
        }
    )
    if service is ChannelKind.BROWSER:
        _must_be_own(game)
        _forget_browser(tx, person_id, found["address"])
    others = channels.of_person(tx, person_id) if game is None else channels.of_tables(tx, [game.id])
    if len(others) >= MOST:
        raise TooMany(
            _("That would be more than %(most)s channels.", most=MOST), remedy=_("Remove one that you don't need.")
        )
    _must_be_free(tx, service, found["address"], person_id, game)
    _count_code(tx, server, person_id, game_id)
    secret = found["token"]
    if service is ChannelKind.WEBHOOK:
        secret = SECRET_PREFIX + b64encode(server.randomness.bytes(_SECRET_BYTES)).decode()
    elif service is ChannelKind.BROWSER:
        secret = f"{server.keys.keys[0].id}.{secret}"
    channel_id = channels.add(
        tx,
        person_id=person_id,
        game_id=game_id,
        kind=service,
        address=found["address"],
        secret=secret,
        host=host_of(found["address"]),
        device=device,
        made_at=server.now(),
    )
    _send_code(tx, server, person_id, channel_id)
    return channel_id


def prove(tx: Tx, server: Server, person_id: int, channel_id: int, code: str) -> bool:
    """Switch a channel on by the code that was sent through it; returns whether the code is right. A wrong one is counted.

    The address on file is warned of a channel of one's own. Raises Gone if it was proved or removed, or after too many wrong codes.
    """
    game = _lock_game(tx, channel_id)
    # Games are locked before people and in the order of their ids, against deadlocks.
    asking = {} if game is not None else deadlines.lock_games_of(tx, person_id)
    people.lock(tx, person_id)
    row = _own(tx, channel_id, person_id)
    if row.status != ChannelStatus.PENDING:
        raise Gone(_("This channel needs no code."), remedy=_("Nothing changed."))
    if row.tries >= CODE_TRIES:
        raise Gone(_("There were too many wrong codes."), remedy=_("Remove the channel, and enter it again."))
    given = "".join(code.lower().replace("-", "").split())
    if not hmac.compare_digest(given.encode(), code_of(server, row).replace("-", "").encode()):
        channels.change(tx, row.id, tries=row.tries + 1)
        return False
    _must_be_free(tx, ChannelKind(row.kind), row.address, person_id, game)
    channels.change(tx, row.id, status=ChannelStatus.ACTIVE, proved_at=server.now(), why="")
    if game is not None:
        _tell_table(tx, server, row, game, person_id, "added")
        return True
    # Its messages have links to seats, and a stranger in a borrowed browser may have entered it.
    outbox.queue(tx, [outbox.NewEmail(person_id, EmailKind.CHANNEL, facts=_facts(row, "own"))], server.now())
    if reachability.fails(tx, person_id):
        reachability.use_channels(tx, server, person_id, asking)
    return True


def send_again(tx: Tx, server: Server, person_id: int, channel_id: int) -> None:
    """Send the code once more. A channel that has failed gets one too, to be switched on again."""
    _lock_game(tx, channel_id)
    people.lock(tx, person_id)
    row = _own(tx, channel_id, person_id)
    if row.status == ChannelStatus.ACTIVE:
        raise Gone(_("This channel needs no code."), remedy=_("Nothing changed."))
    _count_code(tx, server, person_id, row.game_id)
    channels.change(tx, row.id, status=ChannelStatus.PENDING, why="", ended_at=None)
    _send_code(tx, server, person_id, row.id)


def remove(tx: Tx, server: Server, person_id: int, channel_id: int) -> None:
    """Remove a channel, with its address and secret."""
    game = _lock_game(tx, channel_id)
    asking = {} if game is not None else deadlines.lock_games_of(tx, person_id)
    people.lock(tx, person_id)
    row = _own(tx, channel_id, person_id)
    if game is not None and row.proved_at is not None:
        _tell_table(tx, server, row, game, person_id, "removed")
    channels.remove(tx, row.id)
    if game is None:
        reachability.note_lost_channel(tx, server, asking, person_id)


def tidy(tx: Tx, server: Server) -> None:
    """Remove the channels of tables that ended long ago, and those that nobody proved."""
    for row in channels.expired(tx, outages.ago(tx, server, KEPT_FOR)):
        channels.remove(tx, row.id)


def _shown(row: ChannelRow, table: str) -> OwnChannel:
    status, kind = ChannelStatus(row.status), ChannelKind(row.kind)
    secret = row.secret if kind is ChannelKind.WEBHOOK and status is ChannelStatus.PENDING else ""
    return OwnChannel(row.id, kind, row.host, status, row.why, row.made_at, table, secret, row.device)


def _must_be_own(game: GameRow | None) -> None:
    if game is not None:
        raise BadInput(
            _("Notifications in a browser are for one person."), remedy=_("Choose another service for a table.")
        )


def _forget_browser(tx: Tx, person_id: int, address: str) -> None:
    for row in channels.of_person(tx, person_id):
        if row.address == address and row.status != ChannelStatus.ACTIVE:
            channels.remove(tx, row.id)


def _hosted(tx: Tx, game_id: int, person_id: int) -> GameRow:
    """A running table of this host, locked. Raises Forbidden."""
    game = games.lock(tx, game_id)
    if game.host_id != person_id or game.status != TableStatus.PLAYING:
        raise Forbidden(_("Only the host of a running game can do this."), remedy=_("Nothing changed."))
    return game


def _lock_game(tx: Tx, channel_id: int) -> GameRow | None:
    row = channels.read(tx, channel_id)
    return None if row is None or row.game_id is None else games.lock(tx, row.game_id)


def _own(tx: Tx, channel_id: int, person_id: int) -> ChannelRow:
    """A channel of a person's own, or of a table they host, locked. Raises NotFound."""
    row = channels.lock(tx, channel_id)
    if row is not None and row.status != ChannelStatus.REMOVED:
        owner = row.person_id if row.game_id is None else games.read(tx, row.game_id).host_id
        if owner == person_id:
            return row
    raise NotFound(_("You have no such channel."), remedy=_("Nothing changed."))


def _must_be_free(tx: Tx, kind: ChannelKind, address: str, person_id: int, game: GameRow | None) -> None:
    """Raise BadInput if an address is in use where it would show a seat's link to others, or is here already."""
    for other in channels.with_address(tx, address):
        own = other.person_id == person_id and other.game_id is None
        same = own if game is None else other.game_id == game.id
        if same and kind is ChannelKind.BROWSER:
            raise Gone(_("Notifications are on in this browser already."), remedy=_("Nothing changed."))
        if same:
            raise _at_address(_("This address is in use already."), remedy=_("Nothing changed."))
        if kind is ChannelKind.BROWSER:
            raise Forbidden(
                _("Someone else gets notifications in this browser."), remedy=_("Use a browser profile of your own.")
            )
        if (game is None) or (other.game_id is None):
            raise _at_address(
                _("Others read this channel."),
                why=_("A person's own channel shows links to their seat, so it must be nobody else's and no table's."),
                remedy=_("Use an address of its own."),
            )


def _at_address(what: str, *, why: str = "", remedy: str) -> BadInput:
    wrong = BadInput(what, why=why, remedy=remedy)
    return BadInput(what, why=why, remedy=remedy, fields={"address": wrong})


def _count_code(tx: Tx, server: Server, person_id: int, game_id: int | None) -> None:
    day = limits.last(timedelta(days=1), server.now())
    if channels.count_codes_in(tx, day, person_id) >= CODES_A_DAY:
        raise TooMany(
            _("You've reached today's limit for codes."),
            why=_("We send at most %(most)s a day.", most=CODES_A_DAY),
            remedy=_("Try again tomorrow."),
        )
    if game_id is not None and channels.count_codes_in(tx, day, game_id=game_id) >= CODES_OF_TABLE:
        raise TooMany(
            _("This table has reached today's limit for codes."),
            why=_("We send at most %(most)s a day.", most=CODES_OF_TABLE),
            remedy=_("Try again tomorrow."),
        )


def _send_code(tx: Tx, server: Server, person_id: int, channel_id: int) -> None:
    row = channels.lock(tx, channel_id)
    assert row is not None, "it was just made or locked"
    channels.queue_code(tx, row, person_id, server.now())


def _tell_table(tx: Tx, server: Server, row: ChannelRow, game: GameRow, person_id: int, what: str) -> None:
    """Tell everyone at a table of its channel, also its host."""
    players = player_rows.of_game(tx, game.id)
    own_name = PersonName(person_id, people.read(tx, person_id).name)
    who = next((player.called for player in players if player.person_id == person_id), own_name)
    facts = _facts(row, what) | {"who": who}
    readers = sorted({player.person_id for player in players if player.person_id is not None} | {person_id})
    # A stranger in a borrowed browser may have added it.
    warned = {person_id: {"warns": True}} if what == "added" else {}
    emails = [
        outbox.NewEmail(reader, EmailKind.CHANNEL, game.id, facts=facts | warned.get(reader, {})) for reader in readers
    ]
    outbox.queue(tx, emails, server.now())


def _facts(row: ChannelRow, what: str) -> dict[str, str]:
    return {"what": what, "service": ChannelKind(row.kind).called, "host": row.host}
