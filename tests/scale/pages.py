"""What everyone looks at around the games, and what ticks do with a finished one, as pieces of work among few games or many."""

from functools import partial
from pathlib import Path
from typing import Any, Final

from flask.testing import FlaskClient
from sqlalchemy import Select, delete, func, select, update

from pbem import config
from pbem.domain.states import TableStatus
from pbem.service.archive import dump, game_statistics, ratings
from pbem.service.server import Server
from pbem.service.tables import leaving, start
from pbem.store import public_games
from pbem.store.database import Tx
from pbem.store.database_copy import unhurried
from pbem.store.public_games import Position
from pbem.store.schema import GAME, PROFILE, RATING, RESULT, TOURNAMENT
from pbem.store.sessions import Holder
from pbem.web.app import create_app
from tests.scale.community import Community, copied
from tests.scale.work import Work
from tests.web.browser import HOST, Browser
from tests.web.desk_pages import signed_in

KIND: Final = "bid"

KINDS: Final = (
    "front page",
    "hall",
    "table",
    "profile",
    "statistics",
    "tournaments",
    "tournament",
    "calendar",
    "groups",
    "my pages",
    "open data",
    "ticks",
)
"""Pages whose figures are shown together, by the beginnings of their names."""


def pages(server: Server, community: Community, folder: Path) -> dict[str, Work]:
    """Pages by their names: of everyone, of someone who is signed in and has played most, and answers to programs."""
    app = create_app(server, config.read({"PBEM_DATA_DIR": str(folder), "PBEM_BASE_URL": HOST}))
    stranger, busiest = app.test_client(), Browser(app)
    signed_in(busiest, server, Holder(person_id=community.people[0]))
    over, running = (_public(status) for status in (TableStatus.OVER, TableStatus.PLAYING))
    late = {
        "table": _middle(server, over.where(GAME.c.kind == KIND).order_by(GAME.c.created_at)),
        "game": _middle(server, over.order_by(GAME.c.ended_at)),
        "running": _middle(server, running.order_by(GAME.c.created_at)),
        "profile": _middle(server, select(PROFILE.c.key).order_by(PROFILE.c.key)),
        "tournament": _middle(server, select(TOURNAMENT.c.key).order_by(TOURNAMENT.c.created_at)),
    }
    one = {name: copied(2, key) for name, key in (("profile", community.profile), ("game", community.game))}
    everyones = {
        "front page: page": ("/", "Who joins?"),
        "hall: open": ("/tables?show=open", "Who joins?"),
        "hall: in progress": ("/tables?show=playing", "Player 1"),
        "hall: finished": ("/tables?show=over", "Older"),
        "hall: finished, of a game": (f"/tables?show=over&game={KIND}", "Older"),
        "hall: finished, later": (f"/tables?show=over&after={late['game']}", "Older"),
        "hall: finished, of a game, later": (f"/tables?show=over&game={KIND}&after={late['table']}", "Older"),
        "hall: in progress, later": (f"/tables?show=playing&after={late['running']}", "Player 1"),
        "table: page": (f"/t/{one['game']}", "Player 1"),
        "profile: page": (f"/players/{one['profile']}", "Player 0 the bold"),
        "profile: of the busiest": (f"/players/{community.profile}", "Player 0 the bold"),
        "statistics: page": (f"/games/{KIND}/statistics", "Length in turns"),
        "tournaments: open": ("/tournaments?show=open", "Winter cup"),
        "tournaments: in progress": ("/tournaments?show=playing", "Summer cup"),
        "tournaments: finished": ("/tournaments?show=over", "Spring cup"),
        "tournament: page": (f"/tournaments/{community.tournament}", "Standings"),
        "tournament: file": (f"/tournaments/{community.tournament}/file", "Spring cup"),
        "calendar: page": ("/tournaments/calendar", "Spring cup"),
        "calendar: file": ("/tournaments/calendar.ics", "Winter cup"),
        "calendar: news": ("/tournaments/news.atom", "cup"),
        "calendar: of one, file": (f"/tournaments/{community.tournament}/calendar.ics", "Spring cup"),
        "calendar: of one, news": (f"/tournaments/{community.tournament}/news.atom", "Spring cup"),
        "open data: games": ("/api/v1/games?limit=10", '"next": "'),
        "open data: games of a kind, later": (f"/api/v1/games?kind={KIND}&limit=10&after={late['table']}", '"next": "'),
        "open data: ratings": ("/api/v1/ratings?limit=10", "the bold"),
        "open data: ratings of a kind, later": (f"/api/v1/ratings/{KIND}?limit=5&after={late['profile']}", "the bold"),
        "open data: tournaments": ("/api/v1/tournaments?limit=10", "cup"),
        "open data: tournaments: later": (
            f"/api/v1/tournaments?status=over&limit=5&after={late['tournament']}",
            "Spring cup",
        ),
        "open data: tournament": (f"/api/v1/tournaments/{community.tournament}", "Spring cup"),
        "open data: statistics": (f"/api/v1/statistics/{KIND}", '"games": '),
        "open data: checksum of the dump": (f"/data/{dump.NAME}.sha256", dump.NAME),
        "my pages: deadlines, file": (f"/k/{community.calendar}/deadlines.ics", "VCALENDAR"),
        "my pages: news": (f"/n/{community.news}/news.atom", "feed"),
    }
    own = {
        "my pages: games": ("/my", "Finished"),
        "my pages: emails": ("/my/mails", "Emails"),
        "my pages: settings": ("/my/settings", "Settings"),
        "my pages: account": ("/my/account", "Account"),
        "tournament: signed in": (f"/my/tournaments/{community.tournament}", "Spring cup"),
        "groups: own": ("/groups", "Friday club"),
        "groups: one": (f"/groups/{community.group}", "Friday club"),
        "hall: finished, signed in": ("/tables?show=over", "/players/"),
        "profile: signed in": (f"/players/{one['profile']}", "Player 0 the bold"),
    }
    found: dict[str, Work] = {name: partial(_open, stranger, *shown) for name, shown in everyones.items()}
    return found | {name: partial(_open, busiest.client, *shown) for name, shown in own.items()}


