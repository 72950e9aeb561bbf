"""Games to which everything happens that a log can tell, and every way in which they end."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final

from engine import orders
from engine.bots import random_bot
from engine.chance import Stream
from engine.decisions import Decision
from pbem.domain.errors import Refusal
from pbem.domain.states import TableStatus
from pbem.service.absence import offers, substitutes
from pbem.service.account import delete
from pbem.service.desk import put_back
from pbem.service.desk.acts.clocks import Close, Extend, Freeze, Pause, Resume, Unfreeze
from pbem.service.desk.acts.correct import Correct, Redact
from pbem.service.desk.acts.people import Merge
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import Offer, Substitute
from pbem.service.play import standing_orders, undo
from pbem.service.play.log import Kind, json_body_of
from pbem.service.play.move import Actor
from pbem.service.play.rules import rules_of
from pbem.service.tables import leaving, talk
from pbem.store import saved_games
from pbem.store.saved_games import SavedGame
from tests.service.actors import ROOT, moderate
from tests.service.clock import DAY, MINUTE, Time
from tests.service.desk.test_put_back import vanish
from tests.service.running_game import RunningGame

MOST_STEPS: Final = 2_000
REASON: Final = "a reason that players can read"

Person = Callable[[str], int]
Event = Callable[["Life"], bool]


class Life:
    """A game of people, the clock, and a way to more people."""

    def __init__(self, game: RunningGame, time: Time, person: Person) -> None:
        self.game, self.time, self.person = game, time, person
        self.server = game.server

    def asked_alone(self) -> tuple[int, Decision] | None:
        """The only seat that is asked, and its decision."""
        asked = self.game.open()
        return next(iter(asked.items())) if len(asked) == 1 else None

    def plays(self, seat: int) -> None:
        """A seat makes a choice at random."""
        row = self.game.row()
        decision = self.game.open()[seat]
        luck = Stream(bytes(32), row.seq)
        choice = random_bot(rules_of(row), self.game.view(seat), decision, luck)
        self.game.play(seat, choice, (Actor.PERSON, Actor.REPLY, Actor.API)[row.seq % 3])

    def takes_back(self, turn: int, seat: int) -> bool:
        """Whether a seat's choice in a turn could be taken back."""
        with suppress(Refusal):
            self.server.run(undo.take_back, self.game.id, turn, seat)
            return True
        return False

    def goes_on(self) -> None:
        """The next seat that is asked makes a choice."""
        self.plays(next(iter(self.game.asked())))


def sealed_choices_are_replaced_and_taken_back(life: Life) -> bool:
    asked = life.game.asked()
    if len(asked) < 3:
        return False
    seat, turn = next(iter(asked)), life.game.row().turn
    for _ in range(2):
        for _ in range(2):
            life.plays(seat)
        if life.game.row().turn != turn:
            return False
        assert life.takes_back(turn, seat)
    return True


def sealed_choices_are_dropped(life: Life) -> bool:
    """A rewind drops a sealed choice of the open turn, and others that have counted."""
    turn, closed = life.game.row().turn, [row for row in life.game.log() if "sealed" in json_body_of(row)]
    if len(life.game.asked()) < 2 or not closed:
        return False
    life.goes_on()
    if life.game.row().turn != turn:
        return False
    moderate(life.server, Rewind(life.game.id, json_body_of(closed[0])["turn"]))
    return True


def entry_is_undone(life: Life) -> bool:
    alone, turn = life.asked_alone(), life.game.row().turn
    if alone is None:
        return False
    life.plays(alone[0])
    return life.takes_back(turn, alone[0])


def order_is_set_and_dropped(life: Life) -> bool:
    alone = life.asked_alone()
    if alone is None or not orders.offered(alone[1]):
        return False
    other = (alone[0] + 1) % life.game.row().seats
    life.server.run(standing_orders.set_order, life.game.id, other, "always pass")
    life.server.run(standing_orders.drop_order, life.game.id, other)
    return True


def order_answers(life: Life) -> bool:
    alone = life.asked_alone()
    if alone is None or "pass this auction" not in orders.offered(alone[1]):
        return False
    life.server.run(standing_orders.set_order, life.game.id, alone[0], "pass this auction")
    return _made(life, Kind.ENTRY, Actor.ORDER)


def undo_brings_an_order_back(life: Life) -> bool:
    """The order of a seat asks it again once another has raised, and comes back with the undo."""
    alone, turn = life.asked_alone(), life.game.row().turn
    raised = None if alone is None else orders.raising(alone[1])
    if alone is None or raised is None:
        return False
    seat, (verb, amount) = alone[0], raised
    for other in set(range(life.game.row().seats)) - {seat}:
        with suppress(Refusal):
            life.server.run(standing_orders.set_order, life.game.id, other, f"up to {amount.low} or ask me")
    life.game.play(seat, f"{verb} {amount.low}")
    return life.takes_back(turn, seat) and _made(life, Kind.ORDER, "table")


