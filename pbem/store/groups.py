"""Groups, as rows: members, invitations, tables."""

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from pbem.domain.states import GroupRole
from pbem.store import queries
from pbem.store.schema import GAME, GROUP_MEMBERS, GROUP_TABLES, GROUPS, GameRow, GroupMemberRow, GroupRow


def add(tx: Connection, key: str, name: str, now: datetime) -> int:
    """Add a group without members. Returns its id."""
    added = insert(GROUPS).values(key=key, name=name, created_at=now).returning(GROUPS.c.id)
    return int(tx.execute(added).scalar_one())


def lock(tx: Connection, group_id: int) -> GroupRow | None:
    """A group, which nobody else changes until this transaction ends. Games and people are locked before groups."""
    return queries.one(tx, GroupRow, select(GROUPS).where(GROUPS.c.id == group_id).with_for_update())


def with_members(tx: Connection, key: str) -> tuple[GroupRow | None, tuple[GroupMemberRow, ...]]:
    """A group by its key, with its members and the people invited, oldest first; None without anyone."""
    joined = select(GROUPS, GROUP_MEMBERS).join(GROUP_MEMBERS, GROUP_MEMBERS.c.group_id == GROUPS.c.id)
    ordered = joined.where(GROUPS.c.key == key).order_by(GROUP_MEMBERS.c.since, GROUP_MEMBERS.c.person_id)
    found, width = tx.execute(ordered).all(), len(GROUPS.c)
    group = GroupRow(*found[0][:width]) if found else None
    return group, tuple(GroupMemberRow(*row[width:]) for row in found)


def members(tx: Connection, group_id: int) -> list[GroupMemberRow]:
    """The members of a group and the people invited, oldest first."""
    query = select(GROUP_MEMBERS).where(GROUP_MEMBERS.c.group_id == group_id)
    return queries.many(tx, GroupMemberRow, query.order_by(GROUP_MEMBERS.c.since, GROUP_MEMBERS.c.person_id))


def member(tx: Connection, group_id: int, person_id: int) -> GroupMemberRow | None:
    """What a person is in a group."""
    this = (GROUP_MEMBERS.c.group_id == group_id, GROUP_MEMBERS.c.person_id == person_id)
    return queries.one(tx, GroupMemberRow, select(GROUP_MEMBERS).where(*this))


def is_member(tx: Connection, group_id: int, person_id: int) -> bool:
    """Whether a person has said yes to a group, and is still in it."""
    row = member(tx, group_id, person_id)
    return row is not None and row.role != GroupRole.INVITED


def of_person(tx: Connection, person_id: int) -> list[GroupRow]:
    """The groups that a person is a member of, by name."""
    joined = (GROUP_MEMBERS.c.person_id == person_id, GROUP_MEMBERS.c.role != GroupRole.INVITED)
    query = select(GROUPS).join(GROUP_MEMBERS, GROUP_MEMBERS.c.group_id == GROUPS.c.id).where(*joined)
    return queries.many(tx, GroupRow, query.order_by(GROUPS.c.name, GROUPS.c.id))


def put(tx: Connection, row: GroupMemberRow) -> None:
    """Add someone to a group, or change what they are there. The group is locked."""
    remove(tx, row.group_id, row.person_id)
    tx.execute(insert(GROUP_MEMBERS), asdict(row))


def remove(tx: Connection, group_id: int, person_id: int) -> None:
    this = (GROUP_MEMBERS.c.group_id == group_id, GROUP_MEMBERS.c.person_id == person_id)
    tx.execute(delete(GROUP_MEMBERS).where(*this))


def part(tx: Connection, group_id: int, person_id: int) -> None:
    """Take someone out of a group. If they were its organiser, its oldest member is from now on. The group is locked.

    Where nobody remains, invitations end: nobody could invite anyone there, or hand anything over.
    """
    remove(tx, group_id, person_id)
    everyone = members(tx, group_id)
    remaining = [row for row in everyone if row.role != GroupRole.INVITED]
    if not remaining:
        for row in everyone:
            remove(tx, group_id, row.person_id)
    elif all(row.role != GroupRole.ORGANISER for row in remaining):
        set_role(tx, remaining[0], GroupRole.ORGANISER)


def set_role(tx: Connection, row: GroupMemberRow, role: GroupRole) -> None:
    this = (GROUP_MEMBERS.c.group_id == row.group_id, GROUP_MEMBERS.c.person_id == row.person_id)
    tx.execute(update(GROUP_MEMBERS).where(*this).values(role=role))


def part_all(tx: Connection, person_id: int) -> None:
    """Take someone out of all groups."""
    for row in _rows_of(tx, person_id):
        lock(tx, row.group_id)
        part(tx, row.group_id, person_id)


def join_people(tx: Connection, old: int, new: int) -> None:
    """Give one person's part in every group to another, who keeps the better one where both have one."""
    order = list(GroupRole)
    for row in _rows_of(tx, old):
        lock(tx, row.group_id)
        other = member(tx, row.group_id, new)
        remove(tx, row.group_id, old)
        if other is None or order.index(GroupRole(row.role)) < order.index(GroupRole(other.role)):
            put(tx, GroupMemberRow(row.group_id, new, row.role, row.name, row.since))


def add_table(tx: Connection, group_id: int, game_id: int) -> None:
    """Note that a table is a group's."""
    tx.execute(insert(GROUP_TABLES).values(group_id=group_id, game_id=game_id))


def group_of_table(tx: Connection, game_id: int) -> int | None:
    """The id of the group whose table this is."""
    query = select(GROUP_TABLES.c.group_id).where(GROUP_TABLES.c.game_id == game_id)
    return tx.execute(query).scalar_one_or_none()


def tables(tx: Connection, group_id: int, statuses: Collection[str], limit: int) -> list[GameRow]:
    """The tables of a group in one of these states, newest first."""
    query = select(GAME).join(GROUP_TABLES, GROUP_TABLES.c.game_id == GAME.c.id)
    shown = query.where(GROUP_TABLES.c.group_id == group_id, GAME.c.status.in_(list(statuses)))
    return queries.many(tx, GameRow, shown.order_by(GAME.c.id.desc()).limit(limit))


def _rows_of(tx: Connection, person_id: int) -> list[GroupMemberRow]:
    query = select(GROUP_MEMBERS).where(GROUP_MEMBERS.c.person_id == person_id)
    return queries.many(tx, GroupMemberRow, query.order_by(GROUP_MEMBERS.c.group_id))
