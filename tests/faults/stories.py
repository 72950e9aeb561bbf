"""Stories in which a server does everything that changes something, so that every transaction of it can be broken.

What happens in the stories of addresses is not told again. A function that is in no story fails `test_use_cases`.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NoReturn
from unittest.mock import patch

from pyotp import TOTP
from sqlalchemy.exc import OperationalError

from engine import grammar
from engine.bots import BOTS
from pbem.clock import StepWatch
from pbem.domain.bounce import Bounce
from pbem.domain.choice_links import choice_segment
from pbem.domain.missed_turns import Successor
from pbem.domain.states import EmailKind
from pbem.domain.topics import Topic
from pbem.mail.send.smtp import Outcome, OutgoingEmail, Result
from pbem.ops.verify import verify_game
from pbem.plugins.foreign import FAULTS, Fault
from pbem.service import links
from pbem.service.absence import bots, offers, second_chance, substitutes
from pbem.service.account import change_address, channels, my_page, profiles
from pbem.service.archive import game_statistics, ratings, replay, reviews, table_file
from pbem.service.archive.daily_check import CheckResult
from pbem.service.clocks import more_time, outages, reachability, stopped_tables, vacations, web_servers
from pbem.service.clocks.clock_steps import StepFinder
from pbem.service.clocks.outages import Worker
from pbem.service.desk import (
    calls,
    email as desk_email,
    export_table,
    jobs,
    organisers,
    put_back,
    sign_in as desk_sign_in,
    table,
)
from pbem.service.desk.acts.clocks import DeclareOutage, Extend, Pause, PauseMail, Resume, ResumeMail
from pbem.service.desk.acts.correct import Correct, Redact
from pbem.service.desk.acts.emails import Resend
from pbem.service.desk.acts.perform import perform
from pbem.service.desk.acts.seats import Offer
from pbem.service.incoming import processing, round_trip, unverified_replies
from pbem.service.outgoing import channel_delivery, deliver, ledger, new_links, preferences, preview, unsubscribe
from pbem.service.outgoing.channel_delivery import ChannelPost
from pbem.service.outgoing.deliver import Post
from pbem.service.people import blocks, friends, sessions, sign_in
from pbem.service.play import by_link as seat_link, notes, views
from pbem.service.play.move import Actor
from pbem.service.play.views import SAVE_EVERY
from pbem.service.tables import (
    by_link,
    demo,
    going_back,
    group_page,
    groups,
    invitations,
    joining,
    leaving,
    start,
    talk,
)
from pbem.service.tables.new import TableSettings
from pbem.store import people, task_progress
from pbem.store.database import Tx
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from pbem.worker.ticks import TICKS, WorkerContext
from tests.channels.far_end import Services, code_sent_to, status, usual
from tests.faults.fail_at_n import BrokenCallError
from tests.mail import report_samples
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.actors import OLGA, PASSPHRASE, ROOT, add_organiser
from tests.service.archive.sample_review import sample
from tests.service.clock import DAY, HOUR, MINUTE
from tests.service.database import queued_emails
from tests.service.running_game import RunningGame
from tests.twins.address_stories import STORIES as OF_ADDRESSES, Story
from tests.twins.address_world import AddressWorld

REASON: Final = "a reason that players can read"
SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def works(world: AddressWorld) -> None:
    """A worker does all its tasks for days: with bots, a guest, a dead address, and a clock that is set."""
    server, clock, steady = world.server, world.clock, _Steady()
    worker = Worker("first", clock.now() - HOUR, steps=StepFinder(StepWatch(clock, steady)))
    context = WorkerContext(
        server,
        worker,
        lambda _: deliver.deliver(server, world.post).dealt_with,
        lambda _: deliver.keep_lease(server, world.post),
        lambda _: world.inbox.attends(),
        look=_look,
        review=sample,
    )

    def passes(by: timedelta, step: timedelta = timedelta(0)) -> None:
        steady.seconds += by.total_seconds()
        clock.set(clock.now() + by + step)
        for tick in TICKS:
            while tick.do(context):
                pass

    def has_counted(until: datetime) -> None:
        # A month is counted as a day is, and takes thirty times as long.
        hour = int(until.timestamp() // HOUR.total_seconds())
        server.store.write(lambda tx: task_progress.lock(tx, "tally hours"))
        server.store.write(lambda tx: task_progress.put(tx, "tally hours", hour))

    has_counted(clock.now())
    deliver.end_leases(server)
    ann, ben = world.other("Ann"), world.other("Ben")
    token = demo.begin(server, "sunset-poker")
    game = RunningGame(server, 1)
    server.run(seat_link.play, token, game.row().turn, _default(game, min(game.asked())))
    demo.go_on(server, token)
    server.run(sign_in.ask_for_link, "ann@example.org")
    world.table(ann, ben, kind="sun-bid")
    _with_bots(world, ann)
    server.run(reachability.note_refusal, ben, "550 5.1.1 no such user")
    passes(2 * MINUTE)
    passes(MINUTE, step=HOUR)
    passes(MINUTE, step=-HOUR / 2)
    for by in (3 * MINUTE, 3 * MINUTE, DAY, 4 * MINUTE, 8 * DAY, 4 * MINUTE):
        passes(by)
    world.time.passes(2 * DAY)
    demo.tidy(server)
    has_counted(clock.now() + 39 * DAY)
    # Longer than a clock is believed.
    passes(40 * DAY)


def fails(world: AddressWorld) -> None:
    """Bots, rules, the database and the relay fail, for a while or for good."""
    server, time = world.server, world.time
    ann, ben = world.other("Ann"), world.other("Ben")
    game = _with_bots(world, ann)
    for broken in (_fail, _away):
        rota = bots.Rota()
        with patch.dict(BOTS, random=broken, greedy=broken):
            bots.play_bots(server, rota=rota)
        time.passes(HOUR)
    bots.play_bots(server, rota=rota)
    FAULTS.append(Fault(game.id, "bid", "crashed"))
    stopped_tables.stop_failed(server)
    changed = world.table(ann, ben, kind="sun-bid").id
    with patch.object(stopped_tables, "versions", dict):
        stopped_tables.check_rules(server)
    stopped_tables.check_rules(server)
    server.run(stopped_tables.stop_changed, changed, "row 2")
    server.run(stopped_tables.resume_unchanged, changed)
    server.run(outages.tidy_again)
    server.run(new_links.send, ben)
    for result in (
        Result.LATER,
        Result.UNABLE,
        Result.REFUSED_SENDER,
        Result.REFUSED_MESSAGE,
        Result.REFUSED_RECIPIENT,
    ):
        server.run(sign_in.send_link, "ben@example.org")
        time.passes(DAY)
        post = replace(world.post, transport=FunctionTransport(partial(_says, result)))
        deliver.deliver(server, post)
    server.run(sign_in.send_link, "ann@example.org")
    with patch("pbem.service.outgoing.content.read_contents", _fail):
        deliver.deliver(server, world.post)
    time.passes(2 * DAY)
    with patch("pbem.service.outgoing.prepare._store", _is_away):
        deliver.deliver(server, world.post)
    deliver.deliver(server, world.post)
    time.passes(HOUR)
    world.carry()
    server.run(reachability.note_bounce, ann, Bounce.HARD, "550 5.1.1 no such user")
    server.run(reachability.note_refusal, ann, "550 5.1.1 no such user")
    server.run(sign_in.send_link, "ann@example.org")
    world.carry()
    time.passes(HOUR)
    server.run(sign_in.send_link, "ann@example.org")
    with patch("pbem.service.outgoing.outcomes.TRIES", 0):
        deliver.deliver(server, world.post)
    server.run(sign_in.send_link, "ben@example.org")
    post = replace(world.post, transport=FunctionTransport(lambda _: _accept_later(world, post)))
    deliver.deliver(server, post)


def _is_away(*_given: object, **_named: object) -> NoReturn:
    raise OperationalError("SELECT 1", {}, Exception("disk I/O error"))


def _has_a_second_chance(world: AddressWorld, *people: int) -> None:
    """A turn is missed and played after all."""
    game = world.table(*people, kind="templari", second_chance=12)
    world.carry()
    seat, turn = min(game.asked()), game.row().turn
    world.time.passes(DAY + 2 * HOUR)
    world.time.runs_out()
    world.carry()
    token = world.links.of(game, seat)[1]
    world.server.run(second_chance.by_link, token, Purpose.SEAT, turn)
    world.carry()


def _has_a_group(world: AddressWorld, ann: int, ben: int, carla: int) -> None:
    """A group, with everything that its organiser and the others can do."""
    server = world.server
    key = server.run(groups.create, ann, "Sunday club")
    with server.store.read() as tx:
        group_id = groups.membership(tx, ann, key).group.id
    server.run(groups.invite, ann, key, ("ben@example.org", world.address["FIRST"], "dan@example.org"))
    server.run(groups.decline, group_id, carla)
    server.run(groups.withdraw_invitations, ann, key)
    server.run(groups.invite, ann, key, ("ben@example.org", world.address["FIRST"]))
    for person in (ben, carla):
        server.run(groups.accept, group_id, person)
    server.run(group_page.open_table, ann, key, TableSettings("bid", 3))
    waiting = server.read(group_page.group_page, ann, key).waiting[0].summary.game_id
    server.run(group_page.table_token, ben, key, waiting)
    server.run(groups.hand_over, ann, key, ben)
    server.run(groups.remove, ben, key, carla)
    server.run(groups.leave, ben, key)


def _goes_back(world: AddressWorld, *people: int) -> None:
    """A player proposes to take a move back: one plays on, and then everyone agrees."""
    server, game = world.server, world.table(*people, kind="templari", going_back=True)
    world.carry()
    seat = min(game.asked())
    game.play(seat, game.asked()[seat].default)
    world.carry()
    one, two = (each for each in range(3) if each != seat)
    server.run(going_back.propose, game.id, seat, game.person_at(seat))
    world.carry()
    server.run(going_back.play_on, game.id, one, game.person_at(one))
    world.reply(game, seat, "go back")
    world.carry()
    server.run(going_back.agree, game.id, one, game.person_at(one), game.row().turn)
    world.reply(game, two, "agree to go back")
    world.carry()


def plays_by_links(world: AddressWorld) -> None:
    """Everything on the page of a seat, and on the links in an email."""
    server = world.server
    ann, ben = world.other("Ann"), world.other("Ben")
    game = world.table(ann, ben, world.carla())
    turn, choice = game.row().turn, _default(game, 0)
    move, token = world.links.of(game, 0)
    server.run(seat_link.move, move, choice_segment(game.open()[0].default))
    server.run(second_chance.by_link, token, Purpose.SEAT, turn)
    server.run(seat_link.play, token, turn, choice)
    while game.row().seq < 3 * SAVE_EVERY:
        game.play(min(game.asked()), game.asked()[min(game.asked())].default)
    views.save_overdue(server)
    world.carry()
    token, other = (world.links.of(game, seat)[1] for seat in (0, 1))
    templari = world.table(ann, ben, world.carla(), kind="templari")
    asked, giver = min(templari.asked()), (min(templari.asked()) + 1) % 3
    server.run(more_time.give, templari.id, giver, templari.person_at(giver), asked)
    given = templari.id, 3 - asked - giver, templari.person_at(3 - asked - giver)
    server.run(more_time.give_by_name, *given, templari.players()[asked].name, templari.row().turn)
    _has_a_second_chance(world, ann, ben, world.carla())
    _goes_back(world, ann, ben, world.carla())
    order = world.links.of(templari, giver)[1]
    server.run(seat_link.add_order, order, templari.row().turn, "up to 4")
    world.inbox.replies(templari, giver, "drop order 1")
    server.run(seat_link.add_order, order, templari.row().turn, "up to 3")
    server.run(seat_link.add_order, order, templari.row().turn, "up to 2 if high bid is over 1")
    server.run(seat_link.move_order, order, 1, "up to 2 if high bid at least 2", up=True)
    for rank, written in ((1, "up to 3"), (0, "up to 2 if high bid at least 2")):
        server.run(seat_link.drop_order, order, rank, written)
    server.run(seat_link.api_token, token)
    server.run(talk.say_by_link, token, "Good luck!")
    server.run(notes.save, token, "Ben bluffs.", notes.mark_of(""))
    server.run(notes.add, game.id, 0, game.person_at(0), "Often.")
    server.run(calls.report, other, 1)
    world.moderate(Redact(game.id, 1))
    _has_a_group(world, ann, ben, world.carla())
    server.run(friends.add, other, 0)
    server.run(friends.remove_seat, other, 0)
    server.run(friends.add, other, 0)
    server.run(friends.remove, game.person_at(1), game.person_at(0))
    server.run(blocks.block, other, 0)
    server.run(blocks.unblock_seat, other, 0)
    server.run(blocks.block, other, 0)
    server.run(blocks.unblock, game.person_at(1), game.person_at(0))
    calls.call_by_link(server, token, Purpose.SEAT, "Where am I?")
    server.run(leaving.agree_to_end, game.id, ann)
    server.run(leaving.play_on, game.id, ann)
    server.run(new_links.by_link, token)
    preview.preview(server, world.post.letterhead, "turn", game.id, 0)
    finished = world.table(ann, ben, world.carla(), options={"max_rounds": 1}, rated=True)
    for _ in finished.play_defaults():
        pass
    ratings.add_endings(server)
    world.carry()
    world.moderate(Correct(finished.id, "result", "none"))
    ratings.add_endings(server)
    game_statistics.count_games(server)
    game_statistics.rebuild(server)
    token = world.links.of(finished, 0)[1]
    server.run(replay.share, token)
    server.run(replay.stop_sharing, token)
    while reviews.make_next(server, sample):
        pass
    server.run(reviews.share, token, shared=True)
    world.carry()


def looks_after_oneself(world: AddressWorld) -> None:
    """Everything on one's own page, and behind the link to unsubscribe."""
    server, ann = world.server, world.other("Ann")
    game = world.table(ann, world.other("Ben"), world.carla())
    waiting = server.run(joining.create_table, ann, TableSettings("sunset-poker", 3)).game_id
    server.run(joining.join, waiting, ann)
    secret = server.run(sign_in.sign_in, world.links.made(Purpose.SIGN_IN, ann), "a telephone")
    session = server.read(sessions.find, secret)
    assert session is not None
    world.time.passes(DAY)
    sessions.note_use(server, session)
    seat = next(seat for seat, player in game.players().items() if player.person_id == ann)
    server.run(my_page.seat_token, ann, game.id, seat)
    server.run(my_page.table_token, ann, waiting)
    settings = {"name": "Anna", "zone": "Europe/Berlin", "quiet": "22:00-07:00", "cadence": "2h"}
    server.run(my_page.change_settings, ann, **settings, willing=True, sealed=True, reviews=True, show_ratings=True)
    server.run(my_page.change_week, ann, ("Sat", "Sun"), ("Mon",), "09:00-17:00")
    server.run(profiles.choose, ann, "everyone", "Sphinx", punctual=True)
    my_page.choose_delivery(server, ann, "daily", "08:00")
    server.run(vacations.book_text, ann, "2026-12-24 to 2026-12-26")
    server.run(vacations.cancel, ann, server.read(vacations.vacations, ann)[0][0].id)
    (email, *_) = queued_emails(server, ann, "turn")
    server.run(ledger.resend_own, ann, email.id)
    world.carry()
    server.run(ledger.resend_turn, ann, game.id, seat)
    server.run(ledger.resend_turn_of_seat, game.id, seat)
    token, key = world.links.made(Purpose.STOP, ann), game.row().key
    server.run(sign_in.send_by_link, token, Purpose.STOP)
    unsubscribe.choose(server, token, "daily", "08:00", key)
    unsubscribe.reset(server, token, key)
    unsubscribe.save(server, token, cadence="6h", quiet="", sealed=False, reviews=True)
    unsubscribe.set_topics(server, token, [Topic.TALK])
    server.run(preferences.switch_topic, ann, Topic.TURNS, on=True)
    unsubscribe.stop(server, token)
    server.run(sessions.end, Holder(person_id=ann), session.id)


