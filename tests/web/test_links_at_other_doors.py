"""Links at addresses that take those of another purpose, and at the addresses for replies and bounces: each opens its own alone.

With PBEM_TEST_ALL=1 every kind of link is tried at every address; otherwise two at each, which take turns.
"""

import pytest

from pbem.service import links as service_links
from pbem.service.archive import replay
from pbem.service.outgoing import new_links
from pbem.store import games
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.conftest import EVERYTHING
from tests.service.database import all_rows, queued_emails
from tests.service.inbox import Inbox
from tests.web.browser import HOST
from tests.web.test_revoked_meanwhile import filled_in, form_of, stolen

__all__ = ["stolen"]

OPEN_TO_ALL = {"api.description": "the description of the API needs no token"}


@pytest.fixture
def database_url(sqlite_alone):
    """One database is enough: a token is compared before anything is read that depends on it."""
    return sqlite_alone


@pytest.fixture
def every_link(server, stolen, table, links):
    """A link of every purpose that works, all of one person."""

    def key(purpose, **fields):
        return links.token(purpose, server.run(service_links.make, LinkKey(purpose, stolen.ann, **fields)))

    found = {purpose: stolen(f"/{purpose}/") for purpose in (
        Purpose.MOVE, Purpose.SEAT, Purpose.CONFIRM, Purpose.INVITE, Purpose.STOP, Purpose.SIGN_IN, Purpose.YES,
        Purpose.ENTRY, Purpose.WRITTEN,
    )}  # fmt: skip
    email = queued_emails(server, stolen.ann)[-1].id
    over = table("bid", 3, options={"max_auctions": 1})
    list(over.play_defaults())
    turn = server.query(games.read, 1).turn
    reply = server.run(service_links.make_for_seat, stolen.ann, 1, turn, stolen.seat).reply
    return found | {
        Purpose.API: stolen("/api"),
        Purpose.DISOWN: key(Purpose.DISOWN, outbox_id=email),
        Purpose.BOUNCE: key(Purpose.BOUNCE, outbox_id=email),
        Purpose.CALENDAR: key(Purpose.CALENDAR),
        Purpose.NEWS: key(Purpose.NEWS),
        Purpose.REPLY: links.token(Purpose.REPLY, reply),
        Purpose.SHARE: server.run(replay.share, links.of(over, 0)[1]),
    }


def doors(app):
    """All addresses with a token, in them or beside them, with the purpose of their links and how they are asked."""
    for rule in app.url_map.iter_rules():
        purpose = Purpose(rule.rule[1]) if "<token>" in rule.rule else Purpose.API
        if "<token>" in rule.rule or (rule.endpoint.startswith("api.") and rule.endpoint not in OPEN_TO_ALL):
            for method in sorted(rule.methods & {"GET", "POST"}):
                yield rule, purpose, method


def knock(browser, server, stolen, rule, method, token):
    """The answer at an address to a token, with the form that its page would send."""
    form = form_of(rule.endpoint) or {}
    address = rule.rule.replace("<token>", token).replace("<option>", "pass").replace("<key>", "nonsense")
    for name in rule.arguments - {"token", "option", "key"}:
        address = address.replace(f"<int:{name}>", "1")
    if rule.rule.startswith("/api"):
        sent = {"json": form, "headers": {"Authorization": f"Bearer {token}"}}
    else:
        sent = {"data": filled_in(form, server, stolen, token), "headers": browser.says}
    return browser.client.open(
        address, method=method, base_url=HOST, **(sent if method == "POST" or "json" in sent else {})
    )


def test_a_link_opens_nothing_but_its_own(app, browser, server, clock, stolen, every_link):
    assert every_link.keys() == set(Purpose)
    before, opened, purposes = all_rows(server.store), [], list(Purpose)
    for number, (rule, purpose, method) in enumerate(doors(app)):
        if rule.endpoint == "choice.ask":
            # It leads to the page of the seat, whatever the token is.
            continue
        others = [each for each in purposes if each is not purpose]
        at = number % len(others)
        for other in others if EVERYTHING else (others[at], others[at - 1]):
            response = knock(browser, server, stolen, rule, method, every_link[other])
            if response.status_code != 404:
                opened.append((method, rule.rule, other, response.status_code))
    assert opened == []
    assert all_rows(server.store) == before
    inbox = Inbox(server, clock)
    for purpose, token in every_link.items():
        for letter in {Purpose.REPLY, Purpose.BOUNCE} - {purpose}:
            became = inbox.takes(b"From: ann@example.org\r\n\r\npass\r\n", f"{letter}+{token}@play.example.org")
            assert became == "a stranger"
    after = all_rows(server.store)
    assert {name for name in after if after[name] != before[name]} == {"received_count"}


@pytest.mark.parametrize("times", [1, 2])
def test_a_link_that_was_replaced_is_refused_at_its_own_door_in_words(app, browser, server, stolen, every_link, times):
    for _ in range(times):
        server.run(new_links.send, stolen.ann)
    before = all_rows(server.store)
    for rule, purpose, method in doors(app):
        if purpose in (Purpose.DISOWN, Purpose.SHARE) or rule.endpoint == "choice.ask":
            # A game that is shared is nobody's; and “This wasn't me” is there to revoke the others.
            continue
        response = knock(browser, server, stolen, rule, method, every_link[purpose])
        assert response.status_code == 410, (method, rule.rule)
        assert "got new links" in response.get_data(as_text=True), rule.rule
    assert all_rows(server.store) == before
