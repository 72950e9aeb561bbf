"""Deleted people: the name and address that replace theirs, under a domain that can never exist (RFC 2606)."""

from collections.abc import Collection
from itertools import count
from typing import Final

NAME: Final = "a former player"
DOMAIN: Final = "former.invalid"


def former_address(key: str) -> str:
    """The address that replaces a deleted person's."""
    return f"{key}@{DOMAIN}"


def is_former(address: str) -> bool:
    return address.endswith(f"@{DOMAIN}")


def former_name(taken: Collection[str]) -> str:
    """A name for a deleted person at a table where these names are taken."""
    return next(name for number in count(1) if (name := NAME if number == 1 else f"{NAME} ({number})") not in taken)
