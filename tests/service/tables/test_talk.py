"""Talk at a table: who may speak, who hears it, and what is left of what was redacted."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany
from pbem.domain.topics import Topic
from pbem.domain.user_text import LONGEST_TALK
from pbem.ops.verify import verify_game
from pbem.service import links
from pbem.service.archive import seat_file
from pbem.service.desk import calls
from pbem.service.desk.acts.correct import Redact
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import deliver, preferences
from pbem.service.people import blocks
from pbem.service.tables import leaving, talk
from pbem.store import calls as call_rows, talk as talk_rows
from pbem.store.links import LinkKey
from pbem.store.schema import TALK
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.clock import HOUR
from tests.service.database import all_rows, check_atomic, facts_of, queued_emails
from tests.service.outgoing.test_deliver import HEAD, post_to
from tests.service.races import meetings
from tests.web.browser import Links


def say(begun, seat, text):
    begun.server.run(talk.say, begun.id, seat, begun.person_at(seat), text)


def heard(begun):
    with begun.server.store.read() as tx:
        return [(line.seat, line.text) for line in talk_rows.lines(tx, begun.id, begun.row().key)]


def test_talk_is_read_in_order(table):
    begun = table()
    say(begun, 0, "Hello!")
    say(begun, 2, "  Good evening,\n everyone ")
    assert heard(begun) == [(0, "Hello!"), (2, "Good evening, everyone")]


def test_talk_holds_no_link_that_works(table):
    begun = table()
    for purpose in (Purpose.SEAT, Purpose.MOVE, Purpose.REPLY):
        token = Links(begun.server).of(begun, 0)[0] if purpose is Purpose.MOVE else token_of(begun, purpose)
        say(begun, 0, f"Look: https://play.example.org/{token} and {token.upper()}!")
        assert token not in heard(begun)[-1][1].lower()
        assert heard(begun)[-1][1].startswith("Look: https://play.example.org/")


def token_of(begun, purpose):
    row = begun.row()
    key = LinkKey(purpose, begun.person_at(0), row.id, row.turn if purpose is Purpose.REPLY else None, 0)
    return Links(begun.server).token(purpose, begun.server.store.write(lambda tx: links.make(tx, begun.server, key)))


def test_talk_changes_nothing_in_the_game_and_notifies_nobody(table):
    begun = table()
    row, log, emails = begun.row(), begun.log(), queued_emails(begun.server)
    say(begun, 0, "Hello!")
    assert (begun.row(), begun.log(), queued_emails(begun.server)) == (row, log, emails)


def test_only_players_of_the_table_talk_there(table, person):
    begun, stranger = table(), person("Zoe")
    before = all_rows(begun.server.store)
    for seat, person_id in ((0, stranger), (1, begun.person_at(0))):
        with pytest.raises(Forbidden):
            begun.server.run(talk.say, begun.id, seat, person_id, "Hello!")
    assert all_rows(begun.server.store) == before


def test_there_is_no_talk_after_the_game(table):
    begun = table()
    for seat in range(3):
        begun.server.run(leaving.agree_to_end, begun.id, begun.person_at(seat))
    with pytest.raises(Gone):
        begun.server.run(talk.say, begun.id, 0, begun.person_at(0), "Hello!")


@pytest.mark.parametrize("text", ["", " \n\t ", "\u200e\u202e", "x" * (LONGEST_TALK + 1)])
def test_invalid_talk_is_refused(table, text):
    begun = table()
    with pytest.raises(BadInput):
        say(begun, 0, text)
    assert heard(begun) == []


def test_talk_holds_no_line_breaks_or_direction_marks(table):
    begun = table()
    say(begun, 0, "evil\u202e live\u2028\x07 text")
    assert heard(begun) == [(0, "evil live text")]


def test_talk_of_a_seat_is_limited_by_the_hour(table, clock):
    begun = table()
    for number in range(talk.LINES_AN_HOUR):
        say(begun, 0, f"line {number}")
    with pytest.raises(TooMany):
        say(begun, 0, "one more")
    say(begun, 1, "another seat")
    clock.advance(HOUR)
    say(begun, 0, "an hour later")
    assert len(heard(begun)) == talk.LINES_AN_HOUR + 2


def test_a_redacted_line_is_gone_and_the_chain_still_holds(table):
    begun = table()
    say(begun, 0, "something bad")
    say(begun, 1, "something good")
    moderate(begun.server, Redact(begun.id, 1), "It was an insult.")
    with pytest.raises(Gone):
        moderate(begun.server, Redact(begun.id, 1), "It was an insult.")
    assert heard(begun) == [(0, None), (1, "something good")]
    assert b"something bad" not in repr(all_rows(begun.server.store)).encode()
    with begun.server.store.read() as tx:
        assert verify_game(tx, begun.id).sound


@pytest.fixture
def ben_has_left(table, clock, person):
    """A game at which Ben said something and Ann muted him; since then Zoe has his seat."""
    begun = table()
    say(begun, 1, "I am Ben.")
    begun.server.run(blocks.block, Links(begun.server).of(begun, 0)[1], 1)
    clock.advance(HOUR)
    person("Zoe")
    moderate(begun.server, Substitute(begun.id, 1, "zoe@example.org"))
    clock.advance(HOUR)
    say(begun, 1, "I am Zoe.")
    return begun


def test_a_muted_player_is_not_heard_under_a_former_name(ben_has_left):
    server, ann = ben_has_left.server, Links(ben_has_left.server).of(ben_has_left, 0)[1]
    page = server.read(talk.talk_page, ann)
    assert ([line.text for line in page.lines], page.left_out) == (["I am Zoe."], 1)
    assert [line["text"] for line in json.loads(server.read(seat_file.by_link, ann)[1])["talk"]] == ["I am Zoe."]
    with server.store.read() as tx:
        heard = talk_rows.heard(tx, ben_has_left.id, ben_has_left.row().key, 0, 0, 99)
    assert [line.text for line in heard] == ["I am Zoe."]


def test_the_page_reads_no_more_lines_than_it_shows(ben_has_left, monkeypatch):
    for number in range(4):
        say(ben_has_left, 2, f"line {number}")
    read, row_of = [], talk_rows._row
    monkeypatch.setattr(talk_rows, "_row", lambda row, key: read.append(row.seq) or row_of(row, key))
    monkeypatch.setattr(talk, "MOST_SHOWN", 2)
    page = ben_has_left.server.read(talk.talk_page, Links(ben_has_left.server).of(ben_has_left, 0)[1])
    assert ([line.text for line in page.lines], page.before, page.left_out) == (["line 2", "line 3"], 3, 1)
    assert len(read) == 2


def test_a_message_is_reported_or_removed_without_reading_the_others(ben_has_left, monkeypatch):
    read, row_of = [], talk_rows._row
    monkeypatch.setattr(talk_rows, "_row", lambda row, key: read.append(row.seq) or row_of(row, key))
    ben_has_left.server.run(calls.report, Links(ben_has_left.server).of(ben_has_left, 0)[1], 1)
    assert read == [1]
    with ben_has_left.server.store.read() as tx:
        assert "by Ben: “I am Ben.”" in call_rows.with_status(tx, "open", 2)[0].text
    moderate(ben_has_left.server, Redact(ben_has_left.id, 1))
    assert read == [1, 1]
    assert ben_has_left.server.query(talk_rows.hash_of, ben_has_left.id, 3) is None


def test_a_redaction_names_the_player_who_said_it(ben_has_left):
    outcome = moderate(ben_has_left.server, Redact(ben_has_left.id, 1))
    assert "Ben" in outcome.says[0]
    server = ben_has_left.server
    notices = [facts_of(server, email) for email in queued_emails(server, kind="notice")]
    assert {facts["who"] for facts in notices if facts["what"] == "redacted"} == {"Ben"}


def test_an_unknown_line_cannot_be_redacted(table):
    begun = table()
    with pytest.raises(NotFound):
        moderate(begun.server, Redact(begun.id, 1), "It was an insult.")


@pytest.mark.parametrize("altered", [{"body": b"other words"}, {"seat": 1}])
def test_verifying_finds_talk_that_was_altered(table, altered):
    begun = table()
    say(begun, 0, "some words")
    say(begun, 0, "more words")
    begun.server.store.write(lambda tx: tx.execute(update(TALK).where(TALK.c.seq == 1).values(**altered)))
    with begun.server.store.read() as tx:
        found = verify_game(tx, begun.id)
    assert any("table talk" in wrong.says for wrong in found.problems)


def test_two_who_speak_at_once_are_both_heard(table):
    begun = table()
    for met, meeting in enumerate(meetings(begun.server.store)):
        meeting(lambda met=met: say(begun, 0, f"one {met}"), lambda met=met: say(begun, 1, f"two {met}"))
        lines = [text for _, text in heard(begun)][-2:]
        assert sorted(lines) == [f"one {met}", f"two {met}"]
    with begun.server.store.read() as tx:
        assert verify_game(tx, begun.id).sound


def test_a_line_that_breaks_off_leaves_nothing(table):
    begun = table()
    assert check_atomic(begun.server.store, lambda: say(begun, 0, "Hello!")) > 3


def test_a_line_that_lost_its_text_without_a_row_that_says_why_is_found(table):
    begun = table()
    say(begun, 0, "something bad")
    begun.server.store.write(lambda tx: talk.redact(tx, begun.id, 1))
    with begun.server.store.read() as tx:
        assert any("no row says why" in wrong.says for wrong in verify_game(tx, begun.id).problems)


def test_a_mention_is_emailed_to_players_who_want_that_and_do_not_mute_its_author(table, sink, clock):
    begun = table()
    server, (ann, ben, cleo) = begun.server, [begun.person_at(seat) for seat in range(3)]
    names = [begun.players()[seat].name for seat in range(3)]
    say(begun, 0, f"@{names[1]}, hello!")
    assert queued_emails(server, ben, "mention") == []
    for person in (ann, ben, cleo):
        server.run(preferences.switch_topic, person, Topic.TALK, on=True)
    server.run(blocks.block, Links(server).of(begun, 2)[1], 0)
    say(begun, 0, f"@{names[1]}, @{names[2]} and @{names[0]}: well played!")
    assert [len(queued_emails(server, person, "mention")) for person in (ann, ben, cleo)] == [0, 1, 0]
    deliver.deliver(server, replace(post_to(sink), letterhead=replace(HEAD, replies=True)), limit=100)
    (email,) = (
        each for each in sink.to(f"{names[1].lower()}@example.org") if "mentioned you" in each.message["subject"]
    )
    assert f"> @{names[1]}, @{names[2]} and @{names[0]}: well played!" in email.text
    assert email.message["reply-to"].startswith("r+")


def test_a_player_is_emailed_a_few_mentions_a_day(table, clock):
    begun = table()
    server, ben = begun.server, begun.person_at(1)
    server.run(preferences.switch_topic, ben, Topic.TALK, on=True)
    for number in range(talk.MENTIONS_A_DAY + 2):
        say(begun, 0, f"@{begun.players()[1].name}: {number}")
    assert len(queued_emails(server, ben, "mention")) == talk.MENTIONS_A_DAY
    clock.advance(timedelta(days=1, seconds=1))
    say(begun, 0, f"@{begun.players()[1].name}: good morning")
    assert len(queued_emails(server, ben, "mention")) == talk.MENTIONS_A_DAY + 1
