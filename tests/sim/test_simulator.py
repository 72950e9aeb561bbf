"""Weeks of play from one seed: twenty short games of all kinds, with faults, to the end of every one of them.

With PBEM_TEST_ALL there are fifty. PBEM_TEST_SEED names another seed. The message of a failure has the command that repeats it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import EVERYTHING
from tests.sim.simulator import SELDOM, simulate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

SEED = int(os.environ.get("PBEM_TEST_SEED", "14"))


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
