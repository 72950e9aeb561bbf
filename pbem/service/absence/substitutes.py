"""Substitutes: a seat on offer is asked for, withdrawn from, taken over, or taken back by its player.

The first to accept an offer reserves the seat. Its player stays until the open turn is over, and any move keeps their seat:
so a reservation tells nobody whether the player has answered. A seat that a bot plays changes hands at once, and its
player may return from the bot.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from pbem.domain.deleted_people import PersonName, is_former
from pbem.domain.errors import Forbidden, Gone, Refusal
from pbem.domain.missed_turns import Successor
from pbem.domain.states import OfferStatus, TableStatus
from pbem.domain.user_text import parse_name
from pbem.i18n.speech import gettext as _
from pbem.service.absence import offers, seats
from pbem.service.clocks.deadlines import queue_notice
from pbem.service.people import addresses, quota
from pbem.service.people.bans import must_have_room
from pbem.service.people.quota import Quota, quota_of
from pbem.service.play.move import Actor, must_not_be_frozen
from pbem.service.server import Server
from pbem.store import games, people, players as player_rows, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.tables import OfferRow

MOST_RESIGNATIONS: Final = 3
"""How often one person can resign from a table and have a seat there again: each time everyone there gets an email."""

_ASK_ONCE: Final = timedelta(days=30)
"""How long someone who has withdrawn their request for a seat can't ask for it again."""

_UNNAMED: Final = "Substitute"
"""The name of a person who has never given one."""


def take(tx: Tx, server: Server, offer_id: int, person_id: int, name: str = "") -> bool:
    """Accept an offer. Returns whether the seat is the person's already. Accepting twice changes nothing.

    The first person gets the seat: at once from a bot, and from a player when the open turn is over. Before that nobody may
    learn, by being refused, that the player has answered; so they reserve the seat in the same words whether or not.
    """
    game = games.lock(tx, tables.offer(tx, offer_id).game_id)
    offer = tables.offer(tx, offer_id)
    player = player_rows.at_seat(tx, game.id, offer.seat)
    if offer.taken_by == person_id and offer.status == OfferStatus.OPEN:
        return False
    if offer.taken_by == person_id and player is not None and player.person_id == person_id:
        return True
    must_not_be_frozen(game)
    if game.status != TableStatus.PLAYING:
        raise Gone(_("This game is over."), remedy=_("You can join another open table."))
    if offer.status != OfferStatus.OPEN or not offers.is_openly_gone(tx, offer):
        raise Gone(_("This seat is no longer on offer."), why=_("Someone else took it, or its player came back."))
    if offer.successor != Successor.SUBSTITUTE:
        raise Forbidden(_("This table doesn't use substitutes."), why=_("Its settings say that a bot takes over."))
    if offer.taken_by is not None:
        raise Gone(_("Someone else has asked for this seat."), why=_("They asked first."))
    person = _taker(tx, server, game, offer.seat, person_id)
    if withdrawn_from(tx, server, [offer.id], person_id):
        raise Forbidden(
            _("You have withdrawn your request for this seat."),
            why=_("Asking and withdrawing again and again would keep the seat from others."),
            remedy=_("Look for another seat on the front page."),
        )
    name = addresses.read_name(tx, server, name or person.name, stored=not name)
    if player is not None and player.person_id is not None:
        tables.reserve(tx, offer.id, person_id, name, game.turn)
        return False
    _hand_over(tx, server, game, offer, person, name)
    return True


def withdraw(tx: Tx, server: Server, offer_id: int, person_id: int) -> bool:
    """Withdraw one's request for a seat for good, so that others can ask for it. Returns False if there is none any more.

    Raises Gone if the seat is theirs already.
    """
    game = games.lock(tx, tables.offer(tx, offer_id).game_id)
    offer = tables.offer(tx, offer_id)
    if offer.taken_by == person_id and offer.status == OfferStatus.OPEN:
        tables.drop_reservation(tx, offer.id)
        quota.take(tx, server, [_request(server, offer.id, person_id)])
        return True
    player = player_rows.at_seat(tx, game.id, offer.seat)
    if player is not None and player.person_id == person_id:
        raise Gone(_("You already have this seat."), remedy=_("To give it up, leave the table on its page."))
    return False


