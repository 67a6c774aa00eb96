"""Boosted trees, the files of models, and a training run in small."""

import json
from dataclasses import replace
from pathlib import Path

import lightgbm
import numpy as np
import pytest

from claim.cascades.worlds import Worlds
from claim.errors import InputError
from claim.fitting.foresight import (
    FitSettings,
    Outcome,
    Rows,
    gain_rows,
    hidden_rows,
    mean_reach,
    range_sample,
    simulated_studies,
    train_family,
)
from claim.fitting.random_graphs import KINDS, look_alikes
from claim.networks import Network
from claim.networks.synthetic import retweet_like
from claim.selection.foresight.features import BEFORE, FEATURES, STUDY
from claim.selection.foresight.model import free_ranges, read_model, shipped_model, shipped_names, shipped_path
from claim.selection.foresight.ranges import CHANCES, WIDER, WIDER_AFTER_TRAINING, Ranges, Sample
from claim.selection.foresight.trees import Growth, Trees, grow

SMALL = Growth(trees=30, depth=3, rate=0.2, least=5.0, rows=1.0, features=1.0)


def poisson_data(rows: int = 4000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = rng.random((rows, 4))
    mean = np.exp(2 * (values[:, 0] > 0.4) - values[:, 1])
    return values, rng.poisson(mean).astype(float), mean


def test_trees_find_the_mean():
    values, amounts, mean = poisson_data()
    trees = grow(values, amounts, np.ones(len(values)), SMALL, np.random.default_rng(1))
    predicted = trees.predict(values)
    assert np.corrcoef(predicted, mean)[0, 1] > 0.98
    assert predicted.mean() == pytest.approx(amounts.mean(), rel=0.02)


def test_every_tree_lowers_the_loss_on_the_rows_it_was_grown_on():
    values, amounts, _ = poisson_data()
    trees = grow(values, amounts, np.ones(len(values)), SMALL, np.random.default_rng(1))
    losses = []
    for count in range(0, SMALL.trees + 1, 5):
        some = Trees(trees.base, trees.feature[:count], trees.threshold[:count], trees.leaves[:count])
        mean = some.predict(values)
        losses.append(float((mean - amounts * np.log(mean)).mean()))
    assert losses == sorted(losses, reverse=True)


def test_trees_predict_what_lightgbm_predicts(monkeypatch):
    values, amounts, _ = poisson_data(800)
    train, boosters = lightgbm.train, []
    monkeypatch.setattr(lightgbm, "train", lambda *given: boosters.append(train(*given)) or boosters[-1])
    growth = Growth(trees=20, depth=4, rate=0.2, least=30.0)  # so few rows in a leaf that trees are not complete
    trees = grow(values, amounts, np.ones(len(values)), growth, np.random.default_rng(1))
    assert np.isinf(trees.threshold).any()
    other = np.random.default_rng(9).random((300, 4))
    assert trees.predict(other) == pytest.approx(np.exp(trees.base + boosters[0].predict(other, raw_score=True)))


def test_the_same_generator_grows_the_same_trees():
    values, amounts, _ = poisson_data(800)
    weights = np.ones(len(values))
    first, again, other = (grow(values, amounts, weights, Growth(10), np.random.default_rng(i)) for i in (1, 1, 2))
    assert first.to_dict() == again.to_dict()
    assert first.to_dict() != other.to_dict()


def test_weights_count_like_repeated_rows():
    values, amounts, _ = poisson_data(500)
    values = np.round(values, 1)  # few enough values for the same bins
    weights = np.random.default_rng(2).integers(1, 4, len(values)).astype(float)
    repeat = np.repeat(np.arange(len(values)), weights.astype(int))
    weighted = grow(values, amounts, weights, SMALL, np.random.default_rng(1))
    repeated = grow(values[repeat], amounts[repeat], np.ones(len(repeat)), SMALL, np.random.default_rng(1))
    assert weighted.predict(values) == pytest.approx(repeated.predict(values))


def test_trees_survive_their_file_and_refuse_damage():
    values, amounts, _ = poisson_data(500)
    trees = grow(values, amounts, np.ones(500), SMALL, np.random.default_rng(0))
    data = json.loads(json.dumps(trees.to_dict()))
    assert Trees.from_dict(data, range(4)).predict(values) == pytest.approx(trees.predict(values), rel=1e-4)
    with pytest.raises(ValueError, match="damaged"):
        Trees.from_dict(data, range(1))
    data["leaves"] = data["leaves"][1:]
    with pytest.raises(ValueError, match="damaged"):
        Trees.from_dict(data, range(4))


# Data -----------------------------------------------------------------------------------------------------------------


def test_rows_have_all_features_and_finite_numbers():
    rng = np.random.default_rng(0)
    network = retweet_like(300, rng)
    for state in simulated_studies(network, 8, rng):
        hidden = hidden_rows(state, rng)
        assert hidden.features.shape == (len(hidden.truth), len(BEFORE))
        assert (hidden.truth >= 0).all()
        truth = Worlds.draw(network, state.p, 50, 1)
        rows = gain_rows(state, truth, lambda before: np.ones(len(before)), None, 0.5, rng)
        assert rows.features.shape == (len(rows.truth), len(FEATURES))
        assert np.isfinite(Rows.joined([rows]).features).all()
        assert (rows.free > 0).all()


@pytest.mark.parametrize("family", KINDS)
def test_look_alikes_differ_and_are_the_same_again(family):
    first, again = (look_alikes(family, 8, np.random.default_rng(3)) for _ in range(2))
    assert first == again
    assert len({network.checksum for network in first}) == 8
    assert all(network.m > 0 for network in first)


def test_there_are_no_look_alikes_of_nothing():
    with pytest.raises(InputError, match="zebras"):
        look_alikes("zebras", 1, np.random.default_rng(0))


# Ranges ---------------------------------------------------------------------------------------------------------------


def study_sample(studies: int = 4000) -> Sample:
    """Studies whose true extra is a lognormal factor on the guess, twice as large where the first feature says so."""
    rng = np.random.default_rng(0)
    features = rng.random((studies, len(STUDY) + 1))
    features[:, STUDY.index("log surveys")] = np.log1p(rng.integers(0, 60, studies))
    features[:, STUDY.index("p")] = rng.choice([0.05, 0.1, 0.2], studies)
    known, extra = rng.uniform(10, 20, studies), rng.uniform(1, 30, studies)
    truth = extra * rng.lognormal(0, 0.4, studies) * np.where(features[:, STUDY.index("closure")] > 0.5, 2, 1)
    return Sample(features, known, extra, truth, rng.integers(0, 20, studies).astype(float), np.ones(studies))


def test_ranges_hold_nine_of_ten_and_correct_the_mean():
    sample = study_sample()
    ranges = Ranges.fitted(sample, np.random.default_rng(1))
    assert len(ranges.marks) == len(CHANCES) + 1
    guess = sample.known + sample.extra
    found = zip(guess, sample.known, sample.features, strict=True)
    mean, low, high = np.array([ranges.around(*each) for each in found]).T
    truth = sample.known + sample.truth
    assert ((low <= truth) & (truth <= high)).mean() == pytest.approx(0.94, abs=0.03)
    assert mean.mean() == pytest.approx(truth.mean(), rel=0.05)


def test_a_range_is_wide_where_errors_are_large_and_narrow_where_they_are_small():
    sample = study_sample()
    wild = sample.features[:, STUDY.index("mixing")] > 0.5
    noise = np.random.default_rng(5).lognormal(0, np.where(wild, 0.8, 0.2))
    ranges = Ranges.fitted(sample._replace(truth=sample.extra * noise), np.random.default_rng(1))
    found = zip(sample.known + sample.extra, sample.known, sample.features, strict=True)
    _, low, high = np.array([ranges.around(*each) for each in found]).T
    truth = sample.known + sample.extra * noise
    held = (low <= truth) & (truth <= high)
    assert 0.85 < held[wild].mean() < 0.98
    assert 0.85 < held[~wild].mean() < 0.98
    assert np.median((high - low)[wild]) > 2.5 * np.median((high - low)[~wild])


def test_a_range_closes_where_all_is_known():
    ranges = Ranges.fitted(study_sample(400), np.random.default_rng(1))
    assert ranges.around(15.0, 15.0, np.zeros(len(STUDY) + 1)) == (15.0, 15.0, 15.0)


def test_ranges_survive_their_file():
    ranges = Ranges.fitted(study_sample(400), np.random.default_rng(1))
    again = Ranges.from_dict(json.loads(json.dumps(ranges.to_dict())))
    features = study_sample(1).features[0]
    assert again.around(30.0, 12.0, features) == pytest.approx(ranges.around(30.0, 12.0, features), rel=1e-3)


def test_a_trained_model_allows_for_networks_it_was_not_trained_on():
    trained = shipped_model("retweet").ranges
    assert trained is not None
    assert trained.wider == WIDER_AFTER_TRAINING > free_ranges().wider == WIDER
    features = study_sample(1).features[0]
    narrow, wide = replace(trained, wider=WIDER).around(30.0, 12.0, features), trained.around(30.0, 12.0, features)
    assert wide[0] == narrow[0]
    assert wide[1] < narrow[1] < narrow[0] < narrow[2] < wide[2]


def test_ranges_count_real_networks_as_much_as_all_others():
    outcomes = [Outcome(name, np.zeros(2), 3.0, 1.0, 2.0) for name in "abbb"]
    weight = range_sample(outcomes, ["a"]).weight
    assert weight[0] == pytest.approx(weight[1:].sum())
    assert mean_reach(outcomes) == {"a": 2.0, "b": 2.0}


# Models ---------------------------------------------------------------------------------------------------------------


def test_shipped_models_are_small_and_say_how_they_came_about():
    assert shipped_names() == ["all", "animal", "retweet", "zones"]
    for name in shipped_names():
        assert shipped_path(name).stat().st_size < 300_000
        card = shipped_model(name).card
        assert card["command"].startswith(f"claim foresight train --family {name} --seed 0 --out ")
        assert all(len(checksum) == 64 for checksum in card["networks"].values())


def tiny(networks: list[Network], out: Path, seed: int = 0, **options) -> Path:
    few = Growth(trees=5, depth=2, least=5.0)
    plan = FitSettings(
        look_alikes=2, studies=6, studies_each=3, fresh_look_alikes=2, fresh_studies=3, hidden=few, first=few, gain=few
    )
    return train_family("retweet", networks, out, np.random.default_rng(seed), plan=plan, **options)


def test_training_twice_from_one_seed_gives_the_same_model(tmp_path):
    networks = [retweet_like(200, np.random.default_rng(1), name="mine")]
    one, other = (tiny(networks, tmp_path / f"{i}.json") for i in range(2))
    assert one.read_text() == other.read_text()
    model = read_model(one)
    assert model.ranges is not None
    assert model.card["networks"] == {"mine": networks[0].checksum}


def test_progress_counts_to_the_end(tmp_path):
    told = []
    networks = [retweet_like(200, np.random.default_rng(1), name="mine")]
    tiny(networks, tmp_path / "model.json", progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == list(range(1, told[-1][1] + 1))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', "not json"])
def test_what_is_no_model_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"model\.json"):
        read_model(path)


def test_a_missing_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_model(tmp_path / "none.json")
    with pytest.raises(InputError, match="zebra"):
        shipped_model("zebra")
