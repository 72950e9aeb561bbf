"""Substitutes: seats whose players are gone are given to a bot, offered to volunteers, or taken back.

    missed       the player missed as many turns in a row as the table allows
    unreachable  email to the player has failed for longer than the others wait
    resigned     the player resigned; a bot plays the seat already

If the table agreed on a bot, it takes over at once. If it agreed on a substitute, volunteers are emailed and the first to
accept reserves the seat. The player stays until the open turn is over, and any move keeps their seat: so a reservation
tells nobody whether the player has answered. A player may return from a bot.
Private tables never ask volunteers, so a bot takes over. This holds for the last person among bots, too: nobody is emailed
for ever about a game they have left.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from pbem.domain.deadline import PATIENCE, seat_offer_at
from pbem.domain.errors import Forbidden, Gone, Refusal
from pbem.domain.missed_turns import Successor, successor_after
from pbem.domain.states import EmailKind, OfferStatus, TableStatus
from pbem.domain.user_text import parse_name
from pbem.i18n.speech import gettext as _
from pbem.service.absence import seats
from pbem.service.absence.seats import free_name
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.clocks.deadlines import queue_notice
from pbem.service.people import addresses
from pbem.service.people.bans import must_have_room
from pbem.service.play.log import SECRET, Kind, json_body_of
from pbem.service.play.move import IN_PERSON, Actor, agreement_of, must_not_be_frozen
from pbem.service.server import Server
from pbem.store import blocks, deadlines, games, log, outbox, people, players as player_rows, reachability, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow
from pbem.store.tables import OfferRow

MOST_ASKED: Final = 20
"""Volunteers emailed about one seat."""

MOST_SHOWN: Final = 100
_UNNAMED: Final = "Substitute"
"""The name of a person who has never given one."""

_BATCH: Final = 50


def set_volunteer(tx: Tx, server: Server, person_id: int, *, volunteers: bool) -> None:
    """Add or remove a volunteer for seats whose players are gone."""
    people.lock(tx, person_id)
    tables.set_volunteer(tx, person_id, volunteers, server.now())


def open_offers(tx: Tx, server: Server) -> list[OfferRow]:
    """Offers a substitute can accept now, newest first.

    Anyone may read them. An offer whose player has answered in the open turn is among them until that turn is over:
    otherwise it would tell the others at the table who has answered. It can be reserved, in vain.
    """
    return [offer for offer in tables.open_to_all(tx, MOST_SHOWN) if _is_openly_gone(tx, offer)]


def read_offer(tx: Tx, server: Server, offer_id: int) -> OfferRow:
    """One offer, open or not. Raises NotFound."""
    return tables.offer(tx, offer_id)


def take(tx: Tx, server: Server, offer_id: int, person_id: int, name: str = "") -> bool:
    """Accept an offer. Returns whether the seat is the person's already. Accepting twice changes nothing.

    The first person gets the seat: at once from a bot, and from a player when the open turn is over. Before that nobody may
    learn, by being refused, that the player has answered; so they reserve the seat in the same words whether or not.
    """
    game = games.lock(tx, tables.offer(tx, offer_id).game_id)
    offer = tables.offer(tx, offer_id)
    if offer.taken_by == person_id and offer.status in (OfferStatus.TAKEN, OfferStatus.OPEN):
        return offer.status == OfferStatus.TAKEN
    must_not_be_frozen(game)
    if game.status != TableStatus.PLAYING:
        raise Gone(_("This game is over."), remedy=_("There are other tables in the lobby."))
    if offer.status != OfferStatus.OPEN or not _is_openly_gone(tx, offer):
        raise Gone(_("This seat is no longer on offer."), why=_("Someone else took it, or its player came back."))
    if offer.successor != Successor.SUBSTITUTE:
        raise Forbidden(_("This table did not agree on a substitute."), why=_("As agreed, a bot plays the seat."))
    if offer.taken_by is not None:
        raise Gone(_("Someone else has asked for this seat."), why=_("They were faster."))
    player = player_rows.at_seat(tx, game.id, offer.seat)
    person = _taker(tx, server, game, person_id)
    name = addresses.read_name(tx, server, name or person.name)
    if player is not None and player.person_id is not None:
        tables.reserve(tx, offer.id, person_id, name, game.turn)
        return False
    _hand_over(tx, server, game, offer, person, name)
    return True


def come_back(tx: Tx, server: Server, game_id: int, seat: int, person_id: int) -> None:
    """Take one's own seat back from a bot. Doing so twice changes nothing."""
    game = games.lock(tx, game_id)
    players = player_rows.of_game(tx, game_id)
    player = next((player for player in players if player.seat == seat), None)
    if player is not None and player.person_id == person_id:
        return
    must_not_be_frozen(game)
    if game.status != TableStatus.PLAYING:
        raise Gone(_("This game is over."), remedy=_("Its result is on its page."))
    offer = tables.offer_of_seat(tx, game_id, seat)
    if player is None or offer is None or offer.person_id != person_id:
        raise Forbidden(_("You can't take back this seat."), why=_("Someone else has it now, or it never was yours."))
    person = people.read(tx, person_id)
    name = free_name([other for other in players if other is not player], parse_name(person.name))
    game = seats.give_to_person(tx, server, game, seat, Actor.PERSON, person, name)
    tables.end_offer(tx, offer.id, OfferStatus.BACK, server.now())
    _tell_others(tx, server, game, seat, "player_back", {"who": name, "seat": seat})


