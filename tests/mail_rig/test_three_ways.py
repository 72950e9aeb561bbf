"""One table, three ways to play: by notifications and pages, by replies alone, and by links with weekends off on a bank of time.

The server, the mail software, nginx, Chromium and its push service are real. The first opens no email after
joining. A weekend passes while the third is asked, whose clock must stand still.
"""

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from engine import registry
from pbem.ops.verify import games_to_verify, verify_games
from pbem.service.account import my_page
from pbem.service.play.log import Kind
from pbem.service.play.move import Actor
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games as game_rows, log, players
from tests.browser.player import Player
from tests.channels.push_service import Notifications, PushService
from tests.mail.sink import CERTIFICATE
from tests.mail_rig.fast_server import PUSH
from tests.mail_rig.mailbox import Mailbox, Received
from tests.mail_rig.players import LinksOnly, RepliesOnly, kind_of, next_of
from tests.mail_rig.rig import SITE_DOMAIN, Rig
from tests.mail_rig.site import Site
from tests.ops.processes import serving
from tests.ports import free_port
from tests.waiting import PATIENCE, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.mail_tools,
    pytest.mark.needs(
        "postfix", "dovecot", "opendkim", "opendkim-genkey", "opendmarc", "dnsmasq", "unshare", "nginx", "chromium"
    ),
    pytest.mark.timeout(1200),
]

BANK = "1d+6h"
WEEKEND = timedelta(hours=64)
"""From six in the evening on Friday until ten on Monday: longer than a bank lasts."""

QUIET = 25
"""Looks at everything without anything new until nobody else has anything to do."""

FRIDAY = 4


@pytest.fixture
def push() -> Iterator[PushService]:
    with PushService() as service:
        yield service


