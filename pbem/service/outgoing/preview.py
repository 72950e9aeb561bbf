"""Previews: an email of any kind as a seat would get it.

It is written like every email, from what that seat sees, in a transaction that is rolled back. If such an email was sent to
the seat before, the preview has the same facts; otherwise they are made up, with the names of that table. A game that has not
come far enough is played on with default choices, and that is rolled back with the rest. Nothing is sent or stored, and the
links of a preview are placeholders.
"""

import json
from datetime import timedelta
from typing import Any, Final

from engine import grammar
from engine.coach import Luck, Point, Reasons, Review, Side, Swing, Verdict
from engine.tell import say
from pbem import coach
from pbem.domain.errors import BadInput, NotFound, quoted
from pbem.domain.outdated import ASKING
from pbem.domain.states import EmailKind, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.mail.write.compose import EmailContent, Letterhead, compose
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.outgoing import content
from pbem.service.outgoing.prepare import make_drafts
from pbem.service.play import move
from pbem.service.play.move import Actor
from pbem.service.play.positions import position_of
from pbem.service.server import Server
from pbem.service.tables import leaving
from pbem.service.tournaments.new import TournamentSettings, open_tournament
from pbem.store import games, outbox, people, players as player_rows, preferences, reviews, tables, tournaments
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import NewEmail
from pbem.store.players import PlayerRow

MOST_MOVES: Final = 5000
"""More moves than any game has; one that takes longer has a bug."""

_OF_NO_TABLE: Final = frozenset(
    {
        EmailKind.ALERT,
        EmailKind.ANNOUNCEMENT,
        EmailKind.BANNED,
        EmailKind.CONFIRM,
        EmailKind.DIGEST,
        EmailKind.DELETION,
        EmailKind.GROUP_INVITATION,
        EmailKind.LINKS,
        EmailKind.CHANNEL,
        EmailKind.MERGED,
        EmailKind.MOVED,
        EmailKind.NEW_ADDRESS,
    }
)
_OF_NO_SEAT: Final = frozenset(
    {
        EmailKind.CLOSED,
        EmailKind.DECLINED,
        EmailKind.EXPIRED,
        EmailKind.HOST,
        EmailKind.INVITATION,
        EmailKind.INVITATION_RECEIPT,
        EmailKind.JOINED,
        EmailKind.LEFT,
    }
)
_NEEDS_QUESTION: Final = ASKING | {EmailKind.AUTO_PASSED, EmailKind.RECEIPT, EmailKind.SEALED}
_ENDED: Final = frozenset({EmailKind.RESULT, EmailKind.REVIEW, EmailKind.VOIDED})

KINDS: Final = tuple(sorted(set(EmailKind) - {EmailKind.TRIAL}))


def preview(server: Server, letterhead: Letterhead, kind: str, game_id: int, seat: int) -> bytes:
    """The bytes of an email of that kind to the player of a seat; seats count from 0. Raises BadInput and NotFound."""
    if kind not in KINDS:
        raise BadInput(
            _("There is no kind of email called %(kind)s.", kind=quoted(kind)),
            remedy=_("You can choose: %(list)s.", list=", ".join(KINDS)),
        )
    return compose(letterhead, server.dry_run(_content, letterhead, EmailKind(kind), game_id, seat))


def _content(tx: Tx, server: Server, letterhead: Letterhead, kind: EmailKind, game_id: int, seat: int) -> EmailContent:
    game = games.lock(tx, game_id)
    players = player_rows.of_game(tx, game.id)
    player = next((player for player in players if player.seat == seat), None)
    if player is None:
        raise NotFound(
            _("Game %(id)s has no seat %(value)s.", id=game.id, value=seat + 1),
            remedy=_("It has %(seats)s, and the first is 1.", seats=game.seats),
        )
    if player.person_id is None:
        raise BadInput(
            _("A bot plays seat %(value)s of game %(id)s.", value=seat + 1, id=game.id),
            remedy=_("Choose a person's seat."),
        )
    game = _play_on(tx, server, kind, game, seat)
    facts = _example_facts(tx, server, kind, game, players, player) | _last_facts(tx, kind, game.id, player)
    now = server.now()
    if kind in _OF_NO_TABLE:
        new = NewEmail(player.person_id, kind, facts=facts)
    elif kind in _OF_NO_SEAT:
        new = NewEmail(player.person_id, kind, game.id, facts=facts)
    else:
        new = NewEmail(player.person_id, kind, game.id, None, seat, game.turn, facts)
    outbox.queue(tx, [new], now, now)
    (email,) = outbox.of_person(tx, player.person_id, limit=1)
    drafts = make_drafts(tx, server, [email], {game.id: games.read(tx, game.id)}, now)
    (email_content,) = content.read_contents(tx, server, letterhead, drafts, now)
    return email_content


