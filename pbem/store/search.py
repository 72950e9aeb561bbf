"""The words by which tables and people are found: those of a table's title and of its players' names, and of a name.

They are written in the transaction that writes what they are taken from, by the very functions of `lobby` and `people`
that do, so that nobody can forget it. Nothing of a game, no talk and no address is ever among them.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select

from pbem.store.schema import Game, Person, Place, Term, table_of

About = Literal["table", "person"]

MOST_WORDS: Final = 6
"""More words than this make a search no sharper."""

LONGEST: Final = 40
"""Letters of a word that count."""

MOST_LOOKED_AT: Final = 2000
"""So many entries of an index are read within a moment; whoever looks for one table needs no more."""

_GAME, _PERSON, _PLACE, _TERM = table_of(Game), table_of(Person), table_of(Place), table_of(Term)
_WORD: Final = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words of a text as they are compared: without case, without accents, each once."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(each))
    return list(dict.fromkeys(word[:LONGEST] for word in _WORD.findall(plain)))


def of_table(tx: Connection, game_id: int) -> None:
    """Write down anew the words by which a table is found."""
    title = tx.execute(select(_GAME.c.title).where(_GAME.c.id == game_id)).scalar_one()
    names = tx.execute(select(_PLACE.c.name).where(_PLACE.c.game_id == game_id)).scalars()
    _replace(tx, "table", game_id, [title, *names])


def of_person(tx: Connection, person_id: int) -> None:
    """Write down anew the words by which a person is found."""
    name = tx.execute(select(_PERSON.c.name).where(_PERSON.c.id == person_id)).scalar_one()
    _replace(tx, "person", person_id, [name])


def forget(tx: Connection, about: About, numbers: Iterable[int]) -> None:
    """Drop the words of what is there no more."""
    tx.execute(delete(_TERM).where(_TERM.c.about == about, _TERM.c.number.in_(list(numbers))))


def search(tx: Connection, about: About, wanted: str, below: int | None, limit: int) -> list[int]:
    """The numbers of what has all the words of a text, of each of which the beginning is enough; the newest first.

    Only the first thousands of those that have the longest word are looked at: whoever wants others writes more of it.
    """
    prefixes = sorted(words(wanted)[:MOST_WORDS], key=len, reverse=True)
    if not prefixes:
        return []
    some = select(_TERM.c.number).where(_TERM.c.about == about, _begins(prefixes[0]))
    if below is not None:
        some = some.where(_TERM.c.number < below)
    found = some.order_by(_TERM.c.word).limit(MOST_LOOKED_AT).subquery()
    same = (_TERM.c.about == about, _TERM.c.number == found.c.number)
    also = [select(_TERM.c.word).where(*same, _begins(prefix)).exists() for prefix in prefixes[1:]]
    newest = select(found.c.number).where(*also).distinct().order_by(found.c.number.desc()).limit(limit)
    return list(tx.execute(newest).scalars())


def _begins(prefix: str) -> ColumnElement[bool]:
    first = prefix.encode()
    # No byte of UTF-8 is 0xff, so that this is behind every word that begins so.
    return and_(_TERM.c.word >= first, _TERM.c.word < first + b"\xff")


def _replace(tx: Connection, about: About, number: int, texts: Iterable[str]) -> None:
    tx.execute(delete(_TERM).where(_TERM.c.about == about, _TERM.c.number == number))
    rows = [{"about": about, "word": word.encode(), "number": number} for word in words(" ".join(texts))]
    if rows:
        tx.execute(insert(_TERM), rows)
