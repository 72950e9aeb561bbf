"""Channels: other ways than email to tell a person, or everyone around a table, whose turn it is.

    webhook    https://example.org/hook                         our secret signs
    ntfy       https://ntfy.sh/topic                            an access token, if the topic needs one
    discord    https://discord.com/api/webhooks/number/token
    telegram   the number of a chat                             the token of a bot
    matrix     https://matrix.example.org/!room:example.org     the access token of an account
    browser    its address at the push service of its maker     its keys

An address is read here, and kept in one form. Whether it may be connected to is decided later, by what its name means then.
This module must never see a message.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _

LONGEST_ADDRESS: Final = 1000
"""Letters of an address; those of browsers may have several hundred."""

LONGEST_SECRET: Final = 300
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - what every secret begins with

CODE: Final = "code"
"""The kind of message with the code that proves a channel."""

CODE_TRIES: Final = 5
"""Wrong codes after which a channel has to be entered again."""

_TELEGRAM: Final = "https://api.telegram.org/"
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"(?:{_LABEL}\.)*(?=[a-z0-9_-]*[a-z]){_LABEL}", re.ASCII)
"""A name of a host. Its last part has a letter, so no number in any notation is one."""

_UNPRIVILEGED: Final = 1024
_DISCORD: Final = "discord.com"
_DISCORD_HOSTS: Final = frozenset({_DISCORD, "discordapp.com"})
_ENCODED: Final = re.compile("%([0-9A-Fa-f]{2})")
_NEEDS_NO_CODE: Final = re.compile(r"[\w.~-]", re.ASCII)


class ChannelKind(StrEnum):
    """The services."""

    WEBHOOK = "webhook"
    NTFY = "ntfy"
    DISCORD = "discord"
    TELEGRAM = "telegram"
    MATRIX = "matrix"
    BROWSER = "browser"

    @property
    def called(self) -> str:
        """The name for people."""
        return {"webhook": _("Webhook"), "ntfy": "ntfy", "browser": _("Browser")}.get(self, self.capitalize())


class ChannelStatus(StrEnum):
    """Whether a channel is used: once it is proved, until it fails or is removed."""

    PENDING = "pending"
    ACTIVE = "active"
    FAILED = "failed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class ChannelRules:
    """What an operator allows: which services, plain HTTP, and this machine for trying out."""

    kinds: Collection[ChannelKind] = tuple(ChannelKind)
    http: bool = False
    loopback: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go: a host by its name, a port, with TLS or without, and the path that was typed."""

    host: str
    port: int
    encrypted: bool
    path: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PushSender:
    """Who sends to a browser: the key that it agreed to, and an address for the operator of its push service."""

    key: bytes = field(repr=False)
    contact: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel as its sender needs it; `push` is set for a browser whose key we still have."""

    kind: ChannelKind
    target: Target
    secret: str = field(repr=False)
    push: PushSender | None = None


_PATHS: Final = {
    ChannelKind.WEBHOOK: re.compile(r"/[!-~]*"),
    ChannelKind.NTFY: re.compile(r"(?:/[\w.-]+)*/[\w-]{1,64}", re.ASCII),
    ChannelKind.DISCORD: re.compile(r"/api(?:/v[0-9]+)?/webhooks/[0-9]+/[\w-]+", re.ASCII),
    ChannelKind.TELEGRAM: re.compile(r"(?:/[\w.-]+)*/(?:-?[0-9]{1,20}|@\w{3,64})", re.ASCII),
    ChannelKind.BROWSER: re.compile(r"/[!-~]*"),
    ChannelKind.MATRIX: re.compile(r"(?:/[\w.-]+)*/![\w!$&'()*+,;=.~-]+(?::[\w.:\[\]-]+)?", re.ASCII),
}
_P256_POINT: Final = 87
_PUSH_SECRET: Final = 22
_SECRETS: Final = {
    ChannelKind.WEBHOOK: re.compile(rf"{SECRET_PREFIX}[A-Za-z0-9+/]{{40,}}=*"),
    ChannelKind.NTFY: re.compile(r"|[\w.~+/=-]+", re.ASCII),
    ChannelKind.DISCORD: re.compile(""),
    ChannelKind.TELEGRAM: re.compile(r"[0-9]+:[\w-]+", re.ASCII),
    ChannelKind.MATRIX: re.compile(r"[\w.~+/=-]+", re.ASCII),
    ChannelKind.BROWSER: re.compile(rf"[\w-]{{{_P256_POINT}}}\.[\w-]{{{_PUSH_SECRET}}}", re.ASCII),
}


def parse_kind(text: str, rules: ChannelRules) -> ChannelKind:
    """The service that is meant. Raises BadInput if it is unknown or switched off."""
    allowed = [kind for kind in ChannelKind if kind in rules.kinds]
    if text not in allowed:
        listed = ", ".join(kind.called for kind in allowed)
        raise BadInput(_("We don't send through this service."), remedy=_("Choose one of: %(list)s.", list=listed))
    return ChannelKind(text)


def parse_address(kind: ChannelKind, text: str, rules: ChannelRules) -> str:
    """The address of a channel in its one form. Raises BadInput."""
    text = text.strip()
    if kind is ChannelKind.TELEGRAM and "/" not in text:
        text = _TELEGRAM + text
    target = _target(text, rules)
    target = replace(target, path=_normal_path(target.path))
    if kind not in (ChannelKind.WEBHOOK, ChannelKind.BROWSER):
        target = replace(target, path=unquote(target.path).rstrip("/"))
    if not _PATHS[kind].fullmatch(target.path):
        raise BadInput(_("That isn't an address of %(service)s.", service=kind.called), remedy=_example(kind))
    return _written(_as_its_service_has_it(kind, target))


def same_addresses(address: str) -> frozenset[str]:
    """The addresses, without a slash at the end, that are taken for the same as one in its one form."""
    plain = address.partition("://")[2].rstrip("/")
    return frozenset(f"{scheme}://{plain}" for scheme in ("https", "http"))


def parse_secret(kind: ChannelKind, text: str) -> str:
    """The token that goes with a channel. Raises BadInput."""
    text = text.strip()
    if kind in (ChannelKind.WEBHOOK, ChannelKind.DISCORD) and text:
        raise BadInput(_("%(service)s needs no token.", service=kind.called), remedy=_("Leave the field empty."))
    if kind is not ChannelKind.WEBHOOK and (len(text) > LONGEST_SECRET or not _SECRETS[kind].fullmatch(text)):
        raise BadInput(
            _("That isn't a token of %(service)s.", service=kind.called),
            remedy=_("Copy the whole token, without spaces."),
        )
    return text


def channel_of(kind: str, address: str, secret: str, rules: ChannelRules) -> Channel | None:
    """A stored channel as its sender needs it; None if the operator no longer allows it."""
    try:
        return Channel(parse_kind(kind, rules), _target(address, rules), secret)
    except BadInput:
        return None


def host_of(address: str) -> str:
    """The name of the service's host, which is no secret."""
    return urlsplit(address).hostname or ""


