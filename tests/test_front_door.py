"""The stable interface: what the functions and classes of ``claim`` take and return."""

import inspect
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import claim
from claim.errors import InputError
from claim.provenance import manifest
from claim.registry import SELECTORS
from claim.selection import METHODS

EDGES = [(0, i) for i in range(1, 9)] + [(9, i) for i in range(10, 15)] + [(8, 9)]


@dataclass
class PygData:
    edge_index: Any
    num_nodes: int


@pytest.fixture(params=["path", "text", "Network", "networkx", "scipy", "PyG"])
def anything(request, tmp_path):
    """The same network in each form the package takes."""
    path = tmp_path / "ties.csv"
    path.write_text("".join(f"{u},{v}\n" for u, v in EDGES))
    u, v = np.array([*EDGES, *((b, a) for a, b in EDGES)]).T
    forms = {
        "path": path,
        "text": str(path),
        "Network": claim.load(path),
        "networkx": nx.Graph(EDGES),
        "scipy": sparse.csr_array((np.ones(len(u)), (u, v)), shape=(15, 15)),
        "PyG": PygData(np.array([u, v]), 15),
    }
    return forms[request.param]


def test_every_function_takes_a_network_in_any_form(anything):
    assert claim.load(anything).n == 15
    assert sorted(claim.select(anything, 2, 0.5, samples=300).leaders) == [0, 9]
    assert claim.influence(anything, [0], 1.0, samples=2).mean == 15
    advice = claim.advise(anything, surveyed=[0])
    assert (advice.people, advice.surveyed, advice.rows[0]["rank"]) == (15, 1, 1)
    assert 0 not in [row["person"] for row in advice.rows]
    made = claim.plan(20, known=anything, surveyed=[0], leaders=2, studies=2, surveys=[0, 1])
    assert [point.surveys for point in made.points] == [0, 1]
    compared = claim.compare(anything, "random", runs=2, budget=1, start_size=1, leaders=2, workers=1)
    assert [row.policy for row in compared.rows] == ["random"]


def test_compare_takes_several_networks_in_any_form():
    star, ring = nx.star_graph(12), nx.cycle_graph(12)
    star.name, ring.name = "star", "ring"
    compared = claim.compare([star, ring, "zone2"], ["random"], runs=2, budget=1, workers=1)
    assert [row.network for row in compared.rows] == ["star", "ring", "zone2"]
    with pytest.raises(InputError, match="two networks are called network: give each a name of its own"):
        claim.compare([nx.star_graph(12), nx.cycle_graph(12)], "random", runs=2)


@pytest.mark.parametrize(
    "call",
    [
        lambda wrong: claim.load(wrong),
        lambda wrong: claim.select(wrong),
        lambda wrong: claim.influence(wrong, [0]),
        lambda wrong: claim.advise(wrong),
        lambda wrong: claim.compare(wrong, "random"),
        lambda wrong: claim.compare([wrong], "random"),
        lambda wrong: claim.plan(20, known=wrong),
        pytest.param(lambda wrong: claim.train(wrong), marks=pytest.mark.needs("torch")),
    ],
)
def test_a_wrong_type_gets_one_clear_line(call):
    with pytest.raises(InputError, match=r"expected a network name, path, .* or PyG data, got int") as raised:
        call(42)
    assert "\n" not in str(raised.value)


def test_people_are_given_and_returned_by_label():
    graph = nx.star_graph([101, "ben", 103, "dan"])
    assert claim.influence(graph, [101], 1.0, 2).mean == 4
    assert claim.influence(graph, ["101"], 1.0, 2).mean == 4
    chosen = claim.select(graph, 2, must=["ben"], must_not=[103, "dan"])
    assert chosen.leaders == ["ben", 101]
    assert chosen.indices == [1, 0]
    assert claim.influence(graph, chosen.leaders, 1.0, 2).mean == 4
    with pytest.raises(InputError, match="there is no person 0 in"):
        claim.influence(graph, [0])
    with pytest.raises(InputError, match="people must be a list of labels, got 'ben'"):
        claim.select(graph, must="ben")


