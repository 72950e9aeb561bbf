"""Messages through channels, from the move that causes them to what the service gets, and what becomes of them."""

import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest
from sqlalchemy.exc import OperationalError

from pbem import failpoints
from pbem.channels import senders
from pbem.channels.client import Client
from pbem.domain.channels import ChannelKind, ChannelRules
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany
from pbem.mail.write.compose import Letterhead
from pbem.service.account import channels as own, delete, personal_data
from pbem.service.clocks import outages, reachability
from pbem.service.outgoing import channel_delivery, channel_messages, ledger, new_links
from pbem.service.outgoing.channel_delivery import ChannelPost
from pbem.service.outgoing.channel_messages import code_of
from pbem.service.outgoing.deliver import LEASE
from pbem.service.outgoing.outcomes import TRIES
from pbem.service.tables import leaving
from pbem.store import channels, deadlines, outbox, people, reachability as rows
from tests.channels.far_end import FarEnd, code_sent_to, status, usual
from tests.channels.pushed import PushedBrowser
from tests.service.absence.test_database_away import Away
from tests.service.database import queued_emails

LETTERHEAD = Letterhead("Games", "https://play.example.org", "play.example.org", "games@play.example.org", "help@x.org")
PATHS = {
    ChannelKind.WEBHOOK: "/hook",
    ChannelKind.NTFY: "/topic",
    ChannelKind.DISCORD: "/api/webhooks/1/abc",
    ChannelKind.TELEGRAM: "/4711",
    ChannelKind.MATRIX: "/!room:example.org",
    ChannelKind.BROWSER: "/push/abc",
}
BROWSER = PushedBrowser()
TOKENS = {ChannelKind.TELEGRAM: "1:secret", ChannelKind.MATRIX: "syt_secret", ChannelKind.BROWSER: BROWSER.token}


@pytest.fixture
def far():
    with FarEnd() as listening:
        yield listening


class Way:
    """The server with channels on this machine, and what sends through them."""

    def __init__(self, server, clock, far):
        self.server = replace(server, channels=ChannelRules(loopback=True))
        self.clock, self.far = clock, far
        self.post = ChannelPost(LETTERHEAD, Client(loopback=True))

    def enter(self, person, kind=ChannelKind.NTFY, game=None, path=""):
        address = self.far.url + (path or PATHS[kind])
        return self.server.run(own.enter, person, kind, address, TOKENS.get(kind, ""), game)

    def prove(self, person, channel):
        assert self.server.run(own.prove, person, channel, code_sent_to(self.server, channel))

    def use(self, person, kind=ChannelKind.NTFY, game=None, path=""):
        """Enter a channel, prove it, and forget the code that was sent."""
        channel = self.enter(person, kind, game, path)
        self.deliver()
        self.prove(person, channel)
        self.far.requests.clear()
        return channel

    def deliver(self, seconds=61):
        self.clock.advance(timedelta(seconds=seconds))
        while channel_delivery.send_batch(self.server, self.post):
            pass

    def messages(self, person):
        """The messages to a person through channels: kind, status and what happened, oldest first."""
        found = self.server.query(ledger.of_person, person)
        return [each for each in reversed(found) if each.channel]

    def message(self, person):
        return self.messages(person)[-1]

    def whats(self, person):
        return [line.what for line in self.message(person).lines]


@pytest.fixture
def way(server, clock, far):
    return Way(server, clock, far)


def text_of(kind, request):
    """What a service shows, or a browser."""
    return json.dumps(BROWSER.reads(request)) if kind is ChannelKind.BROWSER else request.body.decode()


def next_turn(game):
    """Play until another turn asks someone; returns the first seat that it asks, and its person."""
    before = game.row().turn
    while game.row().turn == before:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    asked = next(iter(game.asked()))
    return asked, game.person_at(asked)


