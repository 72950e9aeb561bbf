"""Checking the file of a finished game: its chain, facts, luck and talk.

It needs no server and no trust in the one the file came from, and changes nothing. A file may come from anyone: pages
must check it by `verify_upload`, which withstands hostile files.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from engine.decisions import Refused
from engine.game import Game
from engine.registry import load, names
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput, Unplayable
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.plugins import offers
from pbem.service.archive.check_log import Check, LogReader, Problem
from pbem.service.archive.export import Export
from pbem.service.archive.fates import SealedFate
from pbem.service.tables import talk

Progress = Callable[[int], None]
"""Called with the number of rows just read."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result for one game. `made_again` is the number of entries played again with the same outcome."""

    game_id: int | None
    key: str
    title: str
    rows: int
    entries: int
    made_again: int
    problems: tuple[Problem, ...]
    fates: tuple[SealedFate, ...] = ()
    """What became of the sealed choices that were asked about."""
    bots_again: int = 0
    """The choices that bots made again, the same or a problem."""
    bots_retired: Mapping[str, int] = field(default_factory=dict)
    """The choices that no bot here can make again, by the signature of the bot."""

    @property
    def sound(self) -> bool:
        """Whether there is no problem."""
        return not self.problems


def of_file(
    game: Export,
    printed: Collection[str] = (),
    progress: Progress = lambda _: None,
    sealed: Collection[str] = (),
    *,
    with_bots: bool = False,
) -> tuple[Report, LogReader]:
    """Check a game file; returns the report and the log as read.

    `printed` are heads that were printed in emails, and `sealed` fingerprints of sealed choices to be told about.
    """
    reading = LogReader(_rules(game.kind), game.secret, with_bots)

    def read() -> Iterator[hash_chain.Row]:
        for each in game.log:
            reading.read(each)
            progress(1)
            yield each

    try:
        chain = hash_chain.verify(read(), game=game.key, head=game.head, printed=printed)
    except Unplayable as failed:
        # The file may have been made to crash the rules.
        raise BadInput(_("This file can't be checked here."), why=failed.what) from failed
    reading.end()
    problems = [*of_chain(chain), *reading.problems, *_of_agreement(game, reading)]
    problems += of_talk(talk.check(game.talk, game.key), reading, chain.rows)
    problems += of_fates(reading, sealed)
    fates = tuple(reading.fates.with_fingerprints(sealed))
    counts = chain.rows, reading.entries, reading.made_again
    bots = reading.bots_again, dict(reading.bots_retired)
    return Report(None, game.key, game.kind, *counts, tuple(problems), fates, *bots), reading


class Verdict(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not reached"
    """The log cannot be read to its end, or was written by other rules."""


def verdicts(game: Export, report: Report, reading: LogReader) -> dict[Check, Verdict]:
    """The result of each check of a file. A check passes only if it saw everything."""
    failed = {each.check for each in report.problems}
    whole = reading.dealt and not reading.broken and report.rows == len(game.log)
    unseen = set[Check]() if whole else {Check.FACTS, Check.CHOICES, Check.LUCK, Check.BESIDE}
    if not reading.made_again:
        unseen.add(Check.CHOICES)

    def of(check: Check) -> Verdict:
        if check in failed:
            return Verdict.FAILED
        return Verdict.NOT_REACHED if check in unseen else Verdict.PASSED

    return {check: of(check) for check in Check}


def of_chain(chain: hash_chain.ChainCheck) -> Iterator[Problem]:
    for flaw in chain.flaws:
        yield Problem(flaw.seq, Check.CHAIN, flaw.says)
    for head in chain.missing:
        yield Problem(0, Check.CHAIN, f"no row has the head {head}, which was said to be in an email")


def of_fates(reading: LogReader, sealed: Collection[str]) -> Iterator[Problem]:
    """Fingerprints that no sealed choice has."""
    for fingerprint in reading.fates.missing(sealed):
        yield Problem(0, Check.CHAIN, f"no sealed choice has the fingerprint {fingerprint}")


def of_talk(talk_chain: hash_chain.ChainCheck, reading: LogReader, last: int) -> Iterator[Problem]:
    """The problems of a table's talk; a line's text may be missing if the log says why."""
    for flaw in talk_chain.flaws:
        yield Problem(flaw.seq, Check.TALK, f"table talk: {flaw.says}")
    for line in talk_chain.redacted:
        if line not in reading.redacted:
            says = f"line {line} of the table talk has lost its text, and no row says why"
            yield Problem(last, Check.TALK, says)


def _of_agreement(game: Export, reading: LogReader) -> Iterator[Problem]:
    """The data beside the log must match the log's beginning and end."""
    if not reading.dealt:
        yield Problem(0, Check.FACTS, "the start of the log is missing")
        return
    in_log = {name: reading.began[name] for name in ("kind", "seats", "options", "commitment")}
    in_log |= {
        "rules": reading.version,
        "words": tuple(reading.began["words"]),
        "seating": tuple(reading.began["seating"]),
    }
    if not reading.broken:
        in_log["status"] = reading.status
    for name, value in in_log.items():
        if getattr(game, name) != value:
            yield Problem(1, Check.BESIDE, f"the file contradicts its log about the {name}")


def _rules(kind: str) -> Game[object]:
    if kind not in names():
        # The process that checks a file has not read the settings.
        offers.offer_once()
    try:
        return load(kind)
    except Refused as refused:
        raise BadInput(
            speech.render(refused.text), remedy=_("A newer version of this software may know the game in it.")
        ) from refused
