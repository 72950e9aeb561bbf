"""The door for programs: requests made from our own OpenAPI description, and from everything that it does not allow."""

import json
from pathlib import Path

import pytest
import schemathesis
from hypothesis import given, strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from pbem.service.play import by_link
from pbem.web import api
from tests.fuzz.door import examples, growing, must_be_linear
from tests.web.browser import HOST

pytestmark = pytest.mark.slow

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
DESCRIBED = json.loads((Path(api.__file__).with_name("openapi.json")).read_text(encoding="utf-8"))


def may_be_wrong(operation):
    """Whether a request can differ from what is described: a word in an address is text, and any text will do."""
    by_query = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    return operation.get("security") != [] or bool(by_query)


OPERATIONS = [
    pytest.param(path, method, mode, id=f"{path}-{mode.value}")
    for path, methods in DESCRIBED["paths"].items()
    for method, operation in methods.items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or may_be_wrong(operation)
]
SYNTAX = (
    '{"turn": 1, ',
    '"text": ',
    '"pass"',
    '"choice": {',
    '"verb": ',
    '"values": [',
    "[[[[",
    "NaN",
    '"\\ud800"',
    "null",
)


@pytest.fixture
def headers(table, links, server):
    """The token of the seat that is asked in a game."""
    game = table("templari", 3)
    seat = links.of(game, next(iter(game.asked())))[1]
    return {"Authorization": f"Bearer {server.run(by_link.api_token, seat)}"}


@pytest.fixture
def description(app):
    """The description that the server gives."""
    return schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app, base_url=HOST)


@pytest.mark.parametrize(("path", "method", "mode"), OPERATIONS)
@examples
@given(data=st.data())
def test_every_answer_is_as_described_whatever_is_asked(data, mode, path, method, description, headers):
    case = data.draw(description[path][method].as_strategy(generation_mode=mode))
    case.validate_response(case.call(headers=headers), checks=CHECKS)


@pytest.mark.parametrize("path", ["/choice", "/choice/withdrawal"])
@examples
@given(body=growing(*SYNTAX))
def test_a_body_is_read_in_steps_that_its_length_explains(body, path, browser, headers):
    def send(length):
        response = browser.client.post(
            f"/api/v1{path}",
            data=body.at(length).encode("utf-8", "replace"),
            headers=headers,
            content_type="application/json",
            base_url=HOST,
        )
        assert response.status_code < 500

    must_be_linear(send)
    send(65_000)
