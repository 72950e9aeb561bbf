"""Verifying that every log is unaltered, and every game where its log says.

Each game is read row by row: hash chain, facts, draws and choices, then the data beside the log: snapshot, views and
players. Nothing is changed, a running server is not blocked, and each game is seen at one moment.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import codec
from engine.bots import BOTS
from engine.facts import SPECTATOR
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput
from pbem.domain.missed_turns import FEWEST, MOST
from pbem.domain.pace import read_pace
from pbem.domain.user_text import parse_name, parse_title
from pbem.domain.week import BOUNDS
from pbem.ops.commands.terminal import counted
from pbem.plugins.away import Away
from pbem.service.archive import export, verify
from pbem.service.archive.check_log import Check, LogReader, Problem
from pbem.service.archive.check_snapshot import means, snapshot
from pbem.service.archive.verify import Progress, Report, of_chain, of_fates, of_talk
from pbem.service.play.rules import rules_of
from pbem.service.tables import talk
from pbem.service.tournaments import file as tournament_file
from pbem.store import games, log, players as player_rows, saved_games, talk as talk_rows, views
from pbem.store.database import Store, Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.store.saved_games import SavedGame
from pbem.store.views import ViewRow


def games_to_verify(store: Store, game_id: int | None = None) -> tuple[list[int], int]:
    """The ids of the games to check, all or one, and how many rows they have."""
    with store.read() as tx:
        if game_id is not None:
            return [game_id], games.read(tx, game_id).seq
        return games.ids(tx), games.rows(tx)


def verify_games(
    store: Store,
    game_ids: Collection[int],
    printed: Collection[str] = (),
    progress: Progress = lambda _: None,
    sealed: Collection[str] = (),
    *,
    with_bots: bool = False,
) -> Iterator[Report]:
    """Check games in the database, one after the other; `printed` are heads that were printed in emails."""
    for game_id in game_ids:
        with store.read() as tx:
            yield verify_game(tx, game_id, printed, progress, sealed=sealed, with_bots=with_bots)


def verify_game(
    tx: Tx,
    game_id: int,
    printed: Collection[str] = (),
    progress: Progress = lambda _: None,
    follow: Callable[[LogReader, hash_chain.Row], None] = lambda _reader, _row: None,
    *,
    sealed: Collection[str] = (),
    with_bots: bool = False,
) -> Report:
    """Check one game; `follow` is called after each row that was read, `sealed` are fingerprints of sealed choices."""
    row = games.read(tx, game_id)
    rows = _Rows(
        row,
        player_rows.of_game(tx, game_id),
        log.chain(tx, game_id, row.key),
        talk_rows.chain(tx, game_id, row.key),
        list(views.of_game(tx, game_id)),
    )
    return _verify(rows, printed, progress, follow, sealed, with_bots=with_bots)


def verify_saved(saved: SavedGame) -> Report:
    """Check a game as it was saved, before anything of it is put into a database: also rows that none would keep."""
    # Stopping a table says nothing about its log.
    players = sorted(saved.players, key=lambda each: each.number)
    rows = _Rows(saved.game._replace(halted=None), players, saved.log, saved.talk)
    report = _verify(rows)
    odd = (Problem(saved.game.seq, Check.BESIDE, says) for says in (*saved_games.misfits(saved), *_of_table(saved)))
    return replace(report, problems=(*odd, *report.problems))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of one game, wherever they are. Log and talk are read once."""

    game: GameRow
    players: Sequence[PlayerRow]
    log: Iterable[hash_chain.Row]
    talk: Iterable[hash_chain.Row]
    views: list[ViewRow] = field(default_factory=list)


def _verify(
    rows: _Rows,
    printed: Collection[str] = (),
    progress: Progress = lambda _: None,
    follow: Callable[[LogReader, hash_chain.Row], None] = lambda _reader, _row: None,
    sealed: Collection[str] = (),
    *,
    with_bots: bool = False,
) -> Report:
    row = rows.game
    rules = rules_of(row)
    if isinstance(rules, Away):
        return _chain_alone(rows, printed, progress)
    reading = LogReader(rules, row.secret, with_bots)
    problems: list[Problem] = []

    def read(each: hash_chain.Row) -> None:
        reading.read(each)
        follow(reading, each)
        problems.extend(of_views(reading, rows.views, each.seq))

    found = hash_chain.verify(one_by_one(rows.log, progress, read), game=row.key, head=row.head, printed=printed)
    reading.end()
    problems = [*of_chain(found), *reading.problems, *problems]
    beside = [*_of_row(row, found), *_of_agreement(rows, reading), *snapshot(reading, row._asdict())]
    beside += [f"a view of seat {each.seat} is kept for row {each.seq}, which is not there" for each in rows.views]
    problems += [Problem(row.seq, Check.BESIDE, says) for says in beside]
    problems += of_talk(talk.check(rows.talk, row.key), reading, row.seq)
    problems += of_fates(reading, sealed)
    fates = tuple(reading.fates.with_fingerprints(sealed))
    counts = found.rows, reading.entries, reading.made_again
    bots = reading.bots_again, dict(reading.bots_retired)
    return Report(row.id, row.key, row.title, *counts, tuple(problems), fates, *bots)


def _chain_alone(rows: _Rows, printed: Collection[str], progress: Progress) -> Report:
    """Check the chain only, for a game whose rules are missing."""
    row = rows.game
    found = hash_chain.verify(one_by_one(rows.log, progress), game=row.key, head=row.head, printed=printed)
    problems = [*of_chain(found), *(Problem(row.seq, Check.BESIDE, says) for says in _of_row(row, found))]
    return Report(row.id, row.key, row.title, found.rows, 0, 0, tuple(problems))


