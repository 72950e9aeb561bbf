"""Acts of moderation: previewed, done once, with a reason, on record, and told to those concerned."""

import json
import pkgutil
from datetime import date, timedelta
from importlib import import_module

import pytest

from pbem.domain.acts import Act, Actor, Role
from pbem.domain.errors import BadInput, Forbidden, Gone, PbemError, TooMany
from pbem.ops.verify import verify_game
from pbem.service import links
from pbem.service.absence import offers, substitutes
from pbem.service.account import delete
from pbem.service.clocks import outages, reachability
from pbem.service.desk import acts as desk_acts, audit
from pbem.service.desk.acts.clocks import (
    Close,
    DeclareOutage,
    Extend,
    Freeze,
    Pause,
    PauseMail,
    Resume,
    ResumeMail,
    Unfreeze,
)
from pbem.service.desk.acts.correct import Correct, Redact
from pbem.service.desk.acts.emails import Resend, ResendOfNoTable, ResendTurn, RetryDeadline, RetryIncoming
from pbem.service.desk.acts.people import Ban, ChangeAddress, Delete, Merge, NewLinks, Release, SendExport, Unban
from pbem.service.desk.acts.perform import DeskAct, perform
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import NewSeatLinks, Offer, Substitute
from pbem.service.desk.table import public_line
from pbem.service.outgoing import ledger
from pbem.service.play import undo
from pbem.service.play.rules import rules_of
from pbem.service.tables import demo, joining, leaving, talk
from pbem.service.tables.new import TableSettings
from pbem.store import audit as rows, blocks, deadlines, due_turns, games, people, received
from pbem.tokens import Purpose
from tests.service.actors import OLGA, moderate
from tests.service.clock import DAY, HOUR
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.inbox import Inbox
from tests.service.races import meetings

REASON = "It was asked for."


@pytest.fixture
def scene(server, time, table, person):
    """scene("unban") -> a table of three and the act of that name, with everything that it requires done before."""

    def make(name):
        game = table("templari", 3, pace="1d")
        time.sends()
        for _ in range(3):
            seat, decision = next(iter(game.asked().items()))
            game.play(seat, decision.default)
            time.sends()
        server.run(talk.say, game.id, 0, game.person_at(0), "You are all fools.")
        seat = next(iter(game.asked()))
        ben = person("Ben")
        match name:
            case "pause":
                return game, Pause(game.id)
            case "resume":
                moderate(server, Pause(game.id))
                return game, Resume(game.id)
            case "extend":
                return game, Extend(game.id, "2d")
            case "freeze":
                return game, Freeze(game.id)
            case "unfreeze":
                moderate(server, Freeze(game.id))
                return game, Unfreeze(game.id)
            case "close":
                return game, Close(game.id)
            case "rewind":
                return game, Rewind(game.id, 2)
            case "bot":
                return game, Substitute(game.id, seat)
            case "substitute":
                return game, Substitute(game.id, seat, "zoe@example.org")
            case "offer":
                server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
                return game, Offer(game.id, seat)
            case "redact":
                return game, Redact(game.id, 1)
            case "pace":
                return game, Correct(game.id, "pace", "3d")
            case "name":
                return game, Correct(game.id, "name", "Benjamin", 1)
            case "resend":
                email = queued_emails(server, game.person_at(seat), "turn")[-1]
                return game, Resend(game.id, email.id)
            case "resend turn":
                return game, ResendTurn(game.id, seat)
            case "retry":
                with server.store.engine.begin() as tx:
                    asked = deadlines.read(tx, game.id, game.row().turn, seat)
                    due_turns.release(tx, asked, attempts=due_turns.MOST_ATTEMPTS)
                return game, RetryDeadline(game.id, seat)
            case "address":
                return game, ChangeAddress(ben, "benjamin@example.net")
            case "ban":
                return game, Ban(ben, date(2027, 1, 31))
            case "unban":
                moderate(server, Ban(ben))
                return game, Unban(ben)
            case "release":
                server.run(reachability.note_refusal, ben, "550 5.1.1 no such user")
                return game, Release(ben)
            case "outage":
                time.passes(HOUR)
                return game, DeclareOutage(server.now() - HOUR, server.now())
            case "pause mail":
                return game, PauseMail()
            case "resume mail":
                moderate(server, PauseMail())
                return game, ResumeMail()
            case "merge":
                return game, Merge(person("Bennie"), ben)
            case "seat links":
                return game, NewSeatLinks(game.id, seat)
            case "new links":
                return game, NewLinks(ben)
            case "export":
                return game, SendExport(ben)
            case "delete":
                return game, Delete(ben)
            case "resend of no table":
                moderate(server, Ban(ben))
                time.sends()
                return game, ResendOfNoTable(queued_emails(server, ben, "banned")[-1].id)
            case "retry incoming":
                return game, RetryIncoming(parked_email(server, time, game, seat))
        raise AssertionError(name)

    return make


