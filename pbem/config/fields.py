"""Declarations of settings: a name, a kind of value, a default and an explanation, in one place.

Reading, error messages, `pbem config show` and the handbook's table all follow from them. No setting is known here.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pbem.domain.channels import ChannelKind
from pbem.domain.localtime import parse_zone
from pbem.domain.pace import Pace, parse_pace
from pbem.tokens import Keyring

T = TypeVar("T")
Word = TypeVar("Word", bound=StrEnum)
Networks = tuple[IPv4Network | IPv6Network, ...]


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of value. `name` completes "this is not ..."; `parse` raises ValueError or BadInput."""

    name: str
    parse: Callable[[str], T]
    show: Callable[[T], str] = str


@dataclass(frozen=True, slots=True)
class Derived:
    """A default that depends on earlier settings: its description, and its text given theirs."""

    words: str
    text: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, as the handbook lists it."""

    name: str
    kind: Kind[Any]
    default: str | Derived
    explanation: str
    secret: bool

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return f"PBEM_{self.name.replace('.', '_').upper()}"

    @property
    def default_words(self) -> str:
        """Its default, for people."""
        return self.default.words if isinstance(self.default, Derived) else self.default


def setting(kind: Kind[T], default: str | Derived, explanation: str, *, secret: bool = False) -> T:
    """Declare a setting as a field, without a default: a configuration can only be made by reading all settings."""
    return cast("T", field(repr=not secret, metadata={"setting": (kind, default, explanation, secret)}))


def section(of: type[T]) -> T:
    """Declare a group of settings, whose names begin with the name of the field."""
    return cast("T", field(metadata={"section": of}))


def settings_of(config: type[Any], prefix: str = "") -> Iterator[Setting]:
    """All settings of a dataclass and its sections, in order of declaration."""
    for declared in fields(config):
        if "section" in declared.metadata:
            yield from settings_of(declared.metadata["section"], f"{declared.name}.")
        else:
            yield Setting(prefix + declared.name, *declared.metadata["setting"])


def build(config: type[T], values: Mapping[str, object], prefix: str = "") -> T:
    """The configuration, or a section of it, made of the values of its settings."""

    def value(declared: "Field[Any]") -> object:
        if "section" in declared.metadata:
            return build(declared.metadata["section"], values, f"{declared.name}.")
        return values[prefix + declared.name]

    return config(**{declared.name: value(declared) for declared in fields(cast("Any", config))})


# The kinds. The shown text can be parsed again, except for secrets.


def number(low: int, high: int) -> Kind[int]:
    """A whole number within bounds."""

    def parse(text: str) -> int:
        # Not int() alone, which accepts 1_0 and the digits of every script.
        if not re.fullmatch(r"[0-9]{1,12}", text) or not low <= int(text) <= high:
            raise ValueError("no such number")
        return int(text)

    return Kind(f"a whole number from {low} to {high}", parse)


def one_of(words: type[Word]) -> Kind[Word]:
    """A value of an enumeration."""
    return Kind(f"one of: {', '.join(words)}", lambda text: words(text.lower()))


def _yes_no(text: str) -> bool:
    yes = text.lower() in {"yes", "true", "on", "1"}
    if not yes and text.lower() not in {"no", "false", "off", "0"}:
        raise ValueError("neither yes nor no")
    return yes


def _line(text: str) -> str:
    # Some of these become email headers, where a line break would begin another header.
    if not text.isprintable():
        raise ValueError("not one line")
    return text


def _folder(text: str) -> Path:
    """An absolute path, which stays valid if the process changes its folder."""
    try:
        return Path(_line(text)).expanduser().absolute()
    except RuntimeError as error:
        raise ValueError("nobody's home") from error


def _matching(pattern: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if not re.fullmatch(pattern, text, re.ASCII):
            raise ValueError("another shape")
        return text

    return parse


def _language(text: str) -> str:
    """A language tag such as `pt-BR`, also written as the name of a folder (`pt_BR`)."""
    return _matching(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")(text.replace("_", "-"))


def _host(text: str) -> str:
    """The name or number of a host; an IPv6 number also as URLs have it, in brackets."""
    inside = re.fullmatch(r"\[([0-9a-fA-F:.]+)\]", text)
    return inside[1] if inside else _matching(r"[\w.:-]+")(text)


def _hosts(text: str) -> tuple[str, ...]:
    """Hosts as browsers ask for them: IPv6 numbers in brackets."""
    hosts = (_matching(r"[\w.:-]+|\[[0-9a-fA-F:.]+\]")(host.strip()) for host in text.split(","))
    return tuple(f"[{host}]" if host.count(":") > 1 and host[0] != "[" else host for host in hosts)


def _names(text: str) -> tuple[str, ...]:
    return tuple(_matching(r"[\w.-]+")(name.strip()) for name in text.split(",")) if text else ()


def _services(text: str) -> tuple[ChannelKind, ...]:
    return tuple(ChannelKind(name.strip().lower()) for name in text.split(",")) if text else ()


def _networks(text: str) -> Networks:
    return tuple(ip_network(network.strip().strip("[]")) for network in text.split(",")) if text else ()


def _shown_networks(networks: Networks) -> str:
    return ", ".join(str(each.network_address if each.num_addresses == 1 else each) for each in networks)


def _origin(text: str) -> str:
    """A URL without a path: links have to be short, and tokens are at fixed places in their paths."""
    url = urlsplit(text.lower())
    if url.scheme not in {"http", "https"} or not url.hostname or "@" in url.netloc:
        raise ValueError("no origin")
    origin = f"{url.scheme}://{url.netloc}"
    if text.lower() not in {origin, f"{origin}/"} or url.port == 0:
        raise ValueError("more than an origin")
    return origin


def _database(text: str) -> str:
    if not re.match(r"(sqlite|postgresql)(\+\w+)?://", _line(text), re.ASCII):
        raise ValueError("another database")
    file = text.partition(":///")[2].partition("?")[0]
    if text.startswith("sqlite") and (not file.strip("/") or ":memory:" in file):
        raise ValueError("a database that ends with its process")
    return text


def _private_key(text: str) -> str:
    """The text of a key. Only its form is checked here; the module that signs reads the key."""
    if text and not re.fullmatch(
        r"-----BEGIN ((RSA )?PRIVATE KEY)-----\n[A-Za-z0-9+/=\n]+\n-----END \1-----", text.strip()
    ):
        raise ValueError("no key, or a locked one")
    return text


def _without_password(url: str) -> str:
    """A URL without its password, and without its query, which may contain one as well."""
    return re.sub(r"\?.*", "?***", re.sub(r"(?<=://)([^/:]*):.*@", r"\1:***@", url))


def _set_or_not(secret: object) -> str:
    return "set" if secret else "not set"


# An address is checked for its form only; `pbem doctor` finds out whether email arrives.
ADDRESS = Kind("an email address, like games@example.org", _matching(r"[\w.+-]+@[\w-]+(\.[\w-]+)*"))
DATABASE = Kind("the URL of an sqlite or postgresql database", _database, _without_password)
DOMAIN = Kind("a domain, like example.org", _matching(r"[\w-]+(\.[\w-]+)*"))
FOLDER = Kind("a folder", _folder)
FOLDER_OR_NONE: Kind[Path | None] = Kind(
    "a folder", lambda text: _folder(text) if text else None, lambda folder: "" if folder is None else str(folder)
)
HOST = Kind("a host name or IP address", _host)
HOST_OR_NONE = Kind("a host name or IP address", lambda text: _host(text) if text else "")
HOSTS = Kind("a list of hosts, separated by commas", _hosts, ", ".join)
KEYS: Kind[Keyring | None] = Kind("a list of keys", lambda text: Keyring.parse(text) if text else None, _set_or_not)
LANGUAGE = Kind("a language tag, like de or pt-BR", _language)
LINE = Kind("one line of text", _line)
NAMES = Kind("a list of names, separated by commas", _names, ", ".join)
NETWORKS: Kind[Networks] = Kind("a list of addresses or networks, separated by commas", _networks, _shown_networks)
ORIGIN = Kind("a web address without a path, like https://games.example.org", _origin)
PACE: Kind[Pace] = Kind("a pace, like 1d or Tue,Fri 20:00 Europe/Berlin", parse_pace)
PASSWORD = Kind("a password of one line", _line, _set_or_not)
PORT = number(1, 65535)
SIGNING_KEY = Kind("an RSA private key without a passphrase, in PEM", _private_key, _set_or_not)
SERVICES: Kind[tuple[ChannelKind, ...]] = Kind(
    f"a list of services, separated by commas: {', '.join(ChannelKind)}", _services, ", ".join
)
YES_NO = Kind("yes or no", _yes_no, lambda yes: "yes" if yes else "no")
ZONE: Kind[ZoneInfo] = Kind("a time zone, like Europe/Berlin", parse_zone)
