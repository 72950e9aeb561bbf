"""Receipts as they arrive: who they are from, what they answer, what they say, and that they can be answered in turn."""

from dataclasses import replace
from email import message_from_bytes, policy

import pytest

from engine import orders
from pbem.config.settings import Security, Smtp
from pbem.domain.reply_commands import USAGES, Word
from pbem.mail.read.reply import parse_reply
from pbem.mail.send.relay import Relay
from pbem.service.desk.acts.correct import Redact
from pbem.service.outgoing import deliver
from pbem.service.outgoing.deliver import Post
from pbem.service.tables import talk
from tests.mail.sink import Sink
from tests.service.actors import moderate
from tests.service.clock import DAY
from tests.service.inbox import HOST, Inbox
from tests.service.outgoing.test_deliver import HEAD, HOUR


@pytest.fixture
def sink():
    with Sink() as listening:
        yield listening


@pytest.fixture
def sends(server, clock, sink):
    """Send everything in the queue; returns the emails that arrived since the last time."""
    post = Post(replace(HEAD, replies=True), Relay(Smtp("127.0.0.1", Security.NONE, sink.port, "", "", 5)))

    def send():
        before = len(sink.emails)
        for _ in range(3):
            clock.advance(HOUR)
            deliver.deliver(server, post, limit=200)
        return sink.emails[before:]

    return send


@pytest.fixture
def inbox(server, clock):
    return Inbox(server, clock)


@pytest.fixture
def game(table):
    return table("templari")


@pytest.fixture
def receipt(game, inbox, sends):
    """receipt("bid 3") -> the receipt for a reply with these lines by the player who is asked first."""
    first = min(game.asked())

    def get(*lines, seat=first):
        sends()
        inbox.replies(game, seat, "\n".join(lines))
        (email,) = [each for each in sends() if each.message["Auto-Submitted"] == "auto-replied"]
        return email

    return get


def test_a_receipt_has_no_return_address_and_says_that_a_program_wrote_it(receipt, game):
    email = receipt("bid 3")
    assert email.sender.strip("<>") == ""
    assert email.message["Auto-Submitted"] == "auto-replied"


def test_a_receipt_answers_the_email_that_came_in(receipt):
    email = receipt("bid 3")
    assert str(email.message["Subject"]).startswith("Re: ")
    assert str(email.message["In-Reply-To"]).endswith("@mail.example.org>")
    assert str(email.message["In-Reply-To"]) in str(email.message["References"])


def test_a_receipt_has_the_outcome_of_each_line_and_the_present_question(receipt):
    text = " ".join(receipt("talk hello", "bid 3", "bid 5", "board").text.split())
    assert "“talk”: The others will read this in their next email: “hello”" in text
    assert "“bid 3”: Played: bid 3." in text
    assert "“bid 5”: That was for turn 1, and the game is now on turn 2." in text
    assert "“board”: Skipped." in text
    assert "YOUR CURRENT DECISION It's not your turn." in text
    assert "You have the high bid: 3." in text


def test_a_receipt_says_that_not_all_of_the_reply_was_read(receipt):
    notice = (
        "We carry out the first 20 commands of a reply and read its first 200 lines. We didn't read the rest of yours."
    )
    assert notice in " ".join(receipt(*["board"] * 21).text.split())
    assert notice not in " ".join(receipt(*["board"] * 20).text.split())


def test_a_receipt_teaches_a_player_who_wrote_no_command(receipt):
    text = receipt("I think I will bid 7 tomorrow.").text
    assert "we found no command in your reply" in text
    assert "Nothing changed." in text
    assert "> I think I will bid 7 tomorrow." in text
    assert "* pass\n" in text
    assert "- bid <coins 0-12>" in text
    for usage in USAGES.values():
        assert usage in text


@pytest.mark.parametrize("line", ["bid 99", "help", "resign", "I do not know", "bid 3"])
def test_a_receipt_says_that_nothing_was_changed_only_if_that_is_so(receipt, line):
    assert ("Nothing changed." in receipt(line).text.split("[pbem")[0]) == (line != "bid 3")


def test_the_last_receipt_before_a_limit_says_what_becomes_of_replies_after_it(receipt, server):
    receipts = [" ".join(receipt("help").text.split()) for _ in range(server.answers_a_turn)]
    assert ["our last receipt for this turn" in text for text in receipts] == [False] * 4 + [True]
    assert "We'll still carry out your replies" in receipts[-1]
    refusals = [" ".join(receipt("bid 99").text.split()) for _ in range(server.answers_a_turn)]
    assert ["our last email about a refused line this turn" in text for text in refusals] == [False] * 4 + [True]


def test_a_receipt_explains_every_word(receipt):
    text = " ".join(receipt("help").text.split())
    for usage in USAGES.values():
        _, _, means = text.partition(f"- {usage}: ")
        assert means[:1].islower(), usage


