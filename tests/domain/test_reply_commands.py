"""Lines of replies: commands, slips and prose."""

import pytest
from hypothesis import given, strategies as st

from engine import orders
from engine.decisions import Act, Amount, Choice, Decision, OneOf, Some, Thing
from engine.tell import say
from pbem.domain import reply_commands, reply_pieces
from pbem.domain.reply_commands import Command, Move, Slip, StandingOrder, Word, WordCommand
from pbem.domain.user_text import LONGEST_TALK

CARDS = tuple(Thing(name.lower(), name) for name in ("Forest", "Sailor", "Two of Suns"))
AUCTION = Decision(
    0,
    say("Do you bid?"),
    (
        Act("bid", (Amount("coins", 1, 12, raising=True),)),
        Act("pass"),
        Act("play", (OneOf("card", CARDS),)),
        Act("keep", (Some("dice", tuple(Thing(n, str(n)) for n in range(1, 7)), 2),)),
    ),
    Choice("pass"),
    topic="lot 1",
)


def read(line: str, decision: Decision | None = AUCTION) -> Command | None:
    return reply_commands.read(line, decision)


@pytest.mark.parametrize(
    ("line", "choice"),
    [
        ("bid 7", Choice("bid", (7,))),
        ("  BID   7. ", Choice("bid", (7,))),
        ("*bid 7*", Choice("bid", (7,))),
        ("„bid 7“", Choice("bid", (7,))),
        ("« bid 7 ».", Choice("bid", (7,))),
        ("- bid 7", Choice("bid", (7,))),
        ("1. bid 7", Choice("bid", (7,))),
        ("• bid 7", Choice("bid", (7,))),
        ("bid: 7", Choice("bid", (7,))),
        ("bid 7 coins", Choice("bid", (7,))),
        ("bid seven", Choice("bid", (7,))),
        ("Bid twelve!", Choice("bid", (12,))),
        ("bid\u00a07\u200b", Choice("bid", (7,))),
        ("ｂｉｄ　７", Choice("bid", (7,))),
        ("bid 7, please", Choice("bid", (7,))),
        ("Please bid 7, thank you!", Choice("bid", (7,))),
        ("bid 7 bitte", Choice("bid", (7,))),
        ("b 7", Choice("bid", (7,))),
        ("Pass", Choice("pass")),
        ("play the forest", Choice("play", ("forest",))),
        ("play two of suns", Choice("play", ("two of suns",))),
        ("keep 5 and 3", Choice("keep", ((3, 5),))),
    ],
)
def test_a_choice_is_read_in_any_typography(line: str, choice: Choice) -> None:
    found = read(line)
    assert isinstance(found, Move)
    assert found.choice == choice


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   ",
        "...",
        "I think I will bid 7 tomorrow, not sure",
        "bid 7?",
        "Pass？",
        "7",
        "P.",
        "b",
        "Pas",
        "Passing by, I saw your bid of 7 and laughed.",
        "pass on my regards to everyone",
        "I bid 7",
        "Hello Ben, well played",
        "Ben bids 5.",
        "Anna: Bid above 5, or pass?",
        "pass then we shall see what happens",
        "Play was great last night with all of you",
        "Talk to you soon,",
        "Talk later!",
        "Thanks!",
        "Help is on the way",
        "Stop it!",
        "Order some pizza",
        "order",
        "Vacation was great",
        "undo that please if you can",
        "board games are the best",
        "resign? never!",
        "stop?",
        "start",
        "stop it",
        "note that Ben bluffs",
        "> bid 7",
        "| bid 7",
        "bid 7 " + "x" * LONGEST_TALK * 2,
    ],
)
def test_prose_is_not_a_command(line: str) -> None:
    assert read(line) is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bid 99", "maximum is 12"),
        ("bid", "is incomplete"),
        ("bid -7", "isn't a whole number"),
        ("bid 7 or 8", "can't be followed by"),
        ("bid seventy", "isn't a whole number"),
        ("play volcano", "isn't one of the choices"),
        ("pass 7", "can't be followed by"),
        ("up to ten thousand", "isn't a standing order"),
        ("pass this time", "every time"),
        ("pass then dance", "can't be followed by"),
        ("always dance", "isn't a move"),
        ("order up to the moon", "isn't a standing order"),
    ],
)
def test_a_slip_is_told_from_prose_and_has_a_reason(line: str, says: str) -> None:
    found = read(line)
    assert isinstance(found, Slip)
    assert says in str(found.why)


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("bdi 7", "bid 7"),
        ("biid 7", "bid 7"),
        ("plya forest", "play forest"),
        ("pasd", "pass"),
        ("hepl", "help"),
        ("boad", "board"),
        ("resing", "resign"),
        ("play forrest", "Forest"),
    ],
)
def test_a_typo_gets_the_nearest_command(line: str, near: str) -> None:
    found = read(line)
    assert isinstance(found, Slip)
    assert f"Did you mean “{near}”?" in str(found.why)


