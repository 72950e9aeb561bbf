"""A table at the desk: every act has a form with a reason, a preview and a button, and no page has a secret."""

import re

import pytest

from engine.facts import SPECTATOR
from pbem.service.archive import table_file
from pbem.service.clocks import outages, reachability
from pbem.service.desk import audit, calls
from pbem.service.desk.acts.clocks import DeclareOutage, Pause, Resume
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import addresses, sessions
from pbem.service.play.log import Kind
from pbem.service.tables import invitations, joining, talk
from pbem.service.tables.new import TableSettings
from pbem.store import audit as audit_rows
from pbem.store.sessions import Holder
from pbem.web.people.session_cookie import Cookie
from tests.service.actors import add_organiser, calls_of, moderate
from tests.service.clock import HOUR, Time
from tests.service.database import all_rows, count_calls, holds_token, queued_emails
from tests.web.browser import HOST
from tests.web.desk_pages import at_the_desk, signed_in
from tests.web.test_secrets import poker, words  # noqa: F401 - a fixture comes in by its name

LOOK = "Preview…"


@pytest.fixture
def game(table):
    begun = table("templari", 3)
    for _ in range(4):
        seat, decision = next(iter(begun.asked().items()))
        begun.play(seat, decision.default)
    return begun


@pytest.fixture
def desk(browser, server):
    return at_the_desk(browser, server)


def address(game, act=""):
    return f"/desk/tables/{game.id}{'/' if act else ''}{act}"


ACTS = {
    "pause": ({}, "Pause table", lambda game: game.row().paused),
    "extend": ({"more": "2d"}, "Give more time", lambda game: "Extended" in kinds(game)),
    "freeze": ({}, "Stop table", lambda game: game.row().status == "frozen"),
    "close": ({}, "Close table", lambda game: game.row().status == "void"),
    "rewind": ({"turn": "2"}, "Rewind game", lambda game: "Rewound" in kinds(game)),
    "substitute": ({"seat": "1"}, "Replace player", lambda game: game.players()[0].bot),
    "correct": (
        {"what": "name", "to": "Benjamin", "seat": "2"},
        "Edit details",
        lambda game: game.players()[1].name == "Benjamin",
    ),
    "redact": ({"line": "1"}, "Remove message", lambda game: "Redacted" in kinds(game)),
}


def kinds(game):
    return [row.kind for row in game.log()]


@pytest.mark.parametrize("kind", Kind)
def test_every_row_of_a_record_has_words(app, kind):
    with app.test_request_context():
        assert app.jinja_env.get_template("desk/_words.html").module.row(kind)


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_typed_previewed_and_done_and_its_form_works_once(desk, game, server, act):
    fields, button, is_done = ACTS[act]
    server.run(talk.say, game.id, 0, game.person_at(0), "You fools.")
    before = all_rows(server.store)
    looked = desk.open(address(game, act)).form(LOOK).press(**fields, reason="It was asked for.", step="preview")
    assert looked.status == 200
    assert "Preview" in looked.text
    assert "It was asked for." in looked.text
    assert f"· table {game.id}" in looked.text
    assert "Nothing has changed yet." in looked.text
    assert {name: rows for name, rows in all_rows(server.store).items() if name != "session"} == {
        name: rows for name, rows in before.items() if name != "session"
    }
    form = looked.form(button)
    done = form.press(step="do")
    assert done.heading == "Done"
    assert f"· table {game.id} ·" in done.text
    assert is_done(game)
    again = all_rows(server.store)
    assert form.press(step="do").heading == "Already done"
    assert {name: rows for name, rows in all_rows(server.store).items() if name != "session"} == {
        name: rows for name, rows in again.items() if name != "session"
    }


def test_the_preview_shows_the_message_to_be_removed_and_its_author(desk, game, server):
    for seat, text in ((0, "Good luck."), (1, "You fools.")):
        server.run(talk.say, game.id, seat, game.person_at(seat), text)
    looked = desk.open(address(game, "redact")).form(LOOK).press(line="2", reason="It is rude.", step="preview")
    assert f"{game.players()[1].name} said: “You fools.”" in looked.text
    assert "Good luck." not in looked.text


