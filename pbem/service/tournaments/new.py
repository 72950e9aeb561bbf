"""New tournaments: their settings, the check of all of them, and the row.

The secret of the draw is made here, and told to nobody before sign-up is over. A plan is what pairing reads; the settings
of its tables are those of any table (see `service.tables.new`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from engine.chance import commitment
from engine.search import USUAL
from pbem.domain import conditions
from pbem.domain.conditions import Conditions
from pbem.domain.errors import BadInput, Forbidden, Readers, TooMany, read_fields
from pbem.domain.guests import is_guest
from pbem.domain.missed_turns import Successor
from pbem.domain.states import TournamentStatus
from pbem.domain.tournaments.pairing import TIE_BREAKS
from pbem.domain.tournaments.plan import FORMATS, USUAL_TIE_BREAKS, Plan, Sizes
from pbem.domain.user_text import parse_title
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.people.addresses import must_be_confirmed
from pbem.service.people.bans import must_not_be_banned
from pbem.service.server import Server
from pbem.service.tables import groups
from pbem.service.tables.new import TableSettings, check_settings
from pbem.service.tournaments.plans import plan_text
from pbem.store import people, tournaments
from pbem.store.database import Tx

MOST_HOSTED: Final = 5
"""Current tournaments of one host."""

MOST_ENTRANTS: Final = 200
FEWEST_ENTRANTS: Final = 3
MOST_ROUNDS: Final = 12
ROUND_DAYS: Final = range(1, 91)
"""How many days a round can be given."""

LONGEST_SIGN_UP: Final = timedelta(days=60)

SEEDINGS: Final = ("draw", "rating", "hand")
"""How the strongest are told: nobody is, by a draw of lots; by their ratings; or by the host, who puts them in order."""

LATE: Final = ("bots", "wait")
"""What happens to a table that is not over when its round should be: bots play on for everyone, or the round waits for it."""

_SECRET_BYTES: Final = 32
_KEY_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class TournamentSettings:
    """The settings of a new tournament, as typed.

    `conditions` are for people who sign up without an invitation; with the key of a `group`, only its members see it.
    `tie_breaks` are names of `TIE_BREAKS`, the first to be asked first. Tables have `size` players, or one or two fewer, down to `least`, where the number of entrants asks for that. `advance` is how
    many go on from a table, in formats where some don't. `level` is the bot that takes over the seats of people who are gone.
    """

    name: str
    kind: str
    closes_at: datetime
    form: str = "swiss"
    rounds: int = 3
    size: int = 4
    least: int = 3
    advance: int = 2
    options: Mapping[str, str | int] = field(default_factory=dict)
    pace: str = "1d"
    missed_limit: int = 3
    level: str = USUAL
    rated: bool = True
    seeding: str = "draw"
    tie_breaks: tuple[str, ...] = USUAL_TIE_BREAKS
    fewest: int = FEWEST_ENTRANTS
    most: int = MOST_ENTRANTS
    late: str = "bots"
    round_days: int = 21
    conditions: Conditions = conditions.NONE
    group: str = ""


def open_tournament(tx: Tx, server: Server, host_id: int, settings: TournamentSettings) -> str:
    """Open a tournament for sign-up; returns its key. Raises NotFound, BadInput, Forbidden or TooMany."""
    host = people.lock(tx, host_id)
    must_be_confirmed(host)
    must_not_be_banned(tx, server, host_id)
    if is_guest(host.address):
        raise BadInput(_("A guest can't open a tournament."))
    if tournaments.count_hosted(tx, host_id) >= MOST_HOSTED:
        raise TooMany(
            _("You already host %(most)s tournaments.", most=MOST_HOSTED),
            remedy=_("Open another one once one of them is over."),
        )
    plan = check(settings, server.now())
    secret, key = server.randomness.bytes(_SECRET_BYTES), server.randomness.bytes(_KEY_BYTES).hex()
    tournaments.add(
        tx,
        key=key,
        name=links.without_tokens(tx, server, parse_title(settings.name)),
        kind=settings.kind,
        host_id=host_id,
        plan=plan_text(plan),
        settings=json.dumps(_settings_of_tables(settings), sort_keys=True),
        seeding=settings.seeding,
        seeds="[]",
        conditions=str(settings.conditions),
        group_id=_group_of(tx, host_id, settings.group),
        fewest=settings.fewest,
        most=settings.most,
        late=settings.late,
        round_days=settings.round_days,
        status=TournamentStatus.OPEN,
        round=0,
        byes="[]",
        winners="[]",
        created_at=server.now(),
        closes_at=settings.closes_at,
        commitment=commitment(secret),
        secret=secret,
        seed="",
        season=1,
    )
    return key


def check(settings: TournamentSettings, now: datetime) -> Plan:
    """The plan of a tournament. Raises NotFound or BadInput if it cannot be played."""
    rules, _options = check_settings(_table_of(settings, settings.size), now)
    low, high = rules.seats
    readers: Readers[object] = {
        "name": lambda: _named(settings.name),
        "form": lambda: _one_of(settings.form, FORMATS, _("There's no such format.")),
        "size": lambda: _between(
            settings.size, low, high, _("Tables can't have %(value)s players.", value=settings.size)
        ),
        "least": lambda: _between(
            settings.least,
            low,
            settings.size,
            _("Tables can't have as few as %(value)s players.", value=settings.least),
        ),
        "rounds": lambda: _between(
            settings.rounds, 1, MOST_ROUNDS, _("%(value)s rounds won't work.", value=settings.rounds)
        ),
        "advance": lambda: _between(
            settings.advance,
            1,
            max(settings.least - 1, 1),
            _("%(value)s can't go on from a table.", value=settings.advance),
        ),
        "seeding": lambda: _one_of(settings.seeding, SEEDINGS, _("There's no such way to seed players.")),
        "tie_breaks": lambda: _check_tie_breaks(settings.tie_breaks),
        "late": lambda: _one_of(settings.late, LATE, _("There's no such rule for late tables.")),
        "fewest": lambda: _between(
            settings.fewest,
            settings.least,
            settings.most,
            _("%(value)s is too few or too many.", value=settings.fewest),
        ),
        "most": lambda: _between(
            settings.most, settings.least, MOST_ENTRANTS, _("%(value)s is too few or too many.", value=settings.most)
        ),
        "round_days": lambda: _between(
            settings.round_days,
            ROUND_DAYS[0],
            ROUND_DAYS[-1],
            _("A round can't have %(value)s days.", value=settings.round_days),
        ),
        "closes_at": lambda: _check_sign_up(settings.closes_at, now),
    }
    read_fields({**readers, **conditions.readers(settings.conditions)})
    for seats in range(settings.least, settings.size + 1):
        check_settings(_table_of(settings, seats), now)
    form = next(each for each in FORMATS if each == settings.form)
    return Plan(
        format=form,
        sizes=Sizes(settings.size, tuple(range(settings.least, settings.size + 1))),
        rounds=settings.rounds,
        advance=settings.advance,
        tie_breaks=settings.tie_breaks,
    )


def _group_of(tx: Tx, host_id: int, key: str) -> int | None:
    """The id of the group that a tournament is for; None if it is for everyone. Raises NotFound or Forbidden."""
    if not key:
        return None
    found = groups.membership(tx, host_id, key)
    if not found.organises:
        raise Forbidden(_("Only a group's organiser can open a tournament of it."))
    return found.group.id


def _table_of(settings: TournamentSettings, seats: int) -> TableSettings:
    return TableSettings(settings.kind, seats, fewest=seats, **_settings_of_tables(settings))


def _settings_of_tables(settings: TournamentSettings) -> dict[str, Any]:
    return {
        "options": dict(settings.options),
        "pace": settings.pace,
        "missed_limit": settings.missed_limit,
        "successor": Successor.BOT,
        "stand_in": settings.level,
        "rated": settings.rated,
        "private": bool(settings.group),
    }


def _named(text: str) -> str:
    name = parse_title(text)
    if not name:
        raise BadInput(_("The tournament has no name."), remedy=_("Give it a short one."))
    return name


def _check_tie_breaks(names: tuple[str, ...]) -> None:
    for name in names:
        _one_of(name, tuple(TIE_BREAKS), _("There's no such tie-break."))
    if len(set(names)) < len(names):
        raise BadInput(_("A tie-break is there twice."), remedy=_("Choose each one once."))


def _one_of(value: str, words: tuple[str, ...], sentence: str) -> None:
    if value not in words:
        raise BadInput(sentence, remedy=_("Choose one of the list."))


def _between(value: int, low: int, high: int, sentence: str) -> None:
    if type(value) is not int or not low <= value <= high:
        raise BadInput(sentence, why=_("Choose from %(low)s to %(high)s.", low=low, high=high))


def _check_sign_up(closes_at: datetime, now: datetime) -> None:
    if not now < closes_at <= now + LONGEST_SIGN_UP:
        raise BadInput(
            _("Sign-up can't end at that time."),
            why=_("It must be within the next %(days)s days.", days=LONGEST_SIGN_UP.days),
        )
