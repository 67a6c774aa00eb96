"""The reach to expect with an honest range, from how far the truth was from the guess in simulated studies.

The leaders reach at least what they reach along seen contacts. What is guessed beyond that, the extra, is what can be
wrong. Trees say by which factor it is wrong on average in a study like this one, and factors around that say how far
nine of ten simulated studies were off. With everybody surveyed there is no extra, and the range closes.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from claim.networks.network import FloatArray
from claim.selection.foresight.study import STUDY
from claim.selection.foresight.trees import Growth, Trees, grow
from claim.selection.foresight.view import BoolArray

SURVEYS = (3, 15)  # bounds of the numbers of surveys (start people not counted) with factors of their own
CHANCES = (0.075, 0.15)  # bounds of the probabilities p with factors of their own
NINE_IN_TEN = (0.04, 0.96)  # somewhat wider than said: a network yet unseen differs more than those at hand
FEWEST = 40  # studies that factors are taken from
SMALLEST_EXTRA = 0.01  # of a person; below that there is nothing to learn from
PARTS = 4  # of the networks; each is judged by trees that were grown on the others
GROWTH = Growth(trees=60, depth=3, rate=0.1, least=5.0)
Factors = tuple[float, float]


@dataclass(frozen=True)
class Sample:
    """Judged studies: what was seen of them, the known reach, the guessed extra and the true one."""

    features: FloatArray
    known: FloatArray
    extra: FloatArray
    truth: FloatArray
    network: FloatArray  # a number for each network
    weight: FloatArray

    def where(self, chosen: BoolArray) -> "Sample":
        """Some of the studies."""
        arrays = (self.features, self.known, self.extra, self.truth, self.network, self.weight)
        return Sample(*(array[chosen] for array in arrays))


def range_features(study: FloatArray, guess: float, known: float) -> FloatArray:
    """What the size of an error can be told from."""
    return np.append(study, np.log1p(max(guess - known, 0.0) / max(known, 1.0)))


@dataclass(frozen=True)
class Ranges:
    """Trees for the factor on the extra, and low and high factors for each range of probabilities and of surveys."""

    trees: Trees
    factors: tuple[tuple[Factors, ...], ...]

    def around(self, guess: float, known: float, features: FloatArray) -> tuple[float, float, float]:
        """Mean, low and high of the expected reach."""
        extra = max(guess - known, 0.0)
        if extra > 0:
            extra *= float(self.trees.predict(features[None])[0])
        low, high = self.factors[_cell(features)[0]][_cell(features)[1]]
        return known + extra, known + low * extra, known + high * extra

    @classmethod
    def fitted(cls, sample: Sample, rng: np.random.Generator) -> "Ranges":
        """Trees on all studies; factors from trees grown without the networks that they are judged on."""
        usable = sample.where(sample.extra > SMALLEST_EXTRA)
        ratio = np.empty(len(usable.truth))
        part = rng.permutation(int(usable.network.max()) + 1)[usable.network.astype(int)] % PARTS
        for i in range(PARTS):
            trees = _grown(usable.where(part != i), rng)
            ratio[part == i] = _error(trees, usable.where(part == i))
        return cls(_grown(usable, rng), _table(usable, ratio))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        factors = [[[round(x, 4) for x in cell] for cell in row] for row in self.factors]
        return {"surveys": list(SURVEYS), "chances": list(CHANCES), "factors": factors, "trees": self.trees.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Ranges":
        """What :meth:`to_dict` wrote."""
        if data["surveys"] != list(SURVEYS) or data["chances"] != list(CHANCES):
            raise ValueError("range factors of other bounds")
        rows = (tuple((float(low), float(high)) for low, high in row) for row in data["factors"])
        return cls(Trees.from_dict(data["trees"], len(STUDY) + 1), tuple(rows))


def _cell(features: FloatArray) -> tuple[int, int]:
    surveys = round(float(np.expm1(features[STUDY.index("log surveys")])))
    return bisect_right(CHANCES, features[STUDY.index("p")]), bisect_right(SURVEYS, surveys)


def _grown(sample: Sample, rng: np.random.Generator) -> Trees:
    """The larger a part of the reach the extra is, the more an error counts, whatever the size of the network."""
    weights = sample.weight * np.sqrt(sample.extra / (sample.known + sample.extra))
    return grow(sample.features, np.maximum(sample.truth, 0.0) / sample.extra, weights, GROWTH, rng)


def _error(trees: Trees, sample: Sample) -> FloatArray:
    return np.maximum(sample.truth, 0.0) / (sample.extra * trees.predict(np.ascontiguousarray(sample.features)))


def _table(sample: Sample, ratio: FloatArray) -> tuple[tuple[Factors, ...], ...]:
    cells = np.array([_cell(row) for row in sample.features])
    return tuple(
        tuple(_factors(ratio, sample.weight, cells[:, 0] == i, cells[:, 1] == j) for j in range(len(SURVEYS) + 1))
        for i in range(len(CHANCES) + 1)
    )


def _factors(ratio: FloatArray, weight: FloatArray, likely: BoolArray, many: BoolArray) -> Factors:
    """Of too few studies nothing is learned: those with any number of surveys stand in, or all."""
    everybody = np.ones(len(ratio), dtype=np.bool_)
    some = next((part for part in (likely & many, likely) if part.sum() >= FEWEST), everybody)
    low, high = np.quantile(ratio[some], NINE_IN_TEN, weights=weight[some], method="inverted_cdf")
    return float(low), float(high)
