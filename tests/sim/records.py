"""Records of a simulation that must hold: a log that cannot be changed unnoticed, files that anyone can check, and emails that do not get lost."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Final

from pbem.domain import hash_chain
from pbem.domain.hash_chain import Row
from pbem.service.archive import export
from pbem.service.server import Server
from pbem.store import ledger, outbox
from tests.ops.verifier import says
from tests.sim.far_end import BrokenError, FarEnd

_CHECKED: Final = 20
"""A row this far from the beginning, at most, is changed: the rows before it are read for each of its fields."""


def changes_are_noticed(log: list[Row], luck: Random) -> None:
    """Check that no field of a row can be changed unnoticed: one row, drawn by luck."""
    at = luck.randrange(min(len(log), _CHECKED))
    for name, changed in _changes(log[at]):
        if hash_chain.verify([*log[:at], changed], game=log[at].game).sound:
            raise BrokenError(f"the {name} of row {log[at].seq} of a log can be changed unnoticed")


def anyone_can_check(server: Server, game_id: int) -> None:
    """Check that the verifier in the handbook accepts the file of a finished game."""
    fault = says(json.loads(export.write(server.read(export.of_game, game_id))))
    if fault:
        raise BrokenError(f"the verifier in the handbook does not accept the file of game {game_id}: {fault}")


def _changes(row: Row) -> Iterator[tuple[str, Row]]:
    """The row with each of its fields changed."""
    assert row.body is not None
    assert row.nonce is not None
    yield "game", replace(row, game=f"{row.game}0")
    yield "number", replace(row, seq=row.seq + 1)
    yield "kind", replace(row, kind=f"{row.kind}s")
    yield "seat", replace(row, seat=0 if row.seat is None else row.seat + 1)
    yield "actor", replace(row, by=f"{row.by}s")
    yield "moment", replace(row, at=row.at + timedelta(microseconds=1))
    yield "version of the rules", replace(row, rules=row.rules + 1)
    yield "body", replace(row, body=row.body + b" ")
    yield "nonce", replace(row, nonce=bytes(len(row.nonce)))


def all_delivered(emails: list[outbox.EmailRow], lines: Mapping[int, list[ledger.LedgerRow]], far_end: FarEnd) -> None:
    """Check that no email waits and every sent email has arrived."""
    for email in emails:
        if email.status in ("queued", "parked"):
            raise BrokenError(f"mail {email.id} ({email.kind}, game {email.game_id}) is {email.status} at the end")
        # An email whose news were in a digest may have had a message id of its own, and never left.
        in_a_digest = any(line.what == "told" for line in lines.get(email.id, []))
        if email.status == "sent" and not in_a_digest and email.message_id not in far_end.bytes_of:
            raise BrokenError(f"mail {email.id} ({email.kind}, game {email.game_id}) was accepted by nobody")
