"""Notifications in browsers: encrypted for one browser, signed, and kept until the deadline."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pbem.channels import senders
from pbem.channels.message import Message, Result
from pbem.domain.channels import Channel, ChannelKind, ChannelRules, PushSender, channel_of, parse_address, parse_secret
from pbem.domain.errors import BadInput
from tests.channels.far_end import Request, Services, usual
from tests.channels.pushed import PushedBrowser, signed_by
from tests.service.conftest import START

SECRET = bytes(range(32))
FACTS = {"table": {"key": "k1", "title": "Harbour"}, "turn": 3, "seat": 1}
MESSAGE = Message("msg_1", "turn", START, "Your turn: Harbour", "Turn 3.", "https://play.example.org/s/abc", FACTS)


class PushService(Services):
    """A push service that keeps what it gets."""

    def __init__(self):
        self.requests: list[Request] = []
        super().__init__(lambda request: (self.requests.append(request), usual(request))[1])

    @property
    def last(self):
        return self.requests[-1]


@pytest.fixture
def browser():
    return PushedBrowser()


@pytest.fixture
def service():
    return PushService()


def channel_to(browser, address="https://push.example.org:8443/wpush/v2/gAAAA?b=%2F"):
    rules = ChannelRules()
    read = parse_address(ChannelKind.BROWSER, address, rules)
    found = channel_of("browser", read, parse_secret(ChannelKind.BROWSER, browser.token), rules)
    assert found is not None
    return replace(found, push=PushSender(SECRET, "help@example.org"))


def test_the_browser_alone_reads_a_message_that_says_whose_turn_it_is(browser, service):
    sent = senders.send(service, channel_to(browser), MESSAGE, START)
    assert sent.result is Result.ACCEPTED
    assert (service.last.method, service.last.path) == ("POST", "/wpush/v2/gAAAA?b=%2F")
    says = browser.reads(service.last)
    assert (says["title"], says["text"], says["url"]) == (MESSAGE.title, MESSAGE.text, MESSAGE.url)
    for hidden in (MESSAGE.url, MESSAGE.title):
        assert hidden.encode() not in service.last.body
        assert hidden not in str(service.last.headers)
    with pytest.raises(Exception, match=r"Decryption|tag|Invalid"):
        PushedBrowser().reads(service.last)


def test_the_push_service_learns_who_sends(browser, service):
    senders.send(service, channel_to(browser), MESSAGE, START)
    assert signed_by(service.last, SECRET) == {
        "aud": "https://push.example.org:8443",
        "sub": "mailto:help@example.org",
        "exp": int((START + timedelta(hours=12)).timestamp()),
    }
    with pytest.raises(AssertionError):
        signed_by(service.last, bytes(32))


@pytest.mark.parametrize(
    "due_in, seconds",
    [(timedelta(hours=5), 5 * 3600), (timedelta(days=60), 7 * 86400), (-timedelta(hours=1), 0), (None, 7 * 86400)],
)
def test_a_message_expires_with_its_deadline(browser, service, due_in, seconds):
    due_at = None if due_in is None else (START + due_in).isoformat()
    senders.send(service, channel_to(browser), replace(MESSAGE, facts=FACTS | {"due_at": due_at}), START)
    assert service.last.headers["TTL"] == str(seconds)


def test_a_message_replaces_an_older_one_about_its_turn_and_the_next_turn_its_notification(browser, service):
    channel = channel_to(browser)

    def topic_and_says(**facts):
        sent = senders.send(service, channel, replace(MESSAGE, facts=FACTS | facts), START)
        assert sent.reference == service.last.headers["Topic"]
        assert len(sent.reference) <= 32
        return sent.reference, browser.reads(service.last)

    turn, says = topic_and_says()
    again, _same = topic_and_says(due_at=(START + timedelta(hours=1)).isoformat())
    following, next_says = topic_and_says(turn=4)
    other, other_says = topic_and_says(seat=2)
    assert turn == again
    assert len({turn, following, other}) == 3
    assert says["tag"] == next_says["tag"] != other_says["tag"]
    senders.edit(service, channel, Message("msg_1", "turn", START, "Done: Harbour", ""), turn)
    assert service.last.headers["Topic"] == turn == browser.reads(service.last)["withdrawn"]


def test_the_code_comes_apart_from_the_text(browser, service):
    code = Message("msg_2", "code", START, "Games", "The code: abcd-efgh.", "", {"code": "abcd-efgh"})
    senders.send(service, channel_to(browser), code, START)
    assert browser.reads(service.last)["code"] == "abcd-efgh"


def test_a_long_text_still_fits_into_a_notification(browser, service):
    senders.send(service, channel_to(browser), replace(MESSAGE, text="Ä" * 5000), START)
    assert len(service.last.body) <= 4096


@pytest.mark.parametrize(
    "status, result", [(401, Result.LATER), (403, Result.LATER), (404, Result.GONE), (410, Result.GONE)]
)
def test_a_signature_that_is_refused_is_tried_again_and_a_browser_that_is_gone_is_not(browser, status, result):
    service = Services(lambda _request: (status, {}, b""))
    assert senders.send(service, channel_to(browser), MESSAGE, START).result is result


def test_a_browser_with_a_key_of_no_use_gets_nothing_more(browser, service):
    no_point = "A" * 87 + "." + "B" * 22
    for channel in (replace(channel_to(browser), push=None), replace(channel_to(browser), secret=no_point)):
        sent = senders.send(service, channel, MESSAGE, START)
        assert sent.result is Result.GONE
        assert "key" in sent.says
    assert service.requests == []


@pytest.mark.parametrize("token", ["", "a.b", "A" * 87, "A" * 87 + "." + "B" * 23, "A" * 86 + "!." + "B" * 22])
def test_keys_have_their_size(token):
    with pytest.raises(BadInput):
        parse_secret(ChannelKind.BROWSER, token)


def test_no_secret_of_a_browser_is_in_the_text_of_a_channel(browser):
    channel: Channel = channel_to(browser)
    for secret in (browser.token, "gAAAA", "help@example.org", str(SECRET)):
        assert secret not in repr(channel)
