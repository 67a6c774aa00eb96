"""A selection in progress on one discovered network, as the selector without training sees it."""

from functools import cached_property

import numpy as np

from claim.cascades.worlds import EdgeCoins, Worlds
from claim.networks.network import FloatArray, OffsetArray
from claim.selection.foresight.hidden import hidden_worth
from claim.selection.foresight.kernels import class_means, cover_components, discount_siblings, expected_gains
from claim.selection.foresight.view import View


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
