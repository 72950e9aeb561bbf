"""What a review says, in sentences: each remark tells what was chosen, what would have been better, by how much, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.coach.review import Luck, Reasons, Review, Side, Swing, Verdict
from engine.tell import Text, say

MOST_REASONS: Final = 4
"""The most sentences that say why."""
_NEARLY_ALWAYS: Final = 950
_LEAST_PAID: Final = 1000
_ALSO_A_MISTAKE: Final = {
    (False, True): "With every hand visible, it was a mistake too.",
    (False, False): "With every hand visible, it was a mistake: that was bad luck.",
    (True, True): "From what you could see, it was a mistake too.",
    (True, False): "From what you could see, it was a mistake: you were lucky.",
}
"""Of a decision that the other side calls a mistake: by whether this one has the hands open, and calls it one."""
_ALSO_ONE_OF_THE_BEST: Final = {
    (False, True): "With every hand visible, it was one of your best decisions: you were lucky.",
    (False, False): "With every hand visible, it was one of your best decisions too.",
    (True, True): "From what you could see, it was one of your best decisions: that was bad luck.",
    (True, False): "From what you could see, it was one of your best decisions too.",
}


def percent(thousandths: int) -> int:
    """Return thousandths as whole percent, rounded to even halves.

    >>> percent(375), percent(-124)
    (38, -12)
    """
    return round(thousandths / 10)


def of_verdict(verdict: Verdict, review: Review, side: Side) -> tuple[Text, ...]:
    """Return what a side of a review says about a decision, and how the other side judges it if that names it too."""
    says = of_mistake(verdict) if verdict.gain < 0 else of_best(verdict)
    return (*says, *_elsewhere(verdict, review, side))


def of_mistake(verdict: Verdict) -> tuple[Text, ...]:
    """Return what to say about a mistake."""
    return (
        say(
            "You chose to {chosen}. It would have been better to {other}: that wins {better} of 100 games instead of {chance}.",
            chosen=verdict.spoken,
            other=verdict.other_spoken,
            better=of_chance(verdict.chance - verdict.gain),
            chance=of_chance(verdict.chance),
        ),
        *reasons(verdict),
    )


def of_best(verdict: Verdict) -> tuple[Text, ...]:
    """Return what to say about one of the best moves."""
    return (
        say(
            "The obvious choice was to {other}, which wins {less} of 100 games. You chose to {chosen}: that wins {chance}.",
            other=verdict.other_spoken,
            less=of_chance(verdict.chance - verdict.gain),
            chosen=verdict.spoken,
            chance=of_chance(verdict.chance),
        ),
        *reasons(verdict),
    )


def of_chance(thousandths: int) -> Text:
    """Return a chance as games of a hundred. What always or never happened in the imagined games can still go the other way."""
    whole = percent(thousandths)
    if whole >= 100:
        return say("over 99")
    return say("about {whole}", whole=whole) if whole > 0 else say("fewer than 1")


def of_often(thousandths: int) -> Text:
    """Return how often something happened in the imagined games, roughly: `8 of 10`."""
    if thousandths >= _NEARLY_ALWAYS:
        return say("nearly always")
    if thousandths <= 1000 - _NEARLY_ALWAYS:
        return say("hardly ever")
    return say("{tenths} of 10", tenths=min(9, max(1, round(thousandths / 100))))


def reasons(verdict: Verdict) -> tuple[Text, ...]:
    """Return why one choice was better than the other: what was clearly different, seen from the better one."""
    return tuple(_reasons(verdict))[:MOST_REASONS]


def of_hint(verdict: Verdict, games: int) -> tuple[Text, ...]:
    """Return what to say about a suggested choice, compared in a number of imagined games."""
    chance, other = percent(verdict.chance), percent(verdict.chance - verdict.gain)
    found = say(
        "The Expert bot would choose “{chosen}”. It won about {chance}% of {games} games simulated from here.",
        chosen=verdict.chosen,
        chance=chance,
        games=games,
    )
    if verdict.chosen == verdict.other:
        return (found,)
    if verdict.low <= 0 <= verdict.high:
        return (found, say("“{other}” did about as well.", other=verdict.other))
    return (found, say("“{other}” won about {chance}%.", other=verdict.other, chance=other))


def of_luck(luck: Luck) -> tuple[Text, ...]:
    """Return what to say about the draws of a turn."""
    if luck.gain < 0:
        says = say(
            "Bad luck lowered your chance of winning by {points:percentage point|percentage points}.",
            points=-percent(luck.gain),
        )
    else:
        says = say(
            "Good luck raised your chance of winning by {points:percentage point|percentage points}.",
            points=percent(luck.gain),
        )
    return (says,) if luck.says is None else (luck.says, says)


def of_swing(swing: Swing) -> tuple[Text, ...]:
    """Return what to say about a change between two decisions."""
    before, after = percent(swing.before), percent(swing.after)
    template = (
        "Your chance of winning rose from {before}% to {after}%."
        if swing.after > swing.before
        else "Your chance of winning fell from {before}% to {after}%."
    )
    return (*swing.says, say(template, before=before, after=after))


def _reasons(verdict: Verdict) -> Iterator[Text]:
    why, mistake = verdict.reasons, verdict.gain < 0
    best, worst = (verdict.other_spoken, verdict.spoken) if mistake else (verdict.spoken, verdict.other_spoken)
    yield from _worth(why)
    for place, each in enumerate(why.outcomes):
        better, worse = (each.other, each.often) if mistake else (each.often, each.other)
        # Beside what the player gets by the better choice, what others get by the worse one is why it matters; and what hardly
        # ever happens after the better one is only worth telling of the other.
        if better > 1000 - _NEARLY_ALWAYS and (not place or better >= worse):
            yield say(
                "If you {choice}, {often} instead of {others}: {what}",
                choice=best,
                often=_often(better),
                others=of_often(worse),
                what=each.says,
            )
        else:
            yield say("If you {choice}, {often}: {what}", choice=worst, often=_often(worse), what=each.says)
    if why.paid is not None and abs(why.paid[0] - why.paid[1]) >= _LEAST_PAID:
        yield _paid(*(why.paid[::-1] if mistake else why.paid), why.money)
    yield from _scores(why, mistake=mistake)


def _elsewhere(verdict: Verdict, review: Review, side: Side) -> Iterator[Text]:
    """Yield how the other side of a review judges a decision that both name."""
    opened, mistake = side is review.opened, verdict.gain < 0
    other = review.known if opened else review.opened
    if other is None:
        return
    if any(each.turn == verdict.turn for each in other.mistakes):
        yield say(_ALSO_A_MISTAKE[opened, mistake])
    elif any(each.turn == verdict.turn for each in other.best):
        yield say(_ALSO_ONE_OF_THE_BEST[opened, mistake])


def _worth(why: Reasons) -> Iterator[Text]:
    if why.worth == 0:
        yield say("No bid was worth it.")
    elif why.worth is not None:
        yield say("The most that was worth bidding was about {worth}.", worth=why.worth)


def _often(thousandths: int) -> Text:
    """Return how often, as part of a sentence."""
    often = of_often(thousandths)
    return say("in {often} games", often=often) if often.values else often


def _paid(better: int, worse: int, money: str | None) -> Text:
    """Return how the winning bid changes, and what that saves if it's paid in money."""
    whole, others = _whole(better), _whole(worse)
    if money is None or whole >= others:
        return say("When you win, your bid is about {better} instead of {worse}.", better=whole, worse=others)
    return say(
        "When you win, your bid is about {better} instead of {worse}, so you keep about {saved} more {money}.",
        better=whole,
        worse=others,
        saved=others - whole,
        money=money,
    )


def _scores(why: Reasons, *, mistake: bool) -> Iterator[Text]:
    """Yield how the better choice changes the scores. A rival's score that rises is no reason for it."""
    sign = -1 if mistake else 1
    own = None if why.points is None else _points(sign * why.points)
    fewer, rival = (0, 0) if why.rival is None else (-sign * why.rival.points, why.rival.seat)
    if fewer <= 0:
        if own is not None:
            yield say("On average, you end with {own}.", own=own)
    elif own is None:
        yield say("On average, {rival:seat} [ends|end] with {others}.", others=_points(-fewer), rival=rival)
    else:
        less = _whole(fewer)
        yield say(
            "On average, you end with {own}, and {rival:seat} with {less} fewer.", own=own, less=less, rival=rival
        )


def _points(thousandths: int) -> Text:
    template = "about {whole:point|points} more" if thousandths > 0 else "about {whole:point|points} fewer"
    return say(template, whole=_whole(thousandths))


def _whole(thousandths: int) -> int:
    """Return a mean without its sign, as exact as a mean of imagined games is.

    >>> _whole(-2_600), _whole(137_400)
    (3, 140)
    """
    whole = round(abs(thousandths) / 1000)
    return round(whole, -1) if whole >= 100 else whole
