"""What emails about a tournament say: the invitation to sign up, and what is new in it for its reader."""

import json
from fractions import Fraction
from typing import Any, Final

from pbem.domain.invitation_replies import ACCEPT_AS
from pbem.domain.pace import read_pace
from pbem.domain.states import EmailKind
from pbem.domain.tournaments import points
from pbem.domain.tournaments.plan import Plan, TableResult
from pbem.domain.tournaments.words import format_text, points_text
from pbem.domain.week import bound_text, usual_bound
from pbem.i18n import speech
from pbem.mail.write import words
from pbem.mail.write.compose import Letterhead
from pbem.mail.write.words import Words
from pbem.service.play.rules import newest_rules
from pbem.service.tournaments import reading
from pbem.service.tournaments.reading import RoundTable, TournamentPage
from pbem.store import people, tournaments
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow
from pbem.store.schema import TournamentRow

MOST_RANKED: Final = 60
"""Lines of the standings in an email; the page has all of them."""


def tournament_of(tx: Tx, facts: dict[str, Any]) -> TournamentRow | None:
    """The tournament that an email is about; None if it is about none."""
    return None if facts.get("tournament") is None else tournaments.read(tx, facts["tournament"])


def tournament_words(
    tx: Tx, letterhead: Letterhead, email: EmailRow, facts: dict[str, Any], row: TournamentRow
) -> Words:
    """The variables of the templates of these emails."""
    opened = facts.get("round")
    found = reading.page_of(tx, row, opened if facts.get("what") == "round" else None)
    if email.kind == EmailKind.TOURNAMENT:
        return _of_tournament(letterhead, found) | _news(found, email.person_id, facts)
    # What a stranger is sent because someone typed their address has nobody's words in it.
    is_known = people.read(tx, email.person_id).confirmed_at is not None
    return _of_tournament(letterhead, found) | {"accept_as": ACCEPT_AS, "is_named": is_known or bool(facts["host"])}


def _of_tournament(letterhead: Letterhead, found: TournamentPage) -> Words:
    """What everyone may know."""
    summary = found.summary
    row, settings = summary.row, summary.settings
    rules = newest_rules(row.kind)
    return {
        "table": _quoted(row.name),
        "tournament": _quoted(row.name),
        "game": rules.title,
        "about": speech.translate(rules.about),
        "rules": letterhead.rules(row.kind),
        "host": summary.host,
        "page": f"{letterhead.base_url.rstrip('/')}{'' if row.group_id is None else '/my'}/tournaments/{row.key}",
        "format": format_text(summary.plan, summary.rounds),
        "sizes": summary.plan.sizes.allowed,
        "pace": words.pace_text(settings["pace"]),
        "time_off": bound_text(bound) if (bound := usual_bound(read_pace(settings["pace"]))) else "",
        "round_days": row.round_days,
        "late": row.late,
        "fewest": row.fewest,
        "most": row.most,
        "signed_up": summary.signed_up,
        "closes_at": row.closes_at,
        "rated": settings["rated"],
        "season": row.season,
        "commitment": row.commitment,
        "round": row.round,
        "rounds": summary.rounds,
        "due_at": row.due_at,
    }


def _news(found: TournamentPage, person_id: int, facts: dict[str, Any]) -> Words:
    """The reader's own place: the standings, their table in the round that has opened, and how the one before ended."""
    own = found.entry_of(person_id)
    number = 0 if own is None else own.number
    tables = {
        round_.number: table
        for round_ in found.rounds
        for table in round_.tables
        if number in [player.number for player in table.players]
    }
    opened = facts["round"]
    over = opened - 1 if facts["what"] == "round" else opened
    table, before = tables.get(opened), tables.get(over)
    byes = json.loads(found.summary.row.byes)
    return {
        "rests": len(byes) >= opened > 0 and number in byes[opened - 1],
        "own_table": None if table is None else table.number,
        "opponents": [] if table is None else [each.name for each in table.players if each.number != number],
        "last_round": over,
        "last_table": [] if before is None else _result(found.summary.plan, before),
        "winners": found.summary.winners,
        "standings": [
            _line(each.standing.place, each.name, each.standing.points) for each in found.standings[:MOST_RANKED]
        ],
        "more": max(len(found.standings) - MOST_RANKED, 0),
    }


def _result(plan: Plan, table: RoundTable) -> list[Words]:
    """How a table ended, and what each player earned there, the winner first; nothing while it is played."""
    ranks = {each.number: each.place for each in table.ranked if each.place is not None}
    if len(ranks) < len(table.players):
        return []
    earned = points.earned(plan, TableResult(0, table.number, tuple(ranks), tuple(ranks.values())))
    return [_line(ranks[each.number], each.name, earned[each.number]) for each in table.ranked]


def _line(rank: int, name: str, earned: Fraction) -> Words:
    return {"place": rank, "name": name, "score": points_text(earned)}


def _quoted(name: str) -> str:
    """A name in a sentence: in quotes if it ends like a sentence."""
    return name if name[-1].isalnum() else f"“{name}”"
