"""Every refusal is a translatable sentence."""

import ast
import re
from gettext import NullTranslations
from pathlib import Path

import pytest

from engine.tell import say
from pbem.domain import errors
from pbem.i18n import speech
from tests.fakes import use_translations

PACKAGE = Path(errors.__file__).parents[1]

READ_BY_PEOPLE = ("domain", "service", "web")
"""Packages whose refusals appear on pages and in emails. Commands and settings are in English."""

KINDS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.PbemError)}

SENTENCE = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")

MODULES = sorted(
    str(file.relative_to(PACKAGE)) for folder in READ_BY_PEOPLE for file in (PACKAGE / folder).rglob("*.py")
)


def bare(source):
    """The sentences of refusals that are not translated."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in KINDS:
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                yield from (text for text in texts(argument) if SENTENCE.search(text))


def texts(node):
    """The string literals of an expression that are not an argument of a call."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(each.value if isinstance(each, ast.Constant) else "0" for each in node.values)
    elif not isinstance(node, ast.Call):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


class Backwards(NullTranslations):
    """A language that reorders the values of a sentence."""

    def gettext(self, message):
        return {"%(a)s before %(b)s": "%(b)s dopo %(a)s", "{seat} [bids|bid].": "Offre {seat}."}.get(message, message)

    def ngettext(self, one, many, number):
        return "%(num)s cose" if number != 1 else "%(num)s cosa"


@pytest.mark.parametrize("module", MODULES)
def test_every_sentence_of_a_refusal_is_translated(module):
    assert list(bare((PACKAGE / module).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        'raise BadInput("That is wrong.")',
        'raise Gone(_("Over."), why="It is over.")',
        'raise NotFound(f"There is no {name} here.")',
        'raise Stale("It went on." if late else _("No."))',
    ],
)
def test_an_untranslated_sentence_is_detected(source):
    assert list(bare(source))


def test_a_sentence_is_translated_with_its_values_reordered():
    with use_translations(Backwards()):
        assert speech.gettext("%(a)s before %(b)s", a=1, b=2) == "2 dopo 1"
        assert speech.ngettext("%(num)s thing", "%(num)s things", 2) == "2 cose"
        assert speech.ngettext("%(num)s thing", "%(num)s things", 1) == "1 cosa"
        assert speech.render(say("{seat} [bids|bid].", seat=0)).startswith("Offre")
    assert speech.gettext("%(a)s before %(b)s", a=1, b=2) == "1 before 2"


def test_a_doubled_percent_sign_is_printed_once():
    assert speech.gettext("50%% of it") == "50% of it"


@pytest.mark.parametrize("title", ["Bid!", "Who dares?", "And so on …", "St. James, the 3rd."])
def test_a_value_that_ends_in_a_full_stop_gets_no_second_one(title):
    assert speech.gettext("This is about %(table)s.", table=title) == f"This is about {title}"
    assert speech.gettext("%(table)s. It goes on.", table=title) == f"{title} It goes on."
    assert speech.gettext("At %(table)s, turn %(turn)s.", table=title, turn=3) == f"At {title}, turn 3."


def test_any_other_value_keeps_the_full_stop_of_its_sentence():
    assert speech.gettext("This is about %(table)s.", table="Friday") == "This is about Friday."
    assert speech.gettext("%(table)s...", table="Bid!") == "Bid!..."