@pytest.mark.parametrize("line", ["Bo", "Pat", "Bill", "tall tales await", "bit 7 of my tongue", "Ben 7", "vacations"])
def test_words_that_are_only_a_little_like_a_command_are_prose(line: str) -> None:
    assert read(line) is None


@pytest.mark.parametrize(
    ("line", "choice"), [("ｂｉｄ　７", Choice("bid", (7,))), ("ＢＩＤ ７！", Choice("bid", (7,)))]
)
def test_full_width_letters_and_digits_are_read(line: str, choice: Choice) -> None:
    found = read(line)
    assert isinstance(found, Move)
    assert found.choice == choice


def test_an_incomplete_command_gets_a_complete_one() -> None:
    found = read("bid")
    assert isinstance(found, Slip)
    assert "“bid” is incomplete. Try “bid 1”." in str(found.why)


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("up to 10", orders.UpTo(10, topic="lot 1")),
        ("Up to 10 or ask me.", orders.UpTo(10, ask=True, topic="lot 1")),
        ("pass this auction", orders.Again("pass", bound=True, topic="lot 1")),
        ("Please pass this auction, thanks", orders.Again("pass", bound=True, topic="lot 1")),
        ("always pass", orders.Again("pass", bound=False)),
        ("play forest then sailor", orders.Then(("play forest", "sailor"), "play")),
    ],
)
def test_a_standing_order_is_read(line: str, order: orders.Order) -> None:
    found = read(line)
    assert isinstance(found, StandingOrder)
    assert found.order == order
    assert orders.read_order(found.text, AUCTION) == order


@pytest.mark.parametrize(
    ("line", "word", "rest"),
    [
        ("help", Word.HELP, ""),
        ("HELP!", Word.HELP, ""),
        ("help?", Word.HELP, ""),
        ("*Board*", Word.BOARD, ""),
        ("rules", Word.RULES, ""),
        ("resend.", Word.RESEND, ""),
        ("New links, please.", Word.NEW_LINKS, ""),
        ("New links here!", Word.NEW_SEAT_LINKS, ""),
        ("Undo", Word.UNDO, ""),
        ("undo, please", Word.UNDO, ""),
        ("talk good game, thanks!", Word.TALK, "good game, thanks!"),
        ("stop", Word.STOP, ""),
        ("Note: Ben bluffs, please?", Word.NOTE, "Ben bluffs, please?"),
        ("more time: Ben", Word.MORE_TIME, "Ben"),
        ("- More time: Ben Ó, please.", Word.MORE_TIME, "Ben Ó"),
        ("stop reminders", Word.STOP, "reminders"),
        ("Start talk, please.", Word.START, "talk"),
        ("- resign", Word.RESIGN, ""),
        ("talk Well played, Ben!", Word.TALK, "Well played, Ben!"),
        ("Talk: how are you?", Word.TALK, "how are you?"),
        ("“talk hello”", Word.TALK, "hello"),
        ("talk", Word.TALK, ""),
        ("vacation", Word.VACATION, ""),
        ("Vacation 2026-12-20 to 2027-01-03.", Word.VACATION, "2026-12-20 to 2027-01-03"),
        ("vacation until 2027-01-03", Word.VACATION, "until 2027-01-03"),
        ("vacation 20 Dec", Word.VACATION, "20 dec"),
    ],
)
def test_a_word_is_read_with_the_text_after_it(line: str, word: Word, rest: str) -> None:
    for decision in (AUCTION, None):
        found = read(line, decision)
        assert isinstance(found, WordCommand)
        assert (found.word, found.rest) == (word, rest)


