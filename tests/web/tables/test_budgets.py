"""Every form that emails a typed address uses the budget of the network it came from, and says so when it is used up."""

import re
from dataclasses import replace

import pytest

from pbem.domain.strangers import StrangerLimits
from pbem.service.people import strangers
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import people
from pbem.tokens import Purpose
from pbem.web import form_time
from tests.service.database import all_rows
from tests.web.applications import application
from tests.web.browser import Browser

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.1"

FORMS = {
    "a new table": ("/new/templari", {"name": "Dan", "address": "new@example.net", "seats": "3", "bots": "0"}),
    "joining": ("/t/{key}", {"name": "Dan", "address": "new@example.net"}),
    "joining by invitation": ("/j/{invite}", {"name": "Dan", "address": "new@example.net"}),
    "opening a planned table": ("/c/{plan}", {"name": "Dan"}),
    "inviting": ("/c/{own}/invite", {"invited": "new@example.net"}),
    "another address": ("/my/address", {"address": "new@example.net"}),
}


@pytest.fixture
def limited(server):
    """The server with a budget of one email an hour for each network."""
    return replace(server, strangers=StrangerLimits(network=1))


@pytest.fixture
def browser(limited, settings):
    """A browser on that server."""
    return Browser(application(limited, settings))


@pytest.fixture
def paths(server, person, links):
    """The parts of paths: a public table, a private one with its links, and a planned one."""
    ann = person("Ann")
    created = server.run(joining.create_table, ann, TableSettings("templari", 3))
    private = server.run(joining.create_table, ann, TableSettings("templari", 3, private=True))
    settings = TableSettings("templari", 3, invited=("new@example.net",))
    plan = server.run(joining.ask_to_create, "dan@example.org", "Dan", settings)
    with server.store.read() as tx:
        dan = people.by_mailbox(tx, "dan@example.org")
    return {
        "key": created.key,
        "own": links.made(Purpose.CONFIRM, ann, created.game_id),
        "invite": links.made(Purpose.INVITE, ann, private.game_id),
        "plan": links.made(Purpose.CONFIRM, dan.id, plan.game_id),
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_form_over_the_budget_of_its_network_is_refused_and_nothing_is_sent(
    browser, limited, clock, person, sign_in, paths, form
):
    path, fields = FORMS[form]
    sign_in(person("Ann"))
    url, filled = path.format(**paths), list((fields | {"missed_limit": "3", "successor": "bot"}).items())
    if not path.startswith(("/c/", "/my/")):
        opened = re.search(f'name="{form_time.FIELD}" value="([^"]+)"', browser.open(url).source)
        filled.append((form_time.FIELD, opened[1]))
        clock.advance(form_time.QUICKEST)
    limited.run(strangers.count_emails, ["other@example.net"], f"{HERE}/32")
    before = all_rows(limited.store)
    browser.client.environ_base["REMOTE_ADDR"] = HERE
    page = browser.post(url, filled)
    assert page.status == 429
    assert "from your network" in page.text
    assert "Try again in 1 hour" in page.text
    after = all_rows(limited.store)
    assert after["outbox"] == before["outbox"]
    assert after["quota"] == before["quota"]
    browser.client.environ_base["REMOTE_ADDR"] = ELSEWHERE
    assert browser.post(url, filled).status == 200
    assert len(all_rows(limited.store)["outbox"]) > len(before["outbox"])
