"""Guests: people who play a demo, with addresses at a domain that can never exist (RFC 2606). No email ever leaves."""

from typing import Final

DOMAIN: Final = "demo.invalid"


def guest_address(name: str) -> str:
    return f"demo-{name}@{DOMAIN}"


def is_guest(address: str) -> bool:
    return address.endswith(f"@{DOMAIN}")
