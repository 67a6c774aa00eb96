"""Is one policy better than another on the same start sets and worlds?"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from claim.networks.network import FloatArray

RESAMPLES = 2000
MOST_PICKED = 1_000_000


class PairedTest(NamedTuple):
    """The mean difference of paired values, its 95 % bootstrap interval and the p-value of the paired t-test."""

    difference: float
    ci95: tuple[float, float]
    p_value: float


def standard_error(values: npt.ArrayLike) -> float:
    """Of the mean; NaN for a single value."""
    array = np.asarray(values, dtype=float)
    return float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else float("nan")


def paired_test(a: npt.ArrayLike, b: npt.ArrayLike, rng: np.random.Generator) -> PairedTest:
    """Compare two lists of values run by run."""
    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    low, high = bootstrap_interval(differences, rng)
    return PairedTest(float(differences.mean()), (low, high), t_test_p_value(differences))


def t_test_p_value(differences: FloatArray) -> float:
    """Two-sided p-value of mean 0; NaN for a single run, and certainty where all differences are the same."""
    from scipy.special import stdtr

    if len(differences) < 2:
        return float("nan")
    error = standard_error(differences)
    if error == 0:
        return 1.0 if differences[0] == 0 else 0.0
    return float(2 * stdtr(len(differences) - 1, -abs(differences.mean() / error)))


def bootstrap_interval(values: FloatArray, rng: np.random.Generator) -> tuple[float, float]:
    """95 % percentile interval of the mean."""
    rows = max(1, MOST_PICKED // len(values))  # at a time, so that many runs do not fill the memory
    sizes = [min(rows, RESAMPLES - done) for done in range(0, RESAMPLES, rows)]
    means = [values[rng.integers(0, len(values), (size, len(values)))].mean(axis=1) for size in sizes]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979) for several tests at once; NaN stays NaN and counts for nothing."""
    adjusted = [float("nan")] * len(p_values)
    order = sorted((p, i) for i, p in enumerate(p_values) if not np.isnan(p))
    worst = 0.0
    for rank, (p, i) in enumerate(order):
        worst = max(worst, min(1.0, p * (len(order) - rank)))
        adjusted[i] = worst
    return adjusted
