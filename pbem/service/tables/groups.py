"""Groups: a name, an organiser, members who know each other by name, and tables that only they find.

Someone joins a group by saying yes to an email, on the page of its link or in a reply, which proves the address. Until then nobody
learns anything of them, not even how many invitations are open, and nobody ever reads another's address. For anyone else a group
doesn't exist.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pbem.domain.deleted_people import PersonName
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany
from pbem.domain.guests import is_guest
from pbem.domain.states import EmailKind, GroupRole
from pbem.domain.user_text import parse_title
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.absence.seats import free_name
from pbem.service.people import addresses as persons, strangers
from pbem.service.server import Server
from pbem.service.tables.invitations import INVITATIONS_A_DAY, MOST_AT_ONCE, check_addresses
from pbem.store import blocks, groups, limits, outbox, people
from pbem.store.database import Tx
from pbem.store.people import PersonRow
from pbem.store.schema import GroupMemberRow, GroupRow

MOST_GROUPS: Final = 20
"""Groups of one person."""

MOST_MEMBERS: Final = 200
"""Members of a group, with the people invited."""

_KEY_BYTES: Final = 16
_NAMELESS: Final = "Player"


@dataclass(frozen=True, slots=True)
class Membership:
    """A group as one of its members knows it, with everyone in it."""

    group: GroupRow
    own: GroupMemberRow
    everyone: tuple[GroupMemberRow, ...]

    @property
    def organises(self) -> bool:
        return self.own.role == GroupRole.ORGANISER

    @property
    def members(self) -> tuple[GroupMemberRow, ...]:
        """Those who said yes."""
        return tuple(row for row in self.everyone if row.role != GroupRole.INVITED)


def of_person(tx: Tx, server: Server, person_id: int) -> list[GroupRow]:
    """The groups of a person."""
    return groups.of_person(tx, person_id)


def organised(tx: Tx, server: Server, person_id: int) -> list[GroupRow]:
    """The groups that a person organises."""
    found = ((group, groups.member(tx, group.id, person_id)) for group in groups.of_person(tx, person_id))
    return [group for group, own in found if own is not None and own.role == GroupRole.ORGANISER]


def create(tx: Tx, server: Server, person_id: int, name: str) -> str:
    """Make a group with this person as its organiser. Returns its key. Raises BadInput, TooMany."""
    person = people.lock(tx, person_id)
    persons.must_be_confirmed(person)
    if is_guest(person.address):
        raise Forbidden(_("A guest can't make a group."))
    title = links.without_tokens(tx, server, parse_title(name))
    if not title:
        raise BadInput(_("A group needs a name."))
    _must_have_room(tx, person_id)
    key, now = server.randomness.bytes(_KEY_BYTES).hex(), server.now()
    group_id = groups.add(tx, key, title, now)
    groups.put(tx, GroupMemberRow(group_id, person_id, GroupRole.ORGANISER, person.name or _NAMELESS, now))
    return key


def membership(tx: Tx, person_id: int, key: str) -> Membership:
    """A group, by its key, as its member knows it. Raises NotFound for anyone else."""
    group, everyone = groups.with_members(tx, key)
    own = next((row for row in everyone if row.person_id == person_id and row.role != GroupRole.INVITED), None)
    if group is None or own is None:
        raise NotFound(_("There's no such group."), remedy=_("If someone invited you, answer that email first."))
    return Membership(group, own, everyone)


def invite(tx: Tx, server: Server, person_id: int, key: str, addresses: tuple[str, ...], network: str = "") -> None:
    """Invite typed addresses. Nothing tells whose they are, or who is a member already. Raises Forbidden, BadInput, TooMany."""
    _must_organise(membership(tx, person_id, key))
    check_addresses(addresses, MOST_AT_ONCE)
    typed = {person.id: person for person in persons.invitees(tx, server, addresses).values()}
    found = _organised(tx, person_id, key)
    present, now = {row.person_id for row in found.everyone}, server.now()
    new = [person for person in typed.values() if person.id not in present]
    if len(present) + len(new) > MOST_MEMBERS:
        raise BadInput(
            _("This group would be too large."), why=_("It can have up to %(most)s members.", most=MOST_MEMBERS)
        )
    # Every address counts, or a refusal would tell who is in already.
    strangers.count_emails(tx, server, persons.mailboxes_of(addresses), network, by_player=True)
    day = limits.last(timedelta(days=1), now)
    for person in new:
        if people.count_emails_in(tx, person.id, EmailKind.GROUP_INVITATION, day) < INVITATIONS_A_DAY:
            _invite(tx, server, found, person)


def accept(tx: Tx, server: Server, group_id: int, person_id: int, name: str = "") -> str:
    """Say yes to an invitation, which proves the address. Returns the group's name. Raises Gone, TooMany.

    Saying yes twice changes nothing.
    """
    people.lock(tx, person_id)
    group = groups.lock(tx, group_id)
    row = groups.member(tx, group_id, person_id)
    if group is None or row is None:
        raise Gone(_("This invitation is no longer open."), remedy=_("Ask the group's organiser for a new one."))
    if row.role != GroupRole.INVITED:
        return group.name
    person = persons.confirm(tx, server, person_id)
    _must_have_room(tx, person_id)
    own = persons.read_name(tx, server, name) if name else person.name or _NAMELESS
    if not person.name and name:
        people.change(tx, person_id, name=own)
    names = [each.name for each in groups.members(tx, group_id) if each.role != GroupRole.INVITED]
    groups.put(tx, GroupMemberRow(group_id, person_id, GroupRole.MEMBER, free_name(names, own), server.now()))
    return group.name


def decline(tx: Tx, server: Server, group_id: int, person_id: int) -> str:
    """Say no to an invitation; nobody is told. Returns the group's name. Saying no twice changes nothing. Raises Gone."""
    group = groups.lock(tx, group_id)
    if group is None:
        raise Gone(_("This invitation is no longer open."))
    row = groups.member(tx, group_id, person_id)
    if row is not None and row.role != GroupRole.INVITED:
        raise Gone(_("You're a member of this group."), remedy=_("You can leave it on its page."))
    groups.remove(tx, group_id, person_id)
    return group.name


