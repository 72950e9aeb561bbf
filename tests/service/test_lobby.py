"""Tables before they begin."""

import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from engine.chance import Stream, commitment, seed_from
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany
from pbem.service import announced, begin, leaving, lobby, people
from pbem.service.play import rules_of
from pbem.service.record import Kind, body_of
from pbem.service.tables import Wanted
from pbem.store import games
from tests.service.begun import Begun
from tests.service.races import meetings
from tests.service.stored import everything, fails_without_a_trace, kinds, letters

POKER = Wanted("sunset-poker", 3)


@pytest.fixture
def opened(house, person):
    """A table of three that Ann has opened and sits at."""
    created = lobby.create_table(house, person("Ann"), POKER)
    lobby.join(house, created.game_id, person("Ann"), word="owl")
    return created


def stored(house, game_id):
    with house.store.read() as tx:
        return games.read(tx, game_id)


def row_of(house, game_id):
    return stored(house, game_id)


def players(house, game_id):
    return announced.by_id(house, game_id).players


def test_the_commitment_can_be_read_before_anybody_gives_a_word(house, person):
    created = lobby.create_table(house, person("Ann"), POKER)
    shown = announced.by_key(house, created.key)
    assert shown.players == ()
    assert shown.commitment == created.commitment
    assert commitment(row_of(house, created.game_id).secret) == created.commitment


def test_two_tables_have_two_secrets_and_two_names(house, person):
    one, other = (lobby.create_table(house, person("Ann"), POKER) for _ in range(2))
    assert one.commitment != other.commitment
    assert one.key != other.key


def test_no_secret_is_shown_with_a_table(house, person, opened):
    secret = row_of(house, opened.game_id).secret
    shown = announced.by_key(house, opened.key)
    assert secret not in vars_of(shown)
    assert secret.hex() not in repr(shown)
    assert secret.hex() not in repr(row_of(house, opened.game_id))
    assert repr(secret) not in repr(row_of(house, opened.game_id))


def vars_of(shown):
    return [getattr(shown, name) for name in shown.__dataclass_fields__]


def test_the_last_place_begins_the_game(house, person, opened):
    assert not lobby.join(house, opened.game_id, person("Ben")).begun
    assert announced.by_key(house, opened.key).status == "open"
    assert lobby.join(house, opened.game_id, person("Cleo")).begun
    assert announced.by_key(house, opened.key).status == "playing"


def test_joining_again_gives_the_same_place(house, person, opened):
    first = lobby.join(house, opened.game_id, person("Ben"))
    before = everything(house.store)
    again = lobby.join(house, opened.game_id, person("Ben"), word="another")
    assert (first.again, again.again, again.places) == (False, True, first.places)
    assert everything(house.store) == before


def test_joining_again_after_the_start_gives_the_same_place(house, person, opened):
    lobby.join(house, opened.game_id, person("Ben"))
    last = lobby.join(house, opened.game_id, person("Cleo"))
    again = lobby.join(house, opened.game_id, person("Cleo"))
    assert again == replace(last, again=True)


def test_the_seed_is_made_of_the_secret_and_the_words_in_joining_order(house, person, opened):
    lobby.join(house, opened.game_id, person("Ben"), word="")
    lobby.join(house, opened.game_id, person("Cleo"), word="ибис")
    row = row_of(house, opened.game_id)
    assert row.seed == seed_from(row.secret, ["owl", "", "ибис"])


def test_the_order_of_turns_is_drawn_from_the_seed(house, person, table):
    game = table("sunset-poker", 4)
    row = game.row()
    seats = [place.seat for place in sorted(game.places().values(), key=lambda place: place.place)]
    assert seats == Stream(row.seed, begin.SEATING).shuffle(range(4))


def test_over_many_games_everybody_gets_every_seat(house, person):
    first = Counter()
    for _ in range(24):
        game = lobby.create_table(house, person("Ann"), Wanted("sunset-poker", 3, bots=("random", "random")))
        lobby.join(house, game.game_id, person("Ann"))
        first[next(s for s, p in Begun(house, game.game_id).places().items() if p.person_id is not None)] += 1
        with house.store.engine.begin() as tx:
            tx.exec_driver_sql("UPDATE game SET status = 'over'")
    assert set(first) == {0, 1, 2}