TABLE = {
    "pause": Pause,
    "resume": Resume,
    "extend": Extend,
    "freeze": Freeze,
    "unfreeze": Unfreeze,
    "close": Close,
    "rewind": Rewind,
    "bot": Substitute,
    "substitute": Substitute,
    "offer": Offer,
    "redact": Redact,
    "pace": Correct,
    "name": Correct,
    "outage": DeclareOutage,
    "merge": Merge,
    "delete": Delete,
}
"""Acts that affect play: each writes a log row with the reason, and emails it to everyone at the table."""

OTHERS = {
    # About a log row that exists: notified again, or done at last.
    "resend": Resend,
    "resend turn": ResendTurn,
    "retry": RetryDeadline,
    # Players who have longer because of it are told by then.
    "pause mail": PauseMail,
    "resume mail": ResumeMail,
    # About no table, or about links alone: players, seats and names stay the same.
    "address": ChangeAddress,
    "ban": Ban,
    "unban": Unban,
    "release": Release,
    "seat links": NewSeatLinks,
    "new links": NewLinks,
    "export": SendExport,
    "resend of no table": ResendOfNoTable,
    "retry incoming": RetryIncoming,
}
"""Acts that write no row of their own to the log of a game."""


def parked_email(server, time, game, seat):
    """A received email that was given up."""
    box = Inbox(server, time.clock)
    box.takes(box.written(game, seat, "help"), box.reply_address(game, seat))
    server.store.write(lambda tx: received.change(tx, 1, status="parked"))
    return 1


def acts(server):
    return server.read(audit.newest, rows.AuditFilter())


@pytest.mark.parametrize("name", [*TABLE, *OTHERS])
def test_every_act_does_what_its_preview_shows_and_is_on_record_with_its_reason(server, scene, name):
    _, act = scene(name)
    before, known = all_rows(server.store), len(acts(server))
    shown = server.dry_run(perform, OLGA, act, REASON)
    assert all_rows(server.store) == before, "looking has changed something"
    done = server.run(perform, OLGA, act, REASON)
    assert (done.rows, done.moved, done.emails, done.says) == (shown.rows, shown.moved, shown.emails, shown.says)
    row, *others = acts(server)
    assert len(others) == known
    assert (row.actor, row.act, row.reason) == ("organiser Olga", act.kind, REASON)
    assert (row.game_id, row.person_id) == (act.game_id, act.person_id)
    assert "@" not in row.body
    assert server.read(audit.verify).sound


@pytest.mark.slice(1 / 3)
@pytest.mark.parametrize("name", [*TABLE, *OTHERS])
def test_every_act_is_done_whole_or_not_at_all(server, scene, name):
    _, act = scene(name)
    assert check_atomic(server.store, lambda: server.run(perform, OLGA, act, REASON)) > 3


@pytest.mark.parametrize("name", ["rewind", "address", "outage"])
def test_no_act_without_a_reason_or_by_an_actor_who_may_not(server, scene, name):
    game, act = scene(name)
    before = all_rows(server.store)
    for reason in ("", " ", "no", "x" * 501, "ask ben@example.org"):
        with pytest.raises(BadInput):
            server.run(perform, OLGA, act, reason)
    players = [
        Actor(Role.HOST, "Cleo", person_id=game.person_at(0)) for _ in (0,) if game.row().host_id != game.person_at(0)
    ]
    if act.game_id is not None:
        players.append(Actor(Role.ORGANISER, "Ann", 1, person_id=game.person_at(0)))
    for actor in players:
        with pytest.raises(Forbidden):
            server.run(perform, actor, act, REASON)
        with pytest.raises(Forbidden):
            server.dry_run(perform, actor, act, REASON)
    assert all_rows(server.store) == before


