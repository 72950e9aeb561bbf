"""Free ports, for servers that must know theirs before they start.

No other process may take the port between the choice and the start, nor while its server is down between two starts.
Ports that the system assigns, such as those of outgoing connections, begin at 32768 (`ip_local_port_range`), so these are
below; and each is locked against the tests of every other process, of another checkout too, until this one ends.
"""

import fcntl
import os
import socket
import tempfile
from pathlib import Path
from random import SystemRandom

_LOCKS = Path(tempfile.gettempdir()) / f"pbem-test-ports-{os.getuid()}"
_left = list(range(10_000, 32_768))
SystemRandom().shuffle(_left)
_locked: list[int] = []
"""The open files of the locks."""


def free_port() -> int:
    """A port on which nobody listens."""
    _LOCKS.mkdir(exist_ok=True)
    while True:
        port = _left.pop()
        lock = os.open(_LOCKS / f"{port}", os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as door:
                door.bind(("127.0.0.1", port))
        except OSError:
            os.close(lock)
            continue
        _locked.append(lock)
        return port
