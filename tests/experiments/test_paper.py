"""The grid of the paper's experiments, its studies and trainings, and the report made from them."""

import csv
import itertools
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_paper import TINY

from claim.discovery import Simulation
from claim.errors import InputError
from claim.evaluation import compare
from claim.evaluation.runs import draw_start_sets
from claim.experiments import published
from claim.experiments.jobs import SEED, Evaluate, Train, load_policy
from claim.experiments.paper import (
    ABLATION,
    BASELINE,
    CLAIM,
    CLAIM_ABLATION,
    FROM_EPISODES,
    FULL,
    PAPER_CLAIM,
    PROPERTIES,
    PROTOCOLS,
    QUICK,
    SHAPED,
    STABILITY,
    SURVEYS,
    TABLE,
    UNTRAINED,
    VARIANTS,
    Case,
    Method,
    Paper,
    Scale,
)
from claim.experiments.report import write_experiments
from claim.experiments.results import Results, by_model
from claim.experiments.sections import density, influence, stability
from claim.io.files import locked
from claim.jobs import Store, Sweep, key_of, with_needs
from claim.jobs.local import LocalBackend
from claim.learning.api import training_folder
from claim.learning.config import EPISODES, Config
from claim.learning.network import new_network
from claim.networks import load

ROOT = Path(__file__).parents[2]
SMALLEST = replace(
    TINY, families=TINY.families[:1], seeds=1, episodes=2, paper_episodes=2, larger_episodes=2, larger_seeds=1, runs=3,
    checkpoints=(0, 2), larger_surveys=(6,),
)  # fmt: skip


def grid(scale: Scale) -> Paper:
    return Paper(scale, scale.splits())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("paper")
    paper, store = grid(SMALLEST), Store(path)
    going = Sweep(paper.jobs(), store, LocalBackend(1, path))
    going.run()
    assert going.failures == {}
    assert going.missing == 0
    write_experiments(paper, store, "claim experiment paper", going.failures)
    return path


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# Studies and trainings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["field", "paper"])
@pytest.mark.parametrize("policy", ["random", "change-published", "degree+inverse", SHAPED])
def test_studies_are_those_of_a_comparison(policy, protocol, tmp_path):
    network = load("zone1")
    played = Evaluate(network, policy, "greedy", protocol, runs=4, checkpoints=(2, 5)).run([], tmp_path)
    for place, budget in enumerate((2, 5)):
        row = compare(network, policy, protocol=protocol, runs=4, seed=SEED, budget=budget, workers=1).rows[0]
        assert [run[place] for run in played["influence"]] == row.values
        assert np.mean([run[place] for run in played["discovered"]]) == row.discovered
    assert all(len(set(run)) == len(run) <= 5 for run in played["surveyed"])


def test_density_counts_start_people_and_their_contacts(tmp_path):
    network = load("zone1")
    played = Evaluate(network, "random", "greedy", "field", runs=3, checkpoints=(0,)).run([], tmp_path)
    for start, ratio in zip(
        compare(network, "random", runs=3, seed=SEED).studies.starts["zone1"], played["density"], strict=True
    ):
        around = {int(contact) for person in start for contact in network.contacts_of(person)} | set(start)
        assert ratio == len(around) / len(start)


@pytest.mark.parametrize(("policy", "episodes"), [(CLAIM, 3), (PAPER_CLAIM, 3), (CLAIM, 4)])
def test_a_training_cut_off_goes_on_to_the_same_result(policy, episodes, tmp_path):
    (job,) = grid(SMALLEST).trainings(policy, grid(SMALLEST).splits[0])
    longer = replace(job, episodes=4)
    whole = longer.run([], tmp_path / "whole")
    cut = tmp_path / "cut" / "training" / f"{longer.label}-{key_of(longer)[:8]}"
    folder = training_folder(cut, longer.config, longer.networks, longer.command)
    folder.open(resume=False)
    folder.run(episodes, lambda metrics: None)
    assert longer.run([], tmp_path / "cut") == whole
    assert load_policy(whole).name == policy


