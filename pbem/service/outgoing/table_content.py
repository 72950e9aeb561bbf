"""What an email about a table says of it: what everyone there may know, and what of the reader's week counts."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from engine.game import Game
from engine.options import variants
from pbem.domain import conditions, hash_chain
from pbem.domain.conditions import Conditions
from pbem.domain.pace import Calendar, read_pace
from pbem.domain.states import EmailKind, TableStatus
from pbem.domain.week import bound_text, counting_text, read_week
from pbem.i18n import speech
from pbem.mail.write import words
from pbem.mail.write.compose import Letterhead
from pbem.mail.write.words import Words
from pbem.store import deadlines, people
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow
from pbem.store.players import PlayerRow


def table_words(
    tx: Tx, letterhead: Letterhead, email: EmailRow, game: GameRow, rules: Game[Any], players: Iterable[PlayerRow]
) -> Words:
    """What everyone at the table may know."""
    options: Mapping[str, str | int] = json.loads(game.options)
    variables: Words = {
        "game": rules.title,
        "rules": letterhead.rules(game.kind),
        "table": words.table_name(game.title, rules.title),
        "turn": game.turn if email.turn is None else email.turn,
        "seats": game.seats,
        "by_decision": not isinstance(read_pace(game.pace), Calendar),
        "pace": words.pace_text(game.pace),
        "time_off": bound_text(game.time_off) if game.time_off else "",
        "own_time_off": _own_time_off(tx, email, game),
        "chosen": list(map(speech.teller(rules), variants(rules.options, options, game.seats))),
        "missed_limit": game.missed_limit,
        "grace": game.grace,
        "second_chance": words.second_chance_text(game.second_chance, game.pace),
        "going_back": game.going_back,
        "successor": game.successor,
        "fewest": game.fewest,
        "starts_at": game.starts_at,
        "asked": conditions.words(asked := Conditions.of(game.conditions)),
        "friends_only": asked.friends,
        "expires_at": game.expires_at,
        "commitment": game.commitment,
        "rated": game.rated,
        "present": [player.name for player in players],
    }
    if email.kind == EmailKind.INVITATION:
        variables |= {"about": speech.translate(rules.about), "length": speech.render(rules.length)}
    if game.started_at is not None:
        variables["head"] = hash_chain.fingerprint(game.entry_head)
    if game.status in (TableStatus.OVER, TableStatus.VOID):
        variables["secret"] = game.secret.hex()
    return variables


def _own_time_off(tx: Tx, email: EmailRow, game: GameRow) -> str:
    """What counts of the reader's week: of a turn, as it was when they were asked."""
    text = people.read(tx, email.person_id).zoned_week
    if email.kind == EmailKind.TURN and email.turn is not None and email.seat is not None:
        asked = deadlines.read(tx, game.id, email.turn, email.seat)
        text = None if asked is None else asked.week
    return counting_text(read_week(text), game.time_off) if text else ""
