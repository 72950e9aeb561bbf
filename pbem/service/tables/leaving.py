"""Leaving a table, closing it, expiry, resigning, and ending a game by consent.

Before the start a player just leaves; when the host leaves, the table closes. In a running game no seat stays empty: a bot
takes over at once, and a substitute may follow if the table agreed on that. When no person is left, the game ends without
a result. The role of host passes to the next player in the order of joining. Seats change hands in `absence.seats`.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Literal

from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.domain.states import EmailKind, EmailStatus, TableStatus
from pbem.i18n.speech import gettext as _, mark
from pbem.service.absence.offers import after_resignation
from pbem.service.absence.seats import give_to_bot, reason_facts
from pbem.service.play.log import Kind, LogWriter, add_row, write
from pbem.service.play.move import Actor, must_not_be_frozen
from pbem.service.server import Server
from pbem.store import (
    channels,
    deadlines,
    games,
    ledger,
    limits,
    outbox,
    people,
    players as player_rows,
    tables,
    votes as vote_rows,
)
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow

PROPOSALS_A_DAY: Final = 3
"""Emails in a day that ask one player to end the same game."""


def leave(tx: Tx, server: Server, game_id: int, person_id: int, reason: str = "") -> None:
    """Leave a table whose game has not begun; it closes if the host leaves. Leaving twice changes nothing."""
    row = games.lock(tx, game_id)
    if row.status == TableStatus.PLAYING:
        raise Gone(_("This game has started."), remedy=_("You can leave on your seat's page."))
    must_not_be_frozen(row)
    if row.status not in (TableStatus.OPEN, TableStatus.PLANNED):
        raise Gone(_("This table is no longer waiting for players."))
    if row.host_id == person_id:
        close(tx, server, row, TableStatus.CLOSED, reason_facts(reason), besides=person_id)
        return
    players = player_rows.of_game(tx, game_id)
    own = [player for player in players if player.person_id == person_id]
    if not own:
        return
    for player in own:
        tables.drop_player(tx, game_id, player.number)
    now = server.now()
    tables.withdraw_acceptance(tx, game_id, person_id, now)
    facts = {"who": own[0].called} | reason_facts(reason)
    outbox.queue(tx, [outbox.NewEmail(row.host_id, EmailKind.LEFT, game_id, facts=facts)], now)


def expire(server: Server) -> list[int]:
    """Close tables that have waited too long, each in its own transaction. Returns their ids."""
    game_ids = server.query(tables.expired, server.now())
    return [game_id for game_id in game_ids if server.attempt(_expire, game_id)]


def resign(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, reason: str = "") -> None:
    """Give up a seat of a running game for good. Resigning twice changes nothing."""
    row = _running(tx, game_id)
    player = next((player for player in player_rows.of_game(tx, game_id) if player.seat == seat), None)
    if player is None:
        raise NotFound(_("This game has no such seat."))
    if player.person_id != person_id:
        return
    by = "organiser" if reason else Actor.PERSON
    row = add_row(tx, server, row, Kind.RESIGNED, seat, by, reason_facts(reason))
    row = give_to_bot(tx, server, row, seat, "table")
    left = _people(tx, game_id)
    if not left:
        end(tx, server, row, "table", mark("Nobody was left to play."))
        return
    _email_people(tx, server, row, EmailKind.RESIGNED, {"who": player.called, "seat": seat} | reason_facts(reason))
    after_resignation(tx, server, row, seat, person_id)
    if row.host_id == person_id:
        _pass_host_on(tx, server, row, left)
    if _all_agree(tx, game_id, left):
        end(tx, server, row, "table", mark("Everyone agreed to end it."))


def agree_to_end(tx: Tx, server: Server, game_id: int, person_id: int) -> bool:
    """Agree to end a game without a result. Returns True if everyone agrees and it has ended."""
    row = games.lock(tx, game_id)
    if row.status == TableStatus.VOID:
        return True
    row = _running(tx, game_id)
    left = _people(tx, game_id)
    own = {player.seat for player in left if player.person_id == person_id}
    if not own:
        raise Forbidden(_("Only its players can end a game."))
    before = vote_rows.votes(tx, game_id)
    now = server.now()
    for seat in sorted(seat for seat in own - before if seat is not None):
        vote_rows.add_vote(tx, game_id, seat, now)
    if _all_agree(tx, game_id, left):
        end(tx, server, row, Actor.PERSON, mark("Everyone agreed to end it."))
        return True
    if not before & {player.seat for player in left}:
        _ask_the_others(tx, server, row, person_id, left)
    return False


def play_on(tx: Tx, server: Server, game_id: int, person_id: int) -> None:
    """Withdraw the agreement to end a game. Doing so twice changes nothing."""
    _running(tx, game_id)
    for player in _people(tx, game_id):
        if player.person_id == person_id and player.seat is not None:
            vote_rows.drop_vote(tx, game_id, player.seat)


def end(tx: Tx, server: Server, row: GameRow, by: str, why: str, reason: str = "") -> None:
    """End a locked game without a result, and email everyone. `why` is a sentence that names no person; `reason` is an organiser's."""
    now = server.now()
    facts = {"why": why} | ({"reason": reason, "by": by} if reason else {})
    record = LogWriter(row, now, server.randomness)
    record.add(Kind.VOIDED, None, by, facts)
    record.add(Kind.REVEALED, None, "table", {"secret": row.secret.hex()})
    row = write(tx, row, record, status="void", ended_at=now, box="[]", orders="[]")
    deadlines.close_turn(tx, row.id, row.turn, now)
    for email in outbox.of_game(tx, row.id):
        if email.status == EmailStatus.QUEUED:
            outbox.change(tx, email.id, status=EmailStatus.SUPERSEDED)
            ledger.note(tx, email.id, now, "superseded", "the game has ended")
    _email_people(tx, server, row, EmailKind.VOIDED, facts)
    channels.tell_table(tx, row.id, EmailKind.VOIDED, None, row.seq, now)