@pytest.mark.parametrize("kind", ChannelKind)
def test_a_turn_goes_through_a_proved_channel_of_each_kind_with_a_link_to_the_seat(way, table, kind):
    game = table()
    for number, person in enumerate(map(game.person_at, range(3))):
        channel = way.enter(
            person, kind, path=f"{PATHS[kind]}{number}" if kind is not ChannelKind.MATRIX else f"/!r{number}:x"
        )
        way.deliver()
        assert code_sent_to(way.server, channel) in text_of(kind, way.far.requests[-1]).replace("\\\\", "")
        way.prove(person, channel)
    way.far.requests.clear()
    seat, person = next_turn(game)
    way.deliver()
    text = text_of(kind, way.far.requests[0])
    assert len(way.far.requests) == len(game.asked())
    assert "Your turn" in text
    assert re.search(r"https://play\.example\.org/s/[a-z2-7]{33}", text)
    assert way.whats(person) == ["queued", "rendered", "accepted"]
    assert way.message(person).status == "sent"
    # Answered: marked as done where the service can edit, once it can't be taken back.
    game.play(seat, game.asked()[seat].default)
    way.deliver()
    way.deliver()
    edits = [each for each in way.far.requests if "Done" in text_of(kind, each)]
    can = kind in senders.EDITORS
    assert len(edits) == can
    assert ("done" in [line.what for each in way.messages(person) for line in each.lines]) == can


def test_a_tables_channel_says_who_is_asked_and_what_all_can_see_once_a_turn_and_links_to_no_seat(way, table):
    game = table("bid", 3)
    host = game.person_at(0)
    way.use(host, ChannelKind.WEBHOOK, game.id)
    emails = [each for seat in range(3) for each in way.server.query(outbox.of_person, game.person_at(seat), 50)]
    assert sorted(each.person_id for each in emails if each.kind == "channel") == sorted(map(game.person_at, range(3)))
    next_turn(game)
    assert len(game.asked()) > 1
    way.deliver()
    (sent,) = way.far.requests
    facts = sent.json
    asked = [game.players()[seat].name for seat in sorted(game.open())]
    assert facts["waiting_for"] == asked
    assert all(name in facts["text"] for name in asked)
    assert (facts["type"], facts["turn"], facts["table"]["key"]) == ("turn", game.row().turn, game.row().key)
    assert facts["url"] == "https://play.example.org"
    assert "/s/" not in sent.body.decode()
    # The message doesn't tell who answers first, nor is it sent again.
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)
    way.deliver()
    assert len(way.far.requests) == 1
    (listed,) = way.server.read(own.mine, host).listed
    way.server.run(own.remove, host, listed.id)
    assert way.server.read(own.mine, host).listed == ()


def test_a_slow_service_delays_no_message_to_another(way, table):
    game, arrived, met = table(), Event(), []

    def reply(request):
        if request.path == "/quick":
            arrived.set()
        else:
            # Half of the time that a request may take.
            met.append(arrived.wait(5))
        return usual(request)

    way.far.reply = reply
    way.enter(game.person_at(0), ChannelKind.WEBHOOK, path="/slow")
    way.far.url = f"http://localhost:{way.far.port}"
    way.enter(game.person_at(1), ChannelKind.WEBHOOK, path="/quick")
    way.deliver()
    assert met == [True], "the quick one got its message while the slow one answered"
    assert [way.message(game.person_at(seat)).status for seat in (0, 1)] == ["sent", "sent"]


def test_an_answer_before_it_leaves_supersedes_a_message(way, table):
    game = table()
    for seat in range(3):
        way.use(game.person_at(seat), path=f"/topic{seat}")
    seat, person = next_turn(game)
    game.play(seat, game.asked()[seat].default)
    way.deliver()
    assert way.message(person).status == "superseded"
    assert way.whats(person) == ["queued", "superseded"]


def test_quiet_hours_hold_a_message_back_until_they_end(way, table):
    game = table()
    for each in range(3):
        way.use(game.person_at(each), path=f"/topic{each}")
        way.server.run(lambda tx, _server, who: people.change(tx, who, quiet="12:00-20:00"), game.person_at(each))
    _seat, person = next_turn(game)
    way.deliver()
    assert way.far.requests == []
    assert way.whats(person) == ["queued", "waits"]
    way.deliver(9 * 3600)
    assert way.message(person).status == "sent"


def asked_through_ntfy(way, table):
    """A game in which a person is asked, whose channel has not told them yet."""
    game = table()
    for seat in range(3):
        way.use(game.person_at(seat), path=f"/topic{seat}")
    seat, person = next_turn(game)
    for other in game.asked():
        if other != seat:
            game.play(other, game.asked()[other].default)
    return game, seat, person


