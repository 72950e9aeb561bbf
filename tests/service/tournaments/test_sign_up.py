"""Signing up: by the link or a reply, with a waiting list, and what it tells nobody."""

import json
from datetime import timedelta

import pytest

from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, Stale, TooMany
from pbem.service import links
from pbem.service.account.delete import delete_person
from pbem.service.incoming import unverified_replies
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.tables import groups
from pbem.service.tournaments import by_link, file, hosting, sign_up
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.mail.kinds import HEAD
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.clock import HOUR
from tests.service.database import check_atomic, email_kinds, queued_emails
from tests.service.inbox import HOST, Inbox


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


def invited(cup, person, name):
    """A person invited by the host; their id, and the email."""
    cup.server.run(sign_up.invite, cup.id, cup.host, (f"{name.lower()}@example.org",))
    found = person(name)
    return found, queued_emails(cup.server, found, "sign_up")[-1]


def replies(cup, inbox, email, text):
    """Reply to an email about a tournament; the receipt's facts."""
    token = inbox.token(Purpose.REPLY, person_id=email.person_id, outbox_id=email.id)
    inbox.answers_email(email.person_id, token, text)
    return json.loads(queued_emails(cup.server, email.person_id, "invitation_receipt")[-1].facts)


@pytest.mark.parametrize(
    ("text", "effect", "status"),
    [
        ("accept", "signed_up", "in"),
        ("accept as Zoe", "signed_up", "in"),
        ("no", "not_signed_up", None),
        ("yes\nno", "refused", None),
        ("What is this?", "none", None),
    ],
)
def test_a_reply_signs_up_or_declines(tournament, person, inbox, text, effect, status):
    cup = tournament()
    _ben, email = invited(cup, person, "Ben")
    assert replies(cup, inbox, email, text)["effect"] == effect
    assert [each.status for each in cup.page.entrants] == ([status] if status else [])
    if status:
        assert cup.page.entrants[0].name == ("Zoe" if "Zoe" in text else "Ben")


def test_a_reply_after_signing_up_leaves_again(tournament, person, inbox):
    cup = tournament()
    _ben, email = invited(cup, person, "Ben")
    replies(cup, inbox, email, "accept")
    replies(cup, inbox, email, "decline")
    assert cup.entrant("Ben").status == "left"
    replies(cup, inbox, email, "accept")
    assert cup.entrant("Ben").status == "in"


@pytest.mark.parametrize("ends", ["plays", "is called off"])
@pytest.mark.parametrize("text", ["no", "decline"])
def test_nobody_leaves_a_tournament_that_is_over(tournament, person, inbox, server, ends, text):
    cup = tournament("Cleo", "Dan", rounds=1)
    ben, email = invited(cup, person, "Ben")
    replies(cup, inbox, email, "accept")
    if ends == "plays":
        cup.begins()
        cup.is_late()
    else:
        server.run(hosting.call_off, cup.id, cup.host, "It rains.")
    before = cup.page.entrants
    facts = replies(cup, inbox, email, text)
    assert facts["effect"] == "refused"
    assert ("called off" if ends == "is called off" else "over") in facts["text"]
    with pytest.raises(Gone, match="tournament"):
        server.run(sign_up.decline, cup.id, ben)
    assert cup.page.entrants == before


def test_the_link_of_the_email_signs_up_a_stranger(tournament, server):
    cup = tournament()
    server.run(sign_up.ask, cup.key, "new@example.org")
    (email,) = queued_emails(server, kind="sign_up")
    token = server.run(links.make_token, LinkKey(Purpose.ENTRY, email.person_id, outbox_id=email.id))
    by_link.enter(server, token, "Nora", "a word")
    assert (cup.entrant("Nora").status, cup.entrant("Nora").word) == ("in", "a word")
    by_link.leave(server, token)
    assert cup.entrant("Nora").status == "left"


def entry_link(cup, name):
    """A link of the first email about a tournament to someone."""
    kinds = ("sign_up", "tournament")
    email = next(each for each in queued_emails(cup.server, cup.people[name]) if each.kind in kinds)
    return cup.server.run(links.make_token, LinkKey(Purpose.ENTRY, email.person_id, outbox_id=email.id))


