"""Calls to the organiser, from every page and email, and the queue in which they wait for an answer.

A call records its game, turn and seat, so that the caller need not explain them, and an organiser can see what the caller saw. It is proven where a link or a session shows who
called. A visitor without either leaves an address, which anyone can type: such calls count against the network they come
from, and never against the owner of the address. Answers are emailed.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pbem.domain.acts import Act, Actor
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, Readers, TooMany, read_fields
from pbem.domain.guests import is_guest
from pbem.domain.states import CallStatus, EmailKind
from pbem.domain.user_text import parse_message, parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service import alarms, links
from pbem.service.alarms import AlarmKind
from pbem.service.desk import audit
from pbem.service.people import addresses as persons, quota
from pbem.service.server import Server
from pbem.store import calls, games, limits, outbox, people, players as player_rows, rate_limits, talk
from pbem.store.audit import AuditRow
from pbem.store.calls import CallDetails, CallRow
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.tokens import Purpose

HOUR: Final = timedelta(hours=1)

CALLS_AN_HOUR: Final = 5
"""Calls one person, or one network of strangers, may send in an hour; an organiser reads them all."""

STRANGERS_AN_HOUR: Final = 20
"""Calls an hour that are not proven, from everywhere together. After that, each network may send one."""

MOST_OF_STRANGERS: Final = 200
"""All calls an hour that are not proven."""

_STRANGERS: Final = "/calls of strangers"
"""The row that is locked by every call that isn't proven. A domain, whose quotas are in the same table, has no slash."""

MOST_SHOWN: Final = 50
"""Calls on one page of the queue."""

CALLED: Final = "Someone wrote to the organiser."
"""The reason of acts that answer a call. It names nobody: players read the reasons of acts at their table, and the call
may be about one of them."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Calls an actor may read, and the number of others from tables where they play."""

    calls: list[CallDetails]
    hidden: int


def call(
    tx: Tx, server: Server, person_id: int, text: str, *, game_id: int | None = None, seat: int | None = None
) -> int:
    """Call the organiser and return the id of the call. The same call again is one call."""
    text = links.without_tokens(tx, server, parse_message(text))
    if is_guest(people.lock(tx, person_id).address):
        raise Forbidden(
            _("You can't contact the organiser from a demo."),
            why=_("There is no address to send the answer to."),
            remedy=_("Use “Contact the organiser” on the front page."),
        )
    if same := calls.open_duplicate(tx, person_id=person_id, proven=True, game_id=game_id, seat=seat, text=text):
        return same
    turn, rules = (None, None) if game_id is None else _turn_and_rules(games.read(tx, game_id))
    if seat is not None:
        players = [] if game_id is None else player_rows.of_game(tx, game_id)
        if all((player.seat, player.person_id) != (seat, person_id) for player in players):
            raise Forbidden(_("This isn't your seat."))
    if calls.count_in(tx, person_id, limits.last(HOUR, server.now())) >= CALLS_AN_HOUR:
        raise _too_many(CALLS_AN_HOUR)
    caller = people.read(tx, person_id).name or _("Someone unnamed")
    alarms.raise_alarm(tx, server, AlarmKind.CALL, f"{caller}: {text}", game_id, person_id)
    about = {"game_id": game_id, "seat": seat, "turn": turn, "rules": rules}
    return calls.add(tx, at=server.now(), **about, person_id=person_id, proven=True, text=text)


def report(tx: Tx, server: Server, token: str, line: int) -> int:
    """Call the organiser about a line of table talk, by the link of a seat. Returns the id of the call. Raises NotFound."""
    link = links.follow_seat(tx, server, token)
    game = games.read(tx, link.game_id)
    message = talk.line(tx, game.id, game.key, line)
    if message is None or message.text is None:
        raise NotFound(_("There is no such message at that table."))
    names = {player.seat: player.name for player in player_rows.of_game(tx, game.id)}
    who = message.who(names[message.seat])
    about = _(
        "Please look at message %(line)s of the table talk, by %(who)s: “%(text)s”",
        line=line,
        who=who,
        text=message.text,
    )
    return call(tx, server, link.person_id, about, game_id=game.id, seat=link.seat)


