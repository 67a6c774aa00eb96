"""The expected reach with a 90 % range, from the errors of the guess in simulated studies.

The leaders reach at least what they reach along seen contacts. The guess beyond that, the extra, can be wrong. Trees
predict by which factor it is wrong on average in a study like this one, and the spread of the logarithm of that
factor; multiples of that spread, the marks, hold nine of ten simulated studies on networks the trees were not grown on
(locally weighted conformal prediction: Lei et al., "Distribution-free predictive inference for regression", 2018).
If everyone is surveyed there is no extra, and the range closes.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from claim.networks.network import BoolArray, FloatArray
from claim.selection.foresight.features import STUDY
from claim.selection.foresight.trees import Growth, Trees, grow

CHANCES = (0.075, 0.15)  # bounds of the probabilities p with marks of their own
NINE_IN_TEN = (0.05, 0.95)
# Times the marks, since a network yet unseen differs more than those at hand; measured, see docs/notes/foresight.md
WIDER = 1.1
WIDER_AFTER_TRAINING = 1.3  # half of the marks come from networks that the trees of the guess were grown on
FEWEST = 40  # studies that marks are taken from
SMALLEST_EXTRA = 0.01  # of a person; below that there is nothing to learn from
SMALLEST_FACTOR = 0.02  # errors are measured down to this factor, since a true extra of 0 has no logarithm
PARTS = 4  # of the networks, for cross-validation
FACTOR = Growth(trees=60, depth=3, rate=0.1, least=5.0)
SPREAD = Growth(trees=40, depth=2, rate=0.1, least=5.0)
RANGE_FEATURES = (*STUDY, "log extra")
FIRST_FEATURES = (*STUDY[:8], "log extra")  # of files that do not name them
Marks = tuple[float, float]


class Sample(NamedTuple):
    """Simulated studies: their features, the known reach, the guessed extra and the true one."""

    features: FloatArray
    known: FloatArray
    extra: FloatArray
    truth: FloatArray
    network: FloatArray  # a number for each network
    weight: FloatArray

    def where(self, chosen: BoolArray) -> "Sample":
        """Some of the studies."""
        return Sample(*(array[chosen] for array in self))


def range_features(study: FloatArray, guess: float, known: float) -> FloatArray:
    """The features that the error is predicted from."""
    return np.append(study, np.log1p(max(guess - known, 0.0) / max(known, 1.0)))


@dataclass(frozen=True)
class Ranges:
    """Trees for the factor on the extra and for its spread, and low and high marks for each range of probabilities."""

    factor: Trees
    spread: Trees
    marks: tuple[Marks, ...]
    wider: float = WIDER

    def around(self, guess: float, known: float, features: FloatArray) -> tuple[float, float, float]:
        """Mean, low and high of the expected reach."""
        extra = max(guess - known, 0.0)
        if extra == 0:
            return known, known, known
        extra *= float(self.factor.predict(features[None])[0])
        spread = self.wider * float(self.spread.predict(features[None])[0])
        low, high = (extra * float(np.exp(mark * spread)) for mark in self.marks[_chance(features)])
        return known + extra, known + min(low, extra), known + max(high, extra)

    @classmethod
    def fitted(cls, sample: Sample, rng: np.random.Generator) -> "Ranges":
        """Trees on all studies; marks by cross-validation over networks."""
        usable = sample.where(sample.extra > SMALLEST_EXTRA)
        part = rng.permutation(int(usable.network.max()) + 1)[usable.network.astype(int)] % PARTS
        error, strayed = np.empty(len(part)), np.empty(len(part))
        for i in range(PARTS):
            error[part == i] = _error(_factor_trees(usable.where(part != i), rng), usable.where(part == i))
        for i in range(PARTS):
            spread = _spread_trees(usable.where(part != i), error[part != i], rng)
            strayed[part == i] = error[part == i] / spread.predict(usable.where(part == i).features)
        chances = np.array([_chance(row) for row in usable.features])
        marks = tuple(_marks(strayed, usable.weight, chances == i) for i in range(len(CHANCES) + 1))
        return cls(_factor_trees(usable, rng), _spread_trees(usable, error, rng), marks)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        marks = [[round(mark, 4) for mark in pair] for pair in self.marks]
        trees = {"factor": self.factor.to_dict(), "spread": self.spread.to_dict()}
        return {"chances": list(CHANCES), "marks": marks, "features": list(RANGE_FEATURES), **trees}

    @classmethod
    def from_dict(cls, data: dict[str, Any], wider: float = WIDER) -> "Ranges":
        """What :meth:`to_dict` wrote."""
        if data["chances"] != list(CHANCES):
            raise ValueError("ranges for other probabilities")
        columns = [RANGE_FEATURES.index(name) for name in data.get("features", FIRST_FEATURES)]
        factor, spread = (Trees.from_dict(data[name], columns) for name in ("factor", "spread"))
        return cls(factor, spread, tuple((float(low), float(high)) for low, high in data["marks"]), wider)


def _chance(features: FloatArray) -> int:
    return bisect_right(CHANCES, features[STUDY.index("p")])


def _factor_trees(sample: Sample, rng: np.random.Generator) -> Trees:
    """The larger a part of the reach the extra is, the more an error counts, whatever the size of the network."""
    weights = sample.weight * np.sqrt(sample.extra / (sample.known + sample.extra))
    return grow(sample.features, np.maximum(sample.truth, 0.0) / sample.extra, weights, FACTOR, rng)


def _spread_trees(sample: Sample, error: FloatArray, rng: np.random.Generator) -> Trees:
    return grow(sample.features, np.abs(error), sample.weight, SPREAD, rng)


def _error(factor: Trees, sample: Sample) -> FloatArray:
    """The logarithm of the factor between the true extra and the corrected guess."""
    factors = sample.truth / (sample.extra * factor.predict(sample.features))
    errors: FloatArray = np.log(np.maximum(factors, SMALLEST_FACTOR))
    return errors


def _marks(strayed: FloatArray, weight: FloatArray, likely: BoolArray) -> Marks:
    """The marks of some studies, or of all where these are too few."""
    some = likely if likely.sum() >= FEWEST else np.ones(len(strayed), dtype=np.bool_)
    low, high = np.quantile(strayed[some], NINE_IN_TEN, weights=weight[some], method="inverted_cdf")
    return float(low), float(high)
