"""Signing up for a tournament, by a page or by replying to its email, and leaving it again.

A typed address is emailed first: the link in that email, or a reply to it, signs its owner up. When all places are taken, people
wait in the order in which they signed up, and take the places of those who leave.
"""

from collections.abc import Collection
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Final

from pbem.domain.deleted_people import PersonName
from pbem.domain.errors import BadInput, Forbidden, Gone, Refusal, Stale, TooMany, read_fields
from pbem.domain.guests import is_guest
from pbem.domain.states import EmailKind, EntrantStatus, InvitationStatus, TournamentStatus
from pbem.domain.user_text import parse_name, parse_seed_word
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.absence.seats import free_name
from pbem.service.people import addresses as persons, strangers
from pbem.service.people.bans import must_not_be_banned
from pbem.service.server import Server
from pbem.service.tables.invitations import MOST_AT_ONCE, check_addresses
from pbem.service.tournaments import admission, latecomers
from pbem.store import blocks, limits, outbox, people, tournaments
from pbem.store.database import Tx
from pbem.store.people import PersonRow
from pbem.store.schema import EntrantRow, TournamentRow

EMAILS_A_DAY: Final = 5
"""Invitations to one address in a day, from all tournaments together."""

MOST_INVITED: Final = 200

_TAKES_PART: Final = (EntrantStatus.IN, EntrantStatus.WAITING)


def ask(tx: Tx, server: Server, key: str, address: str, network: str = "") -> None:
    """Email a typed address how to sign up. Says the same whether or not its owner has signed up."""
    row = tournaments.lock(tx, tournaments.by_key(tx, key).id)
    admission.must_see(tx, row, None)
    _must_be_open(row)
    read_fields({"address": lambda: persons.normalised(address)})
    person = persons.find_or_add(tx, server, address)
    tournaments.add_sign_up(tx, row.id, person.id, None, server.now())
    strangers.count_emails(tx, server, [person.mailbox], network)
    _email(tx, server, row, [person.id])


def invite(
    tx: Tx, server: Server, tournament_id: int, host_id: int, addresses: tuple[str, ...], network: str = ""
) -> int:
    """Invite typed addresses. Returns how many are new. Raises Forbidden, Gone, BadInput or TooMany."""
    row = tournaments.lock(tx, tournament_id)
    must_host(row, host_id)
    if not latecomers.takes_some(row):
        _must_be_open(row)
    entrants = tournaments.entrants(tx, row.id)
    if row.round and latecomers.is_full(row, entrants):
        raise Stale(_("All places are taken."), remedy=_("Invite someone once a place is free."))
    check_addresses(addresses, MOST_AT_ONCE)
    host = people.read(tx, host_id)
    persons.must_be_confirmed(host)
    invited = dict[int, str]()
    for address, person in persons.invitees(tx, server, addresses).items():
        invited.setdefault(person.id, address.strip())
    now = server.now()
    day = limits.last(timedelta(days=1), now)
    new = list[int]()
    # Before the start, those who signed up by themselves have an invitation too.
    present = {each.person_id for each in entrants if each.status in _TAKES_PART} if row.round else set[int | None]()
    for person_id, typed in invited.items():
        if tournaments.count_sign_ups_in(tx, person_id, day) >= EMAILS_A_DAY:
            raise TooMany(
                _("%(address)s has been invited to many tournaments today.", address=typed),
                remedy=_("Leave it out for now."),
            )
        # Of addresses outside a group, nothing is said: who is in it is not for typing to find out.
        if not admission.may_see(tx, row, person_id):
            continue
        if person_id in present or (person_id == host_id and not row.round):
            continue
        if tournaments.add_sign_up(tx, row.id, person_id, typed, now, row.round):
            new.append(person_id)
    # Anyone can type an address to sign up with; that uses up none of the host's invitations.
    if sum(each.typed is not None for each in tournaments.sign_ups(tx, row.id)) > MOST_INVITED:
        raise BadInput(_("You can invite up to %(most)s people to a tournament.", most=MOST_INVITED))
    strangers.count_emails(tx, server, persons.mailboxes_of(invited[each] for each in new), network, by_player=True)
    # People who block the host get no email, and the host is not told.
    blockers = blocks.blockers_of(tx, host_id)
    _email(tx, server, row, [each for each in new if each not in blockers], PersonName(host_id, host.name))
    return len(new)


