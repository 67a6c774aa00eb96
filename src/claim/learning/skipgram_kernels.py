"""Compiled loops of DeepWalk: random walks, and skip-gram with hierarchical softmax on them.

Random numbers are the replayable coins of the cascades, so a seed fixes every walk and every update.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np
from numba import njit

from claim.cascades.coins import _GOLDEN, UNIT, mix
from claim.cascades.kernels import kernel

# Dot products may be added up in any order, which lets the compiler take eight numbers at a time.
vector_kernel = njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
_S11 = np.uint64(11)


@njit(cache=True, inline="always")
def below(state, bound):
    """A whole number in ``0 .. bound - 1``; add ``_GOLDEN`` to the state for the next one."""
    return np.int64(float(mix(state) >> _S11) * UNIT * bound)


@kernel
def random_walks(offsets, contacts, seed, walks, length):
    """``walks`` walks from everybody with contacts, each pass through the people in a new order: one walk a row."""
    people = np.flatnonzero(offsets[1:] > offsets[:-1])
    steps = np.empty((walks * len(people), length), dtype=np.int32)
    state = mix(np.uint64(seed))
    row = 0
    for _ in range(walks):
        for i in range(len(people) - 1, 0, -1):  # Fisher and Yates
            state += _GOLDEN
            other = below(state, i + 1)
            people[i], people[other] = people[other], people[i]
        for person in people:
            here = person
            for step in range(length):
                steps[row, step] = here
                state += _GOLDEN
                here = contacts[offsets[here] + below(state, offsets[here + 1] - offsets[here])]
            row += 1
    return steps


@vector_kernel
def branch(inward, outward, change, label, rate):
    """One logistic step of ``outward`` towards or away from ``inward``, whose own step is added to ``change``."""
    product = np.float32(0)
    for d in range(len(inward)):
        product += inward[d] * outward[d]
    strength = np.float32(rate * (label - 1 / (1 + np.exp(-product))))
    for d in range(len(inward)):
        change[d] += strength * outward[d]
        outward[d] += strength * inward[d]


@kernel
def train_pair(vector, outward, nodes, labels, depth, rate, change):
    """Make the way through the tree to somebody nearby likelier, branch by branch, for a person with this vector."""
    change[:] = 0
    for level in range(depth):
        branch(vector, outward[nodes[level]], change, labels[level], rate)
    for d in range(len(change)):
        vector[d] += change[d]


@kernel
def train_skipgram(steps, inward, outward, tree, window, epochs, rate, last_rate, seed):
    """Stochastic gradient descent on all pairs of people near each other in a walk, with a falling learning rate.

    As in word2vec, each person looks at most a random 1 to ``window`` steps far, so near people count more.
    """
    nodes, labels, depths = tree
    state = mix(np.uint64(seed))
    change = np.empty(inward.shape[1], dtype=np.float32)
    rows, length = steps.shape
    for turn in range(epochs * rows):
        row = turn % rows
        now = rate + (last_rate - rate) * turn / (epochs * rows)
        for i in range(length):
            state += _GOLDEN
            reach = 1 + below(state, window)
            for j in range(max(i - reach, 0), min(i + reach + 1, length)):
                if j != i:
                    near = steps[row, j]
                    train_pair(inward[steps[row, i]], outward, nodes[near], labels[near], depths[near], now, change)
