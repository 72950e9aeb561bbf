"""Groups in pages and by email: made, joined by a link and by a reply, and played in."""

from pbem.service.tables import groups
from pbem.store import groups as rows
from tests.service.database import queued_emails
from tests.service.inbox import Inbox
from tests.web.tables.test_lobby import open_in_mail


def test_a_group_is_made_joined_and_played_in(browser, carry, sign_in, person, server, clock):
    ann, ben = person("Ann"), person("Ben")
    sign_in(ann)
    page = browser.open("/groups").form("Make group").press(name="Friday club")
    address = page.url
    page.form("Send invitations").press(invited="ben@example.org, cleo@example.org\nben@example.org")
    carry()
    page = browser.open(address)
    assert "@example.org" not in page.source
    page.form("Send invitations").press(invited="dan@example.org, ann@example.org")
    assert browser.open(address).text == page.text, "nothing tells who is a member or invited already"
    carry()
    page.follow("Bid!").form("Open table").press(seats="3", bots="0").form("Take seat").press(name="Ann")

    joined = open_in_mail(browser, "cleo@example.org", "/y/").form("Join group").press(name="Cleo")
    assert joined.heading == "Welcome to the group"
    Inbox(server, clock).answers_offer(None, ben, "Yes, please.")
    (receipt,) = queued_emails(server, ben, "invitation_receipt")
    assert '"member"' in receipt.facts
    text = browser.open(address).text
    assert "Ben" in text
    assert "Cleo" in text

    sign_in(ben)
    page = browser.open(address)
    assert "Invite people" not in page.text
    taken = page.form("Go to table Bid!").press().form("Take seat").press(name="Ben")
    assert "You have a seat, under the name Ben" in taken.text
    browser.open(address).form("Leave group").press()
    assert browser.open(address).status == 404


def test_the_page_of_a_group_is_for_its_members_alone(browser, sign_in, person, server):
    key = server.run(groups.create, person("Ann"), "Friday club")
    assert "Friday club" not in browser.open(f"/groups/{key}").text
    sign_in(person("Zoe"))
    pages = [browser.open(f"/groups/{each}").source for each in (key, "0" * 32)]
    assert pages[0].replace(key, "") == pages[1].replace("0" * 32, "")
    with server.store.read() as tx:
        assert len(rows.members(tx, rows.with_members(tx, key)[0].id)) == 1
