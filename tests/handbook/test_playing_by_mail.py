"""The page about answers knows every command, and each of its examples is read as it says."""

import re
from dataclasses import fields

from engine.decisions import Act, Amount, Choice, Decision
from engine.tell import say
from pbem import paths
from pbem.domain import reply_commands, reply_pieces
from pbem.domain.reply_commands import Move, StandingOrder, Word, WordCommand
from pbem.domain.user_text import LONGEST_TALK
from pbem.service.incoming import replies
from pbem.service.server import Server
from pbem.service.tables import talk

PAGE = (paths.handbook() / "playing-by-mail.md").read_text(encoding="utf-8")
ASKED = Decision(
    0, say("Do you bid?"), (Act("bid", (Amount("coins", 1, 20, raising=True),)), Act("pass")), Choice("pass")
)


def examples(heading: str) -> list[str]:
    """The first column of the table below a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_every_word_is_told_once_and_read_as_it_stands_there() -> None:
    read = [reply_commands.read(example, None) for example in examples("Commands for every game")]
    assert [command.word for command in read if isinstance(command, WordCommand)] == list(Word)
    assert len(read) == len(Word)


def test_every_choice_and_order_is_read_as_it_stands_there() -> None:
    read = [reply_commands.read(example, ASKED) for example in examples("Your move")]
    assert [type(command) for command in read] == [Move, *[StandingOrder] * (len(read) - 1)]


def test_an_example_of_what_is_no_command_is_none() -> None:
    for example in ("I think I will bid 7 tomorrow", "bid 7?"):
        assert f"`{example}`" in PAGE
        assert reply_commands.read(example, ASKED) is None
    assert isinstance(reply_commands.read("bid seven, please", ASKED), Move)


def test_the_limits_on_the_page_are_the_real_ones() -> None:
    text = " ".join(PAGE.split())
    numbers = {5: "five", 20: "twenty"}
    assert (
        f"At most {replies.MOST_COMMANDS} are carried out, and we read the first {reply_pieces.MOST_LINES} lines"
        in text
    )
    assert f"{talk.LINES_AN_HOUR} messages an hour, of up to {LONGEST_TALK} characters each" in text
    usual = {field.name: field.default for field in fields(Server)}
    per_turn, per_day = usual["answers_a_turn"], usual["answers_a_day"]
    assert isinstance(per_turn, int)
    assert isinstance(per_day, int)
    assert f"at most {numbers[per_turn]} receipts per turn and {numbers[per_day]} a day" in text
