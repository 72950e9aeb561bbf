"""Seats whose players are gone: given to a bot, or offered to volunteers.

    missed       the player missed as many turns in a row as the table allows
    unreachable  email to the player has failed for longer than the others wait
    resigned     the player resigned; a bot plays the seat already

If the table agreed on a bot, it takes over at once. If it agreed on a substitute, volunteers are emailed; how they get the
seat is in `substitutes`. The player stays until then, and any move keeps their seat.
Private tables never ask volunteers, so a bot takes over. This holds for the last person among bots, too: nobody is emailed
for ever about a game they have left.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from pbem.domain.deadline import PATIENCE, seat_offer_at, waits_for_email
from pbem.domain.errors import Forbidden, Gone
from pbem.domain.missed_turns import Successor, successor_after
from pbem.domain.states import EmailKind, TableStatus, TurnStatus
from pbem.i18n.speech import gettext as _
from pbem.service.absence import seats
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.clocks.deadlines import queue_notice
from pbem.service.play.log import SECRET, Kind, json_body_of
from pbem.service.play.move import IN_PERSON, Actor, agreement_of
from pbem.service.server import Server
from pbem.store import (
    blocks,
    deadlines,
    games,
    limits,
    log,
    outbox,
    people,
    players as player_rows,
    reachability,
    tables,
)
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.store.tables import OfferRow

MOST_ASKED: Final = 20
"""Volunteers emailed about one seat."""

OFFERS_A_DAY: Final = 5
"""Emails in a day that offer one volunteer a seat, and only one of them of the same table."""

MOST_SHOWN: Final = 100
_BATCH: Final = 200
"""Clocks read at once."""

_OWN_ACTS: Final = SECRET | {Kind.ENTRY, Kind.UNDONE, Kind.REWOUND}
"""Kinds of rows by which a seat's player acts. Others name the seat too, such as those of more time that another player gave it."""


def set_volunteer(tx: Tx, server: Server, person_id: int, *, volunteers: bool) -> None:
    """Add or remove a volunteer for seats whose players are gone."""
    people.lock(tx, person_id)
    tables.set_volunteer(tx, person_id, volunteers, server.now())


def open_offers(tx: Tx, server: Server) -> list[OfferRow]:
    """Offers a substitute can accept now, newest first.

    Anyone may read them. An offer whose player has answered in the open turn is among them until that turn is over:
    otherwise it would tell the others at the table who has answered. It can be reserved, in vain.
    """
    return [offer for offer in tables.open_to_all(tx, MOST_SHOWN) if is_openly_gone(tx, offer)]


def read_offer(tx: Tx, server: Server, offer_id: int) -> OfferRow:
    """One offer, open or not. Raises NotFound."""
    return tables.offer(tx, offer_id)


def offer_seat(tx: Tx, server: Server, game_id: int, seat: int, reason: str, by: str) -> int:
    """Offer a seat to volunteers, for an organiser. Returns how many are emailed."""
    game, before, _players = lock_seat(tx, game_id, seat)
    if before.person_id is None:
        raise Gone(_("A bot plays this seat."), why=_("Only a person's seat can be offered."))
    if game.private:
        raise Forbidden(
            _("This table is private, so its seats aren't offered to strangers."),
            remedy=_("Replace the player with a bot or someone you choose."),
        )
    if tables.offer_of_seat(tx, game_id, seat) is not None:
        raise Gone(_("This seat is already on offer."), remedy=_("Nothing changed."))
    return _put_on_offer(tx, server, game, before, "organiser", by, reason)


def after_missed_turns(tx: Tx, server: Server, game: GameRow, player: PlayerRow) -> bool:
    """Give up a seat if its player has missed as many turns in a row as the table allows. The game is locked.

    Not while the last of these turns is open: the others would learn what was chosen for the player. And whether or not
    the player has answered the turn after it, as long as that one is open: the others would learn that. An answer keeps a
    seat on offer once it is known, even if it was made before the offer. Returns whether the seat was given up.
    """
    assert player.seat is not None
    asked = deadlines.read(tx, game.id, game.turn, player.seat)
    if asked is not None and asked.status == TurnStatus.MISSED:
        return False
    if successor_after(player.missed, agreement_of(game)) is None:
        return False
    closed = next(log.chain_back(tx, game.id, game.key, [Kind.ENTRY]))
    return _give_up(tx, server, game, player, "missed", since=closed.at)


