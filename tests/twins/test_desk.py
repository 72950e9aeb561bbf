"""Hosts and organisers who play: their desks tell nothing that their own seats may not know, whatever they open or do there.

The same table is played on servers with the same keys, clock and randomness, which differ only in what one player does in
secret. The host, or an organiser who sits there, opens every page of the desk and tries every act, and all answers have to
be the same, to the byte. So have the emails they get meanwhile and the pages of their seat.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, time, timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from pbem.domain.acts import PERMISSIONS, Role
from pbem.domain.delivery import Delivery, Way
from pbem.domain.states import EmailKind, EmailStatus
from pbem.service.clocks import pauses
from pbem.service.desk.jobs import What
from pbem.service.outgoing import preferences
from pbem.service.play import undo
from pbem.service.play.move import Actor
from pbem.store import outbox
from pbem.store.overview import TROUBLES
from pbem.store.sessions import Holder
from pbem.web.desk.acts import FORMS
from tests.fakes import SeededRandomness
from tests.service.actors import add_organiser
from tests.twins.world import Truth, World, whole
from tests.web.browser import HOST, Browser
from tests.web.desk_pages import signed_in

pytestmark = [pytest.mark.slow, pytest.mark.slice(1 / 4)]

KIND: Final = "sunset-poker"
"""A game that begins with a turn in which everyone is asked."""

SEATS: Final = 3
MOST_EMAILS: Final = 12
"""The emails that someone tries to send again: those of the beginning, and a receipt."""

Secretly = Callable[[World, int], object]
"""What a player does in secret at a table, by seat."""


def seals(world: World, seat: int, by: Actor = Actor.PERSON) -> None:
    world.game.play(seat, world.game.asked()[seat].default, by)


def seals_and_has_a_receipt(world: World, seat: int) -> None:
    world.server.run(preferences.set_sealed_receipts, world.game.person_at(seat), on=True)
    seals(world, seat)


def seals_and_the_receipt_comes_back(world: World, seat: int) -> None:
    seals_and_has_a_receipt(world, seat)
    (receipt,) = (email for email in world.game.emails() if email.kind == EmailKind.SEALED)
    world.server.store.write(lambda tx: outbox.change(tx, receipt.id, status=EmailStatus.UNDELIVERABLE))


def seals_and_thinks_again(world: World, seat: int) -> None:
    seals(world, seat)
    world.server.run(undo.take_back, world.game.id, world.game.row().turn, seat)


SECRETLY: Final[Mapping[str, Secretly]] = {
    "misses the deadline": partial(seals, by=Actor.CLOCK),
    "seals, with a receipt": seals_and_has_a_receipt,
    "seals, and the receipt comes back": seals_and_the_receipt_comes_back,
    "seals and thinks again": seals_and_thinks_again,
}


@pytest.fixture(scope="module", params=["host", "organiser"])
def role(request: pytest.FixtureRequest) -> str:
    """Who looks and acts."""
    who: str = request.param
    return who


@pytest.fixture(scope="module")
def met(role: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What they see where nobody does anything in secret."""
    return dict(meets(tmp_path_factory.mktemp("one"), role, lambda world, seat: None))


@pytest.mark.parametrize("what", SECRETLY)
def test_helpers_learn_nothing_secret_of_the_tables_where_they_sit(
    tmp_path: Path, role: str, met: dict[str, bytes], what: str
) -> None:
    other = dict(meets(tmp_path, role, SECRETLY[what]))
    assert met.keys() == other.keys()
    found = [f"{step}: {difference(met[step], other[step])}" for step in met if met[step] != other[step]]
    assert not found, "\n".join(found[:12])


def meets(folder: Path, role: str, secretly: Secretly) -> Iterator[tuple[str, bytes]]:
    """Everything that someone who helps at a table where they sit is shown there, step by step."""
    world = World(Truth(KIND, SEATS, {}, (), {}), folder)
    try:
        game = world.game
        host = game.row().host_id
        seat = next(seat for seat, player in game.players().items() if player.person_id == host)
        hiding = (seat + 1) % SEATS
        world.server.run(preferences.choose, game.person_at(seat), Delivery(Way.DAILY), None, time(8))
        for other in {*range(SEATS)} - {hiding}:
            world.server.run(pauses.extend, game.id, "3d", "They asked for it.", other, "organiser")
        secretly(world, hiding)
        world.clock.set(LATE)
        yield from _looks(world, role, seat)
    finally:
        world.close()


LATE: Final = datetime.fromisoformat("2026-11-22T18:00:00+00:00")
"""Late enough that the clock of the player with a secret has run out, if it still runs."""


