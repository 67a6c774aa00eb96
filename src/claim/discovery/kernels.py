"""Compiled loops of :class:`claim.discovery.ranking.ScoreTree`.

The arrays ``best`` and ``total`` hold a binary tree: the children of node i are 2 i and 2 i + 1, and the last half are
its items.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import math

import numpy as np

from claim.compiling import compiled

kernel = compiled(nogil=True)


@kernel
def merge(best, total, node, heat):
    one, other = 2 * node, 2 * node + 1
    high = max(best[one], best[other])
    best[node] = high
    total[node] = worth(best[one], total[one], high, heat) + worth(best[other], total[other], high, heat)


@kernel
def worth(score, size, high, heat):
    if size == 0.0 or score == high:
        return size
    return size * math.exp((score - high) / heat) if heat > 0.0 else 0.0


@kernel
def build(best, total, heat):
    for node in range(len(best) // 2 - 1, 0, -1):
        merge(best, total, node, heat)


@kernel
def put(best, total, items, scores, sizes, heat):
    half = len(best) // 2
    nodes = items + half
    best[nodes], total[nodes] = scores, sizes
    count = len(nodes)
    while count and nodes[0] > 1:  # all nodes of a level, each once
        above = 0
        for i in range(count):
            node = nodes[i] // 2
            if above == 0 or nodes[above - 1] != node:
                nodes[above] = node
                above += 1
                merge(best, total, node, heat)
        count = above


@kernel
def find(best, total, heat, number):
    node, half = 1, len(best) // 2
    while node < half:
        one, high = 2 * node, best[node]
        share = worth(best[one], total[one], high, heat) / total[node]
        if number < share:
            node, number = one, number / share
        else:
            node, number = one + 1, (number - share) / (1.0 - share) if share < 1.0 else 0.0
        if total[node] == 0.0 or best[node] == -np.inf:  # rounding led to where nothing is
            node ^= 1
    return node - half
