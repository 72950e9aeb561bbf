"""Acts and revocations at once: what a session or link began is not done once that has ended, whatever the act.

Every act has a row in `ACTS`. Just before each transaction in which its request writes, the owner of the account ends
everything; nothing may be written after that.
"""

from dataclasses import replace
from html import unescape

import pytest

from pbem.domain.states import EmailKind
from pbem.service import links as service_links
from pbem.service.account import delete
from pbem.service.desk import calls, jobs, marks
from pbem.service.desk.acts.seats import Offer
from pbem.service.outgoing import new_links
from pbem.service.people import sessions
from pbem.service.tables import groups, talk as talk_service
from pbem.service.tournaments import sign_up
from pbem.store import games, outbox, people, received, tables, talk
from pbem.store.links import LinkKey
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from pbem.web import form_time
from tests.service.actors import OLGA, PASSPHRASE, add_organiser, moderate
from tests.service.database import all_rows, queued_emails
from tests.service.tournaments.cup import open_cup
from tests.web.applications import application
from tests.web.browser import HOST, Browser
from tests.web.desk_pages import signed_in

ACTS = {
    "my_page.open_seat": {"game": "row 1", "seat": "{seat}"},
    "my_page.open_table": {"game": "row 1"},
    "my_page.resend_turn": {"game": "row 1", "seat": "{seat}"},
    "my_page.send_links": {},
    "my_page.choose_delivery": {"delivery": "daily", "digest_at": "08:00"},
    "my_page.resend_email": {"mail": "row 1"},
    "my_page.choose_topics": {"talk": "yes"},
    "my_page.save_zone": {"zone": "Europe/Paris"},
    "my_page.save_settings": {"name": "Thief", "zone": "UTC", "quiet": "", "cadence": "none"},
    "my_page.change_vacation": {"first": "2026-12-24", "last": "2026-12-26"},
    "my_page.save_week": {"days_off": "Sat"},
    "my_page.renew_feeds": {},
    "groups.create": {"name": "Thieves"},
    "groups.invite": {"invited": "thief@example.net"},
    "groups.change_member": {"person": "row 2", "act": "remove"},
    "groups.leave": {},
    "groups.join": {"game": "row 1"},
    "groups.open_table": {"seats": "3"},
    "channels.enter": {"kind": "ntfy", "address": "https://ntfy.sh/thief"},
    "channels.prove": {"channel": "row 1", "code": "000000"},
    "channels.send_again": {"channel": "row 1"},
    "channels.remove": {"channel": "row 1"},
    "account.end_session": {"others": "yes"},
    "account.sign_out": {},
    "account.change_address": {"address": "thief@example.net"},
    "account.unblock": {"person": "row 2"},
    "account.remove_friend": {"person": "row 2"},
    "account.choose_profile": {"audience": "everyone", "called": "Thief"},
    "account.delete_account": {},
    "contact.send_for_seat": {"text": "{token}"},
    "contact.send_for_move": {"text": "Hello."},
    "contact.send_for_email": {"text": "{token}"},
    "sign_in.sign_in": {},
    "consent.confirm": {},
    "unsubscribe.choose": {},
    "unsubscribe.choose_topics": {"talk": "yes"},
    "unsubscribe.save_settings": {"cadence": "none", "quiet": ""},
    "unsubscribe.send_links": {},
    "unverified_reply.confirm": {"number": "row 1"},
    "unverified_reply.reject": {"number": "row 1"},
    "joining.join_private": {"address": "thief@example.net", "name": "Thief"},
    "invitation.accept": {"name": "{token}"},
    "invitation.decline": {},
    "invitation.leave": {},
    "invitation.invite": {"invited": "thief@example.net"},
    "invitation.take_over": {"seat": "{seat}"},
    "invitation.withdraw": {"offer": "row 1", "seat": "{offered}"},
    "tournament_link.enter": {"name": "Thief"},
    "tournament_link.leave": {},
    "own_tournaments.create": {
        "title": "Thief's cup",
        "format": "swiss",
        "closes_at": "2026-11-28T20:00",
        "pace": "1d",
        "seeding": "draw",
        "late": "wait",
        "size": "3",
        **dict.fromkeys(("rounds", "least", "advance", "fewest", "most", "round_days"), "3"),
    },
    "own_tournaments.enter": {"name": "Thief"},
    "own_tournaments.leave": {},
    "tournament_host.invite": {"step": "do", "invited": "thief@example.net"},
    "tournament_host.pause": {"step": "do"},
    "tournament_host.extend": {"step": "do", "days": "3"},
    "tournament_host.correct": {"step": "do", "round": "1", "table": "1", "places": "1 2 3", "reason": "Because."},
    "tournament_host.remove": {"step": "do", "number": "1", "reason": "Because."},
    "tournament_host.seed": {"step": "do", "seed_1": "1"},
    "tournament_host.call_off": {"step": "do", "reason": "Because."},
    "replay.share": {},
    "replay.stop_sharing": {},
    "review.share": {"shared": "yes"},
    "seat.leave_order": {"turn": "{turn}", "order": "pass"},
    "seat.drop_order": {},
    "seat.move_order": {"rank": "0", "to": "down"},
    "seat.show_api_token": {},
    "choice.play": {"turn": "{turn}", "choice": "pass", "press": "yes"},
    "choice.take_back": {"turn": "0"},
    "move.play": {"press": "yes"},
    "move.take_back": {},
    "move.send_links": {},
    "talk.say": {"text": "Hello."},
    "talk.report": {"line": "row 1"},
    "talk.mute": {"hear": "no", "seat": "{offered}", "who": "{who}"},
    "talk.befriend": {"friend": "yes", "seat": "{offered}", "who": "{who}"},
    "notes.save": {"text": "Hello."},
    "ending.agree_to_end": {"agree": "yes"},
    "ending.go_back": {"agree": "propose"},
    "ending.give_time": {"seat": "1", "turn": "{turn}"},
    "ending.resign": {"sure": "yes"},
    "ending.open_rematch": {},
    "ending.new_links": {"sure": "yes"},
    "api.choose": {"turn": 0, "text": "pass", "head": "0"},
    "api.take_back": {"turn": 0},
    "desk_account.sign_out": {},
    "desk_account.end": {},
    "desk_account.turn_codes_on": {"secret": "JBSWY3DPEHPK3PXP", "code": "000000"},
    "desk_account.turn_codes_off": {},
    "desk_account.change_passphrase": {"desk-old": PASSPHRASE, "desk-new": "five words that differ much"},
    "desk_calls.answer": {"text": "Hello."},
    "desk_calls.close": {},
    "desk_people.read_mail": {"mail": "1"},
    "desk_table.see_as": {"seat": "1"},
    "desk_table.export": {},
    "desk_table.read_mail": {"mail": "1"},
    "desk_jobs.resend_sent": {"text": "example.org", "days": "1"},
    "desk_jobs": {"text": "12h", "days": "1", "form": "key"},
    "desk_acts": {
        "seat": "1",
        "mail": "1",
        "line": "1",
        "turn": "0",
        "other": "3",
        "address": "thief@example.net",
        "more": "1d",
        "start": "2026-11-21 10:00",
        "end": "2026-11-21 11:00",
        "what": "title",
        "to": "Ours",
    },
}
"""Forms by endpoint, or for all endpoints of a blueprint.

`{token}` is the token of the link, `{seat}` the owner's seat, `{turn}` its turn, `row N` a row by its alias.
"""

