"""Guests: who plays a demo without having given an address.

A guest is a person like any other, with an address under a domain that is reserved for what is nowhere (RFC 2606): nobody
can have it or type it here, and no mail to it ever leaves.
"""

from typing import Final

DOMAIN: Final = "demo.invalid"


def guest_address(name: str) -> str:
    """The address of the guest of that name."""
    return f"demo-{name}@{DOMAIN}"


def is_guest(address: str) -> bool:
    """Whether this is a guest's address."""
    return address.endswith(f"@{DOMAIN}")
