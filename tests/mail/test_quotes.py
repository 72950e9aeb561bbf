"""Quotes beyond the collection of replies: limits, hostile texts, and joined lines."""

import pytest
from hypothesis import given, strategies as st

from pbem.mail.read.quotes import MOST_PARAGRAPHS, own_paragraphs, split_lines
from tests.fuzz.door import steps
from tests.mail.foreign_headers import LABELS, lines_of

LONG = 256 * 1024
"""As much as is ever kept of one text."""

HOSTILE = {
    "dashes": "-" * LONG + "x",
    "rules": ("-" * 100 + "x\n") * (LONG // 100),
    "quotes": ('"' * 500 + "x\n") * (LONG // 500),
    "years": ("2026<@" * 60 + ":\n") * (LONG // 360),
    "introductions": ("On x wrote:\n" + "\n" * 20 + "> a\n") * (LONG // 40),
    "headers": "From: a\n" * (LONG // 8),
    "labels": "".join(f"{'abcdefgh'[n % 8]}{'klm'[n % 3]}: a@b 2026\n" for n in range(LONG // 14)),
    "endless label": "a " * (LONG // 2),
    "markers": "[pbem " * (LONG // 6),
    "blank": "\n" * LONG,
    "full lines": ("a" * 70 + "\n") * (LONG // 70),
}


def own(text: str) -> list[str]:
    return list(own_paragraphs(split_lines(text)))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_read_in_time(text: str) -> None:
    assert len(own(text)) <= MOST_PARAGRAPHS


def test_an_endless_reply_is_cut_after_a_number_of_paragraphs() -> None:
    assert len(own("a\n" * (MOST_PARAGRAPHS + 50))) == MOST_PARAGRAPHS


def test_a_full_line_without_an_end_is_joined_to_the_next() -> None:
    first = "I have looked at this for a very long time, and I do wonder whether to"
    assert own(f"{first}\npass") == [f"{first} pass"]
    assert own(f"{first}.\npass") == [f"{first}.", "pass"]
    assert own(f"{first}\n\npass") == [first, "pass"]
    assert own("A short line\npass") == ["A short line", "pass"]


def test_removed_lines_never_join_their_surroundings() -> None:
    first = "I have looked at this for a very long time, and I do wonder whether to"
    assert own(f"{first}\n> quoted\npass") == [first, "pass"]


def test_the_writers_own_sentence_about_writing_is_not_an_introduction() -> None:
    assert own("This is what I wrote:\nbid 7") == ["This is what I wrote:", "bid 7"]
    assert own("This is what Ann wrote:\n> bid 7\npass") == ["pass"]


@given(st.lists(st.sampled_from(["bid 7", "pass", "> pass", "", "-- ", "On 1 May Ann wrote:", "Thanks"]), max_size=12))
def test_every_line_found_is_in_the_text_and_unmarked(lines: list[str]) -> None:
    found = own("\n".join(lines))
    assert all(line in lines for line in found)
    assert not any(line.startswith(">") for line in found)


@pytest.mark.parametrize(
    "introduction",
    [
        "On Mon, 23 Nov 2026 at 10:00, Ann <ann@example.net> wrote:",
        "On Mon, 23 Nov 2026 at 10:00, Ann\n<ann@example.net> wrote:",
        "On Monday Ann wrote:",
        "On 23/11 Ann wrote:",
        "Am 23.11.2026 um 10:00\nschrieb Ann <ann@example.net>:",
        "Le lun. 23 nov. 2026 à 10:00, Ann a écrit :",
        "2026年11月23日(月) 10:00 Ann <ann@example.net>:",
        "From: Ann <ann@example.net>\nSent: Monday",
    ],
)
@pytest.mark.parametrize("command", ["pass", "bid 7", "bid 2026"])
def test_a_command_directly_above_an_introduction_is_the_writers(command: str, introduction: str) -> None:
    assert own(f"{command}\n{introduction}\n> bid 8") == [command]
    assert own(f"Hello\n{command}\n{introduction}\n\n> bid 8") == ["Hello", command]


PEOPLE = {
    "addresses": ("Ann <ann@example.net>", "Games <r+aaa@play.example.org>"),
    "one address": ("Ann", "Games <r+aaa@play.example.org>"),
    "a link": ("Ann<mailto:ann@example.net>", "Games"),
    "names": ("Ann", "Games"),
}


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("language", LABELS)
def test_a_quote_below_headers_of_any_language_is_not_read(language: str, people: str) -> None:
    """Ann corrects the reply that she has sent, so her first command is in the quote."""
    one, other = PEOPLE[people]
    headers, above = lines_of(language, one, other), lines_of(language, other, one)
    for block in (headers, [f"*{line.replace(': ', ':* ')}" for line in headers], "\n\n".join(headers).split("\n")):
        sent = [*block, "", "bid 1", "", *above, "", "--- Please reply above this line ---", "bid 2"]
        read = own("\n".join(["bid 5", "", *sent]))
        assert read in (["bid 5"], ["bid 5", block[0]])
        assert own("\n".join(["bid: 5", *sent]))[0] == "bid: 5"


@pytest.mark.parametrize(
    "lines",
    [
        ["talk: I'm ann@example.net", "vacation: 2026-12-20 to 2027-01-03", "board:", "bid: 7"],
        ["vacation: 2026-12-20 to 2027-01-03", "bid: 7", "pass:"],
        ["Note: ask ann@example.net", "bid: 2026"],
        ["To do: one", "Next: two", "Then: three at 9:14", "bid: 7"],
        ["talk: from ann@example.net", "talk: on 21.11.2026 at 9:14", "talk: to all", "talk: 2026"],
    ],
)
def test_commands_and_notes_with_colons_are_no_headers(lines: list[str]) -> None:
    assert own("\n".join(lines)) == lines


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("~~bid 7~~", []),
        ("~~bid 7~~\nbid 8", ["bid 8"]),
        ("~~bid 7\npass~~\nbid 8", ["bid 8"]),
        ("bid ~~7~~ 8", ["bid  8"]),
        ("".join(f"{letter}\u0336" for letter in "bid 7"), []),
        ("".join(f"{letter}\u0335" for letter in "bid 7") + "\npass", ["pass"]),
        ("~~\nbid 7\n~~\nbid 8", ["bid 8"]),
        ("~~\n\nbid 7\npass\n\n~~", []),
        ("(~~\nbid 7\n~~)\nbid 8", [")", "bid 8"]),
        ("~~bid 7 ~~\nbid 8", ["bid 8"]),
        ("<del>\nbid 7\n</del>\nbid 8", ["bid 8"]),
        ("<S>bid 7\npass</s> bid 8", ["bid 8"]),
        ('<strike class="x">\nbid 7', []),
        ("[s]\nbid 7\n[/s]\nbid 8", ["bid 8"]),
        ("[del]bid 7[/del]\n[s]bid 8", []),
        ("Hello~~\nbid 7\nThanks~~", ["Hello~~", "bid 7", "Thanks~~"]),
        ("Hello ~~\nbid 7\n~~ Ann", ["Hello ~~", "bid 7", "~~ Ann"]),
        ("~~~\nbid 7\n~~~", ["~~~", "bid 7", "~~~"]),
        ("<delay>\nbid 7", ["<delay>", "bid 7"]),
    ],
)
def test_text_with_marks_of_a_stroke_is_not_read(text: str, read: list[str]) -> None:
    assert own(text) == read


def test_endless_strokes_are_read_in_time() -> None:
    for text in (
        "~~a " * (LONG // 4),
        "a\u0336" * (LONG // 2),
        "~~a~ " * (LONG // 5),
        "\u0336" * LONG,
        "<s>" * (LONG // 3),
    ):
        own(text)


LONG_LINES = {
    "labels": ["ba:a@b 1", "ce:a@b 1", "di:a@b 1"],
    "labels and addresses": ["ba:", "ab c d:@x@y"],
    "introductions": ["a wrote:"],
    "colons": ["a: b"],
    "headers": ["From: a@b", "x y z w", "To: b", "x"],
    "prose": ["some words"],
}


@pytest.mark.parametrize("before", ["", "-- \n"])
@pytest.mark.parametrize("what", LONG_LINES)
def test_the_longest_text_is_read_in_few_steps(what: str, before: str) -> None:
    kinds = LONG_LINES[what]
    text = before + "\n".join(kinds * (20_000 // len(kinds)))
    assert steps(lambda: own(text)) < 3_000_000
