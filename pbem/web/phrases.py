"""Deadlines, moments and events, as pages say them."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from engine.facts import Fact
from engine.tell import Teller
from pbem.domain.causes import TurnFacts, tell_turn
from pbem.domain.duration import duration_text
from pbem.domain.former_players import TellerIn
from pbem.domain.moments import day_text, moment_text, relative_text, short_moment_text
from pbem.i18n import speech
from pbem.lru import LRU
from pbem.service.play.seat_view import OfferedChoice, SeatView

MOST_SENTENCES: Final = 2000
"""Sentences that are kept; each has about a hundred letters."""

_SENTENCES: Final[LRU[str]] = LRU(MOST_SENTENCES)


@dataclass(frozen=True, slots=True)
class Deadline:
    """The deadline of a decision. `kind` is paused, due, promised or waiting; the moment is empty for paused and waiting.

    `at` is the moment in words, `away` how far off it is, `written` the moment for programs, and `short` the one for phones;
    `bank` is what is left in the player's bank, empty without one.
    """

    kind: str
    at: str = ""
    away: str = ""
    written: str = ""
    short: str = ""
    bank: str = ""


def deadline(found: SeatView | OfferedChoice, now: datetime, bank: timedelta | None = None) -> Deadline:
    """The deadline of a seat, with what is left in its bank, or of the one choice of a link. The page has the sentences."""
    left = "" if bank is None else duration_text(bank)
    if found.paused:
        return Deadline("paused", bank=left)
    at = found.due_at or found.promised_at
    if at is None:
        return Deadline("waiting", bank=left)
    kind = "due" if found.due_at else "promised"
    written = at.astimezone(UTC).isoformat(timespec="minutes")
    local = moment_text(at, found.zone), relative_text(now, at), written, short_moment_text(at, found.zone)
    return Deadline(kind, *local, bank=left)


def moment(at: datetime, zone: ZoneInfo, now: datetime) -> str:
    """A moment in words, with how far off it is."""
    return f"{moment_text(at, zone)} ({relative_text(now, at)})"


def utc(at: datetime | str) -> str:
    """A moment in words in UTC, also as a record has it."""
    return moment_text(datetime.fromisoformat(at) if isinstance(at, str) else at, ZoneInfo("UTC"))


def day(at: date) -> str:
    """A day in words: of a moment, the one in UTC."""
    return day_text(at.astimezone(UTC).date() if isinstance(at, datetime) else at)


def story(turns: tuple[TurnFacts, ...], teller_in: TellerIn) -> list[str]:
    """What happened, a sentence for each event, told by the teller of its turn."""
    tellers = ((turn, teller_in(turn.turn)) for turn in turns)
    return [sentence for turn, teller in tellers for sentence in tell_turn(turn, teller, partial(_sentence, teller))]


def _sentence(teller: Teller, fact: Fact[Any]) -> str | None:
    """What a fact says to this teller's readers. Each look at a table tells most of what the last one told."""
    key = fact, teller.voice, speech.language()
    try:
        known = _SENTENCES.get(key)
    except TypeError:
        # A fact of another package's game may have something in it that can't be looked up, such as a dictionary.
        return teller.tell(fact)
    return (_SENTENCES.put(key, teller.tell(fact) or "") if known is None else known) or None
