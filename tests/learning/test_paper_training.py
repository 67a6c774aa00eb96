"""paper.py is the paper: goals, rewards, targets, hindsight, curriculum and schedules, each against a plain formula."""

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from learning_cases import graphs, quick_paper, reached, same, shaken, star, stopped_and_resumed, study, weights
from scipy.stats import chi2

from claim.discovery import Discovered, Simulation, policy_named
from claim.learning import paper
from claim.learning.deepwalk import DeepWalk
from claim.learning.paper import (
    Estimates,
    Experience,
    GeometricDQN,
    PaperPolicy,
    State,
    Training,
    TrainingNetwork,
    choose_experiences,
    reward,
)
from claim.networks import Network, load
from claim.selection import select

VARIANTS = ("geometric-dqn", "goal-dqn", "her", "claim")


@pytest.fixture(scope="module")
def zone() -> Network:
    return load("zone1")


def trained(network: Network, episodes: int = 3, variant: str = "claim", **changes: Any) -> Training:
    training = Training(quick_paper(variant, **changes), [network])
    training.train(episodes)
    return training


def q(policy: PaperPolicy, state: State, person: int, goal: float) -> float:
    """Q of one person, computed alone."""
    network = policy.network
    parts = [network.embed([state])[0], state.features[person]]
    if policy.settings.goal:
        parts.append(torch.tensor([goal / policy.estimates.influence]))
    value = torch.cat(parts)[None]
    return float(network.out(torch.relu(network.fc2(torch.relu(network.fc1(value))))).detach())


# Goals (eq. 2 to 6) --------------------------------------------------------------------------------------------------


def by_layers(start: int, first_layer: float, r: float, p: float, layers: int) -> float:
    """Eq. 4: one layer after the other."""
    total, people, chance = float(start), first_layer, p
    for _ in range(layers):
        total += people * chance
        people, chance = people * r, chance * p
    return total


def estimates(start: int, first_layer: float, r: float, layers: int, influence: float = 5.0) -> Estimates:
    """A network in which this many layers hold everyone (eq. 2)."""
    people = by_layers(start, first_layer, r, 1.0, layers)
    return Estimates(people, (r + 1) * people / 2, influence, start)


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
@pytest.mark.parametrize("r", [0.5, 1.0, 1.7, 4.0])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.25, 0.5, 1.0])
def test_the_closed_form_is_the_sum_of_layers(layers: int, r: float, p: float) -> None:
    assert estimates(3, 7, r, layers).expected(7, p, 3) == pytest.approx(by_layers(3, 7, r, p, layers))


def test_fewer_start_people_leave_more_others_to_reach() -> None:
    few = estimates(2, 7, 1.7, 3)
    assert Estimates(few.people, few.ties, 5.0, start=4).expected(7, 0.3, 2) == pytest.approx(
        by_layers(2, 7, 1.7, 0.3, 3)
    )


@pytest.mark.parametrize("ties", [0, 20, 50])
def test_without_further_contacts_there_is_one_layer(ties: float) -> None:
    assert Estimates(100, ties, 7, 5).expected(10, 0.3, 5) == pytest.approx(8)  # r = 0


def test_shrinking_layers_that_never_hold_everyone_are_summed_to_their_limit() -> None:
    sparse = Estimates(100, 75, 10, 5)  # r = 0.5, and 7.5 (1 + 0.5 + ...) = 15 people at most
    assert sparse.expected(7.5, 0.5, 5) == pytest.approx(by_layers(5, 7.5, 0.5, 0.5, 60))
    assert sparse.expected(7.5, 1.0, 5) == pytest.approx(20)


def test_a_first_layer_is_at_most_everyone_else() -> None:
    tree = estimates(2, 6, 2.0, 4)
    assert tree.expected(500, 0.1, 2) == pytest.approx(2 + 0.1 * 90)
    assert tree.expected(0, 0.5, 2) == 2


