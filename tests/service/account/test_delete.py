"""Deleting a person: their data goes, the games stay, and nobody at a table waits for them."""

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select

from pbem.domain.bounce import Bounce
from pbem.domain.errors import Gone, NotFound, Refusal, TooMany
from pbem.domain.states import EntrantStatus
from pbem.service import links as service_links
from pbem.service.absence import offers, substitutes
from pbem.service.account import consent, delete, my_page
from pbem.service.archive import export
from pbem.service.clocks import reachability, vacations
from pbem.service.desk import alarm_emails, calls
from pbem.service.desk.acts.emails import ResendOfNoTable
from pbem.service.desk.acts.people import Merge
from pbem.service.desk.acts.seats import Offer, Substitute
from pbem.service.outgoing import preferences, prepare
from pbem.service.people import addresses, sessions, sign_in
from pbem.service.tables import joining, leaving, talk
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import sign_up
from pbem.store import leases, outbox as outbox_rows, players as player_rows, search, tables as lobby_rows, tournaments
from pbem.store.schema import DEADLINE, METADATA, OUTBOX, PLAYER
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.email_replies import Replies
from tests.service.outgoing.test_deliver import HEAD, drain, links_in, post_to
from tests.service.races import at_call
from tests.service.tournaments.cup import open_cup

NAME, ADDRESS = "Rumpelstilzchen", "rumpelstilzchen@example.org"


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def gone(server, person):
    """A person whose name appears in no other text."""
    found = person(NAME)
    assert server.read(addresses.read, found).address == ADDRESS
    return found


def live_through(server, clock, post, table, person, gone):
    """The person plays, hosts, talks, calls, and cannot be reached by email; two games run and one is over."""
    played = []
    server.run(my_page.change_week, gone, ("Wed",), ("Thu",), "01:00-02:00")
    for _ in range(3):
        host = person("Ben")
        game_id = server.run(joining.create_table, host, TableSettings("sunset-poker", 3, successor="bot")).game_id
        for each in (host, gone, person("Cleo")):
            server.run(joining.join, game_id, each, word="lighthouse")
        played.append(game_id)
    server.run(joining.create_table, gone, TableSettings("bid", 3, invited=("zoe@example.org",)))
    waiting = server.run(joining.create_table, person("Ben"), TableSettings("bid", 3)).game_id
    server.run(joining.join, waiting, gone)
    over = played.pop()
    for each in (person("Ben"), gone, person("Cleo")):
        server.run(leaving.agree_to_end, over, each)
    with server.store.read() as tx:
        seat = next(player.seat for player in player_rows.of_game(tx, played[0]) if player.person_id == gone)
    server.run(talk.say, played[0], seat, gone, "Good luck, everyone!")
    server.run(calls.call, gone, f"I am {NAME} of Forest Road 3.", game_id=played[0], seat=seat)
    send_alarms(server, clock)
    server.run(sign_in.send_link, ADDRESS)
    server.run(offers.set_volunteer, gone, volunteers=True)
    server.run(vacations.book_text, gone, "2026-12-20 to 2026-12-27")
    server.run(preferences.set_sealed_receipts, gone, on=True)
    server.run(sessions.start, Holder(person_id=gone), "Firefox on Linux")
    drain(server, clock, post)
    for _ in range(3):
        server.store.write(
            lambda tx: reachability.note_bounce(tx, server, gone, Bounce.HARD, f"550 5.1.1 <{ADDRESS}> is no user")
        )
        clock.advance(timedelta(days=1))
    send_alarms(server, clock)
    drain(server, clock, post)
    return played, over


def send_alarms(server, clock):
    clock.advance(alarm_emails.GATHERED + alarm_emails.APART)
    alarm_emails.send(server)


