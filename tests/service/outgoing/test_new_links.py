"""New links for one seat: what acts for it ends, everything else of its player goes on."""

from datetime import timedelta
from functools import partial

import pytest

from pbem.domain.errors import Forbidden, Gone
from pbem.service import links as service_links
from pbem.service.account import feeds
from pbem.service.desk.acts.people import NewLinks
from pbem.service.desk.acts.seats import NewSeatLinks
from pbem.service.outgoing import new_links
from pbem.service.people import sessions
from pbem.service.play import by_link
from pbem.service.play.move import Actor
from pbem.service.tables import demo
from pbem.store import leases
from pbem.store.links import LinkKey
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.database import queued_emails
from tests.service.inbox import Inbox
from tests.service.outgoing.test_deliver import drain, links_in, post_to
from tests.service.races import meetings

OF_SEAT = (Purpose.MOVE, Purpose.SEAT, Purpose.REPLY, Purpose.API)


def tokens_of(server, person_id, game, seat):
    """A token of each purpose that acts for a seat."""

    def make(tx):
        turn = game.row().turn
        keys = [LinkKey(Purpose.API, person_id, game.id, None, seat), LinkKey(Purpose.CONFIRM, person_id, game.id)]
        keys += [LinkKey(each, person_id, game.id, turn, seat) for each in (Purpose.MOVE, Purpose.SEAT, Purpose.REPLY)]
        return {Purpose(key.purpose): service_links.make_token(tx, server, key) for key in keys}

    return server.store.write(make)


def seat_of(game, person_id):
    return next(seat for seat, player in game.players().items() if player.person_id == person_id)


@pytest.fixture
def game(table):
    return table("sunset-poker", 3)


@pytest.fixture
def ann(game):
    return game.person_at(0)


def alive(server, tokens):
    """The purposes of the tokens that work."""
    found = set()
    for purpose, token in tokens.items():
        try:
            server.read(service_links.follow, token, purpose)
        except Gone:
            continue
        found.add(purpose)
    return found


def test_every_old_link_of_the_seat_dies_and_all_others_live(server, table, game, ann):
    other = table("sunset-poker", 3)
    old, elsewhere, of_ben = (
        tokens_of(server, ann, game, 0),
        tokens_of(server, ann, other, seat_of(other, ann)),
        tokens_of(server, game.person_at(1), game, 1),
    )
    here = server.run(sessions.start, Holder(person_id=ann), "")
    server.run(feeds.renew, ann)
    calendar = server.read(feeds.feed_tokens, ann)
    server.run(new_links.send_for_seat, game.id, 0, ann)
    assert not alive(server, old)
    assert alive(server, elsewhere) == elsewhere.keys()
    assert alive(server, of_ben) == of_ben.keys()
    assert server.read(sessions.find, here) is not None
    assert server.read(feeds.feed_tokens, ann) == calendar


def test_fresh_links_arrive_by_email(server, clock, sink, game, ann):
    drain(server, clock, post_to(sink))
    before = len(sink.to("ann@example.org"))
    server.run(new_links.send_for_seat, game.id, 0, ann)
    clock.advance(timedelta(minutes=2))
    drain(server, clock, post_to(sink))
    fresh = sink.to("ann@example.org")[before:]
    tokens = {(purpose, token) for email in fresh for purpose, token, _ in links_in(email)}
    assert {"m", "s", "l"} <= {purpose for purpose, _ in tokens}
    for purpose, token in tokens:
        assert server.read(service_links.follow, token, Purpose(purpose))


@pytest.mark.parametrize("of_seat", [True, False])
def test_the_email_says_who_renewed_the_links_and_why(server, clock, sink, game, ann, of_seat):
    def arrives(renew):
        drain(server, clock, post_to(sink))
        before = len(sink.to("ann@example.org"))
        renew()
        clock.advance(timedelta(minutes=2))
        drain(server, clock, post_to(sink))
        texts = [" ".join(email.text.split()) for email in sink.to("ann@example.org")[before:]]
        return next(text for text in texts if "new links" in text)

    act = NewSeatLinks(game.id, 0) if of_seat else NewLinks(ann)
    by_organiser = arrives(lambda: moderate(server, act, "Your brother has your phone."))
    assert "The organiser sent you new links. Your old links no longer work." in by_organiser
    assert "The organiser wrote: Your brother has your phone." in by_organiser
    renews = (new_links.send_for_seat, game.id, 0, ann) if of_seat else (new_links.send, ann)
    own = arrives(lambda: server.run(*renews))
    assert "Here are your new links. Your old links no longer work." in own
    assert "organiser wrote" not in own
    assert not any("typed your address" in text for text in (own, by_organiser))