def table_is_stopped_and_corrected(life: Life) -> bool:
    game = life.game.id
    for line in ("Good luck!", "You are all fools.", "Well played."):
        life.server.run(talk.say, game, 0, life.game.person_at(0), line)
    for act in (
        Redact(game, 2),
        Pause(game),
        Resume(game),
        Freeze(game),
        Unfreeze(game),
        Correct(game, "pace", "2d"),
        Correct(game, "name", "Anna", seat=0),
        Extend(game, "1d"),
        Merge(life.person("Zoe"), life.game.person_at(0)),
    ):
        moderate(life.server, act)
    return True


def clock_runs_out_after_an_outage(life: Life) -> bool:
    life.time.sends()
    life.time.sleeps(DAY)
    life.time.passes(10 * MINUTE)
    life.time.passes(7 * DAY)
    life.time.runs_out()
    return True


def seats_change_hands(life: Life) -> bool:
    game, seat = life.game, 1
    gone = game.person_at(seat)
    moderate(life.server, Offer(game.id, seat))
    life.server.run(leaving.resign, game.id, seat, gone)
    life.time.bots_play()
    life.server.run(substitutes.come_back, game.id, seat, gone)
    life.server.run(leaving.resign, game.id, seat, gone)
    (offer,) = life.server.read(offers.open_offers)
    assert life.server.run(substitutes.take, offer.id, life.person("Dora"), "Dora")
    moderate(life.server, Substitute(game.id, 2, "eve@example.org"))
    return True


def game_is_put_back(life: Life) -> bool:
    saved = life.server.query(saved_games.read, life.game.id)
    for _ in range(4):
        life.goes_on()
    life.server.run(put_back.put_back, ROOT, saved, REASON, replacing=True)
    return True


def lost_game_is_put_back(life: Life) -> bool:
    life.time.sends()
    saved = life.server.query(saved_games.read, life.game.id)
    come_back(life, saved)
    return True


def come_back(life: Life, saved: SavedGame) -> None:
    """Lose a game with all its rows, and put it back as it was saved."""
    vanish(life.server, life.game)
    life.game = RunningGame(life.server, life.server.run(put_back.put_back, ROOT, saved, REASON).game_id)


EVENTS: Final[tuple[Event, ...]] = (
    sealed_choices_are_replaced_and_taken_back,
    sealed_choices_are_dropped,
    entry_is_undone,
    order_is_set_and_dropped,
    order_answers,
    undo_brings_an_order_back,
    table_is_stopped_and_corrected,
    clock_runs_out_after_an_outage,
    seats_change_hands,
    game_is_put_back,
    lost_game_is_put_back,
)
"""What happens before the end, each as soon as it can."""


def live(life: Life, events: Iterable[Event] = EVENTS) -> None:
    """Let all this happen to a game, which then goes on. Raises AssertionError if it ended before."""
    left = list(events)
    for _ in range(MOST_STEPS):
        if not life.game.asked():
            break
        left = [event for event in left if not event(life)]
        if not left:
            return
        life.goes_on()
    raise AssertionError(f"this never happened: {[event.__name__ for event in left]}")


def played_out(life: Life) -> None:
    while life.game.asked():
        life.goes_on()


def everyone_resigned(life: Life) -> None:
    for seat, person in _people(life).items():
        life.server.run(leaving.resign, life.game.id, seat, person)


def everyone_agreed(life: Life) -> None:
    for person in _people(life).values():
        life.server.run(leaving.agree_to_end, life.game.id, person)


def all_who_stayed_agreed(life: Life) -> None:
    (seat, gone), *others = _people(life).items()
    for _, person in others:
        life.server.run(leaving.agree_to_end, life.game.id, person)
    life.server.run(leaving.resign, life.game.id, seat, gone)


def everyone_deleted_their_account(life: Life) -> None:
    for person in _people(life).values():
        life.server.run(delete.delete_person, person)


def organiser_closed_it(life: Life) -> None:
    life.goes_on()
    moderate(life.server, Close(life.game.id))


def organiser_closed_it_while_stopped(life: Life) -> None:
    moderate(life.server, Freeze(life.game.id))
    moderate(life.server, Close(life.game.id))


def bots_and_the_clock_played_it_out(life: Life) -> None:
    """One player is left, who never answers."""
    for seat, person in list(_people(life).items())[1:]:
        life.server.run(leaving.resign, life.game.id, seat, person)
    for _ in range(MOST_STEPS):
        if not life.game.asked():
            return
        if not life.time.bots_play():
            life.time.sends()
            life.time.passes(3 * DAY)
            life.time.runs_out()


ENDS: Final[Mapping[Callable[[Life], None], TableStatus]] = {
    played_out: TableStatus.OVER,
    bots_and_the_clock_played_it_out: TableStatus.OVER,
    everyone_resigned: TableStatus.VOID,
    everyone_agreed: TableStatus.VOID,
    all_who_stayed_agreed: TableStatus.VOID,
    organiser_closed_it: TableStatus.VOID,
    organiser_closed_it_while_stopped: TableStatus.VOID,
    everyone_deleted_their_account: TableStatus.VOID,
}
"""Every way to end, with how the game has ended then. Nobody is left after the last."""


def _people(life: Life) -> dict[int, int]:
    return {seat: player.person_id for seat, player in life.game.players().items() if player.person_id is not None}


def _made(life: Life, kind: Kind, by: str) -> bool:
    return any((row.kind, row.by) == (kind, by) for row in life.game.log())
