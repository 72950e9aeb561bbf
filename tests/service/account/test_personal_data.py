"""The export of a person's data: complete, for them alone, and without anything they may not know."""

import json
import re
from datetime import timedelta

import pytest

from pbem import paths
from pbem.domain.errors import NotFound
from pbem.service.account import delete, my_page, personal_data
from pbem.service.clocks import vacations
from pbem.service.desk import calls
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import addresses, sessions, sign_in
from pbem.service.play import standing_orders
from pbem.service.tables import talk
from pbem.store.sessions import Holder
from tests.service.actors import moderate
from tests.service.database import count_calls, holds_token, queued_emails
from tests.service.outgoing.test_deliver import drain, post_to


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


def file_of(server, person):
    return json.loads("".join(personal_data.export_person(server, person)))


@pytest.fixture
def played(server, clock, post, table):
    """A game in which every player holds a hand, and one has talked, called, and been away."""
    game = table("sunset-poker", 3, title="Friday “Ä”")
    while game.row().turn < 10:
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    ann = game.person_at(0)
    server.run(talk.say, game.id, 0, ann, "Good luck!")
    server.run(calls.call, ann, "Where is my mail?", game_id=game.id, seat=0)
    server.run(vacations.book_text, ann, "2026-12-20 to 2026-12-27")
    server.run(my_page.change_week, ann, ("Sat", "Sun"), (), "")
    server.run(sessions.start, Holder(person_id=ann), "Firefox on Linux")
    server.run(sign_in.send_link, f"{game.players()[0].name.lower()}@example.org")
    drain(server, clock, post)
    return game


@pytest.mark.parametrize("by", ["clock", "order", "bot", "api"])
def test_the_export_does_not_tell_how_the_last_choice_of_a_turn_came(server, table, by):
    game = table("bid", 3)
    decisions = game.asked()
    for seat in range(3):
        game.play(seat, decisions[seat].default, by if seat == 2 else "person")
    assert game.log()[-1].by == by
    (played,) = file_of(server, game.person_at(0))["tables"]
    assert {act["by"] for act in played["acts"]} == {"person"}
    (played,) = file_of(server, game.person_at(2))["tables"]
    assert [act["by"] for act in played["acts"]] == [by]


def test_the_export_holds_settings_tables_choices_words_and_emails(server, played):
    exported = file_of(server, played.person_at(0))
    assert (exported["format"], exported["version"]) == ("pbem-person", 2)
    assert exported["person"]["name"] == played.players()[0].name
    (seat,) = exported["tables"]
    assert (seat["title"], seat["seat"], seat["status"]) == ("Friday “Ä”", 0, "playing")
    assert [each["text"] for each in seat["said"]] == ["Good luck!"]
    assert len([act for act in seat["acts"] if "choice" in act]) >= 8
    assert [each["text"] for each in exported["calls"]] == ["Where is my mail?"]
    assert [each["first"] for each in exported["vacations"]] == ["2026-12-20"]
    assert exported["person"]["week"] == "Sat,Sun|"
    assert [each["label"] for each in exported["sessions"]] == ["Firefox on Linux"]
    assert len(exported["mails"]) == len(queued_emails(server, played.person_at(0)))
    assert "links" in {each["kind"] for each in exported["mails"]}


def test_the_export_holds_no_working_link_or_secret(server, played):
    text = "".join(personal_data.export_person(server, played.person_at(0)))
    assert not holds_token(server, text.encode())
    assert not re.search(r"0[a-z][a-z2-7]{30}1", text), "nor what a mail holds in place of a link"
    assert "secret_hash" not in text


def test_the_export_numbers_no_rows_that_others_have_too(server, played):
    exported = file_of(server, played.person_at(0))
    rows = [row for name, rows in exported.items() if isinstance(rows, list) for row in rows]
    assert [name for row in rows for name in row if name == "id" or name.endswith("_id")] == []
    assert [each["table"] for each in exported["calls"]] == [played.row().key]


