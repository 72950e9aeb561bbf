"""What the host of a tournament can change: invite, pause, extend, correct, take someone out, call it off.

Everyone who takes part is told of what changes their time or their place. A correction changes the standings, and never the
tables of rounds that have opened since.
"""

import json
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final

from pbem.domain.errors import BadInput, NotFound, Stale, TooMany
from pbem.domain.states import EntrantStatus, TournamentStatus
from pbem.domain.user_text import parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.server import Server
from pbem.service.tournaments import sign_up, winners
from pbem.service.tournaments.new import LONGEST_SIGN_UP
from pbem.service.tournaments.plans import seats_of
from pbem.store import tournaments
from pbem.store.database import Tx
from pbem.store.schema import EntrantRow, TournamentRow

MOST_DAYS: Final = 90
"""How many days a round can be given from now on."""

MOST_CORRECTIONS: Final = 10
"""Corrections of one table: everyone there is told of each, and all are listed."""

_CURRENT: Final = (TournamentStatus.OPEN, TournamentStatus.PLAYING)


def pause(tx: Tx, server: Server, tournament_id: int, host_id: int) -> None:
    """Pause: no round opens, and none is late. Games go on. Doing it again changes nothing."""
    row = _lock(tx, tournament_id, host_id)
    if row.paused_at is None:
        tournaments.change(tx, row.id, paused_at=server.now())
        _tell_all(tx, server, row, "paused")


def resume(tx: Tx, server: Server, tournament_id: int, host_id: int) -> None:
    """Go on after a pause: sign-up and the round last longer by it."""
    row = _lock(tx, tournament_id, host_id)
    if row.paused_at is None:
        return
    # A clock that was set back meanwhile brings nothing forward.
    paused = max(server.now() - row.paused_at, timedelta(0))
    later: dict[str, object] = {"paused_at": None, "closes_at": row.closes_at + paused}
    if row.status == TournamentStatus.PLAYING:
        later = {"paused_at": None, "due_at": None if row.due_at is None else row.due_at + paused}
    tournaments.change(tx, row.id, **later)
    _tell_all(tx, server, row, "resumed")


def extend(tx: Tx, server: Server, tournament_id: int, host_id: int, days: int) -> None:
    """Give sign-up, or the round, more days, but no more than either may have from now on."""
    row = _lock(tx, tournament_id, host_id)
    if not 1 <= days <= MOST_DAYS:
        raise BadInput(_("%(days)s days won't work.", days=days), why=_("Choose from 1 to %(most)s.", most=MOST_DAYS))
    if row.status == TournamentStatus.OPEN:
        later = row.closes_at + timedelta(days=days)
        _must_be_within(server, later, LONGEST_SIGN_UP)
        tournaments.change(tx, row.id, closes_at=later)
    elif row.due_at is None:
        raise Stale(_("This round is being finished by bots."), remedy=_("Nothing changed."))
    else:
        later = row.due_at + timedelta(days=days)
        _must_be_within(server, later, timedelta(days=MOST_DAYS))
        tournaments.change(tx, row.id, due_at=later)
    _tell_all(tx, server, row, "extended", days=days)


def correct(
    tx: Tx,
    server: Server,
    tournament_id: int,
    host_id: int,
    round_number: int,
    table: int,
    places: tuple[int, ...],
    reason: str,
) -> None:
    """Correct the places at a table that has ended, with a reason that everyone can read; also when the tournament is over."""
    row = _lock(tx, tournament_id, host_id, (*_CURRENT, TournamentStatus.OVER))
    reason = links.without_tokens(tx, server, parse_reason(reason))
    found = next(
        (each for each in tournaments.tables(tx, row.id) if (each.round, each.number) == (round_number, table)), None
    )
    if found is None:
        raise NotFound(_("There's no such table in this tournament."))
    if found.places is None:
        raise Stale(_("This table isn't over yet."), remedy=_("Correct its result once it is."))
    seats = seats_of(found)
    # Their number first: comparing each with all others takes long for many.
    if len(places) != len(seats) or list(places) != [1 + sum(other < each for other in places) for each in places]:
        raise BadInput(
            _("These places don't fit together."),
            why=_("Give each player a place from 1. After a tie, places are skipped: 1, 2, 2, 4."),
        )
    if len(json.loads(found.corrections)) >= MOST_CORRECTIONS:
        raise TooMany(
            _("This result has been corrected %(most)s times.", most=MOST_CORRECTIONS), remedy=_("It stays as it is.")
        )
    corrections = [*json.loads(found.corrections), {"in": row.round, "places": list(places), "reason": reason}]
    tournaments.change_table(tx, found, corrections=json.dumps(corrections))
    if row.status == TournamentStatus.OVER:
        winners.note(tx, row)
    at_table = [each for each in tournaments.entrants(tx, row.id) if each.number in seats]
    sign_up.tell(tx, server, row, at_table, "corrected", in_round=round_number, table=table, reason=reason)


