"""One choice by one link: whole games from the inbox, and links that are old, truncated, used twice or used by machines."""

import random
import re

import pytest

from engine import registry
from pbem.domain.choice_links import choice_segment
from pbem.service.play.move import Actor
from tests.service.actors import calls_of
from tests.web.browser import HOST, Page
from tests.web.seat.test_page import choose


def emails(browser, address):
    """The emails to an address as the inbox lists them, newest first; each is opened when it is reached."""
    page = browser.open(f"/mailbox?to={address}")
    return (browser.open(href) for href in page.hrefs() if re.fullmatch(r"/mailbox/\d+-\w+", href))


def tidy(settings):
    """Empty the inbox."""
    for email in (settings.data_dir / "mailbox").glob("*.eml"):
        email.unlink()


@pytest.fixture
def templari(table):
    """A game whose players decide one after the other."""
    return table("templari", 3)


@pytest.fixture
def poker(table):
    """A game whose players all seal a choice at once."""
    return table("sunset-poker", 3)


def link(links, game, seat, text, turn=None):
    """The address of one choice."""
    decision = game.open()[seat]
    from engine import grammar

    return f"/m/{links.of(game, seat, turn)[0]}/{choice_segment(grammar.read(decision, text))}"


def first(game):
    return next(iter(game.asked()))


@pytest.mark.slow
@pytest.mark.slice(1 / 3)
@pytest.mark.parametrize("kind", registry.names())
def test_a_whole_game_is_played_from_the_mailbox_by_following_links(kind, browser, table, carry, settings):
    seats = registry.load(kind).seats[0]
    game = table(kind, seats, options=dict(registry.load(kind).short))
    luck, followed, turn = random.Random(kind), 0, 0
    while game.row().status == "playing":
        if game.row().turn != turn:
            # Emails of finished turns are deleted, because the list would grow with the game.
            tidy(settings)
            turn = game.row().turn
        carry()
        seat = luck.choice(sorted(game.asked()))
        name = game.players()[seat].name.lower()
        email = next(
            each for each in emails(browser, f"{name}@example.org") if f"turn {game.row().turn}" in each.heading
        )
        moves = [href for href in email.links().values() if href.startswith("/m/")]
        if moves:
            page = browser.open(luck.choice(moves))
            assert page.status == 200
            receipt = next(form for form in page.forms() if form.action == page.url).press()
            assert receipt.heading.startswith("You chose")
            followed += 1
        else:
            href = next(href for href in email.links().values() if re.fullmatch(r"/s/\w+", href))
            choose(browser.open(href), luck)
    assert followed
    assert game.verifies()
    carry()
    assert browser.open("/mailbox?to=ann@example.org").status == 200


def test_the_page_shows_the_choice_the_table_and_the_deadline_but_no_hand(browser, links, poker, carry):
    carry()
    view = poker.open()[0].acts[0].blanks[0].things
    page = browser.open(link(links, poker, 0, f"pick {view[1].word}"))
    assert page.heading == f"{poker.players()[0].name}: pick {view[1].word}"
    assert "Sunset Poker" in page.text
    assert "Move by" in page.text
    assert not any(thing.word in page.text for thing in view if thing.word != view[1].word)
    assert len([form for form in page.forms() if form.action == page.url]) == 1


def test_only_the_button_makes_the_choice(browser, links, templari):
    seat = first(templari)
    page = browser.open(link(links, templari, seat, "bid 5"))
    assert templari.row().turn == 1
    receipt = page.form("Bid 5").press()
    assert receipt.status == 200
    assert receipt.heading == "You chose “bid 5”"
    assert templari.row().turn == 2


def test_pressing_the_button_twice_gives_the_same_receipt_and_one_move(browser, links, templari):
    page = browser.open(link(links, templari, first(templari), "bid 5"))
    one = page.form("Bid 5").press()
    rows = len(templari.log())
    two = page.form("Bid 5").press()
    assert (one.url, one.source) == (two.url, two.source)
    assert len(templari.log()) == rows


def test_another_link_of_a_finished_turn_plays_nothing_and_explains(browser, links, templari):
    seat = first(templari)
    other = browser.open(link(links, templari, seat, "pass"))
    browser.open(link(links, templari, seat, "bid 5")).form("Bid 5").press()
    before = templari.row()
    late = other.form("Pass").press()
    assert late.status == 409
    assert late.heading == "You've already played turn 1"
    assert templari.row() == before


@pytest.mark.parametrize("chosen", ["pass", "bid 5"])
def test_a_link_says_that_time_ran_out_whichever_choice_it_is_for(browser, links, templari, chosen):
    seat = first(templari)
    page = browser.open(link(links, templari, seat, chosen))
    own = links.of(templari, seat)[1]
    templari.play(seat, "pass", Actor.CLOCK)
    before = templari.row()
    late = page.form(chosen.capitalize()).press()
    assert late.status == 409
    for shown in (late, browser.open(page.url)):
        assert shown.heading == "Time ran out. Your move was made for you: pass"
        assert "This was turn 1. The game is now on turn 2. This link no longer works. Nothing changed." in shown.text
    form = browser.post(f"/s/{own}/play", [("turn", "1"), ("choice", chosen), ("press", "yes")])
    assert form.status == 409
    assert "Time ran out on turn 1. Your move was made for you: pass." in form.text
    assert templari.row() == before


