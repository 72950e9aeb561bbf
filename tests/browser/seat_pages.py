"""The page of the seat that decides at a table of the engine, made without a database."""

from datetime import timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from flask import Flask

from engine.table import Table
from pbem import web
from pbem.service.play.seat_view import SeatView
from pbem.web.seat.page import Input, page
from tests.bot_games import NAMES, decider, recent_facts
from tests.service.conftest import START

STYLE: Final = Path(web.__file__).parent / "static" / "pbem.css"


def seat_page(app: Flask, table: Table, *, guest: bool = False) -> str:
    """The page of the seat that decides, with its style in it."""
    with app.test_request_context("/s/token"):
        html = page(_seat_view(table, guest=guest), "token", Input()).get_data(as_text=True)
    start, _, rest = html.partition('<link rel="stylesheet"')
    return f"{start}<style>{STYLE.read_text()}</style>{rest.partition('>')[2]}"


def _seat_view(table: Table, *, guest: bool) -> SeatView:
    seat, rules, seats = decider(table), table.position.game, len(table.views) - 1
    view = table.view(seat)
    return SeatView(
        game_id=1,
        key="o8f3k2a1b2c3",
        title="The Thursday table",
        status="playing",
        paused=False,
        turn=table.position.turn,
        pace="1d",
        seat=seat,
        person_id=1,
        rules=rules,
        options=table.options,
        names=NAMES[:seats],
        people=tuple(range(seats)),
        view=view,
        board=rules.board(view, seat),
        decision=table.asks()[seat],
        asked=frozenset(table.asks()),
        asked_since=START,
        sealed=None,
        proof=None,
        made=None,
        recent_facts=recent_facts(table),
        new_lines=2,
        order=None,
        due_at=START + timedelta(hours=23),
        promised_at=None,
        zone=ZoneInfo("Europe/Berlin"),
        mail_fails=False,
        guest=guest,
        warning="",
        standing=rules.standing(view),
        ending=None,
        votes=frozenset(),
        head="0f1e 2d3c",
        mark="1",
    )
