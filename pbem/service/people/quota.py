"""Quotas: how much one client, name or browser may ask for, so that nobody uses up what everyone shares.

They are rows of the database, so every process counts alike. No row shows a name or network address: both are hashed with
the server's key, and dropped a day after the quota is free again.
"""

import hmac
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pbem.service.server import Server
from pbem.store import rate_limits
from pbem.store.database import Tx


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota: `most` at once, then one more each time `apart` has passed."""

    name: str
    most: int
    apart: timedelta


def quota_of(server: Server, what: str, of: str, most: int, within: timedelta) -> Quota:
    """The quota of one client, name or browser for `what`: `most`, all of it free again after `within`."""
    secret = server.keys.keys[0].subkey("quota")
    # A domain, whose quotas are in the same table, has no slash.
    name = f"/{what}/{hmac.digest(secret, of.encode(), 'sha256').hex()}"
    return Quota(name, most, within / most)


def take(tx: Tx, server: Server, quotas: Sequence[Quota]) -> Quota | None:
    """Take one from each of these quotas; if one is used up, take nothing and return it."""
    now = server.now()
    used = rate_limits.lock(tx, [each.name for each in quotas])
    for each in quotas:
        used[each.name] = max(now, used.get(each.name, now)) + each.apart
        if used[each.name] > now + each.most * each.apart:
            return each
    rate_limits.write(tx, used)
    return None


def used_up(tx: Tx, server: Server, quotas: Collection[Quota]) -> list[Quota]:
    """Those of these quotas that are used up now."""
    now = server.now()
    used = rate_limits.read(tx, [each.name for each in quotas]) if quotas else {}
    return [each for each in quotas if used.get(each.name, now) + each.apart > now + each.most * each.apart]


def give_back(tx: Tx, server: Server, quotas: Iterable[Quota]) -> None:
    """Free these quotas."""
    rate_limits.write(tx, {each.name: server.now() for each in quotas})