def test_another_link_of_the_same_email_replaces_a_sealed_choice(browser, links, poker):
    things = poker.open()[0].acts[0].blanks[0].things
    one, two = (link(links, poker, 0, f"pick {things[n].word}") for n in (1, 2))
    browser.open(one).form(f"Pick {things[1].word}").press()
    assert browser.open(one).form("Undo")
    page = browser.open(two)
    assert "This replaces your earlier choice." in page.text
    assert things[1].word not in page.text
    receipt = page.form(f"Pick {things[2].word}").press()
    assert receipt.heading == f"You chose “pick {things[2].word}”"


def test_a_link_leads_on_to_the_table_as_everyone_sees_it(browser, links, poker):
    things = poker.open()[0].acts[0].blanks[0].things
    receipt = browser.open(link(links, poker, 0, f"pick {things[1].word}")).form(f"Pick {things[1].word}").press()
    # Not even that this player has answered.
    assert receipt.text.count("Deciding") == 3
    assert "This is the table as everyone sees it." in receipt.text
    assert not any(thing.word in receipt.text for thing in things if thing is not things[1])
    assert not any(form.action == "/my/seat" for form in receipt.forms())


def test_a_browser_that_is_signed_in_is_led_to_the_next_game_that_waits(browser, sign_in, links, poker, table, carry):
    waits = table("templari", 3)
    carry()
    person = waits.person_at(first(waits))
    sign_in(person)
    seat = next(seat for seat in range(3) if poker.person_at(seat) == person)
    word = poker.open()[seat].acts[0].blanks[0].things[0].word
    receipt = browser.open(link(links, poker, seat, f"pick {word}")).form(f"Pick {word}").press()
    assert "Your next game" in receipt.text
    assert "Bid" in receipt.form("Next game").press().text
    assert receipt.form("My seat").press().url.startswith("/s/")
    other = next(each for each in range(3) if each != seat)
    word = poker.open()[other].acts[0].blanks[0].things[0].word
    of_someone_else = browser.open(link(links, poker, other, f"pick {word}")).form(f"Pick {word}").press()
    assert "waiting for you?" in of_someone_else.text
    # Only the line at the top leads on, to the reader's own game.
    (line,) = (form.button for form in of_someone_else.forms() if form.action == "/my/seat")
    assert line.startswith("Next: ")


def test_the_receipt_of_a_link_has_the_fingerprint_of_the_sealed_choice(browser, links, poker):
    word = poker.open()[0].acts[0].blanks[0].things[1].word
    page = browser.open(link(links, poker, 0, f"pick {word}")).form(f"Pick {word}").press()
    (sealed,) = (row for row in poker.log() if row.kind == "Sealed")
    assert sealed.body_hash.hex() in page.text
    assert sealed.nonce.hex() in page.text


def test_a_sealed_choice_can_be_taken_back_from_its_receipt(browser, links, poker):
    word = poker.open()[0].acts[0].blanks[0].things[1].word
    receipt = browser.open(link(links, poker, 0, f"pick {word}")).form(f"Pick {word}").press()
    page = receipt.form("Undo").press()
    assert page.form(f"Pick {word}")
    assert 0 in poker.asked()


def test_a_choice_can_be_taken_back_until_an_email_has_left(browser, links, templari, carry):
    seat = first(templari)
    page = browser.open(link(links, templari, seat, "bid 5"))
    page.form("Bid 5").press().form("Undo").press()
    assert templari.row().turn == 1
    receipt = page.form("Bid 5").press()
    carry()
    assert receipt.form("Undo").press().status == 410
    assert templari.row().turn == 2


def test_an_old_link_shows_public_events_and_emails_new_links(browser, links, poker, carry):
    word = poker.open()[0].acts[0].blanks[0].things[1].word
    old = link(links, poker, 0, f"pick {word}")
    for seat, decision in poker.asked().items():
        poker.play(seat, decision.default)
    carry()
    page = browser.open(old)
    assert page.status == 200
    assert page.heading == "You've already played turn 1"
    assert "Since then" in page.text
    rules = registry.load("sunset-poker")
    assert not any(rules.word(card) in page.text for card in poker.view(0).hands[0])
    page.form("Email my links").press()
    carry()
    name = poker.players()[0].name.lower()
    newest = next(emails(browser, f"{name}@example.org"))
    assert newest.heading.endswith("your games")
    seat_page = next(href for href in newest.links().values() if href.startswith("/s/"))
    assert browser.open(seat_page).status == 200


