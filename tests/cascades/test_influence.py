"""Influence against exact values, an independent program, and its own standard error."""

import numpy as np
import pytest
from cascade_cases import exact_influence, random_network, star

from claim.cascades import Influence, Worlds, influence
from claim.errors import InputError
from claim.networks import Network


def tiny(directed: bool, own: bool) -> Network:
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 3), (6, 2)]
    return Network.from_edges(
        [u for u, _ in edges],
        [v for _, v in edges],
        n=8,  # the last one knows nobody
        directed=directed,
        probabilities=np.linspace(0, 1, len(edges)) if own else None,
    )


def close(estimate: Influence, truth: float, errors: float = 4.0) -> bool:
    return abs(estimate.mean - truth) < errors * estimate.stderr + 1e-9


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("leaders", [[0], [1, 4], [7]])
def test_influence_equals_the_sum_over_all_worlds(directed: bool, own: bool, leaders: list[int]) -> None:
    network = tiny(directed, own)
    truth = exact_influence(network, leaders, 0.4)
    estimate = influence(network, leaders, 0.4, samples=40_000, rng=1)
    assert close(estimate, truth)
    if not directed:
        fixed = Worlds.draw(network, 0.4, 40_000, seed=1).influence(leaders)
        assert close(fixed, truth)


def test_a_star_is_known_by_heart() -> None:
    network = star(200)
    assert close(influence(network, [0], 0.1, rng=2), 1 + 200 * 0.1)
    assert close(influence(network, [1], 0.1, rng=2), 1 + 0.1 * (1 + 199 * 0.1))


def test_certain_and_impossible_edges() -> None:
    network = star(5)
    assert influence(network, [1], p=0.0, samples=10) == Influence(1.0, 0.0, 10)
    assert influence(network, [1], p=1.0, samples=10) == Influence(6.0, 0.0, 10)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.needs("cynetdiff")
def test_cynetdiff_finds_the_same_mean(directed: bool) -> None:
    network = random_network(150, 500, seed=3, directed=directed)
    import cynetdiff.utils

    model, _ = cynetdiff.utils.networkx_to_ic_model(network.to_networkx(), activation_prob=0.15, rng=5)
    leaders = [0, 10, 20, 30]
    model.set_seeds(leaders)
    reach = np.empty(20_000)
    for i in range(len(reach)):
        model.reset_model()
        model.advance_until_completion()
        reach[i] = model.get_num_activated_nodes()
    ours = influence(network, leaders, 0.15, samples=20_000, rng=5)
    error = np.hypot(ours.stderr, reach.std() / np.sqrt(len(reach)))
    assert abs(ours.mean - reach.mean()) < 4 * error


@pytest.mark.parametrize(
    ("network", "leaders"), [(random_network(120, 300, seed=8), [0, 1, 2]), (star(50), [1]), (star(300), [1, 2])]
)
def test_the_standard_error_is_honest(network: Network, leaders: list[int]) -> None:
    """Over 300 repeats, (estimate - truth) / stderr has mean 0 and deviation 1, with the control variate at work."""
    truth = influence(network, leaders, 0.2, samples=400_000, rng=99).mean
    repeats = [influence(network, leaders, 0.2, samples=400, rng=i) for i in range(300)]
    z = np.array([(each.mean - truth) / each.stderr for each in repeats])
    assert abs(z.mean()) < 0.25
    assert 0.88 < z.std() < 1.15


def test_the_control_variate_helps() -> None:
    network = random_network(120, 300, seed=8)
    plain = Worlds.draw(network, 0.2, 4000, seed=1).influence([0, 1, 2])
    assert influence(network, [0, 1, 2], 0.2, samples=4000).stderr < 0.8 * plain.stderr


def test_repeats_of_a_leader_do_not_count_twice() -> None:
    network = random_network(50, 80)
    assert influence(network, [3, 3, 4], rng=1) == influence(network, [3, 4], rng=1)


def test_the_same_seed_gives_the_same_estimate() -> None:
    network = random_network(50, 80)
    assert influence(network, [3], rng=1) == influence(network, [3], rng=1) != influence(network, [3], rng=2)


def test_one_world_has_no_standard_error() -> None:
    assert np.isnan(influence(star(3), [0], samples=1).stderr)


@pytest.mark.parametrize(
    ("leaders", "p", "samples", "complaint"),
    [
        ([9], 0.1, 10, "there is no person 9 in"),
        ([-1], 0.1, 10, "there is no person -1"),
        ([0], 1.5, 10, "probability must be between 0 and 1, got 1.5"),
        ([0], float("nan"), 10, "between 0 and 1, got nan"),
        ([0], 0.1, 0, "samples must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_is_refused(leaders: list[int], p: float, samples: int, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        influence(star(3), leaders, p, samples)


def test_worlds_of_a_directed_network_are_refused() -> None:
    with pytest.raises(InputError, match="undirected"):
        Worlds.draw(tiny(directed=True, own=False), 0.1, 10, seed=0)
