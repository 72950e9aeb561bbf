"""Every email in a terminal: browsers show all of its HTML, a mail program shows its text, and no line is too long."""

import re
import subprocess
from collections import Counter
from html import unescape

import pytest

from engine import registry
from pbem.mail.write.faces import SHIELDS, SUITS
from tests.conftest import find_tool
from tests.mail.pictures import chosen

pytestmark = [pytest.mark.mail_tools, pytest.mark.slow, pytest.mark.slice(1 / 4), pytest.mark.xdist_group("mails")]

WIDTH = 72

SIGN = "[{}]".format("".join(sign[0] for sign, _colour in (*SUITS.values(), *SHIELDS.values())))

BROWSERS = {
    "w3m": ("-dump", "-cols", f"{WIDTH}", "-T", "text/html", "-I", "UTF-8", "-O", "UTF-8"),
    "lynx": (
        *("-dump", "-stdin", "-force_html", f"-width={WIDTH}", "-nolist", "-nonumbers"),
        *("-assume_charset=utf-8", "-display_charset=utf-8"),
    ),
}


@pytest.mark.parametrize("game", registry.names())
@pytest.mark.parametrize("browser", [pytest.param(each, marks=pytest.mark.needs(each)) for each in BROWSERS])
def test_a_terminal_shows_all_words_and_every_choice_on_its_own_line(game, browser):
    for kind, email in chosen(game).items():
        printed = output_of(browser, *BROWSERS[browser], given=email.html.encode())
        lines = [line.strip() for line in printed.splitlines()]
        assert max(map(len, printed.splitlines())) <= WIDTH, kind
        # Columns are printed line by line, so the order differs; figures are broken in two. A card shows its signs instead.
        drawn = "".join(re.findall(r'role=img aria-label="([^"]*)"', email.html))
        missing = Counter(letters(without_links(email.text))) - Counter(letters(printed))
        assert missing <= Counter(letters(unescape(drawn))), kind
        assert drawn or not missing
        # The index of a card does not follow the name of another; a label, such as “Under the Excuse”, it may follow.
        names = set(re.findall(r"<br>([^<]+)(?:<br>)?</span>", email.html))
        assert [
            each for each in names if re.search(rf"(?<!the ){re.escape(unescape(each))} \S+ {SIGN}", printed)
        ] == [], kind
        for command in re.findall(r"^\* (.+)\n  https", email.text, re.MULTILINE):
            assert any(line.endswith(command) for line in lines), kind


@pytest.mark.needs("mshow")
@pytest.mark.parametrize("game", registry.names())
def test_a_mail_program_without_html_shows_the_text_unchanged(game, tmp_path):
    file = tmp_path / "mail.eml"
    for kind, email in chosen(game).items():
        file.write_bytes(email.content)
        printed = output_of("mshow", "-nN", f"{file}")
        assert email.text.strip() in printed, kind
        assert max(len(line) for line in email.text.splitlines() if "https://" not in line) <= WIDTH, kind


def output_of(name: str, *arguments: str, given: bytes = b"") -> str:
    program = find_tool(name)
    assert program is not None
    return subprocess.run([program, *arguments], input=given, capture_output=True, check=True).stdout.decode()


def without_links(text: str) -> str:
    return re.sub(r"https://\S+", "", text)


def letters(text: str) -> str:
    return re.sub(r"\W", "", text.casefold())
