"""Writing many mails at once: each says what it would have said alone, and all together take few statements."""

import pytest

from engine import game as games_of_house
from pbem.mail.compose import compose
from pbem.mail.mailbox import LocalMailbox
from pbem.service import delivery, known, news, talk, views, writing
from pbem.service.delivery import LEASE, Post
from pbem.service.ready import make_ready_in
from pbem.store import games, outbox, sending
from tests.service.stored import calls_counted
from tests.service.test_delivery import HEAD, HOUR


@pytest.fixture
def post(tmp_path):
    """What sends into a mailbox on this machine."""
    return Post(HEAD, LocalMailbox(tmp_path / "mailbox"))


def test_a_mail_of_many_says_what_it_says_alone(house, clock, post, table):
    begun = [table(kind, 3) for kind in games_of_house.names()]
    for turn in range(4):
        clock.advance(HOUR)
        assert compared(house)
        delivery.deliver(house, post)
        for game in begun:
            go_on(game, turn)


def test_a_mail_of_many_says_what_it_says_alone_when_a_game_has_become_long(house, clock, post, table):
    game = table("sunset-poker", 3)
    for turn in range(40):
        clock.advance(HOUR)
        # Whoever has just sat down was told nothing before, and hears of everything; so does a mail that comes late.
        if turn % 8 == 7:
            compared(house)
            delivery.deliver(house, post)
        go_on(game, turn)
        views.keep_behind(house)
    assert compared(house)
    with house.store.read() as tx:
        assert game.row().seq > 40
        assert views.view(tx, game.row(), 0).rows < 20, "a view was kept"


def test_many_mails_are_written_with_as_few_statements_as_one(house, clock, table):
    needed: list[list[str]] = []
    for many in (1, 4):
        for _ in range(many):
            table("templari", 4)
        clock.advance(HOUR)
        rows = house.write(lambda tx: sending.claim(tx, house.now(), house.now() + LEASE, 1000))
        turns = [row for row in rows if row.kind == "turn"]
        assert len(turns) >= many
        known.MEMORY.clear()
        with calls_counted(house.store) as made:
            assert len(writing.prepare(house, HEAD, turns)) == len(turns)
        needed.append(made)
        house.write(lambda tx, rows=rows: sending.send(tx, dict.fromkeys((row.id for row in rows), house.now())))
    assert len(needed[0]) == len(needed[1])


def go_on(game, turn):
    """Somebody says something now and then, and everybody who is asked decides."""
    if turn % 3 == 1:
        talk.say(game.house, game.id, 0, game.person_at(0), f"Turn {turn}!")
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)


def compared(house):
    """How many mails wait to be written; each was written both ways."""
    now = house.now()
    with house.store.read() as tx:
        rows = [row for row in outbox.with_status(tx, "queued", 1000) if row.body is None]
    about = {row.game_id for row in rows if row.game_id is not None}
    tables = house.write(lambda tx: games.lock_all(tx, about))
    with house.store.read() as tx:
        outdated = news.why_outdated(tx, rows, tables)
    rows = [row for row in rows if row.id not in outdated]
    ready = house.write(lambda tx: make_ready_in(tx, house, rows, tables, now))

    def written(tx, row):
        known.MEMORY.clear()
        return compose(HEAD, news.words_in(tx, house, HEAD, row, ready[row.id], now))

    with house.store.read() as tx:
        alone = [written(tx, row) for row in rows]
    with house.store.read(ahead=True) as tx:
        news.read_ahead_in(tx, rows, ready)
        assert [written(tx, row) for row in rows] == alone
    return len(rows)
