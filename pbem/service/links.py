"""Links: follow a token to what it opens, and make the rows that the tokens of an email stand for.

A token is parsed first, which is free and refuses most forgeries; then its row is read, then the token is compared in
constant time with the row's current one. Purposes never mix: the link of one choice opens no seat. A link to a seat opens
only for the person who plays it now. Whether a game has moved on is not decided here: an old link is still valid, and leads
to a page that explains.

An act follows its link in its own transaction, which keeps the link from being revoked until the act is done. Followed links
are typed by purpose, so that no caller asks whether a field is set. This module must never store or log a token, and following
one changes nothing.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple, Self, TypeVar

from pbem import redaction
from pbem.domain.errors import Gone, NotFound
from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import email_copies, games, ledger, links, outbox, players, revocations
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LinkKey, LinkRow
from pbem.store.players import SeatRow
from pbem.store.sessions import Holder
from pbem.store.views import ViewRow
from pbem.tokens import Purpose

T = TypeVar("T")
Rows = TypeVar("Rows", bound="tuple[LinkRow, int | None, *tuple[object, ...]]")
"""A link, the person who plays its seat now, and what was read with them."""


@dataclass(frozen=True, slots=True)
class PersonLink:
    """A link of a person, perhaps at a table: to sign in, confirm, unsubscribe, read a feed."""

    person_id: int
    game_id: int | None
    seat: int | None
    created_at: datetime

    @classmethod
    def of(cls, row: LinkRow) -> Self:
        """The link of a row."""
        return cls(_field(row.person_id), row.game_id, row.seat, row.created_at)


@dataclass(frozen=True, slots=True)
class SeatLink:
    """A link that acts for a person on a seat: the seat's page, and programs."""

    person_id: int
    game_id: int
    seat: int

    @classmethod
    def of(cls, row: LinkRow) -> Self:
        """The link of a row."""
        return cls(_field(row.person_id), _field(row.game_id), _field(row.seat))


@dataclass(frozen=True, slots=True)
class MoveLink(SeatLink):
    """A link that acts for a person on a seat in one turn: one choice, or a reply by email.

    `turn` is 0 once its turn was undone: nobody is asked in the deal, so the link is answered like any other of an old turn.
    """

    turn: int

    @classmethod
    def of(cls, row: LinkRow) -> Self:
        return cls(_field(row.person_id), _field(row.game_id), _field(row.seat), max(0, _field(row.turn)))


@dataclass(frozen=True, slots=True)
class EmailLink:
    """A link made for one email: its bounces, a question answered with yes, a reply to be confirmed or to an offered seat."""

    person_id: int
    email_id: int
    game_id: int | None

    @classmethod
    def of(cls, row: LinkRow) -> Self:
        return cls(_field(row.person_id), _field(row.outbox_id), row.game_id)


ReplyLink = MoveLink | EmailLink
"""The links of addresses for replies: to a turn, or to an email that offers a seat."""


def reply_link(row: LinkRow) -> ReplyLink:
    """What a reply to an address with this link is sent to."""
    return MoveLink.of(row) if row.outbox_id is None else EmailLink.of(row)


# Mail programs that guess where an address ends may leave these around it.
_AROUND: Final = " \t\r\n.,;:!?'\"<>()[]{}*_"


_MOST_NAMED: Final = 1000
"""Rows that one text may name to be looked up."""


@dataclass(frozen=True, slots=True)
class LinkProof:
    """A link as the proof that a visitor may act: a use case that is not given its token runs only while it works."""

    token: str = field(repr=False)
    purpose: Purpose

    def check(self, tx: Tx, server: Server) -> None:
        """Raise NotFound or Gone unless the link works, and keep it from being revoked until the transaction ends."""
        follow(tx, server, self.token, self.purpose)

    def is_given(self, values: Sequence[object]) -> bool:
        """Whether a use case is given the token, first of all, and follows the link itself."""
        # Nowhere else: what someone types may be their token too.
        return bool(values) and values[0] == self.token


