"""Guests: people who play a demo without giving an address.

A guest is a person like any other, with an address under a domain that can never exist (RFC 2606). Nobody can own it or
enter it here, and no email to it ever leaves.
"""

from typing import Final

DOMAIN: Final = "demo.invalid"


def guest_address(name: str) -> str:
    return f"demo-{name}@{DOMAIN}"


def is_guest(address: str) -> bool:
    return address.endswith(f"@{DOMAIN}")
