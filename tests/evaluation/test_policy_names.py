"""Policies by name, and what their random numbers follow from."""

import gzip
import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest
from evaluation_cases import contacts

from claim.errors import InputError
from claim.evaluation import compare
from claim.learning.policy import load_policy
from claim.networks import load
from claim.networks.catalogue import family_of
from claim.registry import FOLDER, find_policy, shipped
from claim.selection.foresight.model import shipped_path

ROOT = Path(__file__).parents[2]
MODEL_CARD = (ROOT / "docs" / "reference" / "model-card.md").read_text(encoding="utf-8")
RECORDS = {"5": "five-surveys.json.gz", "20": "twenty-surveys.json.gz"}
WEIGHTS = ("shaped-dqn.zones.20", "shaped-dqn.retweet.20", "shaped-dqn.all.5")


def test_a_policy_file_plays_alike_wherever_it_lies(tmp_path):
    network = load("zone1")
    names = []
    for place in ("here", "there"):
        folder = tmp_path / place
        folder.mkdir()
        for ending in ("json", "safetensors"):
            shutil.copy(FOLDER / f"claim.zones.5.{ending}", folder / f"{place}.{ending}")
        names.append(str(folder / f"{place}.json"))
    here, there, by_name = (
        compare(network, name, runs=4, seed=3, workers=1).rows[0].values for name in (*names, "claim")
    )
    assert here == there == by_name


def test_policies_have_the_names_that_people_give_them():
    network = load("zone1")
    assert find_policy("claim", family_of(network), 5).name == "claim"
    assert find_policy("claim:zones", family_of(network), 5).name == "claim:zones"
    assert find_policy("random", family_of(network), 5).name == "random"
    assert find_policy(str(FOLDER / "claim.zones.5.json"), family_of(network), 5).name == "claim"


def test_every_shipped_card_goes_with_its_weights():
    stems = {each.stem for each in shipped()}
    assert {path.stem for path in FOLDER.glob("*.safetensors")} == {stem.name for stem in stems}
    for stem in stems:
        assert "weights" in json.loads(stem.with_name(f"{stem.name}.json").read_text(encoding="utf-8"))
        load_policy(stem)


def test_a_card_beside_the_weights_of_another_policy_is_refused(tmp_path):
    shutil.copy(FOLDER / "claim.zones.5.json", tmp_path / "mixed.json")
    shutil.copy(FOLDER / "claim.all.5.safetensors", tmp_path / "mixed.safetensors")
    with pytest.raises(InputError, match="those of another one"):
        load_policy(tmp_path / "mixed.json")


def test_the_model_card_lists_what_is_shipped():
    section = MODEL_CARD.split("## Shipped policies", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([\w-]+)` \|([^|]*)\|([^|]*)\|$", section, re.MULTILINE)
    listed = {
        (variant, family, budget)
        for variant, *cells in rows
        for budget, families in zip((5, 20), cells, strict=True)
        for family in families.replace(",", " ").split()
    }
    assert listed == {(each.variant, each.family, each.budget) for each in shipped()}


def test_the_model_card_shows_what_the_record_has():
    header, *lines = re.findall(r"^\| (?:surveys by|T = ).*$", MODEL_CARD, re.MULTILINE)
    for line in lines:
        method, *shown = (cell.strip(" *") for cell in line.strip("|").split("|"))
        surveys, policy, selector = re.fullmatch(r"T = (\d+): (\S+), (\S+)", method).groups()
        rows = json.loads(gzip.decompress((ROOT / "results" / "record" / RECORDS[surveys]).read_bytes()))["rows"]
        means = {row["network"]: row["mean"] for row in rows if (row["policy"], row["selector"]) == (policy, selector)}
        assert shown == [f"{means[each.strip()]:.1f}" for each in header.strip("|").split("|")[1:]], line
    assert lines


def test_the_record_says_which_trained_policies_and_models_were_played(tmp_path):
    for ending in ("json", "safetensors"):
        shutil.copy(FOLDER / f"shaped-dqn.all.5.{ending}", tmp_path / f"mine.{ending}")
    mine = str(tmp_path / "mine.safetensors")
    networks = ["zone2", "stars1"]
    selectors = ["greedy", "foresight", "foresight:1"]
    result = compare(networks, ["shaped-dqn", mine, "random"], selectors, runs=1, budget=16, workers=1)
    played = json.loads(json.dumps(result.to_dict()))["manifest"]["settings"]["played"]
    assert set(played) == {"policies", "selectors"}
    assert set(played["policies"]) == {"shaped-dqn", mine}
    card = {name: json.loads((FOLDER / f"{name}.json").read_text())["weights"] for name in WEIGHTS}
    assert played["policies"]["shaped-dqn"] == {
        where: {
            "name": f"shaped-dqn:{family}@20",
            "family": family,
            "budget": 20,
            "weights": card[f"shaped-dqn.{family}.20"],
        }
        for where, family in {"zones": "zones", "retweet-like": "retweet"}.items()
    }
    own = {"name": "shaped-dqn", "family": None, "budget": 5, "weights": card["shaped-dqn.all.5"]}
    assert played["policies"][mine] == {"zones": own, "retweet-like": own}
    models = {name: hashlib.sha256(shipped_path(name).read_bytes()).hexdigest() for name in ("any", "zones", "retweet")}
    assert played["selectors"] == {
        "foresight": {
            "zones": {"name": "foresight:any", "sha256": models["any"]},
            "retweet-like": {"name": "foresight:any", "sha256": models["any"]},
        },
        "foresight:1": {
            "zones": {"name": "foresight:zones", "sha256": models["zones"]},
            "retweet-like": {"name": "foresight:retweet", "sha256": models["retweet"]},
        },
    }


def test_the_record_says_what_is_played_on_a_network_of_no_known_family(tmp_path):
    (tmp_path / "mine.json").write_bytes(shipped_path("all").read_bytes())
    own = f"foresight:{tmp_path / 'mine.json'}"
    result = compare(contacts(), "claim", ["foresight", own], runs=1, workers=1)
    played = result.manifest["settings"]["played"]
    assert played["policies"]["claim"]["unknown"]["name"] == "claim:all@5"
    assert played["selectors"]["foresight"]["unknown"]["name"] == "foresight:any"
    model = hashlib.sha256(shipped_path("all").read_bytes()).hexdigest()
    assert played["selectors"][own] == {"unknown": {"name": own, "sha256": model}}


def test_rules_and_greedy_leave_no_such_record():
    assert "played" not in compare(contacts(), "random", runs=1, workers=1).manifest["settings"]
