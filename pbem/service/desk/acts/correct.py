"""Correcting a table's settings or a player's name, and redacting its talk.

Options of a running game cannot be corrected, because every position since follows from them. Before the start all can;
players are told and may leave. Of a redacted line the text goes; that it was said stays, and so do the hashes.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from engine.decisions import Refused
from engine.game import Game
from engine.options import Number, OptionValue
from engine.readings import number_in
from pbem.domain.acts import Act
from pbem.domain.deleted_people import PersonName
from pbem.domain.errors import BadInput, Gone, NotFound, quoted
from pbem.domain.missed_turns import FEWEST, MOST, Successor
from pbem.domain.pace import parse_pace
from pbem.domain.states import TableStatus
from pbem.domain.user_text import isolate, parse_name, parse_title
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.mail.write import words
from pbem.service.absence.seats import name_at
from pbem.service.archive import ratings
from pbem.service.clocks import pauses
from pbem.service.desk.acts.perform import ActResult, Context, TableAct
from pbem.service.play import move
from pbem.service.play.log import Kind
from pbem.service.play.rules import rules_of
from pbem.service.tables import talk
from pbem.store import games, players as player_rows, tables, talk as talk_rows
from pbem.store.games import GameRow

WHAT: Final = ("name", "title", "pace", "missed_limit", "successor", "option", "result")
"""What can be corrected: a player's name, the table's settings, and the result that counts for ratings."""


@dataclass(frozen=True)
class Correct(TableAct):
    """Correct one thing of `WHAT`: an option is written as on pages, or as `name=value`.

    A result is written as the places of the seats in their order, such as `2 1 1`, or as `none` if it shall not count: it
    concerns the ratings alone, and the game stays as it was played. A name needs a seat, or the name of a former player, who keeps no seat.
    """

    kind = Act.CORRECT
    what: str
    to: str
    seat: int | None = None
    former: str = ""

    def do(self, context: Context) -> ActResult:
        row = games.lock(context.tx, self.game_id)
        if self.what == "result":
            return self._result(context, row)
        if row.status not in (TableStatus.OPEN, TableStatus.PLAYING):
            raise Gone(_("Only an open table or a game in progress can be corrected."), remedy=_("Nothing changed."))
        if self.what == "name":
            return self._former_name(context, row) if self.former else self._name(context, row)
        before, now, values = _parse_correction(row, self.what, self.to)
        if before == now:
            raise Gone(_("It already says that."), remedy=_("Nothing changed."))
        tables.change_game(context.tx, row.id, **values)
        # A title may hold a person's name; the log of a game holds no names.
        values_in_log: dict[str, Any] = {} if self.what == "title" else {"before": before, "now": now}
        if row.status == TableStatus.PLAYING:
            row = context.note(games.read(context.tx, row.id), Kind.CORRECTED, what=self.what, **values_in_log)
        row = games.read(context.tx, row.id)
        if self.what == "pace" and row.status == TableStatus.PLAYING:
            # One email gives both the correction and the new deadline.
            facts = {"reason": context.reason, "by": context.by, "of": self.what, "before": before, "now": now}
            pauses.announce(context.tx, context.server, row, "corrected", facts)
        else:
            context.tell_players(row, "corrected", of=self.what, before=before, now=now)
        return ActResult(
            (self._says(before, now, rules_of(row)),),
            details={"before": before} | ({} if self.what == "title" else {"to": now}),
            undo=Correct(self.game_id, self.what, before),
        )

    def _name(self, context: Context, row: GameRow) -> ActResult:
        players = player_rows.of_game(context.tx, row.id)
        player = next((player for player in players if player.seat is not None and player.seat == self.seat), None)
        if player is None or self.seat is None:
            raise BadInput(_("Whose name?"), why=_("A player's name can only be corrected during a game."))
        name = name_at(context.tx, row.id, self.seat, player.person_id, parse_name(self.to))
        tables.change_player(context.tx, row.id, self.seat, name=name)
        row = context.note(row, Kind.CORRECTED, self.seat, what="name")
        context.tell_players(row, "corrected", of="name", before=player.called, now=PersonName(player.person_id, name))
        return ActResult(
            (self._says(player.name, name, rules_of(row)),), undo=Correct(self.game_id, "name", player.name, self.seat)
        )

    def _former_name(self, context: Context, row: GameRow) -> ActResult:
        former = player_rows.former_of_game(context.tx, row.id)
        known = next((each for each in former if each.name == self.former), None)
        if known is None:
            raise NotFound(
                _("No former player at this table is called %(name)s.", name=quoted(self.former)),
                remedy=_("Nothing changed."),
            )
        name = name_at(context.tx, row.id, None, known.person_id, parse_name(self.to))
        player_rows.rename_former(context.tx, row.id, known.name, name)
        row = context.note(row, Kind.CORRECTED, known.seat, what="name")
        context.tell_players(
            row,
            "corrected",
            of="name",
            before=PersonName(known.person_id, known.name),
            now=PersonName(known.person_id, name),
        )
        return ActResult(
            (self._says(known.name, name, rules_of(row)),), undo=Correct(self.game_id, "name", known.name, former=name)
        )

    def _result(self, context: Context, row: GameRow) -> ActResult:
        ranks = _parse_ranks(self.to, row.seats)
        before = ratings.written_ranks(ratings.ranks_of(context.tx, row))
        now = ratings.written_ranks(ranks)
        if before == now:
            raise Gone(_("It already says so."), remedy=_("Nothing changed."))
        ratings.correct(context.tx, context.server, row, ranks)
        row = context.note(row, Kind.CORRECTED, what="result", before=before, now=now)
        context.tell_players(row, "corrected", of="result", before=before, now=now)
        return ActResult(
            (self._says(before, now, rules_of(row)), _("All ratings since then are worked out again.")),
            details={"before": before, "to": now},
            undo=Correct(self.game_id, "result", before),
        )

    def _says(self, before: str, now: str, rules: Game[Any]) -> str:
        """Old and new value, as players read them."""
        facts = words.correction_in_words({"what": "corrected", "of": self.what, "before": before, "now": now}, rules)
        return _("From “%(before)s” to “%(now)s”.", before=facts["before"], now=facts["now"])

    def audit_details(self) -> dict[str, Any]:
        # Names stay out of the audit; that one was corrected is enough.
        return {"what": self.what, "seat": self.seat}


@dataclass(frozen=True)
class Redact(TableAct):
    """Take the text of one line of a table's talk away for good."""

    kind = Act.REDACT
    line: int

    def do(self, context: Context) -> ActResult:
        row = games.lock(context.tx, self.game_id)
        redacted = talk_rows.line(context.tx, row.id, row.key, self.line)
        if redacted is None:
            raise NotFound(_("There is no such message at that table."), remedy=_("Nothing changed."))
        if redacted.text is None:
            raise Gone(_("This message has already been removed."), remedy=_("Nothing changed."))
        talk.redact(context.tx, row.id, self.line)
        row = context.note(row, Kind.REDACTED, redacted.seat, line=self.line)
        players = player_rows.of_game(context.tx, row.id)
        player = next(player for player in players if player.seat == redacted.seat)
        who = redacted.who(player.name)
        author = redacted.person_id if redacted.earlier else player.person_id
        context.tell_players(row, "redacted", who=PersonName(author, who))
        return ActResult(
            (
                _("%(who)s said: “%(text)s”", who=isolate(who), text=isolate(redacted.text)),
                _("The text is deleted for good. Emails already sent with it can't be recalled."),
            )
        )


