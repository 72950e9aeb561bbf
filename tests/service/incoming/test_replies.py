"""Replies carried out: each command, several in a row, late ones, repeated ones, and those that break off."""

import json

import pytest

from engine import grammar, orders
from pbem.domain import reply_pieces
from pbem.domain.reply_commands import Word
from pbem.service.clocks import vacations
from pbem.service.desk.acts.clocks import Freeze
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import Substitute
from pbem.service.incoming import replies
from pbem.service.outgoing import preferences
from pbem.service.people import addresses, sessions
from pbem.service.play import standing_orders as play_orders
from pbem.service.play.log import Kind
from pbem.service.play.move import Actor
from pbem.service.play.positions import orders_of
from pbem.service.tables import leaving
from pbem.store import received, talk
from pbem.store.sessions import Holder
from tests.fuzz.door import steps
from tests.service.actors import moderate
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.email_replies import Replies
from tests.service.races import meetings

SEALED, TURNS = "sunset-poker", "templari"
"""A game in which all choose at once, and one in which they bid in turn."""

FIRST, SECOND = 1, 2
"""The turns after the deal."""


def talk_at(game):
    with game.server.store.read() as tx:
        return talk.lines(tx, game.id, game.row().key)


@pytest.fixture
def at(table):
    """at("templari") -> the answers at a table of that game."""

    def begin(kind: str, **agreed) -> Replies:
        return Replies(table(kind, 3, **agreed))

    return begin


def other_option(answers, seat):
    """Two different choices of a seat, as text."""
    decision = answers.asked(seat)
    return [grammar.write(decision, choice) for choice in decision.choices(2)]


def received_row(answers, stored):
    with answers.server.store.read() as tx:
        return received.read(tx, stored[0])


def nothing_but_the_receipt(before, after):
    """Whether only an email was queued, and only the reply's own row and link changed."""
    expected = {"outbox", "received", "link", "received_count"}
    return {name: rows for name, rows in before.items() if name not in expected} == {
        name: rows for name, rows in after.items() if name not in expected
    }


def test_a_kind_of_email_is_switched_by_reply(at):
    answers = at(TURNS)
    answers.write(0, "stop reminders", "start talk")
    assert [line[1:] for line in answers.outcomes()] == [("applied", "switched_off"), ("applied", "switched_on")]
    person = answers.server.read(addresses.read, answers.person(0))
    assert person.topics == "turns talk invitations results players"


def test_a_note_by_reply_is_added_to_the_private_notes_and_never_quoted(at):
    answers = at(TURNS)
    answers.write(0, "note: Ben bluffs.", "Note: and often!")
    assert answers.outcomes() == [("note", "applied", "noted")] * 2
    rows = all_rows(answers.server.store)
    assert [row[3] for row in rows["note"]] == ["Ben bluffs.\nand often!"]
    assert "bluffs" not in repr(rows["outbox"])
    # Of several lines without an end only the first is noted, and the receipt says so.
    answers.write(0, "note: Cem passes,", "and then bluffs.")
    assert answers.receipts()[-1]["below"]
    answers.write(0, "note: Cem raises,", "and bluffs.", "end")
    assert all_rows(answers.server.store)["note"][0][3].endswith("Cem passes,\nCem raises, and bluffs.")
    answers.write(0, "note: Cem bluffs,", "help", "end")
    assert answers.outcomes() == [("note", "refused", None)]
    assert not answers.receipts()[-1]["below"]
    assert "bluffs" not in repr(all_rows(answers.server.store)["outbox"])
    # One that is too long to be read is refused in words, and not quoted as prose either.
    answers.write(0, f"note: Ben {'bluffs ' * 100}")
    assert answers.outcomes() == [("note", "refused", None)]
    assert "up to 500 characters" in answers.receipts()[-1]["lines"][0]["text"]
    assert "bluffs" not in repr(all_rows(answers.server.store)["outbox"])


def test_more_time_is_given_by_reply_to_a_player_by_name(at):
    answers = at(TURNS)
    first = answers.begun.players()[answers.seat(0)].name
    answers.write(1, f"more time: {first.upper()}, please.")
    assert [line[1:] for line in answers.outcomes()] == [("applied", "given")]
    assert answers.receipts()[-1]["lines"][0]["text"] == first
    answers.write(1, "more time: Zoe")
    assert [line[1:] for line in answers.outcomes()] == [("refused", None)]
    answers.write(1, f"More time {first}")
    assert "more time: <player>" in answers.receipts()[-1]["lines"][0]["text"]
    assert [row.kind for row in answers.begun.log()].count(Kind.EXTENDED) == 1


