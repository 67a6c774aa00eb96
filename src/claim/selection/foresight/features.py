"""Features of the study and of classes of people, from which the trees of foresight predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from claim.cascades.kernels import draw_components
from claim.cascades.worlds import EdgeSampler
from claim.discovery.policies.scout import mixing
from claim.networks.network import FloatArray, IntArray
from claim.selection.foresight import kernels
from claim.selection.foresight.selection_state import HiddenReach, SeenNetwork, SelectionState, prior_excess

if TYPE_CHECKING:
    from claim.selection.foresight.model import Model

STUDY = (
    "log surveys", "log found excess", "log prior excess", "closure", "mixing", "log named", "named twice", "p",
    "log drawn", "trust in marks",
)  # fmt: skip
STILL = (
    "named by", "sum 1/d", "max 1/d", "max log d", "mean log d", "start share", "log seen component", "ties of namers",
    "siblings mean log d", "siblings", "surveyed", "degree", "log class size", "start", "trusted marks",
    "trusted marks / named by",
)  # fmt: skip
MOVING = (
    "open surveyed", "open unsurveyed", "open + guess", "open + root guess", "own hidden", "open", "undiscounted",
    "guess", "log free", "leaders of namers", "leaders of namers / d", "leading namers", "leading contacts",
    "leaders in component",
)  # fmt: skip
BEFORE = (*STILL, "relative log d", *STUDY)
FEATURES = (*BEFORE, *MOVING)
SMALL = 1e-9


class FeatureState(SelectionState):
    """A selection in progress with its features: one row for each class of people.

    The trees of a ``model`` correct what each class is expected to add: those that compare people with each other, or
    with ``in_people`` those that say how many people it is.
    """

    changing = SelectionState.changing | {"_picked", "_picked_around", "_picked_in", "_totals", "_reach"}

    def __init__(
        self,
        view: SeenNetwork,
        p: float,
        samples: int,
        seed: int,
        attendance: float = 1.0,
        model: Model | None = None,
        in_people: bool = False,
    ) -> None:
        super().__init__(view, p, samples, seed, attendance)
        members, starts, _ = draw_components(EdgeSampler.of(view.network, 1.0), 0, 0, 1)  # one world, all edges live
        self.component = np.arange(view.n)  # a person's seen component, named by one of its people
        self.component[members] = np.repeat(members[starts[:-1]], np.diff(starts))
        self._picked, self._picked_around, self._picked_in = np.zeros((3, view.n))
        # The surveyed contacts of a member of each class, and the numbers of these classes
        people, is_member = np.repeat(np.arange(view.n), view.network.degrees), np.zeros(view.n, dtype=np.bool_)
        is_member[self.member] = True
        kept = is_member[people] & view.surveyed[view.network.contacts]
        self._namer, self._class = view.network.contacts[kept], view.group[people[kept]]
        still = self._still_features()
        relative = still[:, STILL.index("mean log d"), None] - np.log1p(self.hidden.excess)
        self.study = study_features(view, self.hidden, p)
        # (classes, len(BEFORE)): the features before the first pick, from which the hidden reach is guessed
        self.before: FloatArray = np.hstack([still, relative, np.tile(self.study, (view.groups, 1))])
        self._gain = None
        if model is not None:
            self._gain = model.level if in_people and model.level else model.gain_in(self.study)
            self.guess_hidden(model.hidden.predict(self.before))
            # Nothing to correct in components of surveyed people only, and for people without a seen contact
            unsurveyed = np.bincount(self.component, weights=~view.surveyed, minlength=view.n)
            self._sure = (unsurveyed[self.component[self.member]] == 0) | (view.degree[self.member] == 0)

    def _over_namers(self, values: FloatArray) -> FloatArray:
        """The sum of ``values`` (n,) over the surveyed contacts of each class."""
        return np.bincount(self._class, values[self._namer], self.view.groups).astype(np.float64)

    def _most_of_namers(self, values: FloatArray) -> FloatArray:
        most = np.zeros(self.view.groups)
        np.maximum.at(most, self._class, values[self._namer])
        return most

    def _still_features(self) -> FloatArray:
        """The features that do not change while leaders are picked (classes, len(STILL))."""
        view, member = self.view, self.member
        surveyed, start = view.surveyed[member].astype(np.float64), view.start.astype(np.float64)
        namers, degree = view.named[member], np.maximum(view.degree, 1.0)
        logs = np.log(degree)
        siblings, own = self._over_namers(view.named) - namers * surveyed, surveyed * logs[member]
        around = view.over_contacts(view.surveyed * logs)
        sibling_logs = np.bincount(self._class, around[self._namer] - own[self._class], view.groups)
        return np.column_stack([
            namers, self._over_namers(1.0 / degree), self._most_of_namers(1.0 / degree), self._most_of_namers(logs),
            self._over_namers(logs) / np.maximum(namers, 1.0), self._over_namers(start) / np.maximum(namers, 1.0),
            np.log(np.bincount(self.component)[self.component[member]]),
            kernels.ties_of_namers(member, view.surveyed, view.network.offsets, view.network.contacts),
            np.where(siblings > 0, sibling_logs / np.maximum(siblings, 1.0), -1.0), siblings, surveyed,
            surveyed * view.degree[member], np.log(self.size), start[member],
            view.marks[member], view.marks[member] / np.maximum(namers, 1.0),
        ])  # fmt: skip

    def gains(self, classes: IntArray | None = None) -> FloatArray:
        """The number of people that a person of each of these classes adds in expectation if they come."""
        if self._gain is None:
            return super().gains(classes)
        rows = slice(None) if classes is None else classes
        free = np.ones(self.view.groups)
        free[rows] = np.maximum(super().gains(classes), SMALL)
        factors = self._gain.predict(self.features(free)[rows])
        gains: FloatArray = free[rows] * np.where(self._sure[rows], 1.0, factors)
        return gains

    def guess_hidden(self, factor: FloatArray) -> None:
        """Set the factor by which each class reaches more beyond what is seen than ``free`` expects."""
        self.factor = factor
        guess = factor[self.view.group] * self.hidden.reach
        unsurveyed = (~self.view.surveyed).astype(np.float64)
        weights = np.column_stack([1.0 - unsurveyed, unsurveyed, 1.0 + guess, 1.0 + np.sqrt(guess)])
        self._totals, self._reach = kernels.first_totals(tuple(self.worlds), weights)

    def features(self, free: FloatArray) -> FloatArray:
        """The features (classes, len(FEATURES)) at this pick; ``free`` are the gains without trees."""
        view = self.view
        reach = np.column_stack([self.class_means(each) for each in self._reach.T]) / self.worlds.samples
        around, inside = self._picked_around, self._picked_in[self.component]
        overlap = [self._over_namers(each) for each in (around, around / np.maximum(view.degree, 1.0), self._picked)]
        overlap += [around[self.member], inside[self.member]]
        now, first = self.beyond[self.member], np.maximum(self.hidden.reach[self.member], SMALL)
        own = np.column_stack([now / free, reach[:, 4], now / first, self.factor, np.log(free), *overlap])
        return np.hstack([self.before, reach[:, :4] / free[:, None], own])

    def take(self, person: int) -> None:
        """Make a person a leader."""
        self._picked[person] += self.attendance
        self._picked_around[self.view.network.contacts_of(person)] += self.attendance
        self._picked_in[self.component[person]] += self.attendance
        kernels.cover_totals(tuple(self.worlds), person, self.attendance, self.uncovered, self._totals, self._reach)
        super().take(person)  # it updates what is uncovered

    def cover(self, person: int) -> None:
        """Count whom a person reaches for certain, of whom it is known that the message reached them."""
        kernels.cover_totals(tuple(self.worlds), person, 1.0, self.uncovered, self._totals, self._reach)
        super().cover(person)


def study_features(view: SeenNetwork, hidden: HiddenReach, p: float) -> FloatArray:
    """One number for each name of ``STUDY``."""
    found = view.surveyed & ~view.start
    pairs = np.stack(view.network.edges()[:2], axis=1)
    others = view.named[~view.surveyed & (view.named > 0)]
    return np.array(
        [
            np.log1p(found.sum()),
            np.log1p(hidden.excess),
            np.log1p(prior_excess(view)),
            hidden.closure,
            mixing(view.degree, pairs[view.surveyed[pairs].all(axis=1)], view.surveyed) if view.surveyed.any() else 0.0,
            np.log((len(others) + 1.0) / (view.surveyed.sum() + 1.0)),
            (others > 1).sum() / (len(others) + 1.0),
            p,
            np.log1p(view.start.sum()),
            view.trust,
        ]
    )
