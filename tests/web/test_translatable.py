"""Every sentence of a page goes through gettext: no template has a bare one, as text or in an attribute."""

import re
from collections.abc import Iterator

import pytest
from jinja2 import Environment, nodes
from lxml import html

from pbem import paths

FOLDER = paths.templates() / "web"
TEMPLATES = sorted(str(file.relative_to(FOLDER)) for file in FOLDER.rglob("*.html"))

SPOKEN = ("aria-label", "alt", "title", "placeholder")
"""Attributes that people read or hear."""

WORD = re.compile(r"[^\W\d_]{2,}")
SENTENCE = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}")


def parsed(source: str) -> nodes.Template:
    return Environment(extensions=["jinja2.ext.i18n"]).parse(source)


def bare(source: str) -> Iterator[str]:
    """The texts that would be in English whatever the language of the page."""
    tree = parsed(source)
    classes = {id(each) for block in tree.find_all(nodes.Block) if block.name == "shape" for each in block.body}
    page = ""
    for output in tree.find_all(nodes.Output):
        for each in output.nodes if id(output) not in classes else ():
            # Values filled in by a template are not its own words: here they are numbers, or a letter for the name of a tag.
            page += each.data if isinstance(each, nodes.TemplateData) else "x" if page.endswith(("<", "</")) else "0"
    for element in html.fromstring(f"<div>{page}</div>").iter("*"):
        texts = [element.text, *(element.get(name) for name in SPOKEN), *(child.tail for child in element)]
        if element.tag not in ("style", "pre"):
            yield from (text.strip() for text in texts if text and WORD.search(text))
    spoken = {
        id(const) for call in tree.find_all(nodes.Call) if translates(call) for const in call.find_all(nodes.Const)
    }
    # Values that are compared, and values beside their translation, are not words.
    values = {id(const) for compared in tree.find_all(nodes.Compare) for const in compared.find_all(nodes.Const)}
    pairs = (pair.items for pair in tree.find_all(nodes.Tuple) if any(map(translates, pair.items)))
    values |= {id(item) for items in pairs for item in items}
    values |= {id(pair.key) for pair in tree.find_all(nodes.Pair)}
    for const in tree.find_all(nodes.Const):
        if id(const) not in spoken | values and isinstance(const.value, str) and SENTENCE.search(const.value):
            yield const.value


def translates(node: nodes.Node) -> bool:
    """Whether it is a call of gettext."""
    if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Name):
        return False
    return node.node.name in ("_", "gettext", "ngettext")


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_sentence_of_a_template_can_be_translated(name):
    assert list(bare((FOLDER / name).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "<p>Bid now</p>",
        '<a aria-label="Help">{{ _("x") }}</a>',
        '{{ "Your turn" if mine else _("theirs") }}',
        "{% if x %}{{ _('One') }} table{% endif %}",
        '{{ called("Check command") }}',
        '{% for x, text in (("at once", "at the same time"),) %}{{ text }}{% endfor %}',
    ],
)
def test_a_missed_sentence_is_noticed(source):
    assert list(bare(source))


@pytest.mark.parametrize(
    "source",
    [
        '<p class="big one">{{ _("Bid now") }}</p>',
        '<a aria-label="{{ _(\'Help\') }}" href="/x">{{ name }}</a>',
        "{% trans trimmed name=name %}Ask {{ name }} <b>now</b>{% endtrans %}",
        '{% if way == "at once" %}{% for x, text in (("at once", _("at the same time")),) %}{{ text }}{% endfor %}{% endif %}',
        '{{ _("One") if many == 1 else _("%(n)s tables", n=many) }}',
    ],
)
def test_translated_sentences_are_accepted(source):
    assert not list(bare(source))