def test_the_first_row_of_a_log_says_what_was_agreed_and_names_nobody(house, person, table):
    game = table("sunset-poker", 3, bots=("greedy",), pace="12h", silent_limit=4, successor="substitute")
    row, began = game.row(), game.log()[0]
    body = body_of(rules_of(row), began)
    (bot,) = (seat for seat, place in game.places().items() if place.bot)
    assert began.kind == Kind.BEGAN
    assert (body["pace"], body["silent_limit"], body["successor"]) == ("12h", 4, "substitute")
    assert body["bots"] == [[bot, "greedy"]]
    assert body["options"] == json.loads(row.options)
    assert body["commitment"] == row.commitment
    assert "Ann" not in began.body.decode()
    assert row.secret.hex() not in began.body.decode()


def test_a_begun_game_tells_everybody_and_asks_whoever_is_first(house, person, table):
    game = table("sunset-poker", 3, bots=("greedy",))
    asked = set(game.asked())
    for seat, place in game.places().items():
        if place.person_id is not None:
            wanted = {"welcome", "turn"} if seat in asked else {"welcome"}
            assert {mail.kind for mail in game.mails() if mail.seat == seat} == wanted


def test_who_joins_keeps_the_commitment_and_the_word_by_mail(house, person, opened):
    lobby.join(house, opened.game_id, person("Ben"), word="heron")
    (mail,) = letters(house, person("Ben"), "joined")
    assert json.loads(mail.facts) == {"commitment": opened.commitment, "word": "heron"}


def test_every_place_has_a_name_of_its_own(house, person):
    created = lobby.create_table(house, person("Ann"), Wanted("sunset-poker", 4, bots=("greedy",)))
    for who in ("Ann", "Ben", "Cleo"):
        lobby.join(house, created.game_id, person(who), name="Bot 1")
    assert players(house, created.game_id) == ("Bot 1", "Bot 1 2", "Bot 1 3", "Bot 1 4")


def test_a_place_is_kept_for_the_host(house, person):
    created = lobby.create_table(house, person("Ann"), POKER)
    lobby.join(house, created.game_id, person("Ben"))
    lobby.join(house, created.game_id, person("Cleo"))
    assert announced.by_key(house, created.key).free == 0
    late = person("Dan")
    before = everything(house.store)
    with pytest.raises(Gone, match="kept for its host"):
        lobby.join(house, created.game_id, late)
    assert everything(house.store) == before
    assert lobby.join(house, created.game_id, person("Ann")).begun


def test_a_full_table_takes_nobody_more(house, person, table):
    game = table("sunset-poker", 3)
    dan = person("Dan")
    before = everything(house.store)
    with pytest.raises(Gone, match="has begun"):
        lobby.join(house, game.id, dan)
    assert everything(house.store) == before


def test_one_person_does_not_take_two_seats(house, person, opened):
    ann = person("Ann")
    before = everything(house.store)
    with pytest.raises(Forbidden, match="two seats"):
        lobby.join(house, opened.game_id, ann, holding=2)
    assert everything(house.store) == before


def test_one_person_takes_two_seats_where_the_table_allows_it(house, person):
    created = lobby.create_table(house, person("Ann"), replace(POKER, doubles=True))
    lobby.join(house, created.game_id, person("Ann"))
    two = lobby.join(house, created.game_id, person("Ann"), holding=2)
    assert two.places == (0, 1)
    assert lobby.join(house, created.game_id, person("Ann"), holding=2).again
    assert lobby.join(house, created.game_id, person("Ben")).begun
    assert players(house, created.game_id) == ("Ann", "Ann 2", "Ben")


def test_an_address_that_is_not_confirmed_neither_opens_nor_joins(house, person, opened):
    ben = people.create(house, "ben@example.org", "Ben")
    before = everything(house.store)
    for act in (
        lambda: lobby.join(house, opened.game_id, ben.id),
        lambda: lobby.create_table(house, ben.id, POKER),
    ):
        with pytest.raises(Forbidden, match="not been confirmed"):
            act()
    assert everything(house.store) == before


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
        {"silent_limit": 1},
        {"silent_limit": 11},
        {"silent_limit": True},
        {"successor": "nobody"},
        {"invited": ("nonsense",)},
        {"invited": tuple(f"friend{n}@example.org" for n in range(21))},
    ],
    ids=str,
)
def test_a_table_that_cannot_be_is_refused_and_nothing_is_written(house, person, wrong):
    ann = person("Ann")
    before = everything(house.store)
    with pytest.raises((BadInput, NotFound)):
        lobby.create_table(house, ann, replace(POKER, **wrong))
    with pytest.raises((BadInput, NotFound)):
        lobby.ask_to_create(house, "ben@example.org", "Ben", replace(POKER, **wrong))
    assert everything(house.store) == before


