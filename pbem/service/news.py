"""What a mail tells its reader: the rows behind it, turned into words.

A letter in the outbox is a kind and a few facts. In one transaction its links are made and its deadline is promised
(`make_ready_in`); in another everything is read that it says, from the view of the reader's seat and from nothing else
(`words_in`). Putting words into templates and templates on the wire happens outside of both.

Facts by kind, beside what the rows themselves say:

    invitation  host          declined, left, resigned, end_proposed  who          voided  why
    joined      word, commitment                                      call_answered  call, answer
    reminder    due_at        auto_passed  choice, due_at, warning    substitute   offer
    notice      what, and with it who, due_at, because, why or reason

This module must never look into a game's state.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from engine import grammar, orders
from engine.board import plain
from engine.decisions import Decision
from engine.facts import SPECTATOR, seen
from engine.game import Game, Standing
from engine.tell import Teller
from pbem.domain import chain
from pbem.domain.deadline import Due
from pbem.domain.duration import spoken
from pbem.domain.pace import PerDecision, parse_pace
from pbem.links import Purpose
from pbem.mail.compose import Letterhead, Option, Reader, Thread, Written, message_id
from pbem.service import digests, links, play, timekeeping, views
from pbem.service.house import House
from pbem.service.links import SeatLinks
from pbem.service.looks import Look, look_in
from pbem.service.record import Kind, body_of, latest_entries
from pbem.store import deadlines, games, lobby, offers, outbox, people
from pbem.store.database import Tx
from pbem.store.games import GameRow, PlaceRow
from pbem.store.links import Meant
from pbem.store.outbox import OutboxRow
from pbem.store.people import PersonRow

MOST_LINKED: Final = 12
"""So many choices have a link each in a mail; where there are more, the page of the seat has a form."""

MOST_TOLD: Final = 80
"""Sentences of one mail; who was away for longer reads the rest on a page."""

ASKING: Final = frozenset({"turn", "reminder"})
"""Kinds that ask for a decision: worth nothing once it is made."""

ANSWERED: Final = "the seat has answered"
"""Why a mail that asks is not sent although its turn is not over."""

_WITH_BOARD: Final = ASKING | {"seated", "result"}
_BY_OWNER: Final = frozenset({"confirm", "invitation", "joined", "declined", "left", "substitute"})
"""Kinds with a link for the reader as a person at that table, who may have no seat there."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The numbers of a mail's links, and the deadline that it promises. `played` are the reader's seats elsewhere."""

    stop: int
    bounce: int
    seat: int | None = None
    seat_links: SeatLinks | None = None
    owner: int | None = None
    sign_in: int | None = None
    due: Due | None = None
    played: tuple[tuple[int, int, int], ...] = ()
    sections: tuple[tuple[int, int, SeatLinks], ...] = ()


def why_outdated(tx: Tx, mail: OutboxRow) -> str | None:
    """Why a mail is not worth sending any more; None if it is. Its game is locked."""
    if mail.game_id is None:
        known = mail.kind == "confirm" and people.read(tx, mail.person_id).confirmed_at is not None
        return "the address is confirmed" if known else None
    game = games.read(tx, mail.game_id)
    if mail.kind in ("invitation", "joined", "declined", "left") and game.status != "open":
        return "the table waits for nobody any more"
    if mail.kind == "substitute":
        offer = offers.read(tx, json.loads(mail.facts)["offer"])
        return None if offer.status == "open" and game.status == "playing" else "the seat is not on offer any more"
    if mail.seat is None:
        return None
    if all(place.person_id != mail.person_id for place in games.places(tx, game.id) if place.seat == mail.seat):
        return "somebody else plays the seat now"
    if mail.kind in ASKING or (mail.kind == "notice" and mail.window is not None):
        return _why_answered(tx, game, mail)
    if mail.kind == "sealed":
        return _why_unsealed(tx, game, mail)
    return None


