"""Checking a file from anyone, in a process of its own, with a result that a page can show.

The rules of a game trust their own log. A hostile file could make them compute for hours or fill the memory, so it is
read in a process with little of both, without our settings and keys, and one file at a time. `python -m
pbem.service.archive.verify_upload` is that process; it knows no database.
"""

import json
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from engine.chance import Derived, derive
from pbem import child_process, program_log
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput, TooMany
from pbem.i18n.speech import gettext as _
from pbem.service.archive import export, verify
from pbem.service.archive.check_log import Check, LogReader, Problem
from pbem.service.archive.fates import SHORTEST, Fate, SealedFate, digits_of
from pbem.service.archive.verify import Verdict
from pbem.service.tables.start import SEATING

MOST_BYTES: Final = 5 * 2**20
"""Our longest games have one megabyte."""

MOST_ROWS: Final = 10_000
"""Rows of a log and lines of talk: seven times those of our longest games, and half of the time."""

MOST_ANSWERED: Final = 2**18
"""Characters of a result: ten times an ordinary one."""

NICENESS: Final = 5
"""Pages and moves come first, but a busy machine must still come to it within `MOST_WAIT`."""

MOST_SECONDS: Final = 20
"""Seconds of CPU."""

MOST_WAIT: Final = 60
"""Seconds until a busy machine gives up."""

MOST_MEMORY: Final = 2**30

MOST_DRAWN: Final = 600
"""The most draws explained one by one; all are checked."""

_IS_FINGERPRINT: Final = re.compile(f"[0-9a-f]{{{SHORTEST},64}}")

_ONE_AT_A_TIME: Final = threading.Lock()


class Luck(NamedTuple):
    """The draws of one entry, step by step; entry None is the drawing of seats."""

    entry: int | None
    steps: tuple[Derived, ...]


@dataclass(frozen=True, slots=True)
class UploadReport:
    """The result for a file. `places` is the ranking by the facts: place, seat, score.

    `head` is the hash of the last entry, as printed in the last emails. `lines` counts the talk, `unexplained` the draws that
    were checked but are not in `luck`.
    """

    key: str
    kind: str
    status: str
    seats: int
    rows: int
    entries: int
    made_again: int
    head: str
    commitment: str
    secret: str
    words: tuple[str, ...]
    seating: tuple[int, ...]
    lines: int
    checks: tuple[tuple[Check, Verdict], ...]
    problems: tuple[Problem, ...]
    places: tuple[tuple[int, int, int], ...]
    luck: tuple[Luck, ...]
    unexplained: int
    fates: tuple[SealedFate, ...]


