"""Links: what a token opens, and what it never opens."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from pbem.domain.errors import Gone, NotFound
from pbem.service import links
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.fuzz.door import steps


@pytest.fixture
def game(table):
    return table("sunset-poker", 3)


def made(server, game, seat=0, turn=1):
    person = game.person_at(seat)
    return server.run(links.make_for_seat, person, game.id, turn, seat)


def token_of(server, purpose, row):
    return server.keys.make(purpose, row, server.read(links.nonces, [row])[row])


def test_a_token_opens_the_seat_and_turn_it_was_made_for(server, game):
    rows = made(server, game, seat=2, turn=1)
    link = server.read(links.follow, token_of(server, Purpose.SEAT, rows.seat), Purpose.SEAT)
    assert (link.game_id, link.turn, link.seat) == (game.id, 1, 2)
    assert link.person_id == game.person_at(2)


def test_a_followed_link_has_the_fields_of_its_purpose(server, game, person):
    rows, ann = made(server, game, seat=2, turn=1), game.person_at(2)
    assert server.read(links.follow_seat, token_of(server, Purpose.SEAT, rows.seat)) == links.SeatLink(ann, game.id, 2)
    assert server.read(links.follow_move, token_of(server, Purpose.MOVE, rows.move)) == links.MoveLink(
        ann, game.id, 2, 1
    )
    row = server.run(links.make, LinkKey(Purpose.BOUNCE, ann, outbox_id=1))
    token = token_of(server, Purpose.BOUNCE, row)
    assert server.read(links.follow_email, token, Purpose.BOUNCE) == links.EmailLink(ann, 1, None)


def test_the_same_seat_and_turn_have_the_same_links_however_often_they_are_made(server, game):
    assert made(server, game) == made(server, game)


def test_each_seat_and_turn_has_links_of_its_own(server, game):
    every = [made(server, game, seat, turn) for seat in range(3) for turn in (1, 2)]
    numbers = [row for rows in every for row in (rows.move, rows.seat, rows.reply)]
    assert len(set(numbers)) == len(numbers)


def test_a_token_of_one_purpose_opens_nothing_else(server, game):
    rows = made(server, game)
    for row, own in ((rows.move, Purpose.MOVE), (rows.seat, Purpose.SEAT), (rows.reply, Purpose.REPLY)):
        for asked in Purpose:
            token = token_of(server, own, row)
            if asked is own:
                assert server.read(links.follow, token, asked).id == row
            else:
                with pytest.raises(NotFound):
                    server.read(links.follow, token, asked)
                # Nor does a token made for another purpose open this row.
                with pytest.raises(NotFound):
                    server.read(links.follow, token_of(server, asked, row), asked)


def test_a_forged_cut_or_foreign_token_opens_nothing(server, game):
    good = token_of(server, Purpose.MOVE, made(server, game).move)
    forged = good[:-1] + ("a" if good[-1] != "a" else "b")
    for token in (forged, good[:-1], good + "a", "", "é" * 33, server.keys.make(Purpose.MOVE, 999_999, 0)):
        with pytest.raises(NotFound):
            server.read(links.follow, token, Purpose.MOVE)


def test_a_token_survives_what_mail_programs_do_to_it(server, game):
    good = token_of(server, Purpose.MOVE, made(server, game).move)
    for token in (good.upper(), good + ".", f"<{good}>", good + ",", f"*{good}*"):
        assert server.read(links.follow, token, Purpose.MOVE).seat == 0


def test_renewing_makes_all_links_of_the_seat_worthless_and_of_no_other_seat(server, game):
    links_of_seat, links_of_another = made(server, game, seat=0), made(server, game, seat=1)
    earlier = made(server, game, seat=0, turn=5)
    rows = ((Purpose.MOVE, links_of_seat.move), (Purpose.SEAT, links_of_seat.seat), (Purpose.MOVE, earlier.move))
    before = [token_of(server, purpose, row) for purpose, row in rows]
    server.run(links.revoke_seat, game.id, 0)
    for (purpose, row), token in zip(rows, before, strict=True):
        with pytest.raises(Gone, match="replaced"):
            server.read(links.follow, token, purpose)
        assert server.read(links.follow, token_of(server, purpose, row), purpose).seat == 0
    token = token_of(server, Purpose.MOVE, links_of_another.move)
    assert server.read(links.follow, token, Purpose.MOVE).seat == 1


def test_every_earlier_token_of_a_link_is_known_as_replaced_up_to_fifty(server, game):
    row, earlier = made(server, game).seat, []
    for _ in range(60):
        earlier.append(token_of(server, Purpose.SEAT, row))
        server.run(links.revoke_seat, game.id, 0)
    for token in earlier[11:]:
        with pytest.raises(Gone, match="replaced with a new one"):
            server.read(links.follow, token, Purpose.SEAT)
    with pytest.raises(NotFound):
        server.read(links.follow, earlier[0], Purpose.SEAT)


def test_a_token_fits_no_row_that_has_its_number_again(server, game):
    for purpose in Purpose:
        key = LinkKey(purpose, game.person_at(0), game.id, 1, 0)
        row = server.run(links.make, key)
        token = token_of(server, purpose, row)
        # The backup was made before the link, and the next link gets its number.
        server.store.write(lambda tx, row=row: tx.execute(text("DELETE FROM link WHERE id = :id"), {"id": row}))
        again = server.run(links.make, key)
        server.store.write(
            lambda tx, row=row, again=again: tx.execute(
                text("UPDATE link SET id = :row WHERE id = :again"), {"row": row, "again": again}
            )
        )
        with pytest.raises(NotFound):
            server.read(links.follow, token, purpose)
        assert server.read(links.follow, token_of(server, purpose, row), purpose).id == row


def test_a_link_to_sign_in_works_for_a_day(server, clock, person):
    ann = person("Ann")
    row = server.run(links.make, LinkKey(Purpose.SIGN_IN, ann))
    token = token_of(server, Purpose.SIGN_IN, row)
    clock.advance(timedelta(hours=23, minutes=59))
    assert server.read(links.follow, token, Purpose.SIGN_IN).person_id == ann
    clock.advance(timedelta(minutes=1))
    with pytest.raises(Gone, match="too old"):
        server.read(links.follow, token, Purpose.SIGN_IN)


def test_a_new_player_at_the_seat_gets_new_links(server, game, person):
    before = made(server, game)
    zoe = person("Zoe")
    after = server.run(links.make_for_seat, zoe, game.id, 1, 0)
    assert {before.move, before.seat, before.reply}.isdisjoint({after.move, after.seat, after.reply})


@pytest.mark.parametrize(
    "words",
    ["a" * 250_000, ("a" * 30 + " ") * 8000, "=?utf-8?q?" + "a" * 60_000 + "?=", "=?utf-8?b?YQ==?= x.x " * 12_000],
)
def test_an_email_full_of_long_words_is_looked_through_in_few_steps(server, game, words):
    token, hidden = token_of(server, Purpose.SEAT, made(server, game).seat), []
    text = f"bid 7 {token} {words}".encode()
    assert steps(lambda: hidden.append(server.read(links.hide_tokens, text))) < 100_000
    assert set(hidden[0].split()) <= {b"bid", b"7", b"***", b"x.x"}
    assert server.read(links.hide_tokens, f"bid 7 {token} {'a' * 2000}".encode()) == b"bid 7 *** " + b"a" * 2000
