"""Every setting of a server: its name, its kind of value, its default and what it is for."""


# ruff: noqa: RUF009 - the calls in the defaults of these fields only declare settings.

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from zoneinfo import ZoneInfo

from pbem.config.checks import host_of, is_local
from pbem.config.fields import (
    ADDRESS,
    DATABASE,
    DOMAIN,
    FOLDER,
    FOLDER_OR_NONE,
    HOST,
    HOST_OR_NONE,
    HOSTS,
    KEYS,
    LANGUAGE,
    LINE,
    NAMES,
    NETWORKS,
    ORIGIN,
    PACE,
    PASSWORD,
    PORT,
    SERVICES,
    SIGNING_KEY,
    YES_NO,
    ZONE,
    Derived,
    Networks,
    Setting,
    number,
    one_of,
    section,
    setting,
    settings_of,
)
from pbem.config.sources import read_private_text
from pbem.domain.channels import ChannelKind, ChannelRules
from pbem.domain.errors import BadInput
from pbem.domain.pace import Pace
from pbem.tokens import Keyring


class Security(StrEnum):
    """The ways to protect the connection to the mail relay."""

    NONE = "none"
    STARTTLS = "starttls"
    TLS = "tls"


class SenderCheck(StrEnum):
    """The proof that an email needs before its commands count."""

    STRICT = "strict"
    TOKEN = "token"  # noqa: S105 - the name of a check, not a secret
    OFF = "off"


class ResultsPlace(StrEnum):
    """Where our mail server writes its results, relative to the line that says how it received the email."""

    MEASURED = "measured"
    ABOVE = "above"
    BELOW = "below"
    ANYWHERE = "anywhere"


_SMTP_PORTS: dict[str, str] = {Security.NONE: "25", Security.STARTTLS: "587", Security.TLS: "465"}

KEYS_FILE = "keys"
"""The file of the keys, in the data folder."""


@dataclass(frozen=True, slots=True)
class Web:
    """The web server."""

    host: str = setting(HOST, "127.0.0.1", "Address to listen on.")
    port: int = setting(PORT, "8000", "Port to listen on.")
    admin_port: int = setting(number(0, 65535), "0", "Port for metrics and health; 0 for none.")
    admin_host: str = setting(HOST, "127.0.0.1", "Address of the admin port; keep it on this machine.")
    threads: int = setting(number(1, 64), "8", "Requests answered at the same time.")
    proxies: Networks = setting(
        NETWORKS, "", "Addresses or networks of the web servers in front, separated by commas, which say who is asking."
    )


@dataclass(frozen=True, slots=True)
class Smtp:
    """The mail relay."""

    host: str = setting(HOST_OR_NONE, "", "The mail relay; without one, emails stay in a local mailbox.")
    security: Security = setting(one_of(Security), "starttls", "Encryption to the relay.")
    port: int = setting(
        PORT,
        Derived("587; with tls 465, with none 25", lambda texts: _SMTP_PORTS[texts["smtp.security"]]),
        "Port of the relay.",
    )
    user: str = setting(LINE, "", "User name at the relay.")
    password: str = setting(PASSWORD, "", "Password at the relay.", secret=True)
    timeout: int = setting(number(1, 120), "60", "Seconds to wait for the relay; a lease lasts longer.")


def _domain(url: str) -> str:
    host = host_of(url)
    return "localhost" if ":" in host else host


@dataclass(frozen=True, slots=True)
class Mail:
    """Outgoing email: addresses, delay and rates."""

    domain: str = setting(
        DOMAIN,
        Derived(
            "the host of base_url, or localhost if that is an IPv6 address", lambda texts: _domain(texts["base_url"])
        ),
        "Domain of our addresses: replies, bounces and list names.",
    )
    sender: str = setting(
        ADDRESS,
        Derived("games@ the mail domain", lambda texts: f"games@{texts['mail.domain']}"),
        "The address that all emails come from.",
    )
    # Someone trying out the server alone, with every email on screen, should not wait a minute for each turn.
    hold: int = setting(
        number(0, 3600),
        Derived("60; 5 in development", lambda texts: "5" if texts["development"] == "yes" else "60"),
        "Seconds an email waits so that its move can be taken back.",
    )
    per_second: int = setting(number(0, 1000), "10", "Maximum emails per second; 0 for no limit.")
    per_domain: int = setting(number(0, 1000), "1", "The same for any one domain; 0 for no limit.")
    new_domain: int = setting(
        number(0, 10_000), "200", "Maximum emails per hour to a domain we first email today; 0 for no limit."
    )
    nameserver: str = setting(
        HOST_OR_NONE, "", "DNS server for our checks, such as 9.9.9.9; by default this machine's."
    )


