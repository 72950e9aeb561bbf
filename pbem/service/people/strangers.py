"""Strangers: budgets of email to typed addresses, and deleting people who never confirm theirs.

An email over a budget is refused, and never queued. Every typed address is counted, confirmed or not, so that no refusal
says who plays here. Email about a person's own tables is never counted. What players ask for once they have shown who they are
has budgets of its own, which strangers can't use up. If strangers have used up a mailbox's budget, its owner already has emails
whose links confirm the address, and needs no more. The budgets are shares in the database, which all processes use up together.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Final

import structlog

from pbem.domain.duration import MINUTE, duration_text
from pbem.domain.errors import TooMany
from pbem.domain.strangers import PERIODS, Budget, fold_aliases
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import outages
from pbem.service.server import Server
from pbem.store import rate_limits, strangers as rows
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage

_BATCH: Final = 100

_log = structlog.get_logger(__name__)

_ROOT: Final = "/strangers"
"""The row that is locked by everyone who counts. A domain, whose quotas are in the same table, has no slash."""


def count_emails(
    tx: Tx, server: Server, mailboxes: Collection[str], network: str = "", *, by_player: bool = False
) -> None:
    """Count an email to each of these typed addresses, asked for from one network, by a player or someone unknown.

    The mailboxes are those typed, even where their owners have others by now: a refusal names them. Raises TooMany; then none
    is counted.
    """
    if not mailboxes:
        return
    now = server.now()
    typed = {fold_aliases(mailbox): mailbox for mailbox in mailboxes}
    # Locks the row, so that of two at once only one uses a share.
    rate_limits.write(tx, {_ROOT: now})
    for (budget, whose), count in Counter(_uses(mailboxes, network, by_player=by_player)).items():
        most, name = server.strangers.most(budget), _name(budget, whose, by_player=by_player)
        if not most:
            continue
        used = rate_limits.shares(tx, name, now)
        if used.count + count > most:
            raise _refusal(budget, _shown(whose, typed), most, now, used.first_free or now)
        until = now + PERIODS[budget]
        rate_limits.write(tx, {f"{name}{used.next_number + each:010}": until for each in range(count)})


def tidy(server: Server) -> int:
    """Delete those who never confirmed their address, with what they asked for, each in a transaction. Returns how many."""
    moment, after, deleted = server.read(outages.ago, server.strangers.lifetime), 0, 0
    server.store.write(lambda tx: rows.forget_join_requests_before(tx, moment))
    while batch := server.query(rows.ids_before, moment, after, _BATCH):
        deleted += sum(_forget(server, stranger, moment) for stranger in batch)
        after = batch[-1]
    return deleted


def _forget(server: Server, stranger: int, moment: datetime) -> bool:
    try:
        return server.store.write(lambda tx: rows.forget(tx, stranger, moment))
    except Exception as error:
        if is_outage(error):
            raise
        # One stranger that cannot be deleted must not keep the others.
        _log.exception("stranger_not_forgotten", person=stranger)
        return False


def _uses(mailboxes: Collection[str], network: str, *, by_player: bool) -> Iterator[tuple[Budget, tuple[str, ...]]]:
    """The budgets that these emails use, each as often as they use it."""
    for mailbox in mailboxes:
        if network:
            yield Budget.NETWORK, (network,)
        if network and not by_player:
            yield Budget.SHARE, (fold_aliases(mailbox), network)
        yield Budget.MAILBOX, (fold_aliases(mailbox),)
        yield Budget.DOMAIN, (mailbox.rpartition("@")[2],)
        yield Budget.ALL, ()


def _name(budget: Budget, whose: tuple[str, ...], *, by_player: bool) -> str:
    # Requests of a network are counted together, by players and others.
    asked_by = "any" if budget is Budget.NETWORK else "players" if by_player else "others"
    return "/".join((_ROOT, asked_by, budget, *(sha256(each.encode()).hexdigest() for each in whose), ""))


def _shown(whose: tuple[str, ...], typed: Mapping[str, str]) -> str:
    """The address that was typed, or the domain."""
    return typed.get(whose[0], whose[0]) if whose else ""


def _refusal(budget: Budget, whose: str, most: int, now: datetime, free_at: datetime) -> TooMany:
    time = duration_text(max(free_at - now, MINUTE))
    match budget:
        case Budget.NETWORK:
            return TooMany(
                _("Too many emails were requested from your network, so this one wasn't sent."),
                why=_("We send at most %(most)s an hour, because anyone can type someone else's address.", most=most),
                remedy=_("Try again in %(time)s.", time=time),
            )
        case Budget.SHARE:
            return TooMany(
                _(
                    "Too many emails to %(address)s were requested from your network, so this one wasn't sent.",
                    address=whose,
                ),
                why=_("We send at most %(most)s a day, because anyone can type someone else's address.", most=most),
                remedy=_("Use the link in one of them, or try again in %(time)s.", time=time),
            )
        case Budget.MAILBOX:
            return TooMany(
                _("Daily limit reached for this address: %(address)s.", address=whose),
                why=_("We send at most %(most)s emails a day to an address typed here.", most=most),
                remedy=_("Use the link in one of them, or try again in %(time)s.", time=time),
            )
        case Budget.DOMAIN:
            return TooMany(
                _("Too many emails to %(domain)s were requested, so this one wasn't sent.", domain=whose),
                why=_("We send at most %(most)s an hour to one provider's addresses typed here.", most=most),
                remedy=_("Try again in %(time)s, or use another provider's address.", time=time),
            )
        case Budget.ALL:
            return TooMany(
                _("We can't email addresses typed here right now. Games aren't affected."),
                why=_("We send at most %(most)s such emails a day.", most=most),
                remedy=_("Try again in %(time)s.", time=time),
            )
