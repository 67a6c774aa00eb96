"""Several surveys at once: a round must not spend itself on the contacts of one person."""

import numpy as np
import pytest
from discovery_cases import study

from claim.discovery import Discovered, policy_named
from claim.discovery.policies import scout
from claim.discovery.protocols import ranked_apart
from claim.evaluation import compare
from claim.networks import Network, load

# 0 knows 2 to 6; 1 knows 6 to 8. Surveyed: 0 and 1.
TIES = [(0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (1, 6), (1, 7), (1, 8)]


@pytest.fixture
def seen() -> Discovered:
    return Discovered.from_network(Network.from_edges(*zip(*TIES, strict=True)), [0, 1])


def ranked(seen: Discovered, worth: dict[int, float], count: int, apart: float, seed: int = 0) -> list[int]:
    groups = seen.frontier_classes
    scores = np.array([worth[group.members[0]] for group in groups])
    return ranked_apart(groups, scores, np.random.default_rng(seed), count, apart)


def test_without_distance_a_class_is_used_up_before_the_next(seen):
    assert set(ranked(seen, {2: 1.0, 6: 0.5, 7: 0.0}, 4, apart=0.0)) == {2, 3, 4, 5}


def test_each_choice_counts_against_people_with_the_same_contacts(seen):
    for seed in range(10):
        first, second, third, fourth = ranked(seen, {2: 1.0, 6: 0.9, 7: 0.8}, 4, apart=0.5, seed=seed)
        assert first in (2, 3, 4, 5)  # then 2: 0.5, 6: 0.65, 7: 0.8
        assert second in (7, 8)  # then 2: 0.5, 6: 0.4, 7: 0.3
        assert third in (2, 3, 4, 5)  # then 2: 0, 6: 0.15, 7: 0.3
        assert fourth in (7, 8)


def test_a_single_choice_is_the_best_one_whatever_the_distance(seen):
    for apart in (0.0, 1.0, 50.0):
        assert ranked(seen, {2: 0.0, 6: 0.1, 7: 0.0}, 1, apart) == [6]


def test_everybody_comes_in_the_end_and_nobody_twice(seen):
    everybody = ranked(seen, {2: 1.0, 6: 0.9, 7: 0.8}, 50, apart=1.0)
    assert sorted(everybody) == [2, 3, 4, 5, 6, 7, 8]
    assert ranked_apart([], np.empty(0), np.random.default_rng(0), 3, apart=1.0) == []


def test_equal_classes_come_in_random_order(seen):
    firsts = [ranked(seen, {2: 1.0, 6: 0.0, 7: 1.0}, 1, 1.0, seed)[0] for seed in range(200)]
    assert 70 < sum(person in (2, 3, 4, 5) for person in firsts) < 130


def namers_in_rounds(network: Network, apart: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """Over how many different first namers the five people of the first round are spread, on average."""
    monkeypatch.setattr(scout, "APART", apart)
    spread = []
    for seed in range(20):
        start = np.random.default_rng(seed).choice(network.n, 5, replace=False).tolist()
        seen = study(network, policy_named("scout"), start, seed, budget=0).discovered
        chosen = policy_named("scout").choose(seen, np.random.default_rng(seed), 5)
        spread.append(len({seen.named_by[person] for person in chosen}))
    return float(np.mean(spread))


def test_rounds_of_scout_are_spread_over_namers(monkeypatch):
    network = load("meadow5")
    assert namers_in_rounds(network, scout.APART, monkeypatch) > namers_in_rounds(network, 0.0, monkeypatch) + 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("network", "most_lost"), [("stars6", 0.06), ("meadow6", 0.06)])
def test_rounds_of_three_cost_little(network, most_lost):
    one, three = (
        compare(network, "scout", "foresight:free", runs=60, budget=20, per_round=each, workers=1).rows[0].mean
        for each in (1, 3)
    )
    assert three > (1 - most_lost) * one