def test_a_word_has_a_hundred_characters_at_most(house, person, opened):
    with pytest.raises(BadInput, match="100 are the most"):
        lobby.join(house, opened.game_id, person("Ben"), word="x" * 101)
    lobby.join(house, opened.game_id, person("Ben"), word="x" * 100)


def test_a_person_is_at_twenty_tables_at_most(house, person):
    small = replace(house, open_tables=2)
    ann, ben = person("Ann"), person("Ben")
    for _ in range(2):
        last = lobby.create_table(small, ann, POKER)
    with pytest.raises(TooMany):
        lobby.create_table(small, ann, POKER)
    other = lobby.create_table(small, ben, POKER)
    with pytest.raises(TooMany):
        lobby.join(small, other.game_id, ann)
    # A seat at one's own table is no table more.
    lobby.join(small, last.game_id, ann)


def test_only_open_tables_of_everybody_are_in_the_lobby(house, person, opened):
    lobby.create_table(house, person("Ben"), replace(POKER, private=True))
    lobby.ask_to_create(house, "dan@example.org", "Dan", POKER)
    assert [table.key for table in announced.waiting(house)] == [opened.key]
    lobby.join(house, opened.game_id, person("Ben"))
    lobby.join(house, opened.game_id, person("Cleo"))
    assert announced.waiting(house) == []


def test_my_tables_are_those_i_opened_and_those_i_play_at(house, person, opened):
    mine = lobby.create_table(house, person("Ben"), POKER)
    lobby.join(house, opened.game_id, person("Ben"))
    assert [table.key for table in announced.of_person(house, person("Ben"))] == [opened.key, mine.key]


# What was asked for with an address that somebody merely typed.


def typed(house, address="dan@example.org"):
    """The person behind an address."""
    with house.store.engine.connect() as tx:
        return tx.exec_driver_sql(f"SELECT id FROM person WHERE mailbox = '{address}'").scalar_one()


def test_a_place_asked_for_by_typing_an_address_is_taken_when_its_mail_is_answered(house, person, opened):
    lobby.ask_to_join(house, opened.game_id, "dan@example.org", "Dan", "heron")
    dan = typed(house)
    (mail,) = letters(house, dan)
    assert (mail.kind, mail.game_id) == ("confirm", opened.game_id)
    assert players(house, opened.game_id) == ("Ann",)
    joined = lobby.accept(house, opened.game_id, dan)
    assert (joined.begun, joined.again) == (False, False)
    assert players(house, opened.game_id) == ("Ann", "Dan")
    assert people.read(house, dan).confirmed_at is not None
    assert people.read(house, dan).name == "Dan"
    assert lobby.accept(house, opened.game_id, dan).again


def test_the_word_that_was_typed_with_an_address_counts(house, person, opened):
    lobby.ask_to_join(house, opened.game_id, "dan@example.org", "Dan", "heron")
    lobby.accept(house, opened.game_id, typed(house))
    lobby.join(house, opened.game_id, person("Ben"))
    row = row_of(house, opened.game_id)
    assert row.seed == seed_from(row.secret, ["owl", "heron", ""])


def test_typing_the_address_of_a_known_player_takes_no_place_either(house, person, opened):
    ben = person("Ben")
    lobby.ask_to_join(house, opened.game_id, "ben@example.org", "Silly")
    assert players(house, opened.game_id) == ("Ann",)
    assert kinds(house, ben) == ["confirm", "confirm"]
    assert people.read(house, ben).name == "Ben"


def test_the_last_thing_that_was_typed_counts(house, opened):
    lobby.ask_to_join(house, opened.game_id, "dan@example.org", "Dan", "one")
    lobby.ask_to_join(house, opened.game_id, "dan@example.org", "Daniel", "two")
    lobby.accept(house, opened.game_id, typed(house))
    assert players(house, opened.game_id) == ("Ann", "Daniel")