def test_a_failed_database_is_no_fault_of_a_message_or_its_channel(way, table, monkeypatch):
    _game, _seat, person = asked_through_ntfy(way, table)
    away = Away(monkeypatch, channel_messages, "_store")
    away.gone = True
    for _ in range(TRIES + 1):
        way.deliver()
    assert way.whats(person) == ["queued"]
    away.gone = False
    way.deliver()
    way.deliver()
    assert (way.message(person).status, way.message(person).attempts) == ("sent", 1)


def test_a_message_that_left_while_the_database_failed_leaves_once_and_ends_no_channel(way, table, monkeypatch):
    _game, _seat, person = asked_through_ntfy(way, table)
    away = Away(monkeypatch, channel_delivery, "_record")
    away.gone = True
    for _ in range(TRIES + 1):
        with pytest.raises(OperationalError):
            way.deliver(LEASE.total_seconds())
    away.gone = False
    way.deliver()
    assert len(way.far.requests) == 1
    assert (way.message(person).status, way.message(person).attempts) == ("sent", 1)


def test_a_message_is_not_marked_as_done_at_every_look_while_the_database_fails(way, table, monkeypatch):
    game = table()
    for seat in range(3):
        way.use(game.person_at(seat), ChannelKind.DISCORD, path=f"{PATHS[ChannelKind.DISCORD]}{seat}")
    seat, person = next_turn(game)
    way.deliver()
    game.play(seat, game.asked()[seat].default)
    away = Away(monkeypatch, channel_delivery, "_record_edit")
    away.gone = True
    for _ in range(40):
        with suppress(OperationalError):
            way.deliver(3)
    edits = [each for each in way.far.requests if "Done" in text_of(ChannelKind.DISCORD, each)]
    assert 1 <= len(edits) <= 3
    away.gone = False
    way.deliver(600)
    assert "done" in [line.what for each in way.messages(person) for line in each.lines]


def test_a_message_is_tried_again_with_the_same_id_and_waits_as_long_as_the_service_wants(way, table):
    _game, _seat, person = asked_through_ntfy(way, table)
    way.far.replies = [status(503), status(429, Retry_After="900")]
    way.deliver()
    ids = {way.message(person).message_id}
    way.deliver(60)
    assert way.whats(person) == ["queued", "rendered", "postponed", "postponed"]
    way.deliver(600)
    assert way.message(person).status == "queued"
    way.deliver(400)
    assert way.message(person).status == "sent"
    assert len(way.far.requests) == 3
    assert {way.message(person).message_id} == ids


def test_a_service_that_wants_nothing_more_ends_its_channel_and_the_owner_is_emailed(way, table):
    game, _seat, person = asked_through_ntfy(way, table)
    way.far.reply = status(404)
    way.deliver()
    assert way.message(person).status == "undeliverable"
    assert [line.detail for line in way.message(person).lines][-1] == "it answered 404"
    email = next(each for each in way.server.query(outbox.of_person, person, 50) if each.kind == "channel")
    assert "it answered 404" in email.facts
    (listed,) = way.server.read(own.mine, person).listed[:1]
    assert (listed.status, listed.why) == ("failed", "it answered 404")
    before = len(way.messages(person))
    next_turn(game)
    way.deliver()
    assert len(way.messages(person)) == before
    # Once it works again, another code switches it on.
    way.far.reply = status(200)
    way.server.run(own.send_again, person, listed.id)
    way.deliver()
    way.prove(person, listed.id)


def test_after_the_last_try_a_channel_is_off(way, table):
    _game, _seat, person = asked_through_ntfy(way, table)
    way.far.reply = status(500)
    for _ in range(12):
        way.deliver(3 * 3600)
    assert len(way.far.requests) == 10
    assert way.message(person).status == "undeliverable"
    assert way.server.read(own.mine, person).listed[0].status == "failed"


# When no email reaches a person


def clock_of(way, game, seat):
    return way.server.query(deadlines.read, game.id, game.row().turn, seat)


