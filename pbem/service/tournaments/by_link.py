"""A tournament by the link of an email about it, which proves its reader's address."""

import json
from dataclasses import dataclass

from pbem.domain.errors import Refusal
from pbem.service import links
from pbem.service.server import Server
from pbem.service.tournaments import reading, sign_up
from pbem.service.tournaments.reading import TournamentPage
from pbem.store import outbox, people, tournaments
from pbem.store.database import Tx
from pbem.store.schema import EntrantRow
from pbem.tokens import Purpose


@dataclass(frozen=True, slots=True)
class EntryPage:
    """A tournament, its reader's entry if they have one, and their name."""

    page: TournamentPage
    entry: EntrantRow | None
    name: str


def entry_page(tx: Tx, server: Server, token: str) -> EntryPage:
    """The tournament of a link. Raises NotFound or Gone."""
    tournament_id, person_id = _of_link(tx, server, token)
    page = reading.page_of(tx, tournaments.read(tx, tournament_id))
    return EntryPage(page, page.entry_of(person_id), people.read(tx, person_id).name)


def enter(server: Server, token: str, name: str, word: str) -> EntrantRow:
    """Sign up the reader of an email. Raises a Refusal; the address stays confirmed."""
    entrant = server.run(_enter, token, name, word)
    if isinstance(entrant, Refusal):
        raise entrant
    return entrant


def leave(server: Server, token: str) -> None:
    """Decline, or leave the tournament."""
    server.run(_leave, token)


def _enter(tx: Tx, server: Server, token: str, name: str, word: str) -> EntrantRow | Refusal:
    return sign_up.sign_up(tx, server, *_of_link(tx, server, token), name, word)


def _leave(tx: Tx, server: Server, token: str) -> None:
    sign_up.decline(tx, server, *_of_link(tx, server, token))


def _of_link(tx: Tx, server: Server, token: str) -> tuple[int, int]:
    """The ids of the tournament and the person of a link."""
    link = links.follow_email(tx, server, token, Purpose.ENTRY)
    email = outbox.read(tx, link.email_id)
    assert email is not None, "emails are never deleted"
    return json.loads(email.facts)["tournament"], link.person_id
