"""Tables before they begin."""

import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from engine.chance import Stream, commitment, seed_from
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany
from pbem.service import links
from pbem.service.account import change_address, my_page
from pbem.service.desk import calls
from pbem.service.people import addresses
from pbem.service.play.log import Kind, body_of
from pbem.service.play.rules import rules_of
from pbem.service.tables import invitations, joining, leaving, listing, start
from pbem.service.tables.new import TableSettings
from pbem.store import games, people
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.service.conftest import START
from tests.service.database import (
    all_rows,
    check_atomic,
    count_calls,
    email_kinds,
    facts_of,
    holds_token,
    queued_emails,
)
from tests.service.races import at_call, meetings
from tests.service.running_game import RunningGame

POKER = TableSettings("sunset-poker", 3)


@pytest.fixture
def opened(server, person):
    """A table of three that Ann has opened and sits at."""
    created = server.run(joining.create_table, person("Ann"), POKER)
    server.run(joining.join, created.game_id, person("Ann"), word="owl")
    return created


def stored(server, game_id):
    with server.store.read() as tx:
        return games.read(tx, game_id)


def row_of(server, game_id):
    return stored(server, game_id)


def players(server, game_id):
    return server.read(listing.by_id, game_id).players


def test_the_commitment_is_public_before_any_player_gives_a_word(server, person):
    created = server.run(joining.create_table, person("Ann"), POKER)
    shown = server.read(listing.by_key, created.key)
    assert shown.players == ()
    assert shown.commitment == created.commitment
    assert commitment(row_of(server, created.game_id).secret) == created.commitment


PASTED = {
    "a name": lambda server, ann, ben, game_id, text: server.run(addresses.change_settings, ann, name=text),
    "a name at a table": lambda server, ann, ben, game_id, text: server.run(joining.join, game_id, ben, name=text),
    "a word": lambda server, ann, ben, game_id, text: server.run(joining.join, game_id, ben, word=text),
    "a typed name": lambda server, ann, ben, game_id, text: server.run(
        joining.ask_to_join, game_id, "eve@example.org", text, word=text
    ),
    "a host": lambda server, ann, ben, game_id, text: server.run(
        joining.ask_to_create, "eve@example.org", text, replace(POKER, title=text)
    ),
    "a title": lambda server, ann, ben, game_id, text: server.run(
        joining.create_table, ann, replace(POKER, title=f"Look: {text}")
    ),
    "a call": lambda server, ann, ben, game_id, text: server.run(calls.call, ann, f"This is mine: {text}"),
    "a call by a stranger": lambda server, ann, ben, game_id, text: server.run(
        calls.call_from_address, "eve@example.org", f"This is mine: {text}"
    ),
}


@pytest.mark.parametrize("where", PASTED)
def test_a_token_that_someone_pastes_is_stored_nowhere(server, person, where):
    ann, ben = person("Ann"), person("Ben")
    created = server.run(joining.create_table, ann, POKER)
    token = server.run(links.make_token, LinkKey(Purpose.CALENDAR, ann))
    for text in (token, token.upper(), f"r+{token}"):
        with suppress(BadInput):
            PASTED[where](server, ann, ben, created.game_id, text)
    rows = all_rows(server.store)
    assert "***" in repr(rows)
    assert not any(
        holds_token(server, str(value).encode()) for table in rows.values() for row in table for value in row
    )


def test_a_player_joins_under_a_stored_name_that_could_not_be_typed_today(server, person, opened):
    ben = person("Ben")
    server.store.write(lambda tx: people.change(tx, ben, name="J.Smith"))
    server.run(joining.confirm_and_join, opened.game_id, ben)
    assert server.read(listing.by_id, opened.game_id).players == ("Ann", "J.Smith")


def test_two_tables_have_two_secrets_and_two_names(server, person):
    one, other = (server.run(joining.create_table, person("Ann"), POKER) for _ in range(2))
    assert one.commitment != other.commitment
    assert one.key != other.key


def test_no_secret_is_shown_with_a_table(server, person, opened):
    secret = row_of(server, opened.game_id).secret
    shown = server.read(listing.by_key, opened.key)
    assert secret not in vars_of(shown)
    assert secret.hex() not in repr(shown)
    assert secret.hex() not in repr(row_of(server, opened.game_id))
    assert repr(secret) not in repr(row_of(server, opened.game_id))


def vars_of(shown):
    return [getattr(shown, name) for name in shown.__dataclass_fields__]


