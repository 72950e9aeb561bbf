"""Opening and joining tables: from an address in a form, by emails and their links, to a game that has begun."""

import re
from datetime import timedelta

import pytest

from pbem.service.absence import offers, substitutes
from pbem.service.desk.acts.seats import Offer
from pbem.service.people import addresses
from pbem.service.tables import leaving, listing
from pbem.tokens import TOKEN_LENGTH, Purpose
from tests.service.actors import calls_of, moderate
from tests.service.clock import MINUTE
from tests.service.database import count_calls
from tests.web.browser import HOST
from tests.web.seat.test_move import emails


def open_in_mail(browser, address, start):
    """Open the link that begins like this in the newest email to an address."""
    email = next(emails(browser, address))
    return browser.open(next(href for href in email.links().values() if href.startswith(start)))


def open_table(browser, carry, kind="templari", **filled):
    """Start a table as Ann would: form, email, link, button."""
    form = browser.open("/").follow("Start a table of Templari" if kind == "templari" else kind).form("Open table")
    sent = form.press(**({"address": "ann@example.org", "name": "Ann", "bots": "0"} | filled))
    assert sent.heading == "Check your email"
    carry()
    return open_in_mail(browser, "ann@example.org", "/c/").form("Open table").press()


def join(browser, carry, title, name):
    """Join a table as a player would: form, email, link, button."""
    address = f"{name.lower()}@example.org"
    browser.open("/").follow(title).form("Join").press(address=address, name=name, word=f"{name}'s word")
    carry()
    return open_in_mail(browser, address, "/c/").form("Take seat").press()


def test_a_table_can_be_opened_and_joined_and_begins(browser, carry, server):
    page = open_table(browser, carry, title="Friday evening", pace="3d")
    assert "You have a seat, under the name Ann" in page.text
    for name in ("Ben", "Cleo"):
        page = join(browser, carry, "Friday evening", name)
    assert page.url.startswith("/s/")
    carry()
    for name in ("ann", "ben", "cleo"):
        seat = open_in_mail(browser, f"{name}@example.org", "/s/")
        assert "Friday evening" in seat.text
    front = browser.open("/").text
    assert "No open tables right now." in front
    assert "Watch Friday evening" in front


def test_a_table_with_bots_begins_once_its_host_has_confirmed(browser, carry):
    page = open_table(browser, carry, bots="2", bot="random")
    assert page.url.startswith("/s/")


def test_the_fourth_click_from_the_front_page_is_the_first_move_against_bots_with_one_email(browser, carry):
    clicks = [browser.open("/").form("Templari").press(address="ann@example.org", name="Ann")]
    carry()
    clicks.append(open_in_mail(browser, "ann@example.org", "/c/"))
    clicks.append(clicks[-1].form("Open table").press())
    clicks.append(clicks[-1].act("Pass").press())
    assert (len(clicks), "Pass: done." in clicks[-1].text) == (4, True)


def test_bots_take_the_seats_that_nobody_is_invited_to(browser, carry, server):
    open_table(browser, carry, seats="4", bots="rest", invited="ben@example.org")
    assert server.read(listing.open_tables)[0].bots == 2


def test_the_link_of_an_email_about_joining_leads_to_the_table_once_the_game_has_begun(browser, carry):
    open_table(browser, carry, bots="2")
    page = open_in_mail(browser, "ann@example.org", "/c/")
    assert page.form("Go to table").press().url.startswith("/s/")


def test_paces_are_listed_from_fast_to_slow(browser):
    assert browser.open("/new/templari").form("Open table").picks["pace"] == ["12h", "1d", "2d", "3d", "7d"]


def test_the_page_that_asks_for_a_word_shows_the_commitment(browser, carry, server):
    open_table(browser, carry, title="Open")
    table = server.read(listing.open_tables)[0]
    page = browser.open(f"/t/{table.key}")
    assert table.commitment in page.text
    assert "word" in page.form("Join").texts
    page.form("Join").press(address="ben@example.org", name="Ben")
    carry()
    step = open_in_mail(browser, "ben@example.org", "/c/")
    assert table.commitment in step.text
    assert "word" in step.form("Take seat").texts


