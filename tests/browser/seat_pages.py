"""The pages of a seat at a table of the engine, and of the choices of the one that decides, made without a database."""

from datetime import timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from flask import Flask

from engine import grammar
from engine.auctions import Auction, auctions, with_bids
from engine.table import Table
from pbem import web
from pbem.domain.choice_links import segment_text
from pbem.service.play.seat_view import OfferedChoice, SeatView
from pbem.web.seat import move
from pbem.web.seat.page import Input, page
from tests.bot_games import NAMES, decider, recent_facts
from tests.service.conftest import START

STATIC: Final = Path(web.__file__).parent / "static"


def seat_page(app: Flask, table: Table, seat: int | None = None, *, guest: bool = False) -> str:
    """The page of a seat, by default the one that decides, with its style and its script in it."""
    shown = seat_view_of(table, decider(table) if seat is None else seat, guest=guest)
    with app.test_request_context("/s/token"):
        html = page(shown, "token", Input()).get_data(as_text=True)
    start, _, rest = html.partition('<link rel="stylesheet"')
    styled = f"{start}<style>{(STATIC / 'pbem.css').read_text()}</style>{rest.partition('>')[2]}"
    # A page that gets other content keeps the names of the script before.
    return styled.replace("</body>", f"<script>(() => {{{(STATIC / 'live.js').read_text()}}})()</script></body>")


def choice_page(app: Flask, table: Table, option: str) -> str:
    """The page of one choice of that seat, as a link in an email opens it."""
    with app.test_request_context(f"/m/token/{option}"):
        return move.page(_offered_choice(table, option), "token", option).get_data(as_text=True)


def _offered_choice(table: Table, option: str) -> OfferedChoice:
    seat, rules = decider(table), table.position.game
    decision = table.asks()[seat]
    choice = grammar.read(decision, segment_text(option))
    return OfferedChoice(
        game_id=1,
        public_key="o8f3k2a1b2c3",
        title="The Thursday table",
        rules=rules,
        names=NAMES[: len(table.views) - 1],
        seat=seat,
        person_id=1,
        turn=table.position.turn,
        current_turn=table.position.turn,
        status="playing",
        paused=False,
        choice=choice,
        written=grammar.write(decision, choice),
        note=next(act for act in decision.acts if choice in act).note,
        closes=choice.verb in decision.closes,
        prompt=decision.prompt,
        made=None,
        proof=None,
        recent_facts=(),
        due_at=START + timedelta(hours=23),
        promised_at=None,
        zone=ZoneInfo("Europe/Berlin"),
    )


def _known_auctions(table: Table) -> tuple[Auction, ...]:
    """The auctions of the game so far."""
    return auctions((number, happened) for number, entry in enumerate(table.log, 1) for happened in entry.facts)


def seat_view_of(table: Table, seat: int, *, guest: bool = False) -> SeatView:
    """What the server would show this player of such a table."""
    rules, seats, view, decision = table.position.game, len(table.views) - 1, table.view(seat), table.asks().get(seat)
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
        board=with_bids(rules.board(view, seat), _known_auctions(table)),
        decision=decision,
        asked=frozenset(table.asks()),
        asked_since=START - timedelta(hours=3),
        sealed=table.position.box.get(seat),
        proof=None,
        made=None,
        recent_facts=recent_facts(table, seat),
        new_lines=2,
        order=None,
        due_at=START + timedelta(hours=23) if decision else None,
        promised_at=None,
        zone=ZoneInfo("Europe/Berlin"),
        mail_fails=False,
        guest=guest,
        hints=False,
        warning="",
        standing=rules.standing(view),
        ending=None,
        votes=frozenset(),
        head="0f1e 2d3c",
        mark="1",
        levels=tuple("expert" if each % 2 else None for each in range(seats)),
    )
