"""The unsubscribe link: one click in an email program, for one table or for all, and the choices on its page."""

import re

import pytest

from pbem.domain.topics import Topic
from pbem.service.clocks import reachability
from pbem.service.outgoing import preferences as outgoing_preferences, unsubscribe
from pbem.service.people import addresses
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import preferences
from pbem.tokens import Purpose
from tests.service.database import all_rows, queued_emails

ONE_CLICK = {"List-Unsubscribe": "One-Click"}


@pytest.fixture
def ann(table, links, carry, person):
    """Ann, who plays at two tables and has had emails about both, with the address of her link."""
    first, second = table("templari", 3), table("sunset-poker", 3)
    carry()
    return Reader(person("Ann"), f"/u/{links.made(Purpose.STOP, person('Ann'))}", first.row().key, second.row().key)


class Reader:
    """The holder of an unsubscribe link."""

    def __init__(self, number, all_of_them, first, second):
        self.number = number
        self.all = all_of_them
        self.first = f"{all_of_them}/{first}"
        self.second = f"{all_of_them}/{second}"
        self.keys = (first, second)

    def preferences(self, server):
        """Her preferences: for all tables, and for each."""
        found = (
            server.read(outgoing_preferences.read, self.number),
            *(server.read(outgoing_preferences.read, self.number, key) for key in self.keys),
        )
        return tuple(str(each.delivery) for each in found)


def one_click(browser, address, **headers):
    """Send what an email program sends for one click."""
    return browser.client.post(address, data=ONE_CLICK, headers=headers, base_url="http://localhost:8000")


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_one_click_for_a_table_stops_the_emails_of_that_table_alone(browser, server, ann, kind):
    answer = browser.client.post(ann.first, data=ONE_CLICK, content_type=kind, base_url="http://localhost:8000")
    assert answer.status_code == 200
    assert ann.preferences(server) == ("at once", "nothing", "at once")


def test_one_click_for_all_stops_all_emails_even_of_tables_with_their_own_setting(browser, server, ann):
    token = ann.all.rpartition("/")[2]
    unsubscribe.choose(server, token, "daily", key=ann.keys[0])
    assert one_click(browser, ann.all).status_code == 200
    assert ann.preferences(server) == ("nothing", "nothing", "nothing")


def test_one_click_needs_no_cookie_and_no_origin(browser, server, ann):
    assert (
        one_click(browser, ann.all, Origin="https://mail.example", Referer="https://mail.example/").status_code == 200
    )
    assert ann.preferences(server)[0] == "nothing"
    assert one_click(browser, ann.all).status_code == 200, "again changes nothing"


def test_opening_the_page_stops_nothing(browser, server, ann):
    before = all_rows(server.store)
    for address in (ann.all, ann.first):
        assert browser.open(address).status == 200
        assert browser.client.head(address, base_url="http://localhost:8000").status_code == 200
        assert browser.client.options(address, base_url="http://localhost:8000").status_code == 200
    assert all_rows(server.store) == before


def test_a_scanner_that_presses_the_button_is_asked_to_confirm(browser, server, ann):
    headers = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "same-origin"}
    data = {"delivery": "daily", "digest_at": "07:30"}
    answer = browser.client.post(ann.first, data=data, headers=headers, base_url="http://localhost:8000")
    assert "Save your email settings?" in answer.get_data(as_text=True)
    assert ann.preferences(server) == ("at once", "at once", "at once")
    again = browser.client.post(
        ann.first, data=data | {"sure": "yes"}, headers=headers, base_url="http://localhost:8000"
    )
    assert again.status_code == 303
    assert ann.preferences(server) == ("at once", "daily", "at once")


def test_the_seat_stays_and_the_page_explains_the_clock(browser, server, ann, table):
    players = all_rows(server.store)["player"]
    one_click(browser, ann.all)
    page = browser.open(ann.all)
    assert page.heading == "Your emails are off"
    assert "Your clock starts at the same time, even if we email you later or not at all" in page.text
    assert all_rows(server.store)["player"] == players
    for offered in ("once a day", "reminders and results", "vacation", "leave a table"):
        assert offered in page.text


@pytest.mark.parametrize(
    ("filled", "preference"),
    [
        ({"delivery": "after", "minutes": 45}, "after 45m"),
        ({"delivery": "daily", "digest_at": "21:15"}, "daily"),
        ({"delivery": "reminders"}, "reminders"),
        ({"delivery": "results"}, "results"),
        ({"delivery": "at once"}, "at once"),
    ],
)
def test_every_delivery_can_be_chosen_for_one_table_or_for_all(browser, server, ann, filled, preference):
    one_click(browser, ann.all)
    browser.open(ann.second).form("Save timing").press(**filled)
    assert ann.preferences(server) == ("nothing", "nothing", preference)
    browser.open(ann.all).form("Save timing").press(**filled)
    assert ann.preferences(server) == (preference, preference, preference)
    if preference == "after 45m":
        assert "We send them 45 minutes later" in browser.open(ann.all).text
    if preference == "daily":
        assert server.read(addresses.read, ann.number).digest_at == "21:15"