@pytest.mark.parametrize("p", [0.1, 0.25, 0.4])
def test_p_prime_makes_the_expected_influence_the_average_one(p: float) -> None:
    # Degree 3, so r = 2 and K_1 = 2 * 3 = 6: 2 + 6 + 12 + 24 + 48 = 92 people
    assert Estimates(92, 138, by_layers(2, 6, 2.0, p, 4), start=2).p_prime == pytest.approx(p, abs=1e-4)
    assert Estimates(92, 138, 1e6, start=2).p_prime == 1
    assert Estimates(92, 138, 0.0, start=2).p_prime == 0


def test_a_goal_counts_the_contacts_of_start_people_without_start_people() -> None:
    network = Network.from_edges([0, 0, 1, 2, 5], [1, 2, 2, 3, 6])  # 0, 1 and 2 know each other
    tree = Estimates(92, 138, 10.0, start=2)
    simulation = Simulation(network, [0, 1], np.random.default_rng(0))
    goal = tree.goal(simulation.discovered)
    assert goal == pytest.approx(tree.expected(1, tree.p_prime, 2))
    assert goal < tree.expected(2, tree.p_prime, 2)
    simulation.ask(simulation.people.index(2))  # later surveys do not move the goal
    assert tree.goal(simulation.discovered) == goal
    alone = Simulation(network, [0], np.random.default_rng(0)).discovered
    assert tree.goal(alone) == pytest.approx(tree.expected(2, tree.p_prime, 1))  # fewer start people than assumed


def test_a_reward_is_what_was_reached_beyond_the_goal_in_goals() -> None:
    assert reward(12, 10) == pytest.approx(0.2)
    assert reward(8, 10) == pytest.approx(-0.2)
    assert reward(10, 10) == 0


# The problem (Sections 2 and 3.1) ------------------------------------------------------------------------------------


def hub_and_path() -> Network:
    """The hub 9 with five leaves, the path 2, 3, 4, and isolated people: 0, 1 and 5 to 8."""
    return Network.from_edges([9, 9, 9, 9, 9, 2, 3], [10, 11, 12, 13, 14, 3, 4], n=15, name="hub and path")


def problem(p: float, **changes: Any) -> TrainingNetwork:
    return TrainingNetwork(hub_and_path(), quick_paper(p=p, leaders=2, start=2, **changes))


def seen_from_a_leaf(network: Network) -> Simulation:
    return Simulation(network, [10], np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(3))
def test_the_oracle_sees_the_discovered_ties_and_takes_the_first_of_people_who_are_worth_the_same(seed: int) -> None:
    village, rng = problem(p=1.0), np.random.default_rng(seed)
    # Person 10 named 9: one of the two leads, and beside them 0, the first of all others, who seem to be alone
    assert village.influence(seen_from_a_leaf(village.network), rng) == 6 + 1
    assert village.optimum == 6 + 3


def test_the_oracle_chooses_for_the_probability() -> None:
    """At p = 1 the path of seven people is worth more than the hub with five leaves, at p = 0.1 less."""
    path_and_hub = Network.from_edges([0, 1, 2, 3, 4, 5, 7, 7, 7, 7, 7], [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12])
    for p, low, high in ((1.0, 7.0, 7.0), (0.1, 1.4, 1.6)):
        known = TrainingNetwork(path_and_hub, quick_paper(p=p, leaders=1))
        simulation = Simulation(path_and_hub, [1, 3, 5, 7], np.random.default_rng(0))
        assert low <= known.influence(simulation, np.random.default_rng(0)) <= high


def test_influence_follows_the_probability() -> None:
    assert problem(p=0.0).influence(seen_from_a_leaf(hub_and_path()), np.random.default_rng(0)) == 2
    half = problem(p=0.5)
    assert half.influence(seen_from_a_leaf(half.network), np.random.default_rng(0)) == pytest.approx(1 + 3.5, abs=1.1)
    assert half.optimum == pytest.approx(1 + 2.5 + 1 + 1, abs=0.3)  # leaders 9 and 3


def test_the_best_possible_is_that_of_leaders_for_the_same_probability(zone: Network) -> None:
    for p in (0.02, 0.4):
        known = TrainingNetwork(zone, quick_paper(p=p, leaders=3))
        best = select(zone, 3, p, rng=known.settings.seed).indices
        assert known.optimum == known.worlds.influence(best).mean


