"""Scores of the frontier that are kept up to date: a choice costs the logarithm of how many people wait.

Policies use it from ``LARGE`` people in the frontier on. With fewer they draw a random number for each person or class,
as in version 0.1, so that studies of that size go on as before, seed by seed.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from claim.discovery.discovered import Discovered, Mark, Status
from claim.networks.network import FloatArray, OffsetArray

LARGE = 5000
SAME = 12  # digits; equal sums of fractions differ in the last digits, and would be no ties

Score = Callable[[Discovered, int], float]  # of a person; all members of a class have the same


def is_large(discovered: Discovered) -> bool:
    """Whether so many people may be surveyed that policies keep account of them."""
    return len(discovered.waiting) > LARGE


class ScoreTree:
    """Draws items with a probability in proportion to size * exp(score / heat); without heat, those of the best score.

    A binary tree: every node has the best score below it, and the total of size * exp((score - best) / heat).
    """

    def __init__(self, heat: float = 0.0) -> None:
        self.heat = heat
        self._best, self._total = np.full(2, -np.inf), np.zeros(2)

    @property
    def empty(self) -> bool:
        """Whether no item has a size."""
        return bool(self._total[1] == 0.0)

    def put(self, items: OffsetArray, scores: FloatArray, sizes: FloatArray) -> None:
        """Set items, given in ascending order; an item that is given twice has the same values."""
        if len(items) and items[-1] >= len(self._best) // 2:
            self._grow(int(items[-1]) + 1)
        from claim.discovery.kernels import put

        put(self._best, self._total, items, np.where(sizes > 0, scores, -np.inf), sizes, self.heat)

    def reheat(self, heat: float) -> None:
        """Set the heat, for all items."""
        from claim.discovery.kernels import build

        self.heat = heat
        build(self._best, self._total, heat)

    def draw(self, rng: np.random.Generator) -> int:
        """An item; there must be one."""
        from claim.discovery.kernels import find

        return int(find(self._best, self._total, self.heat, rng.random()))

    def score(self, item: int) -> float:
        """The score of an item."""
        return float(self._best[len(self._best) // 2 + item])

    def size(self, item: int) -> float:
        """The size of an item."""
        return float(self._total[len(self._total) // 2 + item])

    def _grow(self, items: int) -> None:
        old, new = len(self._best) // 2, 1 << max(items - 1, 1).bit_length()
        best, total = np.full(2 * new, -np.inf), np.zeros(2 * new)
        best[new : new + old], total[new : new + old] = self._best[old:], self._total[old:]
        self._best, self._total = best, total
        self.reheat(self.heat)


def draw_members(
    discovered: Discovered,
    tree: ScoreTree,
    rng: np.random.Generator,
    count: int,
    once: bool = False,
    chosen: Callable[[int], None] | None = None,
) -> list[int]:
    """Up to ``count`` people one after another, each from a class that the tree draws; the tree stays as it was.

    With ``once`` a class comes round again only when all others had their turn. ``chosen`` is called with each class.
    """
    drawn: list[int] = []
    score: dict[int, float] = {}
    sizes: dict[int, float] = {}
    while len(drawn) < count:
        if tree.empty:
            again = [each for each, times in Counter(drawn).items() if times < len(discovered.members(each))]
            if not once or not again:
                break
            _put_each(tree, {each: (score[each], 1.0) for each in again})
        number = tree.draw(rng)
        if number not in score:
            score[number], sizes[number] = tree.score(number), float(len(discovered.members(number)))
        drawn.append(number)
        left = 0.0 if once else sizes[number] - drawn.count(number)
        _put_each(tree, {number: (tree.score(number), left)})
        if chosen is not None:
            chosen(number)
    _put_each(tree, {each: (score[each], 1.0 if once else sizes[each]) for each in score})
    people = {}
    for number, times in Counter(drawn).items():
        members = discovered.members(number)
        people[number] = [members[i] for i in rng.choice(len(members), times, replace=False).tolist()]
    return [people[number].pop() for number in drawn]


def _put_each(tree: ScoreTree, items: dict[int, tuple[float, float]]) -> None:
    scores, sizes = np.array([items[each] for each in sorted(items)]).reshape(-1, 2).T
    tree.put(np.array(sorted(items), dtype=np.int64), scores, sizes)


class Ranking:
    """The classes of the frontier by score; of no use to policies without one (``score`` None): all are equal then."""

    def __init__(self, score: Score | None) -> None:
        self._score, self._tree, self._since = score, ScoreTree(), Mark()

    @classmethod
    def of(cls, discovered: Discovered, score: Score | None) -> "Ranking":
        """The ranking of a study, up to date."""
        ranking = discovered.kept((cls, score), lambda: cls(score))
        ranking._update(discovered)
        return ranking

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int) -> list[int]:
        """The people of the highest scores, ties at random; without a score, members of random classes."""
        return draw_members(discovered, self._tree, rng, count, once=self._score is None)

    def _update(self, discovered: Discovered) -> None:
        """A score changes with the contacts of a person, and with the contacts of the surveyed people among them."""
        changes = discovered.changes(self._since)
        self._since, classes = changes.now, changes.classes
        score, status, surveyed = self._score, discovered.status, Status.SURVEYED
        if score is not None:
            ends = {person for person in set(chain.from_iterable(changes.ties)) if status[person] is surveyed}
            around = set(chain.from_iterable(discovered.contacts[who] for who in ends.union(changes.surveyed)))
            classes |= {discovered.class_of(person) for person in around if status[person] is Status.NAMED}
        items = sorted(classes)
        scores, sizes = np.zeros((2, len(items)))
        for i, number in enumerate(items):
            if members := discovered.members(number):
                sizes[i] = 1.0 if score is None else len(members)
                scores[i] = 0.0 if score is None else score(discovered, members[0])
        self._tree.put(np.array(items, dtype=np.int64), np.round(scores, SAME), sizes)


class Buckets:
    """The frontier by a score of each person that never changes."""

    def __init__(self) -> None:
        self._people: dict[float, list[int]] = {}
        self._order: list[float] = []  # a heap of the scores, negative
        self._known = 0

    def choose(
        self, discovered: Discovered, score: Callable[[int], float], rng: np.random.Generator, count: int
    ) -> list[int]:
        """The people of the highest scores, ties at random."""
        for person in range(self._known, len(discovered)):
            self._add(person, score(person))
        self._known = len(discovered)
        chosen: list[int] = []
        while self._order and len(chosen) < count:
            people = self._people[-self._order[0]]
            if not people:
                del self._people[-heapq.heappop(self._order)]
                continue
            place = int(rng.integers(len(people)))
            people[place], people[-1] = people[-1], people[place]
            if (person := people.pop()) in discovered.waiting:
                chosen.append(person)
        for person in chosen:  # they may not be asked after all
            self._add(person, score(person))
        return chosen

    def _add(self, person: int, score: float) -> None:
        if score not in self._people:
            self._people[score] = []
            heapq.heappush(self._order, -score)
        self._people[score].append(person)


class Turns:
    """Which of the surveyed people have contacts who may be surveyed, to pass over the others at once."""

    def __init__(self) -> None:
        self._next: list[int] = []  # from each place among the surveyed, the next that may have some
        self._since = Mark()

    def update(self, discovered: Discovered) -> None:
        """Look again at everybody if a person who was surveyed before has gained a contact who waits."""
        changes = discovered.changes(self._since)
        new = set(changes.surveyed)
        for tie in changes.ties:
            for person, contact in (tie, tie[::-1]):
                if discovered.status[person] == Status.SURVEYED and person not in new and contact in discovered.waiting:
                    self._next = []
        self._since = changes.now
        self._next += range(len(self._next), len(discovered.surveyed) + 1)

    def waiting_contacts(self, discovered: Discovered, turn: int, taken: Sequence[int] = ()) -> list[int]:
        """Those of the surveyed person whose turn it is, or else of the next who has any, without those ``taken``."""
        if not (count := len(discovered.surveyed)):
            return []
        place = turn % count
        for begin, end in ((place, count), (0, place)):
            at = self._skip(begin)
            while at < end:
                contacts = discovered.contacts[discovered.surveyed[at]]
                waiting = [contact for contact in contacts if contact in discovered.waiting]
                if left := [contact for contact in waiting if contact not in taken]:
                    return left
                if not waiting:
                    self._next[at] = at + 1
                at = self._skip(at + 1)
        return []

    def _skip(self, place: int) -> int:
        root = place
        while self._next[root] != root:
            root = self._next[root]
        while self._next[place] != root:
            self._next[place], place = root, self._next[place]
        return root
