"""The commands of `pbem organiser`, `pbem call` and `pbem audit`: who helps, who waits for help, and what was done."""

import sys
from pathlib import Path

import click

from pbem.domain.errors import BadInput
from pbem.ops.commands.groups import AUDIT, CALL, ORGANISER
from pbem.ops.commands.terminal import FAILED, command, counted, operator, plain, read_settings
from pbem.ops.setup import open_server
from pbem.service.desk import audit, calls, one_time_codes, organisers
from pbem.store import organisers as organiser_rows
from pbem.store.audit import AuditFilter


@command(ORGANISER, "add", example="pbem organiser add Ann ann@example.org")
@click.argument("name")
@click.argument("address")
def organiser_add(name: str, address: str) -> None:
    """Let NAME sign in to the desk. Asks for a passphrase."""
    with open_server(read_settings()) as server:
        passphrase = click.prompt("Passphrase", hide_input=True, err=True)
        organisers.must_be_good(passphrase)
        if click.prompt("The same again", hide_input=True, err=True) != passphrase:
            raise BadInput("The two passphrases differ.", remedy="Nothing was changed; try again.")
        organisers.add(server, operator(), name, address, passphrase)
    click.echo(f"{name} can sign in to the desk.")


@command(ORGANISER, "list", example="pbem organiser list")
def organiser_list() -> None:
    """Show all organisers."""
    with open_server(read_settings()) as server, server.store.read() as tx:
        rows = organiser_rows.all_of_them(tx)
    for row in rows:
        codes = "  with codes" if row.totp is not None else ""
        click.echo(f"{row.name}  {row.address}  since {row.created_at:%Y-%m-%d}{codes}")
    if not rows:
        click.echo("There is none. Add one with `pbem organiser add`.")


@command(ORGANISER, "remove", example="pbem organiser remove Ann")
@click.argument("name")
def organiser_remove(name: str) -> None:
    """Remove NAME as an organiser, and sign them out."""
    with open_server(read_settings()) as server:
        server.run(organisers.remove, operator(), name)
    click.echo(f"{name} can no longer sign in.")


@command(ORGANISER, "totp", example="pbem organiser totp Ann")
@click.argument("name")
@click.option("--off", is_flag=True, help="Ask for the passphrase only, say after a phone was lost.")
def organiser_totp(name: str, *, off: bool) -> None:
    """Ask NAME for a code from an authenticator app as well.

    The secret is shown once. Codes are required once you have entered one here.
    """
    config = read_settings()
    with open_server(config) as server:
        if off:
            server.run(organisers.drop_codes, operator(), name)
            click.echo(f"{name} signs in with the passphrase alone.")
            return
        server.read(organisers.named, name)
        secret = one_time_codes.new_secret(server.randomness)
        click.echo(
            f"The secret: {secret}\nThe same as an address: {one_time_codes.address(secret, name, config.site.name)}"
        )
        code = click.prompt("Code shown now", err=True)
        server.run(organisers.require_codes, operator(), name, secret, code)
    click.echo(f"{name} is asked for a code from now on.")


@command(CALL, "list", example="pbem call list")
@click.option("--closed", is_flag=True, help="Closed messages, newest first.")
def call_list(*, closed: bool) -> None:
    """Show waiting messages, oldest first."""
    with open_server(read_settings()) as server:
        found = server.read(calls.queue, operator(), "closed" if closed else "open").calls
    for each in found:
        table = f", from table {each.row.game_id} ({each.table})" if each.row.game_id else ""
        click.echo(f"{each.row.id}  {each.row.at:%Y-%m-%d %H:%M} UTC  {each.caller or 'someone without a name'}{table}")
        for text in (each.row.text, each.row.answer):
            if text is not None:
                click.echo(click.wrap_text(text, 72, "    ", "    ", preserve_paragraphs=True) + "\n")
    if not found:
        click.echo("There is none." if closed else "Nobody waits.")


@command(CALL, "answer", example="pbem call answer 7 --text 'It is in the other folder.'")
@click.argument("number", type=click.IntRange(1))
@click.option("--text", help="The answer; otherwise read from standard input.")
def call_answer(number: int, text: str | None) -> None:
    """Answer message NUMBER by email, and close it."""
    with open_server(read_settings()) as server:
        server.run(calls.answer, operator(), number, sys.stdin.read() if text is None else text)
    click.echo(f"Message {number} is answered.")


@command(CALL, "close", example="pbem call close 7 --reason 'You found it yourself.'")
@click.argument("number", type=click.IntRange(1))
@click.option("--reason", required=True, help="Reason; the sender is told.")
def call_close(number: int, reason: str) -> None:
    """Dismiss message NUMBER without an answer."""
    with open_server(read_settings()) as server:
        server.run(calls.close, operator(), number, reason)
    click.echo(f"Message {number} is closed.")


@command(AUDIT, "list", example="pbem audit list --table 12")
@click.option("--table", "game_id", type=click.IntRange(1), help="Only this table number.")
@click.option("--person", "person_id", type=click.IntRange(1), help="Only this person number.")
@click.option("--act", help="Only acts of this kind, like pause.")
@click.option("--by", "actor", help="Only this actor, as in the list, like 'organiser Ann'.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Show at most this many rows."
)
def audit_list(game_id: int | None, person_id: int | None, act: str | None, actor: str | None, limit: int) -> None:
    """Show what was done, newest first."""
    with open_server(read_settings()) as server:
        found = server.read(audit.newest, AuditFilter(act, game_id, person_id, actor), limit=limit)
    for row in found:
        about = "".join(f"  {what} {of}" for what, of in (("table", row.game_id), ("person", row.person_id)) if of)
        click.echo(f"{row.seq}  {row.at:%Y-%m-%d %H:%M} UTC  {row.actor}  {row.act}{about}\n    {row.reason}")
    if not found:
        click.echo("No such acts.")


@command(AUDIT, "verify", example="pbem audit verify --head 3fa94c1b22d07e6a91c5")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True, readable=True), required=False)
@click.option("--head", "heads", multiple=True, help="A hash noted earlier; can be repeated.")
def audit_verify(file: Path | None, heads: tuple[str, ...]) -> None:
    """Check that nothing in the audit was changed or removed. With FILE, check an exported chain, without a server."""
    if file is not None:
        with file.open(encoding="utf-8", errors="replace") as lines:
            outcome = audit.verify_lines(lines, heads)
    else:
        with open_server(read_settings()) as server:
            outcome = server.read(audit.verify, heads)
    for flaw in outcome.flaws:
        click.echo(plain(flaw.says))
    for head in outcome.missing:
        click.echo(f"no row has the head {head}")
    click.echo(f"{counted(outcome.rows, 'row')}: {'all well' if outcome.sound else 'something was changed'}.")
    if not outcome.sound:
        raise SystemExit(FAILED)


@command(AUDIT, "export", example="pbem audit export > audit.jsonl")
def audit_export() -> None:
    """Write the whole audit chain as lines of JSON."""
    with open_server(read_settings()) as server:
        for line in audit.export(server):
            click.echo(line, nl=False)
