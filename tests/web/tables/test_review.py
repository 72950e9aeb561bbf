"""The page of a review: reached from the result, private until it's shared, and honest while there is none."""

import pytest

from pbem.service.archive.reviews import make_next
from tests.service.archive.sample_review import sample
from tests.service.clock import HOUR


@pytest.fixture
def over(table):
    """A short game that is over."""
    game = table("bid", 3, options={"max_auctions": 3})
    list(game.play_defaults())
    assert game.row().status == "over"
    return game


@pytest.fixture
def reviewed(over):
    """A game that is over, with all its reviews."""
    while make_next(over.server, sample):
        pass
    return over


def test_the_result_leads_to_the_review(browser, links, reviewed):
    page = browser.open(f"/s/{links.of(reviewed, 0)[1]}").follow("Review")
    assert page.heading == "Your review"
    assert (
        "You chose “bid 5”, but “bid 4” would have been better: it wins the game 50% of the time; your choice, 40%."
        in page.text
    )
    assert "The auction was worth a bid of up to about 4." in page.text
    assert "“bid 4” would have won the auction three quarters of the time; yours, almost always." in page.text
    assert "The obvious choice was “bid 0”: it wins the game 40% of the time; your choice, 50%." in page.text
    assert "Good luck raised your chance of winning by 8 percentage points." in page.text
    assert "Bad luck lowered your chance of winning by 12 percentage points." in page.text
    assert "Judged with every hand visible" in page.text
    assert "to the end, 9,600 times in all, choosing quick, simple moves for everyone" in page.text


def test_the_chart_has_its_numbers_as_a_table_that_leads_to_the_turns(browser, links, reviewed):
    token = links.of(reviewed, 0)[1]
    page = browser.open(f"/s/{token}/review")
    assert "40%" in page.text
    assert "34–47%" in page.text
    assert f'href="/s/{token}/replay/2"' in page.source
    assert page.source.count('class="band"') == 2


def test_a_review_that_is_being_made_says_so(browser, links, over):
    page = browser.open(f"/s/{links.of(over, 0)[1]}/review")
    assert "The coach is still working on it" in page.text
    assert "Share" not in page.source


def test_a_review_beyond_those_of_a_day_says_that_it_waits(browser, links, over, clock):
    clock.set(clock.now() - HOUR)
    page = browser.open(f"/s/{links.of(over, 0)[1]}/review")
    assert "You get up to 10 reviews a day. This one has to wait" in page.text
    assert "still working" not in page.text


def test_there_is_no_review_during_a_game(browser, links, table):
    token = links.of(table("bid", 3), 0)[1]
    assert "Review" not in browser.open(f"/s/{token}").links()
    page = browser.open(f"/s/{token}/review")
    assert page.status == 403
    assert "There's no review yet." in page.text


def test_a_review_is_shared_with_the_table_and_taken_back(browser, links, reviewed):
    mine, other = links.of(reviewed, 0)[1], links.of(reviewed, 1)[1]
    name = reviewed.players()[0].name
    assert browser.open(f"/s/{other}/review/0").status == 404
    shared = browser.open(f"/s/{mine}/review").form("Share this review").press()
    assert "Your review is shared with this table." in shared.text
    page = browser.open(f"/s/{other}/review").follow(name)
    assert page.heading == "Review"
    assert f"“You” means {name}." in page.text
    assert "Share this review" not in page.text
    private = browser.open(f"/s/{mine}/review").form("Stop sharing").press()
    assert "Your review is private again." in private.text
    assert browser.open(f"/s/{other}/review/0").status == 404
