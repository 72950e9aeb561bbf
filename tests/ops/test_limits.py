"""Every limit of the settings is the one that the server keeps."""

from dataclasses import fields
from datetime import date, timedelta

from pbem.config import read
from pbem.config.settings import Limits
from pbem.domain.strangers import StrangerLimits
from pbem.ops.setup import server_on
from pbem.service.incoming import authenticity
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring
from pbem.web.app import create_app

PUBLIC = {
    "PBEM_KEYS": Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 21)).text(),
    "PBEM_BASE_URL": "https://games.example.org",
}


def test_every_limit_of_the_settings_reaches_the_server(tmp_path):
    usual = read({}).limits
    assert (usual.network_an_hour, usual.mailbox_a_day, usual.domain_an_hour, usual.strangers_a_day) == (
        20,
        5,
        100,
        2000,
    )
    # Each is another number, so that none can stand for another.
    unusual = {field.name: getattr(usual, field.name) + 1 for field in fields(Limits)}
    settings = PUBLIC | {f"PBEM_LIMITS_{name.upper()}": f"{value}" for name, value in unusual.items()}
    config = read(settings | {"PBEM_SMTP_HOST": "127.0.0.1", "PBEM_SMTP_SECURITY": "none"})
    server = server_on(Store(f"sqlite:///{tmp_path}/never-opened.sqlite3"), config)
    assert unusual == {
        "request_bytes": create_app(server, config).config["MAX_CONTENT_LENGTH"],
        "mail_bytes": authenticity.inbound_settings(config).most_bytes,
        "open_tables": server.open_tables,
        "demos": server.demos,
        "answers_a_turn": server.answers_a_turn,
        "answers_a_day": server.answers_a_day,
        "network_an_hour": server.strangers.network,
        "mailbox_a_day": server.strangers.mailbox,
        "domain_an_hour": server.strangers.domain,
        "strangers_a_day": server.strangers.all,
        "unconfirmed_days": server.strangers.lifetime / timedelta(days=1),
    }
    # Without a relay, emails bother nobody.
    local = server_on(server.store, read(settings | {"PBEM_BASE_URL": ""}))
    assert local.strangers == StrangerLimits(0, 0, 0, 0, server.strangers.lifetime)
