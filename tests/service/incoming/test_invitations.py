"""Replies to invitations and to seats on offer: joining and declining by email alone, without a page."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from html import unescape

import pytest

from pbem.config.settings import Security, SenderCheck, Smtp
from pbem.mail.read.reply import Reply
from pbem.mail.send.relay import Relay
from pbem.mail.wire import html_of, text_of
from pbem.mail.write.compose import Letterhead
from pbem.service import links
from pbem.service.absence import offers, substitutes
from pbem.service.desk.acts.seats import Offer
from pbem.service.incoming import unverified_replies
from pbem.service.incoming.invitations import carry_out
from pbem.service.incoming.receive import MOST_AN_HOUR
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.tables import groups, invitations, joining, leaving, listing
from pbem.service.tables.new import TableSettings
from pbem.store import insiders, people
from pbem.store.schema import INVITATION
from pbem.tokens import Purpose
from tests.mail.sink import Sink
from tests.service.actors import moderate
from tests.service.database import check_atomic, email_kinds, queued_emails
from tests.service.inbox import HOST, Inbox

POKER = TableSettings("sunset-poker", 3, invited=("ben@example.org",))
HEAD = Letterhead("Games", f"https://{HOST}", HOST, f"games@{HOST}", f"organiser@{HOST}", replies=True)


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


@pytest.fixture
def invite(server, person):
    """Start a table to which Ann invites ben@example.org, at which she sits; returns its id."""

    def opened(**settings):
        game_id = server.run(joining.create_table, person("Ann"), replace(POKER, **settings)).game_id
        server.run(joining.join, game_id, person("Ann"))
        return game_id

    return opened


def ben(server):
    with server.store.read() as tx:
        found = people.by_mailbox(tx, "ben@example.org")
    assert found is not None
    return found


def answer(inbox, game_id, text, **headers):
    """Ben's reply to the invitation to a table."""
    return inbox.answers_offer(game_id, ben(inbox.server).id, text, **headers)


def receipt(server):
    return json.loads(queued_emails(server, kind="invitation_receipt")[-1].facts)


def names(server, game_id):
    return server.read(listing.by_id, game_id).players


@pytest.mark.parametrize("text", ["accept", "Join", "yes", "Yes, please!", "> a quote\n\n*accept*.", "Thanks!\n\nyes"])
def test_someone_who_is_not_confirmed_yet_joins_by_a_reply(server, inbox, invite, text):
    game_id = invite(private=True)
    assert ben(server).confirmed_at is None
    row = answer(inbox, game_id, text)
    assert (row.status, row.outcome, row.raw) == ("done", "reply: carried out", None)
    assert names(server, game_id) == ("Ann", "Player")
    assert ben(server).confirmed_at is not None
    assert (receipt(server)["effect"], receipt(server)["text"]) == ("joined", "Player")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("accept as Ben", "Ben"),
        ("Join as “Bén of York”.", "Bén of York"),
        ("accept as <Ben>", "Ben"),
        ("Please accept as Ben, thank you!", "Ben"),
        ("accept as Ben please", "Ben"),
        ("accept as Merci", "Merci"),
    ],
)
def test_a_reply_says_the_name_at_the_table(server, inbox, invite, text, name):
    game_id = invite()
    answer(inbox, game_id, text)
    assert names(server, game_id) == ("Ann", name)


def test_the_words_that_stand_for_a_name_are_no_name(server, inbox, invite):
    game_id = invite()
    answer(inbox, game_id, "accept as <your name>")
    assert receipt(server)["effect"] == "refused"
    assert "You wrote no name." in receipt(server)["text"]
    assert names(server, game_id) == ("Ann",)


def test_someone_who_plays_here_already_joins_under_their_name(server, inbox, invite, person):
    known = person("Ben")
    game_id = invite()
    answer(inbox, game_id, "yes")
    assert names(server, game_id) == ("Ann", "Ben")
    assert ben(server).id == known
    answer(inbox, game_id, "accept")
    assert names(server, game_id) == ("Ann", "Ben")


def test_the_last_free_seat_starts_the_game(server, inbox, invite, person):
    game_id = invite()
    server.run(joining.join, game_id, person("Cleo"))
    answer(inbox, game_id, "accept as Ben")
    assert receipt(server)["effect"] == "begun"
    assert "welcome" in email_kinds(server, ben(server).id)