NO_ACTS = {
    **dict.fromkeys(("front.start_demo", "contact.send", "sign_in.send_links", "new_table.create"), "open to everyone"),
    **dict.fromkeys(
        ("joining.join", "tournaments.ask", "verify.check", "desk_account.sign_in", "dev_inbox.reply"),
        "open to everyone",
    ),
    **dict.fromkeys(("seat.why", "seat.ask_for_hint", "sandbox.think", "desk_overview.find"), "writes nothing"),
    "inbound.take": "signed by a mail server",
    "disown.end_everything": "its link is never revoked: it revokes the others",
}


def endpoints(app):
    """All addresses with forms, by endpoint."""
    rules = (rule for rule in app.url_map.iter_rules() if "POST" in rule.methods)
    return {rule.endpoint: rule for rule in sorted(rules, key=lambda rule: len(rule.rule))}


def form_of(endpoint):
    return ACTS.get(endpoint, ACTS.get(endpoint.partition(".")[0]))


def test_every_form_is_an_act_or_needs_no_proof(app):
    routes = endpoints(app)
    assert {name for name in routes if form_of(name) is None} == set(NO_ACTS)
    assert {name.partition(".")[0] for name in ACTS} <= {name.partition(".")[0] for name in routes}
    assert {name for name in ACTS if "." in name} <= set(routes)


