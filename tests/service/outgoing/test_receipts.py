"""Receipts as they arrive: who they are from, what they answer, what they say, and that they can be answered in turn."""

from dataclasses import replace
from email import message_from_bytes, policy

import pytest

from pbem.config.settings import Security, Smtp
from pbem.domain.reply_commands import USAGES, Word
from pbem.mail.read.reply import parse_reply
from pbem.mail.send.relay import Relay
from pbem.service.desk.acts.talk import Redact
from pbem.service.outgoing import deliver
from pbem.service.outgoing.deliver import Post
from pbem.service.tables import talk
from tests.mail.sink import Sink
from tests.service.actors import moderate
from tests.service.inbox import HOST, Inbox
from tests.service.outgoing.test_deliver import HEAD, HOUR


@pytest.fixture
def sink():
    with Sink() as listening:
        yield listening


@pytest.fixture
def sends(server, clock, sink):
    """Everything in the queue is sent; the mails that arrived since the last time."""
    post = Post(replace(HEAD, replies=True), Relay(Smtp("127.0.0.1", Security.NONE, sink.port, "", "", 5)))

    def send():
        before = len(sink.kept)
        for _ in range(3):
            clock.advance(HOUR)
            deliver.deliver(server, post, limit=200)
        return sink.kept[before:]

    return send


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


@pytest.fixture
def game(table):
    return table("templari")


@pytest.fixture
def receipt(game, inbox, sends):
    """receipt("bid 3") -> the receipt that whoever is asked first gets for an answer with these lines."""
    first = min(game.asked())

    def get(*lines, seat=first):
        sends()
        inbox.replies(game, seat, "\n".join(lines))
        (kept,) = [each for each in sends() if each.message["Auto-Submitted"] == "auto-replied"]
        return kept

    return get


def test_a_receipt_has_no_return_address_and_says_that_a_program_wrote_it(receipt, game):
    kept = receipt("bid 3")
    assert kept.sender.strip("<>") == ""
    assert kept.message["Auto-Submitted"] == "auto-replied"


def test_a_receipt_answers_the_very_mail(receipt):
    kept = receipt("bid 3")
    assert str(kept.message["Subject"]).startswith("Re: ")
    assert str(kept.message["In-Reply-To"]).endswith("@mail.example.org>")
    assert str(kept.message["In-Reply-To"]) in str(kept.message["References"])


def test_a_receipt_says_what_became_of_each_line_and_what_is_asked_now(receipt):
    text = " ".join(receipt("talk hello", "bid 3", "bid 5", "board").text.split())
    assert "“talk hello”: It is said to the table." in text
    assert "“bid 3”: This is your choice now: bid 3." in text
    assert "“bid 5”: That was for turn 1, and the game is at turn 2" in text
    assert "“board”: Not tried." in text
    assert "WHAT IS ASKED OF YOU NOW Nothing just now." in text
    assert "The high bid is 3, by you." in text


def test_a_receipt_teaches_whoever_wrote_no_command(receipt):
    text = receipt("I think I will bid 7 tomorrow.").text
    assert "there is no command in your answer" in text
    assert "Nothing was changed." in text
    assert "> I think I will bid 7 tomorrow." in text
    assert "* pass\n" in text
    assert "- bid <coins 0-12>" in text
    for usage in USAGES.values():
        assert usage in text


@pytest.mark.parametrize("line", ["bid 99", "help", "resign", "I do not know", "bid 3"])
def test_a_receipt_says_that_nothing_was_changed_exactly_where_that_is_so(receipt, line):
    assert ("Nothing was changed." in receipt(line).text.split("[pbem")[0]) == (line != "bid 3")


def test_a_receipt_explains_every_word(receipt):
    text = " ".join(receipt("help").text.split())
    for usage in USAGES.values():
        _, _, means = text.partition(f"- {usage}: ")
        assert means[:1].islower(), usage


def test_a_receipt_brings_the_rules(receipt):
    text = " ".join(receipt("rules").text.split())
    assert "Fifteen lots of cards come up for sale." in text


def test_a_receipt_never_resigns_and_shows_where_one_can(receipt):
    kept = receipt("resign")
    assert "Nothing is done yet." in kept.text
    assert f"https://{HOST}/s/" in kept.text.partition("Resign on the page of your seat")[2]


def test_a_receipt_says_the_same_in_text_and_html(receipt):
    kept = receipt("talk hello <b>", "bid 99", "rules")
    for words in ("It is said to the table.", "99 is too much: at most 12.", "Not tried."):
        assert words in kept.text
        assert words in kept.html
    assert "<b>”" not in kept.html


def test_a_receipt_that_is_quoted_in_an_answer_is_no_command(receipt):
    kept = receipt("bid 99", "help", "pass")
    answer = message_from_bytes(kept.content, policy=policy.default)
    # As it is, with nothing before it, and each line marked.
    assert all("bid" not in line or "99" not in line for line in parse_reply(answer).lines)
    assert not {line.casefold() for line in parse_reply(answer).lines} & {"pass", "bid 99", *Word}


def test_a_receipt_can_be_answered_for_the_present_turn(receipt, game, inbox, sends):
    first = min(game.asked())
    kept = receipt("bid 99")
    address = str(kept.message["Reply-To"])
    assert inbox.takes(inbox.written(game, first, "bid 4"), address) == "kept"
    inbox.attends()
    assert first not in game.asked()


def test_the_receipt_of_a_late_answer_leads_on_from_the_present_turn(game, inbox, sends):
    first, late = min(game.asked()), game.row().turn
    for bid in range(1, 4):
        game.play(min(game.asked()), f"bid {bid}")
    sends()
    inbox.takes(inbox.written(game, first, "bid 9"), inbox.reply_address(game, first, late))
    inbox.attends()
    (kept,) = sends()
    assert f"that was for turn {late}, this is turn {late + 3}." in kept.text
    assert f"t{late + 3}]" in kept.text
    inbox.takes(inbox.written(game, first, "bid 9"), str(kept.message["Reply-To"]))
    inbox.attends()
    assert first not in game.asked()


def test_nobody_is_told_what_they_said_themselves(game, sends):
    first = min(game.asked())
    game.server.run(talk.say, game.id, first, game.person_at(first), "Good luck, everybody!")
    for bid in range(1, 4):
        game.play(min(game.asked()), f"bid {bid}")
    (turn,) = [each for each in sends() if f", turn {game.row().turn}: " in str(each.message["Subject"])]
    assert "SAID AT THE TABLE" not in turn.text


def test_what_is_said_at_the_table_stands_in_the_next_mail_of_the_others(game, sends):
    first = min(game.asked())
    sends()
    game.server.run(talk.say, game.id, first, game.person_at(first), "Good luck, everybody!")
    game.play(first, "bid 3")
    (turn,) = sends()
    assert "SAID AT THE TABLE" in turn.text
    assert "Good luck, everybody!" in turn.text
    second = min(game.asked())
    game.play(second, "bid 4")
    moderate(game.server, Redact(game.id, 1))
    # Everybody is told that something was taken away, too.
    (turn,) = (email for email in sends() if "SAID AT THE TABLE" in email.text)
    assert "Good luck" not in turn.text
    assert "(taken away by the organiser)" in turn.text


def test_a_receipt_for_questions_says_that_their_answers_are_in_it(receipt):
    assert "here is what you asked for." in receipt("help", "board").text
