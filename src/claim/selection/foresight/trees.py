"""Boosted regression trees with Poisson loss: fitting by LightGBM, prediction by a kernel, JSON files between."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from claim.cascades.kernels import kernel
from claim.errors import InputError, install_command
from claim.networks.network import FloatArray

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

BINS = 64  # thresholds tried for each feature


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
        return Trees.from_dict(self.to_dict(), range(int(self.feature.max()) + 1))

    @classmethod
    def from_dict(cls, data: dict[str, Any], columns: Sequence[int]) -> "Trees":
        """The inverse of :meth:`to_dict`; kernels check no bounds, so it does.

        ``columns`` are the places of the features that the trees were grown on among those they are given.
        """
        feature = np.array(data["feature"], dtype=np.int32)
        threshold, leaves = np.array(data["threshold"], dtype=np.float64), np.array(data["leaves"], dtype=np.float64)
        threshold[np.isnan(threshold)] = np.inf  # None in the file
        inner = feature.shape[1] if feature.ndim == 2 else 0
        fits = threshold.shape == feature.shape and leaves.shape == (len(feature), inner + 1)
        if not (fits and (inner & (inner + 1)) == 0 and feature.min() >= 0 and feature.max() < len(columns)):
            raise ValueError("the trees are damaged")
        return cls(float(data["base"]), np.array(columns, dtype=np.int32)[feature], threshold, leaves)


def mixed(trees: Sequence[Trees], weights: Sequence[float]) -> Trees:
    """Trees that predict the weighted geometric mean of what several of the same depth predict; weights may sum to less
    than 1, which draws predictions towards 1.
    """
    used = [(each, weight) for each, weight in zip(trees, weights, strict=True) if weight > 0]
    return Trees(
        sum(weight * each.base for each, weight in used),
        np.concatenate([each.feature for each, _ in used]),
        np.concatenate([each.threshold for each, _ in used]),
        np.concatenate([weight * each.leaves for each, weight in used]),
    )


def lightgbm() -> Any:
    """LightGBM, or an error that says how to install it."""
    try:
        import lightgbm
    except ImportError as error:
        raise InputError(f"fitting models needs LightGBM: {install_command('learning')}") from error
    return lightgbm


def grow(
    values: FloatArray,
    amounts: FloatArray,
    weights: FloatArray,
    growth: Growth,
    rng: np.random.Generator,
    quantile: float | None = None,
) -> Trees:
    """Fit trees to amounts of zero or more, with LightGBM; the same generator gives the same trees.

    With a ``quantile``, fit this one of the logarithms of amounts, which are given in their place.
    """
    objective: dict[str, Any] = {"objective": "quantile", "alpha": quantile}
    if quantile is None:
        base = float(np.log(np.average(amounts, weights=weights) + 1e-12))
        objective = {"objective": "poisson", "poisson_max_delta_step": 1e-9}  # curvature without a safety margin
    else:
        base = float(np.quantile(amounts, quantile, weights=weights, method="inverted_cdf"))
    settings = {
        **objective, "boost_from_average": False,
        "max_depth": growth.depth, "num_leaves": 2**growth.depth, "learning_rate": growth.rate,
        "lambda_l2": growth.penalty, "min_sum_hessian_in_leaf": growth.least, "min_data_in_leaf": 1,
        "bagging_fraction": growth.rows, "bagging_freq": 1, "feature_fraction": growth.features,
        "max_bin": BINS, "feature_pre_filter": False, "verbosity": -1,
        "seed": int(rng.integers(2**31)), "deterministic": True, "force_row_wise": True, "num_threads": 1,
    }  # fmt: skip
    library = lightgbm()
    data = library.Dataset(values, amounts, weight=weights, init_score=np.full(len(values), base))
    grown = library.train(settings, data, growth.trees).dump_model()["tree_info"]
    inner = 2**growth.depth - 1
    feature, threshold = np.zeros((len(grown), inner), dtype=np.int32), np.full((len(grown), inner), np.inf)
    leaves = np.zeros((len(grown), inner + 1))

    def copy(tree: int, place: int, node: dict[str, Any]) -> None:
        """Copy a node and what is below it to its place in a complete tree."""
        if "split_feature" in node:
            feature[tree, place], threshold[tree, place] = node["split_feature"], node["threshold"]
            copy(tree, 2 * place + 1, node["left_child"])
            copy(tree, 2 * place + 2, node["right_child"])
            return
        while place < inner:  # a leaf above the lowest level: nodes without a split lead to the left
            place = 2 * place + 1
        leaves[tree, place - inner] = node["leaf_value"]

    for tree, each in enumerate(grown):
        copy(tree, 0, each["tree_structure"])
    return Trees(base, feature, threshold, leaves)


@kernel
def add_trees(values, feature, threshold, leaves, out):
    """Add to ``out`` (rows,) the sum of all trees for every row of ``values`` (rows, features).

    Four rows go down a tree at once: each waits for memory at every node, and they wait together.
    """
    rows, inner = len(values), feature.shape[1]
    depth = round(np.log2(inner + 1))
    for row in range(0, rows, 4):
        one, two, three = min(row + 1, rows - 1), min(row + 2, rows - 1), min(row + 3, rows - 1)
        sum_a = sum_b = sum_c = sum_d = 0.0
        for tree in range(len(feature)):
            a = b = c = d = 0
            for _ in range(depth):
                a = 2 * a + 1 + (values[row, feature[tree, a]] > threshold[tree, a])
                b = 2 * b + 1 + (values[one, feature[tree, b]] > threshold[tree, b])
                c = 2 * c + 1 + (values[two, feature[tree, c]] > threshold[tree, c])
                d = 2 * d + 1 + (values[three, feature[tree, d]] > threshold[tree, d])
            sum_a += leaves[tree, a - inner]
            sum_b += leaves[tree, b - inner]
            sum_c += leaves[tree, c - inner]
            sum_d += leaves[tree, d - inner]
        for i, total in enumerate((sum_a, sum_b, sum_c, sum_d)):
            if row + i < rows:
                out[row + i] += total