def test_only_the_link_in_the_email_takes_a_seat(browser, carry, server):
    open_table(browser, carry, title="Open")
    browser.open("/").follow("Open").form("Join").press(address="ben@example.org", name="Ben")
    carry()
    assert server.read(listing.open_tables)[0].players == ("Ann",)
    open_in_mail(browser, "ben@example.org", "/c/")
    assert server.read(listing.open_tables)[0].players == ("Ann",)


def test_only_the_link_to_the_host_announces_a_table(browser, carry):
    form = browser.open("/new/templari").form("Open table")
    form.press(address="ann@example.org", name="Ann", title="Nobody asked for this")
    carry()
    assert "Nobody asked" not in browser.open("/").text


def test_a_declined_invitation_can_still_be_accepted(browser, carry, server):
    open_table(browser, carry, private="yes", invited="ben@example.org")
    carry()
    page = open_in_mail(browser, "ben@example.org", "/c/").form("Decline").press()
    assert "You declined," in page.text
    page = page.form("Take seat").press(name="Ben")
    assert "You have a seat, under the name Ben" in page.text


def test_a_private_table_is_in_no_list_and_has_no_public_page(browser, carry, server):
    page = open_table(browser, carry, private="yes", title="Just us")
    assert "Just us" in page.text
    assert "Just us" not in browser.open("/").text
    assert browser.open(f"/t/{server.read(listing.by_id, 1).key}").status == 404


def test_a_host_can_invite_more_people_from_the_page_of_the_table(browser, carry, server):
    page = open_table(browser, carry)
    page.form("Send invitations").press(invited="ben@example.org\ncleo@example.org")
    carry()
    assert open_in_mail(browser, "cleo@example.org", "/c/").form("Take seat")


def test_only_the_host_sees_how_many_invitations_are_open(browser, carry):
    page = open_table(browser, carry, invited="ben@example.org\ncleo@example.org")
    assert "2 people invited by email haven't answered yet." in page.text
    carry()
    open_in_mail(browser, "ben@example.org", "/c/").form("Decline").press()
    assert "One person invited by email hasn't answered yet." in browser.open(page.url).text
    assert "email hasn't answered" not in open_in_mail(browser, "cleo@example.org", "/c/").text


def test_a_table_says_when_it_starts_and_with_how_many(browser, carry):
    page = open_table(browser, carry, seats="5", bots="0", fewest="3", starts_at="2026-12-04T20:00", title="Friday")
    assert "Fri 4 Dec 2026, 20:00 UTC" in page.text
    assert "if at least 3 players are there" in page.text
    assert "starts Fri 4 Dec" in browser.open("/").text
    carry()
    assert "The game starts on Fri 4 Dec" in next(emails(browser, "ann@example.org")).text


def test_conditions_are_shown_before_joining_and_a_refusal_tells_what_is_missing(browser, carry):
    page = open_table(browser, carry, seats="5", in_time="90", finished="3", invited="cleo@example.org", title="Strict")
    asked = "at least 90% of turns on time, at least 3 games finished in the last year"
    assert f"people with {asked}; newcomers aren't asked" in page.text
    assert f"asks for {asked}" in browser.open("/").text
    page = join(browser, carry, "Strict", "Ben")
    assert page.status == 403
    assert "This table asks for 3 games finished in the last year; you have 0." in page.text
    invitation = next(emails(browser, "cleo@example.org")).text
    assert "to join. You don't, because you're invited." in " ".join(invitation.split())
    refused = (
        browser.open("/new/templari")
        .form("Open table")
        .press(address="ann@example.org", name="Ann", private="yes", finished="21", lowest="1600", highest="1500")
    )
    assert list(refused.mistakes()) == ["private", "finished", "highest"]


