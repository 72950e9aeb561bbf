"""The search: thousands of imagined games, each a little wiser about where to look.

Every iteration imagines a world, walks down the tree, adds a node, plays on by quick choices and notes how it went. In games
with secrets it imagines two kinds of worlds in turn. In one that fits the searcher's view, only the searcher learns: the
others choose as often as they did before. In one that fits what everybody knows, all seats learn, so they never prepare for
the one hand that the searcher really has.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.search.course import Course, Luck
from engine.search.playout import Judge, imagined, play_on, public_truth, quick_choice
from engine.search.tree import Knowledge, Node, candidates
from engine.tell import UNNAMED

SAMPLES: Final = 12
"""Playouts that set the scale of values."""
ENOUGH: Final = 8
"""Visits after which a node for all that a seat knows is worth more than the rough one."""
DEEPEST: Final = 60
"""The most turns on a way through the tree."""

Path = list[tuple[int, tuple[Node, ...], Choice]]
"""What was chosen on the way: by which seat, at which nodes."""


class Search:
    """One search, for one decision."""

    def __init__(
        self, game: Game[Any], view: Any, decision: Decision, draw: Draw, topics: int, turns: int, curiosity: float
    ) -> None:
        self.game = game
        self.view = view
        self.seat = decision.seat
        self.decision = decision
        self.seats = len(game.standing(view).scores)
        self.luck = Luck(draw.below(2**32) << 32 | draw.below(2**32))
        self.topics, self.turns, self.curiosity = topics, turns, curiosity
        secrets = game.hidden != UNNAMED
        self.masks = secrets and type(game).mask is not Game.mask
        self._nodes: dict[Hashable, Node] = {}
        self._keys: dict[Hashable, int] = {}
        self._root_key = (self.seat, 0, game.mask(view, self.seat) if self.masks else None)
        self.root = Node(candidates(game, view, decision, self.luck))
        self._nodes[self._root_key] = self.root
        self._judge = Judge(game, [self._sample() for _ in range(SAMPLES)])

    def run(self, iterations: int) -> None:
        """Go on for a number of iterations."""
        for number in range(iterations):
            truth = self._imagined()
            public = self.masks and number % 2 == 1
            if public:
                truth = public_truth(self.game, truth, self.luck, 2)
            self._iterate(truth, public)

    def best(self) -> Choice:
        """Return the choice that was visited most; of equal ones, the one with the better values."""
        root = self.root
        places = range(len(root.choices))
        return root.choices[max(places, key=lambda place: (root.visits[place], root.mean(place)))]

    def mixed(self, draw: Draw, least: int) -> Choice:
        """Return one of the choices by their visits, without those that have less than the most visits divided by `least`."""
        root, most = self.root, max(self.root.visits)
        visits = [visits if visits * least >= most else 0 for visits in root.visits]
        at = draw.below(sum(visits))
        for place, many in enumerate(visits):
            at -= many
            if at < 0:
                return root.choices[place]
        raise AssertionError("the visits of the root do not add up")

    def _imagined(self) -> Any:
        return imagined(self.game, self.view, self.seat, self.luck, 3)

    def _course(self, truth: Any) -> Course:
        luck = self.luck
        return Course(self.game, self.seats, truth, lambda _turn: luck)

    def _sample(self) -> Any:
        course = self._course(self._imagined())
        play_on(course, self.luck, self.topics, self.turns)
        return course.state

    def _iterate(self, truth: Any, public: bool) -> None:
        """Go down the tree, play on and note the values; `public` if all seats learn in this world."""
        course = self._course(truth)
        parts = [self.game.mask(truth, seat) if self.masks else None for seat in range(self.seats)]
        known = Knowledge(self._keys, parts)
        path: Path = []
        for _ in range(DEEPEST):
            opened = course.open()
            if not opened:
                break
            chosen, fresh = self._choose(course, opened, known, public, path)
            known.tell(course.go(chosen))
            if fresh:
                break
        play_on(course, self.luck, self.topics, self.turns)
        values = self._judge.values(course.state)
        for seat, nodes, choice in path:
            for node in nodes:
                node.learn(choice, values[seat])

    def _choose(
        self, course: Course, opened: dict[int, Decision], known: Knowledge, public: bool, path: Path
    ) -> tuple[dict[int, Choice], bool]:
        """Choose for every seat that is asked, and say whether that was new to all of them."""
        chosen: dict[int, Choice] = {}
        steps: dict[int, tuple[Node, ...]] = {}
        fresh = True
        for seat, decision in opened.items():
            learns = public or not self.masks or seat == self.seat
            nodes, new = self._at(course, seat, decision, known, learns)
            fresh = fresh and new
            if not nodes:
                chosen[seat] = quick_choice(self.game, course.state, decision, self.luck)
            elif learns:
                node = nodes[0] if len(nodes) == 1 or nodes[0].total >= ENOUGH else nodes[1]
                chosen[seat] = node.select(decision, self.curiosity)
                steps[seat] = nodes
            else:
                chosen[seat] = nodes[0].usual(decision, self.luck)
        closing = [seat for seat, choice in chosen.items() if choice.verb in opened[seat].closes]
        if closing:
            # The first one to answer ends the turn, and nobody knows who that will be.
            first = self.luck.pick(closing)
            chosen = {first: chosen[first]}
        path += ((seat, nodes, chosen[seat]) for seat, nodes in steps.items() if seat in chosen)
        return chosen, fresh

    def _at(
        self, course: Course, seat: int, decision: Decision, known: Knowledge, learns: bool
    ) -> tuple[tuple[Node, ...], bool]:
        """Return the nodes of a seat here: for all that it knows and, where it has secrets, a rough one; and whether they are new."""
        exact, rough = known.exact(seat), known.rough(seat)
        found = self._nodes.get(exact)
        if not self.masks or exact == self._root_key:
            if found is not None:
                return (found,), False
            found = self._nodes[exact] = Node(candidates(self.game, course.state, decision, self.luck))
            return (found,), True
        vague = self._nodes.get(rough)
        if not learns:
            if found is not None and found.total >= ENOUGH:
                return (found,), False
            return ((vague,), False) if vague is not None and vague.total else ((), True)
        new = vague is None
        if found is None:
            found = self._nodes[exact] = Node(candidates(self.game, course.state, decision, self.luck))
        if vague is None:
            vague = self._nodes[rough] = Node(list(found.choices))
        return (found, vague), new