def uses_channels(world: AddressWorld) -> None:
    """Channels of a player and of a table: entered, used, bouncing addresses, failing services, removed."""
    server, time = world.server, world.time
    ann, ben = world.other("Ann"), world.other("Ben")
    game = world.table(ann, ben, world.carla())
    works, fails = (ChannelPost(world.post.letterhead, Services(answer)) for answer in (usual, status(404)))
    rows = [
        server.run(channels.enter, ann, "discord", "https://discord.com/api/webhooks/1/a"),
        server.run(channels.enter, ann, "ntfy", "https://ntfy.sh/table", "", game.id),
    ]
    for row in rows:
        server.run(channels.send_again, ann, row)
        channel_delivery.deliver_messages(server, works)
        server.run(channels.prove, ann, row, code_sent_to(server, row))
    server.run(reachability.note_refusal, ann, "550 5.1.1 no such user")
    channel_delivery.send_batch(server, works)
    seat = _seat_of(game, ann)
    while seat in game.asked():
        game.play(seat, game.asked()[seat].default)
    for _ in range(3):
        time.passes(HOUR)
        channel_delivery.mark_done(server, works)
    while game.row().turn < 4:
        game.play(min(game.asked()), game.asked()[min(game.asked())].default)
    time.passes(HOUR)
    while channel_delivery.deliver_messages(server, fails):
        time.passes(HOUR)
    for row in rows:
        server.run(channels.remove, ann, row)