def inspect(text: str, sealed: str = "") -> UploadReport:
    """Check a game file, and say what became of the sealed choice with a fingerprint, if one is given.

    Raises BadInput if it is none or takes too much, TooMany while another is checked or the machine is too busy.
    """
    sealed = digits_of(sealed)
    if sealed and not _IS_FINGERPRINT.fullmatch(sealed):
        raise BadInput(
            _("That isn't the hash of a sealed choice."),
            why=_("A hash has 20 to 64 digits, from 0 to 9 and a to f."),
            remedy=_("Copy it from your receipt, or from your seat's page."),
        )
    if len(text.encode()) > MOST_BYTES:
        raise BadInput(
            _("This file is too large."), why=_("This page checks up to %(value)s MB.", value=MOST_BYTES // 2**20)
        )
    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise TooMany(
            _("Another file is being checked right now."),
            why=_("We check one at a time."),
            remedy=_("Try again in a minute."),
        )
    try:
        answer = _run_process(text, sealed)
    finally:
        _ONE_AT_A_TIME.release()
    if "refused" in answer:
        raise BadInput(*answer["refused"][:1], why=answer["refused"][1], remedy=answer["refused"][2])
    return _read(answer)


def main() -> None:
    """Check a file from standard input with little time and memory, and print the result."""
    child_process.limit(child_process.CPU, MOST_SECONDS)
    child_process.limit(child_process.MEMORY, MOST_MEMORY)
    child_process.give_way(NICENESS)
    # Standard output is for the answer only.
    program_log.configure(sys.stderr, logging.WARNING)
    try:
        answer = json.dumps(asdict(_check(sys.stdin.buffer.read().decode(), sys.argv[1:])))
        if len(answer) > MOST_ANSWERED:
            raise _too_much()
    except BadInput as refused:
        answer = json.dumps({"refused": [refused.what, refused.why, refused.remedy]})
    sys.stdout.write(answer)


def _run_process(text: str, sealed: str) -> dict[str, Any]:
    command = child_process.command("pbem.service.archive.verify_upload", *([sealed] if sealed else []))
    environment = child_process.environment()
    try:
        done = subprocess.run(  # noqa: S603 - our own module; what comes from elsewhere is only read
            command,
            input=text.encode(),
            capture_output=True,
            env=environment,
            timeout=MOST_WAIT,
            check=True,
            start_new_session=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired as late:
        raise TooMany(
            _("Our server is too busy to check it now."),
            why=_("That says nothing about the file."),
            remedy=_("Try again later."),
        ) from late
    except (subprocess.SubprocessError, ValueError) as error:
        raise _too_much() from error
    return answer


def _too_much() -> BadInput:
    return BadInput(
        _("This file can't be checked here."),
        why=_("It takes more time or memory than any real game."),
        remedy=_("You can check it on your own computer: pbem verify FILE."),
    )


def _check(text: str, sealed: Collection[str] = ()) -> UploadReport:
    game = export.read(text, MOST_ROWS)
    report, reading = verify.of_file(game, sealed=sealed)
    luck = list(_luck(reading, game.seats)) if reading.seed is not None else []
    shown, steps = list[Luck](), 0
    for each in luck:
        if steps + len(each.steps) > MOST_DRAWN:
            break
        shown.append(each)
        steps += len(each.steps)
    return UploadReport(
        key=game.key,
        kind=game.kind,
        status=game.status,
        seats=game.seats,
        rows=report.rows,
        entries=report.entries,
        made_again=report.made_again,
        head=hash_chain.fingerprint(reading.entry_head),
        commitment=game.commitment,
        secret=game.secret.hex(),
        words=game.words,
        seating=game.seating,
        lines=len(game.talk),
        checks=tuple(verify.verdicts(game, report, reading).items()),
        problems=report.problems,
        places=tuple(_places(reading)),
        luck=tuple(shown),
        unexplained=sum(len(each.steps) for each in luck[len(shown) :]),
        fates=report.fates,
    )


def _luck(reading: LogReader, seats: int) -> Iterator[Luck]:
    """Every draw, derived from the seed again; the log reader has compared them."""
    assert reading.seed is not None
    yield Luck(None, tuple(derive(reading.seed, SEATING, range(seats, 1, -1))))
    for turn, drawn in reading.drawn:
        if drawn:
            yield Luck(turn, tuple(derive(reading.seed, turn, (bound for bound, _ in drawn))))


def _places(reading: LogReader) -> Iterator[tuple[int, int, int]]:
    if reading.broken or not reading.dealt:
        return
    standing, place = reading.rules.standing(reading.position.state), 1
    for tied in standing.ranking:
        yield from ((place, seat, standing.scores[seat]) for seat in tied)
        place += len(tied)


def _read(answer: Mapping[str, Any]) -> UploadReport:
    fields = dict(answer)
    fields["words"], fields["seating"] = tuple(answer["words"]), tuple(answer["seating"])
    fields["places"] = tuple((place, seat, score) for place, seat, score in answer["places"])
    fields["problems"] = tuple(Problem(seq, Check(check), says) for seq, check, says in answer["problems"])
    fields["checks"] = tuple((Check(check), Verdict(verdict)) for check, verdict in answer["checks"])
    fields["fates"] = tuple(
        SealedFate(shown, seat, turn, seq, Fate(fate), by) for shown, seat, turn, seq, fate, by in answer["fates"]
    )
    fields["luck"] = tuple(Luck(entry, tuple(Derived(*step) for step in steps)) for entry, steps in answer["luck"])
    return UploadReport(**fields)


if __name__ == "__main__":
    main()
