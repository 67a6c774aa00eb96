"""train.py: every choice is tried fairly, judged for the right goals, and learned from in the right direction."""

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from learning_cases import quick, same, shaken, stopped_and_resumed, study, weights
from torch.nn import functional

from claim.discovery import Simulation
from claim.learning import train
from claim.learning.network import ACTING_GOALS, frontier_rows, goal_features, score_frontiers
from claim.learning.observation import Batch, State, observe
from claim.learning.paper import TrainingNetwork
from claim.learning.train import Moment, Training, Tried, centred, loss_of
from claim.networks import Network, load
from claim.randomness import draw_seed

SMALL: dict[str, Any] = {
    "hidden": 16,
    "layers": (32, 16),
    "batch_size": 32,
    "leaders": 3,
    "p": 0.3,
    "learning_rate": 3e-3,
}


@pytest.fixture(scope="module")
def zones() -> list[Network]:
    return [load("zone1"), load("zone2")]


def trained(networks: list[Network], episodes: int = 4, **changes: Any) -> Training:
    training = Training(quick(**changes), networks)
    training.train(episodes)
    return training


def values_of(network: Any, state: State, goals: np.ndarray) -> torch.Tensor:  # type: ignore[type-arg]
    """Q of every choice of a state for goals, (frontier, goals)."""
    batch = Batch.of([state])
    graphs, rows = frontier_rows([state], batch)
    values: torch.Tensor = network(batch, graphs, rows, torch.from_numpy(goals.astype(np.float32)))[0]
    return values


# Trying choices ------------------------------------------------------------------------------------------------------


def by_hand(training: Training, network: TrainingNetwork, moment: Moment, choice: int, seed: int, sign: int) -> float:
    """One choice in one moment, then the best choices; the worst with a sign of -1.

    NaN if two classes are worth the same: which of them is the best then depends on the last digit.
    """
    rng = np.random.default_rng(seed)
    simulation = moment.simulation.copy(rng)
    members = moment.graph.members[moment.graph.frontier[choice]]
    simulation.ask(members[int(rng.random() * len(members))])
    for _ in range(moment.left - 1):
        if simulation.discovered.frontier:
            graph, state = observe(simulation.discovered, training.config.shape)
            values = sign * score_frontiers(training.average, [state])[0]
            best = int(np.argmax(values))
            if np.sum(values > values[best] - 1e-5) > 1:
                return math.nan
            members = graph.members[graph.frontier[best]]
            simulation.ask(members[int(rng.random() * len(members))])
    return math.log(network.influence(simulation, rng) / network.estimates.influence)


def test_choices_are_tried_with_the_same_random_numbers_and_go_on_by_the_best(zones: list[Network]) -> None:
    training = trained(zones)
    shaken(training.online)
    network = training.networks[0]
    moments = training.play(network)
    seeds = copy.deepcopy(training.rng)
    reach = training.try_choices(network, moments)
    worst: list[float] = []
    compared: list[bool] = []
    for moment, found in zip(moments, reach, strict=True):
        seed = draw_seed(seeds)
        choices = range(len(moment.state.frontier))
        best = np.array([by_hand(training, network, moment, choice, seed, 1) for choice in choices])
        clear = ~np.isnan(best)
        assert found[clear] == pytest.approx(best[clear], abs=1e-12)
        compared += clear.tolist()
        worst += [by_hand(training, network, moment, choice, seed, -1) for choice in choices]
    assert np.mean(compared) > 0.5
    assert not np.array_equal(np.concatenate(reach), worst)  # so that other rollouts would be noticed


def test_trying_changes_no_study(zones: list[Network]) -> None:
    training = trained(zones)
    moments = training.play(training.networks[0])
    before = [moment.simulation.discovered.copy() for moment in moments]
    training.try_choices(training.networks[0], moments)
    assert [moment.simulation.discovered for moment in moments] == before


