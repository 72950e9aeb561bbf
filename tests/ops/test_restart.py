"""Restarting one machine of two behind nginx, by the lines of the handbook's page, while people look and move: nobody notices.

Two gunicorns, a worker, PostgreSQL and nginx are real processes. Every request is a connection of its own.
"""

import os
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest

from pbem.domain.choice_links import choice_segment
from pbem.service.play.changes import MOST
from tests.crash.nodes import Node
from tests.handbook.test_running import with_what_is_here
from tests.mail.sink import Sink
from tests.ops.processes import WAIT
from tests.ops.test_several_machines import SITE, Machine, begin, database, in_front, is_ready, lines, nginx, relay
from tests.service.running_game import RunningGame
from tests.waiting import until
from tests.web.browser import Links

__all__ = ["database", "relay"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgresql,
    pytest.mark.needs("nginx", "curl"),
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore:Requiring AUTH"),
]

ENOUGH = 10
"""Answers to each kind of request, in each state of the machines."""

BREATH = 0.02
"""Seconds between two requests of one person, so that the machines have time to stop and start."""


CHANGES: Final = MOST // 5
"""How often each player changes a choice in each state: there are five, and in one turn nobody may change it more than MOST times."""


class Visitors:
    """Someone who opens pages without end, and two players who change a choice and repeat it, each in a thread."""

    def __init__(self, port: int, game: RunningGame) -> None:
        self.answers: Counter[tuple[str, object, str]] = Counter()
        self.state = "both"
        self._port = port
        self._stopped = threading.Event()
        links = Links(game.server)
        ways = [partial(self._ask, "GET", ["/", f"/s/{links.of(game, 0)[1]}"])]
        for seat in range(2):
            move = links.of(game, seat)[0]
            choices = game.open()[seat].choices(2)
            ways.append(partial(self._ask, "POST", [f"/m/{move}/{choice_segment(each)}" for each in choices]))
        self._threads = [threading.Thread(target=way) for way in ways]

    @contextmanager
    def at_it(self) -> Iterator[None]:
        """Let them ask until the end of the block."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in self._threads:
                thread.join()

    def are_served(self) -> None:
        """Wait until many more requests of each kind are answered."""
        before = self._served()
        until(lambda: all(now - then >= ENOUGH for now, then in zip(self._served(), before, strict=True)), "answers")

    def _served(self) -> list[int]:
        return [sum(times for (asked, *_), times in self.answers.items() if asked == how) for how in ("GET", "POST")]

    def _ask(self, method: str, paths: list[str]) -> None:
        number, asked = 0, Counter[str]()
        while not self._stopped.wait(BREATH):
            state = self.state
            number += method == "GET" or asked[state] < CHANGES
            asked[state] += 1
            self.answers[method, self._answer(method, paths[number % len(paths)]), state] += 1

    def _answer(self, method: str, path: str) -> object:
        """The status, or the name of what went wrong."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        headers = {"Host": SITE, "Content-Type": "application/x-www-form-urlencoded", "Connection": "close"}
        try:
            connection.request(method, path, urlencode({"press": "yes"}) if method == "POST" else None, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, HTTPException) as error:
            return type(error).__name__
        finally:
            connection.close()


def test_no_request_fails_while_each_of_two_machines_is_restarted(
    tmp_path: Path, database: Node, relay: Sink, tool: Callable[[str], str]
) -> None:
    first, second = machines = [Machine(tmp_path, number, database.ports["db1"], relay.port) for number in (1, 2)]
    first.does(lines("On the first machine."))
    (second.root / "keys").write_bytes((first.data / "keys").read_bytes())
    second.does(lines("On every other machine, with the keys of the first in this folder."))
    port, command = nginx(tmp_path, machines, tool)
    with ExitStack() as stack:
        running = {
            machine: [machine.starts(unit, stack) for unit in ("pbem-web", "pbem-worker")] for machine in machines
        }
        for machine in machines:
            for admin in machine.admin.values():
                until(partial(is_ready, admin), "it is ready")
        stack.enter_context(in_front(tmp_path, command))
        game = begin(first, "sunset-poker", ("ann", "ben", "carla"))
        visitors = Visitors(port, game)
        with visitors.at_it():
            visitors.are_served()
            for number, machine in enumerate(machines, start=11):
                visitors.state = f"without {number}"
                _front_does("On the nginx machine, before you restart 10.0.0.11.", number, machine, command)
                for process in running[machine]:
                    assert process.stop() == 0
                visitors.are_served()
                running[machine] = [machine.starts(unit, stack) for unit in ("pbem-web", "pbem-worker")]
                machine.does(lines("On the machine you're restarting."))
                assert "restart pbem-worker pbem-web" in (machine.root / "services").read_text()
                _front_does("On the nginx machine, after that.", number, machine, command)
                visitors.state = f"with {number} again"
                visitors.are_served()
    assert {answer[:2] for answer in visitors.answers} == {("GET", 200), ("POST", 303)}, visitors.answers
    assert game.verifies()
    game.server.store.close()


def _front_does(heading: str, number: int, machine: Machine, command: list[str]) -> None:
    """Run lines of the page on the machine of nginx, about one of the two others."""
    folder = command[2]
    systemctl = Path(folder) / "systemctl"
    systemctl.write_text(f'#!/bin/sh\n[ "$*" = "reload nginx" ] && exec {" ".join(command)} -s reload\n')
    systemctl.chmod(0o755)
    commands = with_what_is_here(
        lines(heading), {"10.0.0.11:8000": f"127.0.0.1:{machine.port}", "/etc/nginx/conf.d/": f"{folder}/"}
    )
    # Another test may run another nginx.
    commands = commands.replace("-f 'nginx: worker process'", f"-P $(cat {folder}/pid)")
    before = Path(folder, "pbem-upstream.conf").read_text()
    environ = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-e"], input=commands, env=environ, text=True, check=True, timeout=WAIT)
    assert Path(folder, "pbem-upstream.conf").read_text() != before, number
