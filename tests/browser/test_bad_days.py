"""Bad days for a page, from impatient people to broken connections: nothing is lost, and nothing is done twice."""

import threading
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from pbem.service import links as service_links
from pbem.tokens import Purpose
from tests.browser.conftest import Served
from tests.service.running_game import RunningGame

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.slice(1 / 4),
    pytest.mark.needs("chromium"),
    # Pages are the same on either database, which is tested elsewhere.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.fixture
def poker(table):
    """A game whose players all seal a choice at once."""
    return table("sunset-poker", 3)


@pytest.fixture
def templari(table):
    """A game whose players decide one after the other."""
    return table("templari", 3)


@pytest.fixture
def at_seat(people, links):
    """at_seat(game, seat) -> a browser tab with the page of the seat."""

    def sit(game: RunningGame, seat: int) -> Page:
        page = people()
        page.goto(f"/s/{links.of(game, seat)[1]}")
        return page

    return sit


def pick(page: Page, place: int) -> Locator:
    """Choose a card on the board; the button that makes the choice."""
    page.locator("label.pick").nth(place).click()
    return page.locator("form.bar button.main")


def press(button: Locator) -> None:
    """Press a button and wait for the page that it leads to."""
    with button.page.expect_navigation():
        button.click()


def notice(page: Page) -> Locator:
    """The words that say what was chosen."""
    return page.locator(".sealed strong")


def sealed(game: RunningGame) -> int:
    """The number of choices sealed in this game."""
    return sum(row.kind == "Sealed" for row in game.log())


def test_reloading_the_table_after_a_choice_seals_nothing_again(poker, at_seat):
    page = at_seat(poker, 0)
    press(pick(page, 3))
    words = notice(page).inner_text()
    page.reload()
    assert notice(page).inner_text() == words
    assert sealed(poker) == 1


def test_the_button_says_the_name_of_the_card_that_is_chosen_without_a_script(poker, at_seat):
    page = at_seat(poker, 0)
    names = [each.word for each in poker.asked()[0].acts[0].blanks[0].things]
    expect(pick(page, 3)).to_have_text(f"Pick {names[3]}", use_inner_text=True)
    expect(pick(page, 5)).to_have_text(f"Pick {names[5]}", use_inner_text=True)


def test_going_back_and_pressing_again_makes_one_choice(poker, at_seat):
    page = at_seat(poker, 0)
    press(pick(page, 3))
    words = notice(page).inner_text()
    page.go_back()
    press(pick(page, 3))
    assert notice(page).inner_text() == words
    assert sealed(poker) == 1


def test_going_back_after_a_choice_that_counts_at_once_makes_no_other(templari, at_seat):
    page = at_seat(templari, next(iter(templari.asked())))
    press(page.get_by_role("button", name="Pass", exact=True))
    before = templari.row().seq
    page.go_back()
    expect(page.locator("main")).to_contain_text("It isn't your turn")
    expect(page.locator("form.bar")).to_have_count(0)
    assert templari.row().seq == before


def test_a_double_click_makes_one_choice(poker, templari, at_seat):
    page = at_seat(poker, 0)
    pick(page, 3).dblclick()
    expect(notice(page)).to_contain_text("You chose “")
    assert sealed(poker) == 1
    page, before = at_seat(templari, next(iter(templari.asked()))), len(templari.log())
    page.get_by_role("button", name="Pass", exact=True).dblclick()
    expect(page.locator("main")).to_contain_text("Pass: done.")
    assert len(templari.log()) == before + 1


def test_of_sealed_choices_from_two_tabs_the_last_counts(poker, at_seat):
    one = at_seat(poker, 0)
    other = one.context.new_page()
    other.goto(one.url)
    press(pick(one, 1))
    press(pick(other, 2))
    first = notice(one).inner_text()
    one.reload()
    assert notice(one).inner_text() == notice(other).inner_text() != first


def write(page: Page, words: str) -> None:
    """Make a choice in words."""
    page.get_by_text("Type your move, as in an email").click()
    page.get_by_label("Your move").fill(words)
    press(page.get_by_role("button", name="Make this move"))


def test_of_choices_from_two_tabs_that_count_at_once_the_first_counts(templari, at_seat):
    one = at_seat(templari, next(iter(templari.asked())))
    other = one.context.new_page()
    other.goto(one.url)
    write(one, "pass")
    before = templari.row()
    write(other, "bid 1")
    expect(other.locator("main")).to_contain_text("The game has moved on since you opened that page.")
    expect(other.locator("main")).to_contain_text("You had chosen: bid 1.")
    assert templari.row() == before


def test_a_page_left_open_says_that_the_game_has_moved_on_and_quotes_the_choice(templari, at_seat):
    seat = next(iter(templari.asked()))
    page = at_seat(templari, seat)
    templari.play(seat, "pass")
    while seat not in templari.asked():
        mover, decision = next(iter(templari.asked().items()))
        templari.play(mover, decision.default)
    before = templari.row()
    write(page, "pass")
    main = page.locator("main")
    expect(main).to_contain_text("The game has moved on since you opened that page.")
    expect(main).to_contain_text("You had chosen: pass.")
    assert templari.row() == before
    press(page.get_by_role("button", name="Pass", exact=True))
    expect(main).to_contain_text("Pass: done.")


def test_replaced_and_expired_links_say_so_and_lead_on(server, clock, poker, at_seat, people, links):
    page = at_seat(poker, 0)
    server.run(service_links.revoke_seat, poker.id, 0)
    page.reload()
    expect(page.locator("h1")).to_have_text("This link has been replaced with a new one.")
    page.get_by_role("link", name="Email my links").click()
    expect(page.get_by_label("Your email")).to_be_visible()
    late = people()
    token = links.made(Purpose.SIGN_IN, poker.person_at(0))
    clock.advance(timedelta(days=2))
    late.goto(f"/l/{token}")
    expect(late.locator("h1")).to_have_text("This link has been used, or is too old.")
    assert late.get_by_role("link", name="Email my links").count()


def test_pressing_again_while_the_server_is_slow_makes_one_choice(poker, served, people, links):
    held, go_on = threading.Semaphore(0), threading.Event()

    def slowly(app):
        def answer(environ, start_response):
            if environ["PATH_INFO"].endswith("/play"):
                held.release()
                go_on.wait(60)
            return app(environ, start_response)

        return answer

    served.stop()
    served.wrap = slowly
    served.start()
    page = people()
    page.goto(f"/s/{links.of(poker, 0)[1]}")
    # By its position: on an element, Playwright would wait for the answer before it presses again.
    box = pick(page, 3).bounding_box()
    for _ in range(2):
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        assert held.acquire(timeout=60)
    go_on.set()
    expect(notice(page)).to_contain_text("You chose “")
    assert sealed(poker) == 1


def test_a_press_without_an_answer_can_be_repeated_when_the_server_is_back(poker, served: Served, at_seat):
    page = at_seat(poker, 0)
    button = pick(page, 3)
    served.stop()
    button.click()
    page.wait_for_url("chrome-error://**")
    assert sealed(poker) == 0
    served.restart()
    page.go_back()
    press(pick(page, 3))
    expect(notice(page)).to_contain_text("You chose “")
    assert sealed(poker) == 1
