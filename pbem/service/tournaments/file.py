"""The file of a tournament: all that its pairings and standings follow from, for anyone to make them again."""

import json
from typing import Any, Final

from engine.chance import commitment, seed_from
from pbem.domain.errors import BadInput, Forbidden
from pbem.domain.tournaments import pairing
from pbem.domain.tournaments.lots import drawn
from pbem.domain.tournaments.plan import Entrant
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.service.tournaments import admission
from pbem.service.tournaments.new import SEEDINGS
from pbem.service.tournaments.plans import entrants_of, read_plan, results_of, seats_of
from pbem.store import games, tournaments
from pbem.store.database import Tx
from pbem.store.schema import RoundTableRow

FORMAT: Final = "pbem tournament"
VERSION: Final = 1


def of_tournament(tx: Tx, server: Server, key: str, person_id: int | None = None) -> str:
    """The file of a tournament that has begun, for anyone or for a member of its group. Raises NotFound, or Forbidden before."""
    row = tournaments.by_key(tx, key)
    admission.must_see(tx, row, person_id)
    if not row.seed:
        raise Forbidden(_("This tournament hasn't begun."), remedy=_("Its file is there once it has."))
    rows, tables = tournaments.entrants(tx, row.id), tournaments.tables(tx, row.id)
    keys = {game.id: game.key for game in games.read_all(tx, [each.game_id for each in tables]).values()}
    names = {each.number: each.name for each in rows}
    words = [each.word for each in rows if each.rank and each.since == 1]
    document = {
        "format": FORMAT,
        "version": VERSION,
        "key": row.key,
        "name": row.name,
        "game": row.kind,
        "plan": json.loads(row.plan),
        "seeding": row.seeding,
        "seeds": json.loads(row.seeds),
        "chance": {"commitment": row.commitment, "secret": row.secret.hex(), "words": words, "seed": row.seed},
        "entrants": [
            {
                "number": each.number,
                "name": names[each.number],
                "rank": each.rank,
                "since": each.since,
                "until": each.until,
                "division": each.division,
                "away": list(each.away),
            }
            for each in entrants_of(rows)
        ],
        "tables": [
            {
                "round": each.round,
                "table": each.number,
                "game": keys[each.game_id],
                "seats": list(seats_of(each)),
                "places": None if each.places is None else json.loads(each.places),
                "how": each.how,
                "corrections": json.loads(each.corrections),
            }
            for each in tables
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def is_one(text: str) -> bool:
    """Whether a text begins like the file of a tournament."""
    return f'"format": "{FORMAT}"' in text[:200]


def check(text: str) -> list[str]:
    """What is wrong in the file of a tournament, in sentences; none if every pairing can be made again. Raises BadInput.

    Pairings of earlier rounds are made from the results of the rounds before them.
    """
    try:
        document = json.loads(text)
        known = document["seeding"] in SEEDINGS and type(document["version"]) is int
        if not known or (document["format"], document["version"]) != (FORMAT, VERSION):
            raise BadInput(_("This isn't the file of a tournament."))
        return list(_problems(document))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise BadInput(_("This isn't the file of a tournament."), why=_("It can't be read.")) from error


def _row(table: dict[str, Any]) -> RoundTableRow:
    seats, places, corrections = (json.dumps(table[name]) for name in ("seats", "places", "corrections"))
    return RoundTableRow(0, table["round"], table["table"], 0, seats, places, table["how"], corrections)


def _problems(document: dict[str, Any]) -> list[str]:
    chance, found = document["chance"], list[str]()
    secret = bytes.fromhex(chance["secret"])
    if commitment(secret) != chance["commitment"]:
        found.append("the secret doesn't match its commitment")
    if seed_from(secret, chance["words"]).hex() != chance["seed"]:
        found.append("the seed isn't made from the secret and the words of the entrants")
    plan = read_plan(json.dumps(document["plan"]))
    entrants = tuple(
        Entrant(**{name: value for name, value in each.items() if name != "name"} | {"away": tuple(each["away"])})
        for each in document["entrants"]
    )
    order = [each.number for each in sorted(entrants, key=lambda each: each.rank) if each.since == 1]
    if document["seeding"] == "hand" and order != document["seeds"]:
        found.append("the ranks aren't in the order that the host gave")
    if document["seeding"] == "draw" and order != list(drawn(chance["seed"], "seeding", sorted(order))):
        found.append("the ranks aren't in the order of the lots")
    rounds = sorted({each["round"] for each in document["tables"]})
    if rounds != list(range(1, len(rounds) + 1)):
        found.append("a round is missing")
    for number in rounds:
        results = results_of((_row(each) for each in document["tables"]), number)
        made = pairing.pair(plan, entrants, results, number, chance["seed"]).tables
        shown = [tuple(each["seats"]) for each in document["tables"] if each["round"] == number]
        if [tuple(each) for each in made] != shown:
            found.append(f"the tables of round {number} aren't those that follow from the results before it")
    return found