def test_taking_the_last_seat_starts_the_game(server, person, opened):
    assert not server.run(joining.join, opened.game_id, person("Ben")).begun
    assert server.read(listing.by_key, opened.key).status == "open"
    assert server.run(joining.join, opened.game_id, person("Cleo")).begun
    assert server.read(listing.by_key, opened.key).status == "playing"


def test_joining_again_gives_the_same_seat(server, person, opened):
    first = server.run(joining.join, opened.game_id, person("Ben"))
    before = all_rows(server.store)
    again = server.run(joining.join, opened.game_id, person("Ben"), word="another")
    assert (first.again, again.again, again.players) == (False, True, first.players)
    assert all_rows(server.store) == before


def test_joining_again_after_the_start_gives_the_same_seat(server, person, opened):
    server.run(joining.join, opened.game_id, person("Ben"))
    last = server.run(joining.join, opened.game_id, person("Cleo"))
    again = server.run(joining.join, opened.game_id, person("Cleo"))
    assert again == replace(last, again=True)


def test_the_seed_is_made_of_the_secret_and_the_words_in_joining_order(server, person, opened):
    server.run(joining.join, opened.game_id, person("Ben"), word="")
    server.run(joining.join, opened.game_id, person("Cleo"), word="ибис")
    row = row_of(server, opened.game_id)
    assert row.seed == seed_from(row.secret, ["owl", "", "ибис"])


def test_the_order_of_turns_is_drawn_from_the_seed(server, person, table):
    game = table("sunset-poker", 4)
    row = game.row()
    seats = [player.seat for player in sorted(game.players().values(), key=lambda player: player.number)]
    assert seats == Stream(row.seed, start.SEATING).shuffle(range(4))


def test_over_many_games_each_player_gets_every_seat(server, person):
    first = Counter()
    for _ in range(24):
        game = server.run(
            joining.create_table, person("Ann"), TableSettings("sunset-poker", 3, bots=("random", "random"))
        )
        server.run(joining.join, game.game_id, person("Ann"))
        first[next(s for s, p in RunningGame(server, game.game_id).players().items() if p.person_id is not None)] += 1
        with server.store.engine.begin() as tx:
            tx.exec_driver_sql("UPDATE game SET status = 'over'")
    assert set(first) == {0, 1, 2}


def test_the_first_row_of_a_log_says_what_was_agreed_and_names_nobody(server, person, table):
    game = table(
        "sunset-poker", 3, bots=("greedy",), pace="12h", missed_limit=4, successor="substitute", stand_in="expert"
    )
    row, began = game.row(), game.log()[0]
    body = body_of(rules_of(row), began)
    (bot,) = (seat for seat, player in game.players().items() if player.bot)
    assert began.kind == Kind.BEGAN
    assert (body["pace"], body["missed_limit"], body["successor"]) == ("12h", 4, "substitute")
    assert body["stand_in"] == "expert"
    assert body["bots"] == [[bot, "greedy"]]
    assert body["options"] == json.loads(row.options)
    assert body["commitment"] == row.commitment
    assert "Ann" not in began.body.decode()
    assert row.secret.hex() not in began.body.decode()


def test_the_start_emails_all_players_and_asks_the_first(server, person, table):
    game = table("sunset-poker", 3, bots=("greedy",))
    asked = set(game.asked())
    for seat, player in game.players().items():
        if player.person_id is not None:
            expected = {"welcome", "turn"} if seat in asked else {"welcome"}
            assert {email.kind for email in game.emails() if email.seat == seat} == expected


def test_the_email_about_joining_holds_the_commitment_and_the_word(server, person, opened):
    server.run(joining.join, opened.game_id, person("Ben"), word="heron")
    (email,) = queued_emails(server, person("Ben"), "joined")
    assert json.loads(email.facts) == {"commitment": opened.commitment, "word": "heron"}


def test_players_at_a_table_have_different_names(server, person):
    created = server.run(joining.create_table, person("Ann"), TableSettings("sunset-poker", 4, bots=("greedy",)))
    for who in ("Ann", "Ben", "Cleo"):
        server.run(joining.join, created.game_id, person(who), name="Bot 1")
    assert players(server, created.game_id) == ("Bot 1", "Bot 1 2", "Bot 1 3", "Bot 1 4")