class SeatLinks(NamedTuple):
    """The ids of the links of one seat in one turn."""

    move: int
    seat: int
    reply: int


def follow(tx: Tx, server: Server, token: str, purpose: Purpose) -> LinkRow:
    """The row of a token. Raises NotFound or Gone."""
    return _open(tx, server, token, purpose, links.read_with_player)[0]


def follow_reply(tx: Tx, server: Server, token: str) -> LinkRow:
    """The row of a REPLY token, with the nonce that the token was made from: a player who replies to an address that was replaced, or
    about a seat that has changed hands, gets an answer, too. Raises NotFound, or Gone for the address of an earlier test.
    """
    link = _open(tx, server, token, Purpose.REPLY, links.read_with_player, ended_too=True)[0]
    if link.person_id is None:
        return follow(tx, server, token, Purpose.REPLY)
    replaced = _replaced_nonce(server, token, link)
    return link if replaced is None else link._replace(nonce=replaced)


def follow_person(tx: Tx, server: Server, token: str, purpose: Purpose) -> PersonLink:
    """The link of a token whose purpose belongs to a person: every one but SHARE."""
    return PersonLink.of(follow(tx, server, token, purpose))


def follow_seat(tx: Tx, server: Server, token: str, purpose: Purpose = Purpose.SEAT) -> SeatLink:
    """The link of a SEAT, API, MOVE or REPLY token."""
    return SeatLink.of(follow(tx, server, token, purpose))


def follow_move(tx: Tx, server: Server, token: str, purpose: Purpose = Purpose.MOVE) -> MoveLink:
    """The link of a MOVE, SEAT or REPLY token."""
    return MoveLink.of(follow(tx, server, token, purpose))


def follow_email(tx: Tx, server: Server, token: str, purpose: Purpose) -> EmailLink:
    """The link of a YES, WRITTEN, DISOWN or BOUNCE token."""
    return EmailLink.of(follow(tx, server, token, purpose))


def follow_invitation(tx: Tx, server: Server, token: str) -> int:
    """The id of the table of an INVITE token."""
    return _field(follow(tx, server, token, Purpose.INVITE).game_id)


def open_seat(tx: Tx, server: Server, token: str, purpose: Purpose) -> tuple[SeatLink, GameRow]:
    """The link of a SEAT or API token with its game, in one statement."""
    link, _player, game = _open(tx, server, token, purpose, games.read_by_link)
    return SeatLink.of(link), game


def open_seat_with_view(
    tx: Tx, server: Server, token: str, purpose: Purpose
) -> tuple[SeatLink, GameRow, ViewRow | None]:
    """The same with the last stored view of the seat."""
    link, _player, game, saved = _open(tx, server, token, purpose, games.read_with_view)
    return SeatLink.of(link), game, saved


def open_table(tx: Tx, server: Server, token: str, purpose: Purpose) -> GameRow:
    """The game of a token, in one statement."""
    return _open(tx, server, token, purpose, games.read_by_link)[2]


def open_to_act(tx: Tx, server: Server, token: str, purpose: Purpose) -> tuple[SeatLink, GameRow, SeatRow]:
    """The link of a SEAT or API token, its game, locked, and the seat's player, in one statement."""
    link, _person, game, player = _open(tx, server, token, purpose, games.lock_by_link, locked=True)
    return SeatLink.of(link), game, player


def open_move(tx: Tx, server: Server, token: str) -> tuple[MoveLink, GameRow, SeatRow]:
    """The link of a MOVE token, its game, locked, and the seat's player, in one statement."""
    link, _person, game, player = _open(tx, server, token, Purpose.MOVE, games.lock_by_link, locked=True)
    return MoveLink.of(link), game, player


def read(tx: Tx, link_id: int) -> LinkRow:
    """The row of a link. Links are never deleted."""
    return _field(links.read(tx, link_id))


