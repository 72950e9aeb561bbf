"""What a mail tells of one seat: what happened there, what is asked, how it ended.

Everything comes from a `Look`, which is made from the view of the seat and from nothing else; sentences stand in the
templates, or come from the game. This module must never look into a game's state.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any, Final

from engine import grammar, orders
from engine.decisions import Decision
from engine.facts import seen
from engine.game import Game, Standing, agreed
from pbem.domain.deadline import Deadline
from pbem.domain.duration import duration_text
from pbem.domain.pace import PerDecision, parse_pace
from pbem.domain.reply_commands import USAGES
from pbem.i18n import speech
from pbem.mail.write.board import print_board
from pbem.mail.write.compose import Letterhead, Option
from pbem.service.outgoing.digests import Section
from pbem.service.play import move as play_move
from pbem.service.play.log import Kind, body_of, latest_entries
from pbem.service.play.seat_view import SeatView
from pbem.service.server import Server
from pbem.service.tables import talk
from pbem.store import log, outbox
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import OutboxRow
from pbem.tokens import Purpose

MOST_LINKED: Final = 12
"""So many choices have a link each in a mail; where there are more, the page of the seat has a form."""

MOST_LINKED_IN_DIGEST: Final = 24
"""So many choices altogether, where one mail is about many tables."""

MOST_TOLD: Final = 32
LONGEST_TOLD: Final = 2000
"""Sentences of what happened, and their bytes in HTML; who was away for longer reads the rest on a page."""

MOST_SAID: Final = 20
LONGEST_SAID: Final = 2000
"""The same of what was said at the table."""

Words = dict[str, object]


def table_named(title: str, game: str) -> str:
    """What a table is called: by its name and its game, once where they are the same.

    A game's name may end like a sentence, as `Bid!` does, and then it stands in quotes: a full stop may follow it.
    """
    if title != game:
        return f"{title} ({game})"
    return game if game[-1].isalnum() else f"“{game}”"


def happened(tx: Tx, email: OutboxRow, game: GameRow, look: SeatView) -> Words:
    """What the seat was told since the mail of its last turn, and the orders of its own that have ended since."""
    before = outbox.turn_before(tx, email)
    entries = latest_entries(
        look.rules, log.chain_back(tx, game.id, game.key), 0 if before is None else before.turn or 0
    )
    told = (seen(each, look.seat) for standing in entries for each in standing.entry.facts)
    sentences = [sentence for each in told if (sentence := look.teller.tell(each)) is not None]
    return {
        **_story(sentences),
        "first": before is None,
        "notes": _ended_orders(tx, game, look, 0 if before is None else before.seq or 0),
        **_said(talk.lines_of_others(tx, game, look.seat, look.names, None if before is None else before.rendered_at)),
    }


def asked(
    server: Server, letterhead: Letterhead, look: SeatView, decision: Decision, move: int, due: Deadline | None
) -> Words:
    """What the seat is asked, and everything that it may answer; `move` is the row of the links to single choices."""
    return _answers(server, letterhead, look, decision, move) | {
        "until": None if due is None else due.at,
        "waits_for": "" if due is None or due.waits_for is None else due.waits_for.value,
        "order": "" if look.order is None else orders.write_order(look.order),
        "orders": [each for each in orders.offered(decision) if each.startswith("up to")],
    }


def result(standing: Standing, look: SeatView) -> Words:
    """How the game ended."""
    winners = standing.ranking[0]
    ranking: list[Mapping[str, Any]] = []
    for tied in standing.ranking:
        place = len(ranking) + 1
        ranking += [{"place": place, "name": _named(look, seat), "score": standing.scores[seat]} for seat in tied]
    return {
        "won": look.seat in winners,
        "winners": [look.names[seat] for seat in winners],
        "shared_with": [look.names[seat] for seat in winners if seat != look.seat],
        "ranking": ranking,
        "reasons": [look.teller(reason) for reason in standing.reasons],
    }


def section(server: Server, letterhead: Letterhead, found: Section, together: int) -> Words:
    """What a digest says of one seat, in its share of the room; `together` is the number of seats it is about."""
    look = found.look
    words: Words = {
        "table": table_named(look.title, look.rules.title),
        "turn": look.turn,
        **_story(found.happened, together),
        **_said(found.talk, together),
        "news": [{**each, "facts": corrected(each["facts"], look.rules)} for each in found.news],
        "seat_page": letterhead.url(Purpose.SEAT, server.keys.placeholder(Purpose.SEAT, found.links.seat)),
        "asked": "",
    }
    if look.decision is not None and look.sealed is None:
        most = min(MOST_LINKED, MOST_LINKED_IN_DIGEST // together)
        words |= _answers(server, letterhead, look, look.decision, found.links.move, most) | {"until": look.due_at}
    return words


def pace_said(written: str) -> str:
    """A pace as people say it; the calendar of one is words already."""
    pace = parse_pace(written)
    return duration_text(pace.allowed) if isinstance(pace, PerDecision) else str(pace)


def corrected(facts: Mapping[str, Any], rules: Game[Any] | None) -> Mapping[str, Any]:
    """The facts of a notice; of a correction with what was corrected as people say it, and not as it is kept."""
    if facts.get("what") != "corrected" or facts["of"] not in ("pace", "option"):
        return facts
    return {**facts, **{when: _as_said(facts["of"], facts[when], rules) for when in ("before", "now")}}


def _as_said(of: str, written: str, rules: Game[Any] | None) -> str:
    if of == "pace":
        return pace_said(written)
    assert rules is not None, "an option belongs to a game"
    name, _sign, value = written.partition("=")
    option = next(each for each in rules.options if each.name == name)
    return speech.teller(rules)(agreed(option, value))


def board(look: SeatView) -> Words:
    """The table as the seat sees it."""
    return {"board": print_board(look.board, look.teller, look.seat)}


def _story(sentences: Sequence[str], together: int = 1) -> Words:
    """The last of what happened, as much as leaves room for the rest of a mail."""
    many = _that_fit(sentences, MOST_TOLD, LONGEST_TOLD // together)
    return {"happened": sentences[len(sentences) - many :], "earlier": many < len(sentences)}


def _said(lines: Sequence[Mapping[str, object]], together: int = 1) -> Words:
    """The last of what the others said, likewise."""
    many = _that_fit([f"{line['name']}{line['text']}" for line in lines], MOST_SAID, LONGEST_SAID // together)
    return {"talk": lines[len(lines) - many :], "said_earlier": many < len(lines)}


def _that_fit(texts: Sequence[str], most: int, room: int) -> int:
    """How many of the last of these a mail has room for, as HTML writes them: a name of few letters may need many bytes."""
    sizes = accumulate(len(escape(text).encode()) for text in reversed(texts[-most:]))
    return sum(size <= room for size in sizes)


def _answers(
    server: Server, letterhead: Letterhead, look: SeatView, decision: Decision, move: int, most: int = MOST_LINKED
) -> Words:
    options, others = _options(look, decision, letterhead, server.keys.placeholder(Purpose.MOVE, move), most)
    return {
        "asked": look.teller(decision.prompt),
        "options": options,
        "usages": others,
        "silence": look.default_words,
        "warning": look.warning,
    }


def _options(
    look: SeatView, decision: Decision, letterhead: Letterhead, token: str, most: int
) -> tuple[list[Option], list[str]]:
    """The choices that have a link each, act by act as long as there is room; how the others are written."""
    linked, room = set(), most
    for act in sorted(decision.acts, key=lambda act: act.count()):
        if act.count() <= room:
            linked.add(act)
            room -= act.count()
    options = [
        Option(
            grammar.write(decision, choice),
            "" if act.note is None else look.teller(act.note),
            letterhead.url(Purpose.MOVE, token, play_move.option_of(choice)),
        )
        for act in decision.acts
        if act in linked
        for choice in act.choices()
        if look.rules.objects(look.view, look.seat, choice) is None
    ]
    return options, list(dict.fromkeys(grammar.usage(act) for act in decision.acts if act not in linked))


def _ended_orders(tx: Tx, game: GameRow, look: SeatView, since_seq: int) -> list[str]:
    notes = []
    for row in log.chain_back(tx, game.id, game.key):
        if row.seq <= since_seq:
            break
        if row.kind == Kind.ORDER and row.seat == look.seat:
            note = body_of(look.rules, row).get("note")
            if note is not None:
                notes.append(look.teller(note))
    return notes[::-1]


def _named(look: SeatView, seat: int) -> str:
    name = look.teller.name(seat)
    return name[:1].upper() + name[1:]


_NOTHING_ASKED: Final[Words] = {
    "asked": "",
    "until": None,
    "options": [],
    "usages": [],
    "orders": [],
    "silence": "",
    "warning": "",
}


def receipt(server: Server, letterhead: Letterhead, look: SeatView, move: int) -> Words:
    """What the player is asked now, what may be written, and the rules; `move` is the row of the links to choices."""
    return {
        "now": look.turn,
        "over": look.status != "playing",
        "sealed": look.sealed_words,
        "in_game": _in_game(look),
        "anywhere": USAGES,
        "passages": [speech.translate(passage) for passage in look.rules.rules.split("\n\n")],
    } | _asked(server, letterhead, look, move)


def _asked(server: Server, letterhead: Letterhead, look: SeatView, move: int) -> Words:
    if look.decision is None:
        return _NOTHING_ASKED
    # The moment that the clock goes by now: what was promised in a mail before is never later.
    return asked(server, letterhead, look, look.decision, move, None) | {"until": look.due_at or look.promised_at}


def _in_game(look: SeatView) -> list[str]:
    """How choices and orders are written in what is asked now."""
    if look.decision is None:
        return []
    return [*grammar.usages(look.decision), *orders.offered(look.decision)]
