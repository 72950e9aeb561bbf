"""The server: the database, clock, randomness, keys and settings that every use case gets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Concatenate, NoReturn, ParamSpec, Protocol, TypeVar

import structlog

from pbem.clock import Clock, Randomness
from pbem.domain.channels import ChannelRules
from pbem.domain.strangers import StrangerLimits
from pbem.store.database import Store, Tx
from pbem.store.database_errors import is_outage
from pbem.tokens import Keyring

P = ParamSpec("P")
T = TypeVar("T")

_log = structlog.get_logger(__name__)


class Proof(Protocol):
    """Why a visitor may act: a session or a link, which can end at any moment."""

    def check(self, tx: Tx, server: "Server") -> None:
        """Raise a Refusal unless it is still good, and keep it from being revoked until the transaction ends."""

    def is_given(self, values: Sequence[object]) -> bool:
        """Whether a use case with these arguments checks it itself."""


@dataclass(frozen=True, slots=True)
class Server:
    """What one process needs to run use cases.

    `hold` is how long an email waits so that its move can be undone; `open_tables`, the most tables of one person; `demos`,
    the most demos begun from one network in an hour; `zone`, the default time zone; `answers_a_turn` and `answers_a_day`, the
    most replies by email to one person; `strangers`, the most emails to typed addresses; `channels`, what may be a channel.

    With a `proof`, everything runs only while that is good: it is checked in the same transaction, before anything else.
    """

    store: Store
    clock: Clock
    randomness: Randomness
    keys: Keyring
    hold: timedelta = timedelta(seconds=60)
    open_tables: int = 20
    demos: int = 10
    zone: str = "UTC"
    answers_a_turn: int = 5
    answers_a_day: int = 20
    strangers: StrangerLimits = field(default_factory=StrangerLimits)
    channels: ChannelRules = field(default_factory=ChannelRules)
    proof: Proof | None = None

    def now(self) -> datetime:
        """The current time."""
        return self.clock.now()

    def run(self, use_case: Callable[Concatenate[Tx, "Server", P], T], /, *args: P.args, **given: P.kwargs) -> T:
        """Run a use case in one transaction and return its result; retried whole where the database asks for it."""

        def work(tx: Tx) -> T:
            self._check(tx, args)
            return use_case(tx, self, *args, **given)

        return self.store.write(work)

    def attempt(
        self, use_case: Callable[Concatenate[Tx, "Server", P], T], /, *args: P.args, **given: P.kwargs
    ) -> T | None:
        """Run a use case for one of many rows; one that fails is logged, returns None, and doesn't keep the others.

        A failure of the database is raised: it is no fault of the row's.
        """
        try:
            return self.run(use_case, *args, **given)
        except Exception as error:
            if is_outage(error):
                raise
            _log.exception("attempt_failed", use_case=use_case.__name__, of=args)
            return None

    def dry_run(self, use_case: Callable[Concatenate[Tx, "Server", P], T], /, *args: P.args, **given: P.kwargs) -> T:
        """Run a use case in a transaction that is rolled back and return what it would have returned."""

        def pretend(tx: Tx) -> NoReturn:
            self._check(tx, args)
            raise _RollBack(use_case(tx, self, *args, **given))

        try:
            self.store.write(pretend)
        except _RollBack as rolled_back:
            result: T = rolled_back.result
            return result

    def query(self, query: Callable[Concatenate[Tx, P], T], /, *args: P.args, **given: P.kwargs) -> T:
        """Run a query of the store on one snapshot of the database and return its result."""
        with self.store.read() as tx:
            self._check(tx, args)
            return query(tx, *args, **given)

    def read(self, query: Callable[Concatenate[Tx, "Server", P], T], /, *args: P.args, **given: P.kwargs) -> T:
        """Run a read-only query on one snapshot of the database and return its result."""
        with self.store.read() as tx:
            self._check(tx, args)
            return query(tx, self, *args, **given)

    def _check(self, tx: Tx, values: Sequence[object]) -> None:
        """Raise a Refusal unless the visitor may still act."""
        if self.proof is not None and not self.proof.is_given(values):
            self.proof.check(tx, self)


class _RollBack(Exception):
    """Rolls a transaction back, and carries the result out of it."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result
