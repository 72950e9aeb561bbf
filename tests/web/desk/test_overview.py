"""The desk's first page, its charts, people, and acts on many tables, as an organiser's browser shows them."""

from datetime import timedelta

import pytest
from lxml import html

from pbem.domain.channels import CODE
from pbem.domain.states import EmailKind
from pbem.service.clocks import reachability
from pbem.service.desk import deliverability, jobs, statistics
from pbem.service.desk.acts.people import Ban
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing.deliver import deliver
from pbem.service.play.move import Actor
from pbem.store import ledger, outbox, traffic
from tests.service import table_copies
from tests.service.actors import moderate
from tests.service.database import count_calls, holds_token, queued_emails
from tests.service.inbox import Inbox
from tests.service.outgoing.test_deliver import post_to

MOST = 20


@pytest.mark.parametrize(
    "address",
    [
        "/desk",
        "/desk?trouble=paused",
        "/desk?q=copied",
        "/desk?status=over&kind=bid",
        "/desk/activity",
        "/desk/mail",
        "/desk/people?q=pat",
        f"/desk/people/{table_copies.FIRST + 1}",
    ],
)
def test_no_page_asks_the_database_more_than_twenty_times(olga, server, table, time, address):
    game = table("bid", 3)
    time.sends()
    table_copies.copy(server, game.id, 120, rows=2)
    olga.open(address)
    with count_calls(server.store) as made:
        page = olga.open(address)
    asked = [each for each in made if not each.startswith(("BEGIN", "COMMIT"))]
    assert page.status == 200
    assert len(asked) <= MOST
    assert len(page.text) < 60_000


def test_searching_an_email_address_leads_to_its_person_and_never_puts_it_in_a_url(olga, server, person):
    ann = person("Ann")
    page = olga.open("/desk").form("Search").press(q="ANN@example.org")
    assert page.url.endswith(f"/desk/people/{ann}")
    assert "ann@example.org" in page.text
    nobody = olga.open("/desk").form("Search").press(q="nobody@example.org")
    assert "Nobody here uses this address" in nobody.text
    assert "@" not in nobody.url


def test_a_search_by_words_can_be_bookmarked(olga, table):
    table("bid", 3, title="Friday club")
    page = olga.open("/desk").form("Search").press(q="frid")
    assert page.url.endswith("/desk?q=frid")
    assert "Friday club" in page.follow("Friday club").text


def test_no_list_shows_what_players_of_a_game_hide_from_each_other(olga, server, table, time):
    """Two games that differ only in cards and in a sealed choice look the same."""
    game = table("bid", 3)
    time.sends()
    seat = next(iter(game.asked()))
    before = {
        address: olga.open(address).text for address in ("/desk?status=playing", f"/desk/people/{game.person_at(seat)}")
    }
    game.play(seat, game.asked()[seat].default)
    assert seat in game.position().box
    for address, shown in before.items():
        assert olga.open(address).text == shown
        assert not holds_token(server, shown.encode())


def test_pages_may_fetch_themselves_and_run_the_sites_script_and_nothing_else(olga):
    policy = olga.open("/desk").response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert "connect-src" not in olga.open("/desk/people").response.headers["Content-Security-Policy"]


@pytest.mark.slow
def test_the_charts_have_their_numbers_as_tables(olga, server, clock, table):
    game = table("sun-bid", 2)
    for by in (Actor.PERSON, Actor.PERSON, Actor.CLOCK):
        (seat,) = game.asked()
        clock.advance(timedelta(minutes=10))
        game.play(seat, game.asked()[seat].default, by)
    while statistics.count(server):
        pass
    page = olga.open("/desk/activity?by=hour")
    assert "people: 2" in page.text
    assert "by the clock: 1" in page.text
    for name in ("moves", "time_outs", "people", "answers", "mails"):
        assert f'aria-labelledby="{name}-title {name}-desc"' in page.response.get_data(as_text=True)


