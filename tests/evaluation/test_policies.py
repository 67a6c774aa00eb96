"""Policies by name, and what their random numbers follow from."""

import shutil

from claim.evaluation import compare
from claim.evaluation.policies import policy_for
from claim.learning.naming import FOLDER
from claim.networks import load


def test_a_policy_file_plays_alike_wherever_it_lies(tmp_path):
    network = load("zone1")
    names = []
    for place in ("here", "there"):
        folder = tmp_path / place
        folder.mkdir()
        for ending in ("json", "safetensors"):
            shutil.copy(FOLDER / f"claim.zones.5.{ending}", folder / f"{place}.{ending}")
        names.append(str(folder / f"{place}.json"))
    here, there, shipped = (
        compare(network, name, runs=4, seed=3, workers=1).rows[0].values for name in (*names, "claim")
    )
    assert here == there == shipped


def test_policies_have_the_names_that_people_give_them():
    network = load("zone1")
    assert policy_for("claim", network, 5).name == "claim"
    assert policy_for("claim:zones", network, 5).name == "claim:zones"
    assert policy_for("random", network, 5).name == "random"
    assert policy_for(str(FOLDER / "claim.zones.5.json"), network, 5).name == "claim"