def _play_on(tx: Tx, server: Server, kind: str, game: GameRow, seat: int) -> GameRow:
    """Play the game on until an email of that kind could be sent; returns it as it is then."""
    if kind == EmailKind.VOIDED and game.status == TableStatus.PLAYING:
        leaving.end(tx, server, game, "organiser", "Everyone agreed to end it.")
    for _move in range(MOST_MOVES):
        game = games.read(tx, game.id)
        position = position_of(tx, game)
        waiting = [asked for asked in position.open() if asked not in position.box]
        if game.status != TableStatus.PLAYING or (kind in _NEEDS_QUESTION and seat in waiting):
            break
        if kind not in _ENDED and kind not in _NEEDS_QUESTION:
            break
        first = waiting[0]
        bots = {player.seat for player in player_rows.of_game(tx, game.id) if player.person_id is None}
        by = Actor.BOT if first in bots else Actor.CLOCK
        move.play_locked(tx, server, game, game.turn, first, position.open()[first].default, by)
    if kind in _NEEDS_QUESTION and game.status != TableStatus.PLAYING:
        raise BadInput(
            _("Game %(id)s is over, so nobody has a decision to make there.", id=game.id),
            remedy=_("Choose a game in progress."),
        )
    return game


def _last_facts(tx: Tx, kind: str, game_id: int, player: PlayerRow) -> dict[str, Any]:
    """The facts of the last email of that kind to this reader; none if there was none."""
    assert player.person_id is not None
    emails = outbox.of_person(tx, player.person_id, limit=1000)
    same_kind = (json.loads(row.facts) for row in emails if row.kind == kind and row.game_id in (None, game_id))
    return next(same_kind, {})


def _example_facts(
    tx: Tx, server: Server, kind: str, game: GameRow, players: list[PlayerRow], player: PlayerRow
) -> dict[str, Any]:
    """Facts that such an email could have."""
    assert player.person_id is not None
    assert player.seat is not None
    other = next((other.name for other in players if other.seat != player.seat), "Somebody")
    soon = (server.now() + timedelta(hours=6)).isoformat()
    pure: dict[str, dict[str, Any]] = {
        EmailKind.JOINED: {"word": "lighthouse", "commitment": game.commitment},
        EmailKind.DECLINED: {"person": player.person_id},
        EmailKind.LEFT: {"who": other},
        EmailKind.RESIGNED: {"who": other},
        EmailKind.END_PROPOSED: {"who": other},
        EmailKind.BACK_PROPOSED: {"who": other, "back_to": 1},
        EmailKind.VOIDED: {"why": "Everyone agreed to end it."},
        EmailKind.BANNED: {"reason": "Insults at three tables.", "until": "2027-01-31", "lifted": False},
        EmailKind.MOVED: {"reason": "They wrote from the new one.", "here": True},
        EmailKind.NEW_ADDRESS: {"here": True},
        EmailKind.GROUP_INVITATION: {"group": 0, "name": game.title, "who": other},
        EmailKind.ANNOUNCEMENT: {"text": "The server is moving on Sunday.\n\nAll clocks will be stopped."},
        EmailKind.CHANNEL: {"what": "failed", "service": "ntfy", "host": "ntfy.sh", "why": "it answered 404"},
        EmailKind.MENTION: {"who": other, "line": 0},
        EmailKind.MERGED: {"reason": "They wrote from both.", "stays": True, "channels_off": False},
        EmailKind.CALL_ANSWERED: {
            "call": "I never got the email about this turn.",
            "answer": "It was refused at first, and sent again.",
            "done": "answered",
        },
        EmailKind.REMINDER: {"due_at": soon, "last": False},
        EmailKind.NOTICE: {"what": "extended", "due_at": soon, "reason": "The server was down for some hours."},
        EmailKind.WAS_IT_YOU: {"error": "another sender", "last_for": "", "to_offer": False},
        EmailKind.INVITATION_RECEIPT: {
            "effect": "joined",
            "text": player.name,
            "quoted": "accept",
            "subject": "",
            "answers": "",
            "prose": [],
            "substitute": False,
            "tournament": None,
            "group": "",
            "last_for": "",
        },
    }
    match kind:
        case EmailKind.INVITATION:
            return {"host": people.read(tx, game.host_id).name or other}
        case EmailKind.SIGN_UP | EmailKind.TOURNAMENT:
            return _tournament(tx, server, game)
        case EmailKind.AUTO_PASSED:
            return {"choice": _default_move(tx, game, player.seat), "due_at": soon, "missed": 1, "until": soon}
        case EmailKind.SEALED:
            return {
                "choice": _default_move(tx, game, player.seat),
                "proof": {"fingerprint": "7f" * 32, "nonce": "3c" * 16},
            }
        case EmailKind.SUBSTITUTE:
            now = server.now()
            offer = tables.add_offer(tx, game.id, player.seat, player.person_id, "resigned", "substitute", now)
            return {"offer": offer}
        case EmailKind.RECEIPT:
            return _receipt(tx, game, player.seat)
        case EmailKind.REVIEW:
            _example_review(tx, game.id, player.seat)
        case EmailKind.DIGEST:
            preferences.set_of_table(tx, player.person_id, game.id, "daily")
            return {"letters": [], "since": {}, "until": {f"{game.id}": game.turn}, "heard": {}, "lines": {}}
        case EmailKind.ALERT:
            alarm_id = alarms.raise_alarm(tx, server, AlarmKind.CALL, f"{other} calls.")
            alarm = {"at": server.now().isoformat(), "table": game.title, "alarm": alarm_id}
            return {"who": player.name, "alarms": [{"what": "call", "number": 1, "told": [alarm]}]}
    return pure.get(kind, {})