@pytest.fixture
def front(tmp_path: Path, tool: Callable[[str], str]) -> Iterator[Callable[[Site], int]]:
    """front(site) -> the port of an nginx that encrypts, in front of a server."""
    port = free_port()
    with ExitStack() as running:

        def put(site: Site) -> int:
            places = "".join(
                f"{name}_temp_path {tmp_path}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            )
            (tmp_path / "nginx.conf").write_text(
                f"user root; pid {tmp_path}/pid; daemon off; error_log {tmp_path}/error.log; events {{}} http {{ {places}"
                f"access_log off; server {{ listen 127.0.0.1:{port} ssl; server_name {SITE_DOMAIN};"
                f"ssl_certificate {CERTIFICATE}; ssl_certificate_key {CERTIFICATE};"
                f"location / {{ proxy_pass http://127.0.0.1:{site.port}; proxy_set_header Host $host;"
                f"proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto https; }} }} }}"
            )
            command = [
                tool("nginx"),
                "-p",
                str(tmp_path),
                "-c",
                str(tmp_path / "nginx.conf"),
                "-e",
                str(tmp_path / "error.log"),
            ]
            process = running.enter_context(serving(folder=tmp_path, program=command))
            # Its workers outlive a main process that is killed.
            running.callback(process.stop, signal.SIGTERM)
            return port

        yield put


@dataclass
class Notified:
    """Someone who opens what notifications lead to, and nothing else."""

    browser: BrowserContext
    notifications: Notifications
    luck: Random
    answered: int = 0
    over: bool = False

    def looks(self) -> bool:
        """Tap every new notification; returns whether there was one."""
        taps = self.notifications.new()
        for title, _text, url in taps:
            self.over = self.over or title.startswith("Game over")
            seat = Player(self.browser.new_page(), self.luck)
            seat.page.goto(url)
            while seat.may_decide():
                seat.decide()
                self.answered += 1
            seat.page.close()
        return bool(taps)


def test_a_table_is_played_by_notifications_by_replies_and_on_a_bank_with_weekends_off(
    rig: Rig,
    site: Callable[..., Site],
    mailbox: Callable[[str], Mailbox],
    chromium: Browser,
    push: PushService,
    front: Callable[[Site], int],
    tmp_path: Path,
) -> None:
    here, anna, ben, cleo = site(), mailbox("anna"), mailbox("ben"), mailbox("cleo")
    (here.folder / PUSH).write_text(str(push.port))
    kind = "templari"
    with here.opened() as server:
        host, rests, _known = (here.person(server, each.address) for each in (ben, cleo, anna))
        server.run(my_page.change_week, rests, ["Sat", "Sun"], [], "")
        table = TableSettings(kind, 3, dict(registry.load(kind).short), BANK, time_off=48, invited=(anna.address,))
        game_id = server.run(joining.create_table, host, table).game_id
        for person in (host, rests):
            server.run(joining.join, game_id, person)
    arguments = (f"--host-resolver-rules=MAP {SITE_DOMAIN}:443 127.0.0.1:{front(here)}",)
    phone = push.browser(chromium, tmp_path / "profile", base_url=here.url, arguments=arguments)
    phone.set_default_timeout(PATIENCE * 1000)
    phone.grant_permissions(["notifications"], origin=here.url)
    replies, links = RepliesOnly(ben, rig, Random(1)), LinksOnly(cleo, here, Random(2))
    with here.running():
        here.passes(until_friday())
        until(here.has_lived, "it is Friday")
        notified = join(phone, anna)
        held = weekend(here, replies, cleo, notified)
        links.reads(held)
        play(replies, links, notified)
    phone.close()
    with here.opened() as server:
        (report,) = verify_games(server.store, games_to_verify(server.store)[0])
        assert report.sound, report
        with server.store.read() as tx:
            rows = list(log.chain(tx, game_id, game_rows.read(tx, game_id).key))
            seats = {each.person_id: each.seat for each in players.of_game(tx, game_id)}
        ways = {(row.seat, row.by) for row in rows if row.kind in (Kind.SEALED, Kind.ENTRY) and row.seat is not None}
    assert ways >= {(seats[host], Actor.REPLY), (seats[rests], Actor.PERSON)}
    assert Actor.CLOCK not in {by for _seat, by in ways}
    (pushed,) = {0, 1, 2} - {seats[host], seats[rests]}
    assert {by for seat, by in ways if seat == pushed} == {Actor.PERSON}
    assert notified.answered


def until_friday() -> timedelta:
    """The time until the next evening of a Friday."""
    now = datetime.now(UTC)
    evening = datetime.combine(now.date(), time(18), UTC) + timedelta(days=(FRIDAY - now.weekday()) % 7)
    return evening - now if evening > now else evening + timedelta(days=7) - now


def join(phone: BrowserContext, anna: Mailbox) -> Notified:
    """Sign in, switch on notifications and take the seat. These are the last emails that are opened."""
    (page,), invitation = phone.pages, next_of(anna, "invitation")
    page.goto("/mine")
    page.get_by_label("Your email").fill(anna.address)
    until(lambda: sends(page), "the form is taken from someone who isn't faster than a person")
    page.goto(link_in(next_of(anna, "links").text, "l"))
    page.get_by_role("button", name="Sign in").click()
    page.goto("/my/channels")
    page.get_by_role("button", name="Switch on notifications").click()
    expect(page.get_by_text("This channel is on.")).to_be_visible(timeout=PATIENCE * 1000)
    notified = Notified(phone, Notifications(phone), Random(3))
    page.goto(link_in(invitation.text, "c"))
    page.get_by_role("button", name="Take seat").click()
    expect(page.get_by_role("button", name="Take seat")).to_have_count(0, timeout=PATIENCE * 1000)
    return notified


def sends(page: Page) -> bool:
    """Send the form for a link; returns whether it was taken."""
    page.get_by_role("button", name="Send links").click()
    return page.url.endswith("/sent")


def link_in(text: str, letter: str) -> str:
    """The first link of a kind in an email."""
    found = re.search(rf"https://\S+/{letter}/[a-z2-7]{{33}}", text)
    assert found, text
    return found[0]


def weekend(here: Site, replies: RepliesOnly, resting: Mailbox, notified: Notified) -> Received:
    """Play until nothing but a turn of the one who rests is open, and let a weekend pass; returns the email of that turn."""
    turns: list[Received] = []
    quiet = 0

    def is_alone() -> bool:
        nonlocal quiet
        turns.extend(each for each in resting.new() if kind_of(each) == "turn")
        emails = replies.mailbox.new()
        for email in emails:
            replies.reads(email)
        quiet = 0 if notified.looks() or emails or not turns else quiet + 1
        return quiet > QUIET

    until(is_alone, "the game waits for one player alone")
    here.passes(WEEKEND)
    # It comes on Monday, when half of the bank is gone.
    next_of(resting, "reminder")
    return turns[-1]


def play(replies: RepliesOnly, links: LinksOnly, notified: Notified) -> None:
    """Play until all three have the result."""
    left = {replies.mailbox.name, links.mailbox.name}

    def anything_came() -> bool:
        came = notified.looks()
        for person in (replies, links):
            for email in person.mailbox.new():
                came = True
                person.reads(email)
                if kind_of(email) == "result":
                    left.discard(person.mailbox.name)
        return came

    while left or not notified.over:
        until(anything_came, "something for one of the three")
