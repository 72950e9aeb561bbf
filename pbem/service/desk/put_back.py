"""Putting one game back as it was saved, beside all the others: one that is gone or broken here, or ahead of a backup.

The log goes on where the saved one ends, with a row that says so. The open turn is asked again under a number that no turn
of this game has had, so that luck comes from streams that nobody has seen, and no form or link of before fits. Every link
of the game is revoked, sealed choices and standing orders are dropped, and each deadline begins again: the time in which
the game was gone counts against nobody.

Who plays a seat here now goes on playing it. A seat whose player is not here any more is a bot's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pbem.domain.acts import Act, Actor
from pbem.domain.deleted_people import NAME, former_name, is_former
from pbem.domain.errors import BadInput, Forbidden, Gone
from pbem.domain.guests import is_guest
from pbem.domain.hash_chain import Row as ChainRow
from pbem.domain.states import EmailKind, Insight, TableStatus
from pbem.domain.user_text import isolate, parse_reason
from pbem.i18n.speech import gettext as _
from pbem.plugins.away import Away
from pbem.service.absence.seats import bot_name
from pbem.service.clocks.deadlines import notify_people
from pbem.service.desk import audit
from pbem.service.play.log import Kind, LogWriter, json_body_of
from pbem.service.play.positions import position_of
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import (
    deadlines,
    games,
    insiders,
    links,
    log,
    outbox,
    players as player_rows,
    reviews,
    revocations,
    saved_games,
    tables,
    talk,
)
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow
from pbem.store.saved_games import SavedGame
from pbem.store.schema import FormerPlayerRow
from pbem.store.sessions import Holder

_ENDED: Final = (TableStatus.OVER, TableStatus.VOID)
_RUNNING: Final = (TableStatus.PLAYING, TableStatus.FROZEN)
_BY: Final = "organiser"

LEAP: Final = 1000
"""The least number of turns left out where nobody knows how far a game had got: more than any has in a day."""

_RANDOM_BYTES: Final = 3
"""The bytes of the random number of turns left out besides, so that two restores from one file don't have the same luck."""

MOST_LISTED: Final = 50
"""The most lost turns that are listed."""

Here = Mapping[int, PersonRow]
"""The people of a saved game who are here, by their ids there."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """What was done, or would be: the game's id here, its turn and what that is asked as now, its rows there and here, and
    lines about what is lost and who plays."""

    game_id: int
    title: str
    turn: int
    next_turn: int
    rows_there: int
    rows_here: int
    says: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Whether the game goes on, and has not ended when it was saved."""
        return self.next_turn > self.turn


def put_back(
    tx: Tx, server: Server, actor: Actor, saved: SavedGame, reason: str, *, replacing: bool = False
) -> PutBack:
    """Put a game back, all of it or nothing. The caller verifies it before the transaction ends.

    Raises Forbidden where choices made here would be lost, unless `replacing`; BadInput, Gone or Forbidden where it cannot be done.
    """
    reason = parse_reason(reason)
    actor.require(Act.PUT_BACK)
    here = _lock(tx, saved.game.key)
    rows_here = () if here is None else tuple(log.chain(tx, here.id, here.key))
    lost = _lost(saved, rows_here)
    _must_be_possible(saved, here)
    if not replacing:
        _must_lose_nothing(saved, here, rows_here, lost)
    return _PuttingBack(tx, server, actor, saved, reason, here, rows_here, lost).do()


