"""Records: dataclasses in every way but in how fast they are made and changed."""

import copy
import dataclasses
import pickle

import pytest

from engine.game import kinds_of
from engine.records import record, replace
from engine.registry import load, names


@record
class Boat:
    seat: int
    fish: tuple[int, ...] = ()


@record
class Ferry(Boat):
    cars: int = 2


class Raft(Boat):
    """No record itself, but a kind of one."""

    __slots__ = ()


@record
class Counted:
    many: int
    twice: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.many)


@pytest.mark.parametrize("one", [Boat(1), Boat(seat=1, fish=(3,)), Ferry(1, (), 4), Ferry(1), Raft(1), Counted(3)])
def test_a_record_is_a_frozen_dataclass(one):
    made = dataclasses.make_dataclass(type(one).__name__, [f.name for f in dataclasses.fields(one)], frozen=True)
    assert type(one).__name__ == made.__name__
    assert repr(one) == repr(made(*(getattr(one, f.name) for f in dataclasses.fields(one))))
    assert one == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))
    assert type(copy.copy(one)) is type(one)
    assert hash(one) == hash(copy.copy(one))
    assert not hasattr(one, "__dict__")
    for field in dataclasses.fields(one):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, field.name, 7)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(one, field.name)


@pytest.mark.parametrize(
    ("one", "changes"),
    [(Boat(1), {"fish": (2,)}), (Ferry(1), {"seat": 2, "cars": 0}), (Raft(1), {"seat": 3}), (Counted(3), {"many": 4})],
)
def test_a_changed_record_is_another_one_as_dataclasses_would_make_it(one, changes):
    before = copy.copy(one)
    other = replace(one, **changes)
    assert other == dataclasses.replace(one, **changes)
    assert type(other) is type(one)
    assert other != one == before


def test_a_record_has_the_fields_of_its_class_and_no_others():
    with pytest.raises(TypeError):
        Boat()
    with pytest.raises(TypeError):
        Boat(1, (), 3)
    with pytest.raises(TypeError):
        replace(Boat(1), cars=3)


@pytest.mark.parametrize("name", names())
def test_every_kind_of_a_game_is_made_quickly(name):
    assert all(
        kind.__init__.__code__.co_filename == "<record>" for kind in kinds_of(load(name)).values() if kind.__slots__
    )
