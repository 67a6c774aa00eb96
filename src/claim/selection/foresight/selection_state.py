"""What foresight sees of a study, what it estimates of the hidden contacts, and a selection in progress."""

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from claim.cascades.worlds import Worlds
from claim.discovery import Discovered, Status
from claim.discovery.policies.marks import trust_in_marks, weight_of_marks
from claim.networks import Network
from claim.networks.network import BoolArray, FloatArray, IntArray, OffsetArray
from claim.selection.foresight.kernels import common_contacts, discount_siblings
from claim.selection.kernels import cover_components, expected_gains, expected_gains_of

PRIOR_EXCESS = 2.0  # observations that the start people's degrees count for
PRIOR_SPREAD = 5.0  # observations that a spread of 1 counts for
SPREADS = (0.02, 3.0)  # bounds of the estimated spread
PRIOR_COMMON, PRIOR_POSSIBLE = 0.4, 4.0  # contacts of contacts: a tenth in common until more is seen
NOT_NAMED = 0.5  # hidden reach of a person whom no one named, relative to a person named once


@dataclass(frozen=True)
class SeenNetwork:
    """A discovered network of n people as arrays for kernels.

    ``group`` numbers the classes of people whom nothing seen can tell apart; a surveyed person is a class of their own.
    """

    network: Network
    surveyed: BoolArray  # (n,)
    start: BoolArray  # (n,)
    group: IntArray  # (n,)
    groups: int
    degree: FloatArray  # (n,) seen contacts of each person: all of them for the surveyed
    trust: float  # the probability that marks say anything; 0 without marks
    marks: FloatArray  # (n,) weight of the marks of each person, times trust
    left: Network | None = None  # without contacts that failed, which tell of unseen ones nevertheless

    @classmethod
    def of(cls, discovered: Discovered, failed: Collection[tuple[int, int]] = ()) -> "SeenNetwork":
        """The arrays of a discovered network, in which some contacts ``failed`` to pass the message on."""
        n = len(discovered)
        surveyed = np.array([status == Status.SURVEYED for status in discovered.status], dtype=np.bool_)
        start = np.zeros(n, dtype=np.bool_)
        start[discovered.start] = True
        group, classes = np.full(n, -1, dtype=np.int32), discovered.classes
        for number, people in enumerate(classes):
            group[list(people.members)] = number
        alone = np.flatnonzero(group < 0)
        group[alone] = np.arange(len(classes), len(classes) + len(alone))
        network, groups = discovered.as_network(), len(classes) + len(alone)
        trust, marks = trust_in_marks(discovered), np.zeros(n)
        for person, weight in weight_of_marks(discovered).items():
            marks[person] = trust * weight
        left = discovered.without(failed).as_network() if failed else None
        degree = network.degrees.astype(np.float64)
        return cls(network, surveyed, start, group, groups, degree, trust, marks, left)

    @property
    def n(self) -> int:
        """The number of people discovered."""
        return self.network.n

    @cached_property
    def named(self) -> FloatArray:
        """od(u): the number of surveyed people who named each person."""
        return self.over_contacts(self.surveyed)

    def over_contacts(self, values: FloatArray | BoolArray) -> FloatArray:
        """For each person, the sum of ``values`` (n,) over their contacts."""
        n = len(self.surveyed)
        people = np.repeat(np.arange(n), self.network.degrees)
        sums: FloatArray = np.bincount(people, values[self.network.contacts], n).astype(np.float64)
        return sums

    @cached_property
    def excess_of_found(self) -> FloatArray:
        """The further contacts of each person who was met through a contact and surveyed."""
        return np.maximum(self.degree[self.surveyed & ~self.start] - 1.0, 0.0)


@dataclass(frozen=True)
class HiddenReach:
    """``reach`` h(u): people whom u reaches through hidden contacts, on average; see :func:`hidden_reach`."""

    reach: FloatArray  # (n,)
    closure: float
    excess: float


def hidden_reach(view: SeenNetwork, p: float) -> HiddenReach:
    """h(u) = c (a + od(u)) / (a + 1) for the people not surveyed, a = 1 / spread; see docs/concepts/foresight.md.

    A person named by many likely has more hidden contacts, the more so the more unequal degrees are.
    """
    excess = excess_degree(view)
    evenness = 1.0 / spread(view, excess)
    reach = chain(p, excess) * (evenness + view.named) / (evenness + 1.0)
    reach[view.named == 0] = chain(p, excess) * NOT_NAMED
    reach[view.surveyed] = 0.0
    return HiddenReach(reach, closure(view), excess)


def chain(p: float, excess: float) -> float:
    """Expected reach through unseen contacts, and theirs: p e + (p e)^2 / 2 + ..., bounded where it would explode."""
    step = p * excess
    return step / (1.0 - min(step / 2.0, 0.5))


def excess_degree(view: SeenNetwork) -> float:
    """The mean number of further contacts of a person met through a contact.

    Surveyed people who were met so are direct observations; two more are added at the value that the degrees of the
    start people let expect.
    """
    total = view.excess_of_found.sum() + PRIOR_EXCESS * prior_excess(view)
    return float(total / (len(view.excess_of_found) + PRIOR_EXCESS))


