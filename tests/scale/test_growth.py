"""How much the processes of a server grow with every thousand requests, and every thousand minutes of a worker."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

pytestmark = [pytest.mark.bench, pytest.mark.timeout(3600)]

TIMES = int(os.environ.get("PBEM_TEST_REQUESTS", "8000"))


@pytest.mark.parametrize("what", ["web", "worker"])
def test_the_growth_of_a_process_is_measured(what: str, record_property: Callable[[str, object], None]) -> None:
    command = [sys.executable, "-m", "tests.scale.growth", what, str(TIMES)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    grown = float(printed.splitlines()[-1])
    print(f"\n{what}: {grown:.0f} KB for each 1,000")
    record_property(f"scale.grown {what}", round(grown))
    record_property(f"scale.times {what}", TIMES)
