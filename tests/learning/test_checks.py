"""Checks that catch real mistakes: no leak of the hidden network, no use of its numbering, no off-by-one at the end."""

import copy

import numpy as np
import pytest
from learning_cases import quick
from scipy.stats import ttest_rel

from claim.cascades import Worlds
from claim.discovery import Simulation, surveys
from claim.learning.config import VARIANTS
from claim.learning.observation import Featuriser
from claim.learning.policy import LearnedPolicy
from claim.learning.train import Training, train
from claim.learning.training_network import TrainingNetwork
from claim.networks import Network, load
from claim.selection import MethodSelector
from relabelling import relabelled

START, BUDGET, LEADERS = [0, 7, 19], 6, 5


@pytest.fixture(scope="module")
def trained() -> LearnedPolicy:
    training = Training(quick(budget=5), [load("stars4"), load("zone1")])
    train(training, 20)
    return LearnedPolicy(training.online, training.config, training.goals)


def studied(network: Network, policy: LearnedPolicy, seed: int, budget: int = BUDGET) -> Simulation:
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


@pytest.mark.parametrize("features", ["netmf", "deepwalk"])
def test_twins_that_differ_in_hidden_edges_have_the_same_features_values_choices_and_leaders(
    features: str, trained: LearnedPolicy
) -> None:
    policy = trained
    if features == "deepwalk":
        training = Training(quick(features="deepwalk"), [load("zone1")])
        policy = LearnedPolicy(training.online, training.config, training.goals)
    network = load("zone1")
    original = studied(network, policy, seed=2)
    twin = twin_of(network, original)
    assert twin.checksum != network.checksum
    mirror = studied(twin, policy, seed=2)
    assert mirror.people == original.people
    assert mirror.discovered == original.discovered
    rows = [Featuriser(policy.config, np.random.default_rng(5))(each.discovered) for each in (original, mirror)]
    np.testing.assert_array_equal(rows[0][1].features, rows[1][1].features)
    values = [policy.scores(each.discovered, np.random.default_rng(5))[1] for each in (original, mirror)]
    np.testing.assert_array_equal(values[0], values[1])
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
        graph, scores = trained.scores(simulation.discovered, rng)
        of_person: dict[int, float] = {}
        for row, value in zip(graph.frontier, scores, strict=True):
            of_person.update(dict.fromkeys((simulation.people[who] for who in graph.members[row]), value))
        values.append(of_person)
    assert np.std(list(values[0].values())) > 0.01  # people differ in value, so that a mix-up would show
    for other in values[1:]:
        assert other == pytest.approx(values[0], abs=2e-4)


@pytest.mark.parametrize("variant", ["her", "claim"])
def test_a_final_goal_is_what_the_leaders_of_the_last_discovered_network_reach(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted again beside the training, so that an influence of one step earlier would be found out."""
    training = Training(quick(variant, buffer_size=1000, learning_starts=100), [load("zone1")])
    reached: list[tuple[int, float]] = []
    count = TrainingNetwork.influence

    def noted(self, simulation, rng):  # type: ignore[no-untyped-def]
        influence = count(self, simulation, rng)
        reached.append((len(simulation.discovered.surveyed), influence))
        return influence

    monkeypatch.setattr(TrainingNetwork, "influence", noted)
    for episode in range(1, 4):
        reached.clear()
        before = len(training.replay)
        train(training, episode)
        new = training.replay.transitions[before:]
        steps = sum(not each.relabelled for each in new)
        surveyed, last = reached[-1]
        assert surveyed == len(training.networks[0].start_study(np.random.default_rng(0)).discovered.start) + steps
        assert {each.goal for each in new if each.relabelled} == {last}


def test_learning_leaves_stored_originals_untouched() -> None:
    """Goals and rewards of a buffer stay what they were, whatever is drawn, selected and learned from it."""
    training = Training(quick(buffer_size=1000, learning_starts=100), [load("zone1")])
    train(training, 5)
    before = [copy.copy(each) for each in training.replay.transitions]
    for _ in range(5):
        training.update(training.sample_minibatch(20.0))
    for one, other in zip(before, training.replay.transitions, strict=True):
        assert one.state is other.state
        assert one.next_state is other.next_state
        for name in ("action", "reward", "goal", "episode_goal", "average_influence", "relabelled"):
            assert getattr(one, name) == getattr(other, name), name


def test_variants_learn_from_equally_many_updates_of_equal_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    update = Training.update

    def noted(self, minibatch):  # type: ignore[no-untyped-def]
        sizes.append(len(minibatch))
        return update(self, minibatch)

    monkeypatch.setattr(Training, "update", noted)
    updates = {}
    for variant in VARIANTS:
        sizes.clear()
        config = quick(variant, buffer_size=1000, learning_starts=15)
        train(Training(config, [load("zone1")]), 25)
        assert set(sizes) == {config.batch_size}
        updates[variant] = len(sizes)
    assert len(set(updates.values())) == 1, updates
