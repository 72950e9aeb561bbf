"""Other truths: how the secrets hidden from a reader could be different.

A *hiding* is a secret field of a fact that a reader may not see. A *difference* turns a story into another one that looks
the same to that reader: two things that occur only in hidings are exchanged, or one hiding gets another value. This
module must never touch a field that the reader may see.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from engine.chance import Draw
from engine.facts import HIDDEN, Fact, fact, is_hidden, secrets_of, seen
from engine.game import Game, facts_of
from engine.testing.values import Atom, atoms, exchanged

Field = tuple[str, str]
"""The name of a kind of fact, and of one of its fields."""

Story = tuple[Fact[Any], ...]


@fact
class Hiding:
    """A field of one fact of a story, with its hidden value."""

    at: int
    field: Field
    value: Any


@fact
class Difference:
    """How another truth differs: `mapping` exchanges things in all hidings, `other` is a new value in one.

    The difference may rightly come out in facts that name one of the things in `named`.
    """

    fields: frozenset[Field]
    named: frozenset[Atom]
    mapping: Mapping[Atom, Atom]
    other: Hiding | None = None


class Pool:
    """The values that secret fields had in games with the same number of players."""

    def __init__(self) -> None:
        self.fields: dict[Atom, set[Field]] = {}
        self.values: dict[Field, dict[Any, None]] = {}

    def add(self, happened: Iterable[Fact[Any]]) -> None:
        """Add the secrets of these facts."""
        for each in happened:
            kind = kind_of_fact(each)
            for name, _ in secrets_of(kind):
                field, value = (kind.__name__, name), getattr(each, name)
                self.values.setdefault(field, {})[value] = None
                for atom in atoms(value):
                    self.fields.setdefault(atom, set()).add(field)


def kind_of_fact(happened: Fact[Any]) -> type:
    """Return the kind of a fact."""
    return type(happened)


def secret_fields(game: Game[Any]) -> frozenset[Field]:
    """Return every secret field of a game."""
    return frozenset(
        (name, field) for name, kind in facts_of(game).items() for field, _ in secrets_of(cast(type, kind))
    )


def hidings(story: Story, reader: int) -> list[Hiding]:
    """Return what this reader may not see."""
    found = []
    for at, happened in enumerate(story):
        kind = kind_of_fact(happened)
        names = [name for name, _ in secrets_of(kind)]
        visible = seen(happened, reader) if names else happened
        found += [
            Hiding(at, (kind.__name__, name), getattr(happened, name))
            for name in names
            if _blank(getattr(visible, name)) and getattr(happened, name) != ()
        ]
    return found


def shown(story: Story, reader: int) -> set[Atom]:
    """Return everything that this reader has seen by name."""
    return {atom for happened in story for atom in atoms(seen(happened, reader))}


def exchanges(story: Story, reader: int, pool: Pool, fields: Collection[Field], draw: Draw) -> Iterator[Difference]:
    """Yield differences that exchange two things which occur only in hidings, or one of them nowhere yet.

    Things from the given fields come first, and things in different hands before those in the same hand.
    """
    named = shown(story, reader)
    places: dict[Atom, set[tuple[int, Field]]] = {}
    for hiding in hidings(story, reader):
        for atom in atoms(hiding.value):
            if atom not in named:
                places.setdefault(atom, set()).add((hiding.at, hiding.field))
    unplaced = [atom for atom in pool.fields if atom not in places and atom not in named]
    near = []
    for one in sorted(draw.shuffle(places), key=lambda atom: not any(field in fields for _, field in places[atom])):
        for other in (*draw.shuffle(places), *draw.shuffle(unplaced)):
            if one == other or type(one) is not type(other):
                continue
            here, there = places[one], places.get(other, set())
            if not ({f for _, f in here} <= pool.fields[other] and {f for _, f in there} <= pool.fields[one]):
                continue
            varied = frozenset(field for _, field in here ^ there) or frozenset(field for _, field in here)
            difference = Difference(varied, frozenset((one, other)), {one: other, other: one})
            if here == there:
                near.append(difference)
            else:
                yield difference
                break
    yield from near


def other_values(story: Story, reader: int, pool: Pool, fields: Collection[Field], draw: Draw) -> Iterator[Difference]:
    """Another value stands in one hiding, one that has stood in such a field elsewhere."""
    for hiding in draw.shuffle(hidings(story, reader)):
        if hiding.field not in fields:
            continue
        for value in draw.shuffle(pool.values[hiding.field]):
            if value != hiding.value and _alike(value, hiding.value):
                named = frozenset(atoms(value)) ^ frozenset(atoms(hiding.value))
                yield Difference(frozenset([hiding.field]), named, {}, replace(hiding, value=value))


def with_difference(story: Story, reader: int, difference: Difference) -> Story:
    """Return the story in the other truth."""
    if (other := difference.other) is not None:
        changed = replace(cast(Any, story[other.at]), **{other.field[1]: other.value})
        return (*story[: other.at], changed, *story[other.at + 1 :])
    truth = list(story)
    for hiding in hidings(story, reader):
        if (value := exchanged(hiding.value, difference.mapping)) != hiding.value:
            truth[hiding.at] = replace(cast(Any, truth[hiding.at]), **{hiding.field[1]: value})
    return tuple(truth)


def _blank(value: Any) -> bool:
    return is_hidden(value) or (isinstance(value, tuple) and HIDDEN in value)


def _alike(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (
        not isinstance(one, Sequence) or isinstance(one, str) or len(one) == len(other)
    )