class LastKnown:
    """A selector of one's own."""

    name = "last-known"

    def select(self, discovered, k, rng):
        return list(range(len(discovered)))[-k:]


class Insists:
    """A policy that surveys the same person again and again."""

    name = "insists"

    def choose(self, discovered, rng, count=1):
        return [discovered.start[0]]


class Counts:
    """A policy that remembers: its third choice in a study fails."""

    name = "counts"

    def __init__(self):
        self.choices = 0

    def choose(self, discovered, rng, count=1):
        self.choices += 1
        assert self.choices <= 2
        return discovered.frontier[:1]


def test_selectors_of_ones_own_work_in_every_function():
    graph = nx.Graph(EDGES)
    assert claim.select(graph, 2, method=LastKnown(), surveyed=[0]).leaders == [13, 14]
    made = claim.plan(20, 3.0, selector=LastKnown(), policy=Counts(), leaders=2, studies=2, surveys=[0, 1])
    assert json.loads(json.dumps(made.to_dict()))["settings"]["selector"] == "last-known"
    compared = claim.compare(graph, "random", [LastKnown(), "degree", "ris"], runs=2, budget=1, workers=1)
    assert [row.selector for row in compared.rows] == ["last-known", "degree", "ris"]
    with pytest.raises(InputError, match="a selector is a name or an object with select"):
        claim.select(graph, method=3)


def test_a_policy_is_fresh_in_every_run_and_may_survey_the_frontier_only():
    graph = nx.Graph(EDGES)
    assert len(claim.compare(graph, Counts(), runs=5, budget=2, start_size=1, workers=1).rows[0].values) == 5
    with pytest.raises(InputError, match="the policy insists chose person 0, who is not in the frontier"):
        claim.compare(graph, Insists(), runs=1, workers=1)


@pytest.mark.parametrize("name", ["random", "claim", 3, "", "my policy", "a:b"])
def test_a_registered_name_is_new_and_can_be_written_on_the_command_line(name):
    with pytest.raises(InputError, match="name"):
        claim.register_policy(name, Insists())


def test_the_record_names_a_policy_of_ones_own_by_its_class():
    compared = claim.compare("zone2", [Counts()], runs=1, budget=1, workers=1)
    assert f"--policies {__name__}:Counts" in compared.manifest["command"]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: claim.select("zone2", k=1.5), "k must be a whole number, got 1.5"),
        (lambda: claim.select("zone2", k=True), "k must be a whole number, got True"),
        (lambda: claim.select("zone2", k=0), "k must be at least 1, got 0"),
        (lambda: claim.influence("zone2", [0], samples=0), "samples must be at least 1, got 0"),
        (lambda: claim.compare("zone2", "random", runs="3"), "runs must be a whole number, got '3'"),
        (lambda: claim.compare("zone2", "random", p="0.1"), "p must be a number, got '0.1'"),
        (lambda: claim.compare("zone2", "random", attendance=0.0), "attendance must be above 0 and at most 1, got 0.0"),
        (lambda: claim.plan(20, 3.0, leaders="2"), "leaders must be a whole number, got '2'"),
        (lambda: claim.plan(20, 3.0, surveys=5), "numbers of surveys must be ascending .*; got 5"),
        (lambda: claim.compare(nx.Graph(), "random"), "the number of people in network must be at least 1, got 0"),
        (lambda: claim.compare("zone2", "random", runs=2, backend="rai"), "backend must be local or ray, got 'rai'"),
        (lambda: claim.train("zone1", episodes=0), "episodes must be at least 1, got 0"),
    ],
)
def test_a_wrong_number_gets_one_clear_line(call, problem):
    with pytest.raises(claim.InputError, match=problem):
        call()