def remove(tx: Tx, server: Server, tournament_id: int, host_id: int, number: int, reason: str) -> None:
    """Take an entrant out, from the next round on, and tell them why."""
    row = _lock(tx, tournament_id, host_id)
    reason = links.without_tokens(tx, server, parse_reason(reason))
    entrant = next((each for each in tournaments.entrants(tx, row.id) if each.number == number), None)
    if entrant is None:
        raise NotFound(_("There's no such player in this tournament."))
    if entrant.status in (EntrantStatus.IN, EntrantStatus.WAITING):
        sign_up.drop(tx, server, row, entrant, EntrantStatus.REMOVED)
        sign_up.tell(tx, server, row, [entrant], "removed", reason=reason)


def seed(tx: Tx, server: Server, tournament_id: int, host_id: int, places: Mapping[int, int]) -> None:
    """Put the entrants in order, from the strongest, by a number for each; until sign-up ends. Nobody is told."""
    row = _lock(tx, tournament_id, host_id)
    if row.status != TournamentStatus.OPEN or row.seeding != "hand":
        raise Stale(_("The seeding can't change now."), remedy=_("Nothing changed."))
    present = [each.number for each in tournaments.entrants(tx, row.id) if each.status == EntrantStatus.IN]
    given = [places[each] for each in present if each in places]
    if len(set(given)) < len(given):
        twice = next(each for each in given if given.count(each) > 1)
        raise BadInput(_("Two players have the number %(number)s.", number=twice), remedy=_("Give each another one."))
    order = sorted((each for each in present if each in places), key=lambda each: places[each])
    tournaments.change(tx, row.id, seeds=json.dumps(order))


def call_off(tx: Tx, server: Server, tournament_id: int, host_id: int, reason: str) -> None:
    """End a tournament without a winner. Games that have begun go on."""
    row = _lock(tx, tournament_id, host_id)
    reason = links.without_tokens(tx, server, parse_reason(reason))
    tournaments.change(tx, row.id, status=TournamentStatus.CALLED_OFF, ended_at=server.now(), due_at=None)
    _tell_all(tx, server, row, "called off", reason=reason)


def _must_be_within(server: Server, later: datetime, longest: timedelta) -> None:
    if later > server.now() + longest:
        raise BadInput(
            _("That would be too long."), why=_("It must end within the next %(days)s days.", days=longest.days)
        )


def _lock(tx: Tx, tournament_id: int, host_id: int, statuses: Collection[TournamentStatus] = _CURRENT) -> TournamentRow:
    row = tournaments.lock(tx, tournament_id)
    sign_up.must_host(row, host_id)
    if row.status not in statuses:
        raise Stale(_("This tournament is over."), remedy=_("Nothing changed."))
    return row


def _tell_all(tx: Tx, server: Server, row: TournamentRow, what: str, **facts: object) -> None:
    """Tell everyone who takes part or waits, and those who have left but still play in this round."""
    playing = {each for table in tournaments.tables(tx, row.id) if table.round == row.round for each in seats_of(table)}
    current: list[EntrantRow] = [
        each
        for each in tournaments.entrants(tx, row.id)
        if each.status in (EntrantStatus.IN, EntrantStatus.WAITING) or each.number in playing
    ]
    sign_up.tell(tx, server, row, current, what, **facts)