@pytest.mark.parametrize("asked", [True, False])
def test_help_lists_the_orders_whether_or_not_its_reader_is_asked(receipt, game, asked):
    seat = min(game.asked()) if asked else next(seat for seat in range(3) if seat not in game.asked())
    text = " ".join(receipt("help", seat=seat).text.split())
    assert [usage for usage in orders.USAGES if f"- {usage}" not in text] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [("-----BEGIN PGP MESSAGE-----", "is encrypted"), ("", "has no text"), ("> bid 3", "only quoted text")],
)
def test_a_receipt_tells_an_encrypted_email_from_an_empty_one_and_from_a_quote(receipt, line, says):
    assert says in receipt(line).text


def test_a_receipt_contains_the_rules(receipt):
    text = " ".join(receipt("rules").text.split())
    assert "Win cards of the same colour in fifteen auctions." in text


def test_a_reply_cannot_resign_and_its_receipt_links_to_the_page_that_can(receipt):
    email = receipt("resign")
    assert "Not done yet." in email.text
    assert f"https://{HOST}/s/" in email.text.partition("Leave the table")[2]


def test_a_receipt_says_the_same_in_text_and_html(receipt):
    email = receipt("talk hello <b>", "bid 99", "rules")
    for words in ("The others will read this in their next email", "99 is too high: the maximum is 12.", "Skipped."):
        assert words in email.text
        assert words in email.html
    assert "<b>”" not in email.html


def test_a_receipt_quoted_in_a_reply_is_no_command(receipt):
    email = receipt("bid 99", "help", "pass")
    answer = message_from_bytes(email.content, policy=policy.default)
    # As it is, with nothing before it, and each line marked.
    assert all("bid" not in line or "99" not in line for line in parse_reply(answer).lines)
    assert not {line.casefold() for line in parse_reply(answer).lines} & {"pass", "bid 99", *Word}


def test_a_reply_to_a_receipt_is_for_the_present_turn(receipt, game, inbox, sends):
    first = min(game.asked())
    email = receipt("bid 99")
    address = str(email.message["Reply-To"])
    assert inbox.takes(inbox.written(game, first, "bid 4"), address) == "kept"
    inbox.attends()
    assert first not in game.asked()


def test_the_receipt_of_a_late_answer_leads_on_from_the_present_turn(game, inbox, sends):
    first, late = min(game.asked()), game.row().turn
    for bid in range(1, 4):
        game.play(min(game.asked()), f"bid {bid}")
    sends()
    address = inbox.reply_address(game, first, late)
    inbox.takes(inbox.written(game, first, "bid 9", {"To": address}), address)
    inbox.attends()
    (email,) = sends()
    assert f"your reply was for turn {late}, but it's now turn {late + 3}." in email.text
    assert f"t{late + 3}]" in email.text
    address = str(email.message["Reply-To"])
    inbox.takes(inbox.written(game, first, "bid 9", {"To": address}), address)
    inbox.attends()
    assert first not in game.asked()


def test_emails_leave_out_their_readers_own_talk(game, sends):
    first = min(game.asked())
    game.server.run(talk.say, game.id, first, game.person_at(first), "Good luck, everyone!")
    for bid in range(1, 4):
        game.play(min(game.asked()), f"bid {bid}")
    (turn,) = [each for each in sends() if f", turn {game.row().turn}: " in str(each.message["Subject"])]
    assert "TALK" not in turn.text


def test_talk_is_in_the_next_email_once_whatever_the_clock_says(game, sends, clock):
    first = min(game.asked())
    sends()
    clock.set(clock.now() - DAY)
    game.server.run(talk.say, game.id, first, game.person_at(first), "Good luck, everyone!")
    readers = []
    for bid in range(1, 7):
        game.play(min(game.asked()), f"bid {bid}")
        readers += [str(email.message["To"]) for email in sends() if "Good luck" in email.text]
        clock.set(clock.now() - DAY)
    assert len(readers) == len({*readers}) == 2


def test_talk_is_in_the_next_email_of_the_others(game, sends):
    first = min(game.asked())
    sends()
    game.server.run(talk.say, game.id, first, game.person_at(first), "Good luck, everyone!")
    game.play(first, "bid 3")
    (turn,) = sends()
    assert "\nTALK\n" in turn.text
    assert "Good luck, everyone!" in turn.text
    second = min(game.asked())
    game.play(second, "bid 4")
    moderate(game.server, Redact(game.id, 1))
    # Everyone also gets a notice that a line was redacted.
    (turn,) = (email for email in sends() if "\nTALK\n" in email.text)
    assert "Good luck" not in turn.text
    assert "(removed by the organiser)" in turn.text


def test_a_receipt_for_questions_says_that_it_has_the_answers(receipt):
    assert "here's what you asked for." in receipt("help", "board").text
