"""How a step of the database is run: on a connection that `pbem.store.migrations` has prepared, and never in another way.

Tables are changed in batches, because SQLite can alter little in place. On PostgreSQL each step has a transaction of its
own; on SQLite all steps share the one that is under way, so that an upgrade happens whole or not at all.
"""

from typing import Any

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import BigInteger

from pbem.store.schema import Base
from pbem.store.types import Moment


def written(kind: str, thing: Any, _context: AutogenContext) -> str | bool:
    """Our types as those of SQLAlchemy: a step must not change because a module of ours does."""
    if kind == "type" and isinstance(thing, Moment):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(thing, BigInteger):
        return "sa.BigInteger().with_variant(sa.Integer(), 'sqlite')"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transaction_per_migration=True,
    compare_server_default=True,
    render_item=written,
)
with context.begin_transaction():
    context.run_migrations()
