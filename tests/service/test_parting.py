"""What somebody may ask for about themselves, done by an organiser: their data goes to them alone, and can be deleted."""

import pytest

from pbem.domain.errors import Gone
from pbem.service import people
from pbem.service.moderation.parting import Delete, SendExport
from tests.service.moderated import does
from tests.service.stored import everything, letters


def test_all_that_is_known_of_somebody_is_offered_to_their_address_only(house, table, person):
    table("sun-bid", 2)
    does(house, SendExport(person("Ann")), "She has asked for it.")
    assert [mail.kind for mail in letters(house, person("Ann"))][-1] == "links"
    assert letters(house, kind="links")[-1].person_id == person("Ann")


def test_a_deleted_person_leaves_no_address_and_the_game_goes_on(house, table, person):
    game, ann = table("sun-bid", 2), person("Ann")
    does(house, Delete(ann), "She has asked for it.")
    assert "ann@" not in people.read(house, ann).address
    assert not any("ann@example.org" in repr(row) for rows in everything(house.store).values() for row in rows)
    assert game.row().status in ("playing", "void")
    assert game.verifies()


def test_who_has_left_for_good_cannot_be_deleted_again(house, table, person):
    table("sun-bid", 2)
    ann = person("Ann")
    does(house, Delete(ann))
    for deed in (Delete(ann), SendExport(ann)):
        with pytest.raises(Gone, match="left for good"):
            does(house, deed)