def refuse(way, person):
    way.server.run(reachability.note_refusal, person, "550 5.1.1 unknown")


def notices(way, person):
    return [each.facts for each in way.server.query(outbox.of_person, person, 50) if each.kind == "notice"]


def test_when_an_address_bounces_the_turn_goes_through_the_channel_and_its_acceptance_starts_the_clock(way, table):
    game, seat, person = asked_through_ntfy(way, table)
    refuse(way, person)
    assert clock_of(way, game, seat).due_at is None
    way.deliver()
    accepted = way.clock.now()
    assert clock_of(way, game, seat).accepted_at == accepted
    assert clock_of(way, game, seat).due_at >= accepted + timedelta(days=1)
    assert "so this message starts the clock" in way.message(person).lines[-1].detail
    assert notices(way, game.person_at((seat + 1) % 3)) == []
    # The next turn, too; and a channel that fails stops the clock and tells the table.
    way.far.reply = status(410)
    next_turn(game)
    while seat not in game.asked():
        next_turn(game)
    way.deliver()
    assert clock_of(way, game, seat).due_at is None
    lines = notices(way, game.person_at((seat + 1) % 3))
    assert any("unreachable" in facts for facts in lines), (lines, way.messages(person))


def test_a_turn_that_the_channel_has_told_already_is_not_told_again_when_the_address_bounces(way, table):
    game, seat, person = asked_through_ntfy(way, table)
    way.deliver()
    sent = len(way.far.requests)
    assert clock_of(way, game, seat).accepted_at is None
    refuse(way, person)
    way.deliver()
    assert len(way.far.requests) == sent
    assert clock_of(way, game, seat).due_at is not None


def test_a_channel_that_is_proved_while_email_fails_gets_the_open_turns(way, table):
    game = table()
    seat, person = next_turn(game)
    refuse(way, person)
    way.use(person)
    way.deliver()
    assert clock_of(way, game, seat).due_at is not None
    assert way.message(person).kind == "turn"
    # Email that arrives again changes nothing for the clock.
    due_at = clock_of(way, game, seat).due_at
    way.server.run(reachability.mark_reachable, person)
    assert clock_of(way, game, seat).due_at == due_at


# Crashes


class Killed(BaseException):
    """The end of a process: nothing in it cleans up."""


def test_a_sender_that_dies_between_any_two_steps_loses_no_message_and_repeats_one_only_under_its_id(way, table):
    game, died = table(), []
    for seat in range(3):
        way.use(game.person_at(seat), ChannelKind.WEBHOOK, path=f"/hook{seat}")
    for point in range(1, 1000):
        next_turn(game)
        way.clock.advance(timedelta(minutes=2))
        way.far.requests.clear()
        passed = []

        def die(name, passed=passed, point=point):
            passed.append(name)
            if len(passed) == point:
                raise Killed

        failpoints.set_handler(die)
        try:
            channel_delivery.send_batch(way.server, way.post)
        except Killed:
            died.append(passed[-1])
        finally:
            failpoints.set_handler(None)
        way.post = ChannelPost(LETTERHEAD, Client(loopback=True))
        way.deliver()
        turns = [
            each
            for seat in game.asked()
            for each in way.messages(game.person_at(seat))
            if (each.kind, each.turn) == ("turn", game.row().turn)
        ]
        assert [each.status for each in turns] == ["sent"] * len(game.asked())
        times = Counter(request.headers["webhook-id"] for request in way.far.requests)
        assert set(times) == {each.message_id for each in turns}
        assert sum(times.values()) - len(times) <= ("channel.handed_over" in passed)
        if len(died) < point:
            break
    assert set(died) == {"store.committing", "store.committed", "channel.handed_over"}


# What belongs to a person


def test_new_links_end_the_link_in_a_message_and_the_channel_gets_the_new_one(way, table):
    game, seat, person = asked_through_ntfy(way, table)
    way.deliver()
    way.far.requests.clear()
    way.server.run(new_links.send_for_seat, game.id, seat, person)
    way.deliver()
    (again,) = [each for each in way.far.requests if "Your turn" in each.body.decode()]
    assert again.json["click"].startswith("https://play.example.org/s/")


