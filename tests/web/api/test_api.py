"""The API: held against its description, and against everything a program might send."""

import json
import random

import pytest

from engine import game as games
from pbem.domain.errors import BadInput
from pbem.service.archive import export
from pbem.service.play import by_link
from tests.web.browser import HOST
from tests.web.test_reading_changes_nothing import everything


class Program:
    """A program that plays one seat."""

    def __init__(self, app, token):
        self.client = app.test_client()
        self.headers = {"Authorization": f"Bearer {token}"}
        self.description = self.client.get("/api/v1/openapi.json", base_url=HOST).get_json()

    def get(self, path, status=200):
        response = self.client.get(f"/api/v1{path}", headers=self.headers, base_url=HOST)
        return self.checked(response, "get", path.partition("?")[0], status)

    def post(self, path, body, status=200):
        response = self.client.post(f"/api/v1{path}", json=body, headers=self.headers, base_url=HOST)
        return self.checked(response, "post", path, status)

    def checked(self, response, method, path, status):
        assert response.status_code == status, response.get_data(as_text=True)
        operation = self.description["paths"][path][method]
        answer = operation["responses"][str(status)]
        data = response.get_json()
        assert response.mimetype == "application/json"
        must_fit(data, answer["content"]["application/json"]["schema"], self.description)
        return data


def must_fit(data, schema, whole, at="answer"):
    """The part of JSON Schema that our description uses."""
    known = {"$ref", "type", "properties", "required", "additionalProperties", "items", "enum", "const", "oneOf"}
    assert set(schema) <= known | {"description", "format", "minimum", "maxLength", "default"}, at
    if "$ref" in schema:
        must_fit(data, whole["components"]["schemas"][schema["$ref"].rpartition("/")[2]], whole, at)
    if "oneOf" in schema:
        assert sum(fits(data, each, whole) for each in schema["oneOf"]) == 1, f"{at}: {data!r}"
    if "const" in schema:
        assert data == schema["const"], at
    if "enum" in schema:
        assert data in schema["enum"], f"{at}: {data!r}"
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert json_kind(data) in kinds, f"{at}: {data!r}"
    if isinstance(data, dict):
        properties = schema.get("properties", {})
        assert set(schema.get("required", ())) <= set(data), f"{at}: {sorted(data)}"
        assert schema.get("additionalProperties", True) or set(data) <= set(properties), f"{at}: {sorted(data)}"
        for name in set(properties) & set(data):
            must_fit(data[name], properties[name], whole, f"{at}.{name}")
    if isinstance(data, list) and "items" in schema:
        for number, each in enumerate(data):
            must_fit(each, schema["items"], whole, f"{at}[{number}]")


def fits(data, schema, whole):
    try:
        must_fit(data, schema, whole)
    except AssertionError:
        return False
    return True


def json_kind(data):
    kinds = {dict: "object", list: "array", str: "string", int: "integer", bool: "boolean", type(None): "null"}
    return kinds[type(data)]


@pytest.fixture
def programs(app, server, links):
    """programs(game) -> a program for each seat."""

    def of(game):
        tokens = [server.run(by_link.token_for_programs, links.of(game, seat)[1]) for seat in sorted(game.places())]
        return [Program(app, token) for token in tokens]

    return of


def pick(act, luck):
    """Any values for the blanks of an act, from nothing but its description."""
    values = []
    for blank in act["blanks"]:
        things = [thing["value"] for thing in blank.get("things", ())]
        if blank["kind"] == "amount":
            fit = [n for n in range(blank["low"], blank["high"] + 1) if n % 10 in blank["endings"]]
            values.append(luck.choice(fit))
        elif blank["kind"] == "oneof":
            values.append(luck.choice(things))
        else:
            assert blank["kind"] == "some"
            places = sorted(luck.sample(range(len(things)), blank["many"]))
            values.append([things[place] for place in places])
    return {"verb": act["verb"], "values": values}


