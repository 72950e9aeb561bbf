"""One game put back as it was saved: gone, broken or ahead here; nothing else is touched, and nothing old opens anything."""

import email
import json
import runpy
from dataclasses import replace
from datetime import timedelta
from email import policy

import pytest
from sqlalchemy import delete, update

from pbem import config, paths
from pbem.domain.acts import Actor, Role
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound
from pbem.domain.states import Insight
from pbem.domain.topics import Topic
from pbem.ops.verify import verify_file, verify_game, verify_saved
from pbem.service import links as service_links
from pbem.service.absence import offers, substitutes
from pbem.service.account import delete as deletion
from pbem.service.archive import export, table_file
from pbem.service.desk import audit, export_table, put_back, table as desk_table
from pbem.service.desk.acts.clocks import Close, Freeze, Pause
from pbem.service.desk.acts.correct import Correct, Redact
from pbem.service.desk.acts.seats import Offer, Substitute
from pbem.service.outgoing import preferences
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.outgoing.post import post_of
from pbem.service.play import standing_orders
from pbem.service.play.log import Kind
from pbem.service.tables import leaving, talk
from pbem.store import audit as audit_rows, insiders, players, reliability, saved_games, talk as talk_rows
from pbem.store.schema import GAME, LINK, LOG, METADATA, OUTBOX, TALK
from pbem.tokens import Purpose
from tests.mail.transports import StoringTransport
from tests.service.actors import OLGA, ROOT, moderate
from tests.service.conftest import START
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.running_game import RunningGame
from tests.web.browser import Links

WHY = "The disk was full."


def saved_of(server, game):
    return server.query(saved_games.read, game.id)


def back(server, saved, **how):
    done = server.run(put_back.put_back, ROOT, saved, WHY, **how)
    return done, RunningGame(server, done.game_id)


def plays(game, moves):
    for _ in range(moves):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)


def vanish(server, game):
    """Delete everything of a game, as an operator might by hand."""

    def work(tx):
        tx.execute(update(OUTBOX).where(OUTBOX.c.game_id == game.id).values(game_id=None))
        tx.execute(delete(LINK).where(LINK.c.game_id == game.id))
        for each in reversed(METADATA.sorted_tables):
            if "game_id" in each.c and each.name not in ("outbox", "link"):
                tx.execute(delete(each).where(each.c.game_id == game.id))
        tx.execute(delete(GAME).where(GAME.c.id == game.id))

    server.store.write(work)


def problems(server, game):
    with server.store.read() as tx:
        return verify_game(tx, game.id).problems


@pytest.fixture
def poker(table):
    return table("sunset-poker", 3)


def test_a_game_that_is_gone_comes_back_beside_the_others(server, table, poker):
    plays(poker, 7)
    other = table("templari", 3)
    saved, log = saved_of(server, poker), poker.log()
    state, view, elsewhere = poker.row().state, poker.view(1), other.log()
    vanish(server, poker)
    done, game = back(server, saved)
    assert game.id == poker.id
    assert game.log()[: len(log)] == log
    assert (game.row().state, game.view(1)) == (state, view)
    assert problems(server, game) == ()
    assert any("nobody knows how far" in line for line in done.says)
    assert other.log() == elsewhere
    plays(game, 5)
    assert problems(server, game) == ()


def test_luck_and_links_of_turns_that_may_be_known_never_come_again(server, poker):
    plays(poker, 7)
    saved = saved_of(server, poker)
    plays(poker, 9)
    known = poker.row().turn
    done, game = back(server, saved, replacing=True)
    assert game.row().turn == done.next_turn == known + 1
    vanish(server, game)
    _, game = back(server, saved)
    assert game.row().turn >= saved.game.turn + put_back.LEAP
    first = game.row().turn
    vanish(server, game)
    _, game = back(server, saved)
    assert game.row().turn not in range(first - put_back.LEAP, first + 1), "one file, and other luck"


@pytest.mark.slow
def test_the_game_goes_on_past_the_rows_that_were_lost(server, poker):
    """Emails about lost rows must not stand in the way of those about the rows that get their numbers."""
    # With two sealed choices, the next turns close in rows of the same numbers.
    plays(poker, 5)
    saved = saved_of(server, poker)
    plays(poker, 9)
    lost = poker.row().seq
    _, game = back(server, saved, replacing=True)
    for _ in game.play_defaults():
        pass
    assert game.row().seq > lost
    assert problems(server, game) == ()


