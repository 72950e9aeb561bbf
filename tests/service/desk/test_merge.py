"""Two addresses of one person become one: everything goes on, at the address that stays."""

import json
from functools import partial

import pytest

from pbem.domain.delivery import parse_delivery
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, Refusal, Stale
from pbem.service import links
from pbem.service.account import channels, delete
from pbem.service.clocks import vacations
from pbem.service.desk.acts.people import Merge
from pbem.service.desk.acts.perform import perform
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import channel_delivery, preferences
from pbem.service.outgoing.channel_delivery import ChannelPost
from pbem.service.people import addresses, sessions
from pbem.service.play.log import Kind
from pbem.service.play.move import Actor, play_locked
from pbem.service.tables import groups, invitations, joining
from pbem.service.tables.new import TableSettings
from pbem.store import (
    blocks,
    channels as channel_rows,
    friends,
    games,
    groups as group_rows,
    notes,
    people,
    tables as waiting,
    vacations as vacation_rows,
)
from pbem.store.blocks import BlockRow
from pbem.store.links import LinkKey
from pbem.store.schema import FriendRow
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.channels.far_end import Services, code_sent_to
from tests.mail.kinds import kind_of
from tests.service.actors import OLGA, moderate
from tests.service.database import all_rows, check_atomic, facts_of, queued_emails
from tests.service.outgoing.test_channel_delivery import LETTERHEAD
from tests.service.outgoing.test_deliver import drain, post_to
from tests.service.races import at_call, meetings


@pytest.fixture
def game(table):
    """A table at which Ann and Ben play."""
    return table("sun-bid", 2)


@pytest.fixture
def ann(person):
    return person("Ann")


@pytest.fixture
def annabel(person):
    """The same person by another address, who plays nowhere yet."""
    return person("Annabel")


def test_after_a_merge_the_remaining_person_decides_and_the_other_cannot(server, game, ann, annabel):
    seat = next(seat for seat in (0, 1) if game.person_at(seat) == ann)
    while seat not in game.asked():
        other, decision = next(iter(game.asked().items()))
        game.play(other, decision.default)
    moderate(server, Merge(annabel, ann))
    row = game.row()
    choice = game.asked()[seat].default

    def plays(person_id):
        return server.store.write(
            lambda tx: play_locked(tx, server, games.lock(tx, row.id), row.turn, seat, choice, Actor.PERSON, person_id)
        )

    with pytest.raises(Gone, match="Someone else plays"):
        plays(ann)
    plays(annabel)
    assert game.verifies()


def test_open_turns_are_emailed_to_the_remaining_person_and_queued_emails_to_the_other_dropped(
    server, game, ann, annabel
):
    seat = next(seat for seat in (0, 1) if game.person_at(seat) == ann)
    while seat not in game.asked():
        other, decision = next(iter(game.asked().items()))
        game.play(other, decision.default)
    moderate(server, Merge(annabel, ann))
    assert [email.status for email in queued_emails(server, ann) if email.game_id] == ["superseded"] * len(
        [email for email in queued_emails(server, ann) if email.game_id]
    )
    turn = queued_emails(server, annabel, "turn")[-1]
    assert (turn.seat, turn.turn, turn.status) == (seat, game.row().turn, "queued")


def test_a_merge_is_a_row_of_the_log_and_others_read_that_the_same_player_plays_on(server, game, ann, annabel):
    seat = next(seat for seat in (0, 1) if game.person_at(seat) == ann)
    orders = game.row().orders
    shown = server.dry_run(perform, OLGA, Merge(annabel, ann), "They wrote from both.")
    assert {(notice.name, notice.what or notice.kind) for notice in shown.emails} >= {
        ("Ann", "merged"),
        ("Annabel", "merged"),
        ("Ben", "player_merged"),
    }
    moderate(server, Merge(annabel, ann), "They wrote from both.")
    (row,) = [row for row in game.log() if row.kind == "Merged"]
    assert (row.seat, row.by, json.loads(row.body)) == (seat, "organiser", {"reason": "They wrote from both."})
    (notice,) = [facts_of(server, email) for email in queued_emails(server, game.person_at(1 - seat), "notice")]
    assert (notice["what"], notice["who"], notice["reason"]) == ("player_merged", "Ann", "They wrote from both.")
    assert game.row().orders == orders
    assert game.verifies()


def test_both_are_told(server, game, ann, annabel):
    moderate(server, Merge(annabel, ann))
    assert {email.person_id for email in queued_emails(server, kind="merged")} == {ann, annabel}


