"""Charts: each has its numbers in a table and its meaning in words, and its lines can be told apart without colours."""

import re
from itertools import pairwise

import pytest
from lxml import html

from engine import registry
from engine.auctions import Auction, Call
from engine.tell import Teller, say
from pbem.service.archive.score_history import Scores
from pbem.web.tables import charts
from tests.service.archive.test_replay import moves


@pytest.fixture
def database_url(sqlite_alone):
    """SQLite alone: a drawing is the same on any database."""
    return sqlite_alone


@pytest.mark.parametrize("kind", registry.names())
def test_charts_say_what_they_draw_in_words_and_numbers(browser, links, table, kind):
    game = table(kind, 4)
    list(moves(game, 40))
    page = browser.open(f"/s/{links.of(game, 0)[1]}/replay")
    tree = html.fromstring(page.source)
    assert tree.xpath("//figure//table")
    for drawing in tree.xpath("//figure/svg"):
        named = drawing.get("aria-labelledby").split()
        assert [drawing.find(tag).get("id") for tag in ("title", "desc")] == named
        assert drawing.get("role") == "img"
        assert all(drawing.find(tag).text.strip() for tag in ("title", "desc"))
        lines = drawing.xpath("g[contains(@class, 'line')]")
        names = [place.name for _, place in sorted(game.players().items())]
        assert {line.find("text").text for line in lines} <= set(names)
        # Colours only help: every line has marks of another shape.
        shapes = [line.xpath("*[self::circle or self::path]")[-1] for line in lines]
        assert len({(s.tag, s.get("class"), re.sub(r"^M[\d. ]+", "", s.get("d", ""))) for s in shapes}) == len(lines)
    for table_of_numbers in tree.xpath("//figure//table"):
        heads = [th.text_content() for th in table_of_numbers.xpath("thead//th")]
        assert heads[1:] == [place.name for _, place in sorted(game.players().items())]
        for row in table_of_numbers.xpath("tbody/tr"):
            assert browser.open(row.find("th/a").get("href")).status == 200
            break


def test_a_chart_draws_each_number_of_its_table(browser, links, table):
    game = table("templari", 3)
    list(moves(game, 60))
    page = browser.open(f"/s/{links.of(game, 0)[1]}/replay")
    figure = html.fromstring(page.source).xpath("//figure")[0]
    rows = [[int(td.text) for td in row.xpath("td")] for row in figure.xpath(".//tbody/tr")]
    for seat, line in enumerate(figure.xpath("svg/g[contains(@class, 'line')]")):
        heights = [float(point.partition(",")[2]) for point in line.find("polyline").get("points").split()]
        numbers = [row[seat] for row in rows]
        assert len(heights) == len(numbers) > 2
        for (one, at), (two, above) in pairwise(zip(numbers, heights, strict=True)):
            assert (one < two) == (at > above)
            assert (one == two) == (at == above)


NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")


def scores(*moments):
    return Scores(say("points"), tuple(enumerate(moments)))


def test_names_at_the_ends_of_lines_never_overlap_or_leave_the_drawing():
    for last in ((5,) * 9, (0,) * 8 + (90,), (0, 90, 90, 90, 90, 90, 90, 90, 90), tuple(range(9))):
        chart = charts.score_chart(scores((0,) * 9, last), NAMES, Teller(), str)
        places = sorted(line.label.y for line in chart.lines)
        assert len({line.shape for line in chart.lines}) == 9
        assert all(low + charts.LINE_HEIGHT <= high for low, high in pairwise(places))
        assert all(0 < place < charts.FRAME.height for place in places)


def test_the_chart_of_a_long_game_has_few_moments_and_the_last_is_one():
    chart = charts.score_chart(scores(*((number, 2 * number) for number in range(1000))), ("Ann", "Ben"), Teller(), str)
    assert len(chart.rows) == charts.MOST_MOMENTS
    assert (chart.rows[0].head, chart.rows[-1].head) == ("0", "999")
    assert all(len(line.marks) == len(chart.rows) for line in chart.lines)


def test_a_game_with_secret_scores_has_no_chart_of_them():
    assert charts.score_chart(None, NAMES, Teller(), str) is None
    assert charts.auction_chart((), NAMES, Teller(), str) is None


def test_bids_that_are_not_numbers_are_listed_and_not_drawn():
    chart = charts.auction_chart((Auction((Call(3, 1, "bid", "the Forest"),)),), ("Ann", "Ben"), Teller(), str)
    assert chart.lines == ()
    assert chart.rows[0].cells == ("", "The Forest")


def test_only_the_last_of_many_auctions_are_shown_and_the_chart_says_so():
    auctions = tuple(Auction((Call(number, 0, "bid", number),)) for number in range(100))
    chart = charts.auction_chart(auctions, ("Ann",), Teller(), str)
    assert chart.cut
    assert len(chart.rows) == charts.MOST_AUCTIONS
    assert (chart.rows[-1].head, chart.rows[-1].cells) == ("100", ("99",))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 7), (-30, 90), (0, 1000), (17, 18)])
def test_the_numbers_beside_an_axis_are_few_and_in_range(low, high):
    values = charts.round_numbers(low, high)
    assert 1 <= len(values) <= 6
    assert all(low <= value <= high for value in values)
