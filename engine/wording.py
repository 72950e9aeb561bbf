"""How choices are written, and how players are told what they may write."""

from __future__ import annotations

from typing import Final

from engine.decisions import Act, Amount, Blank, Choice, Decision, Ranking, Some, Split, Value

_MOST_SHOWN: Final = 12


def write(decision: Decision, choice: Choice) -> str:
    """Return the choice as text that reads back as the same choice."""
    return written(_act(decision, choice), choice)


def spoken(decision: Decision, choice: Choice) -> str:
    """Return the choice as it is told to its player after “you'll”: `bid 7`, `sell Forest in a closed auction`."""
    act = _act(decision, choice)
    return act.spoken.format(*_values(act, choice)) if act.spoken else written(act, choice)


def spoken_in_full(decision: Decision, choice: Choice) -> str:
    """Return the choice as `spoken`, with the notes that things have on the table: `bid Painter (3)`."""
    act = _act(decision, choice)
    values = _values(act, choice, notes=True)
    return act.spoken.format(*values) if act.spoken else _phrased(act, values)


def filled_in(decision: Decision, choice: Choice) -> str:
    """Return what is in the blanks of a choice, with the notes of things: `Painter (3)`."""
    return ", ".join(_values(_act(decision, choice), choice, notes=True))


def written(act: Act, choice: Choice) -> str:
    """Return a choice of this act as text."""
    return _phrased(act, _values(act, choice))


def usages(decision: Decision) -> tuple[str, ...]:
    """Return what may be written, a line for each act."""
    return tuple(dict.fromkeys(usage(act) for act in decision.acts))


def usage(act: Act) -> str:
    """Return how an act is written: `bid <coins 1-9>`."""
    blanks = [_usage_of_blank(blank) for blank in act.blanks]
    if act.phrase:
        return act.phrase.format(*blanks)
    return " ".join([act.verb, *blanks])


def _act(decision: Decision, choice: Choice) -> Act:
    return next(act for act in decision.acts if choice in act)


def _phrased(act: Act, values: list[str]) -> str:
    return act.phrase.format(*values) if act.phrase else " ".join([act.verb, *values])


def _values(act: Act, choice: Choice, *, notes: bool = False) -> list[str]:
    return [_write_value(blank, value, notes=notes) for blank, value in zip(act.blanks, choice.values, strict=True)]


def _write_value(blank: Blank, value: Value, *, notes: bool) -> str:
    if isinstance(blank, Amount):
        return str(value)
    if isinstance(blank, Split):
        assert isinstance(value, tuple)
        return " ".join(map(str, value))
    names = {
        thing.value: f"{thing.word} ({thing.note})" if notes and thing.note else thing.word for thing in blank.things
    }
    values = value if isinstance(value, tuple) else (value,)
    return ", ".join(names[each] for each in values)


def _usage_of_blank(blank: Blank) -> str:
    if isinstance(blank, Amount):
        if blank.count() == 1:
            return str(*blank.values())
        return f"<{blank.name} {blank.low}-{blank.high}>"
    if isinstance(blank, Split):
        return f"<{blank.total} over {', '.join(thing.word for thing in blank.things)}>"
    words = list(dict.fromkeys(thing.word for thing in blank.things))
    shown = " | ".join(words[:_MOST_SHOWN]) + (" | ..." if len(words) > _MOST_SHOWN else "")
    if isinstance(blank, Some):
        return f"<{blank.many} of {shown}>"
    if isinstance(blank, Ranking):
        return f"<{', '.join(words)} in your order>"
    return words[0] if len(words) == 1 else f"<{shown}>"