@dataclass(frozen=True, slots=True)
class Dkim:
    """DKIM signatures, for a relay that doesn't add them."""

    domain: str = setting(
        DOMAIN,
        Derived("the mail domain", lambda texts: texts["mail.domain"]),
        "Domain that signs our emails: the sender's or a parent of it.",
    )
    selector: str = setting(DOMAIN, "pbem", "Name of the public key in the domain's DNS.")
    private_key: str = setting(
        SIGNING_KEY, "", "RSA key in PEM for signing emails; without one, the relay signs.", secret=True
    )


@dataclass(frozen=True, slots=True)
class Inbound:
    """Incoming email."""

    replies: bool = setting(
        YES_NO,
        Derived("yes in development, otherwise no", lambda texts: texts["development"]),
        "Whether players can reply; needs a mail server.",
    )
    lmtp_host: str = setting(HOST, "127.0.0.1", "Address for incoming email by LMTP.")
    # In development there is a page to reply on, and several checkouts would compete for a port.
    lmtp_port: int = setting(
        number(0, 65535),
        Derived("8024; 0 in development", lambda texts: "0" if texts["development"] == "yes" else "8024"),
        "Port for incoming email by LMTP; 0 for none.",
    )
    secret: str = setting(PASSWORD, "", "Secret that signs emails posted to /inbound.", secret=True)
    sender_check: SenderCheck = setting(
        one_of(SenderCheck),
        "strict",
        "What a move by reply needs: strict (a sender authenticated by our mail server), token (a known sender), or off (only the token).",
    )
    authserv_id: str = setting(
        LINE,
        Derived("the mail domain", lambda texts: texts["mail.domain"]),
        "Our mail server's name in its Authentication-Results.",
    )
    results_place: ResultsPlace = setting(
        one_of(ResultsPlace),
        "measured",
        "Where our mail server writes them: above or below its own Received line, anywhere, or measured by test emails.",
    )


@dataclass(frozen=True, slots=True)
class Site:
    """The look of the site, and its defaults."""

    name: str = setting(LINE, "Auction games by email", "Name of the site, on pages and in emails.")
    contact: str = setting(
        ADDRESS,
        Derived("organiser@ the mail domain", lambda texts: f"organiser@{texts['mail.domain']}"),
        "Where people can reach the organiser.",
    )
    pace: Pace = setting(PACE, "1d", "Usual pace of a new table.")
    timezone: ZoneInfo = setting(ZONE, "UTC", "Time zone for people who haven't chosen one.")


