"""Other models of diffusion: kernels against the readable reference on the same random numbers, greedy, and errors."""

from dataclasses import replace

import numpy as np
import pytest
from cascade_cases import networks, probabilities, random_network, seeds, star
from hypothesis import given, settings
from hypothesis import strategies as st

import claim
from cascade_reference import reached_by_linear_threshold, reached_by_threshold, reached_in_steps
from claim.cascades import Diffusion, Model, simulate_cascades
from claim.cascades.models import LinearThresholdGains, ThresholdGains
from claim.errors import InputError
from claim.networks import Network
from claim.selection import select

WORLDS = 8


def reach(network: Network, model: str, leaders: list[int], p: float = 0.1, samples: int = WORLDS, seed: int = 0):
    return Diffusion(network, Model.of(model), p).reach(leaders, samples, seed).tolist()


def with_weights(network: Network) -> Network:
    """The network with weights; those of a person's incoming ties sum up to 1 at most."""
    sources, targets, _ = network.edges()
    most = int(np.bincount(network.contacts, minlength=1).max()) or 1
    weights = np.random.default_rng(network.m).uniform(0, 1 / most, len(sources))
    return Network.from_edges(sources, targets, n=network.n, directed=network.directed, probabilities=weights)


@settings(max_examples=60, deadline=None)
@given(networks(), probabilities, st.integers(1, 4), seeds)
def test_steps_equal_the_reference(network: Network, p: float, steps: int, seed: int) -> None:
    leaders = list(range(0, network.n, 3))
    expected = [len(reached_in_steps(network, leaders, p, steps, seed, world)) for world in range(WORLDS)]
    assert reach(network, f"ic:steps={steps}", leaders, p, seed=seed) == expected


@settings(max_examples=60, deadline=None)
@given(networks(), st.booleans(), seeds)
def test_linear_thresholds_equal_the_reference(network: Network, own: bool, seed: int) -> None:
    network = with_weights(network) if own else replace(network, probabilities=None)
    leaders = list(range(0, network.n, 4))
    expected = [len(reached_by_linear_threshold(network, leaders, seed, world)) for world in range(WORLDS)]
    assert reach(network, "lt", leaders, seed=seed) == expected


@settings(max_examples=60, deadline=None)
@given(networks(), st.integers(1, 3))
def test_thresholds_equal_the_reference(network: Network, threshold: int) -> None:
    leaders = list(range(0, network.n, 3))
    expected = len(reached_by_threshold(network, leaders, threshold))
    assert reach(network, f"threshold:{threshold}", leaders) == [expected] * WORLDS


@pytest.mark.parametrize("directed", [False, True])
def test_a_larger_network_in_threads(directed: bool) -> None:
    network = random_network(150, 500, directed=directed)
    leaders = [3, 5, 8]
    assert reach(network, "lt", leaders, samples=30, seed=5) == [
        len(reached_by_linear_threshold(network, leaders, 5, world)) for world in range(30)
    ]
    many = reach(network, "lt", leaders, samples=3000, seed=5)
    assert many[:30] == reach(network, "lt", leaders, samples=30, seed=5)


def test_many_steps_are_the_unlimited_cascade_world_by_world() -> None:
    network = random_network(200, 700)
    plain = simulate_cascades(network, [1, 2], 0.2, 50, 3)[0].tolist()
    assert reach(network, "ic:steps=200", [1, 2], 0.2, 50, 3) == plain
    assert reach(network, "ic", [1, 2], 0.2, 50, 3) == plain
    means = [np.mean(reach(network, f"ic:steps={steps}", [1, 2], 0.2, 200, 3)) for steps in (1, 2, 4, 200)]
    assert means == sorted(means)
    assert means[0] < means[-1]


def test_incoming_ties_are_live_by_weight() -> None:
    """Of two incoming ties of weights 0.6 and 0.1, each is live as often as that, and else none."""
    network = Network.from_edges([0, 1], [2, 2], n=3, directed=True, probabilities=[0.6, 0.1])
    for leader, weight in ((0, 0.6), (1, 0.1)):
        assert np.mean(reach(network, "lt", [leader], samples=20_000)) - 1 == pytest.approx(weight, abs=0.012)
    assert np.mean(reach(star(4), "lt", [1], samples=20_000)) == pytest.approx(1 + 0.25 * (1 + 3), abs=0.05)


def test_two_contacts_activate_for_certain() -> None:
    square = Network.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    assert reach(square, "threshold:2", [1, 3]) == [4] * WORLDS
    assert reach(square, "threshold:2", [1]) == [1] * WORLDS
    found = claim.influence(square, [1, 3], p=0.0, model="threshold:2")
    assert (found.mean, found.stderr) == (4.0, 0.0)


