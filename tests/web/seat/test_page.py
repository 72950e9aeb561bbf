"""The page of a seat: whole games by its forms, and forms that come late, twice or from two tabs."""

import html
import json
import random
import re

import pytest

from engine import grammar, orders, registry
from engine.decisions import Choice
from pbem.service.desk.acts.clocks import Freeze, Pause
from pbem.service.play import standing_orders, undo
from pbem.service.play.positions import orders_of
from tests.service.actors import calls_of, moderate

"""Options that make a game end soon, where it has such."""


def open_seat(browser, links, game, seat):
    return browser.open(f"/s/{links.of(game, seat)[1]}")


def choose(page, luck):
    """Fill in forms until one is accepted, sure of what it costs."""
    made = luck.choice(page.acts()).press_anyhow(luck)
    while made.status == 400:
        made = luck.choice(made.acts()).press_anyhow(luck)
    return made.form(made.heading.rstrip("?")).press() if made.heading.endswith("?") else made


@pytest.fixture
def poker(table):
    """A game whose players all seal a choice at once."""
    return table("sunset-poker", 3)


@pytest.fixture
def templari(table):
    """A game whose players decide one after the other."""
    return table("templari", 3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", registry.names())
def test_a_whole_game_can_be_played_on_the_pages_of_its_seats(kind, browser, links, table):
    game = table(kind, registry.load(kind).seats[0], options=dict(registry.load(kind).short))
    luck = random.Random(kind)
    while asked := game.asked():
        page = open_seat(browser, links, game, luck.choice(sorted(asked)))
        assert page.status == 200
        made = choose(page, luck)
        assert made.status == 200
        assert "placed=" in made.url
    assert game.row().status == "over"
    assert game.verifies()
    page = open_seat(browser, links, game, 0)
    assert "Game over" in page.text


def test_the_page_shows_the_question_the_deadline_and_the_default(browser, links, templari, carry):
    carry()
    seat = next(iter(templari.asked()))
    text = open_seat(browser, links, templari, seat).text
    text = text[text.index("What will you bid") :]
    assert text.index("Sun 22 Nov 2026") < 120
    assert "22 Nov, 13:00 (in" in text
    assert "), or you'll pass." in text


def test_a_default_with_a_word_of_the_rules_is_explained(browser, links, table):
    game = table("sorcerous-futures", 3)
    seller = next(seat for seat, asked in game.asked().items() if asked.default.verb == "closed")
    text = open_seat(browser, links, game, seller).text
    assert re.search(r"you'll sell [\w ]+ in a closed auction\.", text)


def test_the_page_after_a_move_leads_to_the_next_game_that_waits(browser, sign_in, links, poker, table, carry):
    waits = table("templari", 3)
    carry()
    person = waits.person_at(next(iter(waits.asked())))
    seat = next(seat for seat in range(3) if poker.person_at(seat) == person)
    made = open_seat(browser, links, poker, seat).act("Pick").press(b0=1)
    assert "Your next game" in made.text
    # A link may have been forwarded: only who is signed in sees which game it is, and goes straight there.
    assert not any(form.action == "/my/seat" for form in made.forms())
    assert "Next game" not in open_seat(browser, links, poker, seat).text
    sign_in(person)
    assert "Bid" in browser.open(made.url).form("Next game").press().text


def test_one_press_makes_a_choice_and_leads_back_to_the_table(browser, links, templari):
    seat = next(iter(templari.asked()))
    page = open_seat(browser, links, templari, seat).act("Bid").press(b0=5)
    assert page.status == 200
    assert "Bid 5: done." in page.text
    assert "high bid" in page.text.casefold()
    assert templari.row().turn == 2


def test_a_card_is_chosen_where_it_is(browser, links, poker):
    page = open_seat(browser, links, poker, 0)
    pack = [thing.value for thing in poker.asked()[0].acts[0].blanks[0].things]
    assert page.act("Pick").picks == {"b0": [str(place) for place in range(len(pack))]}
    written = grammar.write(poker.asked()[0], Choice("pick", (pack[1],)))
    assert f"You chose “{written}”." in page.act("Pick").press(b0=1).text


def test_a_quick_bid_is_one_press(browser, links, templari):
    seat = next(iter(templari.asked()))
    page = open_seat(browser, links, templari, seat)
    action = page.act("Bid").action
    made = browser.post(action, [("turn", "1"), ("press", "yes"), ("choice", "bid 1")])
    assert 'value="bid 1"' in page.source
    assert "Bid 1: done." in made.text


def test_a_bid_above_ones_means_is_asked_about_first(browser, links, templari):
    for _ in range(3):
        # A player with a card may bid more than their coins.
        seat = next(iter(templari.asked()))
        templari.play(seat, "bid 3" if templari.row().turn == 1 else "pass")
    while True:
        seat, decision = next(iter(templari.asked().items()))
        coins = templari.view(seat).coins[seat]
        high = max((act.blanks[0].high for act in decision.acts if act.blanks), default=0)
        if high > coins:
            break
        templari.play(seat, "pass")
    before = templari.row().turn
    asked = open_seat(browser, links, templari, seat).act("Bid").press(b0=high)
    assert f"You have {coins} coins, {high - coins} too few." in asked.text
    assert templari.row().turn == before
    assert f"Bid {high}: done." in asked.form(f"Bid {high}").press().text


def test_a_press_that_was_not_a_persons_is_asked_again(browser, links, templari):
    seat = next(iter(templari.asked()))
    page = open_seat(browser, links, templari, seat)
    fields = [(name, value) for name, value in page.act("Pass").fixed if name != "press"]
    asked = browser.post(page.act("Pass").action, fields)
    assert asked.heading == "Pass?"
    assert templari.row().turn == 1
    assert "Pass: done." in asked.form("Pass").press().text


def test_the_same_press_again_changes_nothing(browser, links, poker):
    act = open_seat(browser, links, poker, 0).act("Pick")
    first = act.press(b0=1)
    rows = len(poker.log())
    second = act.press(b0=1)
    assert (second.url, second.source) == (first.url, first.source)
    assert len(poker.log()) == rows


def test_the_same_press_after_the_turn_is_over_says_what_was_chosen(browser, links, templari):
    seat = next(iter(templari.asked()))
    act = open_seat(browser, links, templari, seat).act("Pass")
    act.press()
    assert templari.row().turn == 2
    rows = len(templari.log())
    second = act.press()
    assert second.status == 409
    assert "Pass: done." in second.text
    assert len(templari.log()) == rows


def test_a_form_left_open_never_plays_in_a_later_turn(browser, links, templari):
    seat = next(iter(templari.asked()))
    stale = open_seat(browser, links, templari, seat).act("Bid")
    # The other tab decides the same turn, and the auction comes round to the same seat.
    templari.play(seat, "bid 1")
    while seat not in templari.asked():
        templari.play(next(iter(templari.asked())), "bid 2" if templari.row().turn == 2 else "bid 3")
    before = templari.row()
    late = stale.press(b0=5)
    assert late.status == 409
    assert "moved on" in late.text
    assert "bids 3" in late.text
    assert templari.row() == before


def test_a_form_from_before_an_undo_never_plays_in_the_turn_that_got_its_number(browser, links, templari):
    seat, first = next(iter(templari.asked())), templari.row().turn
    templari.play(seat, "bid 1")
    other, turn = next(iter(templari.asked())), templari.row().turn
    token, page = links.of(templari, other)[1], open_seat(browser, links, templari, other)
    stale = [page.act("Bid"), page.form("Make this move"), page.form("Raise for me"), page.form("Set order")]
    undo_on(open_seat(browser, links, templari, seat)).press()
    assert templari.row().turn == first
    templari.play(seat, "bid 4")
    assert (templari.row().turn, next(iter(templari.asked()))) == (turn, other)
    before = templari.row()
    filled = [{"b0": 5}, {"choice": "pass"}, {"limit": 9}, {"order": "up to 9"}]
    late = [form.press(**values) for form, values in zip(stale, filled, strict=True)]
    assert [each.status for each in late] == [409] * len(stale)
    assert all("moved on" in each.text for each in late)
    # A question before a costly choice names its form's turn, and so does a hint.
    asked = f"{turn}.{'0' * 20}"
    assert browser.open(f"/s/{token}/sure?turn={asked}&choice=pass").status == 409
    assert templari.row() == before
    assert open_seat(browser, links, templari, other).act("Bid").press(b0=5).status == 200


def test_of_sealed_choices_from_two_tabs_the_last_counts(browser, links, poker):
    one, other = (open_seat(browser, links, poker, 0).act("Pick") for _ in range(2))
    first, second = one.press(b0=1), other.press(b0=2)
    assert re.search(r"You chose “(.*?)”", first.text)[1] not in second.text.partition("Since your")[0].replace(
        "Pick", ""
    )
    assert re.search(r"You chose “(.*?)”", second.text)[1] in open_seat(browser, links, poker, 0).text


def test_undo_in_an_older_tab_leaves_a_newer_choice(browser, links, poker):
    first = open_seat(browser, links, poker, 0).act("Pick").press(b0=1)
    second = open_seat(browser, links, poker, 0).act("Pick").press(b0=2)
    chosen = poker.row().box
    stale = undo_on(first).press()
    assert stale.status == 409
    assert "another choice since" in stale.text
    assert poker.row().box == chosen
    assert undo_on(second).press().status == 200
    assert poker.row().box != chosen


def test_a_frozen_table_says_so_and_asks_nothing(browser, links, poker, server):
    moderate(server, Freeze(poker.id))
    page = open_seat(browser, links, poker, 0)
    assert "This table has been stopped" in page.text
    assert not page.acts()


def test_the_page_of_a_sealed_choice_has_its_fingerprint_and_what_it_is_made_of(browser, links, poker):
    proof = poker.play(0, next(iter(poker.open()[0].choices()))).proof
    token = links.of(poker, 0)[1]
    page = browser.open(f"/s/{token}")
    assert f"{proof.fingerprint[:4]} {proof.fingerprint[4:8]}…" in page.text
    assert all(each in page.text for each in (proof.fingerprint, proof.nonce, proof.text))
    assert "sealed choice" not in open_seat(browser, links, poker, 1).text


def undo_on(page):
    return browser_form(page, "/back")


def browser_form(page, end):
    return next(form for form in page.forms() if form.action.endswith(end))


def test_a_sealed_choice_can_be_undone_on_the_page(browser, links, poker):
    page = open_seat(browser, links, poker, 0).act("Pick").press(b0=1)
    assert "You chose" in page.text
    page = undo_on(page).press()
    assert "You chose" not in page.text
    assert 0 in poker.asked()


def test_a_choice_can_be_undone_while_nobody_knows_of_it(browser, links, templari):
    seat = next(iter(templari.asked()))
    page = undo_on(open_seat(browser, links, templari, seat).act("Pass").press()).press()
    assert templari.row().turn == 1
    assert "What will you bid" in page.text


def test_undoing_is_not_offered_once_an_email_has_left(browser, links, templari, carry):
    seat = next(iter(templari.asked()))
    page = open_seat(browser, links, templari, seat).act("Pass").press()
    carry()
    assert undo_on(page).press().status == 410
    assert "Undo" not in browser.open(page.url).text


def test_a_choice_can_be_typed_as_in_an_email(browser, links, templari):
    seat = next(iter(templari.asked()))
    form = open_seat(browser, links, templari, seat).form("Make this move")
    refused = form.press(choice="bid 99")
    assert refused.status == 400
    assert "99 is too high: the maximum is 12." in refused.text
    assert "Bid 7: done." in form.press(choice="bid 7").text


def test_a_number_out_of_range_is_refused_with_the_limit_and_changes_nothing(browser, links, templari):
    before = templari.row()
    seat = next(iter(templari.asked()))
    refused = open_seat(browser, links, templari, seat).act("Bid").press(b0=13)
    assert refused.status == 400
    assert "13 isn't possible: at most 12." in refused.text
    assert templari.row() == before


def test_a_standing_order_is_set_shown_to_its_owner_alone_and_dropped(browser, links, templari):
    seat = next(iter(templari.asked()))
    other = (seat + 1) % 3
    page = open_seat(browser, links, templari, other).form("Set order").press(order="up to 9")
    assert "Your order is up to 9" in page.text
    assert "up to 9" not in open_seat(browser, links, templari, seat).text
    old = page
    page = page.form("Drop order").press()
    assert "Your order is" not in page.text
    page = page.form("Set order").press(order="up to 7")
    assert "Your standing orders have changed since then." in old.form("Drop order").press().text
    for button, rank in (("Drop order", "0"), ("Drop order", "")):
        assert "have changed" in page.form(button).press(rank=rank, expected="").text
    assert "Your order is up to 7" in open_seat(browser, links, templari, other).text


def test_several_orders_are_added_moved_and_dropped_by_plain_buttons(browser, links, templari):
    seat = next(iter(templari.asked()))
    other = (seat + 1) % 3
    rival = (seat + 2) % 3

    def listed():
        return [orders.write_one(one) for one in orders.as_list(orders_of(templari.row()).get(other))]

    page = open_seat(browser, links, templari, other)
    page = page.form("Set order").press(order="up to 9", condition=f"seat {rival + 1} is out")
    name = templari.players()[rival].name
    assert f"up to 9 if {name} is out" in page.text
    page = page.form("Add order").press(order="up to 5", condition="#high bid", how="at most", number=3)
    page = page.form("Add order").press(order="always pass")
    first, second = f"up to 9 if seat {rival + 1} is out", "up to 5 if high bid at most 3"
    assert listed() == [first, second, "always pass"]
    page = page.form("Down").press()
    assert listed() == [second, first, "always pass"]
    old = page
    page = page.form("Up", 1).press()
    assert listed() == [second, "always pass", first]
    assert "Your standing orders have changed since then." in old.form("Drop", 1).press().text
    page = page.form("Drop", 1).press()
    assert listed() == [second, first]
    assert first not in open_seat(browser, links, templari, seat).source


def test_a_condition_about_a_number_needs_one(browser, links, templari):
    page = open_seat(browser, links, templari, 0).form("Set order").press(order="up to 5", condition="#high bid")
    assert page.status == 400
    assert orders_of(templari.row()) == {}


def test_the_player_sees_which_order_answered_and_why_the_others_were_passed_over(browser, links, templari):
    seat = next(iter(templari.asked()))
    other = (seat + 1) % 3
    order = f"up to 5 if seat {seat + 1} is out; bid 99 then 3; up to 2 or ask me"
    templari.server.run(standing_orders.set_order, templari.id, other, order)
    templari.play(seat, "bid 1")
    name = templari.players()[seat].name
    text = open_seat(browser, links, templari, other).text
    assert "“up to 2 or ask me” played bid 2." in text
    assert f"“up to 5 if {name} is out” was passed over. {name} is still in." in text
    templari.play((seat + 2) % 3, "bid 3")
    templari.play(seat, "bid 4")
    text = open_seat(browser, links, templari, other).text
    assert "The bidding has passed 2." in text
    assert "played bid" not in open_seat(browser, links, templari, seat).text


def test_an_order_answers_at_once_when_it_is_its_owners_turn(browser, links, templari):
    seat = next(iter(templari.asked()))
    open_seat(browser, links, templari, seat).form("Set order").press(order="up to 9")
    assert templari.row().turn > 1


def test_a_meaningless_order_is_refused_with_the_possible_ones(browser, links, templari):
    page = open_seat(browser, links, templari, 0).form("Set order").press(order="win")
    assert page.status == 400
    assert "You can write" in page.text


@pytest.mark.parametrize("kind", registry.names())
def test_the_standing_orders_shown_fit_the_game_and_can_be_set_as_they_are(kind, browser, links, table):
    game = table(kind, 3)
    seat, decision = next(iter(game.asked().items()))
    source = open_seat(browser, links, game, seat).source
    shown = [html.unescape(each) for each in re.findall(r"<li><code>([^<]*)</code>: ", source)]
    default = grammar.write(decision, decision.default)
    assert any(each.startswith(f"{default} then ") for each in shown)
    # Nobody plays the same card again and again.
    assert (f"always {default}" in shown) == (kind not in ("sorcerous-futures", "sunset-poker"))
    for each in shown:
        assert orders.write_order(orders.read_order(each, decision))
    assert ("up to" in " ".join(shown)) == (orders.raising(decision) is not None)


def test_a_reason_why_acts_are_not_possible_is_said_once_for_all_of_them(browser, links, table):
    game = table("sunset-poker", 3)
    seat = next(iter(game.asked()))
    source = open_seat(browser, links, game, seat).source
    reasons = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", source)
    assert ("Play, Take, Fold", "Play begins after the draft.") in reasons
    assert source.count("Play begins after the draft.") == 1


def test_an_old_link_of_a_seat_leads_on_to_the_present_turn(browser, links, templari):
    seat = next(iter(templari.asked()))
    old = links.of(templari, seat)[1]
    for _ in range(3):
        templari.play(next(iter(templari.asked())), "pass")
    page = browser.open(f"/s/{old}")
    assert page.status == 200
    assert f'name="turn" value="{templari.row().turn}.' in page.source


def test_a_paused_table_says_so_and_offers_nothing(browser, links, templari, server):

    moderate(server, Pause(templari.id), "a power cut")
    page = open_seat(browser, links, templari, next(iter(templari.asked())))
    assert "This table is paused" in page.text
    assert not page.acts()


def test_the_organiser_can_be_contacted_from_a_seat(browser, links, templari, server):

    page = open_seat(browser, links, templari, 1).form("Send message").press(text="Ben does not answer.")
    assert page.heading == "Message sent"
    call = calls_of(server)[0]
    assert (call.game_id, call.seat, call.text) == (templari.id, 1, "Ben does not answer.")


def test_new_links_take_a_second_page_and_are_not_shown(browser, links, templari):
    move, token = links.of(templari, 0)
    sure = browser.open(f"/s/{token}").form("Get new links…").press()
    assert browser.open(f"/s/{token}").status == 200
    sent = sure.form("Get new links").press()
    assert sent.heading == "Check your email"
    assert links.of(templari, 0)[1] not in sent.source
    assert {browser.open(path).status for path in (f"/s/{token}", f"/m/{move}/pass")} == {410}


def test_resigning_takes_a_second_page(browser, links, templari):
    page = open_seat(browser, links, templari, 1)
    asked = page.form("Leave table…").press()
    assert templari.players()[1].bot is None
    left = asked.form("Leave table").press()
    assert left.heading == "You've left the table"
    assert templari.players()[1].bot is not None
    assert browser.open(page.url).status == 410


def test_a_game_ends_without_a_result_when_all_agree_on_their_pages(browser, links, templari):
    for seat in range(3):
        page = open_seat(browser, links, templari, seat).form("Propose ending" if seat == 0 else "Agree to end").press()
    assert "The game ended without a result" in page.text


def test_the_file_of_a_finished_game_is_offered_and_can_be_read(browser, links, table):
    from pbem.service.archive import export

    game = table("sorcerous-futures", 3)
    token = links.of(game, 0)[1]
    assert browser.open(f"/s/{token}/game.json").status == 403
    list(game.play_defaults())
    page = browser.open(f"/s/{token}")
    file = page.follow("Download the game file")
    read = export.read(file.source)
    assert list(read.log) == game.log()
    assert read.secret == game.row().secret
    assert export.write(read) == file.source


def test_everything_a_seat_knows_is_offered_as_a_file_that_no_browser_keeps(browser, links, poker):
    file = browser.open(f"/s/{links.of(poker, 0)[1]}").follow("Download what you've seen of this game")
    assert json.loads(file.source)["seat"] == 0
    assert file.response.headers["Cache-Control"] == "no-store"
    assert file.response.headers["Content-Disposition"].startswith("attachment")


def test_names_of_people_and_tables_are_never_html(browser, links, server, person):
    from pbem.service.tables import joining
    from pbem.service.tables.new import TableSettings
    from tests.service.running_game import RunningGame

    evil = "<b>Ann</b>&amp;\"'"
    players = [person("Ann"), person("Ben"), person("Cleo")]
    game_id = server.run(
        joining.create_table, players[0], TableSettings("templari", 3, title="<script>alert(1)</script>")
    ).game_id
    for player in players:
        server.run(joining.join, game_id, player, name=evil)
    game = RunningGame(server, game_id)
    page = open_seat(browser, links, game, 0)
    assert "<script>" not in page.source
    assert "<b>Ann" not in page.source
    assert evil in page.text


def test_taking_back_names_the_turn_and_never_another(browser, links, poker, server):
    open_seat(browser, links, poker, 0).act("Pick").press(b0=1)
    server.run(undo.take_back, poker.id, poker.row().turn, 0)
    token = links.of(poker, 0)[1]
    gone = browser.post(f"/s/{token}/back", [("turn", "1")])
    assert gone.status == 410


@pytest.mark.slow
def test_the_page_of_a_long_game_reads_few_rows_where_views_are_cached(browser, links, templari, carry, server):
    from pbem.service.play import views
    from pbem.store import games as rows, views as saved_views

    def saved_seq(tx, game_id, seat):
        saved = saved_views.last_of(tx, game_id, seat)
        return 0 if saved is None else saved.seq

    folded = []
    while asked := templari.asked():
        carry()
        views.save_overdue(server)
        seat, decision = next(iter(asked.items()))
        with server.store.read() as tx:
            folded.append(rows.read(tx, templari.id).seq - saved_seq(tx, templari.id, seat))
        templari.play(seat, decision.default)
    assert len(templari.log()) > 2 * views.SAVE_EVERY
    assert max(folded) < 1.5 * views.SAVE_EVERY


def test_a_player_who_waits_is_told_who_is_to_decide_and_since_when(browser, links, templari):
    (asked,) = templari.asked()
    idle = (asked + 1) % 3
    name = templari.players()[asked].name
    waiting = rf"Waiting for \W?{name}\W? since \w{{3}} \d.* Time per turn: 1 day\. We'll email you"
    assert re.search(waiting, open_seat(browser, links, templari, idle).text)
    assert "Waiting for" not in open_seat(browser, links, templari, asked).text


def test_the_page_of_a_seat_names_the_level_of_every_bot(browser, links, table):
    game = table("sunset-poker", 3, bots=("beginner", "regular"))
    (person,) = (seat for seat, player in game.players().items() if player.bot is None)
    assert sorted(re.findall(r"bot, \w+", open_seat(browser, links, game, person).text)) == [
        "bot, Beginner",
        "bot, Regular",
    ]


def test_in_a_simultaneous_turn_a_player_waits_for_all_others_whether_or_not_they_have_answered(browser, links, poker):
    token = links.of(poker, 0)[1]
    before = browser.open(f"/s/{token}").text
    poker.play(1, poker.asked()[1].default)
    assert browser.open(f"/s/{token}").text == before


def test_a_choice_that_is_taken_back_too_late_leads_to_the_table_with_the_reason(browser, links, templari, carry):
    seat = next(iter(templari.asked()))
    turn = templari.row().turn
    move, token = links.of(templari, seat)
    templari.play(seat, templari.asked()[seat].default)
    carry()
    late = browser.post(f"/s/{token}/back", [("turn", str(turn))])
    assert late.status == 410
    assert "can no longer be taken back" in late.text
    assert "It isn't your turn" in late.text
    by_link = browser.post(f"/m/{move}/pass/back", [])
    assert by_link.status == 410
    assert "can no longer be taken back" in by_link.text
    assert f"You've already played turn {turn}" in by_link.text
