"""The email about a turn at a table of the engine, made without a database."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from engine.decisions import Decision
from engine.table import Table
from pbem.domain.deadline import Deadline
from pbem.mail.write import words
from pbem.mail.write.compose import EmailContent, Reader, Thread
from pbem.mail.write.words import SeatContent
from tests.bot_games import NAMES, decider, recent_facts
from tests.service.conftest import START
from tests.service.outgoing.test_deliver import HEAD

TOKEN = "a" * 33
PAGE = f"{HEAD.base_url}/s/{TOKEN}"


def turn_email(table: Table) -> EmailContent:
    """The content of the email to the seat that decides."""
    seat, decision = seat_content(table)
    variables = {
        "facts": {},
        "game": seat.rules.title,
        "table": words.table_name(seat.title, seat.rules.title),
        "turn": seat.turn,
        "rules": f"{PAGE}/rules",
        "seat_page": PAGE,
        "call": f"{PAGE}/call",
        "head": "0f1e 2d3c 4b5a 6978 8796",
        "sealed_in": None,
        "first": False,
        "notes": [],
        "own_time_off": "",
        **words.board(seat),
        **words.past_turns(words.tell_all(recent_facts(table, seat.seat), seat.teller_in), ()),
        **words.question(HEAD, seat, decision, TOKEN, Deadline(START, START + timedelta(days=1))),
    }
    return EmailContent(
        "turn",
        Reader(NAMES[seat.seat], "player@example.org", ZoneInfo("Europe/Berlin")),
        Thread("<m1@example.org>", "o8f3k2a1b2c3", seat.title),
        START,
        variables,
        TOKEN,
        TOKEN,
    )


def seat_content(table: Table) -> tuple[SeatContent, Decision]:
    """What an email tells about the seat that decides, and its decision."""
    seat, rules, seats = decider(table), table.position.game, len(table.views) - 1
    view, decision = table.view(seat), table.asks()[seat]
    content = SeatContent(
        rules=rules,
        title="The Thursday table",
        status="playing",
        turn=table.position.turn,
        seat=seat,
        names=NAMES[:seats],
        view=view,
        board=rules.board(view, seat),
        standing=rules.standing(view),
        teller=rules.teller(seat, NAMES[:seats]),
        decision=decision,
        sealed=None,
        order=None,
        due_at=None,
        promised_at=None,
        warning="",
    )
    return content, decision
