"""Recordings: what a release made of a game, kept so that the next release can be compared with it.

The log has every choice, every fact and every number drawn, so these are compared with the log itself. What it does not
have, what seats were offered, knew and had scored, is in the recording: an imprint after each entry. Each reading of a whole log
can make one: in `pbem replay`, in the daily check, at the start of a server. Making a move costs nothing more.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from engine.imprint import SIZE, changed, imprint
from engine.rulings import Part, allowed
from pbem.domain.hash_chain import Row
from pbem.service.archive.check_log import NONSENSE, Check, LogReader, Problem
from pbem.service.play.log import Kind
from pbem.store.recordings import RecordingRow


class What(StrEnum):
    """The parts of a game in which two releases can differ."""

    RULES = "rules"
    FACTS = "facts"
    CHOICES = "choices"
    DRAWS = "draws"
    SNAPSHOT = "snapshot"
    OFFERS = "offers"
    VIEWS = "views"
    SCORES = "scores"


class Difference(NamedTuple):
    """A difference between what a game was and what the code at hand makes of it, with the first row that shows it."""

    row: int
    turn: int | None
    what: What
    says: str

    def __str__(self) -> str:
        return f"{self.where}: {self.says}"

    @property
    def where(self) -> str:
        """Where and in what they differ, without the reason, which may reveal a hidden card."""
        row = f"row {self.row}" if self.turn is None else f"turn {self.turn}, row {self.row}"
        return f"{row}, {self.what}"


_WHAT: Final = {
    Check.FACTS: What.FACTS,
    Check.CHOICES: What.CHOICES,
    Check.LUCK: What.DRAWS,
    Check.BESIDE: What.SNAPSHOT,
}
_SAYS: Final = {
    Part.OFFERS: "the seats' choices differ from what they were offered",
    Part.VIEWS: "the seats' views differ from what they were told",
    Part.SCORES: "the scores or ranks differ from those that were shown",
}


@dataclass(slots=True)
class Recorder:
    """Takes the imprint of a game after each entry, while a reader reads its log."""

    reader: LogReader | None = None
    imprints: bytearray = field(default_factory=bytearray)
    rows: list[int] = field(default_factory=list)
    """The row of each imprint."""
    turns: dict[int, int] = field(default_factory=dict)
    """The turn that was open when a row was written, by row."""
    _open: int = 0
    _failed: Difference | None = None

    def follow(self, reader: LogReader, row: Row) -> None:
        """Note a row that was just read."""
        self.reader, self.turns[row.seq] = reader, self._open
        if reader.broken or not reader.dealt or not reader.can_play or self._failed is not None:
            return
        self._open = reader.position.turn
        if row.kind == Kind.ENTRY:
            try:
                self.imprints += imprint(reader.rules, reader.position.state, reader.position.views)
                self.rows.append(row.seq)
            except NONSENSE as error:
                says = f"the rules fail: {type(error).__name__}: {error}"[:300]
                self._failed = Difference(row.seq, self.turns[row.seq], What.RULES, says)

    def recording(self, game_id: int, codes: Mapping[str, str]) -> RecordingRow | None:
        """What was recorded, to be kept, with the name of the code for this kind of game; None if there is nothing."""
        reader = self.reader
        if (
            reader is None
            or reader.broken
            or self._failed is not None
            or not self.rows
            or reader.rules.slug not in codes
        ):
            return None
        code = codes[reader.rules.slug]
        return RecordingRow(game_id, reader.seq, code, len(reader.rules.rulings), bytes(self.imprints))

    def differences(self, problems: Iterable[Problem], earlier: RecordingRow | None) -> list[Difference]:
        """The first difference of each part, from the problems of a sound log and from an earlier recording."""
        first: dict[What, Difference] = {}
        for each in (*self._of_log(problems), *(self._of_imprints(earlier) if earlier is not None else ())):
            first.setdefault(each.what, each)
        return sorted(first.values())

    def _of_log(self, problems: Iterable[Problem]) -> Iterator[Difference]:
        if self._failed is not None:
            yield self._failed
        for problem in problems:
            if problem.check in _WHAT:
                yield Difference(problem.seq, self.turns.get(problem.seq), _WHAT[problem.check], problem.says)

    def _of_imprints(self, earlier: RecordingRow) -> Iterator[Difference]:
        """Where the imprints differ, but for what a ruling says that the earlier code did not know."""
        if self.reader is None:
            return
        ruled = allowed(self.reader.rules.rulings, self.reader.version, earlier.rulings)
        for number, row in enumerate(self.rows[: len(earlier.imprints) // SIZE]):
            of_entry = slice(number * SIZE, (number + 1) * SIZE)
            for part in changed(earlier.imprints[of_entry], self.imprints[of_entry]):
                if part not in ruled:
                    yield Difference(row, self.turns[row], What(part), _SAYS[part])