def make_ready_in(tx: Tx, house: House, mail: OutboxRow, rendered_at: datetime) -> Ready:
    """Make a mail's links, and promise its deadline. The game is locked, or the person where there is no game."""
    stop = links.stop_in(tx, house, mail.person_id)
    bounce = links.make_in(tx, house, Meant(Purpose.BOUNCE, mail.person_id, outbox_id=mail.id))
    if mail.game_id is None:
        owner = _owner(tx, house, mail, None) if mail.kind == "confirm" else None
        if mail.kind == "digest":
            return Ready(stop, bounce, sections=digests.links_in(tx, house, mail.person_id))
        if mail.kind != "links":
            return Ready(stop, bounce, owner=owner)
        sign_in = links.make_in(tx, house, Meant(Purpose.SIGN_IN, mail.person_id, outbox_id=mail.id))
        return Ready(stop, bounce, sign_in=sign_in, played=_played(tx, house, mail.person_id))
    game = games.read(tx, mail.game_id)
    facts = json.loads(mail.facts)
    by_owner = mail.kind in _BY_OWNER or facts.get("what") == "replaced"
    owner = _owner(tx, house, mail, game) if by_owner else None
    if mail.kind == "was_it_you":
        return Ready(stop, bounce, written=links.make_in(tx, house, Meant(Purpose.WRITTEN, mail.person_id, outbox_id=mail.id)))
    seat = _seat(tx, mail)
    if seat is None or game.status in ("open", "planned", "closed", "expired"):
        return Ready(stop, bounce, owner=owner)
    window = game.window if mail.window is None else mail.window
    seat_links = links.of_seat_in(tx, house, mail.person_id, game.id, window, seat)
    if mail.kind in _WITH_BOARD:
        # Whoever reads the mail looks at the table next, and no page may keep a view.
        views.keep(tx, game, seat, views.view(tx, game, seat))
    due = timekeeping.promise(tx, house, game, window, seat, rendered_at) if mail.kind == "turn" else None
    return Ready(stop, bounce, seat, seat_links, owner, due=due)


def words_in(
    tx: Tx, house: House, letterhead: Letterhead, mail: OutboxRow, ready: Ready, rendered_at: datetime
) -> Written:
    """Everything that a mail says."""
    person = people.read(tx, mail.person_id)
    game = None if mail.game_id is None else games.read(tx, mail.game_id)
    places = [] if game is None else games.places(tx, game.id)
    words: dict[str, object] = {"facts": _facts(mail)}
    for name, purpose, row in (
        ("confirm", Purpose.CONFIRM, ready.owner),
        ("sign_in", Purpose.SIGN_IN, ready.sign_in),
        ("seat_page", Purpose.SEAT, None if ready.seat_links is None else ready.seat_links.seat),
    ):
        if row is not None:
            words[name] = letterhead.url(purpose, house.keys.placeholder(purpose, row))
    if ready.seat_links is not None:
        words["call"] = f"{words['seat_page']}/call"
    if game is not None:
        words |= _about_table(game, places, mail)
        words |= _about_seat(tx, house, letterhead, mail, game, places, ready)
    if mail.kind == "digest":
        words["sections"] = _sections(tx, house, letterhead, mail, ready)
    if mail.kind == "links":
        words["games"] = _games(tx, house, letterhead, person, ready)
    called = next((place.name for place in places if place.seat == ready.seat and ready.seat is not None), person.name)
    turn = None if mail.seat is None else outbox.turn_before(tx, mail)
    reply = None if ready.seat_links is None or mail.kind not in ASKING else ready.seat_links.reply
    return Written(
        kind=mail.kind,
        reader=Reader(called, address_of(person), ZoneInfo(person.zone)),
        thread=Thread(
            message_id=message_id(letterhead, _number(tx, mail), person.key if game is None else game.key),
            game="" if game is None else game.key,
            title="" if game is None else game.title,
            answers="" if turn is None or turn.message_id is None else turn.message_id,
        ),
        date=rendered_at,
        words=words,
        stop=house.keys.placeholder(Purpose.STOP, ready.stop),
        reply="" if reply is None else house.keys.placeholder(Purpose.REPLY, reply),
    )


