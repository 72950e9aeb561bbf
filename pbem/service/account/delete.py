"""Deleting an account: personal data goes, the games played stay.

Running games are resigned and tables that have not begun are left or closed. At tables they have played, the person is “a
former player”. Their moves and talk stay in the record of the game, which names no person. This cannot be undone, so it
needs consent by email.
"""

from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from typing import Final

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import Forbidden, Gone, Stale, TooMany
from pbem.domain.states import EmailKind, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.account import change_address
from pbem.service.server import Server
from pbem.service.tables import leaving
from pbem.service.tournaments import hosting, sign_up
from pbem.store import (
    games,
    limits,
    links,
    merge,
    outbox,
    people,
    personal_data,
    players as player_rows,
    results,
    revocations,
    tables,
    tournaments,
)
from pbem.store.database import Tx
from pbem.store.sessions import Holder

EMAILS_A_DAY: Final = 5


def ask(tx: Tx, server: Server, person_id: int) -> None:
    """Email a link for consent to the deletion. Raises Forbidden, or TooMany after a few a day."""
    people.lock(tx, person_id)
    _must_be_settled(tx, server, person_id)
    now = server.now()
    if people.count_emails_in(tx, person_id, "deletion", limits.last(timedelta(days=1), now)) >= EMAILS_A_DAY:
        raise TooMany(
            _("You've reached today's limit for this email."),
            why=_("We send at most %(mails_a_day)s a day.", mails_a_day=EMAILS_A_DAY),
            remedy=_("Use the link in one of them."),
        )
    outbox.queue(tx, [outbox.NewEmail(person_id, EmailKind.DELETION)], now, now)


def delete_by_consent(tx: Tx, server: Server, person_id: int) -> None:
    """Delete a person who has consented by email. Raises Forbidden shortly after a change of address."""
    _must_be_settled(tx, server, person_id)
    delete_person(tx, server, person_id)


def delete_person(tx: Tx, server: Server, person_id: int, reason: str = "") -> list[int]:
    """Delete a person's data, and leave their tables. Returns the ids of those. Raises Forbidden at a frozen table."""
    revocations.begin(tx, Holder(person_id=person_id))
    # Tournaments are locked before games, games before people, people before groups, each in the order of their ids,
    # against deadlocks.
    _leave_tournaments(tx, server, person_id)
    left = _leave_tables(tx, server, person_id, reason, ())
    persons = {each: people.lock(tx, each) for each in sorted({person_id, *_merged_into(tx, person_id)})}
    # Before this lock they may have entered a tournament, and others may have given them a seat. Nobody does so afterwards:
    # they are no one who can take it.
    _leave_tournaments(tx, server, person_id)
    left += _leave_tables(tx, server, person_id, reason, left)
    for each, person in persons.items():
        if not is_former(person.address):
            personal_data.forget(tx, person, server.zone)
            links.revoke_person(tx, server.randomness, each)
    return sorted(left)


def _merged_into(tx: Tx, person_id: int) -> list[int]:
    """The people that were merged into this one, whose other address and name are still here; not those who have played on."""
    key = people.read(tx, person_id).key
    found = [people.by_key(tx, old) for old, now in results.merged(tx).items() if now == key]
    return [each.id for each in found if each is not None and not merge.tables_of(tx, each.id)]


def _leave_tournaments(tx: Tx, server: Server, person_id: int) -> None:
    """Take a person out of the tournaments that they take part in, from the next round on. Those they host go on by themselves."""
    for tournament in tournaments.own(tx, person_id):
        # One that has ended meanwhile stays as it is.
        with suppress(Gone, Stale):
            sign_up.decline(tx, server, tournament.id, person_id)
            if tournament.host_id == person_id:
                hosting.resume(tx, server, tournament.id, person_id)


def _leave_tables(tx: Tx, server: Server, person_id: int, reason: str, but: Collection[int]) -> list[int]:
    """Resign from a person's tables, or leave or close them, but for some. Returns their ids. Raises Forbidden at a frozen one."""
    seated = tables.of_person(
        tx, person_id, (TableStatus.OPEN, TableStatus.PLANNED, TableStatus.PLAYING, TableStatus.FROZEN)
    )
    hosted = tables.hosted_by(tx, person_id, (TableStatus.OPEN, TableStatus.PLANNED))
    game_ids = sorted({row.id for row in (*seated, *hosted)} - {*but})
    for game_id in game_ids:
        game = games.lock(tx, game_id)
        if game.status == TableStatus.FROZEN and game.halted is not None:
            raise Forbidden(
                _(
                    "“%(title)s” has been stopped because its rules are missing, have failed or have changed.",
                    title=game.title,
                ),
                why=_("Until it resumes, nobody there can leave or delete their account."),
                remedy=_("Nothing changed. The organiser can resume or close it. Contact them if that takes too long."),
            )
        if game.status == TableStatus.FROZEN:
            raise Forbidden(
                _("“%(title)s” has been stopped so that its log can be checked.", title=game.title),
                why=_("Until it resumes, nobody there can leave or delete their account."),
                remedy=_("Nothing changed. We'll email you when it resumes. Try again then."),
            )
        if game.status == TableStatus.PLAYING:
            for player in player_rows.of_game(tx, game_id):
                if player.person_id == person_id and player.seat is not None:
                    leaving.resign(tx, server, game_id, player.seat, person_id, reason)
        elif game.status in (TableStatus.OPEN, TableStatus.PLANNED):
            leaving.leave(tx, server, game_id, person_id, reason)
    return game_ids


def _must_be_settled(tx: Tx, server: Server, person_id: int) -> None:
    remedy = _("Nothing was deleted. Try again later, or contact the organiser.")
    change_address.must_be_settled(tx, server, person_id, remedy)