def replace_player(
    tx: Tx, server: Server, game_id: int, seat: int, person_id: int | None, reason: str, by: str
) -> None:
    """Give a seat to another person, or to a bot, for an organiser."""
    game, before, players = _lock_seat(tx, game_id, seat)
    if before.person_id == person_id:
        raise Gone(_("They already have this seat."), remedy=_("Nothing changed."))
    if person_id is None:
        game = seats.give_to_bot(tx, server, game, seat, by, reason)
        what, who = "bot_plays", before.name
    else:
        person = people.lock(tx, person_id)
        if not game.doubles and any(player.person_id == person_id for player in players):
            raise Forbidden(_("They are already at this table."), why=_("Its host allows one seat per player."))
        must_have_room(tx, server, person, game)
        who = free_name([player for player in players if player is not before], parse_name(person.name or _UNNAMED))
        game = seats.give_to_person(tx, server, game, seat, by, person, who, reason)
        what = "substitute_plays"
    offer = tables.offer_of_seat(tx, game_id, seat)
    if offer is not None:
        tables.end_offer(tx, offer.id, OfferStatus.OVER, server.now(), person_id)
        if offer.taken_by != person_id:
            _tell_taker(tx, server, game, offer, "other")
    facts = {"who": who, "gone": before.name, "seat": seat, "why": "organiser", "reason": reason, "by": by}
    _tell_others(tx, server, game, seat, what, facts)
    if before.person_id is not None:
        facts |= {"by_bot": person_id is None}
        queue_notice(tx, server, before.person_id, game, None, "seat_taken", facts)


def offer_seat(tx: Tx, server: Server, game_id: int, seat: int, reason: str, by: str) -> int:
    """Offer a seat to volunteers, for an organiser. Returns how many are emailed."""
    game, before, _players = _lock_seat(tx, game_id, seat)
    if before.person_id is None:
        raise Gone(_("A bot plays this seat."), why=_("Only the seat of a person can be offered."))
    if game.private:
        raise Forbidden(
            _("Strangers are never invited to a private table."), remedy=_("Let a bot or a particular person play.")
        )
    if tables.offer_of_seat(tx, game_id, seat) is not None:
        raise Gone(_("This seat is already on offer."), remedy=_("Nothing changed."))
    return _put_on_offer(tx, server, game, before, "organiser", by, reason)


def after_missed_turns(tx: Tx, server: Server, game: GameRow, player: PlayerRow) -> None:
    """Give up a seat if its player has missed as many turns in a row as the table allows. The game is locked."""
    if successor_after(player.missed, agreement_of(game)) is not None:
        _give_up(tx, server, game, player, "missed")


def after_resignation(tx: Tx, server: Server, game: GameRow, seat: int, person_id: int) -> None:
    """Offer a seat, unless it is on offer, after its player resigned and a bot took over. The game is locked."""
    if tables.offer_of_seat(tx, game.id, seat) is not None:
        return
    successor = agreement_of(game).successor
    offer_id = tables.add_offer(tx, game.id, seat, person_id, "resigned", successor, server.now())
    if successor is Successor.SUBSTITUTE:
        _email_volunteers(tx, server, game, offer_id, seat, person_id)


def give_up_unreachable(server: Server) -> int:
    """Give up the seats of people unreachable by email for too long. Returns how many turns were settled."""
    now = server.now()
    with server.store.read() as tx:
        failing = reachability.failing(tx, now - PATIENCE, _BATCH)
        turns = [row for person in failing for row in deadlines.of_person(tx, person.person_id)]
    return sum(server.run(_give_up_unreachable, row) for row in turns)


def tidy(server: Server) -> int:
    """Close offers whose game is over or whose player is back, and settle reservations. Returns how many are over."""
    return sum(server.run(_tidy, offer_id) for offer_id in server.query(tables.open_ids))


