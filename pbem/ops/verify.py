"""Whether every log is the one that was written, and every game where its log says.

One game after the other is read row by row: the chain of hashes, the replay of facts, the numbers drawn, the choices made
again, and then what is stored beside the log: the snapshot, the kept views, who sits where. Nothing is changed, a running
server is not in the way, and games that are being played meanwhile are seen at one moment.
"""

import json
from collections.abc import Collection, Iterator
from pathlib import Path

from engine import codec
from engine.facts import SPECTATOR
from pbem.domain import hash_chain
from pbem.domain.errors import BadInput
from pbem.plugins.away import Away
from pbem.service.archive import export, verify
from pbem.service.archive.check_log import Check, Replay, Wrong, snapshot, written
from pbem.service.archive.verify import Progress, Report, of_chain, of_talk
from pbem.service.play.rules import rules_of
from pbem.service.tables import talk
from pbem.store import games, log, views
from pbem.store import players as player_rows
from pbem.store.database import Store, Tx
from pbem.store.games import GameRow
from pbem.store.views import ViewRow


def games_to_verify(store: Store, game_id: int | None = None) -> tuple[list[int], int]:
    """The games to check, all or one, and how many rows they have, for showing how far one has come."""
    with store.read() as tx:
        if game_id is not None:
            return [game_id], games.read(tx, game_id).seq
        return games.ids(tx), games.rows(tx)


def verify_games(
    store: Store, game_ids: Collection[int], printed: Collection[str] = (), progress: Progress = lambda _: None
) -> Iterator[Report]:
    """Check games in the database, one after the other; `printed` are heads that stood in mails."""
    for game_id in game_ids:
        with store.read() as tx:
            yield verify_game(tx, game_id, printed, progress)


def verify_game(tx: Tx, game_id: int, printed: Collection[str] = (), progress: Progress = lambda _: None) -> Report:
    """Check one game."""
    row = games.read(tx, game_id)
    rules = rules_of(row)
    if isinstance(rules, Away):
        return _chain_alone(tx, row, printed, progress)
    reading = Replay(rules, row.secret)
    kept = list(views.of_game(tx, game_id))
    wrongs: list[Wrong] = []

    def read() -> Iterator[hash_chain.Row]:
        for each in log.chain(tx, row.id, row.key):
            reading.read(each)
            wrongs.extend(_of_views(reading, kept, each.seq))
            progress(1)
            yield each

    found = hash_chain.verify(read(), game=row.key, head=row.head, printed=printed)
    reading.end()
    wrongs = [*of_chain(found), *reading.wrongs, *wrongs]
    beside = [*_of_row(row, found), *_of_agreement(tx, row, reading), *snapshot(reading, row._asdict())]
    beside += [f"a view of seat {each.seat} is kept for row {each.seq}, which is not there" for each in kept]
    wrongs += [Wrong(row.seq, Check.BESIDE, says) for says in beside]
    wrongs += of_talk(talk.check_rows(tx, row), reading, row.seq)
    return Report(row.id, row.key, row.title, found.rows, reading.entries, reading.made_again, tuple(wrongs))


def _chain_alone(tx: Tx, row: GameRow, printed: Collection[str], progress: Progress) -> Report:
    """Check what can be checked of a game whose rules are not there: that its log is the one that was written."""

    def read() -> Iterator[hash_chain.Row]:
        for each in log.chain(tx, row.id, row.key):
            progress(1)
            yield each

    found = hash_chain.verify(read(), game=row.key, head=row.head, printed=printed)
    wrongs = [*of_chain(found), *(Wrong(row.seq, Check.BESIDE, says) for says in _of_row(row, found))]
    return Report(row.id, row.key, row.title, found.rows, 0, 0, tuple(wrongs))


def verify_file(path: Path, printed: Collection[str] = (), progress: Progress = lambda _: None) -> Report:
    """Check the file of a finished game: needs no server, and no trust in the one that it came from."""
    try:
        size = path.stat().st_size
        text = path.read_text(encoding="utf-8") if size <= export.MOST_BYTES else " " * (export.MOST_BYTES + 1)
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not the file of a game.", remedy="Please take the file as it was downloaded."
        ) from error
    report, _ = verify.of_file(export.read(text), printed, progress)
    return report


def _of_row(row: GameRow, found: hash_chain.ChainCheck) -> Iterator[str]:
    if row.seq != found.rows:
        yield f"the game is stored as having {row.seq} rows, but there are {found.rows}"


def _of_agreement(tx: Tx, row: GameRow, reading: Replay) -> Iterator[str]:
    """What stands beside the log must be what the log began with."""
    if not reading.dealt:
        if row.started_at is not None and not reading.broken:
            yield "the game has begun, but its log has no beginning"
        return
    began = reading.began
    if (row.kind, row.seats, json.loads(row.options)) != (began["kind"], began["seats"], began["options"]):
        yield "the stored game, seats or options are not those that the log began with"
    if row.commitment != began["commitment"]:
        yield "the stored commitment is not the one that the log began with"
    if row.seed != reading.seed:
        yield "the stored seed is not made of the secret and the words"
    players = player_rows.of_game(tx, row.id)
    if [player.word for player in players] != list(began["words"]):
        yield "the stored words are not those that the log began with"
    if [player.seat for player in players] != list(began["seating"]):
        yield "the stored seats are not those that were drawn"
    if row.paused != reading.paused:
        yield f"the game is {'' if row.paused else 'not '}stored as paused, and its log says otherwise"


def _of_views(reading: Replay, kept: list[ViewRow], seq: int) -> Iterator[Wrong]:
    """Kept views of this row, which are what folding gives; those that were looked at are taken off the list."""
    here = [each for each in kept if each.seq == seq]
    for each in here:
        kept.remove(each)
        if reading.broken or not reading.dealt:
            continue
        known = reading.at.views[each.seat if each.seat != SPECTATOR else -1]
        if each.body != written(known) and not _means(reading, each.body, written(known)):
            who = "the spectator" if each.seat == SPECTATOR else f"seat {each.seat}"
            yield Wrong(seq, Check.BESIDE, f"the view kept for {who} at row {seq} is not what it was told")
        if each.turn != reading.at.closed:
            says = f"the view kept at row {seq} is said to be of entry {each.turn}, but is of {reading.at.closed}"
            yield Wrong(seq, Check.BESIDE, says)


def _means(reading: Replay, text: str, said: str) -> bool:
    try:
        return written(codec.loads(reading.rules, text)) == said
    except codec.Malformed:
        return False