@pytest.mark.slow
@pytest.mark.parametrize("kind", games.names())
def test_a_whole_game_is_played_by_programs_and_every_answer_is_as_described(kind, table, programs):
    game = table(kind, games.load(kind).seats[0], options=dict(games.load(kind).short))
    luck, seats = random.Random(kind), programs(game)
    while asked := game.asked():
        program = seats[luck.choice(sorted(asked))]
        told = program.get("/decision")
        turn = told["turn"]
        if luck.random() < 0.2:
            receipt = program.post("/choice", {"turn": turn, "text": told["decision"]["default"]["text"]})
        else:
            wanted = {"turn": turn, "choice": pick(luck.choice(told["decision"]["acts"]), luck)}
            response = program.client.post("/api/v1/choice", json=wanted, headers=program.headers, base_url=HOST)
            if response.status_code == 400:
                # Blanks that fit one by one need not fit together.
                continue
            receipt = program.checked(response, "post", "/choice", 200)
        assert receipt["turn"] == turn
        if luck.random() < 0.1:
            program.get("/board")
            program.get("/view")
    for program in seats:
        assert program.get("/decision")["decision"] is None
        assert program.get("/board")["status"] == "over"
        program.get("/history?since=0")
    assert export.read(json.dumps(seats[0].get("/export"))).key == game.row().key
    assert game.verifies()


def test_every_route_is_described_and_every_description_has_a_route(app):
    described = app.test_client().get("/api/v1/openapi.json", base_url=HOST).get_json()
    assert described["openapi"] == "3.1.0"
    told = {(f"/api/v1{path}", method.upper()) for path, methods in described["paths"].items() for method in methods}
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/api/")]
    assert told == {(rule.rule, method) for rule in rules for method in rule.methods - {"HEAD", "OPTIONS"}}
    operations = [each["operationId"] for methods in described["paths"].values() for each in methods.values()]
    assert len(set(operations)) == len(operations)


@pytest.fixture
def templari(table):
    return table("templari", 3)


@pytest.fixture
def asked(templari, programs):
    """The program of the seat that is asked."""
    return programs(templari)[next(iter(templari.asked()))]


def test_the_same_choice_twice_is_one_move_and_says_so(asked, templari):
    first = asked.post("/choice", {"turn": 1, "text": "bid 5"})
    again = asked.post("/choice", {"turn": 1, "choice": {"verb": "bid", "values": [5]}})
    assert (first["again"], again["again"]) == (False, True)
    assert templari.row().turn == 2


def test_a_choice_for_an_earlier_turn_is_stale(asked):
    asked.post("/choice", {"turn": 1, "text": "bid 5"})
    refused = asked.post("/choice", {"turn": 1, "text": "bid 6"}, 409)
    assert refused["error"]["kind"] == "Stale"


def test_a_choice_is_taken_back(asked, templari):
    asked.post("/choice", {"turn": 1, "text": "bid 5"})
    assert asked.post("/choice/withdrawal", {"turn": 1})["decision"] is not None
    assert templari.row().turn == 1
    asked.post("/choice/withdrawal", {"turn": 1}, 410)


def test_history_is_told_from_a_turn_on(asked, templari):
    for _ in range(4):
        templari.play(next(iter(templari.asked())), "pass")
    told = asked.get("/history?since=3")
    assert [entry["turn"] for entry in told["entries"]] == [3, 4]
    assert told["next"] is None
    assert any("pass" in sentence for entry in told["entries"] for sentence in entry["sentences"])


def test_the_log_says_that_the_choice_came_by_the_api(asked, templari):
    asked.post("/choice", {"turn": 1, "text": "bid 5"})
    assert templari.log()[-1].by == "api"


