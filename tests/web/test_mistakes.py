"""Forms: all mistakes at once, each beside its field, with what was typed still there; and words for everything that was done."""

import re

import pytest

from pbem.paths import templates
from pbem.service.desk.acts.seats import Offer
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from pbem.web import confirmations
from tests.service.actors import moderate
from tests.service.database import all_rows
from tests.web.desk_pages import at_the_desk, signed_in

LONG = "x" * 200


def test_a_new_table_says_everything_that_is_wrong_beside_its_field(browser, server):
    form = browser.open("/new/templari").form("Open table")
    before = all_rows(server.store)
    typed = {"address": "ann at home", "name": "you", "invited": "ben, cleo@", "title": LONG, "other_pace": "soon"}
    page = form.press(**typed)
    assert page.status == 400
    assert set(page.mistakes()) == set(typed)
    assert "“ann at home” isn't an email address." in page.mistakes()["address"]
    assert "“ben”" in page.mistakes()["invited"]
    assert "“cleo@”" in page.mistakes()["invited"]
    for text in typed.values():
        assert text in page.source
    assert {f"#at-{name}" for name in ("address", "name", "invited", "title", "pace")} <= set(page.hrefs())
    assert all_rows(server.store) == before


def test_an_option_out_of_range_is_said_beside_it(browser):
    form = browser.open("/new/bid").form("Open table")
    (option, *_) = form.numbers
    page = form.press(address="ann@example.org", name="", **{option: form.numbers[option][1] + 1})
    assert set(page.mistakes()) == {option, "name"}


def test_joining_says_everything_that_is_wrong(browser, server, person):
    key = server.run(joining.create_table, person("Hal"), TableSettings("bid", 3)).key
    form = browser.open(f"/t/{key}").form("Join")
    page = form.press(address="ann@", name="", word=LONG)
    assert set(page.mistakes()) == {"address", "name", "word"}
    assert LONG in page.source


@pytest.fixture
def ann(browser, server, person):
    """Ann's browser."""
    return signed_in(browser, server, Holder(person_id=person("Ann")))


def test_settings_say_everything_that_is_wrong_and_keep_what_was_typed(ann):
    page = ann.open("/my/settings").form("Save settings").press(name="", zone="Moon", quiet="late", cadence="often")
    assert set(page.mistakes()) == {"name", "zone", "quiet", "cadence"}
    assert [text for text in ("Moon", "late", "often") if f'value="{text}"' not in page.source] == []


def test_the_time_of_emails_is_wrong_beside_its_own_field(ann):
    form = ann.open("/my/mails").form("Save timing")
    page = form.press(delivery="daily", digest_at="25:99")
    assert (set(page.mistakes()), 'value="25:99"' in page.source) == ({"digest_at"}, True)
    page = form.press(delivery="after", minutes="900")
    assert (set(page.mistakes()), 'value="900"' in page.source) == ({"minutes"}, True)


def test_the_name_for_a_free_seat_is_wrong_beside_it_and_still_there(browser, server, table, links, person):
    game = table("bid", 3, successor="substitute")
    moderate(server, Offer(game.id, 1))
    page = browser.open(f"/c/{links.made(Purpose.CONFIRM, person('Zoe'), game.id)}")
    page = page.form("Take seat 2").press(name=LONG)
    assert set(page.mistakes()) == {"name"}
    assert f'value="{LONG}"' in page.source


def test_a_vacation_says_which_day_is_wrong(ann):
    page = ann.open("/my/settings").form("Book").press(first="2026-02-30", last="soon")
    assert set(page.mistakes()) == {"first", "last"}


def test_a_message_to_the_organiser_says_everything_that_is_wrong(browser):
    form = browser.open("/call").form("Send message")
    assert set(form.press(address="nowhere", text="").mistakes()) == {"address", "text"}


def test_one_mistake_is_said_in_full_and_beside_its_field(browser):
    form = browser.open("/mine").form("Send links")
    page = form.press(address="nowhere")
    assert page.text.count("“nowhere” isn't an email address.") == 2
    assert set(page.mistakes()) == {"address"}


def test_the_desk_says_everything_that_is_wrong(browser, server):
    desk = at_the_desk(browser, server)
    page = desk.open("/desk/outage").form("Preview…").press(start="noon", end="night", reason="")
    assert set(page.mistakes()) == {"start", "end", "reason"}
    page = desk.open("/desk/all/extend").form("Preview").press(text="a while", reason="")
    assert set(page.mistakes()) == {"text", "reason"}


def used_confirmations():
    sources = (templates().parent / "pbem" / "web").rglob("*.py")
    return {
        done
        for source in sources
        for either in re.findall(r'\bdone(?:: str)?(?:=| = )"([^"]+)"(?: if \w+ else "([^"]+)")?', source.read_text())
        for done in either
        if done and "." not in done
    }


def test_every_confirmation_is_used():
    found = used_confirmations() | {"muted", "unmuted"}
    assert found == set(confirmations.SENTENCES)


def test_a_page_says_what_was_done_once_and_only_in_our_words(ann):
    page = ann.open("/my/settings").form("Save settings").press(name="Anna")
    assert "Settings saved." in page.text
    assert "Settings saved." not in ann.open("/my/settings").text
    assert ann.open("/my/settings?done=you+won").text == ann.open("/my/settings").text
    page = ann.open("/my/settings").form("Save settings").press(zone="Moon")
    assert "Settings saved." not in page.text


def test_agreeing_to_end_a_game_and_playing_on_are_confirmed(browser, links, table):
    game = table("bid", 3)
    seat = browser.open(f"/s/{links.of(game, 0)[1]}")
    agreed = seat.form("Propose ending").press()
    assert "You've agreed to end the game without a result." in agreed.text
    assert "You'd like to play on." in agreed.form("Play on").press().text


def test_no_page_tells_a_reader_what_another_has_done(browser, server, links, table):
    game = table("templari")
    paths = [f"/t/{game.row().key}/replay", f"/t/{game.row().key}/replay/1", f"/s/{links.of(game, 0)[1]}"]
    for path in paths:
        assert "Passphrase changed." in browser.open(f"{path}?done=passphrase").text
        assert "Passphrase changed." not in browser.open(path).text
        assert "Passphrase changed." in browser.open(f"{path}?done=passphrase").text


def test_booking_and_cancelling_a_vacation_are_said(ann):
    page = ann.open("/my/settings").form("Book").press(first="2026-12-20", last="2026-12-27")
    assert "Vacation booked." in page.text
    assert "Vacation cancelled." in page.form("Cancel vacation").press().text
