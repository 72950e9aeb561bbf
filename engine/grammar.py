"""Choices as people write them: `bid 7`, `play the Forest`, `give moons to 2, suns to 3 and keep waves`.

One reader serves every game. It forgives case, spaces, smart quotes, "the", and abbreviations with only one meaning. It
never guesses: text that isn't clearly one of the possible choices is refused, with a list of these. This module must never know a game.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from engine.decisions import Act, Amount, Blank, Choice, Decision, OneOf, Ranking, Refused, Some, Split, Thing, Value
from engine.tell import Text, say

LONGEST_LINE: Final = 200
"""The longest line read as a command."""

_MOST_TOKENS: Final = 40
_MOST_READINGS: Final = 64
_MOST_TRIED: Final = 400
"""Places of a line at which a thing is looked for: what says one word again and again has as many readings as things have orders."""
_FULL_NAME: Final = 2
"""What a full name counts; an abbreviation or an id counts one less."""
_LONGEST_NUMBER: Final = 9
_MOST_SHOWN: Final = 12
_TOO_SHORT_TO_CORRECT: Final = 2
_MOST_COMPLETED: Final = 100
"""Choices among which some are looked for that go on as a line began."""
_MOST_COMPLETIONS: Final = 3
_LONGEST_LISTED: Final = 24
"""Characters of a completion that may have others beside it."""

_EDGES: Final = ".,;:!?\"'()[]<>{}*_`"
_PLAIN_QUOTES: Final = str.maketrans("‘’‚‛“”„‟«»‹›´", '\'\'\'\'""""""""\'')
_BETWEEN: Final = re.compile(r"[:=,;&]|(?<=\d)\+(?=\d)")
"""What separates two words even without a space: `4,5` is two tiles."""
_FILLERS: Final = frozenset({"the", "and", "a", "an"})


def write(decision: Decision, choice: Choice) -> str:
    """Return the choice as text that reads back as the same choice."""
    return _written(next(act for act in decision.acts if choice in act), choice)


def _written(act: Act, choice: Choice) -> str:
    written = [_write_value(blank, value) for blank, value in zip(act.blanks, choice.values, strict=True)]
    if act.phrase:
        return act.phrase.format(*written)
    return " ".join([act.verb, *written])


def read(decision: Decision, text: str) -> Choice:
    """Return the choice that a text means. Raises Refused if it means none or several.

    >>> from engine.decisions import Thing
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
    words = _words(text)
    if not words or len(words) > _MOST_TOKENS:
        raise _refuse(decision, say("There's no move in that."))
    acts = _acts_for(decision, words[0])
    if not acts:
        raise _refuse(decision, _unknown(words[0], sorted({act.verb for act in decision.acts})))
    verbs = sorted({act.verb for act in acts})
    if len(verbs) > 1:
        raise _refuse(decision, say("“{word}” could mean {verbs:or}.", word=words[0], verbs=tuple(verbs)))
    readings = [reading for act in acts for reading in _read_act(act, words[1:])]
    best = max((score for score, _ in readings), default=0)
    choices = {choice for score, choice in readings if score == best}
    if len(choices) == 1:
        return choices.pop()
    if choices:
        ways = tuple(sorted(write(decision, choice) for choice in choices)[:_MOST_SHOWN])
        raise _refuse(decision, say("That could mean {ways:or}.", ways=ways))
    raise _refuse(decision, _complaint(acts, words[1:]))


def usages(decision: Decision) -> tuple[str, ...]:
    """Return what may be written, a line for each act."""
    return tuple(dict.fromkeys(usage(act) for act in decision.acts))


def usage(act: Act) -> str:
    """Return how an act is written: `bid <coins 1-9>`."""
    blanks = [_usage_of_blank(blank) for blank in act.blanks]
    if act.phrase:
        return act.phrase.format(*blanks)
    return " ".join([act.verb, *blanks])


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the one name that a mistyped word may mean; empty if there is none, or more than one.

    >>> nearest("pawm", ["pass", "pawn"]), nearest("plya", ["pass", "play"]), nearest("pay", ["pat", "pad"])
    ('pawn', 'play', '')
    """
    near = {name for name in names if len(word) > _TOO_SHORT_TO_CORRECT and _slipped(word, name)}
    return near.pop() if len(near) == 1 else ""


def words_of(text: str) -> list[str]:
    """Split a line into bare words: lower case, plain quotes, no punctuation around words."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN_QUOTES)
    bare = (word.strip(_EDGES) for word in _BETWEEN.sub(" ", plain).split())
    return [word for word in bare if word]


def _words(text: str) -> list[str]:
    words = words_of(text)
    return words[:1] + [word for word in words[1:] if word not in _FILLERS]


def _acts_for(decision: Decision, verb: str) -> list[Act]:
    exact = [act for act in decision.acts if act.verb == verb]
    return exact or [act for act in decision.acts if act.verb.startswith(verb)]