def test_whoever_comes_too_late_keeps_the_confirmed_address(house, person, opened):
    lobby.ask_to_join(house, opened.game_id, "dan@example.org", "Dan")
    dan = typed(house)
    lobby.join(house, opened.game_id, person("Ben"))
    lobby.join(house, opened.game_id, person("Cleo"))
    with pytest.raises(Gone, match="has begun"):
        lobby.accept(house, opened.game_id, dan)
    assert people.read(house, dan).confirmed_at is not None


def test_a_refused_place_can_be_asked_for_again_by_the_same_link(house, person, opened):
    lobby.ask_to_join(house, opened.game_id, "dan@example.org", "Dan", "heron")
    dan = typed(house)
    with pytest.raises(BadInput):
        lobby.accept(house, opened.game_id, dan, name="you")
    assert lobby.accept(house, opened.game_id, dan, name="Dan the Second").again is False
    assert players(house, opened.game_id) == ("Ann", "Dan the Second")


def test_a_table_asked_for_by_typing_an_address_is_nobodys_business_before_its_mail_is_answered(house, person):
    created = lobby.ask_to_create(house, "dan@example.org", "Dan", replace(POKER, invited=("eve@example.org",)))
    dan, eve, ben = typed(house), typed(house, "eve@example.org"), person("Ben")
    assert announced.by_key(house, created.key).status == "planned"
    assert (kinds(house, dan), kinds(house, eve)) == (["confirm"], [])
    for act in (
        lambda: lobby.join(house, created.game_id, ben),
        lambda: lobby.ask_to_join(house, created.game_id, "fay@example.org", "Fay"),
        lambda: lobby.accept(house, created.game_id, eve),
    ):
        with pytest.raises(NotFound):
            act()
    lobby.accept(house, created.game_id, dan, word="owl")
    shown = announced.by_key(house, created.key)
    assert (shown.status, shown.players, shown.host) == ("open", ("Dan",), "Dan")
    assert kinds(house, eve) == ["invitation"]


def test_a_host_whose_word_is_refused_has_announced_nothing_yet(house):
    created = lobby.ask_to_create(house, "dan@example.org", "Dan", replace(POKER, invited=("eve@example.org",)))
    dan = typed(house)
    with pytest.raises(BadInput):
        lobby.accept(house, created.game_id, dan, word="x" * 101)
    assert announced.by_key(house, created.key).status == "planned"
    assert kinds(house, typed(house, "eve@example.org")) == []
    assert people.read(house, dan).confirmed_at is not None
    lobby.accept(house, created.game_id, dan, word="owl")
    assert announced.by_key(house, created.key).players == ("Dan",)


def test_a_table_of_one_person_and_bots_begins_when_its_host_takes_the_seat(house):
    created = lobby.ask_to_create(house, "dan@example.org", "Dan", replace(POKER, bots=("greedy", "random")))
    assert lobby.accept(house, created.game_id, typed(house), word="owl").begun
    row = row_of(house, created.game_id)
    assert row.seed == seed_from(row.secret, ["", "", "owl"])


def test_fifty_addresses_can_wait_for_one_table(house, opened, monkeypatch):
    monkeypatch.setattr(lobby, "MOST_WISHES", 2)
    for name in ("dan", "eve"):
        lobby.ask_to_join(house, opened.game_id, f"{name}@example.org", name)
    with pytest.raises(TooMany):
        lobby.ask_to_join(house, opened.game_id, "fay@example.org", "Fay")
    lobby.ask_to_join(house, opened.game_id, "eve@example.org", "Eve")


# Invitations.


def test_invited_people_get_a_mail_and_take_their_place_by_it(house, person):
    created = lobby.create_table(house, person("Ann"), replace(POKER, private=True, invited=("Ben@Example.org",)))
    ben = typed(house, "ben@example.org")
    (mail,) = letters(house, ben)
    assert (mail.kind, mail.game_id, json.loads(mail.facts)) == ("invitation", created.game_id, {"host": "Ann"})
    lobby.accept(house, created.game_id, ben, name="Ben", word="heron")
    assert players(house, created.game_id) == ("Ben",)
    assert people.read(house, ben).confirmed_at is not None


def test_an_invited_stranger_has_to_give_a_name(house, person):
    created = lobby.create_table(house, person("Ann"), replace(POKER, invited=("ben@example.org",)))
    with pytest.raises(BadInput, match="name"):
        lobby.accept(house, created.game_id, typed(house, "ben@example.org"))


