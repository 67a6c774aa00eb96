"""Paired statistics against independent computations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from claim.evaluation import statistics
from claim.evaluation.statistics import bootstrap_interval, holm, paired_test, standard_error, t_test_p_value


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(("shift", "runs"), [(0.0, 30), (0.5, 30), (3.0, 100), (0.1, 2)])
def test_the_paired_t_test_equals_scipy(shift, runs):
    base = np.random.default_rng(runs).normal(10, 3, runs)
    other = base + np.random.default_rng(1).normal(shift, 1, runs)
    test = paired_test(base, other, rng())
    assert test.p_value == pytest.approx(stats.ttest_rel(base, other).pvalue, rel=1e-9)
    assert test.difference == pytest.approx(base.mean() - other.mean())
    assert test.ci95[0] <= test.difference <= test.ci95[1]


def test_pairing_finds_what_unpaired_values_hide():
    base = np.random.default_rng(0).normal(50, 20, 60)
    better = base + np.random.default_rng(1).normal(1, 1, 60)
    assert paired_test(better, base, rng()).p_value < 1e-6
    assert stats.ttest_ind(better, base).pvalue > 0.5


def test_standard_error_equals_scipy_and_does_not_exist_for_one_value():
    values = np.random.default_rng(0).normal(size=17)
    assert standard_error(values) == pytest.approx(stats.sem(values))
    assert math.isnan(standard_error([3.0]))


def test_p_values_where_there_is_no_variance():
    assert t_test_p_value(np.zeros(5)) == 1.0
    assert t_test_p_value(np.full(5, 2.0)) == 0.0
    assert math.isnan(t_test_p_value(np.array([2.0])))


def test_one_run_has_a_difference_and_nothing_else():
    test = paired_test([5.0], [3.0], rng())
    assert (test.difference, test.ci95) == (2.0, (2.0, 2.0))
    assert math.isnan(test.p_value)


def test_bootstrap_intervals_cover_the_truth_about_as_often_as_they_say():
    draws = np.random.default_rng(12)
    covered = 0
    for _ in range(400):
        low, high = bootstrap_interval(draws.exponential(1.0, 60), draws)
        covered += low <= 1.0 <= high
    assert 0.89 < covered / 400 < 0.98


def test_a_bootstrap_interval_is_as_wide_as_the_normal_one():
    values = np.random.default_rng(0).normal(0, 5, 400)
    low, high = bootstrap_interval(values, rng())
    assert high - low == pytest.approx(2 * 1.96 * standard_error(values), rel=0.06)


def test_many_runs_are_resampled_in_parts_with_the_same_result_in_kind(monkeypatch):
    values = np.random.default_rng(0).normal(0, 5, 400)
    whole = bootstrap_interval(values, rng())
    monkeypatch.setattr(statistics, "MOST_PICKED", 1000)
    assert bootstrap_interval(values, rng()) == pytest.approx(whole, abs=0.1)


def test_holm_by_hand():
    # Sorted: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.5 x 1; never less than the one before.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_ignores_tests_that_could_not_be_made():
    adjusted = holm([0.01, float("nan"), 0.04])
    assert adjusted[0] == pytest.approx(0.02)
    assert math.isnan(adjusted[1])
    assert adjusted[2] == pytest.approx(0.04)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_only_raises_p_values_keeps_their_order_and_is_milder_than_bonferroni(p_values):
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= min(1.0, p * len(p_values)) + 1e-12
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(adjusted)[order]) >= 0)