def test_the_export_names_no_card_only_others_have_seen(server, played):
    from pbem.service.play.rules import rules_of

    rules = rules_of(played.row())
    hands = [set(played.view(seat).hands[seat]) for seat in range(3)]
    exported = file_of(server, played.person_at(0))
    seen = json.dumps([exported["tables"], exported["calls"]])
    for other in (1, 2):
        foreign = hands[other] - hands[0]
        assert foreign
        assert not [rules.word(card) for card in foreign if f'"{card}"' in seen]


def test_the_export_holds_no_address_of_others(server, played):
    text = "".join(personal_data.export_person(server, played.person_at(0)))
    others = [f"{played.players()[seat].name.lower()}@example.org" for seat in (1, 2)]
    assert not [each for each in others if each in text]


def test_a_long_export_is_streamed_in_short_transactions(server, clock, post, played):
    person = played.person_at(0)
    for _ in range(30):
        server.run(sign_in.send_link, f"{played.players()[0].name.lower()}@example.org")
        clock.advance(timedelta(days=1))
    drain(server, clock, post)
    with count_calls(server.store) as made:
        pieces = personal_data.export_person(server, person)
        first = next(pieces)
        before = len(made)
        server.store.write(lambda tx: None)
        rest = "".join(pieces)
    assert len(made) > before + 2
    assert json.loads(first + rest)["person"]["name"]


def test_a_substitute_reads_nothing_of_what_their_predecessor_did(server, clock, table):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    waiting = next(each for each in range(3) if each not in game.asked())
    game.play(seat, game.asked()[seat].default)
    server.run(standing_orders.set_order, game.id, waiting, "up to 9", game.person_at(waiting))
    for each in (seat, waiting):
        server.run(talk.say, game.id, each, game.person_at(each), "I hold the king.")
        # A clock that is set back makes that no line of the substitute's.
        clock.set(clock.now() - timedelta(minutes=1))
        moderate(server, Substitute(game.id, each, f"seat{each}@example.org"))
        (played,) = file_of(server, game.person_at(each))["tables"]
        assert (played["seat"], played["acts"], played["said"]) == (each, [], [])
        server.run(talk.say, game.id, each, game.person_at(each), "Hello, I am new.")
        (played,) = file_of(server, game.person_at(each))["tables"]
        assert [each["text"] for each in played["said"]] == ["Hello, I am new."]


def test_the_week_of_each_turn_is_in_the_export_of_its_player_alone_and_deleted_with_them(server, table):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    first = game.person_at(seat)
    expected = {first: [], **{game.person_at(each): [] for each in range(3) if each != seat}}
    # Three people have the seat one after the other, and each answers two turns there.
    for number, day in enumerate(("Sat", "Sun", "Mon")):
        if number:
            moderate(server, Substitute(game.id, seat, f"{day}@example.org"))
        person = game.person_at(seat)
        server.run(my_page.change_week, person, (day,), (), "")
        expected[person] = []
        while len(expected[person]) < 2:
            asked = game.asked()
            for each, decision in asked.items():
                if each == seat:
                    expected[person].append(game.row().turn)
                game.play(each, decision.default)
    people = [person for person in expected if expected[person]]
    assert len(people) == 3

    def turns(person):
        return [row for row in file_of(server, person)["turns"] if row["status"] == "closed"]

    for person in people:
        assert [row["turn"] for row in turns(person)] == expected[person]
        assert {row["table"] for row in turns(person)} == {game.row().key}
        assert turns(person)[-1]["week"].split("|")[0] == server.read(addresses.read, person).week.split("|")[0]
    exported = {person: turns(person) for person in people}
    server.run(delete.delete_person, people[1])
    assert {row["week"] for row in turns(people[1])} == {None}
    assert [turns(person) for person in (people[0], people[2])] == [exported[people[0]], exported[people[2]]]


def test_an_unknown_person_has_no_export(server):
    with pytest.raises(NotFound):
        personal_data.export_person(server, 99)


def test_the_handbook_names_every_field_of_the_export(server, played):
    page = (paths.handbook() / "your-data.md").read_text(encoding="utf-8")
    exported = file_of(server, played.person_at(0))
    rows = {name for line in page.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line)}
    assert set(exported) <= rows
    assert {name for name in exported["tables"][0] if name in ("acts", "said")} <= rows
