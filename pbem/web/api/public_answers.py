"""The API's answers about what is public, as JSON values. `openapi.json` describes each."""

from fractions import Fraction
from typing import Any

from pbem.domain.game_statistics import Sums, What, numbers_of, of_what, seat_wins
from pbem.domain.pace import read_pace
from pbem.domain.ratings import Rating
from pbem.domain.week import usual_bound
from pbem.service.archive.public_games import PublicGame, PublicSeat
from pbem.service.tournaments.reading import Ranked, Round, RoundTable, TournamentPage, TournamentSummary

Json = dict[str, Any]


def game(each: PublicGame, base_url: str) -> Json:
    """A finished game. The file of a game has its players' talk, so it isn't public; the replay is."""
    return {
        "game": each.key,
        "kind": each.kind,
        "rules": each.rules,
        "title": each.title,
        "rated": each.rated,
        "options": each.options,
        "turns": each.turns,
        "days": each.days,
        "ended_on": each.ended_on.isoformat(),
        "seats": [_seat(seat) for seat in each.seats],
        "tournament": None if each.tournament is None else _of_tournament(*each.tournament),
        "replay": f"{base_url}/t/{each.key}/replay",
    }


def rating(key: str, name: str, found: Rating) -> Json:
    """A rating of a person with a public profile."""
    return {
        "player": key,
        "name": name,
        "rating": found.shown,
        "uncertainty": found.uncertainty,
        "provisional": found.provisional,
        "games": found.games,
    }


def statistics(kind: str, sums: Sums) -> Json:
    """What finished public games say about a kind of game."""
    return {
        "kind": kind,
        "games": sum(of_what(sums, What.PLAYERS).values()),
        "players": _numbers(sums, What.PLAYERS),
        "turns": _numbers(sums, What.TURNS),
        "days": _numbers(sums, What.DAYS),
        "bids": _numbers(sums, What.BID),
        "options": [
            {"option": name, "value": value, "games": count}
            for each, count in sorted(of_what(sums, What.OPTION).items())
            for name, _equals, value in (each.partition("="),)
        ],
        "seats": [
            {"seat": each.seat, "games": each.games, "wins": round(each.wins, 3), "fair": round(each.fair, 3)}
            for each in seat_wins(sums)
        ],
    }


def tournament(summary: TournamentSummary, base_url: str) -> Json:
    """A tournament as lists show it."""
    row = summary.row
    return {
        "tournament": row.key,
        "name": row.name,
        "kind": row.kind,
        "format": summary.plan.format,
        "host": summary.host,
        "status": row.status,
        "paused": row.paused_at is not None,
        "season": row.season,
        "players": summary.signed_up,
        "round": row.round,
        "rounds": summary.rounds,
        "opened_at": row.created_at.isoformat(),
        "sign_up_until": row.closes_at.isoformat(),
        "round_until": None if summary.late_at is None else summary.late_at.isoformat(),
        "ended_at": None if row.ended_at is None else row.ended_at.isoformat(),
        "winners": list(summary.winners),
        "file": f"{base_url}/tournaments/{row.key}/file" if row.seed else None,
    }


def whole_tournament(found: TournamentPage, base_url: str) -> Json:
    """A tournament with its entrants, rounds and standings."""
    summary = found.summary
    return tournament(summary, base_url) | {
        "pace": summary.settings["pace"],
        "time_off": usual_bound(read_pace(summary.settings["pace"])),
        "rated": summary.settings["rated"],
        "options": summary.settings["options"],
        "table_sizes": list(summary.plan.sizes.allowed),
        "entrants": [{"number": each.number, "name": each.name, "status": each.status} for each in found.entrants],
        "played": [_round(each) for each in found.rounds],
        "standings": [_standing(each) for each in found.standings],
    }


def _seat(seat: PublicSeat) -> Json:
    return {
        "name": seat.name,
        "bot": seat.bot,
        "player": None if seat.profile is None else seat.profile.key,
        "place": seat.rank,
        "score": seat.score,
    }


def _of_tournament(key: str, number: int, table: int) -> Json:
    return {"tournament": key, "round": number, "table": table}


def _numbers(sums: Sums, what: What) -> list[Json]:
    return [{"value": value, "count": count} for value, count in numbers_of(sums, what).items()]


def _round(each: Round) -> Json:
    return {"round": each.number, "tables": [_table(table) for table in each.tables], "byes": list(each.byes)}


def _table(table: RoundTable) -> Json:
    return {
        "table": table.number,
        "game": table.key,
        "how": table.how,
        "corrected": list(table.reasons),
        "players": [{"number": each.number, "name": each.name, "place": each.place} for each in table.players],
    }


def _standing(each: Ranked) -> Json:
    line = each.standing
    return {
        "place": line.place,
        "division": line.division,
        "stage": line.stage,
        "number": each.number,
        "name": each.name,
        "points": _exactly(line.points),
        "tie_breaks": [{"name": name, "value": _exactly(value)} for name, value in line.values],
    }


def _exactly(value: Fraction) -> str:
    """A fraction as text, such as `7/3`: a decimal number would round it."""
    return str(value)
