"""The grid of the paper's experiments, its studies and trainings, and the report made from them."""

import csv
import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from claim.errors import InputError
from claim.evaluation import compare
from claim.experiments import published
from claim.experiments.findings import Findings
from claim.experiments.jobs import key_of, with_needs
from claim.experiments.local import LocalBackend
from claim.experiments.paper import CLAIM, Method, Paper
from claim.experiments.played import SEED, Play
from claim.experiments.products.density import density
from claim.experiments.products.reached import influence
from claim.experiments.report import write_report
from claim.experiments.scales import FULL, QUICK, SCALES, TINY, Scale, fields
from claim.experiments.store import Store
from claim.experiments.sweep import Sweep
from claim.experiments.trained import Train, load_policy
from claim.experiments.wishes import AS_ESTIMATED, Wish
from claim.learning.goals import GoalHeuristic
from claim.networks import load

SMALLEST = replace(
    TINY, splits=TINY.splits[:1], seeds=1, episodes=3, runs=3, checkpoints=(0, 2), long_budget=None, training_wishes=()
)


def grid(scale: Scale) -> Paper:
    return Paper(scale, fields(scale))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("paper")
    paper, store = grid(SMALLEST), Store(path)
    going = Sweep(paper.jobs(), store, LocalBackend(1, path))
    going.run()
    assert going.failures == {}
    assert going.missing == 0
    write_report(paper, store, "claim experiment paper", going.failures)
    return path


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# Studies and trainings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["field", "paper"])
@pytest.mark.parametrize("policy", ["random", "change-published", "degree+inverse"])
def test_studies_are_those_of_a_comparison(policy, protocol, tmp_path):
    network = load("zone1")
    played = Play(network, policy, "greedy", protocol, runs=4, checkpoints=(2, 5)).run([], tmp_path)
    for place, budget in enumerate((2, 5)):
        row = compare(network, policy, protocol=protocol, runs=4, seed=SEED, budget=budget, workers=1).rows[0]
        assert [run[place] for run in played["influence"]] == row.values
        assert np.mean([run[place] for run in played["discovered"]]) == row.discovered
    assert all(len(set(run)) == len(run) <= 5 for run in played["surveyed"])


def test_density_counts_start_people_and_their_contacts(tmp_path):
    network = load("zone1")
    played = Play(network, "random", "greedy", "field", runs=3, checkpoints=(0,)).run([], tmp_path)
    for start, ratio in zip(
        compare(network, "random", runs=3, seed=SEED).played.starts["zone1"], played["density"], strict=True
    ):
        around = {int(contact) for person in start for contact in network.contacts_of(person)} | set(start)
        assert ratio == len(around) / len(start)


def test_a_training_cut_off_goes_on_to_the_same_result(tmp_path):
    job = grid(SMALLEST).trainings(CLAIM, grid(SMALLEST).fields[0])[0]
    longer = replace(job, episodes=6)
    whole = longer.run([], tmp_path / "whole")
    from claim.learning.folder import TrainingFolder

    cut = tmp_path / "cut" / "training" / f"{longer.label}-{key_of(longer)[:8]}"
    folder = TrainingFolder(cut, longer.config, longer.networks, longer.command)
    folder.open(resume=False)
    folder.run(3, lambda metrics: None)
    assert longer.run([], tmp_path / "cut") == whole
    assert load_policy(whole).name == CLAIM


def test_wishes_change_goals_and_only_goals(tmp_path):
    goals = GoalHeuristic(300, 400, 20)
    assert Wish(influence=2).applied(goals).average_influence == 40
    assert Wish(people=0.5).applied(goals).people == 150
    constant = Wish(constant=True).applied(goals)
    assert constant.goal(3) == constant.goal(30) == 20
    assert goals.goal(3) != goals.goal(30)
    assert (AS_ESTIMATED.name, Wish(edges=2).name) == ("estimates as they are", "edges × 2")
    network = load("zone1")
    settings = dict(TINY.settings)
    usual, wishful = (
        Train(CLAIM, "zones", (network,), 0, 3, tuple(settings.items()), wish).run([], tmp_path)
        for wish in (AS_ESTIMATED, Wish(influence=2.0))
    )
    assert wishful["card"]["goals"]["average_influence"] == 2 * usual["card"]["goals"]["average_influence"]
    assert wishful["curve"][0]["reached"] == usual["curve"][0]["reached"]  # influence is counted as ever


