"""The meaning of a line of a reply to an invitation: accept, decline or help.

A line counts only as a whole, as in a game: `Yes, please.` accepts, `I think yes` is prose, and a question is never an
answer. `accept as Ann` says the name at the table, too. This module must never guess.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine import grammar
from pbem.domain.reply_commands import readings


class Answer(StrEnum):
    """What a line answers to an invitation."""

    ACCEPT = "accept"
    DECLINE = "decline"
    HELP = "help"


_ANY_NAME: Final = "your name"
ACCEPT_AS: Final = f"accept as <{_ANY_NAME}>"
"""How to accept under a name."""

_WORDS: Final[Mapping[str, Answer]] = {
    "accept": Answer.ACCEPT,
    "join": Answer.ACCEPT,
    "yes": Answer.ACCEPT,
    "decline": Answer.DECLINE,
    "no": Answer.DECLINE,
    "help": Answer.HELP,
}
_WITH_NAME: Final = re.compile(r"(?:accept|join)[\s,:]+as[\s:]+(\S.*)", re.IGNORECASE)
_AROUND_A_NAME: Final = " ,.!\"'“”„‚‘’«»*_<>"


@dataclass(frozen=True, slots=True)
class Command:
    """A line that answers an invitation, and the name that its writer wants at the table, if it says one."""

    text: str
    answer: Answer
    name: str = ""

    @property
    def is_copied(self) -> bool:
        """Whether it has the words of our email in place of a name."""
        return self.name.casefold() == _ANY_NAME


def read(line: str) -> Command | None:
    """The meaning of a line. None if it is prose."""
    texts = readings(line)
    for text in texts:
        words = grammar.words_of(text)
        if len(words) == 1 and words[0] in _WORDS:
            answer = _WORDS[words[0]]
            return None if text.endswith("?") and answer is not Answer.HELP else Command(text, answer)
    # Without courtesy first, since no name has any: not “Ben, please”.
    for text in reversed(texts):
        named = _WITH_NAME.fullmatch(text)
        if named is not None and not text.endswith("?"):
            return Command(text, Answer.ACCEPT, named[1].strip(_AROUND_A_NAME))
    return None