@pytest.mark.parametrize("text", ["decline", "No", "no, thank you"])
def test_declining_tells_the_host_what_they_typed_and_no_address(server, inbox, invite, person, text):
    person("Ben")
    game_id = invite(invited=("Ben@Example.org",))
    moved = "elsewhere@example.org"
    server.store.write(lambda tx: people.change(tx, ben(server).id, address=moved))
    answer(inbox, game_id, text, From="Ben <ben@example.org>")
    assert len(queued_emails(server, person("Ann"), "declined")) == 1
    with server.store.read() as tx:
        assert invitations.name_for_host(tx, game_id, ben(server).id) == "Ben@Example.org"
    assert receipt(server)["effect"] == "declined"
    assert names(server, game_id) == ("Ann",)


def test_declining_does_not_confirm_an_address_and_can_be_changed(server, inbox, invite):
    game_id = invite()
    answer(inbox, game_id, "decline")
    assert ben(server).confirmed_at is None
    answer(inbox, game_id, "accept as Ben")
    assert names(server, game_id) == ("Ann", "Ben")


def begun(server, person, game_id):
    for name in ("Cleo", "Dan"):
        server.run(joining.join, game_id, person(name))


def closed(server, person, game_id):
    server.run(leaving.leave, game_id, person("Ann"))


def expired(server, person, game_id):
    server.clock.advance(joining.WAITS)
    leaving.expire(server)


def withdrawn(server, person, game_id):
    """As after a merge of two people at the desk: nobody of that address is invited any more."""
    server.store.write(lambda tx: tx.execute(INVITATION.delete().where(INVITATION.c.game_id == game_id)))


@pytest.mark.parametrize(
    ("happens", "words"),
    [
        (begun, "It was full, and its game has started."),
        (closed, "Its host has closed it."),
        (expired, "It didn't fill up in time."),
        (withdrawn, "There's no such table."),
    ],
)
def test_a_seat_that_is_gone_is_refused_in_words(server, inbox, invite, person, happens, words):
    game_id = invite(private=happens is withdrawn)
    happens(server, person, game_id)
    row = answer(inbox, game_id, "accept as Ben")
    assert (row.status, row.outcome) == ("done", "reply: refused")
    assert receipt(server)["effect"] == "refused"
    assert words in receipt(server)["text"]
    assert "Ben" not in names(server, game_id)


def test_a_table_whose_last_seat_waits_for_its_host_is_full(server, inbox, person):
    game_id = server.run(joining.create_table, person("Ann"), POKER).game_id
    for name in ("Cleo", "Dan"):
        server.run(joining.join, game_id, person(name))
    answer(inbox, game_id, "accept as Ben")
    assert "There's no seat left at this table." in receipt(server)["text"]


def test_a_name_that_cannot_be_is_refused_and_the_next_reply_counts(server, inbox, invite):
    game_id = invite()
    answer(inbox, game_id, "accept as ben@example.org")
    assert "You can't use “ben@example.org” as a name." in receipt(server)["text"]
    answer(inbox, game_id, "accept as Ben")
    assert names(server, game_id) == ("Ann", "Ben")


def test_both_yes_and_no_do_nothing(server, inbox, invite):
    """So a quoted invitation that a mail program does not mark as one is never taken for an answer."""
    game_id = invite()
    answer(inbox, game_id, "no\n\n- accept as <your name>\n- decline")
    assert receipt(server)["effect"] == "refused"
    assert names(server, game_id) == ("Ann",)
    assert not queued_emails(server, kind="declined")


@pytest.mark.parametrize("text", ["I think so, yes I do", "yes?", "accept as", "no idea what this is", "> accept"])
def test_prose_is_no_answer(server, inbox, invite, text):
    game_id = invite()
    assert answer(inbox, game_id, text).outcome == "reply: no command"
    assert receipt(server)["effect"] == "none"
    assert names(server, game_id) == ("Ann",)
    answer(inbox, game_id, text)
    assert len(queued_emails(server, kind="invitation_receipt")) == 1, "a program that answers everything is told once"


def test_a_doubtful_reply_asks_for_a_click_which_joins(server, inbox, invite):
    game_id = invite()
    row = answer(inbox, game_id, "accept as Ben", Authentication_Results=None)
    other = answer(inbox, game_id, "accept as Mallory", From="Mallory <mallory@evil.example>")
    assert (row.status, other.status) == ("doubted", "doubted")
    assert names(server, game_id) == ("Ann",)
    assert ben(server).confirmed_at is None
    asked = queued_emails(server, ben(server).id, "was_it_you")
    assert [json.loads(each.facts)["error"] for each in asked] == [row.outcome, other.outcome]
    token = inbox.token(Purpose.WRITTEN, person_id=ben(server).id, outbox_id=asked[0].id)
    assert [each.lines for each in unverified_replies.read(server, token).waiting] == [
        ("accept as Ben",),
        ("accept as Mallory",),
    ]
    unverified_replies.confirm(server, token, row.id)
    assert names(server, game_id) == ("Ann", "Ben")
    assert ben(server).confirmed_at is not None
    assert [each.id for each in inbox.rows() if each.status == "doubted"] == [other.id]


