"""Messages through channels, made ready to leave as emails are: checked, written, stored, and checked again.

    check   it is still claimed, still true and said for the first time, its channel is in use, and its reader is awake
    write   who is to move and until when; what happened since, if it is for everyone around a table
    store   the message as JSON, with a placeholder for its link: a message has the same id on every try

A person's own channel gets a link to the seat, and nothing of what its player holds: others run the service. What a
table's channel says is made from what a spectator is told. This module must never store or log a token.
"""

import hmac
import json
from base64 import b32encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from engine.facts import SPECTATOR
from pbem.channels.message import Message
from pbem.domain.channels import CODE, Channel, ChannelKind, ChannelStatus, PushSender, channel_of
from pbem.domain.deadline import Deadline
from pbem.domain.delivery import AT_ONCE, Action, judge
from pbem.domain.former_players import teller_in_turn
from pbem.domain.localtime import stored_zone
from pbem.domain.moments import moment_text
from pbem.domain.quiet_hours import parse_quiet
from pbem.domain.states import EmailKind, EmailStatus, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.mail.write import words
from pbem.mail.write.compose import Letterhead
from pbem.service.clocks import deadlines
from pbem.service.clocks.deadlines import Games
from pbem.service.outgoing import email_links, outdated
from pbem.service.play.log import latest_entries
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import facts_by_turn
from pbem.service.server import Server
from pbem.store import (
    channels,
    deadlines as deadline_rows,
    deletions,
    email_copies,
    games,
    ledger,
    links,
    log,
    outbox,
    people,
    players as player_rows,
    preferences,
)
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow
from pbem.store.people import PersonRow
from pbem.store.schema import ChannelRow
from pbem.tokens import Key, Purpose

MOST_SENTENCES: Final = 8
"""Sentences about what happened; the page has all."""

_CODE_PLACE: Final = "********"
"""What is stored in place of a code."""


@dataclass(frozen=True, slots=True)
class ReadyMessage:
    """A message whose text is stored, the channel it goes through, and what its sender gets."""

    row: EmailRow
    channel: Channel
    message: Message


@dataclass(frozen=True, slots=True)
class _Draft:
    """A message that can be written: its channel, the row of its link, and the deadline that it promises."""

    row: EmailRow
    channel: ChannelRow
    link: int | None
    due: Deadline | None


def prepare_messages(
    server: Server, letterhead: Letterhead, claimed: Collection[EmailRow], now: datetime
) -> list[ReadyMessage]:
    """Prepare those of these claimed messages that leave now; for the others, the ledger says why not."""
    drafts = server.run(_check, claimed, now)
    ready: list[ReadyMessage] | None = None if drafts else []
    while ready is None:
        with server.store.read(ahead=True) as tx:
            deleted = deletions.count(tx)
            written = [_written(tx, server, letterhead, draft, now) for draft in drafts]
        ready = server.run(_store, letterhead, written, now, deleted)
    return ready


def code_of(server: Server, channel: ChannelRow) -> str:
    """The code that proves a channel: derived and stored nowhere.

    From its address and moment, too: a restored database gives its number out a second time, to anyone.
    """
    secret = server.keys.keys[0].subkey("channel code")
    of = f"{channel.id}/{channel.made_at.isoformat()}/{channel.kind}/{channel.address}"
    digits = b32encode(hmac.digest(secret, of.encode(), "sha256")[:5]).decode().lower()
    return f"{digits[:4]}-{digits[4:]}"


def push_key(key: Key) -> bytes:
    """The key under which browsers get their notifications."""
    return key.subkey("web push")


def done(
    server: Server, letterhead: Letterhead, row: EmailRow, channel: ChannelRow, now: datetime
) -> tuple[Channel, Message] | None:
    """What a message about a turn that is over becomes; None if it stays as it is."""
    usable = _usable(server, letterhead, channel)
    if usable is None or row.body is None or row.message_id is None or channel.status != ChannelStatus.ACTIVE:
        return None
    title = json.loads(row.body)["title"]
    return usable, Message(row.message_id, row.kind, now, _("Done: %(title)s", title=title), "")


