"""The page of a review: reached from the result, private until it's shared, and honest while there is none."""

import re
from dataclasses import replace

import pytest
from sqlalchemy import update

from engine.coach import Reasons, Tried
from pbem.domain.states import TableStatus
from pbem.service.archive import replay, reviews
from pbem.service.archive.reviews import make_next
from pbem.store.schema import GAME, REVIEW
from tests.service.archive.sample_review import SAMPLE, sample
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
        "You chose to bid 5. It would have been better to bid 4: that wins about 50 of 100 games instead of about 40. "
        "The most that was worth bidding was about 4. If you bid 4, in 7 of 10 games instead of 9 of 10: you win auction 1. "
        "On average, you end with about 3 points more. With every hand visible, it was a mistake too."
    ) in page.text
    assert "From what you could see, it was one of your best decisions too." in page.text
    assert (
        "The obvious choice was to bid 0, which wins about 40 of 100 games. You chose to bid 3: that wins about 50."
        in page.text
    )
    assert "Good luck raised your chance of winning by 8 percentage points." in page.text
    assert (
        "Turn 2: Auction 2: Ben rolls Suns 3. Bad luck lowered your chance of winning by 12 percentage points."
        in page.text
    )
    assert "Other turning points" in page.text
    assert "Turn 7: You win auction 3. Your chance of winning rose from 48% to 72%." in page.text
    assert "Judged with every hand visible" in page.text
    assert "to the end, 9,600 times in all, choosing moves quickly for everyone" in page.text


def test_the_chart_has_its_numbers_as_a_table_that_leads_to_the_turns(browser, links, reviewed):
    token = links.of(reviewed, 0)[1]
    page = browser.open(f"/s/{token}/review")
    assert "40%" in page.text
    assert "34–47%" in page.text
    assert f'href="/s/{token}/replay/2"' in page.source
    assert page.source.count('class="band"') == 2


def test_the_decisions_that_are_named_are_marked_on_the_chart(browser, links, reviewed):
    page = browser.open(f"/s/{links.of(reviewed, 0)[1]}/review")
    chart = page.source.partition("<figure")[2].partition("</figure>")[0]
    (line,) = re.findall(r'<polyline points="([^"]+)"', chart)
    dots = re.findall(r'<circle cx="([^"]+)" cy="([^"]+)"', chart)
    named = page.source.partition("</figure>")[2].partition("Luck")[0].count("#coach")
    assert len(dots) == named > 0
    assert all(f"{x},{y}" in line.split() for x, y in dots)
    assert "Dots: the decisions named below." in page.text


def test_the_chart_says_what_its_axes_and_its_band_are(browser, links, reviewed):
    """On the drawing, below it, and for those who hear it."""
    page = browser.open(f"/s/{links.of(reviewed, 0)[1]}/review")
    assert "Band: its 95% interval, which holds the true chance in these simulated games 95 times in 100." in page.text
    assert ">Chance of winning</text>" in page.source
    assert ">Turn</text>" in page.source
    assert (
        "Up: the chance of winning, from 0 to 100%. Across: the turns, from 1 to 8. The band around the line is a 95% interval."
    ) in page.source
    assert '<th scope="col"><bdi>95% interval</bdi></th>' in page.source


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


def test_the_moment_of_a_decision_tells_what_the_coach_would_have_done_and_why(browser, links, reviewed):
    token = links.of(reviewed, 0)[1]
    last = reviewed.row().turn - 1
    # The turn has the same number in the review, on its own page and in its address.
    then = browser.open(f"/s/{token}/review").follow("Turn 2")
    assert then.heading == f"Turn 2 of {last}"
    assert f'href="/s/{token}/replay/2#coach"' in browser.open(f"/s/{token}/review").source
    before = then.follow("Table before")
    assert before.heading == f"Turn 1 of {last}"
    assert "Costly decision on turn 2" in then.text
    assert "Next, on turn 2: costly decision" in before.text
    for each in (before, then):
        assert "bid 5: wins about 40 of 100 games" in each.text
        assert "bid 4: wins about 50 of 100 games" in each.text
        assert "The most that was worth bidding was about 4. If you bid 4, in 7 of 10 games" in each.text
        assert "Judged with every hand visible." in each.text
        assert each.follow("Your review").heading == "Your review"
    assert before.follow("What happened").heading == then.heading
    best = browser.open(f"/s/{token}/replay/3")
    assert "Best decision on turn 3" in best.text
    assert "bid 0: wins about 40 of 100 games" in best.text
    # Of other turns the coach has nothing to say.
    assert "The coach" not in browser.open(f"/s/{token}/replay/4").text


def test_bids_without_a_price_have_no_column_for_one(browser, links, over):
    def tiles(task):
        why = Reasons(tried=(Tried("0, 2", 0, None), Tried("1, 4", 900, None)))
        mistake = replace(SAMPLE.known.mistakes[0], reasons=why)
        return replace(sample(task), known=replace(SAMPLE.known, mistakes=(mistake,)), opened=None)

    while make_next(over.server, tiles):
        pass
    page = browser.open(f"/s/{links.of(over, 0)[1]}/replay/2")
    assert "Bids tried" in page.text
    assert "1, 4" in page.text
    assert "Last bid then" not in page.text


def test_only_those_who_may_read_a_review_see_it_in_the_replay(browser, links, reviewed, server):
    """Its player; others once it's shared, until that stops; and nobody who comes by a link to the game."""
    tokens = [links.of(reviewed, seat)[1] for seat in range(3)]
    name = reviewed.players()[0].name
    public = f"/t/{reviewed.row().key}/replay/2"
    shared = f"/h/{server.run(replay.share, tokens[0])}/2"

    def readers_of_first():
        seats = [f"/s/{token}/replay/2" for token in tokens]
        pages = [browser.open(address) for address in (*seats, public, shared)]
        assert all(page.status == 200 for page in pages)
        assert not any("Costly decision" in page.text for page in pages[3:])
        return [f"Costly decision by {name} on turn 2" in page.text for page in pages[:3]]

    assert "Costly decision" in browser.open(f"/s/{tokens[0]}/replay/2").text
    assert readers_of_first() == [False, False, False]
    server.run(reviews.share, tokens[0], shared=True)
    assert readers_of_first() == [False, True, True]
    assert f"“You” means {name}." in browser.open(f"/s/{tokens[1]}/replay/2").text
    server.run(reviews.share, tokens[0], shared=False)
    assert readers_of_first() == [False, False, False]


def test_a_player_who_took_the_seat_over_does_not_see_the_review_of_another(browser, links, reviewed, server):
    token = links.of(reviewed, 0)[1]
    other = reviewed.players()[1].person_id
    taken = update(REVIEW).where(REVIEW.c.seat == 0).values(person_id=other)
    server.store.write(lambda tx: tx.execute(taken))
    assert "The coach" not in browser.open(f"/s/{token}/replay/2").text


def test_while_a_game_goes_on_its_replay_has_no_word_of_a_review(browser, links, reviewed, server):
    """As after it was put back: reviews that were made before say what the others held."""
    token = links.of(reviewed, 0)[1]
    put_back = update(GAME).where(GAME.c.id == reviewed.id).values(status=TableStatus.PLAYING)
    server.store.write(lambda tx: tx.execute(put_back))
    page = browser.open(f"/s/{token}/replay/2")
    assert page.status == 200
    assert "The coach" not in page.text
    assert "bid 4" not in page.text