def after_resignation(tx: Tx, server: Server, game: GameRow, seat: int, person_id: int) -> None:
    """Offer a seat, unless it is on offer, after its player resigned and a bot took over. The game is locked."""
    if tables.offer_of_seat(tx, game.id, seat) is not None:
        return
    successor = agreement_of(game).successor
    offer_id = tables.add_offer(tx, game.id, seat, person_id, "resigned", successor, server.now())
    if successor is Successor.SUBSTITUTE:
        _email_volunteers(tx, server, game, offer_id, seat, person_id)


def give_up_missed(server: Server) -> int:
    """Give up the seats of people who missed too many turns in a row, once the last of these is over. Returns how many."""
    return sum(bool(server.attempt(_give_up_missed, *seat)) for seat in server.query(tables.missed_too_often))


def give_up_unreachable(server: Server) -> int:
    """Give up the seats of people unreachable by email for too long, and start their clocks. Returns how many turns changed."""
    return sum(bool(server.attempt(_give_up_unreachable, *seat)) for seat in server.read(_waited_for_in_vain))


def is_openly_gone(tx: Tx, offer: OfferRow) -> bool:
    """Whether the player of an offer is still gone, as far as everyone at the table may know.

    A move since, or email that arrives again, keeps the seat.
    """
    player = next((player for player in player_rows.of_game(tx, offer.game_id) if player.seat == offer.seat), None)
    if player is None or player.person_id is None:
        return player is not None
    if player.person_id != offer.person_id:
        return False
    if _moved_openly_since(tx, offer.game_id, offer.seat, offer.offered_at):
        return False
    return offer.why != "unreachable" or _failing_since(tx, offer.person_id, offer.offered_at) is not None


def lock_seat(tx: Tx, game_id: int, seat: int) -> tuple[GameRow, PlayerRow, list[PlayerRow]]:
    """Lock a running game. Returns it, the player of the seat and all players. Raises Gone."""
    game = games.lock(tx, game_id)
    if game.status != TableStatus.PLAYING:
        raise Gone(_("This game isn't in progress."), why=_("Seats only change hands during a game."))
    players = player_rows.of_game(tx, game_id)
    before = next((player for player in players if player.seat == seat), None)
    if before is None:
        raise Gone(_("This game has no such seat."))
    return game, before, players


def tell_others(tx: Tx, server: Server, game: GameRow, seat: int, what: str, facts: Mapping[str, object]) -> None:
    """Tell the people on the other seats."""
    people = clocks_deadlines.people_by_seat(tx, game.id)
    for person_id in sorted({person_id for other, person_id in people.items() if other != seat}):
        queue_notice(tx, server, person_id, game, None, what, facts)


def _give_up(tx: Tx, server: Server, game: GameRow, player: PlayerRow, why: str, since: datetime | None = None) -> bool:
    """Give up a seat, to a bot or by an offer. Returns False if that was done before. `since` is when it was to be done."""
    assert player.seat is not None
    assert player.person_id is not None
    if tables.offer_of_seat(tx, game.id, player.seat) is not None:
        return False
    successor = agreement_of(game).successor
    if successor is Successor.SUBSTITUTE:
        _put_on_offer(tx, server, game, player, why, Actor.CLOCK, since=since)
        return True
    offered_at = since or server.now()
    offer_id = tables.add_offer(tx, game.id, player.seat, player.person_id, why, successor, offered_at)
    facts = {"why": why, "who": player.called, "seat": player.seat, "offer": offer_id}
    game = seats.give_to_bot(tx, server, game, player.seat, Actor.CLOCK)
    queue_notice(tx, server, player.person_id, game, None, "replaced", facts)
    tell_others(tx, server, game, player.seat, "bot_plays", facts)
    return True


def _put_on_offer(
    tx: Tx,
    server: Server,
    game: GameRow,
    player: PlayerRow,
    why: str,
    by: str,
    reason: str = "",
    since: datetime | None = None,
) -> int:
    """Offer a seat, which its player keeps until it is taken, and email the table. Returns how many volunteers are emailed."""
    assert player.seat is not None
    assert player.person_id is not None
    offered_at = since or server.now()
    offer_id = tables.add_offer(tx, game.id, player.seat, player.person_id, why, Successor.SUBSTITUTE, offered_at)
    game = seats.offer(tx, server, game, player.seat, by, why, reason)
    facts = {"why": why, "who": player.called, "seat": player.seat, "offer": offer_id, "reason": reason, "by": by}
    queue_notice(tx, server, player.person_id, game, None, "seat_offered", facts)
    clocks_deadlines.notify_people(tx, server, game, "seat_on_offer", facts, but={player.person_id})
    return _email_volunteers(tx, server, game, offer_id, player.seat, player.person_id)