def test_both_are_told_even_if_they_chose_no_emails(server, clock, sink, game, ann, annabel):
    for person in (ann, annabel):
        server.run(preferences.choose, person, parse_delivery("nothing"))
    moderate(server, Merge(annabel, ann))
    drain(server, clock, post_to(sink))
    assert [email.status for email in queued_emails(server, kind="merged")] == ["sent", "sent"]


def test_links_and_sessions_of_the_merged_address_are_void(server, game, ann, annabel):
    row = server.run(links.make, LinkKey(Purpose.SIGN_IN, ann))
    with server.store.read() as tx:
        token = links.token(server, links.read(tx, row))
    secret = server.run(sessions.start, Holder(person_id=ann), "Firefox")
    moderate(server, Merge(annabel, ann))
    with pytest.raises((Gone, NotFound, Forbidden, Stale)):
        server.read(links.follow, token, Purpose.SIGN_IN)
    assert server.read(sessions.find, secret) is None


def test_channels_of_the_merged_address_are_off_and_those_of_the_remaining_one_stay(
    server, clock, sink, game, ann, annabel
):
    entered = {}
    for who, topic in ((ann, "ann"), (annabel, "annabel")):
        entered[who] = server.run(channels.enter, who, "ntfy", f"https://ntfy.sh/{topic}")
        server.run(channels.prove, who, entered[who], code_sent_to(server, entered[who]))
    moderate(server, Merge(annabel, ann))
    merged, own = (server.query(channel_rows.read, entered[who]) for who in (ann, annabel))
    assert (merged.status, merged.person_id) == ("failed", annabel)
    assert (own.status, own.person_id) == ("active", annabel)
    channel_delivery.deliver_messages(server, ChannelPost(LETTERHEAD, Services()))
    drain(server, clock, post_to(sink))
    assert "The other address's channels are off" in kept_copy(sink, "annabel@example.org")


def kept_copy(sink, address):
    """The email about the merge to the address that stays, in one line."""
    return next(" ".join(email.text.split()) for email in sink.to(address) if kind_of(email.message) == "merged")


def test_hosted_tables_invitations_vacations_and_blocks_go_along(server, person, ann, annabel):
    ben = person("Ben")
    hosted = server.run(joining.create_table, ann, TableSettings("bid", 3)).game_id
    invited = server.run(
        joining.create_table, ben, TableSettings("bid", 3, invited=("ann@example.org", "annabel@example.org"))
    ).game_id
    server.run(vacations.book_text, ann, "2026-12-20 to 2026-12-24")
    for one, other in ((ann, ben), (annabel, ben), (ben, ann)):
        row = BlockRow(one, other, "Someone", server.now())
        server.store.write(lambda tx, row=row: blocks.add(tx, row))
    for one, other in ((ann, ben), (annabel, ben), (ben, ann), (ann, annabel)):
        befriended = FriendRow(one, other, "Someone", server.now())
        server.store.write(lambda tx, row=befriended: friends.add(tx, row))
    moderate(server, Merge(annabel, ann))
    with server.store.read() as tx:
        assert games.read(tx, hosted).host_id == annabel
        assert [each.person_id for each in waiting.invitations(tx, invited)] == [annabel]
        assert len(vacation_rows.of_person(tx, annabel)) == 1
        assert vacation_rows.of_person(tx, ann) == []
        assert blocks.is_blocked(tx, annabel, ben)
        assert [each.friend_id for each in friends.of_person(tx, annabel)] == [ben]
        assert friends.is_friend(tx, ben, annabel)
        assert blocks.is_blocked(tx, ben, annabel)


def test_two_players_of_one_table_cannot_be_merged(server, game, person, ann):
    with pytest.raises(BadInput, match=f"Both play at table {game.id}"):
        moderate(server, Merge(person("Ben"), ann))


def test_a_person_is_not_merged_with_themselves_or_into_an_unconfirmed_address(server, person, ann):
    with pytest.raises(BadInput, match="already merged"):
        moderate(server, Merge(ann, ann))
    with pytest.raises(BadInput, match="never confirmed"):
        moderate(server, Merge(server.run(addresses.register, "new@example.org").id, ann))
    with pytest.raises(NotFound):
        moderate(server, Merge(ann, 999))


def test_a_preview_changes_nothing_and_lists_the_emails(server, game, ann, annabel):
    before = all_rows(server.store)
    found = server.dry_run(perform, OLGA, Merge(annabel, ann), "They wrote from both.")
    assert all_rows(server.store) == before
    assert {notice.kind for notice in found.emails} >= {"merged"}


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_merge_that_fails_anywhere_leaves_no_trace(server, game, ann, annabel):
    assert check_atomic(server.store, lambda: moderate(server, Merge(annabel, ann))) > 20