@dataclass(frozen=True, slots=True)
class Channels:
    """Messages through other services than email."""

    services: tuple[ChannelKind, ...] = setting(
        SERVICES,
        "webhook, ntfy, discord, telegram, matrix, browser",
        "Services by which people can be told of their turns besides email; empty for none.",
    )
    http: bool = setting(YES_NO, "no", "Whether they can be reached without encryption.")
    loopback: bool = setting(
        YES_NO, "no", "Whether they can be on this machine, for trying out: anyone could then reach its ports."
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on input from outside."""

    request_bytes: int = setting(number(1024, 2**24), "65536", "Largest form, in bytes; the longest real one has 4 KB.")
    mail_bytes: int = setting(
        number(2**16, 2**26), "1048576", "Largest incoming email, in bytes; a reply quotes at most 60 KB."
    )
    open_tables: int = setting(number(1, 1000), "20", "Maximum open and running tables per person.")
    demos: int = setting(number(1, 60), "10", "Maximum demos per hour from one network; 60 in all.")
    answers_a_turn: int = setting(
        number(1, 100), "5", "Maximum receipts per player and turn, and as many for refusals."
    )
    answers_a_day: int = setting(
        number(1, 1000), "20", "Maximum receipts per player and day, and as many for refusals."
    )
    network_an_hour: int = setting(
        number(0, 10_000), "20", "Maximum emails per hour to addresses typed from one network; 0 for no limit."
    )
    mailbox_a_day: int = setting(
        number(0, 1000),
        "5",
        "Maximum emails per day to one mailbox whose address strangers typed, and as many for players; 0 for no limit.",
    )
    domain_an_hour: int = setting(
        number(0, 10_000), "100", "Maximum emails per hour to typed addresses of one domain; 0 for no limit."
    )
    strangers_a_day: int = setting(
        number(0, 1_000_000), "2000", "Maximum emails per day to typed addresses in all; 0 for no limit."
    )
    # Links live two weeks.
    unconfirmed_days: int = setting(number(1, 14), "3", "Days until an unconfirmed address is deleted.")


@dataclass(frozen=True, slots=True)
class Games:
    """How games are played that other packages bring."""

    trusted: tuple[str, ...] = setting(
        NAMES, "", "Packages or games that run inside the server without limits, separated by commas."
    )
    seconds: int = setting(number(1, 60), "2", "Seconds that rules from other packages may work.")
    megabytes: int = setting(number(64, 4096), "256", "Megabytes that such rules may use.")


def _names_of(host: str) -> str:
    # Someone trying out the server may enter any name of their own machine.
    named = f"[{host}]" if ":" in host else host
    return ", ".join(dict.fromkeys([named, "localhost", "127.0.0.1", "[::1]"])) if is_local(host) else named


@dataclass(frozen=True, slots=True)
class Config:
    """All settings. A default may depend on settings above it."""

    data_dir: Path = setting(FOLDER, "./.pbem", "Folder of the database, the keys and the local mailbox.")
    database_url: str = setting(
        DATABASE,
        Derived("`sqlite:///<data_dir>/pbem.sqlite3`", lambda texts: f"sqlite:///{texts['data_dir']}/pbem.sqlite3"),
        "The database: SQLite for one machine, PostgreSQL for several.",
        secret=True,
    )
    keys: Keyring | None = setting(
        KEYS,
        Derived("the file <data_dir>/keys, made by `pbem init`", lambda texts: _own_keys(Path(texts["data_dir"]))),
        "The keys that links are made with, newest first. Anyone with these can play for everyone.",
        secret=True,
    )
    web: Web = section(Web)
    base_url: str = setting(
        ORIGIN,
        Derived("http://localhost: and the port", lambda texts: f"http://localhost:{texts['web.port']}"),
        "Address of the site, as used in emails.",
    )
    trusted_hosts: tuple[str, ...] = setting(
        HOSTS,
        Derived(
            "the host of base_url; if that is this machine, localhost, 127.0.0.1 and [::1]",
            lambda texts: _names_of(host_of(texts["base_url"])),
        ),
        "Names that browsers may use for the site; other requests are refused.",
    )
    smtp: Smtp | None = section(Smtp)
    development: bool = setting(
        YES_NO,
        Derived(
            "yes if base_url is this machine and there is no relay, otherwise no",
            lambda texts: "yes" if is_local(host_of(texts["base_url"])) and not texts["smtp.host"] else "no",
        ),
        "Show every email to every visitor at /mailbox; refused unless base_url and web.host are this machine.",
    )
    language: str = setting(LANGUAGE, "en", "Language of all pages and emails; any but en needs a catalogue.")
    catalogues: Path | None = setting(
        FOLDER_OR_NONE, "", "Folder of the catalogues: German is in de/LC_MESSAGES/pbem.mo."
    )
    mail: Mail = section(Mail)
    dkim: Dkim | None = section(Dkim)
    inbound: Inbound = section(Inbound)
    site: Site = section(Site)
    channels: Channels = section(Channels)
    limits: Limits = section(Limits)
    games: Games = section(Games)

    def channel_rules(self) -> ChannelRules:
        """What people may enter as a channel."""
        return ChannelRules(self.channels.services, self.channels.http, self.channels.loopback)

    def keyring(self) -> Keyring:
        """The keys of links. Raises BadInput if there are none yet."""
        if self.keys is None:
            raise BadInput("This server has no keys yet.", remedy="Create them with `pbem init`.")
        return self.keys


SETTINGS: tuple[Setting, ...] = tuple(settings_of(Config))


def _own_keys(data_dir: Path) -> str:
    path = data_dir / KEYS_FILE
    return read_private_text(path) if path.exists() else ""
