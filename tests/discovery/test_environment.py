"""The environment keeps Gymnasium's contract and the paper's rules."""

import warnings

import gymnasium
import numpy as np
import pytest
from discovery_cases import hubs_and_leaves, star
from gymnasium.utils.env_checker import check_env

import claim  # noqa: F401 - registers the environment
from claim.cascades import Worlds
from claim.discovery.environment import NetworkDiscoveryEnv
from claim.errors import InputError
from claim.networks import Network
from claim.selection import MethodSelector

ENVIRONMENT = "claim/NetworkDiscovery-v0"
SELECTOR = MethodSelector(samples=50)
ISOLATED = Network.from_edges([0, 1], [1, 2], n=9, name="isolated")


def environment(network: Network | None = None, **settings) -> NetworkDiscoveryEnv:
    settings = {"samples": 200, **settings}
    return NetworkDiscoveryEnv(network or hubs_and_leaves(60), SELECTOR, **settings)


def play(env: NetworkDiscoveryEnv, seed: int) -> list[tuple]:
    observation, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    steps = [(observation, 0.0, False, info)]
    while not steps[-1][2]:
        open_people = np.flatnonzero(info["action_mask"])
        action = rng.choice(open_people) if len(open_people) else 0
        observation, reward, terminated, truncated, info = env.step(action)
        assert not truncated
        steps.append((observation, reward, terminated, info))
    return steps


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"per_round": 3},
        {"refusal": 0.5, "unit": "answers"},
        {"refusal": 1.0},
        {"network": ISOLATED},
        {"network": ISOLATED, "start_size": 50, "leaders": 50, "goal": 20.0},
        {"network": star(40), "budget": 1, "start_size": 1},
        {"goal": lambda discovered: 2.0 * len(discovered)},
    ],
)
def test_gymnasium_finds_nothing_to_complain_about(settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Gymnasium's logger warns through these
        settings = {"network": hubs_and_leaves(60), "selector": SELECTOR, "samples": 200, **settings}
        check_env(gymnasium.make(ENVIRONMENT, **settings).unwrapped)


def test_gymnasium_makes_it_by_name_with_a_network_or_the_name_of_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for network in (hubs_and_leaves(60), "zone2"):
            env = gymnasium.make(ENVIRONMENT, network=network, budget=2, samples=50)
            env.reset(seed=0)
            env.step(env.action_space.sample())
            check_env(env.unwrapped)
    assert env.unwrapped.selector.name == "greedy"


def test_the_selector_of_the_name_uses_the_same_p():
    assert gymnasium.make(ENVIRONMENT, network=star(4), p=0.3).unwrapped.selector.p == 0.3


def test_the_mask_is_the_frontier():
    env = environment()
    _, info = env.reset(seed=0)
    assert info["action_mask"].dtype == np.int8
    assert info["action_mask"].shape == (env.network.n,)
    assert np.flatnonzero(info["action_mask"]).tolist() == env.discovered.frontier


def test_samples_of_the_action_space_are_people_of_the_frontier():
    env = environment()
    env.action_space.seed(1)
    env.reset(seed=0)
    samples = {int(env.action_space.sample()) for _ in range(200)}
    assert samples <= set(env.discovered.frontier)
    assert len(samples) > 5


def test_an_episode_has_as_many_steps_as_the_budget_and_one_reward_at_the_end():
    steps = play(environment(budget=4, goal=7.0), seed=1)
    assert len(steps) == 1 + 4
    assert [reward for _, reward, _, _ in steps[:-1]] == [0.0] * 4
    achieved = steps[-1][0]["achieved_goal"][0]
    assert steps[-1][1] == pytest.approx((achieved - 7.0) / 7.0)
    assert steps[-1][3]["final"]


def test_the_achieved_goal_is_the_influence_of_leaders_chosen_from_what_was_discovered():
    env = environment(Network.from_edges([0, 0, 0], [1, 2, 3], n=30), leaders=4, start_size=1, samples=500)
    env.budget = 3
    observation, _ = env.reset(seed=0, options={"start": [0]})
    final = False
    while not final:
        assert observation["achieved_goal"][0] == 0.0  # the oracle runs at the end of an episode
        observation, _, final, _, _ = env.step(env.action_space.sample())
    expected = Worlds.draw(env.network, 0.1, 500, 0).influence([0, 1, 2, 3]).mean
    assert observation["achieved_goal"][0] == expected == 4.0


def test_several_networks_take_turns_at_random():
    networks = [star(5), hubs_and_leaves(60)]
    env = NetworkDiscoveryEnv(networks, SELECTOR, samples=50)
    seen = set()
    for seed in range(20):
        _, info = env.reset(seed=seed)
        assert info["action_mask"].shape == (max(network.n for network in networks),)
        seen.add(env.network.n)
        play(env, seed)
    assert len(seen) == 2
    check_env(env)


def test_the_observation_shows_the_discovered_network_and_whom_the_round_has_chosen():
    env = environment(per_round=2)
    env.reset(seed=3)
    person = env.discovered.frontier[0]
    observation, *_ = env.step(person)
    graph = observation["observation"]
    assert len(graph.nodes) == len(env.discovered)
    assert np.flatnonzero(graph.nodes[:, 0]).tolist() == sorted(env.discovered.surveyed)
    assert np.flatnonzero(graph.nodes[:, 1]).tolist() == env.discovered.start
    assert np.flatnonzero(graph.nodes[:, 3]).tolist() == [person]
    assert graph.edge_links.tolist() == np.stack(env.discovered.ties(), axis=1).tolist()


def test_answers_of_a_round_come_in_together():
    env = environment(budget=5, per_round=3)
    env.reset(seed=0)
    surveyed = []
    terminated = False
    while not terminated:
        _, _, terminated, _, _ = env.step(env.discovered.frontier[len(env._chosen)])
        surveyed.append(len(env.discovered.surveyed) - 5)
    assert surveyed == [0, 0, 3, 3, 5]


def test_somebody_chosen_in_a_round_cannot_be_chosen_again():
    env = environment(per_round=2)
    env.reset(seed=0)
    person = env.discovered.frontier[0]
    *_, info = env.step(person)
    assert info["action_mask"][person] == 0


def test_refusals_are_shown_and_an_answer_budget_does_not_count_them():
    env = environment(star(40), start_size=1, budget=5, refusal=0.5, unit="answers")
    env.reset(seed=0, options={"start": [0]})
    env.action_space.seed(1)
    terminated = False
    while not terminated:
        observation, _, terminated, _, _ = env.step(env.action_space.sample())
    assert len(env.discovered.surveyed) == 1 + 5
    assert observation["observation"].nodes[:, 2].sum() == len(env.discovered.refused) > 0


def test_an_action_outside_the_mask_wastes_an_attempt():
    env = environment(budget=2)
    env.reset(seed=0)
    before = env.discovered.copy()
    _, _, terminated, _, _ = env.step(env.discovered.start[0])
    assert env.discovered == before
    assert not terminated
    assert env.step(env.network.n - 1)[2]


@pytest.mark.parametrize("per_round", [1, 4])
def test_an_exhausted_frontier_ends_the_episode(per_round):
    env = environment(ISOLATED, budget=50, per_round=per_round)
    env.reset(seed=0, options={"start": [0]})
    terminated, count = False, 0
    while not terminated:
        _, reward, terminated, _, info = env.step(env.action_space.sample())
        count += 1
    assert count == 2
    assert reward != 0
    assert not info["action_mask"].any()


def test_isolated_start_people_end_the_episode_at_the_first_step():
    env = environment(ISOLATED)
    _, info = env.reset(seed=0, options={"start": [7, 8]})
    assert not info["action_mask"].any()
    assert env.step(env.action_space.sample())[2]


def test_rewards_for_arrays_equal_the_rewards_of_the_steps():
    env = environment(goal=lambda discovered: 0.5 * len(discovered))
    steps = [step for seed in range(3) for step in play(env, seed)[1:]]
    achieved = np.array([observation["achieved_goal"] for observation, *_ in steps])
    desired = np.array([observation["desired_goal"] for observation, *_ in steps])
    infos = [info for *_, info in steps]
    rewards = np.array([reward for _, reward, _, _ in steps])
    assert np.array_equal(env.compute_reward(achieved, desired, infos), rewards)
    assert np.array_equal(env.compute_reward(achieved, desired, np.array(infos, dtype=object)), rewards)
    finals = {"final": np.array([info["final"] for info in infos])}
    assert np.array_equal(env.compute_reward(achieved[:, 0], desired[:, 0], finals), rewards)
    one_by_one = [env.compute_reward(*each) for each in zip(achieved, desired, infos, strict=True)]
    assert one_by_one == rewards.tolist()
    assert np.ndim(one_by_one[0]) == 0
    assert set(rewards[[not info["final"] for info in infos]]) == {0.0}


def test_a_changed_goal_changes_the_reward():
    env = environment()
    assert env.compute_reward([12.0], [10.0], {"final": True}) == pytest.approx(0.2)
    assert env.compute_reward([12.0], [24.0], {"final": True}) == pytest.approx(-0.5)
    assert env.compute_reward([12.0], [24.0], {"final": False}) == 0


def test_the_same_seed_repeats_an_episode_and_another_does_not():
    env = environment(refusal=0.3)
    first, again, other = (play(env, seed) for seed in (5, 5, 6))
    assert len(first) == len(again)
    for one, two in zip(first, again, strict=True):
        assert one[0]["observation"].nodes.tolist() == two[0]["observation"].nodes.tolist()
        assert one[0]["observation"].edge_links.tolist() == two[0]["observation"].edge_links.tolist()
        assert one[0]["achieved_goal"] == two[0]["achieved_goal"]
        assert one[1] == two[1]
    sizes = [[len(step[0]["observation"].nodes) for step in steps] for steps in (first, other)]
    assert sizes[0] != sizes[1]


@pytest.mark.parametrize("settings", [{"budget": 0}, {"start_size": 0}, {"leaders": 0}, {"per_round": 0}])
def test_numbers_that_make_no_study_are_refused(settings):
    with pytest.raises(InputError, match="at least 1"):
        environment(**settings)


@pytest.mark.parametrize("goal", [0.0, -1.0, float("nan")])
def test_a_goal_that_cannot_be_divided_by_is_refused(goal):
    with pytest.raises(InputError, match="positive"):
        environment(goal=goal).reset(seed=0)


def test_a_directed_network_is_refused():
    with pytest.raises(InputError, match="directed"):
        environment(Network.from_edges([0], [1], directed=True))