def come_back(tx: Tx, server: Server, game_id: int, seat: int, person_id: int) -> None:
    """Take one's own seat back from a bot. Doing so twice changes nothing."""
    game = games.lock(tx, game_id)
    players = player_rows.of_game(tx, game_id)
    player = next((player for player in players if player.seat == seat), None)
    if player is not None and player.person_id == person_id:
        return
    must_not_be_frozen(game)
    if game.status != TableStatus.PLAYING:
        raise Gone(_("This game is over."), remedy=_("The result is on its page."))
    offer = tables.offer_of_seat(tx, game_id, seat)
    if player is None or offer is None or offer.person_id != person_id:
        raise Forbidden(_("You can't reclaim this seat."), why=_("Someone else has it now, or it was never yours."))
    person = people.lock(tx, person_id)
    _must_have_no_other_seat(tx, game, seat, person_id)
    _must_not_resign_for_ever(tx, game, person_id)
    must_have_room(tx, server, person, game)
    name = seats.name_at(tx, game_id, seat, person_id, parse_name(person.name, stored=True))
    game = seats.give_to_person(tx, server, game, seat, Actor.PERSON, person, name)
    tables.end_offer(tx, offer.id, OfferStatus.BACK, server.now())
    tell_taker(tx, server, game, offer, "back")
    offers.tell_others(tx, server, game, seat, "player_back", {"who": PersonName(person_id, name), "seat": seat})


def replace_player(
    tx: Tx, server: Server, game_id: int, seat: int, person_id: int | None, reason: str, by: str
) -> None:
    """Give a seat to another person, or to a bot, for an organiser."""
    game, before, players = offers.lock_seat(tx, game_id, seat)
    if before.person_id == person_id:
        raise Gone(_("They already have this seat."), remedy=_("Nothing changed."))
    if person_id is None:
        game = seats.give_to_bot(tx, server, game, seat, by, reason)
        what, who = "bot_plays", before.called
    else:
        person = people.lock(tx, person_id)
        if is_former(person.address):
            raise Gone(_("This person's account was deleted."), remedy=_("Nothing changed."))
        if not game.doubles and any(player.person_id == person_id for player in players):
            raise Forbidden(_("They're already at this table."), why=_("Its host allows one seat per player."))
        must_have_room(tx, server, person, game)
        name = seats.name_at(tx, game_id, seat, person_id, parse_name(person.name or _UNNAMED, stored=True))
        game = seats.give_to_person(tx, server, game, seat, by, person, name, reason)
        who = PersonName(person_id, name)
        what = "substitute_plays"
    offer = tables.offer_of_seat(tx, game_id, seat)
    if offer is not None:
        tables.end_offer(tx, offer.id, OfferStatus.OVER, server.now(), person_id)
        if offer.taken_by != person_id:
            tell_taker(tx, server, game, offer, "other")
    facts = {"who": who, "gone": before.called, "seat": seat, "why": "organiser", "reason": reason, "by": by}
    offers.tell_others(tx, server, game, seat, what, facts)
    if before.person_id is not None:
        facts |= {"by_bot": person_id is None}
        queue_notice(tx, server, before.person_id, game, None, "seat_taken", facts)


def tidy(server: Server) -> int:
    """Close offers whose game is over or whose player is back, and settle reservations. Returns how many are over."""
    return sum(bool(server.attempt(_tidy, offer_id)) for offer_id in server.query(tables.open_ids))


def tell_taker(tx: Tx, server: Server, game: GameRow, offer: OfferRow, outcome: str, reason: str = "") -> None:
    """Tell the person who reserved a seat, if any, that they do not get it."""
    if offer.taken_by is None:
        return
    gone = next(player.called for player in player_rows.of_game(tx, game.id) if player.seat == offer.seat)
    facts = {"outcome": outcome, "gone": gone, "says": reason}
    queue_notice(tx, server, offer.taken_by, game, None, "reservation_lost", facts)


