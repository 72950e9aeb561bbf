"""A tournament by the link of an email about it, which proves its reader's address."""

import json
from dataclasses import dataclass

from pbem.domain.errors import Gone, Refusal
from pbem.domain.states import EntrantStatus, TournamentStatus
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.service.tournaments import admission, latecomers, reading, sign_up
from pbem.service.tournaments.reading import TournamentPage
from pbem.store import outbox, people, tournaments
from pbem.store.database import Tx
from pbem.store.schema import EntrantRow
from pbem.tokens import Purpose


@dataclass(frozen=True, slots=True)
class EntryPage:
    """A tournament, its reader's entry if they have one, whether they can sign up now, and their name."""

    page: TournamentPage
    entry: EntrantRow | None
    may_enter: bool
    name: str


def entry_page(tx: Tx, server: Server, token: str) -> EntryPage:
    """The tournament of a link. Raises NotFound or Gone."""
    tournament_id, person_id = _of_link(tx, server, token)
    row = tournaments.read(tx, tournament_id)
    admission.must_see(tx, row, person_id)
    page = reading.page_of(tx, row)
    may_enter = sign_up.may_enter(tx, row, person_id)
    return EntryPage(page, page.entry_of(person_id), may_enter, people.read(tx, person_id).name)


def enter(server: Server, token: str, name: str, word: str) -> EntrantRow:
    """Sign up the reader of an email. Raises a Refusal; the address stays confirmed."""
    entrant = server.run(_enter, token, name, word)
    if isinstance(entrant, Refusal):
        raise entrant
    return entrant


def leave(server: Server, token: str) -> str:
    """Decline, or leave the tournament. Returns its key if the link has come to its end with that, and "" otherwise."""
    return server.run(_leave, token)


def _enter(tx: Tx, server: Server, token: str, name: str, word: str) -> EntrantRow | Refusal:
    return sign_up.sign_up(tx, server, *_of_link(tx, server, token), name, word)


def _leave(tx: Tx, server: Server, token: str) -> str:
    tournament_id, person_id = _of_link(tx, server, token)
    sign_up.decline(tx, server, tournament_id, person_id)
    row = tournaments.read(tx, tournament_id)
    return "" if row.status == TournamentStatus.OPEN else row.key


def _of_link(tx: Tx, server: Server, token: str) -> tuple[int, int]:
    """The ids of the tournament and the person of a link. Raises NotFound or Gone.

    It works while people can sign up, and then for those who take part, until the tournament ends.
    """
    link = links.follow_email(tx, server, token, Purpose.ENTRY)
    addresses.must_be_here(people.read(tx, link.person_id))
    email = outbox.read(tx, link.email_id)
    assert email is not None, "emails are never deleted"
    row = tournaments.read(tx, json.loads(email.facts)["tournament"])
    entry = sign_up.entrant_of(tx, row, link.person_id)
    takes_part = entry is not None and entry.status in (EntrantStatus.IN, EntrantStatus.WAITING)
    if row.status == TournamentStatus.OPEN or (
        row.status == TournamentStatus.PLAYING and (takes_part or latecomers.may_come(tx, row, link.person_id, entry))
    ):
        return row.id, link.person_id
    raise Gone(
        _("This link no longer works."),
        why={
            TournamentStatus.PLAYING: _("Sign-up is over.") if entry is None else _("You've left this tournament."),
            TournamentStatus.CALLED_OFF: _("The tournament was called off."),
        }.get(TournamentStatus(row.status), _("The tournament is over.")),
        remedy=_("Its page has the players, rounds and standings."),
        tournament=row.key,
    )