def test_everybody_is_invited_once_and_the_host_not_at_all(house, person):
    twice = ("ben@example.org", "BEN@example.org", "ann@example.org")
    created = lobby.create_table(house, person("Ann"), replace(POKER, invited=twice))
    assert lobby.invite(house, created.game_id, person("Ann"), ("ben@example.org", "eve@example.org")) == 1
    assert kinds(house, typed(house, "ben@example.org")) == ["invitation"]
    assert kinds(house, typed(house, "eve@example.org")) == ["invitation"]
    assert "invitation" not in kinds(house, person("Ann"))


def test_only_the_host_invites(house, person, opened):
    with pytest.raises(Forbidden):
        lobby.invite(house, opened.game_id, person("Ben"), ("eve@example.org",))


def test_a_private_table_is_for_those_who_were_asked(house, person):
    created = lobby.create_table(house, person("Ann"), replace(POKER, private=True, invited=("ben@example.org",)))
    for act in (
        lambda: lobby.join(house, created.game_id, person("Cleo")),
        lambda: lobby.accept(house, created.game_id, person("Cleo")),
        lambda: lobby.ask_to_join(house, created.game_id, "dan@example.org", "Dan"),
    ):
        with pytest.raises(NotFound):
            act()
    lobby.join(house, created.game_id, person("Ben"))
    assert players(house, created.game_id) == ("Ben",)


def test_no_address_gets_more_than_five_invitations_in_a_day(house, person, clock):
    ann, invited = person("Ann"), replace(POKER, invited=("ben@example.org",))
    for _ in range(lobby.INVITATIONS_A_DAY):
        lobby.create_table(house, ann, invited)
    before = everything(house.store)
    with pytest.raises(TooMany):
        lobby.create_table(house, ann, invited)
    assert everything(house.store) == before
    clock.advance(timedelta(days=1))
    lobby.create_table(house, ann, invited)


def test_a_table_is_offered_to_twenty_addresses(house, person):
    wanted = replace(POKER, invited=tuple(f"friend{n}@example.org" for n in range(20)))
    created = lobby.create_table(house, person("Ann"), wanted)
    assert len(letters(house, kind="invitation")) == 20
    with pytest.raises(BadInput, match="20 at most"):
        lobby.invite(house, created.game_id, person("Ann"), ("one.more@example.org",))


def test_declining_tells_the_host_once(house, person):
    created = lobby.create_table(house, person("Ann"), replace(POKER, invited=("ben@example.org",)))
    ben = typed(house, "ben@example.org")
    lobby.decline(house, created.game_id, ben)
    before = everything(house.store)
    lobby.decline(house, created.game_id, ben)
    assert everything(house.store) == before
    assert kinds(house, person("Ann")) == ["confirm", "declined"]


def test_whoever_declined_can_still_come(house, person):
    created = lobby.create_table(house, person("Ann"), replace(POKER, private=True, invited=("ben@example.org",)))
    ben = typed(house, "ben@example.org")
    lobby.decline(house, created.game_id, ben)
    lobby.accept(house, created.game_id, ben, name="Ben")
    assert players(house, created.game_id) == ("Ben",)


def test_there_is_nothing_to_decline_without_an_invitation_or_after_joining(house, person, opened):
    with pytest.raises(NotFound):
        lobby.decline(house, opened.game_id, person("Ben"))
    lobby.invite(house, opened.game_id, person("Ann"), ("ben@example.org",))
    lobby.join(house, opened.game_id, person("Ben"))
    with pytest.raises(Gone):
        lobby.decline(house, opened.game_id, person("Ben"))


def test_unknown_tables_are_not_found(house, person):
    ann = person("Ann")
    for act in (
        lambda: lobby.join(house, 99, ann),
        lambda: lobby.accept(house, 99, ann),
        lambda: lobby.decline(house, 99, ann),
        lambda: lobby.invite(house, 99, ann, ()),
        lambda: lobby.ask_to_join(house, 99, "dan@example.org", "Dan"),
        lambda: announced.by_key(house, "nonsense"),
        lambda: announced.by_id(house, 99),
    ):
        with pytest.raises(NotFound):
            act()


# A database that breaks.