def prior_excess(view: SeenNetwork) -> float:
    """The excess degree by the start people alone: a contact is met in proportion to their degree."""
    start = view.degree[view.start]
    return float((start**2).sum() / start.sum() - 1.0) if start.sum() else 0.0


def spread(view: SeenNetwork, excess: float) -> float:
    """The squared deviation of degrees relative to their mean, beyond that of a Poisson distribution."""
    if excess <= 0:
        return 1.0
    found = view.excess_of_found
    seen = float(((found / excess - 1.0) ** 2).sum()) + PRIOR_SPREAD * (1.0 + 1.0 / excess)
    return float(np.clip(seen / (len(found) + PRIOR_SPREAD) - 1.0 / excess, *SPREADS))


def closure(view: SeenNetwork) -> float:
    """The share of possible common contacts that pairs of surveyed contacts have."""
    common, possible = common_contacts(view.surveyed, view.network.offsets, view.network.contacts)
    return float((common + PRIOR_COMMON) / (possible + PRIOR_POSSIBLE))


class SelectionState:
    """A selection in progress for one p: live-edge worlds of the seen contacts, and what leaders cover of them.

    A person not surveyed counts 1 + h(u). Leaders come with probability ``attendance``; one who may not come leaves a
    part of their components uncovered.
    """

    changing: ClassVar = {"left", "beyond", "uncovered"}  # arrays that :meth:`take` changes

    def __init__(self, view: SeenNetwork, p: float, samples: int, seed: int, attendance: float = 1.0) -> None:
        self.view, self.p, self.attendance = view, p, attendance
        self.worlds = Worlds.draw(view.network if view.left is None else view.left, p, samples, seed)
        self.left = np.ones(view.n, dtype=np.bool_)
        self.hidden = hidden_reach(view, p)
        self.beyond = self.hidden.reach.copy()  # h(u), less what contacts shared with leaders take away
        self.uncovered = np.ones(len(self.worlds.starts) - 1)

    def copy(self) -> "SelectionState":
        """The same selection, which can go on another way."""
        other = copy(self)
        for name in self.changing & vars(self).keys():
            setattr(other, name, getattr(self, name).copy())
        return other

    @cached_property
    def member(self) -> OffsetArray:
        """One person of each class."""
        member = np.empty(self.view.groups, dtype=np.int64)
        member[self.view.group] = np.arange(self.view.n)
        return member

    @cached_property
    def size(self) -> OffsetArray:
        """The number of people of each class."""
        return np.bincount(self.view.group, minlength=self.view.groups)

    def gains(self, classes: IntArray | None = None) -> FloatArray:
        """The number of people that a person of each of these classes adds in expectation if they come.

        0 if no one is left in a class; of all classes if none are given.
        """
        weights = 1.0 + self.beyond
        if classes is None:
            return self.mean_gains(weights)
        return np.array([self.mean_gain(group, weights) for group in classes])

    def mean_gains(self, weights: FloatArray) -> FloatArray:
        """The weight along seen contacts that a person of each class adds."""
        return self.class_means(expected_gains(tuple(self.worlds), weights, self.uncovered))

    def mean_gain(self, group: int, weights: FloatArray) -> float:
        """The same for one class."""
        people = np.flatnonzero(self.left & (self.view.group == group))
        gains = expected_gains_of(people, tuple(self.worlds), weights, self.uncovered)
        return float(np.bincount(np.zeros_like(people), gains, 1)[0]) / max(len(people), 1)

    def class_means(self, values: FloatArray) -> FloatArray:
        """The mean of ``values`` (n,) over the people left in each class; 0 if no one is left.

        Members of a class differ only by the worlds drawn: the largest of many would look better than it is.
        """
        group, groups = self.view.group[self.left], self.view.groups
        count = np.maximum(np.bincount(group, minlength=groups), 1)
        means: FloatArray = np.bincount(group, values[self.left], groups) / count
        return means

    def take(self, person: int) -> None:
        """Make a person a leader."""
        view = self.view
        self.left[person] = False
        cover_components(tuple(self.worlds), person, self.attendance, self.uncovered)
        if not view.surveyed[person]:
            factor = 1.0 - self.attendance * self.hidden.closure
            discount_siblings(person, factor, self.beyond, view.surveyed, view.network.offsets, view.network.contacts)

    def cover(self, person: int) -> None:
        """Count whom a person reaches for certain, of whom it is known that the message reached them."""
        self.left[person] = False
        cover_components(tuple(self.worlds), person, 1.0, self.uncovered)

    def take_all(self, leaders: Sequence[int]) -> FloatArray:
        """Make all of them leaders; returns, of shape (4, leaders), what each reaches alone and adds to those before.

        The last two rows count along seen contacts only: the surveyed people and the other people that each adds.
        """
        group, surveyed = self.view.group[leaders], self.view.surveyed
        added = np.empty((4, len(leaders)))
        added[0] = self.gains(group)
        parts = surveyed.astype(np.float64), (~surveyed).astype(np.float64)
        for i, leader in enumerate(leaders):
            added[1:, i] = [self.gains(group[[i]])[0], *(self.mean_gain(group[i], part) for part in parts)]
            self.take(leader)
        return added
