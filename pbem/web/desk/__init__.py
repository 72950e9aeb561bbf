"""The organisers' desk. `permissions` guards every page.

Every page and every form names the act it is for; the handbook's page on organising lists them all.
"""

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
