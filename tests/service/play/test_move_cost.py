"""What a move costs, counted exactly: statements, rows and bytes, at turn 5 and at turn 500."""

import re
from dataclasses import dataclass

import pytest
from sqlalchemy import event

from engine import registry
from engine.bots import random_bot
from engine.chance import Stream
from pbem.domain.choice_links import choice_segment
from pbem.service import links
from pbem.service.play import by_link, log, undo
from pbem.service.play.log import Kind, LogWriter
from pbem.service.play.rules import rules_of
from pbem.store import games, links as link_rows
from pbem.store.links import LinkKey
from pbem.store.schema import METADATA
from pbem.tokens import Purpose

MOST = {"sqlite": 6, "postgresql": 4}
"""PostgreSQL writes in one statement what SQLite writes in several."""


@dataclass
class Cost:
    """The cost of a move in the database."""

    statements: list[str]
    rows: int = 0
    written: int = 0


def cost_of(store, act):
    """The statements of an act in their order, the rows they touched, and the bytes they brought."""
    cost = Cost([])

    def executed(_connection, cursor, statement, parameters, _context, executemany):
        if statement.startswith(("BEGIN", "PRAGMA")):
            return
        cost.statements.append(statement)
        cost.rows += max(cursor.rowcount, 0)
        if statement.startswith(("INSERT", "UPDATE", "WITH")):
            sets = parameters if executemany else [parameters]
            values = (value for each in sets for value in (each.values() if isinstance(each, dict) else each))
            cost.written += sum(len(value) for value in values if isinstance(value, str | bytes))

    event.listen(store.engine, "after_cursor_execute", executed)
    try:
        act()
    finally:
        event.remove(store.engine, "after_cursor_execute", executed)
    return cost


def press(server, game, seat, choice):
    """Make a choice by its link, as the page does; return its cost."""
    turn, person = game.row().turn, game.person_at(seat)

    def made(tx):
        row = links.make(tx, server, LinkKey(Purpose.MOVE, person, game.id, turn, seat))
        link = link_rows.read(tx, row)
        assert link is not None
        return links.token(server, link)

    token = server.store.write(made)
    return cost_of(server.store, lambda: server.run(by_link.move, token, choice_segment(choice)))


@pytest.mark.parametrize("kind", registry.names())
def test_no_move_of_any_game_takes_more_than_a_few_statements(server, table, kind):
    game, luck = table(kind, 3), Stream(b"luck", 1)
    while (asked := game.asked()) and game.row().seq < 60:
        seat, decision = next(iter(asked.items()))
        choice = random_bot(rules_of(game.row()), game.view(seat), decision, luck)
        cost = press(server, game, seat, choice)
        assert len(cost.statements) <= MOST[server.store.engine.dialect.name], "\n".join(cost.statements)


def test_no_statement_of_a_move_compares_by_parameter_what_an_index_is_limited_to(server, table):
    # SQLite would compile it again for every move, which takes longer than running it.
    limited = {
        f"{index.table.name}.{column.name} = "
        for of_table in METADATA.tables.values()
        for index in of_table.indexes
        for column in index.table.c
        if re.search(rf"\b{column.name} = ", str(index.dialect_options["sqlite"]["where"]))
    }
    assert limited == {
        *("deadline.status = ", "game.status = ", "outbox.status = "),
        *("person.delivery = ", "preference.delivery = ", "result.what = "),
    }
    game, luck, asked = table("bid", 3), Stream(b"luck", 1), []
    for seat, decision in game.asked().items():
        choice = random_bot(rules_of(game.row()), game.view(seat), decision, luck)
        asked += press(server, game, seat, choice).statements
    compared = [re.split(r"[\s)]", rest)[0] for each in asked for which in limited for rest in each.split(which)[1:]]
    assert compared == ["'open'"]


def lengthen(server, game_id, rows):
    """Lengthen a log by rows that change nothing: an order dropped again and again."""

    def grown(tx):
        row = games.lock(tx, game_id)
        record = LogWriter(row, server.now(), server.randomness)
        while record.seq < rows:
            record.add(Kind.ORDER, 0, "person", {"order": None, "note": None})
        log.write(tx, row, record)

    server.store.write(grown)


@pytest.mark.parametrize("kind", ["bid", "templari"])
def test_the_same_move_costs_the_same_at_row_5_and_at_row_500(server, table, kind):
    game = table(kind, 3)
    while game.row().seq < 5:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    seat, decision = next(iter(game.asked().items()))
    early = press(server, game, seat, decision.default)
    turn = game.row().turn if seat in game.open() else game.row().turn - 1
    server.run(undo.take_back, game.id, turn, seat)
    lengthen(server, game.id, 500)
    late = press(server, game, seat, decision.default)
    assert len(game.log()) > 500
    assert late == early
    assert early.written > 0
