"""The relay: the answers of a real one come back as outcomes."""

import socket
import threading
from contextlib import ExitStack, contextmanager, suppress

import pytest

from pbem.config.settings import Security, Smtp
from pbem.mail.send.relay import Relay
from pbem.mail.send.smtp import OutgoingEmail, Result
from tests.mail.sink import PASSWORD, USER, Sink, client_trust, knows, server_tls

CONTENT = b"From: games@play.example.org\r\nSubject: one\r\n\r\n.\r\n..dots\r\nend\r\n"


@pytest.fixture(params=[True, False], ids=["in one go", "step by step"])
def sink(request, sink):
    """A relay with or without pipelining."""
    sink.handler.in_one_go = request.param
    return sink


def settings(port, security=Security.NONE, user="", password="", timeout=5):
    return Smtp("127.0.0.1", security, port, user, password, timeout)


def email(name="m1"):
    return OutgoingEmail(name, "b+token@play.example.org", "ann@example.org", CONTENT)


def sent(relay, many=1):
    with relay.session() as session:
        return [session.send(email(f"m{number}")).result for number in range(many)]


def test_the_bytes_arrive_as_they_are(sink):
    assert sent(Relay(settings(sink.port))) == [Result.ACCEPTED]
    (received,) = sink.emails
    assert received.content == CONTENT
    assert (received.sender, received.recipient) == ("b+token@play.example.org", "ann@example.org")


def test_bounces_are_requested_without_the_content(sink):
    sent(Relay(settings(sink.port)))
    assert sink.emails[0].options == ("RET=HDRS", "ENVID=M0", "NOTIFY=FAILURE,DELAY")


@pytest.mark.parametrize(
    "script, result",
    [
        ("450 rcpt", Result.LATER),
        ("571 rcpt", Result.REFUSED_SENDER),
        ("550 rcpt", Result.REFUSED_RECIPIENT),
        ("421 rcpt", Result.LOST),
        ("450 data", Result.LATER),
        ("550 data", Result.REFUSED_MESSAGE),
        ("450 mail", Result.DOWN),
        ("drop", Result.LOST),
        ("keep, drop", Result.LOST),
    ],
)
def test_each_email_has_its_own_outcome(sink, script, result):
    sink.does("accept", script, "accept")
    assert sent(Relay(settings(sink.port)), many=3) == [Result.ACCEPTED, result, Result.ACCEPTED]


def test_a_batch_takes_one_connection_despite_refusals(sink):
    sink.does("accept", "450 rcpt", "550 rcpt", "450 data", "550 data", "accept")
    sent(Relay(settings(sink.port)), many=6)
    assert sink.handler.connections == 1
    assert len(sink.emails) == 2


def test_a_broken_connection_is_replaced(sink):
    sink.does("drop", "accept", "accept")
    sent(Relay(settings(sink.port)), many=3)
    assert sink.handler.connections == 2


def test_an_empty_batch_opens_no_connection(sink):
    assert sent(Relay(settings(sink.port)), many=0) == []
    assert sink.handler.connections == 0


def test_a_missing_relay_is_down():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert sent(Relay(settings(taken.getsockname()[1]))) == [Result.DOWN]


def test_a_relay_that_never_answers_is_down():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert sent(Relay(settings(silent.getsockname()[1], timeout=1))) == [Result.DOWN]


def test_starttls_and_a_login():
    given = {"tls_context": server_tls(), "require_starttls": True, "authenticator": knows, "auth_required": True}
    with Sink(**given) as sink:
        relay = Relay(settings(sink.port, Security.STARTTLS, USER, PASSWORD), client_trust())
        assert sent(relay, many=2) == [Result.ACCEPTED] * 2


def test_tls_from_the_first_byte():
    with Sink(ssl_context=server_tls(), authenticator=knows, auth_require_tls=False) as sink:
        relay = Relay(settings(sink.port, Security.TLS, USER, PASSWORD), client_trust())
        assert sent(relay) == [Result.ACCEPTED]


def test_a_wrong_password_is_reported_as_down_and_not_shown():
    given = {"authenticator": knows, "auth_require_tls": False}
    with Sink(**given) as sink, Relay(settings(sink.port, user=USER, password="wrong horse")).session() as session:
        outcome = session.send(email())
    assert outcome.result is Result.DOWN
    assert "wrong horse" not in outcome.answer