def test_choices_made_here_are_lost_only_on_demand_and_are_listed(server, poker):
    plays(poker, 3)
    saved = saved_of(server, poker)
    plays(poker, 4)
    before = all_rows(server.store)
    with pytest.raises(Forbidden, match="would be lost"):
        back(server, saved)
    looked = server.dry_run(put_back.put_back, ROOT, saved, WHY, replacing=True)
    assert all_rows(server.store) == before
    assert [line for line in looked.says if line.startswith("Lost: turn")]
    done, _ = back(server, saved, replacing=True)
    assert done.says == looked.says


def test_a_game_that_lacks_nothing_is_left_alone(server, poker):
    plays(poker, 3)
    with pytest.raises(Forbidden, match="every saved row"):
        back(server, saved_of(server, poker))


def test_a_stopped_game_whose_record_was_damaged_is_mended(server, poker):
    plays(poker, 7)
    saved = saved_of(server, poker)
    server.store.write(
        lambda tx: tx.execute(update(LOG).where(LOG.c.game_id == poker.id, LOG.c.seq == 3).values(body=b"{}"))
    )
    assert problems(server, poker)
    _, game = back(server, saved)
    assert problems(server, game) == ()


def test_a_game_that_was_stopped_or_paused_when_it_was_saved_goes_on_as_its_log_says(server, poker):
    plays(poker, 3)
    moderate(server, Freeze(poker.id))
    _, game = back(server, saved_of(server, poker), replacing=True)
    assert game.row().status == "playing"
    assert problems(server, game) == ()
    moderate(server, Pause(game.id))
    saved = saved_of(server, game)
    vanish(server, game)
    _, game = back(server, saved)
    assert game.row().paused
    assert problems(server, game) == ()


def test_no_old_link_opens_anything(server, poker):
    plays(poker, 3)
    saved = saved_of(server, poker)

    def links_of(tx, server):
        made = service_links.make_for_seat(tx, server, poker.person_at(0), poker.id, poker.row().turn, 0)
        rows = [service_links.read(tx, each) for each in made]
        return [(service_links.token(server, row), Purpose(row.purpose)) for row in rows]

    tokens = server.run(links_of)
    back(server, saved, replacing=True)
    for token, purpose in tokens:
        with pytest.raises((Gone, NotFound)):
            server.read(service_links.follow, token, purpose)
    vanish(server, poker)
    back(server, saved)
    for token, purpose in tokens:
        with pytest.raises((Gone, NotFound)):
            server.read(service_links.follow, token, purpose)


def test_every_deadline_begins_again_and_everyone_is_told(server, time, poker):
    time.sends()
    saved = saved_of(server, poker)
    vanish(server, poker)
    time.passes_until(server.now().replace(year=2027))
    _, game = back(server, saved)
    assert set(game.asked()) == {0, 1, 2}
    for seat in range(3):
        row = time.deadline(game, seat)
        assert (row.asked_at, row.due_at) == (server.now(), None)
        kinds = [each.kind for each in queued_emails(server, game.person_at(seat)) if each.game_id == game.id]
        assert kinds == ["turn", "notice"]
    time.sends()
    assert time.due(game, 0) > server.now()
    assert time.runs_out().decided == 0


@pytest.mark.parametrize("ended", [False, True])
def test_the_email_says_what_was_put_back_and_why(server, poker, tmp_path, ended):
    for _ in poker.play_defaults() if ended else ():
        pass
    back(server, saved_of(server, poker), replacing=True)
    transport = StoringTransport()
    post = Post(post_of(config.read({"PBEM_DATA_DIR": str(tmp_path)})).letterhead, transport)
    server.clock.advance(timedelta(minutes=2))
    while deliver(server, post).dealt_with:
        pass
    parsed = [email.message_from_bytes(sent.content, policy=policy.default) for sent in transport.emails]
    (notice,) = [each for each in parsed if "was restored" in each["Subject"] and "ann@" in each["To"]]
    text = notice.get_body().get_content()
    assert WHY in text
    assert ("its result is the same" in text) == ended
    assert ("cards are shuffled and dice rolled afresh" in text) != ended


