import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning_cases import graphs

from claim.learning import netmf as module
from claim.learning.netmf import leading_eigenpairs, netmf
from claim.learning.observation import class_rows

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


# Many rows: narrow products and Lanczos instead of dense matrices


def many_rows(seed: int, surveyed: int = 25, classes: int = 270, loose: int = 4) -> tuple[Floats, Counts, Counts]:
    """Rows as a long study finds them, some edges between people nobody surveyed, somebody without contacts."""
    rng = np.random.default_rng(seed)
    rows = surveyed + classes
    upper = np.zeros((rows, rows))
    upper[:surveyed, :surveyed] = np.triu(rng.random((surveyed, surveyed)) < 0.1, 1)
    popular = rng.dirichlet(np.full(surveyed, 0.5))
    for row in range(surveyed, rows - 1):
        upper[rng.choice(surveyed, rng.integers(1, 4), replace=False, p=0.9 * popular + 0.1 / surveyed), row] = 1
    pairs = rng.choice(np.arange(surveyed, rows - 1), (loose, 2), replace=False)
    upper[pairs[:, 0], pairs[:, 1]] = 1
    multiplicity = np.ones(rows, dtype=np.int64)
    multiplicity[surveyed:] = rng.integers(1, 5, classes)
    adjacency = np.maximum(upper, upper.T)
    cover = np.arange(rows) < surveyed
    cover[pairs.ravel()] = True
    return adjacency, multiplicity, cover


def dense_netmf(monkeypatch: pytest.MonkeyPatch, adjacency: Floats, multiplicity: Counts, dimensions: int) -> Floats:
    with monkeypatch.context() as patched:
        patched.setattr(module, "MANY_ROWS", len(adjacency))
        return netmf(adjacency, multiplicity, dimensions)


def weighted_target(adjacency: Floats, multiplicity: Counts) -> Floats:
    count = multiplicity.astype(float)
    root = np.sqrt(count)
    return root[:, None] * module.shifted_mutual_information(adjacency, count, WINDOW, 1) * root


@pytest.mark.parametrize("dimensions", [1, 2, 8])
@pytest.mark.parametrize("seed", range(4))
def test_many_rows_have_the_features_of_the_dense_form(
    seed: int, dimensions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    adjacency, multiplicity, cover = many_rows(seed)
    assert leading_eigenpairs(weighted_target(adjacency, multiplicity), 2) is not None  # not dense by the back door
    features = netmf(adjacency, multiplicity, dimensions, cover=cover)
    np.testing.assert_allclose(features, dense_netmf(monkeypatch, adjacency, multiplicity, dimensions), atol=1e-6)
    assert features.any(axis=0).all()
    assert not features[-1].any()


@pytest.mark.parametrize("window", [1, 2, 5])
def test_a_cover_gives_the_same_matrix(window: int) -> None:
    adjacency, multiplicity, cover = many_rows(5)
    count = multiplicity.astype(float)
    narrow = module.covered_mutual_information(adjacency, cover, count, window, 3)
    np.testing.assert_allclose(narrow, module.shifted_mutual_information(adjacency, count, window, 3), atol=1e-12)


def test_the_order_of_many_rows_does_not_matter() -> None:
    adjacency, multiplicity, cover = many_rows(1)
    order = np.random.default_rng(0).permutation(len(multiplicity))
    permuted = netmf(adjacency[np.ix_(order, order)], multiplicity[order], 2, cover=cover[order])
    np.testing.assert_allclose(permuted, netmf(adjacency, multiplicity, 2, cover=cover)[order], atol=1e-6)


def mirrored(bridges: int) -> tuple[Floats, Counts, Counts]:
    """Two equal halves of many rows each, and people whom the first surveyed person of either half named."""
    half, count, cover = many_rows(2, surveyed=12, classes=140)
    size = len(half)
    adjacency = np.zeros((2 * size + bridges, 2 * size + bridges))
    adjacency[:size, :size] = adjacency[size : 2 * size, size : 2 * size] = half
    for bridge in range(2 * size, 2 * size + bridges):
        for end in (0, size):
            adjacency[bridge, end] = adjacency[end, bridge] = 1
    return (
        adjacency,
        np.concatenate([count, count, np.ones(bridges, dtype=np.int64)]),
        np.concatenate([cover, cover, np.zeros(bridges, dtype=bool)]),
    )


def test_equal_halves_of_many_rows_get_an_axis_each(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency, multiplicity, cover = mirrored(bridges=0)
    assert leading_eigenpairs(weighted_target(adjacency, multiplicity), 2) is None
    features = netmf(adjacency, multiplicity, 2, cover=cover)
    np.testing.assert_allclose(features, dense_netmf(monkeypatch, adjacency, multiplicity, 2), atol=1e-6)
    half = len(features) // 2
    np.testing.assert_allclose(features[:half, 0], features[half:, 1], atol=1e-6)
    assert not features[half:, 0].any()


def test_an_axis_between_mirror_images_of_many_rows_is_found_and_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency, multiplicity, cover = mirrored(bridges=8)
    assert leading_eigenpairs(weighted_target(adjacency, multiplicity), 4) is not None
    dense = dense_netmf(monkeypatch, adjacency, multiplicity, 4)
    cubes = multiplicity @ dense.astype(float) ** 3
    assert (np.abs(cubes) < 1e-4).any()  # one of the axes tells the halves apart
    np.testing.assert_allclose(netmf(adjacency, multiplicity, 4, cover=cover), dense, atol=1e-6)


def test_eigenvalues_of_equal_size_are_left_to_the_dense_form() -> None:
    rng = np.random.default_rng(0)
    axes, _ = np.linalg.qr(rng.standard_normal((300, 300)))
    for second, third, clear in ((3.0, 2.0, False), (-3.0, 2.0, False), (-2.9, 2.9, False), (-2.9, 2.0, True)):
        values = np.concatenate([[3.0, second, third, 1.5], rng.uniform(-0.05, 0.05, 296)])
        found = leading_eigenpairs((axes * values) @ axes.T, 2)
        assert (found is not None) == clear
    assert found is not None
    np.testing.assert_allclose(found[0], [3.0, -2.9], atol=1e-12)
    np.testing.assert_allclose(np.abs(found[1].T @ axes[:, :2]), np.eye(2), atol=1e-9)


def test_matrices_of_few_axes_or_none() -> None:
    axes = np.random.default_rng(0).standard_normal((300, 4))
    found = leading_eigenpairs(axes @ axes.T, 2)
    assert found is not None
    np.testing.assert_allclose(found[0], np.linalg.eigvalsh(axes @ axes.T)[[-1, -2]])
    assert leading_eigenpairs(axes[:, :1] @ axes[:, :1].T, 2) is None
    assert leading_eigenpairs(np.zeros((300, 300)), 2) is None
    alone = netmf(np.zeros((300, 300)), np.ones(300), 2, cover=np.zeros(300, dtype=bool))
    assert not alone.any()


def test_the_cover_of_rows_has_an_end_of_every_edge() -> None:
    for seen in graphs():
        rows = class_rows(seen)
        outside = ~rows.cover
        assert not rows.adjacency()[np.ix_(outside, outside)].any()
        assert rows.cover[rows.surveyed].all()
    assert not class_rows(graphs(2)[1]).cover.all()
