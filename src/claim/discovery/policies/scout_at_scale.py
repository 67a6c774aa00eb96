"""Scout where thousands of people wait: signals and scores are updated with each answer, and not made anew.

The signals are those of ``scout.py``, which computes them from all answers in readable form. Two things differ. Scores
of classes around the last answer are renewed at once, and the others in turn, ``RENEWED`` with each answer. And one of
the classes is drawn with a probability in proportion to size * exp(score / heat), which is what Gumbel noise of that
heat on the scores amounts to.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from claim.discovery.discovered import Changes, Discovered, Mark
from claim.discovery.kernels import kernel
from claim.discovery.policies.marks import trust_in_marks
from claim.discovery.policies.scout import (
    APART,
    DOUBT_COMMON,
    DOUBT_FOUND,
    DOUBT_MIXING,
    DOUBT_POSSIBLE,
    STUDY,
    Weights,
)
from claim.discovery.ranking import ScoreTree, draw_members
from claim.networks.network import FloatArray, OffsetArray

RENEWED = 512  # classes with each answer
MOST_NAMERS = 40  # of a class, the last of whom are compared with each other
FEW_MARKS = 100  # up to which the trust in marks is made anew with each answer
STEP = 0.02  # by which part the heat may be out of date

Chance = Callable[[float, float, int], float]  # from the mean and variance of degrees, and how many were reached


class Totals(NamedTuple):
    """Sums over the surveyed people, over those of them who were reached through a contact, and over their pairs."""

    degree: FloatArray  # d, d^2 and log d
    reached: FloatArray  # how many, their degree, further contacts u, u^2, and news
    pairs: FloatArray  # how many, common and possible contacts, log d log d', log d + log d', log^2 d + log^2 d'

    def averages(self) -> FloatArray:
        """Those that class signals refer to: the log of a degree, news and further contacts of a reached person."""
        count, degree, further, _, news = self.reached
        level = math.log1p(_average(degree, count, self.expected_excess))
        return np.array([level, *(max(_average(found, count, 1.0), 0.1) for found in (news, further))])

    @property
    def expected_excess(self) -> float:
        """The mean number of further contacts of a person met through a contact, from all degrees seen."""
        return float(self.degree[1] / self.degree[0] - 1.0) if self.degree[0] else 0.0

    def study(self, surveyed: int) -> FloatArray:
        """One number for each name of ``STUDY``."""
        count, _, further, squares, news = self.reached
        pairs, common, possible, product, plus, square = self.pairs
        expected = _average(further, count, self.expected_excess)
        scale = max(expected, 0.5)
        spread = _average(squares / scale**2 - 2.0 * further / scale + count, count, 1.0)
        mean = self.degree[2] / surveyed
        about = pairs * mean**2 - mean * plus
        return np.array([
            (common + DOUBT_COMMON) / (possible + DOUBT_POSSIBLE),
            (product + about) / (square / 2.0 + about + DOUBT_MIXING),
            math.log1p(expected), math.log1p(count), math.log1p(max(spread, 0.0)),
            (news + DOUBT_FOUND) / (further + DOUBT_FOUND),
        ])  # fmt: skip


def _average(total: float, count: float, guess: float) -> float:
    return float((total + DOUBT_FOUND * guess) / (count + DOUBT_FOUND))


class RunningAnswers:
    """What ``scout.Answers`` has, kept up to date. People are known by their places in the order of the surveys."""

    def __init__(self) -> None:
        self.place: dict[int, int] = {}
        self.earlier: list[list[int]] = []  # the contacts surveyed before, by place
        self.later: list[list[int]] = []
        self.news: list[int] = []  # the contacts whom no one surveyed before had named
        self.twice: list[int] = []  # the contacts who were named by others too
        self.brought: list[list[int]] = []  # news and further contacts, over the contacts surveyed later
        self.totals = Totals(np.zeros(3), np.zeros(5), np.zeros(6))
        self.rows = np.zeros((0, 8))  # by place; see _signals
        self._times: list[int] = []  # how often a person was named
        self._first: list[int] = []  # the place of who named them first
        self._parts: list[tuple[FloatArray, FloatArray]] = []  # what each place adds to the totals
        self._given: list[tuple[int, int]] = []  # what each place adds to ``brought`` of the contacts surveyed before
        self._pairs: dict[tuple[int, int], FloatArray] = {}

    def update(self, discovered: Discovered, changes: Changes) -> set[int]:
        """Take in what is new; returns the places whose signals changed."""
        before = len(self.place)
        for person in changes.surveyed:
            self.place[person] = len(self.place)
            self.news.append(0)
            self.twice.append(0)
            self.brought.append([0, 0])
            self.earlier.append([])
            self.later.append([])
            self._parts.append((np.zeros(3), np.zeros(5)))
            self._given.append((0, 0))
        unknown = len(discovered) - len(self._times)
        self._times += [0] * unknown
        self._first += [-1] * unknown
        grown: set[int] = set(range(before, len(self.place)))
        touched = set(grown)
        for tie in changes.ties:
            for person, contact in (tie, tie[::-1]):
                if self.place.get(person, before) < before:
                    grown.add(self.place[person])
                    self._attach(self.place[person], contact, touched)
        for person in changes.surveyed:
            for contact in discovered.contacts[person]:
                self._attach(self.place[person], contact, touched)
        for place in sorted(touched | grown):
            self._sum_up(discovered, place, touched)
        for place in sorted(grown):
            for one, other in [(place, each) for each in self.earlier[place]] + [(e, place) for e in self.later[place]]:
                self._sum_up_pair(discovered, one, other)
        places = sorted(touched | grown)
        self._write_rows(discovered, places)
        return set(places)

    def _attach(self, place: int, contact: int, touched: set[int]) -> None:
        """A surveyed person has a contact that they did not have before."""
        self._times[contact] += 1
        first, own = self._first[contact], self.place.get(contact, len(self.place))
        if self._times[contact] == 2:
            self.twice[first] += 1
            touched.add(first)
        self.twice[place] += self._times[contact] > 1
        if first < 0 or place < first:
            self._first[contact] = place
            if 0 <= first < own:
                self.news[first] -= 1
                touched.add(first)
            self.news[place] += place < own
        if own < place:
            self.earlier[place].append(own)
            self.later[own].append(place)
            for i, given in enumerate(self._given[place]):
                self.brought[own][i] += given
            touched.update((place, own))

    def _sum_up(self, discovered: Discovered, place: int, touched: set[int]) -> None:
        degree, earlier = len(discovered.contacts[discovered.surveyed[place]]), len(self.earlier[place])
        further, reached = max(degree - earlier, 0), float(earlier > 0)
        news = self.news[place]
        part = (
            np.array([degree, degree**2, math.log(max(degree, 1))]),
            reached * np.array([1.0, degree, further, further**2, news]),
        )
        for total, new, old in zip(self.totals[:2], part, self._parts[place], strict=True):
            total += new - old
        self._parts[place] = part
        more = news - self._given[place][0], further - self._given[place][1]
        self._given[place] = (news, further)
        if any(more):
            for other in self.earlier[place]:
                self.brought[other][0] += more[0]
                self.brought[other][1] += more[1]
                touched.add(other)

    def _sum_up_pair(self, discovered: Discovered, one: int, other: int) -> None:
        contacts = [discovered.contacts[discovered.surveyed[place]] for place in (one, other)]
        fewer, more = sorted(contacts, key=len)
        common = sum(map(more.__contains__, fewer))
        logs = [math.log(max(len(each), 1)) for each in contacts]
        squares = logs[0] ** 2 + logs[1] ** 2
        part = np.array([1.0, common, len(fewer) - 1.0, logs[0] * logs[1], logs[0] + logs[1], squares])
        total = self.totals.pairs
        total += part - self._pairs.get((one, other), 0.0)
        self._pairs[one, other] = part

    def _write_rows(self, discovered: Discovered, places: list[int]) -> None:
        if len(self.place) > len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros((len(self.place), 8))])
        if not places:
            return
        degree = np.array([len(discovered.contacts[discovered.surveyed[place]]) for place in places], dtype=np.float64)
        twice, news = (np.array([of[place] for place in places]) for of in (self.twice, self.news))
        asked, brought = [len(self.later[place]) for place in places], [self.brought[place] for place in places]
        known = np.maximum(degree, 1.0)
        self.rows[places] = np.column_stack([
            known, np.log(known), (twice + DOUBT_COMMON) / (degree + DOUBT_POSSIBLE),
            np.log((news + 1.0) / (known + 1.0)), asked, np.log1p(asked), np.array(brought),
        ])  # fmt: skip


class ScoutAtScale:
    """The classes of the frontier with the scores of scout, in a study under way."""

    def __init__(self) -> None:
        self.answers = RunningAnswers()
        self._since, self._turn = Mark(), 0
        self._tree = ScoreTree(heat=1.0)
        # The namers of each class are in a pool, from ``begin`` on; a class that no one named has none
        self._pool, self._filled = np.zeros(0, dtype=np.int32), 0
        self._begin, self._count, self._size = np.zeros((3, 0), dtype=np.int64)
        self._acquainted, self._marks = np.zeros((2, 0))
        self._trust, self._marks_judged = 0.0, 0

    def choose(
        self,
        discovered: Discovered,
        weights: Weights,
        marks: float,
        chance: Chance,
        rng: np.random.Generator,
        count: int,
    ) -> list[int]:
        """People of high expected yield; a round is spread over different namers."""
        self._update(discovered, weights, marks, chance)
        closure = float(self.study[STUDY.index("closure")])
        lowered: dict[int, float] = {}

        def spread(number: int) -> None:
            """Lower the scores of the classes that share contacts with one that was chosen."""
            contacts = discovered.contacts[discovered.members(number)[0]]
            around = {discovered.class_of(each) for who in contacts for each in discovered.contacts[who]}
            for each in sorted(around):
                if each >= 0 and self._size[each] > 0 and (members := discovered.members(each)):
                    others = discovered.contacts[members[0]]
                    score = self._tree.score(each)
                    if score > -np.inf:
                        lowered.setdefault(each, score)
                        shared = len(contacts.keys() & others.keys()) / len(others)
                        self._lower(each, score - APART * closure * shared)

        people = draw_members(discovered, self._tree, rng, count, chosen=spread if count > 1 else None)
        back = np.array(sorted(lowered), dtype=np.int64)
        self._tree.put(back, np.array([lowered[each] for each in back.tolist()]), self._size[back].astype(np.float64))
        return people

    @property
    def study(self) -> FloatArray:
        """One number for each name of ``STUDY``."""
        return self.answers.totals.study(len(self.answers.place))

    def signals(self, numbers: OffsetArray) -> FloatArray:
        """A row for each of these classes, a column for each name of ``CLASS``."""
        of_classes = (numbers, self._begin, self._count, self._size, self._acquainted)
        found: FloatArray = _signals(*of_classes, self._pool, self.answers.rows, self.answers.totals.averages())
        return found

    def _lower(self, number: int, score: float) -> None:
        size = self._tree.size(number)
        self._tree.put(np.array([number]), np.array([score]), np.array([size]))

    def _update(self, discovered: Discovered, weights: Weights, marks: float, chance: Chance) -> None:
        changes = discovered.changes(self._since)
        if changes.now == self._since:
            return
        self._since = changes.now
        places = self.answers.update(discovered, changes)
        around = {discovered.class_of(each) for who in changes.surveyed for each in discovered.contacts[who]}
        alone = {discovered.class_named_by(discovered.surveyed[place]) for place in places}
        numbers = {each for each in changes.classes | around | alone if each is not None and each >= 0}
        self._take_in(discovered, sorted(numbers))
        turn = (self._turn + np.arange(min(RENEWED, discovered.class_numbers))) % discovered.class_numbers
        self._turn += RENEWED
        items = np.sort(np.concatenate([np.array(list(numbers), dtype=np.int64), turn]))
        named, study = self._size[items] > 0, self.study
        scores = np.zeros(len(items))
        scores[named] = weights.parts(study, self.signals(items[named])).sum(axis=1)
        if marks and discovered.marks:
            scores[named] += marks * self._trust_now(discovered) * self._marks[items[named]]
        self._tree.put(items, scores, self._size[items].astype(np.float64))
        degrees, squares, _ = self.answers.totals.degree / len(self.answers.place)
        reached = int(self.answers.totals.reached[0])
        heat = chance(degrees, squares - degrees**2, reached) * float(study[STUDY.index("closure")])
        if abs(heat / self._tree.heat - 1.0) > STEP:
            self._tree.reheat(heat)

    def _trust_now(self, discovered: Discovered) -> float:
        """The trust in marks. It takes all marks to compute, so many are judged again when there are a tenth more."""
        if len(discovered.marks) < FEW_MARKS or len(discovered.marks) > 1.1 * self._marks_judged:
            self._trust, self._marks_judged = trust_in_marks(discovered), len(discovered.marks)
        return self._trust

    def _take_in(self, discovered: Discovered, numbers: list[int]) -> None:
        """Note the namers and the size of classes."""
        if discovered.class_numbers > len(self._size):
            more = discovered.class_numbers
            self._begin, self._count, self._size = (
                np.concatenate([each, np.zeros(more, dtype=np.int64)])
                for each in (self._begin, self._count, self._size)
            )
            self._acquainted, self._marks = (
                np.concatenate([each, np.zeros(more)]) for each in (self._acquainted, self._marks)
            )
        place, namers = self.answers.place, []
        for number in numbers:
            members = discovered.members(number)
            contacts = discovered.contacts[members[0]] if members else ()
            of_class = [place[each] for each in contacts if each in place]
            self._size[number] = len(members) if of_class else 0
            self._acquainted[number] = _acquainted(discovered, [each for each in contacts if each in place])
            marked_by = discovered.marked_by(members[0]) if members and discovered.marks else ()
            self._marks[number] = sum(math.log1p(len(discovered.contacts[by])) for by in marked_by)
            namers.append(of_class)
        counts = np.array([len(each) for each in namers], dtype=np.int64)
        total = int(counts.sum())
        self._count[numbers] = 0
        if self._filled + total > len(self._pool):
            self._compact(total)
        self._count[numbers] = counts
        self._begin[numbers] = self._filled + np.cumsum(counts) - counts
        self._pool[self._filled : self._filled + total] = [each for of_class in namers for each in of_class]
        self._filled += total

    def _compact(self, more: int) -> None:
        """Move the namers of all classes together, and make room."""
        live = np.flatnonzero(self._count)
        counts = self._count[live]
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        old = self._pool[np.repeat(self._begin[live] - ends + counts, counts) + np.arange(total)]
        self._pool, self._filled = np.zeros(2 * (total + more), dtype=np.int32), total
        self._pool[:total], self._begin[live] = old, ends - counts


def _acquainted(discovered: Discovered, namers: list[int]) -> float:
    """The share of pairs of these people who know each other."""
    last = namers[-MOST_NAMERS:]
    pairs = math.comb(len(last), 2)
    knows = (contact in discovered.contacts[who] for i, who in enumerate(last) for contact in last[:i])
    return sum(knows) / pairs if pairs else 0.0


@kernel
def _signals(numbers, begin, count, size, acquainted, pool, rows, averages):
    """The signals of ``scout.class_signals``, in the same order."""
    level, usual_news, usual_contacts = averages
    found = np.zeros((len(numbers), 13))
    for i in range(len(numbers)):
        number = numbers[i]
        signals, namers = found[i], count[number]
        signals[4], most = -np.inf, 0.0
        for place in pool[begin[number] : begin[number] + namers]:
            degree, log_degree, twice, news, asked, log_asked, brought_news, brought_contacts = rows[place]
            signals[1] += 1.0 / degree
            signals[2] = max(signals[2], 1.0 / degree)
            signals[3] += log_degree - level
            signals[4] = max(signals[4], log_degree - level)
            signals[5] += twice
            signals[6] += news
            signals[7] += math.log((brought_news + DOUBT_FOUND * usual_news) / ((asked + DOUBT_FOUND) * usual_news))
            signals[8] += math.log(
                (brought_contacts + DOUBT_FOUND * usual_contacts) / ((asked + DOUBT_FOUND) * usual_contacts)
            )
            signals[9] += log_asked
            most = max(most, degree)
        for j in (3, 5, 6, 7, 8, 9):
            signals[j] /= namers
        signals[0] = math.log(namers)
        signals[10] = acquainted[number]
        signals[11] = math.log(size[number])
        signals[12] = size[number] / most
    return found
