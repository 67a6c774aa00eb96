"""What policies keep from one choice to the next equals what they would find by looking at everything again."""

from collections import Counter

import networkx
import numpy as np
import pytest

from claim.discovery import Discovered, Simulation, policy_named, ranking, surveys
from claim.discovery.policies.scout import Answers, class_signals, classes_by_namers, study_signals
from claim.discovery.policies.scout_at_scale import ScoutAtScale
from claim.discovery.policies.simple import named_by_many_and_lonely
from claim.discovery.ranking import Buckets, Ranking, ScoreTree, Turns
from claim.networks import Network
from discovery.discovery_cases import hubs_and_leaves, star, study

RULES = (
    "random", "random-class", "change", "snowball", "max-degree", "inverse-degree", "degree+inverse", "max-contact",
    "most-marked", "scout", "scout:1",
)  # fmt: skip
TROUBLES = ({}, {"refusal": 0.3}, {"report_rate": 0.5}, {"hub_question": 0.5})


def circles(n: int = 150) -> Network:
    return Network.from_networkx(networkx.watts_strogatz_graph(n, 6, 0.2, seed=1))


def studies(policy: str, surveyed: int = 40, **trouble):
    """The states of some studies, one after the other."""
    for network in (hubs_and_leaves(), circles(), star(20)):
        rng = np.random.default_rng(4)
        simulation = Simulation(network, [3, 7, 11], rng, **trouble)
        for _ in surveys(simulation, policy_named(policy), surveyed, rng):
            yield simulation.discovered


@pytest.fixture
def from_the_first(monkeypatch):
    """Every study is a large one."""
    monkeypatch.setattr(ranking, "LARGE", 0)


@pytest.mark.parametrize("trouble", TROUBLES, ids=str)
def test_signals_that_are_updated_equal_those_that_are_made_anew(trouble):
    kept: dict[int, ScoutAtScale] = {}
    compared = 0
    for seen in studies("scout", **trouble):
        policy_named("scout")._choose_at_scale(at_scale_of(seen, kept), np.random.default_rng(0), 1)
        state, answers = seen.kept(policy_named("scout"), ScoutAtScale), Answers.of(seen)
        np.testing.assert_allclose(state.study, study_signals(answers), atol=1e-9)
        named, _ = classes_by_namers(seen)
        if named:
            numbers = np.array([seen.class_of(group.members[0]) for group in named])
            found, expected = state.signals(numbers), class_signals(answers, named)
            skip = "report_rate" in trouble  # two namers may turn out to know each other later
            columns = [i for i in range(found.shape[1]) if not (skip and i == 10)]
            np.testing.assert_allclose(found[:, columns], expected[:, columns], atol=1e-9)
            compared += len(named)
    assert compared > 1000


def at_scale_of(seen: Discovered, kept: dict[int, ScoutAtScale]) -> Discovered:
    return seen
