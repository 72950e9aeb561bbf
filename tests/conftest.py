"""The ground rules of the suite: limits, required tools, slices, and a loud end.

Four promises, tested by tests/test_suite.py:

- a missing program that a test needs is named at the end of the run, with the way to get it;
- with PBEM_TEST_NO_SKIP=1 every kind of skip is a failure, so continuous integration cannot pass by leaving out tests;
- a whole run tries slices of large sets, other ones with each commit, and all with PBEM_TEST_ALL=1: a twentieth of the slow
  tests, and two cases of any other test;
- after a failure, the seed of the random order is printed with the command that repeats the run.

pyproject.toml limits sockets to this machine, turns warnings into errors and makes the order random.
"""

from __future__ import annotations

import gc
import logging
import math
import os
import shutil
import signal
import subprocess
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

import pytest
import structlog
from _pytest.nodeid import NodeId
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings

from tests import figures

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# No test measures time, so a slow machine must not fail one.
settings.register_profile("full", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", parent=settings.get_profile("full"), max_examples=20)
settings.register_profile(
    "thorough", parent=settings.get_profile("full"), max_examples=int(os.environ.get("PBEM_TEST_EXAMPLES", "2000"))
)
settings.load_profile("full")

# Hashing is slow on purpose: this is its time, memory and threads. Processes that tests start hash as slowly as others do.
_hashing = vars(PasswordHasher)["__init__"]
_hashing.__defaults__ = (1, 8, 1, *_hashing.__defaults__[3:])

# What a script runs in its background ignores Ctrl-C, and so would every process that a test starts, to stop it that way.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The default processors of structlog, with plain tracebacks.
_PROCESSORS = [
    *structlog.get_config()["processors"][:-1],
    structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
]

EVERYTHING = os.environ.get("PBEM_TEST_ALL") == "1"
"""Whether to run all cases where a run usually tries a slice."""

_T = TypeVar("_T")
_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)


@dataclass(frozen=True)
class Tool:
    """A program that some tests need: its names, and how to get it."""

    commands: tuple[str, ...]
    get: str


TOOLS = {
    "caddy": Tool(("caddy",), "apt-get install caddy"),
    "chromium": Tool(("chromium", "chromium-browser", "google-chrome"), "apt-get install chromium"),
    "curl": Tool(("curl",), "apt-get install curl"),
    "dnsmasq": Tool(("dnsmasq",), "apt-get install dnsmasq-base"),
    "dovecot": Tool(("dovecot",), "apt-get install dovecot-imapd dovecot-lmtpd dovecot-sieve"),
    "faketime": Tool(("faketime",), "apt-get install faketime"),
    "lynx": Tool(("lynx",), "apt-get install lynx"),
    "mshow": Tool(("mshow",), "apt-get install mblaze"),
    "nginx": Tool(("nginx",), "apt-get install nginx-light"),
    "node": Tool(("node", "nodejs"), "apt-get install nodejs"),
    "npm": Tool(("npm",), "apt-get install npm"),
    "opendkim": Tool(("opendkim",), "apt-get install opendkim"),
    "opendkim-genkey": Tool(("opendkim-genkey",), "apt-get install opendkim-tools"),
    "opendmarc": Tool(("opendmarc",), "apt-get install opendmarc"),
    "postfix": Tool(("postfix",), "apt-get install postfix"),
    "promtool": Tool(("promtool",), "apt-get install prometheus"),
    "spamassassin": Tool(("spamassassin",), "apt-get install spamassassin"),
    "swaks": Tool(("swaks",), "apt-get install swaks"),
    "systemd-analyze": Tool(("systemd-analyze",), "apt-get install systemd"),
    "unshare": Tool(("unshare",), "apt-get install util-linux"),
    "w3m": Tool(("w3m",), "apt-get install w3m"),
    "wrk": Tool(("wrk",), "apt-get install wrk"),
}

