"""What a mail tells its reader: the rows behind it, turned into words.

A letter in the outbox is a kind and a few facts. In one transaction its links are made and its deadline is promised
(`ready`); in another everything is read that it says, from the view of the reader's seat and from nothing else
(`words_in`). Putting words into templates and templates on the wire happens outside of both.

Facts by kind, beside what the rows themselves say:

    invitation  host          declined, left, resigned, end_proposed  who          voided  why
    joined      word, commitment                                      call_answered  call, answer, done
    reminder    due_at        auto_passed  choice, due_at, warning    substitute   offer
    new_address here, and where it asks person, address
    moved       here, reason  banned      until or lifted, reason
    notice      what, and with it who, due_at, because, why, reason, by, turn, turn, of, before or now
    receipt     answers, subject, lines, prose and what is to be shown: told in `replies`

This module must never look into a game's state.
"""

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from engine.facts import SPECTATOR
from engine.game import Game, agreed
from pbem.domain import hash_chain
from pbem.domain.pace import PerDecision, parse_pace
from pbem.i18n import speech
from pbem.mail.write.board import print_board
from pbem.mail.write.compose import EmailContent, Letterhead, Reader, Thread, message_id
from pbem.service import links
from pbem.service.outgoing import content_of_seat, digests
from pbem.service.outgoing.content_of_seat import Words, table_named
from pbem.service.outgoing.email_links import ASKING, WITH_BOARD, EmailLinks
from pbem.service.play import views
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_view import view_of_link
from pbem.service.server import Server
from pbem.store import deadlines, games, ledger, outbox, people, seats, talk
from pbem.store import links as link_rows
from pbem.store import players as player_rows
from pbem.store import tables as table_rows
from pbem.store import views as kept_views
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import OutboxRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow
from pbem.tokens import Purpose

_ANSWERABLE: Final = ASKING | {"receipt"}
"""Kinds whose answers are read: the address for them names a seat and a turn."""


def read_ahead(tx: Tx, emails: Collection[OutboxRow], ready: Mapping[int, EmailLinks]) -> None:
    """Read what many mails say with as few statements as one; what few of them ask for is read when it is."""
    about = {email.game_id for email in emails if email.game_id is not None}
    people.read_ahead(tx, {email.person_id for email in emails})
    outbox.read_ahead(tx, emails)
    games.read_ahead(tx, about)
    talk.read_ahead(tx, about)
    link_rows.read_ahead(tx, [made.seat for each in ready.values() if (made := each.seat_links) is not None])
    seated = {
        (email.game_id, seat): email.person_id
        for email in emails
        if email.game_id is not None and (seat := ready[email.id].seat) is not None
    }
    kept_views.read_ahead(tx, seated.keys())
    current = {game_id: games.read(tx, game_id).turn for game_id, _ in seated}
    seats.read_ahead(
        tx, {(game_id, current[game_id], seat): person_id for (game_id, seat), person_id in seated.items()}
    )


def content_of(
    tx: Tx, server: Server, letterhead: Letterhead, email: OutboxRow, ready: EmailLinks, rendered_at: datetime
) -> EmailContent:
    """Everything that a mail says."""
    person = people.read(tx, email.person_id)
    game = None if email.game_id is None else games.read(tx, email.game_id)
    players = [] if game is None else player_rows.of_game(tx, game.id)
    rules = None if game is None else rules_of(game)
    facts = _facts(email, rules)
    words: Words = {"facts": facts}
    for name, purpose, row in (
        ("confirm", Purpose.CONFIRM, ready.owner),
        ("sign_in", Purpose.SIGN_IN, ready.sign_in),
        ("written", Purpose.WRITTEN, ready.written),
        ("yes", Purpose.YES, ready.yes),
        ("seat_page", Purpose.SEAT, None if ready.seat_links is None else ready.seat_links.seat),
    ):
        if row is not None:
            words[name] = letterhead.url(purpose, server.keys.placeholder(purpose, row))
    if ready.seat_links is not None:
        words |= {"call": f"{words['seat_page']}/call", "rules": f"{words['seat_page']}/rules"}
    if game is not None:
        words = _about_table(letterhead, game, players, email) | words
        words |= _about_seat(tx, server, letterhead, email, game, players, ready)
    if email.kind == "digest":
        found = digests.sections_of(tx, email, ready.sections)
        words["sections"] = [content_of_seat.section(server, letterhead, each, len(found)) for each in found]
    if email.kind == "links":
        words["games"] = _games(tx, server, letterhead, ready)
    called = next(
        (player.name for player in players if player.seat == ready.seat and ready.seat is not None), person.name
    )
    turn = None if email.seat is None or email.kind == "receipt" else outbox.turn_before(tx, email)
    reply = None if ready.seat_links is None or email.kind not in _ANSWERABLE else ready.seat_links.reply
    return EmailContent(
        kind=email.kind,
        reader=Reader(called, address_of(person), ZoneInfo(person.zone)),
        thread=Thread(
            message_id=message_id(letterhead, _number(tx, email), person.key if game is None else game.key),
            game="" if game is None else game.key,
            title="" if game is None else game.title,
            answers=facts.get("answers", "") if turn is None else turn.message_id or "",
        ),
        date=rendered_at,
        words=words,
        stop=server.keys.placeholder(Purpose.STOP, ready.stop),
        reply="" if reply is None else server.keys.placeholder(Purpose.REPLY, reply),
    )


