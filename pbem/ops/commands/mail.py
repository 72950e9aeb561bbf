"""The commands of `pbem mail`: whether emails arrive, how they look, and taking those that come in."""

import sys
from datetime import timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address

import click

from pbem import program_log
from pbem.clock import SystemClock
from pbem.domain.errors import BadInput
from pbem.ops import mail_checks, mail_intake
from pbem.ops.commands.groups import MAIL_SYSTEM
from pbem.ops.commands.terminal import FAILED, command, counted, read_settings, say, show_findings
from pbem.store.database_errors import explained

TRY_AGAIN = 75
"""What mail servers read as "not now" (EX_TEMPFAIL)."""


@command(MAIL_SYSTEM, "test", example="pbem mail test me@example.org")
@click.argument("address")
@click.option("--wait", "minutes", type=click.IntRange(1, 60), help="Minutes to wait for your reply to the email.")
def mail_test(address: str, minutes: int | None) -> None:
    """Send a test email to ADDRESS, and show the relay's answer.

    Without a relay it goes to the local mailbox. If replies are read and a worker runs, the email asks for one: --wait or,
    later, `pbem doctor` shows what arrived, and whether a reply sent this way is trusted.
    """
    config, sent_at = read_settings(), SystemClock().now()
    if minutes is not None and not config.inbound.replies:
        raise BadInput("Replies aren't read here.", remedy="Set PBEM_INBOUND_REPLIES=yes, and see the handbook.")
    outcome = mail_checks.send_trial(config, address, mail_checks.address_for_answer(config))
    if outcome.result != "accepted":
        click.echo(f"Not accepted ({outcome.result}): {outcome.answer}. `pbem doctor` says more.")
        raise SystemExit(FAILED)
    say(f"Accepted: {outcome.answer}. Now look at it in your inbox.")
    if minutes is None:
        return
    say(f"Reply to it from there; waiting for {counted(minutes, 'minute')} at most.")
    answer = mail_checks.await_answer(config, sent_at, timedelta(minutes=minutes))
    if answer is None:
        click.echo(
            "No reply has been read in that time. Run `pbem doctor` to see whether email comes in and a worker is running."
        )
        raise SystemExit(FAILED)
    show_findings([mail_intake.finding_of(answer)])


@command(MAIL_SYSTEM, "preview", example="pbem mail preview turn --game 7 --seat 2 --format html > turn.html")
@click.argument("kind")
@click.option("--game", "game_id", type=click.IntRange(1), required=True, help="The game the email is about.")
@click.option("--seat", type=click.IntRange(1), required=True, help="The seat it's for (the first is 1).")
@click.option("--format", "form", type=click.Choice(["text", "html", "eml"]), default="text", help="What to show.")
def mail_preview(kind: str, game_id: int, seat: int, form: str) -> None:
    """Show an email of KIND as a seat would get it. It shows everything that seat sees.

    It needn't be due; its links open nothing. Nothing is sent or changed.
    """
    content = mail_checks.preview(read_settings(), kind, game_id, seat - 1, form)
    click.echo(content, nl=False)


@command(MAIL_SYSTEM, "check", example="pbem mail check games.example.org --selector pbem --address 203.0.113.7")
@click.argument("domain", required=False)
@click.option("--selector", default="", help="Selector of the relay's key, if we don't sign.")
@click.option(
    "--address", "numbers", multiple=True, type=ip_address, help="IP address that emails go out from; can be repeated."
)
def mail_check(domain: str | None, selector: str, numbers: tuple[IPv4Address | IPv6Address, ...]) -> None:
    """Check the DNS of DOMAIN, and print the records you need. Without DOMAIN, the one in the settings.

    Checks SPF, DKIM, DMARC, MX, and the name of the IP address that emails leave from: the
    relay's, or the domain's if the relay's is not public. Nothing is sent.
    """
    show_findings(mail_checks.check_records(read_settings(), domain or "", selector, tuple(map(str, numbers))))


@command(MAIL_SYSTEM, "serve", example="pbem mail serve")
def mail_serve() -> None:
    """Take emails from the local mail server by LMTP. `pbem worker` reads them.

    Only for several processes on PostgreSQL; otherwise `pbem serve` does this.
    """
    config = read_settings()
    program_log.configure()
    mail_intake.serve(config, say)


@command(MAIL_SYSTEM, "retry", example="pbem mail retry")
def mail_retry() -> None:
    """Reread incoming emails that were given up. Nothing is done twice."""
    number = mail_intake.retry(read_settings())
    click.echo(f"{counted(number, 'email')} will be tried again." if number else "No emails are parked.")


@command(
    MAIL_SYSTEM,
    "receive",
    example="pbem mail receive --from ann@example.net --to r+TOKEN@games.example.org < message.eml",
)
@click.option("--from", "envelope_from", default="", metavar="ADDRESS", help="The sender of the envelope.")
@click.option("--to", "envelope_to", required=True, metavar="ADDRESS", help="The one recipient.")
def mail_receive(envelope_from: str, envelope_to: str) -> None:
    """Take an email from standard input. For mail servers that pipe emails to programs; a worker reads it.

    Exit code 75 asks the mail server to try again, because the email couldn't be stored.
    """
    try:
        config = read_settings()
        # One byte more than is read tells that there are more.
        raw = sys.stdin.buffer.read(config.limits.mail_bytes + 1)
        with explained():
            mail_intake.take_one(config, envelope_from, envelope_to, raw)
    except Exception as error:  # noqa: BLE001 - with any other code a mail server would give the email up
        click.echo(f"Not kept: {error}", err=True)
        raise SystemExit(TRY_AGAIN) from None