@pytest.mark.parametrize("trusted", [True, False])
def test_nothing_is_sent_unencrypted_or_to_an_unknown_certificate(trusted):
    with ExitStack() as stack:
        # One relay offers no encryption, the other has a certificate for another name.
        sink = stack.enter_context(Sink() if trusted else Sink(tls_context=server_tls()))
        relay = Relay(settings(sink.port, Security.STARTTLS), client_trust() if trusted else None)
        assert sent(relay) == [Result.DOWN]
        assert sink.emails == []


def test_answers_of_the_relay_are_stored_without_addresses(sink):
    sink.does("450 rcpt")
    with Relay(settings(sink.port)).session() as session:
        answer = session.send(email()).answer
    assert answer.startswith("450 4.2.2 mailbox full")
    assert "ann@example.org" not in answer


@contextmanager
def talking(served):
    """A relay that handles one connection with the given function; yields its port and the lines it received."""
    heard = []

    def serve(listening):
        connection, _ = listening.accept()
        # The sender may hang up at any moment.
        with connection, connection.makefile("rb") as answer, suppress(OSError):
            served(connection, lambda: heard.append(answer.readline()))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=serve, args=(listening,))
        serving.start()
        yield listening.getsockname()[1], heard
        serving.join()


def greet(connection, hear):
    connection.sendall(b"220 ready\r\n")
    hear()
    connection.sendall(b"250-here\r\n250 PIPELINING\r\n")


def test_a_pipelining_relay_gets_all_commands_at_once_and_then_the_content():
    def served(connection, hear):
        greet(connection, hear)
        for _ in range(3):
            hear()
        connection.sendall(b"250 yes\r\n250 yes\r\n354 go on\r\n")
        for _ in range(7):
            hear()
        connection.sendall(b"250 taken\r\n")
        hear()
        connection.sendall(b"221 bye\r\n")

    with talking(served) as (port, heard):
        assert sent(Relay(settings(port))) == [Result.ACCEPTED]
    assert heard[1:] == [
        b"MAIL FROM:<b+token@play.example.org>\r\n",
        b"RCPT TO:<ann@example.org>\r\n",
        b"DATA\r\n",
        *(b"." * line.startswith(b".") + line for line in CONTENT.splitlines(keepends=True)),
        b".\r\n",
        b"quit\r\n",
    ]


@pytest.mark.parametrize(
    "answers, result, then",
    [
        (b"250 yes\r\n550 5.1.1 nobody\r\n354 go on\r\n", Result.REFUSED_RECIPIENT, b""),
        (b"550 no\r\n550 no\r\n354 go on\r\n", Result.DOWN, b""),
        (b"250 yes\r\n450 4.2.1 not now\r\n", Result.LATER, b""),
        (b"250 yes\r\n250 yes\r\n250 odd\r\n", Result.LATER, b"rset\r\n"),
    ],
)
def test_a_refused_email_is_not_sent_even_if_the_relay_waits_for_it(answers, result, then):
    def served(connection, hear):
        greet(connection, hear)
        for _ in range(3):
            hear()
        connection.sendall(answers)
        if not answers.endswith(b"354 go on\r\n"):
            connection.shutdown(socket.SHUT_WR)
        hear()

    with talking(served) as (port, heard):
        assert sent(Relay(settings(port))) == [result]
    assert heard[4:] == [then]


def test_an_address_cannot_inject_a_command(sink):
    with Relay(settings(sink.port)).session() as session, pytest.raises(ValueError, match="more than one address"):
        session.send(OutgoingEmail("m1", "", "ann@example.org>\r\nRCPT TO:<eve@example.org", CONTENT))
    assert sink.emails == []


