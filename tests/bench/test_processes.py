"""How many moves one to four web servers and workers take, on one PostgreSQL: each in relation to one of both."""

import pytest

from pbem.store.database import Store
from pbem.store.schema import METADATA
from tests.crash.crowd import play
from tests.crash.test_scaling import START
from tests.crash.town import Town
from tests.mail.sink import Sink

pytestmark = [pytest.mark.bench, pytest.mark.timeout(3600)]

MOVES = 200
TABLES = 20


@pytest.mark.parametrize("fresh_database", ["postgresql"], indirect=True)
def test_moves_of_one_to_four_processes_of_each_kind(fresh_database, tmp_path, record_property):
    rates = []
    for processes in range(1, 5):
        url = fresh_database()
        store = Store(url)
        METADATA.create_all(store.engine)
        store.close()
        folder = tmp_path / str(processes)
        folder.mkdir()
        with Sink() as sink:
            town = Town(url, sink, folder, START)
            try:
                for what in ("web", "worker") * processes:
                    town.add(what)
                for _ in range(TABLES):
                    town.begin("sun-bid", 3, 0)
                rates.append(MOVES / play(town, MOVES))
                town.check()
            finally:
                town.close()
    record_property("bench.two", rates[1] / rates[0])
    record_property("bench.four", rates[3] / rates[0])
    print("\nmoves, with 1 to 4 processes of each kind:", ", ".join(f"{rate / rates[0]:.2f}" for rate in rates))
