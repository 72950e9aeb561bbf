"""The audit: everything done at the desk, by which actor and why, as a chain that shows tampering.

`record` comes last in the transaction of an act. It refuses an actor without permission and an empty reason, so that no
act can happen without permission, reason and row. Addresses and hidden cards are never written here: people are named
by id. Rows are never changed or deleted.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from engine import codec
from pbem.domain import hash_chain
from pbem.domain.acts import ABOUT_ONE_PERSON, Act, Actor, Role
from pbem.domain.errors import BadInput, Forbidden
from pbem.domain.states import Insight
from pbem.domain.user_text import parse_reason, refuse_addresses
from pbem.i18n.speech import gettext as _
from pbem.service.archive.export import NONSENSE, read_row
from pbem.service.server import Server
from pbem.store import audit as rows, games, insiders
from pbem.store.audit import AuditFilter, AuditRow
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow

_CHAIN: Final = "audit"
"""The name of this chain; names of games are random and longer."""

_FORM_OF_ROWS: Final = 1
"""The version of the hashed columns, in place of a version of rules."""


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
    """Add the row of an act, in the act's transaction. Raises Forbidden, or BadInput without a reason.

    The end of the chain stays locked until the transaction ends, so call it after all other rows are locked. `form` is
    the key of the form, which works once. `body` is what else is worth knowing, in plain values.
    """
    reason = parse_reason(reason)
    text = codec.dumps(body)
    refuse_addresses(text)
    must_be_allowed(tx, actor, act, game_id, person_id)
    seq, head = rows.lock_end(tx, hash_chain.genesis(_CHAIN))
    row = AuditRow(
        seq=seq + 1,
        at=server.now(),
        actor=str(actor),
        act=act,
        game_id=game_id,
        person_id=person_id,
        reason=reason,
        form=form,
        body=text,
        nonce=server.randomness.bytes(hash_chain.NONCE_BYTES),
        body_hash=b"",
        hash=b"",
    )
    follows = hash_chain.next_row(head, **_chain_fields(row))
    row = replace(row, body_hash=follows.body_hash, hash=follows.hash)
    rows.append(tx, row)
    return row


def kind_of(email: EmailRow) -> dict[str, str]:
    """The kind of an email, for the body of a row; of one about a table nothing.

    Organisers read the audit of tables where they play, and a receipt or a reminder tells whether its reader has answered.
    """
    return {"kind": email.kind} if email.game_id is None else {}


def must_be_allowed(tx: Tx, actor: Actor, act: Act, game_id: int | None = None, person_id: int | None = None) -> None:
    """Refuse an actor who may not do this, or not to this table or person. Raises Forbidden."""
    actor.require(act)
    # Whose tournament it is, the change itself has checked.
    at_table = act is not Act.TOURNAMENT
    if actor.role is Role.HOST and at_table and (game_id is None or games.read(tx, game_id).host_id != actor.person_id):
        raise Forbidden(_("You aren't this table's host."), remedy=_("Nothing changed."))
    if actor.role is Role.ORGANISER and game_id is not None and _plays_at(tx, actor, game_id):
        raise Forbidden(
            _("You play at this table."),
            why=_("An organiser who plays at a table sees no more than its players, and can't decide for the others."),
            remedy=_("Another organiser can help this table."),
        )
    if actor.role is Role.ORGANISER and act in ABOUT_ONE_PERSON and _plays_with(tx, actor, person_id):
        raise Forbidden(
            _("You play with this person."),
            why=_("An organiser can't decide about people they play with."),
            remedy=_("Another organiser can help them."),
        )


def look(tx: Tx, actor: Actor, act: Act, game_id: int) -> None:
    """Allow a look at the hidden side of a table, and note it: no organiser who has looked may play there.

    The game is locked, so that the actor cannot take a seat between the check and the page. Raises Forbidden.
    """
    must_be_allowed(tx, actor, act, game_id)
    if actor.person_id is not None and games.read(tx, game_id).started_at is not None:
        insiders.note(tx, game_id, actor.person_id, Insight.LOOKED)


def newest(
    tx: Tx, server: Server, matching: AuditFilter, *, before: int | None = None, limit: int = 50
) -> list[AuditRow]:
    """The newest acts that match the filter, below row `before` if given."""
    return rows.newest(tx, matching, before, limit)


def game_kinds(tx: Tx, server: Server, acts: Collection[AuditRow]) -> dict[int, str]:
    """The games played at the tables of these acts, by id of the table."""
    game_ids = {row.game_id for row in acts if row.game_id is not None}
    return {game_id: game.kind for game_id, game in games.read_all(tx, game_ids).items()}


def head(tx: Tx, server: Server) -> str:
    """The printed head of the chain; empty if there is no row."""
    end = rows.end(tx)
    return "" if end is None else hash_chain.fingerprint(end[1])


def verify(tx: Tx, server: Server | None = None, printed: Collection[str] = ()) -> hash_chain.ChainCheck:
    """Check the whole chain, for which no server is needed; `printed` are heads that someone noted."""
    end = rows.end(tx)
    stored = hash_chain.genesis(_CHAIN) if end is None else end[1]
    return hash_chain.verify(map(_chain_row, rows.chain(tx)), game=_CHAIN, head=stored, printed=printed)


def verify_lines(lines: Iterable[str], printed: Collection[str] = ()) -> hash_chain.ChainCheck:
    """Check an exported chain. A cut-off end shows only by a head noted earlier."""
    return hash_chain.verify(map(_read, lines), game=_CHAIN, printed=printed)


def export(server: Server) -> Iterator[str]:
    """The chain as lines of JSON, read in pages so that no transaction waits for the reader."""
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
    """Whether an actor sits at a table, or ever sat there, under any identity."""
    return actor.person_id is not None and insiders.has_sat(tx, actor.person_id, game_id)


def _plays_with(tx: Tx, actor: Actor, person_id: int | None) -> bool:
    """Whether an actor and a person sit or sat at one current table."""
    own = actor.person_id
    return own is not None and person_id is not None and person_id in insiders.companions(tx, own)


def _line(row: AuditRow) -> str:
    """A row as a line of the exported file, with everything that is hashed."""
    fields = {
        "seq": row.seq,
        "at": row.at.isoformat(),
        "actor": row.actor,
        "act": row.act,
        "text": _text(row),
        "nonce": row.nonce.hex(),
        "body_hash": row.body_hash.hex(),
        "hash": row.hash.hex(),
    }
    return codec.dumps(fields) + "\n"


def _read(line: str) -> hash_chain.Row:
    """A line of the exported file as a chain row. Raises BadInput."""
    try:
        fields = json.loads(line)
        named = {
            "kind": fields["act"],
            "seat": None,
            "by": fields["actor"],
            "rules": _FORM_OF_ROWS,
            "body": fields["text"],
        }
        return read_row(_CHAIN, fields | named)
    except NONSENSE as error:
        raise BadInput(
            _("This isn't an exported audit log."),
            why=_("A line can't be read: %(name)s.", name=type(error).__name__),
            remedy=_("Use the file as it was exported."),
        ) from error


def _chain_row(row: AuditRow) -> hash_chain.Row:
    return hash_chain.Row(**_chain_fields(row), body_hash=row.body_hash, hash=row.hash)


def _chain_fields(row: AuditRow) -> dict[str, Any]:
    """The fields of a chain row. Its text holds the other columns, so that none can be altered unnoticed."""
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
    """The hashed text: everything but actor, act and moment."""
    return codec.dumps(
        {"body": row.body, "form": row.form, "game": row.game_id, "person": row.person_id, "reason": row.reason}
    )
