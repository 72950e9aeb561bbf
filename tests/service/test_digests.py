"""Digests: one mail a day with a section for each table, and none where nothing happened.

The relay is a real server on this machine, and time passes only when it is told to.
"""

import re
from datetime import UTC, datetime, time, timedelta
from html import escape

import pytest

from pbem.domain.delivery import parse_delivery
from pbem.links import Purpose
from pbem.service import by_link, delivery, digests, links, people, talk, timeouts, wishes
from pbem.service.heartbeat import Worker
from pbem.service.moderation.clocks import Extend, Pause, Resume
from pbem.service.moderation.correcting import Correct
from pbem.service.moderation.seats import Substitute
from pbem.service.telling import LONGEST_SAID, LONGEST_TOLD
from pbem.store import deadlines, outages, outbox
from tests.service.moderated import does
from tests.service.races import meetings
from tests.service.stored import fails_without_a_trace, letters
from tests.service.test_delivery import HOUR, LINK, drain, links_in, post_to, rows
from tests.service.timed import DAY, MINUTE

EIGHT = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
DAILY = parse_delivery("daily")


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def games(table, house, clock, post):
    """Two games that have been told of, whose people then chose a digest at eight."""
    both = table("templari", 3), table("sunset-poker", 3)
    drain(house, clock, post)
    for seat in range(3):
        wishes.choose(house, both[0].person_at(seat), DAILY, None, time(8))
    return both


def play_once(game):
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)


def carry(house, post):
    """What a worker does in a minute."""
    digests.gather(house)
    delivery.deliver(house, post, limit=100)


def digest_of(sink, house, person):
    """The digests that somebody got, the oldest first."""
    address = people.read(house, person).address
    return [mail for mail in sink.to(address) if str(mail.message["feedback-id"]).split(":")[1] == "digest"]


def next_eight(clock):
    """Eight o'clock of the next morning."""
    clock.set((clock.now() + DAY).replace(hour=8, minute=0, second=0, microsecond=0))


def test_a_day_is_one_mail_with_a_section_for_each_table(house, clock, sink, post, games):
    templari, poker = games
    play_once(templari)
    for seat, decision in poker.asked().items():
        poker.play(seat, decision.default)
    before = len(sink.kept)
    for _ in range(20):
        clock.advance(HOUR / 4)
        carry(house, post)
    assert len(sink.kept) == before, "nothing leaves before its time"
    next_eight(clock)
    for _ in range(10):
        carry(house, post)
        clock.advance(MINUTE)
    asked = next(iter(templari.asked()))
    person = templari.person_at(asked)
    (mail,) = digest_of(sink, house, person)
    first, second = " ".join(mail.text.split("\n\n")[0].split()).split(". ", 1)
    assert "these tables wait for you: " in first or "waits for you" in first
    assert "by Sun 22 Nov 2026" in second, "the first of the moments, in the first two lines"
    assert mail.text.index("Templari") >= 0
    assert mail.text.index("Sunset Poker") >= 0
    assert "Please decide by" in mail.text
    assert mail.message["reply-to"] is None
    assert len(sink.kept) == before + 3, "one for each of the three"
    assert {row.status for row in letters(house, person, "turn")} == {"sent"}, "told by the digest"


