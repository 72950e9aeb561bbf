"""A rematch with the same people: one table, no matter who asks or how often."""

from datetime import timedelta
from functools import partial

import pytest

from pbem.domain.errors import Stale
from pbem.service import links
from pbem.service.account import delete
from pbem.service.tables import by_link, leaving, listing, rematch
from pbem.store import games, links as link_rows, tables as table_rows
from tests.service.database import facts_of, queued_emails
from tests.service.races import meetings


@pytest.fixture
def over(server, table):
    """A game of three people and a bot that has ended."""
    return ended(server, table)


def ended(server, table):
    game = table("sunset-poker", 4, bots=("random",), pace="3d", title="Friday", missed_limit=5, stand_in="beginner")
    for seat in people_of(game):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    return game


def seat_token(server, game, seat):
    made = server.store.write(
        lambda tx: links.make_for_seat(tx, server, game.person_at(seat), game.id, game.row().turn, seat).seat
    )
    with server.store.read() as tx:
        return links.token(server, link_rows.read(tx, made))


def people_of(game):
    return [player.seat for player in game.players().values() if player.person_id is not None]


def test_the_new_table_is_like_the_old_one_with_its_bots_and_the_others_invited(server, over):
    asker, *others = people_of(over)
    found = server.read(by_link.table_page, server.run(rematch.rematch, seat_token(server, over, asker)))
    before, after = over.row(), found.table
    for name in ("kind", "seats", "title", "pace", "missed_limit", "successor", "stand_in", "hints", "doubles"):
        assert getattr(after, name) == getattr(before, name)
    assert (after.bots, after.private, after.status, found.hosts) == (1, True, "open", True)
    with server.store.read() as tx:
        assert games.read(tx, after.game_id).options == before.options
        invited = {each.person_id for each in table_rows.invitations(tx, after.game_id)}
    assert invited == {over.person_at(seat) for seat in others}


def test_the_others_are_invited_by_the_name_that_the_host_has_at_the_table(server, over):
    asker, other, *_more = people_of(over)
    server.store.write(lambda tx: table_rows.change_player(tx, over.id, asker, name="Captain"))
    server.run(rematch.rematch, seat_token(server, over, asker))
    (email, *_others) = queued_emails(server, over.person_at(other), kind="invitation")
    assert facts_of(server, email) == {"host": "Captain"}


def test_deleted_people_are_not_invited(server, over):
    asker, gone, other = people_of(over)
    stays = over.person_at(other)
    server.run(delete.delete_person, over.person_at(gone))
    found = server.read(by_link.table_page, server.run(rematch.rematch, seat_token(server, over, asker)))
    with server.store.read() as tx:
        assert [each.person_id for each in table_rows.invitations(tx, found.table.game_id)] == [stays]


def test_later_requests_lead_to_the_same_table(server, over):
    first, second, _ = (seat_token(server, over, seat) for seat in people_of(over))
    tables = [server.read(by_link.table_page, server.run(rematch.rematch, token)) for token in (first, first, second)]
    assert len({each.table.game_id for each in tables}) == 1
    assert [each.hosts for each in tables] == [True, True, False]


@pytest.mark.slow
def test_two_who_ask_at_once_open_one_table(server, table, clock):
    for meeting in meetings(server.store):
        game = ended(server, table)
        ann, ben = (seat_token(server, game, seat) for seat in people_of(game)[:2])
        doors = meeting(partial(server.run, rematch.rematch, ann), partial(server.run, rematch.rematch, ben))
        tables = [server.read(by_link.table_page, door).table for door in doors]
        assert tables[0].game_id == tables[1].game_id
        server.run(leaving.leave, tables[0].game_id, tables[0].host_id)
        # Nobody is invited more than a few times in a day.
        clock.advance(timedelta(days=1))


def test_a_closed_rematch_is_followed_by_another(server, over):
    asker = people_of(over)[0]
    token = seat_token(server, over, asker)
    first = server.read(by_link.table_page, server.run(rematch.rematch, token)).table
    server.run(leaving.leave, first.game_id, over.person_at(asker))
    second = server.read(by_link.table_page, server.run(rematch.rematch, token)).table
    assert second.game_id != first.game_id
    assert server.read(listing.by_id, second.game_id).status == "open"


def test_a_game_that_goes_on_has_no_rematch(server, table):
    game = table("sunset-poker", 3)
    with pytest.raises(Stale, match="isn't over yet"):
        server.run(rematch.rematch, seat_token(server, game, 0))