@pytest.mark.parametrize("sealed", [0, 2])
def test_nobody_reads_in_the_log_how_many_had_answered_the_turn_that_was_lost(server, poker, sealed):
    saved = saved_of(server, poker)
    plays(poker, 3 + sealed)
    assert len(poker.position().box) == sealed
    _, game = back(server, saved, replacing=True)
    (row,) = (row for row in game.log() if row.kind == Kind.REWOUND)
    assert json.loads(row.body)["entries_lost"] == 1


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("sealed", [0, 1, 2])
def test_nothing_tells_who_had_answered_the_turn_that_is_asked_again(server, poker, sealed, gone):
    plays(poker, 3 + sealed)
    saved, turn = saved_of(server, poker), poker.row().turn
    if gone:
        vanish(server, poker)
    else:
        plays(poker, 1)
    _, game = back(server, saved, replacing=True)
    assert {each.turn for each in saved_of(server, game).deadlines} == {turn - 1, game.row().turn}
    people = [game.person_at(seat) for seat in range(3)]
    plays(game, 3)
    counts = server.read(lambda tx, _server: reliability.counts(tx, people, START - timedelta(days=1)))
    assert [counts[person].turns for person in people] == [2, 2, 2]
    link = Links(server).of(game, 0)[1]
    (row,) = server.read(desk_table.interventions, link).rows
    assert not {"sealed", "all_sealed"} & row.says.keys()


def test_sealed_choices_and_orders_are_dropped(server, table):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    other = next(each for each in range(3) if each != seat)
    server.run(standing_orders.set_order, game.id, other, "up to 3")
    saved = saved_of(server, game)
    vanish(server, game)
    _, game = back(server, saved)
    assert (game.row().box, game.row().orders) == ("[]", "[]")
    assert problems(server, game) == ()


def test_a_player_who_left_for_good_is_followed_by_a_bot_and_not_named(server, poker, person):
    plays(poker, 3)
    saved = saved_of(server, poker)
    seat = next(seat for seat, player in poker.players().items() if player.name == "Ben")
    vanish(server, poker)
    server.run(deletion.delete_person, person("Ben"))
    done, game = back(server, saved)
    assert game.players()[seat].bot is not None
    assert all(player.name != "Ben" for player in game.players().values())
    assert problems(server, game) == ()
    assert any("a bot plays on" in line for line in done.says)
    assert [row.kind for row in game.log()][-2:] == [Kind.SEATED, Kind.REWOUND]


def test_the_player_of_a_seat_here_goes_on_playing_it(server, poker, person):
    plays(poker, 3)
    saved = saved_of(server, poker)
    gone, dora = poker.person_at(1), person("Dora")
    moderate(server, Substitute(poker.id, 1, "dora@example.org"))
    _, game = back(server, saved, replacing=True)
    assert game.person_at(1) == dora
    assert problems(server, game) == ()
    vanish(server, poker)
    _, game = back(server, saved)
    assert game.person_at(1) == gone


def test_talk_of_a_successor_before_a_restore_stays_theirs(server, clock, poker, person):
    person("Zoe")
    saved = saved_of(server, poker)
    plays(poker, 1)
    moderate(server, Substitute(poker.id, 0, "zoe@example.org"))
    clock.advance(timedelta(minutes=1))
    server.run(talk.say, poker.id, 0, poker.person_at(0), "I am Zoe.")
    clock.advance(timedelta(minutes=1))
    _, game = back(server, saved, replacing=True)
    with server.store.read() as tx:
        (line,) = talk_rows.lines(tx, game.id, game.row().key)
    assert line.who(game.players()[0].name) == "Zoe"


def test_no_mention_from_before_a_restore_quotes_the_line_that_got_its_number(server, poker):
    ben = poker.person_at(1)
    server.run(preferences.switch_topic, ben, Topic.TALK, on=True)
    server.run(talk.say, poker.id, 2, poker.person_at(2), "Not for everyone.")
    saved = saved_of(server, poker)
    # The line of an earlier timeline: here another one has its number.
    server.store.write(lambda tx: tx.execute(delete(TALK).where(TALK.c.game_id == poker.id)))
    server.run(talk.say, poker.id, 0, poker.person_at(0), f"Well played, @{poker.players()[1].name}!")
    assert [email.status for email in queued_emails(server, ben, "mention")] == ["queued"]
    _, game = back(server, saved, replacing=True)
    with server.store.read() as tx:
        assert [line.text for line in talk_rows.lines(tx, game.id, game.row().key)] == ["Not for everyone."]
    assert [email.status for email in queued_emails(server, ben, "mention")] == ["superseded"]


