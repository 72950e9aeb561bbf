"""The glossary: in order, one line a word, and no name in it is out of date."""

import re

from tests.handbook.named import ROOT, TABLES, files, gone, page, rows

PAGE = page("glossary")
WORDS = rows(PAGE, "Words")


def test_words_are_in_alphabetical_order_and_each_has_one_line():
    words = [word.lower() for word, _, _ in WORDS]
    assert len(words) > 100
    assert words == sorted(set(words))


def test_every_meaning_is_a_sentence_or_two():
    assert [word for word, meaning, _ in WORDS if not meaning.endswith(".") or len(meaning) > 130] == []


def test_every_word_lives_in_a_file_or_table_that_exists():
    places = [where for _, _, where in WORDS]
    tables = {match[1] for where in places if (match := re.fullmatch(r"table `(\w+)`", where))}
    assert len(tables) > 20
    assert tables <= TABLES
    assert len(files(PAGE)) > 40
    assert gone(PAGE) == set()
    assert [where for where in places if not re.fullmatch(r"(table )?`[\w/.]+`", where)] == []


def test_every_kind_of_email_is_listed_on_the_page_that_the_glossary_names():
    kinds = {folder.name for folder in (ROOT / "templates" / "mail").iterdir() if folder.is_dir()}
    assert "(mail.md#the-emails)" in PAGE
    listed = [kind for row in rows(page("mail"), "The emails") for kind in re.findall(r"`(\w+)`", row[0])]
    assert sorted(listed) == sorted(kinds)
