"""Agents that cannot read graphs see classes of people as a vector, and nothing that a team could not see."""

import warnings

import gymnasium
import networkx
import numpy as np
import pytest
from discovery_cases import hubs_and_leaves, star, twin_of
from gymnasium.utils.env_checker import check_env

import claim
from claim.discovery import NEW, Discovered, Simulation
from claim.discovery.class_view import (
    CLASS_SIGNALS,
    LIMIT,
    STUDY_SIGNALS,
    AgentPolicy,
    class_vector,
    open_classes,
    vector_length,
)
from claim.discovery.environment import ClassDiscoveryEnv
from claim.errors import InputError
from claim.evaluation.batches import FEWEST_FOR_PROCESSES
from claim.networks import Network
from claim.selection import MethodSelector

ENVIRONMENT = "claim/NetworkDiscovery-v0"
SELECTOR = MethodSelector(samples=50)
ISOLATED = Network.from_edges([0, 1], [1, 2], n=9, name="isolated")


def environment(network: Network | None = None, **settings) -> ClassDiscoveryEnv:
    settings = {"samples": 200, "selector": SELECTOR, **settings}
    return ClassDiscoveryEnv(network or hubs_and_leaves(60), **settings)


def play(env: ClassDiscoveryEnv, seed: int) -> list[tuple]:
    """An episode of random rows: observation, reward, terminated, info."""
    observation, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    steps = [(observation, 0.0, False, info)]
    while not steps[-1][2]:
        assert np.array_equal(env.action_masks(), info["action_mask"] == 1)
        rows = np.flatnonzero(info["action_mask"])
        observation, reward, terminated, _, info = env.step(rng.choice(rows) if len(rows) else 0)
        steps.append((observation, reward, terminated, info))
    return steps


def study_signal(vector: np.ndarray, name: str) -> float:
    return float(vector[STUDY_SIGNALS.index(name)])


def class_signal(vector: np.ndarray, name: str) -> np.ndarray:
    """The signal of every row, padded ones included."""
    return vector[len(STUDY_SIGNALS) :].reshape(-1, len(CLASS_SIGNALS))[:, CLASS_SIGNALS.index(name)]


