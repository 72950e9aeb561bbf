"""Whether what an email says is still so: asked before it is written, and again of the bytes that were stored."""

import json
from collections.abc import Collection, Mapping

from pbem.domain.outdated import Subject, why_outdated as why_subject_outdated
from pbem.domain.states import EmailKind, GroupRole, OfferStatus, TableStatus, TournamentStatus
from pbem.service.clocks import deadlines
from pbem.service.clocks.deadlines import Games
from pbem.service.outgoing import digests
from pbem.service.server import Server
from pbem.service.tournaments import latecomers
from pbem.store import (
    deadlines as deadline_rows,
    games as game_rows,
    groups,
    ledger,
    links,
    outbox,
    people,
    players as player_rows,
    tables,
    tournaments,
    votes,
)
from pbem.store.database import Tx
from pbem.store.deadlines import Key
from pbem.store.links import LinkRow
from pbem.store.outbox import EmailRow
from pbem.tokens import EmailTemplate


def why_outdated(tx: Tx, emails: Collection[EmailRow], games: Games) -> dict[int, str]:
    """The reasons why emails are no longer worth sending, for those that are not. Their games are locked."""
    keys = {
        email.id: (email.game_id, games[email.game_id].turn, email.seat)
        for email in emails
        if email.game_id is not None and email.seat is not None
    }
    players = player_rows.of_games(tx, {game_id for game_id, _, _ in keys.values()})
    asked = {
        key for key, row in deadline_rows.read_all(tx, set(keys.values())).items() if row.status == TableStatus.OPEN
    }
    reasons = {}
    for email in emails:
        game = None if email.game_id is None else games[email.game_id]
        subject = Subject(
            None if game is None else game.status,
            None if game is None else game.turn,
            None
            if game is None or email.seat is None
            else any((player.seat, player.person_id) == (email.seat, email.person_id) for player in players[game.id]),
            keys.get(email.id) in asked,
            _is_settled(tx, email),
        )
        if (why := why_subject_outdated(email.kind, email.turn, subject)) is not None:
            reasons[email.id] = why
    return reasons


def why_stale(
    tx: Tx,
    server: Server,
    emails: Collection[EmailRow],
    templates: Mapping[int, EmailTemplate],
    linked: Mapping[int, LinkRow],
    games: Games,
) -> dict[int, str]:
    """The reasons why stored bytes must not leave. Once an email may have left, another would be a second one."""
    turns = {email.id: key for email in emails if email.id in templates and (key := turn_key(email)) is not None}
    broken = deadlines.broken_promises(tx, server, games, set(turns.values())) if turns else set()
    lost = links.of_lost_seats(tx, linked)
    undone = {row.id for row in linked.values() if links.is_undone(row)}
    reasons = {}
    for email in emails:
        # Every email has a link. If there is no placeholder that we know, its key has been revoked.
        if email.id in templates and not templates[email.id].rows:
            reasons[email.id] = "its links were made with a removed key"
        # Also if it may have left: with these links, it must not leave again.
        elif email.id in templates and any((row, email.person_id) in lost for row in templates[email.id].rows):
            reasons[email.id] = "its reader has lost a seat that it links to"
        elif email.id in templates and not undone.isdisjoint(templates[email.id].rows):
            reasons[email.id] = "a turn that it links to was undone"
        elif turns.get(email.id) in broken and not _may_have_left(tx, email):
            reasons[email.id] = "its deadline would have been out of date"
    return reasons


def turn_key(email: EmailRow) -> Key | None:
    """The turn of a seat that an email asks for a decision, unless it is a reminder."""
    if email.kind != EmailKind.TURN or email.game_id is None or email.turn is None or email.seat is None:
        return None
    return email.game_id, email.turn, email.seat


def _may_have_left(tx: Tx, email: EmailRow) -> bool:
    if email.attempts > 1:
        return True
    return any(line.what not in ("rendered", "rewritten") for line in ledger.lines_of(tx, email.id))


def _is_settled(tx: Tx, email: EmailRow) -> bool:
    """Whether nothing is left to say, beside what the table and its seats tell."""
    match email.kind:
        case EmailKind.CONFIRM:
            return people.read(tx, email.person_id).confirmed_at is not None
        case EmailKind.DIGEST:
            return digests.is_over(tx, email)
        case EmailKind.SUBSTITUTE:
            return tables.offer(tx, json.loads(email.facts)["offer"]).status != OfferStatus.OPEN
        case EmailKind.GROUP_INVITATION:
            row = groups.member(tx, json.loads(email.facts)["group"], email.person_id)
            return row is None or row.role != GroupRole.INVITED
        case EmailKind.BACK_PROPOSED if email.game_id is not None:
            return not votes.back_votes(tx, game_rows.read(tx, email.game_id))
        case EmailKind.SIGN_UP:
            facts = json.loads(email.facts)
            tournament = tournaments.read(tx, facts["tournament"])
            is_late = bool(facts.get("round")) and latecomers.takes_some(tournament)
            return tournament.status != TournamentStatus.OPEN and not is_late
        case EmailKind.SEALED if email.game_id is not None:
            newer = outbox.of_game(tx, email.game_id, email.seq or 0)
            return any((row.kind, row.seat, row.turn) == ("sealed", email.seat, email.turn) for row in newer)
    return False