def _give_up(tx: Tx, server: Server, game: GameRow, player: PlayerRow, why: str) -> bool:
    """Give up a seat, to a bot or by an offer. Returns False if that was done before."""
    assert player.seat is not None
    assert player.person_id is not None
    if tables.offer_of_seat(tx, game.id, player.seat) is not None:
        return False
    successor = agreement_of(game).successor
    if successor is Successor.SUBSTITUTE:
        _put_on_offer(tx, server, game, player, why, Actor.CLOCK)
        return True
    offer_id = tables.add_offer(tx, game.id, player.seat, player.person_id, why, successor, server.now())
    facts = {"why": why, "who": player.name, "seat": player.seat, "offer": offer_id}
    game = seats.give_to_bot(tx, server, game, player.seat, Actor.CLOCK)
    queue_notice(tx, server, player.person_id, game, None, "replaced", facts)
    _tell_others(tx, server, game, player.seat, "bot_plays", facts)
    return True


def _put_on_offer(tx: Tx, server: Server, game: GameRow, player: PlayerRow, why: str, by: str, reason: str = "") -> int:
    """Offer a seat, which its player keeps until it is taken, and email the table. Returns how many volunteers are emailed."""
    assert player.seat is not None
    assert player.person_id is not None
    offer_id = tables.add_offer(tx, game.id, player.seat, player.person_id, why, Successor.SUBSTITUTE, server.now())
    game = seats.offer(tx, server, game, player.seat, by, why, reason)
    facts = {"why": why, "who": player.name, "seat": player.seat, "offer": offer_id, "reason": reason, "by": by}
    queue_notice(tx, server, player.person_id, game, None, "seat_offered", facts)
    clocks_deadlines.notify_people(tx, server, game, "seat_on_offer", facts, but={player.person_id})
    return _email_volunteers(tx, server, game, offer_id, player.seat, player.person_id)


def _email_volunteers(tx: Tx, server: Server, game: GameRow, offer_id: int, seat: int, gone: int) -> int:
    """Email an offer to some volunteers, drawn at random. Returns how many."""
    volunteers = tables.volunteers(tx, game.id, without=(gone,))
    now = server.now()
    drawn = sorted(volunteers, key=lambda _: server.randomness.bytes(8))[:MOST_ASKED]
    emails = [
        outbox.NewEmail(person, EmailKind.SUBSTITUTE, game.id, None, seat, None, {"offer": offer_id})
        for person in sorted(drawn)
        if blocks.current_ban(tx, person, now) is None
    ]
    outbox.queue(tx, emails, now)
    return len(emails)


def _lock_seat(tx: Tx, game_id: int, seat: int) -> tuple[GameRow, PlayerRow, list[PlayerRow]]:
    """Lock a running game. Returns it, the player of the seat and all players. Raises Gone."""
    game = games.lock(tx, game_id)
    if game.status != TableStatus.PLAYING:
        raise Gone(_("This game isn't running."), why=_("Only seats of running games change hands."))
    players = player_rows.of_game(tx, game_id)
    before = next((player for player in players if player.seat == seat), None)
    if before is None:
        raise Gone(_("There is no such seat in this game."))
    return game, before, players


def _give_up_unreachable(tx: Tx, server: Server, deadline: deadlines.DeadlineRow) -> bool:
    """Give up one seat, and start its clock so that the others need not wait. Returns whether anything changed."""
    game = games.lock_if_free(tx, deadline.game_id)
    if game is None or game.status != TableStatus.PLAYING or game.paused:
        return False
    clock = clocks_deadlines.clock_of(tx, game, deadline.turn, deadline.seat)
    if clock is None:
        return False
    offer_at = seat_offer_at(clock.timing)
    since = _failing_since(tx, clock.person.id, deadline.asked_at)
    if offer_at is None or offer_at > server.now() or since is None:
        return False
    # A player who moves on the pages is not gone, whatever their email does; but their clock runs.
    gone = not _moved_since(tx, game.id, deadline.seat, since)
    player = next(player for player in player_rows.of_game(tx, game.id) if player.seat == deadline.seat)
    given_up = gone and _give_up(tx, server, game, player, "unreachable")
    after = deadlines.read(tx, game.id, deadline.turn, deadline.seat)
    if after is None or after.due_at is not None:
        return given_up
    # The others must not wait for a substitute for ever, so the clock starts even without an email.
    is_new = after.accepted_at is None
    after = replace(after, accepted_at=after.accepted_at or server.now())
    clocks_deadlines.settle(tx, server, game, after, tell=is_new)
    return True


def _is_openly_gone(tx: Tx, offer: OfferRow) -> bool:
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


def _moved_since(tx: Tx, game_id: int, seat: int, moment: datetime) -> bool:
    """Whether the player of a seat has made a choice of their own since then."""
    rows = log.chain(tx, game_id, games.read(tx, game_id).key)
    return any(row.seat == seat and row.at > moment and row.by in IN_PERSON for row in rows)