@pytest.mark.needs("stable_baselines3")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"per_round": 3},
        {"max_classes": 2},
        {"refusal": 0.5, "unit": "answers"},
        {"refusal": 1.0},
        {"network": ISOLATED},
        {"network": star(40), "budget": 1, "start_size": 1},
        {"network": None, "networks": [star(5), hubs_and_leaves(60)]},
        {"goal": lambda discovered: 2.0 * len(discovered)},
        {"entry": "open"},
        {"entry": "open", "interviews": 7, "per_round": 3, "hub_question": 0.5},
        {"entry": "open", "refusal": 0.5, "unit": "answers", "frame": "share:0.2"},
        {"entry": "open", "network": ISOLATED, "refusal": 1.0},
    ],
)
def test_neither_gymnasium_nor_stable_baselines_finds_an_error(settings):
    from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines

    settings = {"network": hubs_and_leaves(60), "selector": SELECTOR, "samples": 200, **settings}
    env = gymnasium.make(ENVIRONMENT, observation="classes", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
        check_for_stable_baselines(env)


@pytest.mark.needs("stable_baselines3")
@pytest.mark.parametrize("settings", [{}, {"entry": "open", "hub_question": 0.5}])
def test_of_graphs_stable_baselines_only_says_that_it_cannot_read_them(settings):
    from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines

    env = gymnasium.make(ENVIRONMENT, network=hubs_and_leaves(60), selector=SELECTOR, samples=200, **settings)
    with pytest.warns(UserWarning, match="Graph observation space is not supported") as warned:
        check_for_stable_baselines(env)
    assert len(warned) == 1


def test_rows_are_the_classes_with_the_most_surveyed_contacts_and_then_the_largest():
    seen = Discovered()
    ann, bob = seen.add_person(), seen.add_person()
    seen.record_start(ann)
    seen.record_start(bob)
    of_ann, of_bob, shared = ([seen.add_person(who) for _ in range(n)] for who, n in ((ann, 2), (bob, 4), (ann, 1)))
    seen.record_survey(ann, of_ann + shared)
    seen.record_survey(bob, of_bob + shared)
    assert [list(group.members) for group in open_classes(seen)] == [shared, of_bob, of_ann]
    vector = class_vector(seen, open_classes(seen), surveys_left=3, max_classes=5)
    assert vector.shape == (vector_length(5),)
    assert class_signal(vector, "present").tolist() == [1, 1, 1, 0, 0]
    assert class_signal(vector, "namers") == pytest.approx(np.log([2, 1, 1, 1, 1]))
    assert class_signal(vector, "alike") == pytest.approx(np.log([1, 4, 2, 1, 1]))
    assert class_signal(vector, "loneliest namer") == pytest.approx([1 / 3, 1 / 5, 1 / 3, 0, 0])
    assert class_signal(vector, "wave") == pytest.approx(np.log([2, 2, 2, 1, 1]))
    assert study_signal(vector, "people known") == pytest.approx(np.log1p(9))
    assert study_signal(vector, "surveys left") == pytest.approx(np.log1p(3))


def test_people_known_from_the_outset_whom_no_one_named_have_a_row():
    seen = Discovered()
    seen.add_person()
    vector = class_vector(seen, open_classes(seen), surveys_left=1, max_classes=2)
    assert np.isfinite(vector).all()
    assert class_signal(vector, "present").tolist() == [1, 0]


def test_new_people_and_what_they_add_are_signals_of_the_study():
    seen = Discovered(open=True)
    vector = class_vector(seen, [], surveys_left=9, max_classes=2, chosen=[NEW, NEW])
    assert np.isfinite(vector).all()
    assert study_signal(vector, "new people") == pytest.approx(np.log1p(2))  # those of this round
    assert study_signal(vector, "contacts of new people known before") == 0
    ann, bob, *named = (seen.add_person() for _ in range(6))
    seen.record_start(ann)
    seen.record_survey(ann, named)
    seen.record_start(bob)
    seen.record_survey(bob, named[:2])
    vector = class_vector(seen, open_classes(seen), surveys_left=7, max_classes=2, chosen=[NEW])
    assert study_signal(vector, "new people") == pytest.approx(np.log1p(3))
    assert study_signal(vector, "contacts of new people known before") == pytest.approx(2 / 6)


def test_marks_are_a_signal_of_the_class_and_tell_rounds_apart():
    seen = Discovered()
    ann, bob, cyd, dan = (seen.add_person() for _ in range(4))
    seen.record_start(ann)
    seen.record_survey(ann, [bob, cyd, dan])
    seen.record_mark(ann, cyd)
    groups = open_classes(seen)
    assert [group.members for group in groups] == [(bob, dan), (cyd,)]
    vector = class_vector(seen, groups, surveys_left=3, max_classes=2)
    assert class_signal(vector, "marks") == pytest.approx(np.log1p([0, 1]))
    vector = class_vector(seen, open_classes(seen, [bob]), surveys_left=2, max_classes=2, chosen=[bob])
    assert class_signal(vector, "chosen this round") == pytest.approx(np.log1p([1, 0]))


def test_large_signals_are_clipped_to_the_bounds_of_the_space():
    seen = Discovered()
    hub = seen.add_person()
    for _ in range(30):  # each of them knows the hub only, so the sum of 1/d(w) is 30
        seen.record_start(namer := seen.add_person())
        seen.add_tie(namer, hub)
    vector = class_vector(seen, open_classes(seen), surveys_left=1, max_classes=1)
    assert class_signal(vector, "lonely namers").tolist() == [LIMIT]
    assert abs(vector).max() == LIMIT


def test_more_classes_than_rows_leave_out_the_last_ones():
    env = environment(max_classes=3)
    env.reset(seed=0)
    every = open_classes(env.discovered)
    assert len(every) > 3
    observation, _, _, _, info = env.step(3)  # a class, but without a row
    assert info["action_mask"].tolist() == [1, 1, 1]
    assert open_classes(env.discovered) == every
    assert np.array_equal(observation, class_vector(env.discovered, every[:3], env.budget - 1, 3))
    env.step(2)
    assert env.discovered.surveyed[-1] in every[2].members


def test_an_action_surveys_a_random_member_of_the_class():
    env = environment(star(8), start_size=1)
    surveyed = set()
    for seed in range(60):
        env.reset(seed=seed, options={"start": [0]})
        assert env.action_masks().sum() == 1
        env.step(0)
        surveyed.add(env.discovered.surveyed[-1])
    assert surveyed == set(range(1, 9))


def test_an_action_without_a_class_uses_up_a_survey():
    env = environment(budget=2)
    env.reset(seed=0)
    before = env.discovered.copy()
    observation, _, terminated, _, _ = env.step(env.max_classes - 1)
    assert env.discovered == before
    assert study_signal(observation, "surveys left") == pytest.approx(np.log1p(1))
    assert not terminated
    assert env.step(env.max_classes - 1)[2]


def test_the_reward_comes_at_the_end_and_leaders_are_chosen_once_an_episode():
    class Counting(MethodSelector):
        calls = 0

        def select(self, *args, **limits):
            Counting.calls += 1
            return super().select(*args, **limits)

    env = environment(star(3), budget=3, start_size=4, leaders=4, goal=8.0, selector=Counting(samples=50))
    env.reset(seed=1, options={"start": [0]})
    outcomes = [env.step(0) for _ in range(3)]
    assert [terminated for _, _, terminated, _, _ in outcomes] == [False, False, True]
    assert [reward for _, reward, _, _, _ in outcomes] == [0.0, 0.0, (4.0 - 8.0) / 8.0]  # everyone is a leader
    assert Counting.calls == 1


def test_a_round_shows_whom_it_has_chosen_and_asks_them_together():
    env = environment(star(8), start_size=1, budget=5, per_round=3)
    env.reset(seed=0, options={"start": [0]})
    sizes, chosen, surveyed = [], [], []
    for _ in range(3):
        observation, *_ = env.step(0)
        sizes.append(class_signal(observation, "alike")[0])
        chosen.append(class_signal(observation, "chosen this round")[0])
        surveyed.append(len(env.discovered.surveyed))
    assert sizes == pytest.approx(np.log([7, 6, 5]))
    assert chosen == pytest.approx(np.log1p([1, 2, 0]))
    assert surveyed == [1, 1, 4]
    assert len(set(env.discovered.surveyed)) == 4


def test_the_same_seed_repeats_an_episode():
    env = environment(refusal=0.3)
    first, again, other = ([step[0].tolist() for step in play(env, seed)] for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_ties_that_no_one_has_named_change_nothing():
    network = hubs_and_leaves(60)
    env = environment(network)
    steps = play(env, seed=4)
    simulation = Simulation(network, [], np.random.default_rng(0))
    simulation.discovered, simulation.people = env.discovered, env._surveys.simulation.people
    twin = twin_of(network, simulation, np.random.default_rng(1))
    assert twin.checksum != network.checksum
    seen_in_twin = play(environment(twin), seed=4)
    assert [step[0].tolist() for step in steps] == [step[0].tolist() for step in seen_in_twin]


def test_ties_that_no_one_has_named_change_nothing_in_an_open_study():
    network, study = hubs_and_leaves(60), {"entry": "open", "interviews": 12}
    env = environment(network, **study)
    steps = play(env, seed=4)
    assert 1 < len(env.discovered.start) < 12
    twin = twin_of(network, env._surveys.simulation, np.random.default_rng(1))
    assert twin.checksum != network.checksum
    seen_in_twin = play(environment(twin, **study), seed=4)
    assert [step[0].tolist() for step in steps] == [step[0].tolist() for step in seen_in_twin]


def test_the_last_row_of_an_open_study_is_a_new_person():
    env = environment(star(8), entry="open", interviews=4, max_classes=3)
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [0, 0, 0, 1]
    *_, info = env.step(3)
    assert info["action_mask"].tolist() == [1, 0, 0, 1]
    env.step(0)
    assert (len(env.discovered.start), len(env.discovered.surveyed)) == (1, 2)


def test_networks_is_another_word_for_network():
    networks = [star(5), hubs_and_leaves(60)]
    assert ClassDiscoveryEnv(networks).networks == ClassDiscoveryEnv(networks=networks).networks == networks
    assert ClassDiscoveryEnv().networks[0].name == "zone2"
    for given, problem in (
        ({"network": star(5), "networks": networks}, "give one of them"),
        ({"networks": []}, "at least one network"),
        ({"observation": "picture"}, "must be graph or classes, got 'picture'"),
        ({"observation": "classes", "max_classes": 0}, "max_classes must be at least 1"),
    ):
        with pytest.raises(InputError, match=problem):
            gymnasium.make(ENVIRONMENT, **given)


class LastRow:
    """An agent that takes the last open row, and remembers what it was shown."""

    def __init__(self, max_classes: int) -> None:
        self.action_space = gymnasium.spaces.Discrete(max_classes)
        self.policy, self.shown = self, []

    def predict(self, observation, action_masks, deterministic):
        self.shown.append(observation)
        return np.flatnonzero(action_masks)[-1], None


@pytest.mark.parametrize("per_round", [1, 3])
@pytest.mark.parametrize("study", [{"budget": 5}, {"entry": "open", "interviews": 9, "frame": "share:0.1"}])
def test_an_agent_sees_the_same_in_a_comparison_as_in_training(study, per_round):
    env = environment(**study, per_round=per_round, max_classes=4, hub_question=1.0)
    planned = {name: number for name, number in study.items() if name in ("budget", "interviews")}
    observation, info = env.reset(seed=2)
    terminated = False
    while not terminated:
        agent, expected = LastRow(env.action_space.n), [observation]
        count = min(per_round, env.budget - env._surveys.used)
        chosen = AgentPolicy(agent, **planned).choose(env.discovered, np.random.default_rng(0), count)
        named = [person for person in chosen if person != NEW]
        assert len(chosen) == count
        assert len(set(named)) == len(named)
        assert set(named) <= set(env.discovered.frontier)
        assert (NEW in chosen) == env.discovered.open  # the last row that is open
        for _ in range(count):
            observation, _, terminated, _, info = env.step(np.flatnonzero(info["action_mask"])[-1])
            expected.append(observation)
        assert np.array_equal(agent.shown, expected[:-1])


def test_an_agent_plans_with_surveys_or_with_interviews():
    for given in ({}, {"budget": 5, "interviews": 10}):
        with pytest.raises(InputError, match="a budget, or one of open studies its interviews"):
            AgentPolicy(LastRow(4), **given)


@pytest.mark.needs("sb3_contrib")
@pytest.mark.parametrize("study", [{"budget": 5}, {"entry": "open", "interviews": 6}])
def test_an_agent_of_sb3_contrib_can_be_compared_in_other_processes(study):
    from sb3_contrib import MaskablePPO

    env = gymnasium.make(ENVIRONMENT, network="zone2", observation="classes", goal=15.0, selector=SELECTOR, **study)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, seed=0, device="cpu").learn(32)
    agent = AgentPolicy(model, **{name: number for name, number in study.items() if name != "entry"})
    here, there = (
        claim.compare("zone2", [agent], runs=FEWEST_FOR_PROCESSES, per_round=2, workers=workers, **study)
        for workers in (1, 2)
    )
    assert here.rows[0].policy == "agent"
    assert here.rows == there.rows


def hubs_and_cliques(hubs: int, cliques: int) -> Network:
    """Hubs with 30 contacts who know no one else, and groups of eight who all know each other.

    A start person with one contact leads to a hub. A survey of a person with seven contacts shows nothing new, nor does
    one of the contacts of a hub.
    """
    graph = networkx.disjoint_union_all(
        [networkx.star_graph(30) for _ in range(hubs)] + [networkx.complete_graph(8) for _ in range(cliques)]
    )
    return Network.from_networkx(graph, f"{hubs} hubs")


@pytest.mark.slow
@pytest.mark.needs("sb3_contrib")
def test_a_short_training_with_sb3_contrib_finds_the_hubs_of_an_unknown_network():
    from sb3_contrib import MaskablePPO

    settings = {"budget": 2, "leaders": 2}
    networks = [hubs_and_cliques(hubs, cliques) for hubs, cliques in ((6, 30), (5, 24), (8, 40))]
    study = {"networks": networks, "selector": SELECTOR, "samples": 200, "goal": 5.0, **settings}
    env = gymnasium.make(ENVIRONMENT, observation="classes", max_classes=8, **study)
    rates = {"n_steps": 512, "batch_size": 64, "n_epochs": 5, "learning_rate": 1e-3, "gamma": 1.0}
    model = MaskablePPO("MlpPolicy", env, seed=0, device="cpu", **rates).learn(3000)
    policies = ["random-class", AgentPolicy(model, budget=2)]
    by_chance, agent = claim.compare(hubs_and_cliques(7, 34), policies, runs=100, workers=1, **settings).rows
    assert agent.mean > 1.15 * by_chance.mean
