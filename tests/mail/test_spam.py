"""What a spam filter thinks of our emails, by words and headers alone: nothing worth mentioning.

Many emails are checked at once, because the filter takes seconds to start. They are of every kind and game, and of a table
with hostile names; each unsigned and signed.
"""

import re
import subprocess
from pathlib import Path

import pytest

from engine import registry
from pbem.config.settings import Dkim
from pbem.mail.send.dkim import signer
from tests.conftest import find_tool, some
from tests.mail.kinds import HOST, NAMES
from tests.mail.pictures import OF_THE_GAME, chosen
from tests.service.conftest import START

pytestmark = [
    pytest.mark.mail_tools,
    pytest.mark.needs("spamassassin"),
    pytest.mark.slow,
    pytest.mark.xdist_group("mails"),
]

MOST = 0.5
HOSTILE = (
    *("FREE MONEY NOW!!!", "$$$ WINNER $$$", "Click Here", "Re: Invoice 4711", "\u5f20\u4f1f \u05d0\u05d1\u05d9"),
    *NAMES[5:],
)
"""Names that attack by their form. The name of something that spam sells, such as a drug, makes every email look like spam;
such names are for the organiser to change. Larger tables have ordinary people as well."""

SCORES = re.compile(r"^X-Spam-Scores: (.*(?:\n[ \t].*)*)", re.MULTILINE)
NAME = re.compile(r"^Message-ID:\s+(\S+)", re.MULTILINE)
SEPARATOR = "From judge Sat Nov 21 12:00:00 2026\n"


def scores_of(emails: dict[str, bytes], folder: Path) -> dict[str, dict[str, float]]:
    """The rules that each email hit, with their scores, by the email's name."""
    box = folder / "mails.mbox"
    texts = {name: email.decode("ascii").replace("\r\n", "\n") for name, email in emails.items()}
    box.write_text("".join(f"{SEPARATOR}{text}\n" for text in texts.values()))
    program = find_tool("spamassassin")
    assert program is not None
    tests = "add_header all Scores _TESTSSCORES(,)_"
    done = subprocess.run(
        [program, "-L", "-t", "--mbox", f"--cf={tests}", str(box)],
        capture_output=True,
        text=True,
        # An excerpt in a report may end in the middle of a letter.
        errors="replace",
        check=True,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    # The filter returns them in its own order.
    found = {known_by(each): scores_in(each) for each in done.stdout.split(SEPARATOR)[1:]}
    return {name: found[known_by(text)] for name, text in texts.items()}


def known_by(text: str) -> tuple[str, bool]:
    """The key of an email: its name, and whether it is signed."""
    name = NAME.search(text)
    assert name is not None
    return name[1], "DKIM-Signature:" in text


def scores_in(text: str) -> dict[str, float]:
    header = SCORES.search(text)
    assert header is not None
    rules = [rule.partition("=") for rule in re.sub(r"\s", "", header[1]).split(",")]
    return {name: float(score) for name, _, score in rules}


@pytest.fixture(scope="module")
def emails() -> dict[str, bytes]:
    """One email of each kind, those about a game for a slice of the games; and the same of a table with hostile names."""
    found: dict[str, bytes] = {}
    games = some(registry.names(), 1 / 5)
    for game in games:
        for kind, email in chosen(game).items():
            found.setdefault(f"{game} {kind}" if kind in OF_THE_GAME else kind, email.content)
    hostile = chosen(games[0], HOSTILE)
    return found | {
        f"{kind}, hostile": hostile[kind].content for kind in (*OF_THE_GAME, "invitation", "resigned", "welcome")
    }


def test_no_email_looks_like_spam_unsigned_or_signed(emails, tmp_path):
    key = signer(Dkim(HOST, "t1", Path(__file__).with_name("dkim.pem").read_text()))
    signed = {f"{name}, signed": key.sign(email, START) for name, email in emails.items()}
    found = scores_of(emails | signed, tmp_path)
    assert {name: hit for name, hit in found.items() if sum(hit.values()) > MOST or max(hit.values()) >= MOST} == {}


def test_the_filter_does_find_spam(emails, tmp_path):
    turn = next(email for name, email in emails.items() if name.endswith(" turn"))
    undated = re.sub(rb"^Date:.*\r\n", b"", turn, flags=re.MULTILINE)
    assert scores_of({"undated": undated}, tmp_path)["undated"]["MISSING_DATE"] > MOST
