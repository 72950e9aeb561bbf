"""Child processes for what strangers may have written: with little time and memory, and without our settings and keys."""

import os
import resource
import sys
from typing import Final

CPU: Final = resource.RLIMIT_CPU
MEMORY: Final = resource.RLIMIT_AS


def command(module: str, *words: str) -> list[str]:
    """The command that runs one of our modules, with nothing on its path but what is on ours."""
    return [sys.executable, "-P", "-s", "-m", module, *words]


def environment() -> dict[str, str]:
    """Of our environment, which holds keys and passwords, nothing but where the modules are."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def limit(kind: int, most: int) -> None:
    """Let this process take no more CPU seconds or bytes of memory than this; where less is allowed already, no more than that."""
    _soft, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
