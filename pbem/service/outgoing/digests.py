"""Digests: one mail a day in the place of all those about a person's tables.

    gathered   when its time has come, by whichever worker changes the person's row first; nothing happened, no mail
    written    a section for each table: what happened since the last digest that was sent, and what is asked now
    told       when the digest was accepted, the mails whose place it took count as sent

So a digest that never arrives loses nothing: the next one tells it again. A section is made from the view of its seat and
from nothing else. Answers to a digest are not read, because nobody could tell for which table they are.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from engine.facts import seen
from pbem.domain.delivery import Way, digest_day, parse_delivery
from pbem.domain.localtime import parse_wall
from pbem.service import links
from pbem.service.links import SeatLinks
from pbem.service.play.log import latest_entries
from pbem.service.play.seat_view import SeatView, view_of_link
from pbem.service.server import Server
from pbem.service.tables import talk
from pbem.store import deadlines, games, ledger, log, outbox, preferences, tables
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import OutboxRow


@dataclass(frozen=True, slots=True)
class Section:
    """One seat of a reader: what it sees, what happened there, and the mails whose place this takes."""

    look: SeatView
    links: SeatLinks
    happened: tuple[str, ...]
    news: tuple[Mapping[str, Any], ...]
    talk: tuple[Mapping[str, object], ...]


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


def make_links(tx: Tx, server: Server, person_id: int) -> tuple[tuple[int, int, SeatLinks], ...]:
    """The games, seats and links of everything that a person reads of in a digest. The person is locked."""
    return tuple(
        (game.id, player.seat, links.make_for_seat(tx, server, person_id, game.id, game.turn, player.seat))
        for game in _daily(tx, person_id)
        for player in player_rows.of_game(tx, game.id)
        if player.person_id == person_id and player.seat is not None
    )


def sections_of(tx: Tx, email: OutboxRow, played: tuple[tuple[int, int, SeatLinks], ...]) -> list[Section]:
    """What a digest tells, table by table: those first where something is asked."""
    facts = json.loads(email.facts)
    taken = outbox.with_ids(tx, facts["letters"])
    last = outbox.of_kind(tx, email.person_id, "digest", "sent", limit=1)
    before = last[0].rendered_at if last else None
    found = []
    for game_id, seat, made in played:
        look = view_of_link(tx, links.read_seat(tx, made.seat))
        game = games.read(tx, game_id)
        entries = latest_entries(look.rules, log.chain_back(tx, game.id, game.key), facts["since"].get(f"{game_id}", 0))
        # What has happened since the mails for this digest were gathered is told by the next one, with what came of it.
        until = facts["until"].get(f"{game_id}", 0)
        told = (seen(each, seat) for standing in entries if standing.turn < until for each in standing.entry.facts)
        happened = tuple(sentence for each in told if (sentence := look.teller.tell(each)) is not None)
        news = tuple(
            {"kind": waiting.kind, "facts": json.loads(waiting.facts)}
            for waiting in taken
            if waiting.game_id == game_id and waiting.seat in (None, seat)
        )
        said = tuple(talk.lines_of_others(tx, game, seat, look.names, before))
        if happened or news or look.decision is not None:
            found.append(Section(look, made, happened, news, said))
    return sorted(
        found, key=lambda section: (section.look.decision is None, section.look.due_at is None, section.look.due_at)
    )


def tables_of(tx: Tx, digest: OutboxRow) -> frozenset[int]:
    """The tables that a digest tells of."""
    facts = json.loads(digest.facts)
    emails = outbox.with_ids(tx, facts["letters"])
    return frozenset(map(int, facts["until"])) | {each.game_id for each in emails if each.game_id is not None}


def is_over(tx: Tx, digest: OutboxRow) -> bool:
    """Whether a digest that has waited has nothing to tell of any more: every game of it has ended."""
    told = json.loads(digest.facts)["until"].keys()
    return all(f"{game.id}" not in told for game in _daily(tx, digest.person_id))


def told_of(tx: Tx, server: Server, digest: OutboxRow) -> None:
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
    playing = _daily(tx, person_id)
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
    outbox.queue(tx, [outbox.Letter(person_id, "digest", facts=facts)], now, now)
    return True


def _worth_telling(tx: Tx, server: Server, email: OutboxRow, playing: list[GameRow]) -> bool:
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


def _is_more_time(email: OutboxRow) -> bool:
    return json.loads(email.facts)["what"] in ("extended", "deadline")


def _still_asked(tx: Tx, email: OutboxRow) -> bool:
    assert email.game_id is not None
    assert email.turn is not None
    assert email.seat is not None
    asked = deadlines.read(tx, email.game_id, email.turn, email.seat)
    return asked is not None and asked.status == "open"


def _daily(tx: Tx, person_id: int) -> list[GameRow]:
    """The games of which a person reads in a digest."""
    return [
        game
        for game in tables.of_person(tx, person_id, ("playing",))
        if parse_delivery(_wish(tx, person_id, game.id)).way is Way.DAILY
    ]


def _wish(tx: Tx, person_id: int, game_id: int) -> str:
    found = preferences.read_all(tx, [(person_id, game_id)])[person_id, game_id]
    return found.of_table or found.delivery


def _told_until(tx: Tx, person_id: int, playing: list[GameRow]) -> dict[int, int]:
    """Up to which turn of each game a person has been told what happened, by a digest or by a mail of its own."""
    last = outbox.of_kind(tx, person_id, "digest", "sent", limit=1)
    told = json.loads(last[0].facts)["until"] if last else {}
    return {game.id: max(told.get(f"{game.id}", 0), outbox.last_turn_told(tx, person_id, game.id)) for game in playing}
