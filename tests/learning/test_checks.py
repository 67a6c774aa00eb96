"""Checks that catch real mistakes: no leak of the hidden network, no use of its numbering, no off-by-one at the end."""

import numpy as np
import pytest
from learning_cases import quick, quick_paper
from scipy.stats import ttest_rel

from claim.cascades import Worlds
from claim.discovery import Simulation, surveys
from claim.learning import paper
from claim.learning.observation import observe
from claim.learning.policy import LearnedPolicy, TrainedPolicy
from claim.learning.train import Training
from claim.networks import Network, load
from claim.selection import MethodSelector
from relabelling import relabelled

START, BUDGET, LEADERS = [0, 7, 19], 6, 5


@pytest.fixture(scope="module")
def trained() -> LearnedPolicy:
    training = Training(quick(budget=5), [load("stars4"), load("zone1")])
    training.train(20)
    return training.policy()


def studied(network: Network, policy: TrainedPolicy, seed: int, budget: int = BUDGET) -> Simulation:
    rng = np.random.default_rng(seed)
    simulation = Simulation(network, START, rng)
    for _ in surveys(simulation, policy, budget, rng):
        pass
    return simulation


def twin_of(network: Network, simulation: Simulation) -> Network:
    """The same network but for edges between people who were never surveyed."""
    asked = {simulation.people[person] for person in simulation.discovered.surveyed}
    sources, targets, _ = network.edges()
    pairs = zip(sources.tolist(), targets.tolist(), strict=True)
    seen = [(one, other) for one, other in pairs if one in asked or other in asked]
    others = [who for who in range(network.n) if who not in asked]
    circle = list(zip(others, others[1:] + others[:1], strict=True))
    one, other = zip(*(seen + circle), strict=True)
    return Network.from_edges(one, other, n=network.n, name="twin")


@pytest.mark.parametrize("preset", [None, "paper"])
def test_twins_that_differ_in_hidden_edges_have_the_same_features_choices_and_leaders(
    preset: str | None, trained: LearnedPolicy
) -> None:
    policy: TrainedPolicy = trained
    if preset == "paper":
        policy = paper.Training(quick_paper(), [load("zone1")]).policy()
    network = load("zone1")
    original = studied(network, policy, seed=2)
    twin = twin_of(network, original)
    assert twin.checksum != network.checksum
    mirror = studied(twin, policy, seed=2)
    assert mirror.people == original.people
    assert mirror.discovered == original.discovered
    if isinstance(policy, LearnedPolicy):
        rows = [observe(each.discovered, policy.network.shape)[1].features for each in (original, mirror)]
        np.testing.assert_array_equal(*rows)
    choices = [policy.choose(each.discovered, np.random.default_rng(5), 1000) for each in (original, mirror)]
    assert choices[0] == choices[1]
    selections = [
        MethodSelector(0.1, 200).select(each.discovered, LEADERS, np.random.default_rng(6))
        for each in (original, mirror)
    ]
    assert selections[0] == selections[1]


@pytest.mark.slow
def test_relabelling_the_hidden_network_changes_nothing_but_noise(trained: LearnedPolicy) -> None:
    """Numbering people by their degree, up or down, would show any use of the network's own numbers."""
    network = load("stars4")
    hubs_first = np.argsort(-network.degrees, kind="stable")
    up, down = (influences(network, order, trained) for order in (hubs_first, hubs_first[::-1]))
    assert ttest_rel(up, down).pvalue > 0.001
    assert np.mean(up) == pytest.approx(np.mean(down), rel=0.06)


def influences(network: Network, order: np.ndarray, policy: LearnedPolicy) -> list[float]:  # type: ignore[type-arg]
    """What leaders reach after studies from the same people on a relabelled network."""
    number = np.empty(network.n, dtype=int)
    number[order] = np.arange(network.n)
    renamed = relabelled(network, order)
    worlds = Worlds.draw(renamed, 0.1, 300, seed=1)
    draws = np.random.default_rng(1)
    reached = []
    for run in range(150):
        rng = np.random.default_rng(run)
        start = number[draws.choice(network.n, 5, replace=False)]
        simulation = Simulation(renamed, start.tolist(), rng)
        for _ in surveys(simulation, policy, 5, rng):
            pass
        leaders = MethodSelector(0.1, 200).select(simulation.discovered, 10, rng)
        reached.append(worlds.influence([simulation.people[leader] for leader in leaders]).mean)
    return reached


def test_the_order_of_discovery_does_not_change_the_value_of_a_person(trained: LearnedPolicy) -> None:
    """The same people with the same answers, asked and heard of in another order."""
    network = load("stars4")
    named = np.unique(np.concatenate([network.contacts_of(who) for who in START]))
    asked = np.setdiff1d(named, START)[:4]
    values: list[dict[int, float]] = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        simulation = Simulation(network, START, rng)
        for who in rng.permutation(asked).tolist():
            simulation.ask(simulation.people.index(who))
        assert len(simulation.discovered.surveyed) == len(START) + len(asked) == 7
        graph, scores = trained.scores(simulation.discovered)
        of_person: dict[int, float] = {}
        for row, value in zip(graph.frontier, scores, strict=True):
            of_person.update(dict.fromkeys((simulation.people[who] for who in graph.members[row]), value))
        values.append(of_person)
    assert np.std(list(values[0].values())) > 0.01  # people differ in value, so that a mix-up would show
    for other in values[1:]:
        assert other == pytest.approx(values[0], abs=2e-4)