def address_of(person: PersonRow) -> str:
    """Where mail to a person goes: as they wrote it, with the domain as it is written on the wire."""
    return f"{person.address.rpartition('@')[0]}@{person.mailbox.rpartition('@')[2]}"


def _number(tx: Tx, mail: OutboxRow) -> str:
    """What a mail is called: its row, and how often it was written anew, so that no two mails have one name."""
    anew = sum(line.what == "rewritten" for line in outbox.lines(tx, [mail.id]).get(mail.id, []))
    return f"{mail.id}.{anew}" if anew else f"{mail.id}"


def _why_answered(tx: Tx, game: GameRow, mail: OutboxRow) -> str | None:
    if game.status != "playing":
        return "the game has ended"
    if game.window != mail.window:
        return "the game has moved on"
    assert mail.seat is not None
    asked = deadlines.read(tx, game.id, game.window, mail.seat)
    return None if asked is not None and asked.status == "open" else ANSWERED


def _why_unsealed(tx: Tx, game: GameRow, mail: OutboxRow) -> str | None:
    """Why nobody need hear any more that a choice was taken in."""
    if game.window != mail.window:
        return "the game has moved on"
    newer = any(
        (each.kind, each.seat, each.window) == (mail.kind, mail.seat, mail.window)
        for each in outbox.of_game(tx, game.id, mail.seq or 0)
    )
    assert mail.seat is not None
    asked = deadlines.read(tx, game.id, game.window, mail.seat)
    changed = newer or (asked is not None and asked.status == "open")
    return "the choice was changed or taken back" if changed else None


def _owner(tx: Tx, house: House, mail: OutboxRow, game: GameRow | None) -> int:
    """The link of a person who need not have a seat, or whose seat somebody else plays."""
    seat = _facts(mail)["seat"] if mail.kind == "notice" else mail.seat
    game_id = None if game is None else game.id
    meant = Meant(Purpose.CONFIRM, mail.person_id, game_id, None, seat, mail.id)
    waiting = game is not None and game.status == "open"
    return links.make_in(tx, house, meant, game.expires_at if game is not None and waiting else None)


def _seat(tx: Tx, mail: OutboxRow) -> int | None:
    """The seat that a mail speaks to: the one it names, or the reader's first; None if that is not theirs."""
    assert mail.game_id is not None
    mine = [place.seat for place in games.places(tx, mail.game_id) if place.person_id == mail.person_id]
    if mail.seat is not None:
        return mail.seat if mail.seat in mine else None
    return min((seat for seat in mine if seat is not None), default=None)


def _played(tx: Tx, house: House, person_id: int) -> tuple[tuple[int, int, int], ...]:
    """The games, seats and links of everything that a person plays."""
    found = []
    for game in lobby.of_person(tx, person_id, ("playing",)):
        for place in games.places(tx, game.id):
            if place.person_id == person_id and place.seat is not None:
                made = links.of_seat_in(tx, house, person_id, game.id, game.window, place.seat)
                found.append((game.id, place.seat, made.seat))
    return tuple(found)


def _facts(mail: OutboxRow) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(mail.facts)
    if mail.kind == "notice":
        return {
            "because": (),
            "why": "",
            "reason": "",
            "until": "",
            "due_at": None,
            "who": "",
            "seat": mail.seat,
        } | said
    return said