def test_a_corrected_title_and_a_former_players_corrected_name_stay_corrected(server, poker, person):
    person("Zoe")
    was = poker.players()[0].name
    moderate(server, Substitute(poker.id, 0, "zoe@example.org"))
    saved = saved_of(server, poker)
    moderate(server, Correct(poker.id, "title", "Poker night"))
    moderate(server, Correct(poker.id, "name", "Bea", former=was))
    _, game = back(server, saved, replacing=True)
    with server.store.read() as tx:
        names = [each.name for each in players.former_names(tx, game.id)]
    assert (game.row().title, names) == ("Poker night", ["Bea"])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda saved: replace(saved, game=saved.game._replace(title="x" * 81)), "a title can't be used"),
        (lambda saved: replace(saved, game=saved.game._replace(pace="soon")), "pace 'soon'"),
        (lambda saved: replace(saved, game=saved.game._replace(stand_in="skynet")), "taken over by 'skynet'"),
        (lambda saved: replace(saved, former_players=saved.former_players * 2), "former_player is there twice"),
        (
            lambda saved: replace(saved, former_players=(replace(saved.former_players[0], name="a@example.org"),)),
            "a name can't be used",
        ),
        (
            lambda saved: replace(saved, former_players=(replace(saved.former_players[0], seat=9),)),
            "a former player had seat 9",
        ),
    ],
)
def test_a_saved_game_with_words_or_former_players_that_none_has_does_not_verify(server, poker, person, damage, says):
    person("Zoe")
    moderate(server, Substitute(poker.id, 0, "zoe@example.org"))
    saved = saved_of(server, poker)
    assert verify_saved(saved).sound
    assert says in " ".join(problem.says for problem in verify_saved(damage(saved)).problems)


def test_a_player_who_lost_a_seat_knows_the_hidden_side_for_ever(server, poker, person):
    moderate(server, Substitute(poker.id, 1, "dora@example.org"))
    saved = saved_of(server, poker)
    (sat,) = [person_id for person_id, how in saved.insiders if how == Insight.SAT]
    vanish(server, poker)
    _, game = back(server, saved)
    assert server.query(insiders.has_sat, sat, game.id)


def test_seats_stay_on_offer_and_requests_wait_for_the_turn_that_is_asked_again(server, person, table):
    game = table("bid", 3, successor="substitute")
    saved, gone, zoe = saved_of(server, game), game.person_at(2), person("Zoe")
    moderate(server, Offer(game.id, 2))
    (offer,) = server.read(offers.open_offers)
    server.run(substitutes.take, offer.id, zoe)
    _, game = back(server, saved, replacing=True)
    substitutes.tidy(server)
    assert game.person_at(2) == gone
    for seat, decision in game.asked().items():
        game.play(seat, decision.default, "clock" if seat == 2 else "person")
    substitutes.tidy(server)
    assert game.person_at(2) == zoe
    assert problems(server, game) == ()


def test_a_player_replaced_by_a_bot_can_still_come_back(server, table):
    game = table("bid", 3)
    gone = game.person_at(1)
    server.run(leaving.resign, game.id, 1, gone)
    _, game = back(server, saved_of(server, game), replacing=True)
    server.run(substitutes.come_back, game.id, 1, gone)
    assert game.person_at(1) == gone


def test_a_game_that_has_ended_here_never_goes_back(server, poker):
    plays(poker, 3)
    saved = saved_of(server, poker)
    moderate(server, Close(poker.id))
    with pytest.raises(Gone, match="is over here"):
        back(server, saved, replacing=True)


def test_a_finished_game_comes_back_as_it_ended(server, table, tmp_path):
    game = table("sorcerous-futures", 3)
    for _ in game.play_defaults():
        pass
    saved = saved_of(server, game)
    vanish(server, game)
    done, game = back(server, saved)
    assert not done.asks
    assert game.log() == list(saved.log)
    assert problems(server, game) == ()


def test_a_number_that_another_game_has_is_not_taken(server, table, poker):
    plays(poker, 3)
    saved = saved_of(server, poker)
    vanish(server, poker)
    others = [table("templari", 3), table("templari", 3)]
    _, game = back(server, saved)
    assert game.id not in {each.id for each in others}
    assert problems(server, game) == ()
    assert [problems(server, each) for each in others] == [(), ()]


def test_a_line_that_was_taken_away_from_the_talk_stays_away(server, poker):
    server.run(talk.say, poker.id, 1, poker.person_at(1), "an insult")
    saved = saved_of(server, poker)
    moderate(server, Redact(poker.id, 1))
    _, game = back(server, saved, replacing=True)
    assert problems(server, game) == ()
    assert b"an insult" not in repr(all_rows(server.store)["talk"]).encode()


@pytest.mark.slow
def test_a_finished_game_that_was_put_back_verifies_by_its_file_alone(server, poker, tmp_path):
    plays(poker, 4)
    saved = saved_of(server, poker)
    plays(poker, 3)
    _, game = back(server, saved, replacing=True)
    for _ in game.play_defaults():
        pass
    file = tmp_path / "game.json"
    file.write_text(export.write(server.read(export.of_game, game.id)))
    assert verify_file(file).sound
    program = runpy.run_path(str(paths.handbook() / "verify_game.py"))
    program["check"](json.loads(file.read_text()), [])