def test_the_outcome_of_emails_is_shown_by_provider(olga, server, clock):
    today = clock.now().date()
    for number in range(deliverability.PROVIDERS):
        server.store.write(lambda tx, number=number: traffic.count(tx, today, "sent", {f"few{number}.example": 1}))
    for kind, many_of_them in (("sent", 70), ("deferred", 31), ("bounced", 29), ("complained", 17)):
        server.store.write(
            lambda tx, kind=kind, more=many_of_them: traffic.count(tx, today, kind, {"example.net": more})
        )
    long_ago = today - timedelta(days=deliverability.DAYS + 1)
    server.store.write(lambda tx: traffic.count(tx, long_ago, "sent", {"example.net": 500}))
    shown = olga.open("/desk/mail").text
    assert "example.net70312917" in shown, "one number to a cell"
    assert shown.count("few") == deliverability.PROVIDERS - 1, "those with the fewest mails are not listed"


def test_the_desk_shows_how_emails_get_through_with_the_words_of_the_relay_and_without_their_text(
    olga, server, clock, sink, person
):
    """Shown: the length and age of the queue, the answers of a relay, the addresses that cannot be reached. Not shown: texts."""
    ann = person("Ann")
    moderate(server, Ban(ann), "They swore.")
    clock.advance(timedelta(hours=1))
    assert "The oldest was due on Sat 21 Nov 2026, 12:00 UTC." in olga.open("/desk").text
    sink.does(*["550 rcpt"] * 5)
    deliver(server, post_to(sink))
    assert "No emails are overdue" in olga.open("/desk").text
    page = olga.open(f"/desk/people/{ann}")
    assert "No email has reached them since Sat 21 Nov 2026, 13:00 UTC" in page.text
    assert "undeliverable – 550" in page.text
    assert "has banned you from new tables" not in page.text


def test_addresses_left_alone_are_listed_with_the_reason_and_released_from_the_persons_page(olga, server, person):
    ann = person("Ann")
    assert "Resume emails" not in olga.open(f"/desk/people/{ann}").links()
    server.run(reachability.note_refusal, ann, "550 5.1.1 no such user")
    page = olga.open("/desk/mail")
    assert "We don't email one person" in page.text
    for words in (
        f"Ann · person {ann} · since Sat 21 Nov 2026, 12:00 UTC",
        "our relay refuses the address – 550 5.1.1",
    ):
        assert words in page.text
    assert "@" not in page.text
    assert page.links()["Resume emails"] == f"/desk/people/{ann}/release"
    form = olga.open(f"/desk/people/{ann}").follow("Resume emails").form("Preview…")
    looked = form.press(reason="Her mailbox has room again.")
    assert looked.form("Resume emails").press(step="do").heading == "Done"
    assert "We don't email one person" not in olga.open("/desk/mail").text


def test_every_outcome_of_an_incoming_email_has_words(app):
    with app.test_request_context():
        words = app.jinja_env.get_template("desk/_mail.html").module
    for outcome, kind in deliverability.OUTCOMES.items():
        assert words.outcome(outcome).strip() not in ("", outcome)
        assert words.kind(kind).strip()
    assert words.outcome(deliverability.UNREAD).strip() != deliverability.UNREAD


def test_every_email_has_a_name_for_its_reader_and_at_the_desk(app):
    with app.test_request_context():
        words = app.jinja_env.get_template("email_kinds.html").module
    named = {kind: str(words.kind(kind)) for kind in (*EmailKind, CODE)}
    assert len(set(named.values())) == len(named)
    assert [name for name in named.values() if not name[0].isupper() or "_" in name] == []


def test_incoming_emails_without_use_are_listed_without_their_text(olga, server, clock, table):
    game, inbox = table("templari", 3), Inbox(server, clock)
    (seat,) = game.asked()
    inbox.replies(game, seat, "the cat sat on the mat")
    inbox.replies(game, seat, "I am away", Auto_Submitted="auto-replied")
    inbox.takes(inbox.written(game, seat, "pass"), f"nobody@{inbox.box.domain}")
    page = olga.open("/desk/mail")
    assert "no command, with a receipt11" in page.text
    assert "to an unknown or made-up address11" in page.text
    assert f"Replies · Sat 21 Nov 2026, 12:00 UTC · table {game.id}" in page.text
    assert "written by a program; no answer sent (Auto-Submitted)" in page.text
    for unsaid in ("cat", "I am away", "@"):
        assert unsaid not in page.text


