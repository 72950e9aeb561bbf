"""No GET and no HEAD writes: every route that answers one is requested in a live game, and all rows are compared."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from pbem.service.account import delete, feeds, profiles
from pbem.service.archive import dump, game_statistics, replay
from pbem.service.desk import calls, jobs
from pbem.service.desk.jobs import What
from pbem.service.play import by_link
from pbem.service.tables import groups, joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import reading, rounds, sign_up
from pbem.store import groups as group_rows, profiles as profile_rows
from pbem.store.schema import METADATA
from pbem.tokens import Purpose
from tests.service.actors import ANN
from tests.service.database import queued_emails
from tests.service.inbox import Inbox
from tests.service.tournaments.cup import open_cup
from tests.web.desk_pages import at_the_desk

GARBAGE = ["a" * 33, "abc", "a" * 500, "%F0%9F%A6%8A", "..%2F..%2Fetc", "0", "-1"]


def everything(server):
    """The whole content of the database."""
    with server.store.engine.connect() as connection:
        return {
            table.name: sorted(map(repr, connection.execute(select(table)).all())) for table in METADATA.sorted_tables
        }


@pytest.fixture
def live(server, browser, clock, table, links, person, carry, sign_in):
    """A running game with emails, orders and an unverified reply, a waiting table, links of every purpose, and old views."""
    game = table("templari", 3)
    waiting = server.run(joining.create_table, person("Ann"), TableSettings("bid", 3))
    for _ in range(30):
        game.play(*next((seat, decision.default) for seat, decision in game.asked().items()))
    move, seat = links.of(game, 0)
    server.run(by_link.add_order, seat, game.row().turn, "always pass")
    carry()
    inbox = Inbox(server, clock)
    (asked,) = game.asked()
    inbox.replies(game, asked, "pass", Authentication_Results=None)
    (doubt,) = queued_emails(server, kind="was_it_you")
    player = game.person_at(0)
    ended = table("templari", 3)
    for each in range(3):
        server.run(leaving.agree_to_end, ended.id, ended.person_at(each))
    finished = table("bid", 3, options={"max_auctions": 1})
    list(finished.play_defaults())
    game_statistics.count_games(server)
    server.run(groups.create, player, "Friday club")
    server.run(profiles.choose, player, "everyone", "", punctual=True)
    sign_in(player)
    at_the_desk(browser, server)
    server.run(calls.call, player, "Help", game_id=game.id)
    server.run(jobs.begin, ANN, What.RESUME, {}, "All is well again.", "the key of a form")
    server.run(feeds.renew, player)
    server.run(delete.ask, player)
    carry()
    (goodbye,) = queued_emails(server, player, "deletion")
    cup = open_cup(server, player, closes_at=server.now() + timedelta(minutes=1))
    for name in ("Ann", "Ben", "Cleo"):
        server.run(sign_up.sign_up, server.read(reading.page, cup).summary.row.id, person(name))
    server.run(sign_up.ask, cup, "ann@example.org")
    clock.advance(timedelta(minutes=2))
    rounds.advance_due(server)
    dump.make_nightly(server, lambda: True)
    tokens = {
        "tournament_link": [
            inbox.token(
                Purpose.ENTRY, person_id=person("Ann"), outbox_id=queued_emails(server, person("Ann"), "sign_up")[0].id
            )
        ],
        "move": [move],
        "seat": [seat, links.of(game, next(iter(game.asked())))[1]],
        "invitation": [
            links.made(Purpose.CONFIRM, person("Ben"), waiting.game_id),
            links.made(Purpose.CONFIRM, person("Ben")),
        ],
        "joining": [links.made(Purpose.INVITE, person("Ann"), waiting.game_id)],
        "consent": [inbox.token(Purpose.YES, person_id=player, outbox_id=goodbye.id)],
        "disown": [inbox.token(Purpose.DISOWN, person_id=player, outbox_id=goodbye.id)],
        "feeds": [server.read(feeds.feed_tokens, player).calendar, server.read(feeds.feed_tokens, player).news],
        "sign_in": [links.made(Purpose.SIGN_IN, person("Ann"))],
        "unsubscribe": [links.made(Purpose.STOP, player)],
        "unverified_reply": [inbox.token(Purpose.WRITTEN, person_id=doubt.person_id, outbox_id=doubt.id)],
        "replay": [links.of(ended, 0)[1], server.run(replay.share, links.of(ended, 0)[1])],
        "review": [links.of(finished, 0)[1]],
        "api": [server.run(by_link.api_token, seat)],
    }
    return game, waiting, cup, tokens


def addresses(app, browser, live):
    """The addresses of every rule that answers GET, with good values and with garbage for every part."""
    game, waiting, cup, tokens = live
    with game.server.store.read() as tx:
        shown = profile_rows.of_person(tx, game.person_at(0))
        (group,) = group_rows.of_person(tx, game.person_at(0))
    emails = [
        href.rpartition("/")[2] for href in browser.open("/mailbox").links().values() if href.startswith("/mailbox/")
    ]
    values = {
        "option": ["pass", "bid-5", "bid-99", "nonsense", "-"],
        "seat": ["0", "1", "999999999999999999999"],
        "turn": ["0", "1", "30", "999999999999999999999"],
        "number": ["0", "1", "30", "999999999999999999999"],
        "kind": ["bid", "nonsense"],
        "game_id": [str(game.id), "999999999999999999999"],
        "person_id": [str(game.person_at(0)), "999999999999999999999"],
        "job_id": ["1", "999999999999999999999"],
        "call_id": ["1", "999999999999999999999"],
        "name": ["time", "nonsense"],
        "key": [waiting.key, game.row().key, shown.key, group.key, cup, *emails[:2], "nonsense"],
        "filename": ["pbem.css", "../app.py"],
    }
    for rule in app.url_map.iter_rules():
        if "GET" not in rule.methods:
            continue
        blueprint = rule.endpoint.partition(".")[0]
        good = [*tokens.get(blueprint, []), *(each for kind in tokens.values() for each in kind)]
        found = [rule.rule]
        for place, name in re.findall(r"(<(?:\w+:)?(\w+)>)", rule.rule):
            choices = [*(good if name == "token" else values[name]), *GARBAGE]
            found = [url.replace(place, choice) for url in found for choice in choices]
        queries = [f"?turn={game.row().turn}&choice=pass", "?turn=1&choice=pass", "?turn=x"]
        asks = rule.endpoint == "choice.ask"
        yield rule, [url + query for url in found for query in (queries if asks else [""])]


@pytest.mark.slow
def test_no_route_that_answers_get_or_head_writes(app, browser, live, server):
    before = everything(server)
    asked, answered = 0, {}
    tokens = [each for kind in live[-1].values() for each in kind]
    for rule, urls in addresses(app, browser, live):
        for url in urls:
            for token in tokens[-1:] if rule.rule.startswith("/api/") else [""]:
                for method in ("GET", "HEAD"):
                    headers = {"Authorization": f"Bearer {token}"} if token else {}
                    response = browser.client.open(
                        url, method=method, headers=headers, base_url="http://localhost:8000"
                    )
                    response.close()
                    assert response.status_code < 500, url
                    answered.setdefault(rule.rule, set()).add(response.status_code)
                    asked += 1
    assert asked > 300
    assert everything(server) == before
    # Every page was really shown at least once; news has none. No token here is for a finished game by API.
    unshown = {rule for rule, statuses in answered.items() if not {200, 204} & statuses}
    assert unshown == {"/api/v1/export"}


def test_no_address_takes_both_get_and_post(app):
    for rule in app.url_map.iter_rules():
        assert rule.methods >= {"OPTIONS"}
        if "POST" in rule.methods:
            assert "GET" not in rule.methods