class Interrupted:
    """A store in which the owner ends everything just before a transaction that writes, at first the next one."""

    def __init__(self, store, press, after=0):
        self.store, self.press, self.after, self.rows = store, press, after, None

    def __getattr__(self, name):
        return getattr(self.store, name)

    def write(self, work):
        self.after -= 1
        if self.rows is None and self.after < 0:
            self.press()
            self.rows = all_rows(self.store)
        return self.store.write(work)


@pytest.fixture
def stolen(server, table, links):
    """stolen(path) -> the token that a stranger has for a path of this kind."""
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    ann = game.person_at(seat)

    def key(purpose, **fields):
        row = server.run(service_links.make, LinkKey(purpose, ann, **fields))
        return links.token(purpose, row)

    def of(path):
        purpose = Purpose(path[1]) if not path.startswith("/api") else Purpose.API
        match purpose:
            case Purpose.MOVE | Purpose.SEAT:
                return links.of(game, seat)[purpose is Purpose.SEAT]
            case Purpose.API:
                return key(purpose, game_id=game.id, seat=seat)
            case Purpose.CONFIRM | Purpose.INVITE:
                return key(purpose, game_id=game.id)
            case Purpose.STOP:
                return key(purpose)
            case Purpose.SIGN_IN:
                return links.made(purpose, ann)
            case Purpose.YES:
                server.run(delete.ask, ann)
                return key(purpose, outbox_id=queued_emails(server, ann, EmailKind.DELETION)[-1].id)
            case Purpose.ENTRY:
                server.run(sign_up.ask, of.cup, server.query(people.read, ann).address)
                return key(purpose, outbox_id=queued_emails(server, ann, EmailKind.SIGN_UP)[-1].id)
            case Purpose.WRITTEN:
                reply = server.run(service_links.make_for_seat, ann, game.id, game.row().turn, seat).reply
                raw = b"From: a@example.org\r\n\r\npass\r\n"
                now = server.now()
                number = server.store.write(
                    lambda tx: received.add(
                        tx, fingerprint=b"f", link_id=reply, nonce=0, message_id="m", raw=raw, now=now
                    )
                )
                server.store.write(lambda tx: received.change(tx, number, status="doubted"))
                facts = {"received": number}
                server.store.write(
                    lambda tx: outbox.queue(tx, [outbox.NewEmail(ann, EmailKind.WAS_IT_YOU, facts=facts)], now)
                )
                return key(purpose, outbox_id=queued_emails(server, ann, EmailKind.WAS_IT_YOU)[-1].id)
        raise AssertionError(path)

    of.offered = (seat + 1) % 3
    of.who = game.players()[of.offered].name
    server.run(talk_service.say_by_link, links.of(game, of.offered)[1], "Hello.")
    moderate(server, Offer(game.id, of.offered))
    server.store.write(lambda tx: tables.reserve(tx, 1, ann, "Ann", game.row().turn))
    server.run(calls.call, ann, "Help", game_id=game.id)
    server.run(jobs.begin, OLGA, jobs.What.PAUSE, {}, "It was asked for.", "another key")
    of.ann, of.seat, of.turn, of.group = ann, seat, game.row().turn, server.run(groups.create, ann, "Ours")
    of.cup = open_cup(server, ann)
    return of


def pytest_generate_tests(metafunc):
    if "endpoint" in metafunc.fixturenames:
        metafunc.parametrize("endpoint", [name for name in ACTS if "." in name] + ["desk_jobs", "desk_acts"])


def test_nothing_is_done_by_what_has_ended_meanwhile(endpoint, server, settings, stolen, app):
    for rule in [rule for name, rule in endpoints(app).items() if name == endpoint or name.startswith(endpoint + ".")]:
        _check(rule, form_of(rule.endpoint), server, settings, stolen)


@pytest.mark.slice(1 / 2)
def test_nothing_is_done_by_what_has_ended_while_a_request_was_writing(endpoint, server, settings, stolen, app):
    for rule in [rule for name, rule in endpoints(app).items() if name == endpoint or name.startswith(endpoint + ".")]:
        after = 1
        while _check(rule, form_of(rule.endpoint), server, settings, stolen, after):
            after += 1