BODIES = [
    {},
    {"turn": 1},
    {"text": "pass"},
    {"turn": "1", "text": "pass"},
    {"turn": True, "text": "pass"},
    {"turn": 1.0, "text": "pass"},
    {"turn": -1, "text": "pass"},
    {"turn": 10**30, "text": "pass"},
    {"turn": None, "text": "pass"},
    {"turn": 1, "text": 7},
    {"turn": 1, "text": ["pass"]},
    {"turn": 1, "text": "x" * 1000},
    {"turn": 1, "text": ""},
    {"turn": 1, "text": "bid -1"},
    {"turn": 1, "text": "bid\ud800"},
    {"turn": 1, "text": "pass", "choice": {"verb": "pass"}},
    {"turn": 1, "choice": "pass"},
    {"turn": 1, "choice": []},
    {"turn": 1, "choice": {}},
    {"turn": 1, "choice": {"verb": "pass", "values": {}}},
    {"turn": 1, "choice": {"verb": "pass", "values": [1]}},
    {"turn": 1, "choice": {"verb": "dance", "values": []}},
    {"turn": 1, "choice": {"verb": "bid", "values": []}},
    {"turn": 1, "choice": {"verb": "bid", "values": [True]}},
    {"turn": 1, "choice": {"verb": "bid", "values": [3.0]}},
    {"turn": 1, "choice": {"verb": "bid", "values": ["3"]}},
    {"turn": 1, "choice": {"verb": "bid", "values": [[3]]}},
    {"turn": 1, "choice": {"verb": "bid", "values": [None]}},
    {"turn": 1, "choice": {"verb": "bid", "values": [{"is": "HIDDEN"}]}},
    {"turn": 1, "choice": {"verb": "bid", "values": [10**30]}},
    {"turn": 1, "choice": {"verb": "bid", "values": [-1]}},
    {"turn": 1, "choice": {"verb": "bid", "values": ["\ud800"]}},
    {"turn": 1, "choice": {"verb": "bid", "values": [[[[[[3]]]]]]}},
    {"turn": 1, "choice": {"verb": 7, "values": [3]}},
]


@pytest.mark.parametrize("body", BODIES, ids=repr)
def test_a_choice_that_is_none_is_refused_and_nothing_is_written(body, asked, server):
    before = everything(server)
    refused = asked.post("/choice", body, 400)
    assert refused["error"]["kind"] == BadInput.__name__
    assert refused["error"]["what"]
    assert everything(server) == before


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b"[" * 60_000,
        b'{"turn":NaN}',
        b'{"turn":' + b"9" * 5000 + b"}",
    ],
)
def test_a_body_that_is_no_object_is_refused(body, asked, server):
    before = everything(server)
    for path in ("/choice", "/choice/withdrawal"):
        response = asked.client.post(
            f"/api/v1{path}", data=body, headers=asked.headers, content_type="application/json", base_url=HOST
        )
        asked.checked(response, "post", path, 400)
    assert everything(server) == before


def test_a_form_in_the_place_of_json_is_refused(asked):
    response = asked.client.post("/api/v1/choice", data={"turn": "1"}, headers=asked.headers, base_url=HOST)
    asked.checked(response, "post", "/choice", 400)


@pytest.mark.parametrize("since", ["x", "-1", "1.5", "9" * 100, "٣", ""])
def test_a_history_from_no_turn_is_refused(since, asked):
    asked.get(f"/history?since={since}", 400)


def test_without_a_token_of_a_seat_there_is_nothing(app, links, templari, asked):
    move, seat = links.of(templari, 0)
    for headers in ({}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer"}, {"Authorization": "Bearer "}):
        asked.headers = headers
        asked.get("/decision", 401)
    for token in (move, seat, "x", "a" * 33, "ü"):
        asked.headers = {"Authorization": f"Bearer {token}"}
        asked.get("/decision", 404)
        asked.get("/export", 404)


def test_a_token_dies_when_the_links_of_its_seat_are_renewed(asked, server, templari):
    from pbem.service import links

    server.run(links.renew, templari.id, next(iter(templari.asked())))
    asked.get("/decision", 410)


def test_the_file_of_a_game_is_not_given_before_its_end(asked):
    refused = asked.get("/export", 403)
    assert refused["error"]["what"] == "This game is not over."


def test_addresses_that_are_not_there_answer_in_json(asked):
    response = asked.client.get("/api/v1/nothing", headers=asked.headers, base_url=HOST)
    assert (response.status_code, response.get_json()["error"]["kind"]) == (404, "NotFound")
    response = asked.client.delete("/api/v1/choice", headers=asked.headers, base_url=HOST)
    assert (response.status_code, response.get_json()["error"]["kind"]) == (405, "BadInput")


def test_the_page_of_a_seat_shows_the_same_token_each_time(browser, links, templari):
    page = browser.open(f"/s/{links.of(templari, 0)[1]}")
    one, two = (page.form("Show the token").press() for _ in range(2))
    assert one.source == two.source
    assert "Authorization: Bearer" in one.text