@settings(max_examples=30, deadline=None)
@given(networks(), st.booleans(), seeds)
def test_gains_of_linear_thresholds_are_what_each_person_adds(network: Network, own: bool, seed: int) -> None:
    network = with_weights(network) if own else replace(network, probabilities=None)
    diffusion = Diffusion(network, Model.of("lt"), 0.1)
    greedy, leaders = LinearThresholdGains(diffusion, WORLDS, seed), []
    for leader in range(min(3, network.n)):
        before = sum(diffusion.reach(leaders, WORLDS, seed)) if leaders else 0
        for person in set(range(network.n)) - set(leaders):
            assert greedy.gains[person] == sum(diffusion.reach([*leaders, person], WORLDS, seed)) - before
        greedy.take(leader)
        leaders.append(leader)


@settings(max_examples=30, deadline=None)
@given(networks(), st.integers(1, 3))
def test_gains_of_thresholds_are_what_each_person_adds(network: Network, threshold: int) -> None:
    diffusion = Diffusion(network, Model("threshold", threshold), 0.1)
    greedy, leaders = ThresholdGains(diffusion), []
    unit = len(network.contacts) + 1
    for leader in range(min(3, network.n)):
        before = len(reached_by_threshold(network, leaders, threshold))
        free = np.array([not active for active in greedy.active])
        gains = greedy.keys(free)
        for person in np.flatnonzero(free).tolist():
            added = len(reached_by_threshold(network, [*leaders, person], threshold)) - before
            assert gains[person] // unit == added
        greedy.take(leader)
        leaders.append(leader)


@pytest.mark.parametrize("model", ["ic:steps=2", "lt"])
@pytest.mark.parametrize("directed", [False, True])
def test_greedy_picks_whom_trying_everyone_picks(model: str, directed: bool) -> None:
    network = random_network(40, 90, directed=directed)
    chosen = select(network, 3, 0.3, 60, model=model, ties="first")
    from claim.randomness import as_generator, draw_seed

    choosing = as_generator(0).spawn(2)[0]
    seed, diffusion, leaders = draw_seed(choosing), Diffusion(network, Model.of(model), 0.3), []
    for _ in range(3):
        values = {
            person: int(diffusion.reach([*leaders, person], 60, seed).sum())
            for person in range(network.n)
            if person not in leaders
        }
        leaders.append(max(values, key=lambda person: (values[person], -person)))
    assert chosen.indices == leaders
    fresh = Diffusion(network, Model.of(model), 0.3).influence(leaders, 20_000, 99)
    assert chosen.influence == pytest.approx(fresh.mean, abs=6 * (chosen.stderr + fresh.stderr))


def test_leaders_for_thresholds_work_together() -> None:
    """In two cliques of which one is larger, both leaders go to the larger one."""
    pairs = [(i, j) for low, high in ((0, 5), (5, 13)) for i in range(low, high) for j in range(i + 1, high)]
    network = Network.from_edges([u for u, _ in pairs], [v for _, v in pairs])
    chosen = select(network, 2, model="threshold:2")
    assert set(chosen.indices) <= set(range(5, 13))
    assert chosen.influence == 8.0


def test_models_differ_in_whom_they_choose_and_how_far_they_reach() -> None:
    network = claim.load("meadow1")
    reached = {model: select(network, 5, model=model).influence for model in ("ic", "ic:steps=1", "lt")}
    assert reached["ic:steps=1"] < reached["ic"] < reached["lt"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"model": "sir"}, "model must be ic, ic:steps=N, lt or threshold:N, got 'sir'"),
        ({"model": "ic:steps=0"}, "N of at least 1"),
        ({"model": "threshold:0"}, "N of at least 1"),
        ({"model": "threshold:-2"}, "model must be"),
        ({"model": "threshold"}, "model must be"),
        ({"model": "lt", "method": "ris"}, "ris knows the model ic only, got lt"),
        ({"model": "lt", "method": "foresight"}, "foresight knows the model ic only"),
    ],
)
def test_bad_models_are_refused_in_one_line(options: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        select("zone1", 2, **options)
    assert problem in str(caught.value)


def test_weights_beyond_one_are_refused() -> None:
    network = Network.from_edges([0, 1], [2, 2], n=3, directed=True, probabilities=[0.8, 0.4], name="office")
    with pytest.raises(InputError, match=r"office: the weights of the ties to 2 sum up to 1.2"):
        claim.influence(network, [0], model="lt")


def test_no_people_and_no_contacts() -> None:
    lonely = Network.from_edges([], [], n=2)
    for model in ("ic:steps=3", "lt", "threshold:2"):
        assert reach(lonely, model, [0]) == [1] * WORLDS
        assert reach(lonely, model, []) == [0] * WORLDS
        assert len(select(lonely, 5, model=model).leaders) == 2
    hub = star(3000)
    assert reach(hub, "threshold:1", [0]) == [3001] * WORLDS
    assert select(hub, 1, model="lt", samples=50).indices == [0]