def test_foresight_is_a_method_of_select_as_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "ties.csv"
    path.write_text("".join(f"P{u},P{v}\n" for u, v in EDGES))
    chosen = claim.select(path, 2, method="foresight:free", surveyed=["P0"], rng=3, must_not=["P8"], people=40)
    from claim.cli import main

    options = ["--known", str(path), "--surveyed", "P0", "-k", "2", "--seed", "3", "--must-not", "P8", "--people", "40"]
    with pytest.raises(SystemExit):
        main(["select", *options, "--method", "foresight:free", "--json", "-"])
    printed = json.loads(capsys.readouterr().out)
    assert chosen.leaders == printed["leaders"]
    assert chosen.expected is not None
    assert chosen.expected._asdict() == printed["expected"]
    assert (chosen.reasons, chosen.replacements) == (printed["reasons"], printed["replacements"])
    assert all(chosen.reasons)
    assert "P8" not in [*chosen.leaders, *chosen.replacements]


@pytest.mark.needs("pandas")
def test_results_are_tables_in_data_frames_and_notebooks(tmp_path):
    graph = nx.Graph(EDGES)
    results = {
        "leader": claim.select(graph, 3),
        "mean": claim.influence(graph, [0]),
        "person": claim.advise(graph, surveyed=[0]),
        "policy": claim.compare(graph, "random", runs=2, workers=1),
        "surveys": claim.plan(20, 3.0, leaders=2, studies=2, surveys=[0, 1]),
    }
    for column, result in results.items():
        frame = result.to_frame()
        assert len(frame) == len(result.records()) > 0
        assert column in frame.columns
        assert f"<th>{column}</th>" in result._repr_html_()


@pytest.mark.needs("torch")
def test_train_returns_a_policy_that_the_other_functions_take(tmp_path):
    settings = {"budget": 2, "validate_every": 2, "validation_starts": 2, "batch_size": 4}
    seen = []
    run = claim.train("zone1", "claim", 2, tmp_path / "run", watch=seen.append, **settings)
    assert run.episodes == 2
    assert len(seen) == 3  # two episodes and one validation
    assert [row["episode"] for row in run.records()] == [0, 2]
    assert "zone1" in run.records()[0]
    assert run.path == tmp_path / "run" / "policy.json"
    compared = claim.compare("zone2", [run.policy, "random"], runs=2, workers=1)
    assert [row.policy for row in compared.rows] == ["claim", "random"]
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["command"].startswith(
        "claim train --variant claim --networks zone1 --episodes 2 --budget 2 --seed 0"
    )
    with pytest.raises(InputError, match="holds a run already"):
        claim.train("zone1", "claim", 2, tmp_path / "run", **settings)
    with pytest.raises(InputError, match="no setting 'speed'"):
        claim.train("zone1", speed=3)


def test_dir_lists_the_interface_and_every_name_has_a_docstring():
    assert {"load", "advise", "select", "influence", "compare", "plan", "train", "__version__"} <= set(dir(claim))
    assert {"Network", "Discovered", "Policy", "Selector"} <= set(dir(claim))
    for name in set(dir(claim)) - {"__version__"}:
        public = getattr(claim, name)
        assert inspect.getdoc(public), name
        methods = [] if inspect.isfunction(public) else inspect.getmembers(public, inspect.isroutine)
        for method, function in methods:
            own = str(getattr(function, "__module__", "")).startswith("claim")
            assert not own or method.startswith("_") or inspect.getdoc(function), f"{name}.{method}"


def test_the_record_has_the_revision_of_the_checkout():
    root = Path(__file__).parent.parent
    if not (root / ".git").exists():
        pytest.skip("not a git checkout")
    head = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    assert manifest("claim", {}, [])["git"]["revision"] == head.stdout.strip()


def test_the_names_of_selectors_are_those_of_the_methods_and_foresight():
    assert (*METHODS, "foresight") == SELECTORS
