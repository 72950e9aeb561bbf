"""The file of a seat: all that its player was told, and nothing else."""

import hashlib
import json

import pytest

from pbem.domain.errors import NotFound
from pbem.service.absence import substitutes
from pbem.service.archive import seat_file
from pbem.service.desk import table as desk_table
from pbem.service.desk.acts.clocks import Extend
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import Substitute
from pbem.service.play import undo
from pbem.service.play.log import Kind
from pbem.service.tables import leaving
from tests.service.actors import moderate
from tests.web.browser import Links


@pytest.fixture
def links(server):
    """The links that emails would have."""
    return Links(server)


@pytest.fixture
def poker(table):
    """A game whose players all seal a choice at once."""
    return table("sunset-poker", 3)


def text_of(server, links, game, seat):
    return server.read(seat_file.by_link, links.of(game, seat)[1])[1]


def file_of(server, links, game, seat):
    return json.loads(text_of(server, links, game, seat))


def seal(game, seat):
    game.play(seat, game.asked()[seat].default)


def test_the_file_has_what_the_seat_was_told(server, links, poker):
    for _ in range(2):
        for seat in sorted(poker.asked()):
            seal(poker, seat)
    file = file_of(server, links, poker, 1)
    assert (file["format"], file["version"], file["seat"]) == ("pbem-seat", 1, 1)
    assert file["names"] == ["Ann", "Ben", "Cleo"]
    assert [each["turn"] for each in file["turns"]] == [*range(poker.row().turn)]
    assert file["turns"][-1]["says"]
    assert file["turns"][-1]["choice"] is not None
    assert file["now"]["asked"]
    assert file["now"]["if_missed"]
    assert [each["turn"] for each in file["deadlines"]][-1] == poker.row().turn
    assert file["game"]["options"] == json.loads(poker.row().options)


def test_own_sealed_choices_are_there_with_what_proves_them_and_no_others(server, links, poker):
    for seat in (0, 1):
        seal(poker, seat)
    rows = [row for row in poker.log() if row.kind == Kind.SEALED]
    for seat in (0, 1):
        (sealed,) = file_of(server, links, poker, seat)["sealed"]
        assert sealed["fingerprint"] == rows[seat].body_hash.hex()
        assert (
            hashlib.sha256(bytes.fromhex(sealed["nonce"]) + sealed["text"].encode()).hexdigest()
            == sealed["fingerprint"]
        )
        assert rows[1 - seat].body_hash.hex() not in text_of(server, links, poker, seat)
    assert file_of(server, links, poker, 2)["sealed"] == []


def test_the_file_is_the_same_to_the_byte_whether_or_not_others_have_sealed(server, links, poker):
    seal(poker, 0)
    before = text_of(server, links, poker, 0)
    seal(poker, 1)
    assert text_of(server, links, poker, 0) == before
    server.run(undo.take_back, poker.id, poker.row().turn, 1)
    assert text_of(server, links, poker, 0) == before


def test_acts_of_organisers_are_there_and_nothing_that_counts_rows(server, links, poker):
    seal(poker, 1)
    moderate(server, Extend(poker.id, "1d"))
    (decided,) = file_of(server, links, poker, 0)["decided"]
    assert decided["kind"] == "Extended"
    assert "seq" not in text_of(server, links, poker, 0)


@pytest.mark.parametrize("answered", [(), (1,), (1, 2)])
def test_a_turn_that_was_taken_back_does_not_tell_who_had_answered_it(server, links, poker, answered):
    first = poker.row().turn
    for seat in (0, 1, 2, *answered):
        seal(poker, seat)
    moderate(server, Rewind(poker.id, first))
    (decided,) = file_of(server, links, poker, 0)["decided"]
    assert decided["body"] == {"from": first, "turn": poker.row().turn, "reason": "a reason that players can read"}
    token = links.of(poker, 0)[1]
    assert [row.says for row in server.read(desk_table.interventions, token).rows] == [decided["body"]]
    assert poker.verifies()


def test_a_link_of_one_choice_opens_no_file(server, links, poker):
    with pytest.raises(NotFound):
        server.read(seat_file.by_link, links.of(poker, 0)[0])


def test_a_successor_is_not_told_of_what_the_former_player_sealed(server, links, poker, person):
    gone = poker.person_at(1)
    for seat in (1, 0, 2, 1):
        seal(poker, seat)
    earlier = [row.body_hash.hex() for row in poker.log() if row.kind == Kind.SEALED and row.seat == 1]
    person("Zoe")
    moderate(server, Substitute(poker.id, 1, "zoe@example.org"))
    file = file_of(server, links, poker, 1)
    assert file["sealed"] == []
    assert [each["turn"] for each in file["deadlines"]] == [poker.row().turn]
    poker.play(1, list(poker.open()[1].acts[0].choices())[-1])
    (own,) = file_of(server, links, poker, 1)["sealed"]
    assert own["fingerprint"] == poker.log()[-1].body_hash.hex()
    moderate(server, Substitute(poker.id, 1, "ben@example.org"))
    assert poker.person_at(1) == gone
    assert [each["fingerprint"] for each in file_of(server, links, poker, 1)["sealed"]] == earlier


def test_a_player_who_comes_back_has_their_own_sealed_choices_in_the_file(server, links, poker):
    back = poker.person_at(1)
    seal(poker, 1)
    before = file_of(server, links, poker, 1)["sealed"]
    server.run(leaving.resign, poker.id, 1, back)
    server.run(substitutes.come_back, poker.id, 1, back)
    assert file_of(server, links, poker, 1)["sealed"] == before != []
