"""Look-alikes: what may be taken for what."""

import pytest

from pbem.domain.look_alikes import seen_as


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ann", "\u0410nn"),
        ("Ann", "\uff21nn"),
        ("Ann", "\U0001d400nn"),
        ("MAX", "\u041c\u0410\u0425"),
        ("Iris", "lris"),
        ("Otto", "0tto"),
        ("Vera", "\u03bdera"),
        ("Nora", "\u039dora"),
        ("Hugo", "\ua4e7\ua4f4\ua4d6\ua4f3"),
        ("Bjorn", "Bj\u00f8rn"),
    ],
)
def test_names_in_look_alike_letters_are_seen_as_one(name, other):
    assert seen_as(name) == seen_as(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("Zoe", "Zo\u00eb"), ("Ann", "Anna"), ("Ann 2", "Ann 3"), ("Olga", "\u041e\u043b\u044c\u0433\u0430")),
        *(("\u674e\u96f7", "\u97e9\u6885"), ("\U0001f431", "\U0001f436"), ("\u0634\u06cc", "\u0633\u06cc")),
    ],
)
def test_other_names_are_told_apart(name, other):
    assert seen_as(name) != seen_as(other)
