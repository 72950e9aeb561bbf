"""“This wasn't me”: the owner of an account ends everything a stranger could use, and gets their address back."""

from datetime import timedelta

import pytest

from pbem import paths
from pbem.domain.errors import Forbidden, Gone, NotFound, Refusal
from pbem.service import links as service_links
from pbem.service.account import change_address, channels, consent, delete, disown, feeds
from pbem.service.desk.acts.people import Delete, Merge
from pbem.service.outgoing import channel_delivery, new_links, unsubscribe
from pbem.service.outgoing.channel_delivery import ChannelPost
from pbem.service.people import addresses, sessions, sign_in
from pbem.service.tables import joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store import channels as channel_rows, people
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.channels.far_end import Services, code_sent_to
from tests.mail.kinds import kind_of
from tests.service.actors import moderate
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.inbox import Inbox
from tests.service.outgoing.test_channel_delivery import LETTERHEAD
from tests.service.outgoing.test_deliver import drain, links_in, post_to

OLD, NEW, THIRD = "ann@example.org", "stranger@example.net", "further@example.net"


@pytest.fixture
def emails_to(server, clock, sink):
    """emails_to(address) -> the newest email of each kind there, by kind."""

    def of(address):
        clock.advance(timedelta(minutes=2))
        drain(server, clock, post_to(sink))
        return {kind_of(email.message): email for email in sink.to(address)}

    return of


@pytest.fixture
def ann(person):
    return person("Ann")


def token_in(email, purpose):
    return next(token for kind, token, _ in links_in(email) if kind == purpose)


def move(server, emails_to, ann, address):
    """A change of address, asked for and confirmed."""
    server.run(change_address.ask, ann, address)
    server.run(consent.give_consent, token_in(emails_to(address)["new_address"], "y"))


def address_of(server, person):
    return server.read(addresses.read, person).address


def test_a_sign_in_link_works_once(server, emails_to, ann):
    server.run(sign_in.send_link, OLD)
    token = token_in(emails_to(OLD)["links"], "l")
    server.run(sign_in.sign_in, token, "")
    with pytest.raises(Gone, match="has been used"):
        server.run(sign_in.sign_in, token, "")
    with pytest.raises(Gone, match="has been used"):
        server.read(sign_in.name_of_link, token)


def test_a_warning_that_a_stranger_has_as_well_ends_no_links_that_it_has_just_made(server, clock, emails_to, ann):
    server.run(delete.ask, ann)
    warning = token_in(emails_to(OLD)["deletion"], "d")
    server.run(disown.disown, warning)
    server.run(disown.disown, warning)
    assert len(queued_emails(server, ann, "links")) == 1
    server.run(sign_in.sign_in, token_in(emails_to(OLD)["links"], "l"), "")
    clock.advance(timedelta(hours=1))
    server.run(disown.disown, warning)
    assert len(queued_emails(server, ann, "links")) == 2


def test_a_warning_works_again_once_a_clock_that_was_ahead_is_set_back(server, clock, emails_to, ann):
    server.run(delete.ask, ann)
    warning = token_in(emails_to(OLD)["deletion"], "d")
    clock.advance(timedelta(days=1))
    server.run(disown.disown, warning)
    clock.set(clock.now() - timedelta(days=1))
    server.run(disown.disown, warning)
    assert len(queued_emails(server, ann, "links")) == 2


def change_asked_for(server, emails_to, inbox, game, seat, ann):
    server.run(change_address.ask, ann, NEW)


def address_changed(server, emails_to, inbox, game, seat, ann):
    move(server, emails_to, ann, NEW)


def deletion_asked_for(server, emails_to, inbox, game, seat, ann):
    server.run(delete.ask, ann)


def reply_forged(server, emails_to, inbox, game, seat, ann):
    inbox.replies(game, seat, "pass", From="ben@evil.example")


def channel_added(server, emails_to, inbox, game, seat, ann):
    channel = server.run(channels.enter, ann, "ntfy", "https://ntfy.sh/strangers-own")
    server.run(channels.prove, ann, channel, code_sent_to(server, channel))
    channel_delivery.deliver_messages(server, ChannelPost(LETTERHEAD, Services()))


WARNINGS = {
    "new_address": change_asked_for,
    "moved": address_changed,
    "deletion": deletion_asked_for,
    "was_it_you": reply_forged,
    "channel": channel_added,
}
"""What each kind of email with “This wasn't me” warns of."""


def test_every_warning_is_tried_here():
    bodies = (paths.templates() / "mail").glob("*/body.jinja")
    assert {body.parent.name for body in bodies if "disown" in body.read_text(encoding="utf-8")} == {*WARNINGS}