def _moved_openly_since(tx: Tx, game_id: int, seat: int, moment: datetime) -> bool:
    """Whether everyone at the table may know that: what was done in secret counts with the next entry that the seat is in."""
    in_secret = False
    for row in log.chain(tx, game_id, games.read(tx, game_id).key):
        own = row.seat == seat and row.at > moment and row.by in IN_PERSON
        if own and row.kind in SECRET:
            in_secret = True
        elif own or (in_secret and row.kind == Kind.ENTRY and seat in dict(json_body_of(row)["entry"]["choices"])):
            return True
    return False


def _failing_since(tx: Tx, person_id: int, before: datetime) -> datetime | None:
    """When the present failure of email to a person began; None if there is none."""
    failures = reachability.since(tx, {person_id}, before)[person_id]
    return next((failure.start for failure in failures if failure.end is None), None)


def _taker(tx: Tx, server: Server, game: GameRow, person_id: int) -> PersonRow:
    """The person, locked, who may take a seat of the game. Raises Forbidden or TooMany."""
    person = people.lock(tx, person_id)
    if person.confirmed_at is None:
        raise Forbidden(_("This address isn't confirmed yet."), remedy=_("Open the link in the email first."))
    if not game.doubles and any(player.person_id == person_id for player in player_rows.of_game(tx, game.id)):
        raise Forbidden(_("You're already at this table."), why=_("Its host allows one seat per player."))
    must_have_room(tx, server, person, game)
    seats.must_not_have_looked(tx, person_id, game.id)
    return person


def _hand_over(tx: Tx, server: Server, game: GameRow, offer: OfferRow, person: PersonRow, name: str) -> None:
    """Give a seat on offer to a person, and tell the table."""
    players = player_rows.of_game(tx, game.id)
    before = next(player for player in players if player.seat == offer.seat)
    name = free_name([player for player in players if player is not before], name)
    game = seats.give_to_person(tx, server, game, offer.seat, Actor.PERSON, person, name)
    tables.end_offer(tx, offer.id, OfferStatus.TAKEN, server.now(), person.id)
    facts = {"who": name, "gone": before.name, "seat": offer.seat, "offer": offer.id}
    _tell_others(tx, server, game, offer.seat, "substitute_plays", facts)
    if before.person_id is not None:
        queue_notice(tx, server, before.person_id, game, None, "seat_taken", facts)


def _tidy(tx: Tx, server: Server, offer_id: int) -> bool:
    """Settle one offer, as far as its time has come. Returns whether it is over."""
    game = games.lock_if_free(tx, tables.offer(tx, offer_id).game_id)
    if game is None:
        return False
    offer, playing = tables.offer(tx, offer_id), game.status == TableStatus.PLAYING
    if offer.status != OfferStatus.OPEN or game.status == TableStatus.FROZEN:
        return False
    if playing and _is_openly_gone(tx, offer):
        is_due = offer.reserved_turn is not None and game.turn > offer.reserved_turn and not game.paused
        return is_due and _settle_reservation(tx, server, game, offer)
    tables.end_offer(tx, offer.id, OfferStatus.BACK if playing else OfferStatus.OVER, server.now())
    _tell_taker(tx, server, game, offer, "back" if playing else "over")
    return True


def _settle_reservation(tx: Tx, server: Server, game: GameRow, offer: OfferRow) -> bool:
    """Give a seat to the person who reserved it, if they still may have it. Returns whether they have it."""
    assert offer.taken_by is not None
    assert offer.reserved_as is not None
    # Their own reservation must not be among the tables that leave no room for it.
    tables.drop_reservation(tx, offer.id)
    try:
        person = _taker(tx, server, game, offer.taken_by)
    except Refusal as refused:
        _tell_taker(tx, server, game, offer, "refused", str(refused))
        return False
    _hand_over(tx, server, game, offer, person, offer.reserved_as)
    return True


def _tell_taker(tx: Tx, server: Server, game: GameRow, offer: OfferRow, outcome: str, reason: str = "") -> None:
    """Tell the person who reserved a seat, if any, that they do not get it."""
    if offer.taken_by is None:
        return
    gone = next(player.name for player in player_rows.of_game(tx, game.id) if player.seat == offer.seat)
    facts = {"outcome": outcome, "gone": gone, "says": reason}
    queue_notice(tx, server, offer.taken_by, game, None, "reservation_lost", facts)


def _tell_others(tx: Tx, server: Server, game: GameRow, seat: int, what: str, facts: Mapping[str, object]) -> None:
    """Tell the people on the other seats."""
    people = clocks_deadlines.people_by_seat(tx, game.id)
    for person_id in sorted({person_id for other, person_id in people.items() if other != seat}):
        queue_notice(tx, server, person_id, game, None, what, facts)