@dataclass(frozen=True, slots=True)
class _PuttingBack:
    """One game being put back."""

    tx: Tx
    server: Server
    actor: Actor
    saved: SavedGame
    reason: str
    here: GameRow | None
    rows_here: tuple[ChainRow, ...]
    lost: tuple[ChainRow, ...]

    def do(self) -> PutBack:
        tx, saved, now = self.tx, self.saved, self.server.now()
        game_id = saved_games.free_id(tx, saved.game.id) if self.here is None else self.here.id
        turn, highest = saved.game.turn, 0 if game_id is None else saved_games.highest_turn(tx, game_id)
        next_turn = turn if self._ended else max(turn, highest) + self._step()
        known = saved_games.known_here(tx, saved)
        people = {there: person for there, person in known.items() if not is_former(person.address)}
        before = () if self.here is None else tuple(player_rows.of_game(tx, self.here.id))
        players = self._players_at_end(known) if self._ended else self._players(people, before)
        if {each.person_id for each in players} == {None}:
            raise Gone(_("None of its players are here any more."), remedy=_("Nothing changed."))
        says = tuple(self._says(players, before, people))
        record = LogWriter(saved.game, now, self.server.randomness)
        # A title may have been corrected since because of what it said; the log tells nothing of titles.
        title = saved.game.title if self.here is None else self.here.title
        host_id = self._host(people, players)
        game = saved.game._replace(title=title, host_id=host_id, halted=None, result_seq=None, counted=None)
        former = self._former(people, known)
        for line in self._redacted_since():
            record.add(Kind.REDACTED, None, _BY, {"line": line, "reason": self.reason})
        if not self._ended:
            former += self._go_on(record, players, people, known, next_turn)
            game = game._replace(status=TableStatus.PLAYING, turn=next_turn, box="[]", orders="[]")
        game = game._replace(**record.snapshot())
        if game_id is not None:
            saved_games.set_emails_aside(tx, game_id, saved.game.seq, now, "the game was put back")
        whole = replace(
            saved,
            game=game,
            players=players,
            former_players=tuple(former),
            log=(*saved.log, *record.rows),
            talk=self._talk(),
            # The open turn is asked again: who had answered it is nobody's business, and counts in no figure.
            deadlines=tuple(each for each in saved.deadlines if self._ended or each.turn < turn),
            insiders=tuple((people[there].id, how) for there, how in saved.insiders if there in people),
        )
        game_id = saved_games.replace_all(tx, game_id, whole, now)
        self._note_insiders(game_id, players, people)
        links.revoke_game(tx, self.server.randomness, game_id)
        game = games.read(tx, game_id)
        if not self._ended:
            self._ask(game, players)
        elif game.status == TableStatus.OVER:
            reviews.ask(tx, game_id, now)
        facts = {"turn": turn, "next_turn": next_turn, "ended": self._ended, "reason": self.reason, "by": _BY}
        notify_people(tx, self.server, game, "put_back", facts)
        details: dict[str, Any] = {"turn": turn, "next_turn": next_turn, "entries": self._entries_lost}
        audit.record(tx, self.server, self.actor, Act.PUT_BACK, self.reason, game_id=game_id, **details)
        return PutBack(game_id, game.title, turn, next_turn, saved.game.seq, len(self.rows_here), says)

    def _step(self) -> int:
        """How far the number of the open turn jumps."""
        if self.here is not None:
            return 1
        return LEAP + int.from_bytes(self.server.randomness.bytes(_RANDOM_BYTES))

    @property
    def _ended(self) -> bool:
        return self.saved.game.status in _ENDED

    @property
    def _entries_lost(self) -> int:
        """How many turns are lost. The number of all rows would tell everyone who may read it how many had answered."""
        return sum(each.kind == Kind.ENTRY for each in self.lost)

    def _players(self, people: Here, before: tuple[PlayerRow, ...]) -> tuple[PlayerRow, ...]:
        """The players of the saved game, which goes on: each seat with who plays it now."""
        present = {each.seat: each for each in before}
        players: list[PlayerRow] = []
        for each in self.saved.players:
            now = present.get(each.seat)
            who: dict[str, Any] = {}
            if now is not None:
                who = {"person_id": now.person_id, "bot": now.bot, "name": now.name}
            elif each.person_id is None or each.person_id in people:
                who = {"person_id": _id_here(each, people)}
            else:
                who = {
                    "person_id": None,
                    "bot": self.saved.game.stand_in,
                    "name": bot_name([*self.saved.players, *players]),
                }
            players.append(replace(each, missed=0, **who))
        return tuple(players)

    def _players_at_end(self, known: Here) -> tuple[PlayerRow, ...]:
        """The players of the saved game, which is over: who had each seat then, and by the names they have here."""
        players: list[PlayerRow] = []
        for each in self.saved.players:
            person = None if each.person_id is None else known.get(each.person_id)
            gone = each.person_id is not None and (person is None or is_former(person.address))
            taken = [player.name for player in (*self.saved.players, *players)]
            name = former_name(taken) if gone else each.name
            players.append(replace(each, missed=0, person_id=None if person is None else person.id, name=name))
        return tuple(players)

    def _host(self, people: Here, players: tuple[PlayerRow, ...]) -> int:
        if self.here is not None:
            return self.here.host_id
        if self.saved.game.host_id in people:
            return people[self.saved.game.host_id].id
        return next(each.person_id for each in players if each.person_id is not None)

    def _go_on(
        self, record: LogWriter, players: tuple[PlayerRow, ...], people: Here, known: Here, next_turn: int
    ) -> list[FormerPlayerRow]:
        """The rows by which the saved log goes on: who plays, that it is not stopped, and which turn is asked.

        Returns the players who had a seat until then.
        """
        why, former = {"reason": self.reason}, list[FormerPlayerRow]()
        for before, now in zip(self.saved.players, players, strict=True):
            if _changed(before, now, people):
                who = {"player": "person"} if now.bot is None else {"player": "bot", "bot": now.bot}
                record.add(Kind.SEATED, now.seat, _BY, who | why)
                assert now.seat is not None
                sitter = _sitter(before, people, known)
                former.append(
                    FormerPlayerRow(0, now.seat, record.seq, next_turn, self._lines_before(now.seat), **sitter)
                )
        if self.saved.game.status == TableStatus.FROZEN:
            record.add(Kind.UNFROZEN, None, _BY, why)
        back: dict[str, Any] = {"from": self.saved.game.turn, "turn": next_turn} | why
        record.add(Kind.REWOUND, None, _BY, back | {"put_back": True, "entries_lost": self._entries_lost})
        return former

    def _former(self, people: Here, known: Here) -> list[FormerPlayerRow]:
        """The former players of the saved game, by the names they have here if they are known here."""
        here = [] if self.here is None else player_rows.former_of_game(self.tx, self.here.id)
        named = {(each.seat, each.seq): {"name": each.name} for each in here}
        return [
            replace(each, **_sitter(each, people, known) | named.get((each.seat, each.seq), {}))
            for each in self.saved.former_players
        ]

    def _lines_before(self, seat: int) -> int:
        """The lines of talk until the player of a seat left it, after the game was saved: later ones are their successor's."""
        former = [] if self.here is None else player_rows.former_of_game(self.tx, self.here.id)
        later = (each.lines for each in former if each.seat == seat and each.seq > self.saved.game.seq)
        lines = len(self._talk())
        return min(next(later, lines), lines)

    def _talk(self) -> tuple[ChainRow, ...]:
        """What was said: as it is here, if that begins as it was saved; what was taken away here stays away."""
        here = self._talk_here()
        if [each.hash for each in here[: len(self.saved.talk)]] == [each.hash for each in self.saved.talk]:
            return here
        gone = {each.seq for each in here if each.body is None}
        return tuple(replace(each, body=None, nonce=None) if each.seq in gone else each for each in self.saved.talk)

    def _talk_here(self) -> tuple[ChainRow, ...]:
        return () if self.here is None else tuple(talk.chain(self.tx, self.here.id, self.here.key))

    def _redacted_since(self) -> list[int]:
        """The lines of talk whose text was taken away after the game was saved."""
        redacted = {json_body_of(each)["line"] for each in self.saved.log if each.kind == Kind.REDACTED}
        return [each.seq for each in self._talk_here() if each.body is None and each.seq not in redacted]

    def _note_insiders(self, game_id: int, players: tuple[PlayerRow, ...], people: Here) -> None:
        """Who had a seat when the game was saved knows its hidden side for ever."""
        sit = {each.person_id for each in players}
        for before in self.saved.players:
            person_id = _id_here(before, people)
            if person_id is not None and person_id not in sit:
                insiders.note(self.tx, game_id, person_id, Insight.SAT)

    def _ask(self, game: GameRow, players: tuple[PlayerRow, ...]) -> None:
        """Ask the open turn again, with full time."""
        now, asked = self.server.now(), position_of(self.tx, game).open()
        deadlines.ask(self.tx, game.id, game.turn, asked, now)
        emails = [
            outbox.NewEmail(each.person_id, EmailKind.TURN, game.id, game.seq, each.seat, game.turn)
            for each in players
            if each.seat in asked and each.person_id is not None
        ]
        outbox.queue(self.tx, emails, now)

    def _says(self, players: tuple[PlayerRow, ...], before: tuple[PlayerRow, ...], people: Here) -> Iterator[str]:
        """Lines about what would be lost, and about seats that change hands."""
        names = {each.seat: isolate(each.name) for each in (before or players)}
        entries = [json_body_of(each) for each in self.lost if each.kind == Kind.ENTRY]
        for body in entries[:MOST_LISTED]:
            deciders = sorted({seat for seat, _choice in body["entry"]["choices"]} - {*body["entry"]["alone"]})
            if deciders:
                yield f"Lost: turn {body['turn']}, decided by {', '.join(names[seat] for seat in deciders)}."
        if len(entries) > MOST_LISTED:
            yield f"Lost: {len(entries) - MOST_LISTED} more turns."
        sealed = sum(each.kind == Kind.SEALED for each in self.lost)
        if sealed:
            yield f"Lost: {sealed} sealed {'choice' if sealed == 1 else 'choices'}."
        if not self._ended and self.saved.game.box != "[]":
            yield "The sealed choices of the open turn are asked again."
        for there, now in zip(self.saved.players, players, strict=True):
            if _changed(there, now, people):
                player = "a bot" if now.person_id is None else isolate(now.name)
                yield f"Seat {(now.seat or 0) + 1}: {player} plays on in place of {isolate(there.name)}."
        if self.here is None and not self._ended:
            yield (
                "The game is gone here, so nobody knows how far it had got: its turn numbers jump by"
                f" {LEAP} and a random number. If it had ended, its secret is public and its luck is known: then don't restore it."
            )


