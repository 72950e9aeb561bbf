"""Open data: what is public, page by page, as described, and nothing of those who aren't."""

import re

import pytest
from sqlalchemy import event

from pbem.service.account import delete, profiles
from pbem.service.archive import game_statistics, ratings
from pbem.service.tournaments import reading, rounds, sign_up
from pbem.store import people, profiles as profile_rows, ratings as rating_rows
from tests.service.database import count_calls
from tests.service.desk.test_audit import plan_of
from tests.service.desk.test_overview import scans
from tests.service.tournaments.cup import open_cup
from tests.web.api.description import Description
from tests.web.browser import HOST

MOST_STATEMENTS = 8


class Reader:
    """A program without a token. Everything it is sent has to be as the description says."""

    def __init__(self, app):
        self.client = app.test_client()
        self.description = Description(self.client.get("/api/v1/openapi.json", base_url=HOST).get_json())

    def get(self, path, status=200, **headers):
        response = self.client.get(f"/api/v1{path}", headers=headers, base_url=HOST)
        assert response.status_code == status, response.get_data(as_text=True)
        if status != 304:
            described = re.sub(r"(?<=^/)(ratings|statistics)/[^/]+$", r"\1/{kind}", path.partition("?")[0])
            described = re.sub(r"^/tournaments/[^/]+$", "/tournaments/{key}", described)
            self.description.must_fit(response.get_json(), self.description.answer(described, "get", status))
        return response

    def pages(self, path):
        """This page of a list and all that follow, by their links."""
        found = [self.get(path)]
        while link := found[-1].headers.get("Link"):
            address, relation = re.fullmatch(rf'<{HOST}/api/v1([^>]+)>; rel="(\w+)"', link).groups()
            assert relation == "next"
            found.append(self.get(address))
        return found


@pytest.fixture
def program(app):
    return Reader(app)


@pytest.fixture
def over(table):
    """over(title=...) -> a finished game of Bid!."""

    def played(**more):
        game = table("bid", 3, options={"max_auctions": 1}, **more)
        list(game.play_defaults())
        return game

    return played


@pytest.fixture
def shows(server):
    """shows(person, audience) -> the key of the profile that the person shows."""

    def choose(person, audience="everyone", name="Sphinx"):
        server.run(profiles.choose, person, audience, name, punctual=False)
        row = server.query(profile_rows.of_person, person)
        return None if row is None else row.key

    return choose


@pytest.fixture
def cup(server, clock, person):
    """The key of a tournament whose first round has begun."""
    key = open_cup(server, person("Host"))
    row = server.read(reading.page, key).summary.row
    for name in ("Ann", "Ben", "Cleo"):
        server.run(sign_up.sign_up, row.id, person(name))
    clock.advance(row.closes_at - clock.now())
    rounds.advance_due(server)
    return key


def test_a_finished_public_game_has_its_ranks_scores_options_and_length(program, over, shows):
    game = over(title="A short one", bots=("greedy",))
    person = next(seat for seat in range(3) if game.players()[seat].person_id)
    key = shows(game.person_at(person))
    (found,) = program.get("/games").get_json()["games"]
    ranks = {seat: (place.number, place.score) for place in game.ranking() for seat in place.seats}
    assert (found["game"], found["title"], found["turns"]) == (game.row().key, "A short one", game.row().turn)
    assert found["options"]["max_auctions"] == 1
    assert [(each["place"], each["score"]) for each in found["seats"]] == [ranks[seat] for seat in range(3)]
    assert [each["player"] for each in found["seats"]] == [key if seat == person else None for seat in range(3)]
    assert sorted(each["bot"] or "" for each in found["seats"]) == ["", "", "greedy"]
    assert found["tournament"] is None
    assert program.client.get(found["replay"].removeprefix(HOST), base_url=HOST).status_code == 200


def test_pages_stay_right_while_games_finish(program, over):
    """Someone who follows the links gets each game once that was there at the start, in the order of endings."""
    before = [over().row().key for _ in range(4)]
    first = program.get("/games?limit=2")
    over()
    rest = program.pages("/games?limit=2&after=" + first.get_json()["next"])
    seen = [each["game"] for page in [first, *rest] for each in page.get_json()["games"]]
    assert sorted(seen) == sorted(before)
    assert len(program.pages("/games?limit=2")) == 3
    assert rest[-1].get_json()["next"] is None


