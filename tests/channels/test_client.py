"""The one HTTP client connects to public addresses only, however they are typed and however a name server answers."""

import socket
import threading
import time
from dataclasses import replace
from ipaddress import ip_address

import pytest

from pbem.channels import client as client_module, senders
from pbem.channels.client import LONGEST_ANSWER, Client, NotAllowed, Unreachable, is_public
from pbem.channels.message import Message, Result
from pbem.config import read
from pbem.domain.channels import Channel, ChannelKind, ChannelRules, PushSender, Target, channel_of, parse_address
from pbem.domain.errors import BadInput
from pbem.service.outgoing.channel_delivery import channel_post_of
from tests.channels.far_end import FarEnd, status
from tests.channels.pushed import PushedBrowser
from tests.mail.sink import client_trust, server_tls
from tests.service.conftest import START
from tests.service.outgoing.test_channel_delivery import LETTERHEAD

LOCAL = ChannelRules(loopback=True)

TYPED = """
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 127.0.0.1. 127.8.8.8 0 0.0.0.0
    10.0.0.1 10.1 167772161 012.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257 0xc0a80101 3232235777
    169.254.169.254 2852039166 0xa9fea9fe 169.254.43518 100.64.0.1 100.127.255.255 192.0.0.8 192.0.2.1 198.18.0.1
    198.51.100.7 203.0.113.9 192.88.99.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [::127.0.0.1] [fe80::1] [fe80::1%25lo] [fc00::1] [fd12:3456::1]
    [ff02::1] [64:ff9b::7f00:1] [64:ff9b:1::1] [2002:7f00:1::] [2001:0:7f00:1::] [2001:db8::1] [3fff::1] [100::1] [fec0::1]
    [0:0:0:0:0:0:0:1] [::ffff:0:7f00:1] localhost localhost. LOCALHOST ip6-localhost metadata 169.254.169.254.nip.io
    user@127.0.0.1 example.org@127.0.0.1 user:pass@example.org 127.0.0.1%00.example.org example.org%2f@10.0.0.1
    127.0.0.1:22 127.0.0.1:25 example.org:22 example.org:0 example.org:70000 example.org:-1 ①②⑦.0.0.1 １２７.0.0.1
"""
HOSTS = TYPED.split()
"""Everything that has ever been typed to reach what is behind a server."""

PRIVATE = {"localhost", "localhost.", "ip6-localhost", "metadata", "169.254.169.254.nip.io"}
"""Names in there, which our name server gives addresses in here."""


class Wire:
    """Our own name server, and every connection that would have left."""

    def __init__(self, monkeypatch):
        self.answers = {name: ["127.0.0.1"] for name in PRIVATE}
        self.asked, self.left = [], []
        monkeypatch.setattr(socket.socket, "connect", lambda _line, address: self._connect(address))

    def look_up(self, host, port):
        self.asked.append(host)
        answers = self.answers.get(host)
        if answers is None:
            # As the machine would read it: numbers in any notation are addresses.
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
            return [address for *_rest, address in found]
        turn = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(each, port) for each in turn.split()]

    def _connect(self, address):
        self.left.append(address[0])
        raise ConnectionRefusedError


@pytest.fixture
def wire(monkeypatch):
    return Wire(monkeypatch)


KIND_PATHS = {
    ChannelKind.WEBHOOK: "/hook",
    ChannelKind.NTFY: "/topic",
    ChannelKind.DISCORD: "/api/webhooks/1/a",
    ChannelKind.TELEGRAM: "/1",
    ChannelKind.MATRIX: "/!r:x",
    ChannelKind.BROWSER: "/push/abc",
}


