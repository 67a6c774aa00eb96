"""Boosted trees, the files of models, and a training run in small."""

import json
from dataclasses import replace
from pathlib import Path

import lightgbm
import numpy as np
import pytest

from claim.cascades.worlds import Worlds
from claim.errors import InputError
from claim.fitting.foresight import Fit, FitSettings, fit_model
from claim.fitting.leaders import Rows, gain_rows, hidden_rows
from claim.fitting.random_graphs import KINDS, look_alikes, rewired
from claim.fitting.reach import ON_AVERAGE, ON_EACH, coverage, population_factor, widened
from claim.fitting.studies import Pool, PoolSettings, SimulatedStudy, StudyPlan, simulated_studies, training_pool
from claim.networks import Network
from claim.networks.synthetic import retweet_like, zone_like
from claim.selection.foresight.features import BEFORE, FEATURES, STUDY, FeatureState
from claim.selection.foresight.gate import Gate, fit_gate
from claim.selection.foresight.model import (
    free_ranges,
    read_model,
    save_model,
    shipped_model,
    shipped_names,
    shipped_path,
)
from claim.selection.foresight.ranges import WIDER, WIDER_AFTER_TRAINING
from claim.selection.foresight.selector import FittedForesight
from claim.selection.foresight.trees import Growth, Trees, grow, mixed
from claim.selection.greedy import Candidates

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


def test_a_mix_of_trees_predicts_the_weighted_geometric_mean():
    values, amounts, _ = poisson_data(500)
    one, two, three = (
        grow(values, amounts**power, np.ones(500), SMALL, np.random.default_rng(0)) for power in (1, 2, 3)
    )
    expected = one.predict(values) ** 0.5 * three.predict(values) ** 0.3
    assert mixed([one, two, three], [0.5, 0.0, 0.3]).predict(values) == pytest.approx(expected)


# The gate -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_sorts() -> tuple[np.ndarray, np.ndarray]:
    """Features of studies on retweet-like and on clustered networks, and their sorts."""
    rng = np.random.default_rng(4)
    networks = [retweet_like(400, rng), zone_like(200, rng), retweet_like(700, rng), zone_like(300, rng)]
    found = [[study_features_of(each) for each in simulated_studies(network, 40, rng)] for network in networks]
    return np.array([row for rows in found for row in rows]), np.array(
        [i % 2 for i, rows in enumerate(found) for _ in rows]
    )


def study_features_of(study: SimulatedStudy) -> np.ndarray:
    return FeatureState(study.view, study.p, 1, 0).study


def test_the_gate_tells_sorts_of_networks_apart(two_sorts):
    studies, sort = two_sorts
    first = np.arange(len(sort)) < len(sort) / 2  # fitted to one network of each sort, asked about the others
    gate = fit_gate(studies[first], sort[first], np.ones(first.sum()), ("stars", "clustered"))
    shares = np.array([gate.shares(study) for study in studies[~first]])
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert (shares.argmax(axis=1) == sort[~first]).mean() > 0.8


def test_the_gate_does_not_look_at_p_or_marks(two_sorts):
    studies, sort = two_sorts
    gate = fit_gate(studies, sort, np.ones(len(sort)), ("stars", "clustered"))
    other = studies.copy()
    other[:, [STUDY.index(name) for name in ("p", "trust in marks")]] += 1.0
    assert all((gate.shares(one) == gate.shares(two)).all() for one, two in zip(studies, other, strict=True))


def test_the_gate_survives_its_file_and_refuses_damage(two_sorts):
    studies, sort = two_sorts
    gate = fit_gate(studies, sort, np.ones(len(sort)), ("stars", "clustered"))
    data = json.loads(json.dumps(gate.to_dict()))
    again = Gate.from_dict(data)
    assert again.shares(studies[0]) == pytest.approx(gate.shares(studies[0]), abs=1e-3)
    with pytest.raises(ValueError, match="damaged"):
        Gate.from_dict(data | {"sorts": ["stars"]})
    with pytest.raises(ValueError, match="other signals"):
        Gate.from_dict(data | {"signals": ["closure"]})


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