def _read_act(act: Act, words: Sequence[str]) -> list[tuple[int, Choice]]:
    """Return every way to fill the blanks with these words, each with a score for exactness."""
    try:
        return _search(act, words, _Search())
    except _TooManyTried:
        pass
    # A reading by full names alone beats every other, and there are few of them.
    try:
        return _search(act, words, _Search(by_full_names=True))
    except _TooManyTried:
        return []


def _search(act: Act, words: Sequence[str], search: _Search) -> list[tuple[int, Choice]]:
    found: list[tuple[int, Choice]] = []
    for score, values in _match(_pattern(act), words, search):
        choice = Choice(act.verb, values)
        if choice in act:
            found.append((score, choice))
        if len(found) >= _MOST_READINGS:
            break
    return found


class _TooManyTried(Exception):
    """The end of a search that found no end."""


class _Search:
    """How far a search has gone, and whether it looks for full names only."""

    def __init__(self, *, by_full_names: bool = False) -> None:
        self._tried = 0
        self._by_full_names = by_full_names

    def things(self, things: Sequence[Thing], words: Sequence[str]) -> list[tuple[int, Thing, int]]:
        """The things that the first words may mean. Raises _TooManyTried."""
        self._tried += 1
        if self._tried > _MOST_TRIED:
            raise _TooManyTried
        found = _read_thing(things, words)
        return [reading for reading in found if reading[0] == _FULL_NAME] if self._by_full_names else found


def _pattern(act: Act) -> list[Blank | str]:
    """Return what follows the verb: blanks, and the small words between them, which are optional."""
    if not act.phrase:
        return list(act.blanks)
    blanks = iter(act.blanks)
    pattern: list[Blank | str] = []
    for part in act.phrase.split()[1:]:
        if part.strip(",") == "{}":
            pattern.append(next(blanks))
        else:
            pattern += [word for word in words_of(part) if word not in _FILLERS]
    return pattern


def _match(
    pattern: Sequence[Blank | str], words: Sequence[str], search: _Search
) -> Iterator[tuple[int, tuple[Value, ...]]]:
    if not pattern:
        if not words:
            yield 0, ()
        return
    head, rest = pattern[0], pattern[1:]
    if isinstance(head, str):
        if words and words[0] == head:
            yield from _match(rest, words[1:], search)
        else:
            yield from _match(rest, words, search)
        return
    for score, value, used in _read_blank(head, words, search):
        for more, values in _match(rest, words[used:], search):
            yield score + more, (value, *values)


def _read_blank(blank: Blank, words: Sequence[str], search: _Search) -> Iterator[tuple[int, Value, int]]:
    """Yield ways to read a blank from the first words: the score, the value, the number of words used."""
    if isinstance(blank, Amount):
        if words and (number := _number(words[0])) is not None:
            yield 1, number, 2 if words[1:2] in ([blank.name], [blank.name.removesuffix("s")]) else 1
    elif isinstance(blank, OneOf):
        for score, thing, used in search.things(blank.things, words):
            yield score, thing.value, used
    elif isinstance(blank, Some):
        yield from _read_some(blank, words, search)
    elif isinstance(blank, Ranking):
        yield from _read_row(blank.things, len(blank.things), words, search)
    elif isinstance(blank, Split):
        numbers = [_number(word) for word in words[: len(blank.things)]]
        if all(number is not None for number in numbers):
            yield (1, tuple(number for number in numbers if number is not None), len(numbers))


def _read_some(blank: Some, words: Sequence[str], search: _Search) -> Iterator[tuple[int, Value, int]]:
    """Read things in any order, and put them into the order of the blank."""
    place = {thing.value: i for i, thing in reversed(list(enumerate(blank.things)))}
    for score, row, used in _read_row(blank.things, blank.many, words, search):
        yield score, tuple(sorted(row, key=lambda value: place[value])), used


def _read_row(
    things: Sequence[Thing], many: int, words: Sequence[str], search: _Search
) -> Iterator[tuple[int, tuple[int | str, ...], int]]:
    if many == 0:
        yield 0, (), 0
        return
    for score, thing, used in search.things(things, words):
        place = next(place for place, each in enumerate(things) if each.value == thing.value)
        for more, row, further in _read_row((*things[:place], *things[place + 1 :]), many - 1, words[used:], search):
            yield score + more, (thing.value, *row), used + further


def _read_thing(things: Sequence[Thing], words: Sequence[str]) -> list[tuple[int, Thing, int]]:
    """Return things that the first words may mean; a full name beats an abbreviation."""
    found: dict[tuple[int | str, int], tuple[int, Thing, int]] = {}
    for thing in things:
        for name in _names(thing.word, *thing.also):
            if tuple(words[: len(name)]) == name:
                found[thing.value, len(name)] = (_FULL_NAME, thing, len(name))
        # An id is no better than an abbreviation: "e" is the Excuse unless the End is there too. Ids cannot be
        # abbreviated: "x" does not mean a Crown, though its id begins with it.
        for name in _names(str(thing.value)):
            if tuple(words[: len(name)]) == name:
                found.setdefault((thing.value, len(name)), (1, thing, len(name)))
        for name in _names(thing.word, *thing.also):
            for short in range(1, min(len(name), len(words)) + 1):
                if _cut_short(" ".join(words[:short]), " ".join(name)):
                    found.setdefault((thing.value, short), (1, thing, short))
    return list(found.values())


