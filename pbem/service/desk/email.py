"""An email as its reader has it, for an organiser who has to help: its text, its source, and how it was sent.

An email shows what a seat sees, so reading one needs a reason, is audited before anything is shown, and is refused to
an organiser who plays at a table it tells about. Its links lead nowhere: stored emails have none, and a token someone
wrote into one is removed, so that no helper can act as a player.
"""

from dataclasses import dataclass
from typing import Any

from pbem.domain.acts import Act, Actor
from pbem.domain.errors import NotFound
from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _
from pbem.mail.send.local_mailbox import MailboxEmail, parse_email
from pbem.redaction import hide_links
from pbem.service import links
from pbem.service.desk import alarm_emails, audit
from pbem.service.outgoing import digests, ledger
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.server import Server
from pbem.store import games, outbox, people
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow


@dataclass(frozen=True, slots=True)
class OpenedEmail:
    """An email with its ledger. `opened` is None if it was not written yet, or its text was deleted.

    `message` is the text of one through a channel, which is no email.
    """

    listed: EmailHistory
    reader: str
    opened: MailboxEmail | None
    message: str = ""


def read(
    tx: Tx,
    server: Server,
    actor: Actor,
    outbox_id: int,
    reason: str,
    *,
    game_id: int | None = None,
    person_id: int | None = None,
) -> OpenedEmail:
    """Read an email about this table or to this person."""
    email = outbox.read(tx, outbox_id)
    if email is None or game_id not in (None, email.game_id) or person_id not in (None, email.person_id):
        raise NotFound(_("There is no such email."), remedy=_("Nothing was shown."))
    for number in sorted(_tables_in(tx, email)):
        games.lock(tx, number)
        audit.look(tx, actor, Act.READ_MAIL, number)
    body: dict[str, Any] = {"email": email.id} | audit.kind_of(email)
    audit.record(tx, server, actor, Act.READ_MAIL, reason, game_id=email.game_id, person_id=email.person_id, **body)
    hidden = b"" if email.body is None else links.hide_tokens(tx, server, hide_links(email.body))
    opened = None if email.channel_id or not hidden else parse_email(f"{email.id}", hidden)
    message = hidden.decode(errors="replace") if email.channel_id else ""
    return OpenedEmail(ledger.of_email(tx, email), people.read(tx, email.person_id).name, opened, message)


def _tables_in(tx: Tx, email: EmailRow) -> set[int]:
    """The ids of the tables that an email tells about."""
    game_ids = set() if email.game_id is None else {email.game_id}
    if email.kind == EmailKind.DIGEST and email.body is not None:
        game_ids |= digests.game_ids(tx, email)
    if email.kind == EmailKind.ALERT:
        game_ids |= alarm_emails.called_from(email)
    return game_ids
