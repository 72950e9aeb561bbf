"""A small tournament for tests of anything: the shortest Sunset Poker, opened by a host."""

from datetime import timedelta
from typing import Any

from engine import registry
from pbem.service.server import Server
from pbem.service.tournaments import new
from pbem.service.tournaments.new import TournamentSettings

KIND = "sunset-poker"


def open_cup(server: Server, host: int, **settings: Any) -> str:
    """Open a tournament at tables of three, over two rounds; returns its key."""
    usual: dict[str, Any] = {
        "name": "Spring cup",
        "kind": KIND,
        "closes_at": server.now() + timedelta(days=7),
        "options": registry.load(KIND).short,
        "rounds": 2,
        "size": 3,
        "level": "beginner",
    }
    return server.run(new.open_tournament, host, TournamentSettings(**(usual | settings)))
