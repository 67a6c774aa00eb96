"""Features of the study and of classes of people, from which the trees of foresight predict."""

from typing import TYPE_CHECKING

import numpy as np

from claim.cascades.kernels import draw_components
from claim.cascades.worlds import EdgeSampler
from claim.networks.network import FloatArray
from claim.selection.foresight import kernels
from claim.selection.foresight.selection_state import HiddenReach, SeenNetwork, SelectionState, prior_excess

if TYPE_CHECKING:
    from claim.selection.foresight.model import Model

STUDY = (
    "log surveys", "log found excess", "log prior excess", "closure", "mixing", "log named", "named twice", "p",
)  # fmt: skip
DOUBT = 4.0  # pairs without correlation that are added to those seen
STILL = (
    "named by", "sum 1/d", "max 1/d", "max log d", "mean log d", "start share", "log seen component", "ties of namers",
    "siblings mean log d", "siblings", "surveyed", "degree", "log class size", "start",
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

    The trees of a ``model`` correct what each class is expected to add.
    """

    def __init__(
        self,
        view: SeenNetwork,
        p: float,
        samples: int,
        seed: int,
        attendance: float = 1.0,
        model: "Model | None" = None,
    ) -> None:
        super().__init__(view, p, samples, seed, attendance)
        members, starts, _ = draw_components(EdgeSampler.of(view.network, 1.0), 0, 0, 1)  # one world, all edges live
        self.component = np.arange(view.n)  # a person's seen component, named by one of its people
        self.component[members] = np.repeat(members[starts[:-1]], np.diff(starts))
        self._picked, self._picked_around, self._picked_in = np.zeros((3, view.n))
        still = kernels.still_features(
            self.member, view.surveyed, view.start, self.size, view.network.offsets, view.network.contacts,
            self.component, np.bincount(self.component, minlength=view.n),
        )  # fmt: skip
        relative = still[:, STILL.index("mean log d"), None] - np.log1p(self.hidden.excess)
        study = np.tile(study_features(view, self.hidden, p), (view.groups, 1))
        # (classes, len(BEFORE)): the features before the first pick, from which the hidden reach is guessed
        self.before: FloatArray = np.hstack([still, relative, study])
        self.model = model
        if model is not None:
            self.guess_hidden(model.hidden.predict(self.before))
            # Nothing to correct in components of surveyed people only, and for people without a seen contact
            unsurveyed = np.bincount(self.component, weights=~view.surveyed, minlength=view.n)
            self._sure = (unsurveyed[self.component[self.member]] == 0) | (view.degree[self.member] == 0)

    def gains(self) -> FloatArray:
        """The number of people that a person of each class adds in expectation if they come."""
        gains = super().gains()
        if self.model is None:
            return gains
        free = np.maximum(gains, SMALL)
        return free * np.where(self._sure, 1.0, self.model.gain.predict(self.features(free)))

    def guess_hidden(self, factor: FloatArray) -> None:
        """Set the factor by which each class reaches more beyond what is seen than ``free`` expects."""
        self.factor = factor
        guess = factor[self.view.group] * self.hidden.reach
        unsurveyed = (~self.view.surveyed).astype(np.float64)
        weights = np.column_stack([1.0 - unsurveyed, unsurveyed, 1.0 + guess, 1.0 + np.sqrt(guess)])
        totals = np.add.reduceat(weights[self.worlds.members], self.worlds.starts[:-1])  # (components, 4)
        self._totals = np.column_stack([totals, np.ones(len(totals))])
        self._reach = kernels.first_totals(tuple(self.worlds), weights, self._totals)

    def features(self, free: FloatArray) -> FloatArray:
        """The features (classes, len(FEATURES)) at this pick; ``free`` are the gains without trees."""
        view = self.view
        reach = kernels.class_means(self._reach, self.left, view.group, view.groups) / self.worlds.samples
        overlap = kernels.overlap_features(
            self.member, self._picked, self._picked_around, self._picked_in, view.surveyed, view.network.offsets,
            view.network.contacts, self.component,
        )  # fmt: skip
        now, first = self.beyond[self.member], np.maximum(self.hidden.reach[self.member], SMALL)
        own = np.column_stack([now / free, reach[:, 4], now / first, self.factor, np.log(free)])
        return np.hstack([self.before, reach[:, :4] / free[:, None], own, overlap])

    def take(self, person: int) -> None:
        """Make a person a leader."""
        self._picked[person] += self.attendance
        self._picked_around[self.view.network.contacts_of(person)] += self.attendance
        self._picked_in[self.component[person]] += self.attendance
        kernels.cover_totals(tuple(self.worlds), person, self.attendance, self.uncovered, self._totals, self._reach)
        super().take(person)  # it updates what is uncovered


def study_features(view: SeenNetwork, hidden: HiddenReach, p: float) -> FloatArray:
    """One number for each name of ``STUDY``."""
    found = view.surveyed & ~view.start
    others = view.named[~view.surveyed & (view.named > 0)]
    return np.array(
        [
            np.log1p(found.sum()),
            np.log1p(hidden.excess),
            np.log1p(prior_excess(view)),
            hidden.closure,
            mixing(view),
            np.log((len(others) + 1.0) / (view.surveyed.sum() + 1.0)),
            (others > 1).sum() / (len(others) + 1.0),
            p,
        ]
    )


def mixing(view: SeenNetwork) -> float:
    """Degree assortativity: a correlation of the degrees of surveyed contacts, shrunk towards 0 for few pairs."""
    sources, targets, _ = view.network.edges()
    both = view.surveyed[sources] & view.surveyed[targets]
    if not both.any():
        return 0.0
    logs = np.log(np.maximum(view.degree, 1.0))
    around = logs[view.surveyed].mean()
    one, other = logs[sources[both]] - around, logs[targets[both]] - around
    return float((one * other).sum() / (((one**2 + other**2) / 2).sum() + DOUBT))
