"""The variables of email templates that are about a table or a seat: plain values in, words out.

A `SeatContent` is made from the view of its seat alone, so an email about it tells its reader nothing else. Sentences are in
the templates or come from the game. This module must never read a database or know a token: links are placeholders.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from itertools import accumulate, islice
from typing import Any, Final

from engine import grammar, orders
from engine.board import Board, Example, faces_of, in_words
from engine.decisions import Act, Choice, Decision, OneOf, Some
from engine.game import Game, Standing
from engine.options import agreed
from engine.result import Result, ordinal
from engine.tell import Teller, Text
from pbem.domain.causes import TurnFacts, tell_turn
from pbem.domain.choice_links import choice_segment
from pbem.domain.deadline import Deadline
from pbem.domain.duration import duration_text
from pbem.domain.evenly import evenly
from pbem.domain.former_players import FormerPlayer, TellerIn, teller_in_turn
from pbem.domain.missed_turns import second_chance
from pbem.domain.pace import Bank, PerDecision, read_pace
from pbem.domain.quick_choices import quick_choices
from pbem.domain.reply_commands import USAGES
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.mail.write.board import print_board
from pbem.mail.write.compose import Letterhead, Option
from pbem.mail.write.faces import piece
from pbem.tokens import Purpose

MOST_LINKED: Final = 12
"""Choices with a link each in one email; for more, the page of the seat has a form."""

FEWEST_LINKED: Final = 3
"""Choices with a link each of an act that has too many for a link each."""

MOST_LOOKED_AT: Final = 1000
"""The first choices of an act; a few of them get links."""

_ONE_LINE: Final = 10_000
"""A width in letters that no sentence fills."""

MOST_LINKED_IN_DIGEST: Final = 24
"""Choices with a link each in an email about many tables."""

MOST_SENTENCES: Final = 32
SENTENCES_BYTES: Final = 2000
"""Sentences about past turns, and their bytes in HTML. Earlier ones are on the page."""

MOST_LINES: Final = 20
TALK_BYTES: Final = 2000
"""Lines of talk, and their bytes in HTML."""

MOST_MOMENTS: Final = 5
"""Moments in the course of a finished game. On a narrow phone each has room for three digits beside a name."""
TALLEST_BAR: Final = 24
"""The height of the bar of the highest score, in pixels."""

Words = dict[str, object]
"""Variables of a template."""


@dataclass(frozen=True, slots=True)
class SeatContent:
    """What an email may tell about one seat, from the view of that seat.

    `sealed` is its choice in the box, `order` its standing order, `bank` what is left in its bank. `teller` puts facts into words for its player.
    """

    rules: Game[Any]
    title: str
    status: str
    turn: int
    seat: int
    names: tuple[str, ...]
    view: Any
    board: Board
    standing: Standing
    teller: Teller
    decision: Decision | None
    sealed: Choice | None
    order: orders.Order | None
    due_at: datetime | None
    promised_at: datetime | None
    warning: str
    bank: timedelta | None = None
    former: tuple[FormerPlayer, ...] = ()

    def teller_in(self, turn: int | None) -> Teller:
        """The same teller for what happened in a turn, with the names of those who played then."""
        return teller_in_turn(turn, self.rules, self.seat, self.names, self.former)


@dataclass(frozen=True, slots=True)
class TalkLine:
    """A line of table talk as its reader sees it; `text` is None if it was redacted."""

    name: str
    text: str | None


@dataclass(frozen=True, slots=True)
class DigestSection:
    """One seat in a digest: past facts as the seat was told them, and the emails that the digest replaces.

    `page` is the URL of the seat, `token` the placeholder for links to single choices, `sealed_in` a turn with the
    fingerprints of its sealed choices.
    """

    seat: SeatContent
    sentences: tuple[str, ...]
    news: tuple[Mapping[str, Any], ...]
    talk: tuple[TalkLine, ...]
    page: str
    token: str
    sealed_in: tuple[int, tuple[str, ...]] | None


def table_name(title: str, game: str) -> str:
    """The name of a table with its game, once if equal. A name ending like a sentence, as `Bid!` does, is quoted."""
    if title != game:
        return f"{title} ({game})"
    return game if game[-1].isalnum() else f"“{game}”"


def second_chance_text(hours: int, pace: str) -> str:
    """How long a table lets players take back the move made for a missed turn; empty if it doesn't."""
    return duration_text(second_chance(hours, read_pace(pace))) if hours else ""