@pytest.mark.parametrize("typed", ["soon", "2026-13-04T20:00", "9999-12-31T23:59", "2020-01-01T00:00"])
def test_a_start_that_cannot_be_is_refused_beside_its_field(browser, typed):
    form = browser.open("/new/templari").form("Open table")
    page = form.press(address="ann@example.org", name="Ann", starts_at=typed)
    assert page.status == 400
    assert list(page.mistakes()) == ["starts_at"]


def test_a_table_that_waits_for_its_host_names_no_host_and_no_free_seat(browser, carry):
    form = browser.open("/new/templari").form("Open table")
    form.press(address="ann@example.org", name="Ann", bots="1")
    carry()
    planned = open_in_mail(browser, "ann@example.org", "/c/")
    assert "Host" not in planned.text
    assert "seats free" not in planned.text
    assert "1 of 3 seats free" in planned.form("Open table").press().text


def test_a_player_can_leave_and_a_host_can_close(browser, carry, server):
    host = open_table(browser, carry, title="Open")
    guest = join(browser, carry, "Open", "Ben")
    guest.form("Leave table").press()
    assert server.read(listing.open_tables)[0].players == ("Ann",)
    closed = browser.open(host.url).form("Close table").press()
    assert "This table is closed." in closed.text
    assert server.read(listing.open_tables) == []


def test_using_the_link_again_changes_nothing(browser, carry, server):
    open_table(browser, carry, title="Open")
    form_page = None
    browser.open("/").follow("Open").form("Join").press(address="ben@example.org", name="Ben")
    carry()
    form_page = open_in_mail(browser, "ben@example.org", "/c/")
    for _ in range(2):
        form_page.form("Take seat").press()
    assert server.read(listing.open_tables)[0].players == ("Ann", "Ben")


def test_sending_my_games_answers_the_same_and_does_the_same_for_every_address(browser, carry, table, server):
    table("templari", 3)
    form = browser.open("/mine").form("Send links")
    form.press(address="first@example.org")
    with count_calls(server.store) as for_known:
        known = form.press(address="ann@example.org")
    with count_calls(server.store) as for_unknown:
        unknown = form.press(address="nobody@example.org")
    assert for_known == for_unknown
    assert (known.source, known.url, known.status) == (unknown.source, unknown.url, unknown.status)
    carry()
    assert next(emails(browser, "ann@example.org")).heading.endswith("your games")
    assert not list(emails(browser, "nobody@example.org"))


def test_a_wrong_address_for_my_games_is_still_in_the_form(browser):
    refused = browser.open("/mine").form("Send links").press(address="a..b@example.org")
    assert ("address", "a..b@example.org") in refused.form("Send links").fixed


def test_nobody_gets_many_emails_with_their_games(browser, carry, table, clock):
    table("templari", 3)
    for _ in range(8):
        clock.advance(timedelta(minutes=11))
        assert browser.open("/mine").form("Send links").press(address="ann@example.org").status == 200
        carry()
    sent = [email for email in emails(browser, "ann@example.org") if email.heading.endswith("your games")]
    # One network can ask for three, which leaves two of the day's five for the others.
    assert len(sent) == 3


def test_joining_answers_the_same_for_every_address(browser, carry, server):
    open_table(browser, carry, title="Open")
    known = server.run(addresses.register, "zoe@example.org", "Zoe")
    server.run(addresses.confirm, known.id)
    form = browser.open("/").follow("Open").form("Join")
    one, two = (form.press(address=f"{name}@example.org", name="Z") for name in ("zoe", "nobody"))
    assert (one.source, one.status) == (two.source, two.status)


def test_the_organiser_can_be_contacted_from_a_public_page(browser, server):

    page = browser.open("/").follow("Contact the organiser").form("Send message")
    assert page.press(address="ann@example.org", text="I get no mail.").heading == "Message sent"
    assert calls_of(server)[0].text == "I get no mail."
    assert page.press(address="nobody", text="x").status == 400


