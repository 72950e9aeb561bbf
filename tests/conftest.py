"""What every test can rely on: its limits, what it needs, and a loud end.

Three promises live here, and tests/test_suite.py keeps them honest:

- a program that a test needs and that is not on this machine is named at the end of the run, with
  the way to get it; nothing is left out silently;
- with PBEM_TEST_NO_SKIP=1 every skip of any kind is a failure, so continuous integration cannot
  pass by leaving something out;
- whatever fails, the seed of the random order is printed with the command that repeats the run.

Sockets reach this machine only, warnings are errors and the order is random: pyproject.toml says so.
"""

from __future__ import annotations

import gc
import logging
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar

import pytest
import structlog
from _pytest.nodeid import NodeId
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Nothing is timed in a test, and neither may a slow machine fail one.
settings.register_profile("full", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", parent=settings.get_profile("full"), max_examples=20)
settings.register_profile("thorough", parent=settings.get_profile("full"), max_examples=2000)
settings.load_profile("full")

# What structlog does with events unless it is told otherwise, with plain traces.
_PROCESSORS = [
    *structlog.get_config()["processors"][:-1],
    structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
]

_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)


@dataclass(frozen=True)
class Tool:
    """A program that some tests need: the names it goes by, and how to get it."""

    commands: tuple[str, ...]
    get: str


TOOLS = {
    "caddy": Tool(("caddy",), "apt-get install caddy"),
    "chromium": Tool(("chromium", "chromium-browser", "google-chrome"), "apt-get install chromium"),
    "curl": Tool(("curl",), "apt-get install curl"),
    "dnsmasq": Tool(("dnsmasq",), "apt-get install dnsmasq-base"),
    "dovecot": Tool(("dovecot",), "apt-get install dovecot-imapd dovecot-lmtpd dovecot-sieve"),
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
}

# Debian keeps servers where the PATH of an ordinary account does not look.
_PLACES = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"))


def find_tool(name: str) -> str | None:
    """Return where a tool of TOOLS is on this machine, or None."""
    if name not in TOOLS:
        pytest.fail(f"needs({name!r}): not in TOOLS of tests/conftest.py; add it", pytrace=False)
    found = (shutil.which(command, path=_PLACES) for command in TOOLS[name].commands)
    return next((path for path in found if path), None)


@pytest.fixture
def tool() -> Callable[[str], str]:
    """Return the path of a tool, or skip the test: for those that find out late what they need."""

    def path_of(name: str) -> str:
        return find_tool(name) or _skip_for(name)

    return path_of


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A real browser, which no test of another module may find running."""
    # Nobody else has to wait for what drives it.
    from tests.chromium import running

    with running() as started:
        yield started


@pytest.fixture(autouse=True)
def log_as_it_was() -> Iterator[None]:
    """Let no test hear events in the way that an earlier one has set, and let none paint pictures of what went wrong."""
    handlers, level = logging.root.handlers[:], logging.root.level
    # Where rich is installed structlog draws each trace with all its values in frames: most of what a test would do
    # in which many things go wrong.
    structlog.configure(processors=_PROCESSORS)
    yield
    logging.root.handlers[:], logging.root.level = handlers, level
    structlog.reset_defaults()


def pytest_runtest_setup(item: pytest.Item) -> None:
    names = [name for mark in item.iter_markers("needs") for name in mark.args]
    missing = [name for name in names if find_tool(name) is None]
    if missing:
        _skip_for(*missing)


def _skip_for(*names: str) -> NoReturn:
    pytest.skip("; ".join(f"needs {name} ({TOOLS[name].get})" for name in names))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no process ends the run with it while the others have nothing left to do.

    And name in each test's id the group that one process runs, by which xdist deals them out. xdist 3.8 does so itself,
    in an attribute that pytest 9.2 no longer reads.
    """
    if not config.getoption("loadgroup", default=False):
        return
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        for mark in item.iter_markers("xdist_group"):
            item._id = NodeId.parse(f"{item.nodeid}@{mark.args[0]}")


# With skipping forbidden, a skip is a failure: of a test, of a module, by mark or by call.


def pytest_collection_finish() -> None:
    # What has been loaded stays to the end, and is a lot to look through again and again for what nobody needs any more.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _unless_forbidden(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _unless_forbidden(report)


def _unless_forbidden(report: _Report) -> _Report:
    expected_failure = hasattr(report, "wasxfail")
    if report.skipped and not expected_failure and os.environ.get("PBEM_TEST_NO_SKIP") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped where skipping is forbidden: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why something was skipped; pytest keeps it as (file, line, reason)."""
    told = report.longrepr
    reason = told[2] if isinstance(told, tuple) else str(told)
    return reason.removeprefix("Skipped: ").removeprefix("Skipped") or "no reason given"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    _tell_what_was_not_run(terminalreporter)
    _tell_how_to_repeat(terminalreporter)


def _tell_what_was_not_run(out: pytest.TerminalReporter) -> None:
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


def _tell_how_to_repeat(out: pytest.TerminalReporter) -> None:
    broken = [*out.getreports("failed"), *out.getreports("error")]
    seed = getattr(out.config.option, "randomly_seed", None)
    if not broken or not isinstance(seed, int):
        return
    files = sorted({report.nodeid.split("::")[0] for report in broken})
    out.section("TO REPEAT", sep="-")
    out.line(f".venv/bin/pytest -p no:xdist -p randomly --randomly-seed={seed} {' '.join(files)}")