def test_the_links_of_a_digest_decide(house, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    clock.advance(HOUR)
    carry(house, post)
    next_eight(clock)
    carry(house, post)
    seat = next(iter(templari.asked()))
    (mail,) = digest_of(sink, house, templari.person_at(seat))
    found = [(purpose, token, option) for purpose, token, option in links_in(mail) if purpose in "ms"]
    assert {purpose for purpose, _, _ in found} >= {"s"}
    for purpose, token, _ in found:
        assert links.opened(house, token, Purpose(purpose)).person_id == templari.person_at(seat)
    mine = [
        (token, option)
        for purpose, token, option in found
        if purpose == "m" and links.opened(house, token, Purpose.MOVE).game_id == templari.id
    ]
    if mine:
        assert by_link.move(house, *mine[0]).seat == seat


def test_where_nothing_happened_there_is_no_mail(house, clock, sink, post, games):
    before = len(sink.kept)
    for _ in range(3):
        next_eight(clock)
        carry(house, post)
    assert len(sink.kept) == before
    assert letters(house, kind="digest") == []


@pytest.mark.parametrize("many", [2, 4])
def test_the_tables_of_a_digest_share_its_room_for_what_happened_talk_and_links(house, clock, sink, post, table, many):
    """However many tables there are, none of them takes the room of another, and the mail is no longer for it."""
    tables = [table("sorcerous-futures", 4, title=f"Evening {number}") for number in range(many)]
    drain(house, clock, post)
    ann = tables[0].person_at(0)
    wishes.choose(house, ann, DAILY, None, time(8))
    choices = {}
    clock.advance(HOUR)
    for game in tables:
        seat = next(seat for seat in range(4) if game.person_at(seat) == ann)
        choices[game.row().title] = play_until_asked_to_sell(game, seat)
        for number in range(talk.LINES_AN_HOUR):
            talker = (seat + 1) % 4
            talk.say(house, game.id, talker, game.person_at(talker), f"{number} " + "李" * 60)
        clock.advance(HOUR)
    next_eight(clock)
    while rows(house, "queued") or not digest_of(sink, house, ann):
        carry(house, post)
    (mail,) = digest_of(sink, house, ann)
    _lead, *sections = re.split(r"^(Evening \d) \(Sorcerous Futures\), turn \d+$", mail.text, flags=re.MULTILINE)
    assert len(sections) == 2 * many
    for title, section in zip(sections[::2], sections[1::2], strict=True):
        said = " ".join(section.split())
        assert "More has happened than fits in here" in said
        assert "More was said than fits in here" in said
        assert f": {talk.LINES_AN_HOUR - 1} 李" in said, "what was said last"
        happened, rest = said.split("SAID AT THE TABLE")
        heard, rest = rest.split("WHAT YOU CAN DO")
        assert 0.5 * LONGEST_TOLD / many < len(escape(happened)) < 1.5 * LONGEST_TOLD / many + 200
        assert 0.5 * LONGEST_SAID / many < len(heard.encode()) < 1.5 * LONGEST_SAID / many + 200
        asked = [option for purpose, _, option in LINK.findall(rest) if purpose == "m"]
        assert len(asked) == choices[title] // (many // 2), "both ways to sell, or closed alone"
        assert ("On the page of your seat: " in said) == (many > 2)
    assert 0 < len(mail.html.encode()) < 20 * 1024


def play_until_asked_to_sell(game, seat):
    """All play what silence means until much has happened and a seat has cards to sell; in how many ways it can."""
    for _ in range(400):
        asked = game.asked()
        if seat in asked and game.row().window >= 12 and asked[seat].count() in (8, 10):
            return asked[seat].count()
        for each, decision in asked.items():
            game.play(each, decision.default)
    raise AssertionError("this seat is never asked to sell")


def test_what_was_told_is_not_told_again(house, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    clock.advance(HOUR)
    carry(house, post)
    for _ in range(3):
        next_eight(clock)
        carry(house, post)
    for seat in range(3):
        assert len(digest_of(sink, house, templari.person_at(seat))) == 1


def test_a_digest_that_was_lost_is_told_again_the_next_day(house, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    seat = next(iter(templari.asked()))
    person = templari.person_at(seat)
    clock.advance(HOUR)
    carry(house, post)
    next_eight(clock)
    sink.does(*["550 data"] * 3)
    carry(house, post)
    assert [row.status for row in letters(house, person, "digest")] == ["parked"]
    assert "digest" in {row.status for row in letters(house, person, "turn")}
    next_eight(clock)
    carry(house, post)
    (mail,) = digest_of(sink, house, person)
    assert "Please decide by" in mail.text
    assert "digest" not in {row.status for row in letters(house, person)}


def test_a_newer_digest_takes_the_place_of_one_that_could_not_leave(house, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    person = templari.person_at(next(iter(templari.asked())))
    clock.advance(HOUR)
    carry(house, post)
    next_eight(clock)
    digests.gather(house)
    next_eight(clock)
    digests.gather(house)
    carry(house, post)
    assert [row.status for row in letters(house, person, "digest")] == ["superseded", "sent"]
    assert len(digest_of(sink, house, person)) == 1


def test_what_was_answered_meanwhile_is_not_asked_in_a_digest(house, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    seat = next(iter(templari.asked()))
    clock.advance(HOUR)
    carry(house, post)
    play_once(templari)
    next_eight(clock)
    carry(house, post)
    (mail,) = digest_of(sink, house, templari.person_at(seat))
    _, after = mail.text.split("Templari, turn")
    assert "WHAT YOU CAN DO" not in after.split("=" * 72)[0]
    assert mail.text.count("Please decide by") == 1, "and that is for the other table"


def test_of_games_that_are_over_there_is_no_digest_also_where_one_waits_to_leave(house, clock, sink, post, table):
    game = table("templari", 3, bots=("random", "random"))
    ann = next(place.person_id for place in game.places().values() if place.person_id)
    drain(house, clock, post)
    wishes.choose(house, ann, DAILY, None, time(8))
    does(house, Pause(game.id), "dinner")
    clock.advance(HOUR)
    carry(house, post)
    next_eight(clock)
    assert digests.gather(house) == 1
    does(house, Resume(game.id))
    for _ in game.play_defaults():
        pass
    carry(house, post)
    next_eight(clock)
    carry(house, post)
    assert [row.status for row in letters(house, ann, "digest")] == ["superseded"]
    assert {row.status for row in letters(house, ann)} <= {"sent", "superseded"}, "nothing waits for ever"
    assert letters(house, ann, "result")[0].status == "sent"


def test_many_workers_send_one_digest(house, clock, sink, post, games):
    play_once(games[0])
    clock.advance(HOUR)
    carry(house, post)
    next_eight(clock)
    first, *others = [digests.gather(house) for _ in range(5)]
    assert first == 3
    assert others == [0, 0, 0, 0]


def test_workers_that_meet_at_any_step_send_one_digest(house, clock, post, table, person):
    game = table("templari", 3, bots=("random", "random"))
    drain(house, clock, post)
    ann = person("Ann")
    wishes.choose(house, ann, DAILY, None, time(8))
    days = 0
    for meeting in meetings(house.store):
        does(house, Pause(game.id), "dinner")
        clock.advance(MINUTE)
        delivery.deliver(house, post, limit=100)
        does(house, Resume(game.id))
        next_eight(clock)
        assert sum(meeting(lambda: digests.gather(house), lambda: digests.gather(house))) == 1
        days += 1
        assert len(letters(house, ann, "digest")) == days
    assert days > 5


def test_gathering_a_digest_is_done_whole_or_not_at_all(house, clock, post, table, person):
    game = table("templari", 3, bots=("random", "random"))
    drain(house, clock, post)
    ann = person("Ann")
    wishes.choose(house, ann, DAILY, None, time(8))
    does(house, Pause(game.id), "dinner")
    clock.advance(HOUR)
    carry(house, post)
    next_eight(clock)
    assert fails_without_a_trace(house.store, lambda: digests.gather(house)) > 5


def test_a_digest_comes_at_its_time_on_the_wall_when_the_clocks_change(house, clock, sink, post, table):
    # In Berlin the clocks go forward at one o'clock UTC on 28 March 2027.
    clock.set(datetime(2027, 3, 26, 12, 0, tzinfo=UTC))
    game = table("templari", 3)
    drain(house, clock, post)
    clock.set(datetime(2027, 3, 27, 12, 0, tzinfo=UTC))
    for seat in range(3):
        people.set_zone(house, game.person_at(seat), "Europe/Berlin")
        wishes.choose(house, game.person_at(seat), DAILY, None, time(8))
    ann, got = game.person_at(0), []
    for _ in range(4 * 24 * 3):
        if clock.now().minute == 0 and clock.now().hour == 20:
            does(house, Pause(game.id), "sleep")
            does(house, Resume(game.id))
        before = len(digest_of(sink, house, ann))
        carry(house, post)
        got += [clock.now()] * (len(digest_of(sink, house, ann)) - before)
        clock.advance(HOUR / 4)
    assert [(each.day, each.hour) for each in got] == [(28, 6), (29, 6), (30, 6)]


def test_the_last_reminder_before_the_time_is_over_comes_by_itself(house, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    seat = next(iter(templari.asked()))
    person = templari.person_at(seat)
    worker = Worker("first", clock.now() - HOUR)
    for _ in range(23 * 4):
        clock.advance(HOUR / 4)
        house.write(lambda tx: outages.beat(tx, worker.name, worker.started_at, clock.now()))
        timeouts.remind(house, worker)
        delivery.deliver(house, post, limit=100)
    reminders = [row for row in letters(house, person, "reminder") if row.game_id == templari.id]
    assert [row.status for row in reminders] == ["digest", "digest", "sent"]


def test_what_notices_say_is_told_once_and_in_its_order(house, clock, sink, post, games):
    templari, _ = games
    person = next(templari.person_at(seat) for seat in range(3) if seat not in templari.asked())
    leaver = next(seat for seat in range(3) if templari.person_at(seat) != person and seat not in templari.asked())
    name = templari.places()[leaver].name
    for deed, reason in (
        (Pause(templari.id), "We move house."),
        (Resume(templari.id), "We have moved."),
        (Correct(templari.id, "pace", "3d"), "It was written wrongly."),
        (Substitute(templari.id, leaver), "They asked for it."),
    ):
        clock.advance(HOUR)
        does(house, deed, reason)
        carry(house, post)
    assert [
        mail for mail in sink.to(people.read(house, person).address) if "is paused" in mail.message["subject"]
    ] == []
    clock.set(EIGHT)
    carry(house, post)
    (mail,) = digest_of(sink, house, person)
    text = " ".join(mail.text.split())
    told = [
        "The table was paused.",
        "The organiser says: We move house.",
        "The table goes on, and so do its clocks.",
        "The organiser says: We have moved.",
        "it was “1 day”, and is “3 days” now.",
        f"A bot plays the seat of {name} from now on.",
        "The organiser says: They asked for it.",
    ]
    assert [text.count(each) for each in told] == [1] * len(told)
    assert [text.index(each) for each in told] == sorted(text.index(each) for each in told)
    assert {row.status for row in letters(house, person, "notice")} == {"sent"}
    play_once(templari)
    next_eight(clock)
    carry(house, post)
    _, second = digest_of(sink, house, person)
    assert not any(each in " ".join(second.text.split()) for each in told)


def test_more_time_for_a_turn_that_is_answered_is_not_told(house, clock, sink, post, games):
    templari, _ = games
    seat = next(iter(templari.asked()))
    does(house, Extend(templari.id, "1d"))
    clock.advance(HOUR)
    carry(house, post)
    play_once(templari)
    clock.advance(HOUR)
    clock.set(EIGHT)
    carry(house, post)
    (mail,) = digest_of(sink, house, templari.person_at(seat))
    assert "more time" not in mail.text


def test_what_a_mail_of_its_own_told_is_in_no_digest(house, clock, sink, post, table):
    """The mail of a turn told what happened, and a notice of its own that the table was paused, before a digest was wanted."""
    game = table("templari", 3)
    drain(house, clock, post)
    for _ in range(4):
        play_once(game)
    does(house, Pause(game.id), "A short pause.")
    drain(house, clock, post)
    person = game.person_at(next(iter(game.asked())))
    told = sink.to(people.read(house, person).address)
    assert any("SINCE THE GAME BEGAN" in mail.text for mail in told)
    assert any("A short pause." in mail.text for mail in told)
    wishes.choose(house, person, DAILY, None, time(8))
    does(house, Resume(game.id), "It is over.")
    drain(house, clock, post)
    next_eight(clock)
    carry(house, post)
    (mail,) = digest_of(sink, house, person)
    assert "It is over." in mail.text
    assert "A short pause." not in mail.text
    assert digest_story(mail) == ["- The table goes on, and so do its clocks.", "- The organiser says: It is over."]


def test_what_happens_while_a_digest_is_on_its_way_is_told_by_the_next(house, clock, sink, post, games):
    templari, _ = games
    play_once(templari)
    person = templari.person_at(0)
    next_eight(clock)
    digests.gather(house)
    seat, decision = next(iter(templari.asked().items()))
    templari.play(seat, decision.default)
    delivery.deliver(house, post, limit=100)
    next_eight(clock)
    carry(house, post)
    first, second = (digest_story(mail) for mail in digest_of(sink, house, person))
    assert first
    assert second
    assert not set(first) & set(second), "what the first told, the second does not tell again"


def digest_story(mail):
    """What a digest says happened at the table of Templari, in sentences."""
    section = mail.text.split("Templari, turn")[1].split("=====")[0]
    return re.findall(r"^- .*", section.split("WHAT YOU CAN DO")[0], re.MULTILINE)


def test_what_takes_a_seat_away_does_not_wait_for_a_digest(house, clock, sink, post, games):
    templari, _ = games
    person = templari.person_at(0)
    facts = {"what": "seat_offered", "who": "Ann", "seat": 0, "why": "silent"}
    now = clock.now()
    letter = outbox.Letter(person, "notice", templari.id, None, None, None, facts)
    house.write(lambda tx: outbox.queue(tx, [letter], now, now))
    clock.advance(MINUTE)
    delivery.deliver(house, post, limit=100)
    assert letters(house, person, "notice")[-1].status == "sent"


def test_who_chose_a_digest_of_one_table_gets_the_mails_of_the_other_at_once(house, clock, sink, post, table):
    first, second = table("sunset-poker", 3), table("sunset-poker", 3)
    drain(house, clock, post)
    for seat in range(3):
        wishes.choose(house, first.person_at(seat), DAILY, first.row().key, time(8))
    for game in (first, second):
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    clock.advance(HOUR)
    carry(house, post)
    assert {row.status for row in letters(house, kind="turn") if row.game_id == second.id} == {"sent"}
    next_eight(clock)
    carry(house, post)
    ann = first.person_at(0)
    (mail,) = digest_of(sink, house, ann)
    assert mail.text.count("Sunset Poker, turn") == 1


def test_a_clock_runs_from_when_a_mail_at_once_would_have_left(house, clock, sink, post, games):
    templari, _ = games
    asked_at = clock.now()
    play_once(templari)
    seat = next(iter(templari.asked()))
    clock.advance(2 * MINUTE)
    carry(house, post)
    with house.store.read() as tx:
        row = deadlines.read(tx, templari.id, templari.row().window, seat)
    assert row.accepted_at == asked_at + house.hold
    assert row.due_at >= asked_at + timedelta(days=1)
