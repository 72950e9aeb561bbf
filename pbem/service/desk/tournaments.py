"""Tournaments from the command line: an operator opens one for a host, or does what its host can do, on record."""

from pbem.domain.acts import Act, Actor
from pbem.service.desk import audit
from pbem.service.server import Server
from pbem.service.tournaments import new
from pbem.service.tournaments.new import TournamentSettings
from pbem.service.tournaments.preview import HostAct, Preview, preview
from pbem.store import tournaments
from pbem.store.database import Tx


def act(
    tx: Tx, server: Server, actor: Actor, key: str, what: str, do: HostAct, given: tuple[object, ...], reason: str
) -> Preview:
    """Do an act of a tournament's host in their place. Returns what it has changed. Raises what the act raises."""
    row = tournaments.by_key(tx, key)
    audit.must_be_allowed(tx, actor, Act.TOURNAMENT, None, None)
    changed = preview(tx, server, do, row.id, row.host_id, *given)
    audit.record(tx, server, actor, Act.TOURNAMENT, reason, tournament=key, what=what)
    return changed


def open_for(tx: Tx, server: Server, actor: Actor, host_id: int, settings: TournamentSettings, reason: str) -> str:
    """Open a tournament for a host. Returns its key. Raises NotFound, BadInput, Forbidden or TooMany."""
    audit.must_be_allowed(tx, actor, Act.TOURNAMENT, None, host_id)
    key = new.open_tournament(tx, server, host_id, settings)
    audit.record(tx, server, actor, Act.TOURNAMENT, reason, person_id=host_id, tournament=key, what="open")
    return key
