from itertools import pairwise

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import rankdata

from claim.discovery import Simulation
from claim.errors import InputError
from claim.learning.deepwalk import DeepWalk, VectorArray, huffman_tree, random_walks
from claim.networks import Network

QUICK = DeepWalk(dimensions=16, walks=10)


def discovered_network(seed: int, surveys: int = 25) -> Network:
    """What surveys show of a clustered network with hubs."""
    hidden = Network.from_networkx(nx.powerlaw_cluster_graph(600, 3, 0.5, seed=seed))
    rng = np.random.default_rng(seed)
    study = Simulation(hidden, rng.choice(hidden.n, 5, replace=False), rng)
    for _ in range(surveys):
        study.ask(int(rng.choice(study.discovered.frontier)))
    return study.discovered.as_network()


def neighbour_score(network: Network, vectors: npt.NDArray[np.float32], cosine: bool) -> float:
    """The probability that a contact pair is more similar than a pair without contact (area under the curve)."""
    vectors = vectors.astype(float)
    if cosine:
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    one, other = np.triu_indices(network.n, 1)
    contact = np.zeros((network.n, network.n), dtype=bool)
    contact[network.edges()[:2]] = True
    labels = contact[one, other]
    ranks = rankdata((vectors @ vectors.T)[one, other])
    pairs, rest = labels.sum(), (~labels).sum()
    return float((ranks[labels].sum() - pairs * (pairs + 1) / 2) / (pairs * rest))


def gensim_vectors(network: Network, settings: DeepWalk) -> VectorArray:
    """The referee's vectors, from the same kind of walks."""
    models = pytest.importorskip("gensim.models")
    walks = random_walks(network.offsets, network.contacts, 99, settings.walks, settings.walk_length)
    model = models.Word2Vec(
        walks.tolist(),
        vector_size=settings.dimensions,
        window=settings.window,
        epochs=settings.epochs,
        alpha=settings.learning_rate,
        min_count=0,
        sample=0,
        sg=1,
        hs=1,
        negative=0,
        workers=1,
        seed=1,
    )
    return np.stack([model.wv[person] for person in range(network.n)])


def test_walks_go_along_contacts_from_everybody() -> None:
    network = discovered_network(1)
    walks = random_walks(network.offsets, network.contacts, 7, 3, 8)
    assert walks.shape == (3 * network.n, 8)
    for begin in range(0, len(walks), network.n):
        assert sorted(walks[begin : begin + network.n, 0].tolist()) == list(range(network.n))
    contacts = [set(network.contacts_of(person).tolist()) for person in range(network.n)]
    assert all(after in contacts[before] for walk in walks.tolist() for before, after in pairwise(walk))


def test_steps_are_uniform_among_contacts() -> None:
    star = Network.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    second = random_walks(star.offsets, star.contacts, 3, 4000, 2)
    leaves = np.bincount(second[second[:, 0] == 0, 1], minlength=5)[1:]
    assert leaves.sum() == 4000
    assert (np.abs(leaves - 1000) < 5 * np.sqrt(750)).all()


def test_huffman_tree_is_a_prefix_code_of_least_length() -> None:
    frequency = [5, 9, 12, 13, 16, 45]
    nodes, labels, depths = huffman_tree(frequency)
    assert np.dot(frequency, depths) == 224  # 4 4 3 3 3 1
    codes = [tuple(labels[i, : depths[i]]) for i in range(6)]
    assert not any(a != b and b[: len(a)] == a for a in codes for b in codes)
    assert sum(2.0**-depth for depth in depths) == 1
    assert len({node for i in range(6) for node in nodes[i, : depths[i]]}) == 5
    assert len({nodes[i, 0] for i in range(6)}) == 1  # all ways begin at the root


def test_probabilities_of_the_tree_add_up_to_one() -> None:
    rng = np.random.default_rng(0)
    nodes, labels, depths = huffman_tree(rng.integers(0, 50, 17))
    scores = 1 / (1 + np.exp(-rng.normal(size=16)))
    total = 0.0
    for person in range(17):
        way = slice(depths[person])
        total += np.prod(np.where(labels[person, way] == 1, scores[nodes[person, way]], 1 - scores[nodes[person, way]]))
    assert total == pytest.approx(1)


def test_one_seed_one_result() -> None:
    network = discovered_network(2)
    first, second = (QUICK.embed(network, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.shape == (network.n, 16)
    assert first.dtype == np.float32
    assert not np.array_equal(first, QUICK.embed(network, np.random.default_rng(6)))


def test_people_without_contacts_get_zeros() -> None:
    network = Network.from_edges([0], [2], n=4)
    vectors = QUICK.embed(network, np.random.default_rng(0))
    assert vectors.any(axis=1).tolist() == [True, False, True, False]
    assert not QUICK.embed(Network.from_edges([], [], n=3), np.random.default_rng(0)).any()
    assert QUICK.embed(Network.from_edges([], []), np.random.default_rng(0)).shape == (0, 16)


@pytest.mark.parametrize("seed", [1, 2])
def test_neighbours_are_predicted_as_well_as_by_gensim(seed: int) -> None:
    network, settings = discovered_network(seed), DeepWalk()
    assert 100 <= network.n <= 300
    ours, theirs = settings.embed(network, np.random.default_rng(seed)), gensim_vectors(network, settings)
    for cosine in (True, False):
        assert neighbour_score(network, ours, cosine) > neighbour_score(network, theirs, cosine) - 0.02
    assert neighbour_score(network, ours, cosine=True) > 0.7


def test_settings_have_to_make_sense() -> None:
    with pytest.raises(InputError, match="at least 1"):
        DeepWalk(walks=0)
