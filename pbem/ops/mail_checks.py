"""Whether emails arrive: the DNS records, a test email for both directions, and previews."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from secrets import token_hex
from time import sleep
from typing import Final

from pbem.clock import SystemClock
from pbem.config.checks import is_local
from pbem.config.settings import Config
from pbem.domain import finding
from pbem.domain.errors import Gone
from pbem.domain.finding import Finding
from pbem.mail.send.smtp import Outcome, OutgoingEmail
from pbem.mail.wire import html_of, parse, text_of
from pbem.mail.write.compose import EmailContent, Reader, Thread, compose
from pbem.ops.setup import open_server, open_store, server_on
from pbem.service.incoming import round_trip
from pbem.service.incoming.round_trip import CheckedReply
from pbem.service.outgoing import preview as previewing
from pbem.service.outgoing.post import post_of, signer_of
from pbem.service.people.addresses import normalised
from pbem.service.server import Server
from pbem.store import outages

_LOOK_EVERY: Final = 2
"""Seconds between two looks for a reply: a worker reads incoming emails within some seconds."""


def address_for_answer(config: Config) -> str:
    """The token of the address for the reply to a test email; empty if replies are not read."""
    if not config.inbound.replies:
        return ""
    with open_server(config) as server:
        return server.run(round_trip.open_address)


def await_answer(config: Config, since: datetime, patience: timedelta) -> CheckedReply | None:
    """The reply to a test email that was sent at that time, once a worker has read it; None if none comes in time."""
    with open_server(config) as server:
        for _look in range(int(patience.total_seconds() // _LOOK_EVERY) + 1):
            with server.store.read() as tx:
                answer = round_trip.last_reply(tx, since)
            if answer is not None:
                return answer
            sleep(_LOOK_EVERY)
    return None


def send_forged(config: Config, server: Server) -> Outcome:
    """Send an email to ourselves with results of our mail server that it never wrote, as a forger would."""
    forged = [f"Authentication-Results: {each}\r\n" for each in round_trip.forged_results(config.inbound.authserv_id)]
    above = "".join([f"{round_trip.FORGED_HEADER}: yes\r\n", *forged]).encode()
    return send_trial(config, f"r+{server.run(round_trip.address)}@{config.mail.domain}", above=above)


def send_trial(config: Config, address: str, reply: str = "", above: bytes = b"") -> Outcome:
    """Send a test email that says what to look at, and asks for a reply if `reply` has a token to send it to.

    `above` are headers to be put on top, which no signature covers. Raises Gone while email is paused.
    """
    _must_not_be_paused(config)
    to, _ = normalised(address)
    post, now = post_of(config), SystemClock().now()
    number = token_hex(8)
    written = EmailContent(
        kind="trial",
        reader=Reader("", to, config.site.timezone),
        thread=Thread(f"<trial.{number}@{config.mail.domain}>"),
        date=now,
        words={"signed": config.dkim is not None, "domain": config.mail.domain},
        stop="",
        reply=reply,
    )
    content = compose(post.letterhead, written)
    if post.signer is not None:
        content = post.signer.sign(content, now)
    with post.transport.session() as session:
        return session.send(OutgoingEmail(f"trial.{number}", config.mail.sender, to, above + content))


def _must_not_be_paused(config: Config) -> None:
    """Raises Gone while outgoing email is paused. A server that is not set up yet has no pause."""
    if config.keys is None:
        return
    with open_store(config) as store, store.read() as tx:
        if outages.email_pause(tx) is not None:
            raise Gone("Outgoing email is paused.", remedy="Resume it with `pbem mail resume`, or try again later.")


def preview(config: Config, kind: str, game_id: int, seat: int, form: str) -> bytes | str:
    """An email of that kind to that seat: its `text`, its `html`, or all of it as `eml`."""
    with open_store(config) as store:
        content = previewing.preview(server_on(store, config), post_of(config).letterhead, kind, game_id, seat)
    if form == "eml":
        return content
    return text_of(parse(content)) if form == "text" else html_of(parse(content))


def check_records(
    config: Config, domain: str = "", selector: str = "", addresses: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """Check the DNS records for emails of a domain, by default that of the settings."""
    try:
        from pbem.mail.dns import nameserver, records
    except ImportError:
        says = "The DNS library isn't installed, so nothing was checked."
        yield finding.warning("dns", says, "Install pbem with its extra: pip install 'pbem[dkim]'")
        return
    signer = signer_of(config) if domain in ("", config.mail.domain) and not selector else None
    domain = (domain or config.mail.domain).lower().rstrip(".")
    if is_local(domain):
        yield finding.ok("dns", f"{domain} is only this machine, so the DNS wasn't checked")
        return
    asked = nameserver.Nameserver(config.mail.nameserver)
    if not addresses and config.smtp is not None:
        addresses = records.sending_addresses(asked, config.smtp.host, domain)
    yield from records.check(
        asked,
        records.MailSetup(
            domain=domain,
            signing=domain if signer is None else signer.domain,
            selector=selector if signer is None else signer.selector,
            record="" if signer is None else signer.record(),
            addresses=addresses,
        ),
    )
