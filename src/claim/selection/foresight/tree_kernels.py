"""Compiled loops of the boosted trees: histograms, splits and predictions.

A tree is complete: node ``i`` has the children ``2 i + 1`` and ``2 i + 2``. A node that is not split sends everybody to
the left, with the threshold at infinity.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.kernels import kernel


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