def test_more_time_by_a_late_reply_is_for_the_turn_of_its_email(at):
    answers = at(SEALED)
    name = answers.begun.players()[answers.seat(0)].name
    for player in range(3):
        answers.play(player, answers.asked(player).default)
    answers.write(1, f"more time: {name}", turn=FIRST)
    assert "reply to this email" in answers.receipts()[-1]["lines"][0]["text"]
    answers.write(1, f"more time: {name}")
    assert [row.kind for row in answers.begun.log()].count(Kind.EXTENDED) == 1


# Choices.


def test_a_choice_by_reply_is_a_choice(at):
    answers = at(TURNS)
    assert answers.write(0, "Bid 3.") == "reply: carried out"
    assert answers.outcomes() == [("Bid 3.", "applied", "played")]
    assert answers.answer() == "bid 3"
    assert (answers.begun.log()[-1].kind, answers.begun.log()[-1].by) == (Kind.ENTRY, Actor.REPLY)
    assert answers.begun.verifies()


def test_a_sealed_choice_is_replaced_by_a_second_one(at):
    answers = at(SEALED)
    one, other = other_option(answers, 0)
    answers.write(0, one, other)
    assert [line[1:] for line in answers.outcomes()] == [("applied", "sealed")] * 2
    assert answers.answer() == other
    box = answers.begun.position().box
    assert grammar.write(answers.begun.open()[0], box[0]) == other


def test_the_same_choice_again_says_so(at):
    answers = at(TURNS)
    answers.write(0, "bid 3", turn=FIRST)
    answers.play(1, "pass")
    log = answers.begun.log()
    answers.write(0, "bid 3", turn=FIRST)
    assert answers.outcomes() == [("bid 3", "applied", "again")]
    assert answers.receipts()[-1]["nothing_changed"]
    assert answers.begun.log() == log


def test_a_choice_against_the_rules_is_refused_with_what_is_possible(at):
    answers = at(TURNS)
    before = all_rows(answers.server.store)
    assert answers.write(0, "bid 99") == "reply: refused"
    assert answers.outcomes() == [("bid 99", "refused", None)]
    assert "99 is too high: the maximum is 12." in answers.answer()
    assert "You can write: pass; bid <coins 0-12>" in answers.answer()
    assert nothing_but_the_receipt(before, all_rows(answers.server.store))
    assert answers.receipts()[-1]["nothing_changed"]


def test_a_player_who_is_not_asked_reads_so(at):
    answers = at(TURNS)
    before = all_rows(answers.server.store)
    answers.write(1, "pass")
    assert answers.receipts()[-1]["lines"] == []
    assert nothing_but_the_receipt(before, all_rows(answers.server.store))


def test_prose_is_answered_with_what_is_possible(at):
    answers = at(TURNS)
    assert answers.write(0, "I think I will bid 7 tomorrow.", "bid 7?", "See you") == "reply: no command"
    receipt = answers.receipts()[-1]
    assert receipt["prose"] == ["I think I will bid 7 tomorrow.", "bid 7?", "See you"]
    assert receipt["nothing_changed"]
    assert receipt["board"]
    assert receipt["help"]


def test_prose_beside_a_command_is_ignored(at):
    answers = at(TURNS)
    answers.write(0, "Good evening!", "bid 3", "Let us see what Ben says.")
    assert answers.outcomes() == [("bid 3", "applied", "played")]


def test_an_empty_reply_is_answered_with_what_is_possible(at):
    answers = at(TURNS)
    assert answers.write(0) == "reply: no command"
    assert answers.receipts()[-1]["help"]


# Late ones.


def test_a_choice_for_an_earlier_turn_is_never_made_in_a_later_one(at):
    answers = at(TURNS)
    for seat, choice in ((0, "bid 1"), (1, "bid 2"), (2, "bid 3")):
        answers.play(seat, choice)
    assert answers.asked(0)
    log = answers.begun.log()
    assert answers.write(0, "bid 5", turn=FIRST) == "reply: refused"
    assert answers.answer().startswith("That was for turn 1, and the game is now on turn 4.")
    assert answers.receipts()[-1]["late"]
    assert answers.begun.log() == log


@pytest.mark.parametrize("line", ["pass", "bid 5"])
def test_a_reply_after_the_clock_has_decided_is_told_so(at, line):
    answers = at(TURNS)
    answers.play(0, "pass", Actor.CLOCK)
    log = answers.begun.log()
    assert answers.write(0, line, turn=FIRST) == "reply: refused"
    assert answers.answer() == "Time ran out on turn 1, so we played “pass” for you. Nothing changed."
    assert answers.begun.log() == log