def test_only_the_choice_of_the_episode_is_tried_without_every_choice(zones: list[Network]) -> None:
    training = trained(zones, every_choice=False)
    for each in training.replay:
        assert np.flatnonzero(~np.isnan(each.reach)).tolist() == [each.chosen]


def test_episodes_act_by_the_best_value_of_the_averaged_network(zones: list[Network]) -> None:
    training = trained(zones, exploration_eps=0.0)
    shaken(training.online)
    differ = 0
    for _ in range(4):
        moments = training.play(training.networks[0])
        assert [moment.left for moment in moments] == [3, 2, 1]
        for moment, following in zip(moments, [*moments[1:], None], strict=True):
            (values,), (others,) = (
                score_frontiers(each, [moment.state]) for each in (training.average, training.online)
            )
            assert moment.chosen == int(values.argmax())
            differ += moment.chosen != int(others.argmax())
            if following is not None:
                members = moment.graph.members[moment.graph.frontier[moment.chosen]]
                assert following.simulation.discovered.surveyed[-1] in members
    assert differ


def test_with_full_exploration_episodes_act_at_random(zones: list[Network]) -> None:
    training = trained(zones, exploration_eps=1.0)
    places = []
    for _ in range(60):
        for moment in training.play(training.networks[0]):
            (values,) = score_frontiers(training.average, [moment.state])
            places.append((np.argsort(np.argsort(values))[moment.chosen] + 0.5) / len(values))
    assert np.mean(places) == pytest.approx(0.5, abs=5 * math.sqrt(1 / 12 / len(places)))


def test_a_value_is_the_expected_reach_that_the_chances_imply(zones: list[Network]) -> None:
    network = trained(zones).average
    state = observe(study(zones[0], 1).discovered, network.shape)[1]
    chances = torch.sigmoid(values_of(network, state, ACTING_GOALS)).detach().numpy()
    assert chances.shape == (len(state.frontier), 24)
    (values,) = score_frontiers(network, [state])
    shares = np.exp(ACTING_GOALS)
    ends = np.concatenate([shares[:1], shares, shares[-1:]])
    distances = (ends[2:] - ends[:-2]) / np.array([1, *[2] * 22, 1])  # between the goals before and after
    np.testing.assert_allclose(values, chances @ distances, rtol=1e-4)
    alone = torch.cat([values_of(network, state, ACTING_GOALS[[i]]) for i in range(24)], dim=1)
    np.testing.assert_allclose(torch.sigmoid(alone).detach(), chances, atol=1e-5)


def test_the_policy_surveys_the_class_of_the_highest_value(zones: list[Network]) -> None:
    training = trained(zones)
    shaken(training.online)
    policy = training.policy()
    for seed in range(4):
        seen = study(zones[0], seed).discovered
        graph, state = observe(seen, training.config.shape)
        (values,) = score_frontiers(training.average, [state])
        value = {who: value for row, value in zip(graph.frontier, values, strict=True) for who in graph.members[row]}
        chosen = policy.choose(seen, np.random.default_rng(seed), 3)
        assert [value[person] for person in chosen] == sorted(values, reverse=True)[:3]


# Goals and losses ----------------------------------------------------------------------------------------------------


def tried(network: int, reach: list[float], chosen: int = 0, desired: float = 0.0) -> Tried:
    return Tried(None, network, np.array(reach), chosen, desired, torch.zeros(8))  # type: ignore[arg-type]


def test_goals_are_of_the_state_of_others_of_the_same_network_and_of_the_whole_range(zones: list[Network]) -> None:
    training = Training(quick(), zones)
    one, foreign = tried(0, [1.0, 2.0, math.nan]), tried(1, [9.0])
    training.reached = [[1.0, 2.0, 3.0], [9.0]]
    seen = np.array([training.goals_for(one) for _ in range(50)])
    assert seen.shape == (50, 12)
    assert set(seen[:, :4].flat) == {1.0, 2.0}
    assert set(seen[:, 4:8].flat) == {1.0, 2.0, 3.0}
    low, high = ACTING_GOALS[[0, -1]]
    assert low <= seen[:, 8:].min() < low + 0.1
    assert high - 0.1 < seen[:, 8:].max() <= high
    assert set(training.goals_for(foreign)[:8]) == {9.0}


