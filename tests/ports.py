"""Ports of this machine for servers that have to be told theirs before they start.

Between the choice and the start, nobody else may get one. What asks the system for any port, as every client does when it
connects, is given one from 32768 on (`ip_local_port_range`), so ours are below; and each process of the tests chooses from
a stripe of its own, and none twice.
"""

import os
import socket
from random import SystemRandom

_PROCESSES = 16
_own = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _PROCESSES
_left = list(range(10_000 + _own, 32_768, _PROCESSES))
SystemRandom().shuffle(_left)


def free_port() -> int:
    """A port on which nobody listens."""
    while True:
        port = _left.pop()
        with socket.socket() as door:
            try:
                door.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
