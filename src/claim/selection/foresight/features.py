"""Features of classes of people and of the study."""

import numpy as np

from claim.networks.network import FloatArray
from claim.selection.foresight import kernels as kernels
from claim.selection.foresight.selection_state import Course, Hidden, View, prior_excess

STUDY = (
    "log surveys", "log found excess", "log prior excess", "closure", "mixing", "log named", "named twice", "p",
)  # fmt: skip
DOUBT = 4.0  # pairs of unlike contacts that stand against what a few answers show of mixing


def study_features(view: View, hidden: Hidden, p: float) -> FloatArray:
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


def mixing(view: View) -> float:
    """Whether the well-connected know the well-connected: a correlation of degrees, held near 0 by few answers."""
    sources, targets, _ = view.network.edges()
    both = view.surveyed[sources] & view.surveyed[targets]
    if not both.any():
        return 0.0
    logs = np.log(np.maximum(view.degree, 1.0))
    around = logs[view.surveyed].mean()
    one, other = logs[sources[both]] - around, logs[targets[both]] - around
    return float((one * other).sum() / (((one**2 + other**2) / 2).sum() + DOUBT))


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


class Features:
    """The features of a course: one row for each class."""

    def __init__(self, course: Course) -> None:
        self.course = course
        network = course.view.network
        self.component, self.people_in = kernels.seen_components(network.offsets, network.contacts)
        self._picked, self._picked_around, self._picked_in = np.zeros((3, course.view.n))
        self.before = self._before()

    def _before(self) -> FloatArray:
        """The features before anybody is picked: what the hidden reach is guessed from."""
        course, view = self.course, self.course.view
        still = kernels.still_features(
            course.who, view.surveyed, view.start, course.size, view.network.offsets, view.network.contacts,
            self.component, self.people_in,
        )  # fmt: skip
        relative = still[:, STILL.index("mean log d"), None] - np.log1p(course.hidden.excess)
        study = np.tile(study_features(view, course.hidden, course.p), (view.groups, 1))
        return np.hstack([still, relative, study])

    def guess_hidden(self, factor: FloatArray) -> None:
        """Take in by which factor each class reaches more beyond what is seen than ``free`` expects."""
        course, w = self.course, self.course.worlds
        self.factor = factor
        guess = factor[course.view.group] * course.hidden.worth
        unsurveyed = (~course.view.surveyed).astype(np.float64)
        weights = np.column_stack([1.0 - unsurveyed, unsurveyed, 1.0 + guess, 1.0 + np.sqrt(guess)])
        self._totals = kernels.component_totals(weights, w.members, w.starts)
        self._reach = kernels.first_totals(course.samples, weights, self._totals, w.members, w.starts, w.member_offsets)

    def rows(self, free: FloatArray) -> FloatArray:
        """The features at this point of the selection; ``free`` is what the course expects of each class."""
        course, view = self.course, self.course.view
        reach = kernels.mean_rows(self._reach, course.left, view.group, view.groups) / course.samples
        overlap = kernels.overlap_features(
            course.who, self._picked, self._picked_around, self._picked_in, view.surveyed, view.network.offsets,
            view.network.contacts, self.component,
        )  # fmt: skip
        now, first = course.worth[course.who], np.maximum(course.hidden.worth[course.who], SMALL)
        own = np.column_stack([now / free, reach[:, 4], now / first, self.factor, np.log(free)])
        return np.hstack([self.before, reach[:, :4] / free[:, None], own, overlap])

    def take(self, person: int) -> None:
        """Note a new leader; before the course does, whose uncovered components are needed here."""
        course, w = self.course, self.course.worlds
        self._picked[person] += course.attendance
        self._picked_around[course.view.network.contacts_of(person)] += course.attendance
        self._picked_in[self.component[person]] += course.attendance
        kernels.cover_totals(
            person, course.attendance, course.residual, self._totals, self._reach, w.members, w.starts,
            w.member_offsets, w.member_numbers,
        )  # fmt: skip