def test_only_emails_of_others_name_a_deleted_person(server, clock, post, table, person, gone):
    _, over = live_through(server, clock, post, table, person, gone)
    assert ADDRESS in repr(all_rows(server.store))
    with server.store.read() as tx:
        assert "Wed|Thu 01:00-02:00|" in repr(tx.execute(select(DEADLINE.c.week).distinct()).all())
    server.run(delete.delete_person, gone)
    left = rows_without_emails_of_others(server, gone)
    assert "Thu 01:00-02:00" not in left
    assert NAME.lower() not in left.lower()
    assert "Forest Road" not in left
    assert server.read(addresses.read, gone).name == "a former player"
    with server.store.read() as tx:
        assert search.search(tx, "person", NAME, None, 10) == []
        assert search.search(tx, "table", NAME, None, 10) == []
        assert [player.name for player in player_rows.of_game(tx, over)].count("a former player") == 1


def rows_without_emails_of_others(server, person_id):
    """All rows of all tables as text, except rows of the outbox and the ledger that are about emails to others."""
    outbox = OUTBOX
    found = []
    with server.store.read() as tx:
        others = set(tx.execute(select(outbox.c.id).where(outbox.c.person_id != person_id)).scalars())
        for table in METADATA.sorted_tables:
            for row in tx.execute(select(table)):
                number = {"outbox": "id", "ledger": "outbox_id"}.get(table.name)
                if number is None or row._mapping[number] not in others:
                    found.append(repr(tuple(row)))
    return "\n".join(found)


@pytest.mark.parametrize("kind", ["links", "digest", "new_address", "confirm"])
def test_an_email_to_a_deleted_person_is_not_sent_again(server, gone, kind):
    now = server.now()
    server.store.write(lambda tx: outbox_rows.queue(tx, [outbox_rows.NewEmail(gone, kind)], now, now))
    email = next(email for email in queued_emails(server) if email.person_id == gone and email.kind == kind)
    server.run(delete.delete_person, gone)
    with pytest.raises(Gone) as refused:
        moderate(server, ResendOfNoTable(email.id))
    assert "account was deleted" in refused.value.why
    assert [each.status for each in queued_emails(server) if each.id == email.id] == ["superseded"]


def test_a_reply_read_while_its_writer_is_deleted_is_dropped(server, table):
    answers = Replies(table("sunset-poker", 3))
    gone = answers.person(0)
    reply = answers.keep(0)
    server.run(delete.delete_person, gone)
    before = all_rows(server.store)
    assert answers.act(reply, f"talk I am {NAME} of Forest Road.") is None
    assert all_rows(server.store) == before


def test_emails_of_others_are_left_alone(server, clock, post, table, person, gone):
    live_through(server, clock, post, table, person, gone)
    before = {email.id: email for email in queued_emails(server) if email.person_id != gone}
    server.run(delete.delete_person, gone)
    after = {email.id: email for email in queued_emails(server)}
    assert all(
        (after[number].body, after[number].facts) == (email.body, email.facts) for number, email in before.items()
    )


def test_running_games_go_on_with_a_bot_and_the_others_are_told(server, clock, post, table, person, gone):
    played, _ = live_through(server, clock, post, table, person, gone)
    server.run(delete.delete_person, gone)
    for game_id in played:
        with server.store.read() as tx:
            assert gone not in {player.person_id for player in player_rows.of_game(tx, game_id)}
            assert sum(player.bot is not None for player in player_rows.of_game(tx, game_id)) == 1
        notices = [email for email in queued_emails(server, kind="resigned") if email.game_id == game_id]
        assert {email.person_id for email in notices} == {person("Ben"), person("Cleo")}
    with server.store.read() as tx:
        assert [row.id for row in lobby_rows.of_person(tx, gone, ("open", "playing"))] == []
        assert lobby_rows.hosted_by(tx, gone, ("open", "playing")) == []


def test_games_that_are_over_stay_and_can_be_checked(server, clock, post, table, person, gone):
    _, over = live_through(server, clock, post, table, person, gone)
    before = export.write(server.read(export.of_game, over))
    server.run(delete.delete_person, gone)
    assert export.write(server.read(export.of_game, over)) == before


