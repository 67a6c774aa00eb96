"""One cascade step by step."""

import numpy as np
import pytest
from cascade_cases import networks, probabilities, random_network, seeds
from hypothesis import given, settings

from claim.cascades import cascade, influence
from claim.networks import Network


@settings(max_examples=80, deadline=None)
@given(networks(), probabilities, seeds)
def test_everybody_is_reached_once_by_an_active_contact(network: Network, p: float, seed: int) -> None:
    leaders = list(range(0, network.n, 2))
    trace = cascade(network, leaders, p, rng=seed)
    step_of: dict[int, int] = {}
    for event in trace:
        assert event.person not in step_of
        if event.by is None:
            assert event.step == 0
            assert event.person in leaders
        else:
            assert event.person in network.contacts_of(event.by)
            assert event.step == step_of[event.by] + 1
        step_of[event.person] = event.step
    assert [event.step for event in trace] == sorted(event.step for event in trace)
    assert set(leaders) <= set(step_of)


def test_certain_edges_reach_everybody_by_the_shortest_way() -> None:
    path = Network.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    assert [(event.person, event.by, event.step) for event in cascade(path, [2], p=1.0)] == [
        (2, None, 0), (1, 2, 1), (3, 2, 1), (0, 1, 2), (4, 3, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("directed", [False, True])
def test_traces_are_as_long_as_influence_says(directed: bool) -> None:
    network = random_network(60, 150, directed=directed)
    lengths = np.array([len(cascade(network, [0, 1], 0.2, rng=i)) for i in range(1500)])
    expected = influence(network, [0, 1], 0.2, samples=50_000, rng=1)
    error = np.hypot(expected.stderr, lengths.std() / np.sqrt(len(lengths)))
    assert abs(lengths.mean() - expected.mean) < 4 * error


def test_directed_edges_carry_one_way_only() -> None:
    arrow = Network.from_edges([0], [1], directed=True)
    assert len(cascade(arrow, [0], p=1.0)) == 2
    assert len(cascade(arrow, [1], p=1.0)) == 1