def test_a_table_can_return_to_the_setting_for_all(browser, server, ann):
    browser.open(ann.first).form("Save timing").press(delivery="results")
    browser.open(ann.first).form("Save timing").press(delivery="as for all")
    assert ann.preferences(server) == ("at once", "at once", "at once")
    with server.store.read() as tx:
        assert preferences.of_tables(tx, ann.number) == {}


def test_kinds_of_emails_can_be_switched_here_and_on_ones_own_page(browser, server, ann, sign_in):
    page = browser.open(ann.all).form("Save choices").press(turns="yes", talk="yes")
    assert "Email settings saved." in page.text
    assert server.read(addresses.read, ann.number).topics == "turns talk"
    own = sign_in(ann.number).follow("Emails")
    for shown in (page, own):
        ticked = re.findall('name="([a-z]+)" value="yes" checked', shown.source)
        assert [name for name in ticked if name in tuple(Topic)] == ["turns", "talk"]
    own.form("Save choices").press(results="yes")
    assert server.read(addresses.read, ann.number).topics == "results"


def test_reminders_and_quiet_hours_can_be_chosen_too(browser, server, ann):
    page = browser.open(ann.all).form("Save settings").press(cadence="50%", quiet="22:00-07:00", sealed="yes")
    person = server.read(addresses.read, ann.number)
    assert (person.cadence, person.quiet, person.sealed) == ("50%", "22:00-07:00", True)
    assert page.form("Save settings").press(quiet="for ever").status == 400
    assert server.read(addresses.read, ann.number).quiet == "22:00-07:00"


def test_refused_settings_are_still_in_the_form(browser, ann):
    form = browser.open(ann.all).form("Save settings")
    refused = form.press(cadence="often", quiet="21:00-06:00", sealed="yes")
    sent = dict(refused.form("Save settings").fixed)
    assert (sent["cadence"], sent["quiet"]) == ("often", "21:00-06:00")
    assert 'name="sealed" value="yes" checked' in refused.source


@pytest.mark.parametrize("page", ["all", "first", "own"])
def test_a_refused_delivery_is_still_in_the_form(browser, ann, sign_in, page):
    shown = sign_in(ann.number).follow("Emails") if page == "own" else browser.open(getattr(ann, page))
    refused = shown.form("Save timing").press(delivery="after", minutes="9999", digest_at="21:15")
    assert refused.status == 400
    assert 'value="after" required checked' in refused.source
    assert 'inputmode="numeric" value="9999"' in refused.source
    assert 'name="minutes" id="at-minutes" aria-invalid="true" aria-describedby="wrong-minutes"' in refused.source
    assert 'name="digest_at" id="at-digest_at" value="21:15"' in refused.source


@pytest.mark.parametrize(
    "given",
    [{"delivery": "weekly"}, {"delivery": "after", "minutes": "-1"}, {"delivery": "daily", "digest_at": "25:00"}],
)
def test_impossible_settings_are_refused_with_a_reason_and_change_nothing(browser, server, ann, given):
    answer = browser.client.post(ann.first, data=given, base_url="http://localhost:8000")
    assert answer.status_code == 400
    assert ann.preferences(server) == ("at once", "at once", "at once")


def test_the_link_shows_only_tables_its_reader_was_emailed_about(browser, server, ann, person):
    foreign = server.run(joining.create_table, person("Zoe"), TableSettings("bid", 3, title="Theirs", private=True)).key
    for key in ("nonsense", foreign):
        assert browser.open(f"{ann.all}/{key}").status == 404
        assert one_click(browser, f"{ann.all}/{key}").status_code == 404


def test_the_link_of_one_tables_email_names_no_other_table(browser, server, ann):
    browser.open(ann.second).form("Save timing").press(delivery="results")
    page = browser.open(ann.all)
    assert "One table has its own setting." in page.text
    title = server.read(outgoing_preferences.read, ann.number, ann.keys[1]).title
    assert title
    assert title not in page.text


def test_links_to_everything_else_are_emailed_to_the_address(browser, server, ann):
    browser.open(ann.all).form("Email my links").press()
    assert [email.kind for email in queued_emails(server, ann.number)][-1] == "links"


def test_the_header_of_a_real_email_stops_the_emails_of_its_table(browser, server, ann):
    page = browser.open("/mailbox?to=ann@example.org")
    emails = (browser.open(f"{href}/source").source for href in page.hrefs() if re.fullmatch(r"/mailbox/\d+-\w+", href))
    source = next(email for email in emails if f"<{ann.keys[0]}.games." in email)
    address = "".join(re.search(r"List-Unsubscribe:\s*<([^>]+)>", source)[1].split()).removeprefix(
        "http://localhost:8000"
    )
    assert address == ann.first
    assert one_click(browser, address).status_code == 200
    assert ann.preferences(server) == ("at once", "nothing", "at once")


def test_the_page_of_a_seat_says_that_emails_do_not_arrive(browser, table, server, links):
    game = table("templari", 3)
    page = f"/s/{links.of(game, 0)[1]}"
    assert "can't reach you" not in browser.open(page).text
    server.run(reachability.note_refusal, game.person_at(0), "550 5.1.1 no such user")
    shown = browser.open(page)
    assert "We can't reach you by email." in shown.text
    assert shown.follow("get new links").url == "/mine"