PREVIEWS = {
    "extend": ({"more": "2d", "seat": "all"}, "Everyone whose turn it is has more time: 2 days."),
    "substitute": ({"seat": "2"}, "From {name} (seat 2) to a bot."),
    "substitute ": ({"seat": "2", "address": "zoe@example.org"}, "From {name} (seat 2) to zoe@example.org."),
    "resend": ({"mail": "{mail}"}, "It goes to {name}."),
}


@pytest.mark.parametrize("act", PREVIEWS)
def test_the_preview_says_who_is_affected_and_how_much(desk, game, server, act):
    fields, preview = PREVIEWS[act]
    (email, *_rest) = queued_emails(server, game.person_at(1), "welcome")
    typed = {key: value.format(mail=email.id) for key, value in fields.items()}
    looked = desk.open(address(game, act.strip())).form(LOOK).press(**typed, reason="It was asked for.", step="preview")
    assert preview.format(name=game.players()[1].name) in looked.text


ON_PEOPLE = {
    "ban": ({}, "Ban"),
    "export": ({}, "Send their data"),
    "address": ({"address": "ben.new@example.org"}, "Change address"),
    "release": ({}, "Resume emails"),
    "delete": ({}, "Delete person"),
}


@pytest.mark.parametrize("act", ON_PEOPLE)
def test_each_page_of_an_act_on_a_person_names_the_person(desk, server, game, person, act):
    fields, button = ON_PEOPLE[act]
    ben = person("Ben")
    if act == "release":
        server.run(reachability.note_refusal, ben, "550 5.1.1 no such user")
    page = desk.open(f"/desk/people/{ben}/{act}")
    assert f"Ben · person {ben}" in page.text
    looked = page.form(LOOK).press(**fields, reason="It was asked for.", step="preview")
    assert f"Ben · person {ben}" in looked.text
    done = looked.form(button).press(step="do")
    assert done.heading == "Done"
    assert f"Ben · person {ben} · {button}" in done.text


def test_an_outdated_email_is_refused_without_advice_meant_for_players(desk, game, server):
    (email, *_rest) = queued_emails(server, game.person_at(1), "welcome")
    moderate(server, Substitute(game.id, 1))
    page = desk.open(address(game, "resend")).form(LOOK)
    looked = page.press(mail=str(email.id), reason="It was asked for.", step="preview")
    assert "This email is out of date. In the meantime, someone else plays the seat now." in looked.text
    assert "Nothing changed." in looked.text
    assert "your games" not in looked.text


def test_several_emails_of_one_kind_to_one_person_are_one_line_with_their_number(desk, table, person):
    for _ in range(2):
        table("sun-bid", 3)
    page = desk.open(f"/desk/people/{person('Ben')}/delete").form(LOOK)
    looked = page.press(reason="It was asked for.", step="preview")
    assert "Ann: a bot takes over (2 emails)" in looked.text


def test_a_refused_act_is_still_in_its_form(desk, game):
    page = desk.open(address(game, "extend")).form(LOOK).press(more="soon", reason="Ben is ill.", step="preview")
    assert page.status == 400
    assert "soon" in page.source
    assert "Ben is ill." in page.source
    assert page.form(LOOK).press(more="2d", reason="Ben is ill.", step="preview").status == 200


def test_a_form_survives_a_sign_in_that_has_ended(browser, game, server, clock):
    desk = at_the_desk(browser, server)
    looked = desk.open(address(game, "pause")).form(LOOK).press(reason="Ben is ill.", step="preview")
    form = looked.form("Pause table")
    browser.client.delete_cookie("pbem-organiser", domain="localhost")
    asked = form.press(step="do")
    assert "Ben is ill." in asked.source
    assert not game.row().paused


def test_a_mistake_is_undone_by_the_form_that_is_offered(desk, game):
    looked = desk.open(address(game, "pause")).form(LOOK).press(reason="Ben is ill.", step="preview")
    done = looked.form("Pause table").press(step="do")
    looked = done.form("See how to fix it…").press(reason="It was another table.", step="preview")
    assert looked.form("Resume table").press(step="do").heading == "Done"
    assert not game.row().paused