def test_a_seat_is_kept_free_for_the_host(server, person):
    created = server.run(joining.create_table, person("Ann"), POKER)
    server.run(joining.join, created.game_id, person("Ben"))
    server.run(joining.join, created.game_id, person("Cleo"))
    assert server.read(listing.by_key, created.key).free == 0
    late = person("Dan")
    before = all_rows(server.store)
    with pytest.raises(Gone, match="kept for its host"):
        server.run(joining.join, created.game_id, late)
    assert all_rows(server.store) == before
    assert server.run(joining.join, created.game_id, person("Ann")).begun


def test_a_full_table_takes_no_more_players(server, person, table):
    game = table("sunset-poker", 3)
    dan = person("Dan")
    before = all_rows(server.store)
    with pytest.raises(Gone, match="its game has started"):
        server.run(joining.join, game.id, dan)
    assert all_rows(server.store) == before


def test_one_person_does_not_take_two_seats(server, person, opened):
    ann = person("Ann")
    before = all_rows(server.store)
    with pytest.raises(Forbidden, match="one seat per player"):
        server.run(joining.join, opened.game_id, ann, holding=2)
    assert all_rows(server.store) == before


def test_one_person_takes_two_seats_where_the_table_allows_it(server, person):
    created = server.run(joining.create_table, person("Ann"), replace(POKER, doubles=True))
    server.run(joining.join, created.game_id, person("Ann"))
    two = server.run(joining.join, created.game_id, person("Ann"), holding=2)
    assert two.players == (0, 1)
    assert server.run(joining.join, created.game_id, person("Ann"), holding=2).again
    assert server.run(joining.join, created.game_id, person("Ben")).begun
    assert players(server, created.game_id) == ("Ann", "Ann 2", "Ben")


def test_a_name_that_looks_like_another_at_the_table_gets_a_number(server, person, opened):
    server.run(joining.join, opened.game_id, person("Ben"), name="\u0410nn")
    assert players(server, opened.game_id) == ("Ann", "\u0410nn 2")


def test_an_unconfirmed_address_neither_opens_nor_joins_a_table(server, person, opened):
    ben = server.run(addresses.register, "ben@example.org", "Ben")
    before = all_rows(server.store)
    for act in (
        lambda: server.run(joining.join, opened.game_id, ben.id),
        lambda: server.run(joining.create_table, ben.id, POKER),
    ):
        with pytest.raises(Forbidden, match="isn't confirmed"):
            act()
    assert all_rows(server.store) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "chess"},
        {"kind": "../bid"},
        {"kind": ""},
        {"seats": 1},
        {"seats": 99},
        {"seats": True},
        {"seats": "3"},
        {"options": {"nonsense": 1}},
        {"options": {"nonsense": 10**30}},
        {"pace": "often"},
        {"pace": "0d"},
        {"pace": "31d"},
        {"title": "x" * 81},
        {"title": "win at https://example.org"},
        {"bots": ("greedy",) * 3},
        {"bots": ("clever",)},
        {"stand_in": "grandmaster"},
        {"missed_limit": 1},
        {"missed_limit": 11},
        {"missed_limit": True},
        {"successor": "nobody"},
        {"fewest": 1},
        {"fewest": 4},
        {"fewest": 2, "bots": ("greedy",) * 2},
        {"starts_at": START},
        {"starts_at": START + timedelta(days=61)},
        {"starts_at": datetime(9999, 12, 31, 23, 59, tzinfo=UTC)},
        {"invited": ("nonsense",)},
        {"invited": tuple(f"friend{n}@example.org" for n in range(21))},
    ],
    ids=str,
)
def test_an_invalid_table_is_refused_and_nothing_is_written(server, person, wrong):
    ann = person("Ann")
    before = all_rows(server.store)
    with pytest.raises((BadInput, NotFound)):
        server.run(joining.create_table, ann, replace(POKER, **wrong))
    with pytest.raises((BadInput, NotFound)):
        server.run(joining.ask_to_create, "ben@example.org", "Ben", replace(POKER, **wrong))
    assert all_rows(server.store) == before


def test_a_word_has_a_hundred_characters_at_most(server, person, opened):
    with pytest.raises(BadInput, match="the limit is 100"):
        server.run(joining.join, opened.game_id, person("Ben"), word="x" * 101)
    server.run(joining.join, opened.game_id, person("Ben"), word="x" * 100)


