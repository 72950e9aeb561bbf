"""The headers of emails as a relay received them; programs decide by them."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from pbem.domain.errors import BadInput
from pbem.service.outgoing import deliver
from pbem.service.people import addresses
from tests.mail.sink import Sink
from tests.service.clock import Time
from tests.service.outgoing.test_deliver import HEAD, HOST, HOUR, LINK, post_to

TITLES = [
    "Ann\r\nBcc: mallory@example",
    "\u202eAnn\u2028Bcc: x@example",
    '"Ann" <mallory@example>, x; (\\',
    "השולחן של דנה",
    "Zoë 名前 🦊",
]


@pytest.fixture
def sink():
    """A relay that wants neither encryption nor a login."""
    with Sink() as listening:
        yield listening


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return replace(post_to(sink), letterhead=replace(HEAD, replies=True))


def turns(sink, address):
    """The turn emails to an address, the first one first."""
    return [email for email in sink.to(address) if ", turn " in str(email.message["subject"])]


def play_on(server, clock, post, game):
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)


def test_a_table_is_one_thread_and_each_turn_has_its_own_subject(server, clock, sink, post, table):
    game = table()
    play_on(server, clock, post, game)
    first, second = (email.message for email in turns(sink, "ann@example.org"))
    root = f"<{game.row().key}@{HOST}>"
    assert first["references"] == first["in-reply-to"] == root
    assert second["references"] == f"{root} {first['message-id']}"
    assert second["in-reply-to"] == first["message-id"]
    assert first["subject"] != second["subject"]
    assert len({str(email.message["message-id"]) for email in sink.emails}) == len(sink.emails)
    everything = [email.message for email in sink.to("ann@example.org") if email.message["list-id"]]
    assert {message["list-id"] for message in everything} == {f"<{game.row().key}.games.{HOST}>"}
    assert all(str(message["references"]).startswith(root) for message in everything)


def test_a_reminder_is_in_the_thread_of_its_turn(server, clock, sink, post, table):
    table()
    time = Time(server, clock)
    time.passes(HOUR)
    deliver.deliver(server, post, limit=100)
    (turn,) = (email.message for email in turns(sink, "ann@example.org"))
    time.passes(timedelta(hours=23))
    assert time.reminds().decided
    clock.advance(HOUR / 2)
    deliver.deliver(server, post, limit=100)
    reminder = sink.to("ann@example.org")[-1].message
    assert reminder["subject"] == f"Re: {turn['subject']}"
    assert reminder["in-reply-to"] == turn["message-id"]
    assert reminder["message-id"] != turn["message-id"]


def test_headers_tell_programs_the_kind_the_reply_address_and_how_to_unsubscribe(server, clock, sink, post, table):
    game = table()
    play_on(server, clock, post, game)
    email = turns(sink, "ann@example.org")[-1]
    headers = email.message
    assert headers["auto-submitted"] == "auto-generated"
    assert headers["x-auto-response-suppress"] == "OOF, AutoReply"
    assert headers["content-language"] == "en"
    assert headers["from"].addresses[0].addr_spec == f"games@{HOST}"
    about, kind, program, sender = str(headers["feedback-id"]).split(":")
    assert (about, kind, program) == (game.row().key, "turn", "pbem")
    assert 5 <= len(sender) <= 15
    purpose, token, _ = LINK.search(str(headers["list-unsubscribe"])).groups()
    assert purpose == "u"
    assert headers["list-unsubscribe-post"] == "List-Unsubscribe=One-Click"
    assert token in email.text
    local, _, domain = str(headers["reply-to"]).partition("@")
    assert local.startswith("r+")
    assert (len(local), domain) == (35, HOST)
    assert headers["date"].datetime == clock.now()


def test_no_title_of_a_table_changes_the_headers_of_its_emails(server, clock, sink, post, table):
    for title in ("", *TITLES):
        table(title=title)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    plain, *others = turns(sink, "ann@example.org")
    assert len(others) == len(TITLES)
    assert all(email.message.keys() == plain.message.keys() for email in others)
    for email in sink.emails:
        assert [address.addr_spec for address in email.message["to"].addresses] == [email.recipient]
        assert email.message.defects == []


def test_an_address_whose_local_part_needs_quotes_is_refused_where_it_is_typed(server):
    for address in ('"ann b"@example.org', '"ann@b"@example.org', "ann b@example.org", "ann@b@example.org"):
        with pytest.raises(BadInput):
            server.run(addresses.register, address, "Ann")


def test_the_envelope_id_is_random_and_no_number_of_the_server(server, clock, sink, post, table):
    """Numbers that count up would tell each reader how many emails others had in between."""
    game = table()
    play_on(server, clock, post, game)
    found = {}
    for email in sink.emails:
        (option,) = [option for option in email.options if option.startswith("ENVID=")]
        found[option] = str(email.message["message-id"])
    assert len(found) == len(sink.emails)
    assert all(re.fullmatch("ENVID=M[0-9A-F]{16}", option) for option in found)
    assert all(name.upper().startswith(f"<{option.removeprefix('ENVID=')}.") for option, name in found.items())
