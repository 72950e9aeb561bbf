"""A second chance on the page of a seat, and what it says there and in emails before and after."""

import json

import pytest

from tests.service.clock import DAY, HOUR
from tests.service.database import queued_emails


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: a page is the same on any database."""
    return sqlite_alone


def test_a_missed_turn_is_taken_back_on_the_page_as_long_as_it_says(browser, links, time, table):
    game = table("templari", 3, second_chance=4, private=False)
    (seat,) = game.asked()
    token, turn = links.of(game, seat)[1], game.row().turn
    time.sends()
    time.passes_until(time.due(game, seat))
    time.runs_out()
    page = browser.open(f"/s/{token}")
    assert f"Time ran out on turn {turn}. Your move was made for you: pass." in page.text
    assert "You can take it back and play until" in page.text
    done = page.form("Undo").press()
    assert "You can choose again." in done.text
    assert done.form("Bid") is not None
    assert (
        f"the game was rewound · {game.players()[seat].name} · to turn {turn}"
        in browser.open(f"/s/{token}/decided").text
    )
    # Missed again, there is nothing more to take back.
    time.passes(DAY)
    time.runs_out()
    page = browser.open(f"/s/{token}")
    assert "take it back" not in page.text
    refused = browser.post(f"/s/{token}/back", [("turn", f"{turn + 2}")])
    assert refused.status == 410
    assert "You've taken it back once already." in refused.text


def test_its_button_is_gone_when_its_time_is_over(browser, links, time, table):
    game = table("templari", 3, second_chance=4)
    (seat,) = game.asked()
    time.sends()
    time.passes_until(time.due(game, seat))
    time.runs_out()
    assert "until" in json.loads(queued_emails(time.server, kind="auto_passed")[-1].facts)
    time.passes(4 * HOUR)
    assert "take it back" not in browser.open(f"/s/{links.of(game, seat)[1]}").text
