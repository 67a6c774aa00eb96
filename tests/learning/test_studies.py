"""Rewards are what the oracle's leaders reach on average, not what one lucky choice reaches."""

import numpy as np
import pytest

from claim.cascades import Worlds
from claim.discovery import policy_named, surveys
from claim.learning.config import Config
from claim.learning.training_network import ORACLE_SAMPLES, ORACLES, Ground
from claim.networks import load
from claim.selection import GreedySelector


@pytest.fixture(scope="module")
def study():
    """Five start people and five surveys of a star-like network, where most people look alike to the oracle."""
    ground, rng = Ground(load("stars1"), Config()), np.random.default_rng(1)
    simulation = ground.begin(rng)
    for _ in surveys(simulation, policy_named("random"), 5, rng):
        pass
    return ground, simulation


def test_a_reward_is_the_mean_over_the_oracles_luck(study):
    ground, simulation = study
    rng = np.random.default_rng(2)
    oracle = GreedySelector(ground.config.p, ORACLE_SAMPLES)
    worlds = Worlds.draw(ground.network, ground.config.p, 1000, seed=3)
    single = [
        worlds.influence([simulation.people[leader] for leader in oracle.select(simulation.discovered, 10, rng)]).mean
        for _ in range(200)
    ]
    averaged = [ground.influence(simulation, rng) for _ in range(200)]
    assert np.mean(averaged) == pytest.approx(np.mean(single), abs=0.5)
    assert np.var(averaged) < 3 * np.var(single) / ORACLES


def test_a_network_of_fewer_people_than_leaders_has_a_reward():
    ground = Ground(load("zone3"), Config(leaders=500))
    simulation = ground.begin(np.random.default_rng(0))
    reached = ground.influence(simulation, np.random.default_rng(0))
    assert len(simulation.people) <= reached <= ground.network.n