def _cut_short(given: str, name: str) -> bool:
    """Whether this abbreviates a name. A number cannot be abbreviated: 1 is not 13."""
    return name.startswith(given) and not (given[-1].isdigit() and name[len(given) :][:1].isdigit())


def _names(*names: str) -> list[tuple[str, ...]]:
    return [words for name in names if (words := _name(name))]


@lru_cache(maxsize=4096)
def _name(name: str) -> tuple[str, ...]:
    """Return the words of a name. Cached, because every reading needs the names of a whole deck."""
    return tuple(word for word in words_of(name) if word not in _FILLERS)


def _number(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdigit() and len(word) <= _LONGEST_NUMBER else None


def _write_value(blank: Blank, value: Value) -> str:
    if isinstance(blank, Amount):
        return str(value)
    if isinstance(blank, Split):
        assert isinstance(value, tuple)
        return " ".join(map(str, value))
    names = {thing.value: thing.word for thing in blank.things}
    values = value if isinstance(value, tuple) else (value,)
    return ", ".join(names[each] for each in values)


def _usage_of_blank(blank: Blank) -> str:
    if isinstance(blank, Amount):
        if blank.count() == 1:
            return str(*blank.values())
        return f"<{blank.name} {blank.low}-{blank.high}>"
    if isinstance(blank, Split):
        return f"<{blank.total} over {', '.join(thing.word for thing in blank.things)}>"
    words = list(dict.fromkeys(thing.word for thing in blank.things))
    shown = " | ".join(words[:_MOST_SHOWN]) + (" | ..." if len(words) > _MOST_SHOWN else "")
    if isinstance(blank, Some):
        return f"<{blank.many} of {shown}>"
    if isinstance(blank, Ranking):
        return f"<{', '.join(words)} in your order>"
    return words[0] if len(words) == 1 else f"<{shown}>"


def _refuse(decision: Decision, reason: Text) -> Refused:
    return Refused(say("{reason} You can write: {ways}.", reason=reason, ways="; ".join(usages(decision))))


def _complaint(acts: Sequence[Act], words: Sequence[str]) -> Text:
    """Return why no act fits, for the act that fits best."""
    return min((_stuck(act, words) for act in acts), key=lambda found: found[0])[1]


def _stuck(act: Act, words: Sequence[str]) -> tuple[int, Text]:
    """Return how many words are left where an act stops fitting, and why it does."""
    left = list(words)
    for part in _pattern(act):
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
        return len(left), say("“{words}” doesn't belong after “{begun}”.", words=" ".join(left), begun=begun)
    return 0, say("Those don't go together.")


def _fitting(blank: Blank, words: Sequence[str]) -> list[int]:
    """Return how many words may fill a blank."""
    found: list[int] = []
    try:
        for _, value, used in _read_blank(blank, words, _Search()):
            if value in blank:
                found.append(used)
            if len(found) >= _MOST_READINGS:
                break
    except _TooManyTried:
        pass
    return found


def _misfit(blank: Blank, words: Sequence[str]) -> Text:
    word = " ".join(words)
    if isinstance(blank, Amount) and (number := _number(words[0])) is not None:
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


def _unknown(word: str, verbs: Sequence[str]) -> Text:
    if near := nearest(word, verbs):
        return say("“{word}” isn't a move you can make now. Did you mean “{near}”?", word=word, near=near)
    return say("“{word}” isn't a move you can make now.", word=word)


def _nearest_thing(blank: OneOf | Some | Ranking, words: Sequence[str]) -> str:
    """Return the word for the thing of a blank that the first words may mean with a slip; empty if there is none."""
    names = {" ".join(name): thing.word for thing in blank.things for name in _names(thing.word, *thing.also)}
    lengths = sorted({len(name.split()) for name in names}, reverse=True)
    near = (nearest(" ".join(words[:length]), names) for length in lengths)
    return names.get(next(filter(None, near), ""), "")


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
        return len(words) < len(blank.things) and all(_number(word) is not None for word in words)
    if not isinstance(blank, Some | Ranking):
        return False
    many = blank.many if isinstance(blank, Some) else len(blank.things)
    try:
        rows = (row for fewer in range(1, many) for row in _read_row(blank.things, fewer, words, _Search()))
        return any(used == len(words) for _, _, used in islice(rows, _MOST_READINGS))
    except _TooManyTried:
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
    ways = list(dict.fromkeys(_written(act, choice) for choice in choices))
    begun = [act.verb, *words]
    going_on = [way for way in ways if _words(way)[: len(begun)] == begun]
    with_all = [way for way in ways if not Counter(begun) - Counter(_words(way))]
    shown = going_on or with_all or ways[:1]
    return shown[: _MOST_COMPLETIONS if words and len(shown[0]) <= _LONGEST_LISTED else 1]