def read_to_act(tx: Tx, link_id: int) -> LinkRow:
    """The row of a person's link, which is kept from being revoked until the transaction ends."""
    link = read(tx, link_id)
    return read(tx, link_id) if revocations.hold_off(tx, Holder(person_id=_field(link.person_id))) else link


def nonces(tx: Tx, _server: Server, link_ids: Collection[int]) -> dict[int, int]:
    """The nonces of links by id, of those that exist."""
    return {row.id: row.nonce for row in links.read_all(tx, link_ids).values()}


def hide_tokens(tx: Tx, server: Server, text: bytes) -> bytes:
    """An email with stars instead of the tokens of this server, and of nothing that only looks like one.

    Only in one with more long words than people write, they are all hidden.
    """
    if redaction.has_many_words(text):
        return redaction.hide_words(text)
    rows = sorted(redaction.rows_in(text, server.keys))
    if not rows:
        return text
    # Rows count up: what names a row by chance names a far larger one.
    return redaction.hide_tokens(text, server.keys, nonces(tx, server, rows[:_MOST_NAMED]))


def without_tokens(tx: Tx, server: Server, text: str) -> str:
    """A text for others to read, with stars instead of the tokens of this server: its writer may have pasted their own."""
    return hide_tokens(tx, server, text.encode()).decode()


def make(tx: Tx, server: Server, key: LinkKey, expires_at: datetime | None = None) -> int:
    """The id of the link with this key, added if missing. The caller has locked its game, or else its person."""
    return links.make_all(tx, server.randomness, {key: expires_at}, server.now())[key]


def make_token(tx: Tx, server: Server, key: LinkKey, expires_at: datetime | None = None) -> str:
    """The current token of the link with this key, added if missing, as by `make`."""
    return token(server, read(tx, make(tx, server, key, expires_at)))


def make_token_to_join(tx: Tx, server: Server, person_id: int, game: GameRow) -> str:
    """The token of a person's link to a table, which works until the table stops waiting for players. The game is locked."""
    link_id = make(tx, server, LinkKey(Purpose.CONFIRM, person_id, game.id))
    # It may have been made when the table was to wait less long.
    links.expire(tx, link_id, game.expires_at)
    return token(server, read(tx, link_id))


def make_seat_token(tx: Tx, server: Server, person_id: int, game: GameRow, seat: int) -> str:
    """The token of a seat in its current turn, added if missing. The game is locked."""
    return token(server, read(tx, make_for_seat(tx, server, person_id, game.id, game.turn, seat).seat))


def make_for_seat(tx: Tx, server: Server, person_id: int, game_id: int, turn: int, seat: int) -> SeatLinks:
    """Make the links of a seat in a turn. The caller holds the lock of the game."""
    keys = links.of_seat(person_id, game_id, turn, seat)
    made = links.make_all(tx, server.randomness, dict.fromkeys(keys.values()), server.now())
    return SeatLinks(made[keys[Purpose.MOVE]], made[keys[Purpose.SEAT]], made[keys[Purpose.REPLY]])


def revoke_seat(tx: Tx, server: Server, game_id: int, seat: int) -> None:
    """Revoke all links of a seat, which others have seen or another player has now; the next email has new ones."""
    links.revoke_seat(tx, server.randomness, game_id, seat)


def token(server: Server, link: LinkRow) -> str:
    """The current token of a link: to be shown to its owner, never stored."""
    return server.keys.make(Purpose(link.purpose), link.id, link.nonce)


def changed_hands(turn: int | None = None, table: str = "") -> Gone:
    """The refusal of a former player of a seat, who lost it in this turn at this public table."""
    why = _("It has changed hands.") if turn is None else _("It changed hands on turn %(turn)s.", turn=turn)
    return Gone(_("Someone else plays this seat now."), why=why, table=table)