def test_estimates_are_people_ties_and_what_random_surveys_reach(zone: Network) -> None:
    known = TrainingNetwork(zone, quick_paper(budget=8, p=0.3))
    assert (known.estimates.people, known.estimates.ties, known.estimates.start) == (zone.n, zone.m, 5)
    by_chance = reached(known, policy_named("random"), 100)
    assert abs(known.estimates.influence - by_chance.mean()) < 4 * by_chance.std() * (1 / 50 + 1 / 100) ** 0.5
    unsurveyed = TrainingNetwork(zone, quick_paper(budget=1, p=0.3)).estimates.influence
    assert unsurveyed < known.estimates.influence


def test_goals_are_those_of_the_network_in_training_and_of_the_mean_for_the_policy(zone: Network) -> None:
    networks = [zone, hub_and_path()]
    training = Training(quick_paper("goal-dqn", start=3, leaders=2), networks)
    own = [each.estimates for each in training.networks]
    for name in ("people", "ties", "influence"):
        assert getattr(training.online.estimates, name) == np.mean([getattr(each, name) for each in own])
    studied, seen, study = [], [], TrainingNetwork.study

    def noted(self: TrainingNetwork, rng: np.random.Generator) -> Simulation:
        simulation = study(self, rng)
        studied.append((self.network.name, frozenset(simulation.people[i] for i in simulation.discovered.start)))
        seen.append(self.estimates.goal(simulation.discovered))
        return simulation

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingNetwork, "study", noted)
        training.train(12)
    desired = list(dict.fromkeys(each.desired for each in training.buffer))
    assert desired == list(dict.fromkeys(seen))
    assert {name for name, _ in studied} == {network.name for network in networks}
    assert {len(start) for _, start in studied} == {3}
    assert len(set(studied)) > 6


# States and the network (Section 3.2) --------------------------------------------------------------------------------