def test_a_person_is_at_twenty_tables_at_most(server, person):
    small = replace(server, open_tables=2)
    ann, ben = person("Ann"), person("Ben")
    for _ in range(2):
        last = small.run(joining.create_table, ann, POKER)
    with pytest.raises(TooMany):
        small.run(joining.create_table, ann, POKER)
    other = small.run(joining.create_table, ben, POKER)
    with pytest.raises(TooMany):
        small.run(joining.join, other.game_id, ann)
    # A seat at a person's own table does not count as another table.
    small.run(joining.join, last.game_id, ann)


def test_the_lobby_lists_only_open_public_tables(server, person, opened):
    server.run(joining.create_table, person("Ben"), replace(POKER, private=True))
    server.run(joining.ask_to_create, "dan@example.org", "Dan", POKER)
    assert [table.key for table in server.read(listing.open_tables)] == [opened.key]
    server.run(joining.join, opened.game_id, person("Ben"))
    server.run(joining.join, opened.game_id, person("Cleo"))
    assert server.read(listing.open_tables) == []


def test_my_tables_are_those_i_opened_and_those_i_play_at(server, person, opened):
    mine = server.run(joining.create_table, person("Ben"), POKER)
    server.run(joining.join, opened.game_id, person("Ben"))
    waiting = server.read(my_page.my_games, person("Ben")).waiting
    assert [table.game_id for table in waiting] == [opened.game_id, mine.game_id]


# Requests made with an address that was only typed and not yet confirmed.


def typed(server, address="dan@example.org"):
    """The person behind an address."""
    with server.store.engine.connect() as tx:
        return tx.exec_driver_sql(f"SELECT id FROM person WHERE mailbox = '{address}'").scalar_one()


def test_a_join_request_takes_a_seat_once_its_address_is_confirmed(server, person, opened):
    server.run(joining.ask_to_join, opened.game_id, "dan@example.org", "Dan", "heron")
    dan = typed(server)
    (email,) = queued_emails(server, dan)
    assert (email.kind, email.game_id) == ("confirm", opened.game_id)
    assert players(server, opened.game_id) == ("Ann",)
    joined = joining.accept(server, opened.game_id, dan)
    assert (joined.begun, joined.again) == (False, False)
    assert players(server, opened.game_id) == ("Ann", "Dan")
    assert server.read(addresses.read, dan).confirmed_at is not None
    assert server.read(addresses.read, dan).name == "Dan"
    assert joining.accept(server, opened.game_id, dan).again


def test_the_word_typed_with_a_join_request_counts(server, person, opened):
    server.run(joining.ask_to_join, opened.game_id, "dan@example.org", "Dan", "heron")
    joining.accept(server, opened.game_id, typed(server))
    server.run(joining.join, opened.game_id, person("Ben"))
    row = row_of(server, opened.game_id)
    assert row.seed == seed_from(row.secret, ["owl", "heron", ""])


def test_typing_the_address_of_a_known_player_takes_no_seat(server, person, opened):
    ben = person("Ben")
    server.run(joining.ask_to_join, opened.game_id, "ben@example.org", "Silly")
    assert players(server, opened.game_id) == ("Ann",)
    assert email_kinds(server, ben) == ["confirm", "confirm"]
    assert server.read(addresses.read, ben).name == "Ben"


def test_the_latest_join_request_counts(server, opened):
    server.run(joining.ask_to_join, opened.game_id, "dan@example.org", "Dan", "one")
    server.run(joining.ask_to_join, opened.game_id, "dan@example.org", "Daniel", "two")
    joining.accept(server, opened.game_id, typed(server))
    assert players(server, opened.game_id) == ("Ann", "Daniel")


def test_an_address_stays_confirmed_when_no_seat_is_left(server, person, opened):
    server.run(joining.ask_to_join, opened.game_id, "dan@example.org", "Dan")
    dan = typed(server)
    server.run(joining.join, opened.game_id, person("Ben"))
    server.run(joining.join, opened.game_id, person("Cleo"))
    with pytest.raises(Gone, match="its game has started"):
        joining.accept(server, opened.game_id, dan)
    assert server.read(addresses.read, dan).confirmed_at is not None


def test_a_refused_seat_can_be_asked_for_again_by_the_same_link(server, person, opened):
    server.run(joining.ask_to_join, opened.game_id, "dan@example.org", "Dan", "heron")
    dan = typed(server)
    with pytest.raises(BadInput):
        joining.accept(server, opened.game_id, dan, name="you")
    assert joining.accept(server, opened.game_id, dan, name="Dan the Second").again is False
    assert players(server, opened.game_id) == ("Ann", "Dan the Second")