def _open(
    tx: Tx,
    server: Server,
    token: str,
    purpose: Purpose,
    read_rows: Callable[[Tx, int], Rows | None],
    *,
    locked: bool = False,
    ended_too: bool = False,
) -> Rows:
    """The row of a token, with all that was read with it; `locked` if that locks the row. Raises NotFound or, unless `ended_too`,
    Gone.
    """
    token = token.strip(_AROUND)
    link_id = server.keys.row_of(token)
    rows = read_rows(tx, link_id)
    link = None if rows is None else rows[0]
    holder = None if locked or link is None or link.person_id is None else Holder(person_id=link.person_id)
    if holder is not None and revocations.hold_off(tx, holder):
        rows = read_rows(tx, link_id)
        link = None if rows is None else rows[0]
    # The MAC is computed even without a row, so that the time taken does not reveal which rows exist.
    genuine = server.keys.verify(token, purpose, link_id, 0 if link is None else link.nonce)
    if (
        rows is None
        or link is None
        or link.purpose != purpose
        or not (genuine or _replaced_nonce(server, token, link) is not None)
    ):
        raise NotFound(
            _("There is nothing at this address."), why=_("It isn't one of our links, or part of it is missing.")
        )
    if ended_too:
        return rows
    lost = purpose in links.TO_SEATS and link.seat is not None and link.outbox_id is None and rows[1] != link.person_id
    if lost:
        # Links of a seat are replaced when it changes hands, but its former player gets no new ones.
        former = players.former_of_game(tx, _field(link.game_id))
        turns = [each.turn for each in former if (each.seat, each.person_id) == (link.seat, link.person_id)]
        raise changed_hands(turns[-1] if turns else None, _public_table(tx, link))
    if not genuine:
        raise Gone(
            _("This link has been replaced with a new one."),
            why=_("Its owner got new links."),
            table=_public_table(tx, link),
        )
    if link.expires_at is not None and link.expires_at <= server.now() and not _leads_to_game(tx, link):
        too_old = (
            _("This link has been used, or is too old.") if purpose == Purpose.SIGN_IN else _("This link is too old.")
        )
        remedy = _("Get a new one from the page where you asked for this one.")
        raise Gone(too_old, remedy=remedy, table=_public_table(tx, link))
    return rows


def _field(value: T | None) -> T:
    """A field that every link of the purpose has."""
    assert value is not None
    return value


def _leads_to_game(tx: Tx, link: LinkRow) -> bool:
    """Whether a link to a table leads to a game by now, in which its reader may have lost a seat that they can reclaim."""
    to_table = link.purpose == Purpose.CONFIRM and link.game_id is not None
    return to_table and games.read(tx, _field(link.game_id)).started_at is not None


def _public_table(tx: Tx, link: LinkRow) -> str:
    """The key of the public table that a link is about; empty if there is none."""
    game = None if link.game_id is None else games.read(tx, link.game_id)
    return "" if game is None or game.private else game.key


def _replaced_nonce(server: Server, token: str, link: LinkRow) -> int | None:
    """The nonce of an earlier token of a link, however often it was revoked since; None if it never had this one."""
    replaced = links.replaced_nonces(link)
    return next((nonce for nonce in replaced if server.keys.verify(token, Purpose(link.purpose), link.id, nonce)), None)


class Renewed(NamedTuple):
    """Counts of the emails rewritten and of the turns emailed again."""

    rewritten: int
    emailed_again: int


def renew_emails(tx: Tx, server: Server) -> Renewed:
    """Rewrite the queued emails, and email every open turn again, with links that work."""
    now = server.now()
    rewritten = email_copies.unwrite_queued(tx)
    for outbox_id in rewritten:
        ledger.note(tx, outbox_id, now, "rewritten", "a key was revoked")
    turns = {(row.game_id, row.turn, row.seat): row.person_id for row in outbox.turns_open(tx)}
    emails = [
        outbox.NewEmail(person_id, EmailKind.TURN, game_id, None, seat, turn)
        for (game_id, turn, seat), person_id in turns.items()
    ]
    outbox.queue(tx, emails, now)
    return Renewed(len(rewritten), len(emails))
