"""The imprint of a table: the same for as long as players get the same, and the same in every release."""

import dataclasses

from engine import registry
from engine.imprint import SIZE, changed, imprint
from engine.rulings import Part
from engine.table import begin

TABLE = begin(registry.load("sunset-poker"), 3, b"imprint" * 5)
PINNED = "bbb00bbf6519920faf13d7c8"


def of_table(table=TABLE):
    return imprint(table.position.game, table.position.state, table.views)


def test_an_imprint_is_the_same_in_every_release():
    assert of_table().hex() == PINNED, (
        "Servers compare the imprints of this release with those of the one before. If it is not a game that has changed but "
        "what an imprint is, every table of every server would be stopped."
    )


def test_an_imprint_shows_in_which_part_a_table_differs():
    assert len(of_table()) == SIZE
    assert list(changed(of_table(), of_table())) == []
    other = dataclasses.replace(TABLE, views=(TABLE.views[1], *TABLE.views[1:]))
    assert list(changed(of_table(), of_table(other))) == [Part.VIEWS]
    later = (
        TABLE.submit(0, TABLE.asks()[0].default).submit(1, TABLE.asks()[1].default).submit(2, TABLE.asks()[2].default)
    )
    assert set(changed(of_table(), of_table(later))) >= {Part.OFFERS, Part.VIEWS}