@pytest.mark.parametrize("name", ["extend", "address", "outage"])
def test_a_form_that_is_sent_twice_does_its_act_once(server, scene, name):
    _, act = scene(name)
    server.run(perform, OLGA, act, REASON, form="a key of its own")
    before = all_rows(server.store)
    assert server.run(perform, OLGA, act, REASON, form="a key of its own").again
    assert all_rows(server.store) == before


def test_every_act_is_tested_here():
    for module in pkgutil.iter_modules(desk_acts.__path__, f"{desk_acts.__name__}."):
        import_module(module.name)
    assert {act for act in kinds_of(DeskAct) if hasattr(act, "kind")} == {*TABLE.values(), *OTHERS.values()}


def kinds_of(act):
    """A class of acts and all its subclasses."""
    return {act}.union(*map(kinds_of, act.__subclasses__()))


def at(game):
    return {player.person_id for player in game.players().values() if player.person_id is not None}


@pytest.mark.parametrize("name", TABLE)
def test_an_act_that_affects_play_is_a_row_that_players_read_and_get_by_email(server, scene, name):
    game, act = scene(name)
    assert type(act) is TABLE[name]
    seq, emails, people_there = game.row().seq, {email.id for email in queued_emails(server)}, at(game)
    moderate(server, act, REASON)
    outages.apply_outages(server)
    new = [public_line(row) for row in game.log()[seq:]]
    assert [row.says["reason"] for row in new if row.by == "organiser"] == [REASON]
    assert {row.by for row in new} <= {"organiser", "table"}
    new_emails = [email for email in queued_emails(server) if email.id not in emails]
    informed = {email.person_id for email in new_emails if json.loads(email.facts).get("reason") == REASON}
    # A person who has just been deleted has no address.
    assert informed == (people_there | at(game)) - ({act.person_id} if type(act) is Delete else set())
    assert not any("@" in (row.body or b"").decode() for row in game.log())
    assert game.verifies()
    with server.store.read() as tx:
        assert verify_game(tx, game.id).problems == ()


@pytest.mark.parametrize(
    ("name", "back"),
    [("pause", Resume), ("freeze", Unfreeze), ("pace", Correct), ("name", Correct), ("bot", Substitute)],
)
def test_an_act_that_can_be_reversed_says_how(server, scene, name, back):
    game, act = scene(name)
    before = game.row(), game.players()
    undo = moderate(server, act).undo
    assert isinstance(undo, back)
    moderate(server, undo)
    row, players = game.row(), game.players()
    assert (row.status, row.paused, row.pace) == (before[0].status, before[0].paused, before[0].pace)
    assert [(player.name, player.person_id) for player in players.values()] == [
        (player.name, player.person_id) for player in before[1].values()
    ]


def test_a_frozen_table_decides_nothing_and_no_clock_of_it_runs(server, time, table):
    game = table("templari", 3, pace="1d")
    time.sends()
    (seat,) = game.asked()
    decision = game.asked()[seat]
    due = time.due(game, seat)
    moderate(server, Freeze(game.id))
    time.passes(5 * DAY)
    assert time.runs_out().decided == 0
    with pytest.raises(Forbidden, match="has been stopped"):
        game.play(seat, decision.default)
    moderate(server, Unfreeze(game.id))
    assert time.due(game, seat) == due + 5 * DAY
    game.play(seat, decision.default)


