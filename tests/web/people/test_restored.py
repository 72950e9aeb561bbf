"""One's own pages after a restore: a button that was there before does nothing to the row that has its number now."""

import pytest

from pbem.service.account import channels
from pbem.service.clocks import vacations
from pbem.service.people import addresses, sessions
from pbem.service.tables import groups, talk
from pbem.store import blocks, friends
from pbem.store.schema import BlockRow, FriendRow
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.service.clock import HOUR
from tests.service.database import all_rows, queued_emails
from tests.service.inbox import Inbox

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def does_nothing(server):
    def press(form, **typed):
        before = all_rows(server.store)
        assert "Open the page again" in form.press(**typed).text
        assert all_rows(server.store) == before

    return press


def join(server, host, key, name):
    server.run(groups.invite, host, key, (f"{name.lower()}@example.org",))
    member = server.run(addresses.find_or_add, f"{name.lower()}@example.org").id
    server.run(groups.accept, server.run(groups.of_person, host)[0].id, member, name)
    return member


@pytest.mark.parametrize("button", ["Make organiser Ben", "Remove Ben"])
def test_a_group_is_not_handed_to_a_member_who_has_the_number_of_another(
    browser, sign_in, person, server, backup, clock, does_nothing, button
):
    ann = person("Ann")
    key = server.run(groups.create, ann, "Friday club")
    sign_in(ann)
    restore = backup()
    ben = join(server, ann, key, "Ben")
    form = browser.open(f"/groups/{key}").form(button)
    restore()
    clock.advance(HOUR)
    assert join(server, ann, key, "Cleo") == ben
    does_nothing(form)


@pytest.mark.parametrize("button", ["Unmute", "Remove friend"])
def test_nobody_is_dropped_from_a_list_who_has_the_number_of_another(
    browser, sign_in, person, server, backup, clock, does_nothing, button
):
    ann = person("Ann")
    sign_in(ann)

    def put(name):
        other = server.run(addresses.find_or_add, f"{name.lower()}@example.org").id
        if button == "Unmute":
            server.store.write(lambda tx: blocks.add(tx, BlockRow(ann, other, name, server.now())))
        else:
            server.store.write(lambda tx: friends.add(tx, FriendRow(ann, other, name, server.now())))
        return other

    restore = backup()
    number = put("Ben")
    form = browser.open("/my/account").form(button)
    restore()
    clock.advance(HOUR)
    assert put("Cleo") == number
    does_nothing(form)


def test_no_vacation_is_cancelled_that_has_the_number_of_another(
    browser, sign_in, person, server, backup, does_nothing
):
    ann = person("Ann")
    sign_in(ann)
    restore = backup()
    server.run(vacations.book_text, ann, "2026-12-20 to 2026-12-27")
    form = browser.open("/my/settings").form("Cancel vacation")
    restore()
    server.run(vacations.book_text, ann, "2026-12-28 to 2026-12-29")
    does_nothing(form)


def test_a_channel_stays_that_has_the_number_of_another(browser, sign_in, person, server, backup, clock, does_nothing):
    ann = person("Ann")
    sign_in(ann)

    def put(topic):
        return server.run(channels.enter, ann, "ntfy", f"https://ntfy.sh/{topic}", "")

    restore = backup()
    put("old")
    form = browser.open("/my/channels").form("Remove")
    restore()
    clock.advance(HOUR)
    put("new")
    does_nothing(form)


@pytest.mark.parametrize(
    ("button", "clicked"), [("I wrote this", True), ("I wrote this", False), ("This wasn't me", True)]
)
def test_no_reply_is_confirmed_or_dropped_that_has_the_number_of_another(
    browser, server, table, backup, clock, does_nothing, button, clicked
):
    inbox, game = Inbox(server, clock), table("sunset-poker", 3)
    inbox.replies(game, 0, "talk first", Authentication_Results=None)
    (asking,) = queued_emails(server, game.person_at(0), "was_it_you")
    token = inbox.token(Purpose.WRITTEN, person_id=asking.person_id, outbox_id=asking.id)
    restore = backup()
    number = inbox.replies(game, 0, "talk second", Authentication_Results=None).id
    form = browser.open(f"/w/{token}").form(button, -1)
    if not clicked:
        del browser.says["Sec-Fetch-User"]
        form = form.press().form(button)
    restore()
    clock.advance(HOUR)
    assert inbox.replies(game, 0, "talk forged", Authentication_Results=None).id == number
    does_nothing(form)


def test_no_browser_is_signed_out_that_has_the_number_of_another(
    browser, sign_in, person, server, backup, clock, does_nothing
):
    ann = person("Ann")
    sign_in(ann)

    def put(label):
        server.run(sessions.start, Holder(person_id=ann), label)

    restore = backup()
    put("A stranger's")
    form = browser.open("/my/account").form("Sign out")
    restore()
    clock.advance(HOUR)
    put("My phone")
    does_nothing(form)


def test_no_email_is_sent_again_that_has_the_number_of_another(
    browser, sign_in, table, server, backup, clock, carry, does_nothing
):
    sign_in(table().person_at(0))
    carry()
    restore = backup()

    def put():
        table()
        carry()

    put()
    form = browser.open("/my/mails").form("Resend")
    restore()
    clock.advance(HOUR)
    put()
    does_nothing(form)


def test_no_channel_is_entered_for_a_table_that_has_the_number_of_another(
    browser, sign_in, table, server, backup, clock, does_nothing
):
    sign_in(table().person_at(0))
    restore = backup()
    number = table().id
    form = browser.open("/my/channels").form("Add channel")
    restore()
    clock.advance(HOUR)
    assert table().id == number
    does_nothing(form, kind="ntfy", address="https://ntfy.sh/table", game=form.picks["game"][-1])


def test_no_message_is_reported_that_has_the_number_of_another(
    browser, links, table, server, backup, clock, does_nothing
):
    game = table()
    token = links.of(game, 0)[1]
    restore = backup()
    server.run(talk.say_by_link, links.of(game, 1)[1], "Cheat!")
    form = browser.open(f"/s/{token}/talk").form("Report message 1")
    restore()
    clock.advance(HOUR)
    server.run(talk.say_by_link, links.of(game, 1)[1], "Good evening.")
    does_nothing(form)


def test_a_button_pressed_twice_is_pressed_once(browser, sign_in, person, server):
    ann = person("Ann")
    sign_in(ann)
    ben = person("Ben")
    server.store.write(lambda tx: friends.add(tx, FriendRow(ann, ben, "Ben", server.now())))
    form = browser.open("/my/account").form("Remove friend")
    assert [form.press().status for _press in range(2)] == [200, 200]
