"""People who have left for good: what they are called where they have played, and what stands in place of an address.

The address is under a domain that is reserved for what is nowhere (RFC 2606): nobody can have it or type it here.
"""

from collections.abc import Collection
from itertools import count
from typing import Final

NAME: Final = "a former player"
DOMAIN: Final = "former.invalid"


def former_address(key: str) -> str:
    """What stands in place of the address of somebody who has left."""
    return f"{key}@{DOMAIN}"


def is_former(address: str) -> bool:
    """Whether this stands in place of an address."""
    return address.endswith(f"@{DOMAIN}")


def former_name(taken: Collection[str]) -> str:
    """What somebody who has left is called at a table where the others have these names."""
    return next(name for number in count(1) if (name := NAME if number == 1 else f"{NAME} ({number})") not in taken)