WAYS_OUT = {
    "leave": lambda server, game, person: server.run(leaving.leave, game.id, person),
    "resign": lambda server, game, person: server.run(leaving.resign, game.id, 0, person),
    "agree to end": lambda server, game, person: server.run(leaving.agree_to_end, game.id, person),
    "play on": lambda server, game, person: server.run(leaving.play_on, game.id, person),
    "leave for good": lambda server, _game, person: server.run(delete.delete_person, person),
    "come back": lambda server, game, person: server.run(substitutes.come_back, game.id, 0, person),
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_a_player_who_would_leave_a_stopped_table_is_told_that_it_is_stopped(server, table, way):
    game = table("templari", 3)
    gone = game.person_at(0)
    if way == "come back":
        moderate(server, Substitute(game.id, 0))
    moderate(server, Freeze(game.id))
    before = all_rows(server.store)
    with pytest.raises(
        Forbidden, match=r"has been stopped so that its log can be checked.*We'll email you when it resumes"
    ):
        WAYS_OUT[way](server, game, gone)
    assert all_rows(server.store) == before


def test_a_table_that_goes_on_gives_its_deadline_to_the_player_in_turn_only(server, time, table):
    game = table("templari", 3, pace="1d")
    time.sends()
    (seat,) = game.asked()
    for halts, goes_on in ((Freeze, Unfreeze), (Pause, Resume)):
        moderate(server, halts(game.id))
        known = {email.id for email in queued_emails(server)}
        moderate(server, goes_on(game.id))
        notices = {email.person_id: json.loads(email.facts) for email in queued_emails(server) if email.id not in known}
        assert notices.keys() == at(game)
        assert {person: facts["in_turn"] for person, facts in notices.items()} == {
            person: person == game.person_at(seat) for person in at(game)
        }
        assert notices[game.person_at(seat)]["due_at"] == time.due(game, seat).isoformat()


def test_a_table_that_was_paused_before_it_was_frozen_is_paused_afterwards(server, time, table):
    game = table("templari", 3, pace="1d")
    time.sends()
    (seat,) = game.asked()
    moderate(server, Pause(game.id))
    moderate(server, Freeze(game.id))
    moderate(server, Unfreeze(game.id))
    assert game.row().paused
    assert time.due(game, seat) is None
    moderate(server, Resume(game.id))
    assert time.due(game, seat) is not None


def test_more_time_for_all_tells_nobody_who_has_answered(server, time, table):
    game = table("bid", 3)
    time.sends()
    game.play(0, game.asked()[0].default)
    moderate(server, Extend(game.id, "1d"))
    assert [row.seat for row in game.log() if row.kind == "Extended"] == [None]
    host = Actor(Role.HOST, "Ann", person_id=game.row().host_id)
    shown = server.dry_run(perform, host, Extend(game.id, "1d"), REASON)
    assert (shown.moved, shown.emails) == ((), ())


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("address", "From ben@example.org to benjamin@example.net."),
        ("merge", "Everything moves from ben@example.org to bennie@example.org."),
        ("ban", "The ban lasts until the end of Sun 31 Jan 2027."),
        ("delete", "Person: Ben."),
        ("outage", "From Sat 21 Nov 2026, 12:00 UTC to Sat 21 Nov 2026, 13:00 UTC."),
    ],
)
def test_the_preview_repeats_what_was_typed(server, scene, name, line):
    _, act = scene(name)
    assert line in server.dry_run(perform, OLGA, act, REASON).says


def test_a_new_address_gets_the_open_turns_and_old_links_die(server, time, table, person):
    game = table("templari", 3)
    time.sends()
    (seat,) = game.asked()
    who = game.person_at(seat)
    made = server.run(links.make_for_seat, who, game.id, game.row().turn, seat)
    with server.store.read() as tx:
        token = links.token(server, links.read(tx, made.seat))
        before = people.read(tx, who)
    known = {email.id for email in queued_emails(server)}
    moderate(server, ChangeAddress(who, "New@Example.NET"), "Wrote from there.")
    with pytest.raises(Gone):
        server.read(links.follow, token, Purpose.SEAT)
    new = [email for email in queued_emails(server) if email.id not in known]
    assert [(email.kind, email.person_id == who) for email in new] == [
        ("moved", False),
        ("moved", True),
        ("turn", True),
    ]
    with server.store.read() as tx:
        after, left = people.read(tx, who), people.read(tx, new[0].person_id)
    assert (after.address, after.name) == ("New@example.net", before.name)
    assert left.mailbox == before.mailbox, "whoever reads the old one hears of it"
    with pytest.raises(BadInput, match="already plays here"):
        moderate(server, ChangeAddress(person("Zoe"), "new@example.net"))


@pytest.mark.parametrize("day", [date.max, date.max - timedelta(days=1), date(2200, 1, 1), date.min])
def test_a_ban_until_a_day_that_is_past_or_too_far_ahead_is_refused(server, person, day):
    with pytest.raises(BadInput):
        moderate(server, Ban(person("Ann"), day))


def test_a_banned_person_joins_no_new_table_and_plays_on_in_running_games(server, time, table, person):
    game = table("templari", 3)
    ann = game.person_at(next(iter(game.asked())))
    moderate(server, Ban(ann, date(2026, 11, 25)), "Insults at three tables.")
    with pytest.raises(Forbidden, match="Insults") as refused:
        server.run(joining.create_table, ann, TableSettings("bid", 3))
    assert refused.value.what == "You're banned from new tables until Thu 26 Nov 2026, 00:00 UTC."
    other = server.run(joining.create_table, person("Zoe"), TableSettings("bid", 3)).game_id
    with pytest.raises(Forbidden):
        server.run(joining.join, other, ann)
    seat = next(seat for seat, player in game.players().items() if player.person_id == ann)
    with pytest.raises(Forbidden):
        server.run(talk.say, game.id, seat, ann, "I may say what I want.")
    game.play(seat, game.asked()[seat].default)
    time.passes(5 * DAY)
    server.run(joining.join, other, ann)