def sign_up(
    tx: Tx, server: Server, tournament_id: int, person_id: int, name: str = "", word: str = ""
) -> EntrantRow | Refusal:
    """Sign up a person who has just proved their address, which is confirmed. Returns the refusal if that's not possible.

    Doing it again changes nothing.
    """
    row = tournaments.lock(tx, tournament_id)
    person = persons.confirm(tx, server, person_id)
    try:
        # A refused place must not undo the confirmation of the address.
        with tx.begin_nested():
            return _sign_up(tx, server, row, person, name, word)
    except Refusal as refused:
        return refused


def decline(tx: Tx, server: Server, tournament_id: int, person_id: int) -> None:
    """Decline an invitation, or leave the tournament. Doing it again changes nothing. Raises Gone once it has ended."""
    row = tournaments.lock(tx, tournament_id)
    if row.status not in (TournamentStatus.OPEN, TournamentStatus.PLAYING):
        called_off = row.status == TournamentStatus.CALLED_OFF
        what = _("This tournament was called off.") if called_off else _("This tournament is over.")
        raise Gone(what, remedy=_("Nothing changed."))
    tournaments.answer_sign_up(tx, row.id, person_id, InvitationStatus.DECLINED)
    entrant = entrant_of(tx, row, person_id)
    if entrant is not None and entrant.status in (EntrantStatus.IN, EntrantStatus.WAITING):
        drop(tx, server, row, entrant, EntrantStatus.LEFT)


def drop(tx: Tx, server: Server, row: TournamentRow, entrant: EntrantRow, status: EntrantStatus) -> None:
    """Take an entrant out from the next round on. Before the start, the next on the waiting list comes in."""
    until = row.round if entrant.until is None else entrant.until
    tournaments.change_entrant(tx, row.id, entrant.number, status=status, until=until)
    if row.status == TournamentStatus.OPEN:
        fill_places(tx, server, row)


def fill_places(tx: Tx, server: Server, row: TournamentRow) -> None:
    """Give free places to those who wait, from the next round on, and tell them."""
    entrants = tournaments.entrants(tx, row.id)
    free = row.most - sum(each.status == EntrantStatus.IN for each in entrants)
    waiting = [each for each in entrants if each.status == EntrantStatus.WAITING]
    waiting.sort(key=lambda each: each.signed_up_at)
    for each in waiting[: max(free, 0)]:
        tournaments.change_entrant(tx, row.id, each.number, **latecomers.from_next_round(row, each))
        tell(tx, server, row, [each], "place")


def tell(
    tx: Tx, server: Server, row: TournamentRow, entrants: Collection[EntrantRow], what: str, **facts: object
) -> None:
    """Email these entrants about a tournament, those who are people."""
    facts = {"tournament": row.id, "what": what, "round": row.round} | facts
    # One who was merged with another may be two entrants.
    readers = dict.fromkeys(each.person_id for each in entrants if each.person_id is not None)
    outbox.queue(tx, [outbox.NewEmail(each, EmailKind.TOURNAMENT, facts=facts) for each in readers], server.now())


def entrant_of(tx: Tx, row: TournamentRow, person_id: int) -> EntrantRow | None:
    """The entrant that a person is; None if they never signed up."""
    return tournaments.entry_of(tournaments.entrants(tx, row.id), person_id)


