import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim.learning.netmf import netmf

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
WINDOW = 5


def random_rows(rng: np.random.Generator, surveyed: int = 6, classes: int = 7) -> tuple[Floats, Counts]:
    """Surveyed people who may be contacts of each other, and classes of people who are contacts of surveyed ones."""
    rows = surveyed + classes
    upper = np.triu(rng.random((rows, rows)) < 0.35, 1)
    upper[surveyed:, surveyed:] = False
    multiplicity = np.ones(rows, dtype=np.int64)
    multiplicity[surveyed:] = rng.integers(1, 9, classes)
    return (upper | upper.T).astype(float), multiplicity


def expanded(adjacency: Floats, multiplicity: Counts) -> tuple[Floats, Counts]:
    """The adjacency between people, and the row of each."""
    row = np.repeat(np.arange(len(multiplicity)), multiplicity)
    return adjacency[np.ix_(row, row)], row


def matrix_of_people(people: Floats, window: int = WINDOW, negative: int = 1) -> Floats:
    """The formula of the paper of NetMF, word for word, for people who all have contacts."""
    degree = people.sum(axis=1)
    step = np.diag(1 / degree) @ people
    powers = sum(np.linalg.matrix_power(step, r) for r in range(1, window + 1))
    return np.log(np.maximum(1, degree.sum() / (negative * window) * powers @ np.diag(1 / degree)))


def connected_rows(seed: int) -> tuple[Floats, Counts]:
    """Random rows in which everybody has a contact and no two singular values are close."""
    rng = np.random.default_rng(seed)
    while True:
        adjacency, multiplicity = random_rows(rng)
        if adjacency.any(axis=1).all():
            people, _ = expanded(adjacency, multiplicity)
            sizes = np.linalg.svd(matrix_of_people(people), compute_uv=False)[: len(multiplicity)]
            sizes = sizes[sizes > 1e-6]
            if (-np.diff(sizes)).min() > 1e-3:
                return adjacency, multiplicity


@pytest.mark.parametrize("seed", range(8))
def test_rows_equal_people(seed: int) -> None:
    adjacency, multiplicity = connected_rows(seed)
    people, row = expanded(adjacency, multiplicity)
    features = netmf(adjacency, multiplicity).astype(float)[row]
    u, sizes, _ = np.linalg.svd(matrix_of_people(people))
    axes = (u * np.sqrt(sizes))[:, :60]
    np.testing.assert_allclose(features @ features.T, axes @ axes.T, atol=1e-5)
    kept = min((sizes > 1e-6).sum(), 60)
    for axis in range(kept):
        expected = axes[:, axis] * np.sign(axes[:, axis] @ features[:, axis])
        np.testing.assert_allclose(features[:, axis], expected, atol=1e-5)
    assert (features[:, kept:] == 0).all()


@pytest.mark.parametrize("seed", range(8))
def test_splitting_a_row_into_its_people_changes_nothing(seed: int) -> None:
    adjacency, multiplicity = random_rows(np.random.default_rng(seed))
    people, row = expanded(adjacency, multiplicity)
    by_people = netmf(people, np.ones(len(row)))
    np.testing.assert_allclose(netmf(adjacency, multiplicity)[row], by_people, atol=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_permuting_rows_permutes_features(seed: int) -> None:
    adjacency, multiplicity = connected_rows(seed)
    order = np.random.default_rng(seed).permutation(len(multiplicity))
    permuted = netmf(adjacency[np.ix_(order, order)], multiplicity[order])
    np.testing.assert_allclose(permuted, netmf(adjacency, multiplicity)[order], atol=1e-5)


def test_axes_are_ordered_and_signed() -> None:
    adjacency, multiplicity = connected_rows(3)
    features = netmf(adjacency, multiplicity).astype(float)
    lengths = multiplicity @ features**2  # the singular values
    assert (np.diff(lengths) <= 1e-5).all()
    cubes = multiplicity @ features**3
    assert (cubes[lengths > 0] > 0).all()


def test_window_and_negative_samples_are_those_of_the_formula() -> None:
    adjacency, multiplicity = connected_rows(1)
    people, row = expanded(adjacency, multiplicity)
    features = netmf(adjacency, multiplicity, window=2, negative=3).astype(float)[row]
    values, vectors = np.linalg.eigh(matrix_of_people(people, window=2, negative=3))
    np.testing.assert_allclose(features @ features.T, vectors * np.abs(values) @ vectors.T, atol=1e-5)


def test_two_people() -> None:
    # vol = 2 and (D^-1 A)^r alternates between A and I: over 5 steps 3 A + 2 I, so M = log max(1, 2/5 (3 A + 2 I)).
    features = netmf([[0, 1], [1, 0]], [1, 1], dimensions=2)
    off = np.log(6 / 5)
    np.testing.assert_allclose(features @ features.T, [[off, 0], [0, off]], atol=1e-6)  # |M| of [[0, off], [off, 0]]
    np.testing.assert_allclose(features, np.sqrt(off / 2) * np.array([[1, 1], [1, -1]]), atol=1e-6)


def test_equal_components_get_an_axis_each() -> None:
    star = np.array([[0.0, 1.0], [1.0, 0.0]])
    features = netmf(np.kron(np.eye(3), star), [1, 4] * 3)
    for component in range(3):
        rows = slice(2 * component, 2 * component + 2)
        np.testing.assert_allclose(features[rows, component], features[:2, 0], atol=1e-6)
        assert np.count_nonzero(features[:, component]) == 2


def test_people_without_contacts_and_missing_axes_are_zeros() -> None:
    adjacency = np.zeros((4, 4))
    adjacency[0, 1] = adjacency[1, 0] = 1
    features = netmf(adjacency, [1, 2, 3, 1], dimensions=10)
    assert features.shape == (4, 10)
    assert features.dtype == np.float32
    assert features[:2].any(axis=1).all()
    assert not features[2:].any()
    assert not features[:, 2:].any()
    assert not netmf(np.zeros((3, 3)), [1, 2, 3]).any()
    assert netmf(np.zeros((0, 0)), []).shape == (0, 60)


def test_only_the_leading_axes_are_kept() -> None:
    adjacency, multiplicity = connected_rows(2)
    np.testing.assert_array_equal(netmf(adjacency, multiplicity, 4), netmf(adjacency, multiplicity)[:, :4])


def test_inputs_stay_untouched() -> None:
    adjacency, multiplicity = connected_rows(0)
    before = adjacency.copy(), multiplicity.copy()
    first = netmf(adjacency, multiplicity)
    np.testing.assert_array_equal(netmf(adjacency, multiplicity), first)
    np.testing.assert_array_equal(adjacency, before[0])
    np.testing.assert_array_equal(multiplicity, before[1])


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 12), st.integers(1, 12))
def test_any_graph_has_finite_features(seed: int, surveyed: int, classes: int, dimensions: int) -> None:
    adjacency, multiplicity = random_rows(np.random.default_rng(seed), surveyed, classes)
    features = netmf(adjacency, multiplicity, dimensions)
    assert np.isfinite(features).all()
    assert not features[~adjacency.any(axis=1)].any()