def test_a_range_closes_where_all_is_known():
    assert free_ranges().around(15.0, 15.0, np.zeros(len(STUDY) + 1)) == (15.0, 15.0, 15.0)


def test_a_trained_model_allows_for_networks_it_was_not_trained_on():
    trained = shipped_model("retweet").ranges
    assert trained is not None
    assert trained.wider == WIDER_AFTER_TRAINING > free_ranges().wider == WIDER
    features = np.full(len(STUDY) + 1, 0.1)
    narrow, wide = replace(trained, wider=WIDER).around(30.0, 12.0, features), trained.around(30.0, 12.0, features)
    assert wide[0] == narrow[0]
    assert wide[1] < narrow[1] < narrow[0] < narrow[2] < wide[2]


# Models ---------------------------------------------------------------------------------------------------------------


def test_shipped_models_are_small_and_say_how_they_came_about():
    assert {"all", "animal", "retweet", "zones"} <= set(shipped_names()) <= {"any", "all", "animal", "retweet", "zones"}
    for name in shipped_names():
        assert shipped_path(name).stat().st_size < 700_000
        card = shipped_model(name).card
        family = "all" if name == "any" else name
        assert card["command"].startswith(f"claim foresight train --family {family} --seed 0 --out ")
        assert all(len(checksum) == 64 for checksum in card["networks"].values())


FEW = Growth(trees=5, depth=2, least=5.0)
TINY = FitSettings(PoolSettings("zones"), hidden=FEW, first=FEW, gain=FEW, reach=FEW)


def tiny(folder: Path, watch=lambda standing: None, seed: int = 0):
    rng = np.random.default_rng(1)
    pools = tuple(Pool(kind, retweet_like(150, rng, name=kind), 8) for kind in ("mine networks", "zones", "third"))
    return fit_model(Fit(pools, TINY, seed), folder, 1, watch)


def test_training_twice_from_one_seed_gives_the_same_model_and_a_second_run_goes_on(tmp_path):
    one, other = (tiny(tmp_path / name) for name in "ab")
    files = [save_model(model, tmp_path / f"{i}.json").read_text() for i, model in enumerate((one, other))]
    assert files[0] == files[1]
    assert list(one.card["networks"]) == ["mine networks"]
    done = []
    tiny(tmp_path / "a", lambda standing: done.append((standing.done, standing.total)))
    assert set(done) == {(done[0][1],) * 2}  # everything was there already
    model = read_model(tmp_path / "0.json")
    assert model.gate is not None
    assert model.gate.sorts == ("others", "zones")
    assert len(model.gains) == 2
    assert model.reach is not None
    assert set(model.reach.wider) == {"known", "estimated"}


def test_an_interrupted_fit_goes_on_where_it_was(tmp_path):
    class Enough(Exception):
        pass

    def stop(standing):
        if standing.done >= 5:
            raise Enough

    with pytest.raises(Enough):
        tiny(tmp_path / "cut", stop)
    assert len(list((tmp_path / "cut" / "jobs").glob("*.json"))) >= 5
    whole, cut = tiny(tmp_path / "whole"), tiny(tmp_path / "cut")
    assert [each.to_dict() for each in whole.gains] == [each.to_dict() for each in cut.gains]


def test_the_pool_has_every_family_rewired_networks_and_all_kinds_of_look_alikes():
    pools = training_pool(PoolSettings("zones", look_alikes=4, studies=7, studies_each=3))
    assert [(pool.kind, pool.studies) for pool in pools[:2]] == [("zones networks", 7), ("zones networks, rewired", 3)]
    assert [pool.real for pool in pools] == [True] + 5 * [False]
    assert {pool.group for pool in pools} == {"zones"}


