"""What the published experiments found on their networks is found again."""

import gzip
import json
from pathlib import Path

import pytest
from evaluation_cases import PUBLISHED_OPT, PUBLISHED_RANDOM

from claim.evaluation import compare
from claim.evaluation.compare import optimum
from claim.evaluation.runs import StudySettings
from claim.networks import load

RECORD = Path(__file__).parents[2] / "results" / "record" / "open-25.json.gz"


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


def test_the_first_scout_reaches_what_it_did_in_the_first_record(data):
    """Its choices are those of the policy that was called scout in version 0.1."""
    (row,) = compare("kcs", "scout:1", "greedy", runs=5, seed=10, data_dir=str(data)).rows
    assert list(row.values) == [42.885, 73.5574, 25.5902, 64.2293, 43.1171]


def test_the_default_of_open_studies_reaches_what_the_record_says(data):
    rows = json.loads(gzip.decompress(RECORD.read_bytes()))["rows"]
    (recorded,) = (row for row in rows if (row["network"], row["policy"]) == ("kcs", "mix:best"))
    study = {"entry": "open", "interviews": 25, "runs": 3, "seed": 10, "data_dir": str(data)}
    (row,) = compare("kcs", "mix:best", "foresight", **study).rows
    assert list(row.values) == pytest.approx(recorded["values"][:3])