def test_a_planned_table_is_hidden_until_its_host_is_confirmed(server, person):
    created = server.run(joining.ask_to_create, "dan@example.org", "Dan", replace(POKER, invited=("eve@example.org",)))
    dan, ben = typed(server), person("Ben")
    assert server.read(listing.by_key, created.key).status == "planned"
    assert email_kinds(server, dan) == ["confirm"]
    for act in (
        lambda: server.run(joining.join, created.game_id, ben),
        lambda: server.run(joining.ask_to_join, created.game_id, "fay@example.org", "Fay"),
        lambda: joining.accept(server, created.game_id, ben),
    ):
        with pytest.raises(NotFound):
            act()
    joining.accept(server, created.game_id, dan, word="owl")
    shown = server.read(listing.by_key, created.key)
    assert (shown.status, shown.players, shown.host) == ("open", ("Dan",), "Dan")
    assert email_kinds(server, typed(server, "eve@example.org")) == ["invitation"]


def test_nothing_is_stored_of_invited_people_before_their_host_is_confirmed(server):
    invited = ("eve@example.org", "fay@example.org")
    created = server.run(joining.ask_to_create, "dan@example.org", "Dan", replace(POKER, invited=invited))
    stored = all_rows(server.store)
    assert (len(stored["person"]), stored["invitation"]) == (1, [])
    assert {email.kind for email in queued_emails(server)} == {"confirm"}
    joining.accept(server, created.game_id, typed(server))
    for address in invited:
        assert email_kinds(server, typed(server, address)) == ["invitation"]
    assert all_rows(server.store)["join_request"] == []


@pytest.mark.parametrize(
    "wrong", [("no address",), tuple(f"friend{n}@example.org" for n in range(invitations.MOST_INVITED + 1))]
)
def test_wrong_invitations_are_refused_when_a_table_is_planned(server, wrong):
    before = all_rows(server.store)
    with pytest.raises(BadInput):
        server.run(joining.ask_to_create, "dan@example.org", "Dan", replace(POKER, invited=wrong))
    assert all_rows(server.store) == before


def test_no_invitation_leaves_for_an_unconfirmed_host(server):
    created = server.run(joining.ask_to_create, "dan@example.org", "Dan", POKER)
    with server.store.read() as tx:
        row, dan = games.read(tx, created.game_id), people.read(tx, typed(server))
    before = all_rows(server.store)
    with pytest.raises(Forbidden):
        server.run(invitations.invite_addresses, row, dan, ("eve@example.org",), "Dan")
    with pytest.raises(NotFound):
        server.run(invitations.invite, created.game_id, dan.id, ("eve@example.org",))
    assert all_rows(server.store) == before


def test_a_host_whose_word_is_refused_opens_no_table(server):
    created = server.run(joining.ask_to_create, "dan@example.org", "Dan", replace(POKER, invited=("eve@example.org",)))
    dan = typed(server)
    with pytest.raises(BadInput):
        joining.accept(server, created.game_id, dan, word="x" * 101)
    assert server.read(listing.by_key, created.key).status == "planned"
    assert not [email for email in queued_emails(server) if email.kind == "invitation"]
    assert server.read(addresses.read, dan).confirmed_at is not None
    joining.accept(server, created.game_id, dan, word="owl")
    assert server.read(listing.by_key, created.key).players == ("Dan",)


def test_a_table_of_one_person_and_bots_begins_when_its_host_takes_the_seat(server):
    created = server.run(joining.ask_to_create, "dan@example.org", "Dan", replace(POKER, bots=("greedy", "random")))
    assert joining.accept(server, created.game_id, typed(server), word="owl").begun
    row = row_of(server, created.game_id)
    assert row.seed == seed_from(row.secret, ["", "", "owl"])


def test_no_number_of_unconfirmed_requests_keeps_a_player_from_asking_for_a_seat(server, opened):
    for number in range(60):
        server.run(
            joining.ask_to_join,
            opened.game_id,
            f"s{number}@s{number}.example",
            "S",
            network=f"192.0.2.{number // 20}/32",
        )
    server.run(joining.ask_to_join, opened.game_id, "eve@example.org", "Eve", network="198.51.100.1/32")


# Invitations.


