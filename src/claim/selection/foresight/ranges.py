"""The expected reach with a 90 % range of the models of the first version and of ``foresight:free``.

The leaders reach at least what they reach along seen contacts. The guess beyond that, the extra, can be wrong. Trees
predict by which factor it is wrong on average in a study like this one, and the spread of the logarithm of that
factor; multiples of that spread, the marks, hold nine of ten simulated studies on networks the trees were not grown on
(locally weighted conformal prediction: Lei et al., "Distribution-free predictive inference for regression", 2018).
If everyone is surveyed there is no extra, and the range closes.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from claim.networks.network import FloatArray
from claim.selection.foresight.features import STUDY
from claim.selection.foresight.trees import Trees

CHANCES = (0.075, 0.15)  # bounds of the probabilities p with marks of their own
# Times the marks, since a network yet unseen differs more than those at hand; measured, see docs/notes/foresight.md
WIDER = 1.1
WIDER_AFTER_TRAINING = 1.3  # half of the marks come from networks that the trees of the guess were grown on
RANGE_FEATURES = (*STUDY, "log extra")
FIRST_FEATURES = (*STUDY[:8], "log extra")  # those that the trees were grown on
Marks = tuple[float, float]


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
    def from_dict(cls, data: dict[str, Any], wider: float = WIDER) -> "Ranges":
        """What :meth:`to_dict` wrote."""
        if data["chances"] != list(CHANCES):
            raise ValueError("ranges for other probabilities")
        columns = [RANGE_FEATURES.index(name) for name in FIRST_FEATURES]
        factor, spread = (Trees.from_dict(data[name], columns) for name in ("factor", "spread"))
        return cls(factor, spread, tuple((float(low), float(high)) for low, high in data["marks"]), wider)


def _chance(features: FloatArray) -> int:
    return bisect_right(CHANCES, features[STUDY.index("p")])
