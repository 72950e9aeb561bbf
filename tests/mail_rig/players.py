"""People who play by email alone: one who only follows links, and one who only replies.

They know nothing but the emails in a mailbox and the pages those lead to. Both do what an email asks for, at random.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from random import Random
from typing import Protocol

from tests.mail_rig.mailbox import Mailbox, Received
from tests.mail_rig.rig import Rig
from tests.mail_rig.site import Site
from tests.sim.browser import Browser
from tests.sim.far_end import Arrived
from tests.sim.player import Manners, Player, asks, meant_by_silence
from tests.waiting import until

CALM = Manners(timedelta(0), twice=0.1, old_links=0.05, regrets=0, preferences=0, orders=0, new_links=0, quiet_hours=0)
"""Presses a button twice now and then, or one in an old email; takes nothing back, and has every email sent at once."""


class Person(Protocol):
    """A person with a mailbox."""

    mailbox: Mailbox

    def reads(self, email: Received) -> None:
        """Do what an email asks for, if anything."""


@dataclass
class LinksOnly:
    """A player who opens links and presses buttons."""

    mailbox: Mailbox
    site: Site
    luck: Random
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        browser = Browser(self.site.client(), self.site.url)
        scanner = Browser(self.site.client(), self.site.url, person=False)
        self._player = Player(self.mailbox.address, self.luck, CALM, browser, scanner, _Counts(self.seen), self.seen)

    def reads(self, email: Received) -> None:
        """Do what an email asks for, by its links."""
        now = datetime.now(UTC)
        message = email.message
        arrived = Arrived(now, self.mailbox.address, str(message["message-id"]), str(message["subject"]), email.text)
        while self._player.reads(arrived, now):
            pass


@dataclass
class _Counts:
    """Counts what pages acknowledge."""

    seen: Counter[str]

    def about_to_choose(self, _answer: object) -> None:
        """Nothing to count yet."""

    def acknowledge(self, _answer: object) -> None:
        """Count a choice."""
        self.seen["answered"] += 1

    def note_undo(self, _answer: object) -> None:
        """Count a choice that was revoked."""
        self.seen["answered"] += 1

    def note_new_links(self, _token: object) -> None:
        """Nobody asks for new links here."""


@dataclass
class RepliesOnly:
    """A player who replies with one command above the quote, through a provider who signs it."""

    mailbox: Mailbox
    rig: Rig
    luck: Random
    seen: Counter[str] = field(default_factory=Counter)

    def reads(self, email: Received) -> None:
        """Do what an email asks for, by replying."""
        kind = kind_of(email)
        if kind == "invitation":
            self.seen["invited"] += 1
            self.answer(email, f"accept as {self.mailbox.name.capitalize()}")
        refused = kind == "receipt" and "carry out a line" in " ".join(email.text.split())
        if not asks(email.text) or not (kind in ("turn", "reminder") or refused):
            return
        silence = meant_by_silence(email.text)
        assert silence
        commands = [] if refused else COMMAND.findall(email.text)
        self.seen["answered by what silence means" if not commands else "answered"] += 1
        self.answer(email, self.luck.choice(commands or [silence]))

    def answer(self, email: Received, *lines: str) -> None:
        """Write lines above a quoted email, and send the reply."""
        self.rig.submit(answer_to(email, self.mailbox.address, *lines), self.mailbox.address, reply_address(email))


COMMAND = re.compile(r"^\* ([^(\n]+?)(?: \(|$)", re.MULTILINE)


def answer_to(email: Received, sender: str, *lines: str) -> EmailMessage:
    """A reply to an email, as common mail programs write one."""
    read, message = email.message, EmailMessage()
    message["From"] = f"A Player <{sender}>"
    message["To"] = reply_address(email)
    message["Subject"] = f"Re: {read['subject']}"
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=sender.partition("@")[2])
    message["In-Reply-To"] = str(read["message-id"])
    message["References"] = f"{read['references']} {read['message-id']}"
    quoted = "\n".join(f"> {line}".rstrip() for line in email.text.splitlines())
    message.set_content("\n".join([*lines, "", f"On {read['date']}, {read['from']} wrote:", "", quoted, ""]))
    return message


def reply_address(email: Received) -> str:
    """The address for replies to an email."""
    found = re.search(r"[^<\s]+@[^>\s]+", str(email.message["reply-to"]))
    assert found, "this mail cannot be answered"
    return found[0]


def play(people: Iterable[Person], results: int) -> None:
    """Let people read their emails as they arrive, until each has a number of results of games."""
    waiting = {person.mailbox.name: (person, results) for person in people}

    def any_came() -> bool:
        came = False
        for name, (person, left) in list(waiting.items()):
            for email in person.mailbox.new():
                came = True
                person.reads(email)
                left -= kind_of(email) == "result"
            waiting[name] = person, left
            if not left:
                del waiting[name]
        return came

    while waiting:
        until(any_came, f"a mail for one of {sorted(waiting)}")


def next_of(mailbox: Mailbox, *kinds: str) -> Received:
    """The next email of one of these kinds; earlier emails are skipped."""
    found: list[Received] = []

    def came() -> bool:
        found.extend(email for email in mailbox.new() if kind_of(email) in kinds)
        return bool(found)

    until(came, f"a mail of {kinds} for {mailbox.name}")
    return found[0]


def kind_of(email: Received) -> str:
    """The kind of an email from the server; empty for any other."""
    found = re.fullmatch(r"[^:]*:([a-z_]+):pbem:[^:]+", str(email.message["feedback-id"] or ""))
    return found[1] if found else ""
