"""The primary of two PostgreSQL nodes dies under load, and its synchronous standby is promoted by the handbook's lines.

The servers are real processes that know both nodes by one URL. Nobody restarts them or changes a setting.
"""

import signal
import threading
import time
from datetime import UTC, datetime
from http.client import HTTPConnection

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from pbem.store import heartbeats, migrations
from pbem.store.database import Store
from tests.crash.nodes import Pair, lines
from tests.crash.town import STEP, Town
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.slow, pytest.mark.postgresql, pytest.mark.timeout(1200)]

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
TABLES = 12
MOVES = 40
"""Acknowledged choices before the primary dies, and again afterwards."""


@pytest.fixture
def pair():
    """Two nodes as the page sets them up, with an empty server on them."""
    made = Pair()
    try:
        made.set_up()
        store = Store(made.url)
        migrations.upgrade(store)
        store.close()
        yield made
    finally:
        made.close()


@pytest.fixture
def town(pair, sink, tmp_path, opened):
    """Servers and workers on the two nodes, and many tables."""
    with opened(Town(pair.url, sink, tmp_path, START)) as found:
        for what in ("web", "web", "worker", "worker"):
            found.add(what)
        for number in range(TABLES):
            found.begin("bid" if number % 2 else "sun-bid", 3, 0)
        yield found


class Players(threading.Thread):
    """People who answer every email as it comes, and try again when they are asked to; time passes meanwhile."""

    def __init__(self, town):
        super().__init__()
        self.town, self.stopped, self.failed = town, threading.Event(), None

    def run(self):
        """Play until stopped."""
        read = 0
        try:
            while not self.stopped.is_set():
                emails = self.town.sink.emails[read:]
                read += len(emails)
                for email in emails:
                    self.town.answer(email)
                self.town.passes(STEP)
                time.sleep(0.05)
        except BaseException as error:  # noqa: BLE001 - the test is in another thread
            self.failed = error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()
        if self.failed is not None:
            raise self.failed


def acknowledged(town, number):
    """Wait until so many choices were acknowledged."""
    until(lambda: len(town.acknowledged) >= number, f"{number} choices are acknowledged, not {len(town.acknowledged)}")


def page_of(town, path="/"):
    """What a web server answers: status, headers and text."""
    port = next(int(part.last) for part in town.parts if part.what == "web")
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": "127.0.0.1:8000"})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def test_nothing_acknowledged_is_lost_or_doubled_when_the_primary_dies_and_people_try_again_for_a_moment(pair, town):
    town.database_may_be_away = True
    with Players(town):
        acknowledged(town, MOVES)
        pair.db1.signal(signal.SIGKILL)
        before = len(town.acknowledged)
        for path in ("/", "/tables/1", "/api/v1/seat"):
            status, headers, page = page_of(town, path)
            if path == "/":
                assert status == 503
                assert "Try again in a few minutes" in page
            if status == 503:
                assert int(headers["Retry-After"]) <= 60
            for inside in ("Traceback", "psycopg", "sqlalchemy", "read-only", "127.0.0.1:"):
                assert inside not in page.replace("http://127.0.0.1:8000", "")
        until(lambda: town.seen["answer 503"], "someone is asked to try again")
        assert len(town.acknowledged) - before <= 2, "nothing is confirmed while there is no primary"
        pair.db2.does(lines("On db2, when db1 is dead."))
        promoted = time.monotonic()
        until(lambda: page_of(town)[0] == 200, "pages work again")
        acknowledged(town, before + 1)
        assert time.monotonic() - promoted < 60
        acknowledged(town, before + MOVES)
    town.server.store.engine.dispose()
    last = town.clock.now()

    def beaten():
        with town.server.store.read() as tx:
            return all(beat.beat_at >= last for beat in heartbeats.all_workers(tx))

    until(beaten, "both workers work on")
    assert [part.process.poll() for part in town.parts] == [None] * 4
    town.check()


def test_nothing_is_confirmed_while_the_standby_is_away_and_all_of_it_once_the_primary_goes_on_alone(pair, town):
    town.database_may_be_away = True
    with Players(town):
        acknowledged(town, 5)
        pair.db2.signal(signal.SIGSTOP)
        # Rows that the standby had are confirmed at once; after that nothing is.
        quiet = until(lambda: _no_more(town), "nothing is confirmed any more")
        with psycopg.connect(pair.db1.here("postgresql://pbem:PASSWORD-OF-PBEM@db1.example.org:5432/pbem")) as admin:
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            assert until(lambda: admin.execute(waiting).fetchone()[0], "moves wait for the standby")
        assert len(town.acknowledged) == quiet
        pair.db1.does(lines("On db1, when db2 is dead."))
        acknowledged(town, quiet + 5)
    pair.db2.signal(signal.SIGCONT)
    town.check()


def _no_more(town):
    before = len(town.acknowledged)
    time.sleep(2)
    return before if len(town.acknowledged) == before else 0


def test_a_connection_to_a_server_that_became_a_standby_is_given_up_for_one_that_takes_writes(pair):
    # Not by the URL: a name or an address that moves may lead to a standby as well.
    store = Store(pair.url)
    with store.engine.connect() as one:
        one.exec_driver_sql("CREATE TABLE kept (number INTEGER)")
        one.commit()
    tries = []

    def write(tx):
        tries.append(tx.connection.driver_connection)
        if len(tries) == 1:
            tx.execute(text("SET LOCAL transaction_read_only = on"))
        tx.execute(text("INSERT INTO kept VALUES (1)"))

    store.write(write)
    assert len(tries) == 2
    assert tries[0].closed
    store.close()


def test_a_commit_whose_answer_is_lost_is_not_repeated(pair):
    store = Store(pair.url)
    with store.engine.connect() as one:
        one.exec_driver_sql(
            "CREATE TABLE kept (number INTEGER);"
            "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';"
            "CREATE CONSTRAINT TRIGGER last AFTER INSERT ON kept DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION die()"
        )
        one.commit()
    tries = []

    def write(tx):
        tries.append(1)
        tx.execute(text("INSERT INTO kept VALUES (1)"))

    # For us this is the same as a commit that was done and whose answer is lost.
    with pytest.raises(DBAPIError):
        store.write(write)
    assert tries == [1]
    store.close()
