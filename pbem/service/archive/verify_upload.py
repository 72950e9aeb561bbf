"""A file from anywhere, checked in a process of its own, and what was found in a form that a page can show.

The rules of a game trust their own log. A file that was made to do harm could have them count for hours or fill the
memory, so it is read where neither hurts: in a process with little of both, without our settings and keys, and one at a
time. `python -m pbem.service.archive.verify_upload` is that process; it knows no database.
"""

import json
import logging
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.chance import Derived, derive
from pbem import logs
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput, TooMany
from pbem.i18n.speech import gettext as _
from pbem.service.archive import export, verify
from pbem.service.archive.check_log import Check, Replay, Wrong
from pbem.service.archive.verify import Verdict
from pbem.service.tables.start import SEATING

MOST_BYTES: Final = 5 * 2**20
"""The longest game of ours has some hundred kilobytes."""

MOST_SECONDS: Final = 20
MOST_MEMORY: Final = 2**30

MOST_DRAWN: Final = 600
"""So many numbers are explained one by one; those after them are checked like them."""

_ONE_AT_A_TIME: Final = threading.Lock()


@dataclass(frozen=True, slots=True)
class Step:
    """How one number came about. `number` is None where the word was passed over."""

    block: int
    place: int
    word: int
    bound: int
    number: int | None


@dataclass(frozen=True, slots=True)
class Luck:
    """What was drawn in one entry, step by step; entry None is the drawing of the seats."""

    entry: int | None
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a file. `places` are the ranking as the facts give it: place, seat, score.

    `head` is the hash of the last entry, as the last mails about the game have it. `said` is how many lines of talk there are.
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
    said: int
    checks: tuple[tuple[Check, Verdict], ...]
    wrongs: tuple[Wrong, ...]
    places: tuple[tuple[int, int, int], ...]
    luck: tuple[Luck, ...]
    untold: int
    """Numbers that were checked and are not explained."""


def inspect(text: str) -> Found:
    """Check the file of a game that somebody has sent; refused if it is none, or takes more than any game of ours."""
    if len(text.encode()) > MOST_BYTES:
        raise BadInput(
            _("This file is too large."),
            why=_("%(value)s MB are the most that a page checks.", value=MOST_BYTES // 2**20),
        )
    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise TooMany(
            _("Another file is being checked just now."),
            why=_("Only one is checked at a time."),
            remedy=_("Please send yours again in a minute."),
        )
    try:
        answer = _asked(text)
    finally:
        _ONE_AT_A_TIME.release()
    if "refused" in answer:
        raise BadInput(*answer["refused"][:1], why=answer["refused"][1], remedy=answer["refused"][2])
    return _read(answer)


def main() -> None:
    """Read a file from the input, and say what is found in it; with little time and memory."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    # The output is the answer; whatever is to be said beside it goes elsewhere.
    logs.configure(sys.stderr, logging.WARNING)
    try:
        answer: Mapping[str, Any] = _written(_found(sys.stdin.read()))
    except BadInput as refused:
        answer = {"refused": [refused.what, refused.why, refused.remedy]}
    json.dump(answer, sys.stdout)


def _asked(text: str) -> dict[str, Any]:
    """What the other process says."""
    # Nothing of our environment: our keys stand in it, and what is read there comes from anybody.
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "pbem.service.archive.verify_upload"]
    try:
        done = subprocess.run(  # noqa: S603 - our own module; what comes from elsewhere is only read
            command, input=text.encode(), capture_output=True, env=environment, timeout=3 * MOST_SECONDS, check=True
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        raise BadInput(
            _("This file cannot be checked here."),
            why=_("It takes more time or memory than any game of ours."),
            remedy=_("With the program itself you can check it on a machine of your own: pbem verify FILE."),
        ) from error
    return answer


def _found(text: str) -> Found:
    told = export.read(text)
    report, reading = verify.of_file(told)
    luck = list(_luck(reading, told.seats)) if reading.seed is not None else []
    shown, steps = list[Luck](), 0
    for each in luck:
        if steps + len(each.steps) > MOST_DRAWN:
            break
        shown.append(each)
        steps += len(each.steps)
    return Found(
        key=told.key,
        kind=told.kind,
        status=told.status,
        seats=told.seats,
        rows=report.rows,
        entries=report.entries,
        made_again=report.made_again,
        head=hash_chain.fingerprint(reading.entry_head),
        commitment=told.commitment,
        secret=told.secret.hex(),
        words=told.words,
        seating=told.seating,
        said=len(told.talk),
        checks=tuple(verify.verdicts(told, report, reading).items()),
        wrongs=report.wrongs,
        places=tuple(_places(reading)),
        luck=tuple(shown),
        untold=sum(len(each.steps) for each in luck[len(shown) :]),
    )


def _luck(reading: Replay, seats: int) -> Iterator[Luck]:
    """Every number drawn, derived from the seed once more; what the log says of it was compared when it was read."""
    assert reading.seed is not None
    yield Luck(None, tuple(map(_step, derive(reading.seed, SEATING, range(seats, 1, -1)))))
    for number, drawn in reading.drawn:
        if drawn:
            yield Luck(number, tuple(map(_step, derive(reading.seed, number, (bound for bound, _ in drawn)))))


def _step(derived: Derived) -> Step:
    return Step(*derived)


def _places(reading: Replay) -> Iterator[tuple[int, int, int]]:
    if reading.broken or not reading.dealt:
        return
    standing, place = reading.rules.standing(reading.at.state), 1
    for tied in standing.ranking:
        yield from ((place, seat, standing.scores[seat]) for seat in tied)
        place += len(tied)


def _written(found: Found) -> dict[str, Any]:
    fields = {name: getattr(found, name) for name in Found.__slots__}
    # A word has 64 bits, which JSON has no number for in every language; here both ends are ours.
    fields["wrongs"] = [(wrong.seq, wrong.check, wrong.says) for wrong in found.wrongs]
    fields["luck"] = [
        (each.entry, [(s.block, s.place, s.word, s.bound, s.number) for s in each.steps]) for each in found.luck
    ]
    return fields


def _read(answer: Mapping[str, Any]) -> Found:
    fields = dict(answer)
    fields["words"], fields["seating"] = tuple(answer["words"]), tuple(answer["seating"])
    fields["places"] = tuple((place, seat, score) for place, seat, score in answer["places"])
    fields["wrongs"] = tuple(Wrong(seq, Check(check), says) for seq, check, says in answer["wrongs"])
    fields["checks"] = tuple((Check(check), Verdict(verdict)) for check, verdict in answer["checks"])
    fields["luck"] = tuple(Luck(entry, tuple(Step(*step) for step in steps)) for entry, steps in answer["luck"])
    return Found(**fields)


if __name__ == "__main__":
    main()
