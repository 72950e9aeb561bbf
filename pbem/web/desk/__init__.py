"""The organisers' desk: pages for those who help, each behind the door that `door` keeps.

Every page and every form of these blueprints names the act that it is for; the handbook's page on organising has them all.
"""

from typing import Final

from pbem.web.desk import account, audit, bulk, calls, deeds, mail, overview, people, table

BLUEPRINTS: Final = (
    account.pages,
    audit.pages,
    bulk.pages,
    calls.pages,
    deeds.pages,
    mail.pages,
    overview.pages,
    people.pages,
    table.pages,
)