def test_everything_that_ends_ends_a_channel_that_a_stranger_may_have_entered(way, table):
    _game, _seat, person = asked_through_ntfy(way, table)
    way.deliver()
    way.server.run(reachability.note_refusal, person, "550 5.1.1 no such user")
    way.far.requests.clear()
    way.server.run(new_links.send, person)
    way.deliver()
    assert way.far.requests == []
    (channel,) = way.server.read(own.mine, person).listed
    assert (channel.status, channel.why) == ("failed", "all your links were renewed")
    assert json.loads(queued_emails(way.server, person, "links")[-1].facts)["channels_off"] is True
    with way.server.store.read() as tx:
        assert rows.failure(tx, person).covered_at is None, "no clock runs by a channel that is off"
    way.server.run(own.send_again, person, channel.id)
    way.prove(person, channel.id)
    way.deliver()
    assert "Your turn" in way.far.requests[-1].body.decode()


def test_an_address_is_the_same_one_however_it_is_typed_and_whatever_sends_to_it(way, table):
    game = table()
    ann, ben = game.person_at(0), game.person_at(1)
    way.use(ann)
    path = PATHS[ChannelKind.NTFY]
    for typed in (path, f"{path}/", f"{path}?", f"/x/..{path}", path.replace("t", "%74")):
        with pytest.raises(BadInput, match="Others read"):
            way.enter(ben, ChannelKind.WEBHOOK, path=typed)


def test_a_channel_is_one_persons_or_tables_and_a_wrong_code_counts(way, table):
    game = table()
    ann, ben = game.person_at(0), game.person_at(1)
    way.use(ann)
    with pytest.raises(BadInput, match="Others read"):
        way.enter(ben)
    with pytest.raises(BadInput, match="Others read"):
        way.enter(ann, game=game.id)
    with pytest.raises(BadInput, match="in use already"):
        way.enter(ann)
    with pytest.raises(Forbidden):
        way.enter(ben, game=game.id, path="/other")
    other = way.enter(ben, path="/other")
    for _ in range(5):
        assert way.server.run(own.prove, ben, other, "abcd-efgh") is False
    with pytest.raises(Gone, match="too many wrong"):
        way.prove(ben, other)
    with pytest.raises(NotFound):
        way.server.run(own.prove, ann, other, "abcd-efgh")


def test_a_code_from_before_a_restore_proves_no_channel_that_got_its_number_since(way, person):
    ann = person("Ann")

    def enter(tx, server, address):
        channel = own.enter(tx, server, ann, ChannelKind.WEBHOOK, address)
        return channel, code_of(server, channels.read(tx, channel))

    before, code = way.server.dry_run(enter, f"{way.far.url}/own")
    number, _ = way.server.run(enter, f"{way.far.url}/of-someone-else")
    assert number == before or not way.server.store.on_sqlite
    assert way.server.run(own.prove, ann, number, code) is False


def test_codes_and_channels_of_a_person_are_limited(way, person):
    ann = person("Ann")
    for number in range(5):
        way.enter(ann, path=f"/topic{number}")
    with pytest.raises(TooMany):
        way.enter(ann, path="/topic9")
    for each in way.server.read(own.mine, ann).listed:
        way.server.run(own.send_again, ann, each.id)
    with pytest.raises(TooMany, match="limit for codes"):
        way.server.run(own.send_again, ann, way.server.read(own.mine, ann).listed[0].id)


def test_codes_for_a_table_are_limited_for_all_its_hosts(way, table):
    game = table()
    host = game.row().host_id
    channel = way.enter(host, game=game.id)
    for _ in range(2):
        way.server.run(own.send_again, host, channel)
    (seat,) = (seat for seat, player in game.players().items() if player.person_id == host)
    way.server.run(leaving.resign, game.id, seat, host)
    heir = game.row().host_id
    for _ in range(2):
        way.server.run(own.send_again, heir, channel)
    with pytest.raises(TooMany, match="table has reached"):
        way.server.run(own.send_again, heir, channel)
    assert [len([each for each in way.messages(person) if each.kind == "code"]) for person in (host, heir)] == [3, 2]


