"""Ways out of a table: leaving before the start, closing, expiry; then resigning, and ending a game by consent.

Before the start a player just goes, and with the host goes the table. In a running game a seat is never left empty:
whoever resigns is followed at once by a bot, from which a substitute may take the seat if the table agreed on that, and
when no person is left the game ends without a result. The host of a running game has no duty that another player cannot
take over, so the role passes on in the order of joining. What becomes of a seat is told in `seating`.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.i18n.speech import gettext as _
from pbem.i18n.speech import mark
from pbem.service.absence.seats import because, give_to_bot
from pbem.service.absence.substitutes import after_resignation
from pbem.service.play.log import Kind, LogWriter, write
from pbem.service.play.move import By, must_not_be_frozen
from pbem.service.server import Server
from pbem.store import deadlines, games, ledger, outbox, people, tables
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow

PROPOSALS_A_DAY: Final = 3
"""So many mails in a day ask one player whether the same game should end."""

_AT_ONCE: Final = 100
"""Tables that are looked through for expiry in one go; the next go takes the others."""


def leave(tx: Tx, server: Server, game_id: int, person_id: int, reason: str = "") -> None:
    """Leave a table that has not begun; when its host leaves, it closes. Again changes nothing."""
    row = games.lock(tx, game_id)
    if row.status == "playing":
        raise Gone(_("This game has begun."), remedy=_("You can resign from it on the page of your seat."))
    must_not_be_frozen(row)
    if row.status not in ("open", "planned"):
        raise Gone(_("This table does not wait for players any more."))
    if row.host_id == person_id:
        close(tx, server, row, "closed", because(reason), besides=person_id)
        return
    players = player_rows.of_game(tx, game_id)
    mine = [player for player in players if player.person_id == person_id]
    if not mine:
        return
    for player in mine:
        tables.drop_player(tx, game_id, player.number)
    now = server.now()
    tables.take_back_yes(tx, game_id, person_id, now)
    facts = {"who": mine[0].name} | because(reason)
    outbox.queue(tx, [outbox.NewEmail(row.host_id, "left", game_id, facts=facts)], now, now)


def expire(server: Server) -> list[int]:
    """Close the tables that have waited for players too long, each in a transaction of its own; which they were."""
    with server.store.read() as tx:
        found = tables.expired(tx, server.now(), _AT_ONCE)
    return [game_id for game_id in found if server.run(_expire, game_id=game_id)]


def resign(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, reason: str = "") -> None:
    """Give a seat of a running game away for good; again changes nothing."""
    row = _running(tx, game_id)
    player = next((player for player in player_rows.of_game(tx, game_id) if player.seat == seat), None)
    if player is None:
        raise NotFound(_("There is no such seat in this game."))
    if player.person_id != person_id:
        return
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.RESIGNED, seat, "organiser" if reason else By.PERSON, because(reason))
    row = give_to_bot(tx, server, row, record, seat, "table")
    left = _people(tx, game_id)
    if not left:
        end(tx, server, row, record, "table", mark("nobody was left"))
        return
    _tell_of_resignation(tx, server, row, player, left, reason)
    after_resignation(tx, server, row, seat, person_id)
    if row.host_id == person_id:
        _pass_host_on(tx, server, row, left)
    if _all_agree(tx, game_id, left):
        end(tx, server, row, record, "table", mark("all agreed"))


def agree_to_end(tx: Tx, server: Server, game_id: int, person_id: int) -> bool:
    """Agree to end a game without a result; True if all agree, so that it has ended."""
    row = games.lock(tx, game_id)
    if row.status == "void":
        return True
    row = _running(tx, game_id)
    left = _people(tx, game_id)
    mine = {player.seat for player in left if player.person_id == person_id}
    if not mine:
        raise Forbidden(_("Only those who play in a game can end it."))
    before = tables.votes(tx, game_id)
    now = server.now()
    for seat in sorted(seat for seat in mine - before if seat is not None):
        tables.add_vote(tx, game_id, seat, now)
    if _all_agree(tx, game_id, left):
        end(tx, server, row, LogWriter(row, now, server.randomness), By.PERSON, mark("all agreed"))
        return True
    if not before & {player.seat for player in left}:
        _ask_the_others(tx, server, row, person_id, left)
    return False


def play_on(tx: Tx, server: Server, game_id: int, person_id: int) -> None:
    """Agree no longer to end a game; again changes nothing."""
    _play_on(tx, game_id, person_id)


def end(tx: Tx, server: Server, row: GameRow, record: LogWriter, by: str, why: str, reason: str = "") -> None:
    """End a running game without a result, and tell everybody. The game is locked; `why` names no person.

    A `reason` is what somebody says who has ended it for the others.
    """
    now = server.now()
    said = {"why": why} | ({"reason": reason, "by": by} if reason else {})
    record.add(Kind.VOIDED, None, by, said)
    record.add(Kind.REVEALED, None, "table", {"secret": row.secret.hex()})
    write(tx, row, record, status="void", ended_at=now, box="[]", orders="[]")
    deadlines.close_turn(tx, row.id, row.turn)
    for email in outbox.of_game(tx, row.id):
        if email.status == "queued":
            outbox.change(tx, email.id, status="superseded")
            ledger.note(tx, email.id, now, "superseded", "the game has ended")
    emails = [
        outbox.NewEmail(player.person_id, "voided", row.id, record.seq, player.seat, facts=said)
        for player in player_rows.of_game(tx, row.id)
        if player.person_id is not None
    ]
    outbox.queue(tx, emails, now, now)


def close(
    tx: Tx,
    server: Server,
    row: GameRow,
    status: str,
    facts: Mapping[str, str] | None = None,
    besides: int | None = None,
) -> None:
    """Close a table before the start, and tell those who waited; an address that said nothing gets no mail about it."""
    now = server.now()
    tables.change_game(tx, row.id, status=status, ended_at=now)
    tables.drop_wishes(tx, row.id)
    waited = {player.person_id for player in player_rows.of_game(tx, row.id)}
    if row.status == "open":
        waited.add(row.host_id)
    told = sorted(person for person in waited - {besides} if person is not None)
    outbox.queue(tx, [outbox.NewEmail(person, status, row.id, facts=facts) for person in told], now, now)


def _expire(tx: Tx, server: Server, game_id: int) -> bool:
    row = games.lock_if_free(tx, game_id)
    # Somebody may have joined or waited longer since it was found.
    if row is None or row.status not in ("open", "planned") or row.expires_at > server.now():
        return False
    close(tx, server, row, "expired")
    return True


def _tell_of_resignation(
    tx: Tx, server: Server, row: GameRow, gone: PlayerRow, left: list[PlayerRow], reason: str
) -> None:
    now = server.now()
    facts = {"who": gone.name, "seat": gone.seat} | because(reason)
    emails = [
        outbox.NewEmail(player.person_id, "resigned", row.id, row.seq, player.seat, facts=facts)
        for player in left
        if player.person_id is not None
    ]
    outbox.queue(tx, emails, now, now)


def _pass_host_on(tx: Tx, server: Server, row: GameRow, left: list[PlayerRow]) -> None:
    """The next host is whoever joined first of those who are left."""
    heir = left[0].person_id
    assert heir is not None
    if heir == row.host_id:
        return
    now = server.now()
    tables.change_game(tx, row.id, host_id=heir)
    outbox.queue(tx, [outbox.NewEmail(heir, "host", row.id)], now, now)


def _ask_the_others(tx: Tx, server: Server, row: GameRow, person_id: int, left: list[PlayerRow]) -> None:
    now = server.now()
    others = sorted({player.person_id for player in left if player.person_id not in (None, person_id)})
    facts = {"who": next(player.name for player in left if player.person_id == person_id)}
    # Whoever agrees and takes it back all day is heard, and the others are not written to each time.
    since = now - timedelta(days=1)
    told = [
        outbox.NewEmail(other, "end_proposed", row.id, facts=facts)
        for other in others
        if people.letters_since(tx, other, "end_proposed", since, row.id) < PROPOSALS_A_DAY
    ]
    outbox.queue(tx, told, now, now)


def _play_on(tx: Tx, game_id: int, person_id: int) -> None:
    _running(tx, game_id)
    for player in _people(tx, game_id):
        if player.person_id == person_id and player.seat is not None:
            tables.drop_vote(tx, game_id, player.seat)


def _running(tx: Tx, game_id: int) -> GameRow:
    """The game, locked, if it is under way; a pause keeps nobody from leaving."""
    row = games.lock(tx, game_id)
    if row.status in ("open", "planned"):
        raise Gone(_("This game has not begun."), remedy=_("You can leave its table."))
    must_not_be_frozen(row)
    if row.status != "playing":
        raise Gone(_("This game is over."), remedy=_("Its result is in your last mail about it."))
    return row


def _people(tx: Tx, game_id: int) -> list[PlayerRow]:
    """The places that people hold, in the order of joining."""
    return [player for player in player_rows.of_game(tx, game_id) if player.person_id is not None]


def _all_agree(tx: Tx, game_id: int, left: list[PlayerRow]) -> bool:
    return {player.seat for player in left} <= tables.votes(tx, game_id)