# The grid -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [QUICK, TINY], ids=lambda scale: scale.name)
def test_every_job_has_a_name_of_its_own(scale, monkeypatch, tmp_path):
    monkeypatch.setenv("CLAIM_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    jobs = with_needs(grid(scale).jobs())
    assert max(Counter(job.name for job in jobs).values()) == 1
    assert len({key_of(job) for job in jobs}) == len(jobs)
    assert sum(isinstance(job, Train) for job in jobs) >= 4 * scale.seeds * len(scale.splits)


def test_the_full_grid_is_the_papers(data):
    paper = grid(FULL)
    assert tuple(paper.networks) == published.NETWORKS
    assert paper.property_network.name == "assad"
    trainings = [job for job in with_needs(paper.jobs()) if isinstance(job, Train)]
    judged = set(published.NETWORKS)
    assert not any(network.name in judged for job in trainings for network in job.networks)


def test_without_the_networks_quick_takes_stand_ins_and_full_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("CLAIM_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert [field.family for field in fields(QUICK)] == ["retweet-like", "vole-like", "zones"]
    with pytest.raises(InputError, match=r"absent \(copen, occupy, israel.*claim networks fetch"):
        fields(FULL)
    assert set(SCALES) == {"full", "quick", "tiny"}


def test_published_numbers_agree_with_each_other():
    for network in published.NETWORKS:
        claim, baseline = published.INFLUENCE["claim"][network], published.INFLUENCE["geometric-dqn"][network]
        assert 100 * (claim / baseline - 1) == pytest.approx(published.IMPROVEMENT[network], abs=0.02)
        assert max(row[network] for row in published.INFLUENCE.values()) < published.OPTIMUM[network]
    assert published.published("claim", "israel") == 38.55
    assert published.published("claim", "zone2") is None
    assert published.published("scout", "israel") is None


# The report -----------------------------------------------------------------------------------------------------------


def test_every_product_is_there(folder):
    tables = {path.stem for path in (folder / "tables").iterdir()}
    pairs = {f"{name}-{protocol}" for name in ("influence", "improvement", "density", "ablation", "stability")
             for protocol in ("field", "paper")}  # fmt: skip
    assert tables == pairs | {
        "glance", "properties", "properties-by-step", "goals", "goals-wrong", "sample-efficiency", "budget-curves",
    }  # fmt: skip
    figures = {path.name for path in (folder / "figures").iterdir()}
    assert {f"{name}.{ending}" for name in ("influence-paper", "density", "properties", "goals", "sample-efficiency",
            "budget-curves") for ending in ("svg", "png")} <= figures  # fmt: skip
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["command"] == "claim experiment paper"
    assert manifest["networks"]["zone1"]["checksum"] == load("zone1").checksum
    assert (folder / "policies" / "claim.zones.5.seed0.safetensors").exists()


def test_tables_say_what_the_jobs_found(folder):
    paper = grid(SMALLEST)
    network = paper.networks["zone1"]
    values = Findings(paper, Store(folder)).influence(Method(CLAIM), network, "paper")
    row = next(each for each in rows_of(folder / "tables" / "influence-paper.csv") if each["method"] == CLAIM)
    assert float(row["mean"]) == values.mean()
    assert int(row["runs"]) == SMALLEST.runs
    results = json.loads((folder / "results.json").read_text())
    assert results["influence"]["influence-paper"][0]["method"] == "random"
    halves = rows_of(folder / "tables" / "density-field.csv")
    assert [row["half"] for row in halves] == ["sparse", "dense"]
    assert sum(int(row["runs"]) for row in halves) == SMALLEST.runs


def test_the_report_needs_nothing_but_itself(folder):
    page = (folder / "report.html").read_text()
    assert page.count('src="data:image/svg+xml;base64,') == 8
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page
    assert "Everything has been run" in page or "scout: this version has no policy" in page


def test_what_has_not_been_run_is_said_to_be_not_run(tmp_path):
    paper, store = grid(SMALLEST), Store(tmp_path)
    page = write_report(
        paper, store, "claim experiment paper", {"train claim.zones.5.seed0": "it was killed"}
    ).read_text()
    assert "train claim.zones.5.seed0: it was killed" in page
    assert "OPT of zone1: not run yet; the same command goes on" in page
    assert page.count(">not run<") > 50


def test_improvement_and_density_are_paired_by_run(folder):
    class Made(Findings):
        """Findings with known numbers: claim two above the baseline, but one below from the third start set."""

        def influence(self, method, network, protocol):
            return np.array([10.0, 20, 30]) + (np.array([2.0, 2, -1]) if method == Method(CLAIM) else 0)

        def models(self, method, network, protocol):
            return [{"density": [1.0, 2.0, 3.0]}]

    made = Made(grid(SMALLEST), Store(folder))
    first = next(table for table in influence(made).tables if table.name == "improvement-paper").rows[0]
    assert first["difference"] == pytest.approx(1)
    assert first["percent"] == pytest.approx(5)
    assert 0.3 < first["p"] < 0.5
    sparse, dense = density(made).tables[0].rows
    assert (sparse["runs"], sparse["difference"]) == (2, 2)
    assert (dense["runs"], dense["difference"]) == (1, -1)
    assert "behind the baseline on zone1 dense" in " ".join(density(made).words)
