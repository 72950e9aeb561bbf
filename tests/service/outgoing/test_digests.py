"""Digests: one email a day with a section for each table, and none if nothing happened.

The relay is a real server on this machine, and time passes only when it is told to.
"""

import re
from datetime import UTC, datetime, time, timedelta
from html import escape

import pytest
from sqlalchemy import event

from pbem.domain.delivery import parse_delivery
from pbem.mail.write.words import SENTENCES_BYTES, TALK_BYTES
from pbem.service import links
from pbem.service.absence import timeouts
from pbem.service.desk.acts.clocks import Extend, Freeze, Pause, Resume, Unfreeze
from pbem.service.desk.acts.correct import Correct
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import deliver, digests, preferences
from pbem.service.people import addresses
from pbem.service.play import by_link
from pbem.service.tables import joining, talk
from pbem.service.tables.new import TableSettings
from pbem.store import deadlines, outbox
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.clock import DAY, MINUTE
from tests.service.database import check_atomic, queued_emails
from tests.service.outgoing.test_deliver import HOUR, LINK, drain, links_in, post_to, rows
from tests.service.races import meetings

EIGHT = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
DAILY = parse_delivery("daily")


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def games(table, server, clock, post):
    """Two games that have been told of, whose people then chose a digest at eight."""
    both = table("templari", 3), table("sunset-poker", 3)
    drain(server, clock, post)
    for seat in range(3):
        server.run(preferences.choose, both[0].person_at(seat), DAILY, None, time(8))
    return both


def play_once(game):
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)


def carry(server, post):
    """What a worker does in a minute."""
    digests.gather(server)
    deliver.deliver(server, post, limit=100)


def digest_of(sink, server, person):
    """The digests that a person got, the oldest first."""
    address = server.read(addresses.read, person).address
    return [email for email in sink.to(address) if str(email.message["feedback-id"]).split(":")[1] == "digest"]


def next_eight(clock):
    """Eight o'clock of the next morning."""
    clock.set((clock.now() + DAY).replace(hour=8, minute=0, second=0, microsecond=0))


def test_a_digest_is_one_email_a_day_with_a_section_for_each_table(server, clock, sink, post, games):
    templari, poker = games
    play_once(templari)
    for seat, decision in poker.asked().items():
        poker.play(seat, decision.default)
    before = len(sink.emails)
    for _ in range(20):
        clock.advance(HOUR / 4)
        carry(server, post)
    assert len(sink.emails) == before, "nothing leaves before its time"
    next_eight(clock)
    for _ in range(10):
        carry(server, post)
        clock.advance(MINUTE)
    asked = next(iter(templari.asked()))
    person = templari.person_at(asked)
    (email,) = digest_of(sink, server, person)
    first, second = " ".join(email.text.split("\n\n")[0].split()).split(". ", 1)
    assert "it's your turn in " in first
    assert re.search("(by|deadline is) Sun 22 Nov 2026", second), "the first of the moments, in the first two lines"
    assert email.text.index("Templari") >= 0
    assert email.text.index("Sunset Poker") >= 0
    assert "Please move by" in email.text
    assert email.message["reply-to"] is None
    assert len(sink.emails) == before + 3, "one for each of the three"
    assert {row.status for row in queued_emails(server, person, "turn")} == {"sent"}, "told by the digest"


def test_a_reader_of_many_tables_has_their_last_digest_read_once(server, clock, sink, post, games):
    play_once(games[0])
    next_eight(clock)
    of_newest = []

    def executed(_connection, _cursor, statement, values, _context, _many):
        given = values.values() if isinstance(values, dict) else values
        if statement.startswith("SELECT") and {"digest", "sent"} <= {*map(str, given)}:
            of_newest.append(statement)

    event.listen(server.store.engine, "before_cursor_execute", executed)
    try:
        assert digests.gather(server) == 3
    finally:
        event.remove(server.store.engine, "before_cursor_execute", executed)
    assert len(of_newest) == 3, "one for each reader, who may have thousands of emails"