def finds_players(world: AddressWorld) -> None:
    """Tables planned and joined by strangers, more invitations, and seats that change hands."""
    server, time = world.server, world.time
    ann, ben = world.other("Ann"), world.other("Ben")
    planned = server.run(joining.ask_to_create, "zora@example.org", "Zora", TableSettings("sunset-poker", 3))
    private = server.run(joining.create_table, ann, TableSettings("sunset-poker", 3, private=True)).game_id
    dated = TableSettings("sunset-poker", 3, bots=("random",) * 2, starts_at=server.now() + HOUR)
    server.run(joining.join, server.run(joining.create_table, ann, dated).game_id, ann)
    time.passes(HOUR)
    start.start_due(server)
    server.run(joining.join, private, ann)
    server.run(invitations.invite, private, ann, ("ben@example.org", "dora@example.org"))
    world.carry()
    token = world.links.made(Purpose.INVITE, ann, private)
    by_link.ask_to_join(server, token, "yan@example.org", "Yan")
    world.carry()
    joining.accept(server, planned.game_id, _person_with(world, "zora@example.org"))
    game = world.table(ann, ben, world.carla(), successor=Successor.BOT, missed_limit=2)
    seat = _seat_of(game, ben)
    for other in set(game.asked()) - {seat}:
        game.play(other, game.asked()[other].default)
    time.sends()
    time.passes(2 * DAY)
    time.runs_out()
    # The others have more time, so the turn is still open when its second miss is noted.
    time.sends()
    for other in (others := set(game.asked()) - {seat}):
        world.moderate(Extend(game.id, "5d", other))
    time.passes(2 * DAY)
    time.runs_out()
    for other in others:
        game.play(other, game.asked()[other].default)
    time.seats_change()
    server.run(substitutes.come_back, game.id, seat, ben)
    dora = world.other("Dora")
    server.run(offers.set_volunteer, dora, volunteers=True)
    offered = world.table(ann, ben, world.carla(), successor=Successor.SUBSTITUTE)
    server.run(leaving.resign, offered.id, _seat_of(offered, ben), ben)
    (offer,) = server.read(offers.open_offers)
    token = world.links.made(Purpose.CONFIRM, dora, offered.id)
    by_link.take_over(server, token, offer.id, offer.seat, "Dora")
    by_link.to_seat(server, token)
    for by in (Actor.PERSON, Actor.CLOCK):
        offered = world.table(ann, ben, world.carla(), successor=Successor.SUBSTITUTE)
        gone, *_ = offered.asked()
        world.moderate(Offer(offered.id, gone))
        (offer,) = server.read(offers.open_offers)
        hers = world.links.made(Purpose.CONFIRM, world.other("Eve"), offered.id)
        by_link.take_over(server, hers, offer.id, offer.seat, "Eve")
        by_link.withdraw(server, hers, offer.id, offer.seat)
        token = world.links.made(Purpose.CONFIRM, dora, offered.id)
        by_link.take_over(server, token, offer.id, offer.seat, "Dora")
        for seat, decision in offered.asked().items():
            offered.play(seat, decision.default, by if seat == gone else Actor.PERSON)
        time.seats_change()
        world.carry()
        assert (offered.person_at(gone) == dora) is (by is Actor.CLOCK)


