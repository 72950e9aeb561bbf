"""What somebody who looked at a thing has found: how it is, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class How(StrEnum):
    """How bad a finding is."""

    WELL = "well"
    WARNING = "warning"
    TROUBLE = "trouble"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do."""

    what: str
    how: How
    says: str
    remedy: str = ""
