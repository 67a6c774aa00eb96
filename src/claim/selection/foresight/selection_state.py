"""What foresight sees of a study, estimated hidden contacts, and whom chosen leaders reach already."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from claim.cascades.worlds import EdgeCoins, Worlds
from claim.discovery import Discovered, Status
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray, OffsetArray
from claim.selection.foresight.kernels import (
    class_means,
    common_contacts,
    cover_components,
    discount_siblings,
    expected_gains,
)

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class View:
    """A discovered network for kernels.

    ``group`` numbers the classes of people whom nothing seen can tell apart; a surveyed person is a class of their own.
    """

    network: Network
    surveyed: BoolArray
    start: BoolArray
    group: IntArray
    groups: int

    @classmethod
    def of(cls, discovered: Discovered) -> "View":
        """The arrays of what was discovered."""
        n = len(discovered)
        surveyed = np.array([status == Status.SURVEYED for status in discovered.status], dtype=np.bool_)
        start = np.zeros(n, dtype=np.bool_)
        start[discovered.start] = True
        group, groups = _numbered_classes(discovered, n)
        return cls(discovered.as_network(), surveyed, start, group, groups)

    @property
    def n(self) -> int:
        """How many people were discovered."""
        return self.network.n

    @cached_property
    def degree(self) -> FloatArray:
        """Seen contacts of each person: all of them for the surveyed."""
        return self.network.degrees.astype(np.float64)

    @cached_property
    def named(self) -> FloatArray:
        """od(u): by how many surveyed people each person was named."""
        contacts = self.network.contacts
        rows = np.repeat(np.arange(self.n), self.network.degrees)
        named: FloatArray = np.bincount(rows, weights=self.surveyed[contacts], minlength=self.n).astype(np.float64)
        return named


def _numbered_classes(discovered: Discovered, n: int) -> tuple[IntArray, int]:
    group = np.full(n, -1, dtype=np.int32)
    count = 0
    for people in discovered.classes:
        group[list(people.members)] = count
        count += 1
    alone = np.flatnonzero(group < 0)
    group[alone] = np.arange(count, count + len(alone))
    return group, count + len(alone)


PRIOR_EXCESS = 2.0  # observations that the start people's degrees count for
PRIOR_SPREAD = 5.0  # observations that a spread of 1 counts for
SPREADS = (0.02, 3.0)  # the least and the most unequal that degrees are taken to be
PRIOR_COMMON, PRIOR_POSSIBLE = 0.4, 4.0  # contacts of contacts: a tenth in common until more is seen

UNHEARD = 0.5  # somebody nobody named, against somebody named once


@dataclass(frozen=True)
class Hidden:
    """``worth`` h(u) is how many more people u reaches on average; ``closure`` how far contacts share contacts."""

    worth: FloatArray
    closure: float
    excess: float


def hidden_worth(view: View, p: float) -> Hidden:
    """h(u) = c (a + od(u)) / (a + 1) for the people not surveyed, a = 1 / spread; see docs/foresight.md.

    Being named by many speaks for more contacts that are not seen, the more so the more unequal degrees are.
    """
    excess = excess_degree(view)
    evenness = 1.0 / spread(view, excess)
    worth = chain(p, excess) * (evenness + view.named) / (evenness + 1.0)
    worth[view.named == 0] = chain(p, excess) * UNHEARD
    worth[view.surveyed] = 0.0
    return Hidden(worth, closure(view), excess)


def chain(p: float, excess: float) -> float:
    """Expected reach through unseen contacts, and theirs: p e + (p e)^2 / 2 + ..., held down where it would explode."""
    step = p * excess
    return step / (1.0 - min(step / 2.0, 0.5))


def excess_degree(view: View) -> float:
    """How many further contacts somebody has who was met through a contact.

    The people surveyed on the way tell it directly. Two more such observations are added with what the start people let
    expect of a contact.
    """
    found = view.degree[view.surveyed & ~view.start]
    total = np.maximum(found - 1.0, 0.0).sum() + PRIOR_EXCESS * prior_excess(view)
    return float(total / (len(found) + PRIOR_EXCESS))


def prior_excess(view: View) -> float:
    """What the start people's degrees let expect: a contact is met in proportion to their degree."""
    start = view.degree[view.start]
    return float((start**2).sum() / start.sum() - 1.0) if start.sum() else 0.0


def spread(view: View, excess: float) -> float:
    """How unequal people are: the squared deviation of degrees relative to their mean, beyond that of pure chance."""
    if excess <= 0:
        return 1.0
    found = np.maximum(view.degree[view.surveyed & ~view.start] - 1.0, 0.0)
    seen = float(((found / excess - 1.0) ** 2).sum()) + PRIOR_SPREAD * (1.0 + 1.0 / excess)
    return float(np.clip(seen / (len(found) + PRIOR_SPREAD) - 1.0 / excess, *SPREADS))


def closure(view: View) -> float:
    """Which share of the contacts they could share do contacts share."""
    network = view.network
    common, possible = common_contacts(view.surveyed, network.offsets, network.contacts)
    return float((common + PRIOR_COMMON) / (possible + PRIOR_POSSIBLE))


class Course:
    """Live-edge worlds of the seen contacts, in which people not surveyed weigh 1 + h(u), and what is covered of them.

    Leaders come with probability ``attendance``; one who may not come leaves a part of their components uncovered.
    """

    def __init__(self, view: View, p: float, samples: int, seed: int, attendance: float = 1.0) -> None:
        self.view, self.p, self.samples, self.attendance = view, p, samples, attendance
        self.worlds = Worlds.from_coins(EdgeCoins.of(view.network, p), samples, seed)
        self.left = np.ones(view.n, dtype=np.bool_)
        self.hidden = hidden_worth(view, p)
        self.worth = self.hidden.worth.copy()
        self.residual = np.ones(len(self.worlds.starts) - 1)

    @cached_property
    def who(self) -> OffsetArray:
        """Somebody of each class."""
        who = np.empty(self.view.groups, dtype=np.int64)
        who[self.view.group] = np.arange(self.view.n)
        return who

    @cached_property
    def size(self) -> OffsetArray:
        """The number of people of each class."""
        return np.bincount(self.view.group, minlength=self.view.groups)

    def gains(self) -> FloatArray:
        """How many people somebody of each class is expected to add if they come; 0 where nobody is left."""
        return self.mean_gains(1.0 + self.worth)

    def mean_gains(self, weights: FloatArray) -> FloatArray:
        """The weight that somebody of each class adds."""
        w = self.worlds
        gains = expected_gains(self.samples, weights, self.residual, w.members, w.starts, w.member_offsets)
        means: FloatArray = class_means(gains, self.left, self.view.group, self.view.groups)
        return means

    def take(self, person: int) -> None:
        """Make somebody a leader."""
        w, view = self.worlds, self.view
        self.left[person] = False
        cover_components(person, self.attendance, self.residual, w.member_offsets, w.member_numbers)
        if not view.surveyed[person]:
            factor = 1.0 - self.attendance * self.hidden.closure
            network = view.network
            discount_siblings(person, factor, self.worth, view.surveyed, network.offsets, network.contacts)