def receives(world: AddressWorld) -> None:
    """What arrives: bounces, doubtful replies confirmed and rejected, the test email, and what failed before."""
    server, inbox = world.server, world.inbox
    ann, ben = world.other("Ann"), world.other("Ben")
    game = world.table(ann, ben, world.carla())
    inbox.takes(report_samples.failure("5.1.1", "smtp; 550 5.1.1 no such user"), inbox.bounce_address(game, 0)[1], "")
    inbox.attends()
    for decide in (unverified_replies.reject, unverified_replies.confirm):
        world.reply(game, 1, _default(game, 1), "Mallory <mallory@example.net>")
        question = queued_emails(server, game.person_at(1), EmailKind.WAS_IT_YOU)[-1]
        token = inbox.token(Purpose.WRITTEN, person_id=game.person_at(1), outbox_id=question.id)
        (waiting,) = unverified_replies.read(server, token).waiting
        if decide is unverified_replies.confirm:
            unverified_replies.confirm(server, token, waiting.number)
        else:
            server.run(unverified_replies.reject, token, waiting.number)
    server.run(round_trip.open_address)
    to = f"r+{server.run(round_trip.address)}@play.example.org"
    word = "Authentication-Results: play.example.org; dmarc=pass header.from=example.org"
    inbox.takes(f"Received: from mx by us\r\n{word}\r\nFrom: o@example.org\r\nTo: {to}\r\n\r\nx".encode(), to)
    inbox.attends()
    inbox.takes(inbox.written(game, 2, _default(game, 2)), inbox.reply_address(game, 2))
    with patch("pbem.service.incoming.replies.carry_out", _fail):
        for _ in range(12):
            inbox.attends()
            world.clock.advance(HOUR)
    server.run(processing.retry)
    inbox.attends()
    late, to = inbox.written(game, 2, _default(game, 2)), inbox.reply_address(game, 2)
    server.run(leaving.resign, game.id, 2, game.person_at(2))
    inbox.takes(late, to)
    inbox.attends()
    _gets_an_address_that_was_invited(world, ann)


