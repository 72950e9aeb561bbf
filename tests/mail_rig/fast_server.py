"""The real `pbem`, but fast and verbose: `python -m tests.mail_rig.fast_server serve`.

Its worker sends and reads emails and plays bots ten times a second, so that a game of a hundred turns takes half a minute,
and it logs everything that any library can log, so that a token in any log would be found. Days pass for it in seconds, if a test
says so in the file `passed`: its clocks go ahead, a heartbeat after each few minutes. If the file `push` names a port,
push services are there. All else is as in any server.
"""

import logging
import sys
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO
from unittest.mock import patch

from pbem import clock, program_log
from pbem.cli import main
from pbem.domain.outage import LONGEST_GAP
from pbem.service.outgoing import channel_delivery
from pbem.worker import loop, ticks
from pbem.worker.ticks import WorkerContext

EVERY = {"beat": 0.2, "deliver": 0.1, "receive": 0.1, "bots": 0.1, "time_outs": 0.2, "tournaments": 0.2}
"""Seconds between two looks, where others wait longer."""

PASSED = Path("passed")
"""How many seconds are to have passed beyond those that did."""

LIVED = Path("lived")
"""How many of them have passed."""

PUSH = Path("push")
"""The port of the push service, if a test has one."""

_STRIDE = LONGEST_GAP * 0.9


@dataclass
class _Ahead:
    """How far this server's clocks are ahead of the machine's: the one that can be set, and the steady one."""

    by: timedelta = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.by

    def steady(self) -> float:
        return time.monotonic() + self.by.total_seconds()

    def beat(self, context: WorkerContext) -> None:
        """A heartbeat, and one after each stride until as much time has passed as the test wants."""
        ticks.beat(context)
        while self.by < _to_pass() and not context.stopping.is_set():
            self.by = min(self.by + _STRIDE, _to_pass())
            ticks.beat(context)
        LIVED.write_text(str(self.by.total_seconds()))


def _to_pass() -> timedelta:
    with suppress(FileNotFoundError, ValueError):
        return timedelta(seconds=float(PASSED.read_text()))
    return timedelta(0)


def _push_services() -> AbstractContextManager[object]:
    """Leads the one HTTP client to the push service of a test."""
    if not PUSH.exists():
        return nullcontext()
    # It brings a browser along.
    from tests.channels.push_service import client_of

    here = client_of(int(PUSH.read_text()))
    return patch.object(channel_delivery, "Client", lambda *_rules, **_named: here)


_configure = program_log.configure


def _say_everything(stream: TextIO = sys.stdout, _level: int = 0, *, structured: bool | None = None) -> None:
    _configure(stream, logging.DEBUG, structured=structured)


if __name__ == "__main__":
    # It has its own switch: every statement, with its parameters.
    logging.getLogger("sqlalchemy.engine").setLevel(logging.INFO)
    ahead = _Ahead()
    hasty = tuple(replace(tick, every=EVERY.get(tick.name, tick.every)) for tick in ticks.TICKS)
    hasty = tuple(replace(tick, do=ahead.beat) if tick.name == "beat" else tick for tick in hasty)
    with (
        _push_services(),
        patch.object(loop, "TICKS", hasty),
        patch.object(program_log, "configure", _say_everything),
        patch.object(clock.SystemClock, "now", ahead.now),
        patch.object(clock.StepWatch.__init__, "__defaults__", (ahead.steady,)),
    ):
        main()