def close(
    tx: Tx,
    server: Server,
    row: GameRow,
    status: Literal[TableStatus.CLOSED, TableStatus.EXPIRED],
    facts: Mapping[str, str] | None = None,
    besides: int | None = None,
) -> None:
    """Close a table before the start, and email its players. Unconfirmed addresses get no email."""
    now = server.now()
    tables.change_game(tx, row.id, status=status, ended_at=now)
    tables.drop_join_requests(tx, row.id)
    waited = {player.person_id for player in player_rows.of_game(tx, row.id)}
    if row.status == TableStatus.OPEN:
        waited.add(row.host_id)
    readers = sorted(person for person in waited - {besides} if person is not None)
    outbox.queue(tx, [outbox.NewEmail(person, EmailKind(status), row.id, facts=facts) for person in readers], now)


def _expire(tx: Tx, server: Server, game_id: int) -> bool:
    row = games.lock_if_free(tx, game_id)
    # Someone may have joined, or the time been extended, since it was read.
    if row is None or row.status not in (TableStatus.OPEN, TableStatus.PLANNED) or row.expires_at > server.now():
        return False
    close(tx, server, row, TableStatus.EXPIRED)
    return True


def _email_people(tx: Tx, server: Server, row: GameRow, kind: EmailKind, facts: Mapping[str, object]) -> None:
    """Email the people at a table, once for each seat."""
    emails = [
        outbox.NewEmail(player.person_id, kind, row.id, row.seq, player.seat, facts=facts)
        for player in player_rows.of_game(tx, row.id)
        if player.person_id is not None
    ]
    outbox.queue(tx, emails, server.now())


def _pass_host_on(tx: Tx, server: Server, row: GameRow, left: list[PlayerRow]) -> None:
    """Make the earliest remaining player the host."""
    heir = left[0].person_id
    if heir is None or heir == row.host_id:
        return
    tables.change_game(tx, row.id, host_id=heir)
    tables.forget_typed(tx, row.id)
    outbox.queue(tx, [outbox.NewEmail(heir, EmailKind.HOST, row.id)], server.now())


def _ask_the_others(tx: Tx, server: Server, row: GameRow, person_id: int, left: list[PlayerRow]) -> None:
    now = server.now()
    others = {player.person_id: player.seat for player in left if player.person_id not in (None, person_id)}
    facts = {"who": next(player.called for player in left if player.person_id == person_id)}
    # Agreeing and withdrawing all day must not email the others each time.
    day = limits.last(timedelta(days=1), now)
    emails = [
        outbox.NewEmail(other, EmailKind.END_PROPOSED, row.id, None, seat, facts=facts)
        for other, seat in sorted(others.items())
        if people.count_emails_in(tx, other, "end_proposed", day, row.id) < PROPOSALS_A_DAY
    ]
    outbox.queue(tx, emails, now)


def _running(tx: Tx, game_id: int) -> GameRow:
    """Lock a running game, paused or not. Raises Gone if it has not begun or is over."""
    row = games.lock(tx, game_id)
    if row.status in (TableStatus.OPEN, TableStatus.PLANNED):
        raise Gone(_("This game hasn't started."), remedy=_("You can leave its table."))
    must_not_be_frozen(row)
    if row.status != TableStatus.PLAYING:
        raise Gone(_("This game is over."), remedy=_("Its result is in your last email about it."))
    return row


def _people(tx: Tx, game_id: int) -> list[PlayerRow]:
    """The players who are people, in the order of joining."""
    return [player for player in player_rows.of_game(tx, game_id) if player.person_id is not None]


def _all_agree(tx: Tx, game_id: int, left: list[PlayerRow]) -> bool:
    return {player.seat for player in left} <= vote_rows.votes(tx, game_id)