def test_a_checkpoint_that_cannot_be_read_is_trained_anew_and_a_folder_in_use_is_left_alone(tmp_path):
    job = Train(CLAIM, "zones", (load("zone1"),), 0, 2, settings=TINY.settings)
    whole = job.run([], tmp_path / "whole")
    folder = tmp_path / "broken" / "training" / next((tmp_path / "whole" / "training").iterdir()).name
    folder.mkdir(parents=True)
    (folder / "checkpoint.pt").touch()
    with locked(folder, "taken"), pytest.raises(InputError, match="another training"):
        job.run([], tmp_path / "broken")
    assert (folder / "checkpoint.pt").exists()
    assert job.run([], tmp_path / "broken") == whole


def test_no_episode_means_the_network_as_it_begins(tmp_path):
    network = load("zone1")
    job = Train(CLAIM, "zones", (network,), 1, 0, settings=TINY.settings)
    result = job.run([], tmp_path)
    assert job.label.endswith(".untrained")
    assert [entry["episode"] for entry in result["curve"]] == [0]
    begun, fresh = load_policy(result).network.state_dict(), new_network(job.config.shape, job.config.seed).state_dict()
    assert all(torch.equal(begun[name], fresh[name]) for name in fresh)


# The grid -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [QUICK, TINY], ids=lambda scale: scale.name)
def test_every_job_has_a_name_of_its_own(scale, monkeypatch, tmp_path):
    monkeypatch.setenv("CLAIM_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    jobs = with_needs(grid(scale).jobs())
    assert max(Counter(job.name for job in jobs).values()) == 1
    assert len({key_of(job) for job in jobs}) == len(jobs)
    trained = {job.method for job in jobs if isinstance(job, Train)}
    assert trained == set(VARIANTS)


def test_the_full_grid_is_the_papers(data):
    paper = grid(FULL)
    assert tuple(paper.networks) == published.NETWORKS
    assert paper.property_network.name == "assad"
    trainings = [job for job in with_needs(paper.jobs()) if isinstance(job, Train)]
    usual = {(each.preset, each.method, each.episodes) for each in trainings if each.config.budget == SURVEYS}
    assert {episodes for preset, _, episodes in usual if preset == "paper"} == {EPISODES["paper"]}
    halved = {episodes for _, method, episodes in usual if method in (each.policy for each in CLAIM_ABLATION[:-1])}
    assert halved == {FULL.episodes // 2} == {EPISODES[None]}  # what claim train does by default
    assert {episodes for _, method, episodes in usual if method == FROM_EPISODES} == {FULL.episodes}
    page = (ROOT / "docs" / "how-to" / "experiments.md").read_text(encoding="utf-8")
    assert f"| training episodes of `claim` | {FULL.episodes} " in page
    assert all(f"`{name}`" in page for name in VARIANTS)
    main = ("retweet", "animal")
    assert {job.family for job in trainings if job.method not in (CLAIM, UNTRAINED)} == set(main)
    longer = {(job.config.budget, job.method, job.family, job.seed) for job in trainings if job.config.budget > 5}
    assert longer == set(itertools.product((20,), (CLAIM,), main, range(3)))
    seeds = Counter(
        job.method for job in trainings if job.episodes and job.config.budget == 5 and job.family == "animal"
    )
    assert seeds == {name: 5 if name == CLAIM else 1 if name in ("goal-dqn", "her") else 3 for name in VARIANTS}
    networks = {(job.preset, job.family): [network.name for network in job.networks] for job in trainings}
    assert networks["paper", "animal"] == ["plj", "rob"]
    assert networks[None, "animal"] == ["plj", "rob", "meadow1", "meadow2", "meadow3", "meadow4"]
    judged = set(published.NETWORKS)
    assert not any(network.name in judged for job in trainings for network in job.networks)


def test_an_ablation_changes_one_part_of_claim():
    paper = grid(TINY)
    usual = paper.trainings(CLAIM, paper.splits[0])[0].config.to_dict()
    assert Config(**dict(TINY.settings)).to_dict() == usual
    changed = {}
    for method in CLAIM_ABLATION[1:]:
        config = paper.trainings(method.policy, paper.splits[0])[0].config.to_dict()
        changed[method.name] = {name for name, value in config.items() if value != usual[name]}
    whole = changed.pop(FROM_EPISODES)  # its schedules are those of a training that is twice as long
    assert whole == {"every_choice", "validate_every", "learning_rate_decay"}
    assert sorted(changed.values(), key=str) == [{"curriculum"}, {"goal"}, {"hindsight"}]
    assert all(f" {part}" in name for name, (part,) in changed.items())


def test_studies_after_more_surveys_than_any_training_use_the_longest_training():
    paper = grid(TINY)
    method, network = Method(CLAIM), paper.splits[0].test[0]
    for surveys in TINY.larger_surveys:
        jobs = paper.evaluations(method, Case(network, "field", surveys))
        assert {(job.policy.config.budget, job.checkpoints) for job in jobs} == {(TINY.larger_budget, (surveys,))}
    assert not paper.evaluations(method, Case(paper.splits[1].test[0], "field", TINY.larger_budget))


def test_long_trainings_come_last_and_studies_soon_after_their_training():
    paper = grid(TINY)
    jobs = with_needs(paper.jobs())
    budgets = [job.config.budget for job in jobs if isinstance(job, Train)]
    assert budgets == sorted(budgets)
    first_long = next(i for i, job in enumerate(jobs) if isinstance(job, Train) and job.config.budget > SURVEYS)
    cases = [Case(network, protocol) for network in paper.networks.values() for protocol in PROTOCOLS]
    methods = (*TABLE, *STABILITY, *PROPERTIES)
    tables = {key_of(job) for method in methods for case in cases for job in paper.evaluations(method, case)}
    ablated = itertools.product((*ABLATION, *CLAIM_ABLATION), (case for case in cases if case.protocol == "paper"))
    tables |= {key_of(job) for each in ablated for job in paper.evaluations(*each)}
    assert tables <= {key_of(job) for job in jobs[:first_long]}
    place = {key_of(job): i for i, job in enumerate(jobs)}
    claims = paper.trainings(CLAIM, paper.splits[0])
    study = paper.evaluations(Method(CLAIM), Case(paper.splits[0].test[0], "field"))[0]
    assert place[key_of(claims[0])] < place[key_of(study)] < place[key_of(claims[1])]


def test_without_the_networks_quick_takes_stand_ins_and_full_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("CLAIM_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert [split.family for split in QUICK.splits()] == ["retweet-like", "vole-like", "zones"]
    with pytest.raises(InputError, match=r"absent \(copen, occupy, israel.*claim networks fetch"):
        FULL.splits()


def test_published_numbers_agree_with_each_other():
    for network in published.NETWORKS:
        claim, baseline = published.INFLUENCE[PAPER_CLAIM][network], published.INFLUENCE["geometric-dqn"][network]
        assert 100 * (claim / baseline - 1) == pytest.approx(published.IMPROVEMENT[network], abs=0.02)
        assert max(row[network] for row in published.INFLUENCE.values()) < published.OPTIMUM[network]
    assert published.published(published.INFLUENCE[PAPER_CLAIM], "israel") == 38.55
    assert published.published(published.INFLUENCE[PAPER_CLAIM], "israel", "field") is None
    assert published.published(published.INFLUENCE[PAPER_CLAIM], "zone2") is None


# The report -----------------------------------------------------------------------------------------------------------


def test_every_product_is_there(folder):
    tables = {path.stem for path in (folder / "tables").iterdir()}
    kinds = ("influence", "average", "improvement")
    pairs = {f"{kind}-{protocol}" for kind in kinds for protocol in ("field", "paper")}
    assert tables == pairs | {
        "ablation-paper", "ablation-claim-paper", "ablation-claim-average-paper", "ablation-claim-validation",
        "glance", "density", "stability", "properties", "properties-by-step", "goals", "sample-efficiency",
        "budget-curves", "larger-6", "larger-differences", "larger-learning",
    }  # fmt: skip
    figures = {path.name for path in (folder / "figures").iterdir()}
    named = ("influence-paper", "density", "properties", "goals", "sample-efficiency", "sample-efficiency-paper",
             "budget-curves", "larger-budgets")  # fmt: skip
    assert {f"{name}.{ending}" for name in named for ending in ("svg", "png")} <= figures
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["command"] == "claim experiment paper"
    assert manifest["networks"]["zone1"]["checksum"] == load("zone1").checksum
    assert (folder / "policies" / "claim.zones.5.seed0.safetensors").exists()
    assert (folder / "policies" / "claim-from-episodes.zones.5.seed0.safetensors").exists()
    assert not list((folder / "policies").glob("*untrained*"))


def test_tables_say_what_the_jobs_found(folder):
    paper = grid(SMALLEST)
    network = paper.networks["zone1"]
    values = Results(paper, Store(folder)).influence(Method(CLAIM), Case(network, "paper"))
    row = next(each for each in rows_of(folder / "tables" / "influence-paper.csv") if each["method"] == CLAIM)
    assert float(row["mean"]) == values.mean()
    assert int(row["runs"]) == SMALLEST.runs
    results = json.loads((folder / "results.json").read_text())
    assert results["influence"]["influence-paper"][0]["method"] == "random"
    halves = rows_of(folder / "tables" / "density.csv")
    labels = [(row["method"], row["half"]) for row in halves]
    assert labels == list(itertools.product((PAPER_CLAIM, CLAIM), ("sparse", "dense")))
    assert sum(int(row["runs"]) for row in halves) == 2 * SMALLEST.runs


def test_the_report_needs_nothing_but_itself(folder):
    page = (folder / "report.html").read_text()
    assert page.count('src="data:image/svg+xml;base64,') == 10
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page
    assert "Everything has been run" in page


def test_markdown_tables_carry_the_same_numbers(folder):
    lines = (folder / "tables" / "influence-paper.md").read_text(encoding="utf-8").splitlines()
    mean = next(row["mean"] for row in rows_of(folder / "tables" / "influence-paper.csv") if row["method"] == CLAIM)
    assert lines[:2] == ["| method | zone1 |", "| --- | ---: |"]
    assert next(line for line in lines if line.startswith("| claim |")).startswith(f"| claim | {float(mean):.2f} ± ")


def test_larger_budgets_are_judged_at_their_budget(folder):
    paper = grid(SMALLEST)
    (network,) = paper.networks.values()
    rows = {row["method"]: row for row in rows_of(folder / "tables" / "larger-6.csv")}
    assert list(rows)[:3] == ["random", "random-class", UNTRAINED]
    (training,) = paper.trainings(CLAIM, paper.splits[0], 6)
    assert (training.config.budget, training.episodes) == (6, 2)
    played = Store(folder).load(Evaluate(network, training, "greedy", "field", SMALLEST.larger_runs, (6,)))
    assert max(len(people) for people in played["surveyed"]) == 6
    assert float(rows[CLAIM]["mean"]) == np.mean(played["influence"])
    random = rows_of(folder / "tables" / "larger-differences.csv")[0]
    assert random["against"] == "random"
    assert float(random["difference"]) == pytest.approx(float(rows[CLAIM]["mean"]) - float(rows["random"]["mean"]))


def test_goals_are_set_against_what_is_reached(folder):
    (row,) = rows_of(folder / "tables" / "goals.csv")
    found = Results(grid(SMALLEST), Store(folder))
    (network,) = found.paper.networks.values()
    evaluated = found.result(found.paper.goal_evaluation(network))
    goals, reached = np.array(evaluated["goal"]), np.array(evaluated["influence"])[:, -1]
    assert float(row["goal"]) == goals.mean()
    assert float(row["reached"]) == reached.mean()
    assert float(row["below"]) == np.mean(reached < goals)
    estimates = load_policy(found.result(found.paper.trainings(PAPER_CLAIM, found.paper.splits[0])[0])).estimates
    starts = draw_start_sets(network, SMALLEST.runs, 5, SEED)
    rng = np.random.default_rng(0)
    assert evaluated["goal"] == [estimates.goal(Simulation(network, start, rng).discovered) for start in starts]
    claims = found.models(Method(CLAIM), Case(network, "field"))
    assert claims[0]["goal"] == [None] * SMALLEST.runs


def test_a_part_of_the_models_is_said_to_be_a_part(tmp_path):
    paper, store = grid(replace(SMALLEST, seeds=2)), Store(tmp_path)
    (network,) = paper.networks.values()
    first, _ = paper.evaluations(Method(CLAIM), Case(network, "paper"))
    store.save(first, {"influence": [[3.0], [4.0]], "discovered": [[9], [9]], "density": [1.0, 2.0], "goal": [5, 5]})
    results = Results(paper, store)
    assert results.influence(Method(CLAIM), Case(network, "paper")).tolist() == [[3, 4]]
    assert results.influence(Method(CLAIM), Case(network, "field")) is None
    assert results.part([Method(CLAIM)], Case(network, "paper")) == " [1 of 2 models]"
    assert results.part([Method("random"), Method(CLAIM)], Case(network, "paper")) == " [claim 1 of 2 models]"
    page = write_experiments(paper, store, "claim experiment paper", {}).read_text(encoding="utf-8")
    assert "3.50 ± – [1 of 2 models]" in page  # one model says nothing of the variance between models


def test_what_has_not_been_run_is_said_to_be_not_run(tmp_path):
    paper, store = grid(SMALLEST), Store(tmp_path)
    page = write_experiments(
        paper, store, "claim experiment paper", {"train claim.zones.5.seed0": "it was killed"}
    ).read_text()
    assert "train claim.zones.5.seed0: it was killed" in page
    assert "OPT of zone1: not run yet; the same command goes on" in page
    assert page.count(">not run<") > 50


class Made(Results):
    """Results with known numbers: people reached by each model of a method, else ten, twenty, ... people."""

    def influence(self, method, case):
        runs = np.shape(next(iter(self.reached.values())))[-1]
        return np.array(self.reached.get(method.name, by_model(method, [10.0 * np.arange(1, runs + 1)] * 3)))

    def models(self, method, case):
        return [{"density": [1.0, 2.0, 3.0]}] * len(np.atleast_2d(self.influence(method, case)))


def made(folder, **reached):
    results = Made(grid(replace(SMALLEST, seeds=3)), Store(folder))
    results.reached = reached
    return results


def table_of(section, name):
    return next(table for table in section.tables if table.name == name)


def test_improvement_and_density_are_paired_by_run(folder):
    base = np.array([10.0, 20, 30])
    claim = [base + np.array([2, 2, -1]) + model for model in (-0.1, 0, 0.1)]  # one below on the third start set
    results = made(folder, claim=claim, **{PAPER_CLAIM: claim, BASELINE: [base] * 3})
    first = table_of(influence(results), "improvement-paper").rows[0]
    assert (first["a"], first["b"]) == (PAPER_CLAIM, BASELINE)
    assert first["difference"] == pytest.approx(1)
    assert first["percent"] == pytest.approx(5)
    assert 0.1 < first["p"] < 0.5
    average = table_of(influence(results), "average-paper").rows[0]
    assert average["claim_ahead"] == pytest.approx(5)  # one of twenty on every network
    assert (average["low"], average["high"]) == pytest.approx((5 * first["low"], 5 * first["high"]), rel=0.1)
    assert np.isnan(average["of_published"])
    sparse, dense = density(results).tables[0].rows[:2]
    assert (sparse["method"], sparse["runs"], sparse["difference"]) == (PAPER_CLAIM, 2, 2)
    assert (dense["method"], dense["runs"], dense["difference"]) == (PAPER_CLAIM, 1, -1)
    assert f"{PAPER_CLAIM} is behind {BASELINE} on zone1 dense" in " ".join(density(results).paragraphs)


def test_models_that_differ_make_no_significant_difference(folder):
    runs = np.random.default_rng(0).normal(50, 1, 100)
    results = made(folder, claim=[runs + model for model in (4.0, -1.0, 0.5)], random=runs)
    row = next(each for each in table_of(influence(results), "improvement-paper").rows if each["b"] == "random")
    assert row["difference"] == pytest.approx(3.5 / 3)
    assert row["low"] < 0 < row["high"]
    assert row["p"] > 0.2
    reached = {each["method"]: each for each in table_of(influence(results), "influence-paper").rows}
    assert reached[CLAIM]["stderr"] > 1 > 0.2 > reached["random"]["stderr"]


def verdict(results, protocol):
    (found,) = [each for each in influence(results).paragraphs if "random surveys" in each]
    return found.partition(f"{protocol} protocol: ")[2].partition(".")[0]


def test_trained_methods_that_are_not_above_random_surveys_are_named(folder):
    runs = np.random.default_rng(0).normal(50, 1, 100)
    above = [runs + model for model in (2.0, 2.1, 1.9)]
    results = made(folder, random=runs, claim=above, **{PAPER_CLAIM: [runs] * 3, BASELINE: above, SHAPED: above[:1]})
    assert verdict(results, "Paper") == f"on zone1, {PAPER_CLAIM} is not above random surveys"
    results.reached[BASELINE] = [runs + model for model in (4.0, -1.0, 0.5)]  # above only on average
    assert verdict(results, "Field") == f"on zone1, {BASELINE} and {PAPER_CLAIM} are not above random surveys"
    results.reached[SHAPED] = [runs - 1]
    assert f"{BASELINE}, {PAPER_CLAIM} and {SHAPED} are not" in verdict(results, "Paper")
    results.reached |= dict.fromkeys((BASELINE, PAPER_CLAIM, SHAPED), above)
    assert verdict(results, "Paper") == "every trained method that has been run is above random surveys"


def test_methods_that_are_not_trained_on_a_family_have_a_dash_there(tmp_path):
    results = Results(grid(TINY), Store(tmp_path))
    for name, section in (("influence-paper", influence), ("stability", stability)):
        shown = table_of(section(results), name)
        lines = [dict(zip(shown.heads, line, strict=True)) for line in shown.cells]
        if "method" in shown.heads:
            cells = {(line["method"], network): line[network] for line in lines for network in ("zone1", "meadow1")}
        else:
            cells = {(method, line["network"]): line[method] for line in lines for method in shown.heads[1:]}
        assert (cells[PAPER_CLAIM, "zone1"], cells[PAPER_CLAIM, "meadow1"]) == ("not run", "–")
        assert (cells[CLAIM, "zone1"], cells[CLAIM, "meadow1"]) == ("not run", "not run")
    pairs = {(row["a"], row["b"], row["network"]) for row in table_of(influence(results), "improvement-paper").rows}
    assert (CLAIM, PAPER_CLAIM, "zone1") in pairs
    assert (CLAIM, PAPER_CLAIM, "meadow1") not in pairs
    assert not any("random surveys" in each for each in influence(results).paragraphs)  # nothing has been run


def test_selectors_are_compared_on_the_same_models(folder):
    models = np.random.default_rng(1).normal(50, 5, (3, 1)) + np.random.default_rng(2).normal(0, 1, (3, 100))
    results = made(folder, claim=models, **{"claim + foresight": models + np.array([[2.0], [2.1], [1.9]])})
    rows = table_of(influence(results), "improvement-field").rows
    row = next(each for each in rows if (each["a"], each["b"]) == ("claim + foresight", CLAIM))
    assert row["difference"] == pytest.approx(2)
    assert 1 < row["low"] < row["high"] < 3
    assert row["p"] < 0.05


def test_one_training_has_neither_interval_nor_p_value(folder):
    improvement = table_of(influence(Results(grid(SMALLEST), Store(folder))), "improvement-paper")
    line = dict(zip(improvement.heads, improvement.cells[0], strict=True))
    assert line["who"] == f"{PAPER_CLAIM} against {BASELINE} [{PAPER_CLAIM} one training, {BASELINE} one training]"
    assert (line["95 % interval"], line["p"]) == ("–", "–")
    row = improvement.rows[0]
    means = {each["method"]: float(each["mean"]) for each in rows_of(folder / "tables" / "influence-paper.csv")}
    assert row["difference"] == pytest.approx(means[PAPER_CLAIM] - means[BASELINE])
