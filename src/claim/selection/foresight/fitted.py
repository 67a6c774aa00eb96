"""Fitted foresight: the selector without training, corrected by what was learned on a family's training networks."""

from dataclasses import dataclass, field

import numpy as np

from claim.errors import InputError
from claim.networks.network import FloatArray
from claim.selection.foresight.course import Course
from claim.selection.foresight.features import SMALL, Features
from claim.selection.foresight.model import Model, shipped_model
from claim.selection.foresight.pick import Track
from claim.selection.foresight.ranges import Ranges
from claim.selection.foresight.selector import Foresight

MOST_WORLDS = 400


class FittedCourse:
    """A selection in progress in which trees correct what each class is expected to add."""

    def __init__(self, course: Course, model: Model) -> None:
        self.course, self.model = course, model
        self.table = Features(course)
        self.table.guess_hidden(model.guess_factor(self.table.before))
        self._sure = _nothing_to_learn(course, self.table)

    def gains(self) -> FloatArray:
        """How many people somebody of each class is expected to add if they come."""
        free = np.maximum(self.course.gains(), SMALL)
        factor = np.where(self._sure, 1.0, self.model.gain_factor(self.table.rows(free)))
        return free * factor

    def take(self, person: int) -> None:
        """Make somebody a leader."""
        self.table.take(person)
        self.course.take(person)


def _nothing_to_learn(course: Course, table: Features) -> FloatArray:
    """Classes the models have nothing to say about: in components of surveyed people only, or not named by anybody."""
    unknown = np.bincount(table.component, weights=~course.view.surveyed, minlength=course.view.n)
    alone = course.view.degree[course.who] == 0
    sure: FloatArray = (unknown[table.component[course.who]] == 0) | alone
    return sure


@dataclass(frozen=True)
class FittedForesight(Foresight):
    """Takes at each pick whoever adds the most by the models of a family, or by a model given."""

    family: str = "all"
    model: Model | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What the selector is called on the command line and in results."""
        return f"foresight:{self.family}"

    def worlds(self) -> int:
        """Means over classes need few worlds, and more of them chose no better leaders."""
        return min(self.samples, MOST_WORLDS)

    def track(self, course: Course) -> Track:
        """Trees on top of the course."""
        return FittedCourse(course, self._model())

    def ranges(self) -> Ranges:
        """Factors from fresh studies of the training networks and of look-alikes that nothing was trained on."""
        ranges = self._model().ranges
        if ranges is None:
            raise InputError(f"the foresight model {self.family} says nothing of ranges: train it again")
        return ranges

    def _model(self) -> Model:
        return self.model or shipped_model(self.family)
