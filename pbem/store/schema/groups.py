"""Groups of people who play with each other: their members, and their tables."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import Index, UniqueConstraint

from pbem.domain.states import GroupRole
from pbem.store.schema.base import KEY, GameId, Id, PersonId, Reference, one_of, table

GroupId = Annotated[int, Reference("groups.id")]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group. Its `key` is random, and the address of its page."""

    id: Id
    key: str
    name: str
    created_at: datetime


GROUPS = table("groups", GroupRow, UniqueConstraint("key"))


@dataclass(frozen=True, slots=True)
class GroupMemberRow:
    """A member of a group, or someone invited, who has no `name` there yet. `since` is when they were invited, or said yes."""

    group_id: Annotated[GroupId, KEY]
    person_id: Annotated[PersonId, KEY]
    role: str
    name: str
    since: datetime


GROUP_MEMBERS = table("group_members", GroupMemberRow, one_of("role", *GroupRole), Index(None, "person_id"))


@dataclass(frozen=True, slots=True)
class GroupTableRow:
    """A table of a group."""

    game_id: Annotated[GameId, KEY]
    group_id: GroupId


GROUP_TABLES = table("group_tables", GroupTableRow, Index(None, "group_id", "game_id"))
