"""Deadlines, moments and events, as pages say them."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from pbem.domain.causes import TurnFacts, tell_turn
from pbem.domain.duration import duration_text
from pbem.domain.former_players import TellerIn
from pbem.domain.moments import day_text, moment_text, relative_text, short_moment_text
from pbem.service.play.seat_view import OfferedChoice, SeatView


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
    return [sentence for turn in turns for sentence in tell_turn(turn, teller_in(turn.turn))]