@pytest.mark.parametrize("line", ["up to 5", "pass this auction"])
def test_an_order_for_an_earlier_turn_is_not_left(at, line):
    answers = at(TURNS)
    for seat, choice in ((0, "bid 1"), (1, "bid 2"), (2, "bid 3")):
        answers.play(seat, choice)
    answers.write(0, line, turn=FIRST)
    assert answers.outcomes() == [(line, "refused", None)]
    assert orders_of(answers.begun.row()) == {}


def test_a_late_reply_may_still_talk_and_ask(at):
    answers = at(TURNS)
    answers.play(0, "bid 1")
    answers.play(1, "bid 2")
    answers.write(0, "talk sorry, I was away", "board", turn=FIRST)
    assert [line[1] for line in answers.outcomes()] == ["applied", "applied"]


def test_a_reply_after_the_end_is_answered_with_that(at):
    answers = at(TURNS)
    for seat in range(3):
        answers.server.run(leaving.agree_to_end, answers.begun.id, answers.person(seat))
    for line in ("bid 3", "talk well played!", "resign", "resend", "undo"):
        assert answers.write(0, line, turn=FIRST) == "reply: refused"
    assert "This game is over." in json.dumps(answers.receipts())


# Several.


def test_lines_after_a_refusal_are_not_tried(at):
    answers = at(TURNS)
    assert answers.write(0, "talk hello", "bid 99", "bid 3", "talk bye") == "reply: partly carried out"
    assert answers.outcomes() == [
        ("talk hello", "applied", "said"),
        ("bid 99", "refused", None),
        ("bid 3", "not_tried", None),
        ("talk bye", "not_tried", None),
    ]
    assert [line.text for line in talk_at(answers.begun)] == ["hello"]
    assert answers.asked(0)
    assert not answers.receipts()[-1]["nothing_changed"]


def test_a_second_choice_does_not_answer_what_others_were_told_meanwhile(at):
    answers = at(TURNS)
    # Ben's order answers at once, and Cleo passes at once: Ann is asked again within her own move.
    answers.play(0, "bid 1")
    answers.play(1, "bid 2")
    answers.play(2, "pass")
    answers.write(1, "talk up we go", turn=SECOND)
    answers.play(0, "bid 3")
    answers.write(1, "up to 9")
    turn = answers.begun.row().turn
    assert answers.asked(0)
    answers.write(0, "bid 5", "bid 8", turn=turn)
    assert [line[1:] for line in answers.outcomes()] == [("applied", "played"), ("refused", None)]


def test_a_second_choice_where_someone_else_is_asked_is_refused_and_not_passed_over(at):
    answers = at(TURNS)
    answers.write(0, "bid 3", "bid 5")
    assert answers.outcomes() == [("bid 3", "applied", "played"), ("bid 5", "refused", None)]
    assert answers.answer().startswith("That was for turn 1, and the game is now on turn 2.")


def test_a_second_choice_answers_the_next_question_where_nothing_new_could_be_known(at):
    answers = at(TURNS)
    # Nobody can bid more than everything, so that the same player is asked at once whether to sell.
    answers.write(0, "bid 12", "no")
    assert [line[1:] for line in answers.outcomes()] == [("applied", "played")] * 2


def test_only_the_first_commands_of_a_reply_are_read_and_its_receipt_says_so(at):
    answers = at(TURNS)
    answers.write(0, *["board"] * 30)
    assert [outcome for _, outcome, _ in answers.outcomes()] == ["applied"] * replies.MOST_COMMANDS
    assert answers.receipts()[-1]["read_only"]
    answers.write(0, *["board"] * replies.MOST_COMMANDS)
    assert not answers.receipts()[-1]["read_only"]


def test_only_the_first_lines_of_a_reply_are_read(at):
    answers = at(TURNS)
    assert answers.write(0, *["Hello."] * reply_pieces.MOST_LINES, "bid 3") == "reply: no command"
    assert answers.receipts()[-1]["read_only"]
    # A message that may end below them is not told: it may have a command in it.
    answers.write(0, "talk Hello.", *["Hello."] * reply_pieces.MOST_LINES, "end")
    assert talk_at(answers.begun) == []
    answers.write(0, *["Hello."] * (reply_pieces.MOST_LINES - 1), "bid 3")
    assert answers.outcomes() == [("bid 3", "applied", "played")]


MANY_PARTS = "; ".join([f"up to 5 if {'and ' * 46}a over 5"] * 2) + "; up to 5 if x"
COSTLY = (
    f"add order {MANY_PARTS}",
    "hello there",
    "pasx",
    "always x y z",
    "pass then x",
    "talk hello",
    "note: x",
    "bidd 7",
)


