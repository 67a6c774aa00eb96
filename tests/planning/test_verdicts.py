"""Intervals of means, and what they decide."""

import numpy as np
import pytest

from claim.planning.verdicts import MeanInterval


def test_the_interval_is_that_of_a_t_test():
    found = MeanInterval.of([1.0, 2.0, 3.0, 4.0])
    assert (found.mean, found.stderr) == (2.5, pytest.approx(0.6455, abs=1e-4))
    assert found.low == pytest.approx(2.5 - 3.182 * 0.6455, abs=1e-3)  # t of 3 degrees of freedom
    assert found.high == pytest.approx(2.5 + 3.182 * 0.6455, abs=1e-3)


def test_several_intervals_hold_all_at_once_in_95_percent_of_cases():
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(400):
        several = [MeanInterval.of(rng.normal(size=15), tests=5) for _ in range(5)]
        wrong += any(not each.low <= 0 <= each.high for each in several)
    assert 4 <= wrong <= 36  # 20 expected


def test_a_verdict_is_clear_where_the_interval_leaves_no_doubt():
    found = MeanInterval(0.5, 0.1, 0.25)
    assert [found.verdict(worth) for worth in (0.2, 0.25, 0.3, 0.8)] == [
        "worth it", "worth it", "not clear", "not worth it",
    ]  # fmt: skip


def test_the_studies_needed_shrink_the_interval_to_the_difference():
    found = MeanInterval(0.5, 0.1, 0.25)
    assert found.studies_needed(0.4, 100) == 630  # 100 (0.25 / 0.1)², two digits, rounded up
    assert found.studies_needed(0.1, 100) is None  # clear already
    assert found.studies_needed(0.5001, 100) is None  # not in any number that can be run
    assert found.studies_needed(0.5, 100) is None
