"""How large the emails about turns are, over bot games at full tables: the middle one and the 95th percentile."""

import statistics

import pytest

from engine import registry
from pbem.mail.wire import MOST_BYTES, MOST_HTML
from pbem.mail.write import compose
from tests.bot_games import GAMES, played
from tests.mail.turns import turn_email
from tests.service.outgoing.test_deliver import HEAD

pytestmark = pytest.mark.bench

EACH_GAME = 25
"""Turns looked at in each game."""


@pytest.mark.parametrize("kind", registry.names())
def test_turn_emails_are_small_enough_for_every_mail_program(kind: str) -> None:
    html, whole = list[int](), list[int]()
    for seed in range(GAMES):
        tables = tuple(played(kind, registry.load(kind).seats[1], seed))
        for table in tables[:: max(1, len(tables) // EACH_GAME)]:
            content = turn_email(table)
            html.append(len(compose.render(HEAD, content).html.encode()))
            whole.append(len(compose.compose(HEAD, content)))
    print(f"\n{kind}: HTML {_figures(html)}; whole {_figures(whole)}; {len(html)} emails")
    assert _late(html) <= MOST_HTML
    assert _late(whole) <= MOST_BYTES


def _figures(sizes: list[int]) -> str:
    return f"{statistics.median(sizes):,.0f} bytes, 95 % up to {_late(sizes):,.0f}"


def _late(sizes: list[int]) -> float:
    return statistics.quantiles(sizes, n=20)[-1]