def test_all_tables_are_paused_by_two_presses_and_a_double_press_changes_nothing(olga, server, table):
    games = [table("sun-bid", 2), table("sun-bid", 2)]
    plan = olga.open("/desk/all/pause").form("Preview").press(reason="the house is moved")
    assert "This affects 2 tables. We'll email their players. Demo tables are left out." in plan.text
    assert not games[0].row().paused
    press = plan.form("Pause all tables")
    job = press.press()
    assert press.press().url == job.url
    assert "0 of 2" in job.text
    while jobs.advance_all(server):
        pass
    assert "2 of 2" in olga.open(job.url).text
    assert all(game.row().paused for game in games)


def test_a_table_where_the_organiser_plays_is_named_before_and_after(olga, server, table, person):
    mine, other = table("sun-bid", 2, title="Mine"), table("sun-bid", 2, title="Theirs")
    person("Olga")
    moderate(server, Substitute(mine.id, 0, "olga@example.org"))
    plan = olga.open("/desk/all/pause").form("Preview").press(reason="the house is moved")
    assert "This affects one table" in plan.text
    assert f"You play at one more, so another organiser has to do it. table {mine.id}" in plan.text
    job = plan.form("Pause all tables").press()
    while jobs.advance_all(server):
        pass
    assert f"Table {mine.id}: You play at this table." in olga.open(job.url).text
    assert [game.row().paused for game in (mine, other)] == [False, True]


def test_an_email_about_no_table_that_was_given_up_is_sent_again_from_the_first_page(olga, server, person):
    moderate(server, Ban(person("Ann")))
    (email,) = queued_emails(server, kind="banned")
    server.store.write(lambda tx: outbox.change(tx, email.id, status="parked"))
    server.store.write(lambda tx: ledger.note(tx, email.id, server.now(), "parked", "554 no"))
    page = olga.open("/desk")
    assert "554 no" in page.text
    form = page.follow("Resend").form("Preview…")
    form.press(reason="The relay was mended.", step="preview").form("Resend email").press(step="do")
    assert [each.status for each in queued_emails(server, kind="banned")] == ["queued"]
    assert "554 no" not in olga.open("/desk").text


def test_the_pages_of_the_desk_count_the_same_emails(olga, server, clock, table, person):
    table("bid", 3)
    for kind, status in (("welcome", "parked"), ("turn", "queued")):
        for email in queued_emails(server, kind=kind):
            server.store.write(lambda tx, email=email, status=status: outbox.change(tx, email.id, status=status))
    moderate(server, Ban(person("Dora")))
    (about_no_table,) = queued_emails(server, kind="banned")
    server.store.write(lambda tx: outbox.change(tx, about_no_table.id, status="parked"))
    clock.advance(timedelta(hours=6))
    first, about_email = (queue_of(olga.open(address)) for address in ("/desk", "/desk/mail"))
    assert "4 emails failed." in first
    assert "emails are overdue." in first
    assert about_email in first


def queue_of(page):
    """What a page of the desk says of the emails on their way."""
    return " ".join(html.fromstring(page.source).xpath("//p[starts-with(@class, 'house')]")[0].text_content().split())


def test_a_refused_announcement_is_still_in_its_form(olga):
    page = olga.open("/desk/all/announce").form("Preview").press(text="On Sunday we move.", reason="")
    assert "Please give a reason of 3 to 500 characters." in page.text
    assert "On Sunday we move." in page.text


def test_two_accounts_of_one_person_become_one_and_their_game_goes_on(olga, server, table, person, time):
    game = table("sun-bid", 2)
    time.sends()
    (seat,) = game.asked()
    old, new = game.person_at(seat), person("Annabel")
    form = olga.open(f"/desk/people/{new}").follow("Merge addresses").form("Preview…")
    done = form.press(other=str(old), reason="They wrote from both.").form("Merge addresses").press()
    assert done.status == 200
    assert game.person_at(seat) == new
    assert {email.person_id for email in queued_emails(server, kind="merged")} == {old, new}
    assert [email.person_id for email in queued_emails(server, kind="turn")][-1] == new
    game.play(seat, game.asked()[seat].default)
    assert game.verifies()