@pytest.mark.parametrize("line", COSTLY)
def test_a_reply_of_very_many_lines_takes_few_steps(at, line):
    answers = at(TURNS)
    # What is compiled or kept the first time is no part of the work.
    answers.write(0, "help", line)
    stored = answers.keep(0)
    assert steps(lambda: answers.act(stored, *[line] * 20_000)) < 700_000


def late_game(at):
    """A table whose first auction is over, so that an email of its first turn is late."""
    answers = at(TURNS)
    for seat, choice in ((0, "bid 1"), (1, "pass"), (2, "pass")):
        answers.play(seat, choice)
    return answers


@pytest.mark.parametrize("line", ["order up to 9", "order pass this auction", "order bid 2 then 3"])
def test_an_order_in_a_late_reply_acts_in_no_later_auction(at, line):
    answers = late_game(at)
    log = answers.begun.log()
    for player in range(3):
        assert answers.write(player, line, turn=player + FIRST) == "reply: refused"
        assert "reply to the latest email" in answers.answer()
    assert answers.begun.log() == log


def test_an_order_in_a_late_reply_counts_while_its_auction_goes_on_and_ends_with_it(at):
    answers = at(TURNS)
    answers.play(0, "bid 1")
    assert answers.write(0, "order up to 9", turn=FIRST) == "reply: carried out"
    (order,) = orders_of(answers.begun.row()).values()
    assert order.topic == answers.asked(1).topic
    answers.play(1, "pass")
    answers.play(2, "pass")
    while answers.asked(0) is None:
        seat, decision = next(iter(answers.begun.asked().items()))
        answers.begun.play(seat, decision.default)
    assert orders_of(answers.begun.row()) == {}
    assert answers.asked(0).topic != order.topic


def test_an_order_for_all_questions_counts_whenever_it_arrives(at):
    answers = late_game(at)
    assert answers.write(0, "order always pass", turn=FIRST) == "reply: carried out"
    assert answers.seat(0) in orders_of(answers.begun.row())


def test_an_order_written_before_any_question_is_for_the_first_one(at):
    answers = at(TURNS)
    answers.play(0, "bid 1")
    assert answers.write(2, "order up to 9", turn=FIRST) == "reply: carried out"
    answers.play(1, "bid 2")
    (order,) = orders_of(answers.begun.row()).values()
    assert (order.limit, order.topic) == (9, answers.asked(0).topic)


def test_an_order_for_a_turn_that_was_taken_back_is_refused(at):
    answers = at(TURNS)
    for seat, choice in ((0, "bid 1"), (1, "bid 2"), (2, "bid 3")):
        answers.play(seat, choice)
    moderate(answers.server, Rewind(answers.begun.id, SECOND))
    assert answers.write(2, "order up to 9", turn=SECOND + 1) == "reply: refused"
    assert answers.write(2, "order up to 9", turn=answers.begun.row().turn) == "reply: carried out"


# Each word.


def test_an_order_is_left_and_answers_at_once(at):
    answers = at(TURNS)
    answers.write(0, "up to 5")
    assert answers.outcomes() == [("up to 5", "applied", "ordered")]
    assert answers.begun.log()[-1].by == Actor.ORDER
    assert answers.seat(0) in orders_of(answers.begun.row())


def test_undo_takes_back_the_choice_of_the_turn_that_is_answered(at):
    answers = at(TURNS)
    answers.write(0, "bid 3")
    answers.write(0, "undo", turn=FIRST)
    assert answers.outcomes() == [("undo", "applied", "taken_back")]
    assert answers.asked(0)
    assert answers.begun.verifies()


def test_undo_takes_back_a_sealed_choice(at):
    answers = at(SEALED)
    one, _ = other_option(answers, 0)
    answers.write(0, one, "undo")
    assert answers.answer().replace("the ", "") == one.replace("the ", "")
    assert answers.asked(0)


def test_undo_in_one_reply_with_the_choice_leaves_room_for_another(at):
    answers = at(TURNS)
    answers.write(0, "bid 3", "undo", "bid 2")
    assert [line[2] for line in answers.outcomes()] == ["played", "taken_back", "played"]
    assert answers.asked(0) is None


def test_an_undo_that_came_late_takes_back_no_later_choice(at):
    answers = at(TURNS)
    for seat, choice in ((0, "bid 1"), (1, "bid 2"), (2, "bid 3"), (0, "bid 4")):
        answers.play(seat, choice)
    before = all_rows(answers.server.store)
    answers.write(0, "undo", turn=FIRST)
    assert answers.outcomes() == [("undo", "refused", None)]
    assert nothing_but_the_receipt(before, all_rows(answers.server.store))