def test_a_deleted_person_is_sent_no_email(server, clock, post, sink, table, person, gone):
    live_through(server, clock, post, table, person, gone)
    server.run(sign_in.send_link, ADDRESS)
    server.run(delete.delete_person, gone)
    before = len(sink.emails)
    drain(server, clock, post)
    assert not [email for email in sink.emails[before:] if email.recipient == ADDRESS or "invalid" in email.recipient]


def test_links_and_sessions_of_a_deleted_person_open_nothing(server, person, clock, post, sink, gone):
    secret = server.run(sessions.start, Holder(person_id=gone), "")
    server.run(sign_in.send_link, ADDRESS)
    drain(server, clock, post)
    token = next(token for purpose, token, _ in links_in(sink.to(ADDRESS)[-1]) if purpose == "l")
    server.run(delete.delete_person, gone)
    with pytest.raises(Gone):
        server.read(service_links.follow, token, Purpose.SIGN_IN)
    assert server.read(sessions.find, secret) is None


def test_a_deleted_person_who_returns_is_a_new_person(server, gone):
    server.run(delete.delete_person, gone)
    again = server.run(addresses.register, ADDRESS, NAME)
    assert (again.id != gone, again.confirmed_at) == (True, None)


def test_deletion_needs_consent_by_email_and_happens_once(server, clock, post, sink, table, person, gone):
    game = table("sunset-poker", 3)
    server.run(delete.ask, gone)
    drain(server, clock, post)
    token = next(token for purpose, token, _ in links_in(sink.to(ADDRESS)[-1]) if purpose == "y")
    assert server.read(consent.consent_request, token).name == NAME
    assert server.read(addresses.read, gone).name == NAME
    assert server.run(consent.give_consent, token) == "deletion"
    before = all_rows(server.store)
    with pytest.raises(Gone):
        server.run(consent.give_consent, token)
    server.run(delete.delete_person, gone)
    assert all_rows(server.store) == before
    assert game.row().status == "playing"


def test_emails_about_deletion_are_limited_by_the_day(server, gone):
    for _ in range(delete.EMAILS_A_DAY):
        server.run(delete.ask, gone)
    with pytest.raises(TooMany):
        server.run(delete.ask, gone)


def test_two_deleted_people_have_different_names_at_a_table(server, table):
    game = table("sunset-poker", 3)
    players = {seat: game.person_at(seat) for seat in range(3)}
    for seat in range(3):
        server.run(leaving.agree_to_end, game.id, players[seat])
    for seat in range(3):
        server.run(delete.delete_person, players[seat])
    names = sorted(player.name for player in game.players().values())
    assert names == ["a former player", "a former player (2)", "a former player (3)"]


def test_the_last_player_of_a_game_ends_it(server, table):
    game = table("sunset-poker", 3, bots=("greedy", "greedy"))
    (seat,) = [seat for seat, player in game.players().items() if player.person_id is not None]
    server.run(delete.delete_person, game.person_at(seat))
    assert game.row().status == "void"


def test_an_unknown_person_cannot_be_deleted(server):
    with pytest.raises(NotFound):
        server.run(delete.delete_person, 99)


@pytest.mark.slow
def test_a_person_is_deleted_whole_or_not_at_all(server, clock, post, table, person, gone):
    live_through(server, clock, post, table, person, gone)
    assert check_atomic(server.store, lambda: server.run(delete.delete_person, gone)) > 20


def by_an_organiser(server, game, gone):
    return lambda: moderate(server, Substitute(game.id, 1, ADDRESS))


def by_reservation(server, game, gone):
    moderate(server, Offer(game.id, 1))
    with server.store.read() as tx:
        offer = lobby_rows.offer_of_seat(tx, game.id, 1)
    server.run(substitutes.take, offer.id, gone)
    while game.row().turn == 1:
        next(game.play_defaults())
    return lambda: substitutes.tidy(server)


