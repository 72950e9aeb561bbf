"""Exporting a whole table while it is played: for its organisers, never for anyone who plays or has played there."""

from pbem.domain.acts import Act, Actor
from pbem.domain.errors import Gone
from pbem.domain.hash_chain import fingerprint
from pbem.i18n.speech import gettext as _
from pbem.service.archive import table_file
from pbem.service.desk import audit
from pbem.service.server import Server
from pbem.store import games, saved_games
from pbem.store.database import Tx


def export(tx: Tx, server: Server, actor: Actor, game_id: int, reason: str) -> tuple[str, str]:
    """The name and the text of the file of a table; who took it and why is audited before anything is shown.

    Like any look at hidden cards, it keeps an organiser from ever playing at that table.
    """
    game = games.lock(tx, game_id)
    if game.started_at is None:
        raise Gone(_("This game hasn't started, so there is nothing to export."), remedy=_("Nothing was shown."))
    audit.look(tx, actor, Act.EXPORT_TABLE, game_id)
    # How many rows there are would tell organisers who play there how many have answered.
    audit.record(tx, server, actor, Act.EXPORT_TABLE, reason, game_id=game_id, head=fingerprint(game.entry_head))
    return f"table-{game.key}-{game.seq}.json", table_file.write(saved_games.read(tx, game_id), server.now())