def _gets_an_address_that_was_invited(world: AddressWorld, ann: int) -> None:
    """Ann changes to an address that was invited before, and answers the invitation."""
    server, address = world.server, "later@example.org"
    table = server.run(joining.create_table, ann, TableSettings("sunset-poker", 3, private=True)).game_id
    server.run(invitations.invite, table, ann, (address,))
    gone = _person_with(world, address)
    (email,) = queued_emails(server, gone, EmailKind.INVITATION)
    server.run(change_address.change_address, ann, address)
    token = world.inbox.token(Purpose.REPLY, person_id=gone, game_id=table, outbox_id=email.id)
    proof = "play.example.org; dmarc=pass header.from=example.org"
    world.inbox.answers_email(gone, token, "yes", From=address, Authentication_Results=proof)


def at_the_desk(world: AddressWorld) -> None:
    """Organisers come, look, act and go."""
    server, ann = world.server, world.other("Ann")
    game = world.table(ann, world.other("Ben"), world.carla())
    organisers.add(server, ROOT, "Otto", "otto@example.org", PASSPHRASE)
    add_organiser(server, "Olga")
    secret = desk_sign_in.sign_in(server, "Olga", PASSPHRASE, "", "Firefox")
    session = server.read(sessions.find, secret)
    assert session is not None
    desk_sign_in.check_again(server, session, PASSPHRASE)
    server.run(desk_sign_in.ask_for_codes, session, SECRET, TOTP(SECRET).at(world.clock.now()))
    server.run(desk_sign_in.ask_for_no_codes, session)
    desk_sign_in.change(server, session, PASSPHRASE, "another four words here")
    server.run(table.see_as, OLGA, game.id, 0, REASON)
    (email, *_) = queued_emails(server, ann, "turn")
    server.run(desk_email.read, OLGA, email.id, REASON, game_id=game.id)
    number = server.run(calls.call_from_address, "zora@example.org", "Hello?")
    server.run(calls.close, OLGA, number, REASON)
    number = server.run(calls.call, ann, "My mail is gone.", game_id=game.id)
    server.run(perform, OLGA, Resend(game.id, email.id), REASON, call_id=number)
    for act in (Pause(game.id), Resume(game.id), Extend(game.id, "1d"), PauseMail(), ResumeMail()):
        world.moderate(act)
        world.time.passes(10 * MINUTE)
    now = world.clock.now()
    world.moderate(DeclareOutage(now - 2 * HOUR, now - HOUR))
    world.time.wakes()
    job = server.run(jobs.begin, OLGA, jobs.What.PAUSE, {}, REASON, "a key")
    server.run(jobs.stop, OLGA, job, REASON)
    server.run(links.renew_emails)
    server.run(organisers.remove, ROOT, "Otto")
    server.run(web_servers.beat, "web-1")
    for _ in range(3):
        world.time.passes(4 * MINUTE)
        world.time.wakes()
    web_servers.tell(server)
    world.time.passes(HOUR)
    server.run(web_servers.beat, "web-1")