def test_without_hindsight_the_goal_is_what_the_episode_pursued(zones: list[Network]) -> None:
    training = Training(quick(hindsight=False), zones)
    assert set(training.goals_for(tried(0, [1.0, 2.0], desired=0.5))) == {0.5}


def test_an_episode_pursues_what_an_earlier_one_of_its_network_reached(zones: list[Network]) -> None:
    training = trained(zones, 8)
    earlier: dict[int, set[float]] = {0: set(), 1: set()}
    episodes = [training.replay[i : i + 3] for i in range(0, len(training.replay), 3)]
    for episode in episodes:
        (desired,), which = {each.desired for each in episode}, episode[0].network
        assert desired in (earlier[which] or {0.0})
        earlier[which] |= {value for each in episode for value in each.known.tolist()}


def plain_loss(values: Any, reach: Any, goals: Any, graphs: Any, cross_entropy: float) -> float:
    """Ten times the squared error of differences within states, and the cross-entropy; one number at a time."""
    squares, entropies = [], []
    for state in sorted(set(graphs.tolist())):
        choices = [i for i in range(len(reach)) if graphs[i] == state and not math.isnan(reach[i])]
        for j in range(values.shape[1]):
            errors = []
            for i in choices:
                chance = 1 / (1 + math.exp(-values[i, j]))
                success = 1.0 if reach[i] >= goals[i, j] else 0.0
                errors.append(chance - success)
                entropies.append(-math.log(chance if success else 1 - chance))
            squares += [(error - sum(errors) / len(errors)) ** 2 for error in errors]
    return 10 * sum(squares) / len(squares) + cross_entropy * sum(entropies) / len(entropies)


@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_the_plain_sum_over_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = np.repeat([0, 1, 2], [4, 1, 5])
    values, reach = rng.normal(size=(10, 3)), rng.normal(size=10)
    goals = rng.normal(size=(3, 3))[graphs]
    goals[0, 0] = reach[0]  # a goal that is just reached counts as reached
    reach[[2, 7]] = math.nan
    given = [torch.from_numpy(each).float() for each in (values, reach, goals)]
    found = float(loss_of(*given, torch.from_numpy(graphs), 3, 0.7))
    assert found == pytest.approx(plain_loss(values, reach, goals, graphs, 0.7), rel=1e-4)


def test_without_goals_the_loss_is_about_the_reach() -> None:
    values, reach, graphs = torch.tensor([[1.0], [2.0], [5.0]]), torch.tensor([0.0, 2.0, 1.0]), torch.tensor([0, 0, 1])
    # Errors are 1, 0 and 4; less their means by state 0.5, -0.5 and 0
    wanted = 10 * (0.25 + 0.25) / 3 + 2 * (1 + 0 + 16) / 3
    assert float(loss_of(values, reach, None, graphs, 2, 2.0)) == pytest.approx(wanted)


def test_values_are_centred_within_states() -> None:
    values = torch.tensor([[1.0, 10.0], [3.0, 30.0], [7.0, 70.0]])
    found = centred(values, torch.tensor([0, 0, 2]), 3)
    assert found.tolist() == [[-1.0, -10.0], [1.0, 10.0], [0.0, 0.0]]


@pytest.fixture(scope="module")
def learned() -> Training:
    training = Training(quick(**SMALL), [load("zone1")])
    training.train(60)
    return training


def gradient(training: Training, state: Tried, goal: float) -> torch.Tensor:
    values = values_of(training.online, state.state, np.array([goal]))
    reach = torch.from_numpy(state.reach.astype(np.float32))
    goals = torch.full_like(values, goal)
    training.online.zero_grad()
    loss_of(values, reach, goals, torch.zeros(len(reach), dtype=torch.int64), 1, 1.0).backward()  # type: ignore[no-untyped-call]
    return torch.cat([each.grad.flatten() for each in training.online.parameters() if each.grad is not None])


