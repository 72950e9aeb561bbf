"""Days off and working hours, on the pages where they're set and where they count."""

import pytest
from sqlalchemy import select

from pbem.service.account import my_page
from pbem.service.people import addresses
from pbem.store.schema import GAME
from pbem.tokens import Purpose
from tests.service.database import all_rows

FIELDS = ("days_off", "workdays", "hours")


@pytest.fixture
def ann(person):
    return person("Ann")


def test_time_off_is_saved_and_told_in_words(sign_in, ann, server):
    form = sign_in(ann).follow("Settings").form("Save time off")
    page = form.press(days_off=["Sat", "Sun"], workdays=["Mon", "Tue", "Wed"], hours="9:00 - 17:00")
    assert "Time off saved." in page.text
    assert "Now: Sat, Sun; Mon to Wed from 09:00 to 17:00 (72 hours a week)." in page.text
    assert server.read(addresses.read, ann).week == "Sat,Sun|Mon,Tue,Wed 09:00-17:00"
    again = page.form("Save time off").press()
    assert "Mon to Wed from 09:00 to 17:00" in again.text, "the form holds what was saved"
    empty = again.form("Save time off").press(days_off=[], workdays=[], hours="")
    assert "Now:" not in empty.text
    assert server.read(addresses.read, ann).week is None


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"days_off": ["Mon", "Tue", "Wed", "Thu"]}, {"days_off"}),
        ({"days_off": ["Someday"], "workdays": ["Never"], "hours": "by day"}, {"days_off", "workdays", "hours"}),
        ({"workdays": ["Fri"]}, {"hours"}),
    ],
)
def test_mistakes_in_time_off_are_told_beside_their_fields(sign_in, ann, server, typed, wrong):
    form = sign_in(ann).follow("Settings").form("Save time off")
    before = all_rows(server.store)
    page = form.press(**typed)
    assert page.status == 400
    assert {name for name in FIELDS if f'id="wrong-{name}"' in page.source} == wrong
    assert all_rows(server.store) == before
    for name in wrong & {"hours"} & set(typed):
        assert f'value="{typed[name]}"' in page.source


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        ("0", "Your time off doesn't count at this table."),
        ("48", "Your days off count (Sat, Sun). Your working hours don't"),
        ("108", "your clocks stop on Sat, Sun; Mon from 09:00 to 17:00."),
        ("", "Your days off count (Sat, Sun). Your working hours don't"),
    ],
)
def test_people_see_before_they_join_what_counts_of_their_week(browser, server, ann, person, links, bound, says):
    form = browser.open("/new/templari").form("Open table")
    form.press(address="ben@example.org", name="Ben", seats=3, bots=0, time_off=bound)
    with server.store.read() as tx:
        ((game_id, key),) = tx.execute(select(GAME.c.id, GAME.c.key))
    browser.open(f"/c/{links.made(Purpose.CONFIRM, person('Ben'), game_id)}").form("Open table").press(sure="yes")
    server.run(my_page.change_week, ann, ("Sat", "Sun"), ("Mon",), "09:00-17:00")
    of_anyone = browser.open(f"/t/{key}")
    assert ("days off and working hours stop a player's clock" in of_anyone.text) == (bound != "0")
    assert says in browser.open(f"/c/{links.made(Purpose.CONFIRM, ann, game_id)}").text


def test_a_seat_says_what_counts_in_its_turn(browser, server, table, links):
    game = table("sun-bid", 2, pace="1d")
    (seat,) = game.asked()
    other = game.person_at(1 - seat)
    server.run(my_page.change_week, other, ("Sat", "Sun"), ("Mon",), "09:00-17:00")
    game.play(seat, game.asked()[seat].default)
    server.run(my_page.change_week, other, (), (), "")
    page = browser.open(f"/s/{links.of(game, 1 - seat)[1]}")
    assert "Your days off count (Sat, Sun)." in page.text