def test_a_banned_person_is_neither_given_a_seat_nor_asked_to_take_one(server, time, table, person):
    game = table("templari", 3, successor="substitute")
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    moderate(server, Ban(person("Zoe")))
    with pytest.raises(Forbidden, match="banned"):
        moderate(server, Substitute(game.id, 0, "zoe@example.org"))
    moderate(server, Offer(game.id, 0))
    assert not queued_emails(server, person("Zoe"), "substitute")


def test_a_ban_is_lifted_before_its_end(server, person):
    moderate(server, Ban(person("Ann")))
    moderate(server, Unban(person("Ann")))
    server.run(joining.create_table, person("Ann"), TableSettings("bid", 3))
    with server.store.read() as tx:
        (ban,) = blocks.bans_of(tx, person("Ann"))
    assert ban.lifted_at == server.now()


def test_an_outage_declared_later_names_decisions_of_the_clock_which_can_be_rewound(server, time, table):
    game = table("templari", 3, pace="1d")
    time.sends()
    (seat,) = game.asked()
    turn, due = game.row().turn, time.due(game, seat)
    time.passes_until(due + timedelta(minutes=1))
    assert time.runs_out().decided == 1
    shown = server.dry_run(perform, OLGA, DeclareOutage(due - 6 * HOUR, due), "The relay lost our mails.")
    assert any(f"Table {game.id}" in line and f"turn {turn}," in line for line in shown.says)
    moderate(server, DeclareOutage(due - 6 * HOUR, due), "The relay lost our mails.")
    moderate(server, Rewind(game.id, turn), "The relay lost our mails.")
    assert list(game.asked()) == [seat]
    after = server.dry_run(perform, OLGA, DeclareOutage(due - 7 * HOUR, due), "The relay lost our mails.")
    assert not any(f"Table {game.id}" in line for line in after.says), "what was given back is not named again"


def test_an_outage_counts_the_tables_at_which_a_deadline_moves_and_no_others(server, time, table):
    moving, paused, later = (table("templari", 3, pace="1d") for _ in range(3))
    demo.begin(server, "sunset-poker")
    time.sends()
    time.passes(6 * HOUR)
    moderate(server, Pause(paused.id))
    start, end = server.now() - 3 * HOUR, server.now()
    (seat,) = later.asked()
    later.play(seat, later.asked()[seat].default)
    time.sends()
    with server.store.read() as tx:
        # Otherwise the guest's table, the last one, would be counted.
        assert max(deadlines.running_since(tx, end, 0, 9)) > later.id
    shown = server.dry_run(perform, OLGA, DeclareOutage(start, end), "The relay lost our mails.")
    assert any(line.startswith("Deadlines at 1 table are extended within") for line in shown.says)
    moderate(server, DeclareOutage(start, end), "The relay lost our mails.")
    outages.apply_outages(server)
    assert [game for game in (moving, paused, later) if "Delayed" in [row.kind for row in game.log()]] == [moving]
    again = server.dry_run(perform, OLGA, DeclareOutage(start + HOUR, end), "The relay lost our mails.")
    assert "It doesn't affect any open deadline." in again.says


def test_an_option_can_be_corrected_only_before_the_start(server, person, table):
    ann = person("Ann")
    waiting = server.run(joining.create_table, ann, TableSettings("sun-bid", 3)).game_id
    with server.store.read() as tx:
        options = json.loads(games.read(tx, waiting).options)
    name, value = next(iter(options.items()))
    rules = rules_of(table("sun-bid", 3).row())
    other = next(each for each in next(o for o in rules.options if o.name == name).values if each != value)
    moderate(server, Correct(waiting, "option", f"{name}={other}"))
    with server.store.read() as tx:
        assert json.loads(games.read(tx, waiting).options)[name] == other
    with pytest.raises(Gone, match="started with this variant"):
        moderate(server, Correct(table("sun-bid", 3).id, "option", f"{name}={other}"))


