"""A line of table talk, as a player of the table hears it."""

from dataclasses import dataclass
from datetime import datetime

from pbem.i18n.speech import gettext as _


@dataclass(frozen=True, slots=True)
class Line:
    """One line of talk. `text` is None if it was redacted; `earlier` means that the seat has changed hands since."""

    seq: int
    seat: int
    at: datetime
    text: str | None
    earlier: bool = False

    def who(self, name: str) -> str:
        """The author's name, given that of the seat's present player. Names of earlier players are not stored."""
        return _("An earlier player of seat %(number)s", number=self.seat + 1) if self.earlier else name
