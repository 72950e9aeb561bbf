"""The search: thousands of imagined games, each a little wiser about where to look.

Every iteration imagines a world, walks down the tree, adds a node, plays on by quick choices and notes how it went. In games
with secrets it imagines two kinds of worlds in turn. In one that fits the searcher's view, only the searcher learns: the
others choose as often as they did before. In one that fits what everyone knows, all seats learn, so they never prepare for
the one hand that the searcher really has.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.search.course import Course, Luck
from engine.search.halving import best_of
from engine.search.level import Level
from engine.search.playout import Horizon, Judge, imagined, play_on, public_truth, quick_choice
from engine.search.tree import Knowledge, Node, candidates, worth_trying
from engine.tell import UNNAMED

SAMPLES: Final = 12
"""Playouts that set the scale of values."""
LESSONS: Final = 4
"""A quarter of the iterations is for all seats to learn, before choices are compared."""
TRUTHS: Final = 4
"""Imagined truths to choose one from, by how plausible each is."""
Path = list[tuple[int, tuple[Node, ...], Choice]]
"""What was chosen on the way: by which seat, at which nodes."""


class Search:
    """One search, for one decision."""

    def __init__(self, game: Game[Any], view: Any, decision: Decision, draw: Draw, level: Level) -> None:
        self.game = game
        self.view = view
        self.seat = decision.seat
        self.decision = decision
        self.seats = len(game.standing(view).scores)
        self.luck = Luck(draw.below(2**32) << 32 | draw.below(2**32))
        self.level = level
        secrets = game.hidden != UNNAMED
        self.masks = secrets and type(game).mask is not Game.mask
        self._nodes: dict[Hashable, Node] = {}
        self._keys: dict[Hashable, int] = {}
        self._root_key = (self.seat, 0, game.mask(view, self.seat) if self.masks else None)
        self.root = Node(worth_trying(game, view, decision, self.luck, level.choices))
        self._nodes[self._root_key] = self.root
        self._judge = Judge(game, [self._sample() for _ in range(SAMPLES)])

    def run(self, iterations: int) -> Choice:
        """Go on for about this many iterations and return the choice that did best.

        The choices of the root are compared in the same worlds and with the same luck, so that only the choice makes a
        difference. Half of them are dropped again and again, and the better ones are tried more often. In games with secrets,
        all seats learn first: choices compared among others who know nothing yet teach the searcher to bluff.
        """
        lessons = iterations // LESSONS if self.masks else 0
        for _ in range(lessons):
            self._teach_all(self._imagined())
        return best_of(self.root.choices, iterations - lessons, self._compare, self.root.mean, beside=int(self.masks))

    def _compare(self, choices: list[Choice]) -> None:
        """Try choices in one world. Then let all seats learn in another one, if this game has secrets."""
        truth, seed = self._imagined(), self.luck.below(2**32)
        for choice in choices:
            self._iterate(truth, Luck(seed), choice)
        if self.masks:
            self._teach_all(truth)

    def _teach_all(self, truth: Any) -> None:
        """Let all seats learn in a world that fits what everyone can see of this one."""
        self._iterate(public_truth(self.game, truth, self.luck, TRUTHS), self.luck, None)

    def _imagined(self) -> Any:
        return imagined(self.game, self.view, self.seat, self.luck, TRUTHS)

    def _course(self, truth: Any, luck: Luck) -> Course:
        return Course(self.game, self.seats, truth, lambda _turn: luck)

    def _horizon(self) -> Horizon:
        return Horizon(self.game, self.decision.topic, self.level)

    def _sample(self) -> Any:
        course = self._course(self._imagined(), self.luck)
        play_on(course, self.luck, self._horizon())
        return course.state

    def _iterate(self, truth: Any, luck: Luck, first: Choice | None) -> None:
        """Go down the tree, play on and note the values: after this choice of the searcher, or else for all seats to learn."""
        course = self._course(truth, luck)
        parts = [self.game.mask(truth, seat) if self.masks else None for seat in range(self.seats)]
        known = Knowledge(self._keys, parts)
        path: Path = []
        horizon = self._horizon()
        fresh = False
        while not fresh and not horizon.reached(course):
            chosen, fresh = self._choose(course, course.opened, known, first, path, luck)
            happened = course.go(chosen)
            if not fresh:
                known.tell(happened)
        play_on(course, luck, horizon)
        values = self._judge.values(course.state)
        for seat, nodes, choice in path:
            for node in nodes:
                node.learn(choice, values[seat])

    def _choose(
        self,
        course: Course,
        opened: dict[int, Decision],
        known: Knowledge,
        first: Choice | None,
        path: Path,
        luck: Luck,
    ) -> tuple[dict[int, Choice], bool]:
        """Choose for every seat that is asked, and say whether that was new to all of them."""
        chosen: dict[int, Choice] = {}
        steps: dict[int, tuple[Node, ...]] = {}
        fresh = True
        for seat, decision in opened.items():
            learns = first is None or not self.masks or seat == self.seat
            nodes, new = self._at(seat, known, learns)
            fresh = fresh and new
            if first is not None and seat == self.seat and not course.turn:
                chosen[seat] = first
                steps[seat] = nodes
            elif not nodes:
                chosen[seat] = quick_choice(self.game, course.state, decision, luck)
            elif learns:
                for node in nodes:
                    if node.narrow:
                        node.widen(candidates(self.game, course.state, decision, luck))
                node = nodes[0] if len(nodes) == 1 or nodes[0].knows() else nodes[1]
                if node.young:
                    chosen[seat] = quick_choice(self.game, course.state, decision, luck)
                else:
                    chosen[seat] = node.select(decision, self.level.curiosity)
                steps[seat] = nodes
            else:
                chosen[seat] = nodes[0].usual(luck)
        closing = [seat for seat, choice in chosen.items() if choice.verb in opened[seat].closes]
        if closing:
            # The first one to answer ends the turn, and nobody knows who that will be.
            fastest = luck.pick(closing)
            chosen = {fastest: chosen[fastest]}
        path += ((seat, nodes, chosen[seat]) for seat, nodes in steps.items() if seat in chosen)
        return chosen, fresh

    def _at(self, seat: int, known: Knowledge, learns: bool) -> tuple[tuple[Node, ...], bool]:
        """Return the nodes of a seat here: for all that it knows and, where it has secrets, a rough one; and whether they are new."""
        exact, rough = known.exact(seat), known.rough(seat)
        found = self._nodes.get(exact)
        if not self.masks or exact == self._root_key:
            new = found is None
            return (self._nodes.setdefault(exact, found or Node([])),), new
        vague = self._nodes.get(rough)
        new = vague is None
        if not learns:
            # A rough node may hold choices that this seat isn't offered in this world, so only an exact one can be played by.
            return ((found,), False) if found is not None and found.knows() else ((), new)
        nodes = (self._nodes.setdefault(exact, found or Node([])), self._nodes.setdefault(rough, vague or Node([])))
        return nodes, new
