"""Seats round a table: neighbours, and the order of turns.

Seats are counted clockwise from 0, so the seat to the left is the next number. This module must never know a state.
"""

from __future__ import annotations


def left_of(seat: int, seats: int) -> int:
    """Return the seat to the left. To the left of the SPECTATOR is seat 0."""
    return (seat + 1) % seats


def clockwise(first: int, seats: int, without: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Return the seats clockwise from the first, leaving some out. One past the last seat is seat 0.

    >>> clockwise(2, 4, without=(3,))
    (2, 0, 1)
    """
    order = [(first + i) % seats for i in range(seats)]
    return tuple([seat for seat in order if seat not in without] if without else order)
