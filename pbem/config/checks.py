"""What only several settings together can have wrong, each with what to do.

Each check looks at the settings as they are shown, by their names; a setting that is itself wrong is not there, and then
the check is left out. Nothing is read or decided in here.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

Shown = Mapping[str, str]
"""Settings by their names, as text."""


def host_of(url: str) -> str:
    """The host of a web address."""
    return urlsplit(url).hostname or ""


def is_local(host: str) -> bool:
    """Whether the name is this machine's and nobody else's."""
    return host in {"localhost", "::1"} or host.endswith(".localhost") or host.startswith("127.")


def _unprotected(so_far: Shown) -> Iterator[str]:
    url = so_far["base_url"]
    if is_local(host_of(url)):
        return
    if so_far["development"] == "yes" and url.startswith("https:"):
        yield "PBEM_DEVELOPMENT: everybody could read all mails of a public site; set it to no."
    if so_far["development"] == "no" and url.startswith("http:"):
        yield "PBEM_BASE_URL: links in mails must be safe from listeners; write https://."


def _nowhere_to_send(so_far: Shown) -> Iterator[str]:
    if so_far["development"] == "no" and not so_far["smtp.host"]:
        yield "PBEM_SMTP_HOST: nobody would get a mail; name a relay, or set PBEM_DEVELOPMENT to yes."


def _half_signed_in(so_far: Shown) -> Iterator[str]:
    user, password = bool(so_far["smtp.user"]), so_far["smtp.password"] == "set"
    if user != password:
        yield "PBEM_SMTP_USER and PBEM_SMTP_PASSWORD: set both or neither."
    if password and so_far["smtp.security"] == "none" and not is_local(so_far["smtp.host"]):
        yield "PBEM_SMTP_SECURITY: a password must not travel in the clear; use starttls or tls."


def _same_port(so_far: Shown) -> Iterator[str]:
    if so_far["web.port"] == so_far["web.admin_port"]:
        yield "PBEM_WEB_ADMIN_PORT: it is the port of the site; choose another."


def _signed_by_a_stranger(so_far: Shown) -> Iterator[str]:
    sender = so_far["mail.sender"].rpartition("@")[2]
    if so_far["dkim.private_key"] == "set" and not f".{sender}".endswith(f".{so_far['dkim.domain']}"):
        yield f"PBEM_DKIM_DOMAIN: only {sender}, or a domain above it, can vouch for PBEM_MAIL_SENDER."


DISAGREEMENTS: Final[tuple[Callable[[Shown], Iterator[str]], ...]] = (
    _unprotected,
    _nowhere_to_send,
    _half_signed_in,
    _same_port,
    _signed_by_a_stranger,
)
