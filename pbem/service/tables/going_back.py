"""Going back by everyone's consent: a player proposes to take back their last move, and once all agree the game is rewound.

A proposal counts for one position: any entry, undo or rewind changes its head, and ends it, and so does a seat that changes hands.
So nobody can agree to anything but what was proposed, and anyone who plays on refuses. Choices that are sealed meanwhile are
dropped unseen, and nothing here depends on whether there are any. It is refused once something hidden was seen, because nobody
can unsee it. Bots don't vote, so where only bots play against someone, or a rated game has a bot, nobody can propose it: they could
draw again and again until they win.
"""

from datetime import timedelta
from typing import Final

from pbem.domain import hash_chain
from pbem.domain.errors import Gone, Stale
from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import rewind
from pbem.service.clocks.deadlines import notify_people, people_by_seat
from pbem.service.play import move, undo
from pbem.service.play.log import CLOSES_TURN, Kind, json_body_of, standing_entries
from pbem.service.play.move import Actor, lock_seat
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import limits, log, outbox, people, players as player_rows, votes as vote_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow

PROPOSALS_A_DAY: Final = 3
"""Emails in a day that ask one player to go back in the same game."""


def propose(tx: Tx, server: Server, game_id: int, seat: int, person_id: int) -> int:
    """Propose to go back to the turn of the seat's last move, and email the others; returns that turn. Raises Gone.

    Proposing it twice changes nothing.
    """
    row = _lock(tx, game_id, seat, person_id)
    votes = vote_rows.back_votes(tx, row)
    if seat in votes:
        return votes[seat]
    if votes:
        raise Gone(
            _("Someone has already proposed to go back."),
            remedy=_("Agree to that, or propose your own once the game has moved on."),
        )
    if row.rated and any(player.bot is not None for player in player_rows.of_game(tx, game_id)):
        raise Gone(
            _("A rated game with bots can't go back."),
            why=_("Friends could draw new luck until they've beaten the bots, and it would count for their ratings."),
            remedy=_("Nothing changed."),
        )
    entries = standing_entries(rules_of(row), log.chain(tx, row.id, row.key))
    own = (each.turn for each in reversed(entries) if seat in each.entry.choices.keys() - each.entry.alone)
    back_to = next(own, None)
    if back_to is None:
        raise Gone(_("You have no move to take back."), remedy=_("Nothing changed."))
    others = {*people_by_seat(tx, game_id).values()} - {person_id}
    if not others:
        raise Gone(
            _("Nobody here could agree to go back."), why=_("Only bots play against you."), remedy=_("Nothing changed.")
        )
    undo.must_have_shown_nothing_hidden(tx, row, [each for each in entries if each.turn >= back_to])
    vote_rows.drop_back_votes(tx, game_id)
    _vote(tx, row, person_id, back_to)
    _ask(tx, server, row, seat, others, back_to)
    return back_to


def agree(
    tx: Tx, server: Server, game_id: int, seat: int, person_id: int, turn: int, head: str = ""
) -> tuple[int, bool]:
    """Agree to go back, in the open turn, and at the head if one is named, that the player has seen.

    Returns the turn to go back to, and whether everyone has agreed and it was done. Agreeing twice changes nothing. Raises Gone
    or Stale.
    """
    row = _lock(tx, game_id, seat, person_id)
    if turn != row.turn or head not in ("", hash_chain.fingerprint(row.entry_head)):
        if turn < row.turn and (done := _gone_back_to(tx, row)) is not None:
            return done, True
        raise Stale(
            _("The game has moved on since it was proposed to go back."),
            remedy=_("Nothing changed. You can propose it again."),
        )
    back_to = next(iter(vote_rows.back_votes(tx, row).values()), None)
    if back_to is None:
        raise Gone(_("Nobody is proposing to go back now."), remedy=_("Nothing changed."))
    _vote(tx, row, person_id, back_to)
    if people_by_seat(tx, game_id).keys() - vote_rows.back_votes(tx, row).keys():
        return back_to, False
    entries = standing_entries(rules_of(row), log.chain(tx, row.id, row.key))
    row = rewind.go_back(tx, server, row, entries, back_to, Actor.PERSON, {})
    notify_people(tx, server, row, "rewound", {"turn": back_to, "next_turn": row.turn, "by": "everyone"})
    rewind.ask_again(tx, server, row)
    return back_to, True


def play_on(tx: Tx, server: Server, game_id: int, seat: int, person_id: int) -> None:
    """Refuse to go back, or withdraw the proposal: it ends for everyone. Doing so twice changes nothing."""
    _lock(tx, game_id, seat, person_id)
    vote_rows.drop_back_votes(tx, game_id)


def _lock(tx: Tx, game_id: int, seat: int, person_id: int) -> GameRow:
    row = lock_seat(tx, game_id, seat, person_id)
    move.must_be_playing(row)
    if not row.going_back:
        raise Gone(
            _("This table hasn't agreed on going back."), remedy=_("If something has gone wrong, ask the organiser.")
        )
    return row


def _gone_back_to(tx: Tx, row: GameRow) -> int | None:
    """The turn that the game has just gone back to by consent, or None."""
    last = next(log.chain_back(tx, row.id, row.key, CLOSES_TURN), None)
    if last is None or last.kind != Kind.REWOUND or last.seat is not None or last.by != Actor.PERSON:
        return None
    turn: int = json_body_of(last)["from"]
    return turn


def _vote(tx: Tx, row: GameRow, person_id: int, back_to: int) -> None:
    votes = vote_rows.back_votes(tx, row)
    for seat, player in people_by_seat(tx, row.id).items():
        if player == person_id and seat not in votes:
            vote_rows.add_back_vote(tx, row, seat, back_to)


def _ask(tx: Tx, server: Server, row: GameRow, seat: int, others: set[int], back_to: int) -> None:
    now, players = server.now(), player_rows.of_game(tx, row.id)
    facts = {"who": next(player.called for player in players if player.seat == seat), "back_to": back_to}
    seats = {person_id: at for at, person_id in people_by_seat(tx, row.id).items()}
    # Proposing and withdrawing all day must not email the others each time.
    day = limits.last(timedelta(days=1), now)
    emails = [
        outbox.NewEmail(other, EmailKind.BACK_PROPOSED, row.id, None, seats[other], row.turn, facts)
        for other in sorted(others)
        if people.count_emails_in(tx, other, EmailKind.BACK_PROPOSED, day, row.id) < PROPOSALS_A_DAY
    ]
    outbox.queue(tx, emails, now)