def test_the_links_of_a_digest_decide(server, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    clock.advance(HOUR)
    carry(server, post)
    next_eight(clock)
    carry(server, post)
    seat = next(iter(templari.asked()))
    (email,) = digest_of(sink, server, templari.person_at(seat))
    found = [(purpose, token, option) for purpose, token, option in links_in(email) if purpose in "ms"]
    assert {purpose for purpose, _, _ in found} >= {"s"}
    for purpose, token, _ in found:
        assert server.read(links.follow, token, Purpose(purpose)).person_id == templari.person_at(seat)
    mine = [
        (token, option)
        for purpose, token, option in found
        if purpose == "m" and server.read(links.follow, token, Purpose.MOVE).game_id == templari.id
    ]
    if mine:
        assert server.run(by_link.move, *mine[0]).seat == seat


def test_a_day_without_news_has_no_digest(server, clock, sink, post, games):
    before = len(sink.emails)
    for _ in range(3):
        next_eight(clock)
        carry(server, post)
    assert len(sink.emails) == before
    assert queued_emails(server, kind="digest") == []


def test_a_digest_has_what_was_said_since_the_last_one_whatever_the_clock_says(server, clock, sink, post, games):
    ann = games[0].person_at(0)
    server.run(preferences.choose, ann, DAILY, None, time(8))
    drain(server, clock, post)

    def digest(line):
        seat = next(seat for seat in range(3) if games[0].person_at(seat) != ann)
        clock.set(clock.now() - 2 * HOUR)
        server.run(talk.say, games[0].id, seat, games[0].person_at(seat), line)
        play_once(games[0])
        next_eight(clock)
        carry(server, post)
        return digest_of(sink, server, ann)[-1].text

    assert "One" in digest("One")
    second = digest("Two")
    assert "Two" in second
    assert "One" not in second


@pytest.mark.parametrize("many", [2, 4])
def test_the_tables_of_a_digest_share_its_room_for_what_happened_talk_and_links(server, clock, sink, post, table, many):
    """No table takes the room of another, and the email is no longer for many tables than for one."""
    tables = [table("sorcerous-futures", 4, title=f"Evening {number}") for number in range(many)]
    drain(server, clock, post)
    ann = tables[0].person_at(0)
    server.run(preferences.choose, ann, DAILY, None, time(8))
    choices = {}
    clock.advance(HOUR)
    for game in tables:
        seat = next(seat for seat in range(4) if game.person_at(seat) == ann)
        choices[game.row().title] = play_until_asked_to_sell(game, seat)
        for number in range(talk.LINES_AN_HOUR):
            talker = (seat + 1) % 4
            server.run(talk.say, game.id, talker, game.person_at(talker), f"{number} " + "李" * 60)
        clock.advance(HOUR)
    next_eight(clock)
    while rows(server, "queued") or not digest_of(sink, server, ann):
        carry(server, post)
    (email,) = digest_of(sink, server, ann)
    _lead, *sections = re.split(r"^(Evening \d) \(Sorcerous Futures\), turn \d+$", email.text, flags=re.MULTILINE)
    assert len(sections) == 2 * many
    for title, section in zip(sections[::2], sections[1::2], strict=True):
        text = " ".join(section.split())
        assert text.count("see your table for the rest") == 2, "of what happened, and of talk"
        assert f": {talk.LINES_AN_HOUR - 1} 李" in text, "what was said last"
        happened, rest = text.split("TALK")
        heard, rest = rest.split("WHAT YOU CAN DO")
        assert 0.5 * SENTENCES_BYTES / many < len(escape(happened)) < 1.5 * SENTENCES_BYTES / many + 200
        assert 0.5 * TALK_BYTES / many < len(heard.encode()) < 1.5 * TALK_BYTES / many + 200
        asked = [option for purpose, _, option in LINK.findall(rest) if purpose == "m"]
        assert len(asked) == min(choices[title], 24 // many), "as many of both ways to sell"
        assert ("At your table, you can also choose: " in text) == (many > 2)
    assert 0 < len(email.html.encode()) < 24 * 1024


def play_until_asked_to_sell(game, seat):
    """Play defaults until a lot has happened and a seat has cards to sell; returns in how many ways it can."""
    for _ in range(400):
        asked = game.asked()
        if seat in asked and game.row().turn >= 12 and asked[seat].count() in (8, 10):
            return asked[seat].count()
        for each, decision in asked.items():
            game.play(each, decision.default)
    raise AssertionError("this seat is never asked to sell")


def test_a_digest_repeats_nothing(server, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    clock.advance(HOUR)
    carry(server, post)
    for _ in range(3):
        next_eight(clock)
        carry(server, post)
    for seat in range(3):
        assert len(digest_of(sink, server, templari.person_at(seat))) == 1


def test_the_next_digest_contains_one_that_was_lost(server, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    seat = next(iter(templari.asked()))
    person = templari.person_at(seat)
    clock.advance(HOUR)
    carry(server, post)
    next_eight(clock)
    sink.does(*["550 data"] * 3)
    carry(server, post)
    assert [row.status for row in queued_emails(server, person, "digest")] == ["parked"]
    assert "digest" in {row.status for row in queued_emails(server, person, "turn")}
    next_eight(clock)
    carry(server, post)
    (email,) = digest_of(sink, server, person)
    assert "Please move by" in email.text
    assert "digest" not in {row.status for row in queued_emails(server, person)}


def test_a_newer_digest_replaces_one_that_could_not_leave(server, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    person = templari.person_at(next(iter(templari.asked())))
    clock.advance(HOUR)
    carry(server, post)
    next_eight(clock)
    digests.gather(server)
    next_eight(clock)
    digests.gather(server)
    carry(server, post)
    assert [row.status for row in queued_emails(server, person, "digest")] == ["superseded", "sent"]
    assert len(digest_of(sink, server, person)) == 1


def test_a_digest_does_not_ask_for_an_answer_given_meanwhile(server, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    seat = next(iter(templari.asked()))
    clock.advance(HOUR)
    carry(server, post)
    play_once(templari)
    next_eight(clock)
    carry(server, post)
    (email,) = digest_of(sink, server, templari.person_at(seat))
    _, after = email.text.split("Templari, turn")
    assert "WHAT YOU CAN DO" not in after.split("=" * 72)[0]
    assert email.text.count("Please move by") == 1, "and that is for the other table"


def test_games_that_are_over_are_in_no_digest_even_if_one_is_queued(server, clock, sink, post, table):
    game = table("templari", 3, bots=("random", "random"))
    ann = next(player.person_id for player in game.players().values() if player.person_id)
    drain(server, clock, post)
    server.run(preferences.choose, ann, DAILY, None, time(8))
    moderate(server, Pause(game.id), "dinner")
    clock.advance(HOUR)
    carry(server, post)
    next_eight(clock)
    assert digests.gather(server) == 1
    moderate(server, Resume(game.id))
    for _ in game.play_defaults():
        pass
    carry(server, post)
    next_eight(clock)
    carry(server, post)
    assert [row.status for row in queued_emails(server, ann, "digest")] == ["superseded"]
    assert {row.status for row in queued_emails(server, ann)} <= {"sent", "superseded"}, "nothing waits for ever"
    assert queued_emails(server, ann, "result")[0].status == "sent"


def test_many_workers_send_one_digest(server, clock, sink, post, games):
    play_once(games[0])
    clock.advance(HOUR)
    carry(server, post)
    next_eight(clock)
    first, *others = [digests.gather(server) for _ in range(5)]
    assert first == 3
    assert others == [0, 0, 0, 0]


def test_workers_that_meet_at_any_step_send_one_digest(server, clock, post, table, person):
    game = table("templari", 3, bots=("random", "random"))
    drain(server, clock, post)
    ann = person("Ann")
    server.run(preferences.choose, ann, DAILY, None, time(8))
    days = 0
    for meeting in meetings(server.store):
        moderate(server, Pause(game.id), "dinner")
        clock.advance(MINUTE)
        deliver.deliver(server, post, limit=100)
        moderate(server, Resume(game.id))
        next_eight(clock)
        assert sum(meeting(lambda: digests.gather(server), lambda: digests.gather(server))) == 1
        days += 1
        assert len(queued_emails(server, ann, "digest")) == days
    assert days > 5


def test_a_digest_is_queued_whole_or_not_at_all(server, clock, post, table, person):
    game = table("templari", 3, bots=("random", "random"))
    drain(server, clock, post)
    ann = person("Ann")
    server.run(preferences.choose, ann, DAILY, None, time(8))
    moderate(server, Pause(game.id), "dinner")
    clock.advance(HOUR)
    carry(server, post)
    next_eight(clock)
    assert check_atomic(server.store, lambda: server.run(digests._queue, ann, clock.now().date())) > 5


def test_a_digest_comes_at_its_local_time_when_the_clocks_change(server, clock, sink, post, table):
    # In Berlin the clocks go forward at one o'clock UTC on 28 March 2027.
    clock.set(datetime(2027, 3, 26, 12, 0, tzinfo=UTC))
    game = table("templari", 3)
    drain(server, clock, post)
    clock.set(datetime(2027, 3, 27, 12, 0, tzinfo=UTC))
    for seat in range(3):
        server.run(addresses.change_settings, game.person_at(seat), zone="Europe/Berlin")
        server.run(preferences.choose, game.person_at(seat), DAILY, None, time(8))
    ann, got = game.person_at(0), []
    for _ in range(4 * 24 * 3):
        if clock.now().minute == 0 and clock.now().hour == 20:
            moderate(server, Pause(game.id), "sleep")
            moderate(server, Resume(game.id))
        before = len(digest_of(sink, server, ann))
        carry(server, post)
        got += [clock.now()] * (len(digest_of(sink, server, ann)) - before)
        clock.advance(HOUR / 4)
    assert [(each.day, each.hour) for each in got] == [(28, 6), (29, 6), (30, 6)]


def test_the_last_reminder_before_the_time_is_over_comes_by_itself(server, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    seat = next(iter(templari.asked()))
    person = templari.person_at(seat)
    for _ in range(23 * 4):
        clock.advance(HOUR / 4)
        timeouts.remind(server)
        deliver.deliver(server, post, limit=100)
    reminders = [row for row in queued_emails(server, person, "reminder") if row.game_id == templari.id]
    assert [row.status for row in reminders] == ["digest", "digest", "sent"]


def test_notices_are_in_one_digest_in_their_order(server, clock, sink, post, games):
    templari, _ = games
    person = next(templari.person_at(seat) for seat in range(3) if seat not in templari.asked())
    leaver = next(seat for seat in range(3) if templari.person_at(seat) != person and seat not in templari.asked())
    name = templari.players()[leaver].name
    for act, reason in (
        (Pause(templari.id), "We move house."),
        (Resume(templari.id), "We have moved."),
        (Correct(templari.id, "pace", "3d"), "It was a typo."),
        (Substitute(templari.id, leaver), "They asked for it."),
    ):
        clock.advance(HOUR)
        moderate(server, act, reason)
        carry(server, post)
    assert [
        email
        for email in sink.to(server.read(addresses.read, person).address)
        if "is paused" in email.message["subject"]
    ] == []
    clock.set(EIGHT)
    carry(server, post)
    (email,) = digest_of(sink, server, person)
    text = " ".join(email.text.split())
    sentences = [
        "The table was paused.",
        "The organiser wrote: We move house.",
        "The table has resumed, and the clocks are running.",
        "The organiser wrote: We have moved.",
        "“1 day” to “3 days”.",
        f"A bot has taken over {name}'s seat.",
        "The organiser wrote: They asked for it.",
    ]
    assert [text.count(each) for each in sentences] == [1] * len(sentences)
    assert [text.index(each) for each in sentences] == sorted(text.index(each) for each in sentences)
    assert {row.status for row in queued_emails(server, person, "notice")} == {"sent"}
    play_once(templari)
    next_eight(clock)
    carry(server, post)
    _, second = digest_of(sink, server, person)
    assert not any(each in " ".join(second.text.split()) for each in sentences)


def test_more_time_for_an_answered_turn_is_in_no_digest(server, clock, sink, post, games):
    templari, _ = games
    seat = next(iter(templari.asked()))
    moderate(server, Extend(templari.id, "1d"))
    clock.advance(HOUR)
    carry(server, post)
    play_once(templari)
    clock.advance(HOUR)
    clock.set(EIGHT)
    carry(server, post)
    (email,) = digest_of(sink, server, templari.person_at(seat))
    assert "more time" not in email.text


def test_news_that_had_their_own_email_are_in_no_digest(server, clock, sink, post, table):
    """A turn email said what happened, and a notice that the table was paused, before the player chose a digest."""
    game = table("templari", 3)
    drain(server, clock, post)
    for _ in range(4):
        play_once(game)
    moderate(server, Pause(game.id), "A short pause.")
    drain(server, clock, post)
    person = game.person_at(next(iter(game.asked())))
    emails = sink.to(server.read(addresses.read, person).address)
    assert any("THE GAME SO FAR" in email.text for email in emails)
    assert any("A short pause." in email.text for email in emails)
    server.run(preferences.choose, person, DAILY, None, time(8))
    moderate(server, Resume(game.id), "It is over.")
    drain(server, clock, post)
    next_eight(clock)
    carry(server, post)
    (email,) = digest_of(sink, server, person)
    assert "It is over." in email.text
    assert "A short pause." not in email.text
    assert digest_story(email) == [
        "- The table has resumed, and the clocks are running.",
        "- The organiser wrote: It is over.",
    ]


def test_turns_during_the_delivery_of_a_digest_are_in_the_next(server, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    person = templari.person_at(0)
    next_eight(clock)
    digests.gather(server)
    seat, decision = next(iter(templari.asked().items()))
    templari.play(seat, decision.default)
    deliver.deliver(server, post, limit=100)
    next_eight(clock)
    carry(server, post)
    first, second = (digest_story(email) for email in digest_of(sink, server, person))
    assert first
    assert second
    assert not set(first) & set(second), "what the first told, the second does not tell again"


def digest_story(email):
    """What a digest says happened at the table of Templari, in sentences."""
    section = email.text.split("Templari, turn")[1].split("=====")[0]
    return re.findall(r"^- .*", section.split("WHAT YOU CAN DO")[0], re.MULTILINE)


def test_the_loss_of_a_seat_does_not_wait_for_a_digest(server, clock, sink, post, games):
    templari, _ = games
    person = templari.person_at(0)
    facts = {"what": "seat_offered", "who": "Ann", "seat": 0, "why": "missed"}
    now = clock.now()
    email = outbox.NewEmail(person, "notice", templari.id, None, None, None, facts)
    server.store.write(lambda tx: outbox.queue(tx, [email], now, now))
    clock.advance(MINUTE)
    deliver.deliver(server, post, limit=100)
    assert queued_emails(server, person, "notice")[-1].status == "sent"


def test_a_digest_of_one_table_leaves_the_emails_of_another_alone(server, clock, sink, post, table):
    first, second = table("sunset-poker", 3), table("sunset-poker", 3)
    drain(server, clock, post)
    for seat in range(3):
        server.run(preferences.choose, first.person_at(seat), DAILY, first.row().key, time(8))
    for game in (first, second):
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    clock.advance(HOUR)
    carry(server, post)
    assert {row.status for row in queued_emails(server, kind="turn") if row.game_id == second.id} == {"sent"}
    next_eight(clock)
    carry(server, post)
    ann = first.person_at(0)
    (email,) = digest_of(sink, server, ann)
    assert email.text.count("Sunset Poker, turn") == 1


def test_a_clock_runs_from_the_moment_when_an_email_would_have_left(server, clock, sink, post, games):
    templari, _ = games
    asked_at = clock.now()
    play_once(templari)
    seat = next(iter(templari.asked()))
    clock.advance(2 * MINUTE)
    carry(server, post)
    with server.store.read() as tx:
        row = deadlines.read(tx, templari.id, templari.row().turn, seat)
    assert row.accepted_at == asked_at + server.hold
    assert row.due_at >= asked_at + timedelta(days=1)


def test_a_reader_hears_that_a_table_was_stopped(server, clock, sink, post, games):
    person = games[0].person_at(0)
    address = server.read(addresses.read, person).address
    moderate(server, Freeze(games[0].id), "Someone reported it.")
    carry(server, post)
    assert "has been stopped" in " ".join(sink.to(address)[-1].text.split())


def test_a_reader_hears_what_was_corrected_at_a_table_before_its_start(server, clock, sink, post, games, person):
    game_id = server.run(joining.create_table, person("Ann"), TableSettings("templari", 3)).game_id
    server.run(joining.join, game_id, person("Ann"))
    moderate(server, Correct(game_id, "missed_limit", "4", None), "A typo.")
    for _ in range(2):
        carry(server, post)
        next_eight(clock)
    (corrected,) = [row for row in queued_emails(server, person("Ann"), "notice") if '"corrected"' in row.facts]
    assert corrected.status == "sent"


def test_news_from_before_a_table_was_stopped_is_told_once_it_resumes(server, clock, sink, post, games):
    person = games[0].person_at(0)
    moderate(server, Correct(games[0].id, "title", "Sunday game", None), "A typo.")
    carry(server, post)
    (corrected,) = [row for row in queued_emails(server, person, "notice") if '"corrected"' in row.facts]
    assert corrected.status == "digest"
    moderate(server, Freeze(games[0].id), "Someone reported it.")
    next_eight(clock)
    carry(server, post)
    moderate(server, Unfreeze(games[0].id), "All is well.")
    next_eight(clock)
    carry(server, post)
    assert [row.status for row in queued_emails(server, person) if row.id == corrected.id] == ["sent"]
