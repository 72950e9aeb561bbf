"""What each service gets, and what its answers mean."""

from datetime import timedelta
from typing import Any

import pytest

from pbem.channels import senders
from pbem.channels.client import Answer
from pbem.channels.message import Message, Result, judged, member
from pbem.channels.webhook import signature
from pbem.domain.channels import ChannelKind, ChannelRules, channel_of, parse_address, parse_secret
from pbem.domain.errors import BadInput
from tests.channels.far_end import Request, Services, usual
from tests.service.conftest import START

MESSAGE = Message("msg_1", "turn", START, "Your turn: *Bid!*", "Move @everyone", "https://x.org/s/abc", {"turn": 3})
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
WAYS = {
    ChannelKind.WEBHOOK: ("https://example.org/hook?a=1", SECRET),
    ChannelKind.NTFY: ("https://ntfy.example.org/base/topic", "tk_1"),
    ChannelKind.DISCORD: ("https://discord.com/api/webhooks/12/ab-c_d", ""),
    ChannelKind.TELEGRAM: ("-10042", "1:token"),
    ChannelKind.MATRIX: ("https://matrix.example.org/!room:example.org", "syt_1"),
}


def got(kind: ChannelKind, edit: str = "") -> Request:
    """The request that a message becomes."""
    requests: list[Request] = []

    def answer(request: Request) -> Any:
        requests.append(request)
        return usual(request)

    address, secret = WAYS[kind]
    channel = channel_of(kind, parse_address(kind, address, ChannelRules()), secret, ChannelRules())
    assert channel is not None
    if edit:
        senders.edit(Services(answer), channel, MESSAGE, edit)
    else:
        senders.send(Services(answer), channel, MESSAGE, START)
    (request,) = requests
    return request


def test_a_webhook_is_signed_with_its_id_and_time_as_the_specification_says() -> None:
    # The example of the specification's own libraries.
    body = b'{"test": 2432232314}'
    expected = "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signature(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body) == expected
    request = got(ChannelKind.WEBHOOK)
    moment = str(int(START.timestamp()))
    assert request.path == "/hook?a=1"
    assert (request.headers["webhook-id"], request.headers["webhook-timestamp"]) == ("msg_1", moment)
    assert request.headers["webhook-signature"] == f"v1,{signature(SECRET, 'msg_1', moment, request.body)}"
    assert (request.json["type"], request.json["turn"], request.json["url"]) == ("turn", 3, MESSAGE.url)


def test_each_service_gets_the_form_that_it_reads() -> None:
    ntfy = got(ChannelKind.NTFY)
    assert (ntfy.method, ntfy.path, ntfy.headers["Authorization"]) == ("POST", "/base/", "Bearer tk_1")
    assert (ntfy.json["topic"], ntfy.json["click"]) == ("topic", MESSAGE.url)
    discord = got(ChannelKind.DISCORD)
    assert discord.path == "/api/webhooks/12/ab-c_d?wait=true"
    assert discord.json["allowed_mentions"] == {"parse": []}
    # What players typed formats nothing and mentions nobody.
    assert discord.json["content"] == "**Your turn: \\*Bid!\\***\nMove \\@everyone\nhttps://x.org/s/abc"
    telegram = got(ChannelKind.TELEGRAM)
    assert telegram.path == "/bot1:token/sendMessage"
    assert telegram.json["chat_id"] == "-10042"
    assert "parse_mode" not in telegram.json
    matrix = got(ChannelKind.MATRIX)
    assert matrix.method == "PUT"
    assert matrix.path == "/_matrix/client/v3/rooms/%21room%3Aexample.org/send/m.room.message/msg_1"
    assert (matrix.json["msgtype"], matrix.headers["Authorization"]) == ("m.notice", "Bearer syt_1")


def test_three_services_edit_what_they_were_sent() -> None:
    assert set(senders.EDITORS) == {ChannelKind.DISCORD, ChannelKind.TELEGRAM, ChannelKind.MATRIX, ChannelKind.BROWSER}
    discord = got(ChannelKind.DISCORD, "99")
    assert (discord.method, discord.path) == ("PATCH", "/api/webhooks/12/ab-c_d/messages/99")
    assert got(ChannelKind.TELEGRAM, "99").json["message_id"] == 99
    relation = got(ChannelKind.MATRIX, "$e").json["m.relates_to"]
    assert relation == {"rel_type": "m.replace", "event_id": "$e"}


@pytest.mark.parametrize(
    "status, result",
    [(200, "accepted"), (204, "accepted"), (302, "gone"), (401, "gone"), (404, "gone"), (410, "gone"), (400, "later"),
     (408, "later"), (429, "later"), (500, "later"), (503, "later")],
)  # fmt: skip
def test_an_answer_is_judged_by_its_status_alone(status: int, result: str) -> None:
    sent = judged(Answer(status, {"retry-after": "99999"}, b"your secret"))
    assert sent.result is Result(result)
    assert "secret" not in sent.says
    assert sent.wait in (timedelta(0), timedelta(hours=1))


def test_nothing_that_a_service_names_a_message_can_leave_its_place_in_a_path() -> None:
    for text in (
        b"",
        b"[]",
        b'{"id": {"a": 1}}',
        b'{"id": "../../other"}',
        b'{"id": "1/2"}',
        b'{"id": true}',
        b"[" * 9999,
    ):
        assert member(Answer(200, {}, text), "id") == ""
    assert member(Answer(200, {}, b'{"id": 12}'), "id") == "12"


def test_a_token_is_for_the_services_that_have_one() -> None:
    for kind, token in (
        (ChannelKind.DISCORD, "x"),
        (ChannelKind.WEBHOOK, "x"),
        (ChannelKind.TELEGRAM, ""),
        (ChannelKind.MATRIX, "a b"),
    ):
        with pytest.raises(BadInput):
            parse_secret(kind, token)
    assert parse_secret(ChannelKind.NTFY, "") == ""
