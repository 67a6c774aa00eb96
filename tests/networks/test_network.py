from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from claim.errors import InputError
from claim.networks import Dropped, Network, load

TRIANGLE = ([0, 1, 2], [1, 2, 0])


def test_an_undirected_edge_stands_in_both_rows() -> None:
    network = Network.from_edges([0, 0], [2, 1])
    assert (network.n, network.m, network.directed) == (3, 2, False)
    assert network.contacts_of(0).tolist() == [1, 2]
    assert network.contacts_of(2).tolist() == [0]
    assert network.degrees.tolist() == [2, 1, 1]


def test_a_directed_edge_stands_in_the_row_of_its_source() -> None:
    network = Network.from_edges([0, 1], [1, 0], directed=True)
    assert network.m == 2
    assert network.contacts_of(0).tolist() == [1]
    assert Network.from_edges([1], [0], directed=True).contacts_of(0).tolist() == []


def test_self_loops_and_repeated_edges_are_dropped_and_counted() -> None:
    network = Network.from_edges([0, 1, 1, 2], [1, 0, 1, 2])
    assert (network.n, network.m) == (3, 1)
    assert network.dropped == Dropped(self_loops=2, duplicates=1)
    assert str(network.dropped) == "dropped 2 self-loops and 1 duplicate edge"
    assert not Dropped()
    assert str(Dropped()) == "nothing dropped"


def test_the_first_probability_of_a_repeated_edge_is_kept() -> None:
    network = Network.from_edges([0, 1, 1], [1, 0, 2], probabilities=[0.25, 0.75, 0.5])
    assert network.edges()[2].tolist() == [0.25, 0.5]  # type: ignore[union-attr]
    assert network.probabilities.tolist() == [0.25, 0.25, 0.5, 0.5]  # type: ignore[union-attr]


def test_people_without_contacts_exist_if_said_so() -> None:
    assert Network.from_edges([], [], n=3).degrees.tolist() == [0, 0, 0]
    assert Network.from_edges([0], [1], labels=["a", "b", "c"]).n == 3


def test_arrays_cannot_be_written() -> None:
    network = Network.from_edges(*TRIANGLE, probabilities=[0.1, 0.2, 0.3])
    for array in (network.offsets, network.contacts, network.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1  # type: ignore[index]
    with pytest.raises(AttributeError):
        network.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"sources": [0, 1], "targets": [1]}, "as many sources as targets"),
        ({"sources": [-1], "targets": [1]}, "start at 0"),
        ({"sources": [0.5], "targets": [1.5]}, "integer indices"),
        ({"sources": [[0]], "targets": [[1]]}, "flat arrays"),
        ({"sources": [0], "targets": [5], "n": 2}, "only 2 people"),
        ({"sources": [0], "targets": [1], "labels": ["a", "a"]}, "same label"),
        ({"sources": [0], "targets": [1], "labels": ["a", "b"], "n": 3}, "2 labels for 3 people"),
        ({"sources": [0], "targets": [1], "probabilities": [1.5]}, "probability must be between 0 and 1"),
        ({"sources": [0], "targets": [1], "probabilities": [float("nan")]}, "probability must be between 0 and 1"),
        ({"sources": [0], "targets": [1], "probabilities": [0.1, 0.2]}, "2 probabilities for 1 edges"),
    ],
)
def test_what_cannot_be_a_network_is_refused(arguments: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        Network.from_edges(**arguments)  # type: ignore[arg-type]


def test_people_are_found_by_their_label() -> None:
    numbers = Network.from_edges([0], [1], labels=[7, 8])
    names = Network.from_edges([0], [1], labels=["7", "ann"], name="village")
    assert [numbers.index_of(7), numbers.index_of("8")] == [0, 1]
    assert [names.index_of(7), names.index_of("ann")] == [0, 1]
    with pytest.raises(InputError, match=r"there is no person 'bob' in village"):
        names.index_of("bob")


def test_the_checksum_tells_structure_apart_and_nothing_else() -> None:
    base = Network.from_edges(*TRIANGLE, name="a")
    same = Network.from_edges([2, 1, 0, 0], [1, 0, 2, 1], name="b")
    others = [
        Network.from_edges([0, 1], [1, 2]),
        Network.from_edges(*TRIANGLE, directed=True),
        Network.from_edges(*TRIANGLE, labels=["a", "b", "c"]),
        Network.from_edges(*TRIANGLE, n=4),
        Network.from_edges(*TRIANGLE, probabilities=[0.1, 0.1, 0.1]),
    ]
    assert base.checksum == same.checksum
    assert len({network.checksum for network in [base, *others]}) == 6


def test_repr_is_short() -> None:
    assert repr(Network.from_edges([0], [1], name="pair")) == "Network('pair', undirected, 2 people, 1 edges)"


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.floats(0, 1)), max_size=30),
    st.booleans(),
    st.booleans(),
)
def test_networkx_and_back(edges: list[tuple[int, int, float]], directed: bool, weighted: bool) -> None:
    network = Network.from_edges(
        np.array([u for u, _, _ in edges], dtype=np.int64),
        np.array([v for _, v, _ in edges], dtype=np.int64),
        n=9,
        directed=directed,
        probabilities=[p for _, _, p in edges] if weighted and edges else None,
    )
    back = Network.from_networkx(network.to_networkx())
    if network.m:
        assert back.checksum == network.checksum
    assert (back.n, back.m, back.directed) == (network.n, network.m, network.directed)


