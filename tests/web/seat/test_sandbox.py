"""The sandbox of a seat: planned step by step without a script, kept nowhere, and made of nothing that the seat doesn't see."""

import pytest
from sqlalchemy import update

from engine import codec, registry
from engine.chance import Stream
from pbem.service.desk.acts.clocks import Freeze
from pbem.service.play import standing_orders
from pbem.service.play.positions import orders_of
from pbem.store.schema import GAME
from tests.service.actors import moderate
from tests.service.database import all_rows


@pytest.fixture
def templari(table):
    return table("templari", 3)


def plan(browser, links, game, seat):
    page = browser.open(f"/s/{links.of(game, seat)[1]}")
    assert f'/s/{links.of(game, seat)[1]}/imagine"' in page.source
    return browser.open(f"/s/{links.of(game, seat)[1]}/imagine")


def test_choices_are_imagined_step_by_step_and_taken_back(browser, links, templari):
    seat = next(iter(templari.asked()))
    page = plan(browser, links, templari, seat)
    before = all_rows(templari.server.store)
    assert "This is only imagined." in page.text
    assert "Your choice" in page.text
    page = page.form("Imagine it").press(choice="bid 3")
    rival = templari.players()[(seat + 1) % 3].name
    assert f"Choose for {rival}" in page.text
    assert "You bid 3." in page.text
    page = page.form("Imagine it").press(choice="pass")
    # Two steps, in the form of the choice and in that of the other buttons.
    assert page.source.count('name="step"') == 4
    page = page.form("Back one step").press()
    assert f"Choose for {rival}" in page.text
    page = page.form("Another world").press()
    assert "You bid 3." not in page.text
    assert "Your choice" in page.text
    assert all_rows(templari.server.store) == before


@pytest.mark.parametrize("kind", registry.names())
def test_every_game_can_be_planned_some_steps_ahead(kind, browser, links, table):
    game = table(kind, 3)
    seat = next(iter(game.asked()))
    page = plan(browser, links, game, seat)
    for _ in range(4):
        # Filled in is the first choice of a list, or what a missed deadline would choose.
        page = page.form("Imagine it").press()
        assert page.status == 200
    assert page.source.count('name="step"') >= 4


def test_the_sandbox_is_made_of_nothing_that_is_hidden_from_its_seat(browser, links, table):
    game = table("sunset-poker", 3)
    seat = next(iter(game.asked()))
    form = plan(browser, links, game, seat).form("Imagine it")
    pages = [form.press()]
    pages.append(pages[-1].form("Imagine it").press())
    truth = registry.load("sunset-poker").imagine(game.view(seat), seat, Stream(b"another truth", 0))
    assert codec.dumps(truth) != game.row().state
    other = (seat + 1) % 3
    game.play(other, game.asked()[other].default)
    changed = {"state": codec.dumps(truth), "seed": bytes(32), "secret": bytes(32)}
    game.server.store.write(lambda tx: tx.execute(update(GAME).where(GAME.c.id == game.id).values(changed)))
    again = [form.press()]
    again.append(again[-1].form("Imagine it").press())
    for one, twin in zip(pages, again, strict=True):
        assert one.source == twin.source


def test_an_impossible_choice_is_refused_and_the_steps_stay(browser, links, templari):
    seat = next(iter(templari.asked()))
    page = plan(browser, links, templari, seat).form("Imagine it").press(choice="bid 3")
    refused = page.form("Imagine it").press(choice="bid 2")
    assert refused.status == 400
    assert "You bid 3." in refused.text


@pytest.mark.parametrize(
    "fields",
    [
        {"world": "0"},
        {"world": "-1"},
        {"world": "1000000000"},
        {"step": "x:pass"},
        {"step": "0"},
        {"step": "0:" + "p" * 500},
        {"step": ["0:pass"] * 99},
        {"who": "77"},
        {"who": ""},
        {"choice": "nonsense"},
    ],
)
def test_a_form_that_no_page_has_made_is_answered_and_bounded(fields, browser, links, templari):
    seat = next(iter(templari.asked()))
    assert plan(browser, links, templari, seat).form("Imagine it").press(**fields).status == 400


def test_a_plan_for_an_earlier_turn_starts_again(browser, links, templari):
    seat = next(iter(templari.asked()))
    page = plan(browser, links, templari, seat)
    templari.play(seat, "bid 1")
    late = page.form("Imagine it").press(choice="bid 3")
    assert late.status == 409
    assert "The game has moved on" in late.text


def test_no_plan_is_made_where_no_game_runs(browser, links, templari):
    seat = next(iter(templari.asked()))
    moderate(templari.server, Freeze(templari.id), "Checking.")
    address = f"/s/{links.of(templari, seat)[1]}"
    assert "/imagine" not in browser.open(address).source
    assert browser.open(f"{address}/imagine").status == 410


def test_a_game_that_stops_while_it_is_planned_says_so(browser, links, templari):
    seat = next(iter(templari.asked()))
    page = plan(browser, links, templari, seat)
    moderate(templari.server, Freeze(templari.id), "Checking.")
    assert page.form("Imagine it").press(choice="bid 3").status == 410


def test_standing_orders_are_tried_out(browser, links, templari):
    seat = next(iter(templari.asked()))
    later = (seat + 1) % 3
    templari.server.run(
        standing_orders.set_order, templari.id, later, f"up to 9 if seat {seat + 1} is out; up to 4; always pass"
    )
    order = templari.row().orders
    page = plan(browser, links, templari, later).form("Imagine it").press(choice="bid 2")
    name = templari.players()[seat].name
    assert f"“up to 9 if {name} is out” wouldn't answer. {name} is still in." in page.text
    assert "Your order “up to 4” would play: bid 3." in page.text
    page = page.form("Follow order").press()
    assert "You bid 3." in page.text
    assert templari.row().orders == order
    assert orders_of(templari.row())
    assert "would play" not in plan(browser, links, templari, seat).text