def test_a_truncated_link_says_so_and_names_no_card(browser, links, poker):
    token = links.of(poker, 0)[0]
    words = [thing.word for thing in poker.open()[0].acts[0].blanks[0].things]
    for url in (f"/m/{token}", f"/m/{token}/pick", f"/m/{token}/dance-7", f"/m/{token}/{'x' * 500}"):
        page = browser.open(url)
        assert page.heading == "This link is incomplete"
        assert not any(word in page.text for word in words)
        assert page.status == 200
    refused = browser.post(f"/m/{token}/pick", [("press", "yes")])
    assert refused.status == 400
    assert not any(word in refused.text for word in words)


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        (r"^.*$", lambda whole: whole[0].upper()),
        (r"$", "."),
        (r"$", "%3E"),
        (r"$", "%253E"),
        (r"$", "/"),
        (r"^/(.)/", r"/\1/%253C"),
        (r"(?<=.)/", "//"),
        (r"-", "%252D"),
    ],
    ids=[
        "capitals",
        "full stop",
        "bracket",
        "bracket quoted twice",
        "slash",
        "bracket before",
        "slashes",
        "quoted twice",
    ],
)
def test_a_link_changed_by_a_program_still_works(browser, links, templari, written, otherwise):
    seat = first(templari)
    for good in (link(links, templari, seat, "bid 5"), f"/s/{links.of(templari, seat)[1]}"):
        assert led_to(browser, re.sub(written, otherwise, good)).heading == browser.open(good).heading != ""


def led_to(browser, path):
    """The page at the end of all redirects."""
    return Page(browser, browser.client.get(HOST + path, follow_redirects=True), path)


def test_other_addresses_are_not_repaired(browser, links, templari):
    token = links.of(templari, first(templari))[1]
    for path in (
        f"/x/{token}",
        f"/S/{token[:-1]}",
        "/S/",
        "/M/%0d%0aSet-Cookie:%20a=b",
        "//evil.example/m",
        f"/SS/{token}",
    ):
        page = led_to(browser, path)
        assert page.status == 404
        assert "Set-Cookie" not in page.response.headers


def test_a_press_by_a_machine_asks_for_confirmation(browser, links, templari):
    seat = first(templari)
    page = browser.open(link(links, templari, seat, "bid 5"))
    for says in ({"Sec-Fetch-Mode": "navigate"}, {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin"}):
        browser.says = says
        asked = page.form("Bid 5").press()
        assert asked.status == 200
        assert asked.heading == "Bid 5?"
        assert templari.row().turn == 1
    browser.says = {"Sec-Fetch-Mode": "navigate"}
    assert asked.form("Confirm: bid 5").press().heading == "You chose “bid 5”"


@pytest.mark.parametrize("fields", [[], [("go", "1")], [("press", "")]])
def test_a_press_without_the_field_of_our_form_asks_for_confirmation(browser, links, templari, fields):
    path = link(links, templari, first(templari), "bid 5")
    for says in (browser.says, {}):
        browser.says = says
        asked = browser.post(path, fields)
        assert (asked.status, asked.heading) == (200, "Bid 5?")
        assert templari.row().turn == 1
    assert asked.form("Confirm: bid 5").press().heading == "You chose “bid 5”"


def test_the_second_half_of_a_double_click_leads_back_to_the_result_of_the_first(app, links, templari):
    path = link(links, templari, first(templari), "bid 5")
    # Chromium reports that nobody clicked.
    second = {"User-Agent": "Firefox/150.0", "Sec-Fetch-Mode": "navigate"}

    def presses(referrer):
        headers = second | {"Referer": referrer}
        answer = app.test_client().post(path, base_url=HOST, data={"press": "yes"}, headers=headers)
        assert answer.status_code == 403
        assert templari.row().turn == 1
        return answer.headers.get("Refresh")

    host = HOST.partition(":")[2]
    assert presses(f"{HOST}{path}?x=1") == f"1; url={host}{path}?x=1"
    assert presses(f"{HOST}//evil.example/") == f"1; url={host}//evil.example/"
    assert presses(f"https://evil.example{path}") is None
    for elsewhere in ("", "http://[", f"{HOST}.evil.example/", f"{HOST}/\xe9"):
        assert presses(elsewhere) is None


def test_a_browser_without_headers_is_believed(browser, links, templari):
    browser.says = {}
    page = browser.open(link(links, templari, first(templari), "bid 5"))
    assert page.form("Bid 5").press().heading == "You chose “bid 5”"


def test_a_form_from_another_site_does_nothing(browser, links, templari):
    page = browser.open(link(links, templari, first(templari), "bid 5"))
    for origin in ("https://evil.example", "https://[", "nonsense"):
        browser.says = {"Origin": origin}
        assert page.form("Bid 5").press().status == 403
    assert templari.row().turn == 1


def test_the_link_of_one_choice_neither_opens_nor_names_a_seat(browser, links, templari):
    move, seat = links.of(templari, 0)
    page = browser.open(f"/m/{move}/pass")
    assert seat not in page.source
    assert browser.open(f"/s/{move}").status == 404
    assert browser.open(f"/m/{seat}/pass").status == 404


def test_the_organiser_can_be_contacted_from_the_page_of_a_link(browser, links, templari, server):

    page = browser.open(f"/m/{links.of(templari, 1)[0]}/pass")
    page.form("Send message").press(text="Is this right?")
    assert calls_of(server)[0].game_id == templari.id
