"""Bar charts: bars are as high as their numbers and stand on each other."""

from datetime import UTC, datetime, timedelta

import pytest

from pbem.service.desk.statistics import Activity
from pbem.web.desk import charts

HOURS = tuple(datetime(2026, 11, 20, tzinfo=UTC) + timedelta(hours=hour) for hour in range(48))


def moves_by_hour(**numbers):
    """The chart of moves where the last hours had these numbers."""
    padded = {kind: (0,) * (48 - len(last)) + last for kind, last in numbers.items()}
    return next(chart for chart in charts.activity_charts(Activity(True, HOURS, padded)) if chart.name == "moves")


def test_bars_of_an_hour_stand_on_each_other_and_are_as_high_as_their_numbers():
    chart = moves_by_hour(moves=(30,), bots=(10,), orders=(5,))
    (people,), (bots,), (orders,) = chart.bars
    floor, bottom = chart.up[0].at, charts.FRAME.height - charts.FRAME.bottom
    assert floor == bottom == people.y + people.height
    assert (bots.y + bots.height, orders.y + orders.height) == pytest.approx((people.y, bots.y))
    assert (people.height, bots.height) == pytest.approx((6 * orders.height, 2 * orders.height), abs=0.5)


def test_each_number_is_in_the_table_with_the_newest_row_first():
    chart = moves_by_hour(moves=(2, 30), bots=(0, 10), orders=(0, 5))
    assert [row.cells for row in chart.rows[:2]] == [("30", "10", "5"), ("2", "0", "0")]
    assert chart.rows[0].head == "21 Nov, 23:00"
    assert chart.across[-1].text == "23:00"
    assert chart.totals == (32, 10, 5)
    assert [len(bars) for bars in chart.bars] == [2, 1, 1], "a number of nothing has no bar"


def test_people_of_several_hours_have_no_total():
    counts = Activity(True, HOURS, {"people": (1,) * 48})
    assert [chart.totals for chart in charts.activity_charts(counts) if chart.name == "people"] == [(None,)]
