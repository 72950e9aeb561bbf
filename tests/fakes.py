"""A clock, a source of bytes and a language that a test controls."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from gettext import NullTranslations
from typing import Any

from pbem.i18n import speech


class FakeClock:
    """A clock that moves only when it is set or advanced."""

    def __init__(self, now: datetime) -> None:
        self.set(now)

    def now(self) -> datetime:
        """The time it was last set or advanced to, in UTC."""
        return self._now

    def set(self, now: datetime) -> None:
        """Set the clock, also back, as real clocks sometimes are. Raises ValueError for a moment without a time zone."""
        if now.utcoffset() is None:
            raise ValueError(f"{now.isoformat()} has no time zone, so it is not a moment")
        self._now = now.astimezone(UTC)

    def advance(self, by: timedelta) -> datetime:
        """Advance the clock and return the new time. Raises ValueError for a negative step."""
        if by < timedelta(0):
            raise ValueError(f"time does not pass by {by}; use set to step a clock back")
        self._now += by
        return self._now


class SeededRandomness:
    """A source that gives the same bytes for the same seed, so that a simulation can be repeated. It is not secret."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def bytes(self, count: int, /) -> bytes:
        """The next bytes of the seed's stream."""
        return self._source.randbytes(count)

    @property
    def state(self) -> object:
        """How far the stream has come; set it to go back there."""
        return self._source.getstate()

    @state.setter
    def state(self, state: Any) -> None:
        self._source.setstate(state)


@contextmanager
def use_translations(translations: NullTranslations) -> Iterator[None]:
    """Use other translations for a while."""
    before = speech.Language(speech.tag(), speech.language())
    speech.set_server_language(speech.Language(before.tag, translations))
    try:
        yield
    finally:
        speech.set_server_language(before)
