"""The words by which tables and people are found: of a table's title and players' names, and of a person's name.

They are written in the transaction that writes the title or name, by the functions of `store.tables` and `store.people`
that do so, so that no caller can forget it. Nothing of a game, no talk and no address is ever indexed.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select

from pbem.store.schema import GAME, PERSON, PLAYER, SEARCH_WORD

About = Literal["table", "person"]

MOST_WORDS: Final = 6
"""More words do not make a search sharper."""

LONGEST: Final = 40
"""Letters of a word that count."""

MOST_LOOKED_AT: Final = 2000
"""Index entries read for a search; these take a moment, and a search for one table needs no more."""

_WORD: Final = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words of a text for comparison: without case and accents, each once."""
    characters = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in characters if not unicodedata.combining(c))
    return list(dict.fromkeys(word[:LONGEST] for word in _WORD.findall(plain)))


def of_table(tx: Connection, game_id: int) -> None:
    """Index a table."""
    title = tx.execute(select(GAME.c.title).where(GAME.c.id == game_id)).scalar_one()
    names = tx.execute(select(PLAYER.c.name).where(PLAYER.c.game_id == game_id)).scalars()
    _replace(tx, "table", game_id, [title, *names])


def of_person(tx: Connection, person_id: int) -> None:
    """Index a person."""
    name = tx.execute(select(PERSON.c.name).where(PERSON.c.id == person_id)).scalar_one()
    _replace(tx, "person", person_id, [name])


def forget(tx: Connection, about: About, subject_ids: Iterable[int]) -> None:
    """Drop the words of these tables or people."""
    tx.execute(delete(SEARCH_WORD).where(SEARCH_WORD.c.about == about, SEARCH_WORD.c.subject_id.in_(list(subject_ids))))


def search(tx: Connection, about: About, query: str, below: int | None, limit: int) -> list[int]:
    """Ids matching every word by prefix, newest first, among the first MOST_LOOKED_AT entries of the longest word."""
    prefixes = sorted(words(query)[:MOST_WORDS], key=len, reverse=True)
    if not prefixes:
        return []
    longest = select(SEARCH_WORD.c.subject_id).where(SEARCH_WORD.c.about == about, _begins(prefixes[0]))
    if below is not None:
        longest = longest.where(SEARCH_WORD.c.subject_id < below)
    candidates = longest.order_by(SEARCH_WORD.c.word).limit(MOST_LOOKED_AT).subquery()
    same = (SEARCH_WORD.c.about == about, SEARCH_WORD.c.subject_id == candidates.c.subject_id)
    also = [select(SEARCH_WORD.c.word).where(*same, _begins(prefix)).exists() for prefix in prefixes[1:]]
    ids = candidates.c.subject_id
    newest = select(ids).where(*also).distinct().order_by(ids.desc()).limit(limit)
    return list(tx.execute(newest).scalars())


def _begins(prefix: str) -> ColumnElement[bool]:
    first = prefix.encode()
    # No byte of UTF-8 is 0xff, so this sorts after every word with the prefix.
    return and_(SEARCH_WORD.c.word >= first, SEARCH_WORD.c.word < first + b"\xff")


def _replace(tx: Connection, about: About, subject_id: int, texts: Iterable[str]) -> None:
    forget(tx, about, [subject_id])
    rows = [{"about": about, "word": word.encode(), "subject_id": subject_id} for word in words(" ".join(texts))]
    if rows:
        tx.execute(insert(SEARCH_WORD), rows)