@pytest.mark.parametrize("ends", ["others", *WARNINGS])
def test_everything_outstanding_ends_together(server, clock, emails_to, table, ends):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    ann = game.person_at(seat)
    old = address_of(server, ann)
    if ends != "others":
        WARNINGS[ends](server, emails_to, Inbox(server, clock), game, seat, ann)
        warning = token_in(emails_to(old)[ends], "d")
    # Where a stranger reads, if the address was changed.
    read = address_of(server, ann)
    seat_link = token_in(emails_to(read)["turn"], "s")
    server.run(sign_in.send_link_to, ann)
    sign_in_link = token_in(emails_to(read)["links"], "l")
    api = server.run(service_links.make_token, service_links.LinkKey(Purpose.API, ann, game.id, None, seat))
    stranger = server.run(sessions.start, Holder(person_id=ann), "")
    server.run(feeds.renew, ann)
    feed = server.read(feeds.feed_tokens, ann).calendar
    server.run(change_address.ask, ann, THIRD)
    requests = [token_in(emails_to(THIRD)["new_address"], "y")]
    if ends == "deletion":
        requests.append(token_in(emails_to(old)["deletion"], "y"))
    if ends == "others":
        here = server.read(sessions.find, server.run(sessions.start, Holder(person_id=ann), ""))
        server.run(new_links.send, ann, here.id)
        assert len(server.read(sessions.open_sessions, Holder(person_id=ann))) == 1
    else:
        before = all_rows(server.store)
        server.read(disown.check, warning)
        assert all_rows(server.store) == before
        server.run(disown.disown, warning)
        assert server.read(sessions.open_sessions, Holder(person_id=ann)) == []
    ended = (seat_link, Purpose.SEAT), (sign_in_link, Purpose.SIGN_IN), (api, Purpose.API), (feed, Purpose.CALENDAR)
    for token, purpose in ended:
        # Of a link that was replaced twice, nothing is known any more.
        with pytest.raises((Gone, NotFound)):
            server.read(service_links.follow, token, purpose)
    assert server.read(sessions.find, stranger) is None
    assert not server.query(channel_rows.reaches, ann)
    for unread in requests:
        with pytest.raises(Gone):
            server.run(consent.give_consent, unread)
        with pytest.raises(Gone):
            server.read(consent.consent_request, unread)
    assert address_of(server, ann) == old
    server.run(sign_in.sign_in, token_in(emails_to(old)["links"], "l"), "")
    fresh = token_in(emails_to(old)["turn"], "s")
    assert server.read(service_links.follow_seat, fresh).person_id == ann


def test_a_host_ends_a_channel_that_a_stranger_added_to_their_table(server, emails_to, table):
    game = table("templari", 3)
    host = game.row().host_id
    channel = server.run(channels.enter, host, "ntfy", "https://ntfy.sh/strangers-own", "", game.id)
    server.run(channels.prove, host, channel, code_sent_to(server, channel))
    channel_delivery.deliver_messages(server, ChannelPost(LETTERHEAD, Services()))
    for player in game.players().values():
        kinds = {kind for kind, *_ in links_in(emails_to(address_of(server, player.person_id))["channel"])}
        assert ("d" in kinds) is (player.person_id == host)
    server.run(disown.disown, token_in(emails_to(address_of(server, host))["channel"], "d"))
    assert server.query(channel_rows.read, channel).status == "failed"
    assert "Your channels are off" in emails_to(address_of(server, host))["links"].text


def test_fresh_emails_can_be_unsubscribed_from_and_old_ones_stop_nothing(server, emails_to, ann):
    server.run(sign_in.send_link, OLD)
    old = token_in(emails_to(OLD)["links"], "u")
    server.run(new_links.send, ann)
    with pytest.raises(Gone):
        unsubscribe.stop(server, old)
    fresh = token_in(emails_to(OLD)["links"], "u")
    unsubscribe.stop(server, fresh)
    assert server.read(unsubscribe.read, fresh).preferences.delivery == unsubscribe.NOTHING


@pytest.mark.parametrize("warning", ["new_address", "moved"])
def test_an_account_that_was_taken_over_comes_back(server, emails_to, ann, warning):
    move(server, emails_to, ann, NEW)
    move(server, emails_to, ann, THIRD)
    stranger = server.run(sessions.start, Holder(person_id=ann), "")
    emails = emails_to(NEW)
    later = [token_in(emails[kind], "d") for kind in ("new_address", "moved")]
    server.run(disown.disown, token_in(emails_to(OLD)[warning], "d"))
    assert address_of(server, ann) == OLD
    assert server.read(sessions.find, stranger) is None
    assert server.run(sign_in.sign_in, token_in(emails_to(OLD)["links"], "l"), "")
    for token in later:
        with pytest.raises(Gone):
            server.run(disown.disown, token)
    assert address_of(server, ann) == OLD
    assert "d" not in {kind for kind, _, _ in links_in(emails_to(THIRD)["moved"])}


