"""What an email says: one reading of the rows behind a draft, and one value with everything that its template needs.

A row of the outbox is a kind and a few facts. Everything about a seat comes from the view of that seat. Putting the content
into a template happens elsewhere, outside of any transaction.

Facts by kind, beside what the rows themselves say:

    invitation  host          left, resigned, end_proposed  who          declined  person          voided  why
    back_proposed  who, back_to
    joined      word, commitment                                      call_answered  call, answer, done
    reminder    due_at        auto_passed  choice, due_at, warning, until  substitute   offer
    new_address here, and where it asks person, address
    group_invitation group, name, who
    moved       here, reason  banned      until or lifted, reason     channel  what, service, host, who or why
    notice      what, and with it who, due_at, because, why, reason, by, turn, turn, of, before or now
    sign_up     tournament, host
    tournament  tournament, what, round, and with it days, reason, table, in_round
    receipt     answers, subject, lines, prose and what is to be shown: see `replies`
    invitation_receipt  answers, subject, prose, offered_in, effect: see `incoming.invitations`
    digest      letters, since and until: see `digests`

This module must never look into a game's state.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from engine.facts import SPECTATOR
from engine.game import Game
from pbem.domain.deadline import Deadline
from pbem.domain.duration import duration_text
from pbem.domain.invitation_replies import ACCEPT_AS
from pbem.domain.localtime import stored_zone
from pbem.domain.missed_turns import Agreement, warning
from pbem.domain.outdated import ASKING
from pbem.domain.states import EmailKind, TableStatus, TurnStatus
from pbem.domain.user_text import isolate
from pbem.i18n import speech
from pbem.mail.write import words
from pbem.mail.write.board import print_board
from pbem.mail.write.compose import EmailContent, Letterhead, Reader, Thread, message_id
from pbem.mail.write.words import DigestSection, SeatContent, TalkLine, Words
from pbem.plugins.away import loads
from pbem.service import alarms
from pbem.service.clocks.deadlines import bank_left
from pbem.service.outgoing.email_links import OFFERS
from pbem.service.outgoing.rating_content import rating_lines
from pbem.service.outgoing.review_content import review_words
from pbem.service.outgoing.table_content import table_words
from pbem.service.outgoing.tournament_content import tournament_of, tournament_words
from pbem.service.play import order_notes, seat_cache, views
from pbem.service.play.endings import ending_of
from pbem.service.play.log import StandingEntry, latest_entries, sealed_in
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import SeatKnowledge
from pbem.service.server import Server
from pbem.service.tables.invitations import name_for_host
from pbem.store import (
    deadlines,
    games,
    log,
    outbox,
    people,
    players as player_rows,
    seats,
    tables as table_rows,
    talk,
    views as view_rows,
)
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow
from pbem.store.person_names import read_facts
from pbem.store.players import PlayerRow
from pbem.tokens import Purpose

_WITH_BOARD: Final = ASKING | {EmailKind.SEATED, EmailKind.RESULT, EmailKind.RECEIPT}
"""Kinds that show the table."""

_ANSWERABLE: Final = ASKING | OFFERS | {EmailKind.RECEIPT, EmailKind.MENTION, EmailKind.BACK_PROPOSED}
"""Kinds whose replies are read: their Reply-To names a seat and a turn, or an offered seat."""

_LINK_VARIABLES: Final = {
    Purpose.CONFIRM: "confirm",
    Purpose.SIGN_IN: "sign_in",
    Purpose.WRITTEN: "written",
    Purpose.YES: "yes",
    Purpose.DISOWN: "disown",
    Purpose.SEAT: "seat_page",
    Purpose.ENTRY: "entry",
}
"""The variables of the templates with the URL of a link."""

Links = Mapping[Purpose, int]
"""The rows of the links of an email, by purpose."""


@dataclass(frozen=True, slots=True)
class SeatLinks:
    """The links of one of its reader's seats, in an email about several tables."""

    game_id: int
    seat: int
    links: Links


@dataclass(frozen=True, slots=True)
class Draft:
    """An email that can be written now: its row, the rows of its links, and the deadline that it promises.

    Links and promise are stored before anything is read, so an email that is written twice has the same. `seat` is the seat
    it speaks to; `seats` are those of an email about several tables. It has what was said up to the `lines` there are.
    """

    email: EmailRow
    links: Links
    seat: int | None = None
    due: Deadline | None = None
    seats: tuple[SeatLinks, ...] = ()
    lines: int = 0


