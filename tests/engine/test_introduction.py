"""What a game says of itself: each fault that would keep a list of games from being shown is found, and named for its author."""

import pytest

from engine import introduction, registry
from engine.tell import say
from tests.engine.toys.lanterns import Lanterns

PURSE = Lanterns.options[1]
TITLE = "`title` must be a line of 1 to 60 characters"
SEATS = "`seats` must be two numbers from 1 to 99, the smaller one first"
COVER = "`cover` must be up to 12 Faces"
UNREADABLE = "what it says of itself can't be read: "


def faults_with(**what):
    """The faults of lanterns that say this of themselves."""
    return list(introduction.faults(type("Lanterns", (Lanterns,), {"__module__": Lanterns.__module__, **what})()))


def purse(**what):
    return {"options": (Lanterns.options[0], type(PURSE)(**{**vars_of(PURSE), **what}))}


def vars_of(option):
    return {name: getattr(option, name) for name in type(option).__dataclass_fields__}


def test_our_games_introduce_themselves():
    assert {name: list(introduction.faults(registry.load(name))) for name in registry.own_names()} == {
        name: [] for name in registry.own_names()
    }
    assert faults_with() == []


@pytest.mark.parametrize(
    "what, fault",
    [
        ({"title": "Lanterns\nBcc: ann@example.org"}, TITLE),
        ({"title": "L" * 61}, TITLE),
        ({"title": ""}, TITLE),
        ({"title": "Lan\u202eterns"}, TITLE),
        ({"title": 7}, UNREADABLE),
        ({"seats": (2, 10**9)}, SEATS),
        ({"seats": (-3, 4)}, SEATS),
        ({"seats": (4, 2)}, SEATS),
        ({"seats": ("a", "b")}, SEATS),
        ({"demo": 5}, "`demo` must be a number of players"),
        ({"demo": "x"}, "`demo` must be a number of players"),
        ({"cover": (1, 2)}, COVER),
        ({"cover": None}, UNREADABLE),
        ({"OLDEST": 5}, "`OLDEST` and `RULES` must be versions, the older one first"),
        ({"length": 5}, UNREADABLE),
        ({"credits": say("{nothing}")}, UNREADABLE),
        ({"mood": say("{nothing}")}, UNREADABLE),
        ({"options": (5,)}, UNREADABLE),
        ({"options": (PURSE, PURSE)}, "it must have up to 50 options, with different names"),
        ({"short": {"purse": 99}}, "`short` has an option or a value that doesn't exist"),
        ({"demo_options": {"lamps": 1}}, "`demo_options` has an option or a value that doesn't exist"),
        (purse(name="pu rse\n<b>"), "its option `pu rse\n<b>` must have a name"),
        (purse(low=40, high=1), "its option `purse` must have a name, a possible default"),
        (purse(low=-(10**4000), high=10**4000), "its option `purse` must have"),
        (purse(seats=("x",)), "its option `purse` must have"),
        (purse(called=None), UNREADABLE),
        (purse(about=say("{nothing}")), UNREADABLE),
        ({"rules": "Lanterns"}, "its docstring must be a rules page"),
        ({"rules": "Lanterns\n\n" + "x" * 100_000}, "its docstring must be a rules page"),
    ],
)
def test_a_game_that_no_list_could_show_has_a_fault(what, fault):
    (found,) = faults_with(**what)
    assert found.startswith(fault)