def test_networkx_edges_all_have_a_probability_or_none() -> None:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edge("a", "b", probability=0.5)
    graph.add_edge("b", "c")
    with pytest.raises(InputError, match="1 of 2 edges have no probability"):
        Network.from_networkx(graph)


@dataclass
class Data:
    """What claim reads of PyG data."""

    edge_index: object
    num_nodes: int | None


def test_a_network_of_anything_that_stands_for_one(tmp_path: Path) -> None:
    path = tmp_path / "ties.csv"
    path.write_text("0,1\n1,2\n")
    expected = Network.from_edges([0, 1], [1, 2])
    pairs = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    matrix = scipy.sparse.coo_matrix((np.ones(4), (pairs[0], pairs[1])), shape=(3, 3))
    matrices = [matrix, matrix.tocsr(), scipy.sparse.csr_array(matrix)]
    things = [expected, str(path), path, nx.path_graph(3), *matrices, Data(pairs, 3), Data(pairs, None)]
    for thing in things:
        assert load(thing) == expected
        assert not load(thing).dropped
    assert load("zone2").name == "zone2"
    assert load(expected) is Network.of(expected) is expected


def test_a_tensor_of_edges() -> None:
    torch = pytest.importorskip("torch")
    assert Network.of(Data(torch.tensor([[0, 1], [1, 0]]), 5)).n == 5


def test_directions_labels_and_probabilities_of_other_libraries() -> None:
    one_way = Network.of(scipy.sparse.csr_matrix(np.array([[0, 1], [0, 0]])))
    assert (one_way.directed, one_way.m) == (True, 1)
    assert Network.of(Data(np.array([[0], [1]]), 2)).directed
    assert Network.of(nx.DiGraph([(0, 1)])).directed
    for name in ("p", "probability", "Prob"):
        graph = nx.Graph()
        graph.add_edge("ann", "bob", **{name: 0.25})
        network = Network.of(graph)
        assert network.labels == ("ann", "bob")
        assert network.edges()[2].tolist() == [0.25]  # type: ignore[union-attr]
    graph.add_edge("bob", "cleo")
    with pytest.raises(InputError, match="1 of 2 edges have no probability"):
        Network.of(graph)


@pytest.mark.parametrize(
    ("thing", "problem"),
    [
        ([1, 2], "expected a network name, path, Network, networkx graph, scipy sparse matrix or PyG data, got list"),
        (None, "got NoneType"),
        (scipy.sparse.csr_matrix((2, 3)), "a matrix of a network is square, got 2 rows and 3 columns"),
        (Data(np.zeros((3, 4), dtype=int), 3), r"edge_index must have the shape \[2, E\], got \[3, 4\]"),
        (Data(np.array([[0], [7]]), 3), "only 3 people"),
    ],
)
def test_what_stands_for_no_network(thing: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Network.of(thing)
    with pytest.raises(InputError, match=problem):
        load(thing)


def test_people_without_contacts_can_be_added():
    pair = Network.from_edges([0], [1], labels=["a", "b"], name="pair")
    grown = pair.with_people(["b", "c", "c", 7])
    assert (grown.labels, grown.name) == (("a", "b", "c", 7), "pair")
    assert grown.degrees.tolist() == [1, 1, 0, 0]
    assert pair.with_people(["a"]) is pair
    assert Network.from_edges([], []).with_people([1]).n == 1
    with pytest.raises(InputError, match="people must be a list of labels, got 'c'"):
        pair.with_people("c")
