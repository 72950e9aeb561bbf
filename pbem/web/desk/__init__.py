"""The organisers' desk: pages for those who help, each behind the door that `door` keeps.

Every page and every form of these blueprints names the act that it is for; the handbook's page on organising has them all.
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
