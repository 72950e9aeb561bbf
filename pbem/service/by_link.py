"""Acts by the token of a link: opening it and acting are one transaction.

Whoever holds the token may act, and nobody else: a link of one choice makes that choice in its own turn, a link of a seat
acts in the turn that the form names. Whether the act fits is decided where it is always decided.
"""

from engine.decisions import Choice
from engine.orders import Order
from pbem.links import Purpose
from pbem.service import calls, leaving, links, second_thoughts
from pbem.service.house import House
from pbem.service.links import open_in, open_to_act_in
from pbem.service.looks import seat_of
from pbem.service.play import By, Receipt, play_in
from pbem.store import games
from pbem.store import links as link_rows
from pbem.store.database import Tx
from pbem.store.links import Meant


def move(house: House, token: str, option: str) -> Receipt:
    """Make the one choice of a link."""
    return house.write(lambda tx: _move(tx, house, token, option))


def play(house: House, token: str, window: int, wanted: str | Choice) -> Receipt:
    """Make a choice on the page of a seat, in the window that its form was made for."""
    return house.write(lambda tx: _play(tx, house, token, Purpose.SEAT, window, wanted, By.PERSON))


def play_by_program(house: House, token: str, window: int, wanted: str | Choice) -> Receipt:
    """Make a choice by the API, in the window that the program has seen."""
    return house.write(lambda tx: _play(tx, house, token, Purpose.API, window, wanted, By.API))


def take_back(house: House, token: str, purpose: Purpose, window: int | None = None) -> None:
    """Take back the choice that the seat made in a window, if not named that of the link."""
    house.write(lambda tx: _take_back(tx, house, token, purpose, window))


def leave_order(house: House, token: str, text: str) -> Order:
    """Set a standing order of the seat."""
    return house.write(lambda tx: _leave_order(tx, house, token, text))


def drop_order(house: House, token: str) -> None:
    """Drop the standing order of the seat."""
    house.write(lambda tx: _drop_order(tx, house, token))


def call(house: House, token: str, purpose: Purpose, text: str) -> int:
    """Call the organiser from the page of a link; the number of the call."""
    link = links.opened(house, token, purpose)
    assert link.person_id is not None
    return calls.call(house, link.person_id, text, game_id=link.game_id, seat=link.seat)


def resign(house: House, token: str) -> None:
    """Give the seat away for good."""
    game_id, seat, person_id = seat_of(links.opened(house, token, Purpose.SEAT))
    leaving.resign(house, game_id, seat, person_id)


def agree_to_end(house: House, token: str) -> bool:
    """Agree to end the game without a result; True if it has ended by that."""
    game_id, _, person_id = seat_of(links.opened(house, token, Purpose.SEAT))
    return leaving.agree_to_end(house, game_id, person_id)


def play_on(house: House, token: str) -> None:
    """Agree no longer to end the game."""
    game_id, _, person_id = seat_of(links.opened(house, token, Purpose.SEAT))
    leaving.play_on(house, game_id, person_id)


def token_for_programs(house: House, token: str) -> str:
    """The token by which a program may play this seat, made if there is none: to be shown once, never kept by us."""
    return house.write(lambda tx: _token_for_programs(tx, house, token))


def _move(tx: Tx, house: House, token: str, option: str) -> Receipt:
    link, game, place = open_to_act_in(tx, house, token, Purpose.MOVE)
    _, seat, person_id = seat_of(link)
    assert link.window is not None
    return play_in(tx, house, game, link.window, seat, option, By.PERSON, person_id, place)


def _play(tx: Tx, house: House, token: str, purpose: Purpose, window: int, wanted: str | Choice, by: By) -> Receipt:
    link, game, place = open_to_act_in(tx, house, token, purpose)
    _, seat, person_id = seat_of(link)
    return play_in(tx, house, game, window, seat, wanted, by, person_id, place)


def _take_back(tx: Tx, house: House, token: str, purpose: Purpose, window: int | None) -> None:
    link = open_in(tx, house, token, purpose)
    game_id, seat, person_id = seat_of(link)
    in_window = link.window if window is None else window
    assert in_window is not None
    second_thoughts.take_back_in(tx, house, game_id, in_window, seat, person_id)


def _leave_order(tx: Tx, house: House, token: str, text: str) -> Order:
    game_id, seat, person_id = seat_of(open_in(tx, house, token, Purpose.SEAT))
    return second_thoughts.leave_order_in(tx, house, game_id, seat, text, person_id)


def _drop_order(tx: Tx, house: House, token: str) -> None:
    game_id, seat, person_id = seat_of(open_in(tx, house, token, Purpose.SEAT))
    second_thoughts.drop_order_in(tx, house, game_id, seat, person_id)


def _token_for_programs(tx: Tx, house: House, token: str) -> str:
    game_id, seat, person_id = seat_of(open_in(tx, house, token, Purpose.SEAT))
    # The lock of the game keeps two requests from making two rows.
    games.lock(tx, game_id)
    row = links.make_in(tx, house, Meant(Purpose.API, person_id, game_id, None, seat))
    link = link_rows.read(tx, row)
    assert link is not None
    return links.token(house, link)