def puts_back(world: AddressWorld) -> None:
    """A table is exported while it is played, and put back as it was."""
    server = world.server
    game = world.table(world.other("Ann"), world.other("Ben"), world.carla())
    game.play(1, _default(game, 1))
    server.run(talk.say, game.id, 1, game.person_at(1), "Good luck!")
    _, text = server.run(export_table.export, ROOT, game.id, REASON)
    game.play(0, _default(game, 0))
    game.play(2, _default(game, 2))
    world.moderate(Redact(game.id, 1))
    world.carry()
    server.run(put_back.put_back, ROOT, table_file.read(text), REASON, replacing=True)


def _with_bots(world: AddressWorld, person: int) -> RunningGame:
    settings = TableSettings("bid", 3, {}, "1d", bots=("random", "greedy"))
    game_id = world.server.run(joining.create_table, person, settings).game_id
    world.server.run(joining.join, game_id, person)
    return RunningGame(world.server, game_id)


def _default(game: RunningGame, seat: int) -> str:
    decision = game.open()[seat]
    return grammar.write(decision, decision.default)


def _seat_of(game: RunningGame, person: int) -> int:
    return next(seat for seat, player in game.players().items() if player.person_id == person)


def _says(result: Result, _email: OutgoingEmail) -> Outcome:
    return Outcome(result, "550 no")


def _fail(*_: object, **__: object) -> None:
    raise RuntimeError("this fails")


def _away(*_: object) -> None:
    raise BrokenCallError("while a bot decides")


class _Steady:
    """The clock that nobody sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def _look(tx: Tx, game_id: int) -> CheckResult:
    report = verify_game(tx, game_id)
    return CheckResult(report.rows, len(report.problems), 0)


def _person_with(world: AddressWorld, address: str) -> int:
    person = world.server.query(people.by_mailbox, address)
    assert person is not None
    return person.id


def _accept_later(world: AddressWorld, post: Post) -> Outcome:
    """What a slow relay says: meanwhile the worker renews its lease."""
    deliver.keep_lease(world.server, post)
    return ACCEPTED


STORIES: Final[Mapping[str, Story]] = dict(OF_ADDRESSES) | {
    story.__name__: story
    for story in (
        works,
        fails,
        plays_by_links,
        looks_after_oneself,
        uses_channels,
        finds_players,
        receives,
        at_the_desk,
        puts_back,
    )
}
