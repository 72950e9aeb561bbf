"""The link of a private table that its host passes on, by whatever way: who has it may ask for a place.

It stands on the host's page and in no mail. Whoever uses it types an address, and has a place when the link in the mail
that goes there was followed, as in the lobby; the address itself is not told to the host. The link shows what is agreed,
and nothing of the game. Where the host renews all links, it dies with them.
"""

from pbem.domain.errors import Gone
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.server import Server
from pbem.service.tables import joining, listing
from pbem.service.tables.listing import Announced
from pbem.store import links as link_rows
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.tokens import Purpose


def of_table(tx: Tx, server: Server, game_id: int, host_id: int) -> str:
    """The token to show to the host; empty where the table has none."""
    link = link_rows.find(tx, LinkKey(Purpose.INVITE, host_id, game_id))
    return "" if link is None else links.token(server, link)


def at(server: Server, token: str) -> Announced:
    """The table that a link invites to."""
    found = server.read(listing.by_id, _game(server, token))
    if found.status == "planned":
        raise Gone(
            _("This table is not open yet."), remedy=_("Please try again when its host has answered the mail about it.")
        )
    return found


def ask_to_join(server: Server, token: str, address: str, name: str, word: str = "") -> None:
    """Ask for a place with an address that somebody typed."""
    server.run(joining.ask_to_join, _game(server, token), address, name, word, invited=True)


def _game(server: Server, token: str) -> int:
    return server.read(links.follow_table, token, Purpose.INVITE)