def _email_volunteers(tx: Tx, server: Server, game: GameRow, offer_id: int, seat: int, gone: int) -> int:
    """Email an offer to some volunteers, drawn at random. Returns how many."""
    now = server.now()
    # Players may lose their seats as often as they like, and volunteers are strangers to them.
    day = limits.last(timedelta(days=1), now)
    volunteers = tables.volunteers(tx, game.id, (gone,), day, OFFERS_A_DAY)
    drawn = sorted(volunteers, key=lambda _: server.randomness.bytes(8))[:MOST_ASKED]
    emails = [
        outbox.NewEmail(person, EmailKind.SUBSTITUTE, game.id, None, seat, None, {"offer": offer_id})
        for person in sorted(drawn)
        if blocks.current_ban(tx, person, now) is None
    ]
    outbox.queue(tx, emails, now)
    return len(emails)


def _waited_for_in_vain(tx: Tx, server: Server) -> list[tuple[int, int]]:
    """Games and seats of people whose email has failed for so long that the others no longer wait."""
    now, found, after = server.now(), list[tuple[int, int]](), (0, -1)
    while rows := deadlines.of_failing(tx, now - PATIENCE, after, _BATCH):
        clocks = clocks_deadlines.clocks_of(tx, games.read_all(tx, {row.game_id for row in rows}), rows)
        found += [
            (clock.game.id, clock.row.seat) for clock in clocks.values() if not waits_for_email(clock.timing, now)
        ]
        after = (rows[-1].game_id, rows[-1].seat)
    return found


def _give_up_missed(tx: Tx, server: Server, game_id: int, seat: int) -> bool:
    game = games.lock_if_free(tx, game_id)
    if game is None or game.status != TableStatus.PLAYING or game.paused:
        return False
    player = next(player for player in player_rows.of_game(tx, game.id) if player.seat == seat)
    return player.person_id is not None and after_missed_turns(tx, server, game, player)


def _give_up_unreachable(tx: Tx, server: Server, game_id: int, seat: int) -> bool:
    """Give up one seat, and start its clock so that the others need not wait. Returns whether anything changed.

    Whether its player has answered in the open turn makes no difference: everyone at the table hears of the seat.
    """
    game = games.lock_if_free(tx, game_id)
    if game is None or game.status != TableStatus.PLAYING or game.paused:
        return False
    clock = clocks_deadlines.clock_of(tx, game, game.turn, seat, answered=True)
    if clock is None:
        return False
    # Not from when its email was written: one that nobody accepts is written again until its turn is answered.
    offer_at = seat_offer_at(replace(clock.timing, rendered_at=clock.row.asked_at))
    since = _failing_since(tx, clock.person.id, clock.row.asked_at)
    if since is None or waits_for_email(clock.timing, server.now()):
        return False
    # A player who moves on the pages is not gone, whatever their email does; but their clock runs.
    overdue = offer_at is not None and offer_at <= server.now()
    gone = overdue and not _moved_openly_since(tx, game.id, seat, since)
    player = next(player for player in player_rows.of_game(tx, game.id) if player.seat == seat)
    given_up = gone and _give_up(tx, server, game, player, "unreachable")
    after = deadlines.read(tx, game.id, clock.row.turn, seat)
    if after is None or after.status != TurnStatus.OPEN or after.due_at is not None:
        return given_up
    # The others must not wait for a substitute for ever, so the clock starts even without an email.
    is_new = after.accepted_at is None
    after = replace(after, accepted_at=after.accepted_at or server.now())
    clocks_deadlines.settle(tx, server, game, after, tell=is_new)
    return True


def _moved_openly_since(tx: Tx, game_id: int, seat: int, moment: datetime) -> bool:
    """Whether the player of a seat has made a choice of their own since then, as far as everyone at the table may know.

    A secret choice or order counts with the next entry that the seat is in.
    """
    in_secret = False
    for row in log.chain(tx, game_id, games.read(tx, game_id).key):
        own = row.seat == seat and row.kind in _OWN_ACTS and row.at > moment and row.by in IN_PERSON
        if own and row.kind in SECRET:
            in_secret = True
        elif own or (in_secret and row.kind == Kind.ENTRY and seat in dict(json_body_of(row)["entry"]["choices"])):
            return True
    return False


def _failing_since(tx: Tx, person_id: int, before: datetime) -> datetime | None:
    """When the present failure of email to a person began; None if there is none."""
    failures = reachability.since(tx, {person_id}, before)[person_id]
    return next((failure.start for failure in failures if failure.end is None), None)