def _about_table(game: GameRow, places: list[PlaceRow], mail: OutboxRow) -> dict[str, object]:
    """What anybody at the table may know of it."""
    rules = play.rules_of(game)
    options: Mapping[str, str | int] = json.loads(game.options)
    pace = parse_pace(game.pace)
    words: dict[str, object] = {
        "game": rules.title,
        "table": rules.title if game.title == rules.title else f"{game.title} ({rules.title})",
        "turn": game.window if mail.window is None else mail.window,
        "seats": game.seats,
        "pace": f"{spoken(pace.allowed)} for each decision" if isinstance(pace, PerDecision) else str(pace),
        "chosen": [f"{name}: {value}" for name, value in options.items()],
        "silent_limit": game.silent_limit,
        "successor": game.successor,
        "expires_at": game.expires_at,
        "commitment": game.commitment,
        "present": [place.name for place in places],
    }
    if game.started_at is not None:
        words["head"] = chain.short(game.entry_head)
    if game.status in ("over", "void"):
        words["secret"] = game.secret.hex()
    return words


def _about_seat(
    tx: Tx, house: House, letterhead: Letterhead, mail: OutboxRow, game: GameRow, places: list[PlaceRow], ready: Ready
) -> dict[str, object]:
    """What the reader's seat sees, and is asked."""
    if mail.kind == "substitute":
        rules = play.rules_of(game)
        known = views.view(tx, game, SPECTATOR).view
        names = tuple(place.name for place in sorted(places, key=lambda place: place.seat or 0))
        return {"board": plain(rules.board(known, SPECTATOR), rules.teller(None, names))}
    if ready.seat is None or ready.seat_links is None:
        return {}
    words: dict[str, object] = {
        "players": [
            f"Seat {seat + 1}: {place.name}" + (" (you)" if seat == ready.seat else "")
            for seat, place in sorted((place.seat, place) for place in places if place.seat is not None)
        ],
        "asked_at_once": deadlines.read(tx, game.id, game.window, ready.seat) is not None,
    }
    if mail.kind not in _WITH_BOARD:
        return words
    look = look_in(tx, links.read_in(tx, ready.seat_links.seat))
    words["board"] = plain(look.board, look.teller).rstrip("\n")
    if mail.kind in ("turn", "result"):
        words |= _happened(tx, mail, game, look)
    if mail.kind in ASKING and look.decision is not None:
        words |= _asked(house, letterhead, look, look.decision, ready)
    if mail.kind == "result":
        words |= _result(look.standing, look)
    return words


def _happened(tx: Tx, mail: OutboxRow, game: GameRow, look: Look) -> dict[str, object]:
    """What the seat was told since the mail of its last turn, and the orders of its own that have ended since."""
    before = outbox.turn_before(tx, mail)
    entries = latest_entries(
        look.rules, games.chain_back(tx, game.id, game.key), 0 if before is None else before.window or 0
    )
    told = (seen(each, look.seat) for standing in entries for each in standing.entry.facts)
    sentences = [sentence for each in told if (sentence := look.teller.tell(each)) is not None]
    return {
        "happened": sentences[-MOST_TOLD:],
        "earlier": len(sentences) > MOST_TOLD,
        "notes": _ended_orders(tx, game, look, 0 if before is None else before.seq or 0),
    }


def _ended_orders(tx: Tx, game: GameRow, look: Look, since_seq: int) -> list[str]:
    notes = []
    for row in games.chain_back(tx, game.id, game.key):
        if row.seq <= since_seq:
            break
        if row.kind == Kind.ORDER and row.seat == look.seat:
            note = body_of(look.rules, row).get("note")
            if note is not None:
                notes.append(look.teller(note))
    return notes[::-1]


def _asked(house: House, letterhead: Letterhead, look: Look, decision: Decision, ready: Ready) -> dict[str, object]:
    assert ready.seat_links is not None
    options, others = _options(look, decision, letterhead, house.keys.placeholder(Purpose.MOVE, ready.seat_links.move))
    raising = [each for each in orders.offered(decision) if each.startswith("up to")]
    due = ready.due
    return {
        "asked": look.teller(decision.prompt),
        "until": None if due is None else due.at,
        "waits_for": "" if due is None or due.waits_for is None else due.waits_for.value,
        "options": options,
        "usages": others,
        "silence": look.default_words,
        "warning": look.warning,
        "order": "" if look.order is None else orders.write_order(look.order),
        "orders": raising,
    }


