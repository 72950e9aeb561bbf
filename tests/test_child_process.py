"""Child processes: their limits, and what they know of us."""

import os
import resource
import subprocess
from pathlib import Path
from threading import Event, Thread

import pytest

from pbem import bots, child_process, coach, hints
from tests.waiting import until

WAIT = 300
"""A stop for what hangs, and no measure of anything."""

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


@pytest.fixture
def stopped_child(tmp_path, monkeypatch):
    """A child that the machine has stopped: it takes in what its pipe holds, and answers nothing."""
    (tmp_path / "stopped.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    children = []

    def start(longest_wait):
        children.append(child_process.Child("stopped", longest_wait))
        return children[-1]

    yield start
    for child in children:
        child.close()


def test_a_process_with_many_open_files_gets_its_answer(tmp_path, monkeypatch):
    (tmp_path / "echo.py").write_text("import sys\nprint(sys.stdin.readline(), flush=True)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    child, many = child_process.Child("echo", WAIT), [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        assert child.ask("ready?") == "ready?"
    finally:
        child.close()
        for each in many:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_nobody_waits_longer_for_a_child_that_does_not_take_in_the_question(stopped_child):
    with pytest.raises(child_process.Interrupted, match="TimeoutError"):
        stopped_child(0.2).ask({"html": "x" * 2**20})


def test_a_child_that_is_closed_keeps_nobody_waiting_for_its_answer(stopped_child):
    child, failed = stopped_child(WAIT), Event()

    def ask():
        with pytest.raises(child_process.Interrupted):
            child.ask({})
        failed.set()

    asking = Thread(target=ask)
    asking.start()
    until(lambda: child._process is not None, "it is asked")
    child.close()
    asking.join()
    assert failed.is_set()


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", child_process.Interrupted),
        ("os.kill(os.getpid(), signal.SIGPROF)", child_process.Failed),
        ("os.abort()", child_process.Failed),
        ("sys.exit(1)", child_process.Failed),
        ("print('{')", child_process.Failed),
    ],
)
def test_only_a_child_that_was_killed_is_interrupted(tmp_path, monkeypatch, end, fault):
    (tmp_path / "ending.py").write_text(f"import os, signal, sys\nsys.stdin.readline()\n{end}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(child_process.Failed) as failed:
        child_process.Child("ending", WAIT).ask({})
    assert type(failed.value) is fault


def test_a_long_question_has_a_long_answer(tmp_path, monkeypatch):
    (tmp_path / "echo.py").write_text(
        "from pbem import child_process\nchild_process.answer_lines(lambda question: question, 60)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    child = child_process.Child("echo", WAIT)
    try:
        for size in (1, 2**21):
            assert child.ask({"text": "x" * size}) == {"text": "x" * size}
    finally:
        child.close()