def pace_text(pace: str) -> str:
    parsed = read_pace(pace)
    if isinstance(parsed, Bank):
        start, refill, most = map(duration_text, (parsed.start, parsed.refill, parsed.most))
        return _(
            "a bank of %(start)s, plus %(refill)s after each turn, up to %(most)s",
            start=start,
            refill=refill,
            most=most,
        )
    return duration_text(parsed.allowed) if isinstance(parsed, PerDecision) else str(parsed)


def correction_in_words(facts: Mapping[str, Any], rules: Game[Any] | None) -> Mapping[str, Any]:
    """The facts of a notice; a corrected pace or option is put into words."""
    if facts.get("what") != "corrected" or facts["of"] not in ("pace", "option"):
        return facts
    return {**facts, **{when: _agreed_in_words(facts["of"], facts[when], rules) for when in ("before", "now")}}


def notice_facts(facts: Mapping[str, Any], seat: int | None, rules: Game[Any] | None) -> dict[str, Any]:
    """The facts of a notice, with a value for each that its template may ask for."""
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
        "seat": seat,
    } | dict(correction_in_words(facts, rules))


def tell_all(turns: Iterable[TurnFacts], teller_in: TellerIn) -> tuple[str, ...]:
    """The sentences of some turns, each told by the teller of its turn."""
    return tuple(sentence for turn in turns for sentence in tell_turn(turn, teller_in(turn.turn)))


def board(seat: SeatContent) -> Words:
    """The table as the seat sees it."""
    return {"board": print_board(seat.board, seat.teller, seat.seat)}


