"""One call for all methods: what it accepts, what it refuses, and what it reports."""

import os
from pathlib import Path

import numpy as np
import pytest
from selection_cases import random_network

from claim.cascades import influence
from claim.cascades.influence import FEWEST_FOR_REGRESSION
from claim.errors import InputError
from claim.networks import Network
from claim.selection import METHODS, Candidates, Selection, api, select

EVERY_METHOD = ["greedy", "ris", "degree", "degree-discount", "pagerank", "random"]


def test_all_methods_are_registered() -> None:
    assert list(METHODS) == EVERY_METHOD


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", EVERY_METHOD)
def test_every_method_chooses_different_people_and_repeats_itself(method: str, directed: bool) -> None:
    network = random_network(60, 150, directed=directed)
    chosen = select(network, 5, samples=50, method=method, rng=3)
    assert chosen == select(network, 5, samples=50, method=method, rng=3)
    assert len(set(chosen.leaders)) == 5
    assert all(type(person) is int for person in chosen.leaders)
    assert chosen.method == method
    assert (chosen.guarantee is not None) == (method == "ris")


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_wishes_are_respected(method: str) -> None:
    network = random_network(60, 150)
    chosen = select(network, 5, samples=50, method=method, may=range(20), must=[40, 3], must_not=[0, 1])
    assert chosen.leaders[:2] == [40, 3]
    assert len(set(chosen.leaders)) == 5
    assert set(chosen.leaders[2:]) <= set(range(2, 20))


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_all_candidates_are_leaders_where_more_are_wanted(method: str) -> None:
    network = random_network(6, 8)
    assert sorted(select(network, 10, method=method, samples=20).leaders) == list(range(6))
    assert sorted(select(network, 10, method=method, samples=20, may=[1, 2], must=[5]).leaders) == [1, 2, 5]


def test_nobody_to_choose_from_reaches_nobody() -> None:
    assert select(random_network(6, 8), 2, may=[]) == Selection([], 0.0, 0.0, "greedy")


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_one_person_is_enough(method: str) -> None:
    chosen = select(Network.from_edges([], [], n=1), method=method)
    assert chosen.leaders == [0]
    assert chosen.influence == 1.0


def test_influence_is_judged_on_worlds_not_chosen_with() -> None:
    """Chosen on few worlds, leaders look better there than they are; the report must not."""
    network = random_network(300, 600, seed=1)
    reports = [select(network, 5, samples=5, rng=i) for i in range(30)]
    truth = [influence(network, each.leaders, samples=10_000, rng=1000 + i) for i, each in enumerate(reports)]
    z = [(a.influence - b.mean) / np.hypot(a.stderr, b.stderr) for a, b in zip(reports, truth, strict=True)]
    assert abs(np.mean(z)) < 4 / np.sqrt(len(z))


@pytest.mark.parametrize(("m", "p"), [(150, 0.2), (400, 0.3), (2000, 0.1)])
def test_influence_is_estimated_to_half_a_percent(m: int, p: float) -> None:
    network = random_network(200, m, seed=2)
    for leaders in ([0], [0, 10, 20, 30]):
        found = [api.estimate_influence(network, leaders, p, seed) for seed in range(5)]
        assert found == [api.estimate_influence(network, leaders, p, seed) for seed in range(5)]
        for each in found:
            assert FEWEST_FOR_REGRESSION <= each.samples <= api.SAMPLES
            assert each.stderr <= 0.005 * each.mean or each.samples == api.SAMPLES
            assert each.stderr >= 0.003 * each.mean or each.samples <= 2 * FEWEST_FOR_REGRESSION


def test_long_cascades_are_judged_on_fewer_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(200, 400, seed=2)
    assert api.estimate_influence(network, [0], 0.3).samples > 1000
    monkeypatch.setattr(api, "MOST_REACHED", 10_000)
    fewer = api.estimate_influence(network, [0], 0.3)
    assert api.PILOT_SAMPLES < fewer.samples < 1000
    assert fewer == api.estimate_influence(network, [0], 0.3)
    monkeypatch.setattr(api, "MOST_REACHED", 1)
    assert api.estimate_influence(network, [0], 0.3).samples == api.PILOT_SAMPLES


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"method": "best"}, "no method 'best' .known: greedy, ris, degree"),
        ({"k": 0}, "at least 1, got 0"),
        ({"p": -0.1}, "between 0 and 1"),
        ({"samples": 0}, "at least 1"),
        ({"ties": "last", "method": "degree"}, "not 'last'"),
        ({"may": [99]}, "there is no person 99"),
        ({"must": [1], "must_not": [1]}, "person 1 both must and must not"),
        ({"must": [1, 2], "k": 1}, "2 people must be chosen, but there are only 1"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        select(random_network(5, 6), **arguments)


def test_an_empty_network_is_refused() -> None:
    with pytest.raises(InputError, match="no people"):
        select(Network.from_edges([], []))


def test_candidates_do_not_change_by_being_used() -> None:
    candidates = Candidates.of(5, 2, must=[1])
    candidates.open_to_choice()[:] = False
    assert candidates.allowed.all()


@pytest.mark.parametrize("name", ["animal/kcs", "retweet/israel", "retweet/damascus"])
def test_reverse_sampling_equals_greedy_on_real_networks(name: str) -> None:
    folder = os.environ.get("CLAIM_DATA")
    if not folder:
        pytest.skip("CLAIM_DATA does not name a folder with the real networks")
    edges = np.loadtxt(Path(folder) / f"{name}.edges", dtype=np.int64)
    network = Network.from_edges(edges[:, 0], edges[:, 1], name=name)
    greedy, ris = (select(network, method=method, rng=2) for method in ("greedy", "ris"))
    noise = np.hypot(greedy.stderr, ris.stderr)
    assert ris.influence > greedy.influence - 4 * noise - 0.005 * greedy.influence
    assert ris.guarantee is not None
    assert ris.guarantee > 1 - 1 / np.e - 0.05


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_nobody_to_choose_from_is_nobody_chosen(method: str) -> None:
    chosen = select(Network.from_edges([0], [1]), 3, method=method, may=[])
    assert (chosen.leaders, chosen.influence) == ([], 0.0)


@pytest.mark.parametrize(
    ("people", "problem"),
    [
        (["Ana"], "no person 'Ana'"),
        ([3.7], "no person 3.7"),
        ("17", "people must be a list of labels, got '17'"),
        (17, "people must be a list of labels, got 17"),
        ([[1]], "no person"),
        ([2**70], "no person"),
        ([-1], "no person -1"),
    ],
)
def test_people_are_labels_of_the_network(people: list[int], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        influence(random_network(60, 150), people)


def test_the_default_is_greedy_until_memory_does_not_hold_its_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(200, 600)
    assert select(network, 3, rng=1) == select(network, 3, method="greedy", rng=1)
    monkeypatch.setattr("claim.selection.api.MOST_STORED", 1000)
    assert select(network, 3, rng=1) == select(network, 3, method="ris", rng=1)
    assert select(network, 3, model="lt", rng=1).method == "greedy"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "rai"}, "backend must be local or ray, got 'rai'"),
        ({"workers": 2}, "address and workers are those of a Ray cluster: they go with the backend ray"),
        ({"backend": "ray", "method": "degree"}, "on Ray leaders are chosen by the method ris, got degree"),
        ({"backend": "ray", "workers": 0}, "workers must be"),
    ],
)
def test_backends_that_do_not_fit_are_refused(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        select(random_network(10, 20), 2, **options)
