"""The desk of a twin's table: every form there and its preview."""

from pbem.domain import hash_chain
from pbem.domain.states import TableStatus
from pbem.service.desk.acts.rewind import turns
from pbem.service.play.log import standing_entries
from pbem.service.play.rules import rules_of
from tests.twins.world import World
from tests.web.browser import Browser
from tests.web.desk_pages import at_the_desk

LOOKS = ("pause", "extend", "freeze", "close", "rewind", "substitute", "correct")


def of_table(world: World) -> dict[str, bytes]:
    """Every page of the table's desk except seeing as a seat, which is audited; hashes are blanked."""
    browser, game = at_the_desk(Browser(world.app), world.server), world.game
    entries = standing_entries(rules_of(game.row()), game.log())
    earlier = turns(entries) if game.row().status == TableStatus.PLAYING else []
    address = f"/desk/tables/{game.id}"
    found = {path: browser.open(path).source for path in ("/desk", "/desk/people", address, f"{address}/clocks")}
    fields = {"more": "2d", "seat": "1", "what": "pace", "to": "3d", "turn": str(min(earlier, default=0))}
    for act in (act for act in LOOKS if earlier or act != "rewind"):
        form = browser.open(f"{address}/{act}").form("Preview…")
        found[f"form of {act}"] = form.page.source
        found[f"what {act} would do"] = form.press(**fields, reason="It was asked for.", step="preview").source
    hashes = [shown for row in game.log() for shown in (hash_chain.fingerprint(row.hash), row.body_hash.hex())]
    return {f"the desk: {what}": _blanked(source, hashes).encode() for what, source in found.items()}


def _blanked(source: str, hashes: list[str]) -> str:
    for each in hashes:
        source = source.replace(each, "HASH")
    # The key of a form is drawn again each time.
    return "\n".join(line for line in source.splitlines() if 'name="form"' not in line)
