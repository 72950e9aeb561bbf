"""Ways to the table: every page that a link of an email opens leads there, whenever it is opened.

Links get forwarded, so a page says no more than its link may: a link to a seat leads to the seat, a link to one choice to what
everyone may see of a public table, and each of them to links that only the player gets by email. The links of an account lead
to the player's own page, and those about a tournament to its page with all its tables.
"""

import re
from collections.abc import Iterator

import pytest

from pbem.domain.states import EmailKind
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import new_links
from pbem.store import tables
from tests.mail.kinds import every_kind, kind_of
from tests.service.actors import moderate
from tests.web.test_scanners import Postman, paths_of, read

# What leads to a table does not depend on the database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

TO_A_TABLE = re.compile(r"/(s|t)/[^/]+(/replay)?$|(/my)?/tournaments/[^/]+$")
BY_EMAIL = re.compile(r"/(m|u)/.*/links$")
IS_A_TABLE = re.compile(r"/c/[^/]+(/(decline|leave|invite|seat))?$")
TOKEN, CHOICE = re.compile(r"[a-z2-7]{33}"), re.compile(r"/m/.*")
OF_AN_ACCOUNT = re.compile(r"/(l|y|d|w)/[^/]+$")
ABOUT_NO_TABLE = re.compile(r"/|/desk|/games/[\w-]+|/handbook.*|/verify")


def ways(page) -> Iterator[str]:
    """How a page leads to a table."""
    yield from (href for href in page.hrefs() if TO_A_TABLE.match(href or ""))
    yield from (form.action for form in page.forms() if BY_EMAIL.match(form.action) or IS_A_TABLE.match(form.action))
    if OF_AN_ACCOUNT.match(page.url) or "/u/" in page.url:
        yield from (href for href in page.hrefs() if href in ("/my", page.url.removesuffix("/call")))


def shape(email, path: str) -> str:
    """What kind of link this is: the kind of its email, and its address without its token and choice."""
    return f"{kind_of(read(email))} {TOKEN.sub('…', CHOICE.sub('/m', path))}"


@pytest.mark.slow
def test_every_link_of_every_email_leads_to_the_table(server, clock, settings, browser):
    postman = Postman(server, clock, settings)
    opened: dict[str, list[str]] = {}
    paths: set[str] = set()

    def carry() -> None:
        for email in postman.carry():
            for path in paths_of(email):
                place = shape(email, path)
                if place not in opened and not ABOUT_NO_TABLE.fullmatch(path):
                    page = browser.open(path)
                    assert page.status == 200
                    opened[place] = list(ways(page))
                    paths.add(path)

    every_kind(server, clock, carry, "bid")
    assert [place for place, found in opened.items() if not found] == []
    assert {place.split()[0] for place in opened} >= {*map(str, EmailKind)} - {EmailKind.ALERT, EmailKind.TRIAL}
    # Months later, when the game is over and seats have changed hands, they lead there still.
    later = {path: browser.open(path) for path in sorted(paths)}
    assert {page.status for page in later.values()} <= {200, 404, 410}
    assert [path for path, page in later.items() if not [*ways(page), *by_email(page)]] == []


def by_email(page) -> list[str]:
    """Where the page of a link that works no more offers new ones."""
    return [href for href in page.hrefs() if href == "/mine"] if page.status != 200 else []


def test_a_link_that_works_no_more_leads_to_its_public_table(server, browser, links, table):
    game = table("templari", 3)
    choice, seat = links.of(game, 0)
    moderate(server, Substitute(game.id, 0, "zoe@example.org"), "They asked for it.")
    other_choice, other_seat = links.of(game, 1)
    server.run(new_links.send_for_seat, game.id, 1, game.person_at(1))
    for path in (f"/s/{seat}", f"/m/{choice}/pass", f"/s/{other_seat}", f"/m/{other_choice}/pass"):
        page = browser.open(path)
        assert page.status == 410
        assert browser.open(page.links()["Open table"]).heading == game.row().title


def test_a_link_to_one_choice_shows_no_private_table(server, browser, links, table):
    shown = {}
    for private in (False, True):
        game = table("templari", 3)
        server.store.write(lambda tx: tables.change_game(tx, game.id, private=private))  # noqa: B023
        choice, seat = links.of(game, 0)
        shown[private] = page = browser.open(f"/m/{choice}/pass")
        assert seat not in page.source
        assert page.form("Email my links")
        moderate(server, Substitute(game.id, 0), "They asked for it.")
        assert ("Open table" in browser.open(f"/s/{seat}").links()) != private
    assert browser.open(shown[False].links()["Watch this game"]).status == 200
    assert "Watch this game" not in shown[True].links()
