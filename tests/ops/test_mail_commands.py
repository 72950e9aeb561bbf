"""What the commands of `pbem mail` do and say."""

from collections.abc import Iterator
from pathlib import Path

import dkim
import pytest

from pbem.config import read
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.ops import mail_checks
from pbem.ops.setup import open_server
from pbem.service.incoming import authenticity, processing
from tests.mail.sink import ReceivedEmail, Sink
from tests.mail.test_dkim import KEY, RECORD
from tests.mail.test_records import GOOD
from tests.mail.zone import Zone
from tests.ops.conftest import Run
from tests.ops.test_commands import begin_here

DOMAIN = "games.example.org"
PUBLIC = {"PBEM_BASE_URL": f"https://{DOMAIN}", "PBEM_SMTP_HOST": "127.0.0.1", "PBEM_SMTP_SECURITY": "none"}
SIGNED = {"PBEM_DKIM_PRIVATE_KEY": KEY}


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A relay that wants neither encryption nor a login."""
    with Sink() as listening:
        yield listening


@pytest.fixture
def zone() -> Iterator[Zone]:
    """A DNS in which everything is as it has to be, but for the address that emails leave from."""
    with Zone(GOOD | {(DOMAIN, "A"): ["9.9.9.9"]}) as found:
        yield found


def test_a_test_email_is_sent_like_those_to_players(pbem: Run, sink: Sink) -> None:
    done = pbem("mail", "test", "me@example.org", **PUBLIC, **SIGNED, PBEM_SMTP_PORT=str(sink.port))
    assert done.exit_code == 0
    assert done.output.startswith("Accepted: 250 OK.")
    (email,) = sink.to("me@example.org")
    assert email.sender == f"games@{DOMAIN}"
    assert dkim.verify(email.content, dnsfunc=lambda name, timeout=5: RECORD)
    assert f"pbem mail check {DOMAIN}" in " ".join(email.text.split())
    assert email.message["list-unsubscribe"] is None


def test_an_email_that_the_relay_refuses_is_reported_in_the_relays_words(pbem: Run, sink: Sink) -> None:
    sink.does("550 rcpt")
    refused = pbem("mail", "test", "me@example.org", **PUBLIC, PBEM_SMTP_PORT=str(sink.port))
    assert refused.exit_code == 1
    assert "Not accepted (refused recipient): 550 5.1.1 no such user" in refused.output
    assert pbem("mail", "test", "no address", **PUBLIC).exit_code == 1


def test_without_a_relay_it_is_in_the_local_mailbox(pbem: Run, folder: Path) -> None:
    pbem("init")
    assert pbem("mail", "test", "me@example.org").exit_code == 0
    (email,) = LocalMailbox(folder / ".pbem" / "mailbox").entries()
    assert email.to == "me@example.org"


def test_without_replies_the_email_asks_for_none_and_nobody_waits_for_one(pbem: Run, sink: Sink) -> None:
    waiting = pbem("mail", "test", "me@example.org", "--wait", "5", **PUBLIC, PBEM_SMTP_PORT=str(sink.port))
    assert (waiting.exit_code, sink.emails) == (1, [])
    assert "PBEM_INBOUND_REPLIES=yes" in waiting.output
    pbem("mail", "test", "me@example.org", **PUBLIC, PBEM_SMTP_PORT=str(sink.port))
    (email,) = sink.emails
    assert email.message["reply-to"] is None
    assert "Please reply" not in email.text


def answers(pbem: Run, email: ReceivedEmail, settings: dict[str, str], vouched: str) -> str:
    """Who got a test mail answers it, and a worker reads that; the address it went to."""
    to = str(email.message["reply-to"])
    raw = (
        f"Received: from mx.example.org by {DOMAIN}\nAuthentication-Results: {DOMAIN}; {vouched}\n"
        f"From: <me@example.org>\nTo: {to}\nMessage-ID: <{len(vouched)}@example.org>\nSubject: Re\n\nbid 7, it is here\n"
    )
    assert pbem("mail", "receive", "--from", "me@example.org", "--to", to, typed=raw, **settings).exit_code == 0
    config = read(settings)
    with open_server(config) as server:
        processing.process(server, authenticity.inbound_settings(config))
    return to


def test_a_test_mail_that_is_answered_shows_that_both_directions_work(
    pbem: Run, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--wait` ends as soon as the answer was read; while it waits, someone answers."""
    settings = {**PUBLIC, "PBEM_SMTP_PORT": str(sink.port), "PBEM_INBOUND_REPLIES": "yes", "PBEM_DEVELOPMENT": "no"}
    pbem("init", **settings)
    waits: list[float] = []

    def meanwhile(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            answers(
                pbem,
                sink.emails[-1],
                settings,
                "spf=pass smtp.mailfrom=example.org; dmarc=pass header.from=example.org",
            )

    monkeypatch.setattr(mail_checks, "sleep", meanwhile)
    done = pbem("mail", "test", "me@example.org", "--wait", "1", **settings)
    (email,) = sink.emails
    assert "Reply with any text" in " ".join(email.text.split())
    assert done.exit_code == 0, done.output
    assert "round trip: a test email was answered from example.org; spf=pass, dmarc=pass" in done.output
    assert len(waits) == 3
    doctor = pbem("doctor", **settings).output
    assert "round trip: a test email was answered from example.org" in doctor
    token = str(email.message["reply-to"])[2:35]
    assert token not in done.output + doctor
    assert "me@example.org" not in doctor


def test_an_answer_that_nobody_vouches_for_is_told_with_what_to_set(pbem: Run, sink: Sink) -> None:
    settings = {**PUBLIC, "PBEM_SMTP_PORT": str(sink.port), "PBEM_INBOUND_REPLIES": "yes"}
    pbem("init", **settings)
    pbem("mail", "test", "me@example.org", **settings)
    assert "round trip" not in pbem("doctor", **settings).output
    answers(pbem, sink.emails[-1], settings, "spf=softfail smtp.mailfrom=example.org")
    doctor = pbem("doctor", **settings).output
    assert "A test email was answered from example.org; spf=softfail: we would ask such a player" in doctor
    assert "PBEM_INBOUND_AUTHSERV_ID" in doctor


def test_an_organiser_who_waits_in_vain_is_told_where_to_look(
    pbem: Run, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {**PUBLIC, "PBEM_SMTP_PORT": str(sink.port), "PBEM_INBOUND_REPLIES": "yes"}
    pbem("init", **settings)
    waits: list[float] = []
    monkeypatch.setattr(mail_checks, "sleep", waits.append)
    ended = pbem("mail", "test", "me@example.org", "--wait", "1", **settings)
    assert ended.exit_code == 1
    assert "No reply has been read in that time. Run `pbem doctor`" in ended.output
    assert 60 <= sum(waits) <= 65


def test_an_email_can_be_previewed_as_text_html_and_whole(pbem: Run) -> None:
    pbem("init")
    game_id = begin_here()
    looked = ["mail", "preview", "turn", "--game", str(game_id), "--seat", "1"]
    seat = 1 if pbem(*looked).exit_code == 0 else 2
    text, html, eml = (pbem(*looked[:-1], str(seat), "--format", form) for form in ("text", "html", "eml"))
    assert "WHAT YOU CAN DO" in text.output
    assert html.output.startswith("<!doctype html>")
    assert "Content-Type: multipart/alternative" in eml.output
    wrong = pbem("mail", "preview", "spam", "--game", str(game_id), "--seat", "1")
    assert wrong.exit_code == 1
    assert "You can choose: alert, announcement, auto_passed" in wrong.output


def test_check_ends_well_only_where_the_dns_says_everything(pbem: Run, zone: Zone) -> None:
    asked = {**PUBLIC, **SIGNED, "PBEM_MAIL_NAMESERVER": zone.server}
    well = pbem("mail", "check", "--address", "198.51.100.7", **asked)
    assert well.exit_code == 0, well.output
    assert "no errors, no warnings." in well.output
    # Without being told, it takes the number of the domain, for which nothing was put into the DNS.
    ill = pbem("mail", "check", **asked)
    assert ill.exit_code == 1
    assert f'-> Add to the DNS: {DOMAIN}. TXT "v=spf1 ip4:9.9.9.9 ~all"' in ill.output
    assert "ptr: 9.9.9.9, which emails leave from, has no name." in ill.output


def test_a_name_that_only_this_machine_has_is_not_asked_for(pbem: Run) -> None:
    alone = pbem("mail", "check", PBEM_MAIL_NAMESERVER="127.0.0.1:9")
    assert alone.exit_code == 0
    assert "localhost is only this machine" in alone.output


def test_check_looks_at_another_domain_and_at_a_key_of_the_relay(pbem: Run, zone: Zone) -> None:
    asked = {"PBEM_MAIL_NAMESERVER": zone.server}
    found = pbem("mail", "check", DOMAIN, "--selector", "pbem", "--address", "198.51.100.7", **asked)
    assert found.exit_code == 0
    assert f"pbem._domainkey.{DOMAIN} has the key" in found.output
    assert pbem("mail", "check", "other.example", **asked).exit_code == 1
    assert pbem("mail", "check", "--address", "localhost", **asked).exit_code == 2


def test_the_doctor_looks_at_the_dns_where_there_is_a_relay_that_answers(pbem: Run, sink: Sink, zone: Zone) -> None:
    pbem("init")
    given = {**PUBLIC, **SIGNED, "PBEM_SMTP_PORT": str(sink.port), "PBEM_MAIL_NAMESERVER": zone.server}
    assert "dmarc" not in pbem("doctor").output
    ill = pbem("doctor", **given)
    assert "the relay answers" in ill.output
    assert "dmarc: _dmarc.example.org asks receivers to quarantine forged emails" in ill.output
    assert "ptr: 9.9.9.9" in ill.output
    assert ill.exit_code == 1
    zone.records["9.9.9.9.in-addr.arpa", "PTR"] = [f"{DOMAIN}."]
    zone.records[DOMAIN, "TXT"] = ['"v=spf1 a mx -all"']
    assert pbem("doctor", **given).exit_code == 0


def test_paused_email_is_stopped_for_test_emails_too_and_the_doctor_and_the_overview_say_so(
    pbem: Run, sink: Sink
) -> None:
    here = PUBLIC | {"PBEM_SMTP_PORT": str(sink.port)}
    pbem("init", **here)
    assert pbem("mail", "pause", **here).output.splitlines()[-1] == "Done."
    refused = pbem("mail", "test", "me@example.org", **here)
    assert refused.exit_code == 1
    assert "paused" in refused.output
    assert sink.emails == []
    assert "Outgoing email has been paused since" in pbem("doctor", **here).output
    assert "email paused from" in pbem("overview", **here).output
    again = pbem("mail", "pause", "--reason", "Twice.", **here)
    assert again.exit_code == 1
    assert "already" in again.output
    assert pbem("mail", "resume", "--reason", "It is mended.", **here).exit_code == 0
    assert "has been paused" not in pbem("doctor", **here).output
    assert pbem("mail", "test", "me@example.org", **here).exit_code == 0
    assert "It is mended." in pbem("audit", "list", **here).output
