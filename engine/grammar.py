"""Choices as people write them: `bid 7`, `play the Forest`, `give moons to 2, suns to 3 and keep waves`.

One reader serves every game. It forgives case, spaces, smart quotes, "the", and abbreviations with only one meaning. It
never guesses: text that isn't clearly one of the possible choices is refused, with a list of these. This module must never know a game.
"""

from __future__ import annotations

from typing import Final

from engine.decisions import Act, Choice, Decision, Refused
from engine.misreadings import complaint, nearest, unknown_verb
from engine.readings import meaningful_words, read_act, words_of
from engine.tell import Text, say
from engine.wording import filled_in, spoken, spoken_in_full, usage, usages, write

__all__ = [
    "LONGEST_LINE",
    "filled_in",
    "nearest",
    "read",
    "spoken",
    "spoken_in_full",
    "usage",
    "usages",
    "words_of",
    "write",
]

LONGEST_LINE: Final = 200
"""The longest line read as a command."""

_MOST_TOKENS: Final = 40
_MOST_SHOWN: Final = 12


def read(decision: Decision, text: str) -> Choice:
    """Return the choice that a text means. Raises Refused if it means none or several.

    >>> from engine.decisions import OneOf, Thing
    >>> cards = OneOf("card", (Thing("F", "the Forest"), Thing("S", "the Sea")))
    >>> decision = Decision(0, say("What now?"), (Act("pass"), Act("play", (cards,))), default=Choice("pass"))
    >>> read(decision, "Play Forest!")
    Choice(verb='play', values=('F',))
    >>> read(decision, "pl sea")
    Choice(verb='play', values=('S',))
    >>> read(decision, "play the Moon")
    Traceback (most recent call last):
    engine.decisions.Refused: “moon” isn't one of the choices. You can write: pass; play <the Forest | the Sea>.
    """
    if len(text) > LONGEST_LINE:
        raise _refuse(decision, say("That's too long to be a move."))
    words = meaningful_words(text)
    if not words or len(words) > _MOST_TOKENS:
        raise _refuse(decision, say("There's no move in that."))
    acts = _acts_for(decision, words[0])
    if not acts:
        raise _refuse(decision, unknown_verb(words[0], sorted({act.verb for act in decision.acts})))
    verbs = sorted({act.verb for act in acts})
    if len(verbs) > 1:
        raise _refuse(decision, say("“{word}” could mean {verbs:or}.", word=words[0], verbs=tuple(verbs)))
    readings = [reading for act in acts for reading in read_act(act, words[1:])]
    best = max((score for score, _ in readings), default=0)
    choices = {choice for score, choice in readings if score == best}
    if len(choices) == 1:
        return choices.pop()
    if choices:
        ways = tuple(sorted(write(decision, choice) for choice in choices)[:_MOST_SHOWN])
        raise _refuse(decision, say("That could mean {ways:or}.", ways=ways))
    raise _refuse(decision, complaint(acts, words[1:]))


def _acts_for(decision: Decision, verb: str) -> list[Act]:
    exact = [act for act in decision.acts if act.verb == verb]
    return exact or [act for act in decision.acts if act.verb.startswith(verb)]


def _refuse(decision: Decision, reason: Text) -> Refused:
    return Refused(say("{reason} You can write: {ways}.", reason=reason, ways="; ".join(usages(decision))))