def test_low_and_high_goals_teach_different_things(learned: Training) -> None:
    cosines = []
    for each in learned.replay[-20:]:
        low, high = (gradient(learned, each, goal) for goal in (each.known.min() - 0.1, each.known.max() + 0.1))
        cosines.append(float(functional.cosine_similarity(low, high, dim=0)))
    assert np.mean(cosines) < 0.5


def held_out(training: Training, episodes: int = 15) -> list[Tried]:
    """States of studies that no network was trained on, and what their choices reach."""
    other = Training(training.config, [training.networks[0].network])
    other.average, other.rng = training.average, np.random.default_rng(77)
    return [
        each
        for _ in range(episodes)
        for moments in [other.play(other.networks[0])]
        for each in other.store(0, moments, other.try_choices(other.networks[0], moments))
    ]


def cross_entropy(training: Training, states: list[Tried]) -> float:
    goals = np.quantile(np.concatenate([each.known for each in states]), [0.1, 0.3, 0.5, 0.7, 0.9])
    losses = []
    for each in states:
        values = values_of(training.average, each.state, goals).detach()
        reached = torch.from_numpy((each.reach[:, None] >= goals).astype(np.float32))
        losses.append(float(functional.binary_cross_entropy_with_logits(values, reached)))
    return float(np.mean(losses))