def leave(tx: Tx, server: Server, person_id: int, key: str) -> None:
    """Leave a group. If its organiser does, its oldest member takes over. Tables go on."""
    found = _locked(tx, person_id, key)
    groups.part(tx, found.group.id, person_id)


def remove(tx: Tx, server: Server, person_id: int, key: str, member_id: int) -> None:
    """Remove a member, as the organiser. Tables go on. Raises Forbidden, NotFound."""
    groups.part(tx, _other(_organised(tx, person_id, key), member_id).group_id, member_id)


def withdraw_invitations(tx: Tx, server: Server, person_id: int, key: str) -> None:
    """Withdraw all open invitations, as the organiser."""
    found = _organised(tx, person_id, key)
    for row in found.everyone:
        if row.role == GroupRole.INVITED:
            groups.remove(tx, row.group_id, row.person_id)


def hand_over(tx: Tx, server: Server, person_id: int, key: str, member_id: int) -> None:
    """Make another member the organiser. Raises Forbidden, NotFound."""
    found = _organised(tx, person_id, key)
    groups.set_role(tx, _other(found, member_id), GroupRole.ORGANISER)
    groups.set_role(tx, found.own, GroupRole.MEMBER)


def _invite(tx: Tx, server: Server, found: Membership, person: PersonRow) -> None:
    now = server.now()
    groups.put(tx, GroupMemberRow(found.group.id, person.id, GroupRole.INVITED, "", now))
    if found.own.person_id in {row.blocked_id for row in blocks.blocked_by(tx, person.id)}:
        # People who block the organiser get no email, and the organiser is not told.
        return
    facts = {"group": found.group.id, "name": found.group.name, "who": PersonName(found.own.person_id, found.own.name)}
    outbox.queue(tx, [outbox.NewEmail(person.id, EmailKind.GROUP_INVITATION, facts=facts)], now)


def _locked(tx: Tx, person_id: int, key: str) -> Membership:
    groups.lock(tx, membership(tx, person_id, key).group.id)
    return membership(tx, person_id, key)


def _organised(tx: Tx, person_id: int, key: str) -> Membership:
    found = _locked(tx, person_id, key)
    _must_organise(found)
    return found


def _must_organise(found: Membership) -> None:
    if not found.organises:
        raise Forbidden(_("Only the group's organiser can do that."))


def _other(found: Membership, member_id: int) -> GroupMemberRow:
    others = (row for row in found.members if row.person_id == member_id and row != found.own)
    row = next(others, None)
    if row is None:
        raise NotFound(_("There's no such member."), remedy=_("Nothing changed. Open the page again."))
    return row


def _must_have_room(tx: Tx, person_id: int) -> None:
    if len(groups.of_person(tx, person_id)) >= MOST_GROUPS:
        raise TooMany(_("You can be in up to %(most)s groups.", most=MOST_GROUPS), remedy=_("Leave one first."))
