"""The lines of `pbem overview`, and the commands of `pbem all`: the desk's first page and its acts on many, on a terminal.

An act on many is the job that the desk would begin. The command goes on with it until it is done; a worker that runs at the
same time goes on with it as well, and also after this command was interrupted.
"""

import secrets
from collections.abc import Callable
from typing import Any, Final

import click

from pbem.domain.moments import relative_text
from pbem.domain.states import JobStatus
from pbem.ops.commands.groups import ALL
from pbem.ops.commands.terminal import FAILED, command, counted, operator, progress, read_settings
from pbem.ops.setup import open_server
from pbem.service.desk import jobs
from pbem.service.desk.jobs import Plan, What
from pbem.service.desk.overview import Overview, TableFilter, summary
from pbem.store import jobs as job_rows

_WORDS: Final = {
    "calls": "messages waiting",
    "overdue": "overdue tables",
    "unreachable": "tables where email to someone fails",
    "parked": "tables with emails given up",
    "paused": "paused tables",
    "frozen": "stopped tables",
    "flawed": "tables whose log fails its check",
    "queued": "overdue emails",
    "given_up": "emails given up",
    "unread": "incoming emails that couldn't be read",
}

_ONE: Final = {"announce": "person", "resend": "mail"}
"""What an act on many is about, where it is not about tables."""


_REASON: Final = click.option("--reason", required=True, help="Reason, logged and shown to everyone concerned.")
_DRY_RUN: Final = click.option("--dry-run", is_flag=True, help="Preview what would happen, and who would be told.")


def overview(trouble: str, status: str, text: str, most: int) -> list[str]:
    """What needs an organiser, whether the server works, and tables, line by line."""
    with open_server(read_settings()) as server:
        return _lines(server.read(summary, TableFilter(text=text, trouble=trouble, status=status), limit=most))


def _command(name: str, *, example: str) -> Callable[[Callable[..., None]], click.Command]:
    """A command with the options that every act on many has."""

    def decorate(run: Callable[..., None]) -> click.Command:
        return command(ALL, name, example=example)(_REASON(_DRY_RUN(run)))

    return decorate


@_command("pause", example="pbem all pause --reason 'The server moves on Sunday.'")
def all_pause(*, reason: str, dry_run: bool) -> None:
    """Pause every running table, and tell the players."""
    _run("pause", reason, dry_run=dry_run)


@_command("resume", example="pbem all resume --reason 'The server has moved.'")
def all_resume(*, reason: str, dry_run: bool) -> None:
    """Resume every paused table, and tell the players."""
    _run("resume", reason, dry_run=dry_run)


@_command("extend", example="pbem all extend 1d --reason 'The relay was slow all day.'")
@click.argument("more")
def all_extend(more: str, *, reason: str, dry_run: bool) -> None:
    """Give everyone whose turn it is more time. MORE is `1d` or `2026-12-01 20:00`, for example."""
    _run("extend", reason, more, dry_run=dry_run)


@_command("announce", example="pbem all announce news.txt --reason 'Everyone should know.'")
@click.argument("file", type=click.File(encoding="utf-8"))
def all_announce(file: Any, *, reason: str, dry_run: bool) -> None:
    """Email the text in FILE to everyone who plays. With `-`, standard input."""
    _run("announce", reason, file.read(), dry_run=dry_run)


@_command("resend", example="pbem all resend example.org --reason 'They had blocklisted us.'")
@click.argument("domain")
@click.option("--days", type=click.IntRange(1, 30), default=7, show_default=True, help="How many days back to go.")
def all_resend(domain: str, *, days: int, reason: str, dry_run: bool) -> None:
    """Resend emails that DOMAIN refused or bounced. Outdated ones stay unsent."""
    _run("resend", reason, domain, days, dry_run=dry_run)


def _run(name: str, reason: str, text: str = "", days: int = 7, *, dry_run: bool) -> None:
    what = What(name)
    with open_server(read_settings()) as server:
        facts = jobs.facts_of(server, what, text, days)
        if dry_run:
            _show(what, server.read(jobs.plan, operator(), what, facts))
            return
        job_id = server.run(jobs.begin, operator(), what, facts, reason, secrets.token_hex(16))
        with progress() as begin:
            step = begin(f"Job {job_id}", server.query(job_rows.read, job_id).total)
            while jobs.advance(server, job_id, step):
                pass
        done = server.query(job_rows.read, job_id)
    for number, why in done.failures:
        click.echo(f"{_ONE.get(name, 'table')} {number}: {why}")
    click.echo(f"{done.done} of {done.total} done, {done.failed} could not be done.")
    if done.failed:
        raise SystemExit(FAILED)


def _show(what: What, plan: Plan) -> None:
    for each in plan.listed:
        table = f" (table {each.game_id})" if what == "resend" and each.game_id else ""
        click.echo(f"{each.number}{table}: {each.called or 'without a name'}")
    if plan.total > len(plan.listed):
        click.echo(f"... and {plan.total - len(plan.listed)} more.")
    click.echo(f"{counted(plan.total, _ONE.get(what, 'table'))}. Nothing was changed: this was a preview.")


def _lines(found: Overview) -> list[str]:
    lines = [f"{getattr(found.counts, name):6} {words}" for name, words in _WORDS.items()]
    if found.counts.oldest is not None:
        lines.append(f"       the oldest of these emails was due {relative_text(found.now, found.counts.oldest)}")
    if found.playing is not None:
        lines.append(f"{found.playing:6} tables that are being played")
    lines += [
        f"worker {each.worker}: last heartbeat {relative_text(found.now, each.beat_at)}" for each in found.workers
    ]
    if found.doubt is not None:
        lines += [found.doubt.says, found.doubt.remedy]
    elif not found.awake:
        lines.append("No worker has been seen for minutes: no email goes out, and no clock runs out.")
    lines += [
        f"{'email paused' if each.email_paused else 'outage'} from {each.start_at:%Y-%m-%d %H:%M} to "
        f"{f'{each.end_at:%H:%M} UTC' if each.end_at else 'now'}: {each.why or 'no worker was running'}"
        for each in found.outages
    ]
    lines += [
        f"job {job.id}, {job.what}: {job.dealt_with} of {job.total}"
        for job in found.jobs
        if job.status == JobStatus.RUNNING
    ]
    for email in found.given_up:
        why = email.lines[-1].detail or email.lines[-1].what
        lines.append(f"mail {email.outbox_id} ({email.kind}) to person {email.person_id} was given up: {why}")
    lines += [
        f"mail {email.id} that came in on {email.received_at:%Y-%m-%d} could not be read" for email in found.unread
    ]
    for each in found.page.tables:
        due = "" if each.row.due_at is None else f", next deadline {relative_text(found.now, each.row.due_at)}"
        wrong = f" [{', '.join(each.troubles)}]" if each.troubles else ""
        lines.append(f"table {each.row.id}: {each.row.title} ({each.row.kind}, {each.row.status}{due}){wrong}")
    return lines
