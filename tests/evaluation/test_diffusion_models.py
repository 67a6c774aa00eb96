"""Other diffusion models, a wrong belief about them, and directed networks in a comparison."""

import json

import networkx
import numpy as np
import pytest
from evaluation_cases import contacts, hubs_and_leaves, study_results

import claim
from claim.cascades import Diffusion, Model
from claim.errors import InputError
from claim.evaluation import compare
from claim.evaluation.compare import optimum
from claim.evaluation.runs import EVALUATION_SAMPLES, Method, ReachEvaluator, StudySettings, evaluation_seed
from claim.networks import Network

MODELS = ["ic", "ic:steps=2", "lt", "threshold:2"]
STARTS = [(run, [run, run + 20, run + 40]) for run in range(3)]
GREEDY = Method("random", "greedy", "field")


def named(network: Network, seed: int = 0) -> Network:
    """Most people name most of their contacts, so that ties lead from them."""
    sources = np.repeat(np.arange(network.n), network.degrees)
    kept = np.random.default_rng(seed).random(len(sources)) < 0.7
    return Network.from_edges(
        sources[kept], network.contacts[kept], n=network.n, directed=True, name=f"{network.name}-named"
    )


def judged(network: Network, model: str, leaders, seed: int) -> float:
    reach = Diffusion(network, Model.of(model), 0.1).reach(leaders, EVALUATION_SAMPLES, evaluation_seed(seed))
    return float(reach.mean())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("directed", [False, True])
def test_reach_is_judged_by_the_model(model, directed):
    network = named(contacts()) if directed else contacts()
    for (outcome,) in study_results(network, GREEDY, StudySettings(seed=2, leaders=5, model=model), STARTS, [4]):
        assert outcome.influence == pytest.approx(judged(network, model, outcome.leaders, 2), rel=0.02)


def test_selectors_assume_the_model_and_another_one_may_judge():
    """A clique of 20, where a message meets many contacts, and a star of 9, whose leaves have one contact only."""
    graph = networkx.disjoint_union(networkx.complete_graph(20), networkx.star_graph(8))
    network, right = Network.from_networkx(graph), StudySettings(seed=1, leaders=1, model="lt")
    wrong = StudySettings(seed=1, leaders=1, judge_model="lt")
    plain = StudySettings(seed=1, leaders=1)
    everyone = [(0, list(range(network.n)))]
    found = [study_results(network, GREEDY, each, everyone, [0]) for each in (right, wrong, plain)]
    leaders = [[outcome.leaders for (outcome,) in each] for each in found]
    assert leaders[1] == leaders[2] != leaders[0] == [(20,)]
    reached = [np.mean([outcome.influence for (outcome,) in each]) for each in found]
    assert reached[0] > reached[1]
    for (outcome,) in found[1]:
        assert outcome.influence == judged(network, "lt", outcome.leaders, 1)


@pytest.mark.parametrize("model", MODELS)
def test_the_optimum_is_that_of_the_judge(model):
    network = contacts()
    known = claim.select(network, 10, 0.1, 4000, 0, model=model)
    found = optimum(network, StudySettings(seed=0, judge_model=model))
    assert found == pytest.approx(known.influence, rel=0.03)


@pytest.mark.parametrize("model", ["ic:steps=2", "lt", "threshold:2"])
@pytest.mark.parametrize("directed", [False, True])
def test_leaders_who_may_not_come_are_planned_for(model, directed):
    network = named(hubs_and_leaves()) if directed else hubs_and_leaves()
    everyone = [(0, list(range(network.n)))]
    settings = StudySettings(seed=3, leaders=6, model=model, attendance=0.5)
    informed, unaware = (
        study_results(network, GREEDY, each, everyone, [0])[0][0].influence
        for each in (settings, StudySettings(seed=3, leaders=6, model=model, attendance=0.5, selector_informed=False))
    )
    assert informed > 0.97 * unaware
    evaluator = ReachEvaluator(network, 0.1, 2000, 1, 0.5, Model.of(model))
    assert evaluator.influence([0, 1, 2]) < ReachEvaluator(network, 0.1, 2000, 1, 1.0, Model.of(model)).influence(
        [0, 1, 2]
    )


def test_comparisons_of_models_can_be_repeated_and_their_record_names_them():
    given = {"runs": 4, "model": "lt", "judge_model": "ic:steps=3"}
    one, two = (compare(named(contacts()), "random,scout", workers=1, **given) for _ in range(2))
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())
    assert one.manifest["command"].endswith("--model lt --judge-model ic:steps=3")
    assert (one.manifest["settings"]["model"], one.manifest["settings"]["judge_model"]) == ("lt", "ic:steps=3")


def test_files_of_networks_are_read_as_directed_where_that_is_asked_for(tmp_path):
    ties = tmp_path / "ties.edges"
    ties.write_text("".join(f"{one} {one + 1}\n" for one in range(30)))
    both, one_way = (compare(str(ties), "random", runs=5, workers=1, p=1.0, directed=each) for each in (None, True))
    assert one_way.rows[0].discovered < both.rows[0].discovered
    assert one_way.manifest["command"].endswith("--directed")


@pytest.mark.parametrize("protocol", ["field", "paper"])
def test_every_selector_that_knows_directed_networks_chooses_in_them(protocol):
    selectors = "greedy,ris,degree,degree-discount,pagerank,random"
    result = compare(named(contacts()), "random,change,degree+inverse", selectors, protocol, runs=2, workers=1)
    assert all(0 < row.mean < 1.05 * result.opt["contacts-named"] for row in result.rows)


def test_a_model_that_is_none_is_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr("claim.evaluation.batches.run_studies", lambda *_: pytest.fail("it was run"))
    for given, problem in (
        ({"model": "sir"}, "model must be"),
        ({"judge_model": "threshold:0"}, "N of at least 1"),
        ({"model": "lt", "selector": "foresight"}, "foresight knows the model ic only, got lt"),
        ({"model": "lt", "selector": claim.selection.selector_named("foresight:free")}, "knows the model ic only"),
        ({"model": "lt", "judge_model": "threshold:2", "p_range": (0.1, 0.2)}, "does not use p"),
    ):
        with pytest.raises(InputError, match=problem):
            compare(contacts(), "random", runs=1, **given)