# Debian installs servers outside the PATH of an ordinary account.
_PLACES = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"))


def find_tool(name: str) -> str | None:
    """The path of a tool on this machine, or None."""
    if name not in TOOLS:
        pytest.fail(f"needs({name!r}): not in TOOLS of tests/conftest.py; add it", pytrace=False)
    found = (shutil.which(command, path=_PLACES) for command in TOOLS[name].commands)
    return next((path for path in found if path), None)


@pytest.fixture
def tool() -> Callable[[str], str]:
    """The path of a tool; skips the test if it is missing. For tests that only know while running which tool they need."""

    def path_of(name: str) -> str:
        return find_tool(name) or _skip_for(name)

    return path_of


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A real browser, closed before the tests of another module."""
    # Only these tests wait for the import of Playwright.
    from tests.chromium import running

    with running() as started:
        yield started


@pytest.fixture(autouse=True)
def reset_logging() -> Iterator[None]:
    """Reset logging for every test, with plain tracebacks."""
    handlers, level = logging.root.handlers[:], logging.root.level
    # If rich is installed, structlog draws each traceback with all values in frames, which would take most of the time
    # of a test with many failures.
    structlog.configure(processors=_PROCESSORS)
    yield
    logging.root.handlers[:], logging.root.level = handlers, level
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def reset_umask() -> Iterator[None]:
    """Let every test write files that all may read: a command run in this process leaves its own mask behind."""
    mask = os.umask(0o022)
    yield
    os.umask(mask)


def pytest_runtest_setup(item: pytest.Item) -> None:
    names = [name for mark in item.iter_markers("needs") for name in mark.args]
    missing = [name for name in names if find_tool(name) is None]
    if missing:
        _skip_for(*missing)


def _skip_for(*names: str) -> NoReturn:
    pytest.skip("; ".join(f"needs {name} ({TOOLS[name].get})" for name in names))


def _choice_of_slices() -> str:
    """What the slices depend on: PBEM_TEST_SLICE, or else the commit, so that everyone who tests a commit tries the same cases."""
    chosen = os.environ.get("PBEM_TEST_SLICE", "")
    with suppress(FileNotFoundError):
        command = ["git", "rev-parse", "HEAD"]
        chosen = (
            chosen
            or subprocess.run(
                command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
            ).stdout.strip()
        )
    return chosen


SLICE = _choice_of_slices()


def some(cases: Collection[_T], share: float) -> list[_T]:
    """A slice of the cases that the tests of one file go through: this share of them, others with each commit, or all of them."""
    cases, file = list(cases), os.environ["PYTEST_CURRENT_TEST"].partition("::")[0]
    return cases if EVERYTHING else Random(f"{SLICE} {file}").sample(cases, math.ceil(share * len(cases)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not EVERYTHING:
        _leave_out_beyond_slices(config, items)
    if config.getoption("loadgroup", default=False):
        _prepare_groups(items)


_OF_SLOW_TESTS: Final = pytest.mark.slice(1 / 20, among="slow tests").mark
"""The slice that a slow test has in a run of everything."""

_CASES: Final = 2
"""How many cases of any other test such a run tries."""


def _leave_out_beyond_slices(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the share that a mark names of a file's tests, or of the tests that it is `among`; all processes choose the same.

    A run of everything leaves out most of the slow tests, too, and most cases of tests with many.
    """
    everywhere = config.getini("testpaths") or [str(config.invocation_params.dir)]
    is_whole_run = not config.option.keyword and config.args == everywhere
    slices: dict[tuple[str, float], list[pytest.Item]] = defaultdict(list)
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        is_slow = item.get_closest_marker("slow") is not None
        marks = [_OF_SLOW_TESTS] if is_slow and is_whole_run else [*item.iter_markers("slice")]
        for mark in marks:
            file = item.nodeid.partition("::")[0]
            slices[mark.kwargs.get("among", file), mark.args[0]].append(item)
        if is_whole_run and not marks:
            cases[item.nodeid.partition("[")[0]].append(item)
    beyond: set[pytest.Item] = set()
    for (among, share), those in slices.items():
        luck = _shuffle(those, f"{among} {share}")
        # A share that is no whole number of tests is held over many commits. Asked for by name, at least one is run.
        number = share * len(those)
        beyond.update(those[math.floor(number + luck.random()) if is_whole_run else math.ceil(number) :])
    for test, those in cases.items():
        _shuffle(those, test)
        beyond.update(those[_CASES:])
    if beyond:
        config.hook.pytest_deselected(items=[item for item in items if item in beyond])
        items[:] = [item for item in items if item not in beyond]


