"""Deleted people: names that go with their person, and the name and address that replace them.

The address is under a domain that can never exist (RFC 2606).
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import count
from typing import Final

NAME: Final = "a former player"
DOMAIN: Final = "former.invalid"


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name that is stored with the person it is of, and goes with them; of a bot if that is None."""

    person_id: int | None
    name: str


def former_address(key: str) -> str:
    """The address that replaces a deleted person's."""
    return f"{key}@{DOMAIN}"


def is_former(address: str) -> bool:
    return address.endswith(f"@{DOMAIN}")


def former_name(taken: Collection[str]) -> str:
    """A name for a deleted person at a table where these names are taken."""
    return next(name for number in count(1) if (name := NAME if number == 1 else f"{NAME} ({number})") not in taken)