@pytest.mark.parametrize("kind", ChannelKind)
def test_no_hostile_address_typed_for_any_service_lets_a_connection_leave(wire, kind):
    assert len(HOSTS) > 60
    client, entered, browser = Client(look_up=wire.look_up), 0, PushedBrowser()
    for scheme in ("https://", "http://", "https:/\\", "//", "file://", "gopher://", "HTTPS://"):
        for host in HOSTS:
            try:
                address = parse_address(kind, f"{scheme}{host}{KIND_PATHS[kind]}", ChannelRules(http=True))
            except BadInput:
                continue
            entered += 1
            channel = channel_of(kind, address, "1:token", ChannelRules(http=True))
            assert channel is not None
            if kind is ChannelKind.BROWSER:
                channel = replace(channel, secret=browser.token, push=PushSender(bytes(32), "help@example.org"))
            # Its sender gets it whatever the form has let through.
            sent = (
                senders.send(client, channel, Message("m", "turn", START, "", ""), START)
                if kind is not ChannelKind.WEBHOOK
                else None
            )
            if sent is not None:
                assert sent.result is not Result.ACCEPTED
            with pytest.raises((NotAllowed, Unreachable)):
                client.send("GET", channel.target, "/", b"", {})
    assert entered > 30
    assert wire.left == []


def test_no_number_of_a_host_is_connected_to_even_if_no_form_had_been_there(wire):
    client = Client(look_up=wire.look_up)
    for host in HOSTS:
        with pytest.raises((NotAllowed, Unreachable)):
            client.send("GET", Target(host.strip("[]"), 443, True, "/"), "/", b"", {})
    assert wire.left == []
    assert len(wire.asked) == len(HOSTS)


def test_a_name_server_that_changes_its_answer_gains_nothing(wire):
    wire.answers["rebind.example"] = ["93.184.216.34", "127.0.0.1"]
    target = Target("rebind.example", 443, True, "/")
    with pytest.raises(Unreachable):
        Client(look_up=wire.look_up).send("GET", target, "/", b"", {})
    # One question, and one connection to the very address that was checked.
    assert (wire.asked, wire.left) == (["rebind.example"], ["93.184.216.34"])
    with pytest.raises(NotAllowed):
        Client(look_up=wire.look_up).send("GET", target, "/", b"", {})
    assert wire.left == ["93.184.216.34"]


@pytest.mark.parametrize(("relay", "left"), [({}, []), ({"PBEM_SMTP_HOST": "127.0.0.1"}, ["93.184.216.34"])])
def test_a_server_without_a_relay_reaches_nobody_elsewhere(wire, tmp_path, relay, left):
    wire.answers["push.example"] = ["93.184.216.34"]
    config = read({"PBEM_BASE_URL": "http://localhost:8000", "PBEM_DATA_DIR": str(tmp_path)} | relay)
    client = replace(channel_post_of(config, LETTERHEAD).client, look_up=wire.look_up)
    with pytest.raises(Unreachable):
        client.send("GET", Target("push.example", 443, True, "/"), "/", b"", {})
    assert wire.left == left


@pytest.mark.parametrize(
    "answer", ["93.184.216.34 127.0.0.1", "10.0.0.1 93.184.216.34", "2606:4700::1 ::1", "::ffff:10.0.0.1"]
)
def test_one_private_address_among_public_ones_refuses_the_name(wire, answer):
    wire.answers["mixed.example"] = [answer]
    with pytest.raises(NotAllowed):
        Client(look_up=wire.look_up).send("GET", Target("mixed.example", 443, True, "/"), "/", b"", {})
    assert wire.left == []


def test_addresses_of_the_internet_are_public():
    for text in ("8.8.8.8", "93.184.216.34", "1.1.1.1", "223.255.255.254", "2606:4700::1111", "2a00:1450:4001::1"):
        assert is_public(ip_address(text)), text


@pytest.fixture
def far():
    with FarEnd() as listening:
        yield listening


def ask(far, client=None, path="/"):
    return (client or Client(loopback=True)).send("POST", Target("127.0.0.1", far.port, False, path), path, b"{}", {})


def test_this_machine_is_reached_only_where_the_operator_allows_it(far):
    assert ask(far).status == 200
    assert ask(far, Client(loopback=True, internet=False)).status == 200
    with pytest.raises(NotAllowed):
        ask(far, Client())
    with pytest.raises(BadInput, match="isn't encrypted"):
        parse_address(ChannelKind.WEBHOOK, far.url, ChannelRules())
    assert parse_address(ChannelKind.WEBHOOK, far.url, LOCAL) == f"{far.url}/"
    # Loopback is no other private network.
    with pytest.raises(NotAllowed):
        Client(loopback=True).send("GET", Target("10.0.0.1", 443, True, "/"), "/", b"", {})