def test_a_call_is_closed_by_the_act_it_led_to_and_its_caller_is_emailed(desk, game, server):
    caller = game.person_at(1)
    number = server.run(calls.call, caller, "I have no time this week.", game_id=game.id, seat=1)
    page = desk.open(f"{address(game)}?call={number}").follow("Pause table")
    looked = page.form(LOOK).press(step="preview", reason="Somebody has no time.")
    assert looked.form("Pause table").press(step="do").heading == "Done"
    assert calls_of(server) == []
    assert queued_emails(server, caller, "call_answered")


def test_the_page_of_a_table_takes_few_queries_however_long_its_game_is(desk, game, server):
    desk.open(address(game))
    with count_calls(server.store) as made:
        assert desk.open(address(game)).status == 200
    before = len([each for each in made if each.startswith("SELECT")])
    for _ in range(20):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    with count_calls(server.store) as made:
        page = desk.open(address(game))
    after = len([each for each in made if each.startswith("SELECT")])
    assert before <= 18
    assert after <= before + 4
    assert len(page.source) < 60_000


def test_no_page_of_a_table_changes_with_hidden_things(desk, table, server):
    """The desk shows the same for two different sealed bids."""
    game = table("bid", 3)
    pages = []
    for bid in ("bid 1 2", "bid 2 3"):
        game.play(0, bid)
        page = desk.open(address(game))
        pages.append([part for part in page.source.split("<h2") if "record" not in part])
        assert bid not in page.source
    assert pages[0] == pages[1]


def test_seeing_a_table_as_a_seat_is_recorded_with_its_reason(desk, table, server):
    game = table("sorcerous-futures", 3)
    assert game.view(1) != game.view(SPECTATOR)
    page = desk.open(address(game))
    looked = page.form("View").press(seat="2", reason="She says that her cards are gone.")
    assert looked.heading == "As seat 2 sees it"
    (row,) = server.read(audit.newest, audit_rows.AuditFilter(act="see as"))
    assert (row.game_id, row.reason) == (game.id, "She says that her cards are gone.")
    refused = page.form("View").press(seat="2", reason="")
    assert refused.status == 400
    assert len(server.read(audit.newest, audit_rows.AuditFilter(act="see as"))) == 1
    assert desk.client.get(address(game, "see-as"), base_url=HOST).status_code == 405


def test_a_whole_table_is_exported_for_a_reason_and_on_record(desk, table, server):
    game = table("sorcerous-futures", 3)
    page = desk.open(address(game))
    assert page.form("Download").press(reason=" ").status == 400
    file = page.form("Download").press(reason="It moves to another server.")
    assert table_file.read(file.source).log == tuple(game.log())
    assert file.response.headers["Cache-Control"] == "no-store"
    (row,) = server.read(audit.newest, audit_rows.AuditFilter(act="export table"))
    assert (row.game_id, row.reason) == (game.id, "It moves to another server.")
    assert "Export table" in desk.open(address(game)).text
    assert desk.client.get(address(game, "export"), base_url=HOST).status_code == 405


WHY = "She says that her mail can't be read."


def test_reading_an_email_of_a_table_or_a_person_is_recorded_with_its_reason(desk, carry, table, server):
    game = table("sunset-poker", 3)
    carry()
    (email, *_rest) = queued_emails(server, game.person_at(1), "turn")
    for path in (address(game), f"/desk/people/{email.person_id}"):
        page = desk.open(path)
        read = page.form("Read").press(mail=str(email.id), reason=WHY)
        assert (read.status, read.heading) == (200, f"Email {email.id}")
        assert "handed to the mail server – stored in the local mailbox" in read.text
        for text in (email.message_id, "Content-Type: multipart/alternative", 'class="mail" title="HTML email"'):
            assert text in read.source.replace("&lt;", "<").replace("&gt;", ">")
        assert f'href="{path}"' in read.source
        refused = page.form("Read").press(mail=str(email.id), reason=" ")
        assert refused.status == 400
        assert f'<option value="{email.id}" selected>' in refused.source
        assert desk.client.get(f"{path}/mail", base_url=HOST).status_code == 405
    looks = server.read(audit.newest, audit_rows.AuditFilter(act="read mail"))
    assert [(row.game_id, row.person_id, row.reason) for row in looks] == [(game.id, email.person_id, WHY)] * 2


