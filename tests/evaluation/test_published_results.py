"""What the published experiments found on their networks is found again."""

import pytest
from evaluation_cases import PUBLISHED_OPT, PUBLISHED_RANDOM

from claim.evaluation import compare
from claim.evaluation.compare import optimum
from claim.evaluation.runs import StudySettings
from claim.networks import load


@pytest.mark.parametrize("name", PUBLISHED_OPT)
def test_opt_is_within_five_per_cent_of_the_published_value(data, name):
    assert optimum(load(name, data_dir=data), StudySettings(seed=10)) == pytest.approx(PUBLISHED_OPT[name], rel=0.05)


@pytest.mark.slow
def test_random_surveys_are_within_twelve_per_cent_of_the_published_values(data):
    result = compare(
        list(PUBLISHED_RANDOM), "random", protocol="paper", runs=300, starts="published", data_dir=str(data)
    )
    found = {row.network: row.mean for row in result.rows}
    assert found == pytest.approx(PUBLISHED_RANDOM, rel=0.12)