@pytest.mark.parametrize(
    ("to", "name", "value"),
    [
        ("Selling a card: nobody", "side_auction", "off"),
        ("selling a card = Anyone", "side_auction", "any"),
        ("Starting coins: 20", "start_money", 20),
        ("start_money=20", "start_money", 20),
    ],
)
def test_an_option_is_corrected_in_the_words_in_which_it_is_shown(server, person, to, name, value):
    waiting = server.run(joining.create_table, person("Ann"), TableSettings("templari", 3)).game_id
    moderate(server, Correct(waiting, "option", to))
    with server.store.read() as tx:
        assert json.loads(games.read(tx, waiting).options)[name] == value


def test_an_unknown_option_is_refused_with_the_list_of_options(server, person):
    waiting = server.run(joining.create_table, person("Ann"), TableSettings("bid", 3)).game_id
    with pytest.raises(BadInput) as refused:
        moderate(server, Correct(waiting, "option", "Cats: 3"))
    assert "Reroll cost, Auction limit" in refused.value.remedy
    with pytest.raises(BadInput, match="“Auction limit” must be a whole number from 1 to 1000"):
        moderate(server, Correct(waiting, "option", "Auction limit: many"))


@pytest.mark.parametrize("number", ["\N{SUPERSCRIPT TWO}", "9" * 5000, "-1", "many"])
@pytest.mark.parametrize("what", ["missed_limit", "option", "result"])
def test_a_number_that_is_none_or_far_too_long_is_refused_in_words(server, person, table, what, number):
    if what == "result":
        ended = table("sun-bid", 2)
        list(ended.play_defaults())
        game_id, to = ended.id, f"1 {number}"
    else:
        game_id = server.run(joining.create_table, person("Ann"), TableSettings("bid", 3)).game_id
        to = number if what == "missed_limit" else f"Auction limit: {number}"
    with pytest.raises(BadInput) as refused:
        moderate(server, Correct(game_id, what, to))
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("what", "to", "seat", "before", "now"),
    [
        ("name", "Benjamin", 1, "{name}", "Benjamin"),
        ("title", "Thursday  club", None, "{title}", "Thursday club"),
        ("title", "", None, "{title}", "Templari"),
        ("pace", "3d", None, "1 day", "3 days"),
        ("missed_limit", "5", None, "3", "5"),
        ("successor", "substitute", None, "bot", "substitute"),
    ],
)
def test_the_preview_of_a_correction_shows_old_and_new(server, table, what, to, seat, before, now):
    game = table("templari", 3, pace="1d", title="Thursday")
    known = before.format(name=game.players()[1].name, title="Thursday")
    shown = server.dry_run(perform, OLGA, Correct(game.id, what, to, seat), REASON)
    assert f"From “{known}” to “{now}”." in shown.says
    moderate(server, Correct(game.id, what, to, seat))
    notices = [json.loads(email.facts) for email in queued_emails(server, kind="notice")]
    if what == "title":
        assert {(facts["before"], facts["now"]) for facts in notices} == {(known, now)}


def test_a_corrected_pace_is_one_email_to_each_player_with_the_deadline_for_the_one_in_turn(server, time, table):
    game = table("templari", 3, pace="1d")
    time.sends()
    (seat,) = game.asked()
    before = time.due(game, seat)
    moderate(server, Correct(game.id, "pace", "3d"))
    assert time.due(game, seat) == before + 2 * DAY
    notices = {email.person_id: json.loads(email.facts) for email in queued_emails(server, kind="notice")}
    assert len(queued_emails(server, kind="notice")) == len(notices) == 3
    assert {facts["what"] for facts in notices.values()} == {"corrected"}
    assert {person: facts["due_at"] for person, facts in notices.items() if facts["due_at"]} == {
        game.person_at(seat): time.due(game, seat).isoformat()
    }


@pytest.mark.parametrize(
    ("what", "to"), [("pace", "3d"), ("missed_limit", "4"), ("successor", "substitute"), ("title", "Sunday")]
)
def test_everyone_who_has_joined_is_told_what_is_corrected_before_the_start(server, person, what, to):
    """They agreed to something else, and may leave."""
    ann, ben = person("Ann"), person("Ben")
    game_id = server.run(joining.create_table, ann, TableSettings("templari", 3, successor="bot")).game_id
    for player in (ann, ben):
        server.run(joining.join, game_id, player)
    moderate(server, Correct(game_id, what, to))
    assert {each.person_id for each in queued_emails(server, kind="notice")} == {ann, ben}


