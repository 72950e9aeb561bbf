"""Permissions at the desk: every page and form keeps to the table in the handbook."""

import html
import re

import pytest

from pbem import paths
from pbem.domain.acts import NEEDS_PASSPHRASE, PERMISSIONS, Act, Role
from pbem.service.desk import calls
from pbem.store.sessions import Holder
from tests.service.actors import add_organiser
from tests.web.browser import HOST
from tests.web.desk_pages import signed_in

OPEN_TO_ALL = "/desk/sign-in"

REFUSALS = (
    "Sign in to the desk",
    "A table's host can't do that.",
    "You aren't this table's host.",
    "You play at this table.",
    "You play with this person.",
)
"""The headings of pages for people without permission."""

GIVEN = {"reason": "It was asked for.", "text": "It was asked for.", "step": "preview"}


def rows():
    """The table of the handbook: for each act its cells, and the addresses of its pages."""
    page = (paths.handbook() / "organising.md").read_text(encoding="utf-8")
    for line in page.split("## Who may do what")[1].split("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("act", "---"):
            act, organiser, host, playing, again, addresses = cells
            yield act, organiser, host, playing, again, re.findall(r"`([^`]+)`", addresses)


TABLE = list(rows())
ROLES = ["anonymous", "player", "host", "playing", "organiser"]


def may(row, role):
    """Whether the handbook lets a role do this at a table that plays."""
    _, organiser, host, playing, _, _ = row
    allowed = {"organiser": organiser, "host": host, "playing": playing if playing != "–" else organiser}
    return allowed.get(role, "no") == "yes"


def test_the_handbook_has_every_act_and_says_who_may_do_it():
    listed = {act: (organiser == "yes", host == "yes", again == "again") for act, organiser, host, _, again, _ in TABLE}
    assert listed == {
        act: (act in PERMISSIONS[Role.ORGANISER], act in PERMISSIONS[Role.HOST], act in NEEDS_PASSPHRASE) for act in Act
    }


def test_every_address_of_the_desk_has_one_act(app):
    listed = [address for row in TABLE for address in row[5]]
    assert len(listed) == len(set(listed))
    assert {*listed, OPEN_TO_ALL} == {rule.rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/desk")}


@pytest.fixture
def game(table, server):
    """A table: Ann is its host, Ben plays at it and is also an organiser, and Cleo has sent a call from it."""
    begun = table("sun-bid", 3)
    host = begun.row().host_id
    server.run(
        calls.call, next(p for p in begun.players().values() if p.name == "Cleo").person_id, "Help", game_id=begun.id
    )
    assert next(p for p in begun.players().values() if p.name == "Ann").person_id == host
    return begun


@pytest.fixture
def come(browser, server, game, person):
    """A browser that has just signed in, in a role."""
    organiser = {"organiser": add_organiser(server, "Olga").id, "playing": add_organiser(server, "Ben").id}

    def coming(role):
        if role == "anonymous":
            return browser
        if role in organiser:
            return signed_in(browser, server, Holder(organiser_id=organiser[role]))
        return signed_in(browser, server, Holder(person_id=person("Ann" if role == "host" else "Cleo")))

    return coming


@pytest.mark.parametrize("role", ROLES)
def test_every_role_gets_to_the_pages_that_the_handbook_says(app, come, game, role):
    act_of = {address: row for row in TABLE for address in row[5]}
    for rule in app.url_map.iter_rules():
        if rule.rule not in act_of:
            continue
        address = re.sub(r"<(?:\w+:)?\w+>", "1", rule.rule.replace("<int:game_id>", str(game.id)))
        for method in {"GET", "POST"} & rule.methods:
            came = come(role)
            fields = GIVEN if method == "POST" else None
            answer = came.client.open(address, method=method, base_url=HOST, headers=came.says, data=fields)
            assert answer.status_code < 500, address
            assert let_in(answer) == may(act_of[rule.rule], role), (method, address, answer.status_code)


def let_in(answer):
    """Whether the page was reached, whatever became of the request then."""
    if answer.status_code == 303:
        return not answer.headers["Location"].startswith(OPEN_TO_ALL) or "to=" not in answer.headers["Location"]
    page = html.unescape(answer.get_data(as_text=True))
    return not any(refusal in page for refusal in REFUSALS)