def test_goals_paired_with_other_outcomes_teach_less(learned: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same states, choices and goals; only which goal an outcome is judged by is shuffled."""
    draws = torch.Generator().manual_seed(1)

    def shuffled(values: Any, reach: Any, goals: Any, *rest: Any) -> torch.Tensor:
        order = torch.randperm(goals.numel(), generator=draws)
        return loss_of(values, reach, goals.flatten()[order].view_as(goals), *rest)

    wrong = Training(quick(**SMALL), [load("zone1")])
    wrong.replay, wrong.reached = copy.deepcopy((learned.replay, learned.reached))
    right = copy.deepcopy(wrong)
    for _ in range(180):
        right.update(right.sample())
    monkeypatch.setattr(train, "loss_of", shuffled)
    for _ in range(180):
        wrong.update(wrong.sample())
    states = held_out(learned)
    assert cross_entropy(right, states) < 0.8 * cross_entropy(wrong, states)


def test_the_chance_falls_with_the_goal(learned: Training) -> None:
    states = held_out(learned)
    reach = np.concatenate([each.known for each in states])
    goals = np.array([reach.min() - 0.1, np.median(reach), reach.max() + 0.1])
    chances = np.concatenate([torch.sigmoid(values_of(learned.average, each.state, goals)).detach() for each in states])
    assert len(chances) > 100
    assert (np.diff(chances, axis=1) < 0).all(axis=1).mean() >= 0.95


def test_goals_have_several_features() -> None:
    features = goal_features(torch.tensor([[0.0, 0.5]]))
    z = 0.5
    wanted = [z, z * z, math.tanh(2 * z), math.exp(z) - 1, math.sin(3 * z)]
    torch.testing.assert_close(features, torch.tensor([[[0.0] * 5, wanted]]))


# Updates, schedules, runs --------------------------------------------------------------------------------------------


def test_the_averaged_weights_are_the_mean_of_all_updates_at_first_and_then_follow_slowly(zones: list[Network]) -> None:
    training = trained(zones, 3, averaging=0.75)
    training.updates = 0
    seen: list[dict[str, Any]] = []
    wanted: dict[str, Any] = {}
    for count in range(1, 8):
        training.update(training.sample())
        seen.append(weights(training.online))
        if count <= 4:
            wanted = {name: np.mean([each[name] for each in seen], axis=0) for name in seen[0]}
        else:
            wanted = {name: 0.75 * value + 0.25 * seen[-1][name] for name, value in wanted.items()}
        for name, value in weights(training.average).items():
            np.testing.assert_allclose(value, wanted[name], rtol=1e-4, atol=1e-6)


def test_an_update_refreshes_the_embeddings_of_its_batch(zones: list[Network]) -> None:
    training = trained(zones, 4)
    shaken(training.online)
    batch = training.replay[:4]
    wanted = training.online.encoder(Batch.of([each.state for each in batch]))[0].detach()
    assert not any(torch.allclose(each.embedding, other) for each, other in zip(batch, wanted, strict=True))
    training.update(batch)
    torch.testing.assert_close(torch.stack([each.embedding for each in batch]), wanted)


def test_learning_changes_no_outcome(zones: list[Network]) -> None:
    training = trained(zones, 4)
    before = copy.deepcopy(training.replay)
    for _ in range(5):
        training.update(training.sample())
    for one, other in zip(before, training.replay, strict=True):
        np.testing.assert_array_equal(one.reach, other.reach)
        assert (one.network, one.chosen, one.desired) == (other.network, other.chosen, other.desired)


@pytest.mark.parametrize(("curriculum", "drawn"), [(False, 8), (True, 24)])
def test_batches_are_chosen_from_m_times_as_many_by_the_curriculum(
    curriculum: bool, drawn: int, zones: list[Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    training = trained(zones, 9, curriculum=curriculum, curriculum_decay=0.5)
    given, choose = [], train.choose_experiences

    def noted(states: list[Tried], count: int, weight: float) -> list[Any]:
        given.append((len(states), count, weight))
        return choose(states, count, weight)

    monkeypatch.setattr(train, "choose_experiences", noted)
    assert len(training.sample()) == 8
    assert given == ([(drawn, 8, 0.5**9)] if curriculum else [])


def test_an_episode_has_a_number_of_updates_and_the_learning_rate_falls(zones: list[Network]) -> None:
    training = Training(quick(updates=2, learning_rate_decay=0.5, final_learning_rate=2e-4), zones)
    for episode, rate in enumerate((1e-3, 5e-4, 2.5e-4, 2e-4), 1):
        training.train(episode)
        assert training.updates == 2 * episode
        assert training.optimiser.param_groups[0]["lr"] == pytest.approx(rate)


@pytest.mark.parametrize(
    "change", [{}, {"hindsight": False}, {"goal": False}, {"curriculum": True}, {"every_choice": False}]
)
def test_every_variant_trains_and_the_same_seed_gives_the_same_weights(
    change: dict[str, bool], zones: list[Network]
) -> None:
    one, two, other = (trained(zones, 3, seed=seed, **change) for seed in (1, 1, 2))
    assert same(weights(one.average), weights(two.average))
    assert not same(weights(one.average), weights(other.average))
    assert not same(weights(one.online), weights(Training(one.config, zones).online))
    assert all(np.isfinite(value).all() for value in weights(one.average).values())


@pytest.mark.parametrize("curriculum", [False, True])
def test_stop_and_resume_equals_going_on(curriculum: bool, zones: list[Network]) -> None:
    straight, first, second = (Training(quick(curriculum=curriculum), zones) for _ in range(3))
    straight.train(7)
    stopped_and_resumed(first, second)
    assert same(weights(straight.online), weights(second.online))
    assert same(weights(straight.average), weights(second.average))
    assert (straight.updates, straight.curriculum_weight) == (second.updates, second.curriculum_weight)


def test_a_thousand_people_are_scored_in_one_pass() -> None:
    star = Network.from_edges(np.zeros(3000, dtype=int), np.arange(1, 3001), name="star")
    training = Training(quick(), [load("zone1")])
    graph, state = observe(Simulation(star, [0, 5], np.random.default_rng(0)).discovered, training.config.shape)
    (values,) = score_frontiers(training.average, [state])
    assert graph.rows == 3
    assert len(values) == 1