def test_features_are_learned_anew_from_the_graph_of_each_step(zone: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    make, seen = State.of.__func__, []  # type: ignore[attr-defined]

    def noted(cls: type[State], discovered: Discovered, dimensions: int, rng: np.random.Generator) -> State:
        before = np.random.default_rng()
        before.bit_generator.state = rng.bit_generator.state
        state: State = make(cls, discovered, dimensions, rng)
        wanted = DeepWalk(dimensions, epochs=1).embed(discovered.as_network(), before)
        np.testing.assert_array_equal(state.features, wanted)
        assert sorted(state.actions.tolist()) == sorted(discovered.frontier)
        ties = {frozenset(pair) for pair in zip(*state.ties.tolist(), strict=True)}
        assert ties == {frozenset(pair) for pair in zip(*(side.tolist() for side in discovered.ties()), strict=True)}
        seen.append((len(discovered.surveyed), state))
        return state

    monkeypatch.setattr(State, "of", classmethod(noted))
    training = trained(zone, 2, "goal-dqn")
    assert [surveyed for surveyed, _ in seen] == [5, 6, 7, 8] * 2  # a state before each query, and the last
    first, second = [state for _, state in seen[:4]], list(training.buffer)[:3]
    assert [each.state for each in second] == first[:3]
    assert [each.next_state for each in second] == [first[1], first[2], None]
    make_twice = [make(State, graphs()[0], 4, np.random.default_rng(seed)).features for seed in (1, 2)]
    assert not torch.equal(*make_twice)


def test_the_network_is_the_formula_of_the_paper() -> None:
    """Two convolutions, DiffPool, one convolution of the coarse graph, FC1 and FC2; dense and in numpy."""
    network = GeometricDQN(quick_paper())
    w = {name: value.astype(float) for name, value in weights(network).items()}

    def normalised(matrix: Any) -> Any:
        closed = matrix + np.eye(len(matrix))
        root = np.diag(closed.sum(axis=1) ** -0.5)
        return root @ closed @ root

    def relu(values: Any) -> Any:
        return np.maximum(values, 0)

    for discovered in graphs(3):
        state = State.of(discovered, 4, np.random.default_rng(1))
        adjacency = np.zeros((len(discovered), len(discovered)))
        for one, contacts in enumerate(discovered.contacts):
            adjacency[one, list(contacts)] = 1
        p, features = normalised(adjacency), state.features.numpy().astype(float)
        once = relu(p @ features @ w["first.weight"].T)
        twice = relu(p @ once @ w["second.weight"].T)
        shares = np.exp(p @ once @ w["assign.weight"].T)
        shares /= shares.sum(axis=1, keepdims=True)
        coarse = normalised(shares.T @ adjacency @ shares)
        embedding = relu(coarse @ shares.T @ twice @ w["coarse.weight"].T).mean(axis=0)
        got = network.embed([state])[0].detach()
        np.testing.assert_allclose(got, embedding, rtol=2e-4, atol=2e-5)
        person, goal = int(state.actions[0]), 0.7
        layer = np.concatenate([embedding, features[person], [goal]])
        layer = relu(w["fc1.weight"] @ layer + w["fc1.bias"])
        layer = relu(w["fc2.weight"] @ layer + w["fc2.bias"])
        value = network(got, state.features[[person]], torch.tensor([[goal]])).detach()
        np.testing.assert_allclose(value, w["out.weight"] @ layer + w["out.bias"], rtol=1e-3, atol=1e-4)


# Acting (line 8) -----------------------------------------------------------------------------------------------------


def test_without_exploration_the_person_of_the_highest_q_of_the_online_network_is_queried(zone: Network) -> None:
    training = trained(zone)
    training.epsilon = 0.0
    shaken(training.target.network)
    differ = 0
    for each in training.buffer:
        values = [q(training.online, each.state, person, each.goal) for person in each.state.actions.tolist()]
        best = int(each.state.actions[int(np.argmax(values))])
        person, embedding = training.act(each.state, each.goal)
        assert person == best
        torch.testing.assert_close(embedding, training.online.network.embed([each.state])[0])
        others = [q(training.target, each.state, person, each.goal) for person in each.state.actions.tolist()]
        everyone = [q(training.online, each.state, person, each.goal) for person in range(len(each.state.features))]
        differ += np.argmax(others) != np.argmax(values) and np.argmax(everyone) not in each.state.actions
    assert differ  # so that the target network, or people outside X, would be noticed


def test_with_full_exploration_everyone_who_can_be_queried_is_as_likely(zone: Network) -> None:
    training = trained(zone, 1)
    training.epsilon = 1.0
    state = max((each.state for each in training.buffer), key=lambda state: len(state.actions))
    people, draws = state.actions.tolist(), 2000
    drawn = [training.act(state, 10.0)[0] for _ in range(draws)]
    assert set(drawn) <= set(people)
    counts, wanted = np.array([drawn.count(person) for person in people]), draws / len(people)
    assert ((counts - wanted) ** 2 / wanted).sum() < chi2.ppf(0.9999, len(people) - 1)


def test_a_policy_chooses_the_people_of_the_highest_q(zone: Network) -> None:
    policy = trained(zone).policy()
    for seed in range(4):
        seen = study(zone, seed).discovered
        state = State.of(seen, 4, np.random.default_rng(seed))
        values = [q(policy, state, person, policy.estimates.goal(seen)) for person in state.actions.tolist()]
        ranked = [int(state.actions[i]) for i in np.argsort(values)[::-1]]
        for count in (1, 3, 1000):
            assert policy.choose(seen, np.random.default_rng(seed), count) == ranked[:count]


# Learning (lines 12 to 21) -------------------------------------------------------------------------------------------


def test_a_target_is_the_best_discounted_value_of_the_target_network(zone: Network) -> None:
    training = trained(zone, gamma=0.9)
    shaken(training.target.network)
    steps = [each for each in training.buffer if each.next_state is not None]
    assert steps
    for each in steps:
        assert each.next_state is not None
        each.best_next = None
        choices = each.next_state.actions.tolist()
        values = [q(training.target, each.next_state, person, each.goal) for person in choices]
        assert float(training.targets([each])) == pytest.approx(each.reward + 0.9 * max(values), rel=1e-4, abs=1e-5)
    best_of_all = [
        max(q(training.target, each.next_state, person, each.goal) for person in range(len(each.next_state.features)))
        for each in steps
        if each.next_state is not None
    ]
    assert not np.allclose(
        best_of_all, [(float(training.targets([each])) - each.reward) / 0.9 for each in steps], atol=1e-3
    )


def test_after_the_last_query_the_target_is_the_reward(zone: Network) -> None:
    ends = [each for each in trained(zone, variant="goal-dqn").buffer if each.next_state is None]
    assert len(ends) == 3
    training = trained(zone, variant="goal-dqn")
    for each in ends:
        assert float(training.targets([each])) == pytest.approx(each.reward)
        assert each.reward != 0


def test_an_update_steps_down_half_the_squared_error(zone: Network) -> None:
    training = trained(zone)
    batch = list(training.buffer)[:8]
    wanted = [float(training.targets([each])) for each in batch]
    found = [q(training.online, each.state, each.action, each.goal) for each in batch]
    before = np.mean([0.5 * (a - b) ** 2 for a, b in zip(found, wanted, strict=True)])
    assert training.update(batch) == pytest.approx(before, rel=1e-3)
    for _ in range(30):
        loss = training.update(batch)
    assert loss < 0.5 * before


def test_hindsight_adds_experiences_and_leaves_the_originals_alone(zone: Network) -> None:
    plain, her = (Training(quick_paper(variant), [zone]) for variant in ("goal-dqn", "her"))
    for training in (plain, her):
        training.train(1)
    originals, relabelled = list(her.buffer)[::2], list(her.buffer)[1::2]
    assert len(plain.buffer) == len(originals) == len(relabelled) == 3
    for one, other, again in zip(originals, plain.buffer, relabelled, strict=True):
        for name in ("action", "reward", "goal", "desired", "achieved"):
            assert getattr(one, name) == getattr(other, name), name
        assert torch.equal(one.state.features, other.state.features)
        assert one.goal == one.desired != one.achieved
        assert (again.state, again.next_state, again.action) == (one.state, one.next_state, one.action)
        assert (again.goal, again.reward, again.desired) == (one.achieved, 0.0, one.desired)
        paid = (one.achieved - one.goal) / one.goal
        assert one.reward == (0.0 if one.next_state else pytest.approx(paid))
    assert [each.next_state is None for each in originals] == [False, False, True]


def test_what_an_episode_achieved_is_reached_by_leaders_of_its_last_graph(
    zone: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, count = [], TrainingNetwork.influence

    def noted(self: TrainingNetwork, simulation: Simulation, rng: np.random.Generator) -> float:
        counted.append((len(simulation.discovered.surveyed), count(self, simulation, rng)))
        return counted[-1][1]

    training = Training(quick_paper("her"), [zone])
    monkeypatch.setattr(TrainingNetwork, "influence", noted)
    training.train(1)
    assert counted == [(5 + 3, next(iter(training.buffer)).achieved)]


def test_without_goals_the_reward_is_the_share_of_the_optimum(zone: Network) -> None:
    training = trained(zone, variant="geometric-dqn")
    for each in training.buffer:
        wanted = each.achieved / training.networks[0].optimum if each.next_state is None else 0.0
        assert each.reward == pytest.approx(wanted)
    settings = training.settings
    assert training.online.network.fc1.in_features == settings.hidden + settings.dimensions
    assert training.online.scaled([10.0]) is None
    first = next(iter(training.buffer))
    values = [training.online.values(first.embedding, first.state, goal) for goal in (1.0, 50.0)]
    assert torch.equal(*values)


def test_with_goals_values_depend_on_the_goal(zone: Network) -> None:
    training = trained(zone)
    first = next(iter(training.buffer))
    assert not torch.allclose(*(training.online.values(first.embedding, first.state, goal) for goal in (1.0, 50.0)))


def test_experiences_hold_the_people_who_were_queried_and_the_embeddings_of_their_states(
    zone: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, ask = [], Simulation.ask

    def noted(self: Simulation, person: int) -> Any:
        asked.append(person)
        return ask(self, person)

    training = Training(quick_paper("her"), [zone])
    monkeypatch.setattr(Simulation, "ask", noted)
    monkeypatch.setattr(Training, "update", lambda self, batch: 0.0)
    training.train(2)
    assert [each.action for each in training.buffer] == [person for person in asked for _ in range(2)]
    for each in training.buffer:
        torch.testing.assert_close(each.embedding, training.online.network.embed([each.state])[0])


def test_a_sample_is_uniform_and_without_repeats(zone: Network) -> None:
    training = trained(zone, 6, "her")
    counts, draws = dict.fromkeys(map(id, training.buffer), 0), 2000
    for _ in range(draws):
        sample = [id(each) for each in training.sample()]
        assert len(set(sample)) == 8
        for each in sample:
            counts[each] += 1
    found, expected = np.array([*counts.values()]), draws * 8 / len(counts)
    assert ((found - expected) ** 2 / expected).sum() < chi2.ppf(0.9999, len(counts) - 1)


def test_updates_are_those_of_adam_with_weight_decay(zone: Network) -> None:
    training = Training(quick_paper("her", weight_decay=0.1), [zone])
    monitor = copy.deepcopy(training.online.network)
    adam = torch.optim.Adam(monitor.parameters(), lr=1e-2, weight_decay=0.1)
    training.train(1)
    again = Training(quick_paper("her", weight_decay=0.1), [zone])
    batches: list[list[Experience]] = []
    update = again.update
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(again, "update", lambda batch: (batches.append(batch), update(batch))[1])
        again.train(1)
    for batch in batches:
        states, people = [each.state for each in batch], [each.state.features[each.action] for each in batch]
        goals = again.online.scaled([each.goal for each in batch])
        loss = 0.5 * (monitor(monitor.embed(states), torch.stack(people), goals) - again.targets(batch)).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    for one, other in zip(monitor.parameters(), training.online.network.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    assert training.policy().network is training.online.network


# The curriculum (eq. 7 to 10) -----------------------------------------------------------------------------------------


def experience(achieved: float, desired: float, embedding: Any, goal: float | None = None) -> Experience:
    """An experience as the curriculum sees it; its state plays no part."""
    vector = torch.tensor(embedding, dtype=torch.float32)
    pursued = desired if goal is None else goal
    return Experience(None, 0, 0.0, None, pursued, desired, achieved, vector)  # type: ignore[arg-type]


def objective(chosen: list[Experience], drawn: list[Experience], weight: float) -> float:
    """F(A) of eq. 7, with c = 1000."""
    proximity = sum(1000 - abs(each.achieved - each.desired) for each in chosen)
    diversity = sum(
        max([0.0, *(float(one.embedding.double() @ other.embedding.double()) for one in chosen)]) for other in drawn
    )
    return proximity + weight * diversity


@pytest.mark.parametrize("weight", [0.0, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_experiences_are_those_of_the_largest_marginal_gain(seed: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    drawn = [experience(*rng.uniform(0, 10, 2), rng.normal(size=4), rng.uniform(0, 10)) for _ in range(20)]
    chosen: list[Experience] = []
    while len(chosen) < 8:
        rest = [each for each in drawn if each not in chosen]
        chosen.append(max(rest, key=lambda each: objective([*chosen, each], drawn, weight)))
    assert choose_experiences(drawn, 8, weight) == chosen


def test_proximity_is_to_the_goal_of_the_episode_and_not_to_the_pseudo_goal() -> None:
    missed = [experience(achieved, 10.0, [0.0], goal=achieved) for achieved in (2.0, 3.0, 4.0)]  # hindsight
    near = [experience(9.0, 10.0, [0.0]), experience(9.5, 10.0, [0.0])]
    assert choose_experiences([*missed, *near], 2, 1.0) == near[::-1]


def test_diverse_experiences_are_not_alike() -> None:
    axes = np.eye(3).tolist()
    drawn = [experience(5.0, 10.0, axes[i]) for i in (0, 0, 0, 1, 2)]
    assert {id(each) for each in choose_experiences(drawn, 3, 1.0)} >= {id(drawn[3]), id(drawn[4])}


def test_without_weight_the_nearest_are_chosen() -> None:
    rng = np.random.default_rng(3)
    drawn = [experience(*rng.uniform(0, 10, 2), rng.normal(size=4)) for _ in range(20)]
    wanted = sorted(drawn, key=lambda each: abs(each.achieved - each.desired))[:6]
    assert choose_experiences(drawn, 6, 0.0) == wanted
    assert len(choose_experiences(drawn, 50, 0.0)) == 20


def test_an_update_refreshes_the_embeddings_of_its_batch(zone: Network) -> None:
    training = trained(zone)
    shaken(training.online.network)
    *batch, untouched = list(training.buffer)[:5]
    stale = untouched.embedding.clone()
    wanted = [training.online.network.embed([each.state])[0].detach() for each in batch]
    assert not any(torch.allclose(each.embedding, other) for each, other in zip(batch, wanted, strict=True))
    training.update(batch)
    for each, embedding in zip(batch, wanted, strict=True):
        torch.testing.assert_close(each.embedding, embedding)
    assert torch.equal(untouched.embedding, stale)


@pytest.mark.parametrize(("variant", "drawn"), [("her", 8), ("claim", 24)])
def test_a_batch_is_chosen_from_m_times_as_many(
    variant: str, drawn: int, zone: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = trained(zone, 6, variant)
    given = []

    def noted(drawn: list[Experience], count: int, weight: float) -> list[Experience]:
        given.append((len(drawn), count, weight))
        return choose_experiences(drawn, count, weight)

    monkeypatch.setattr(paper, "choose_experiences", noted)
    assert len(training.sample()) == 8
    assert given == ([(drawn, 8, training.curriculum_weight)] if variant == "claim" else [])


# Schedules -----------------------------------------------------------------------------------------------------------


def test_lambda_and_epsilon_decay_once_an_episode(zone: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    training = Training(quick_paper(curriculum_decay=0.5, exploration_initial_eps=0.8, exploration_decay=0.5), [zone])
    used, lines, sample = [], [], Training.sample

    def noted(self: Training) -> list[Experience]:
        used.append(self.curriculum_weight)
        return sample(self)

    monkeypatch.setattr(Training, "sample", noted)
    training.train(7, lines.append)
    assert used == [0.5**episode for episode in range(7) for _ in range(3)]
    assert [line["curriculum_weight"] for line in lines] == [0.5 ** (episode + 1) for episode in range(7)]
    assert [line["epsilon"] for line in lines] == [max(0.8 * 0.5 ** (episode + 1), 0.01) for episode in range(7)]


def test_the_target_is_copied_every_so_many_episodes_and_not_between(zone: Network) -> None:
    training = Training(quick_paper(target_interval=3), [zone])
    last = weights(training.online.network)
    for episode in range(1, 8):
        training.train(episode)
        now = weights(training.online.network)
        assert not same(now, last)
        if episode % 3 == 0:
            last = now
        assert same(weights(training.target.network), last)


def test_kept_values_of_the_target_network_are_those_of_its_present_weights(zone: Network) -> None:
    training, kept = Training(quick_paper(target_interval=2), [zone]), 0
    for episode in range(1, 6):
        training.train(episode)
        for each in training.buffer:
            if each.best_next is not None and each.next_state is not None:
                choices = each.next_state.actions.tolist()
                values = [q(training.target, each.next_state, person, each.goal) for person in choices]
                assert each.best_next == pytest.approx(max(values), rel=1e-4, abs=1e-5)
                kept += 1
    assert kept


def test_states_together_have_the_embeddings_they_have_alone() -> None:
    network = paper.GeometricDQN(quick_paper())
    states = [State.of(discovered, 4, np.random.default_rng(1)) for discovered in graphs(20)]
    assert len({len(state.features) for state in states}) > 3
    together = network.embed(states)
    for state, embedding in zip(states, together, strict=True):
        torch.testing.assert_close(network.embed([state])[0], embedding, rtol=1e-4, atol=1e-6)


def test_denormal_numbers_are_zero_while_training_and_only_then(zone: Network) -> None:
    """Weights of dead units decay to denormal numbers, with which training was four times as slow."""
    smallest = torch.full((8,), torch.finfo(torch.float32).tiny)
    seen = []

    def watch(metrics: dict[str, Any]) -> None:
        seen.append(bool((0.5 * smallest).any()))
        if len(seen) == 2:
            raise KeyboardInterrupt

    training = Training(quick_paper(), [zone])
    with pytest.raises(KeyboardInterrupt):
        training.train(5, watch)
    assert seen == [False, False]
    assert (0.5 * smallest).all()


def test_only_the_optimiser_changes_weights(zone: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    training = Training(quick_paper(target_interval=1), [zone])
    before = weights(training.online.network)
    monkeypatch.setattr(training.optimiser, "step", lambda: None)
    training.train(3)
    assert same(weights(training.online.network), before)
    assert same(weights(training.target.network), before)


@pytest.mark.parametrize("budget", [2, 4])
def test_an_episode_has_as_many_updates_as_queries(budget: int, zone: Network) -> None:
    assert trained(zone, 3, budget=budget).updates == 3 * budget


def test_the_buffer_keeps_the_newest(zone: Network) -> None:
    whole, short = (trained(zone, 4, "goal-dqn", buffer_size=size, batch_size=4) for size in (100, 5))
    assert len(whole.buffer) == 12
    assert len(short.buffer) == 5
    assert short.buffer[-1].next_state is None
    assert [each.next_state is None for each in short.buffer] == [False, True, False, False, True]


# Repeatable, resumable, robust ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_seed_gives_the_same_weights(variant: str, zone: Network) -> None:
    one, two, other = (trained(zone, 3, variant, seed=seed) for seed in (1, 1, 2))
    assert same(weights(one.online.network), weights(two.online.network))
    assert not same(weights(one.online.network), weights(other.online.network))
    assert all(np.isfinite(value).all() for value in weights(one.online.network).values())


def test_stop_and_resume_equals_going_on(zone: Network) -> None:
    networks, settings = [zone, load("zone2")], quick_paper(target_interval=2, buffer_size=20)
    straight, first, second = (Training(settings, networks) for _ in range(3))
    straight.train(7)
    stopped_and_resumed(first, second)
    for name in ("online", "target"):
        assert same(weights(getattr(straight, name).network), weights(getattr(second, name).network))
    for name in ("updates", "epsilon", "curriculum_weight"):
        assert getattr(straight, name) == getattr(second, name)
    assert [each.reward for each in straight.buffer] == [each.reward for each in second.buffer]


ODD: dict[str, tuple[Network, dict[str, Any]]] = {
    "a star of 300": (star(300), {"start": 2}),
    "one person": (Network.from_edges([], [], n=1, name="alone"), {}),
    "no contacts": (Network.from_edges([], [], n=12, name="islands"), {}),
    "mostly isolated start people": (Network.from_edges([0, 1, 2], [1, 2, 3], n=20, name="loose"), {"start": 4}),
    "a frontier that runs dry": (star(4, "small star"), {"budget": 9, "start": 1}),
    "start sets that cover the network": (star(5, "seen"), {"start": 100}),
    "more leaders than people": (star(5, "few"), {"leaders": 50, "start": 2}),
}


@pytest.mark.parametrize("variant", ["geometric-dqn", "claim"])
@pytest.mark.parametrize("case", ODD)
def test_training_goes_on_and_the_policy_chooses(case: str, variant: str) -> None:
    network, changes = ODD[case]
    training = trained(network, 4, variant, **changes)
    assert training.episode == 4
    assert all(np.isfinite(value).all() for value in weights(training.online.network).values())
    assert all(math.isfinite(each.reward) for each in training.buffer)
    simulation = training.networks[0].study(np.random.default_rng(0))
    chosen = training.policy().choose(simulation.discovered, np.random.default_rng(0), 3)
    assert len(set(chosen)) == min(3, len(simulation.discovered.frontier))
    assert set(chosen) <= set(simulation.discovered.frontier)


def test_a_network_of_fewer_people_than_leaders_is_reached_whole() -> None:
    network = TrainingNetwork(star(5), quick_paper(leaders=50, start=2))
    simulation = network.study(np.random.default_rng(0))
    assert network.influence(simulation, np.random.default_rng(0)) == network.optimum == 6
