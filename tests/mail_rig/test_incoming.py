"""Email from the world through real mail software: bounces, notices, forgeries, and auto-replies.

A reply counts if the reader's provider and our mail server authenticate its sender. Nothing else changes a game, and it is
answered at most once, to the address on file.
"""

import re
import smtplib
from collections.abc import Callable
from contextlib import nullcontext
from email.message import EmailMessage
from email.parser import Parser
from functools import partial
from pathlib import Path
from random import Random

import pytest

from pbem.service.play.move import Actor
from pbem.store import games, ledger, log as log_rows, outbox, people
from tests.mail_rig.mailbox import Mailbox
from tests.mail_rig.players import COMMAND, RepliesOnly, answer_to, kind_of, next_of, reply_address
from tests.mail_rig.rig import OTHER_DOMAIN, RELAY, SITE_DOMAIN, Rig
from tests.mail_rig.site import Site
from tests.ops.processes import run
from tests.sim.browser import Browser
from tests.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.slice(1 / 3),
    pytest.mark.mail_tools,
    pytest.mark.needs("postfix", "dovecot", "opendkim", "opendkim-genkey", "opendmarc", "dnsmasq", "unshare"),
]

Make = Callable[..., Site]
Open = Callable[[str], Mailbox]


def test_a_bounce_and_a_delay_are_recorded_for_their_emails(rig: Rig, site: Make, mailbox: Open) -> None:
    here, anna, before = site(), mailbox("anna"), len(rig.log())
    here.begin("templari", [anna.name, "zoe@bounce.example", "yan@slow.example"])
    with here.running():
        next_of(anna, "welcome")
        for what in ("non-delivery", "delay"):
            until(partial(has_told_of, rig, before, what), f"a word of {what}")
    assert {"report: failed", "report: late"} <= {*here.arrivals()}
    notes = {each: ledger_of(here, each) for each in (anna.address, "zoe@bounce.example", "yan@slow.example")}
    assert not {"bounced", "delayed"} & {*notes[anna.address]}
    assert "5.1.1" in notes["zoe@bounce.example"]["bounced"]
    assert "4.4.1" in notes["yan@slow.example"]["delayed"]
    assert "bounced" not in notes["yan@slow.example"]


def has_told_of(rig: Rig, since: int, what: str) -> bool:
    """Whether Postfix has sent a notice of this, and the sender's server has stored it."""
    log = rig.log(since)
    notices = re.findall(rf"sender {what} notification: (\w+)", log)
    return any(re.search(rf"{notice}: to=.*250 2\.0\.0 Kept", log) for notice in notices)


def ledger_of(here: Site, address: str) -> dict[str, str]:
    """The outcomes of a person's emails, with the last detail of each."""
    with here.opened() as server, server.store.read() as tx:
        person = people.by_mailbox(tx, address)
        assert person is not None
        emails = [email.id for email in outbox.of_person(tx, person.id, 100)]
        return {line.what: line.detail for lines in ledger.lines(tx, emails).values() for line in lines}


def test_no_away_notice_answers_our_emails(rig: Rig, site: Make, mailbox: Open) -> None:
    here, anna, eve = site(), mailbox("anna"), mailbox("eve")
    rig.away(anna.name)
    here.begin("templari", [anna.name])
    with here.running():
        turn = next_of(anna, "turn", "welcome")
    # The notice is active: it answers everyone else.
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = eve.address, anna.address, "Are you there?"
    message["Message-ID"], message["Date"] = "<are-you-there@example.net>", turn.message["date"]
    message.set_content("Hello")
    rig.submit(message, eve.address, anna.address)
    until(eve.new, "the notice")
    assert here.arrivals() == {}


