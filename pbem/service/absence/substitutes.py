"""Seats whose players are gone: given to a bot, offered to a substitute, taken back.

    silent      so many turns in a row as the table agreed to bear
    unreachable mail to the player failed for longer than the others wait
    resigned    the player said so; a bot sits there already

Where the table agreed on a bot, it takes over at once. Where it agreed on a substitute, people who said that they are
willing are asked by mail, and the first who takes the seat has it; until then whoever sits there stays, and any move of
theirs keeps the seat. A player whose seat a bot plays may come back. At a private table strangers are never asked, so a
bot takes over there. The last person among bots is no exception: nobody is mailed about a game for ever that they have left.

How hands are changed, and that old links die, is `seating`'s business.
"""

from datetime import datetime
from typing import Final

from pbem.domain.deadline import PATIENCE
from pbem.domain.errors import Forbidden, Gone
from pbem.domain.missed_turns import Successor, successor_after
from pbem.domain.user_text import parse_name
from pbem.i18n.speech import gettext as _
from pbem.service.absence import seats
from pbem.service.absence.seats import free_name
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.people.admission import must_have_room
from pbem.service.play.log import LogWriter
from pbem.service.play.move import IN_PERSON, By, agreement_of, must_not_be_frozen
from pbem.service.server import Server
from pbem.store import blocks, deadlines, games, log, outbox, people, reachability, tables
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.store.tables import OfferRow

MOST_ASKED: Final = 20
"""So many people are asked by mail to take over one seat."""

MOST_SHOWN: Final = 100
_UNNAMED: Final = "Substitute"
"""What somebody is called at a table who has never given a name."""

_BATCH: Final = 50


def set_willing(tx: Tx, server: Server, person_id: int, *, willing: bool) -> None:
    """Say that one would take over seats whose players are gone, or would no longer."""
    people.lock(tx, person_id)
    tables.set_willing(tx, person_id, willing, server.now())


def is_willing(tx: Tx, server: Server, person_id: int) -> bool:
    """Whether a person has said so."""
    return tables.is_willing(tx, person_id)


def on_offer(tx: Tx, server: Server) -> list[OfferRow]:
    """The seats that a substitute may take now, the newest first."""
    return [offer for offer in tables.open_to_all(tx, MOST_SHOWN) if _still_gone(tx, offer)]


def offered(tx: Tx, server: Server, offer_id: int) -> OfferRow:
    """One offer, whatever has come of it."""
    return tables.offer(tx, offer_id)


def take(tx: Tx, server: Server, offer_id: int, person_id: int, name: str = "") -> GameRow:
    """Take over a seat that is on offer: the first has it; the same person again changes nothing."""
    game = games.lock(tx, tables.offer(tx, offer_id).game_id)
    offer = tables.offer(tx, offer_id)
    if offer.taken_by == person_id and offer.status == "taken":
        return game
    must_not_be_frozen(game)
    if game.status != "playing":
        raise Gone(_("This game is over."), remedy=_("Other tables wait in the lobby."))
    if offer.status != "open" or not _still_gone(tx, offer):
        raise Gone(_("This seat is not on offer any more."), why=_("Somebody was faster, or its player came back."))
    if offer.successor != Successor.SUBSTITUTE:
        raise Forbidden(_("This table did not agree on a substitute."), why=_("A bot plays the seat, as was agreed."))
    person = people.lock(tx, person_id)
    if person.confirmed_at is None:
        raise Forbidden(
            _("This address has not been confirmed."), remedy=_("Please use the link in the mail to it first.")
        )
    players = player_rows.of_game(tx, game.id)
    if not game.doubles and any(player.person_id == person_id for player in players):
        raise Forbidden(_("You sit at this table already."), why=_("Nobody has two seats there, as its host wanted."))
    must_have_room(tx, server, person, game)
    before = next(player for player in players if player.seat == offer.seat)
    called = free_name([player for player in players if player is not before], parse_name(name or person.name))
    record = LogWriter(game, server.now(), server.randomness)
    game = seats.give_to_person(tx, server, game, record, offer.seat, By.PERSON, person, called)
    tables.end_offer(tx, offer.id, "taken", server.now(), person_id)
    facts = {"who": called, "gone": before.name, "seat": offer.seat, "offer": offer.id}
    for other in _others(tx, game.id, offer.seat):
        _notice(tx, server, game, "substitute_plays", facts, other)
    if before.person_id is not None:
        _notice(tx, server, game, "seat_taken", facts, before.person_id)
    return game


