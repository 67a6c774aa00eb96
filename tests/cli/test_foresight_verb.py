"""``claim foresight train``: a model file that can be used at once, and one clear line where it cannot be made."""

import json

import numpy as np
import pytest

from claim.fitting import foresight
from claim.fitting.studies import Pool, PoolSettings
from claim.networks.synthetic import zone_like
from claim.selection.foresight.model import read_model
from claim.selection.foresight.trees import Growth

FEW = Growth(trees=5, depth=2, least=5.0)


@pytest.fixture
def quick(monkeypatch):
    """Settings of seconds, and training networks that need no file."""
    tiny = foresight.FitSettings(PoolSettings(dense=0), hidden=FEW, first=FEW, gain=FEW, reach=FEW)
    monkeypatch.setattr(foresight, "FitSettings", lambda pool: tiny)
    mine = [zone_like(120, np.random.default_rng(i), name=f"mine{i}") for i in range(2)]
    pools = tuple(Pool(f"{network.name} networks", network, 6) for network in mine)
    monkeypatch.setattr(foresight, "training_pool", lambda settings, seed, data_dir: pools)


@pytest.mark.needs("lightgbm")
def test_a_trained_model_can_be_used_at_once(claim, folder, quick):
    done = claim("foresight", "train", "--family", "zones", "--seed", "3", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"model": "foresight.zones.json", "family": "zones", "seed": 3}
    card = read_model(folder / "foresight.zones.json").card
    assert card["command"] == "claim foresight train --family zones --seed 3 --out foresight.zones.json"
    used = claim(
        "evaluate", "--networks", "names.csv", "--policies", "random", "--selector", "foresight:foresight.zones.json",
        "--runs", "2", "--workers", "1", "--json", "-",
    )  # fmt: skip
    assert used.returncode == 0, used.stderr
    assert json.loads(used.stdout)["rows"][0]["selector"] == "foresight:foresight.zones.json"


@pytest.mark.needs("lightgbm")
def test_the_command_on_the_card_makes_the_same_model_again(claim, folder, quick):
    assert claim("foresight", "train", "--family", "zones", "--out", "one.json").returncode == 0
    file = folder / "one.json"
    text, card = file.read_text(), read_model(file).card
    file.unlink()
    assert claim(*card["command"].split()[1:]).returncode == 0
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--family", "zebras"], "zebras"),
        (["--family", "zones", "--seed", "-1"], "seed"),
        (["--family", "zones", "--out", "nowhere/model.json"], "no folder nowhere"),
        (["--family", "zones", "--out", "."], "is a directory"),
        (["--family", "retweet"], "copen"),
        (["--workers", "0"], "workers"),
    ],
)
def test_what_cannot_be_trained_is_one_line(claim, arguments, word):
    done = claim("foresight", "train", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_selector_file_that_is_missing_or_none_is_one_line(claim):
    for path in ("nowhere.json", "names.csv.json"):
        done = claim("evaluate", "--networks", "names.csv", "--selector", f"foresight:{path}", "--runs", "2")
        assert done.returncode == 2
        assert path in done.stderr


def test_coverage_says_how_often_the_range_holds(claim):
    done = claim(
        "foresight", "coverage", "--networks", "zone1,look-alikes:zones", "--selector", "foresight:free",
        "--budget", "0,5", "--studies", "10", "--population", "known", "--json", "-",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["coverage"]
    assert [(row["network"], row["budget"]) for row in rows] == [
        ("zone1", 0), ("zone1", 5), ("look-alikes:zones", 0), ("look-alikes:zones", 5),
    ]  # fmt: skip
    for row in rows:
        assert row["studies"] == 10
        assert 0 <= row["held"] <= 1
        assert row["low"] <= row["expected"] <= row["high"]
        assert row["reached"] >= 1
        assert row["ratio"] >= 1
        assert row["too many"] == 0
    opened = claim(
        "foresight", "coverage", "--networks", "zone1", "--entry", "open", "--interviews", "8", "--studies", "5",
        "--hub-question", "1", "-k", "3", "--selector", "foresight:1",
    )  # fmt: skip
    assert opened.returncode == 0, opened.stderr
    assert "interviews" in opened.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--networks", "look-alikes:zebras"], "zebras"),
        (["--networks", "zebras"], "zebras"),
        (["--networks", ""], "names nothing"),
        (["--budget", "many"], "many"),
        (["--budget", ""], "names nothing"),
        (["--interviews", "5"], "--entry open"),
        (["--entry", "open", "--budget", "5"], "--entry open"),
        (["--population", "guessed"], "population must be known"),
        (["--selector", "greedy"], "greedy"),
        (["--studies", "0"], "studies"),
        (["--probability", "2", "--networks", "zone1"], "robability"),
    ],
)
def test_coverage_of_what_is_not_there_is_one_line(claim, arguments, word):
    done = claim("foresight", "coverage", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert len(done.stderr.splitlines()) == 1