def test_games_are_listed_by_kind(program, over, cup, time):
    key = over().row().key
    assert [each["game"] for each in program.get("/games?kind=bid").get_json()["games"]] == [key]
    assert program.get("/games?kind=sunset-poker").get_json()["games"] == []
    program.get("/games?kind=chess", 404)


@pytest.mark.parametrize(
    "path",
    [
        *("/games?limit=0", "/games?limit=101", "/games?limit=x", "/games?after=nothing", "/tournaments?after=nothing"),
        *("/tournaments?status=secret", "/ratings?limit=-1"),
    ],
)
def test_a_page_that_there_cannot_be_is_refused_in_words(path, program):
    assert program.get(path, 400).get_json()["error"]["what"]


def test_a_private_table_is_as_if_it_were_not_there(program, over, server, table):
    """Twins: the same answers, to the byte, with and without a private game, and with its key for that of no game."""
    over()
    paths = ("/games", "/games?kind=bid", "/games?after=" + "0" * 32, "/statistics/bid", "/ratings", "/ratings/bid")
    before = [answer(program, path) for path in paths]
    hidden = over(private=True, bots=("greedy", "greedy"))
    running = table("bid", 3)
    while game_statistics.count_games(server) or ratings.add_endings(server):
        pass
    count = answer(program, "/statistics/bid")
    assert [answer(program, path) for path in paths[:3] + paths[4:]] == before[:3] + before[4:]
    assert '"games": 1' in count[1].decode()
    for key in (hidden.row().key, running.row().key):
        with count_calls(server.store) as made:
            refused = answer(program, f"/games?after={key}")
        assert refused == before[2]
        with count_calls(server.store) as of_none:
            answer(program, "/games?after=" + "0" * 32)
        assert len(made) == len(of_none)


def test_a_person_who_is_not_public_is_as_if_they_had_neither_profile_nor_rating(program, over, server, shows):
    """Twins: someone who shows a profile to those they have met, or no ratings, and someone who shows nothing."""
    game = over(rated=True)
    while ratings.add_endings(server):
        pass
    ann, ben, _cleo = (game.person_at(seat) for seat in range(3))
    for person in (ann, ben):
        shares(server, person)
    key = shows(ben)
    paths = ("/games", "/ratings", "/ratings/bid")
    before = [answer(program, path) for path in paths]
    assert [each["player"] for each in program.get("/ratings/bid").get_json()["ratings"]] == [key]
    shows(ann, "met", "Hidden")
    assert [answer(program, path) for path in paths] == before
    # A profile for everyone, and ratings for nobody: only the first is seen.
    shares(server, ann, shown=False)
    shows(ann, "everyone", "Hidden")
    assert [answer(program, path) == old for path, old in zip(paths, before, strict=True)] == [False, True, True]
    server.run(delete.delete_person, ben)
    assert program.get("/ratings/bid").get_json()["ratings"] == []
    assert key not in program.get("/games").text


def test_ratings_are_of_those_who_show_them_and_pages_are_in_the_order_of_keys(
    program, over, server, shows, monkeypatch
):
    game = over(rated=True)
    while ratings.add_endings(server):
        pass
    keys = []
    for seat in range(3):
        shares(server, game.person_at(seat))
        keys.append(shows(game.person_at(seat), name=f"Sphinx {seat}"))
    for path in ("/ratings", "/ratings/bid"):
        pages = program.pages(f"{path}?limit=1")
        assert [each["player"] for page in pages for each in page.get_json()["ratings"]] == sorted(keys)
    # Where few have played a game, a page ends after a number of people, and the next one goes on.
    with monkeypatch.context() as patched:
        patched.setattr(rating_rows, "AT_ONCE", 1)
        patched.setattr(rating_rows, "MOST_LOOKS", 1)
        for path, found in (("/ratings/bid", sorted(keys)), ("/ratings/templari", [])):
            pages = program.pages(path)
            assert len(pages) > 1
            assert [each["player"] for page in pages for each in page.get_json()["ratings"]] == found
    (best,) = [each for each in program.get("/ratings/bid").get_json()["ratings"] if each["rating"] > 1500] or [None]
    assert best is None or best["games"] == 1
    assert program.get("/ratings/templari").get_json()["ratings"] == []
    program.get("/ratings/chess", 404)


