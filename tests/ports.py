"""Free ports, for servers that must know theirs before they start.

No other process may take the port between the choice and the start. Ports that the system assigns, such as those of outgoing
connections, begin at 32768 (`ip_local_port_range`), so these are below; and each test process chooses from its own range,
and no port twice.
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
