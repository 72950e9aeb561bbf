"""Chance: the published numbers, no favourites, and proofs that hold for one seed only."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter

import pytest

from engine.chance import Draw, Scripted, Stream, bot_seed, commitment, derive, follows, seed_from

SEED = bytes(range(32))


@pytest.mark.parametrize(
    ("entry", "numbers"), [(0, [3, 2, 0, 1, 5, 5, 1, 0, 5, 0, 5, 3]), (7, [2, 5, 1, 0, 0, 0, 4, 1, 0, 4, 3, 4])]
)
def test_dice_fall_as_published(entry, numbers):
    stream = Stream(SEED, entry)
    assert [stream.below(6) for _ in numbers] == numbers


def test_a_shuffle_comes_out_as_published():
    assert Stream(SEED, 0).shuffle(range(10)) == [2, 3, 0, 6, 7, 8, 1, 4, 9, 5]


def test_words_that_would_favour_low_numbers_are_rejected():
    stream = Stream(SEED, 1)
    numbers = [1360867351426230762, 1194534569029145207, 9004336820953801897]
    assert [stream.below(2**63 + 1) for _ in numbers] == numbers


def test_every_word_behind_a_number_is_listed_even_if_rejected():
    bounds = [2**63 + 1, 6, 2**63 + 1, 52, 2**63 + 1]
    stream, steps = Stream(SEED, 1), list(derive(SEED, 1, bounds))
    assert [step.number for step in steps if step.number is not None] == [stream.below(bound) for bound in bounds]
    assert any(step.number is None for step in steps)
    places = [(step.block, step.place) for step in steps]
    assert places == [(i // 4, i % 4) for i in range(len(steps))]
    for step in steps:
        assert step.number in (None, step.word % step.bound)


def test_no_number_is_drawn_below_a_bound_larger_than_a_word():
    for bound in (0, -1, 2**64 + 1, 10**30):
        assert Stream(SEED, 0).below(2**64) < 2**64
        with pytest.raises(ValueError, match="below a bound from 1 to 2"):
            Stream(SEED, 0).below(bound)
        with pytest.raises(ValueError, match="below a bound from 1 to 2"):
            list(derive(SEED, 0, [bound]))


def test_every_entry_has_its_own_chance():
    assert len({tuple(Stream(SEED, entry).shuffle(range(20))) for entry in range(50)}) == 50


def test_a_bot_has_a_seed_of_its_own_for_each_turn_and_seat():
    seeds = {SEED, *(bot_seed(SEED, turn, seat) for turn in range(20) for seat in range(9))}
    assert len(seeds) == 181
    assert bot_seed(SEED, 7, 1) == hmac.digest(SEED, b"bot/1" + bytes([0, 0, 0, 0, 0, 0, 0, 7, 1]), "sha256")


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 7, 52])
def test_every_number_below_the_bound_comes_up_about_equally_often(bound):
    stream = Stream(SEED, 3)
    often = Counter(stream.below(bound) for _ in range(400 * bound))
    assert set(often) == set(range(bound))
    assert all(300 < times < 500 for times in often.values()) or bound == 1


def test_every_order_of_a_shuffle_comes_up_about_equally_often():
    stream = Stream(SEED, 4)
    often = Counter(tuple(stream.shuffle("abc")) for _ in range(2400))
    assert len(often) == 6
    assert all(300 < times < 500 for times in often.values())


@pytest.mark.parametrize("bound", [0, -1])
def test_no_number_is_drawn_below_a_bound_under_one(bound):
    with pytest.raises(ValueError, match="can only be drawn below a bound"):
        Stream(SEED, 0).below(bound)


def test_everything_drawn_is_recorded():
    stream = Stream(SEED, 0)
    stream.pick("abcdef")
    stream.shuffle("abc")
    assert [bound for bound, _ in stream.drawn] == [6, 3, 2]
    assert stream.drawn[0] == (6, 3)


def test_drawn_numbers_follow_from_their_seed_and_no_other():
    stream = Stream(SEED, 5)
    stream.shuffle(range(30))
    assert follows(SEED, 5, stream.drawn)
    assert not follows(SEED, 6, stream.drawn)
    assert not follows(bytes(32), 5, stream.drawn)
    bound, number = stream.drawn[-1]
    assert not follows(SEED, 5, [*stream.drawn[:-1], (bound, (number + 1) % bound)])


def test_a_script_gives_its_numbers_and_then_fails():
    script = Scripted([2, 0])
    assert (script.pick("abc"), script.below(5)) == ("c", 0)
    assert script.drawn == [(3, 2), (5, 0)]
    with pytest.raises(ValueError, match="the next scripted number"):
        script.below(2)


@pytest.mark.parametrize("number", [-1, 3])
def test_a_script_gives_no_number_outside_the_bound(number):
    with pytest.raises(ValueError, match="the next scripted number"):
        Scripted([number]).below(3)


def test_the_base_class_draws_nothing():
    with pytest.raises(NotImplementedError):
        Draw().below(2)


def test_the_commitment_is_a_plain_hash_that_anyone_can_check():
    assert commitment(b"secret") == hashlib.sha256(b"secret").hexdigest()


def test_the_seed_depends_on_the_secret_and_on_every_word_and_their_order():
    seeds = {
        seed_from(b"secret", []),
        seed_from(b"secret", ["a", "b"]),
        seed_from(b"secret", ["b", "a"]),
        seed_from(b"secret", ["ab"]),
        seed_from(b"secret", ["", "ab"]),
        seed_from(b"other", ["a", "b"]),
        seed_from(b"secret", ["ä"]),
    }
    assert len(seeds) == 7
    assert all(len(seed) == 32 for seed in seeds)