def test_a_tournament_has_its_rounds_standings_and_file(program, cup, time, server, clock):
    (listed,) = program.get("/tournaments?status=playing").get_json()["tournaments"]
    assert (listed["tournament"], listed["round"], listed["players"], listed["winners"]) == (cup, 1, 3, [])
    while (row := server.read(reading.page, cup).summary.row).status == "playing":
        clock.advance(row.due_at - clock.now())
        rounds.advance_due(server)
        time.bots_play()
        rounds.advance_due(server)
    found = program.get(f"/tournaments/{cup}").get_json()
    assert [len(each["tables"]) for each in found["played"]] == [1, 1]
    assert {each["how"] for played in found["played"] for each in played["tables"]} == {"bots"}
    assert found["winners"] == [each["name"] for each in found["standings"] if each["place"] == 1]
    assert program.client.get(found["file"].removeprefix(HOST), base_url=HOST).get_json()["key"] == cup
    games = program.get("/games").get_json()["games"]
    assert {each["tournament"]["tournament"] for each in games} == {cup}
    program.get("/tournaments/nothing", 404)


def test_tournaments_follow_page_by_page(program, server, clock, person):
    keys = [open_cup(server, person(f"Host {number}")) for number in range(3)]
    pages = program.pages("/tournaments?status=open&limit=1")
    assert sorted(each["tournament"] for page in pages for each in page.get_json()["tournaments"]) == sorted(keys)
    assert len(program.pages("/tournaments?limit=2")) == 2


def test_statistics_are_those_of_the_page(program, over, server):
    over()
    while game_statistics.count_games(server):
        pass
    found = program.get("/statistics/bid").get_json()
    assert (found["games"], found["players"]) == (1, [{"value": 3, "count": 1}])
    assert {"option": "max_auctions", "value": "1", "games": 1} in found["options"]
    assert sum(each["wins"] for each in found["seats"]) == pytest.approx(1, abs=0.01)


def test_an_answer_that_has_not_changed_is_not_sent_again(program, over, cup, server):
    over()
    for path in ("/games", "/ratings", "/tournaments", f"/tournaments/{cup}", "/statistics/bid"):
        first = program.get(path)
        tag = first.headers["ETag"]
        assert re.fullmatch('"[0-9a-f]{32}"', tag)
        assert first.headers["Cache-Control"] == "public, no-cache"
        again = program.get(path, 304, **{"If-None-Match": tag})
        assert again.data == b""
        assert again.headers["ETag"] == tag
    tag = program.get("/games").headers["ETag"]
    over()
    assert program.get("/games", **{"If-None-Match": tag}).headers["ETag"] != tag


def test_each_answer_takes_few_statements_and_reads_no_table_whole(program, over, cup, server, shows, person):
    for number in range(3):
        game = over(rated=True)
        open_cup(server, person(f"Host {number}"))
    while ratings.add_endings(server) or game_statistics.count_games(server):
        pass
    shares(server, game.person_at(0))
    shows(game.person_at(0))
    asked = []

    @event.listens_for(server.store.engine, "before_cursor_execute")
    def note(_connection, _cursor, statement, values, _context, _many):
        asked.append((statement, values))

    paths = ["/games", "/games?kind=bid&limit=1", "/ratings", "/ratings/bid", "/tournaments?limit=2"]
    paths += ["/tournaments?status=open", f"/tournaments/{cup}", "/statistics/bid"]
    for path in [*paths, *(f"{path}&after={last(program, path)}" for path in (paths[1], paths[4]))]:
        asked.clear()
        program.get(path)
        made = [each for each in asked if each[0].startswith("SELECT")]
        assert len(made) <= MOST_STATEMENTS, [statement for statement, _values in made]
        for statement, values in made:
            assert scans(server, statement, values) == [], statement
            if server.store.on_sqlite and "LIMIT" in statement:
                assert "TEMP B-TREE" not in plan_of(server, statement, values), statement


def test_open_data_needs_no_token_and_heeds_none(program, over):
    over()
    plain = answer(program, "/games")
    response = program.client.get("/api/v1/games", headers={"Authorization": "Bearer x"}, base_url=HOST)
    assert response.data == plain[1]
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def last(program, path):
    return program.get(path).get_json()["next"]


def answer(program, path):
    """The status, the bytes and the headers of an answer."""
    response = program.client.get(f"/api/v1{path}", base_url=HOST)
    headers = [(name, value) for name, value in response.headers if name not in ("Date", "X-Request-Id")]
    return response.status_code, response.data, headers


def shares(server, person, *, shown=True):
    """Let a person share their ratings, or not."""
    server.store.write(lambda tx: people.change(tx, person, show_ratings=shown))