def test_a_program_joins_no_table(server, inbox, invite):
    game_id = invite()
    assert answer(inbox, game_id, "yes", Auto_Submitted="auto-replied").outcome.startswith("by a program")
    assert names(server, game_id) == ("Ann",)


def test_a_signed_yes_to_one_invitation_accepts_no_other(server, inbox, invite):
    first, second = invite(), invite()
    signature = "v=1; a=rsa-sha256; d=example.org; s=x; h=from:subject; bh=aaaa; b=AbC1="
    answer(inbox, first, "yes", DKIM_Signature=signature)
    assert answer(inbox, second, "yes", DKIM_Signature=signature).status == "doubted"
    assert names(server, second) == ("Ann",)


def test_a_reply_comes_to_all_or_nothing(server, inbox, invite):
    inbox.checks(SenderCheck.OFF)
    game_id = invite()
    (email,) = queued_emails(server, kind="invitation")
    token = inbox.token(Purpose.REPLY, person_id=email.person_id, game_id=game_id, outbox_id=email.id)
    row_link = server.read(links.follow_email, token, Purpose.REPLY)
    inbox.takes(b"From: Ben <ben@example.org>\r\n\r\naccept as Ben\r\n", f"r+{token}@{HOST}")
    reply = Reply(("accept as Ben",), None, "Re: x", "<1@example.org>")
    (row,) = inbox.rows()
    assert check_atomic(server.store, lambda: server.run(carry_out, row.id, row_link, reply)) > 5
    assert server.run(carry_out, row.id, row_link, reply) == "reply: carried out"
    assert names(server, game_id) == ("Ann", "Ben")
    assert len(queued_emails(server, kind="invitation_receipt")) == 1


def test_an_answer_to_an_invitation_that_cannot_be_stored_is_told(server, inbox, invite):
    game_id = invite(invited=("ben@example.org",))
    answer(inbox, game_id, "help")
    for _again in range(2):
        answer(inbox, game_id, "accept", X_Any="y\r\n " * 1001)
    assert (receipt(server)["effect"], "couldn't be read" in receipt(server)["text"]) == ("refused", True)
    assert len(queued_emails(server, kind="invitation_receipt")) == 2
    answer(inbox, game_id, "accept")
    assert receipt(server)["effect"] == "joined"


def test_the_invitation_says_how_to_answer_and_where(server, clock, inbox, invite, person):
    person("Cleo")
    game_id = invite(invited=("ben@example.org", "cleo@example.org"))
    with Sink() as sink:
        post = Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, sink.port, "", "", 5)))
        deliver(server, post)
        sent = {
            str(each.message["To"]): each.message
            for each in sink.emails
            if "invitation:" in each.message["Feedback-ID"]
        }
        (to_ben,) = (message for to, message in sent.items() if "ben@" in to)
        (to_cleo,) = (message for to, message in sent.items() if "cleo@" in to)
        for message, line in ((to_ben, "accept as <your name>"), (to_cleo, "accept")):
            assert f"Or reply “{line}” or “decline”." in " ".join(text_of(message).split())
            assert "[pbem " in text_of(message)
            assert line in unescape(html_of(message)).replace("\xa0", " ")
        address = re.fullmatch(r"r\+\S+@play\.example\.org", str(to_ben["Reply-To"]))
        assert address
        raw = b"Message-ID: <9@example.org>\r\nAuthentication-Results: play.example.org; dmarc=pass header.from=example.org"
        inbox.takes(
            raw + f"\r\nFrom: ben@example.org\r\nTo: {address[0]}\r\n\r\naccept as Ben\r\n".encode(), address[0]
        )
        inbox.attends()
        assert names(server, game_id) == ("Ann", "Ben")
        deliver(server, post)
        (answered,) = (each.message for each in sink.emails if ":invitation_receipt:" in each.message["Feedback-ID"])
        assert "you have a seat in" in " ".join(text_of(answered).split())
        assert answered["Reply-To"] == to_ben["Reply-To"]
        assert answered["Auto-Submitted"] == "auto-replied"


def test_an_invitation_gives_no_right_to_look_at_a_game(server, inbox, invite):
    """A link for replies to an invitation belongs to no seat."""
    game_id = invite()
    answer(inbox, game_id, "help")
    with server.store.read() as tx:
        assert not insiders.has_sat(tx, ben(server).id, game_id)


