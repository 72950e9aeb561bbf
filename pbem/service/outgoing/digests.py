"""Digests: one mail a day in the place of all those about a person's tables.

    gathered   when its time has come, by whichever worker changes the person's row first; nothing happened, no mail
    written    a section for each table: what happened since the last digest that was sent, and what is asked now
    told       when the digest was accepted, the mails whose place it took count as sent

So a digest that never arrives loses nothing: the next one tells it again. A section is made from the view of its seat and
from nothing else. Answers to a digest are not read, because nobody could tell for which table they are.
"""

import json
from datetime import date
from zoneinfo import ZoneInfo

from pbem.domain.delivery import Way, digest_day, parse_delivery
from pbem.domain.localtime import parse_wall
from pbem.service.server import Server
from pbem.store import deadlines, ledger, outbox, preferences, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow


def gather(server: Server) -> int:
    """Queue the digests whose time has come; how many those were."""
    now = server.now()
    with server.store.read() as tx:
        readers = preferences.digest_readers(tx)
    gathered = 0
    for reader in readers:
        day = digest_day(now, parse_wall(reader.digest_at), ZoneInfo(reader.zone), reader.digest_on)
        if day is not None:
            gathered += server.run(_gather, person_id=reader.person_id, day=day)
    return gathered


def tables_of(tx: Tx, digest: EmailRow) -> frozenset[int]:
    """The tables that a digest tells of."""
    facts = json.loads(digest.facts)
    emails = outbox.with_ids(tx, facts["letters"])
    return frozenset(map(int, facts["until"])) | {each.game_id for each in emails if each.game_id is not None}


def is_over(tx: Tx, digest: EmailRow) -> bool:
    """Whether a digest that has waited has nothing to tell of any more: every game of it has ended."""
    told = json.loads(digest.facts)["until"].keys()
    return all(f"{game.id}" not in told for game in daily_games(tx, digest.person_id))


def told_of(tx: Tx, server: Server, digest: EmailRow) -> None:
    """Note that a digest was accepted: what it took the place of has been told."""
    now = server.now()
    for email in outbox.with_ids(tx, json.loads(digest.facts)["letters"]):
        if email.status == "digest":
            outbox.change(tx, email.id, status="sent", accepted_at=now)
            ledger.note(tx, email.id, now, "told", f"in the digest, mail {digest.id}")


def _gather(tx: Tx, server: Server, person_id: int, day: date) -> bool:
    """Queue one digest, unless another worker did or nothing happened."""
    if not preferences.take_digest(tx, person_id, day):
        return False
    playing = daily_games(tx, person_id)
    since = _told_until(tx, person_id, playing)
    emails = [email for email in outbox.for_digest(tx, person_id) if _worth_telling(tx, server, email, playing)]
    if not emails and all(game.turn == since[game.id] for game in playing):
        return False
    now = server.now()
    for older in outbox.of_kind(tx, person_id, "digest", "queued"):
        outbox.change(tx, older.id, status="superseded", claimed_until=None)
        ledger.note(tx, older.id, now, "superseded", "there is a newer digest")
    facts = {
        "since": {f"{game_id}": turn for game_id, turn in since.items()},
        "until": {f"{game.id}": game.turn for game in playing},
        "letters": [email.id for email in emails],
    }
    outbox.queue(tx, [outbox.NewEmail(person_id, "digest", facts=facts)], now, now)
    return True


def _worth_telling(tx: Tx, server: Server, email: EmailRow, playing: list[GameRow]) -> bool:
    """Whether a mail that waits for a digest still says something; if not, it is superseded."""
    if all(email.game_id != game.id for game in playing):
        why = "the game is over, or somebody else plays the seat"
    elif email.kind in ("turn", "reminder") and not _still_asked(tx, email):
        why = "the seat has answered, or the turn is over"
    elif email.kind == "notice" and email.turn is not None and _is_more_time(email) and not _still_asked(tx, email):
        why = "the turn that there is more time for is answered"
    else:
        return True
    outbox.change(tx, email.id, status="superseded")
    ledger.note(tx, email.id, server.now(), "superseded", why)
    return False


def _is_more_time(email: EmailRow) -> bool:
    return json.loads(email.facts)["what"] in ("extended", "deadline")


def _still_asked(tx: Tx, email: EmailRow) -> bool:
    assert email.game_id is not None
    assert email.turn is not None
    assert email.seat is not None
    asked = deadlines.read(tx, email.game_id, email.turn, email.seat)
    return asked is not None and asked.status == "open"


def daily_games(tx: Tx, person_id: int) -> list[GameRow]:
    """The games of which a person reads in a digest."""
    return [
        game
        for game in tables.of_person(tx, person_id, ("playing",))
        if parse_delivery(_wish(tx, person_id, game.id)).way is Way.DAILY
    ]


def _wish(tx: Tx, person_id: int, game_id: int) -> str:
    found = preferences.wished(tx, [(person_id, game_id)])[person_id, game_id]
    return found.of_table or found.delivery


def _told_until(tx: Tx, person_id: int, playing: list[GameRow]) -> dict[int, int]:
    """Up to which turn of each game a person has been told what happened, by a digest or by a mail of its own."""
    last = outbox.of_kind(tx, person_id, "digest", "sent", limit=1)
    told = json.loads(last[0].facts)["until"] if last else {}
    return {game.id: max(told.get(f"{game.id}", 0), outbox.told_until(tx, person_id, game.id)) for game in playing}