def ticks(server: Server, community: Community) -> dict[str, Work]:
    """What the ticks do that rate, count and dump, for one game or one part of the file; and those that look for something to do."""
    middle = server.query(public_games.position, _middle(server, _public(TableStatus.OVER).order_by(GAME.c.ended_at)))
    return {
        "ticks: rating of a game": partial(_rate_again, server, community.last_game),
        "ticks: counting of a game": partial(_count_again, server, community.last_game),
        "ticks: part of the dump": partial(_dump_some, server, middle),
        "ticks: looking for endings": lambda: ratings.add_endings(server),
        "ticks: looking for finished games": lambda: game_statistics.count_games(server),
        "ticks: starting games": lambda: start.start_due(server),
        "ticks: closing tables": lambda: leaving.expire(server),
    }


def _open(client: FlaskClient, path: str, shown: str) -> None:
    response = client.get(path, base_url=HOST)
    assert response.status_code == 200, (path, response.status_code)
    assert shown in response.get_data(as_text=True), (path, shown, response.get_data(as_text=True))


def _public(status: TableStatus) -> Select[Any]:
    """The keys of public tables of a status."""
    return select(GAME.c.key).where(GAME.c.status == status, GAME.c.private.is_(False))


def _middle(server: Server, keys: Select[Any]) -> str:
    """The key in the middle of a list."""
    with server.store.read() as tx:
        unhurried(tx)
        number = tx.execute(select(func.count()).select_from(keys.order_by(None).subquery())).scalar_one()
        return str(tx.execute(keys.offset(number // 2).limit(1)).scalar_one())


def _dump_some(server: Server, above: Position) -> None:
    games, _last = server.read(dump._some, above, server.now())
    assert games


def _not_rated(tx: Tx, game_id: int) -> None:
    """Let a game be as if it had just ended."""
    seqs = select(RESULT.c.seq).where(RESULT.c.game_id == game_id)
    tx.execute(delete(RATING).where(RATING.c.seq.in_(seqs)))
    tx.execute(delete(RESULT).where(RESULT.c.game_id == game_id))
    tx.execute(update(GAME).where(GAME.c.id == game_id).values(result_seq=None))


def _rate_again(server: Server, game_id: int) -> None:
    server.store.write(partial(_not_rated, game_id=game_id))
    assert ratings.add_endings(server) == 1


def _count_again(server: Server, game_id: int) -> None:
    server.store.write(lambda tx: tx.execute(update(GAME).where(GAME.c.id == game_id).values(counted=None)))
    assert game_statistics.count_games(server) == 1