def test_a_free_seat_is_taken_by_a_reply(server, inbox, table, person):
    game = table("sunset-poker", 3, successor="substitute")
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    server.run(leaving.resign, game.id, 1, game.person_at(1))
    assert inbox.answers_offer(game.id, person("Zoe"), "decline").outcome == "reply: carried out"
    assert receipt(server)["effect"] == "not_taken"
    inbox.answers_offer(game.id, person("Zoe"), "accept")
    assert (receipt(server)["effect"], receipt(server)["text"]) == ("taken", "Zoe")
    assert game.person_at(1) == person("Zoe")
    inbox.answers_offer(game.id, person("Zoe"), "accept")
    assert receipt(server)["effect"] == "taken"


def test_one_who_has_given_up_the_seat_they_took_hears_so_when_they_accept_it_again(server, inbox, table, person):
    game = table("sunset-poker", 3, successor="substitute")
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    server.run(leaving.resign, game.id, 1, game.person_at(1))
    inbox.answers_offer(game.id, person("Zoe"), "accept")
    server.run(leaving.resign, game.id, 1, person("Zoe"))
    assert inbox.answers_offer(game.id, person("Zoe"), "accept").outcome == "reply: refused"
    assert "This seat is no longer on offer." in receipt(server)["text"]
    assert game.players()[1].person_id is None


def test_a_free_seat_of_a_player_is_asked_for_by_a_reply(server, inbox, table, person):
    game = table("bid", 3, successor="substitute")
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    moderate(server, Offer(game.id, 1))
    for _ in range(2):
        inbox.answers_offer(game.id, person("Zoe"), "accept")
        assert (receipt(server)["effect"], receipt(server)["text"]) == ("reserved", "")
    assert game.person_at(1) != person("Zoe")
    inbox.answers_offer(game.id, person("Zoe"), "no")
    assert receipt(server)["effect"] == "withdrawn"
    (offer,) = server.read(offers.open_offers)
    assert offer.taken_by is None


def test_a_free_seat_that_someone_else_took_is_refused_in_words(server, inbox, table, person):
    game = table("sunset-poker", 3, successor="substitute")
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    server.run(leaving.resign, game.id, 1, game.person_at(1))
    (offer,) = server.read(offers.open_offers)
    server.run(substitutes.take, offer.id, person("Yan"), "Yan")
    inbox.answers_offer(game.id, person("Zoe"), "yes")
    assert "Someone else took it" in receipt(server)["text"]


def test_an_answer_to_an_invitation_after_too_many_in_an_hour_is_told(server, inbox, invite):
    game_id = invite(invited=("ben@example.org",))
    for _ in range(MOST_AN_HOUR):
        answer(inbox, game_id, "What is it?")
    answer(inbox, game_id, "accept")
    assert (receipt(server)["effect"], "reply again in an hour" in receipt(server)["text"]) == ("refused", True)


def invite_to_groups(server, host, *names):
    """Invite Ben to groups one after the other; yields the name of each once its email is queued."""
    for name in names:
        server.run(groups.invite, host, server.run(groups.create, host, name), ("ben@example.org",))
        yield name


def test_each_of_two_replies_that_say_nothing_to_different_groups_is_told(server, inbox, person):
    for name in invite_to_groups(server, person("Ann"), "Friday club", "Sunday club"):
        assert inbox.answers_offer(None, ben(server).id, "I'd love to!").outcome == "reply: no command"
        assert receipt(server)["group"] == name


@pytest.mark.parametrize("text", ["accept as Ben", "decline", "accept as @"])
def test_each_reply_of_many_years_has_a_receipt(server, clock, inbox, person, text):
    many = [f"Club {number}" for number in range(server.answers_a_turn + 2)]
    for name in invite_to_groups(server, person("Ann"), *many):
        inbox.answers_offer(None, ben(server).id, text)
        assert (receipt(server)["group"], receipt(server)["last_for"]) == (name, "")
        clock.advance(timedelta(days=90))


def test_each_doubtful_reply_of_many_years_asks_its_player(server, clock, inbox, person):
    many = [f"Club {number}" for number in range(server.answers_a_turn + 2)]
    for _ in invite_to_groups(server, person("Ann"), *many):
        inbox.answers_offer(None, ben(server).id, "accept as Ben", Authentication_Results=None)
        clock.advance(timedelta(days=20))
    assert len(queued_emails(server, kind="was_it_you")) == len(many)


def test_replies_to_one_invitation_to_a_group_are_answered_as_often_as_those_to_a_turn(server, inbox, person):
    list(invite_to_groups(server, person("Ann"), "Friday club"))
    for _ in range(server.answers_a_turn + 2):
        inbox.answers_offer(None, ben(server).id, "accept as @")
    assert len(queued_emails(server, kind="invitation_receipt")) == server.answers_a_turn