def come_back(tx: Tx, server: Server, game_id: int, seat: int, person_id: int) -> GameRow:
    """Take one's old seat back from the bot that plays it; again changes nothing."""
    game = games.lock(tx, game_id)
    players = player_rows.of_game(tx, game_id)
    player = next((player for player in players if player.seat == seat), None)
    if player is not None and player.person_id == person_id:
        return game
    must_not_be_frozen(game)
    if game.status != "playing":
        raise Gone(_("This game is over."), remedy=_("Its result is on its page."))
    offer = tables.offer_of_seat(tx, game_id, seat)
    if player is None or offer is None or offer.person_id != person_id:
        raise Forbidden(
            _("This seat is not yours to take back."), why=_("Somebody else has taken it over, or it never was.")
        )
    person = people.read(tx, person_id)
    called = free_name([other for other in players if other is not player], parse_name(person.name))
    record = LogWriter(game, server.now(), server.randomness)
    game = seats.give_to_person(tx, server, game, record, seat, By.PERSON, person, called)
    tables.end_offer(tx, offer.id, "back", server.now())
    for other in _others(tx, game_id, seat):
        _notice(tx, server, game, "player_back", {"who": called, "seat": seat}, other)
    return game


def replace_player(
    tx: Tx, server: Server, game_id: int, seat: int, person_id: int | None, reason: str, by: str
) -> GameRow:
    """Let somebody else, or a bot, play a seat, because whoever moderates the table says so."""
    game, before, players = _seat_of(tx, game_id, seat)
    if before.person_id == person_id:
        raise Gone(_("The seat is theirs already."), remedy=_("Nothing was changed."))
    record = LogWriter(game, server.now(), server.randomness)
    if person_id is None:
        game = seats.give_to_bot(tx, server, game, record, seat, by, reason)
        what, who = "bot_plays", before.name
    else:
        person = people.lock(tx, person_id)
        if not game.doubles and any(player.person_id == person_id for player in players):
            raise Forbidden(
                _("They sit at this table already."), why=_("Nobody has two seats there, as its host wanted.")
            )
        must_have_room(tx, server, person, game)
        who = free_name([player for player in players if player is not before], parse_name(person.name or _UNNAMED))
        game = seats.give_to_person(tx, server, game, record, seat, by, person, who, reason)
        what = "substitute_plays"
    offer = tables.offer_of_seat(tx, game_id, seat)
    if offer is not None:
        tables.end_offer(tx, offer.id, "over", server.now(), person_id)
    facts = {"who": who, "gone": before.name, "seat": seat, "why": "organiser", "reason": reason, "by": by}
    for other in _others(tx, game_id, seat):
        _notice(tx, server, game, what, facts, other)
    if before.person_id is not None:
        _notice(tx, server, game, "seat_taken", facts | {"by_bot": person_id is None}, before.person_id)
    return game


def offer_seat(tx: Tx, server: Server, game_id: int, seat: int, reason: str, by: str) -> int:
    """Offer a seat to people who are willing, because whoever moderates the table says so; how many are asked."""
    game, before, _players = _seat_of(tx, game_id, seat)
    if before.person_id is None:
        raise Gone(_("A bot plays this seat."), why=_("What is offered is the seat of a person."))
    if game.private:
        raise Forbidden(
            _("Strangers are never asked to a private table."), remedy=_("A bot or somebody named can play.")
        )
    if tables.offer_of_seat(tx, game_id, seat) is not None:
        raise Gone(_("This seat is on offer already."), remedy=_("Nothing was changed."))
    return _put_on_offer(tx, server, game, before, "organiser", by, reason)