@pytest.mark.parametrize(("merge_first", "call"), [(True, 5), (True, 7), (False, 14), (False, 20)])
def test_a_seat_given_during_a_merge_is_told_of_or_the_merge_refused(server, table, annabel, person, merge_first, call):
    game, anna = table("templari", 3), person("Anna")
    seat = next(iter(game.asked()))

    def merge():
        moderate(server, Merge(annabel, anna))

    def give():
        moderate(server, Substitute(game.id, seat, "anna@example.org"))

    outcomes = at_call(server.store, call, *((merge, give) if merge_first else (give, merge)))
    assert all(outcome is None or isinstance(outcome, Refusal) for outcome in outcomes)
    noted = {row.seat for row in game.log() if row.kind == Kind.MERGED}
    assert game.person_at(seat) != annabel or seat in noted
    assert game.verifies()


def test_the_private_notes_of_both_are_kept(server, game, ann, annabel):
    seat = next(seat for seat in (0, 1) if game.person_at(seat) == ann)
    for person, of, text in (
        (ann, seat, "Ben bluffs."),
        (annabel, seat, "He raises late."),
        (annabel, 1 - seat, "As Ben I was bold."),
    ):
        server.store.write(
            partial(notes.write, game_id=game.id, seat=of, person_id=person, text=text, now=server.now())
        )
    moderate(server, Merge(annabel, ann))
    assert [server.query(notes.read, game.id, each, annabel) for each in (seat, 1 - seat)] == [
        "He raises late.\n\nBen bluffs.",
        "As Ben I was bold.",
    ]
    assert len(all_rows(server.store)["note"]) == 2


def invited_to(server, game_id):
    """Whose the open invitations to a table are."""
    return [row.person_id for row in server.query(waiting.invitations, game_id)]


def unsent(server, person_id, kind="invitation"):
    return [each for each in queued_emails(server, person_id, kind) if each.status == "queued"]


@pytest.fixture
def hosted(server, person):
    """A table that waits for players, and its host."""
    host = person("Hannah")
    made = server.run(joining.create_table, host, TableSettings("templari", 3, private=True))
    return made.game_id, host


def test_an_invitation_to_an_address_that_was_merged_is_for_who_they_are_now(server, hosted, ann, annabel):
    game_id, host = hosted
    moderate(server, Merge(annabel, ann))
    server.run(invitations.invite, game_id, host, ("ann@example.org",))
    assert invited_to(server, game_id) == [annabel]
    (email,) = unsent(server, annabel)
    assert "@" not in email.facts
    assert unsent(server, ann) == []


def test_an_invitation_on_its_way_follows_a_merge(server, hosted, ann, annabel):
    game_id, host = hosted
    server.run(invitations.invite, game_id, host, ("ann@example.org",))
    (before,) = unsent(server, ann)
    moderate(server, Merge(annabel, ann))
    assert invited_to(server, game_id) == [annabel]
    assert unsent(server, ann) == []
    (email,) = unsent(server, annabel)
    assert (email.game_id, email.facts) == (before.game_id, before.facts)


@pytest.mark.slow
def test_a_merge_while_someone_is_invited_leaves_the_invitation_with_who_they_are_now(server, person):
    for number, meeting in enumerate(meetings(server.store)):
        host, keeps, goes = person(f"Hannah{number}"), person(f"Keeps{number}"), person(f"Goes{number}")
        game_id = server.run(joining.create_table, host, TableSettings("templari", 3, private=True)).game_id
        meeting(
            partial(server.run, invitations.invite, game_id, host, (f"goes{number}@example.org",)),
            partial(moderate, server, Merge(keeps, goes)),
        )
        assert invited_to(server, game_id) == [keeps]
        assert unsent(server, goes) == []
        assert len(unsent(server, keeps)) == 1


@pytest.mark.parametrize("act", ["accept", "delete", "merge"])
def test_people_are_locked_before_their_groups(server, person, ann, annabel, monkeypatch, act):
    key = server.run(groups.create, ann, "Friday")
    server.run(groups.invite, ann, key, ("annabel@example.org",))
    group_id = server.query(group_rows.with_members, key)[0].id
    locks, lock_person, lock_group = [], people.lock, group_rows.lock
    monkeypatch.setattr(people, "lock", lambda tx, each: locks.append(("person", each)) or lock_person(tx, each))
    monkeypatch.setattr(group_rows, "lock", lambda tx, each: locks.append(("group", each)) or lock_group(tx, each))
    if act == "accept":
        server.run(groups.accept, group_id, annabel)
    elif act == "delete":
        server.run(delete.delete_person, ann)
    else:
        moderate(server, Merge(annabel, ann))
    first = locks.index(("group", group_id))
    assert first
    assert {each for each in locks[first:] if each[0] == "person"} <= {*locks[:first]}, (
        "nobody new is locked afterwards"
    )
