"""The words of the project: none that is retired is left, and the search for them finds what it should."""

import re
from fnmatch import fnmatch

import pytest

from tests import words

LISTED = words.words()


def test_no_retired_word_is_left() -> None:
    assert [str(hit) for hit in words.hits()] == []


def test_no_message_has_a_retired_word() -> None:
    assert [str(hit) for hit in words.hits_in_messages()] == []


def test_every_command_finding_setting_and_page_is_read() -> None:
    assert {"pbem table correct", "pbem mail test"} <= {each.path for each in words.helps()}
    read = {each.text for each in words.findings()}
    assert {"Address to listen on.", "the address is confirmed"} <= read
    assert any("SPF records; only one is allowed" in text for text in read)
    pages = {path.name for path in words._files(())}
    assert {"scaling.md", "tables.md", "CHANGELOG.md", "SECURITY.md"} <= pages


def test_messages_of_pages_emails_errors_and_games_are_read() -> None:
    read = {message.path.partition("/")[0] for message in words.messages()}
    assert {"engine", "pbem", "templates"} <= read


@pytest.mark.parametrize("word", LISTED, ids=lambda word: word.find[:30])
def test_each_pattern_finds_its_examples_and_nothing_that_is_fine(word: words.Word) -> None:
    assert word.hits
    assert [example for example in word.hits if not word.pattern.search(example)] == []
    assert [example for example in word.fine if word.pattern.search(example)] == []


@pytest.mark.parametrize("word", [word for word in LISTED if word.stays], ids=lambda word: word.find[:30])
def test_each_file_that_keeps_a_word_uses_it_and_says_why(word: words.Word) -> None:
    names = [path.relative_to(words.ROOT).as_posix() for path in words._files(())]
    for stay in word.stays:
        assert stay.why
        matching = [name for name in names if fnmatch(name, stay.at)]
        passages = [each for name in matching for each in words.passages(name, (words.ROOT / name).read_text("utf-8"))]
        assert any(word.pattern.search(each.text) for each in passages if each.kind in word.kinds), stay.at


def test_names_are_read_as_the_words_they_are_made_of() -> None:
    assert words.as_words("take_back") == words.as_words("TakeBack") == "take back"


def test_code_and_sentences_for_players_are_not_read() -> None:
    text = '''
class Told(Fact):
    """Somebody was told."""

def count() -> int:
    """Counts `letters`."""
    return "everybody"
'''
    prose = [each.text for each in words.passages("x.py", text) if each.kind == "prose"]
    assert prose == ["Counts `."]


def test_labels_of_links_in_emails_have_at_most_three_words() -> None:
    texts = [path.read_text("utf-8") for path in (words.ROOT / "templates" / "mail").rglob("*.jinja")]
    labels = {label for text in texts for label in re.findall(r'say\.(?:button|link)\(\s*_\("([^"]+)"', text)}
    assert "Confirm address" in labels
    assert {label for label in labels if len(label.split()) > 3} == set()
