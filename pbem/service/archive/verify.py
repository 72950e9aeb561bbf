"""Whether the file of a finished game is the game that was played: its chain, its facts, its luck and its talk.

It needs no server, and no trust in the one that the file came from. Nothing is changed. The file comes from anywhere: whoever
shows what was found on a page has it checked by `inspection`, which bears a file that was made to do harm.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from engine.decisions import Refused
from engine.game import Game, load, names
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput, Unplayable
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.plugins import offers
from pbem.service.archive.check_log import Check, Replay, Wrong
from pbem.service.archive.export import Export
from pbem.service.tables import talk

Progress = Callable[[int], None]
"""Is told how many more rows were read."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found about one game. `made_again` is how many of its entries were played again and came out the same."""

    game_id: int | None
    key: str
    title: str
    rows: int
    entries: int
    made_again: int
    wrongs: tuple[Wrong, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.wrongs


def of_file(told: Export, printed: Collection[str] = (), progress: Progress = lambda _: None) -> tuple[Report, Replay]:
    """What was found about a game in a file, and its log as it was read; `printed` are heads that stood in mails."""
    reading = Replay(_rules(told.kind), told.secret)

    def read() -> Iterator[hash_chain.Row]:
        for each in told.log:
            reading.read(each)
            progress(1)
            yield each

    try:
        found = hash_chain.verify(read(), game=told.key, head=told.head, printed=printed)
    except Unplayable as failed:
        # Whoever wrote the file may have meant the rules to fail.
        raise BadInput(_("This file cannot be checked here."), why=failed.what) from failed
    reading.end()
    wrongs = [*of_chain(found), *reading.wrongs, *_of_agreement(told, reading)]
    wrongs += of_talk(talk.check(told.talk, told.key), reading, found.rows)
    return Report(None, told.key, told.kind, found.rows, reading.entries, reading.made_again, tuple(wrongs)), reading


class Verdict(StrEnum):
    """What came of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not reached"
    """The log cannot be read to its end, or was written by other rules."""


def verdicts(told: Export, report: Report, reading: Replay) -> dict[Check, Verdict]:
    """What came of each check of a file. One that found nothing has passed only if it saw everything."""
    failed = {each.check for each in report.wrongs}
    whole = reading.dealt and not reading.broken and report.rows == len(told.log)
    unseen = set[Check]() if whole else {Check.FACTS, Check.CHOICES, Check.LUCK, Check.BESIDE}
    if not reading.made_again:
        unseen.add(Check.CHOICES)

    def of(check: Check) -> Verdict:
        if check in failed:
            return Verdict.FAILED
        return Verdict.NOT_REACHED if check in unseen else Verdict.PASSED

    return {check: of(check) for check in Check}


def of_chain(found: hash_chain.ChainCheck) -> Iterator[Wrong]:
    """What is wrong with a chain."""
    yield from (Wrong(flaw.seq, Check.CHAIN, flaw.says) for flaw in found.flaws)
    yield from (
        Wrong(0, Check.CHAIN, f"no row has the head {head}, which is said to have stood in a mail")
        for head in found.missing
    )


def of_talk(said: hash_chain.ChainCheck, reading: Replay, last: int) -> Iterator[Wrong]:
    """What is wrong with what was said at a table; a line may be gone where the log says why."""
    yield from (Wrong(flaw.seq, Check.TALK, f"what was said at the table: {flaw.says}") for flaw in said.flaws)
    for line in said.redacted:
        if line not in reading.redacted:
            says = f"line {line} of what was said at the table has lost its text, and no row says why"
            yield Wrong(last, Check.TALK, says)


def _of_agreement(told: Export, reading: Replay) -> Iterator[Wrong]:
    """What the file says beside its log must be what the log began with, and how it ended."""
    if not reading.dealt:
        yield Wrong(0, Check.FACTS, "the log has no beginning")
        return
    agreed = reading.began
    pairs = {
        "kind": (told.kind, agreed["kind"]),
        "seats": (told.seats, agreed["seats"]),
        "options": (dict(told.options), agreed["options"]),
        "commitment": (told.commitment, agreed["commitment"]),
        "words": (list(told.words), list(agreed["words"])),
        "seating": (list(told.seating), list(agreed["seating"])),
    }
    if not reading.broken:
        pairs["status"] = (told.status, reading.status)
    for name, (here, there) in pairs.items():
        if here != there:
            yield Wrong(1, Check.BESIDE, f"the file says otherwise than its log about the {name}")


def _rules(kind: str) -> Game[object]:
    if kind not in names():
        # A process that checks a file has read no settings.
        offers.offer_once()
    try:
        return load(kind)
    except Refused as refused:
        raise BadInput(
            speech.render(refused.text),
            remedy=_("A newer version of this software may know the game that is in the file."),
        ) from refused
