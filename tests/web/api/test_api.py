"""The API: every answer is as its description says, and nothing a program may send does harm."""

import hashlib
import json
import random

import pytest

from engine import registry
from engine.decisions import Amount, OneOf, Ranking, Some, Split, Thing
from engine.tell import Teller, say
from pbem.domain.errors import BadInput
from pbem.service.archive import export
from pbem.service.play import by_link
from pbem.web.api import answers
from tests.web.api.description import Description
from tests.web.browser import HOST
from tests.web.test_reading_changes_nothing import everything


class Program:
    """A program that plays one seat. Everything it sends and is sent has to be as the description says."""

    def __init__(self, app, token):
        self.client = app.test_client()
        self.headers = {"Authorization": f"Bearer {token}"}
        self.description = Description(self.client.get("/api/v1/openapi.json", base_url=HOST).get_json())

    def get(self, path, status=200):
        response = self.client.get(f"/api/v1{path}", headers=self.headers, base_url=HOST)
        return self.checked(response, "get", path.partition("?")[0], status)

    def post(self, path, body, status=200):
        """Send a body; a choice without a head gets the present one."""
        if path == "/choice" and status in (200, 409) and "head" not in body:
            body = body | {"head": self.get("/decision")["head"]}
        response = self.client.post(f"/api/v1{path}", json=body, headers=self.headers, base_url=HOST)
        answer = self.checked(response, "post", path, status)
        if status == 200:
            self.description.must_fit(body, self.description.request(path))
        return answer

    def checked(self, response, method, path, status):
        """The JSON of an answer, once it was seen to be the one described."""
        assert response.status_code == status, response.get_data(as_text=True)
        assert response.mimetype == "application/json"
        answer = response.get_json()
        self.description.must_fit(answer, self.description.answer(path, method, status))
        return answer


@pytest.fixture
def programs(app, server, links):
    """programs(game) -> a program for each seat."""

    def for_each_seat(game):
        tokens = [server.run(by_link.api_token, links.of(game, seat)[1]) for seat in sorted(game.players())]
        return [Program(app, token) for token in tokens]

    return for_each_seat


def any_choice(act, luck):
    """A choice of an act, with values made from nothing but the description of its blanks."""
    return {"verb": act["verb"], "values": [any_value(blank, luck) for blank in act["blanks"]]}


def any_value(blank, luck):
    things = [thing["value"] for thing in blank.get("things", ())]
    if blank["kind"] == "amount":
        return luck.choice([n for n in range(blank["low"], blank["high"] + 1) if n % 10 in blank["endings"]])
    if blank["kind"] == "oneof":
        return luck.choice(things)
    assert blank["kind"] == "some"
    return [things[place] for place in sorted(luck.sample(range(len(things)), blank["many"]))]


@pytest.mark.slow
@pytest.mark.parametrize("kind", registry.names())
def test_programs_play_a_whole_game_and_every_answer_is_as_described(kind, table, programs):
    game = table(kind, registry.load(kind).seats[0], options=dict(registry.load(kind).short))
    luck, seats = random.Random(kind), programs(game)
    while asked := game.asked():
        program = seats[luck.choice(sorted(asked))]
        answer = program.get("/decision")
        turn = answer["turn"]
        if luck.random() < 0.2:
            receipt = program.post("/choice", {"turn": turn, "text": answer["decision"]["default"]["text"]})
        else:
            choice = any_choice(luck.choice(answer["decision"]["acts"]), luck)
            request = {"turn": turn, "head": answer["head"], "choice": choice}
            response = program.client.post("/api/v1/choice", json=request, headers=program.headers, base_url=HOST)
            if response.status_code == 400:
                # Values that are possible one by one may be impossible together.
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


@pytest.fixture
def description(app):
    """The description that the server gives."""
    return Description(app.test_client().get("/api/v1/openapi.json", base_url=HOST).get_json())


