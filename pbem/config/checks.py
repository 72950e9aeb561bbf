"""Checks of several settings together, by their texts. A setting that is itself wrong has no text and no checks."""

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

Texts = Mapping[str, str]
"""The texts of the settings, by name."""


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def is_local(host: str) -> bool:
    """Whether a host name always means this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _insecure_site(texts: Texts) -> Iterator[str]:
    url = texts["base_url"]
    hosts = [("PBEM_BASE_URL", host_of(url)), ("PBEM_WEB_HOST", texts["web.host"])]
    hosts += [("PBEM_TRUSTED_HOSTS", host) for host in texts["trusted_hosts"].split(", ") if host != host_of(url)]
    for name, host in hosts:
        if texts["development"] == "yes" and not is_local(host):
            yield f"PBEM_DEVELOPMENT: everyone who can reach {name} could read all emails; set it to no."
    if is_local(host_of(url)):
        return
    if texts["development"] == "no" and url.startswith("http:"):
        yield "PBEM_BASE_URL: links in emails must be encrypted; write https://."


def _missing_relay(texts: Texts) -> Iterator[str]:
    if texts["development"] == "no" and not texts["smtp.host"]:
        yield "PBEM_SMTP_HOST: nobody would get any email; name a relay, or set PBEM_DEVELOPMENT to yes."


def _incomplete_login(texts: Texts) -> Iterator[str]:
    user, password = bool(texts["smtp.user"]), texts["smtp.password"] == "set"
    if user != password:
        yield "PBEM_SMTP_USER and PBEM_SMTP_PASSWORD: set both or neither."
    if password and texts["smtp.security"] == "none" and not is_local(texts["smtp.host"]):
        yield "PBEM_SMTP_SECURITY: a password must be encrypted; use starttls or tls."


def _same_port(texts: Texts) -> Iterator[str]:
    if texts["web.port"] == texts["web.admin_port"]:
        yield "PBEM_WEB_ADMIN_PORT: this is the port of the site; choose another."


def _foreign_signature(texts: Texts) -> Iterator[str]:
    sender = texts["mail.sender"].rpartition("@")[2]
    if texts["dkim.private_key"] == "set" and not f".{sender}".endswith(f".{texts['dkim.domain']}"):
        yield f"PBEM_DKIM_DOMAIN: only {sender}, or a parent of it, can sign for PBEM_MAIL_SENDER."


CONFLICTS: Final[tuple[Callable[[Texts], Iterator[str]], ...]] = (
    _insecure_site,
    _missing_relay,
    _incomplete_login,
    _same_port,
    _foreign_signature,
)