def _lock(tx: Tx, key: str) -> GameRow | None:
    """The game here, locked once the acts of its players that are under way are done."""
    row = tables.by_key(tx, key)
    if row is None:
        return None
    people = {each.person_id for each in player_rows.of_game(tx, row.id) if each.person_id is not None}
    for person_id in sorted(people):
        revocations.begin(tx, Holder(person_id=person_id))
    return games.lock(tx, row.id)


def _lost(saved: SavedGame, rows_here: tuple[ChainRow, ...]) -> tuple[ChainRow, ...]:
    """The rows of the log here that the saved game does not have."""
    saved_hashes = {each.hash for each in saved.log}
    return tuple(each for each in rows_here if each.hash not in saved_hashes)


def _must_be_possible(saved: SavedGame, here: GameRow | None) -> None:
    game = saved.game
    if game.started_at is None or not saved.log:
        raise BadInput(
            _("This table hadn't started when it was saved."), remedy=_("There is nothing to restore. Start a new one.")
        )
    if any(is_guest(person.mailbox) for person in saved.people.values()):
        raise BadInput(_("This is a demo."), remedy=_("There is nothing to restore. Its guest can start another."))
    if isinstance(rules_of(game._replace(halted=None)), Away):
        raise Gone(
            _("The rules of %(kind)s aren't on this server.", kind=game.kind),
            remedy=_("Nothing changed. Install them, then restore the game."),
        )
    if here is not None and here.status in _ENDED and game.status in _RUNNING:
        raise Gone(
            _("The game is over here."),
            why=_("Its secret is public, so anyone could work out all further luck."),
            remedy=_("The same people can start a new table."),
        )


