"""The ways in by which the mail server beside us hands mails over: a port that speaks LMTP, and a pipe.

Both keep a mail and do nothing about it: whoever works on this server deals with it within seconds. So a mail server gets
its answer at once, and what it was told is kept is kept.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from pbem.config import Config
from pbem.domain.errors import BadInput, Forbidden
from pbem.mail.lmtp import Lmtp
from pbem.ops.opening import house_on, must_be_there, opened_store
from pbem.service import incoming
from pbem.service.house import House
from pbem.store.database import Store


@contextmanager
def taking_mails(house: House, config: Config) -> Iterator[None]:
    """Take mails by LMTP for a while, where the settings name a port and answers are read."""
    if not config.inbound.replies or not config.inbound.lmtp_port:
        yield
        return
    listening = _lmtp(house, config)
    listening.start()
    try:
        yield
    finally:
        listening.stop()


def serve(config: Config, say: Callable[[str], None]) -> None:
    """Take mails by LMTP until told to stop, and nothing else."""
    must_be_there(config)
    if Store.file_of(config.database_url) is not None:
        raise Forbidden(
            "On SQLite the server takes mails itself.",
            why="One process at a time can use the file.",
            remedy="Run `pbem serve` with PBEM_INBOUND_REPLIES=yes, or use PostgreSQL.",
        )
    if not config.inbound.lmtp_port:
        raise BadInput("There is no port to take mails on.", remedy="Name one: PBEM_INBOUND_LMTP_PORT=8024")
    with opened_store(config) as store:
        listening = _lmtp(house_on(store, config), config)
        told = threading.Event()

        def stop(_signal: int, _frame: FrameType | None) -> None:
            told.set()

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        listening.start()
        say(f"Taking mails by LMTP at {listening.host}, port {listening.port}. Stop it with Ctrl-C.")
        try:
            told.wait()
        finally:
            listening.stop()
            for number, handler in before.items():
                signal.signal(number, handler)


def take_one(config: Config, envelope_from: str, envelope_to: str, raw: bytes) -> None:
    """Keep one mail; raises if it cannot be kept."""
    with opened_store(config) as store:
        house = house_on(store, config)
        incoming.receive(house, incoming.letterbox_of(config), envelope_from, envelope_to, raw)


def _lmtp(house: House, config: Config) -> Lmtp:
    box, inbound = incoming.letterbox_of(config), config.inbound

    def take(envelope_from: str, envelope_to: str, raw: bytes) -> None:
        incoming.receive(house, box, envelope_from, envelope_to, raw)

    return Lmtp(inbound.lmtp_host, inbound.lmtp_port, box.most_bytes, take)