@contextmanager
def endless(word, piece, pause=0.0):
    """A relay that answers normally until it receives this word, and then sends this piece again and again for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        served = threading.Thread(target=_send_for_ever, args=(listening, word, piece, pause))
        served.start()
        yield listening.getsockname()[1]
        served.join()


def _send_for_ever(listening, word, piece, pause):
    connection, _ = listening.accept()
    waiting = threading.Event()
    # The sender should hang up.
    with connection, connection.makefile("rb") as answer, suppress(OSError):
        heard = "nothing"
        while heard != word:
            connection.sendall({"nothing": b"220 ready\r\n", "data": b"354 go on\r\n"}.get(heard, b"250 yes\r\n"))
            if heard == "data":
                while answer.readline() != b".\r\n":
                    pass
                heard = "a mail"
            else:
                heard = answer.readline().decode()[:4].lower()
        while not waiting.wait(pause):
            connection.sendall(piece)


# Long enough for the commands before.
@pytest.mark.parametrize("word, time_limit, result", [("nothing", 0.3, Result.DOWN), ("a mail", 3, Result.LOST)])
def test_a_relay_that_sends_its_answer_letter_by_letter_is_cut_off(word, time_limit, result):
    with endless(word, b"2", pause=0.01) as port:
        assert sent(Relay(settings(port), time_limit=time_limit)) == [result]


@pytest.mark.parametrize("word, result", [("nothing", Result.DOWN), ("ehlo", Result.DOWN), ("a mail", Result.LOST)])
@pytest.mark.parametrize("piece", [b"250-" + b"x" * 8000 + b"\r\n", b"250-\r\n" * 1000])
def test_a_relay_whose_answer_never_ends_is_not_read_to_its_end(word, piece, result):
    with endless(word, piece) as port, Relay(settings(port), time_limit=3).session() as session:
        outcome = session.send(email())
    assert outcome.result is result
    assert "too long an answer" in outcome.answer


@contextmanager
def silent(after):
    """A relay that answers normally until it receives this word, and then says nothing more."""
    ended = threading.Event()

    def serve():
        connection, _ = listening.accept()
        with connection, connection.makefile("rb") as answer, suppress(OSError):
            heard = "nothing"
            while heard != after:
                greeting = b"250-yes\r\n250 STARTTLS\r\n" if heard == "ehlo" else b"250 yes\r\n"
                known = {"nothing": b"220 ready\r\n", "data": b"354 go on\r\n", "starttls": b"220 go on\r\n"}
                connection.sendall(known.get(heard, greeting))
                if heard == "data":
                    while answer.readline() != b".\r\n":
                        pass
                    heard = "a mail"
                else:
                    heard = answer.readline().decode().strip().partition(" ")[0].lower()
            if after == "starttls":
                connection.sendall(b"220 go on\r\n")
            ended.wait()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        ended.set()


@contextmanager
def full():
    """A relay whose machine does not answer a new connection."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening, ExitStack() as waiting:
        for _ in range(3):
            queued = waiting.enter_context(socket.socket())
            queued.setblocking(False)
            queued.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


@contextmanager
def nameless(monkeypatch):
    """A relay whose name nobody looks up."""
    ended = threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", lambda *_, **__: ended.wait(60) and [])
        yield 25
        ended.set()


def test_a_relay_whose_name_is_never_found_is_down(monkeypatch):
    with nameless(monkeypatch) as port:
        relay = Relay(settings(port, Security.NONE, timeout=0.2))
        assert "looking up the relay's name took too long" in relay.problem()


@pytest.mark.parametrize(
    "after", ["name", "connect", "nothing", "tls", "starttls", "ehlo", "mail", "rcpt", "data", "a mail", "quit"]
)
def test_an_email_ends_soon_after_a_stop_whatever_the_relay_does(after, monkeypatch):
    monkeypatch.setattr("pbem.mail.send.relay.STOP_TIME", 0.5)
    security = {"tls": Security.TLS, "starttls": Security.STARTTLS}.get(after, Security.NONE)
    hanging = {"name": lambda: nameless(monkeypatch), "connect": full, "tls": lambda: silent("nothing")}
    with hanging.get(after, lambda: silent(after))() as port:
        relay = Relay(settings(port, security, timeout=60), client_trust() if security is not Security.NONE else None)
        results = []
        sending = threading.Thread(target=lambda: results.extend(sent(relay)), daemon=True)
        sending.start()
        sending.join(0.5)
        assert sending.is_alive(), "it hangs"
        relay.stopping.set()
        sending.join(10)
        assert not sending.is_alive()
    assert results == [Result.ACCEPTED if after == "quit" else results[0]]
    assert results[0] in (Result.ACCEPTED, Result.LOST, Result.DOWN)