def _target(text: str, rules: ChannelRules) -> Target:
    try:
        return _read(text, rules)
    except ValueError:
        raise BadInput(
            _("That isn't a web address."), remedy=_("Copy the whole address. It begins with https://.")
        ) from None


def _read(text: str, rules: ChannelRules) -> Target:
    """The target that a URL names. Raises ValueError, or BadInput with what is wrong."""
    if len(text) > LONGEST_ADDRESS or not re.fullmatch(r"[!-~]+", text) or "\\" in text or "#" in text:
        raise ValueError("no URL")
    url = urlsplit(text)
    host = (url.hostname or "").removesuffix(".")
    if url.scheme not in ("http", "https") or "@" in url.netloc or not _is_host(host):
        raise ValueError("no URL of a host")
    local = rules.loopback and _is_local(host)
    if url.scheme == "http" and not (rules.http or local):
        raise BadInput(_("This address isn't encrypted."), remedy=_("Use one that begins with https://."))
    port = url.port if url.port is not None else 443 if url.scheme == "https" else 80
    if port not in (80, 443) and port < _UNPRIVILEGED:
        raise BadInput(_("We don't connect to port %(port)s.", port=port), remedy=_("Use port 443, or 1024 or higher."))
    path = url.path or "/"
    return Target(host, port, url.scheme == "https", f"{path}?{url.query}" if url.query else path)


def _normal_path(path: str) -> str:
    """A path and query, with what they encode needlessly in plain letters, and without steps such as `..`."""
    path, mark, query = _ENCODED.sub(_decoded, path).partition("?")
    steps: list[str] = []
    for step in path.split("/")[1:]:
        if step == "..":
            steps = steps[:-1]
        if step not in (".", ".."):
            steps.append(step)
    if path.endswith(("/.", "/..")):
        steps.append("")
    return f"/{'/'.join(steps)}{mark}{query}"


def _decoded(encoded: re.Match[str]) -> str:
    letter = chr(int(encoded[1], 16))
    return letter if _NEEDS_NO_CODE.fullmatch(letter) else encoded[0].upper()


def _as_its_service_has_it(kind: ChannelKind, target: Target) -> Target:
    """A target without the differences that its service makes nothing of."""
    path = target.path
    if kind is ChannelKind.DISCORD:
        _api, webhook, secret = path.rsplit("/", 2)
        host = _DISCORD if target.host.removeprefix("canary.").removeprefix("ptb.") in _DISCORD_HOSTS else target.host
        return replace(target, host=host, path=f"/api/webhooks/{int(webhook)}/{secret}")
    if kind is ChannelKind.TELEGRAM:
        base, chat = path.rsplit("/", 1)
        return replace(target, path=f"{base}/{chat.lower() if chat.startswith('@') else int(chat)}")
    if kind is ChannelKind.MATRIX:
        room, colon, server = path.partition(":")
        return replace(target, path=f"{room}{colon}{server.lower()}")
    return target


def _is_host(host: str) -> bool:
    """Whether this is a name, or an IP address in its usual notation."""
    if len(host) <= 253 and _NAME.fullmatch(host):
        return True
    try:
        return str(ip_address(host)) == host
    except ValueError:
        return False


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _written(target: Target) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    usual = target.port == (443 if target.encrypted else 80)
    return f"{'https' if target.encrypted else 'http'}://{host}{'' if usual else f':{target.port}'}{target.path}"


def _example(kind: ChannelKind) -> str:
    examples = {
        ChannelKind.WEBHOOK: "https://example.org/hook",
        ChannelKind.BROWSER: "https://push.example.org/abc",
        ChannelKind.NTFY: "https://ntfy.sh/your-topic",
        ChannelKind.DISCORD: "https://discord.com/api/webhooks/123/abc",
        ChannelKind.TELEGRAM: "123456789",
        ChannelKind.MATRIX: "https://matrix.example.org/!room:example.org",
    }
    return _("It should look like %(example)s.", example=examples[kind])
