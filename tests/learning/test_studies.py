"""Rewards are what the oracle's leaders reach on average, not what one lucky choice reaches."""

import numpy as np
import pytest

from claim.cascades import Worlds
from claim.discovery import policy_named, surveys
from claim.learning.config import Config
from claim.learning.training_network import ORACLE_SAMPLES, ORACLES, TrainingNetwork
from claim.networks import load
from claim.selection import MethodSelector


@pytest.fixture(scope="module")
def study():
    """Five start people and five surveys of a star-like network, where most people look alike to the oracle."""
    network, rng = TrainingNetwork(load("stars1"), Config()), np.random.default_rng(1)
    simulation = network.start_study(rng)
    for _ in surveys(simulation, policy_named("random"), 5, rng):
        pass
    return network, simulation


def test_a_reward_is_the_mean_over_the_oracles_luck(study):
    network, simulation = study
    rng = np.random.default_rng(2)
    oracle = MethodSelector(network.config.p, ORACLE_SAMPLES)
    worlds = Worlds.draw(network.network, network.config.p, 1000, seed=3)
    single = [
        worlds.influence([simulation.people[leader] for leader in oracle.select(simulation.discovered, 10, rng)]).mean
        for _ in range(200)
    ]
    averaged = [network.influence(simulation, rng) for _ in range(200)]
    assert np.mean(averaged) == pytest.approx(np.mean(single), abs=0.5)
    assert np.var(averaged) < 3 * np.var(single) / ORACLES


def test_a_network_of_fewer_people_than_leaders_has_a_reward():
    network = TrainingNetwork(load("zone3"), Config(leaders=500))
    simulation = network.start_study(np.random.default_rng(0))
    reached = network.influence(simulation, np.random.default_rng(0))
    assert len(simulation.people) <= reached <= network.network.n