def _parse_correction(row: GameRow, what: str, to: str) -> tuple[str, str, dict[str, Any]]:
    """Old and new value as text, and the changed columns."""
    match what:
        case "title":
            title = parse_title(to) or rules_of(row).title
            return row.title, title, {"title": title}
        case "pace":
            pace = str(parse_pace(to))
            return row.pace, pace, {"pace": pace}
        case "missed_limit":
            most_missed = number_in(to)
            if most_missed is None or not FEWEST <= most_missed <= MOST:
                raise BadInput(
                    _("Choose between %(fewest)s and %(most)s missed turns.", fewest=FEWEST, most=MOST),
                    why=_("Not %(to)s.", to=quoted(to)),
                )
            return str(row.missed_limit), str(most_missed), {"missed_limit": most_missed}
        case "successor":
            if to not in set(Successor):
                raise BadInput(
                    _("%(to)s can't take over a seat.", to=quoted(to)), why=_("Choose a substitute or a bot.")
                )
            return row.successor, to, {"successor": to}
        case "option":
            return _option(row, to)
    raise BadInput(
        _("%(what)s can't be corrected.", what=quoted(what)),
        remedy=_("You can choose: %(list)s.", list=", ".join(WHAT)),
    )


def _parse_ranks(to: str, seats: int) -> dict[int, int] | None:
    """The places by seat; None for a result that shall not count. Raises BadInput."""
    words = to.replace(",", " ").split()
    if words == [ratings.NO_RESULT]:
        return None
    if len(words) != seats or not all(1 <= (number_in(word) or 0) <= seats for word in words):
        raise BadInput(
            _("%(to)s isn't a result of this game.", to=quoted(to)),
            why=_("It needs a place from 1 to %(seats)s for each seat, such as “2 1 1” for three seats.", seats=seats),
            remedy=_("Write the places in the order of the seats, or “none” if the game doesn't count."),
        )
    return ratings.read_ranks(" ".join(words))


def _option(row: GameRow, to: str) -> tuple[str, str, dict[str, Any]]:
    if row.status != TableStatus.OPEN:
        raise Gone(
            _("The game started with this variant."),
            why=_("Every turn since then depends on it."),
            remedy=_("Close the table, and start a new one with the same people."),
        )
    rules, options = rules_of(row), json.loads(row.options)
    name, value = _parse_option(rules, to)
    try:
        settled = rules.settle(row.seats, options | {name: value})
    except Refused as refused:
        raise move.refusal(refused, rules) from refused
    return f"{name}={options[name]}", f"{name}={settled[name]}", {"options": json.dumps(settled, sort_keys=True)}


def _parse_option(rules: Game[Any], to: str) -> tuple[str, OptionValue]:
    """An option and its value, as written on pages or by programs."""
    teller = speech.teller(rules)
    called, _sign, value_text = (part.strip() for part in to.replace(":", "=", 1).partition("="))
    for option in rules.options:
        if called.casefold() not in (option.name, teller(option.called).casefold()):
            continue
        if isinstance(option, Number):
            number = number_in(value_text)
            return option.name, value_text if number is None else number
        spoken = {teller(words).casefold(): value for value, words in option.spoken}
        return option.name, spoken.get(value_text.casefold(), value_text)
    raise BadInput(
        _("This game has no variant %(name)s.", name=quoted(called)),
        remedy=_("You can choose: %(list)s.", list=", ".join(teller(option.called) for option in rules.options)),
    )
