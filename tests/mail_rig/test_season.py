"""A season by email alone: people sign up, play and leave by replying, tables run late, and nobody opens a page.

Every person has a mailbox and nothing else. Whenever nothing has arrived for a while, half a day passes for the server.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from pbem.domain.states import EntrantStatus, TournamentStatus
from pbem.service.server import Server
from pbem.service.tournaments import file, reading, sign_up
from pbem.store import people as person_rows
from pbem.store.database import Tx
from tests.mail_rig.mailbox import Mailbox, Received
from tests.mail_rig.players import RepliesOnly, kind_of
from tests.mail_rig.rig import READER_DOMAIN, Rig
from tests.mail_rig.site import Site
from tests.service.database import queued_emails
from tests.service.tournaments.cup import open_cup
from tests.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.mail_tools,
    pytest.mark.needs("postfix", "dovecot", "opendkim", "opendkim-genkey", "opendmarc", "dnsmasq", "unshare"),
    pytest.mark.xdist_group("season"),
    # Days pass in seconds, but not on a busy machine.
    pytest.mark.timeout(1200),
]

PLAYING, SILENT, LEAVING, WAITING = ("anna", "ben", "cleo", "finn"), "eve", "dan", ("gil", "hal")
ROUNDS, DAYS = 2, 2
QUIET = 25
"""Looks at all mailboxes without anything new until time passes; they take less than a second."""
HALF_A_DAY = timedelta(hours=12)


@dataclass
class Entrant(RepliesOnly):
    """Someone who signs up by replying, and perhaps plays; who leaves does so at the first round."""

    plays: bool = True
    leaves: bool = False
    offer: Received | None = None

    def reads(self, email: Received) -> None:
        """Do what an email asks for, by replying."""
        self.seen[kind_of(email)] += 1
        match kind_of(email):
            case "sign_up" if self.offer is None:
                self.offer = email
                self.answer(email, f"accept as {self.mailbox.name.capitalize()}")
            case "tournament" if self.leaves:
                self.leaves = False
                assert self.offer is not None
                self.answer(self.offer, "decline")
            case "tournament":
                self.seen["over"] += "is over" in email.text
            case _ if self.plays:
                super().reads(email)


@dataclass
class Season:
    """The remains of a season: the stopped server, its tournament, and the people."""

    site: Site
    key: str
    people: dict[str, Entrant]

    def page(self) -> reading.TournamentPage:
        """What everyone sees of it."""
        with self.site.opened() as server:
            return server.read(reading.page, self.key)

    def name_of(self, name: str) -> str:
        """The name under which someone has signed up."""
        return self.people[name].mailbox.name.capitalize()


@pytest.fixture(scope="module")
def season(rig: Rig, site: Callable[..., Site], mailbox: Callable[[str], Mailbox]) -> Season:
    """A league of six, with two more who wait. Its opening and the invitations are all that is done by hand."""
    here = site()
    names = (*PLAYING, SILENT, LEAVING, *WAITING)
    people = {
        name: Entrant(mailbox(name), rig, Random(place), plays=name in (*PLAYING, *WAITING), leaves=name == LEAVING)
        for place, name in enumerate(names)
    }
    with here.opened() as server:
        host = here.person(server, f"olga@{READER_DOMAIN}")
        settings = {"form": "league", "rounds": ROUNDS, "round_days": DAYS, "most": len(names) - len(WAITING)}
        key = open_cup(server, host, closes_at=datetime.now(UTC) + timedelta(hours=12), **settings)
        addresses = tuple(each.mailbox.address for each in people.values())
        row = server.read(reading.page, key).summary.row
        server.run(sign_up.invite, row.id, host, addresses)
    with here.running():
        late = {name: people.pop(name) for name in WAITING}
        _read(people.values(), lambda: all(each.seen["invitation_receipt"] for each in people.values()))
        people |= late
        _read(people.values(), lambda: all(each.seen["invitation_receipt"] for each in late.values()))
        # Once it's over, sign-up for the next season opens, for those who are still there.
        here_still = [each for name, each in people.items() if name not in (LEAVING, SILENT)]
        _read(
            people.values(),
            lambda: (
                all(each.seen["over"] for each in people.values())
                and all(each.seen["sign_up"] == 2 for each in here_still)
            ),
            here,
        )
    return Season(here, key, people)


def _read(people: Collection[Entrant], done: Callable[[], object], site: Site | None = None) -> None:
    """Let people read their emails until that is done; while nothing arrives, time passes at a site."""
    looks = 0

    def came() -> bool:
        nonlocal looks
        looks += 1
        emails = [(each, email) for each in people for email in each.mailbox.new()]
        for each, email in emails:
            each.reads(email)
        if site and looks > QUIET and not emails:
            site.passes(HALF_A_DAY)
        return bool(emails) or looks > QUIET

    while not done():
        looks = 0
        until(came, "an email of the season")


def test_a_season_by_email_alone_has_a_winner_although_one_never_answers_and_one_leaves(season: Season) -> None:
    page = season.page()
    assert page.summary.status == TournamentStatus.OVER
    assert page.summary.winners
    with season.site.opened() as server:
        assert file.check(server.read(file.of_tournament, season.key)) == []
    assert [len(round_.tables) for round_ in page.rounds] == [2] * ROUNDS
    assert all(player.place for round_ in page.rounds for table in round_.tables for player in table.players)
    # The one who answers nothing makes a table late, and bots finish it as agreed.
    late = [table for table in page.rounds[0].tables if table.how == "bots"]
    assert any(season.name_of(SILENT) == player.name for table in late for player in table.players)
    by_name = {each.name: each for each in page.entrants}
    left, absent = by_name[season.name_of(LEAVING)], by_name[season.name_of(SILENT)]
    assert (left.status, left.until) == (EntrantStatus.LEFT, 1)
    assert (absent.status, absent.until) == (EntrantStatus.ABSENT, 1)
    for name in WAITING:
        came = by_name[season.name_of(name)]
        assert (came.status, came.since) == (EntrantStatus.IN, 2)


def test_nobody_opens_a_page_in_a_whole_season(season: Season) -> None:
    output = season.site.output.read_text()
    assert '"round_opened"' in output
    assert "request_answered" not in output
    assert all(season.people[name].seen["answered"] > ROUNDS for name in PLAYING)


def test_every_email_of_a_season_arrives_and_the_tournaments_make_one_thread(season: Season) -> None:
    with season.site.opened() as server:
        for each in season.people.values():
            queued = [
                email
                for kind in ("sign_up", "tournament")
                for email in queued_emails(server, server.read(_person_at, each.mailbox.address), kind)
            ]
            arrived = [email for email in each.mailbox.all() if kind_of(email) in ("sign_up", "tournament")]
            assert sorted(email.message_id or "" for email in queued) == sorted(
                str(email.message["message-id"]) for email in arrived
            )
            assert all(email.verdicts()["dmarc"] == "pass" for email in arrived)
            own = {email.number for email in arrived if season.key in str(email.message["references"])}
            assert len(own) >= ROUNDS
            assert any(own <= thread for thread in each.mailbox.threads())


def _person_at(tx: Tx, _server: Server, address: str) -> int:
    found = person_rows.by_mailbox(tx, address)
    assert found is not None
    return found.id