def test_in_the_frame_of_an_email_nothing_runs_and_no_link_works(desk, carry, table, server):
    game = table("sunset-poker", 3)
    carry()
    (email, *_rest) = queued_emails(server, game.person_at(1), "turn")
    read = desk.open(address(game)).form("Read").press(mail=str(email.id), reason=WHY)
    policy = read.response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self' 'unsafe-inline';")
    assert "script" not in policy
    assert "frame-src" not in policy
    (framed,) = re.findall(r'<iframe[^>]* sandbox="" srcdoc="([^"]*)"', read.source)
    assert "&lt;html" in framed
    assert "href=" not in framed
    assert not holds_token(server, read.source.encode())
    assert "unsafe-inline" not in desk.open(address(game)).response.headers["Content-Security-Policy"]


@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_a_real_browser_shows_an_email_in_its_frame_as_its_reader_has_it(site, carry, table, server, chromium):
    game = table("sunset-poker", 3)
    carry()
    (email, *_rest) = queued_emails(server, game.person_at(1), "turn")
    olga = Holder(organiser_id=add_organiser(server, "Olga").id)
    secret = server.run(sessions.start, olga, "Chromium on Linux")
    for scheme, paper in (("light", "rgb(250, 246, 238)"), ("dark", "rgb(23, 21, 18)")):
        context = chromium.new_context(color_scheme=scheme)
        context.add_cookies([{"name": Cookie.ORGANISER, "value": secret, "url": site}])
        page = context.new_page()
        page.goto(f"{site}{address(game)}")
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        form = page.locator("form").filter(has=page.get_by_role("button", name="Read"))
        form.locator("[name=mail]").select_option(str(email.id))
        form.locator("[name=reason]").fill(WHY)
        form.get_by_role("button", name="Read").click()
        body = page.frame_locator("iframe.mail").locator("body")
        assert body.evaluate("it => getComputedStyle(it).backgroundColor") == paper
        assert body.evaluate("() => document.links.length") == 0
        context.close()


def test_a_waiting_table_has_no_turn_and_its_options_can_be_corrected(desk, server, person):
    waiting = server.run(joining.create_table, person("Ann"), TableSettings("bid", 3)).game_id
    page = desk.open(f"/desk/tables/{waiting}")
    assert "Waiting for players. Time per turn: 1 day." in page.text
    assert "turn 0" not in page.text
    form = page.follow("Edit details")
    assert "Write a variant as shown here: Reroll cost: the Pawn; Auction limit: 150." in form.text
    assert "From “Auction limit: 150” to “Auction limit: 30”." in (
        form.form(LOOK).press(what="option", to="auction limit: 30", reason="Shorter.").text
    )


def test_a_host_sees_no_more_than_a_player(browser, table, server):
    game = table("bid", 3)
    host = signed_in(browser, server, Holder(person_id=game.row().host_id))
    before = host.open(address(game)).source
    other = next(seat for seat, player in game.players().items() if player.person_id != game.row().host_id)
    game.play(other, game.asked()[other].default)
    after = host.open(address(game)).source
    assert before == after, "a sealed choice of somebody else shows"
    assert host.open(address(game, "clocks")).status == 403
    assert host.open(address(game, "rewind")).status == 403


def test_the_desk_explains_a_deadline_step_by_step(desk, game, server):
    moderate(server, Pause(game.id))
    page = desk.open(address(game, "clocks"))
    assert "Deadlines explained" in page.heading
    assert "the email goes out" in page.text or "stopped" in page.text


def test_the_replay_of_a_rewound_game_has_no_broken_links(browser, links, table, server):
    game = table("templari", 3)
    for _ in range(6):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    moderate(server, Rewind(game.id, 3))
    for _ in range(3):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    _, token = links.of(game, 0)
    whole = browser.open(f"/s/{token}/replay")
    assert whole.status == 200
    seen = set()
    open_ones = {href for href in whole.hrefs() if "/replay/" in href}
    while open_ones:
        href = open_ones.pop()
        seen.add(href)
        page = browser.open(href)
        assert page.status == 200, href
        open_ones |= {each for each in page.hrefs() if "/replay/" in each} - seen


