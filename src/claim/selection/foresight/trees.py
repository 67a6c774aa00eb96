"""Regression trees: evaluation and fitting."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from claim.cascades.kernels import kernel
from claim.networks.network import FloatArray

# mypy: disable-error-code="no-untyped-def,untyped-decorator"


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


@kernel
def best_split(sums, allowed, penalty, least):
    """The feature, the last bin to the left and the gain of the best split of one node; feature -1 if none is worth it.

    ``least`` is the smallest curvature (with Poisson loss: predicted amount) that a side may have.
    """
    features, bins, _ = sums.shape
    total_g, total_h = sums[0, :, 0].sum(), sums[0, :, 1].sum()
    parent = total_g * total_g / (total_h + penalty)
    best_feature, best_bin, best_gain = -1, 0, 1e-9
    for feature in range(features):
        if allowed[feature]:
            left_g, left_h = 0.0, 0.0
            for cut in range(bins - 1):
                left_g += sums[feature, cut, 0]
                left_h += sums[feature, cut, 1]
                right_g, right_h = total_g - left_g, total_h - left_h
                if left_h >= least and right_h >= least:
                    gain = left_g**2 / (left_h + penalty) + right_g**2 / (right_h + penalty) - parent
                    if gain > best_gain:
                        best_feature, best_bin, best_gain = feature, cut, gain
    return best_feature, best_bin, best_gain


@kernel
def send_down(rows, node_of, codes, feature, cut):
    """Move every row to a child of its node."""
    for i in range(len(rows)):
        node = node_of[i]
        right = feature[node] >= 0 and codes[rows[i], feature[node]] > cut[node]
        node_of[i] = 2 * node + 1 + right


@kernel
def leaf_sums(node_of, rows, gradient, curvature, first, leaves):
    """Sums of gradient and curvature in the leaves."""
    sums = np.zeros((leaves, 2))
    for i in range(len(rows)):
        sums[node_of[i] - first, 0] += gradient[rows[i]]
        sums[node_of[i] - first, 1] += curvature[rows[i]]
    return sums


@kernel
def add_trees(values, feature, threshold, leaves, out):
    """Add to ``out`` what every tree says of every row of ``values``."""
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


BINS = 64
CodeArray = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Growth:
    """How trees are grown."""

    trees: int = 120
    depth: int = 5
    rate: float = 0.08
    penalty: float = 1.0
    least: float = 50.0
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
        add_trees(values, self.feature, self.threshold, self.leaves, out)
        means: FloatArray = np.exp(out)
        return means

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; thresholds that let everybody pass are None."""
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
        """What :meth:`to_dict` wrote, for rows of ``columns`` features; damaged trees would lead a kernel astray."""
        thresholds = [[np.inf if t is None else t for t in tree] for tree in data["threshold"]]
        feature = np.array(data["feature"], dtype=np.int32)
        threshold, leaves = np.array(thresholds, dtype=np.float64), np.array(data["leaves"], dtype=np.float64)
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
    allowed = rng.random(codes.shape[1]) < growth.features
    node_of = np.zeros(len(rows), dtype=np.int64)
    feature, cut = np.full(inner, -1, dtype=np.int32), np.zeros(inner, dtype=np.int64)
    for level in range(growth.depth):
        first = 2**level - 1
        sums = histograms(rows, node_of, codes, gradient, curvature, first, first + 1, BINS)
        for node in range(first + 1):
            feature[first + node], cut[first + node], _ = best_split(sums[node], allowed, growth.penalty, growth.least)
        send_down(rows, node_of, codes, feature, cut)
    sums = leaf_sums(node_of, rows, gradient, curvature, inner, inner + 1)
    leaves = -growth.rate * sums[:, 0] / (sums[:, 1] + growth.penalty)
    threshold = np.array([np.inf if f < 0 else edges[f][c] for f, c in zip(feature, cut, strict=True)])
    return np.maximum(feature, 0), threshold, leaves