def _looks(world: World, role: str, seat: int) -> Iterator[tuple[str, bytes]]:
    browser, person = Browser(world.app), world.game.person_at(seat)
    if role == "host":
        signed_in(browser, world.server, Holder(person_id=person))
    else:
        name = next(p.name for p in world.game.players().values() if p.person_id == person)
        signed_in(browser, world.server, Holder(organiser_id=add_organiser(world.server, name).id))
    world.carry()
    yield from _named("at first", _pages(world, browser))
    for number, (path, typed) in enumerate(_acts(world, role)):
        for step in ("preview", "do"):
            # Draws in secret must not change the draws from here on.
            drawn = world.server.randomness
            assert isinstance(drawn, SeededRandomness)
            drawn.state = SeededRandomness(100 + number).state
            yield f"{step} of act {number}, {path} {typed}", _blanked(_press(browser, path, typed, step))
        if number % 8:
            continue
        world.carry()
        for address in ("/desk", f"/desk/tables/{world.game.id}"):
            yield f"{address} after act {number}", _blanked(browser.client.get(address, base_url=HOST))
    world.carry()
    yield from _named("at last", _pages(world, browser))
    yield from _named("as a player", world.meets(seat, crawl=False).items())


def _pages(world: World, browser: Browser) -> Iterator[tuple[str, bytes]]:
    """Every page of the desk that can be opened, with each way to search."""
    numbers = {"game_id": [world.game.id], "person_id": [*range(1, SEATS + 2)], "call_id": [1], "job_id": [1]}
    searches = [
        f"/desk?{query}"
        for query in (
            *(f"trouble={trouble}" for trouble in TROUBLES),
            *("status=playing", f"kind={KIND}", f"q={world.game.row().key}", "q=sunset", "person=1", "person=2"),
        )
    ]
    rules = [
        rule
        for rule in world.app.url_map.iter_rules()
        if rule.rule.startswith("/desk") and "GET" in (rule.methods or ())
    ]
    for rule in rules:
        for values in product(*(numbers[name] for name in sorted(rule.arguments))):
            address = rule.rule
            for name, value in zip(sorted(rule.arguments), values, strict=True):
                address = address.replace(f"<int:{name}>", str(value))
            yield address, _blanked(browser.client.get(address, base_url=HOST))
    for address in searches:
        yield address, _blanked(browser.client.get(address, base_url=HOST))


def _acts(world: World, role: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Every form of the desk, with each seat, email and person that it may be filled in with."""
    now = world.clock.now()
    choices = {
        "seat": [str(seat) for seat in range(1, SEATS + 2)],
        "mail": [str(number) for number in range(1, MOST_EMAILS)],
        "turn": ["1"],
        "more": ["1d"],
        "start": [(now - timedelta(days=2)).strftime("%Y-%m-%d %H:%M")],
        "end": [(now - timedelta(hours=1)).strftime("%Y-%m-%d %H:%M")],
    }
    for name in ("seat_or_all", "seat_or_none"):
        choices[name] = ["all", *choices["seat"]]
    companion = next(p.person_id for p in world.game.players().values() if p.person_id != world.game.row().host_id)
    for form in FORMS.values():
        if form.name in _FOR_ALL:
            continue
        path = form.path.replace("<int:game_id>", str(world.game.id)).replace("<int:person_id>", str(companion))
        tried = [*product(*(choices.get(name, ["1"]) for name in form.fields))]
        # An act without permission is refused alike, however its form is filled in.
        may = form.act in PERMISSIONS[Role.HOST] if role == "host" else form.path == path
        for values in tried if may else tried[:1]:
            yield path, {name.partition("_")[0]: value for name, value in zip(form.fields, values, strict=True)}
    yield from ((f"/desk/all/{what}", {"text": text, "days": "7"}) for what, text in _TYPED.items())


_TYPED: Final = {What.EXTEND: "1d", What.ANNOUNCE: "1d", What.RESEND: "example.org"}
"""What is typed for jobs."""

_FOR_ALL: Final = frozenset({"pause-mail"})
"""Acts that stop all that follows."""


def _press(browser: Browser, path: str, typed: Mapping[str, str], step: str) -> Any:
    """Look at what a form would do, or press its button."""
    fields = {**typed, "reason": "It was asked for.", "desk-passphrase": "four words that differ", "step": step}
    if step == "do":
        page = browser.client.post(path, data={**fields, "step": "preview"}, headers=browser.says, base_url=HOST)
        source = page.get_data(as_text=True)
        fields |= {
            name: found[1] for name in ("form", "of") if (found := re.search(f'name="{name}" value="([^"]*)"', source))
        }
    return browser.client.post(path, data=fields, headers=browser.says, base_url=HOST)


def _named(when: str, found: Any) -> Iterator[tuple[str, bytes]]:
    yield from ((f"{when}, {what}", content) for what, content in found)


def _blanked(response: Any) -> bytes:
    """An answer without what organisers are told of the whole server: how many emails there were."""
    return _LENGTH.sub(b"", _TOTALS.sub(b"", whole(response)))


_TOTALS: Final = re.compile(rb'<section aria-labelledby="(?:providers|came)">.*?</section>', re.DOTALL)
_LENGTH: Final = re.compile(rb"Content-Length: [0-9]+")


def difference(one: bytes, other: bytes) -> str:
    """The first difference of two pages, with what is around it."""
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"{one[max(0, at - 90) : at + 90]!r} and {other[max(0, at - 90) : at + 90]!r}"
