"""Public pages: search engines, previews of links, icons, and error pages with links."""

from lxml import html

from pbem.tokens import Purpose
from tests.web.browser import HOST


def noindexed(page):
    return "noindex" in page.response.headers.get("X-Robots-Tag", "")


def meta(page):
    tree = html.fromstring(page.response.get_data(as_text=True))
    return {each.get("property"): each.get("content") for each in tree.iter("meta") if each.get("property")}


def picture(browser, address):
    with browser.client.get(address, base_url=HOST) as response:
        return response.get_data()


def test_search_engines_may_show_pages_that_are_the_same_for_everyone_and_no_others(browser, links, table, person):
    game = table("templari", 3)
    move, seat = links.of(game, 0)
    confirm = links.made(Purpose.CONFIRM, person("Ann"))
    for address in ("/", "/help", "/help/time", "/games/bid"):
        assert not noindexed(browser.open(address)), address
    for address in (
        f"/m/{move}/pass",
        f"/s/{seat}",
        f"/c/{confirm}",
        f"/t/{game.row().key}",
        "/mine",
        "/help/nonsense",
    ):
        assert noindexed(browser.open(address)), address


def test_robots_may_fetch_every_page_whose_header_forbids_indexing(browser):
    page = browser.open("/robots.txt")
    assert page.response.mimetype == "text/plain"
    forbidden = [line for line in page.response.get_data(as_text=True).splitlines() if line.startswith("Disallow")]
    assert forbidden == ["Disallow: /api/"]


def test_the_icon_is_also_at_its_oldest_address(browser):
    assert picture(browser, "/favicon.ico").startswith(b"\x89PNG")


def test_a_preview_of_a_public_page_has_words_and_a_picture(browser):
    for address in ("/", "/help", "/help/time", "/games/bid"):
        found = meta(browser.open(address))
        assert found["og:title"]
        assert found["og:description"]
        assert found["og:url"] == f"{HOST}{address}"
        assert picture(browser, found["og:image"].removeprefix(HOST)).startswith(b"\x89PNG")


def test_no_page_with_a_token_has_a_preview(browser, links, table, person):
    game = table("templari", 3)
    move, seat = links.of(game, 0)
    for address in (
        f"/m/{move}/pass",
        f"/s/{seat}",
        f"/s/{seat}/rules",
        f"/c/{links.made(Purpose.CONFIRM, person('Ann'))}",
    ):
        assert not meta(browser.open(address))


def test_an_error_page_has_links(browser):
    lost = browser.open("/t/nonsense")
    assert lost.status == 404
    assert lost.follow("Email my links").heading == "Email my links"
    assert lost.follow("Open tables").status == 200