def plan_a_table(server, person):
    server.run(joining.ask_to_create, OLD, "x", TableSettings("sunset-poker", 3))


def plan_a_table_that_expires(server, person):
    plan_a_table(server, person)
    server.clock.advance(timedelta(days=8))
    leaving.expire(server)


def ask_for_a_seat(server, person):
    waiting = server.run(joining.create_table, person("Ben"), TableSettings("sunset-poker", 3)).game_id
    server.run(joining.ask_to_join, waiting, OLD, "x")


def confirm_the_address_again(server, person):
    server.run(addresses.confirm, server.run(addresses.register, OLD, "Ann").id)


def open_a_table_and_close_it(server, person):
    host = server.run(addresses.confirm, server.run(addresses.register, OLD, "Ann").id).id
    opened = server.run(joining.create_table, host, TableSettings("sunset-poker", 3)).game_id
    server.run(leaving.leave, opened, host)


@pytest.mark.parametrize(
    "do",
    [plan_a_table, plan_a_table_that_expires, ask_for_a_seat, confirm_the_address_again, open_a_table_and_close_it],
)
def test_nothing_done_with_the_old_address_keeps_it_from_its_owner(server, emails_to, ann, person, do):
    move(server, emails_to, ann, NEW)
    token = token_in(emails_to(OLD)["moved"], "d")
    stranger = server.run(sessions.start, Holder(person_id=ann), "")
    do(server, person)
    assert server.run(disown.disown, token) is None
    assert address_of(server, ann) == OLD
    assert server.read(sessions.find, stranger) is None
    assert server.run(sign_in.sign_in, token_in(emails_to(OLD)["links"], "l"), "")


def test_a_player_who_has_the_old_address_keeps_it_and_everything_else_ends(server, emails_to, ann, person):
    move(server, emails_to, ann, NEW)
    token = token_in(emails_to(OLD)["moved"], "d")
    server.run(change_address.ask, ann, THIRD)
    request = token_in(emails_to(THIRD)["new_address"], "y")
    server.run(sign_in.send_link_to, ann)
    sign_in_link = token_in(emails_to(NEW)["links"], "l")
    stranger = server.run(sessions.start, Holder(person_id=ann), "")
    confirm_the_address_again(server, person)
    holder = server.read(sign_in_id, OLD)
    waiting = server.run(joining.create_table, person("Ben"), TableSettings("sunset-poker", 3)).game_id
    server.run(joining.join, waiting, holder)
    emailed = len(queued_emails(server, ann))
    refused = server.run(disown.disown, token)
    assert "organiser" in refused.remedy
    assert (address_of(server, ann), address_of(server, holder)) == (NEW, OLD)
    assert server.read(sessions.find, stranger) is None
    for unread, follow in ((request, consent.give_consent), (sign_in_link, sign_in.sign_in)):
        with pytest.raises(Gone):
            server.run(follow, unread, *[""] * (follow is sign_in.sign_in))
    assert len(queued_emails(server, ann)) == emailed, "nothing new goes to the stranger"


def test_a_link_that_confirmed_the_old_address_is_of_no_use_once_it_is_back(server, emails_to, ann, person):
    move(server, emails_to, ann, NEW)
    plan_a_table(server, person)
    emails = emails_to(OLD)
    server.run(disown.disown, token_in(emails["moved"], "d"))
    with pytest.raises(Gone):
        server.read(service_links.follow, token_in(emails["confirm"], "c"), Purpose.CONFIRM)


def test_an_address_that_has_moved_to_another_account_is_not_confirmed_by_an_older_link(server, emails_to, ann, person):
    server.run(joining.ask_to_create, NEW, "x", TableSettings("sunset-poker", 3))
    older = service_links.PersonLink.of(
        server.read(service_links.follow, token_in(emails_to(NEW)["confirm"], "c"), Purpose.CONFIRM)
    )
    move(server, emails_to, ann, NEW)
    with pytest.raises(Gone):
        server.run(addresses.confirm, older.person_id)


def sign_in_id(tx, server, address):
    found = people.by_mailbox(tx, address)
    assert found is not None
    return found.id