def _must_lose_nothing(
    saved: SavedGame, here: GameRow | None, rows_here: tuple[ChainRow, ...], lost: tuple[ChainRow, ...]
) -> None:
    """Refuse where rows would be lost, or nothing is missing here."""
    if lost:
        raise Forbidden(
            _(
                "The game here has gone on since: %(lost)s of its %(rows)s rows would be lost.",
                lost=len(lost),
                rows=len(rows_here),
            ),
            why=_("`--dry-run` with `--replace` lists the choices."),
            remedy=_(
                "Nothing changed. If its log is sound, go back with `pbem table rewind`, which keeps it. Otherwise use --replace."
            ),
        )
    if here is not None and rows_here == saved.log:
        raise Forbidden(
            _("The game here already has every saved row."),
            remedy=_("Nothing changed. `pbem rebuild` restores a lost snapshot; --replace restores the game anyway."),
        )


def _sitter(player: PlayerRow | FormerPlayerRow, people: Here, known: Here) -> dict[str, Any]:
    """Who a player was, for the turns they played: one who has left for good since has no name."""
    gone = player.person_id is not None and player.person_id not in people
    return {"person_id": _id_here(player, known), "name": NAME if gone else player.name}


def _id_here(player: PlayerRow | FormerPlayerRow, people: Here) -> int | None:
    """The id of a saved player here; None for a bot, and for one who is not here any more."""
    person = None if player.person_id is None else people.get(player.person_id)
    return None if person is None else person.id


def _changed(before: PlayerRow, now: PlayerRow, people: Here) -> bool:
    """Whether another player has a seat now."""
    return (_id_here(before, people), before.bot) != (now.person_id, now.bot)
