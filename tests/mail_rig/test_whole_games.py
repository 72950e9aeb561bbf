"""Whole games by email alone, and those emails as the readers' mail server received them.

Two people play a table of each game, with bots on the other seats, and know nothing but their mailboxes. One evening is
played by links only and one by replies only, joining included, with three games each, others with each seed; everything between server and mailbox is real mail software.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from engine import registry
from pbem.ops.verify import games_to_verify, verify_games
from pbem.service.play.log import Kind
from pbem.service.play.move import Actor
from pbem.store import games, log, people
from tests.conftest import some
from tests.mail_rig.mailbox import Mailbox, Received
from tests.mail_rig.players import LinksOnly, RepliesOnly, kind_of, play
from tests.mail_rig.rig import SITE_DOMAIN, Rig
from tests.mail_rig.site import Site
from tests.ops.processes import run
from tests.service.database import holds_token

pytestmark = [
    pytest.mark.slow,
    pytest.mark.mail_tools,
    pytest.mark.needs("postfix", "dovecot", "opendkim", "opendkim-genkey", "opendmarc", "dnsmasq", "unshare"),
    # An evening takes a while, so one process plays it for all tests here.
    pytest.mark.xdist_group("evening"),
]


@dataclass
class Evening:
    """The remains of an evening: the stopped server, and the players' mailboxes."""

    site: Site
    mailboxes: list[Mailbox]
    games: dict[str, int]

    def emails(self) -> list[Received]:
        """All emails that the server has sent."""
        return [email for mailbox in self.mailboxes for email in mailbox.all() if kind_of(email)]

    def ways(self) -> dict[str, set[str]]:
        """For each game, the ways in which people moved."""
        found = {}
        with self.site.opened() as server, server.store.read() as tx:
            for kind, game_id in self.games.items():
                rows = log.chain(tx, game_id, games.read(tx, game_id).key)
                found[kind] = {row.by for row in rows if row.kind in (Kind.SEALED, Kind.ENTRY) and row.seat is not None}
        return found

    def must_be_over(self) -> None:
        """Check that every game has ended, by its log."""
        with self.site.opened() as server:
            with server.store.read() as tx:
                assert {games.read(tx, game_id).status for game_id in self.games.values()} == {"over"}
            for report in verify_games(server.store, games_to_verify(server.store)[0]):
                assert report.sound, report


@pytest.fixture(scope="module")
def by_links(rig: Rig, site: Callable[..., Site], mailbox: Callable[[str], Mailbox]) -> Evening:
    """Games played by links only."""
    here, mailboxes = site(), [mailbox("anna"), mailbox("ben")]
    # One of them has an away notice for every email that allows one.
    rig.away(mailboxes[0].name)
    begun = {kind: here.begin(kind, [each.name for each in mailboxes]) for kind in some(registry.names(), 1 / 5)}
    players = [LinksOnly(each, here, Random(place)) for place, each in enumerate(mailboxes)]
    with here.running():
        play(players, len(begun))
    assert all(person.seen["answered"] > 2 * len(begun) for person in players)
    return Evening(here, mailboxes, begun)


@pytest.fixture(scope="module")
def by_replies(rig: Rig, site: Callable[..., Site], mailbox: Callable[[str], Mailbox]) -> Evening:
    """Games played by replies only; one of the two is new to the server and invited to each."""
    here, mailboxes = site(), [mailbox("cleo"), mailbox("dan")]
    begun = {kind: here.invite(kind, [each.name for each in mailboxes]) for kind in some(registry.names(), 1 / 5)}
    players = [RepliesOnly(each, rig, Random(place)) for place, each in enumerate(mailboxes)]
    with here.running():
        play(players, len(begun))
    assert all(person.seen["answered"] > 2 * len(begun) for person in players)
    assert [person.seen["invited"] for person in players] == [0, len(begun)]
    return Evening(here, mailboxes, begun)


