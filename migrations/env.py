"""How a migration runs: on a connection prepared by `pbem.store.migrations`, and in no other way.

Tables are changed in batches, because SQLite can alter little in place. On PostgreSQL each migration has its own
transaction; on SQLite all of them share the open one, so that an upgrade happens whole or not at all.
"""

from typing import Any

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import BigInteger

from pbem.store.schema import METADATA
from pbem.store.types import Moment


def render_type(kind: str, value: Any, _context: AutogenContext) -> str | bool:
    """Our types as SQLAlchemy's, since a migration must not change with our code. False leaves the rest to Alembic."""
    if kind == "type" and isinstance(value, Moment):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(value, BigInteger):
        return "sa.BigInteger().with_variant(sa.Integer(), 'sqlite')"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    transaction_per_migration=True,
    compare_server_default=True,
    render_item=render_type,
)
with context.begin_transaction():
    context.run_migrations()