def address_of(person: PersonRow) -> str:
    """Where mail to a person goes: as they wrote it, with the domain as it is written on the wire."""
    return f"{person.address.rpartition('@')[0]}@{person.mailbox.rpartition('@')[2]}"


def _number(tx: Tx, email: OutboxRow) -> str:
    """What a mail is called: its row, and how often it was written anew, so that no two mails have one name."""
    anew = sum(line.what == "rewritten" for line in ledger.lines_of(tx, email.id))
    return f"{email.id}.{anew}" if anew else f"{email.id}"


def _facts(email: OutboxRow, rules: Game[Any] | None) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(email.facts)
    if email.kind == "notice":
        return {
            "because": (),
            "why": "",
            "reason": "",
            "until": "",
            "due_at": None,
            "who": "",
            "length": "",
            "gone": "",
            "by_bot": False,
            "paused": False,
            "in_turn": False,
            "by": "organiser",
            "seat": email.seat,
        } | dict(content_of_seat.corrected(said, rules))
    return said


def _about_table(letterhead: Letterhead, game: GameRow, players: list[PlayerRow], email: OutboxRow) -> Words:
    """What anybody at the table may know of it."""
    rules = rules_of(game)
    options: Mapping[str, str | int] = json.loads(game.options)
    words: Words = {
        "game": rules.title,
        "rules": letterhead.rules(game.kind),
        "table": table_named(game.title, rules.title),
        "turn": game.turn if email.turn is None else email.turn,
        "seats": game.seats,
        "by_decision": isinstance(parse_pace(game.pace), PerDecision),
        "pace": content_of_seat.pace_said(game.pace),
        "chosen": [
            speech.teller(rules)(agreed(option, options[option.name]))
            for option in rules.options
            if options.get(option.name, option.default) != option.default
            and game.seats in (option.seats or (game.seats,))
        ],
        "missed_limit": game.missed_limit,
        "successor": game.successor,
        "expires_at": game.expires_at,
        "commitment": game.commitment,
        "present": [player.name for player in players],
    }
    if email.kind == "invitation":
        words |= {"about": speech.translate(rules.about), "length": speech.render(rules.length)}
    if game.started_at is not None:
        words["head"] = hash_chain.fingerprint(game.entry_head)
    if game.status in ("over", "void"):
        words["secret"] = game.secret.hex()
    return words


def _about_seat(
    tx: Tx,
    server: Server,
    letterhead: Letterhead,
    email: OutboxRow,
    game: GameRow,
    players: list[PlayerRow],
    ready: EmailLinks,
) -> Words:
    """What the reader's seat sees, and is asked."""
    if email.kind == "substitute":
        rules = rules_of(game)
        known = views.view(tx, game, SPECTATOR).view
        names = tuple(player.name for player in sorted(players, key=lambda player: player.seat or 0))
        board = print_board(rules.board(known, SPECTATOR), speech.teller(rules, None, names), SPECTATOR)
        return {"board": board, "gone": names[table_rows.offer(tx, json.loads(email.facts)["offer"]).seat]}
    if ready.seat is None or ready.seat_links is None:
        return {}
    words: Words = {
        "players": [
            {"seat": seat + 1, "name": player.name, "mine": seat == ready.seat}
            for seat, player in sorted((player.seat, player) for player in players if player.seat is not None)
        ],
        "asked_at_once": deadlines.read(tx, game.id, game.turn, ready.seat) is not None,
    }
    if email.kind not in WITH_BOARD:
        return words
    look = view_of_link(tx, links.read(tx, ready.seat_links.seat))
    words |= content_of_seat.board(look)
    if email.kind in ("turn", "result"):
        words |= content_of_seat.happened(tx, email, game, look)
    if email.kind in ASKING and look.decision is not None:
        words |= content_of_seat.asked(server, letterhead, look, look.decision, ready.seat_links.move, ready.due)
    if email.kind == "result":
        words |= content_of_seat.result(look.standing, look)
    if email.kind == "receipt":
        words |= content_of_seat.receipt(server, letterhead, look, ready.seat_links.move)
    return words


def _games(tx: Tx, server: Server, letterhead: Letterhead, ready: EmailLinks) -> list[Words]:
    """The reader's games, those first that wait for the reader."""
    found: list[Words] = []
    for game_id, seat, link in ready.played:
        game = games.read(tx, game_id)
        asked = deadlines.read(tx, game_id, game.turn, seat)
        mine = asked is not None and asked.status == "open"
        found.append(
            {
                "table": table_named(game.title, rules_of(game).title),
                "waiting": mine,
                "until": asked.due_at if mine and asked is not None else None,
                "url": letterhead.url(Purpose.SEAT, server.keys.placeholder(Purpose.SEAT, link)),
            }
        )
    return sorted(found, key=lambda each: not each["waiting"])
