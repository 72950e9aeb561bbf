"""A mail as its reader has it, for somebody who has to help: what it says, its source, and how it was handed over.

A mail shows what a seat sees, so reading one is a look as `desk.see_as` is: for a reason, on record before anything is
shown, and not for whoever plays at a table that it tells of. Its links lead nowhere here: what is kept of a mail has none,
and a token that somebody has written into one is taken out, because nobody who helps may act as a player.
"""

from dataclasses import dataclass

from pbem.domain.acts import Act, Actor
from pbem.domain.errors import NotFound
from pbem.i18n.speech import gettext as _
from pbem.mail.send.local_mailbox import MailboxEmail, parse_email
from pbem.service.desk import audit
from pbem.service.outgoing import digests, ledger
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.server import Server
from pbem.store import games, outbox, people
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow
from pbem.tokens import hide_tokens


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail with what happened to it. `opened` is None where it was not written so far, or its text was deleted."""

    listed: EmailHistory
    reader: str
    opened: MailboxEmail | None


def read(
    tx: Tx,
    server: Server,
    actor: Actor,
    outbox_id: int,
    reason: str,
    *,
    game_id: int | None = None,
    person_id: int | None = None,
) -> Letter:
    """Read a mail about this table, or to this person about whatever it is."""

    email = outbox.read(tx, outbox_id)
    if email is None or game_id not in (None, email.game_id) or person_id not in (None, email.person_id):
        raise NotFound(_("There is no such mail."), remedy=_("Nothing was shown."))
    return _read(tx, server, actor, email, reason)


def _read(tx: Tx, server: Server, actor: Actor, email: EmailRow, reason: str) -> Letter:
    told = set() if email.game_id is None else {email.game_id}
    if email.kind == "digest" and email.body is not None:
        told |= digests.game_ids(tx, email)
    # Locked, so that nobody takes a seat there between the question whether they play and what they are shown.
    for number in sorted(told):
        games.lock(tx, number)
        audit.must_be_allowed(tx, actor, Act.READ_MAIL, number)
    audit.record(
        tx,
        server,
        actor,
        Act.READ_MAIL,
        reason,
        game_id=email.game_id,
        person_id=email.person_id,
        email=email.id,
        kind=email.kind,
    )
    shown = None if email.body is None else parse_email(f"{email.id}", hide_tokens(email.body))
    return Letter(ledger.of_email(tx, email), people.read(tx, email.person_id).name, shown)
