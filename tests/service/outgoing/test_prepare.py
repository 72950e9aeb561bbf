"""Batches of emails: each says what it would have said alone, and together they take few statements."""

from dataclasses import replace

import pytest

from engine import registry
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.mail.write.compose import compose
from pbem.service.outgoing import content, deliver, outdated, prepare
from pbem.service.outgoing.deliver import Post
from pbem.service.play import seat_cache, views
from pbem.service.tables import talk
from pbem.store import email_copies, games, leases, outbox, views as saved_views
from tests.fakes import SeededRandomness
from tests.service.database import count_calls
from tests.service.outgoing.test_deliver import HEAD, HOUR


@pytest.fixture
def post(tmp_path):
    """What sends into a mailbox on this machine."""
    return Post(HEAD, LocalMailbox(tmp_path / "mailbox"))


@pytest.mark.slow
def test_an_email_of_a_batch_says_what_it_says_alone(server, clock, post, table):
    begun = [table(kind, 3) for kind in registry.names()]
    for turn in range(4):
        clock.advance(HOUR)
        assert compared(server)
        deliver.deliver(server, post)
        for game in begun:
            go_on(game, turn)


@pytest.mark.slow
def test_an_email_of_a_batch_says_what_it_says_alone_in_a_long_game(server, clock, post, table):
    game = table("sunset-poker", 3)
    for turn in range(40):
        clock.advance(HOUR)
        # A new player was told nothing before and reads everything; so does the reader of a late email.
        if turn % 8 == 7:
            compared(server)
            deliver.deliver(server, post)
        go_on(game, turn)
        views.save_overdue(server)
    assert compared(server)
    with server.store.read() as tx:
        assert game.row().seq > 40
        saved = saved_views.last_of(tx, game.id, 0)
        assert saved is not None
        assert game.row().seq - saved.seq < 20


def test_a_batch_is_written_with_as_few_statements_as_one_email(server, clock, table):
    needed: list[list[str]] = []
    for many in (1, 4):
        for _ in range(many):
            table("templari", 4)
        clock.advance(HOUR)
        rows, _ = server.store.write(lambda tx: leases.claim(tx, server.now(), 1, 1000))
        turns = [row for row in rows if row.kind == "turn"]
        assert len(turns) >= many
        seat_cache.CACHE.clear()
        with count_calls(server.store) as made:
            assert len(prepare.prepare(server, HEAD, turns, server.now())) == len(turns)
        needed.append(made)
        server.store.write(
            lambda tx, rows=rows: email_copies.send(tx, dict.fromkeys((row.id for row in rows), server.now()))
        )
    assert len(needed[0]) == len(needed[1])


def go_on(game, turn):
    """Let a player talk now and then, and everyone who is asked decide."""
    if turn % 3 == 1:
        game.server.run(talk.say, game.id, 0, game.person_at(0), f"Turn {turn}!")
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)


def compared(server):
    """The number of emails that wait to be written; each is written both ways."""
    now = server.now()
    with server.store.read() as tx:
        rows = [row for row in outbox.with_status(tx, "queued", 1000) if row.body is None]
    about = {row.game_id for row in rows if row.game_id is not None}
    tables = server.store.write(lambda tx: games.lock_all(tx, about))
    with server.store.read() as tx:
        reasons = outdated.why_outdated(tx, rows, tables)
    rows = [row for row in rows if row.id not in reasons]
    drafts = server.store.write(lambda tx: prepare.make_drafts(tx, server, rows, tables, now))

    def written(tx, drafts, randomness):
        seat_cache.CACHE.clear()
        seeded = replace(server, randomness=randomness)
        return [compose(HEAD, each) for each in content.read_contents(tx, seeded, HEAD, drafts, now)]

    randomness = SeededRandomness(1)
    with server.store.read() as tx:
        alone = [written(tx, [draft], randomness)[0] for draft in drafts]
    with server.store.read(ahead=True) as tx:
        assert written(tx, drafts, SeededRandomness(1)) == alone
    return len(rows)