def _shuffle(items: list[pytest.Item], of: str) -> Random:
    """Bring the items into an order that depends on the slice and on what they are `of`; returns the luck that did it."""
    items.sort(key=lambda item: item.nodeid)
    luck = Random(f"{SLICE} {of}")
    luck.shuffle(items)
    return luck


def _prepare_groups(items: list[pytest.Item]) -> None:
    """Put slow tests first, so that no process ends the run with one while the others are idle.

    Also add to each test's id the group by which xdist distributes it. xdist 3.8 does so itself, in an attribute that
    pytest 9.2 no longer reads.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        for mark in item.iter_markers("xdist_group"):
            item._id = NodeId.parse(f"{item.nodeid}@{mark.args[0]}")


# With skipping forbidden, every skip is a failure: of a test or a module, by mark or by call.


def pytest_collection_finish() -> None:
    # Loaded modules stay until the end, so the garbage collector need not scan them again and again.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _fail_if_forbidden(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _fail_if_forbidden(report)


def _fail_if_forbidden(report: _Report) -> _Report:
    expected_failure = hasattr(report, "wasxfail")
    if report.skipped and not expected_failure and os.environ.get("PBEM_TEST_NO_SKIP") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped where skipping is forbidden: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The reason of a skip; pytest keeps it as (file, line, reason)."""
    location = report.longrepr
    reason = location[2] if isinstance(location, tuple) else str(location)
    return reason.removeprefix("Skipped: ").removeprefix("Skipped") or "no reason given"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    if hasattr(terminalreporter.config, "workerinput"):
        # A process of xdist has run some of the tests, and knows nothing of the others.
        return
    _print_skipped(terminalreporter)
    _print_seed(terminalreporter)
    # What a test notes before its end is in the report of its last part.
    ended = [report for report in terminalreporter.getreports("") if report.when == "teardown"]
    noted = (each for report in ended for each in report.user_properties)
    figures.note(noted, passed=exitstatus == pytest.ExitCode.OK)


def _print_skipped(out: pytest.TerminalReporter) -> None:
    left_out: dict[str, list[str]] = defaultdict(list)
    for report in out.getreports("skipped"):
        left_out[_reason(report)].append(report.nodeid)
    if not left_out:
        return
    total = sum(map(len, left_out.values()))
    out.section(f"NOT RUN: {total}", sep="!", yellow=True, bold=True)
    for reason, nodes in sorted(left_out.items()):
        out.line(f"{reason}: {len(nodes)}", yellow=True)
        for node in sorted(nodes):
            out.line(f"    {node}")
    out.line("PBEM_TEST_NO_SKIP=1 turns every one of these into a failure.")


def _print_seed(out: pytest.TerminalReporter) -> None:
    broken = [*out.getreports("failed"), *out.getreports("error")]
    seed = getattr(out.config.option, "randomly_seed", None)
    if not broken or not isinstance(seed, int):
        return
    files = sorted({report.nodeid.split("::")[0] for report in broken})
    out.section("TO REPEAT", sep="-")
    out.line(f".venv/bin/pytest -p no:xdist -p randomly --randomly-seed={seed} {' '.join(files)}")
