"""Findings of checks: how bad, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from pbem.domain.errors import PbemError


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `what` names the thing checked."""

    severity: Severity
    what: str
    says: str
    remedy: str = ""


ok = partial(Finding, Severity.OK)
warning = partial(Finding, Severity.WARNING)
error = partial(Finding, Severity.ERROR)


def of_error(what: str, raised: PbemError) -> Finding:
    """The finding of a check that could not be made."""
    return error(what, " ".join(filter(None, (raised.what, raised.why))), raised.remedy)