def test_an_email_on_its_way_has_the_new_links(server, clock, sink, game, ann):
    """It was queued before, and the link was made before."""
    tokens_of(server, ann, game, 0)
    server.run(new_links.send_for_seat, game.id, 0, ann)
    drain(server, clock, post_to(sink))
    (turn,) = [email for email in sink.to("ann@example.org") if "m" in {kind for kind, _, _ in links_in(email)}]
    for purpose, token, _ in links_in(turn):
        assert server.read(service_links.follow, token, Purpose(purpose))


def test_a_sealed_choice_stays(server, game, ann):
    default = game.asked()[0].default
    game.play(0, default, Actor.PERSON)
    server.run(new_links.send_for_seat, game.id, 0, ann)
    assert 0 not in game.asked()


def test_a_turn_whose_email_is_just_being_sent_is_emailed_again(server, clock, game, ann):
    """What a worker has begun to send may leave with the old links."""
    assert server.dry_run(new_links.send_for_seat, game.id, 0, ann) == 0
    clock.advance(timedelta(minutes=2))
    now = server.now()
    server.store.write(lambda tx: leases.claim(tx, now, 1, 100))
    assert server.run(new_links.send_for_seat, game.id, 0, ann) == 1


@pytest.mark.parametrize("renewed_first", [False, True])
def test_a_move_at_the_same_moment_counts_or_is_refused(server, table, renewed_first):
    for meeting in meetings(server.store):
        game = table("sunset-poker", 3)
        ann = game.person_at(0)
        token = tokens_of(server, ann, game, 0)[Purpose.SEAT]
        turn, choice = game.row().turn, game.asked()[0].default

        def plays(token=token, turn=turn, choice=choice):
            try:
                return server.run(by_link.play, token, turn, choice)
            except Gone:
                return None

        renews = partial(server.run, new_links.send_for_seat, game.id, 0, ann)
        moved = meeting(renews, plays)[1] if renewed_first else meeting(plays, renews)[0]
        assert (0 in game.asked()) == (moved is None)
        fresh = tokens_of(server, ann, game, 0)[Purpose.SEAT]
        server.run(by_link.play, fresh, turn, choice)
        assert 0 not in game.asked()


def test_a_reply_that_came_before_is_asked_about(server, clock, game, ann):
    inbox, before = Inbox(server, clock), set(game.asked())
    inbox.takes(inbox.written(game, 0, "pass"), inbox.reply_address(game, 0))
    server.run(new_links.send_for_seat, game.id, 0, ann)
    inbox.attends()
    assert queued_emails(server, ann, "was_it_you")
    assert not queued_emails(server, ann, "receipt")
    assert set(game.asked()) == before


def test_the_question_about_a_reply_can_be_answered_no_more(server, clock, game, ann):
    inbox = Inbox(server, clock)
    inbox.takes(inbox.written(game, 0, "pass", {"From": "Mallory <m@example.com>"}), inbox.reply_address(game, 0))
    inbox.attends()
    (question,) = queued_emails(server, ann, "was_it_you")
    confirms = {Purpose.WRITTEN: inbox.token(Purpose.WRITTEN, person_id=ann, outbox_id=question.id)}
    server.run(new_links.send_for_seat, game.id, 0, ann)
    assert not alive(server, confirms)


def test_an_old_link_can_make_no_move_and_no_new_links(server, game, ann):
    old = tokens_of(server, ann, game, 0)
    server.run(new_links.by_link, old[Purpose.SEAT])
    with pytest.raises(Gone):
        server.run(by_link.play, old[Purpose.SEAT], game.row().turn, game.asked()[0].default)
    with pytest.raises(Gone):
        server.run(new_links.by_link, old[Purpose.SEAT])


def test_nobody_renews_the_links_of_another_seat(server, game, ann):
    with pytest.raises(Gone, match="Someone else"):
        server.run(new_links.send_for_seat, game.id, 1, ann)


def test_a_guest_keeps_the_only_link_they_have(server):
    token = demo.begin(server, "sunset-poker")
    with pytest.raises(Forbidden, match="no address"):
        server.run(new_links.by_link, token)


def test_an_organiser_renews_one_seat_or_everything(server, table, game, ann):
    other = table("sunset-poker", 3)
    old, elsewhere = tokens_of(server, ann, game, 0), tokens_of(server, ann, other, seat_of(other, ann))
    moderate(server, NewSeatLinks(game.id, 0))
    assert (alive(server, old), alive(server, elsewhere)) == (set(), elsewhere.keys())
    moderate(server, NewLinks(ann))
    assert not alive(server, elsewhere)


def test_a_bot_has_no_links(server, table):
    game = table("sunset-poker", 3, bots=("greedy",))
    with pytest.raises(Gone, match="No person plays this seat, so it has no links"):
        moderate(server, NewSeatLinks(game.id, next(seat for seat, each in game.players().items() if each.bot)))
