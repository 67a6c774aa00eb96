"""Paired statistics against independent computations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from claim.evaluation import statistics
from claim.evaluation.statistics import (
    bootstrap_interval,
    hierarchical_test,
    holm,
    paired_test,
    standard_error,
    t_test_p_value,
)


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


# Trained methods ------------------------------------------------------------------------------------------------------


def trained(draws, trainings, runs, training_deviation=1.0, run_deviation=3.0):
    """Values (trainings, runs) with true mean 0: trainings differ, start sets differ, and single runs are noisy."""
    between = draws.normal(0, training_deviation, (trainings, 1)) + draws.normal(0, run_deviation, runs)
    return between + draws.normal(0, 1, (trainings, runs))


def share_covered(simulated, test=hierarchical_test):
    """The share of intervals that contain the true difference 0."""
    covered = 0
    for a, b in simulated:
        low, high = test(a, b, rng()).ci95
        covered += low <= 0 <= high
    return covered / len(simulated)


def paired_over_means(a, b, draws):
    """The paired test of the means over trainings, which ignores that trainings differ."""
    first, second = (np.atleast_2d(each).mean(axis=0) for each in (a, b))
    return paired_test(first, second, draws)


@pytest.mark.parametrize("trainings", [2, 3, 5])
def test_intervals_of_a_trained_method_cover_the_truth_and_those_without_trainings_do_not(trainings, monkeypatch):
    monkeypatch.setattr(statistics, "HIERARCHICAL_RESAMPLES", 2000)
    draws = np.random.default_rng(3)
    simulated = [(trained(draws, trainings, 60), draws.normal(0, 1, 60)) for _ in range(500)]
    assert 0.925 < share_covered(simulated) < 0.985
    assert share_covered(simulated, paired_over_means) < 0.85


@pytest.mark.parametrize(("trainings", "at_most"), [((3, 3), 1.0), ((5, 8), 0.99)])
def test_the_trainings_of_both_methods_count(trainings, at_most, monkeypatch):
    """Two methods with three trainings each have wider intervals than they need, as in the Behrens-Fisher problem."""
    monkeypatch.setattr(statistics, "HIERARCHICAL_RESAMPLES", 2000)
    draws = np.random.default_rng(4)
    simulated = [tuple(trained(draws, each, 60) for each in trainings) for _ in range(500)]
    assert 0.93 < share_covered(simulated) <= at_most
    assert share_covered(simulated, paired_over_means) < 0.85


def test_equal_methods_are_rarely_called_different(monkeypatch):
    monkeypatch.setattr(statistics, "HIERARCHICAL_RESAMPLES", 4000)
    draws = np.random.default_rng(5)
    simulated = [(trained(draws, 3, 60), draws.normal(0, 1, 60)) for _ in range(500)]
    p_values = np.array([hierarchical_test(a, b, rng()).p_value for a, b in simulated])
    assert 0.01 < np.mean(p_values < 0.05) < 0.075
    assert np.mean(p_values < 0.01) < 0.02
    assert np.mean([paired_over_means(a, b, rng()).p_value < 0.01 for a, b in simulated]) > 0.05


def test_with_many_trainings_it_is_the_plain_crossed_bootstrap():
    draws = np.random.default_rng(6)
    a, b = trained(draws, 40, 50) + 1, trained(draws, 30, 50)
    resampled = []
    for _ in range(4000):
        starts = draws.integers(0, 50, 50)
        first, second = (each[draws.integers(0, len(each), len(each))][:, starts].mean() for each in (a, b))
        resampled.append(first - second)
    test = hierarchical_test(a, b, rng())
    assert test.difference == pytest.approx(a.mean() - b.mean())
    assert test.stderr == pytest.approx(np.std(resampled), rel=0.06)
    assert test.ci95 == pytest.approx(np.quantile(resampled, [0.025, 0.975]), abs=0.15 * test.stderr)


def test_without_noise_over_start_sets_it_is_the_t_test_of_the_trainings():
    means = np.array([1.0, 2.0, 2.5, 4.0, 3.2])
    test = hierarchical_test(np.repeat(means[:, None], 20, axis=1), np.zeros(20), rng())
    expected = stats.ttest_1samp(means, 0)
    assert test.ci95 == pytest.approx(expected.confidence_interval(), abs=0.15)
    assert test.p_value == pytest.approx(expected.pvalue, rel=0.4)
    assert test.stderr == pytest.approx(stats.sem(means))


def test_the_sides_of_a_comparison_can_be_changed():
    draws = np.random.default_rng(7)
    a, b = trained(draws, 4, 30) + 2, draws.normal(0, 1, 30)
    one, other = hierarchical_test(a, b, rng()), hierarchical_test(b, a, rng())
    assert other.difference == -one.difference
    assert other.ci95 == pytest.approx((-one.ci95[1], -one.ci95[0]))
    assert other.p_value == one.p_value
    assert hierarchical_test(a, b, rng()) == one


def test_one_training_has_a_difference_and_nothing_else_and_two_have_no_p_value():
    values = trained(np.random.default_rng(8), 2, 30)
    one = hierarchical_test(values[:1], np.zeros(30), rng())
    assert one.difference == values[0].mean()
    assert np.isnan([one.stderr, *one.ci95, one.p_value]).all()
    two = hierarchical_test(values, np.zeros(30), rng())
    assert two.ci95[0] < two.difference < two.ci95[1]
    assert math.isnan(two.p_value)
    assert hierarchical_test(np.vstack([values, values[:1]]), np.zeros(30), rng()).p_value > 0
    assert np.isnan(hierarchical_test(values[:, :1], np.zeros(1), rng()).ci95).all()


def test_the_standard_error_of_a_trained_method_has_both_levels():
    draws = np.random.default_rng(9)
    found = [trained(draws, 4, 25) for _ in range(2000)]
    truth = np.std([each.mean() for each in found])
    assert np.sqrt(np.mean([standard_error(each) ** 2 for each in found])) == pytest.approx(truth, rel=0.05)
    assert math.isnan(standard_error(found[0][:1]))


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