def test_a_forged_reply_moves_nothing_and_its_victim_is_asked(rig: Rig, site: Make, mailbox: Open) -> None:
    here, anna = site(), mailbox("anna")
    game_id = here.begin("templari", [anna.name])
    forged = "play.example.org; dmarc=pass (p=reject dis=none) header.from=example.net"
    with here.running():
        turn = next_of(anna, "turn")
        to, command = reply_address(turn), COMMAND.findall(turn.text)[0]

        # In her name, from another server; with forged results of our server; by another address; by two.
        rig.come_from_outside(answer_to(turn, anna.address, command), anna.address, to)
        stamped = answer_to(turn, anna.address, command)
        stamped["Authentication-Results"] = forged
        rig.come_from_outside(stamped, "x@evil.example", to)
        rig.come_from_outside(answer_to(turn, "x@evil.example", command), "x@evil.example", to)
        two = answer_to(turn, "x@evil.example", command).as_string().replace("From:", f"From: {anna.address}\nFrom:", 1)
        rig.come_from_outside(Parser().parsestr(two), "x@evil.example", to)
        # With a recipient that we never made.
        rig.come_from_outside(answer_to(turn, anna.address, command), anna.address, f"r+{'a' * 33}@{SITE_DOMAIN}")

        asked = [next_of(anna, "was_it_you"), next_of(anna, "was_it_you")]
        # Her own reply counts, and shows that all others were read before.
        RepliesOnly(anna, rig, Random(1)).answer(turn, command)
        assert "Played: " in next_of(anna, "receipt").text
        assert {email.number for email in anna.all() if kind_of(email) == "was_it_you"} == {
            each.number for each in asked
        }
    arrived = here.arrivals()
    assert arrived["a stranger"] == 1
    for doubt in ("another sender", "an unconfirmed sender"):
        assert arrived[doubt] == 1
        assert sum(times for what, times in arrived.items() if what.startswith(doubt)) == 2
    assert arrived["reply: carried out"] == 1
    with here.opened() as server, server.store.read() as tx:
        ways = [row.by for row in log_rows.chain(tx, game_id, games.read(tx, game_id).key) if row.seat is not None]
    assert ways.count(Actor.REPLY) == 1
    assert {*ways} <= {Actor.REPLY, Actor.BOT}


LET_IN = ("main.cf", "header_checks = regexp:", "#")
"""A mail server that was not set up as the handbook says."""


def test_mail_waits_at_its_sender_while_a_filter_is_away(rig: Rig, site: Make, mailbox: Open) -> None:
    """Accepted without its verdict, a player's own reply would come back to them as a question."""
    here, anna = site(), mailbox("anna")
    here.begin("templari", [anna.name])
    away = f"inet:127.0.0.1:{rig.ports['opendmarc']}", "inet:127.0.0.1:9"
    with here.running():
        turn = next_of(anna, "turn")
        reply, to = answer_to(turn, anna.address, COMMAND.findall(turn.text)[0]), reply_address(turn)
        with rig.postfix_with("main.cf", *away), pytest.raises(smtplib.SMTPException) as refused:
            rig.come_from_outside(reply, anna.address, to)
        assert "4.7.1" in str(refused.value)
        mark = len(rig.log())
        with rig.postfix_with("main.cf", *away):
            rig.submit(reply, anna.address, to)
            until(lambda: "status=deferred" in rig.log(mark), "her provider waits")
        # And it arrives, believed, once the filter is back.
        assert "Played: " in next_of(anna, "receipt").text
    assert here.arrivals() == {"reply: carried out": 1}


@pytest.mark.parametrize(
    ("setup", "place", "severity", "says"),
    [
        (None, "measured", "ok", "our mail server removed a forged Authentication-Results"),
        (LET_IN, "measured", "warning", "lets in a forged Authentication-Results of play.example.org; only its place"),
        (LET_IN, "anywhere", "error", "which would be believed. Anyone could move for any player."),
    ],
)
def test_the_doctor_says_whether_our_mail_server_lets_forged_results_in(
    rig: Rig, site: Make, tmp_path: Path, setup: tuple[str, str, str] | None, place: str, severity: str, says: str
) -> None:
    here = site(PBEM_INBOUND_RESULTS_PLACE=place)
    with here.running(), nullcontext() if setup is None else rig.postfix_with(*setup):
        ended = run("doctor", folder=tmp_path, **here.settings)
    assert says in ended.stdout
    assert re.search(rf"^{severity} +forgery", ended.stdout, re.MULTILINE), ended.stdout
    assert ("count above all Received lines, and nowhere else" in ended.stdout) is (place == "measured")