def test_invited_people_get_an_email_and_take_their_seat_by_it(server, person):
    created = server.run(
        joining.create_table, person("Ann"), replace(POKER, private=True, invited=("Ben@Example.org",))
    )
    ben = typed(server, "ben@example.org")
    (email,) = queued_emails(server, ben)
    assert (email.kind, email.game_id, facts_of(server, email)) == ("invitation", created.game_id, {"host": "Ann"})
    joining.accept(server, created.game_id, ben, name="Ben", word="heron")
    assert players(server, created.game_id) == ("Ben",)
    assert server.read(addresses.read, ben).confirmed_at is not None


def test_an_invited_stranger_has_to_give_a_name(server, person):
    created = server.run(joining.create_table, person("Ann"), replace(POKER, invited=("ben@example.org",)))
    with pytest.raises(BadInput, match="name"):
        joining.accept(server, created.game_id, typed(server, "ben@example.org"))


def test_each_address_is_invited_once_and_the_host_never(server, person):
    twice = ("ben@example.org", "BEN@example.org", "ann@example.org")
    created = server.run(joining.create_table, person("Ann"), replace(POKER, invited=twice))
    assert server.run(invitations.invite, created.game_id, person("Ann"), ("ben@example.org", "eve@example.org")) == 1
    assert email_kinds(server, typed(server, "ben@example.org")) == ["invitation"]
    assert email_kinds(server, typed(server, "eve@example.org")) == ["invitation"]
    assert "invitation" not in email_kinds(server, person("Ann"))


def test_only_the_host_invites(server, person, opened):
    with pytest.raises(Forbidden):
        server.run(invitations.invite, opened.game_id, person("Ben"), ("eve@example.org",))


def test_only_invited_people_join_a_private_table(server, person):
    created = server.run(
        joining.create_table, person("Ann"), replace(POKER, private=True, invited=("ben@example.org",))
    )
    for act in (
        lambda: server.run(joining.join, created.game_id, person("Cleo")),
        lambda: joining.accept(server, created.game_id, person("Cleo")),
        lambda: server.run(joining.ask_to_join, created.game_id, "dan@example.org", "Dan"),
    ):
        with pytest.raises(NotFound):
            act()
    server.run(joining.join, created.game_id, person("Ben"))
    assert players(server, created.game_id) == ("Ben",)


def test_no_address_gets_more_than_five_invitations_in_a_day(server, person, clock):
    ann, invited = person("Ann"), replace(POKER, invited=("ben@example.org",))
    for _ in range(invitations.INVITATIONS_A_DAY):
        server.run(joining.create_table, ann, invited)
    before = all_rows(server.store)
    with pytest.raises(TooMany):
        server.run(joining.create_table, ann, invited)
    assert all_rows(server.store) == before
    clock.advance(timedelta(days=1))
    server.run(joining.create_table, ann, invited)


def test_a_table_is_offered_to_twenty_addresses(server, person):
    settings = replace(POKER, invited=tuple(f"friend{n}@example.org" for n in range(20)))
    created = server.run(joining.create_table, person("Ann"), settings)
    assert len(queued_emails(server, kind="invitation")) == 20
    with pytest.raises(BadInput, match="up to 20 people"):
        server.run(invitations.invite, created.game_id, person("Ann"), ("one.more@example.org",))


def test_declining_tells_the_host_once(server, person):
    created = server.run(joining.create_table, person("Ann"), replace(POKER, invited=("ben@example.org",)))
    ben = typed(server, "ben@example.org")
    server.run(invitations.decline, created.game_id, ben)
    before = all_rows(server.store)
    server.run(invitations.decline, created.game_id, ben)
    assert all_rows(server.store) == before
    assert email_kinds(server, person("Ann")) == ["confirm", "declined"]


def test_a_declined_invitation_can_still_be_accepted(server, person):
    created = server.run(
        joining.create_table, person("Ann"), replace(POKER, private=True, invited=("ben@example.org",))
    )
    ben = typed(server, "ben@example.org")
    server.run(invitations.decline, created.game_id, ben)
    joining.accept(server, created.game_id, ben, name="Ben")
    assert players(server, created.game_id) == ("Ben",)


def test_there_is_nothing_to_decline_without_an_invitation_or_after_joining(server, person, opened):
    with pytest.raises(NotFound):
        server.run(invitations.decline, opened.game_id, person("Ben"))
    server.run(invitations.invite, opened.game_id, person("Ann"), ("ben@example.org",))
    server.run(joining.join, opened.game_id, person("Ben"))
    with pytest.raises(Gone):
        server.run(invitations.decline, opened.game_id, person("Ben"))