def _check(tx: Tx, server: Server, claimed: Collection[EmailRow], now: datetime) -> list[_Draft]:
    locked = games.lock_all(tx, {row.game_id for row in claimed if row.game_id is not None})
    through = channels.read_all(tx, {row.channel_id for row in claimed})
    rows = _awake(tx, _worth_sending(tx, server, claimed, locked, now), through, now)
    for person_id in sorted({row.person_id for row in rows if row.seat is not None}):
        people.lock(tx, person_id)
    keys = {
        row.id: links.of_seat(row.person_id, row.game_id, _turn(row, locked[row.game_id]), row.seat)[Purpose.SEAT]
        for row in rows
        if row.game_id is not None and row.seat is not None
    }
    expiries = {key: email_links.expiry_of(Purpose.SEAT, None) for key in keys.values()}
    made = links.make_all(tx, server.randomness, expiries, now)
    turns = {row.id: key for row in rows if row.seat is not None and (key := outdated.turn_key(row)) is not None}
    promised = deadlines.promise(tx, locked, set(turns.values()), now)
    return [
        _Draft(
            row,
            through[row.channel_id],
            made[keys[row.id]] if row.id in keys else None,
            promised[turns[row.id]] if row.id in turns else None,
        )
        for row in rows
    ]


def _store(
    tx: Tx, server: Server, letterhead: Letterhead, written: Collection[EmailRow], now: datetime, deleted: int
) -> list[ReadyMessage] | None:
    """Store the texts of messages, unless they are outdated by now; None if they are to be written again, as for emails."""
    locked = games.lock_all(tx, {row.game_id for row in written if row.game_id is not None})
    if deletions.hold_off(tx) != deleted:
        return None
    before = {row.id: row.body for row in outbox.with_ids(tx, {row.id for row in written})}
    worth_sending = {row.id for row in _worth_sending(tx, server, written, locked, now)}
    stored = [row for row in written if row.id in worth_sending]
    email_copies.keep(tx, stored)
    ledger.note_all(tx, now, "rendered", {row.id: "" for row in stored if row.body != before[row.id]})
    through = channels.read_all(tx, {row.channel_id for row in stored})
    return [_ready(tx, server, letterhead, row, through[row.channel_id]) for row in stored]


def _ready(tx: Tx, server: Server, letterhead: Letterhead, row: EmailRow, channel: ChannelRow) -> ReadyMessage:
    assert row.body is not None, "it was just stored"
    assert row.rendered_at is not None, "it was just stored"
    assert row.message_id is not None, "it was just stored"
    template = server.keys.template(row.body)
    # Without its nonce a placeholder cannot be filled: a message never has a link of another person.
    own = {
        link.id: link.nonce for link in links.read_all(tx, template.rows).values() if link.person_id == row.person_id
    }
    text = template.fill(own)
    if row.kind == CODE:
        text = text.replace(_CODE_PLACE.encode(), code_of(server, channel).encode())
    says = json.loads(text)
    usable = _usable(server, letterhead, channel)
    assert usable is not None, "it was just checked"
    return ReadyMessage(row, usable, Message(row.message_id, row.kind, row.rendered_at, **says))


def _usable(server: Server, letterhead: Letterhead, channel: ChannelRow) -> Channel | None:
    """A channel as its sender needs it; None if the operator no longer allows it."""
    usable = channel_of(channel.kind, channel.address, channel.secret, server.channels)
    if usable is None or usable.kind is not ChannelKind.BROWSER:
        return usable
    key_id, _, secret = channel.secret.partition(".")
    agreed = next((key for key in server.keys.keys if key.id == key_id), None)
    sender = None if agreed is None else PushSender(push_key(agreed), letterhead.contact)
    return replace(usable, secret=secret, push=sender)