def test_a_reply_to_a_turn_that_was_undone_acts_in_no_other(at):
    answers = at(TURNS)
    answers.play(0, "bid 3")
    received, link = answers.keep(1)
    answers.write(0, "undo")
    answers.play(0, "bid 2")
    assert answers.begun.row().turn == link.turn
    answers.act((received, answers.link_of(received)), "bid 4", "up to 5", "undo")
    assert [line[1] for line in answers.outcomes()] == ["refused", "not_tried", "not_tried"]
    assert "a turn that was undone" in answers.receipts()[-1]["lines"][0]["text"]
    answers.write(1, "bid 4")
    assert answers.outcomes() == [("bid 4", "applied", "played")]


def test_undo_where_there_is_nothing_is_refused(at):
    answers = at(TURNS)
    answers.write(0, "undo")
    assert "no choice to take" in answers.answer()


def test_talk_is_heard_at_the_table(at):
    answers = at(TURNS)
    answers.write(0, "talk Well played, Ben!")
    assert [(line.seat, line.text) for line in talk_at(answers.begun)] == [(answers.seat(0), "Well played, Ben!")]


def test_talk_without_words_is_refused(at):
    answers = at(TURNS)
    answers.write(0, "talk")
    assert answers.outcomes() == [("talk", "refused", None)]


@pytest.mark.parametrize(
    ("line", "booked", "says"),
    [
        ("vacation 2026-12-20 to 2027-01-03", "2026-12-20 to 2027-01-03", "Sun 20 Dec 2026 to Sun 3 Jan 2027"),
        ("Vacation until 2026-11-30", "2026-11-21 to 2026-11-30", "Sat 21 Nov 2026 to Mon 30 Nov 2026"),
        ("vacation 2026-12-24", "2026-12-24 to 2026-12-24", "Thu 24 Dec 2026"),
    ],
)
def test_a_vacation_is_booked(at, line, booked, says):
    answers = at(TURNS)
    answers.write(0, line)
    assert answers.answer() == says
    (row,), _ = answers.server.read(vacations.vacations, answers.person(0))
    assert f"{row.first} to {row.last}" == booked


@pytest.mark.parametrize("line", ["vacation", "vacation 2026-13-40", "vacation 2020-01-01 to 2020-01-09"])
def test_a_vacation_that_cannot_be_is_refused(at, line):
    answers = at(TURNS)
    answers.write(0, line)
    assert answers.outcomes() == [(line, "refused", None)]
    assert answers.server.read(vacations.vacations, answers.person(0))[0] == []


def test_resign_is_only_asked_for(at):
    answers = at(TURNS)
    before = all_rows(answers.server.store)
    answers.write(0, "resign")
    assert answers.outcomes() == [("resign", "applied", "to_confirm")]
    assert nothing_but_the_receipt(before, all_rows(answers.server.store))


def test_resign_at_a_stopped_table_is_refused_with_the_reason(at):
    answers = at(TURNS)
    moderate(answers.server, Freeze(answers.begun.id))
    answers.write(0, "resign")
    assert answers.outcomes() == [("resign", "refused", None)]
    assert "has been stopped so that its log can be checked" in json.dumps(answers.receipts())


def test_stop_ends_the_emails_of_this_table_and_keeps_the_seat(at):
    answers = at(TURNS)
    answers.write(0, "stop")
    key = answers.begun.row().key
    assert str(answers.server.read(preferences.read, answers.person(0), key).delivery) == "nothing"
    assert str(answers.server.read(preferences.read, answers.person(0)).delivery) != "nothing"
    assert answers.person(0) is not None


def test_resend_emails_the_present_turn_again(at):
    answers = at(TURNS)
    _mark_sent(answers.server)
    answers.write(0, "resend", turn=FIRST)
    turns = queued_emails(answers.server, answers.person(0), "turn")
    assert [email.status for email in turns] == ["sent", "queued"]


def test_new_links_ends_the_old_ones_and_sends_fresh_ones(at):
    answers = at(TURNS)
    stranger = answers.server.run(sessions.start, Holder(person_id=answers.person(0)), "")
    answers.write(0, "new links", turn=FIRST)
    assert len(queued_emails(answers.server, answers.person(0), "links")) == 1
    assert answers.server.read(sessions.find, stranger) is None