def test_a_link_for_signing_up_ends_with_sign_up_for_those_who_did_not(tournament, server, person):
    cup = tournament("Ann", "Ben", "Cleo", "Dan")
    dora = person("Dora")
    server.run(sign_up.invite, cup.id, cup.host, ("dora@example.org",))
    cup.people["Dora"] = dora
    dora = entry_link(cup, "Dora")
    cup.begins()
    for act in (lambda: server.read(by_link.entry_page, dora), lambda: by_link.enter(server, dora, "Dora", "")):
        with pytest.raises(Gone, match="Sign-up is over") as gone:
            act()
        assert gone.value.tournament == cup.key
    ann = entry_link(cup, "Ann")
    assert server.read(by_link.entry_page, ann).entry.name == "Ann"
    assert by_link.leave(server, ann) == cup.key
    with pytest.raises(Gone, match="You've left this tournament"):
        by_link.leave(server, ann)
    ben = entry_link(cup, "Ben")
    server.run(hosting.call_off, cup.id, cup.host, "It rains.")
    with pytest.raises(Gone, match="called off"):
        server.read(by_link.entry_page, ben)


def test_an_invitation_that_waits_until_sign_up_is_over_never_leaves(tournament, server, person, clock):
    cup = tournament("Ann", "Ben", "Cleo")
    dora = person("Dora")
    server.run(sign_up.invite, cup.id, cup.host, ("dora@example.org",))
    cup.begins()
    clock.advance(timedelta(hours=1))
    deliver(server, Post(HEAD, FunctionTransport(lambda _email: ACCEPTED)), limit=200)
    assert [email.status for email in queued_emails(server, dora, "sign_up")] == ["superseded"]


def test_the_waiting_list_moves_up_when_someone_leaves(tournament):
    cup = tournament("Ann", "Ben", "Cleo", "Dan", "Eve", most=3)
    assert [each.name for each in cup.page.waiting] == ["Dan", "Eve"]
    cup.server.run(sign_up.decline, cup.id, cup.people["Ben"])
    assert [each.name for each in cup.page.present] == ["Ann", "Cleo", "Dan"]
    assert "tournament" in email_kinds(cup.server, cup.people["Dan"])
    assert "tournament" not in email_kinds(cup.server, cup.people["Eve"])


def test_nobody_signs_up_twice_or_after_the_end(tournament, person):
    cup = tournament("Ann", "Ben", "Cleo")
    assert cup.enters(cup.people["Ann"]).number == 1
    assert len(cup.page.present) == 3
    cup.begins()
    with pytest.raises(Gone, match="Sign-up for this tournament is over"):
        cup.enters(person("Dan"))
    with pytest.raises(NotFound):
        cup.server.run(sign_up.ask, "nothing", "ann@example.org")


def test_two_of_the_same_name_are_told_apart(tournament, person):
    cup = tournament("Ann")
    assert cup.enters(person("Ben"), "Ann").name == "Ann 2"


def test_only_the_host_invites_and_nobody_gets_many_invitations_a_day(tournament, person, server):
    cups = [tournament() for _each in range(5)]
    with pytest.raises(Forbidden):
        server.run(sign_up.invite, cups[0].id, person("Ben"), ("dan@example.org",))
    other = tournament(host="Other")
    for cup in cups:
        server.run(sign_up.invite, cup.id, cup.host, ("dan@example.org",))
    with pytest.raises(TooMany, match="many tournaments today"):
        server.run(sign_up.invite, other.id, other.host, ("dan@example.org",))


def test_a_deleted_person_leaves_the_tournament_and_no_name(tournament, server):
    cup = tournament("Ann", "Ben", "Cleo", "Dan", most=3)
    server.run(delete_person, cup.people["Ann"])
    names = [each.name for each in cup.page.entrants]
    assert "Ann" not in names
    cup.begins()
    assert sum(len(table.players) for table in cup.page.rounds[0].tables) >= 3


def test_signing_up_is_one_transaction(tournament, person):
    cup = tournament("Ann")
    ben = person("Ben")
    check_atomic(cup.server.store, lambda: cup.enters(ben))


def test_a_reply_that_is_too_long_is_answered_and_so_is_one_to_a_group(tournament, person, inbox, server):
    cup = tournament()
    ben, email = invited(cup, person, "Ben")
    club = server.run(groups.create, cup.host, "Friday club")
    server.run(groups.invite, cup.host, club, ("ben@example.org",))
    invitation = queued_emails(server, ben, "group_invitation")[-1]
    for each in (email, invitation):
        token = inbox.token(Purpose.REPLY, person_id=ben, outbox_id=each.id)
        long = b"From: ben@example.org\r\n\r\n" + b"accept " * 2**19
        assert inbox.takes(long, f"r+{token}@{HOST}", "ben@example.org") == "too large"
    deliver(server, Post(HEAD, FunctionTransport(lambda _email: ACCEPTED)), limit=50)
    receipts = queued_emails(server, ben, "invitation_receipt")
    assert [each.status for each in receipts] == ["sent", "sent"]
    assert cup.page.entrants == ()


