"""The environment keeps Gymnasium's contract and the paper's rules."""

import warnings

import gymnasium
import numpy as np
import pytest
from discovery_cases import hubs_and_leaves, star
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.seeding import np_random

import claim  # noqa: F401 - registers the environment
from claim.cascades import Worlds
from claim.discovery import NEW, Frame, Simulation, surveys
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
        {"hub_question": 1.0},
        {"entry": "open"},
        {"entry": "open", "interviews": 7, "per_round": 3, "hub_question": 0.5},
        {"entry": "open", "interviews": 1, "refusal": 1.0},
        {"entry": "open", "interviews": 50, "network": ISOLATED, "leaders": 50},
        {"entry": "open", "refusal": 0.5, "unit": "answers", "frame": "share:0.2"},
        {"entry": "open", "frame": "degree:1"},
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


@pytest.mark.parametrize(
    "settings",
    [{"budget": 0}, {"start_size": 0}, {"leaders": 0}, {"per_round": 0}, {"entry": "open", "interviews": 0}],
)
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


# Open studies and marks


def open_environment(network: Network | None = None, **settings) -> NetworkDiscoveryEnv:
    return environment(network, entry="open", **settings)


def test_an_open_study_begins_with_no_person_and_its_last_action_is_a_new_person():
    env = open_environment(interviews=4)
    observation, info = env.reset(seed=0)
    assert len(env.discovered) == len(observation["observation"].nodes) == 0
    assert env.action_space.n == env.network.n + 1
    assert np.flatnonzero(info["action_mask"]).tolist() == [env.network.n]
    observation, _, _, _, info = env.step(env.network.n)
    assert env.discovered.start == env.discovered.surveyed == [0]
    assert np.flatnonzero(info["action_mask"]).tolist() == [*env.discovered.frontier, env.network.n]
    assert observation["observation"].nodes[:, 1].tolist() == [1] + [0] * (len(env.discovered) - 1)
    env.step(env.discovered.frontier[0])
    assert (len(env.discovered.surveyed), len(env.discovered.start)) == (2, 1)
    assert [env.step(env.network.n)[2] for _ in range(2)] == [False, True]  # the first new person counts, too


def test_a_new_person_is_masked_when_all_have_been_asked():
    env = open_environment(ISOLATED, interviews=50, frame="share:0.34")
    _, info = env.reset(seed=0)
    while info["action_mask"][-1]:
        *_, info = env.step(env.network.n)
    assert len(env.discovered.start) == 3
    steps = play(open_environment(ISOLATED, interviews=50), seed=0)
    assert len(steps) == 1 + ISOLATED.n
    assert not steps[-1][3]["action_mask"].any()


class Scripted:
    """Some interviews are with the person discovered last, the others with new people."""

    name = "scripted"

    def choose(self, discovered, rng, count=1):
        last = discovered.frontier[-1:]
        return [NEW, *last, NEW, NEW][:count] if len(discovered.surveyed) % 3 else [NEW, NEW, *last, NEW][:count]


@pytest.mark.parametrize(
    "settings", [{}, {"per_round": 3}, {"refusal": 0.5, "unit": "answers"}, {"hub_question": 1.0, "frame": "degree:1"}]
)
def test_an_open_episode_is_the_survey_loop(settings):
    env = open_environment(interviews=10, **settings)
    env.reset(seed=8)
    terminated, policy = False, Scripted()
    while not terminated:
        for person in policy.choose(env.discovered, None, env._surveys.places):
            _, _, terminated, _, _ = env.step(env.network.n if person == NEW else person)
    study = {name: value for name, value in settings.items() if name in ("refusal", "hub_question")}
    frame = Frame.parse(settings.get("frame", "uniform"))
    simulation = Simulation(env.network, (), np_random(8)[0], frame=frame, **study)
    loop = {name: value for name, value in settings.items() if name in ("per_round", "unit")}
    for _ in surveys(simulation, policy, 10, np.random.default_rng(0), **loop):
        pass
    assert env.discovered == simulation.discovered
    assert len(env.discovered.start) > 2


def test_a_closed_episode_draws_its_start_people_and_then_the_study():
    env = environment(refusal=0.3)
    env.reset(seed=8)
    rng = np_random(8)[0]
    start = rng.choice(env.network.n, 5, replace=False)
    simulation = Simulation(env.network, start, rng, 0.3)
    for _ in range(5):
        person = env.discovered.frontier[0]
        env.step(person)
        simulation.ask(person)
    assert env.discovered == simulation.discovered
    assert env._surveys.simulation.people == simulation.people


def test_a_person_of_a_round_who_turns_up_as_a_new_person_is_asked_once():
    turned_up = 0
    for seed in range(30):
        env = open_environment(star(3), interviews=5, per_round=2)
        env.reset(seed=seed)
        env.step(env.network.n)
        env.step(env.network.n)
        if env.discovered.frontier:
            env.step(env.network.n)
            env.step(env.discovered.frontier[0])
            turned_up += len(env.discovered.surveyed) == 3
        assert env._surveys.used == len(env.discovered.surveyed)
    assert turned_up > 3


class First:
    """A selector that cannot choose among no people."""

    name = "first"

    def select(self, discovered, k, rng, **limits):
        return [min(range(len(discovered)))]


def test_where_all_people_refuse_no_one_is_reached():
    study = {"entry": "open", "interviews": 5, "refusal": 1.0, "goal": 4.0, "samples": 50}
    steps = play(NetworkDiscoveryEnv(hubs_and_leaves(60), First(), **study), seed=0)
    assert len(steps) == 1 + 5
    assert steps[-1][1] == -1.0


def test_marks_are_shown_in_closed_and_open_studies():
    for settings in ({}, {"entry": "open"}):
        env = environment(hub_question=0.5, **settings)
        observation = play(env, seed=0)[-1][0]
        marked = np.flatnonzero(observation["observation"].nodes[:, 4]).tolist()
        assert marked == sorted(set(env.discovered.marks.values())) != []


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"entry": "half"}, "entry must be closed or open, got 'half'"),
        ({"entry": "open", "budget": 5}, "--budget is for closed studies"),
        ({"entry": "open", "start_size": 5}, "--start-size is for closed studies"),
        ({"interviews": 5}, "interviews are counted in open studies"),
        ({"frame": "share:0.5"}, "a frame is for open studies"),
        ({"entry": "open", "frame": "door"}, "frame must be uniform, degree:A or share:S"),
        ({"hub_question": -1.0}, "hub_question must be at least 0"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, problem):
    with pytest.raises(InputError, match=problem):
        environment(**settings)


def test_an_open_study_takes_no_start_people():
    with pytest.raises(InputError, match="it takes no start people"):
        open_environment().reset(seed=0, options={"start": [0]})
