"""Calling the organiser: from every page and every mail, and the queue in which calls wait for an answer.

A call says from which game and seat it came, so that nobody has to explain that. Whoever calls from a page without being
known leaves an address. An answer goes to the caller by mail. Nothing here helps by itself: people do.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pbem.domain.acts import Act, Actor
from pbem.domain.errors import BadInput, Forbidden, Gone, TooMany
from pbem.domain.guests import is_guest
from pbem.domain.user_text import parse_message, parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service import alarms, links
from pbem.service.alarms import What
from pbem.service.desk import audit
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.store import calls, games, outbox, people
from pbem.store import players as player_rows
from pbem.store.audit import AuditRow
from pbem.store.calls import CallRow, ToldCall
from pbem.store.database import Tx
from pbem.tokens import Purpose

CALLS_AN_HOUR: Final = 5
"""So often one person may call; an organiser reads everything."""

STRANGERS_AN_HOUR: Final = 20
"""So often all those may call together whose address has never been confirmed."""

MOST_SHOWN: Final = 50
"""Calls on one page of the queue."""

CALLED: Final = "Somebody called the organiser."
"""The reason of what is done because of a call. It names nobody: players read the reasons of what is done at their table,
and a call may be about one of them."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Calls that somebody may read, and how many more wait that came from tables where they play."""

    calls: list[ToldCall]
    hidden: int


def call(
    tx: Tx, server: Server, person_id: int, text: str, *, game_id: int | None = None, seat: int | None = None
) -> int:
    """Call the organiser from a page or a mail of one's own; the number of the call. The same again is one call."""
    said = parse_message(text)
    return _call(tx, server, person_id, said, game_id, seat)


def call_from(tx: Tx, server: Server, address: str, text: str, *, game_id: int | None = None) -> int:
    """Call the organiser from a public page, leaving an address for the answer; the number of the call."""
    said = parse_message(text)
    return _call_from(tx, server, address, said, game_id)


def waiting(tx: Tx, server: Server) -> list[CallRow]:
    """The calls that nobody has answered, the oldest first."""
    return calls.queue(tx, "open", MOST_SHOWN)


def closed(tx: Tx, server: Server) -> list[CallRow]:
    """The calls that are done with, the newest first."""
    return calls.queue(tx, "closed", MOST_SHOWN)


def queue(tx: Tx, server: Server, actor: Actor, status: str) -> Queue:
    """The calls that an actor may read, the open ones oldest first; of those from tables where they play only how many wait."""
    audit.must_be_allowed(tx, actor, Act.CALLS)
    return Queue(
        calls.told(tx, status, MOST_SHOWN, without=actor.person_id),
        calls.waiting_where(tx, actor.person_id) if actor.person_id is not None else 0,
    )


def one(tx: Tx, server: Server, actor: Actor, call_id: int) -> ToldCall:
    """One call; refused to whoever plays at the table it came from."""
    found = calls.one(tx, call_id)
    audit.must_be_allowed(tx, actor, Act.CALL, found.row.game_id)
    return found


def answer(tx: Tx, server: Server, actor: Actor, call_id: int, text: str) -> None:
    """Answer a call by mail, and be done with it; the same answer again is not sent again."""
    said = parse_message(text)
    _end(tx, server, actor, call_id, said, "answered", Act.ANSWER, CALLED)


def close(tx: Tx, server: Server, actor: Actor, call_id: int, reason: str) -> None:
    """Be done with a call without an answer; the caller is told why. Again changes nothing."""
    why = parse_reason(reason)
    _end(tx, server, actor, call_id, why, "closed", Act.CLOSE_CALL, why)


def settle(tx: Tx, server: Server, actor: Actor, call_id: int, act: AuditRow) -> None:
    """Be done with a call by an act that was written down just now, in its transaction: the caller is told of it.

    A call that is closed already stays as it is: the act was worth doing all the same.
    """
    row = calls.lock(tx, call_id)
    audit.must_be_allowed(tx, actor, Act.ANSWER, row.game_id)
    if None not in (row.game_id, act.game_id) and row.game_id != act.game_id:
        raise BadInput(_("This call came from another table."), remedy=_("Nothing was changed; open the call again."))
    if row.status == "open":
        _settle(tx, server, row, act.reason, act.act)


def _call(tx: Tx, server: Server, person_id: int, text: str, game_id: int | None, seat: int | None) -> int:
    if is_guest(people.lock(tx, person_id).address):
        raise Forbidden(
            _("From a demo nobody is called."),
            why=_("There would be no address to send the answer to."),
            remedy=_("Please use the form behind “Call the organiser” on our front page."),
        )
    if (known := calls.same(tx, person_id, game_id, seat, text)) is not None:
        return known
    if game_id is not None:
        games.read(tx, game_id)
    if seat is not None:
        held = game_id is not None and [
            player.person_id for player in player_rows.of_game(tx, game_id) if player.seat == seat
        ]
        if held != [person_id]:
            raise Forbidden(_("This seat is not yours."))
    now = server.now()
    if calls.since(tx, person_id, now - timedelta(hours=1)) >= CALLS_AN_HOUR:
        raise _too_many(CALLS_AN_HOUR)
    caller = people.read(tx, person_id).name or _("Somebody who has given no name")
    alarms.raise_alarm(tx, server, What.CALL, f"{caller}: {text}", game_id)
    return calls.add(tx, at=now, game_id=game_id, seat=seat, person_id=person_id, text=text)


def _call_from(tx: Tx, server: Server, address: str, text: str, game_id: int | None) -> int:
    person = persons.find_or_add(tx, server, address)
    strangers = calls.strangers_since(tx, server.now() - timedelta(hours=1))
    if person.confirmed_at is None and strangers >= STRANGERS_AN_HOUR:
        raise _too_many(STRANGERS_AN_HOUR)
    return _call(tx, server, person.id, text, game_id, None)


def _end(tx: Tx, server: Server, actor: Actor, call_id: int, answer: str, done: str, act: Act, reason: str) -> None:
    """Be done with a call, once, and write down that it was this act."""
    row = calls.lock(tx, call_id)
    if _is_done(row, answer):
        return
    _settle(tx, server, row, answer, done)
    audit.record(tx, server, actor, act, reason, game_id=row.game_id, person_id=row.person_id, call=row.id)


def _is_done(row: CallRow, answer: str) -> bool:
    """Whether a call was closed with this very answer; refused if it was with another."""
    if row.status == "open":
        return False
    if row.answer == answer:
        return True
    raise Gone(_("This call is closed already."), why=_("Somebody answered it, or closed it."))


def _settle(tx: Tx, server: Server, row: CallRow, answer: str, done: str) -> None:
    """Be done with a call, and tell the caller; `done` says in a word how."""
    now = server.now()
    calls.change(tx, row.id, status="closed", answer=answer, answered_at=now)
    if row.person_id is not None:
        facts = {"call": row.text, "answer": answer, "done": done}
        outbox.queue(tx, [outbox.NewEmail(row.person_id, "call_answered", row.game_id, facts=facts)], now, now)


def _too_many(limit: int) -> TooMany:
    return TooMany(
        _("There have been many calls within the last hour, and this one was not taken."),
        why=_("%(limit)s are the most, because a person reads them all.", limit=limit),
        remedy=_("Your earlier calls are in the queue; please call again in an hour."),
    )


def call_by_link(server: Server, token: str, purpose: Purpose, text: str) -> int:
    """Call the organiser from the page of a link; the number of the call."""
    link = server.read(links.follow_person, token, purpose)
    return server.run(call, link.person_id, text, game_id=link.game_id, seat=link.seat)