def test_a_table_that_breaks_while_it_is_made_leaves_nothing(house, person):
    ann = person("Ann")
    wanted = replace(POKER, bots=("greedy",), invited=("ben@example.org", "eve@example.org"))
    assert fails_without_a_trace(house.store, lambda: lobby.create_table(house, ann, wanted)) > 5


def test_joining_that_breaks_leaves_nothing(house, person, opened):
    ben = person("Ben")
    assert fails_without_a_trace(house.store, lambda: lobby.join(house, opened.game_id, ben, word="heron")) > 5


def test_a_start_that_breaks_leaves_nothing(house, person, opened):
    lobby.join(house, opened.game_id, person("Ben"))
    cleo = person("Cleo")
    assert fails_without_a_trace(house.store, lambda: lobby.join(house, opened.game_id, cleo)) > 10
    assert Begun(house, opened.game_id).verifies()


def test_accepting_that_breaks_leaves_nothing(house):
    created = lobby.ask_to_create(
        house, "dan@example.org", "Dan", replace(POKER, bots=("greedy", "random"), invited=("eve@example.org",))
    )
    dan = typed(house)
    assert fails_without_a_trace(house.store, lambda: lobby.accept(house, created.game_id, dan)) > 10


# Races. Both meet at every call to the database that the first of them makes.


def test_two_who_want_the_last_place_at_once_do_not_both_get_it(house, person):
    ann, ben, cleo, dan = (person(name) for name in ("Ann", "Ben", "Cleo", "Dan"))
    met = 0
    for meeting in meetings(house.store):
        created = lobby.create_table(house, ann, POKER)
        for who in (ann, ben):
            lobby.join(house, created.game_id, who)
        outcomes = meeting(
            partial(lobby.join, house, created.game_id, cleo), partial(lobby.join, house, created.game_id, dan)
        )
        (joined,) = (outcome for outcome in outcomes if not isinstance(outcome, Exception))
        (refused,) = (outcome for outcome in outcomes if isinstance(outcome, Exception))
        assert joined.begun
        assert isinstance(refused, Gone)
        game = Begun(house, created.game_id)
        assert len(game.places()) == 3
        assert game.verifies()
        leaving.agree_to_end(house, game.id, ann)
        leaving.agree_to_end(house, game.id, ben)
        leaving.agree_to_end(house, game.id, cleo if outcomes[0] is joined else dan)
        met += 1
    assert met > 10


def test_a_double_click_on_joining_is_one_place(house, person):
    ann = person("Ann")
    for meeting in meetings(house.store):
        created = lobby.create_table(house, ann, POKER)
        click = partial(lobby.join, house, created.game_id, ann, word="owl")
        one, other = meeting(click, click)
        assert sorted([one.again, other.again]) == [False, True]
        assert one.places == other.places == (0,)
        leaving.leave(house, created.game_id, ann)


def test_a_table_does_not_begin_without_a_player_who_leaves_at_the_same_moment(house, person):
    ann, ben, cleo = (person(name) for name in ("Ann", "Ben", "Cleo"))
    for meeting in meetings(house.store):
        created = lobby.create_table(house, ann, POKER)
        for who in (ann, ben):
            lobby.join(house, created.game_id, who)
        left, joined = meeting(
            partial(leaving.leave, house, created.game_id, ben), partial(lobby.join, house, created.game_id, cleo)
        )
        assert (left is None) == (not joined.begun), (left, joined)
        assert len(players(house, created.game_id)) == (3 if joined.begun else 2)
        # From a game that has begun nobody is let go like this.
        with suppress(Gone):
            leaving.leave(house, created.game_id, ann)


def test_two_tables_at_once_do_not_slip_through_the_limit(house, person):
    small, ann = replace(house, open_tables=1), person("Ann")
    for meeting in meetings(house.store):
        outcomes = meeting(*(partial(lobby.create_table, small, ann, POKER) for _ in range(2)))
        (created,) = (outcome for outcome in outcomes if not isinstance(outcome, Exception))
        assert sum(isinstance(outcome, TooMany) for outcome in outcomes) == 1
        leaving.leave(house, created.game_id, ann)


def test_one_address_typed_twice_at_once_is_one_person(house):
    for number, meeting in enumerate(meetings(house.store)):
        address = f"dan{number}@example.org"
        one, other = meeting(
            partial(people.create, house, address, "Dan"), partial(people.create, house, address, "Dan")
        )
        assert one.id == other.id