def by_a_merge(server, game, gone):
    other = game.person_at(1)
    return lambda: moderate(server, Merge(gone, other))


def by_joining(server, game, gone):
    waiting = server.run(joining.create_table, game.person_at(0), TableSettings("bid", 3)).game_id
    return lambda: server.run(joining.join, waiting, gone)


@pytest.mark.parametrize(("deletion_first", "call"), [(True, 3), (True, 5), (True, 12), (False, 9), (False, 11)])
@pytest.mark.parametrize("gift", [by_an_organiser, by_reservation, by_a_merge, by_joining])
def test_a_seat_given_to_someone_who_is_deleted_at_that_moment_is_not_left_with_them(
    server, table, gone, gift, deletion_first, call
):
    game = table("templari", 3, successor="substitute")
    give = gift(server, game, gone)

    def forget():
        server.run(delete.delete_person, gone)

    outcomes = at_call(server.store, call, *((forget, give) if deletion_first else (give, forget)))
    assert all(not isinstance(outcome, Exception) or isinstance(outcome, Refusal) for outcome in outcomes)
    with server.store.read() as tx:
        seats = tx.execute(select(PLAYER.c.game_id, PLAYER.c.seat).where(PLAYER.c.person_id == gone)).all()
    assert seats == []
    assert NAME not in rows_without_emails_of_others(server, gone)


@pytest.mark.parametrize("call", [3, 6])
def test_nobody_stays_in_a_tournament_that_they_enter_while_they_are_deleted(server, person, gone, call):
    cup = server.query(tournaments.by_key, open_cup(server, person("Ben")))
    forget, enter = partial(server.run, delete.delete_person, gone), partial(server.run, sign_up.sign_up, cup.id, gone)
    at_call(server.store, call, forget, enter)
    assert {each.status for each in server.query(tournaments.entrants, cup.id)} <= {EntrantStatus.LEFT}


def _written(server, claimed):
    return prepare.prepare(server, HEAD, claimed, server.now())


@pytest.mark.parametrize("call", [20, 30])
def test_an_email_that_is_written_during_a_deletion_is_not_stored_with_the_name(server, clock, person, gone, call):
    guest = person("Zoe")
    cup = server.query(tournaments.by_key, open_cup(server, gone))
    server.run(sign_up.invite, cup.id, gone, (server.read(addresses.read, guest).address,))
    clock.advance(timedelta(minutes=2))
    claimed, _ = server.store.write(lambda tx: leases.claim(tx, server.now(), 1, 100))
    forget = partial(server.run, delete.delete_person, gone)
    ready, deleted = at_call(server.store, call, partial(_written, server, claimed), forget)
    assert not isinstance(deleted, Exception)
    assert len(ready) == 1
    bodies = [email.body for email in queued_emails(server, guest, "sign_up")]
    assert not any(NAME.encode() in body for body in bodies if body is not None)


def _asked_to_sign_in(server, person_id):
    server.run(sign_in.send_link_to, person_id)
    return queued_emails(server, person_id)[-1]


def test_a_deletion_and_a_worker_never_wait_for_each_other(server, person, gone):
    first, last = (_asked_to_sign_in(server, person(name)) for name in ("Ben", "Cleo"))
    tries = []

    def touch(tx, *emails):
        tries.append("touch")
        for each in emails:
            outbox_rows.change(tx, each.id, due_at=each.due_at)

    def forget(tx, *given):
        tries.append("forget")
        delete.delete_person(tx, *given)

    # PostgreSQL finds emails in the order of their domains.
    server.store.write(lambda tx: outbox_rows.change(tx, first.id, domain="zoo.example"))
    both = partial(server.store.write, lambda tx: touch(tx, first, last))
    at_call(server.store, 2, both, partial(server.run, forget, gone))
    assert tries == ["touch", "forget"], "PostgreSQL ended a deadlock"
