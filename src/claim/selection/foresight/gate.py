"""Which sort of network a study looks like, so that what was fitted to this sort decides."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from claim.networks.network import FloatArray, IntArray
from claim.selection.foresight.features import STUDY

SIGNALS = tuple(name for name in STUDY if name not in ("p", "trust in marks"))
PLACES = [STUDY.index(name) for name in SIGNALS]
FAR = 4.0  # standard deviations that a signal counts for at most
LEAST = 0.05  # a smaller share is not worth the time
PENALTY = 1e-3


@dataclass(frozen=True)
class Gate:
    """Multinomial logistic regression on a study's signals, their squares and products."""

    sorts: tuple[str, ...]
    centre: FloatArray  # (signals,)
    scale: FloatArray  # (signals,)
    table: FloatArray  # (terms, sorts)

    def shares(self, study: FloatArray) -> FloatArray:
        """How much a study, given by one number for each name of ``STUDY``, looks like each sort; they sum to 1."""
        shares: FloatArray = softmax(terms(study[None], self.centre, self.scale) @ self.table)[0]
        shares[shares < LEAST] = 0.0
        shares /= shares.sum()
        return shares

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        numbers = {name: np.round(getattr(self, name), 5).tolist() for name in ("centre", "scale", "table")}
        return {"signals": list(SIGNALS), "sorts": list(self.sorts), **numbers}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Gate":
        """The inverse of :meth:`to_dict`."""
        if tuple(data["signals"]) != SIGNALS:
            raise ValueError("the gate was fitted to other signals")
        centre, scale, table = (np.array(data[name], dtype=np.float64) for name in ("centre", "scale", "table"))
        count = len(SIGNALS)
        wanted = (count,), (count,), (1 + count + count * (count + 1) // 2, len(data["sorts"]))
        if (centre.shape, scale.shape, table.shape) != wanted or not (scale > 0).all():
            raise ValueError("the gate is damaged")
        return cls(tuple(data["sorts"]), centre, scale, table)


def terms(studies: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    """The terms of the regression (studies, terms): 1, the standardised signals, and products of any two of them."""
    signals = np.clip((studies[:, PLACES] - centre) / scale, -FAR, FAR)
    one, other = np.triu_indices(signals.shape[1])
    return np.hstack([np.ones((len(signals), 1)), signals, signals[:, one] * signals[:, other]])


def softmax(scores: FloatArray) -> FloatArray:
    """Probabilities (rows, columns) in proportion to exp(score)."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return probabilities


def fit_gate(studies: FloatArray, sort: IntArray, weights: FloatArray, sorts: tuple[str, ...]) -> Gate:
    """The gate of the largest likelihood, with a small L2 penalty; ``sort`` numbers the sort of each study."""
    weights = weights / weights.sum()
    signals = studies[:, PLACES]
    centre = weights @ signals
    scale = np.maximum(np.sqrt(weights @ (signals - centre) ** 2), 1e-6)
    known, wanted = terms(studies, centre, scale), np.eye(len(sorts))[sort]

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        table = flat.reshape(known.shape[1], -1)
        chances = softmax(known @ table)
        error = -float(weights @ np.log((chances * wanted).sum(axis=1) + 1e-12))
        slope = known.T @ (weights[:, None] * (chances - wanted)) + 2 * PENALTY * table
        return error + PENALTY * float((table**2).sum()), slope.ravel()

    start = np.zeros(known.shape[1] * len(sorts))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    return Gate(sorts, centre, scale, found.reshape(known.shape[1], -1))
