"""Intervals of means, and what they decide."""

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from claim.evaluation.statistics import standard_error

Verdict = Literal["worth it", "not worth it", "not clear"]
MOST_STUDIES = 10_000  # beyond that, a question is not settled by more of them


class MeanInterval(NamedTuple):
    """A mean, its standard error, and half the width of its 95 % interval by Student's t."""

    mean: float
    stderr: float
    half: float

    @classmethod
    def of(cls, values: npt.ArrayLike, tests: int = 1) -> "MeanInterval":
        """The mean of independent values; so many intervals hold all at once in 95 % of cases (Bonferroni)."""
        from scipy.special import stdtrit

        array = np.asarray(values, dtype=float)
        error = standard_error(array)
        return cls(float(array.mean()), error, float(stdtrit(len(array) - 1, 1 - 0.025 / tests)) * error)

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half

    def verdict(self, worth: float) -> Verdict:
        """Whether the mean is at least ``worth``, as far as the interval says."""
        if self.low >= worth:
            return "worth it"
        return "not worth it" if self.high < worth else "not clear"

    def studies_needed(self, worth: float, studies: int) -> int | None:
        """About how many studies make the verdict clear; None if it is, or if it would take too many."""
        if self.verdict(worth) != "not clear":
            return None
        needed = studies * (self.half / max(abs(self.mean - worth), 1e-9)) ** 2
        if needed > MOST_STUDIES:
            return None
        step = 10.0 ** max(math.floor(math.log10(needed)) - 1, 0)  # two digits
        return math.ceil(needed / step) * int(step)
