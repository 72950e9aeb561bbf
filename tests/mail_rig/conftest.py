"""The rig, started once for each test process; servers in it, and people with mailboxes."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest

from tests.mail_rig.mailbox import Mailbox
from tests.mail_rig.rig import SITE_DOMAIN, Rig
from tests.mail_rig.site import Site


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    """Real mail software on loopback."""
    if os.geteuid() != 0:
        pytest.skip("needs root (run the tests as root, in a container or a virtual machine)")
    started = Rig()
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="session")
def mailbox(rig: Rig) -> Iterator[Callable[[str], Mailbox]]:
    """Return a new empty mailbox with about that name: mailbox("anna")."""
    numbers = count(1)
    with ExitStack() as opened:
        yield lambda name: opened.enter_context(rig.mailbox(f"{name}{next(numbers)}"))


@pytest.fixture(scope="session")
def site(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Site]:
    """Make a server in the rig: site(PBEM_MAIL_HOLD="60"). Only one at a time can run for a domain."""

    def make(domain: str = SITE_DOMAIN, **settings: Any) -> Site:
        # Emails for an earlier server are not for this one.
        rig.forget()
        return Site(rig, tmp_path_factory.mktemp("site"), domain, **settings)

    return make
