"""Labels and buttons of a page: the words that name a field or say what a button does."""

import re
from collections.abc import Iterator
from typing import Final

from lxml import html

from engine import registry
from pbem.i18n import speech

MOST_WORDS: Final = 3

LONGER: Final = {"Missed turns before the seat changes hands": "a shorter one would promise another number"}
"""Labels that have more words, and why."""

_BESIDE: Final = (
    "select",
    "input",
    "textarea",
    "svg",
    "bdi",
    *(f"*[contains(@class, '{each}')]" for each in ("hint", "said", "thing", "unseen")),
)
"""Parts of a label that are not its words: fields, what people wrote, a game's choices, hints, and what only screen readers say."""


def labels(page: str) -> Iterator[str]:
    """The labels and buttons of a page, without hints in brackets and the names that games have for their options."""
    named = {
        speech.render(option.called).casefold() for name in registry.names() for option in registry.load(name).options
    }
    tree = html.document_fromstring(page)
    for beside in tree.xpath(" | ".join(f"//{each}" for each in _BESIDE)):
        if beside.getparent() is not None:
            beside.drop_tree()
    for each in tree.xpath("//label | //button | //a[contains(@class, 'button') or contains(@class, 'main')]"):
        words = re.sub(r"\([^)]*\)", " ", each.text_content())
        if (label := " ".join(words.split())).casefold() not in named:
            yield label


def too_long(label: str) -> bool:
    """Whether a label has more words than one reads at a glance."""
    return len(re.findall(r"\S*\w\S*", label)) > MOST_WORDS and label not in LONGER
