"""Is one policy better than another on the same start sets and worlds?"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from claim.networks.network import FloatArray

RESAMPLES = 2000
HIERARCHICAL_RESAMPLES = 10_000  # the smallest p-value is 2 / 10,001
FEWEST_TRAININGS = 3  # for a p-value: the variance of two trainings rests on a single difference
MOST_PICKED = 1_000_000


class PairedTest(NamedTuple):
    """The mean difference of paired values, its standard error, its 95 % bootstrap interval and its p-value."""

    difference: float
    stderr: float
    ci95: tuple[float, float]
    p_value: float


def standard_error(values: npt.ArrayLike) -> float:
    """Standard error of the mean of values (runs,), or of a trained method (trainings, runs) on the same start sets.

    NaN for a single run or a single training. The noise of single runs is part of both variances of a trained method,
    so that its standard error is slightly too large rather than too small.
    """
    array = np.asarray(values, dtype=float)
    if array.ndim == 2:
        return math.hypot(standard_error(array.mean(axis=1)), standard_error(array.mean(axis=0)))
    return float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else float("nan")


def paired_test(a: npt.ArrayLike, b: npt.ArrayLike, rng: np.random.Generator) -> PairedTest:
    """Compare two lists of values run by run, with a paired t-test."""
    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    interval = bootstrap_interval(differences, rng)
    return PairedTest(float(differences.mean()), standard_error(differences), interval, t_test_p_value(differences))


def hierarchical_test(a: npt.ArrayLike, b: npt.ArrayLike, rng: np.random.Generator) -> PairedTest:
    """Compare methods over start sets and trainings, with a two-level bootstrap.

    A trained method has values (trainings, runs), a method without training (runs,); all are on the same start sets.
    Each resample draws start sets, the same for all trainings and both methods, and, for each method independently,
    trainings by their means over the start sets. The deviations of the k drawn trainings are multiplied by
    sqrt(k / x), where x has the chi-squared distribution with k - 1 degrees of freedom. This corrects two errors:
    resampling understates their variance by (k - 1) / k, and with few trainings the variance itself is uncertain, so
    that the deviation of their mean follows Student's t and not a normal distribution.

    The interval lies between the 2.5 % and 97.5 % quantiles; the p-value is twice the smaller share of resamples on
    one side of 0. One training or one run gives no interval, fewer than :data:`FEWEST_TRAININGS` trainings no p-value.
    """
    methods = [np.asarray(each, dtype=float) for each in (a, b)]
    first, second = (each.mean(axis=0) if each.ndim == 2 else each for each in methods)
    differences = first - second
    trainings = [(sign, each.mean(axis=1)) for sign, each in zip((1, -1), methods, strict=True) if each.ndim == 2]
    stderr = math.hypot(standard_error(differences), *(standard_error(means) for _, means in trainings))
    mean, fewest = float(differences.mean()), min((len(means) for _, means in trainings), default=FEWEST_TRAININGS)
    if math.isnan(stderr):
        return PairedTest(mean, stderr, (math.nan, math.nan), math.nan)
    draws = _resampled_means(differences, HIERARCHICAL_RESAMPLES, rng)
    for sign, means in trainings:
        stretch = np.sqrt(len(means) / rng.chisquare(len(means) - 1, HIERARCHICAL_RESAMPLES))
        draws += sign * stretch * _resampled_means(means - means.mean(), HIERARCHICAL_RESAMPLES, rng)
    low, high = np.quantile(draws, [0.025, 0.975])
    one_side = 1 + min(int(np.count_nonzero(side)) for side in (draws <= 0, draws >= 0))
    p_value = min(1.0, 2 * one_side / (HIERARCHICAL_RESAMPLES + 1)) if fewest >= FEWEST_TRAININGS else math.nan
    return PairedTest(mean, stderr, (float(low), float(high)), p_value)


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
    low, high = np.quantile(_resampled_means(values, RESAMPLES, rng), [0.025, 0.975])
    return float(low), float(high)


def _resampled_means(values: FloatArray, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Means of values drawn with replacement (resamples,)."""
    rows = max(1, MOST_PICKED // len(values))  # at a time, so that many runs do not fill the memory
    sizes = [min(rows, resamples - done) for done in range(0, resamples, rows)]
    return np.concatenate([values[rng.integers(0, len(values), (size, len(values)))].mean(axis=1) for size in sizes])


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979) for several tests at once; NaN stays NaN and counts for nothing."""
    adjusted = [float("nan")] * len(p_values)
    order = sorted((p, i) for i, p in enumerate(p_values) if not np.isnan(p))
    worst = 0.0
    for rank, (p, i) in enumerate(order):
        worst = max(worst, min(1.0, p * (len(order) - rank)))
        adjusted[i] = worst
    return adjusted