def test_it_is_audited_and_only_done_at_the_machine(server, poker):
    saved = saved_of(server, poker)
    with pytest.raises(Forbidden, match="on the server"):
        server.run(put_back.put_back, OLGA, saved, WHY, replacing=True)
    with pytest.raises(BadInput):
        server.run(put_back.put_back, ROOT, saved, "", replacing=True)
    back(server, saved, replacing=True)
    (row,) = server.read(audit.newest, audit_rows.AuditFilter(act="put back"))
    assert (row.game_id, row.reason) == (poker.id, WHY)


def test_a_game_is_put_back_whole_or_not_at_all(server, poker):
    plays(poker, 3)
    saved = saved_of(server, poker)
    plays(poker, 3)
    check_atomic(server.store, lambda: back(server, saved, replacing=True))


def test_the_file_of_a_table_puts_it_back(server, poker):
    plays(poker, 4)
    server.run(talk.say, poker.id, 1, poker.person_at(1), "Grüße")
    saved = saved_of(server, poker)
    _, text = server.run(export_table.export, ROOT, poker.id, WHY)
    assert table_file.read(text) == saved
    assert "contains every secret" in text
    vanish(server, poker)
    _, game = back(server, table_file.read(text))
    assert problems(server, game) == ()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-9],
        lambda text: text.replace('"seq"', '"sqe"', 1),
        lambda text: "[]",
        lambda text: text.replace("pbem-table", "pbem-game"),
    ],
    ids=["cut off", "another field", "no object", "another file"],
)
def test_a_file_that_is_none_of_a_table_is_refused(server, poker, damage):
    _, text = server.run(export_table.export, ROOT, poker.id, WHY)
    with pytest.raises(BadInput):
        table_file.read(damage(text))


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("game", "seats"), 10**18),
        (("game", "seats"), 2),
        (("game", "seq"), 10**19),
        (("players",), []),
        (("players", 0, "name"), "\ud800"),
        (("players", 0, "word"), "a\0"),
        (("log", 1, "nonce"), None),
        (("log", 1, "body"), None),
    ],
)
def test_a_file_of_what_no_database_keeps_is_refused(server, poker, at, value):
    document = json.loads(server.run(export_table.export, ROOT, poker.id, WHY)[1])
    *way, last = at
    inside = document
    for each in way:
        inside = inside[each]
    inside[last] = value
    with pytest.raises(BadInput):
        back(server, table_file.read(json.dumps(document)))


def test_no_organiser_who_sits_or_sat_at_a_table_gets_its_file(server, poker):
    player = Actor(Role.ORGANISER, "Ann", 7, poker.person_at(0))
    before = all_rows(server.store)
    with pytest.raises(Forbidden, match="play at this table"):
        server.run(export_table.export, player, poker.id, WHY)
    assert all_rows(server.store) == before
    moderate(server, Substitute(poker.id, 0))
    with pytest.raises(Forbidden, match="play at this table"):
        server.run(export_table.export, player, poker.id, WHY)


@pytest.mark.parametrize("act", ["export table", "put back"])
def test_the_audit_tells_nobody_how_many_have_answered_the_open_turn(server, poker, act):
    """Organisers read the audit of tables where they play, too."""
    plays(poker, 3)
    saved, bodies = saved_of(server, poker), []
    for _sealed in range(2):
        plays(poker, 1)
        if act == "export table":
            server.run(export_table.export, ROOT, poker.id, WHY)
            bodies.append(server.read(audit.newest, audit_rows.AuditFilter(act=act))[0].body)
        else:
            bodies.append(server.dry_run(put_back_on_record, saved))
    assert bodies[0] == bodies[1]


def put_back_on_record(tx, server, saved):
    """What the audit says of a game that is put back."""
    put_back.put_back(tx, server, ROOT, saved, WHY, replacing=True)
    return audit.newest(tx, server, audit_rows.AuditFilter(act="put back"))[0].body


def test_an_organiser_who_took_the_file_of_a_table_is_on_record_and_never_plays_there(server, poker, person):
    olga = Actor(Role.ORGANISER, "Olga", 1, person("Olga"))
    server.run(export_table.export, olga, poker.id, WHY)
    (row,) = server.read(audit.newest, audit_rows.AuditFilter(act="export table"))
    assert (row.actor, row.reason, row.game_id) == (str(olga), WHY, poker.id)
    assert server.query(insiders.has_looked, person("Olga"), poker.id)
