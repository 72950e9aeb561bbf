"""What a tournament is made of: what was agreed at the opening, who takes part, what was played, and what is played next."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

Format = Literal["swiss", "pods", "knockout", "league"]
FORMATS: Final[tuple[Format, ...]] = ("swiss", "pods", "knockout", "league")

USUAL_TIE_BREAKS: Final = ("opponents", "wins", "head_to_head", "later_rounds", "lots")
"""What decides between equal points unless others were chosen."""

Table = tuple[int, ...]
"""The entrants of a table by their numbers, in seat order."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """Someone's place in a tournament.

    `number` stays the same for the whole tournament; `rank` is the seed, 1 the strongest, and no two entrants share one. `since`
    is their first round, and `until` the last that may include them: None while they are in. An entrant who leaves after a round's
    tables were made is in until that round; `away` are rounds before that without them, if they came back. `division` is 1 in all
    formats but a league, where 1 is the highest.
    """

    number: int
    rank: int
    since: int = 1
    until: int | None = None
    division: int = 1
    away: tuple[int, ...] = ()

    def is_in(self, round_number: int) -> bool:
        """Whether a round may include them."""
        still = self.until is None or round_number <= self.until
        return self.since <= round_number and still and round_number not in self.away

    def as_of(self, round_number: int) -> "Entrant":
        """The entrant as they were when a round was made: nobody knew yet that they would leave."""
        return self if self.until is None or self.until < round_number else replace(self, until=None)


@dataclass(frozen=True, slots=True)
class TableResult:
    """How a table of a round ended: the entrants in seat order, and their places. Tied entrants share a place: 1, 2, 2, 4.

    While only some tables of a round have ended, `places` is empty for the others: their entrants have neither points nor a bye.
    """

    round: int
    table: int
    seats: Table
    places: tuple[int, ...]

    def place_of(self, entrant: int) -> int:
        """The place of an entrant who sat there."""
        return self.places[self.seats.index(entrant)]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many players a table has: the preferred number, and all that the game allows and the organiser wants."""

    preferred: int
    allowed: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.preferred not in self.allowed or min(self.allowed) < 2:
            raise ValueError("The preferred size must be an allowed one, and a table has two players or more.")

    @property
    def smallest(self) -> int:
        """The smallest allowed table."""
        return min(self.allowed)

    @property
    def largest(self) -> int:
        """The largest allowed table."""
        return max(self.allowed)


@dataclass(frozen=True, slots=True)
class Plan:
    """What was agreed at the opening. Raises ValueError if it cannot be carried out.

    rounds      of the tournament (swiss), of each stage before the final (pods), of the season (league); not for a knockout
    advance     how many of each table (knockout) or pod (pods) go on
    moving      how many move up, and how many down, between two divisions of a league
    pod         how many entrants a pod has, about; 0 is twice the preferred table
    points      the name of a scale (`points.SCALES`), or the points of each place: a row for each table size, as long as the size
    bye         the name of the rule for a bye's points (`points.BYES`)
    tie_breaks  their names (`tie_breaks.TIE_BREAKS`), the first to be asked first
    """

    format: Format
    sizes: Sizes
    rounds: int = 0
    advance: int = 1
    moving: int = 1
    pod: int = 0
    points: str | tuple[tuple[Fraction, ...], ...] = "share"
    bye: str = "mean"
    tie_breaks: tuple[str, ...] = USUAL_TIE_BREAKS

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ValueError(f"There is no format {self.format!r}.")
        if self.format != "knockout" and self.rounds < 1:
            raise ValueError("There must be a round at least.")
        if self.format in ("pods", "knockout") and not 1 <= self.advance < self.sizes.smallest:
            raise ValueError("Someone must go on, and someone must not.")
        if self.moving < 0 or self.pod < 0 or 0 < self.pod < self.sizes.smallest:
            raise ValueError("A pod fills a table at least, and nobody moves less than not at all.")
        if not isinstance(self.points, str) and not set(self.sizes.allowed) <= {len(row) for row in self.points}:
            raise ValueError("Each allowed size needs a row of points.")

    @property
    def pod_size(self) -> int:
        """How many entrants a pod has, about."""
        return self.pod or 2 * self.sizes.preferred


@dataclass(frozen=True, slots=True)
class Round:
    """The tables of a round, each in seat order, and who has a bye."""

    tables: tuple[Table, ...]
    byes: tuple[int, ...] = ()