def _taker(tx: Tx, server: Server, game: GameRow, seat: int, person_id: int) -> PersonRow:
    """The person, locked, who may take a seat of the game. Raises Forbidden or TooMany."""
    person = people.lock(tx, person_id)
    if person.confirmed_at is None:
        raise Forbidden(_("This address isn't confirmed yet."), remedy=_("Open the link in our email first."))
    _must_have_no_other_seat(tx, game, seat, person_id)
    _must_not_resign_for_ever(tx, game, person_id)
    must_have_room(tx, server, person, game)
    seats.must_not_have_looked(tx, person_id, game.id)
    return person


def _must_have_no_other_seat(tx: Tx, game: GameRow, seat: int, person_id: int) -> None:
    """Raise Forbidden if the person has, or has had, another seat of the game and so knows another hand, unless all may."""
    if game.doubles:
        return
    if any(player.person_id == person_id for player in player_rows.of_game(tx, game.id)):
        raise Forbidden(_("You're already at this table."), why=_("Its host allows one seat per player."))
    if any(left.person_id == person_id and left.seat != seat for left in player_rows.former_of_game(tx, game.id)):
        raise Forbidden(_("You've had another seat in this game."), why=_("Its host allows one seat per player."))


def _must_not_resign_for_ever(tx: Tx, game: GameRow, person_id: int) -> None:
    """Raise Forbidden for someone who has resigned from the table too often."""
    if tables.count_resigned(tx, game.id, person_id) >= MOST_RESIGNATIONS:
        raise Forbidden(
            _("You have resigned from this table %(times)s times.", times=MOST_RESIGNATIONS),
            why=_("Each time everyone at the table gets an email, and may have to wait."),
            remedy=_("Nothing changed. You can play at another table."),
        )


def withdrawn_from(tx: Tx, server: Server, offer_ids: Iterable[int], person_id: int) -> set[int]:
    """The offers for which a person has withdrawn their request, and so can't ask again."""
    requests = {_request(server, each, person_id): each for each in offer_ids}
    return {requests[each] for each in quota.used_up(tx, server, requests)}


def _request(server: Server, offer_id: int, person_id: int) -> Quota:
    """The quota of a person's requests for a seat on offer: one, once it was withdrawn."""
    return quota_of(server, "withdrawn", f"{offer_id}/{person_id}", 1, _ASK_ONCE)


def _hand_over(tx: Tx, server: Server, game: GameRow, offer: OfferRow, person: PersonRow, name: str) -> None:
    """Give a seat on offer to a person, and tell the table."""
    players = player_rows.of_game(tx, game.id)
    before = next(player for player in players if player.seat == offer.seat)
    name = seats.name_at(tx, game.id, offer.seat, person.id, name)
    game = seats.give_to_person(tx, server, game, offer.seat, Actor.PERSON, person, name)
    tables.end_offer(tx, offer.id, OfferStatus.TAKEN, server.now(), person.id)
    facts = {"who": PersonName(person.id, name), "gone": before.called, "seat": offer.seat, "offer": offer.id}
    offers.tell_others(tx, server, game, offer.seat, "substitute_plays", facts)
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
    if playing and offers.is_openly_gone(tx, offer):
        is_due = offer.reserved_turn is not None and game.turn > offer.reserved_turn and not game.paused
        return is_due and _settle_reservation(tx, server, game, offer)
    tables.end_offer(tx, offer.id, OfferStatus.BACK if playing else OfferStatus.OVER, server.now())
    tell_taker(tx, server, game, offer, "back" if playing else "over")
    return True


def _settle_reservation(tx: Tx, server: Server, game: GameRow, offer: OfferRow) -> bool:
    """Give a seat to the person who reserved it, if they still may have it. Returns whether they have it."""
    assert offer.taken_by is not None
    assert offer.reserved_as is not None
    # Their own reservation must not be among the tables that leave no room for it.
    tables.drop_reservation(tx, offer.id)
    try:
        person = _taker(tx, server, game, offer.seat, offer.taken_by)
    except Refusal as refused:
        tell_taker(tx, server, game, offer, "refused", str(refused))
        return False
    _hand_over(tx, server, game, offer, person, offer.reserved_as)
    return True
