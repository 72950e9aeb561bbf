"""The lab: it counts what it says it counts, finds what a game favours, and reports the same for the same seed."""

import re
from collections import Counter
from fractions import Fraction

import pytest
from lxml import html

from engine import lab
from engine.__main__ import main
from engine.lab.figures import mean, share
from engine.registry import load

GAME = load("templari")
PLAN = lab.Experiment(3, GAME.settle(3, {}), "random")


def record_of(first, scores=(3, 1), **changed):
    """The record of a made-up game of two seats."""
    shares = tuple(Fraction(seat in first, len(first)) for seat in range(2))
    leads = (frozenset({0, 1}), frozenset({0}))
    plain = {
        "shares": shares,
        "scores": scores,
        "margin": 2,
        "turns": 4,
        "auctions": 1,
        "leads": leads,
        "last": leads,
        "decisions": Counter({0: 2, 1: 2}),
        "offered": Counter({(0, "bid"): 2, (1, "bid"): 2}),
        "chosen": Counter({(0, "bid"): 2}),
        "amounts": Counter({(0, "bid", "coins", 7): 2}),
    }
    return lab.Record(**plain | changed)


def section(title, records, compared=None):
    return next(each for each in lab.sections(records, compared or {}) if each.title == title)


def test_a_game_of_the_lab_is_the_same_each_time_and_another_with_another_number():
    first = lab.play(GAME, PLAN, 1)
    assert lab.play(GAME, PLAN, 1) == first
    assert lab.play(GAME, PLAN, 2) != first
    assert sum(first.shares) == 1
    assert first.chosen.total() == first.decisions.total() > 30
    assert all(first.offered[key] >= many for key, many in first.chosen.items())
    assert 15 <= first.auctions < first.turns


def test_a_seat_that_always_wins_stands_out():
    seats = section("Seats", [record_of({0})] * 50)
    assert seats.rows[0][1] == "100.0 % (92.9 to 100.0)"
    assert seats.rows[1][1] == "0.0 % (0.0 to 7.1)"
    assert seats.charts[0].line == 50


def test_ties_are_shared():
    ends = section("Closeness", [record_of({0, 1}), record_of({1})])
    assert dict(ends.rows)["Shared first places"].startswith("50.0 %")
    assert [row[1][:6] for row in section("Seats", [record_of({0, 1}), record_of({1})]).rows] == ["25.0 %", "75.0 %"]


def test_a_choice_of_winners_is_told_from_one_of_losers():
    ((verb, per_game, taken, winner, more),) = section("Choices", [record_of({0}), record_of({0})]).rows
    assert (verb, per_game, taken) == ("bid", "2.0", "50 %")
    assert winner == "2.0 (2.0 to 2.0)"
    assert more == "2.0 (2.0 to 2.0)"
    ((*_, more),) = section("Choices", [record_of({1}), record_of({1})]).rows
    assert more == "-2.0 (-2.0 to -2.0)"


def test_the_leader_and_the_last_are_followed_to_the_end():
    behind = {"leads": (frozenset({0}),) * 8, "last": (frozenset({1}),) * 8}
    rows = section("Comebacks", [record_of({1}, **behind)] * 3 + [record_of({0}, **behind)]).rows
    assert [row[0] for row in rows] == ["A quarter", "Half", "Three quarters"]
    assert all([cell[:6] for cell in row[1:]] == ["100.0 ", "25.0 %", "75.0 %"] for row in rows)


def test_amounts_are_counted_with_who_chose_them():
    cheap = record_of({1}, amounts=Counter({(0, "bid", "coins", 7): 1, (1, "bid", "coins", 3): 3}))
    found = section("Amounts: bid, coins", [cheap])
    assert dict(found.rows)["Winners"].startswith("3.0 ")
    assert dict(found.rows)["Others"].startswith("7.0 ")
    assert [(bar.label, bar.length) for bar in found.charts[0].bars] == [
        ("3", 3.0), ("4", 0.0), ("5", 0.0), ("6", 0.0), ("7", 1.0)
    ]  # fmt: skip


def test_each_other_value_of_each_option_is_a_variant():
    settled = GAME.settle(3, {})
    found = dict(lab.variants(GAME, settled))
    assert len(found) >= len(GAME.options)
    for name, options in found.items():
        option, _, value = name.partition("=")
        assert str(options[option]) == value
        assert [key for key in options if options[key] != settled[key]] == [option]


def test_intervals_hold_the_true_value_about_as_often_as_they_say():
    low, high = share([1] * 30 + [0] * 70).low, share([1] * 30 + [0] * 70).high
    assert low == pytest.approx(0.2189, abs=1e-4)
    assert high == pytest.approx(0.3958, abs=1e-4)
    assert mean([4]).low == mean([4]).high == 4


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report_however_many_processes_there_are(tmp_path, capsys):
    words = ["lab", "bid", "--bots", "random", "--games", "6", "--seed", "x", "--compare"]
    assert main([*words, "--processes", "1"]) == 0
    alone = capsys.readouterr().out
    assert main([*words, "--processes", "2", "--out", str(tmp_path / "bid")]) == 0
    assert (tmp_path / "bid.md").read_text(encoding="utf-8") == alone
    page = html.document_fromstring((tmp_path / "bid.html").read_bytes())
    headings = re.findall(r"^## (.*)$", alone, re.MULTILINE)
    assert [each.text for each in page.iter("h2")] == headings
    assert {"Seats", "Length", "Closeness", "Comebacks", "Choices", "Options"} <= set(headings)
    assert page.xpath("//svg//*[name()='rect']")
    assert not page.xpath("//@src | //script | //link")
