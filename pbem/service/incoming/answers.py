"""Answers to the emails of players: receipts, refusals and questions, and how many of them are sent.

An answer goes to the address on file, never to where the email came from, and answers are so few that nobody can make us
flood anyone, not even by mistake: a limit for one turn or offer and one for a day. Refusals, receipts and questions each
have their own, so that a refusal is told however much was carried out before, and the last answer before a limit says so.
Emails beyond that are carried out without an answer. Answers are queued here and nowhere else.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from pbem.domain.deleted_people import is_former
from pbem.domain.states import EmailKind
from pbem.mail.write.compose import ANSWERS
from pbem.service.server import Server
from pbem.store import limits, outbox, people, received as rows
from pbem.store.database import Tx
from pbem.store.outbox import NewEmail

NO_COMMAND: Final = "no command"
UNREAD: Final = "unread"
"""The two errors that are told once a turn and day: a program that answers every email looks like that."""


def queue(tx: Tx, server: Server, email: NewEmail, error: str = "") -> bool:
    """Queue an answer, unless there have been enough of its kind, or its reader is gone; returns whether it was queued.

    `error` says in short what was refused, if anything. A question with the same error about replies to the same address is
    asked once a day, and a reply without a command is answered once a turn: a program that answers every email looks like that.
    """
    assert email.kind in ANSWERS
    asks = email.kind == EmailKind.WAS_IT_YOU
    if is_former(people.lock(tx, email.person_id).address):
        return False
    now = server.now()
    day = limits.last(timedelta(days=1), now)
    earlier = rows.answers(tx, email.person_id, ANSWERS, day, email.game_id, email.turn)
    alike = [
        answer for answer in earlier if (answer.kind == email.kind) and (asks or bool(answer.error) == bool(error))
    ]
    today = [answer for answer in alike if day.contains(answer.queued_at)]
    facts = email.facts or {}
    # Groups and tournaments have no turns, and there are many of them: of these, each offer counts for itself.
    about = (email.game_id, email.turn, facts.get("offered_in"))
    this_turn = [answer for answer in alike if (answer.game_id, answer.turn, answer.offered_in) == about]
    link_id = facts.get("link")
    asked_before = (asks or error in (NO_COMMAND, UNREAD)) and any(
        answer in today and answer.error == error and answer.link_id in (link_id, None) for answer in this_turn
    )
    left_this_turn, left_today = server.answers_a_turn - len(this_turn), server.answers_a_day - len(today)
    if asked_before or min(left_this_turn, left_today) <= 0:
        return False
    last_for = "turn" if left_this_turn == 1 else "day" if left_today == 1 else ""
    outbox.queue(tx, [replace(email, facts={**facts, "error": error, "last_for": last_for})], now, now)
    return True