def test_the_present_host_of_a_table_is_told_that_its_channel_failed(way, table):
    game = table()
    before = game.row().host_id
    channel = way.use(before, game=game.id)
    (seat,) = (seat for seat, player in game.players().items() if player.person_id == before)
    way.server.run(leaving.resign, game.id, seat, before)
    heir = game.row().host_id
    # It is the table's, and no business of the one who left.
    way.server.run(new_links.send, before)
    assert way.server.query(channels.read, channel).status == "active"
    way.far.reply = status(404)
    while not way.far.requests:
        next(game.play_defaults())
        way.deliver()
    newest = [queued_emails(way.server, person, "channel")[-1] for person in (before, heir)]
    assert [json.loads(email.facts)["what"] for email in newest] == ["added", "failed"]


def test_a_tables_channel_ends_a_week_after_its_game_and_so_does_one_that_nobody_proved(way, table):
    game = table(options={"max_rounds": 1})
    host = game.person_at(0)
    own_one = way.use(host)
    ends = [way.use(host, game=game.id, path="/table"), way.enter(host, path="/never")]
    for _ in game.play_defaults():
        pass
    way.deliver()
    assert "Game over" in way.far.requests[-1].body.decode()
    way.clock.advance(timedelta(days=6))
    way.server.run(own.tidy)
    assert {row.id for row in way.server.query(channels.entered_by, host)} == {own_one, *ends}
    way.clock.advance(timedelta(days=2))
    way.server.run(own.tidy)
    assert [row.id for row in way.server.query(channels.entered_by, host)] == [own_one]


def test_many_messages_of_one_person_hold_up_nobody_elses(way, person, monkeypatch):
    monkeypatch.setattr(channel_delivery, "BATCH", 3)
    for number in range(5):
        way.enter(person("Ann"), path=f"/ann{number}")
    way.clock.advance(timedelta(seconds=1))
    way.enter(person("Ben"), path="/ben")
    assert channel_delivery.deliver_messages(way.server, way.post) == 3
    topics = [json.loads(each.body)["topic"] for each in way.far.requests]
    assert sorted(topics) == ["ann0", "ann1", "ben"]


def test_while_email_is_paused_nothing_leaves_through_a_channel_either(way, table):
    game = table()
    for number, person in enumerate(map(game.person_at, range(3))):
        way.use(person, ChannelKind.DISCORD, path=f"{PATHS[ChannelKind.DISCORD]}{number}")
    seat, _person = next_turn(game)
    way.deliver()
    before = len(way.far.requests)
    way.server.run(outages.pause_email, "Wrong emails.")
    game.play(seat, game.asked()[seat].default)
    for _ in range(3):
        way.deliver()
    assert len(way.far.requests) == before
    way.server.run(outages.resume_email)
    for _ in range(3):
        way.deliver()
    assert any("Done" in text_of(ChannelKind.DISCORD, each) for each in way.far.requests[before:])


def test_an_operator_can_switch_services_off_also_those_in_use(way, table):
    _game, _seat, person = asked_through_ntfy(way, table)
    way.server = replace(way.server, channels=ChannelRules((ChannelKind.WEBHOOK,), loopback=True))
    way.deliver()
    assert way.far.requests == []
    assert way.message(person).status == "superseded"
    assert "switched this service off" in way.message(person).lines[-1].detail
    with pytest.raises(BadInput, match="don't send through"):
        way.enter(person, path="/more")


def test_deletion_and_export_cover_channels_and_no_secret_is_told(way, table):
    _game, _seat, person = asked_through_ntfy(way, table)
    way.use(person, ChannelKind.TELEGRAM)
    way.deliver()
    exported = "".join(personal_data.export_person(way.server, person))
    assert '"channels"' in exported
    assert '"telegram"' in exported
    assert "1:secret" not in exported
    assert "4711" not in exported
    rows = way.server.query(channels.entered_by, person)
    assert "secret" not in repr(rows)
    way.server.run(delete.delete_person, person)
    assert way.server.query(channels.entered_by, person) == []
    stored = [way.server.query(channels.read, row.id) for row in rows]
    assert [(row.address, row.secret, row.status) for row in stored] == [("", "", "removed")] * 2
    way.far.requests.clear()
    way.deliver()
    assert [each for each in way.far.requests if "4711" in each.body.decode()] == []
