from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim.errors import InputError
from claim.learning.curriculum import plain_greedy, proximity, select, similarity

Similarities = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


def instance(seed: int, size: int, whole: bool = False) -> tuple[Similarities, Floats]:
    """Random candidates; whole numbers make sums exact and ties frequent."""
    rng = np.random.default_rng(seed)
    if whole:
        return rng.integers(-2, 3, (size, size)).astype(np.float32), rng.integers(0, 4, size).astype(float)
    return similarity(rng.normal(size=(size, 8))), rng.uniform(0, 10, size)


def value(similarity: Similarities, proximity: Floats, weight: float, chosen: Sequence[int]) -> float:
    """F(A)."""
    picked = list(chosen)
    covered = similarity[picked].max(axis=0, initial=0.0)
    return float(proximity[picked].sum() + weight * covered.sum(dtype=np.float64))


def test_proximity_is_never_negative_and_falls_with_the_distance() -> None:
    near = proximity([30.0, 440.0, 20.0], [35.0, 40.0, 20.0])
    np.testing.assert_allclose(near, [395, 0, 400])
    assert proximity([], []).shape == (0,)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=20))
def test_c_is_large_enough_for_all_goals(goals: list[tuple[float, float]]) -> None:
    near = proximity([achieved for achieved, _ in goals], [desired for _, desired in goals])
    assert (near >= 0).all()


def test_similarities_are_dot_products_or_cosines_around_the_mean() -> None:
    vectors = np.array([[13.0, 4.0], [10.0, 2.0], [7.0, 0.0], [10.0, 2.0]])
    np.testing.assert_allclose(similarity(vectors)[0], [185, 138, 91, 138])
    np.testing.assert_allclose(
        similarity(vectors, normalised=True), [[1, 0, -1, 0], [0] * 4, [-1, 0, 1, 0], [0] * 4], atol=1e-6
    )
    assert vectors.tolist() == [[13.0, 4.0], [10.0, 2.0], [7.0, 0.0], [10.0, 2.0]]
    assert similarity(np.zeros((0, 3)), normalised=True).shape == (0, 0)


def test_by_hand() -> None:
    alike = np.array([[4, 3, 0], [3, 4, -1], [0, -1, 2]], dtype=np.float32)
    near = np.array([0.0, 0.5, 0.0])
    assert value(alike, near, 1.0, []) == 0
    assert value(alike, near, 1.0, [1]) == 0.5 + 3 + 4
    assert value(alike, near, 1.0, [1, 2]) == 0.5 + 3 + 4 + 2  # -1 counts as nothing
    # Alone, 0 gains 7 and 1 gains 7.5; then 0 would add 1 and 2 adds 2.
    assert select(alike, near, 1.0, 2).tolist() == [1, 2]
    assert select(alike, near, 0.0, 2).tolist() == [1, 0]


@pytest.mark.parametrize("weight", [0.0, 0.01, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_lazy_greedy_equals_plain_greedy(seed: int, weight: float) -> None:
    alike, near = instance(seed, 60)
    assert select(alike, near, weight, 25).tolist() == plain_greedy(alike, near, weight, 25)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(0, 30), st.sampled_from([0.0, 0.5, 1.0, 4.0]))
def test_ties_go_to_the_smallest_index(seed: int, size: int, k: int, weight: float) -> None:
    alike, near = instance(seed, size, whole=True)
    assert select(alike, near, weight, k).tolist() == plain_greedy(alike, near, weight, k)


def test_equal_candidates_are_taken_in_order() -> None:
    assert select(np.ones((5, 5)), np.ones(5), 1.0, 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_gains_are_differences_of_the_value_and_fall(seed: int) -> None:
    alike, near = instance(seed, 15)
    chosen = select(alike, near, 1.0, 15).tolist()
    values = [value(alike, near, 1.0, chosen[:count]) for count in range(16)]
    gains = np.diff(values)
    assert (gains >= -1e-4).all()  # monotone
    assert (np.diff(gains) <= 1e-4).all()  # submodular
    covered = np.maximum(alike[chosen[:5]].max(axis=0), 0)
    gain = near[chosen[5]] + np.maximum(alike[chosen[5]] - covered, 0).sum()
    assert gain == pytest.approx(gains[5], abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_greedy_is_within_the_bound_of_the_best_choice(seed: int) -> None:
    alike, near = instance(seed, 9)
    for k in (1, 2, 4):
        best = max(value(alike, near, 1.0, chosen) for chosen in combinations(range(9), k))
        assert value(alike, near, 1.0, select(alike, near, 1.0, k).tolist()) >= (1 - 1 / np.e) * best - 1e-6


def test_more_than_there_are_means_all() -> None:
    alike, near = instance(0, 6)
    assert sorted(select(alike, near, 1.0, 10).tolist()) == list(range(6))
    assert select(np.zeros((0, 0)), [], 1.0, 3).tolist() == []


def test_a_constant_in_the_proximity_changes_no_choice() -> None:
    alike, near = instance(4, 40)
    assert select(alike, near, 1.0, 15).tolist() == select(alike, near + 1000, 1.0, 15).tolist()


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_have_to_be_finite_and_not_negative(weight: float) -> None:
    with pytest.raises(InputError, match="finite"):
        select(np.ones((2, 2)), [1.0, 2.0], weight, 1)


def test_shapes_have_to_agree() -> None:
    with pytest.raises(InputError, match="3 x 3"):
        select(np.ones((2, 2)), [1.0, 2.0, 3.0], 1.0, 1)


def test_not_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        select(np.full((2, 2), np.nan), [1.0, 2.0], 1.0, 1)


def test_inputs_stay_untouched() -> None:
    alike, near = instance(1, 20)
    before = alike.copy(), near.copy()
    select(alike, near, 1.0, 10)
    np.testing.assert_array_equal(alike, before[0])
    np.testing.assert_array_equal(near, before[1])