def _options(look: Look, decision: Decision, letterhead: Letterhead, token: str) -> tuple[list[Option], list[str]]:
    """The choices that have a link each, act by act as long as there is room; how the others are written."""
    linked, room = set(), MOST_LINKED
    for act in sorted(decision.acts, key=lambda act: act.count()):
        if act.count() <= room:
            linked.add(act)
            room -= act.count()
    options = [
        Option(
            grammar.write(decision, choice),
            "" if act.note is None else look.teller(act.note),
            letterhead.url(Purpose.MOVE, token, play.option_of(choice)),
        )
        for act in decision.acts
        if act in linked
        for choice in act.choices()
        if look.rules.objects(look.view, look.seat, choice) is None
    ]
    return options, list(dict.fromkeys(grammar.usage(act) for act in decision.acts if act not in linked))


def _result(standing: Standing, look: Look) -> dict[str, object]:
    lines, place = [], 1
    for tied in standing.ranking:
        lines += [f"{place}. {_named(look.teller, seat)}: {standing.scores[seat]}" for seat in tied]
        place += len(tied)
    return {
        "outcome": _outcome(standing, look),
        "standing": lines,
        "reasons": [look.teller(reason) for reason in standing.reasons],
    }


def _outcome(standing: Standing, look: Look) -> str:
    winners = standing.ranking[0]
    if look.seat in winners:
        others = [look.names[seat] for seat in winners if seat != look.seat]
        return "You have won." if not others else f"You share the first place with {' and '.join(others)}."
    names = " and ".join(look.names[seat] for seat in winners)
    return f"{names} {'has' if len(winners) == 1 else 'have'} won."


def _named(teller: Teller, seat: int) -> str:
    name = teller.name(seat)
    return name[:1].upper() + name[1:]


def _sections(tx: Tx, house: House, letterhead: Letterhead, mail: OutboxRow, ready: Ready) -> list[dict[str, object]]:
    """What a digest says of each table."""
    found: list[dict[str, object]] = []
    for section in digests.sections_in(tx, mail, ready.sections):
        look = section.look
        page = house.keys.placeholder(Purpose.SEAT, section.links.seat)
        said: dict[str, object] = {
            "table": look.title if look.title == look.rules.title else f"{look.title} ({look.rules.title})",
            "turn": look.window,
            "happened": section.happened[-MOST_TOLD:],
            "earlier": len(section.happened) > MOST_TOLD,
            "news": section.news,
            "seat_page": letterhead.url(Purpose.SEAT, page),
            "asked": "",
        }
        if look.decision is not None and look.sealed is None:
            move = house.keys.placeholder(Purpose.MOVE, section.links.move)
            options, others = _options(look, look.decision, letterhead, move)
            said |= {
                "asked": look.teller(look.decision.prompt),
                "until": look.due_at,
                "options": options,
                "usages": others,
                "silence": look.default_words,
                "warning": look.warning,
            }
        found.append(said)
    return found


def _games(
    tx: Tx, house: House, letterhead: Letterhead, person: PersonRow, ready: Ready
) -> list[dict[str, str | datetime | None]]:
    """The reader's games, those first that wait for the reader."""
    found: list[dict[str, str | datetime | None]] = []
    for game_id, seat, link in ready.played:
        game = games.read(tx, game_id)
        rules: Game[Any] = play.rules_of(game)
        asked = deadlines.read(tx, game_id, game.window, seat)
        mine = asked is not None and asked.status == "open"
        found.append(
            {
                "table": f"{game.title} ({rules.title})" if game.title != rules.title else rules.title,
                "state": "It is your turn." if mine else "You are not asked just now.",
                "until": asked.due_at if mine and asked is not None else None,
                "url": letterhead.url(Purpose.SEAT, house.keys.placeholder(Purpose.SEAT, link)),
            }
        )
    return sorted(found, key=lambda each: each["state"] != "It is your turn.")