def test_a_doubtful_reply_to_a_tournament_or_group_asks_for_a_click_which_accepts(tournament, person, inbox, server):
    cup = tournament()
    ben, email = invited(cup, person, "Ben")
    club = server.run(groups.create, cup.host, "Friday club")
    server.run(groups.invite, cup.host, club, ("ben@example.org",))
    titles = set()
    for each in (email, queued_emails(server, ben, "group_invitation")[-1]):
        token = inbox.token(Purpose.REPLY, person_id=ben, outbox_id=each.id)
        assert inbox.answers_email(ben, token, "accept", Authentication_Results=None).status == "doubted"
        asked = queued_emails(server, ben, "was_it_you")[-1]
        link = inbox.token(Purpose.WRITTEN, person_id=ben, outbox_id=asked.id)
        found = unverified_replies.read(server, link)
        titles.add(found.title)
        unverified_replies.confirm(server, link, found.waiting[0].number)
        assert unverified_replies.read(server, link).confirmed
    assert titles == {cup.row.name, "Friday club"}
    assert [each.name for each in cup.page.entrants] == ["Ben"]
    assert [each.name for each in server.read(groups.of_person, ben)] == ["Friday club"]
    deliver(server, Post(HEAD, FunctionTransport(lambda _email: ACCEPTED)), limit=50)
    assert {each.status for each in queued_emails(server, ben, "was_it_you")} == {"sent"}


def test_addresses_that_strangers_type_use_up_no_invitations(tournament, server, monkeypatch):
    cup = tournament()
    monkeypatch.setattr(sign_up, "MOST_INVITED", 1)
    for name in ("dora", "eve"):
        server.run(sign_up.ask, cup.key, f"{name}@example.org")
    assert server.run(sign_up.invite, cup.id, cup.host, ("ben@example.org",)) == 1
    with pytest.raises(BadInput, match="up to 1 people"):
        server.run(sign_up.invite, cup.id, cup.host, ("cleo@example.org",))


def test_a_host_seeds_by_hand_and_latecomers_come_last(tournament, person):
    cup = tournament("Ann", "Ben", "Cleo", seeding="hand")
    with pytest.raises(BadInput, match="Two players have the number 2"):
        cup.server.run(hosting.seed, cup.id, cup.host, {1: 2, 2: 2})
    cup.server.run(hosting.seed, cup.id, cup.host, {1: 30, 2: 10, 3: 20})
    cup.enters(person("Dan"), "Dan")
    assert [each.name for each in cup.page.seeded] == ["Ben", "Cleo", "Ann", "Dan"]
    cup.server.run(sign_up.decline, cup.id, cup.people["Cleo"])
    cup.begins()
    assert [cup.entrant(name).rank for name in ("Ben", "Ann", "Dan")] == [1, 2, 3]
    with pytest.raises(Stale, match="can't change now"):
        cup.server.run(hosting.seed, cup.id, cup.host, {1: 1})
    document = json.loads(cup.server.read(file.of_tournament, cup.key))
    assert (document["seeding"], document["seeds"]) == ("hand", [2, 1, 4])
    assert file.check(json.dumps(document)) == []
    assert "in the order that the host gave" in file.check(json.dumps(document | {"seeds": [1, 2, 4]}))[0]


def test_the_ranks_of_a_drawn_seeding_are_checked_too(tournament):
    cup = tournament("Ann", "Ben", "Cleo")
    with pytest.raises(Stale):
        cup.server.run(hosting.seed, cup.id, cup.host, {1: 1})
    cup.begins()
    document = json.loads(cup.server.read(file.of_tournament, cup.key))
    assert file.check(json.dumps(document)) == []
    for each in document["entrants"]:
        each["rank"] = 4 - each["rank"]
    assert "the ranks aren't in the order of the lots" in file.check(json.dumps(document))


@pytest.mark.parametrize("wrong", [("wins", "wins"), ("luck",)])
def test_tie_breaks_are_chosen_at_the_opening(tournament, wrong):
    assert tournament(tie_breaks=("places", "lots")).page.summary.plan.tie_breaks == ("places", "lots")
    assert tournament(tie_breaks=()).page.summary.plan.tie_breaks == ()
    with pytest.raises(BadInput):
        tournament(tie_breaks=wrong)


def test_someone_who_leaves_and_comes_back_waits_behind_those_who_waited(tournament):
    cup = tournament("Ann", "Ben", "Cleo", "Dan", "Eve", most=3)
    cup.server.run(sign_up.decline, cup.id, cup.people["Ann"])
    cup.time.passes(HOUR)
    cup.enters(cup.people["Ann"], "Ann")
    cup.server.run(sign_up.decline, cup.id, cup.people["Ben"])
    assert [each.name for each in cup.page.entrants if each.status == "in"] == ["Cleo", "Dan", "Eve"]
    assert cup.entrant("Ann").status == "waiting"
