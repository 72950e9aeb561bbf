"""Weeks of play from one seed: twenty short games of all kinds, with faults, to the end of every one of them.

With PBEM_TEST_ALL there are fifty. PBEM_TEST_SEED names another seed. The message of a failure has the command that repeats it.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import EVERYTHING
from tests.sim.simulator import simulate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

SELDOM: Final = (
    "address refused",
    "bot took a seat over",
    "bounce",
    "choice refused",
    "choice taken back",
    "clock set back",
    "clock set forward",
    "connection lost after the mail",
    "connection lost before the mail",
    "crash at mail.handed_over",
    "crash at store.committed",
    "crash at store.committing",
    "crash under a request",
    "disk failed",
    "double click",
    "email paused",
    "mail came again",
    "mail refused for now",
    "mail to somebody who is gone",
    "new links",
    "old link",
    "order dropped",
    "order set",
    "outage",
    "played on the page of the seat",
    "quiet hours chosen",
    "relay away",
    "reminder",
    "restore",
    "scanner opened everything",
    "scanner pressed a button",
    "second sender",
    "substitute asked for a seat",
    "substitute took a seat",
    "time-out",
    "time-out after we were away",
    "turn was over before it was read",
)
"""Events that a run of some size must meet to prove anything about them."""

SEED = int(os.environ.get("PBEM_TEST_SEED", "15"))


def test_in_weeks_of_play_with_faults_every_promise_is_kept_and_every_game_ends():
    try:
        ended = simulate(SEED, *(50, 5) if EVERYTHING else (20, 4))
    except AssertionError as broken:
        command = f"PBEM_TEST_SEED={SEED} .venv/bin/pytest -p no:xdist {Path(__file__).relative_to(Path.cwd())}"
        raise AssertionError(f"{broken}\nTo repeat it: {command}") from broken
    print(f"\nseed {SEED}: {ended.rows} rows until {ended.until}, trace {ended.trace[:20]}: {ended.seen}")
    never = [each for each in SELDOM if each not in ended.seen]
    assert never == [], "a run that never met this has proved nothing about it"


def test_the_same_seed_is_the_same_run_to_the_byte_in_any_process():
    program = f"from tests.sim.simulator import simulate\nprint(simulate({SEED}, 2, 1, to_the_calm=True).trace)\n"
    traces = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(traces) == 1
    assert simulate(SEED + 1, 2, 1, to_the_calm=True).trace not in next(iter(traces))


def test_a_season_with_faults_plays_to_its_end_by_itself():
    ended = simulate(SEED, 0, 2, seasons=1)
    print(f"\nseed {SEED}: until {ended.until}: {ended.seen}")
    assert ended.seen["tournament over"] == 1
    assert ended.seen["signed up for a tournament"] > 3
    assert ended.seen["restore"]
