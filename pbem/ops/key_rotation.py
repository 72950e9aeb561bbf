"""The keys of all links: listed, rotated, retired, revoked.

They are changed in the file of the data folder. A running server has to be started again, because it reads them when it
starts. No secret of a key is ever shown.
"""

from dataclasses import dataclass, replace

from pbem import tokens
from pbem.clock import SystemClock, SystemRandomness
from pbem.config import save_keys
from pbem.config.settings import Config
from pbem.config.sources import read_private_text
from pbem.domain.errors import BadInput, Forbidden
from pbem.ops.process_lock import alone
from pbem.ops.setup import keyring, new_keys, open_store, server_on
from pbem.service.links import Renewed, renew_emails
from pbem.store import known_keys
from pbem.store.database import Store
from pbem.tokens import RETIREMENT_DELAY, SECRET_BYTES, Key, Keyring


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """One key, without its secret."""

    id: str
    made: str
    signs: bool
    may_retire_on: str


def listed(config: Config) -> list[KeyInfo]:
    """The keys, newest first."""
    keys = _keys(config).keys
    return [_info(key, newer) for key, newer in zip(keys, (None, *keys), strict=False)]


def rotate(config: Config) -> str:
    """Make a new key that signs from now on; its id."""
    keys = tokens.rotate(_stored_keys(config), SystemRandomness().bytes(SECRET_BYTES), SystemClock().now().date())
    with open_store(config) as store:
        _save(store, config, keys)
    return keys.keys[0].id


def retire(config: Config, key_id: str) -> None:
    """Remove a key that no live link needs."""
    keys = tokens.retire(_stored_keys(config), key_id, SystemClock().now().date())
    with open_store(config) as store:
        _save(store, config, keys)


def revoke(config: Config, key_id: str) -> Renewed:
    """Remove a key that leaked, and email every open turn again; on SQLite the server must not be running."""
    keys = tokens.revoke(_stored_keys(config), key_id)
    with alone(config.database_url), open_store(config) as store:
        # First the key: if anything fails after this, nobody can play with what leaked.
        _save(store, config, keys)
        return server_on(store, replace(config, keys=keys)).run(renew_emails)


def new(config: Config) -> Renewed:
    """Make keys where the old ones are lost for good, and mail every open turn again; on SQLite the server must be stopped."""
    if config.keys is not None:
        raise Forbidden("This server has its keys.", remedy="Make another one with `pbem keys rotate`.")
    with alone(config.database_url), open_store(config) as store:
        config = replace(config, keys=new_keys())
        _save(store, config, config.keyring())
        return server_on(store, config).run(renew_emails)


def _save(store: Store, config: Config, keys: Keyring) -> None:
    """Store a changed keyring, and note which keys are this server's from now on."""
    # In this order the file always has a key that is known, wherever this is cut short.
    store.write(lambda tx: known_keys.add(tx, keys.fingerprints, SystemClock().now()))
    save_keys(config.data_dir, keys)
    store.write(lambda tx: known_keys.forget(tx, config.keyring().fingerprints - keys.fingerprints))


def _stored_keys(config: Config) -> Keyring:
    keys, file = _keys(config), config.data_dir / "keys"
    if not file.exists() or Keyring.parse(read_private_text(file)) != keys:
        raise BadInput(
            "This server's keys are not in its data folder.",
            why="They come from PBEM_KEYS or PBEM_KEYS_FILE, which pbem doesn't change.",
            remedy=f"Move them from there into {file}, readable by you alone; then try again.",
        )
    return keys


def _keys(config: Config) -> Keyring:
    if config.keys is not None:
        return config.keys
    with open_store(config) as store:
        return keyring(store, config)


def _info(key: Key, newer: Key | None) -> KeyInfo:
    may_retire = "" if newer is None else (newer.made + RETIREMENT_DELAY).isoformat()
    return KeyInfo(key.id, key.made.isoformat(), newer is None, may_retire)