def after_missed_turns(tx: Tx, server: Server, game: GameRow, player: PlayerRow) -> None:
    """Give a seat up if its player was silent as often in a row as the table bears. The game is locked."""
    if successor_after(player.missed, agreement_of(game)) is not None:
        _give_up(tx, server, game, player, "missed")


def after_resignation(tx: Tx, server: Server, game: GameRow, seat: int, person_id: int) -> None:
    """Offer a seat whose player has resigned, and which a bot plays already. The game is locked."""
    successor = agreement_of(game).successor
    now = server.now()
    offer_id = tables.add_offer(tx, game.id, seat, person_id, "resigned", successor, now)
    if successor is Successor.SUBSTITUTE:
        _ask_for_substitute(tx, server, game, offer_id, seat, person_id)


def give_up_unreachable(server: Server) -> int:
    """Give up the seats of people whom no mail has reached for longer than the others wait; how many tables that moved."""
    now = server.now()
    with server.store.read() as tx:
        gone = reachability.failing(tx, now - PATIENCE, _BATCH)
        asked = [row for person in gone for row in deadlines.of_person(tx, person.person_id)]
    return sum(server.run(_give_up_unreachable, asked=row) for row in asked)


def tidy(server: Server) -> int:
    """End the offers of games that are over and of players who have come back; how many those were."""
    with server.store.read() as tx:
        waiting = tables.open_ids(tx)
    return sum(server.run(_tidy, offer_id=id_) for id_ in waiting)


def _give_up(tx: Tx, server: Server, game: GameRow, player: PlayerRow, why: str) -> bool:
    """Give a seat up, once; False if that was done before."""
    assert player.seat is not None
    assert player.person_id is not None
    if tables.offer_of_seat(tx, game.id, player.seat) is not None:
        return False
    successor = agreement_of(game).successor
    if successor is Successor.SUBSTITUTE:
        _put_on_offer(tx, server, game, player, why, By.CLOCK)
        return True
    now = server.now()
    offer_id = tables.add_offer(tx, game.id, player.seat, player.person_id, why, successor, now)
    facts = {"why": why, "who": player.name, "seat": player.seat, "offer": offer_id}
    record = LogWriter(game, now, server.randomness)
    game = seats.give_to_bot(tx, server, game, record, player.seat, By.CLOCK)
    _notice(tx, server, game, "replaced", facts, player.person_id)
    for other in _others(tx, game.id, player.seat):
        _notice(tx, server, game, "bot_plays", facts, other)
    return True


def _put_on_offer(tx: Tx, server: Server, game: GameRow, player: PlayerRow, why: str, by: str, reason: str = "") -> int:
    """Ask people to take over a seat that is its player's until one does, and tell the table; how many are asked."""
    assert player.seat is not None
    assert player.person_id is not None
    offer_id = tables.add_offer(tx, game.id, player.seat, player.person_id, why, Successor.SUBSTITUTE, server.now())
    game = seats.offer(tx, server, game, player.seat, by, why, reason)
    facts = {"why": why, "who": player.name, "seat": player.seat, "offer": offer_id, "reason": reason, "by": by}
    _notice(tx, server, game, "seat_offered", facts, player.person_id)
    for other in _others(tx, game.id, player.seat):
        if other != player.person_id:
            _notice(tx, server, game, "seat_on_offer", facts, other)
    return _ask_for_substitute(tx, server, game, offer_id, player.seat, player.person_id)


def _ask_for_substitute(tx: Tx, server: Server, game: GameRow, offer_id: int, seat: int, gone: int) -> int:
    """Mail the offer to people who are willing: not to all of a great many, nor always to the same; to how many."""
    found = tables.willing(tx, game.id, without=(gone,))
    now = server.now()
    drawn = [
        person
        for person in sorted(found, key=lambda _: server.randomness.bytes(8))[:MOST_ASKED]
        if blocks.ban_in_force(tx, person, now) is None
    ]
    facts = {"offer": offer_id}
    emails = [outbox.NewEmail(person, "substitute", game.id, None, seat, None, facts) for person in sorted(drawn)]
    outbox.queue(tx, emails, now, now)
    return len(emails)


