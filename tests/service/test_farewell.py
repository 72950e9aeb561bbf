"""Leaving for good: what is a person's own goes, the games stay, and nobody at a table waits for them."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from pbem.domain.bounce import Bounce
from pbem.domain.errors import Gone, NotFound, TooMany
from pbem.links import Purpose
from pbem.service import (
    alarms,
    calls,
    consent,
    export,
    farewell,
    leaving,
    lobby,
    mine,
    people,
    sessions,
    stops,
    substitutes,
    talk,
    wishes,
)
from pbem.service import links as service_links
from pbem.service.moderation.mailing import ResendOfNoTable
from pbem.service.tables import Wanted
from pbem.store import games, terms
from pbem.store import lobby as lobby_rows
from pbem.store import outbox as outbox_rows
from pbem.store.schema import Base, Outbox, table_of
from pbem.store.sessions import Holder
from tests.service.moderated import does
from tests.service.replying import Answers
from tests.service.stored import everything, fails_without_a_trace, letters
from tests.service.test_delivery import drain, links_in, post_to

NAME, ADDRESS = "Rumpelstilzchen", "rumpelstilzchen@example.org"


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def gone(house, person):
    """Somebody with a name that nothing else has, of whom a lot is written down."""
    found = person(NAME)
    assert people.read(house, found).address == ADDRESS
    return found


def live_through(house, clock, post, table, person, gone):
    """Somebody plays, hosts, talks, calls, and has trouble with mail; two running games and one that is over."""
    played = []
    for _ in range(3):
        host = person("Ben")
        game_id = lobby.create_table(house, host, Wanted("sunset-poker", 3, successor="bot")).game_id
        for each in (host, gone, person("Cleo")):
            lobby.join(house, game_id, each, word="lighthouse")
        played.append(game_id)
    lobby.create_table(house, gone, Wanted("bid", 3, invited=("zoe@example.org",)))
    waiting = lobby.create_table(house, person("Ben"), Wanted("bid", 3)).game_id
    lobby.join(house, waiting, gone)
    over = played.pop()
    for each in (person("Ben"), gone, person("Cleo")):
        leaving.agree_to_end(house, over, each)
    with house.store.read() as tx:
        seat = next(place.seat for place in games.places(tx, played[0]) if place.person_id == gone)
    talk.say(house, played[0], seat, gone, "Good luck, everybody!")
    calls.call(house, gone, f"I am {NAME} of Forest Road 3.", game_id=played[0], seat=seat)
    organisers_told(house, clock)
    mine.send(house, ADDRESS)
    substitutes.set_willing(house, gone, willing=True)
    stops.book_vacation(house, gone, "2026-12-20 to 2026-12-27")
    wishes.tell_of_sealed(house, gone, wanted=True)
    house.write(lambda tx: sessions.open_in(tx, house, Holder(person_id=gone), "Firefox on Linux"))
    drain(house, clock, post)
    for _ in range(3):
        house.write(lambda tx: stops.bounced(tx, house, gone, Bounce.HARD, f"550 5.1.1 <{ADDRESS}> is no user"))
        clock.advance(timedelta(days=1))
    organisers_told(house, clock)
    drain(house, clock, post)
    return played, over


def organisers_told(house, clock):
    clock.advance(alarms.GATHERED + alarms.APART)
    alarms.tell(house)


def test_nothing_that_is_kept_names_a_person_who_has_left_but_the_mails_of_others(
    house, clock, post, table, person, gone
):
    _, over = live_through(house, clock, post, table, person, gone)
    assert ADDRESS in repr(everything(house.store))
    farewell.delete_person(house, gone)
    left = kept_but_mails_of_others(house, gone)
    assert NAME.lower() not in left.lower()
    assert "Forest Road" not in left
    assert people.read(house, gone).name == "a former player"
    with house.store.read() as tx:
        assert terms.search(tx, "person", NAME, None, 10) == []
        assert terms.search(tx, "table", NAME, None, 10) == []
        assert [place.name for place in games.places(tx, over)].count("a former player") == 1


def kept_but_mails_of_others(house, person_id):
    """All rows of all tables as text, but for those of the outbox and the ledger that are about mails to others."""
    outbox = table_of(Outbox)
    found = []
    with house.store.read() as tx:
        others = set(tx.execute(select(outbox.c.id).where(outbox.c.person_id != person_id)).scalars())
        for table in Base.metadata.sorted_tables:
            for row in tx.execute(select(table)):
                number = {"outbox": "id", "ledger": "outbox_id"}.get(table.name)
                if number is None or row._mapping[number] not in others:
                    found.append(repr(tuple(row)))
    return "\n".join(found)


@pytest.mark.parametrize("kind", ["links", "digest", "new_address", "confirm"])
def test_a_mail_to_somebody_who_has_left_for_good_is_not_sent_again(house, gone, kind):
    now = house.now()
    house.write(lambda tx: outbox_rows.queue(tx, [outbox_rows.Letter(gone, kind)], now, now))
    mail = next(mail for mail in letters(house) if mail.person_id == gone and mail.kind == kind)
    farewell.delete_person(house, gone)
    with pytest.raises(Gone) as refused:
        does(house, ResendOfNoTable(mail.id))
    assert "left for good" in refused.value.why
    assert [each.status for each in letters(house) if each.id == mail.id] == ["superseded"]


def test_an_answer_that_is_read_as_its_writer_leaves_for_good_is_let_go_of(house, table):
    answers = Answers(table("sunset-poker", 3))
    gone = answers.person(0)
    kept = answers.keep(0)
    farewell.delete_person(house, gone)
    before = everything(house.store)
    assert answers.act(kept, f"talk I am {NAME} of Forest Road.") is None
    assert everything(house.store) == before


def test_the_mails_of_others_are_left_alone(house, clock, post, table, person, gone):
    live_through(house, clock, post, table, person, gone)
    before = {mail.id: mail for mail in letters(house) if mail.person_id != gone}
    farewell.delete_person(house, gone)
    after = {mail.id: mail for mail in letters(house)}
    assert all((after[number].body, after[number].facts) == (mail.body, mail.facts) for number, mail in before.items())


def test_running_games_go_on_with_a_bot_and_the_others_are_told(house, clock, post, table, person, gone):
    played, _ = live_through(house, clock, post, table, person, gone)
    farewell.delete_person(house, gone)
    for game_id in played:
        with house.store.read() as tx:
            assert gone not in {place.person_id for place in games.places(tx, game_id)}
            assert sum(place.bot is not None for place in games.places(tx, game_id)) == 1
        told = [mail for mail in letters(house, kind="resigned") if mail.game_id == game_id]
        assert {mail.person_id for mail in told} == {person("Ben"), person("Cleo")}
    with house.store.read() as tx:
        assert [row.id for row in lobby_rows.of_person(tx, gone, ("open", "playing"))] == []
        assert lobby_rows.hosted_by(tx, gone, ("open", "playing")) == []


def test_games_that_are_over_stay_and_can_be_checked(house, clock, post, table, person, gone):
    _, over = live_through(house, clock, post, table, person, gone)
    before = export.write(export.of_game(house, over))
    farewell.delete_person(house, gone)
    assert export.write(export.of_game(house, over)) == before


def test_no_mail_ever_goes_to_whoever_has_left(house, clock, post, sink, table, person, gone):
    live_through(house, clock, post, table, person, gone)
    mine.send(house, ADDRESS)
    farewell.delete_person(house, gone)
    before = len(sink.kept)
    drain(house, clock, post)
    assert not [mail for mail in sink.kept[before:] if mail.recipient == ADDRESS or "invalid" in mail.recipient]


def test_links_and_browsers_of_whoever_has_left_open_nothing(house, person, clock, post, sink, gone):
    secret = house.write(lambda tx: sessions.open_in(tx, house, Holder(person_id=gone), ""))
    mine.send(house, ADDRESS)
    drain(house, clock, post)
    token = next(token for purpose, token, _ in links_in(sink.to(ADDRESS)[-1]) if purpose == "l")
    farewell.delete_person(house, gone)
    with pytest.raises(Gone):
        service_links.opened(house, token, Purpose.SIGN_IN)
    assert sessions.find(house, secret) is None


def test_whoever_comes_back_is_somebody_new(house, gone):
    farewell.delete_person(house, gone)
    again = people.create(house, ADDRESS, NAME)
    assert (again.id != gone, again.confirmed_at) == (True, None)


def test_leaving_takes_a_yes_by_mail_and_happens_once(house, clock, post, sink, table, person, gone):
    game = table("sunset-poker", 3)
    farewell.ask(house, gone)
    drain(house, clock, post)
    token = next(token for purpose, token, _ in links_in(sink.to(ADDRESS)[-1]) if purpose == "y")
    assert consent.at(house, token).name == NAME
    assert people.read(house, gone).name == NAME
    assert consent.say_yes(house, token) == "farewell"
    before = everything(house.store)
    with pytest.raises(Gone):
        consent.say_yes(house, token)
    farewell.delete_person(house, gone)
    assert everything(house.store) == before
    assert game.row().status == "playing"


def test_nobody_is_flooded_with_mails_about_leaving(house, gone):
    for _ in range(farewell.MAILS_A_DAY):
        farewell.ask(house, gone)
    with pytest.raises(TooMany):
        farewell.ask(house, gone)


def test_two_who_have_left_are_told_apart_at_their_table(house, table):
    game = table("sunset-poker", 3)
    players = {seat: game.person_at(seat) for seat in range(3)}
    for seat in range(3):
        leaving.agree_to_end(house, game.id, players[seat])
    for seat in range(3):
        farewell.delete_person(house, players[seat])
    names = sorted(place.name for place in game.places().values())
    assert names == ["a former player", "a former player (2)", "a former player (3)"]


def test_the_last_player_of_a_game_ends_it(house, table):
    game = table("sunset-poker", 3, bots=("greedy", "greedy"))
    (seat,) = [seat for seat, place in game.places().items() if place.person_id is not None]
    farewell.delete_person(house, game.person_at(seat))
    assert game.row().status == "void"


def test_somebody_unknown_cannot_leave(house):
    with pytest.raises(NotFound):
        farewell.delete_person(house, 99)


def test_a_person_leaves_whole_or_not_at_all(house, clock, post, table, person, gone):
    live_through(house, clock, post, table, person, gone)
    assert fails_without_a_trace(house.store, lambda: farewell.delete_person(house, gone)) > 20
