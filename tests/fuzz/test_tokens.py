"""The doors for tokens and addresses: anything may stand where they stand."""

from contextlib import suppress
from datetime import date
from urllib.parse import quote

import pytest
from hypothesis import given, strategies as st

from pbem import redaction
from pbem.domain.errors import BadInput, Gone, NotFound
from pbem.mail.read import inbound
from pbem.service.links import _AROUND, follow
from pbem.service.people import addresses
from pbem.tokens import SECRET_BYTES, Keyring, Purpose
from tests.fuzz.door import examples, growing, must_be_linear, pieces
from tests.web.browser import HOST

TOKEN = "abcdefghijklmnopqrstuvwxyz2345672"
SYNTAX = (
    TOKEN,
    TOKEN.upper(),
    TOKEN[:-1],
    "r+",
    "b+",
    "@",
    "@play.example.org",
    "xn--",
    "mailto:",
    "<",
    ">",
    "=2E",
    "%2F",
    "ß",
)


KEYS = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))


def read(text: str) -> None:
    """All that is done with an address or token before a database is asked."""
    with suppress(BadInput):
        addresses.normalised(text)
    inbound.parse_recipient(text, "play.example.org")
    inbound.is_complaint_address(text, "play.example.org")
    redaction.redact(text)
    stored = text.encode("utf-8", "replace")
    if not redaction.has_many_words(stored):
        redaction.rows_in(stored, KEYS)


@examples
@given(text=growing(*SYNTAX))
def test_an_address_is_read_in_steps_that_its_length_explains(text):
    must_be_linear(lambda length: read(text.at(length)))


@pytest.mark.timeout(method="thread")
@examples
@given(text=growing(*SYNTAX))
def test_the_longest_addresses_are_read_or_refused(text):
    read(text.at(100_000))


@pytest.fixture
def game(table, server):
    return table("templari", 3)


@examples
@given(data=st.data())
def test_a_token_that_was_never_given_opens_nothing(data, game, server, links):
    real = links.of(game, 0)
    text = data.draw(st.one_of(pieces(*SYNTAX), pieces(*real), st.sampled_from(real).flatmap(damaged)))
    # Mail programs write links in capitals, and leave spaces and brackets around them.
    if text.strip(_AROUND).lower() in real:
        return
    for purpose in Purpose:
        with pytest.raises((NotFound, Gone)):
            server.read(follow, text, purpose)


@st.composite
def damaged(draw, token):
    """A token with one letter changed, left out or put in."""
    place = draw(st.integers(0, len(token) - 1))
    return (
        token[:place]
        + draw(st.sampled_from(["", "a", "7", "A", "é", "\0", "%"]))
        + token[place + draw(st.integers(0, 1)) :]
    )


@examples
@given(data=st.data())
def test_no_address_of_the_site_fails_whatever_stands_in_it(data, app, browser, game, links):
    tokens_of_a_seat = links.of(game, 0)
    rule = data.draw(st.sampled_from(sorted(map(str, app.url_map.iter_rules()))))
    text = pieces(*tokens_of_a_seat, *SYNTAX).filter(lambda each: "\ud800" not in each)
    parts = [data.draw(text) if part.startswith("<") else part for part in rule.split("/")]
    query = data.draw(
        st.one_of(st.just(""), text.map(lambda each: f"turn={quote(each)}&choice={quote(each)}&since={quote(each)}"))
    )
    environ = {
        "PATH_INFO": "/".join(parts).encode().decode("latin-1"),
        "QUERY_STRING": query.encode().decode("latin-1"),
    }
    for method in ("GET", "POST"):
        response = browser.client.open("/", method=method, base_url=HOST, environ_overrides=environ)
        response.close()
        assert response.status_code < 500, environ