def test_every_route_is_described_and_every_description_has_a_route(app, description):
    described = {
        (f"/api/v1{path.replace('{', '<').replace('}', '>')}", method.upper(), operation["operationId"])
        for path, method, operation in description.operations()
    }
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/api/")]
    routes = {
        (rule.rule, method, rule.endpoint.partition(".")[2])
        for rule in rules
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert described == routes


def test_the_description_says_where_this_server_is(description):
    assert description.document["openapi"] == "3.1.0"
    assert description.document["servers"] == [{"url": f"{HOST}/api/v1"}]


def test_every_shared_part_of_the_description_exists_and_is_used(description):
    assert description.references() == description.components()


BLANKS = [
    Amount("coins", 0, 7, frozenset({0, 5}), raising=True, why=say("You have 7 coins")),
    OneOf("card", (Thing("A", "the Ace"),)),
    Some("cards", (Thing("A", "the Ace"), Thing(2, "the Two", "low")), 1),
    Ranking("cards", (Thing("A", "the Ace"), Thing(2, "the Two", "low"))),
    Split("coins", (Thing("A", "the Ace"), Thing(2, "the Two", "low")), 5),
]


@pytest.mark.parametrize("blank", BLANKS, ids=lambda blank: type(blank).__name__)
def test_each_kind_of_blank_is_as_described_though_no_game_may_have_it(blank, description):
    answer = json.loads(json.dumps(answers.blank(blank, Teller())))
    description.must_fit(answer, {"$ref": "#/components/schemas/Blank"})


@pytest.fixture
def templari(table):
    return table("templari", 3)


@pytest.fixture
def asked(templari, programs):
    """The program of the seat whose turn it is."""
    return programs(templari)[next(iter(templari.asked()))]


def test_the_same_choice_sent_twice_is_one_move_and_the_receipt_says_so(asked, templari):
    first = asked.post("/choice", {"turn": 1, "text": "bid 5"})
    again = asked.post("/choice", {"turn": 1, "choice": {"verb": "bid", "values": [5]}})
    assert (first["again"], again["again"]) == (False, True)
    assert templari.row().turn == 2


def test_a_sealed_choice_comes_with_its_proof_and_the_history_lists_it_later(programs, table):
    game = table("sunset-poker", 3)
    players = programs(game)
    proofs = []
    for seat in (0, 1):
        assert players[seat].get("/decision")["proof"] is None
        turn = {"turn": 1, "text": game_default(players[seat])}
        proofs.append(players[seat].post("/choice", turn)["proof"])
        assert players[seat].get("/decision")["proof"] == proofs[seat] == players[seat].post("/choice", turn)["proof"]
    for proof in proofs:
        hashed = hashlib.sha256(bytes.fromhex(proof["nonce"]) + proof["text"].encode())
        assert hashed.hexdigest() == proof["fingerprint"]
    assert players[2].get("/history")["entries"][-1]["sealed"] == []
    assert players[2].post("/choice", {"turn": 1, "text": game_default(players[2])})["proof"] is None
    assert players[2].get("/history")["entries"][1]["sealed"] == sorted(proof["fingerprint"] for proof in proofs)


def game_default(program):
    return program.get("/decision")["decision"]["default"]["text"]


def test_a_choice_for_an_earlier_turn_is_refused_as_stale(asked):
    asked.post("/choice", {"turn": 1, "text": "bid 5"})
    refused = asked.post("/choice", {"turn": 1, "text": "bid 6"}, 409)
    assert refused["error"]["kind"] == "Stale"


def test_a_choice_that_names_the_head_of_an_undone_turn_is_refused_as_stale(asked, templari, programs):
    asked.post("/choice", {"turn": 1, "text": "bid 5"})
    other = programs(templari)[next(iter(templari.asked()))]
    seen = other.get("/decision")
    asked.post("/choice/withdrawal", {"turn": 1})
    asked.post("/choice", {"turn": 1, "text": "bid 2"})
    now = other.get("/decision")
    assert now["turn"] == seen["turn"]
    refused = other.post("/choice", {"turn": now["turn"], "text": "bid 6", "head": seen["head"]}, 409)
    assert refused["error"]["kind"] == "Stale"
    for head in ({}, {"head": ""}, {"head": None}):
        body = {"turn": now["turn"], "text": "bid 6"} | head
        response = other.client.post("/api/v1/choice", json=body, headers=other.headers, base_url=HOST)
        assert "“head”" in other.checked(response, "post", "/choice", 400)["error"]["what"]
    other.post("/choice", {"turn": now["turn"], "text": "bid 6", "head": now["head"]})


def test_a_choice_can_be_taken_back_once(asked, templari):
    asked.post("/choice", {"turn": 1, "text": "bid 5"})
    asked.post("/choice/withdrawal", {"turn": 1, "text": "bid 6"}, 409)
    assert asked.post("/choice/withdrawal", {"turn": 1, "text": "bid 5"})["decision"] is not None
    assert templari.row().turn == 1
    asked.post("/choice/withdrawal", {"turn": 1}, 410)


def test_history_begins_at_the_turn_asked_for(asked, templari):
    for _ in range(4):
        templari.play(next(iter(templari.asked())), "pass")
    history = asked.get("/history?since=3")
    assert [entry["turn"] for entry in history["entries"]] == [3, 4]
    assert history["next"] is None
    assert any("pass" in sentence for entry in history["entries"] for sentence in entry["sentences"])
    assert asked.get("/history") == asked.get("/history?since=0")


def test_the_log_says_that_a_choice_came_by_the_api(asked, templari):
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
def test_an_impossible_choice_is_refused_and_nothing_is_written(body, asked, server):
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
def test_a_body_that_is_not_an_object_is_refused(body, asked, server):
    before = everything(server)
    for path in ("/choice", "/choice/withdrawal"):
        response = asked.client.post(
            f"/api/v1{path}", data=body, headers=asked.headers, content_type="application/json", base_url=HOST
        )
        asked.checked(response, "post", path, 400)
    assert everything(server) == before


def test_a_form_instead_of_json_is_refused(asked):
    response = asked.client.post("/api/v1/choice", data={"turn": "1"}, headers=asked.headers, base_url=HOST)
    asked.checked(response, "post", "/choice", 400)


@pytest.mark.parametrize("since", ["x", "-1", "1.5", "9" * 100, "٣", ""])
def test_history_from_something_that_is_not_a_turn_is_refused(since, asked):
    asked.get(f"/history?since={since}", 400)


def test_without_the_token_of_a_seat_every_route_refuses(links, templari, asked):
    bodies = {"/choice": {"turn": 1, "head": "0", "text": "pass"}, "/choice/withdrawal": {"turn": 1}}
    operations = asked.description.operations()
    # Open data needs none.
    routes = [(path, method) for path, method, operation in operations if operation.get("security") != []]
    assert len(routes) == 7

    def every_route_refuses(authorization, status):
        asked.headers = authorization
        for path, method in routes:
            asked.get(path, status) if method == "get" else asked.post(path, bodies[path], status)

    for headers in ({}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer"}, {"Authorization": "Bearer "}):
        every_route_refuses(headers, 401)
    for token in (*links.of(templari, 0), "x", "a" * 33, "ü"):
        every_route_refuses({"Authorization": f"Bearer {token}"}, 404)


def test_a_token_dies_when_the_links_of_its_seat_are_renewed(asked, server, templari):
    from pbem.service import links

    server.run(links.revoke_seat, templari.id, next(iter(templari.asked())))
    asked.get("/decision", 410)


def test_the_file_of_a_game_is_refused_before_its_end(asked):
    refused = asked.get("/export", 403)
    assert refused["error"]["what"] == "This game isn't over."


def test_unknown_addresses_and_methods_are_answered_in_json(asked):
    response = asked.client.get("/api/v1/nothing", headers=asked.headers, base_url=HOST)
    assert (response.status_code, response.get_json()["error"]["kind"]) == (404, "NotFound")
    response = asked.client.delete("/api/v1/choice", headers=asked.headers, base_url=HOST)
    assert (response.status_code, response.get_json()["error"]["kind"]) == (405, "BadInput")


def test_the_page_of_a_seat_always_shows_the_same_token(browser, links, templari):
    page = browser.open(f"/s/{links.of(templari, 0)[1]}")
    first, second = (page.form("Show token").press() for _ in range(2))
    assert first.source == second.source
    assert "Authorization: Bearer" in first.text