def test_rewiring_keeps_degrees_and_changes_ties():
    network = retweet_like(300, np.random.default_rng(0))
    other = rewired(network, np.random.default_rng(1))
    assert (other.degrees == network.degrees).all()
    assert other.checksum != network.checksum
    assert rewired(Network.from_edges([], [], n=3), np.random.default_rng(0)).m == 0


def test_studies_are_closed_and_open_with_and_without_marks():
    network, rng = retweet_like(300, np.random.default_rng(0)), np.random.default_rng(1)
    closed = simulated_studies(network, 20, rng, StudyPlan(0.0, surveys=(5,), noise=(None,)))
    assert {int(study.view.start.sum()) for study in closed} == {5}
    assert {int(study.view.surveyed.sum()) for study in closed} == {10}
    assert not any(study.view.marks.any() for study in closed)
    opened = simulated_studies(network, 20, rng, StudyPlan(1.0, interviews=(8,), noise=(0.5,)))
    assert {int(study.view.surveyed.sum()) for study in opened} == {8}
    assert all(study.view.marks.sum() > 0 for study in opened)


def test_ends_are_moved_until_ranges_hold_on_average_and_on_each_kind():
    rng = np.random.default_rng(0)
    kind = np.repeat(["calm", "wild"], 500)
    errors = rng.normal(size=1000) * np.where(kind == "calm", 0.1, 0.4)
    ends = np.outer([-0.1, 0.0, 0.1], np.ones(1000))
    wider, found = widened(errors, ends, kind)
    held = {name: row["held"] for name, row in found.items()}
    assert held["calm"] > held["wild"] >= ON_EACH
    assert np.mean(list(held.values())) >= ON_AVERAGE
    assert found["calm"]["ratio"] == pytest.approx(np.exp(0.2 + 2 * wider), abs=0.001)
    assert found["calm"]["error"] < found["wild"]["error"]
    before = (errors >= -0.1 - wider + 0.01) & (errors <= 0.1 + wider - 0.01)
    shares = [before[kind == each].mean() for each in ("calm", "wild")]
    assert min(shares) < ON_EACH or np.mean(shares) < ON_AVERAGE  # a step less would not do


def test_the_reach_to_expect_is_never_above_the_number_of_people(tmp_path):
    model = tiny(tmp_path)
    network = retweet_like(150, np.random.default_rng(5), name="fresh")
    studies = simulated_studies(network, 10, np.random.default_rng(2))
    selector = FittedForesight(model=model)
    found = coverage(studies, selector, 5, "known")
    assert found["too many"] == 0
    assert found["low"] <= found["expected"] <= found["high"] <= 150
    few = coverage(studies, selector, 5, "known:0.3")
    assert few["high"] < found["high"]


def test_the_trees_for_numbers_of_people_guess_the_reach_and_choose_no_one(tmp_path):
    model = tiny(tmp_path)
    assert model.level is not None
    twice = replace(model, level=replace(model.level, base=model.level.base + np.log(2.0)))
    network = retweet_like(150, np.random.default_rng(5), name="fresh")
    study, *_ = simulated_studies(network, 3, np.random.default_rng(2))
    one, two = (FittedForesight(model=each) for each in (model, twice))
    candidates = Candidates.of(study.view.n, 4)
    chosen = [each.select_in(study.view, candidates, 4, np.random.default_rng(0)) for each in (one, two)]
    assert chosen[0] == chosen[1]
    guesses = [each.guess(study.view, chosen[0], 1)[0] for each in (one, two)]
    assert guesses[1].reach > 1.3 * guesses[0].reach


@pytest.mark.parametrize("text", ["", "known:0", "known:x", "known:-1", "guessed", "estimated:2", "known:inf"])
def test_what_is_no_population_is_refused(text):
    with pytest.raises(InputError, match="population must be known"):
        population_factor(text)


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