@pytest.mark.parametrize("what", ["name", "title", "pace", "missed_limit", "successor", "option", "rules"])
def test_an_invalid_correction_is_refused(server, table, what):
    game = table("templari", 3)
    before = all_rows(server.store)
    with pytest.raises(PbemError):
        moderate(server, Correct(game.id, what, {"title": "http://spam.example"}.get(what, "\x00 "), 0))
    assert all_rows(server.store) == before


def test_a_host_may_do_few_acts_and_only_at_their_own_table(server, table):
    game = table("templari", 3)
    host = Actor(Role.HOST, "Ann", person_id=game.row().host_id)
    server.run(perform, host, Pause(game.id), REASON)
    assert [row.by for row in game.log() if row.kind == "Paused"] == ["host"]
    with pytest.raises(Forbidden):
        server.run(perform, host, Rewind(game.id, 1), REASON)
    assert Act.REWIND not in {row.act for row in acts(server)}


def test_a_form_sent_twice_at_the_same_moment_does_its_act_once(server, table):
    game = table("templari", 3)
    for n, meeting in enumerate(meetings(server.store)):
        key = f"the key of form {n}"
        given = [row.kind for row in game.log()].count("Extended")
        outcomes = meeting(
            lambda key=key: server.run(perform, OLGA, Extend(game.id, "1h"), REASON, form=key),
            lambda key=key: server.run(perform, OLGA, Extend(game.id, "1h"), REASON, form=key),
        )
        assert sorted(outcome.again for outcome in outcomes) == [False, True]
        assert [row.kind for row in game.log()].count("Extended") == given + 1
        if n > 12:
            break


@pytest.fixture
def host(server, table, time):
    """host(act) as the host of a table where three are asked at once and one has answered; and that table."""
    game = table("sunset-poker", 3)
    time.sends()
    answered, waiting = [seat for seat, player in game.players().items() if player.person_id != game.row().host_id]
    game.play(answered, game.asked()[answered].default)
    actor = Actor(Role.HOST, "Ann", person_id=game.row().host_id)
    return game, answered, waiting, lambda act: server.run(perform, actor, act, "They asked for it.")


def test_more_time_is_given_to_a_seat_that_has_answered_by_the_same_words(server, time, host):
    game, answered, waiting, act = host
    before = {seat: time.due(game, seat) for seat in (answered, waiting)}
    done = {seat: act(Extend(game.id, "2d", seat)) for seat in before}
    says = [outcome.says[0].replace(game.players()[seat].name, "who") for seat, outcome in done.items()]
    assert says[0].replace(f"(seat {answered + 1})", "") == says[1].replace(f"(seat {waiting + 1})", "")
    assert {seat: time.due(game, seat) - due for seat, due in before.items()} == dict.fromkeys(before, 2 * DAY)
    server.run(undo.take_back, game.id, game.row().turn, answered)
    assert game.asked().keys() >= {answered}
    notices = [
        email for email in queued_emails(server, game.person_at(answered), "notice") if '"who": ""' in email.facts
    ]
    assert len(notices) == 1


def test_the_email_of_a_turn_goes_again_only_to_a_seat_that_has_not_answered(server, host):
    game, answered, waiting, act = host
    says = {seat: act(ResendTurn(game.id, seat)).says for seat in (answered, waiting)}
    assert all(len(lines) == 1 and "unless they've already moved" in lines[0] for lines in says.values())
    states = {seat: queued_emails(server, game.person_at(seat), "turn")[-1].status for seat in says}
    assert states == {answered: "sent", waiting: "queued"}
    before = len(queued_emails(server, game.person_at(waiting), "turn"))
    act(ResendTurn(game.id, waiting))
    assert len(queued_emails(server, game.person_at(waiting), "turn")) == before
    with pytest.raises(Gone, match="Nobody there has a decision to make"):
        act(ResendTurn(game.id, 7))


def test_a_host_sends_turns_again_a_limited_number_of_times(server, clock, host):
    game, answered, waiting, act = host
    for seat in [answered, waiting] * (ledger.AGAIN_AN_HOUR // 2):
        act(ResendTurn(game.id, seat))
    for seat in (answered, waiting):
        with pytest.raises(TooMany, match="resent many times in the last hour"):
            act(ResendTurn(game.id, seat))
    clock.advance(HOUR)
    act(ResendTurn(game.id, waiting))
