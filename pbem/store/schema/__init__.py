"""The tables of the house.

Bodies of the log, states, boxes and orders are canonical JSON kept as text, never as a database's own JSON type: hashes
need the very bytes. Every moment is in UTC. A constraint has a name, so that a migration can speak of it on both
databases. What one game owns leads its key with the game, so that its rows lie together.

This package must never hold a query.
"""

from pbem.store.schema.base import Base, table_of
from pbem.store.schema.desk import Audit, AuditHead
from pbem.store.schema.mail import Alarm, Arrival, Ledger, Link, Outbox, Quota, Rate, Received, Traffic
from pbem.store.schema.overview import Flaw, Job, Mark, Tally, Term
from pbem.store.schema.people import (
    Ban,
    Block,
    Bounce,
    Organiser,
    Person,
    Preference,
    Session,
    Unreachable,
    Vacation,
    Volunteer,
)
from pbem.store.schema.tables import Call, Game, Invitation, JoinRequest, Log, Offer, Player, Talk, View, Vote
from pbem.store.schema.time import Beat, Deadline, Outage, Pause, Slot

__all__ = [
    "Alarm",
    "Arrival",
    "Audit",
    "AuditHead",
    "Ban",
    "Base",
    "Beat",
    "Block",
    "Bounce",
    "Call",
    "Deadline",
    "Flaw",
    "Game",
    "Invitation",
    "Job",
    "JoinRequest",
    "Ledger",
    "Link",
    "Log",
    "Mark",
    "Offer",
    "Organiser",
    "Outage",
    "Outbox",
    "Pause",
    "Person",
    "Player",
    "Preference",
    "Quota",
    "Rate",
    "Received",
    "Session",
    "Slot",
    "Talk",
    "Tally",
    "Term",
    "Traffic",
    "Unreachable",
    "Vacation",
    "View",
    "Volunteer",
    "Vote",
    "table_of",
]