def test_an_address_that_is_only_written_otherwise_does_not_keep_anything_alive(server, emails_to, ann):
    server.run(change_address.ask, ann, NEW)
    warning = token_in(emails_to(OLD)["new_address"], "d")
    stranger = server.run(sessions.start, Holder(person_id=ann), "")
    server.store.write(lambda tx: people.change(tx, ann, address=OLD.upper()))
    assert server.run(disown.disown, warning) is None
    assert server.read(sessions.find, stranger) is None


def test_a_stranger_cannot_use_the_link_to_keep_the_account(server, emails_to, ann):
    move(server, emails_to, ann, NEW)
    owners = token_in(emails_to(OLD)["moved"], "d")
    move(server, emails_to, ann, THIRD)
    server.run(disown.disown, token_in(emails_to(NEW)["moved"], "d"))
    assert address_of(server, ann) == NEW
    server.run(disown.disown, owners)
    assert address_of(server, ann) == OLD


def test_a_change_by_an_organiser_is_final(server, emails_to, ann):
    server.run(change_address.ask, ann, NEW)
    warning = token_in(emails_to(OLD)["new_address"], "d")
    server.run(change_address.change_address, ann, THIRD, "a reason")
    assert "d" not in {kind for kind, _, _ in links_in(emails_to(OLD)["moved"])}
    with pytest.raises(Gone):
        server.run(disown.disown, warning)
    assert address_of(server, ann) == THIRD


def test_of_two_requests_for_an_address_the_first_confirmed_counts(server, emails_to, ann):
    server.run(change_address.ask, ann, THIRD)
    other = token_in(emails_to(THIRD)["new_address"], "y")
    move(server, emails_to, ann, NEW)
    with pytest.raises(Gone):
        server.run(consent.give_consent, other)
    assert address_of(server, ann) == NEW


def test_an_account_cannot_be_deleted_while_its_owner_can_take_it_back(server, emails_to, clock, ann):
    move(server, emails_to, ann, NEW)
    owners = token_in(emails_to(OLD)["moved"], "d")
    with pytest.raises(Forbidden, match="two weeks"):
        server.run(delete.ask, ann)
    clock.advance(timedelta(days=13))
    with pytest.raises(Forbidden, match="two weeks"):
        server.run(delete.delete_by_consent, ann)
    server.run(disown.disown, owners)
    assert address_of(server, ann) == OLD


def merge(person, other):
    return Merge(other, person)


def delete_at_the_desk(person, other):
    return Delete(person)


@pytest.mark.parametrize("act", [merge, delete_at_the_desk])
def test_no_organiser_ends_an_account_while_its_owner_can_take_it_back(server, emails_to, clock, person, ann, act):
    move(server, emails_to, ann, NEW)
    owners = token_in(emails_to(OLD)["moved"], "d")
    clock.advance(timedelta(days=13))
    with pytest.raises(Forbidden, match="two weeks"):
        moderate(server, act(ann, person("Carla")))
    server.run(disown.disown, owners)
    assert address_of(server, ann) == OLD


def test_an_account_can_be_merged_into_another_two_weeks_after_a_change_of_address(
    server, emails_to, clock, person, ann
):
    move(server, emails_to, ann, NEW)
    clock.advance(timedelta(days=14, minutes=5))
    moderate(server, Merge(person("Carla"), ann))


def test_an_account_can_be_deleted_two_weeks_after_a_change_of_address(server, emails_to, clock, ann):
    move(server, emails_to, ann, NEW)
    owners = token_in(emails_to(OLD)["moved"], "d")
    clock.advance(timedelta(days=14, minutes=5))
    server.run(delete.ask, ann)
    server.run(consent.give_consent, token_in(emails_to(NEW)["deletion"], "y"))
    with pytest.raises(Gone):
        server.run(disown.disown, owners)


def test_the_next_owner_of_a_left_address_can_delete_their_account_at_once(server, emails_to, ann):
    move(server, emails_to, ann, NEW)
    next_owner = server.run(addresses.confirm, server.run(addresses.find_or_add, OLD).id).id
    server.run(delete.ask, next_owner)
    assert "deletion" in emails_to(OLD)


def test_nothing_is_ended_for_someone_who_has_left(server, emails_to, ann):
    server.run(delete.ask, ann)
    warning = token_in(emails_to(OLD)["deletion"], "d")
    server.run(delete.delete_person, ann)
    with pytest.raises(Refusal):
        server.run(disown.disown, warning)


@pytest.mark.slow
def test_everything_ends_or_nothing(server, emails_to, ann):
    move(server, emails_to, ann, NEW)
    token = token_in(emails_to(OLD)["moved"], "d")
    assert check_atomic(server.store, lambda: server.run(disown.disown, token)) > 5