def test_a_substitute_takes_the_seat_of_a_player_who_left(browser, carry, table, links, server, person):
    game = table("templari", 3, successor="substitute")
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    seat = next(seat for seat, player in game.players().items() if player.name == "Ben")
    page = browser.open(f"/s/{links.of(game, seat)[1]}")
    page.form("Leave table…").press().form("Leave table").press()
    carry()
    page = open_in_mail(browser, "zoe@example.org", "/c/").form(f"Take seat {seat + 1}").press()
    assert game.players()[seat].name == "Zoe"
    carry()
    assert open_in_mail(browser, "zoe@example.org", "/s/").status == 200


def test_a_seat_that_its_player_still_has_is_asked_for_until_the_turn_ends(
    browser, carry, table, links, server, person, time
):
    game = table("bid", 3, successor="substitute")
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    moderate(server, Offer(game.id, 1))
    carry()
    page = open_in_mail(browser, "zoe@example.org", "/c/")
    assert "unless Ben moves first" in page.text
    (form,) = (form for form in page.forms() if form.button == "Take seat 2")
    given = dict(form.fixed)["offer"]
    assert len(given) == TOKEN_LENGTH
    assert form.press(offer="1", name="Zoe").status == 400, (
        "offers are counted, and nobody should know how many there were"
    )
    page.form("Take seat 2").press()
    page = open_in_mail(browser, "zoe@example.org", "/c/")
    assert "You asked for seat 2" in page.text
    assert "Take seat 2" not in page.text
    late = browser.open(f"/c/{links.made(Purpose.CONFIRM, person('Yan'), game.id)}")
    assert "Someone else has asked for seat 2" in late.text
    assert "Take seat 2" not in late.text
    time.passes(MINUTE)
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    time.seats_change()
    carry()
    lost = next(emails(browser, "zoe@example.org"))
    assert "you won't get the seat" in " ".join(lost.text.split())
    assert f"{game.players()[1].name} is back." in lost.text


def test_a_request_for_a_seat_is_withdrawn_where_it_was_made(browser, table, links, server, person):
    game = table("bid", 3, successor="substitute")
    moderate(server, Offer(game.id, 1))
    page = browser.open(f"/c/{links.made(Purpose.CONFIRM, person('Zoe'), game.id)}")
    page = page.form("Take seat 2").press().form("Withdraw").press()
    assert "Request withdrawn." in page.text
    assert "You asked for seat 2" not in page.text
    # There is no button that could only refuse.
    assert "You withdrew your request for seat 2" in page.text
    assert "Take seat 2" not in page.text


def test_a_request_is_not_withdrawn_by_anyone_else(browser, table, links, server, person):
    game = table("bid", 3, successor="substitute")
    moderate(server, Offer(game.id, 1))
    (offer,) = server.read(offers.open_offers)
    server.run(substitutes.take, offer.id, person("Zoe"))
    path = f"/c/{links.made(Purpose.CONFIRM, person('Yan'), game.id)}"
    browser.post(f"{path}/withdraw", [("offer", server.keys.alias("offer", offer.id)), ("seat", "1")])
    assert "Someone else has asked for seat 2" in browser.open(path).text


def test_no_request_for_another_seat_is_withdrawn_than_the_page_showed(browser, table, links, server, person):
    game = table("bid", 3, successor="substitute")
    moderate(server, Offer(game.id, 1))
    (offer,) = server.read(offers.open_offers)
    server.run(substitutes.take, offer.id, person("Zoe"))
    path = f"/c/{links.made(Purpose.CONFIRM, person('Zoe'), game.id)}"
    # After a restore, the number of another seat's offer is given out again.
    page = browser.post(f"{path}/withdraw", [("offer", server.keys.alias("offer", offer.id)), ("seat", "2")])
    assert "no longer on offer" in page.text
    assert "You asked for seat 2" in browser.open(path).text


