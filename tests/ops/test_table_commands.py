"""The acts of the desk from the command line: the same functions, a reason, a look beforehand."""

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

from pbem.config import read
from pbem.ops.setup import open_store, server_on
from pbem.service.clocks import reachability
from pbem.service.tables import talk
from pbem.store import audit, blocks, deadlines, due_turns, people, reachability as reachability_rows
from tests.ops.conftest import Run
from tests.ops.test_commands import begin_here
from tests.service.running_game import RunningGame

T = TypeVar("T")

WHY = ("--reason", "Ben has asked for it.")


def at(game_id: int, look: Callable[[RunningGame], T]) -> T:
    """Look at a game of the server in this folder."""
    with open_store(read(os.environ)) as store:
        server = server_on(store, read(os.environ))
        return look(RunningGame(server, game_id))


def acts() -> list[tuple[str, str, str]]:
    with open_store(read(os.environ)) as store, store.read() as tx:
        return [
            (row.act, row.actor.partition(" ")[0], row.reason)
            for row in reversed(audit.newest(tx, audit.AuditFilter(), None, 50))
        ]


@pytest.mark.slow
def test_every_act_on_a_table_is_done_from_the_command_line_and_on_record(pbem: Run) -> None:
    pbem("init")
    number = str(begin_here("templari"))

    def play(game: RunningGame) -> tuple[str, str]:
        """Play until a person is asked, then on; which turn that was, and the seat."""
        while game.players()[seat := next(iter(game.asked()))].person_id is None:
            game.play(seat, game.asked()[seat].default)
        turn = game.row().turn
        for _ in range(3):
            asked, decision = next(iter(game.asked().items()))
            game.play(asked, decision.default)
        game.server.run(talk.say, game.id, seat, game.person_at(seat), "You fools.")
        return str(turn), str(seat + 1)

    turn, person = at(int(number), play)
    done = [
        ("pause", (), "paused"),
        ("resume", (), "resumed"),
        ("correct", ("pace", "3d"), "corrected"),
        ("redact", ("1",), "redacted"),
        ("freeze", (), "frozen"),
        ("unfreeze", (), "unfrozen"),
        ("rewind", (turn,), "rewound"),
        ("extend", ("2d",), "extended"),
        ("substitute", (person, "--by", "zoe@example.org"), "substitute plays"),
        ("substitute", (person,), "bot plays"),
        ("close", (), "voided"),
    ]
    for name, arguments, says in done:
        looked = pbem("table", name, number, *arguments, *WHY, "--dry-run")
        assert looked.exit_code == 0, looked.output
        assert says in looked.output.replace("_", " ") or name == "extend"
        assert looked.output.endswith("Nothing was changed: this was a preview.\n")
        did = pbem("table", name, number, *arguments, *WHY)
        assert (did.exit_code, did.output.rstrip().splitlines()[-1]) == (0, "Done."), did.output
        assert looked.output.splitlines()[:-1] == did.output.splitlines()[:-1]
    assert [(act, who) for act, who, _ in acts()] == [(name, "command") for name, _, _ in done]
    assert pbem("verify").exit_code == 0


def test_a_deadline_that_was_given_up_is_tried_again_by_command(pbem: Run) -> None:
    pbem("init")
    number = str(begin_here("templari"))

    def park(game: RunningGame) -> str:
        while game.players()[seat := next(iter(game.asked()))].person_id is None:
            game.play(seat, game.asked()[seat].default)
        with game.server.store.engine.begin() as tx:
            asked = deadlines.read(tx, game.id, game.row().turn, seat)
            assert asked is not None
            due_turns.release(tx, asked, attempts=due_turns.MOST_ATTEMPTS)
        return str(seat + 1)

    seat = at(int(number), park)
    assert pbem("table", "retry-deadline", number, seat, *WHY).exit_code == 0
    assert pbem("table", "retry-deadline", number, seat, *WHY).exit_code == 1
    assert [act for act, _, _ in acts()] == ["retry deadline"]


def test_an_act_without_a_reason_or_that_cannot_be_changes_nothing(pbem: Run) -> None:
    pbem("init")
    number = str(begin_here())
    assert pbem("table", "pause", number).exit_code == 2
    refused = pbem("table", "resume", number, *WHY)
    assert refused.exit_code == 1
    assert "isn't paused" in refused.output
    assert pbem("table", "pause", number, "--reason", "x").exit_code == 1
    assert pbem("table", "pause", "99", *WHY).exit_code == 1
    assert acts() == []


def test_people_are_banned_and_moved_by_their_address(pbem: Run) -> None:
    pbem("init")
    begin_here()
    assert pbem("person", "ban", "Ann@Example.org", "--until", "2099-01-31", *WHY).exit_code == 0
    with open_store(read(os.environ)) as store, store.read() as tx:
        ann = people.by_mailbox(tx, "ann@example.org")
        assert ann is not None
        assert blocks.bans_of(tx, ann.id)
    assert pbem("person", "unban", str(ann.id), *WHY).exit_code == 0
    assert pbem("person", "address", "ann@example.org", "ann@example.net", *WHY).exit_code == 0
    assert pbem("person", "ban", "ann@example.net", *WHY, "--dry-run").exit_code == 0
    assert pbem("person", "ban", "nobody@example.net", *WHY).exit_code == 1


def test_emails_go_to_an_address_again_that_was_left_alone(pbem: Run) -> None:
    pbem("init")
    number = begin_here()

    def fail(game: RunningGame) -> int:
        ann = next(player.person_id for player in game.players().values() if player.name == "Ann")
        assert ann is not None
        game.server.store.write(lambda tx: reachability.note_refusal(tx, game.server, ann, "550 5.1.1 no such user"))
        return ann

    def fails(game: RunningGame) -> bool:
        with game.server.store.read() as tx:
            return reachability_rows.failure(tx, ann) is not None

    ann = at(number, fail)
    assert pbem("person", "release", "ann@example.org", *WHY, "--dry-run").exit_code == 0
    assert at(number, fails)
    assert pbem("person", "release", "ann@example.org", *WHY).exit_code == 0
    assert not at(number, fails)
    again = pbem("person", "release", str(ann), *WHY)
    assert again.exit_code == 1
    assert "already emailing them" in again.output
    assert [act for act, _, _ in acts()] == ["release"]


def test_an_outage_is_declared_and_tables_are_listed_and_shown(pbem: Run) -> None:
    pbem("init")
    number = str(begin_here())
    assert pbem("outage", "declare", "2026-01-01 10:00", "2026-01-01 12:00", *WHY).exit_code == 0
    assert pbem("outage", "declare", "2026-01-01 12:00", "2026-01-01 10:00", *WHY).exit_code == 1
    assert f"{number}  playing" in pbem("table", "list").output
    shown = pbem("table", "show", number).output
    assert "seat 1:" in shown
    assert "the email goes out" in shown