ASKED_AS_A_QUESTION = {word: [word.value] for word in Word} | {
    Word.MORE_TIME: ["more time: Ben", "More time: Ben Ó, please"],
    Word.VACATION: ["vacation", "vacation 2026-12-01 to 2026-12-05"],
    Word.ORDER: ["order up to 5", "order always pass", "order none"],
    Word.ADD_ORDER: ["add order up to 5", "add order up to 5 if Ben is out"],
    Word.DROP_ORDER: ["drop order", "drop order 1", "cancel order", "cancel order 2", "no order", "order none"],
    Word.STOP: ["stop", "stop reminders"],
    Word.START: ["start talk"],
}


@pytest.mark.parametrize("word", Word)
@pytest.mark.parametrize("mark", ["?", " ?", "？", "?!", "?”", " ?.", "?, please", "? Thanks!"])
def test_a_question_is_no_command_unless_it_does_no_harm(word: Word, mark: str) -> None:
    harmless = {Word.HELP, Word.BOARD, Word.RULES, Word.TALK, Word.NOTE}
    for line in ASKED_AS_A_QUESTION[word]:
        plain = read(line)
        assert word in harmless or (isinstance(plain, WordCommand) and plain.word in (word, Word.DROP_ORDER))
        assert word in harmless or read(f"{line}{mark}") is None


def test_without_a_decision_only_words_are_commands() -> None:
    assert read("bid 7", None) is None
    assert read("up to 7", None) is None


@given(st.text(max_size=LONGEST_TALK + 50))
def test_no_text_breaks_the_parser(line: str) -> None:
    found = read(line)
    assert found is None or found.text


@given(st.text(max_size=30), st.text(min_size=1, max_size=30))
def test_a_choice_is_only_ever_read_from_a_line_that_begins_with_it(before: str, after: str) -> None:
    # A choice that is read is always one of the possible choices.
    found = read(f"{before}bid 7{after}")
    assert not isinstance(found, Move) or found.choice in AUCTION


@pytest.mark.parametrize(
    ("lines", "length"),
    [
        (["talk Well played!"], 1),
        (["talk Well played!", "Ann Smith", "+49 30 1234567"], 1),
        (["talk Well played!", "What a round.", "End.", "Ann Smith"], 3),
        (["talk", "Well played!", "- “end”"], 3),
        (["talk one", "talk two", "three", "end"], 1),
        (["bid 7", "talk hello", "end"], 1),
        (["talk to you soon", "Ann", "end"], 1),
        (["talk hello", "This is the end", "Ann"], 1),
    ],
)
def test_a_message_has_several_lines_only_if_its_writer_ends_it(lines: list[str], length: int) -> None:
    assert len(reply_pieces.pieces(lines)[0].lines) == length


def test_a_message_of_several_lines_is_read_as_one() -> None:
    found = reply_pieces.read_message(["talk Well played!", "I think I will pass now.", "Thanks.", "end"], AUCTION)
    assert isinstance(found, WordCommand)
    assert found.rest == "Well played! I think I will pass now. Thanks."


@pytest.mark.parametrize(
    "line", ["bid 7", "pass", "up to 9", "bid 99", "undo", "order up to 3", "play the Forest, please"]
)
def test_no_command_is_told_to_the_table(line: str) -> None:
    found = reply_pieces.read_message(["talk Good luck!", line, "end"], AUCTION)
    assert isinstance(found, Slip)
    assert not found.doubtful
    assert "Write it below “end”." in found.why.template


def test_a_message_of_several_lines_that_is_too_long_is_a_slip() -> None:
    found = reply_pieces.read_message(["talk", *["and so on"] * LONGEST_TALK, "end"], AUCTION)
    assert isinstance(found, Slip)