def test_two_free_seats_can_be_told_apart(browser, carry, table, links, person):
    game = table("templari", 4, successor="substitute")
    for name in ("Ben", "Cleo"):
        seat = next(seat for seat, player in game.players().items() if player.name == name)
        page = browser.open(f"/s/{links.of(game, seat)[1]}")
        page.form("Leave table…").press().form("Leave table").press()
    left = {
        seat: player.name for seat, player in game.players().items() if player.bot or player.name in ("Ben", "Cleo")
    }
    assert len(left) == 2
    page = browser.open(f"/c/{links.made(Purpose.CONFIRM, person('Zoe'), game.id)}")
    for seat, name in left.items():
        assert f"Seat {seat + 1}, held by {name} until now, is on offer:" in page.text
    second = max(left)
    page.form(f"Take seat {second + 1}").press()
    assert game.players()[second].name == "Zoe"
    assert game.players()[min(left)].name == left[min(left)]


@pytest.mark.parametrize("path", ["/", "/mine", "/call", "/sent", "/called", "/new/bid"])
def test_every_public_page_leads_to_the_organiser(path, browser):
    page = browser.open(path)
    assert page.status == 200
    assert "organiser" in page.text


def passed_on(page):
    """The link that the page offers a host to pass on."""
    return re.search(rf"<code>{HOST}(/\w/\w+)</code>", page.source)[1]


def test_only_the_link_from_its_host_shows_a_private_table_and_joins_it(browser, carry):
    address = passed_on(open_table(browser, carry, private="yes", title="Secret"))
    invited = browser.open(address)
    assert invited.heading == "Secret"
    invited.form("Join").press(address="ben@example.org", name="Ben")
    carry()
    joined = open_in_mail(browser, "ben@example.org", "/c/").form("Take seat").press()
    assert "You have a seat, under the name Ben" in joined.text
    assert address not in joined.source


def test_a_wrong_name_at_an_invitation_is_still_in_the_form(browser, carry):
    address = passed_on(open_table(browser, carry, private="yes", title="Secret"))
    page = browser.open(address).form("Join").press(address="ben", name="Ben")
    assert page.status == 400
    assert page.heading == "Secret"
    assert 'value="Ben"' in page.source


def test_the_host_of_a_public_table_is_given_its_page_to_pass_on(browser, carry):
    assert browser.open(passed_on(open_table(browser, carry, title="For all"))).heading == "For all"


def test_the_host_is_shown_by_the_name_used_at_the_table(browser, carry, person):
    person("Ann")
    open_table(browser, carry, name="Captain", title="For all", invited="zoe@example.org")
    carry()
    page = browser.open("/").follow("For all")
    assert "HostCaptain" in page.text
    assert "Ann" not in page.text
    invitation = next(emails(browser, "zoe@example.org"))
    assert "Captain" in invitation.text
    assert "Ann" not in invitation.text


def test_the_link_to_a_full_table_gives_no_seat(browser, carry):
    address = passed_on(open_table(browser, carry, private="yes", title="Secret"))
    for name in ("Ben", "Cleo"):
        browser.open(address).form("Join").press(address=f"{name}@example.org", name=name)
        carry()
        open_in_mail(browser, f"{name}@example.org", "/c/").form("Take seat").press()
    assert not browser.open(address).forms()


def test_the_result_leads_to_a_rematch_with_one_click(browser, carry, table, links, server):
    game = table("sunset-poker", 3, title="Friday")
    for seat in game.players():
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    _, seat = links.of(game, 0)
    page = browser.open(f"/s/{seat}").form("Rematch").press()
    assert page.heading == "Friday"
    assert "Your table is open. Take your seat below." in page.text
    assert "2 of 3 seats free, one kept for the host" in page.text
    assert "You have a seat" in page.form("Take seat").press().text
    carry()
    other = game.players()[1].name
    invitation = open_in_mail(browser, f"{other.lower()}@example.org", "/c/")
    assert f"You have a seat, under the name {other}" in invitation.form("Take seat").press().text


def test_players_of_a_waiting_table_are_shown_with_their_reliability(browser, carry):
    open_table(browser, carry, seats="4", bots="1", bot="expert", title="Friday")
    for address in ("/", browser.open("/").links()["Friday"]):
        page = browser.open(address)
        assert "Ann" in page.text
        assert "new here" in page.text
        assert "bot, Expert" in page.text
    assert "an Expert bot takes over" in page.text
