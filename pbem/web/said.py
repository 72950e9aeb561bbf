"""Moments and places as a page says them."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from engine.game import Game, Standing
from engine.tell import Teller, say
from pbem.domain.duration import spoken
from pbem.domain.pace import PerDecision, parse_pace
from pbem.domain.phrase import from_now, said
from pbem.service.looks import Look, Offered, Told


def deadline(found: Look | Offered, now: datetime) -> str:
    """Until when somebody may decide."""
    if found.paused:
        return "The table is paused, so no clock runs."
    if found.due_at is not None:
        return f"Decide until {moment(found.due_at, found.zone, now)}."
    if found.promised_at is not None:
        return (
            f"Decide until {moment(found.promised_at, found.zone, now)}, or later if the mail about this turn is late."
        )
    return "Your clock has not started: the mail about this turn is still on its way."


def moment(at: datetime, zone: ZoneInfo, now: datetime) -> str:
    """A moment in words, absolute and from now."""
    return f"{said(at, zone)} ({from_now(now, at)})"


def pace(text: str) -> str:
    """The pace of a table in words."""
    agreed = parse_pace(text)
    return spoken(agreed.allowed) if isinstance(agreed, PerDecision) else text


def table(title: str, rules: Game[Any]) -> str:
    """A table by its name and its game, once where they are the same."""
    return title if title == rules.title else f"{title} · {rules.title}"


def story(told: tuple[Told, ...], teller: Teller) -> list[str]:
    """What happened, a sentence each."""
    sentences = (teller.tell(each) for entry in told for each in entry.facts)
    return [sentence for sentence in sentences if sentence]


def places(standing: Standing, teller: Teller) -> list[tuple[int, str, int]]:
    """The final ranking: the place, who has it, and the score."""
    found, place = [], 1
    for tied in standing.ranking:
        players = teller(say("{seats:seats}", seats=tied))
        found.append((place, players[:1].upper() + players[1:], standing.scores[tied[0]]))
        place += len(tied)
    return found
