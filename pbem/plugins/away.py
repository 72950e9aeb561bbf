"""A stand-in for a game whose rules are missing, have failed or have changed. It has a name and options, and refuses all else."""

from typing import Any, NoReturn

from engine import codec
from engine.game import Game
from engine.registry import own_names
from engine.tell import Text
from pbem.domain.errors import Unplayable
from pbem.i18n.speech import gettext as _


class Away(Game[Any]):
    """A game without rules. Every function of it raises Unplayable."""

    title = ""
    seats = (1, 99)
    length = Text("")
    credits = Text("")

    def __init__(self, name: str, known: Game[Any] | None, halted: str | None = None) -> None:
        self._name = name
        self._known = known
        self._halted = halted
        for each in ("title", "seats", "options", "length", "credits", "RULES") if known is not None else ():
            setattr(self, each, getattr(known, each))
        if known is None:
            # No better name is known for it: that of its package is written like an address.
            self.title = name.replace("-", " ").capitalize()  # type: ignore[misc]  # one class stands for all of them

    @property
    def slug(self) -> str:
        return self._name

    @property
    def rules(self) -> str:
        return f"{self.title}\n\n" if self._known is None else self._known.rules

    def unplayable(self) -> Unplayable:
        """Why nothing can be done here, for a person."""
        if self._halted == "failed":
            why = _("Its rules failed. The organiser has been told.")
        elif self._halted == "changed":
            why = _("Its rules have changed since the last turn. The organiser has been told.")
        else:
            why = _("Its rules are missing. The organiser has been told.")
        return Unplayable(
            _("%(game)s can't be played on this server right now.", game=self.title),
            why=why,
            remedy=_("The table is stopped, and nothing is lost. We'll email you when it resumes."),
        )

    def _refuse(self, *_words: Any, **_more: Any) -> NoReturn:
        raise self.unplayable()

    settle = start = setup = asks = resolve = standing = board = longest = tally = _refuse
    objects = barred = prospect = imagine = mask = plausible = quick = _refuse


def loads(rules: Game[Any], text: str) -> Any:
    """A value of a game from its text. Raises Unplayable where the rules that could read it are not there.

    A newer version of another package's game may not read what an older one has written.
    """
    try:
        return codec.loads(rules, text)
    except codec.Malformed:
        _refuse_if_not_ours(rules)
        raise


def loads_snapshot(rules: Game[Any], text: str) -> Any:
    """A stored state or view; None if another release stored it in another shape, so that the log must say what it is.

    Raises Unplayable as `loads` does.
    """
    if isinstance(rules, Away):
        raise rules.unplayable()
    try:
        return codec.loads(rules, text)
    except codec.OtherShape:
        return None
    except codec.Malformed:
        _refuse_if_not_ours(rules)
        raise


def _refuse_if_not_ours(rules: Game[Any]) -> None:
    if isinstance(rules, Away):
        raise rules.unplayable() from None
    if rules.slug not in own_names():
        raise Away(rules.slug, rules, "changed").unplayable() from None