def _example_review(tx: Tx, game_id: int, seat: int) -> None:
    """Have an example of a review, if this game has reviews and this one wasn't made yet."""
    row = reviews.of_game(tx, game_id).get(seat)
    if row is None:
        raise BadInput(_("Game %(id)s has no reviews.", id=game_id), remedy=_("Choose another game."))
    why = Reasons(points=-3_000, worth=9)
    mistake = Verdict(2, "bid 12", "bid 9", 350, -80, -130, -30, "bid 12", "bid 9", why)
    swing = Swing(2, 480, 330, (say("{seat} [wins|win] the auction.", seat=(seat + 1) % 2),))
    side = Side((Point(1, 480, 420, 540), Point(2, 330, 270, 400), Point(3, 270, 210, 340)), (mistake,), (), (swing,))
    reviews.keep(tx, row, coach.write(Review(seat, 0, 2, 1200, side, None, (Luck(1, -50, -90, -10),))))


def _receipt(tx: Tx, game: GameRow, seat: int) -> dict[str, Any]:
    move_text = _default_move(tx, game, seat)
    played = {"said": move_text, "outcome": "applied", "done": "played", "text": move_text}
    refused = {"said": "bid twice", "outcome": "refused", "done": None, "text": _("You can't do that here.")}
    shown = {"board": True, "help": True, "rules": False}
    reply = {
        "error": "",
        "last_for": "",
        "subject": "",
        "answers": "",
        "turn": game.turn,
        "quoted": game.turn,
        "prose": [],
    }
    return reply | shown | {"lines": [played, refused], "nothing_changed": False, "late": False}


def _default_move(tx: Tx, game: GameRow, seat: int) -> str:
    """The choice made for the seat if it misses the deadline, as it is written."""
    decision = position_of(tx, game).open()[seat]
    return grammar.write(decision, decision.default)


def _tournament(tx: Tx, server: Server, game: GameRow) -> dict[str, Any]:
    """A tournament of this game, which nobody has opened."""
    settings = TournamentSettings(
        game.title, game.kind, server.now() + timedelta(days=7), size=game.seats, least=game.seats
    )
    row = tournaments.by_key(tx, open_tournament(tx, server, game.host_id, settings))
    return {"tournament": row.id, "host": people.read(tx, game.host_id).name, "what": "paused", "round": 0}
