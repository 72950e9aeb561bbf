"""The audit: everything that is done at the desk, by whom and why, as one chain that shows if it was altered.

`record` is the last thing that an act does in its transaction. It refuses whoever may not do this and whoever gives no
reason, so that an act without permission, reason or row cannot come to be. Addresses are never written here, hidden cards
neither: people are named by their numbers. Rows are never changed and never deleted.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from engine import codec
from pbem.domain import hash_chain
from pbem.domain.acts import ABOUT_ONE_PERSON, Act, Actor, Role
from pbem.domain.errors import BadInput, Forbidden
from pbem.domain.user_text import parse_reason, refuse_addresses
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import audit as rows
from pbem.store import games, people
from pbem.store import players as player_rows
from pbem.store.audit import AuditRow, Wanted
from pbem.store.database import Tx

_CHAIN: Final = "audit"
"""The name of this chain; those of games are random and longer."""

_FORM_OF_ROWS: Final = 1
"""Which columns are hashed and how: what chains call the version of the rules."""


def record(
    tx: Tx,
    server: Server,
    actor: Actor,
    act: Act,
    reason: str,
    *,
    game_id: int | None = None,
    person_id: int | None = None,
    form: str | None = None,
    **body: Any,
) -> AuditRow:
    """Write down what is being done, in the transaction that does it; refused where the actor may not, or says not why.

    The end of the chain stays locked until the transaction ends, so call it when all other rows are locked already. `form`
    is the key of the form that was sent: with one that was used before nothing happens twice. `body` is what else is worth
    knowing, in plain values.
    """
    said = parse_reason(reason)
    kept = codec.dumps(body)
    refuse_addresses(kept)
    must_be_allowed(tx, actor, act, game_id, person_id)
    seq, head = rows.lock_end(tx, hash_chain.genesis(_CHAIN))
    unhashed = AuditRow(
        seq=seq + 1,
        at=server.now(),
        actor=str(actor),
        act=act,
        game_id=game_id,
        person_id=person_id,
        reason=said,
        form=form,
        body=kept,
        nonce=server.randomness.bytes(hash_chain.NONCE_BYTES),
        body_hash=b"",
        hash=b"",
    )
    row = _hashed(head, unhashed)
    rows.append(tx, row)
    return row


def must_be_allowed(tx: Tx, actor: Actor, act: Act, game_id: int | None = None, person_id: int | None = None) -> None:
    """Refuse whoever may not do this, or not to this table or person: `record` asks it, and so does what shows something."""
    actor.require(act)
    if actor.role is Role.HOST and (game_id is None or games.read(tx, game_id).host_id != actor.person_id):
        raise Forbidden(_("You are not the host of this table."), remedy=_("Nothing was changed."))
    if actor.role is Role.ORGANISER and game_id is not None and _plays_at(tx, actor, game_id):
        raise Forbidden(
            _("You play at this table."),
            why=_("Whoever plays is told what a player is told, and decides nothing for the others."),
            remedy=_("Nothing was changed; another organiser can help this table."),
        )
    if actor.role is Role.ORGANISER and act in ABOUT_ONE_PERSON and _plays_with(tx, actor, person_id):
        raise Forbidden(
            _("You play with this person."),
            why=_("Whoever plays is told what a player is told, and decides nothing about the others."),
            remedy=_("Nothing was changed; another organiser can help them."),
        )


def done_with(tx: Tx, form: str) -> AuditRow | None:
    """What was done with the form of this key, if it was sent before: ask it when the rows of the act are locked."""
    return rows.by_form(tx, form)


def listed(tx: Tx, server: Server, wanted: Wanted, *, before: int | None = None, limit: int = 50) -> list[AuditRow]:
    """The newest of the acts that are wanted, those older than a row where one is named."""
    return rows.newest(tx, wanted, before, limit)


def kinds(tx: Tx, server: Server, acts: Collection[AuditRow]) -> dict[int, str]:
    """What is played at the tables that these acts were done at, by the numbers of the tables."""
    numbers = {row.game_id for row in acts if row.game_id is not None}
    return {number: row.kind for number, row in games.read_all(tx, numbers).items()}


def head(tx: Tx, server: Server) -> str:
    """The head of the chain as it is printed; empty where nothing was ever done."""
    found = rows.end(tx)
    return "" if found is None else hash_chain.fingerprint(found[1])


def verify(tx: Tx, server: Server, printed: Collection[str] = ()) -> hash_chain.ChainCheck:
    """Read the whole chain and say everything that is wrong with it; `printed` are heads that somebody noted."""
    return verify_rows(tx, printed)


def verify_rows(tx: Tx, printed: Collection[str] = ()) -> hash_chain.ChainCheck:
    """The same within a transaction that is under way."""
    found = rows.end(tx)
    stored = hash_chain.genesis(_CHAIN) if found is None else found[1]
    return hash_chain.verify(map(_chained, rows.chain(tx)), game=_CHAIN, head=stored, printed=printed)


def verify_lines(lines: Iterable[str], printed: Collection[str] = ()) -> hash_chain.ChainCheck:
    """Read a chain that was exported, and say everything that is wrong with it. Where it ends only a noted head can tell."""
    return hash_chain.verify(map(_read, lines), game=_CHAIN, printed=printed)


def export(server: Server) -> Iterator[str]:
    """The whole chain as lines of JSON, some at a time: no transaction waits for whoever reads it."""
    seq = 0
    while True:
        with server.store.read() as tx:
            page = rows.after(tx, seq)
        if not page:
            return
        for row in page:
            yield _line(row)
        seq = page[-1].seq


def _plays_at(tx: Tx, actor: Actor, game_id: int) -> bool:
    return actor.person_id is not None and any(
        player.person_id == actor.person_id for player in player_rows.of_game(tx, game_id)
    )


def _plays_with(tx: Tx, actor: Actor, person_id: int | None) -> bool:
    """Whether an actor and somebody else sit at one table that is not over."""
    if None in (actor.person_id, person_id) or actor.person_id == person_id:
        return False
    assert actor.person_id is not None
    assert person_id is not None
    return people.sit_together(tx, actor.person_id, person_id)


def _line(row: AuditRow) -> str:
    """One act as a line of the exported file, with everything that its hash is made of."""
    return (
        codec.dumps(
            {
                "seq": row.seq,
                "at": row.at.isoformat(),
                "actor": row.actor,
                "act": row.act,
                "text": _text(row),
                "nonce": row.nonce.hex(),
                "body_hash": row.body_hash.hex(),
                "hash": row.hash.hex(),
            }
        )
        + "\n"
    )


def _read(line: str) -> hash_chain.Row:
    """A line of the exported file as the chain knows it."""
    try:
        given = json.loads(line)
        return hash_chain.Row(
            game=_CHAIN,
            seq=given["seq"],
            kind=given["act"],
            seat=None,
            by=given["actor"],
            at=datetime.fromisoformat(given["at"]),
            rules=_FORM_OF_ROWS,
            body=given["text"].encode(),
            nonce=bytes.fromhex(given["nonce"]),
            body_hash=bytes.fromhex(given["body_hash"]),
            hash=bytes.fromhex(given["hash"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(
            _("This is not an exported audit."),
            why=_("A line cannot be read: %(name)s.", name=type(error).__name__),
            remedy=_("Please take the file as it was exported."),
        ) from error


def _hashed(head: bytes, row: AuditRow) -> AuditRow:
    follows = hash_chain.next_row(head, **_told(row))
    return replace(row, body_hash=follows.body_hash, hash=follows.hash)


def _chained(row: AuditRow) -> hash_chain.Row:
    """A row as the chain knows it."""
    return hash_chain.Row(**_told(row), body_hash=row.body_hash, hash=row.hash)


def _told(row: AuditRow) -> dict[str, Any]:
    """What the chain is told of a row. Its text is made of the columns, so that none of them can be altered unseen."""
    return {
        "game": _CHAIN,
        "seq": row.seq,
        "kind": row.act,
        "seat": None,
        "by": row.actor,
        "at": row.at,
        "rules": _FORM_OF_ROWS,
        "body": _text(row).encode(),
        "nonce": row.nonce,
    }


def _text(row: AuditRow) -> str:
    """What is hashed of an act beside who, when and what."""
    return codec.dumps(
        {
            "body": row.body,
            "form": row.form,
            "game": row.game_id,
            "person": row.person_id,
            "reason": row.reason,
        }
    )