@pytest.mark.parametrize("number", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(far, number):
    far.reply = status(number, Location=f"{far.url}/elsewhere")
    assert ask(far).status == number
    assert [each.path for each in far.requests] == ["/"]
    channel = Channel(ChannelKind.NTFY, Target("127.0.0.1", far.port, False, "/topic"), "")
    sent = senders.send(Client(loopback=True), channel, Message("m", "turn", START, "", ""), START)
    assert (sent.result, len(far.requests)) == (Result.GONE, 2)


def test_a_large_answer_is_read_up_to_a_limit(far):
    far.reply = lambda _request: (200, {}, b"x" * (3 * LONGEST_ANSWER))
    assert len(ask(far).body) == LONGEST_ANSWER


def test_a_service_that_drips_is_hung_up_on_in_time():
    # Each byte comes well within any timeout between two of them.
    with pytest.raises(Unreachable, match="too long"):
        asked_of_one_that_sends(b"", b"H", apart=0.02, seconds=0.3)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * 60_000 + b"\r\na\r\n"),
    ],
    ids=["goes on", "pieces"],
)
def test_a_service_that_never_stops_sending_is_not_read_for_long(first, again):
    with pytest.raises(Unreachable, match=r"connection broke|speak HTTP"):
        asked_of_one_that_sends(first, again)


def asked_of_one_that_sends(first, again, apart=0.0, seconds=5.0):
    """Send a request to a service that answers without end."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer():
        line, _ = listener.accept()
        with line:
            try:
                line.sendall(first)
                while True:
                    line.sendall(again)
                    time.sleep(apart)
            except OSError:
                return

    threading.Thread(target=answer, daemon=True).start()
    with listener:
        return Client(loopback=True, seconds=seconds).send(
            "GET", Target("127.0.0.1", listener.getsockname()[1], False, "/"), "/", b"", {}
        )


def test_a_name_server_that_never_answers_is_given_up_on():
    waits = Client(seconds=0.05, look_up=lambda _host, _port: time.sleep(1) or [])
    with pytest.raises(Unreachable):
        waits.send("GET", Target("slow.example", 443, True, "/"), "/", b"", {})


def test_encryption_is_checked_against_the_name_which_the_service_is_told(far):
    listener = far._server.socket
    far._server.socket = server_tls().wrap_socket(listener, server_side=True)
    here = Client(loopback=True, trust=client_trust(), look_up=lambda _host, port: [("127.0.0.1", port)])
    assert here.send("GET", Target("localhost", far.port, True, "/"), "/", b"", {}).status == 200
    assert far.requests[0].headers["host"] == f"localhost:{far.port}"
    with pytest.raises(Unreachable, match="certificate"):
        here.send("GET", Target("other.example", far.port, True, "/"), "/", b"", {})
    with pytest.raises(Unreachable, match="certificate"):
        Client(loopback=True, look_up=here.look_up).send("GET", Target("localhost", far.port, True, "/"), "/", b"", {})
    assert len(far.requests) == 1


def test_no_secret_is_in_what_is_raised_or_shown(far):
    channel = Channel(ChannelKind.TELEGRAM, Target("127.0.0.1", far.port, False, "/bottom-secret/1"), "1:top-secret")
    assert "secret" not in repr(channel)
    far.reply = status(404)
    sent = senders.send(
        Client(loopback=True), channel, Message("m", "turn", START, "", "", "https://x/s/secret"), START
    )
    assert "secret" not in repr(sent)
    assert "secret" in far.requests[0].path
    bad = Channel(ChannelKind.NTFY, channel.target, "top-secret\r\nX: y")
    assert "secret" not in senders.send(Client(loopback=True), bad, Message("m", "turn", START, "", ""), START).says
    assert client_module.SECONDS <= 10
