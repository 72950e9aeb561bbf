"""Digests: one email a day instead of one for each thing that happens at a person's tables.

    queued     when its time has come, by the worker that changes the person's row first; not if nothing happened
    written    a section for each table: what happened since the last digest that was sent, and what is asked now
    accepted   the emails that it replaces count as sent

A digest that never arrives loses nothing: the next one contains it again. Replies to a digest are not read, because nobody
could tell which table they are for.
"""

import json
from collections.abc import Mapping
from datetime import date

from pbem.domain.delivery import Way, digest_day
from pbem.domain.localtime import parse_wall, stored_zone
from pbem.domain.outdated import ASKING
from pbem.domain.states import EmailKind, EmailStatus, TableStatus, TurnStatus
from pbem.service.server import Server
from pbem.store import deadlines, ledger, outages, outbox, preferences, tables, talk
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow


def gather(server: Server) -> int:
    """Queue the digests whose time has come; returns how many. While email is paused they wait, or each day would add one."""
    now = server.now()
    with server.store.read() as tx:
        if outages.email_pause(tx) is not None:
            return 0
        readers = preferences.digest_readers(tx)
    queued = 0
    for reader in readers:
        day = digest_day(now, parse_wall(reader.digest_at), stored_zone(reader.zone), reader.digest_on)
        if day is not None:
            queued += bool(server.attempt(_queue, reader.person_id, day))
    return queued


def daily_games(tx: Tx, person_id: int) -> list[GameRow]:
    """The running games that a person gets a digest about."""
    games = tables.of_person(tx, person_id, (TableStatus.PLAYING,))
    rows = preferences.read_all(tx, [(person_id, game.id) for game in games])
    return [game for game in games if rows[person_id, game.id].preferred.way is Way.DAILY]


def game_ids(tx: Tx, digest: EmailRow) -> frozenset[int]:
    """The games that a digest is about."""
    facts = json.loads(digest.facts)
    replaced = outbox.with_ids(tx, facts["letters"])
    return frozenset(map(int, facts["until"])) | {email.game_id for email in replaced if email.game_id is not None}


def is_over(tx: Tx, digest: EmailRow) -> bool:
    """Whether every game of a queued digest has ended."""
    until = json.loads(digest.facts)["until"].keys()
    return all(f"{game.id}" not in until for game in daily_games(tx, digest.person_id))


def mark_replaced(tx: Tx, server: Server, digest: EmailRow) -> None:
    """Mark the emails that an accepted digest replaces as sent."""
    now = server.now()
    for email in outbox.with_ids(tx, json.loads(digest.facts)["letters"]):
        if email.status == EmailStatus.DIGEST:
            outbox.change(tx, email.id, status=EmailStatus.SENT, accepted_at=now)
            ledger.note(tx, email.id, now, "told", f"in the digest, email {digest.id}")


def _queue(tx: Tx, server: Server, person_id: int, day: date) -> bool:
    """Queue one digest, unless another worker did or nothing happened."""
    if not preferences.take_digest(tx, person_id, day):
        return False
    playing = daily_games(tx, person_id)
    last = outbox.of_kind(tx, person_id, EmailKind.DIGEST, EmailStatus.SENT, limit=1)
    reported = json.loads(last[0].facts) if last else {"until": {}, "lines": {}}
    since = _turns_reported(tx, person_id, playing, reported["until"])
    # What is said of a table that was stopped waits until it resumes.
    stopped = {game.id for game in tables.of_person(tx, person_id, (TableStatus.FROZEN,))}
    waiting = (email for email in outbox.for_digest(tx, person_id) if email.game_id not in stopped)
    emails = [email for email in waiting if _is_current(tx, server, email, playing)]
    if not emails and all(game.turn == since[game.id] for game in playing):
        return False
    now = server.now()
    for older in outbox.of_kind(tx, person_id, EmailKind.DIGEST, EmailStatus.QUEUED):
        outbox.change(tx, older.id, status=EmailStatus.SUPERSEDED, lease_id=None)
        ledger.note(tx, older.id, now, "superseded", "there is a newer digest")
    facts = {
        "since": {f"{game_id}": turn for game_id, turn in since.items()},
        "until": {f"{game.id}": game.turn for game in playing},
        "heard": _lines_reported(tx, person_id, playing, reported["lines"]),
        "lines": {f"{game_id}": lines for game_id, lines in talk.counts(tx, [game.id for game in playing]).items()},
        "letters": [email.id for email in emails],
    }
    outbox.queue(tx, [outbox.NewEmail(person_id, EmailKind.DIGEST, facts=facts)], now, now)
    return True


def _is_current(tx: Tx, server: Server, email: EmailRow, playing: list[GameRow]) -> bool:
    """Whether an email that waits for a digest still has something to say; if not, it is superseded."""
    more_time = email.kind == EmailKind.NOTICE and json.loads(email.facts)["what"] in ("extended", "deadline")
    if all(email.game_id != game.id for game in playing):
        why = "the game is over, or someone else plays the seat"
    elif email.kind in ASKING and not _is_asked(tx, email):
        why = "the seat has answered, or the turn is over"
    elif more_time and email.turn is not None and not _is_asked(tx, email):
        why = "the turn with more time has been answered"
    else:
        return True
    outbox.change(tx, email.id, status=EmailStatus.SUPERSEDED)
    ledger.note(tx, email.id, server.now(), "superseded", why)
    return False


def _is_asked(tx: Tx, email: EmailRow) -> bool:
    """Whether the seat of an email still has to decide in its turn."""
    if email.game_id is None or email.turn is None or email.seat is None:
        return False
    deadline = deadlines.read(tx, email.game_id, email.turn, email.seat)
    return deadline is not None and deadline.status == TurnStatus.OPEN


def _lines_reported(tx: Tx, person_id: int, playing: list[GameRow], lines: Mapping[str, int]) -> dict[str, int]:
    """The line of talk of each game up to which the last digest, with these `lines`, or another email has told the person."""
    return {
        f"{game.id}": max(lines.get(f"{game.id}", 0), outbox.last_line_emailed(tx, person_id, game.id))
        for game in playing
    }


def _turns_reported(tx: Tx, person_id: int, playing: list[GameRow], until: Mapping[str, int]) -> dict[int, int]:
    """The turn of each game up to which the last digest, or another email, has told the person what happened."""
    return {
        game.id: max(until.get(f"{game.id}", 0), outbox.last_turn_emailed(tx, person_id, game.id)) for game in playing
    }