def call_from_address(tx: Tx, server: Server, address: str, text: str, *, network: str = "") -> int:
    """Call the organiser from a public page, with an address for the answer that anyone can type. Returns the call's id."""
    readers: Readers[object] = {"address": lambda: persons.normalised(address), "text": lambda: parse_message(text)}
    read_fields(readers)
    text = links.without_tokens(tx, server, parse_message(text))
    # Locks the row, so that of two at once only one is counted as the last, and the same call twice is one.
    rate_limits.write(tx, {_STRANGERS: server.now()})
    person = persons.find_or_add(tx, server, address)
    if same := calls.open_duplicate(tx, person_id=person.id, proven=False, text=text):
        return same
    of_network = quota.quota_of(server, "call", network, CALLS_AN_HOUR, HOUR)
    if quota.take(tx, server, [of_network]) is not None:
        raise _too_many(CALLS_AN_HOUR)
    so_far = calls.count_unproven_in(tx, limits.last(HOUR, server.now()))
    one_more = quota.quota_of(server, "call of many", network, 1, HOUR)
    if so_far >= MOST_OF_STRANGERS or (so_far >= STRANGERS_AN_HOUR and quota.take(tx, server, [one_more]) is not None):
        raise _too_many(STRANGERS_AN_HOUR)
    # An alarm names nobody who has not shown who they are.
    alarms.raise_alarm(tx, server, AlarmKind.CALL, _("Sender not confirmed: %(text)s", text=text), None, person.id)
    return calls.add(tx, at=server.now(), person_id=person.id, proven=False, text=text)


def queue(tx: Tx, server: Server, actor: Actor, status: str) -> Queue:
    """The calls an actor may read, open ones oldest first, and those of known people before those of strangers."""
    audit.must_be_allowed(tx, actor, Act.CALLS)
    return Queue(
        calls.list_details(tx, status, MOST_SHOWN, without=actor.person_id),
        calls.count_open_at_tables_of(tx, actor.person_id) if actor.person_id is not None else 0,
    )


def details(tx: Tx, server: Server, actor: Actor, call_id: int) -> CallDetails:
    """A call. Refused to an actor who plays at its table."""
    call_details = calls.details(tx, call_id)
    audit.must_be_allowed(tx, actor, Act.CALL, call_details.row.game_id)
    return call_details


def answer(tx: Tx, server: Server, actor: Actor, call_id: int, text: str) -> None:
    """Answer a call by email and close it; the same answer again is not sent again."""
    _close(tx, server, actor, call_id, parse_message(text), "answered", Act.ANSWER, CALLED)


def close(tx: Tx, server: Server, actor: Actor, call_id: int, reason: str) -> None:
    """Close a call without an answer; the caller is told why. Closing again changes nothing."""
    reason = parse_reason(reason)
    _close(tx, server, actor, call_id, reason, "closed", Act.CLOSE_CALL, reason)


def close_by_act(tx: Tx, server: Server, actor: Actor, call_id: int, act: AuditRow) -> None:
    """Close a call by an act just recorded, in its transaction, and tell the caller; a closed call stays as it is."""
    row = calls.lock(tx, call_id)
    audit.must_be_allowed(tx, actor, Act.ANSWER, row.game_id)
    if None not in (row.game_id, act.game_id) and row.game_id != act.game_id:
        raise BadInput(_("This message came from another table."), remedy=_("Open the message again."))
    if row.status == CallStatus.OPEN:
        _close_and_tell(tx, server, row, act.reason, act.act)


def _turn_and_rules(game: GameRow) -> tuple[int | None, int | None]:
    """The open turn of a game and the version of its rules, once it has begun."""
    return (None, None) if game.started_at is None else (game.turn, game.rules)


def _close(tx: Tx, server: Server, actor: Actor, call_id: int, answer: str, done: str, act: Act, reason: str) -> None:
    """Close a call, once, and record it as this act."""
    row = calls.lock(tx, call_id)
    if row.status == CallStatus.CLOSED:
        if row.answer == answer:
            return
        raise Gone(_("This message is already closed."), why=_("Someone answered or closed it."))
    _close_and_tell(tx, server, row, answer, done)
    audit.record(tx, server, actor, act, reason, game_id=row.game_id, person_id=row.person_id, call=row.id)


def _close_and_tell(tx: Tx, server: Server, row: CallRow, answer: str, done: str) -> None:
    """Close a call and tell the caller; `done` says how, in a word."""
    now = server.now()
    calls.change(tx, row.id, status=CallStatus.CLOSED, answer=answer, answered_at=now)
    if row.person_id is not None:
        # Anyone can have typed this address; its owner is told no stranger's words.
        facts = {"answer": answer, "done": done} | ({"call": row.text} if row.proven else {})
        outbox.queue(tx, [outbox.NewEmail(row.person_id, EmailKind.CALL_ANSWERED, row.game_id, facts=facts)], now)


def _too_many(limit: int) -> TooMany:
    return TooMany(
        _("There have been many messages in the last hour, so this one wasn't sent."),
        why=_("We take at most %(limit)s, because a person reads them all.", limit=limit),
        remedy=_("Your earlier messages are in the queue. Try again in an hour."),
    )


def call_by_link(server: Server, token: str, purpose: Purpose, text: str) -> int:
    """Call the organiser from the page of a link; returns the id of the call."""
    link = server.read(links.follow_person, token, purpose)
    return server.run(call, link.person_id, text, game_id=link.game_id, seat=link.seat)