def test_unknown_tables_are_not_found(server, person):
    ann = person("Ann")
    for act in (
        lambda: server.run(joining.join, 99, ann),
        lambda: joining.accept(server, 99, ann),
        lambda: server.run(invitations.decline, 99, ann),
        lambda: server.run(invitations.invite, 99, ann, ()),
        lambda: server.run(joining.ask_to_join, 99, "dan@example.org", "Dan"),
        lambda: server.read(listing.by_key, "nonsense"),
        lambda: server.read(listing.by_id, 99),
    ):
        with pytest.raises(NotFound):
            act()


# A database that breaks.


def test_a_table_that_breaks_while_it_is_made_leaves_nothing(server, person):
    ann = person("Ann")
    settings = replace(POKER, bots=("greedy",), invited=("ben@example.org", "eve@example.org"))
    assert check_atomic(server.store, lambda: server.run(joining.create_table, ann, settings)) > 5


def test_joining_that_breaks_leaves_nothing(server, person, opened):
    ben = person("Ben")
    assert check_atomic(server.store, lambda: server.run(joining.join, opened.game_id, ben, word="heron")) > 5


def test_a_start_that_breaks_leaves_nothing(server, person, opened):
    server.run(joining.join, opened.game_id, person("Ben"))
    cleo = person("Cleo")
    assert check_atomic(server.store, lambda: server.run(joining.join, opened.game_id, cleo)) > 10
    assert RunningGame(server, opened.game_id).verifies()


def test_accepting_that_breaks_leaves_nothing(server):
    created = server.run(
        joining.ask_to_create,
        "dan@example.org",
        "Dan",
        replace(POKER, bots=("greedy", "random"), invited=("eve@example.org",)),
    )
    dan = typed(server)
    assert check_atomic(server.store, lambda: joining.accept(server, created.game_id, dan)) > 10


# Races. The second act runs at each call to the database that the first makes.


def test_the_last_seat_is_taken_once_by_two_at_the_same_moment(server, person):
    ann, ben, cleo, dan = (person(name) for name in ("Ann", "Ben", "Cleo", "Dan"))
    met = 0
    for meeting in meetings(server.store):
        created = server.run(joining.create_table, ann, POKER)
        for who in (ann, ben):
            server.run(joining.join, created.game_id, who)
        outcomes = meeting(
            partial(server.run, joining.join, created.game_id, cleo),
            partial(server.run, joining.join, created.game_id, dan),
        )
        (joined,) = (outcome for outcome in outcomes if not isinstance(outcome, Exception))
        (refused,) = (outcome for outcome in outcomes if isinstance(outcome, Exception))
        assert joined.begun
        assert isinstance(refused, Gone)
        game = RunningGame(server, created.game_id)
        assert len(game.players()) == 3
        assert game.verifies()
        server.run(leaving.agree_to_end, game.id, ann)
        server.run(leaving.agree_to_end, game.id, ben)
        server.run(leaving.agree_to_end, game.id, cleo if outcomes[0] is joined else dan)
        met += 1
    assert met > 10


def test_a_double_click_on_joining_takes_one_seat(server, person):
    ann = person("Ann")
    for meeting in meetings(server.store):
        created = server.run(joining.create_table, ann, POKER)
        click = partial(server.run, joining.join, created.game_id, ann, word="owl")
        one, other = meeting(click, click)
        assert sorted([one.again, other.again]) == [False, True]
        assert one.players == other.players == (0,)
        server.run(leaving.leave, created.game_id, ann)


def test_a_table_does_not_begin_without_a_player_who_leaves_at_the_same_moment(server, person):
    ann, ben, cleo = (person(name) for name in ("Ann", "Ben", "Cleo"))
    for meeting in meetings(server.store):
        created = server.run(joining.create_table, ann, POKER)
        for who in (ann, ben):
            server.run(joining.join, created.game_id, who)
        left, joined = meeting(
            partial(server.run, leaving.leave, created.game_id, ben),
            partial(server.run, joining.join, created.game_id, cleo),
        )
        assert (left is None) == (not joined.begun), (left, joined)
        assert len(players(server, created.game_id)) == (3 if joined.begun else 2)
        # Once the game has begun, a player can only resign.
        with suppress(Gone):
            server.run(leaving.leave, created.game_id, ann)


