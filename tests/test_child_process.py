"""Child processes: their limits, and what they know of us."""

import os
import resource
import subprocess
from pathlib import Path

import pytest

from pbem import bots, child_process, coach, hints
from tests.waiting import until

SHOW = "from pbem import child_process; import os, resource, sys; "


def run(*lines):
    """What a child process with our environment prints."""
    command = [*child_process.command("x")[:-2], "-c", SHOW + "; ".join(lines)]
    return subprocess.run(command, env=child_process.environment(), capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("kind", "most"), [("CPU", 7), ("MEMORY", 2**33)])
def test_a_child_process_limits_itself(kind, most):
    limits = run(
        f"child_process.limit(child_process.{kind}, {most})", f"print(resource.getrlimit(child_process.{kind}))"
    )
    assert limits == f"({most}, {most})\n"


def test_a_limit_below_ours_stays():
    lower, set_by_the_system = 2**31, resource.RLIMIT_AS
    limits = run(
        f"resource.setrlimit({set_by_the_system}, ({lower}, {lower}))",
        "child_process.limit(child_process.MEMORY, 2**40)",
        f"print(resource.getrlimit({set_by_the_system}))",
    )
    assert limits == f"({lower}, {lower})\n"


@pytest.mark.parametrize("module", [bots, coach, hints])
def test_a_child_that_thinks_gives_way_to_others_with_its_whole_session(module):
    child = child_process.Child(module.__name__, 1)
    process = child._ready()
    group = Path(f"/proc/{process.pid}/autogroup")

    def gives_way():
        nicer = os.getpriority(os.PRIO_PROCESS, process.pid) - os.getpriority(os.PRIO_PROCESS, 0)
        whole = not group.exists() or group.read_text().rstrip().endswith(f"nice {module.NICENESS}")
        return nicer == module.NICENESS and whole

    try:
        until(gives_way, "it gives way")
    finally:
        child.close()


def test_a_child_process_knows_no_setting_of_the_server(monkeypatch):
    monkeypatch.setenv("PBEM_KEYS", "a secret")
    assert "a secret" not in run("print(dict(os.environ))")
