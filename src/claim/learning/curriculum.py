"""Which experiences to replay: near their goals, and different from each other (Fang et al., 2019).

From B candidates k are chosen that make F(A) = F_prox(A) + lambda F_div(A) large:

    F_prox(A) = sum_{i in A} (c - |g'_i - g_i|)                    g' achieved, g desired
    F_div(A)  = sum_{j in B} max(0, max_{i in A} sim_ij)           facility location

F is monotone and submodular, so picking the largest gain again and again reaches at least 1 - 1/e of the best F.
"""

import numpy as np
import numpy.typing as npt

from claim.compiling import compiled
from claim.errors import InputError
from claim.networks.network import FloatArray

SimilarityArray = npt.NDArray[np.float32]
IndexArray = npt.NDArray[np.int64]

# Sums of gains may be taken in any order, which lets the compiler add eight numbers at a time.
kernel = compiled(nogil=True, fastmath={"reassoc", "nsz", "nnan"})


def proximity(achieved: npt.ArrayLike, desired: npt.ArrayLike) -> FloatArray:
    """c - |g' - g| for each candidate, with c the largest distance among them, so that no value is negative.

    Any larger c adds the same to every gain and changes no choice; it only makes the bound of 1 - 1/e say less.
    """
    distance = np.abs(np.asarray(achieved, dtype=np.float64) - np.asarray(desired, dtype=np.float64))
    largest: float = distance.max(initial=0.0)
    return largest - distance


def similarity(embeddings: npt.ArrayLike, normalised: bool = False) -> SimilarityArray:
    """The dot products of all pairs of state embeddings (B, d), raw as in the paper or as cosines around their mean.

    All states have most of their embedding in common. Cosines that leave it in are nearly 1 for any two states, and a
    single pick would cover everything; see docs/notes/learning.md.
    """
    vectors: SimilarityArray = np.array(embeddings, dtype=np.float32)
    if normalised and len(vectors):
        vectors -= vectors.mean(axis=0)
        length: SimilarityArray = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(length, np.float32(1e-30))
    return vectors @ vectors.T


def select(similarity: npt.ArrayLike, proximity: npt.ArrayLike, weight: float, k: int) -> IndexArray:
    """The greedy choice of k candidates, in the order of choice; of equal gains the smallest index wins."""
    alike = np.ascontiguousarray(similarity, dtype=np.float32)
    near = np.ascontiguousarray(proximity, dtype=np.float64)
    if alike.shape != (len(near), len(near)):
        raise InputError(f"{len(near)} candidates have {len(near)} x {len(near)} similarities, not {alike.shape}")
    if not (np.isfinite(alike).all() and np.isfinite(near).all() and 0 <= weight < np.inf):
        raise InputError("similarities, proximities and the weight of diversity must be finite, the weight not below 0")
    chosen: IndexArray = _lazy_greedy(alike, near, float(weight), min(k, len(near)))
    return chosen


def plain_greedy(similarity: SimilarityArray, proximity: FloatArray, weight: float, k: int) -> list[int]:
    """What :func:`select` does, gain by gain as in the paper; slow, and the measure of its tests.

    F(i | A) = (c - |g'_i - g_i|) + lambda sum_j max(0, sim_ij - max(0, max_{l in A} sim_lj)). The inner max(0, .) is
    missing in the paper; without it F(i | A) is not F(A + i) - F(A) where similarities are negative.
    """
    chosen: list[int] = []
    covered = np.zeros(len(proximity), dtype=np.float32)
    for _ in range(min(k, len(proximity))):
        gains = proximity + weight * np.maximum(similarity - covered, 0).sum(axis=1, dtype=np.float64)
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        covered = np.maximum(covered, similarity[chosen[-1]])
    return chosen


@kernel
def _new_cover(alike: SimilarityArray, covered: SimilarityArray) -> float:
    """How much one candidate's similarities add to what is covered."""
    total = 0.0
    for j in range(len(covered)):
        total += max(alike[j] - covered[j], np.float32(0))
    return total


@kernel
def _lazy_greedy(alike: SimilarityArray, near: FloatArray, weight: float, k: int) -> IndexArray:
    """Greedy that computes a gain again only if its last value, which it cannot exceed, is the largest.

    Rounded sums of smaller terms are never larger, so this is exact, ties included.
    """
    size = len(near)
    covered = np.zeros(size, dtype=np.float32)
    bound = np.empty(size)
    for i in range(size):
        bound[i] = near[i] + weight * _new_cover(alike[i], covered)
    fresh = np.zeros(size, dtype=np.int64)  # how many were chosen when a gain was computed
    chosen = np.empty(k, dtype=np.int64)
    for count in range(k):
        best = np.argmax(bound)
        while fresh[best] < count:
            bound[best] = near[best] + weight * _new_cover(alike[best], covered)
            fresh[best] = count
            best = np.argmax(bound)
        chosen[count] = best
        bound[best] = -np.inf
        covered = np.maximum(covered, alike[best])
    return chosen