def test_two_tables_at_once_do_not_pass_the_limit(server, person):
    small, ann = replace(server, open_tables=1), person("Ann")
    for meeting in meetings(server.store):
        outcomes = meeting(*(partial(small.run, joining.create_table, ann, POKER) for _ in range(2)))
        (created,) = (outcome for outcome in outcomes if not isinstance(outcome, Exception))
        assert sum(isinstance(outcome, TooMany) for outcome in outcomes) == 1
        server.run(leaving.leave, created.game_id, ann)


def test_one_address_typed_twice_at_once_is_one_person(server):
    for number, meeting in enumerate(meetings(server.store)):
        address = f"dan{number}@example.org"
        one, other = meeting(
            partial(server.run, addresses.register, address, "Dan"),
            partial(server.run, addresses.register, address, "Dan"),
        )
        assert one.id == other.id


# Starting with fewer, and on a date


def test_a_game_starts_with_the_fewest_players_that_its_host_asked_for(server, person):
    created = server.run(joining.create_table, person("Ann"), replace(POKER, seats=5, fewest=3))
    for name in ("Ben", "Cleo", "Dan"):
        assert not server.run(joining.join, created.game_id, person(name)).begun
    # Without its host, no game begins.
    assert server.run(joining.join, created.game_id, person("Ann")).begun
    row = row_of(server, created.game_id)
    assert (row.status, row.seats, row.fewest) == ("playing", 4, 3)
    assert len(RunningGame(server, created.game_id).asked()) == 4


def test_a_game_that_starts_on_a_date_waits_for_it_and_takes_players_until_then(server, person, clock):
    start_at = server.now() + timedelta(days=20)
    created = server.run(joining.create_table, person("Ann"), replace(POKER, seats=5, fewest=3, starts_at=start_at))
    for name in ("Ann", "Ben", "Cleo", "Dan"):
        assert not server.run(joining.join, created.game_id, person(name)).begun
    clock.advance(timedelta(days=20) - timedelta(seconds=1))
    assert start.start_due(server) == leaving.expire(server) == []
    clock.advance(timedelta(seconds=1))
    assert start.start_due(server) == [created.game_id]
    assert (row_of(server, created.game_id).status, row_of(server, created.game_id).seats) == ("playing", 4)
    assert start.start_due(server) == []


def test_a_game_with_too_few_players_on_its_date_starts_once_there_are_enough(server, person, clock):
    start_at = server.now() + timedelta(days=1)
    created = server.run(joining.create_table, person("Ann"), replace(POKER, fewest=3, starts_at=start_at))
    for name in ("Ann", "Ben"):
        server.run(joining.join, created.game_id, person(name))
    clock.advance(timedelta(days=1))
    assert start.start_due(server) == []
    assert row_of(server, created.game_id).status == "open"
    assert server.run(joining.join, created.game_id, person("Cleo")).begun
    late = server.run(joining.create_table, person("Ann"), replace(POKER, starts_at=server.now() + timedelta(days=1)))
    clock.advance(timedelta(days=1) + joining.WAITS)
    assert start.start_due(server) == []
    assert leaving.expire(server) == [late.game_id]


def test_nobody_can_move_to_an_address_whose_owner_is_taking_a_seat(server, opened, person):
    ben, zoe = person("Ben"), "zoe@example.org"
    server.run(joining.ask_to_join, opened.game_id, zoe, "Zoe")
    newcomer = server.query(people.by_mailbox, zoe).id
    with count_calls(server.store) as made:
        server.dry_run(joining.confirm_and_join, opened.game_id, newcomer)
    # At its commit, everything has been done.
    _, moved = at_call(
        server.store,
        len(made) + 1,
        lambda: server.run(joining.confirm_and_join, opened.game_id, newcomer),
        lambda: server.run(change_address.change_address, ben, zoe),
    )
    assert isinstance(moved, BadInput)
    assert "Zoe" in players(server, opened.game_id)


def test_a_host_gets_few_emails_of_one_person_who_joins_and_leaves(server, opened, person, clock):
    for _ in range(joining.JOINS_A_DAY):
        server.run(joining.join, opened.game_id, person("Ben"))
        server.run(leaving.leave, opened.game_id, person("Ben"))
    with pytest.raises(TooMany, match="joined this table 3 times"):
        server.run(joining.join, opened.game_id, person("Ben"))
    assert len(queued_emails(server, person("Ann"), "left")) == joining.JOINS_A_DAY
    server.run(joining.join, opened.game_id, person("Cleo"))
    clock.advance(timedelta(days=1, seconds=1))
    server.run(joining.join, opened.game_id, person("Ben"))