def test_new_links_here_ends_those_of_this_seat_alone(at):
    answers = at(TURNS)
    browser = answers.server.run(sessions.start, Holder(person_id=answers.person(0)), "")
    answers.write(0, "new links here, please", turn=FIRST)
    assert answers.outcomes() == [("new links here", "applied", "new_seat_links")]
    assert len(queued_emails(answers.server, answers.person(0), "links")) == 1
    assert answers.server.read(sessions.find, browser) is not None


def test_resend_queues_no_second_email_while_one_is_on_its_way(at):
    answers = at(TURNS)
    answers.write(0, "resend", "resend")
    assert len(queued_emails(answers.server, answers.person(0), "turn")) == 1


def test_resend_without_a_question_is_refused(at):
    answers = at(TURNS)
    answers.write(1, "resend")
    assert "not your turn right" in answers.answer()


@pytest.mark.parametrize("word", ["help", "board", "rules"])
def test_the_receipt_contains_the_answer_to_a_question(at, word):
    answers = at(TURNS)
    before = all_rows(answers.server.store)
    answers.write(0, word)
    assert answers.receipts()[-1][word]
    assert answers.receipts()[-1]["nothing_changed"]
    assert nothing_but_the_receipt(before, all_rows(answers.server.store))


def test_an_order_is_set_replaced_and_dropped_whether_or_not_its_player_is_asked(at):
    answers = at(TURNS)
    seat = answers.seat(1)
    assert seat not in answers.begun.asked()
    answers.write(1, "order up to 3")
    answers.write(1, "Order up to 5, please", turn=FIRST)
    assert orders.write_order(orders_of(answers.begun.row())[seat]) == "up to 5"
    answers.write(1, "cancel order")
    assert orders_of(answers.begun.row()) == {}
    assert [outcome for *_, outcome in answers.outcomes()] == ["order_dropped"]
    answers.write(1, "drop order")
    assert answers.outcomes() == [("drop order", "refused", None)]
    assert "You have no standing order." in json.dumps(answers.receipts())


def test_a_message_is_one_line_and_tells_the_table_nothing_below_it(at):
    answers = at(TURNS)
    answers.write(0, "talk Well played!", "Ann Smith", "ann@example.org, +49 30 1234567", "bid 3")
    assert [line.text for line in talk_at(answers.begun)] == ["Well played!"]
    assert [outcome for *_, outcome in answers.outcomes()] == ["said", "played"]


def test_a_message_of_several_lines_is_told_up_to_its_end_and_the_receipt_shows_it(at):
    answers = at(TURNS)
    answers.write(0, "talk Well played!", "What a round.", "end", "bid 3", "Ann Smith", "+49 30 1234567")
    assert [line.text for line in talk_at(answers.begun)] == ["Well played! What a round."]
    assert [outcome for *_, outcome in answers.outcomes()] == ["said", "played"]
    assert answers.receipts()[-1]["lines"][0]["text"] == "Well played! What a round."


def test_a_message_with_a_command_in_it_tells_the_table_nothing(at):
    answers = at(TURNS)
    answers.write(0, "talk Good luck!", "bid 3", "end", "up to 4")
    assert [line[1:] for line in answers.outcomes()] == [("refused", None), ("not_tried", None)]
    assert "“bid 3” looks like a command" in answers.receipts()[-1]["lines"][0]["text"]
    assert talk_at(answers.begun) == []


def test_a_message_that_is_too_long_is_refused_and_not_passed_over(at):
    answers = at(TURNS)
    answers.write(0, "talk " + "and so on " * 100)
    assert answers.outcomes()[0][1:] == ("refused", None)
    assert "up to 500 characters" in answers.receipts()[-1]["lines"][0]["text"]
    assert talk_at(answers.begun) == []


def test_a_typo_is_refused_with_the_nearest_command(at):
    answers = at(TURNS)
    answers.write(0, "bdi 3", "talk hello")
    assert [line[1:] for line in answers.outcomes()] == [("refused", None), ("not_tried", None)]
    assert "Did you mean “bid 3”?" in answers.receipts()[-1]["lines"][0]["text"]


@pytest.mark.parametrize("lines", [("bid 3", "Boart"), ("Helo", "bid 3")])
def test_a_word_beside_a_command_that_looks_like_another_command_is_prose(at, lines):
    answers = at(TURNS)
    answers.write(0, *lines)
    assert [line[1:] for line in answers.outcomes()] == [("applied", "played")]


def test_a_word_alone_that_looks_like_a_command_gets_the_nearest(at):
    answers = at(TURNS)
    answers.write(0, "Boart")
    assert answers.outcomes() == [("Boart", "refused", None)]
    assert "Did you mean “board”?" in answers.receipts()[-1]["lines"][0]["text"]