def test_every_game_is_played_to_its_end_by_links_alone(by_links: Evening) -> None:
    by_links.must_be_over()
    for kind, ways in by_links.ways().items():
        assert Actor.PERSON in ways, kind
        assert ways <= {Actor.PERSON, Actor.BOT}, kind


def test_every_game_is_played_to_its_end_by_replies_alone(by_replies: Evening) -> None:
    by_replies.must_be_over()
    for kind, ways in by_replies.ways().items():
        assert Actor.REPLY in ways, kind
        assert ways <= {Actor.REPLY, Actor.BOT}, kind


def test_a_stranger_joins_every_game_by_replies_alone(by_replies: Evening) -> None:
    receipts = [each for each in by_replies.mailboxes[1].all() if kind_of(each) == "invitation_receipt"]
    assert len(receipts) == len(by_replies.games)
    with by_replies.site.opened() as server, server.store.read() as tx:
        person = people.by_mailbox(tx, by_replies.mailboxes[1].address)
        assert person is not None
        assert person.confirmed_at is not None


def test_every_email_passes_spf_dkim_and_dmarc(by_links: Evening) -> None:
    emails = by_links.emails()
    assert {kind_of(email) for email in emails} >= {"welcome", "turn", "result"}
    for email in emails:
        assert email.verdicts() == {"spf": "pass", "dkim": "pass", "dmarc": "pass"}, email.message["subject"]


def test_the_signature_covers_unsubscribe_and_sender_headers(by_links: Evening) -> None:
    for email in by_links.emails():
        signature = "".join(str(email.message["dkim-signature"]).split())
        found = re.search(r"[;]h=([^;]+)", signature)
        assert found
        signed = found[1].lower().split(":")
        assert {"list-unsubscribe", "list-unsubscribe-post", "feedback-id"} <= {*signed}
        # Signed once more than they occur, so that nobody can add another.
        assert signed.count("from") == signed.count("subject") == 2


def test_a_mail_program_shows_the_emails_of_a_table_as_one_thread(by_links: Evening) -> None:
    for mailbox in by_links.mailboxes:
        tables: dict[str, set[str]] = {}
        for email in mailbox.all():
            tables.setdefault(str(email.message["list-id"]), set()).add(email.number)
        assert len(tables) == len(by_links.games)
        assert sorted(map(sorted, mailbox.threads())) == sorted(map(sorted, tables.values()))


def test_each_email_has_its_own_bounce_address(by_links: Evening) -> None:
    senders = [str(email.message["return-path"]) for email in by_links.emails()]
    assert len({*senders}) == len(senders)
    assert all(re.fullmatch(rf"<b\+[a-z2-7]{{33}}@{re.escape(SITE_DOMAIN)}>", each) for each in senders)


def test_a_receipt_has_no_return_address_so_that_nothing_can_answer_it(by_replies: Evening) -> None:
    receipts = [email for email in by_replies.emails() if kind_of(email) == "receipt"]
    assert receipts
    for email in receipts:
        assert email.message["return-path"] == "<>"
        assert str(email.message["auto-submitted"]) == "auto-replied"
        assert email.verdicts()["dmarc"] == "pass"


def test_no_away_notice_is_sent_in_a_whole_game(by_links: Evening) -> None:
    assert by_links.site.arrivals() == {}


@pytest.mark.parametrize("way", ["by_links", "by_replies"])
def test_no_token_is_in_any_log_or_file_of_the_server(way: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    evening: Evening = request.getfixturevalue(way)
    output = evening.site.output.read_bytes()
    assert b"INSERT INTO outbox" in output
    backup = tmp_path / "backup.sqlite3"
    ended = run("backup", str(backup), folder=evening.site.folder, **evening.site.settings)
    assert ended.returncode == 0, ended.stdout
    stored = b"".join(file.read_bytes() for file in (*evening.site.folder.rglob("*"), backup) if file.is_file())
    with evening.site.opened() as server:
        # The search itself works.
        assert holds_token(server, evening.emails()[-1].text.encode())
        assert not holds_token(server, output)
        assert not holds_token(server, stored)
