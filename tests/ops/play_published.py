"""A whole game of an installed package, by server and email: run in the environment in which the package is installed.

    python play_published.py CHECKOUT FOLDER

Everything that is the server's comes from that environment; only the player's browser comes from the checkout. Ann presses
links and Ben answers, and both know nothing but what is in their emails. What came of it is printed as JSON.
"""

import json
import re
import sys
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pbem import config as settings
from pbem.config.settings import Config
from pbem.mail.send import local_mailbox
from pbem.mail.send.local_mailbox import LocalMailbox, MailboxEmail
from pbem.ops import setup
from pbem.service.incoming import authenticity, processing, receive
from pbem.service.outgoing.deliver import deliver
from pbem.service.outgoing.post import post_of
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring
from pbem.web.app import create_app

if TYPE_CHECKING:
    from tests.fakes import FakeClock

ANN, BEN = "ann@example.org", "ben@example.org"


def main(checkout: str, folder: str) -> None:
    """Make a server, let two people play on it, and say what came of it."""
    # Behind all else, so that nothing but the tests is found there.
    sys.path.append(checkout)
    from tests.fakes import FakeClock, SeededRandomness
    from tests.web.browser import Browser

    config = setup.make_ready(settings.read({"PBEM_DATA_DIR": folder}))
    offers = setup.offer_games(config)
    clock = FakeClock(datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
    keys = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))
    store = Store(config.database_url)
    server = Server(store, clock, SeededRandomness(7), keys)
    game_id = _begin(server)
    browser, mailbox = Browser(create_app(server, config)), LocalMailbox(config.data_dir / "mailbox")
    moves = {ANN: 0, BEN: 0}
    while _status(server, game_id) == "playing":
        for player, turn in _delivered(server, config, clock, mailbox).items():
            if player == ANN:
                _press(browser, turn.text)
            else:
                _answer(server, config, turn, f"bid {moves[BEN] % 3}")
            moves[player] += 1
    last = _delivered(server, config, clock, mailbox)
    status = _status(server, game_id)
    store.close()
    report: dict[str, Any] = {
        "offered": [(each.found.source, each.trusted) for each in offers],
        "status": status,
        "moves": moves,
        "last": {player: found.text for player, found in last.items()},
        "imported": "fish_market" in sys.modules,
        "from": [sys.modules[name].__file__ for name in ("pbem", "engine")],
    }
    print(json.dumps(report))


def _begin(server: Server) -> int:
    people = []
    for address in (ANN, BEN):
        found = server.run(addresses.register, address, address.partition("@")[0].capitalize())
        people.append(server.run(addresses.confirm, found.id).id)
    game_id = server.run(joining.create_table, people[0], TableSettings("fish-market", 2, {}, "1d")).game_id
    for person in people:
        server.run(joining.join, game_id, person)
    return game_id


def _status(server: Server, game_id: int) -> str:
    with server.store.read() as tx:
        return games.read(tx, game_id).status


def _delivered(server: Server, config: Config, clock: "FakeClock", mailbox: LocalMailbox) -> dict[str, MailboxEmail]:
    """A little time passes; the newest email to each player that is new, if it is about a turn or the end."""
    before = {entry.key for entry in mailbox.entries()}
    clock.advance(timedelta(minutes=2))
    post = post_of(config)
    while deliver(server, post).dealt_with:
        pass
    new = [mailbox.read(entry.key) for entry in mailbox.entries() if entry.key not in before]
    return {
        each.entry.to: each for each in new if dict(each.headers)["Feedback-ID"].split(":")[1] in ("turn", "result")
    }


def _press(browser: Any, email: str) -> None:
    """Open a link and press the button there."""
    path = re.findall(r"http://localhost:8000(/m/\S+)", email)[1]
    page = browser.open(path)
    page.forms()[0].press()


def _answer(server: Server, config: Config, turn: MailboxEmail, text: str) -> None:
    """Answer an email; the answer is handed in and read."""
    box = authenticity.inbound_settings(config)
    sent = local_mailbox.reply_to(turn, text, server.now(), box.authserv_id)
    receive.receive(server, box, sent.sender, sent.recipient, sent.content)
    while processing.process(server, box):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
