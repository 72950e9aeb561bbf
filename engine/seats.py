"""Seats round a table: who sits to the left of whom, and in which order the turn goes.

Seats are counted clockwise from 0, so the seat to the left is the next number. This module must never know a state.
"""

from __future__ import annotations


def left_of(seat: int, seats: int) -> int:
    """The seat to the left; to the left of the SPECTATOR is the first one."""
    return (seat + 1) % seats


def clockwise(first: int, seats: int, without: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The seats from the first one on, clockwise, without some. The first may be given as one past the last seat."""
    order = ((first + i) % seats for i in range(seats))
    return tuple(seat for seat in order if seat not in without)
