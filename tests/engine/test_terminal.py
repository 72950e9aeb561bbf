"""The games in a terminal: whole games can be played, and any input gets an answer."""

import re
import subprocess
import sys

import pytest

from engine import grammar
from engine.__main__ import main
from engine.board import WIDTH
from engine.registry import load, names


def run(*words, lines=()):
    """Return what the terminal shows when these lines are typed."""
    done = subprocess.run(
        [sys.executable, "-m", "engine", *words],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", names())
def test_a_whole_game_can_be_watched(name, capsys):
    assert main(["watch", name, "--seed", "7", "--bots", "random"]) == 0
    shown = capsys.readouterr().out
    assert "\n1. " in shown
    assert max(map(len, shown.splitlines())) <= WIDTH + 1


def test_the_same_seed_shows_the_same_game(capsys):
    shown = []
    for _ in range(2):
        main(["watch", "bid", "--seats", "4", "--seed", "7", "--bots", "random"])
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


@pytest.mark.parametrize("name", names())
def test_a_whole_game_can_be_played_from_the_screen(name, monkeypatch, capsys):
    seen: list[str] = []
    monkeypatch.setattr("builtins.input", _player(capsys, seen))
    assert main(["play", name, "--me", "0", "--bots", "random", "--seed", "3"]) == 0
    assert seen, "no one was asked"
    assert "\n1. " in capsys.readouterr().out


def _player(capsys, seen):
    """A player who types what the last screen offered, trying each way until one is accepted."""
    tried: list[str] = []

    def typed(_prompt):
        shown = capsys.readouterr().out
        block = shown[shown.rstrip().rfind("\n\n") :]
        ways = [line.strip() for line in block.splitlines() if line.startswith("  ") and not line.startswith("      ")]
        refused = "You can write" in shown
        if not refused:
            tried.clear()
        fresh = [answer for way in ways for answer in _answers(way) if answer not in tried]
        answer = fresh[0] if fresh else "silent"
        assert fresh, f"none of what the screen offers was taken: {shown}"
        tried.append(answer)
        seen.append(answer)
        return answer

    return typed


def _answers(way):
    """Yield ways to fill in what the screen offers: the first of the things, or the bounds of a number."""
    words = grammar.words_of(way)
    if "<" not in way:
        return [way]
    head = way.split("<", 1)[0]
    inside = [part.rstrip(">").strip() for part in way.split("<", 1)[1].split("|")]
    if match := re.match(r"(\d+) of (.+)", inside[0]):
        return [head + " ".join([match[2], *inside[1:], match[2]][: int(match[1])])]
    numbers = [bound for word in words for bound in word.split("-") if bound.isdigit()]
    return [head + inside[0], *(head + number for number in numbers), *(head + thing for thing in inside)]


def test_any_input_gets_an_answer_and_loses_nothing():
    lines = [
        "",
        "help",
        "board",
        "rules",
        "log",
        "silent",
        "orders",
        "nonsense",
        "bid",
        "bid -1",
        "bid 1e9",
        "bid x" * 90,
        "\x00",
        "quit",
    ]
    code, shown, errors = run(
        "play", "templari", "--seats", "3", "--me", "0", "--seed", "1", "--bots", "random", lines=lines
    )
    assert (code, errors) == (1, "")
    assert "isn't a move you can make now" in shown
    assert "If you miss the deadline: pass" in shown
    assert "up to <coins" in shown
    assert shown.rstrip().endswith("You leave the table.")


def test_a_standing_order_answers_in_the_terminal(monkeypatch, capsys):
    typed = iter(["up to 3", *["pass this auction"] * 400])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(typed, "pass"))
    main(["play", "templari", "--me", "0", "--bots", "random", "--seed", "1", "--option", "side_auction=off"])
    assert "By your order: bid" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("play", "chess"), "There's no game called “chess”"),
        (("play", "bid", "--seats", "9"), "is for 3 or 4 players"),
        (("play", "bid", "--me", "5"), "This table has seats 0 to 2"),
        (("play", "bid", "--option", "reroll=never"), "“Reroll cost” must be pawn or coin"),
        (("play", "bid", "--option", "colour=red"), "has no option “colour”"),
        (("watch", "no/such/file.py"), "There's no file"),
        (("rules", "nothing"), "There's no game"),
    ],
)
def test_impossible_arguments_are_refused_in_a_sentence(words, complaint):
    code, _, errors = run(*words)
    assert code == 2
    assert complaint in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("name", names())
def test_the_rules_page_credits_its_designers_and_explains_its_options(name, capsys):
    assert main(["rules", name]) == 0
    shown = capsys.readouterr().out
    game = load(name)
    assert shown.startswith(game.title)
    assert "this page is our own account" in " ".join(shown.casefold().split())
    for option in game.options:
        assert f"  {option.name} (" in shown
    assert max(map(len, shown.splitlines())) <= WIDTH
