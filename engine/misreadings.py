"""Why a line is no choice, and what its writer may have meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from engine.decisions import Act, Amount, Blank, OneOf, Ranking, Some, Split
from engine.readings import (
    MOST_READINGS,
    Search,
    TooManyTried,
    meaningful_words,
    names_in,
    number_in,
    pattern_of,
    read_blank,
    read_row,
)
from engine.tell import Text, say
from engine.wording import written

_TOO_SHORT_TO_CORRECT: Final = 2
_MOST_COMPLETED: Final = 100
"""Choices among which some are looked for that go on as a line began."""
_MOST_COMPLETIONS: Final = 3
_LONGEST_LISTED: Final = 24
"""Characters of a completion that may have others beside it."""


def complaint(acts: Sequence[Act], words: Sequence[str]) -> Text:
    """Return why no act fits, for the act that fits best."""
    return min((_stuck(act, words) for act in acts), key=lambda found: found[0])[1]


def _stuck(act: Act, words: Sequence[str]) -> tuple[int, Text]:
    """Return how many words are left where an act stops fitting, and why it does."""
    left = list(words)
    for part in pattern_of(act):
        if isinstance(part, str):
            left = left[1:] if left[:1] == [part] else left
            continue
        if not left or _begins_a_row(part, left):
            return 0, _incomplete(act, words)
        fitting = _fitting(part, left)
        if not fitting:
            return len(left), _misfit(part, left)
        left = left[max(fitting) :]
    if left:
        begun = " ".join([act.verb, *words[: len(words) - len(left)]])
        return len(left), say("“{begun}” can't be followed by “{words}”.", begun=begun, words=" ".join(left))
    return 0, say("Those don't go together.")


def _fitting(blank: Blank, words: Sequence[str]) -> list[int]:
    """Return how many words may fill a blank."""
    found: list[int] = []
    try:
        for _, value, used in read_blank(blank, words, Search()):
            if value in blank:
                found.append(used)
            if len(found) >= MOST_READINGS:
                break
    except TooManyTried:
        pass
    return found


def _misfit(blank: Blank, words: Sequence[str]) -> Text:
    word = " ".join(words)
    if isinstance(blank, Amount) and (number := number_in(words[0])) is not None:
        if number < blank.low:
            reason = say("{number} is too low: the minimum is {low}.", number=number, low=blank.low)
        elif number > blank.high:
            reason = say("{number} is too high: the maximum is {high}.", number=number, high=blank.high)
        else:
            reason = say("You can't use {number} here.", number=number)
    elif isinstance(blank, Amount):
        reason = say("“{word}” isn't a whole number.", word=word)
    elif isinstance(blank, Split):
        reason = say("“{word}” doesn't share out {total}.", word=word, total=blank.total)
    elif near := _nearest_thing(blank, words):
        reason = say("“{word}” isn't one of the choices. Did you mean “{near}”?", word=word, near=near)
    else:
        reason = say("“{word}” isn't one of the choices.", word=word)
    return say("{reason} {why}", reason=reason, why=blank.why) if blank.why else reason


def unknown_verb(word: str, verbs: Sequence[str]) -> Text:
    """Return that a word is no verb now, with the one that may be meant."""
    if near := nearest(word, verbs):
        return say("“{word}” isn't a move you can make now. Did you mean “{near}”?", word=word, near=near)
    return say("“{word}” isn't a move you can make now.", word=word)


def _nearest_thing(blank: OneOf | Some | Ranking, words: Sequence[str]) -> str:
    """Return the word for the thing of a blank that the first words may mean with a slip; empty if there is none."""
    names = {" ".join(name): thing.word for thing in blank.things for name in names_in(thing.word, *thing.also)}
    lengths = sorted({len(name.split()) for name in names}, reverse=True)
    near = (nearest(" ".join(words[:length]), names) for length in lengths)
    return names.get(next(filter(None, near), ""), "")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the one name that a mistyped word may mean; empty if there is none, or more than one.

    >>> nearest("pawm", ["pass", "pawn"]), nearest("plya", ["pass", "play"]), nearest("pay", ["pat", "pad"])
    ('pawn', 'play', '')
    """
    near = {name for name in names if len(word) > _TOO_SHORT_TO_CORRECT and _slipped(word, name)}
    return near.pop() if len(near) == 1 else ""


def _slipped(given: str, name: str) -> bool:
    """Whether a name was given with one letter wrong, missing, too many, or in the place of the next."""
    short, long = sorted((given, name), key=len)
    same = next((i for i, (one, other) in enumerate(zip(short, long, strict=False)) if one != other), len(short))
    if len(short) < len(long):
        return short[same:] == long[same + 1 :]
    swapped = short[same : same + 2] == long[same : same + 2][::-1] and short[same + 2 :] == long[same + 2 :]
    return short != long and (swapped or short[same + 1 :] == long[same + 1 :])


def _begins_a_row(blank: Blank, words: Sequence[str]) -> bool:
    """Whether the words are things of a blank that takes more of them, or numbers of one that shares out."""
    if isinstance(blank, Split):
        return len(words) < len(blank.things) and all(number_in(word) is not None for word in words)
    if not isinstance(blank, Some | Ranking):
        return False
    many = blank.many if isinstance(blank, Some) else len(blank.things)
    try:
        rows = (row for fewer in range(1, many) for row in read_row(blank.things, fewer, words, Search()))
        return any(used == len(words) for _, _, used in islice(rows, MOST_READINGS))
    except TooManyTried:
        return False


def _incomplete(act: Act, words: Sequence[str]) -> Text:
    """Say that a line lacks something, with choices that it may have begun."""
    ways = tuple(say("“{way}”", way=way) for way in _completions(act, words))
    return say("“{given}” is incomplete. Try {ways:or}.", given=" ".join([act.verb, *words]), ways=ways)


def _completions(act: Act, words: Sequence[str]) -> list[str]:
    """Return choices of an act as they may be written: those that go on as the words begin; else those with all of them."""
    choices = list(islice(act.choices(), _MOST_COMPLETED))
    # Values that are all different fit together in every game.
    choices.sort(key=lambda choice: len(set(choice.values)) < len(choice.values))
    ways = list(dict.fromkeys(written(act, choice) for choice in choices))
    begun = [act.verb, *words]
    going_on = [way for way in ways if meaningful_words(way)[: len(begun)] == begun]
    with_all = [way for way in ways if not Counter(begun) - Counter(meaningful_words(way))]
    shown = going_on or with_all or ways[:1]
    return shown[: _MOST_COMPLETIONS if words and len(shown[0]) <= _LONGEST_LISTED else 1]
