"""The real `pbem`, but fast and verbose: `python -m tests.mail_rig.fast_server serve`.

Its worker sends and reads emails and plays bots ten times a second, so that a game of a hundred turns takes half a minute,
and it logs everything that any library can log, so that a token in any log would be found. All else is as in any server.
"""

import logging
import sys
from dataclasses import replace
from typing import TextIO
from unittest.mock import patch

from pbem import program_log
from pbem.cli import main
from pbem.worker import loop, ticks

EVERY = {"deliver": 0.1, "receive": 0.1, "bots": 0.1}
"""Seconds between two looks, where others wait longer."""

_configure = program_log.configure


def _say_everything(stream: TextIO = sys.stdout, _level: int = 0, *, structured: bool | None = None) -> None:
    _configure(stream, logging.DEBUG, structured=structured)


if __name__ == "__main__":
    # It has its own switch: every statement, with its parameters.
    logging.getLogger("sqlalchemy.engine").setLevel(logging.INFO)
    hasty = tuple(replace(tick, every=EVERY.get(tick.name, tick.every)) for tick in ticks.TICKS)
    with patch.object(loop, "TICKS", hasty), patch.object(program_log, "configure", _say_everything):
        main()