def test_players_read_which_outage_moved_a_deadline(browser, desk, links, game, server, clock):
    time = Time(server, clock)
    time.sends()
    time.sleeps(3 * HOUR)
    time.passes(HOUR)
    moderate(server, DeclareOutage(server.now() - HOUR, server.now()), "The relay lost our mails.")
    outages.apply_outages(server)
    _, token = links.of(game, 1)
    declared, found = [
        each
        for each in browser.open(f"/s/{token}/decided").text.split("more time after an outage")
        if "was down" in each
    ]
    assert "an organiser" in declared
    assert "The relay lost our mails." in declared
    assert "was down from Sat 21 Nov 2026, 12:00 UTC to Sat 21 Nov 2026, 15:00 UTC" in found
    assert "an organiser" not in found
    assert "(Sat 21 Nov 2026, 12:00 UTC – Sat 21 Nov 2026, 15:00 UTC)" in desk.open(address(game)).text


def test_players_read_the_interventions_at_their_table_and_the_reasons(browser, links, game, server):
    _, token = links.of(game, 1)
    assert "Nothing yet." in browser.open(f"/s/{token}/decided").text
    moderate(server, Pause(game.id), "The relay is down.")
    moderate(server, Resume(game.id), "It works again.")
    moderate(server, Rewind(game.id, 2), "Ben's mail was lost.")
    page = browser.open(f"/s/{token}/replay").follow("Organisers' log")
    for text in ("paused", "The relay is down.", "resumed", "the game was rewound · to turn 2", "Ben's mail was lost."):
        assert text in page.text


def cards(game, seat):
    """The words for the cards of a hand on a board."""
    return {word.removeprefix("the ") for word in words(game, seat)}


def test_only_a_recorded_look_shows_cards_at_the_desk(desk, poker):  # noqa: F811 - the fixture
    game = poker
    hands = set().union(*(cards(game, seat) for seat in range(3)))
    shown = [desk.open(address(game)), desk.open(address(game, "clocks"))]
    for name in ("rewind", "extend", "substitute", "close", "correct", "redact", "resend"):
        page = desk.open(address(game, name))
        fields = {"turn": "2", "more": "1d", "seat": "1", "what": "pace", "to": "3d", "mail": "1", "line": "1"}
        shown += [page, page.form(LOOK).press(**fields, reason="To look at it.", step="preview")]
    for page in shown:
        assert not [word for word in hands if re.search(rf"\b{re.escape(word)}\b", page.text)], page.url
    looked = desk.open(address(game)).form("View").press(seat="2", reason="She says that her cards are gone.")
    assert not [word for word in cards(game, 1) if not re.search(rf"\b{re.escape(word)}\b", looked.source)]


def test_each_row_of_the_record_begins_with_its_kind_and_its_origin(desk, game):
    page = desk.open(address(game))
    heads = re.findall(r'<th scope="col">(.*?)</th>', page.source[page.source.index('id="log"') :])
    assert heads == ["Row", "What", "Seat", "When", "By", "Why"], "a telephone shows the first of them"
    assert "<td>turn 1</td>" in page.source
    assert "<td>the deal</td>" in page.source
    assert "<td>the player</td>" in page.source


def test_emails_of_a_waiting_table_name_their_readers(server, desk, person):
    waiting = server.run(
        joining.create_table, person("Ann"), TableSettings("templari", 3, invited=("zoe@example.org",))
    ).game_id
    server.run(joining.join, waiting, person("Ben"), name="Benjamin")
    zoe = server.run(addresses.register, "zoe@example.org").id
    server.run(invitations.decline, waiting, zoe)
    shown = desk.open(f"/desk/tables/{waiting}")
    readers = dict(re.findall(r" · ([\w ]+)</th><td><bdi>(.+?)</bdi>", shown.source))
    assert readers == {"Seat confirmed": "Benjamin", "Invitation": f"person {zoe}", "Invitation declined": "Ann"}
    for kind, reader in readers.items():
        assert f"· {kind} · {reader}" in shown.text