def past_turns(sentences: Sequence[str], talk: Sequence[TalkLine], tables: int = 1) -> Words:
    """The latest sentences and lines of talk, as many as an email about so many tables has room for."""
    sentence_count = _count_fitting(sentences, MOST_SENTENCES, SENTENCES_BYTES // tables)
    line_count = _count_fitting([f"{line.name}{line.text}" for line in talk], MOST_LINES, TALK_BYTES // tables)
    return {
        "happened": sentences[len(sentences) - sentence_count :],
        "earlier": sentence_count < len(sentences),
        "talk": talk[len(talk) - line_count :],
        "said_earlier": line_count < len(talk),
    }


def question(letterhead: Letterhead, seat: SeatContent, decision: Decision, token: str, due: Deadline | None) -> Words:
    """What the seat is asked, and all it can answer; `token` is the placeholder for links to single choices."""
    return _answers(letterhead, seat, decision, token) | {
        "until": None if due is None else due.at,
        "waits_for": "" if due is None or due.waits_for is None else due.waits_for.value,
        "standing": _standing(seat),
        "orders": [f"order {way}" for way in orders.offered(decision) if way.startswith("up to")],
    }


def _standing(seat: SeatContent) -> list[Words]:
    """The seat's standing orders, each with why it hasn't made the move that its player is asked for."""
    judged = () if seat.order is None else orders.verdicts(seat.order, seat.rules, seat.view, seat.seat)
    return [
        {"says": orders.in_words(one, seat.teller), "why": "" if verdict.why is None else seat.teller(verdict.why)}
        for one, verdict in judged
    ]


def result(seat: SeatContent, ended: Result, handovers: Sequence[Text]) -> Words:
    """How the game ended, for the player of a seat; `handovers` are sentences about seats that changed hands."""
    own = ended.place_of(seat.seat)
    return {
        "won": own.number == 1,
        "shared": len(own.seats) > 1,
        "place": seat.teller(ordinal(own.number)),
        "headline": seat.teller(ended.headline(seat.seat)),
        "sentences": [
            *(seat.teller_in(each.turn)(each.text) for each in ended.story(seat.seat)),
            *map(seat.teller, handovers),
        ],
        "ranking": [
            {"place": place.number, "name": speech.capital(seat.teller.name(other)), "score": place.score}
            for place in ended.places
            for other in place.seats
        ],
        "course": _course(seat, ended),
    }


def _course(seat: SeatContent, ended: Result) -> Words | None:
    """The scores at a few moments, the last of them at the end: turns, and for each player scores with the heights of their bars."""
    if len(ended.course) < 2:
        return None
    moments = evenly(ended.course, MOST_MOMENTS)
    low = min(0, *(score for _turn, scores in moments for score in scores))
    span = max(1, *(score - low for _turn, scores in moments for score in scores))
    return {
        "turns": [turn for turn, _scores in moments],
        "rows": [
            {
                "name": speech.capital(seat.teller.name(other)),
                "mine": other == seat.seat,
                "points": [
                    (scores[other], 1 + TALLEST_BAR * (scores[other] - low) // span) for _turn, scores in moments
                ],
            }
            for place in ended.places
            for other in place.seats
        ],
    }


def receipt(letterhead: Letterhead, seat: SeatContent, token: str) -> Words:
    """What the player is asked now, the commands of replies, and the rules."""
    words: Words = {
        "now": seat.turn,
        "over": seat.status != "playing",
        "sealed": "" if seat.sealed is None or seat.decision is None else grammar.write(seat.decision, seat.sealed),
        "in_game": [],
        "anywhere": USAGES,
        "every_order": {usage: speech.render(means) for usage, means in orders.usages(seat.decision).items()},
        "passages": [speech.translate(passage) for passage in seat.rules.rules.split("\n\n")],
        "examples": [(seat.teller(each.heading), _each_in_a_line(each, seat.teller)) for each in seat.rules.examples],
    }
    if seat.decision is None:
        return words | _NOTHING_ASKED
    # The running deadline: what an email promised before is never later.
    return (
        words
        | question(letterhead, seat, seat.decision, token, None)
        | {
            "until": seat.due_at or seat.promised_at,
            "in_game": [*grammar.usages(seat.decision), *(f"order {way}" for way in orders.offered(seat.decision))],
        }
    )


def digest_section(letterhead: Letterhead, section: DigestSection, tables: int) -> Words:
    """One seat in a digest about so many tables."""
    seat = section.seat
    words: Words = {
        "table": table_name(seat.title, seat.rules.title),
        "turn": seat.turn,
        **past_turns(section.sentences, section.talk, tables),
        "news": [{**email, "facts": correction_in_words(email["facts"], seat.rules)} for email in section.news],
        "seat_page": section.page,
        # A digest of several tables has no room for it; the replay of each has the list.
        "sealed_in": section.sealed_in if tables == 1 else None,
        "asked": "",
    }
    if seat.decision is not None and seat.sealed is None:
        most = min(MOST_LINKED, MOST_LINKED_IN_DIGEST // tables)
        words |= _answers(letterhead, seat, seat.decision, section.token, most) | {"until": seat.due_at}
    return words


_NOTHING_ASKED: Final[Words] = {
    "asked": "",
    "until": None,
    "bank": "",
    "options": [],
    "usages": [],
    "orders": [],
    "silence": "",
    "warning": "",
}


def _agreed_in_words(subject: str, value: str, rules: Game[Any] | None) -> str:
    if subject == "pace":
        return pace_text(value)
    assert rules is not None, "an option belongs to a game"
    name, _sign, chosen = value.partition("=")
    option = next((option for option in rules.options if option.name == name), None)
    # The game may have lost the option since.
    return value if option is None else speech.teller(rules)(agreed(option, chosen))


def _count_fitting(texts: Sequence[str], most: int, room: int) -> int:
    """The number of texts, counted from the last, that fit; in bytes of HTML, because a short name may need many."""
    sizes = accumulate(len(escape(text).encode()) for text in reversed(texts[-most:]))
    return sum(size <= room for size in sizes)


def _answers(
    letterhead: Letterhead, seat: SeatContent, decision: Decision, token: str, most: int = MOST_LINKED
) -> Words:
    options, usages = _options(letterhead, seat, decision, token, most)
    return {
        "asked": seat.teller(decision.prompt),
        "options": options,
        "usages": usages,
        "silence": grammar.write(decision, decision.default),
        "bank": "" if seat.bank is None else duration_text(seat.bank),
        "warning": seat.warning,
    }


def _options(
    letterhead: Letterhead, seat: SeatContent, decision: Decision, token: str, most: int
) -> tuple[list[Option], list[str]]:
    """The choices with a link each, and how to write the others."""
    linked, faces = _linked(seat, decision, most), faces_of(seat.board)
    options = [
        Option(
            grammar.write(decision, choice),
            "" if act.note is None else seat.teller(act.note),
            letterhead.url(Purpose.MOVE, token, choice_segment(choice)),
            tuple(piece(faces[word], seat.teller) for word in _chosen_words(act, choice) if word in faces),
        )
        for act in decision.acts
        for choice in linked[act]
    ]
    more = (act for act in decision.acts if act.count() > len(linked[act]))
    return options, list(dict.fromkeys(grammar.usage(act) for act in more))


def _chosen_words(act: Act, choice: Choice) -> Iterator[str]:
    """The words of the things that are chosen, one or several."""
    for blank, value in zip(act.blanks, choice.values, strict=True):
        if isinstance(blank, OneOf | Some):
            words = {thing.value: thing.word for thing in blank.things}
            yield from (words[each] for each in (value if isinstance(value, tuple) else (value,)) if each in words)


def _linked(seat: SeatContent, decision: Decision, most: int) -> dict[Act, list[Choice]]:
    """The choices of each act that get a link: all of them while there is room, or else a few useful ones."""
    linked: dict[Act, list[Choice]] = {}
    left = max(most, FEWEST_LINKED)
    acts = sorted(decision.acts, key=lambda act: act.count())
    for waiting, act in zip(range(len(acts), 0, -1), acts, strict=True):
        room = max(left // waiting, 1)
        linked[act] = _possible(seat, act) if act.count() <= room else _useful(seat, act)[:room]
        left -= len(linked[act])
    return linked


def _possible(seat: SeatContent, act: Act) -> list[Choice]:
    """The choices of an act that the rules allow, among its first where there are very many."""
    return _allowed(seat, islice(act.choices(), MOST_LOOKED_AT))


def _each_in_a_line(example: Example, teller: Teller) -> list[str]:
    """The parts of an example in words."""
    return [line.strip() for line in in_words(example, teller, width=_ONE_LINE)[1:]]


def _allowed(seat: SeatContent, choices: Iterable[Choice]) -> list[Choice]:
    return [choice for choice in choices if seat.rules.objects(seat.view, seat.seat, choice) is None]


def _useful(seat: SeatContent, act: Act) -> list[Choice]:
    """A few choices of an act that has too many for a link each: quick bids, or some that lie far apart."""

    def costly(choice: Choice) -> bool:
        return seat.rules.caution(seat.view, seat.seat, choice) is not None

    if quick := _allowed(seat, quick_choices(act, costly)):
        # A link only leads to a page that shows its choice, so a costly one may have a link where there are few others.
        more = (choice for choice in _allowed(seat, quick_choices(act)) if choice not in quick)
        return quick + list(islice(more, max(FEWEST_LINKED - len(quick), 0)))
    possible = _possible(seat, act)
    return possible[:: max(1, (len(possible) - 1) // 2)][:3]