def test_unsubscribe_says_how(at):
    answers = at(TURNS)
    answers.write(0, "Unsubscribe")
    assert "To stop emails about this table, reply “stop”." in answers.receipts()[-1]["lines"][0]["text"]
    assert str(answers.server.read(preferences.read, answers.person(0)).delivery) != "nothing"


def test_a_list_of_orders_is_set_added_to_and_dropped_one_by_one_with_names_in_the_receipt(at):
    answers = at(TURNS)
    rival = next(player.name for seat, player in answers.begun.players().items() if seat == answers.seat(0))
    answers.write(1, f"order up to 3 if {rival} is out and high bid at most 2; always pass")
    assert answers.outcomes()[0][2] == "ordered"
    assert f"up to 3 if {rival} is out and high bid at most 2; always pass" in json.dumps(answers.receipts())
    answers.write(1, "add order up to 9")
    assert _written(answers) == [
        f"up to 3 if seat {answers.seat(0) + 1} is out and high bid at most 2",
        "always pass",
        "up to 9",
    ]
    answers.write(1, "drop order 2")
    assert len(_written(answers)) == 2
    answers.write(1, "drop order 4")
    assert answers.answer() == "You have no standing order 4. Nothing changed."
    answers.write(1, "order up to 5 if Nobody here is out")
    assert "isn't a condition" in answers.answer()
    assert len(_written(answers)) == 2
    answers.write(1, "drop order")
    assert _written(answers) == []


THREE = "order up to 3 if high bid at most 2; always pass if high bid at least 40; up to 9"
FIRST_OF_THREE, SECOND_OF_THREE, THIRD_OF_THREE = THREE.removeprefix("order ").split("; ")


def test_the_numbers_of_a_reply_are_those_of_the_orders_before_it(at):
    answers = at(TURNS)
    answers.write(1, THREE)
    answers.write(1, "drop order 1", "drop order 2", "drop order 4")
    assert _written(answers) == [THIRD_OF_THREE]
    lines = answers.receipts()[-1]["lines"]
    assert [line["text"] for line in lines[:2]] == [FIRST_OF_THREE, SECOND_OF_THREE]
    assert lines[2]["outcome"] == "refused"
    answers.write(1, "drop order")
    assert answers.receipts()[-1]["lines"][0]["text"] == THIRD_OF_THREE


def test_an_order_that_is_gone_within_a_reply_is_not_dropped_again(at):
    answers = at(TURNS)
    answers.write(1, THREE)
    answers.write(1, "drop order 2", "drop order 2")
    assert _written(answers) == [FIRST_OF_THREE, THIRD_OF_THREE]
    assert [outcome for _, outcome, _ in answers.outcomes()] == ["applied", "refused"]


def test_a_number_that_has_meant_another_order_since_the_email_drops_nothing(at):
    answers = at(TURNS)
    answers.write(1, THREE)
    late, again = answers.keep(1), answers.keep(1)
    drop = play_orders.drop_order
    answers.server.run(drop, answers.begun.id, answers.seat(1), answers.person(1), 0, FIRST_OF_THREE)
    answers.act(late, "drop order 2")
    assert _written(answers) == [SECOND_OF_THREE, THIRD_OF_THREE]
    assert f"They are now: 1. {SECOND_OF_THREE}; 2. {THIRD_OF_THREE}." in answers.answer()
    # Number 3 is nobody's now.
    answers.act(again, "drop order 3")
    assert answers.answer() == "You have no standing order 3. Nothing changed."


def test_a_number_counts_in_the_next_turn_if_the_list_was_changed_before_it_began(at):
    answers = at(TURNS)
    answers.write(1, THREE)
    answers.write(1, "drop order 1")
    answers.play(0, "bid 3")
    turn = answers.begun.row().turn
    answers.write(1, "drop order 1", turn=FIRST)
    assert answers.outcomes()[0][1] == "refused"
    before = _written(answers)
    answers.write(1, "drop order 1", turn=turn)
    assert answers.outcomes()[0][1] == "applied"
    assert _written(answers) == before[1:]


def test_the_receipt_says_which_order_of_a_list_has_answered_at_once(at):
    answers = at(TURNS)
    rival = next(player.name for seat, player in answers.begun.players().items() if seat == answers.seat(1))
    answers.write(0, f"order up to 9 if {rival} is out; up to 4")
    assert answers.outcomes()[0][2] == "ordered"
    receipt = answers.receipts()[-1]["lines"][0]["text"]
    assert "order “up to 4” played bid 0." in receipt
    assert f"“up to 9 if {rival} is out” was passed over. {rival} is still in" in receipt


