"""What a use case needs of the world: the database, the time, randomness, the keys and the settings."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Concatenate, ParamSpec, TypeVar

from pbem.clock import Clock, Randomness
from pbem.store.database import Store, Tx
from pbem.tokens import Keyring

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Server:
    """One process's hands on the server.

    `hold` is how long a mail waits in which its move can be taken back; `open_tables` is at how many tables one person can
    be; `zone` is that of people who have not chosen theirs; so many mails of one person's are answered in a turn and a day.
    """

    store: Store
    clock: Clock
    randomness: Randomness
    keys: Keyring
    hold: timedelta = timedelta(seconds=60)
    open_tables: int = 20
    zone: str = "UTC"
    answers_a_turn: int = 5
    answers_a_day: int = 20

    def now(self) -> datetime:
        """The present moment."""
        return self.clock.now()

    def run(self, use_case: Callable[Concatenate[Tx, "Server", P], T], /, *args: P.args, **given: P.kwargs) -> T:
        """Run a use case in one transaction, the whole of it again where the database asks for that; what it returns."""
        return self.store.write(lambda tx: use_case(tx, self, *args, **given))

    def read(self, query: Callable[Concatenate[Tx, "Server", P], T], /, *args: P.args, **given: P.kwargs) -> T:
        """What a query returns that writes nothing, from one moment of the database."""
        with self.store.read() as tx:
            return query(tx, self, *args, **given)
