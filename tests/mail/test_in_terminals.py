"""Every mail as a browser in a terminal prints its HTML: nothing is lost there, and no line runs out of the window."""

import re
import subprocess
from collections import Counter

import pytest

from engine import game as games_of_house
from tests.conftest import find_tool
from tests.mail.pictures import chosen

pytestmark = [
    pytest.mark.mail_tools,
    pytest.mark.needs("w3m"),
    pytest.mark.slow,
    pytest.mark.xdist_group("mails"),
]

WIDTH = 72


@pytest.mark.parametrize("game", games_of_house.names())
def test_a_terminal_shows_all_words_and_every_choice_on_a_line_of_its_own(game):
    program = find_tool("w3m")
    assert program is not None
    for kind, mail in chosen(game).items():
        done = subprocess.run(
            [program, "-dump", "-cols", f"{WIDTH}", "-T", "text/html", "-I", "UTF-8", "-O", "UTF-8"],
            input=mail.html,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = done.stdout.splitlines()
        assert max(map(len, lines)) <= WIDTH, kind
        # What stands side by side is printed line by line, so the order is another; figures are broken in two.
        assert Counter(letters(without_links(mail.text))) - Counter(letters(done.stdout)) == Counter(), kind
        for command in re.findall(r"^\* (.+)\n  https", mail.text, re.MULTILINE):
            assert command in lines, kind


def without_links(text: str) -> str:
    return re.sub(r"https://\S+", "", text)


def letters(text: str) -> str:
    return re.sub(r"\W", "", text.casefold())
