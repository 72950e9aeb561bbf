"""Stories about Carla's addresses: every way in which a person changes, merges, is replaced or leaves.

Together they cause every kind of email. `TYPED` says which of her addresses another person in a story types, and so knows.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import time, timedelta
from typing import Final

from engine import grammar
from pbem.domain.delivery import Delivery, Way
from pbem.domain.missed_turns import Successor
from pbem.domain.topics import Topic
from pbem.service import alarms
from pbem.service.absence import offers, substitutes
from pbem.service.account import change_address, channels, consent, delete, disown, my_page, profiles
from pbem.service.alarms import AlarmKind
from pbem.service.archive import game_statistics, replay, reviews
from pbem.service.clocks import reachability
from pbem.service.desk import alarm_emails, calls, jobs, tournament_hosts, tournaments as desk_tournaments
from pbem.service.desk.acts.clocks import Close, Freeze, Pause, Unfreeze
from pbem.service.desk.acts.correct import Correct
from pbem.service.desk.acts.people import Ban, ChangeAddress, Merge, NewLinks, Unban
from pbem.service.desk.acts.seats import NewSeatLinks, Offer, Substitute
from pbem.service.outgoing import channel_delivery, digests, new_links, preferences
from pbem.service.outgoing.channel_delivery import ChannelPost
from pbem.service.people import sign_in
from pbem.service.play.move import Actor
from pbem.service.tables import by_link, going_back, group_page, groups, invitations, joining, leaving, rematch, talk
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import by_link as tournament_link, hosting, new, reading, rounds, sign_up
from pbem.service.tournaments.new import TournamentSettings
from pbem.store.sessions import Holder
from tests.channels.far_end import Services, code_sent_to, usual
from tests.service.actors import ANN, OLGA, ROOT, add_organiser
from tests.service.archive.sample_review import sample
from tests.service.clock import DAY, HOUR
from tests.service.running_game import RunningGame
from tests.twins.address_world import AddressWorld

Story = Callable[[AddressWorld], None]


def invited(world: AddressWorld) -> None:
    """Invited at one address, moved to another: she declines, joins another table by its page, and leaves it."""
    server, carla, ann = world.server, world.carla(), world.other("Ann")
    world.other("Ben")
    group = server.run(groups.create, ann, "Friday club")
    server.run(groups.invite, ann, group, (world.address["FIRST"], "ben@example.org"))
    world.carry()
    server.run(consent.give_consent, world.token("y", to="FIRST"), "Carla")
    server.run(group_page.open_table, ann, group, TableSettings("bid", 3))
    settings = TableSettings("sunset-poker", 3, invited=(world.address["FIRST"], "ben@example.org"), title="Friday")
    table = server.run(joining.create_table, ann, settings)
    public = server.run(joining.create_table, ann, TableSettings("sunset-poker", 4, title="Sunday"))
    server.run(joining.join, table.game_id, ann)
    world.carry()
    _moves(world, carla, "FIRST", "SECOND")
    _is_unreachable(world, carla, "SECOND")
    server.run(joining.ask_to_join, public.game_id, world.address["SECOND"], "Carla", "lighthouse")
    world.carry()
    by_link.confirm_and_join(server, world.token("c", to="SECOND"), "Carla", "lighthouse")
    world.looks()
    server.run(invitations.decline, table.game_id, carla)
    server.run(leaving.leave, public.game_id, carla)
    private = TableSettings("sunset-poker", 3, invited=("ben@example.org",), private=True)
    server.run(joining.join, server.run(joining.create_table, ann, private).game_id, ann)
    world.looks(press=True)


def plays(world: AddressWorld) -> None:
    """She plays by mail, is reminded, timed out, doubted and answered; then nobody wants to go on, and she declines more."""
    server, time_, carla = world.server, world.time, world.carla()
    ann, ben = world.other("Ann"), world.other("Ben")
    game = world.table(ann, ben, carla)
    seat = _seat(game, carla)
    channel = server.run(channels.enter, ann, "ntfy", "https://ntfy.sh/table", "", game.id)
    channel_delivery.deliver_messages(server, ChannelPost(world.post.letterhead, Services(usual)))
    server.run(channels.prove, ann, channel, code_sent_to(server, channel))
    server.run(preferences.set_sealed_receipts, carla, on=True)
    server.run(preferences.choose, ben, Delivery(Way.DAILY), None, time(8))
    server.run(preferences.switch_topic, ann, Topic.TALK, on=True)
    server.run(talk.say, game.id, seat, carla, "Good luck, @Ann!")
    world.reply(game, seat, "pass", "Mallory <mallory@example.net>")
    world.reply(game, seat, f"board\n{_default(game, seat)}")
    time_.passes(20 * HOUR)
    time_.reminds()
    world.carry()
    time_.passes(2 * DAY)
    time_.runs_out()
    world.carry()
    digests.gather(server)
    world.carry()
    number = server.run(calls.call, carla, "I never got the email.", game_id=game.id, seat=seat)
    server.run(calls.answer, ANN, number, "It is in the other folder.")
    for address in (world.address["FIRST"], "ben@example.org"):
        server.run(sign_in.send_link, address)
    world.carry()
    server.run(new_links.send_for_seat, game.id, seat, carla)
    world.moderate(NewSeatLinks(game.id, seat))
    world.moderate(NewLinks(carla))
    world.looks()
    server.run(leaving.agree_to_end, game.id, carla)
    world.carry()
    for other in (ann, ben):
        server.run(leaving.agree_to_end, game.id, other)
    world.carry()
    token = world.links.of(game, _seat(game, ann))[1]
    again = server.read(by_link.table_page, server.run(rematch.rematch, token)).table
    assert again is not None
    world.carry()
    world.inbox.answers_offer(again.game_id, carla, "decline", Message_ID="<declined@mail.example.net>")
    world.looks(press=True)


def moves(world: AddressWorld) -> None:
    """She asks for another address; a stranger does; she disowns that; an organiser moves her again."""
    server, carla = world.server, world.carla()
    ann, ben = world.other("Ann"), world.other("Ben")
    game = world.table(ann, ben, carla)
    world.reply(game, _seat(game, ann), "pass", "Mallory <mallory@example.net>")
    server.run(delete.ask, ben)
    server.run(sign_in.send_link, "ann@example.org")
    _moves(world, carla, "FIRST", "SECOND")
    world.looks()
    server.run(disown.disown, world.token("d", to="FIRST"))
    world.carry()
    server.run(change_address.ask, carla, world.address["SECOND"])
    world.moderate(ChangeAddress(carla, world.address["THIRD"]))
    game.play(_seat(game, carla), _default(game, _seat(game, carla)))
    undone = world.table(ann, ben, carla, kind="templari", going_back=True)
    while carla != undone.person_at(seat := next(iter(undone.asked()))):
        undone.play(seat, _default(undone, seat))
    undone.play(seat, _default(undone, seat))
    server.run(going_back.propose, undone.id, seat, carla)
    world.other("Heir")
    world.looks(press=True)


def merges(world: AddressWorld) -> None:
    """Two addresses of hers become one, in the middle of games at which both play."""
    server, carla, other = world.server, world.carla(), world.carla("SECOND")
    ann, ben = world.other("Ann"), world.other("Ben")
    game = world.table(ann, ben, carla)
    world.table(other, ann, ben)
    waiting = server.run(
        joining.create_table, ann, TableSettings("sunset-poker", 3, invited=(world.address["SECOND"],))
    )
    world.carry()
    world.moderate(Merge(carla, other))
    server.run(invitations.decline, waiting.game_id, carla)
    world.moderate(Ban(carla))
    world.looks()
    world.moderate(Unban(carla))
    world.moderate(Correct(game.id, "name", "Charlotte", _seat(game, carla)))
    world.moderate(Freeze(game.id))
    world.moderate(Unfreeze(game.id))
    add_organiser(server, "Olga")
    server.run(calls.call, carla, "Was that right?")
    world.time.passes(alarm_emails.GATHERED * 2)
    alarm_emails.send(server)
    server.run(jobs.begin, OLGA, jobs.What.ANNOUNCE, {"text": "We rest on Sunday."}, "People should know.", "a key")
    while jobs.advance_all(server):
        world.carry()
    world.moderate(Pause(game.id))
    world.looks(press=True)


def is_replaced(world: AddressWorld) -> None:
    """Out of reach, back, and out of reach again; her seat is offered and taken, and given away by organisers."""
    server, time_, carla = world.server, world.time, world.carla()
    ann, ben, dora = (world.other(name) for name in ("Ann", "Ben", "Dora"))
    server.run(offers.set_volunteer, dora, volunteers=True)
    game = world.table(ann, ben, carla, successor=Successor.SUBSTITUTE, missed_limit=2)
    seat = _seat(game, carla)
    says = f"550 5.1.1 <{world.address['FIRST']}>: no such user"
    server.run(reachability.note_refusal, carla, says)
    world.carry()
    world.looks()
    server.run(reachability.mark_reachable, carla)
    world.moderate(Offer(game.id, seat))
    (offer,) = server.read(offers.open_offers)
    server.run(substitutes.take, offer.id, dora, "Dora")
    for asked, decision in game.asked().items():
        game.play(asked, decision.default, Actor.CLOCK if asked == seat else Actor.PERSON)
    time_.seats_change()
    world.carry()
    for name in ("SECOND", "THIRD"):
        world.moderate(Substitute(game.id, seat, world.address[name]))
        world.looks()
    world.moderate(Substitute(game.id, seat, world.address["FIRST"]))
    server.run(reachability.note_refusal, carla, says)
    time_.passes(9 * DAY)
    time_.seats_change()
    world.moderate(Substitute(game.id, seat))
    world.moderate(Offer(game.id, _seat(game, ben)))
    world.looks(press=True)


def resigns(world: AddressWorld) -> None:
    """The host of two tables resigns from one; the other closes when she goes for good. Her old mailbox has an heir."""
    server, carla = world.server, world.carla()
    ann, ben = world.other("Ann"), world.other("Ben")
    game = world.table(carla, ann, ben)
    again = world.table(ann, carla, ben)
    waiting = server.run(joining.create_table, carla, TableSettings("sunset-poker", 3)).game_id
    server.run(joining.join, waiting, ann)
    closed = server.run(joining.create_table, ann, TableSettings("sunset-poker", 3)).game_id
    server.run(joining.join, closed, carla)
    world.moderate(Close(closed))
    server.run(leaving.resign, game.id, _seat(game, carla), carla)
    world.carry()
    world.looks()
    _moves(world, carla, "FIRST", "SECOND")
    # Until then her old mailbox can undo the change.
    world.clock.advance(timedelta(days=15))
    server.run(delete.ask, carla)
    server.run(change_address.ask, ben, "ben@new.example.org")
    world.carry()
    server.run(consent.give_consent, world.token("y", to="SECOND"))
    world.carry()
    world.carla("FIRST")
    assert again.row().status == "playing"
    world.looks(press=True)


def finishes(world: AddressWorld) -> None:
    """A game is played to its end, shared and downloaded; she changes her address before the rematch and joins it."""
    server, carla = world.server, world.carla()
    ann, ben = world.other("Ann"), world.other("Ben")
    late = server.run(joining.create_table, ann, TableSettings("sunset-poker", 3)).game_id
    server.run(joining.join, late, carla)
    world.time.passes(30 * DAY)
    leaving.expire(server)
    game = world.table(ann, ben, carla, options={"max_rounds": 1})
    for _ in game.play_defaults():
        pass
    world.carry()
    token = world.links.of(game, _seat(game, ann))[1]
    world.published.append(f"/h/{server.run(replay.share, token)}")
    while reviews.make_next(server, sample):
        pass
    world.carry()
    server.run(reviews.share, token, shared=True)
    server.run(reviews.share, world.links.of(game, _seat(game, carla))[1], shared=True)
    game_statistics.count_games(server)
    server.run(profiles.choose, carla, "everyone", "", punctual=True)
    shown = server.read(my_page.account, Holder(person_id=carla), carla).profile
    assert shown is not None
    world.published.append(f"/players/{shown.key}")
    _moves(world, carla, "FIRST", "SECOND")
    again = server.read(by_link.table_page, server.run(rematch.rematch, token)).table
    assert again is not None
    world.carry()
    world.other("Dora")
    world.looks()
    server.run(joining.join, again.game_id, carla)
    world.looks(press=True)


def enters_tournaments(world: AddressWorld) -> None:
    """Invited at one address, moved to another: she signs up, waits, gets a place, plays, is corrected, leaves and is taken out."""
    server, time_, carla, ann = world.server, world.time, world.carla(), world.other("Ann")
    ben, dan, eve = world.other("Ben"), world.other("Dan"), world.other("Eve")
    settings = TournamentSettings(
        "Spring cup",
        "sunset-poker",
        server.now() + 7 * DAY,
        size=3,
        options={"max_rounds": 1},
        level="beginner",
        form="league",
        rounds=2,
        most=3,
        seeding="hand",
    )
    cup = server.read(reading.page, server.run(new.open_tournament, ann, settings)).summary.row.id
    server.run(sign_up.invite, cup, ann, (world.address["FIRST"],))
    world.carry()
    for person in (ben, dan, eve):
        server.run(sign_up.sign_up, cup, person)
    tournament_link.enter(server, world.token("e", to="FIRST"), "Carla", "lighthouse")
    _moves(world, carla, "FIRST", "SECOND")
    server.run(tournament_hosts.change, "seed", cup, ann, {1: 2, 2: 1})
    server.run(tournament_hosts.change, "pause", cup, ann)
    server.run(tournament_hosts.change, "resume", cup, ann)
    server.run(tournament_hosts.change, "extend", cup, ann, 1)
    server.run(sign_up.decline, cup, eve)
    world.carry()
    world.looks()
    time_.passes(9 * DAY)
    rounds.advance_due(server)
    world.carry()
    world.looks()
    tournament_link.leave(server, world.token("e", to="SECOND"))
    time_.passes(22 * DAY)
    rounds.advance_due(server)
    time_.bots_play()
    rounds.advance_due(server)
    server.run(tournament_hosts.change, "correct", cup, ann, 1, 1, (1, 1, 1), "They agreed on it.")
    world.carry()
    again = server.read(
        reading.page,
        server.run(
            desk_tournaments.open_for, ROOT, ann, replace(settings, closes_at=server.now() + DAY), "As she asked."
        ),
    )
    server.run(sign_up.ask, again.summary.row.key, world.address["SECOND"])
    server.run(sign_up.sign_up, again.summary.row.id, carla)
    server.run(tournament_hosts.change, "remove", again.summary.row.id, ann, 1, "She asked for it.")
    server.run(
        desk_tournaments.act,
        ROOT,
        again.summary.row.key,
        "call off",
        hosting.call_off,
        ("Too few have time.",),
        "As she asked.",
    )
    world.carry()
    world.looks(press=True)


STORIES: Final[Mapping[str, Story]] = {
    story.__name__: story
    for story in (invited, plays, moves, merges, is_replaced, resigns, finishes, enters_tournaments)
}

USED: Final[Mapping[str, tuple[str, ...]]] = {
    "invited": ("FIRST", "SECOND"),
    "plays": ("FIRST",),
    "moves": ("FIRST", "SECOND", "THIRD"),
    "merges": ("FIRST", "SECOND"),
    "is_replaced": ("FIRST", "SECOND", "THIRD"),
    "resigns": ("FIRST", "SECOND"),
    "finishes": ("FIRST", "SECOND"),
    "enters_tournaments": ("FIRST", "SECOND"),
}
"""The addresses that a story is about."""

TYPED: Final = {("invited", "FIRST"): "Ann", ("merges", "SECOND"): "Ann"}
"""Who has typed an address in an invitation, and may be told it again."""


def _moves(world: AddressWorld, carla: int, before: str, after: str) -> None:
    """She asks for another address, and says yes there."""
    world.server.run(change_address.ask, carla, world.address[after])
    world.carry()
    world.server.run(consent.give_consent, world.token("y", to=after))
    world.carry()


def _is_unreachable(world: AddressWorld, carla: int, name: str) -> None:
    """A server refuses an email to her by her address, and the organisers are told that she cannot be reached."""
    add_organiser(world.server, "Olga")
    world.server.run(reachability.note_refusal, carla, f"550 5.1.1 <{world.address[name]}>: no such user")
    world.server.run(alarms.raise_alarm, AlarmKind.REFUSED, f"Mail 1 (turn): 550 {world.address[name]} is not liked")
    world.time.passes(alarm_emails.GATHERED * 2)
    assert alarm_emails.send(world.server) == 2
    world.carry()
    world.server.run(reachability.mark_reachable, carla)


def _seat(game: RunningGame, person: int) -> int:
    return next(seat for seat, player in game.players().items() if player.person_id == person)


def _default(game: RunningGame, seat: int) -> str:
    decision = game.open()[seat]
    return grammar.write(decision, decision.default)