def test_our_relay_may_use_our_return_address(rig: Rig, site: Make, mailbox: Open) -> None:
    """So an email passes even if its signature was broken on the way, by a list or a scanner that adds a line."""
    here, anna, eve = site(), mailbox("anna"), mailbox("eve")
    here.begin("templari", [anna.name])
    with here.running():
        email = next_of(anna, "welcome")
    broken = Parser().parsestr(email.content.decode() + "\nScanned.\n")
    for stamp in ("Authentication-Results", "Received", "Delivered-To"):
        del broken[stamp]
    rig.come_from_outside(broken, str(email.message["return-path"]).strip("<>"), eve.address, RELAY)
    (found,) = until(eve.new, "the email")
    assert found.verdicts() == {"spf": "pass", "dkim": "fail", "dmarc": "pass"}


def test_a_player_confirms_an_unverified_reply_on_a_page(rig: Rig, site: Make, mailbox: Open) -> None:
    here, anna = site(), mailbox("anna")
    here.begin("templari", [anna.name])
    with here.running():
        turn = next_of(anna, "turn")
        command = COMMAND.findall(turn.text)[0]
        # Her provider does not sign, as far as anyone can see.
        rig.come_from_outside(answer_to(turn, anna.address, command), anna.address, reply_address(turn))
        link = re.search(rf"{here.url}(/w/\S+)", next_of(anna, "was_it_you").text)
        assert link
        browser = Browser(here.client(), here.url)
        form = next(each for each in browser.get(link[1]).forms() if each.action == link[1])
        assert browser.post(form.action, form.fixed).status == 303
        assert "went through" in next_of(anna, "receipt").text


def test_a_program_that_answers_every_email_is_answered_once(rig: Rig, site: Make, mailbox: Open) -> None:
    """It has no sign of a program, neither in a header nor in its subject."""
    here, anna, ben = site(), mailbox("anna"), mailbox("ben")
    # Both are asked at once, so that both have an email to answer.
    here.begin("sunset-poker", [anna.name, ben.name])
    program, person, heard = RepliesOnly(anna, rig, Random(1)), RepliesOnly(ben, rig, Random(2)), []
    with here.running():
        turn = next_of(ben, "turn")
        until(lambda: "turn" in map(kind_of, anna.all()), "anna is asked")
        for _ in range(3):
            for email in anna.new():
                heard.append(kind_of(email))
                if email.message["reply-to"]:
                    program.answer(email, "Thank you for your mail. I am at the beach and read it in two weeks.")
            # Another person's reply is read after all that, and its receipt leaves after all other emails.
            person.answer(turn, "help")
            next_of(ben, "receipt")
    heard += [kind_of(email) for email in anna.new()]
    assert heard.count("turn") == heard.count("receipt") == 1


def test_a_server_does_not_answer_another_server(rig: Rig, site: Make, mailbox: Open) -> None:
    here, there, anna = site(), site(OTHER_DOMAIN), mailbox("anna")
    there.begin("templari", [anna.name])
    with there.running():
        reply_to = reply_address(next_of(anna, "turn"))
        # Turns leave first, and the welcome after them.
        until(lambda: len(anna.all()) == 2, "the welcome has come, too")
        before = len(anna.all())
        # A person plays here with an address at the other server.
        here.begin("templari", [reply_to, mailbox("ben").name])
        mark = len(rig.log())
        with here.running():
            until(lambda: reply_to in rig.log(mark) and "250 2.0.0 Kept" in rig.log(mark), "the other server has it")
    arrived = there.arrivals()
    assert {*arrived} == {"by a program: no return address"} or all(each.startswith("by a program") for each in arrived)
    assert arrived
    assert here.arrivals() == {}
    assert len(anna.all()) == before
