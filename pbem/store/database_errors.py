"""Explanations of database errors, for the operator who must fix it and for visitors who cannot.

This module must never show a password: a driver's text is shown only with its secrets cut out.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError, TimeoutError as PoolExhausted

from pbem.domain.errors import BadInput, Fault, PbemError, Unavailable
from pbem.i18n.speech import gettext as _
from pbem.redaction import redact
from pbem.store.database import sqlite_module

_MEANINGS: Final = (
    # Words of SQLite's message, their meaning, and the remedy.
    ("disk is full", "The disk is full.", "Nothing that was confirmed is lost. Free some space and try again."),
    ("disk i/o error", "Writing to the disk failed.", "Nothing that was confirmed is lost. Check whether it's full or broken."),
    ("readonly database", "The database can't be written.", "Give this account the right to write the file and its folder."),
    ("moved or replaced", "The database file was moved or replaced.", "Nothing is confirmed until this process is restarted: stop it, put the right file in place, and start it again."),
    ("unable to open", "The database can't be opened.", "Give this account the right to read and write the file and its folder."),
    ("not a database", "The database file is something else.", "Correct PBEM_DATABASE_URL, or move the file away and restore a backup with `pbem restore`."),
    ("malformed", "The database file is damaged.", "Stop the server, move the file away, and restore a backup with `pbem restore`."),
    ("locked", "The database is busy.", "Another program has locked it. Try again, or stop other programs that use the file."),
    ("no such", "Something is missing from the database.", "Run `pbem migrate`, which says what is missing and what to do."),
    # Words of PostgreSQL's messages.
    ("does not exist", "Something is missing from the database.", "Check PBEM_DATABASE_URL, create the database, and run `pbem migrate`, which says more."),
    ("authentication", "The database refused the login.", "Check the name and the password in PBEM_DATABASE_URL."),
    ("read-only", "The database is a read-only standby.", "Promote it, or name the primary in PBEM_DATABASE_URL."),
    ("connection failed", "The database can't be reached.", "Start it, or promote its standby; then check host and port in PBEM_DATABASE_URL."),
    ("permission denied", "The database refused permission.", "Give the role in PBEM_DATABASE_URL the rights to its tables."),
)  # fmt: skip

_IN_THE_WAY: Final = ("disk is full", "disk i/o error", "readonly database", "unable to open", "is locked")
"""Words of SQLite's that are about this machine, and not about what is in a file."""


@contextmanager
def explained() -> Iterator[None]:
    """Replace a driver's exception by a Fault that explains it."""
    try:
        yield
    except DBAPIError as error:
        raise _meaning(error.orig or error) from error
    except sqlite_module().Error as error:
        # Copying a whole file bypasses SQLAlchemy.
        raise _meaning(error) from error
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        raise BadInput(
            _("PostgreSQL can't be used yet."),
            why=_("Its driver isn't installed."),
            remedy=_("Install it: pip install 'pbem[postgresql]'"),
        ) from error
    except SQLAlchemyError as error:
        raise Fault(
            _("The database can't be used: %(first_line)s", first_line=_first_line(error)),
            remedy=_("Check PBEM_DATABASE_URL."),
        ) from error


@contextmanager
def blaming(backup: Path) -> Iterator[None]:
    """Name a backup as the culprit of what goes wrong in this context, unless a disk or a database is in the way."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        if isinstance(error, OperationalError) and not isinstance(error.orig, sqlite_module().Error):
            raise
        if any(words in str(error).lower() for words in _IN_THE_WAY):
            raise
        what = (
            (error.what, error.why) if isinstance(error, PbemError) else (f"It cannot be read: {_first_line(error)}.",)
        )
        raise BadInput(
            _("The backup %(backup)s can't be used.", backup=backup),
            why=" ".join(filter(None, what)),
            remedy=_("Nothing was restored. Use an earlier backup, or another copy of this one."),
        ) from error


def is_outage(error: Exception) -> bool:
    """Whether the database failed, and not what was asked of it: it is full, busy or away."""
    return isinstance(error, (OperationalError, InterfaceError, PoolExhausted)) or (
        isinstance(error, DBAPIError) and error.connection_invalidated
    )


def for_visitors(error: Exception) -> Fault:
    """The error as shown to visitors: what they can rely on, and nothing about the server's insides."""
    if _is_away(error):
        return Unavailable(
            _("We can't reach our database right now."), why=_("Everything we confirmed to you is safe.")
        )
    return Fault(_("Something went wrong here."))


def _is_away(error: Exception) -> bool:
    """Whether an error is not about the statement: the database is full, busy, or away, or another is the primary now."""
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    # All connections of this process are waiting for an answer.
    exhausted = isinstance(error, PoolExhausted)
    return lost or exhausted or isinstance(error, OperationalError)


def _meaning(error: BaseException) -> Fault:
    message = _first_line(error)
    unknown = _("The database can't be used."), _("Run `pbem doctor`.")
    meanings = ((what, remedy) for words, what, remedy in _MEANINGS if words in message.lower())
    what, remedy = next(meanings, unknown)
    return Fault(what, why=_("It said: %(said)s.", said=message), remedy=remedy)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return redact(lines[0]).rstrip(". ")[:300]
