"""Boosted regression trees with Poisson loss: prediction and fitting.

Fitting is our own, and not a library's, so that the command on the card of a shipped model makes the same file again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from claim.cascades.kernels import kernel
from claim.networks.network import FloatArray

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

BINS = 64
CodeArray = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Growth:
    """The settings of boosting."""

    trees: int = 120
    depth: int = 5
    rate: float = 0.08
    penalty: float = 1.0  # L2, on the values of leaves
    least: float = 50.0  # the smallest curvature (with Poisson loss: predicted amount) of a child
    rows: float = 0.5  # the share of rows each tree is grown on
    features: float = 0.6  # the share of features each tree may use


@dataclass(frozen=True)
class Trees:
    """Complete trees of one depth: features and thresholds of the inner nodes, values of the leaves."""

    base: float
    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    leaves: FloatArray

    def predict(self, values: FloatArray) -> FloatArray:
        """The expected amount for each row of feature values."""
        out = np.full(len(values), self.base)
        add_trees(np.ascontiguousarray(values), self.feature, self.threshold, self.leaves, out)
        means: FloatArray = np.exp(out)
        return means

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; thresholds of nodes without a split (infinite) are None."""
        thresholds = [[None if np.isinf(t) else float(f"{t:.7g}") for t in tree] for tree in self.threshold.tolist()]
        return {
            "base": self.base,
            "feature": self.feature.tolist(),
            "threshold": thresholds,
            "leaves": np.round(self.leaves, 5).tolist(),
        }

    def rounded(self) -> "Trees":
        """The trees as their file will have them."""
        return Trees.from_dict(self.to_dict(), int(self.feature.max()) + 1)

    @classmethod
    def from_dict(cls, data: dict[str, Any], columns: int) -> "Trees":
        """The inverse of :meth:`to_dict`, for rows of ``columns`` features; kernels check no bounds, so it does."""
        feature = np.array(data["feature"], dtype=np.int32)
        threshold, leaves = np.array(data["threshold"], dtype=np.float64), np.array(data["leaves"], dtype=np.float64)
        threshold[np.isnan(threshold)] = np.inf  # None in the file
        inner = feature.shape[1] if feature.ndim == 2 else 0
        fits = threshold.shape == feature.shape and leaves.shape == (len(feature), inner + 1)
        if not (fits and (inner & (inner + 1)) == 0 and feature.min() >= 0 and feature.max() < columns):
            raise ValueError("the trees are damaged")
        return cls(float(data["base"]), feature, threshold, leaves)


def grow(
    values: FloatArray, amounts: FloatArray, weights: FloatArray, growth: Growth, rng: np.random.Generator
) -> Trees:
    """Fit trees to amounts of zero or more."""
    edges = bin_edges(values, rng)
    codes = binned(values, edges)
    base = float(np.log(np.average(amounts, weights=weights) + 1e-12))
    log_mean = np.full(len(values), base)
    grown = []
    for _ in range(growth.trees):
        mean = weights * np.exp(log_mean)
        tree = _grow_one(codes, mean - weights * amounts, mean, edges, growth, rng)
        feature, threshold, leaves = tree
        add_trees(values, feature[None], threshold[None], leaves[None], log_mean)
        grown.append(tree)
    features, thresholds, values_of_leaves = zip(*grown, strict=True)
    return Trees(base, np.stack(features), np.stack(thresholds), np.stack(values_of_leaves))


def bin_edges(values: FloatArray, rng: np.random.Generator, most: int = 50_000) -> list[FloatArray]:
    """For each feature up to ``BINS - 1`` thresholds between the values it takes, at even quantiles."""
    sample = values if len(values) <= most else values[rng.choice(len(values), most, replace=False)]
    edges = []
    for column in sample.T:
        distinct = np.unique(column)
        if len(distinct) > BINS:
            distinct = np.unique(np.quantile(column, np.linspace(0, 1, BINS), method="nearest"))
        edges.append((distinct[1:] + distinct[:-1]) / 2)
    return edges


def binned(values: FloatArray, edges: list[FloatArray]) -> CodeArray:
    """The number of the bin of each value."""
    columns = [np.searchsorted(cuts, column, side="left") for cuts, column in zip(edges, values.T, strict=True)]
    return np.column_stack(columns).astype(np.uint8)


def _grow_one(
    codes: CodeArray, gradient: FloatArray, curvature: FloatArray, edges: list[FloatArray], growth: Growth,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray]:  # fmt: skip
    """One tree on a sample of the rows and features."""
    inner = 2**growth.depth - 1
    rows = np.flatnonzero(rng.random(len(codes)) < growth.rows)
    allowed = np.less(rng.random(codes.shape[1]), growth.features)
    node_of = np.zeros(len(rows), dtype=np.int64)
    feature, cut = np.full(inner, -1, dtype=np.int32), np.zeros(inner, dtype=np.int64)
    for level in range(growth.depth):
        first = 2**level - 1
        sums = histograms(rows, node_of, codes, gradient, curvature, first, first + 1, BINS)
        for node in range(first + 1):
            feature[first + node], cut[first + node], _ = best_split(sums[node], allowed, growth.penalty, growth.least)
        split = feature[node_of]
        node_of = 2 * node_of + 1 + ((split >= 0) & (codes[rows, split] > cut[node_of]))
    total, weight = (np.bincount(node_of - inner, each[rows], inner + 1) for each in (gradient, curvature))
    leaves = -growth.rate * total / (weight + growth.penalty)
    threshold = np.array([np.inf if f < 0 else edges[f][c] for f, c in zip(feature, cut, strict=True)])
    return np.maximum(feature, 0), threshold, leaves


@kernel
def histograms(rows, node_of, codes, gradient, curvature, first, nodes, bins):
    """Sums of gradient and curvature, for each node of a level, feature and bin."""
    features = codes.shape[1]
    sums = np.zeros((nodes, features, bins, 2))
    for i in range(len(rows)):
        row = rows[i]
        node = node_of[i] - first
        for feature in range(features):
            code = codes[row, feature]
            sums[node, feature, code, 0] += gradient[row]
            sums[node, feature, code, 1] += curvature[row]
    return sums


def best_split(
    sums: FloatArray, allowed: npt.NDArray[np.bool_], penalty: float, least: float
) -> tuple[int, int, float]:
    """The feature, the last bin to the left and the gain of the best split of one node; feature -1 if none gains.

    ``sums`` are the gradient and curvature of each feature and bin, of shape (features, bins, 2).
    """
    left = np.cumsum(sums, axis=1)
    total = left[0, -1]
    sides = np.stack([left, total - left])[:, :, :-1]  # (2, features, bins - 1, 2)
    gradient, curvature = sides[..., 0], sides[..., 1]
    score = gradient**2 / (curvature + penalty)
    gain = score[0] + score[1] - total[0] * total[0] / (total[1] + penalty)
    gain[(curvature < least).any(axis=0) | ~allowed[:, None]] = 0.0
    best = np.unravel_index(gain.argmax(), gain.shape)
    return (int(best[0]), int(best[1]), float(gain[best])) if gain[best] > 1e-9 else (-1, 0, 0.0)


@kernel
def add_trees(values, feature, threshold, leaves, out):
    """Add to ``out`` (rows,) the sum of all trees for every row of ``values`` (rows, features)."""
    trees, inner = feature.shape
    for row in range(len(values)):
        total = 0.0
        for tree in range(trees):
            node = 0
            while node < inner:
                right = values[row, feature[tree, node]] > threshold[tree, node]
                node = 2 * node + 1 + right
            total += leaves[tree, node - inner]
        out[row] += total
