"""A press of “Sign out elsewhere” that has done everything and not committed yet, and an act by what it ends."""

from dataclasses import replace

import pytest

from pbem.domain.errors import Forbidden, Gone
from pbem.service import links as service_links
from pbem.service.account import change_address, consent, delete, feeds, my_page
from pbem.service.outgoing import new_links
from pbem.service.people import sessions, sign_in
from pbem.service.people.sessions import SessionProof
from pbem.service.play import by_link
from pbem.service.tables import talk
from pbem.store.links import LinkKey
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.service.account.test_disown import NEW, address_of, emails_to, token_in
from tests.service.database import all_rows, count_calls
from tests.service.races import at_call

__all__ = ["emails_to"]


@pytest.fixture
def stolen(server, table, emails_to):
    """What a stranger has of a player: the game, the seat, the person, their session and tokens by purpose."""

    class Stolen:
        game = table("templari", 3)
        seat = next(iter(game.asked()))
        person = game.person_at(seat)

        def __init__(self):
            secret = server.run(sessions.start, Holder(person_id=self.person), "")
            self.signed_in = replace(server, proof=SessionProof(server.read(sessions.find, secret)))
            self.address = address_of(server, self.person)
            turn = emails_to(self.address)["turn"]
            self.move, self.page = token_in(turn, "m"), token_in(turn, "s")

        def email(self, kind, purpose, address=""):
            return token_in(emails_to(address or self.address)[kind], purpose)

        def program(self):
            key = LinkKey(Purpose.API, self.person, self.game.id, None, self.seat)
            return server.run(service_links.make_token, key)

    return Stolen()


def default(stolen):
    return stolen.game.asked()[stolen.seat].default


def moved_by(server, stolen):
    server.run(change_address.ask, stolen.person, NEW)
    token = stolen.email("new_address", "y", NEW)
    return lambda: server.run(consent.give_consent, token)


def deleted_by(server, stolen):
    server.run(delete.ask, stolen.person)
    token = stolen.email("deletion", "y")
    return lambda: server.run(consent.give_consent, token)


def signed_in_by(server, stolen):
    server.run(sign_in.send_link_to, stolen.person)
    token = stolen.email("links", "l")
    return lambda: server.run(sign_in.sign_in, token, "")


def played_by_program(server, stolen):
    token, choice, turn = stolen.program(), default(stolen), stolen.game.row().turn
    return lambda: server.run(by_link.play, token, turn, choice, Purpose.API)


def played(server, stolen):
    choice, turn = default(stolen), stolen.game.row().turn
    return lambda: server.run(by_link.play, stolen.page, turn, choice)


ACTS = {
    "another address": moved_by,
    "deletion": deleted_by,
    "sign in": signed_in_by,
    "choice": played,
    "choice by program": played_by_program,
    "program": lambda server, stolen: lambda: server.run(by_link.api_token, stolen.page),
    "talk": lambda server, stolen: lambda: server.run(talk.say_by_link, stolen.page, "Hello."),
    "links": lambda server, stolen: lambda: server.run(sign_in.send_by_link, stolen.move, Purpose.MOVE),
    "seat": lambda server, stolen: (
        lambda: stolen.signed_in.run(my_page.seat_token, stolen.person, stolen.game.id, stolen.seat)
    ),
    "feeds": lambda server, stolen: lambda: stolen.signed_in.run(feeds.renew, stolen.person),
    "others": lambda server, stolen: lambda: stolen.signed_in.run(new_links.send, stolen.person),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_an_act_waits_for_the_press_and_is_refused(server, stolen, act):
    act = act(server, stolen)
    with count_calls(server.store) as made:
        server.dry_run(new_links.send, stolen.person)
    rows = {}

    def press():
        server.run(new_links.send, stolen.person)
        rows.update(all_rows(server.store))

    # At its commit, everything has been done.
    _, refused = at_call(server.store, len(made) + 1, press, act)
    assert isinstance(refused, Gone | Forbidden)
    assert all_rows(server.store) == rows


@pytest.mark.parametrize("purpose", [Purpose.API, Purpose.SEAT])
def test_a_link_made_just_before_the_press_ends_with_it(server, stolen, purpose):
    if purpose is Purpose.API:
        acting, use_case, given = server, by_link.api_token, (stolen.page,)
    else:
        acting, use_case, given = stolen.signed_in, my_page.seat_token, (stolen.person, stolen.game.id, stolen.seat)
    with count_calls(server.store) as made:
        acting.dry_run(use_case, *given)
    token, _ = at_call(
        server.store,
        len(made) + 1,
        lambda: acting.run(use_case, *given),
        lambda: server.run(new_links.send, stolen.person),
    )
    with pytest.raises(Gone):
        server.read(service_links.follow, token, purpose)
