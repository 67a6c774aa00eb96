"""DeepWalk features: random walks and skip-gram with hierarchical softmax (Perozzi et al., 2014)."""

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claim.cascades.kernels import GOLDEN as _GOLDEN
from claim.cascades.kernels import UNIT, inlined, kernel, mix
from claim.compiling import compiled
from claim.errors import check_whole
from claim.networks import Network
from claim.networks.network import IntArray
from claim.randomness import draw_seed

# mypy: disable-error-code="no-untyped-def,untyped-decorator"


# Dot products may be added up in any order, which lets the compiler take eight numbers at a time.
vector_kernel = compiled(nogil=True, fastmath={"reassoc", "contract", "nsz"})
_S11 = np.uint64(11)
LANES = 16  # vectors are padded to a multiple of as many numbers as a processor takes at a time


@inlined
def below(state, bound):
    """A whole number in ``0 .. bound - 1``; add ``_GOLDEN`` to the state for the next one."""
    return np.int64(float(mix(state) >> _S11) * UNIT * bound)


@kernel
def random_walks(offsets, contacts, seed, walks, length):
    """``walks`` walks from each person with contacts, in a new order each pass: (walks * people, length)."""
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


@inlined
def train_pair(vector, outward, nodes, labels, depth, rate, strengths, change):
    """Raise the probability of the path to a person nearby by one logistic step at each branch.

    The inner nodes of a path differ, so all products come first; ``strengths`` and ``change`` are scratch space.
    """
    for level in range(depth):
        inner = outward[nodes[level]]
        product = np.float32(0)
        for d in range(len(vector)):
            product += vector[d] * inner[d]
        strengths[level] = product
    one = np.float32(1)
    for level in range(depth):
        strengths[level] = rate * (labels[level] - one / (one + np.exp(-strengths[level])))
    change[:] = 0
    for level in range(depth):
        inner, strength = outward[nodes[level]], strengths[level]
        for d in range(len(vector)):
            change[d] += strength * inner[d]
            inner[d] += strength * vector[d]
    for d in range(len(vector)):
        vector[d] += change[d]


@vector_kernel
def train_skipgram(steps, inward, outward, tree, window, epochs, rate, last_rate, seed):
    """Stochastic gradient descent on all pairs of people near each other in a walk, with a falling learning rate.

    As in word2vec, each person looks at most a random 1 to ``window`` steps far, so near people count more.
    """
    nodes, labels, depths = tree
    state = mix(np.uint64(seed))
    strengths, change = np.empty(nodes.shape[1], dtype=np.float32), np.empty(inward.shape[1], dtype=np.float32)
    rows, length = steps.shape
    for turn in range(epochs * rows):
        row = turn % rows
        now = np.float32(rate + (last_rate - rate) * turn / (epochs * rows))
        for i in range(length):
            state += _GOLDEN
            reach = 1 + below(state, window)
            vector = inward[steps[row, i]]
            for j in range(max(i - reach, 0), min(i + reach + 1, length)):
                if j != i:
                    near = steps[row, j]
                    train_pair(vector, outward, nodes[near], labels[near], depths[near], now, strengths, change)


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
        counts = ("dimensions", "walk_length", "walks", "window", "epochs")
        check_whole(1, **{name: getattr(self, name) for name in counts})

    def embed(self, network: Network, rng: np.random.Generator) -> VectorArray:
        """A vector for each person; zeros for people without contacts."""
        first = (rng.random((network.n, self.dimensions), dtype=np.float32) - 0.5) / np.float32(self.dimensions)
        inward = np.pad(first, ((0, 0), (0, -self.dimensions % LANES)))  # zeros stay zeros
        outward = np.zeros_like(inward)
        steps = random_walks(network.offsets, network.contacts, draw_seed(rng), self.walks, self.walk_length)
        if len(steps):
            tree = huffman_tree(np.bincount(steps.ravel(), minlength=network.n))
            rates = self.learning_rate, self.last_learning_rate
            train_skipgram(steps, inward, outward, tree, self.window, self.epochs, *rates, draw_seed(rng))
        inward[network.degrees == 0] = 0
        return inward[:, : self.dimensions].copy()


def huffman_tree(frequency: npt.ArrayLike) -> tuple[IntArray, VectorArray, IntArray]:
    """Each person's path from the root of a tree in which frequent people are near the root.

    Returns the inner nodes passed (people, depth), the label of the branch taken at each (1 or 0), and how many there
    are. A person's probability is a product over this path: hierarchical softmax (Morin and Bengio, 2005).
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
    # From the root, node 2 n - 2, to people 0 .. n - 1; inner node n + i has vector i.
    paths: list[list[tuple[int, float]]] = [[] for _ in parent]
    for node in range(2 * n - 3, -1, -1):  # parents come first
        paths[node] = [*paths[parent[node]], (parent[node] - n, label[node])]
    depths = np.array([len(path) for path in paths[:n]], dtype=np.int32)
    nodes = np.zeros((n, depths.max(initial=0)), dtype=np.int32)
    labels = np.zeros(nodes.shape, dtype=np.float32)
    for person, path in enumerate(paths[:n]):
        nodes[person, : len(path)] = [node for node, _ in path]
        labels[person, : len(path)] = [bit for _, bit in path]
    return nodes, labels, depths