@pytest.mark.parametrize("after", [0, 1])
def test_a_passphrase_typed_again_counts_for_no_session_that_ended_meanwhile(server, settings, stolen, app, after):
    rule = endpoints(app)["desk_account.turn_codes_off"]
    _check(rule, {"desk-passphrase": PASSPHRASE}, server, settings, stolen, after)


def first_line(tx, seq):
    """A line of talk at the first table."""
    return talk.line(tx, 1, games.read(tx, 1).key, seq)


def mark_of(server, name, row):
    """When the row was made, for a form that tells by it which row it is about."""
    made = {"mail": (outbox.read, "queued_at"), "number": (received.read, "received_at"), "line": (first_line, "at")}
    if name not in made:
        return ""
    read, moment = made[name]
    return getattr(server.query(read, row), moment).isoformat()


def filled_in(form, server, stolen, token):
    """The form as its page would send it."""
    filled = {
        name: value.format(token=token, seat=stolen.seat, turn=stolen.turn, offered=stolen.offered, who=stolen.who)
        for name, value in form.items()
    }
    rows = {name: int(value[4:]) for name, value in filled.items() if value.startswith("row ")}
    return filled | {name: server.keys.alias(name, row, mark_of(server, name, row)) for name, row in rows.items()}


def _check(rule, form, server, settings, stolen, after=0):
    """Press after a number of a request's transactions. Returns whether it has more than that."""
    path, ann = rule.rule, stolen.ann
    token = stolen(path) if "<token>" in path or path.startswith("/api") else ""
    at_desk = path.startswith("/desk")
    organiser = Holder(organiser_id=add_organiser(server, f"{rule.endpoint}-{after}").id) if at_desk else None

    def press():
        if organiser is not None:
            server.run(sessions.end_all, organiser)
        else:
            server.run(new_links.send, ann)

    browser = Browser(application(server, settings))
    if at_desk or path.startswith(("/my", "/groups")):
        signed_in(browser, server, organiser or Holder(person_id=ann))
    store = Interrupted(server.store, press, after)
    browser.client.application = application(replace(server, store=store), settings)
    at = {name: 2 if name == "person_id" else 1 for name in rule.arguments if name.endswith("_id")}
    key = stolen.cup if "/tournaments/" in path else stolen.group
    address = path.replace("<token>", token).replace("<option>", "pass").replace("<key>", key)
    address = address.replace("<kind>", "bid")
    for name, number in at.items():
        address = address.replace(f"<int:{name}>", str(number))
    if path.startswith("/api"):
        headers = {"Authorization": f"Bearer {token}"}
        response = browser.client.post(address, json=form, headers=headers, base_url=HOST)
    else:
        filled = filled_in(form, server, stolen, token)
        if at_desk:
            # Of an act, the preview: it is done in the same way, and rolled back.
            step = "preview" if rule.endpoint.startswith("desk_acts.") else "do"
            mark = server.read(marks.mark, at)
            filled |= {"reason": "It was asked for.", "step": step, "form": "key", "of": mark}
        if path.startswith("/j/"):
            with browser.client.application.app_context():
                filled[form_time.FIELD] = form_time._signed(server.now() - form_time.QUICKEST)
        response = browser.client.post(address, data=filled, headers=browser.says, base_url=HOST)
    if store.rows is None and after:
        return False
    assert store.rows is not None, f"{path}: {response.status_code} {response.get_data(as_text=True)[-1500:]}"
    assert all_rows(server.store) == store.rows, (path, after)
    assert response.status_code in (403, 410), path
    assert not at_desk or "You're no longer signed in." in unescape(response.get_data(as_text=True))
    return True


def test_a_page_shows_no_new_link_to_a_session_that_ended_with_the_old_ones(server, settings, stolen):
    browser = signed_in(Browser(application(server, settings)), server, Holder(person_id=stolen.ann))
    assert browser.post("/my/feeds", []).status == 200

    class Late(Interrupted):
        def read(self, **how):
            # The first look finds the session; then everything ends.
            if self.rows is None:
                self.rows = []
            elif not self.rows:
                self.press()
                self.rows = [True]
            return self.store.read(**how)

    for page in ("/my/settings", "/my/mails", "/my"):
        late = Late(server.store, lambda: server.run(new_links.send, stolen.ann))
        signed_in(browser, server, Holder(person_id=stolen.ann))
        browser.client.application = application(replace(server, store=late), settings)
        assert browser.open(page).status == 403
        assert late.rows == [True]