def _worth_sending(
    tx: Tx, server: Server, claimed: Collection[EmailRow], locked: Games, now: datetime
) -> list[EmailRow]:
    """Those of these messages, as they are now, that are still claimed and worth sending; the others are superseded."""
    held = {row.id: row.lease_id for row in claimed}
    rows = [
        row
        for row in outbox.with_ids(tx, held.keys())
        if row.status == EmailStatus.QUEUED and row.lease_id == held[row.id]
    ]
    # The text is written again on each try, and kept between the two checks of one.
    texts = {row.id: row for row in claimed}
    through = channels.read_all(tx, {row.channel_id for row in rows})
    reasons = outdated.why_outdated(tx, [row for row in rows if row.seat is not None], locked)
    for row in rows:
        why = _why_not(tx, server, row, through[row.channel_id], locked)
        if why is not None:
            reasons[row.id] = why
    for row_id in reasons:
        outbox.change(tx, row_id, status=EmailStatus.SUPERSEDED, lease_id=None)
    ledger.note_all(tx, now, "superseded", reasons)
    return [texts[row.id] for row in rows if row.id not in reasons]


def _why_not(tx: Tx, server: Server, row: EmailRow, channel: ChannelRow, locked: Games) -> str | None:
    """Why a message does not leave, for reasons that emails do not have."""
    usual = ChannelStatus.PENDING if row.kind == CODE else ChannelStatus.ACTIVE
    if channel.status != usual:
        return "its channel isn't in use"
    if channel_of(channel.kind, channel.address, channel.secret, server.channels) is None:
        return "the operator has switched this service off"
    if row.kind == CODE:
        return None
    if channel.game_id is not None and row.game_id is not None and row.turn is not None:
        game = locked[row.game_id]
        if game.status != TableStatus.PLAYING or game.turn != row.turn:
            return "the game has moved on"
    return "a newer message says it" if channels.is_said_again(tx, row) else None


def _awake(tx: Tx, rows: Collection[EmailRow], through: Mapping[int, ChannelRow], now: datetime) -> list[EmailRow]:
    """The messages whose readers have no quiet hours now; the others wait for the end of those."""
    own = [row for row in rows if row.kind != CODE and through[row.channel_id].game_id is None]
    preferred = preferences.read_all(tx, {(row.person_id, row.game_id) for row in own}) if own else {}
    awake = []
    for row in rows:
        if row in own:
            reader = preferred[row.person_id, row.game_id]
            quiet = parse_quiet(reader.quiet, stored_zone(reader.zone)) if reader.quiet else None
            verdict = judge(row.kind, AT_ONCE, row.queued_at, now, quiet)
            if verdict.action is Action.WAIT:
                # It was not tried, so this attempt does not count.
                outbox.change(tx, row.id, due_at=verdict.until, lease_id=None, attempts=row.attempts - 1)
                ledger.note(tx, row.id, now, "waits", "as its reader preferred")
                continue
        awake.append(row)
    return awake


def _turn(row: EmailRow, game: GameRow) -> int:
    return game.turn if row.turn is None else row.turn


def _written(tx: Tx, server: Server, letterhead: Letterhead, draft: _Draft, now: datetime) -> EmailRow:
    """A message with its text. Its id is drawn once."""
    row = draft.row
    if row.kind == CODE:
        says = _code(letterhead)
    elif draft.channel.game_id is not None:
        assert row.game_id is not None, "it is about a table"
        says = says_to_table(tx, letterhead, games.read(tx, row.game_id), row.kind, row.turn)
    else:
        says = _of_seat(tx, server, letterhead, draft)
    body = json.dumps(says, ensure_ascii=False, sort_keys=True).encode()
    message_id = row.message_id or f"msg_{server.randomness.bytes(12).hex()}"
    return replace(row, body=body, message_id=message_id, rendered_at=now)