def may_enter(tx: Tx, row: TournamentRow, person_id: int) -> bool:
    """Whether sign-up is open to this person now, as far as the tournament goes."""
    is_open = row.status == TournamentStatus.OPEN
    return is_open or latecomers.may_come(tx, row, person_id, entrant_of(tx, row, person_id))


def must_host(row: TournamentRow, person_id: int) -> None:
    """Raise Forbidden unless the person hosts the tournament."""
    if row.host_id != person_id:
        raise Forbidden(_("Only a tournament's host can do this."))


def _sign_up(tx: Tx, server: Server, row: TournamentRow, person: PersonRow, name: str, word: str) -> EntrantRow:
    earlier = entrant_of(tx, row, person.id)
    if earlier is not None and earlier.status in (EntrantStatus.IN, EntrantStatus.WAITING):
        return earlier
    if not latecomers.may_come(tx, row, person.id, earlier):
        _must_be_open(row)
    if is_guest(person.address):
        raise Forbidden(_("A guest can't sign up."), remedy=_("Sign up with your email address."))
    must_not_be_banned(tx, server, person.id)
    if earlier is not None and earlier.status == EntrantStatus.REMOVED:
        raise Forbidden(_("The host has taken you out of this tournament."))
    admission.must_see(tx, row, person.id)
    if earlier is None or not earlier.rank:
        admission.must_meet(tx, server, row, person)
    person = people.lock(tx, person.id)
    typed = name or person.name
    read_fields({"name": lambda: parse_name(typed, stored=not name), "word": lambda: parse_seed_word(word)})
    entrants = tournaments.entrants(tx, row.id)
    taken = [each.name for each in entrants if each.person_id != person.id]
    name = free_name(taken, persons.read_name(tx, server, typed, stored=not name))
    if not person.name:
        people.change(tx, person.id, name=name)
    is_full = latecomers.is_full(row, entrants)
    entrant = EntrantRow(
        tournament_id=row.id,
        number=earlier.number if earlier else max((each.number for each in entrants), default=0) + 1,
        person_id=person.id,
        bot=None,
        name=name,
        word=links.without_tokens(tx, server, parse_seed_word(word)),
        status=EntrantStatus.WAITING if is_full else EntrantStatus.IN,
        rank=0,
        division=1,
        since=row.round + 1,
        until=None,
        away="[]",
        signed_up_at=server.now(),
    )
    if earlier is None:
        tournaments.add_entrant(tx, entrant)
    else:
        entrant = _again(row, earlier, entrant)
        changed = {name: value for name, value in asdict(entrant).items() if name not in ("tournament_id", "number")}
        tournaments.change_entrant(tx, row.id, earlier.number, **changed)
    tournaments.answer_sign_up(tx, row.id, person.id, InvitationStatus.ACCEPTED)
    return entrant


def _again(row: TournamentRow, earlier: EntrantRow, entrant: EntrantRow) -> EntrantRow:
    """The entry of someone who signs up again. After their first round their name and word stay: tables were made with them."""
    if not earlier.rank:
        return entrant
    again = replace(earlier, status=entrant.status, signed_up_at=entrant.signed_up_at)
    return (
        again if entrant.status == EntrantStatus.WAITING else replace(again, **latecomers.from_next_round(row, earlier))
    )


def _must_be_open(row: TournamentRow) -> None:
    if row.status != TournamentStatus.OPEN:
        raise Gone(
            _("Sign-up for this tournament is over."),
            why={
                TournamentStatus.PLAYING: _("It has begun."),
                TournamentStatus.CALLED_OFF: _("It was called off."),
            }.get(TournamentStatus(row.status), _("It has ended.")),
        )


def _email(
    tx: Tx, server: Server, row: TournamentRow, person_ids: Collection[int], host: PersonName | None = None
) -> None:
    facts = {"tournament": row.id, "host": host or "", "round": row.round}
    now = server.now()
    outbox.queue(tx, [outbox.NewEmail(each, EmailKind.SIGN_UP, facts=facts) for each in person_ids], now)
