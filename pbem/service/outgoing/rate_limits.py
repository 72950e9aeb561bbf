"""Answers to emails that came in: so few that nobody can make us flood anyone, not even by mistake.

An answer goes to the address on file, never to where the email came from. There is a limit for one turn and one for a day,
and one answer a day that says the same error about the same turn. Emails beyond that are read and carried out in silence. An
answer is queued here and nowhere else.
"""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Final

from pbem.domain.states import EmailKind
from pbem.service.server import Server
from pbem.store import outbox, people, received
from pbem.store.database import Tx
from pbem.store.outbox import NewEmail

ANSWERS: Final = frozenset({EmailKind.RECEIPT, EmailKind.WAS_IT_YOU})
"""Kinds that are answers. They have no return address, so that nothing can answer them in turn."""

_DAY: Final = timedelta(days=1)


def queue_answer(tx: Tx, server: Server, email: NewEmail, error: str = "") -> bool:
    """Queue an answer, unless there have been enough; returns whether it was queued.

    `error` says in short what was wrong, if nothing was changed because of it.
    """
    assert email.kind in ANSWERS
    people.lock(tx, email.person_id)
    now = server.now()
    answers = received.answers(tx, email.person_id, ANSWERS, now - _DAY, email.game_id, email.turn)
    today = [answer for answer in answers if answer.queued_at > now - _DAY]
    this_turn = [answer for answer in answers if (answer.game_id, answer.turn) == (email.game_id, email.turn)]
    same_error = error and any(
        answer in today and json.loads(answer.facts).get("error") == error for answer in this_turn
    )
    if len(today) >= server.answers_a_day or len(this_turn) >= server.answers_a_turn or same_error:
        return False
    outbox.queue(tx, [replace(email, facts={**(email.facts or {}), "error": error})], now, now)
    return True
