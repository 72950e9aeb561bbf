"""The organisers' desk. Every page and form names the act it is for, and `permissions` guards it."""

from typing import Final

from pbem.web.desk import account, acts, audit, calls, emails, jobs, overview, people, table

BLUEPRINTS: Final = (
    account.pages,
    audit.pages,
    jobs.pages,
    calls.pages,
    acts.pages,
    emails.pages,
    overview.pages,
    people.pages,
    table.pages,
)