def _written(answers):
    """The standing orders of the second player."""
    return [orders.write_one(one) for one in orders.as_list(orders_of(answers.begun.row()).get(answers.seat(1)))]


def test_every_word_has_its_test():
    tried = {
        "help",
        "board",
        "rules",
        "resend",
        "undo",
        "talk",
        "vacation",
        "stop",
        "start",
        "note",
        "resign",
        "order",
        "more time",
        "go back",
        "agree to go back",
    }
    assert {word.value for word in Word} == tried | {"add order", "drop order", "new links", "new links here"}


# Whose seat it is.


def test_a_former_player_does_nothing_at_the_seat(at):
    answers = at(TURNS)
    lines = ("bid 3", "talk hello", "up to 4", "undo")
    stored = [answers.keep(0) for _ in lines]
    answers.server.run(leaving.resign, answers.begun.id, answers.seat(0), answers.person(0))
    before = answers.begun.log()
    for each, line in zip(stored, lines, strict=True):
        assert answers.act(each, line) == "reply: refused"
    assert answers.begun.log() == before
    assert talk_at(answers.begun) == []


def test_a_former_player_hears_nothing_of_their_successors_orders(at):
    answers = at(TURNS)
    seat, before = answers.seat(1), answers.person(1)
    lines = ("drop order 1", "drop order 3", "drop order", "board")
    stored = [answers.keep(1) for _ in lines]
    answers.server.run(leaving.resign, answers.begun.id, seat, before)
    moderate(answers.server, Substitute(answers.begun.id, seat, "zoe@example.org"), "They have left.")
    for text in ("up to 7", "up to 8; always pass"):
        answers.server.run(play_orders.set_order, answers.begun.id, seat, text, answers.person(1))
    reasons = set()
    for each, line in zip(stored, lines, strict=True):
        assert answers.act(each, line) == "reply: refused"
        reasons |= {answer["text"] for answer in json.loads(received_row(answers, each).acts)}
    (refusal,) = reasons
    assert refusal.startswith("Someone else plays this seat now.")
    assert len(_written(answers)) == 2


# Once and whole.


def test_a_reply_that_comes_again_is_carried_out_once(at):
    answers = at(TURNS)
    stored = answers.keep(0)
    first = answers.act(stored, "talk hello", "bid 3")
    before = all_rows(answers.server.store)
    assert answers.act(stored, "talk hello", "bid 3") == first
    assert all_rows(answers.server.store) == before


def test_a_reply_without_commands_is_answered_once(at):
    answers = at(TURNS)
    stored = answers.keep(0)
    assert answers.act(stored, "hello") == answers.act(stored, "hello") == "reply: no command"
    assert len(answers.receipts()) == 1


@pytest.mark.slow
def test_a_reply_that_breaks_off_leaves_nothing(at):
    answers = at(TURNS)
    stored = answers.keep(0)
    lines = ("talk hello", "vacation 2026-12-20 to 2026-12-24", "bid 3", "undo", "up to 4", "stop", "bid 99")
    assert check_atomic(answers.server.store, lambda: answers.act(stored, *lines)) > 30


def test_two_workers_with_the_same_reply_carry_it_out_once(at):
    answers = at(TURNS)
    for number, meeting in enumerate(meetings(answers.server.store)):
        stored = answers.keep(0, turn=FIRST)
        words = f"talk number {number}"
        done = meeting(
            lambda stored=stored, words=words: answers.act(stored, words),
            lambda stored=stored, words=words: answers.act(stored, words),
        )
        heard = [line.text for line in talk_at(answers.begun)]
        assert done == (done[0], done[0])
        assert heard.count(f"number {number}") <= 1


def test_a_reply_and_the_clock_make_one_choice(at):
    answers = at("bid")
    for meeting in meetings(answers.server.store):
        turn, default = answers.begun.row().turn, answers.asked(0).default
        stored, (one, _) = answers.keep(0), other_option(answers, 0)
        meeting(
            lambda stored=stored, one=one: answers.act(stored, one),
            lambda turn=turn, default=default: answers.play(0, default, Actor.CLOCK, turn),
        )
        # The clock never goes over the player's own choice; the player's may take the place of the clock's.
        position = answers.begun.position()
        assert grammar.write(position.open()[answers.seat(0)], position.box[answers.seat(0)]) == one
        assert answers.begun.verifies()
        for other in (1, 2):
            answers.play(other, answers.asked(other).default)


def _mark_sent(server):
    with server.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE outbox SET status = 'sent' WHERE kind = 'turn'")
