"""`make audit` says that all is well only if it has asked about something, and got an answer about all of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LOCKED = "markupsafe==3.0.3 --hash=sha256:" + "0" * 64 + "\n"

ASK = """
import sys
import requests
from pip_audit._cli import audit

def answer(session, *_, **__):
    found = requests.Response()
    found.status_code, found._content = STATUS, b'{"vulnerabilities": []}'
    return found

requests.Session.get = answer
audit()
"""


def commands() -> list[str]:
    """What `make audit` runs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    shown = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "--old-file=.venv/.dev-ready", "audit"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return shown.stdout.splitlines()


@pytest.fixture
def asked(tmp_path):
    """asked(lock, status) -> whether an audit of a lock passes where the service answers with this status."""

    def run(lock: str, status: int) -> bool:
        (tmp_path / "requirements.lock").write_text(lock)
        done: list[subprocess.CompletedProcess[str]] = []
        for command in commands():
            if "pip-audit" in command:
                words = command.partition("pip-audit ")[2].split()
                audit = [sys.executable, "-c", ASK.replace("STATUS", str(status)), *words, "--cache-dir", str(tmp_path)]
                done.append(subprocess.run(audit, check=False, cwd=tmp_path, capture_output=True, text=True))
            elif re.match(r"grep\b", command):
                done.append(subprocess.run(command.split(), check=False, cwd=tmp_path, text=True))
        assert done
        return not any(each.returncode for each in done)

    return run


def test_an_audit_that_could_ask_about_everything_passes(asked):
    assert asked(LOCKED, 200)


def test_an_audit_of_packages_that_the_service_does_not_know_fails(asked):
    assert not asked(LOCKED, 404)


def test_an_audit_of_nothing_fails(asked):
    assert not asked("", 200)
