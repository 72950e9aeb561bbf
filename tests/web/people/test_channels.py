"""The page of channels: enter one, prove it by the code that went through it, remove it. For oneself and for a table."""

from dataclasses import replace

import pytest

from pbem.channels.client import Client
from pbem.domain.channels import ChannelRules
from pbem.mail.write.compose import Letterhead
from pbem.service.outgoing import channel_delivery
from pbem.service.outgoing.channel_delivery import ChannelPost
from tests.channels.far_end import FarEnd
from tests.service.database import queued_emails

LETTERHEAD = Letterhead("Games", "http://localhost:8000", "localhost", "games@localhost", "help@localhost")


@pytest.fixture
def server(server):
    return replace(server, channels=ChannelRules(loopback=True))


@pytest.fixture
def far():
    with FarEnd() as listening:
        yield listening


def test_a_channel_is_entered_proved_used_and_removed_without_a_script(browser, sign_in, server, table, far):
    ann = table().person_at(0)
    post = ChannelPost(LETTERHEAD, Client(loopback=True))
    page = sign_in(ann).follow("Channels")
    for address, says in {
        "http://10.0.0.1/topic": "isn't encrypted",
        "https://2130706433/topic": "isn't a web address",
        "https://ann@ntfy.sh/topic": "isn't a web address",
        "https://ntfy.sh:25/topic": "don't connect to port 25",
        "https://ntfy.sh/": "isn't an address of ntfy",
    }.items():
        page = page.form("Add channel").press(kind="ntfy", address=address)
        assert page.status == 400
        assert says in page.text
    page = page.form("Add channel").press(kind="ntfy", address=f"{far.url}/topic")
    assert "not confirmed yet" in page.text
    assert "/topic" not in page.text.replace("your-topic", "")
    page = page.form("Confirm").press(code="abcd-efgh")
    assert "That isn't the code." in page.text
    channel_delivery.deliver_messages(server, post)
    code = far.requests[0].json["message"].partition(": ")[2][:9]
    page = browser.open("/my/channels").form("Confirm").press(code=code.upper())
    assert "This channel is on." in page.text
    assert "Code for a channel (ntfy)" in page.follow("Emails").text
    page = browser.open("/my/channels").form("Remove").press()
    assert "Channel removed." in page.text
    assert "127.0.0.1" not in page.text


def test_a_host_adds_a_channel_for_everyone_who_is_emailed_and_a_webhook_shows_its_secret_until_then(
    browser, sign_in, server, table, far
):
    game = table()
    post = ChannelPost(LETTERHEAD, Client(loopback=True))
    page = sign_in(game.person_at(0)).follow("Channels")
    form = page.form("Add channel")
    page = form.press(kind="webhook", address=f"{far.url}/hook", game=form.picks["game"][-1])
    assert "whsec_" in page.text
    channel_delivery.deliver_messages(server, post)
    code = far.requests[0].json["text"].partition(": ")[2][:9]
    page = page.form("Confirm").press(code=code)
    assert "whsec_" not in page.text
    assert "This channel is on." in page.text
    emails = [email for seat in range(3) for email in queued_emails(server, game.person_at(seat), "channel")]
    assert len(emails) == 3
