"""The bank of a table: its player alone reads what is left, wherever the deadline is shown."""

from datetime import timedelta

import pytest

from pbem.service.outgoing.post import mailbox_of
from pbem.service.play import by_link
from tests.web.api.test_api import Program

IN_BANK = "In your bank:"


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: a page is the same on any database."""
    return sqlite_alone


def test_a_player_reads_the_time_left_in_the_bank_wherever_the_deadline_is_shown(
    app, browser, links, server, settings, table, clock, carry
):
    game = table("sun-bid", 2, pace="3d+2h max 4d")
    carry()
    (seat,) = game.asked()
    box = mailbox_of(settings)
    texts = [box.read(email.key).text for email in box.entries("")]
    assert sum(f"{IN_BANK} 3 days." in text for text in texts) == 1 == "".join(texts).count(IN_BANK)
    tokens = [links.of(game, each)[1] for each in (seat, 1 - seat)]
    clock.advance(timedelta(hours=5))
    own, other = (browser.open(f"/s/{token}").text for token in tokens)
    assert f"{IN_BANK} 2 days 18 hours." in own
    assert IN_BANK not in other
    left, none = (Program(app, server.run(by_link.api_token, token)).get("/decision")["bank"] for token in tokens)
    assert timedelta(days=2, hours=18) < timedelta(seconds=left) < timedelta(days=2, hours=19)
    assert none is None


def test_the_time_left_in_a_bank_does_not_tell_who_has_answered(browser, links, table, clock, carry):
    game = table("bid", 3, pace="3d+2h")
    carry()
    clock.advance(timedelta(hours=5))
    pages = [browser.open(f"/s/{links.of(game, 0)[1]}").text]
    game.play(1, game.asked()[1].default)
    pages.append(browser.open(f"/s/{links.of(game, 0)[1]}").text)
    assert IN_BANK in pages[0]
    assert pages[0] == pages[1]
