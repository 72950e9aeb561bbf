"""Pages that list many games and tables open, even if another package's game fails, was upgraded, or can't be listed."""

from datetime import timedelta

import pytest

from pbem.mail.wire import parse, text_of
from pbem.service.account import feeds
from pbem.service.outgoing.preview import preview
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from tests.plugins import broken
from tests.service.outgoing.test_deliver import HEAD
from tests.web.desk_pages import at_the_desk

pytestmark = pytest.mark.slow

LISTS = ("/", "/tables", "/tables?status=playing", "/tables?status=over", "/help", "/art", "/tournaments")
NEWER = ("    seats = (2, 4)", "    RULES = 2\n    seats = (2, 4)")
PURSE = '        Number("purse", say("Coins at the start"), 12, 1, 40, say("What is in a purse.")),\n'


@pytest.fixture
def database_url(sqlite_alone):
    """No database could make a difference here."""
    return sqlite_alone


def changed(*changes):
    """The source of lanterns with these changes."""
    source = broken.LANTERNS
    for before, after in changes:
        assert source.count(before) == 1, before
        source = source.replace(before, after)
    return source


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            [NEWER, (PURSE, PURSE + '        Number("fans", say("Fans"), 3, 1, 9, say("How many."))\n')],
            id="has a new option",
        ),
        pytest.param([NEWER, (PURSE, ""), ('int(options["purse"])', "12")], id="has lost an option"),
        pytest.param([NEWER, ('("none", say("none"))', '("two", say("two"))')], id="has lost a value"),
    ],
)
def test_tables_from_before_an_upgrade_are_still_listed(offered, server, table, browser, links, changes):
    offered(broken.LANTERNS)
    game, over = table("lanterns", 2), table("lanterns", 2, options={"vetoes": "none", "purse": 7})
    list(over.play_defaults())
    opened = server.run(
        joining.create_table, game.person_at(0), TableSettings("lanterns", 3, {"vetoes": "none", "purse": 9}, "1d")
    )
    assert offered(changed(*changes))[0].trouble is None
    tables = (game.row().key, over.row().key, opened.key)
    for path in (*LISTS, *(f"/t/{key}" for key in tables), f"/s/{links.of(game, 0)[1]}/rules"):
        assert browser.open(path).status == 200, path
    olga = at_the_desk(browser, server)
    for game_id in (game.id, over.id, opened.game_id):
        assert olga.open(f"/desk/tables/{game_id}").status == 200
    assert "May the" in text_of(parse(preview(server, HEAD, "turn", game.id, 0)))


@pytest.mark.parametrize(
    "before, after",
    [
        pytest.param("TastesRevealed", "TastesTold", id="a fact has another name"),
        pytest.param("    price: int\n", "    price: int\n    tax: int = 0\n", id="a fact has another field"),
    ],
)
def test_finished_games_that_a_newer_package_cannot_read_are_in_no_ones_way(
    offered, server, table, browser, links, clock, before, after
):
    offered(broken.LANTERNS)
    game, other = table("lanterns", 2), table("bid", 3)
    list(game.play_defaults())
    list(other.play_defaults())
    clock.advance(timedelta(hours=1))
    person = other.person_at(0)
    server.run(feeds.renew, person)
    at = server.read(feeds.feed_tokens, person).news
    assert offered(broken.LANTERNS.replace(before, after))[0].trouble is None
    fed = browser.client.get(f"/n/{at}/news.atom", base_url="http://localhost:8000")
    assert (fed.status_code, "<title>Bid!" in fed.get_data(as_text=True)) == (200, True)
    for path in (f"/t/{game.row().key}/replay", f"/s/{links.of(game, 0)[1]}/replay"):
        page = browser.open(path)
        assert (page.status, "Its rules have changed" in page.text) == (503, True)
    assert browser.open(f"/t/{game.row().key}").status == 200


@pytest.mark.parametrize("what", [broken.RAISES, broken.FOR_EVER, broken.GONE])
def test_a_game_that_fails_when_asked_for_a_word_is_in_the_way_of_no_list(offered, table, browser, what):
    offered(broken.LANTERNS)
    table("lanterns", 2)
    names = ("    def start(", f"    def word(self, value: Any) -> str:\n        {what}\n\n    def start(")
    assert offered(changed(names))[0].trouble is None
    for path in LISTS:
        assert browser.open(path).status == 200, path
    assert "2 to 4 players" in browser.open("/").text


@pytest.mark.parametrize("trusted", [(), ("paper-lamps",)], ids=["in a child", "trusted"])
@pytest.mark.parametrize(
    "change, says",
    [
        pytest.param(("seats = (2, 4)", "seats = (2, 10**9)"), "`seats` must be two numbers", id="players"),
        pytest.param(("seats = (2, 4)", "seats = (2, 4)\n    cover = (1,)"), "`cover` must be", id="cover"),
        pytest.param(('title = "Lanterns"', 'title = "L" * 10**6'), "`title` must be a line", id="title"),
        pytest.param(
            ("    def start(", "    @property\n    def slug(self) -> str:\n        raise KeyError\n\n    def start("),
            "KeyError",
            id="slug",
        ),
    ],
)
def test_a_game_that_could_not_be_listed_is_not_offered(offered, browser, change, says, trusted):
    (offer,) = offered(changed(change), *trusted)
    assert offer.trouble is not None
    assert says in str(offer.trouble)
    for path in LISTS:
        assert browser.open(path).status == 200, path
