"""Findings of checks: how bad, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `what` names the thing checked."""

    what: str
    severity: Severity
    says: str
    remedy: str = ""
