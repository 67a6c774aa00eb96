"""DeepWalk (Perozzi et al., 2014): people near each other on random walks get similar vectors.

Walks are sentences and people are words; skip-gram (Mikolov et al., 2013) learns vectors that predict who is near. See
:mod:`claim.learning.netmf` for what this approaches with endless walks.
"""

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claim.errors import InputError
from claim.learning.skipgram_kernels import random_walks, train_skipgram
from claim.networks import Network
from claim.networks.network import IntArray
from claim.randomness import draw_seed

VectorArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class DeepWalk:
    """Settings of the walks and of the training; one thread, so a generator's state fixes the result."""

    dimensions: int = 60
    walk_length: int = 10
    walks: int = 80  # from each person
    window: int = 5
    epochs: int = 1
    learning_rate: float = 0.025
    last_learning_rate: float = 0.0001

    def __post_init__(self) -> None:
        if min(self.dimensions, self.walk_length, self.walks, self.window, self.epochs) < 1:
            raise InputError("all counts of DeepWalk must be at least 1")

    def embed(self, network: Network, rng: np.random.Generator, start: VectorArray | None = None) -> VectorArray:
        """A vector for each person; zeros for people without contacts.

        ``start`` holds earlier vectors of people ``0 .. len(start) - 1``, for a network that has grown since: training
        goes on from there.
        """
        inward = self._first_vectors(network, rng, start)
        outward = np.zeros_like(inward)
        steps = random_walks(network.offsets, network.contacts, draw_seed(rng), self.walks, self.walk_length)
        if len(steps):
            train_skipgram(
                steps,
                inward,
                outward,
                huffman_tree(np.bincount(steps.ravel(), minlength=network.n)),
                self.window,
                self.epochs,
                self.learning_rate,
                self.last_learning_rate,
                draw_seed(rng),
            )
        inward[network.degrees == 0] = 0
        return inward

    def _first_vectors(self, network: Network, rng: np.random.Generator, start: VectorArray | None) -> VectorArray:
        """Small random vectors; people with earlier vectors keep them, and new people start near their contacts."""
        vectors = (rng.random((network.n, self.dimensions), dtype=np.float32) - 0.5) / np.float32(self.dimensions)
        if start is None:
            return vectors
        known = len(start)
        if known > network.n or start.shape[1:] != (self.dimensions,):
            raise InputError(
                f"earlier vectors of shape {start.shape} do not fit {network.n} x {self.dimensions} new ones"
            )
        for person in range(known, network.n):
            contacts = network.contacts_of(person)
            earlier = contacts[contacts < known]
            if len(earlier):
                vectors[person] += start[earlier].mean(axis=0)
        vectors[:known] = start
        return vectors


def huffman_tree(frequency: npt.ArrayLike) -> tuple[IntArray, VectorArray, IntArray]:
    """Each person's way from the root of a tree in which frequent people are near the root.

    Returns the inner nodes passed (one row a person), the label of the branch taken at each (1 or 0), and how many
    there are. A person's probability is a product over this way: hierarchical softmax (Morin and Bengio, 2005).
    """
    counts = np.asarray(frequency).tolist()
    n = len(counts)
    heap = [(count, node) for node, count in enumerate(counts)]
    heapq.heapify(heap)
    parent, label = [0] * (2 * n - 1), [0.0] * (2 * n - 1)
    for node in range(n, 2 * n - 1):
        (least, left), (less, right) = heapq.heappop(heap), heapq.heappop(heap)
        parent[left] = parent[right] = node
        label[left] = 1.0
        heapq.heappush(heap, (least + less, node))
    return _ways(n, parent, label)


def _ways(n: int, parent: list[int], label: list[float]) -> tuple[IntArray, VectorArray, IntArray]:
    """The ways from the root, node ``2 n - 2``, to people ``0 .. n - 1``; inner node ``n + i`` has vector ``i``."""
    ways: list[list[tuple[int, float]]] = [[] for _ in parent]
    for node in range(2 * n - 3, -1, -1):  # parents come first
        ways[node] = [*ways[parent[node]], (parent[node] - n, label[node])]
    depths = np.array([len(way) for way in ways[:n]], dtype=np.int32)
    nodes = np.zeros((n, depths.max(initial=0)), dtype=np.int32)
    labels = np.zeros(nodes.shape, dtype=np.float32)
    for person, way in enumerate(ways[:n]):
        nodes[person, : len(way)] = [node for node, _ in way]
        labels[person, : len(way)] = [bit for _, bit in way]
    return nodes, labels, depths