def one_by_one(
    rows: Iterable[hash_chain.Row], progress: Progress, read: Callable[[hash_chain.Row], None] = lambda _: None
) -> Iterator[hash_chain.Row]:
    """The rows of a log one after the other, each passed to `read` first and counted."""
    for each in rows:
        read(each)
        progress(1)
        yield each


def verify_file(
    path: Path,
    printed: Collection[str] = (),
    progress: Progress = lambda _: None,
    sealed: Collection[str] = (),
    *,
    with_bots: bool = False,
) -> Report:
    """Check the file of a finished game, without a server and without trusting the one it came from."""
    report, _ = verify.of_file(export.read(_text_of(path)), printed, progress, sealed, with_bots=with_bots)
    return report


def verify_tournament(path: Path) -> list[str] | None:
    """What is wrong in the file of a tournament; None if it's another file."""
    text = _text_of(path)
    return tournament_file.check(text) if tournament_file.is_one(text) else None


def _text_of(path: Path) -> str:
    """The text of a file; of one that is too large, something as long."""
    try:
        size = path.stat().st_size
        return path.read_text(encoding="utf-8") if size <= export.MOST_BYTES else " " * (export.MOST_BYTES + 1)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} isn't a game file.", remedy="Use the file exactly as it was downloaded.") from error


def of_bots(reports: Iterable[Report]) -> str:
    """A sentence about the choices that bots made again, and those that they can't make again."""
    again, retired = 0, Counter[str]()
    for report in reports:
        again += report.bots_again
        retired.update(report.bots_retired)
    lost = "".join(f", {many} not repeatable ({bot})" for bot, many in sorted(retired.items()))
    return f"{counted(again, 'choice')} of bots made again{lost}."


def _of_row(row: GameRow, found: hash_chain.ChainCheck) -> Iterator[str]:
    if row.seq != found.rows:
        yield f"the game is stored with {row.seq} rows, but there are {found.rows}"


def _of_table(saved: SavedGame) -> Iterator[str]:
    """What no table could have agreed, and players and turns that its game could not have."""
    game = saved.game
    try:
        read_pace(game.pace)
    except (BadInput, ValueError):
        yield f"the stored pace {game.pace!r} isn't valid"
    if game.time_off not in BOUNDS:
        yield f"the stored limit for time off, {game.time_off}, is out of range"
    if not FEWEST <= game.missed_limit <= MOST:
        yield f"the stored number of missed turns, {game.missed_limit}, is out of range"
    if game.stand_in not in BOTS:
        yield f"seats would be taken over by {game.stand_in!r}, which isn't a bot"
    for player in saved.players:
        if player.bot is not None and player.bot not in BOTS:
            yield f"seat {player.seat} is said to be played by {player.bot!r}, which isn't a bot"
    names = [*(each.name for each in saved.players), *(each.name for each in saved.former_players)]
    for what, text, parse in (("title", game.title, parse_title), *(("name", name, parse_name) for name in names)):
        try:
            parse(text, stored=True)
        except BadInput as refused:
            yield f"a {what} can't be used: {refused.what}"
    for former in saved.former_players:
        if not (0 <= former.seat < game.seats and 0 < former.seq <= game.seq and 0 <= former.turn <= game.turn):
            yield f"a former player had seat {former.seat} until row {former.seq}, which this game does not have"
    for asked in saved.deadlines:
        if not (0 <= asked.turn <= game.turn and 0 <= asked.seat < game.seats):
            yield f"a deadline is of turn {asked.turn} and seat {asked.seat}, which this game does not have"


def _of_agreement(rows: _Rows, reading: LogReader) -> Iterator[str]:
    """The data beside the log must match the log's beginning."""
    row = rows.game
    if not reading.dealt:
        if row.started_at is not None and not reading.broken:
            yield "the game has begun, but the start of its log is missing"
        return
    began = reading.began
    if (row.kind, row.seats) != (began["kind"], began["seats"]) or not _says(row.options, began["options"]):
        yield "the stored game, seats or options differ from those at the start of the log"
    if row.commitment != began["commitment"]:
        yield "the stored commitment differs from the one at the start of the log"
    if row.seed != reading.seed:
        yield "the stored seed doesn't follow from the secret and the words"
    if [player.word for player in rows.players] != list(began["words"]):
        yield "the stored words differ from those at the start of the log"
    if [player.seat for player in rows.players] != list(began["seating"]):
        yield "the stored seats differ from those that were drawn"
    if row.paused != reading.paused:
        yield f"the game is {'' if row.paused else 'not '}stored as paused, but its log says otherwise"


def _says(text: str, value: object) -> bool:
    """Whether a stored text is the JSON of this value."""
    try:
        return codec.dumps(json.loads(text)) == codec.dumps(value)
    except ValueError:
        return False


def of_views(reading: LogReader, stored: list[ViewRow], seq: int) -> Iterator[Problem]:
    """Stored views of this row must be what folding gives; those checked are removed from the list."""
    here = [each for each in stored if each.seq == seq]
    for each in here:
        stored.remove(each)
        if reading.broken or not reading.dealt:
            continue
        known = reading.position.views[each.seat if each.seat != SPECTATOR else -1]
        if not means(reading.rules, each.body, known):
            who = "the spectator" if each.seat == SPECTATOR else f"seat {each.seat}"
            yield Problem(seq, Check.BESIDE, f"the view kept for {who} at row {seq} is not what it was told")
        if each.turn != reading.position.closed:
            says = f"the view kept at row {seq} is said to be of entry {each.turn}, but is of {reading.position.closed}"
            yield Problem(seq, Check.BESIDE, says)