def read_contents(
    tx: Tx, server: Server, letterhead: Letterhead, drafts: Collection[Draft], rendered_at: datetime
) -> list[EmailContent]:
    """What these emails say, read with as few statements as for one."""
    _prefetch(tx, drafts)
    return [_Reading(tx, server, letterhead, draft).content(rendered_at) for draft in drafts]


def _prefetch(tx: Tx, drafts: Collection[Draft]) -> None:
    """Read at once what most of these emails say; the rest is read one by one."""
    game_ids = {draft.email.game_id for draft in drafts if draft.email.game_id is not None}
    people.read_ahead(tx, {draft.email.person_id for draft in drafts})
    outbox.read_ahead(tx, [draft.email for draft in drafts])
    games.read_ahead(tx, game_ids)
    readers = {
        (draft.email.game_id, draft.seat): draft.email.person_id
        for draft in drafts
        if draft.email.game_id is not None and draft.seat is not None
    }
    view_rows.read_ahead(tx, readers.keys())
    turns = {game_id: games.read(tx, game_id).turn for game_id, _ in readers}
    seats.read_ahead(tx, {(game_id, turns[game_id], seat): person_id for (game_id, seat), person_id in readers.items()})


@dataclass(frozen=True, slots=True)
class _Reading:
    """The reading of one draft."""

    tx: Tx
    server: Server
    letterhead: Letterhead
    draft: Draft

    @property
    def email(self) -> EmailRow:
        """The row of the email."""
        return self.draft.email

    def content(self, rendered_at: datetime) -> EmailContent:
        """What the email says."""
        tx, email, draft = self.tx, self.email, self.draft
        person = people.read(tx, email.person_id)
        game = None if email.game_id is None else games.read(tx, email.game_id)
        players = [] if game is None else player_rows.of_game(tx, game.id)
        rules = None if game is None else rules_of(game)
        facts = read_facts(tx, email.facts)
        tournament = tournament_of(tx, facts)
        is_stranger = person.confirmed_at is None
        if is_stranger:
            # Anyone may have typed this address, with words for its owner.
            facts.pop("call", None)
        if email.kind == EmailKind.NOTICE:
            facts = words.notice_facts(facts, email.seat, rules)
        if email.kind == EmailKind.DECLINED and game is not None:
            facts["who"] = name_for_host(tx, game.id, facts["person"])
        if email.kind == EmailKind.ALERT:
            facts["alarms"] = alarms.with_texts(tx, facts["alarms"])
        variables: Words = {"facts": facts} | self._link_variables()
        if email.kind == EmailKind.CONFIRM:
            variables |= self._what_confirms(rules)
        elif tournament is not None:
            variables = tournament_words(tx, self.letterhead, email, facts, tournament) | variables
            variables["time"] = duration_text(self.server.strangers.lifetime)
        elif game is not None and rules is not None:
            variables = table_words(tx, self.letterhead, email, game, rules, players) | variables
            variables |= self._seat(game, rules, players)
        if email.kind in OFFERS:
            variables["accept_as"] = ACCEPT_AS
        if email.kind == EmailKind.DIGEST:
            sections = self._digest_sections()
            variables["sections"] = [words.digest_section(self.letterhead, each, len(sections)) for each in sections]
        if email.kind == EmailKind.LINKS:
            variables["games"] = self._own_tables()
        names = {player.seat: player.name for player in players}
        own_name = "" if is_stranger else person.name
        called = own_name if draft.seat is None else names.get(draft.seat, own_name)
        turn = None if email.seat is None or email.kind == EmailKind.RECEIPT else outbox.turn_before(tx, email)
        may_answer = email.kind in _ANSWERABLE or (email.kind == EmailKind.AUTO_PASSED and "until" in facts)
        replies = may_answer and Purpose.REPLY in draft.links
        return EmailContent(
            kind=email.kind,
            reader=Reader(called, person.delivery_address, stored_zone(person.zone)),
            thread=Thread(
                message_id=email.message_id
                or message_id(self.letterhead, self.server.randomness.bytes(8), (game or person).key),
                game="" if game is None else game.key,
                title="" if game is None else game.title,
                answers=facts.get("answers", "") if turn is None else turn.message_id or "",
                tournament="" if tournament is None else tournament.key,
            ),
            date=rendered_at,
            words=variables,
            stop=self._placeholder(Purpose.STOP, draft.links),
            reply=self._placeholder(Purpose.REPLY, draft.links) if replies else "",
        )

    def _placeholder(self, purpose: Purpose, links: Links) -> str:
        return self.server.keys.placeholder(purpose, links[purpose])

    def _url(self, purpose: Purpose, links: Links) -> str:
        return self.letterhead.url(purpose, self._placeholder(purpose, links))

    def _link_variables(self) -> Words:
        links = self.draft.links
        urls: Words = {name: self._url(purpose, links) for purpose, name in _LINK_VARIABLES.items() if purpose in links}
        page = urls.get("seat_page")
        return urls if page is None else urls | {"call": f"{page}/call", "rules": f"{page}/rules"}

    def _what_confirms(self, rules: Game[Any] | None) -> Words:
        """What an address is confirmed for: the game, which we name, and never the table, which anyone can."""
        words_of_all: Words = {"time": duration_text(self.server.strangers.lifetime)}
        return words_of_all | ({} if rules is None else {"game": words.table_name(rules.title, rules.title)})

    def _seat(self, game: GameRow, rules: Game[Any], players: list[PlayerRow]) -> Words:
        """What the reader's seat sees, and what it is asked."""
        email, draft = self.email, self.draft
        if email.kind == EmailKind.SUBSTITUTE:
            return self._free_seat(game, rules, players)
        if draft.seat is None:
            return {}
        variables: Words = {
            "players": [
                {"seat": seat + 1, "name": player.name, "mine": seat == draft.seat}
                for seat, player in sorted((player.seat, player) for player in players if player.seat is not None)
            ],
            "asked_at_once": deadlines.read(self.tx, game.id, game.turn, draft.seat) is not None,
        }
        if email.kind == EmailKind.MENTION:
            line = json.loads(email.facts)["line"]
            return variables | {"mentioned_in": talk.text_of(self.tx, game.id, line)}
        if email.kind == EmailKind.REVIEW:
            return variables | review_words(self.tx, game, draft.seat)
        if email.kind not in _WITH_BOARD:
            return variables
        knowledge = seat_cache.knowledge_of(self.tx, game, rules, draft.seat)
        seat = self._seat_content(game, rules, draft.seat, knowledge)
        token = self._placeholder(Purpose.MOVE, draft.links)
        variables |= words.board(seat)
        if email.kind in (EmailKind.TURN, EmailKind.RESULT):
            variables |= self._since_last_turn(game, seat, knowledge)
        if email.kind in ASKING and seat.decision is not None:
            variables |= words.question(self.letterhead, seat, seat.decision, token, draft.due)
        if email.kind == EmailKind.RESULT:
            variables |= self._result(game, seat)
        if email.kind == EmailKind.RECEIPT:
            variables |= words.receipt(self.letterhead, seat, token)
        return variables

    def _result(self, game: GameRow, seat: SeatContent) -> Words:
        """How the game ended."""
        ending = ending_of(self.tx, game)
        assert ending is not None
        assert ending.result is not None, "an email with the result is about a game that has one"
        lines = rating_lines(self.tx, game, self.email.person_id)
        return words.result(seat, ending.result, [each.sentence for each in ending.handovers]) | {"rating": lines}

    def _free_seat(self, game: GameRow, rules: Game[Any], players: list[PlayerRow]) -> Words:
        """A seat on offer, to a person who sees only what is public."""
        names = tuple(player.name for player in sorted(players, key=lambda player: player.seat or 0))
        board = rules.board(views.view(self.tx, game, SPECTATOR), SPECTATOR)
        offer = table_rows.offer(self.tx, json.loads(self.email.facts)["offer"])
        held = any(player.seat == offer.seat and player.person_id is not None for player in players)
        printed = print_board(board, speech.teller(rules, None, names), SPECTATOR)
        return {"board": printed, "gone": names[offer.seat], "held": held}

    def _seat_content(self, game: GameRow, rules: Game[Any], seat: int, knowledge: SeatKnowledge) -> SeatContent:
        """The reader's seat, from what it knows."""
        taken, clock = seats.taken_with_clock(self.tx, game.id, game.turn, seat, self.email.person_id, 0)
        names = tuple(player.name for player in taken)
        agreement = Agreement.of_table(game.missed_limit, game.successor, private=game.private)
        asked = knowledge.decision is not None and game.status == TableStatus.PLAYING
        return SeatContent(
            rules=rules,
            title=game.title,
            status=game.status,
            turn=game.turn,
            seat=seat,
            names=names,
            view=knowledge.view,
            board=knowledge.board,
            standing=knowledge.standing,
            teller=speech.teller(rules, seat, tuple(map(isolate, names))),
            decision=knowledge.decision if asked else None,
            sealed=dict(loads(rules, game.box)).get(seat) if asked else None,
            order=dict(loads(rules, game.orders)).get(seat),
            due_at=clock.due_at,
            promised_at=clock.promised_at,
            bank=bank_left(self.tx, game, game.turn, seat, self.server.now()) if asked else None,
            warning=warning(taken[seat].missed, agreement),
            former=seats.former(taken),
        )

    def _since_last_turn(self, game: GameRow, seat: SeatContent, knowledge: SeatKnowledge) -> Words:
        """What happened and was said since the email of the seat's last turn, and its standing orders that ended."""
        before = outbox.turn_before(self.tx, self.email)
        turn, seq, lines = (0, 0, 0) if before is None else (before.turn or 0, before.seq or 0, before.lines or 0)
        entries = self._entries_since(game, seat, knowledge, turn)
        sentences = words.tell_all(seat_cache.facts_by_turn(game, entries, seat.seat), seat.teller_in)
        return {
            "sealed_in": sealed_in(entries, seat.seat),
            **words.past_turns(sentences, self._talk(game, seat, lines, self.draft.lines)),
            "first": before is None,
            "notes": [seat.teller(note) for note in order_notes.since(self.tx, game, seat.seat, seq)],
        }

    def _entries_since(self, game: GameRow, seat: SeatContent, known: SeatKnowledge, turn: int) -> list[StandingEntry]:
        """The entries from this turn on."""
        if known.recent_entries and known.recent_entries[0].turn <= turn:
            return [standing for standing in known.recent_entries if standing.turn >= turn]
        return latest_entries(seat.rules, log.chain_back(self.tx, game.id, game.key), turn)

    def _talk(self, game: GameRow, seat: SeatContent, after: int, until: int) -> list[TalkLine]:
        lines = talk.heard(self.tx, game.id, game.key, seat.seat, after, until, words.MOST_LINES + 1)
        return [TalkLine(line.who(seat.names[line.seat]), line.text) for line in lines]

    def _own_tables(self) -> list[Words]:
        """The reader's tables, those first that wait for the reader."""
        tables: list[Words] = []
        for own in self.draft.seats:
            game = games.read(self.tx, own.game_id)
            deadline = deadlines.read(self.tx, game.id, game.turn, own.seat)
            waiting = deadline is not None and deadline.status == TurnStatus.OPEN
            tables.append(
                {
                    "table": words.table_name(game.title, rules_of(game).title),
                    "waiting": waiting,
                    "until": deadline.due_at if waiting and deadline is not None else None,
                    "url": self._url(Purpose.SEAT, own.links),
                }
            )
        return sorted(tables, key=lambda table: not table["waiting"])

    def _digest_sections(self) -> list[DigestSection]:
        """The sections of a digest, those first in which something is asked; a seat without news has none."""
        facts = json.loads(self.email.facts)
        replaced = outbox.with_ids(self.tx, facts["letters"])
        sections = [self._digest_section(own, facts, replaced) for own in self.draft.seats]
        return sorted(
            (section for section in sections if section.sentences or section.news or section.seat.decision is not None),
            key=lambda section: (section.seat.decision is None, section.seat.due_at is None, section.seat.due_at),
        )

    def _digest_section(
        self, own: SeatLinks, facts: Mapping[str, Any], replaced: Collection[EmailRow]
    ) -> DigestSection:
        game = games.read(self.tx, own.game_id)
        rules = rules_of(game)
        seat = self._seat_content(game, rules, own.seat, seat_cache.knowledge_of(self.tx, game, rules, own.seat))
        entries = latest_entries(rules, log.chain_back(self.tx, game.id, game.key), facts["since"].get(f"{game.id}", 0))
        # Turns since the digest was queued belong in the next one, together with what came of them.
        until = facts["until"].get(f"{game.id}", 0)
        known = [standing for standing in entries if standing.turn < until]
        return DigestSection(
            seat=seat,
            sentences=words.tell_all(seat_cache.facts_by_turn(game, known, own.seat), seat.teller_in),
            news=tuple(
                {"kind": email.kind, "facts": read_facts(self.tx, email.facts)}
                for email in replaced
                if email.game_id == game.id and email.seat in (None, own.seat)
            ),
            talk=tuple(self._talk(game, seat, *(facts[key].get(f"{game.id}", 0) for key in ("heard", "lines")))),
            page=self._url(Purpose.SEAT, own.links),
            token=self._placeholder(Purpose.MOVE, own.links),
            sealed_in=sealed_in(known, own.seat),
        )
