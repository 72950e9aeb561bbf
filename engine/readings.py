"""The words of a line, and every way to read the blanks of an act from them.

Case, spaces, smart quotes and "the" don't count, and an abbreviation with only one meaning is read as the name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from engine.decisions import Act, Amount, Blank, Choice, OneOf, Ranking, Some, Split, Thing, Value

MOST_READINGS: Final = 64
_MOST_TRIED: Final = 400
"""Places of a line at which a thing is looked for: what says one word again and again has as many readings as things have orders."""
_FULL_NAME: Final = 2
"""What a full name counts; an abbreviation or an id counts one less."""
_LONGEST_NUMBER: Final = 9

_EDGES: Final = ".,;:!?\"'()[]<>{}*_`"
_PLAIN_QUOTES: Final = str.maketrans("‘’‚‛“”„‟«»‹›´", '\'\'\'\'""""""""\'')
_BETWEEN: Final = re.compile(r"[:=,;&]|(?<=\d)\+(?=\d)")
"""What separates two words even without a space: `4,5` is two tiles."""
_FILLERS: Final = frozenset({"the", "and", "a", "an"})


def words_of(text: str) -> list[str]:
    """Split a line into bare words: lower case, plain quotes, no punctuation around words."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN_QUOTES)
    bare = (word.strip(_EDGES) for word in _BETWEEN.sub(" ", plain).split())
    return [word for word in bare if word]


def meaningful_words(text: str) -> list[str]:
    """Split a line into bare words, without "the" and the like after the first."""
    words = words_of(text)
    return words[:1] + [word for word in words[1:] if word not in _FILLERS]


def read_act(act: Act, words: Sequence[str]) -> list[tuple[int, Choice]]:
    """Return every way to fill the blanks with these words, each with a score for exactness."""
    try:
        return _search(act, words, Search())
    except TooManyTried:
        pass
    # A reading by full names alone beats every other, and there are few of them.
    try:
        return _search(act, words, Search(by_full_names=True))
    except TooManyTried:
        return []


def _search(act: Act, words: Sequence[str], search: Search) -> list[tuple[int, Choice]]:
    found: list[tuple[int, Choice]] = []
    for score, values in _match(pattern_of(act), words, search):
        choice = Choice(act.verb, values)
        if choice in act:
            found.append((score, choice))
        if len(found) >= MOST_READINGS:
            break
    return found


class TooManyTried(Exception):
    """The end of a search that found no end."""


class Search:
    """How far a search has gone, and whether it looks for full names only."""

    def __init__(self, *, by_full_names: bool = False) -> None:
        self._tried = 0
        self._by_full_names = by_full_names

    def things(self, things: Sequence[Thing], words: Sequence[str]) -> list[tuple[int, Thing, int]]:
        """The things that the first words may mean. Raises TooManyTried."""
        self._tried += 1
        if self._tried > _MOST_TRIED:
            raise TooManyTried
        found = _read_thing(things, words)
        return [reading for reading in found if reading[0] == _FULL_NAME] if self._by_full_names else found


def pattern_of(act: Act) -> list[Blank | str]:
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
    pattern: Sequence[Blank | str], words: Sequence[str], search: Search
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
    for score, value, used in read_blank(head, words, search):
        for more, values in _match(rest, words[used:], search):
            yield score + more, (value, *values)


def read_blank(blank: Blank, words: Sequence[str], search: Search) -> Iterator[tuple[int, Value, int]]:
    """Yield ways to read a blank from the first words: the score, the value, the number of words used."""
    if isinstance(blank, Amount):
        if words and (number := number_in(words[0])) is not None:
            yield 1, number, 2 if words[1:2] in ([blank.name], [blank.name.removesuffix("s")]) else 1
    elif isinstance(blank, OneOf):
        for score, thing, used in search.things(blank.things, words):
            yield score, thing.value, used
    elif isinstance(blank, Some):
        yield from _read_some(blank, words, search)
    elif isinstance(blank, Ranking):
        yield from read_row(blank.things, len(blank.things), words, search)
    elif isinstance(blank, Split):
        numbers = [number_in(word) for word in words[: len(blank.things)]]
        if all(number is not None for number in numbers):
            yield (1, tuple(number for number in numbers if number is not None), len(numbers))


def _read_some(blank: Some, words: Sequence[str], search: Search) -> Iterator[tuple[int, Value, int]]:
    """Read things in any order, and put them into the order of the blank."""
    place = {thing.value: i for i, thing in reversed(list(enumerate(blank.things)))}
    for score, row, used in read_row(blank.things, blank.many, words, search):
        yield score, tuple(sorted(row, key=lambda value: place[value])), used


def read_row(
    things: Sequence[Thing], many: int, words: Sequence[str], search: Search
) -> Iterator[tuple[int, tuple[int | str, ...], int]]:
    """Yield ways to read so many different things from the first words: the score, the values, the number of words used."""
    if many == 0:
        yield 0, (), 0
        return
    for score, thing, used in search.things(things, words):
        place = next(place for place, each in enumerate(things) if each.value == thing.value)
        for more, row, further in read_row((*things[:place], *things[place + 1 :]), many - 1, words[used:], search):
            yield score + more, (thing.value, *row), used + further


def _read_thing(things: Sequence[Thing], words: Sequence[str]) -> list[tuple[int, Thing, int]]:
    """Return things that the first words may mean; a full name beats an abbreviation."""
    found: dict[tuple[int | str, int], tuple[int, Thing, int]] = {}
    for thing in things if words else ():
        names = [name for name in names_in(thing.word, *thing.also) if name[0].startswith(words[0])]
        for name in names:
            if tuple(words[: len(name)]) == name:
                found[thing.value, len(name)] = (_FULL_NAME, thing, len(name))
        # An id is no better than an abbreviation: "e" is the Excuse unless the End is there too. Ids cannot be
        # abbreviated: "x" does not mean a Crown, though its id begins with it.
        for name in names_in(str(thing.value)):
            if tuple(words[: len(name)]) == name:
                found.setdefault((thing.value, len(name)), (1, thing, len(name)))
        for name in names:
            for short in range(1, min(len(name), len(words)) + 1):
                if _cut_short(" ".join(words[:short]), " ".join(name)):
                    found.setdefault((thing.value, short), (1, thing, short))
    return list(found.values())


def _cut_short(given: str, name: str) -> bool:
    """Whether this abbreviates a name. A number cannot be abbreviated: 1 is not 13."""
    return name.startswith(given) and not (given[-1].isdigit() and name[len(given) :][:1].isdigit())


def names_in(*names: str) -> list[tuple[str, ...]]:
    """Return the words of each name that has any."""
    return [words for name in names if (words := _name(name))]


@lru_cache(maxsize=4096)
def _name(name: str) -> tuple[str, ...]:
    """Return the words of a name. Cached, because every reading needs the names of a whole deck."""
    return tuple(word for word in words_of(name) if word not in _FILLERS)


def number_in(word: str) -> int | None:
    """Return the whole number that a word is, or None."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= _LONGEST_NUMBER else None