def _code(letterhead: Letterhead) -> Mapping[str, Any]:
    return {
        "title": letterhead.site,
        "text": _("The code for this channel: %(code)s. If you didn't ask for it, ignore it.", code=_CODE_PLACE),
        "url": "",
        "facts": {"code": _CODE_PLACE},
    }


def _of_seat(tx: Tx, server: Server, letterhead: Letterhead, draft: _Draft) -> Mapping[str, Any]:
    """What a player's own channel says."""
    row = draft.row
    assert row.game_id is not None, "it is about a game"
    game, reader = games.read(tx, row.game_id), people.read(tx, row.person_id)
    due_at = _due_at(draft)
    url = f"{letterhead.base_url}/my"
    if draft.link is not None:
        url = letterhead.url(Purpose.SEAT, server.keys.placeholder(Purpose.SEAT, draft.link))
    return {
        "title": _title(row.kind, _called(game)),
        "text": _asks(row, due_at, reader),
        "url": url,
        "facts": _facts(game, row.turn) | {"seat": row.seat, "due_at": None if due_at is None else due_at.isoformat()},
    }


def _due_at(draft: _Draft) -> datetime | None:
    if draft.row.kind == EmailKind.REMINDER:
        return datetime.fromisoformat(json.loads(draft.row.facts)["due_at"])
    return None if draft.due is None else draft.due.at


def _title(kind: str, table: str) -> str:
    if kind == EmailKind.TURN:
        return _("Your turn: %(table)s", table=table)
    if kind == EmailKind.REMINDER:
        return _("Still your turn: %(table)s", table=table)
    return _("Game over: %(table)s", table=table)


def _asks(row: EmailRow, due_at: datetime | None, reader: PersonRow) -> str:
    if row.turn is None:
        return _("See how it ended.")
    if due_at is None:
        return _("Turn %(turn)s.", turn=row.turn)
    moment = moment_text(due_at, stored_zone(reader.zone))
    return _("Turn %(turn)s. Move by %(moment)s.", turn=row.turn, moment=moment)


def says_to_table(tx: Tx, letterhead: Letterhead, game: GameRow, kind: str, turn: int | None) -> Mapping[str, Any]:
    """What a table's channel says: what a spectator is told, and who is asked, whether or not they have answered."""
    rules, players = rules_of(game), player_rows.of_game(tx, game.id)
    names = tuple(player.name for player in sorted(players, key=lambda player: player.seat or 0))
    entries = latest_entries(rules, log.chain_back(tx, game.id, game.key), (turn or game.turn) - 1)
    former = player_rows.former_names(tx, game.id)
    sentences = words.tell_all(
        facts_by_turn(game, entries, SPECTATOR), lambda turn: teller_in_turn(turn, rules, None, names, former)
    )
    title, text = _title(kind, _called(game)), list(sentences[-MOST_SENTENCES:])
    facts = _facts(game, turn)
    asked = [] if turn is None else deadline_rows.of_turn(tx, game)
    if asked:
        waits_for, since = [names[each.seat] for each in asked], min(each.asked_at for each in asked)
        moment = moment_text(since, _UTC)
        title = _("%(table)s, turn %(turn)s", table=_called(game), turn=turn)
        text.append(_("Waiting for %(names)s since %(moment)s.", names=", ".join(waits_for), moment=moment))
        facts |= {"waiting_for": waits_for, "since": since.isoformat()}
    return {"title": title, "text": "\n".join(text), "url": letterhead.base_url, "facts": facts}


def _called(game: GameRow) -> str:
    return words.table_name(game.title, rules_of(game).title)


def _facts(game: GameRow, turn: int | None) -> dict[str, Any]:
    return {"table": {"key": game.key, "title": game.title, "game": game.kind}, "turn": turn}


_UTC: Final = ZoneInfo("UTC")