def _seat_of(tx: Tx, game_id: int, seat: int) -> tuple[GameRow, PlayerRow, list[PlayerRow]]:
    """A running game, locked, and who plays the seat there."""
    game = games.lock(tx, game_id)
    if game.status != "playing":
        raise Gone(_("This game is not being played."), why=_("Only seats of running games change hands."))
    players = player_rows.of_game(tx, game_id)
    before = next((player for player in players if player.seat == seat), None)
    if before is None:
        raise Gone(_("There is no such seat in this game."))
    return game, before, players


def _give_up_unreachable(tx: Tx, server: Server, asked: deadlines.DeadlineRow) -> bool:
    game = games.lock_if_free(tx, asked.game_id)
    if game is None or game.status != "playing" or game.paused:
        return False
    clock = clocks_deadlines.clock_of(tx, game, asked.turn, asked.seat)
    if clock is None:
        return False
    given_up_at = clocks_deadlines.seat_offered_at(clock)
    since = _failing_since(tx, clock.person.id, asked.asked_at)
    if given_up_at is None or given_up_at > server.now() or since is None:
        return False
    # Somebody who reads no mail and plays on the pages is not gone; but their clock runs like everybody's.
    gone = not _moved_since(tx, game.id, asked.seat, since)
    player = next(player for player in player_rows.of_game(tx, game.id) if player.seat == asked.seat)
    given_up = gone and _give_up(tx, server, game, player, "unreachable")
    after = deadlines.read(tx, game.id, asked.turn, asked.seat)
    if after is None or after.due_at is not None:
        return given_up
    # The others must not wait for ever for somebody to take the seat: its clock goes on, with a mail or without.
    if after.accepted_at is None:
        clocks_deadlines.start_clock(tx, server, game, after, server.now())
    else:
        clocks_deadlines.settle(tx, server, game, after, tell=False)
    return True


def _still_gone(tx: Tx, offer: OfferRow) -> bool:
    """Whether the player who left is still gone: a move since then, or a mail that arrived, keeps the seat."""
    player = next((player for player in player_rows.of_game(tx, offer.game_id) if player.seat == offer.seat), None)
    if player is None or player.person_id is None:
        return player is not None
    if player.person_id != offer.person_id or _moved_since(tx, offer.game_id, offer.seat, offer.offered_at):
        return False
    return offer.why != "unreachable" or _failing_since(tx, offer.person_id, offer.offered_at) is not None


def _moved_since(tx: Tx, game_id: int, seat: int, moment: datetime) -> bool:
    """Whether a player has decided something themselves since then, by whatever way."""
    rows = log.chain(tx, game_id, games.read(tx, game_id).key)
    return any(row.seat == seat and row.at > moment and row.by in IN_PERSON for row in rows)


def _failing_since(tx: Tx, person_id: int, before: datetime) -> datetime | None:
    """Since when mail to a person has failed without an end; None if it does not."""
    failures = reachability.failures(tx, {person_id}, before)[person_id]
    return next((failure.start for failure in failures if failure.end is None), None)


def _tidy(tx: Tx, server: Server, offer_id: int) -> bool:
    game = games.lock_if_free(tx, tables.offer(tx, offer_id).game_id)
    if game is None:
        return False
    offer = tables.offer(tx, offer_id)
    if offer.status != "open" or (game.status == "playing" and _still_gone(tx, offer)):
        return False
    tables.end_offer(tx, offer.id, "back" if game.status == "playing" else "over", server.now())
    return True


def _others(tx: Tx, game_id: int, seat: int) -> list[int]:
    """The people on the other seats, each once."""
    players = player_rows.of_game(tx, game_id)
    return sorted({player.person_id for player in players if player.person_id is not None and player.seat != seat})


def _notice(tx: Tx, server: Server, game: GameRow, what: str, facts: dict[str, object], person_id: int) -> None:
    clocks_deadlines.queue_notice(tx, server, person_id, game, None, what, facts)
