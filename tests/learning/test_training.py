"""Algorithm 1: repeatable, resumable, masked, and never bootstrapping past the end."""

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from learning_cases import quick, study

from claim.discovery import Discovered, Simulation
from claim.errors import InputError
from claim.learning.config import RETIRED, VARIANTS, Config, parse_settings
from claim.learning.curriculum import similarity
from claim.learning.network import QNetwork, new_network, score_frontiers
from claim.learning.observation import Featuriser
from claim.learning.policy import LearnedPolicy
from claim.learning.replay import Transition
from claim.learning.run_folder import (
    StoppedBetweenEpisodes,
    TrainingFolder,
    read_checkpoint,
    restore,
    save_checkpoint,
)
from claim.learning.train import Episode, Step, Training, train
from claim.learning.training_network import Validation
from claim.networks import Network, load


@pytest.fixture(scope="module")
def networks() -> list[Network]:
    return [load("zone1"), load("zone2")]


def weights(training: Training) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    return {name: value.numpy().copy() for name, value in training.online.state_dict().items()}


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:  # type: ignore[type-arg]
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("variant", VARIANTS)
def test_training_twice_gives_equal_weights(variant: str, networks: list[Network]) -> None:
    runs = [Training(quick(variant), networks) for _ in range(2)]
    for training in runs:
        train(training, 6)
    assert_same(weights(runs[0]), weights(runs[1]))
    untrained = {name: value.numpy() for name, value in new_network(quick(variant)).state_dict().items()}
    assert any((weights(runs[0])[name] != untrained[name]).any() for name in untrained)


@pytest.mark.parametrize("change", [{"shaping": False}, {"normalised_similarity": False}, {"convolved_actions": False}])
@pytest.mark.parametrize("goal", ["input", "affine"])
def test_options_train(change: dict[str, object], goal: str, networks: list[Network]) -> None:
    training = Training(quick(goal=goal, **change), networks)
    train(training, 4)
    assert all(np.isfinite(value).all() for value in weights(training).values())


def test_deepwalk_features_train_person_by_person(networks: list[Network]) -> None:
    training = Training(quick(features="deepwalk", validation_starts=1), networks[:1])
    train(training, 4)
    state = training.replay.transitions[-1].state
    assert (state.multiplicity == 1).all()


def test_stop_and_resume_equals_going_on(networks: list[Network], tmp_path: Path) -> None:
    straight = Training(quick(), networks)
    train(straight, 9)
    first = Training(quick(), networks)
    train(first, 4)
    save_checkpoint(first, tmp_path / "checkpoint.pt", {"curve": []})
    second = Training(quick(), networks)
    restore(second, read_checkpoint(tmp_path / "checkpoint.pt", quick(), networks))
    train(second, 9)
    assert_same(weights(straight), weights(second))


def test_a_checkpoint_of_version_0_1_goes_on_to_the_same_weights(networks: list[Network], tmp_path: Path) -> None:
    """It has settings that were removed, and six numbers a transition: also the return and the influence reached."""
    path = tmp_path / "checkpoint.pt"
    first = Training(quick(), networks)
    train(first, 4)
    save_checkpoint(first, path, {"curve": []})
    content = torch.load(path, weights_only=True)
    content["config"] = json.dumps(json.loads(content["config"]) | RETIRED)
    reward, goal, pursued, average = content["replay"]["numbers"].T
    others = torch.full_like(reward, 99.0)
    content["replay"]["numbers"] = torch.stack([reward, goal, others, pursued, others, average], dim=1)
    torch.save(content, path)
    second = Training(quick(), networks)
    restore(second, read_checkpoint(path, quick(), networks))
    for training in (first, second):
        train(training, 7)
    assert_same(weights(first), weights(second))
    content["config"] = json.dumps(json.loads(content["config"]) | {"double": True})
    torch.save(content, path)
    with pytest.raises(InputError, match="double was removed and can only be False, got True"):
        read_checkpoint(path, quick(), networks)


def test_a_checkpoint_of_other_settings_is_refused(networks: list[Network], tmp_path: Path) -> None:
    save_checkpoint(Training(quick(), networks), tmp_path / "checkpoint.pt", {})
    with pytest.raises(InputError, match="other settings"):
        read_checkpoint(tmp_path / "checkpoint.pt", quick(seed=5), networks)
    with pytest.raises(InputError, match="other networks"):
        read_checkpoint(tmp_path / "checkpoint.pt", quick(), networks[:1])
    (tmp_path / "junk.pt").write_bytes(b"junk")
    with pytest.raises(InputError, match="not a checkpoint"):
        read_checkpoint(tmp_path / "junk.pt", quick(), networks)


def test_nothing_is_bootstrapped_past_the_end(networks: list[Network]) -> None:
    training = Training(quick(), networks)
    train(training, 3)
    ends = [each for each in training.replay.transitions if each.next_state is None]
    assert ends
    np.testing.assert_allclose(training.targets(ends), [each.reward for each in ends])


def test_the_bootstrap_is_the_best_value_of_the_frontier(networks: list[Network]) -> None:
    training = Training(quick(), networks)
    train(training, 3)
    going_on = [each for each in training.replay.transitions if each.next_state is not None][:5]
    wanted = []
    for each in going_on:
        (values,), _ = score_frontiers(
            training.target, [each.next_state], np.array([[each.goal, each.average_influence]])
        )  # type: ignore[list-item]
        assert len(values) == len(each.next_state.frontier)  # type: ignore[union-attr]
        wanted.append(each.reward + training.config.gamma * float(values.max()))
    np.testing.assert_allclose(training.targets(going_on), wanted, rtol=1e-4, atol=1e-5)


def test_hindsight_adds_transitions_and_leaves_the_originals_alone(networks: list[Network]) -> None:
    training = Training(quick("her", buffer_size=1000, shaping=False), networks)
    train(training, 3)
    originals = [each for each in training.replay.transitions if not each.relabelled]
    relabelled = [each for each in training.replay.transitions if each.relabelled]
    assert len(originals) == len(relabelled)
    for one, other in zip(originals, relabelled, strict=True):
        assert one.state is other.state
        if one.next_state is None:
            assert one.reward == pytest.approx((other.goal - one.goal) / one.goal)
            assert other.reward == pytest.approx(0.0)


@pytest.mark.parametrize(("goal", "same"), [("affine", True), ("input", False)])
def test_in_affine_form_a_relabelled_transition_teaches_what_its_original_teaches(
    goal: str, same: bool, networks: list[Network]
) -> None:
    training = Training(quick("her", goal=goal, buffer_size=1000, learning_starts=1000), networks)
    train(training, 5)
    originals = [each for each in training.replay.transitions if not each.relabelled]
    relabelled = [each for each in training.replay.transitions if each.relabelled]
    initial = copy.deepcopy(training.online.state_dict())
    losses = []
    for each in (originals, relabelled):
        training.online.load_state_dict(initial)
        training.target.load_state_dict(initial)
        losses.append(training.update(each))
    assert (losses[0] == pytest.approx(losses[1], rel=1e-4)) == same


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_shaped_returns_are_the_plain_ones_less_the_potential(gamma: float, networks: list[Network]) -> None:
    plain, shaped = (Training(quick(shaping=shaping, gamma=gamma), networks) for shaping in (False, True))
    network = plain.networks[0]
    episode = Episode(network, network.start_study(plain.rng), goal=20.0, average_influence=15.0)
    episode.steps = [Step(None, 0, None) for _ in range(3)]  # type: ignore[arg-type]
    episode.influences = [10.0, 11.0, 14.0, 18.0]
    for t in range(3):
        returns = [
            sum(gamma**i * each for i, each in enumerate(training.rewards(episode, 20.0)[t:]))
            for training in (plain, shaped)
        ]
        assert returns[1] == pytest.approx(returns[0] - (episode.influences[t] - 20.0) / 20.0)
    assert plain.rewards(episode, 20.0) == [0.0, 0.0, pytest.approx(-0.1)]


def test_only_the_frontier_is_ever_surveyed(networks: list[Network]) -> None:
    training = Training(quick(exploration_initial_eps=0.5), networks)
    train(training, 6)
    for each in training.replay.transitions:
        assert each.action in each.state.frontier


def test_a_frontier_that_runs_dry_and_isolated_start_people() -> None:
    loose = Network.from_edges([0, 1], [1, 2], n=9, name="loose")
    training = Training(quick(budget=6, start=2), [loose])
    train(training, 6)
    assert training.episode == 6


def test_policy_files_round_trip_and_never_unpickle(networks: list[Network], tmp_path: Path) -> None:
    training = Training(quick(), networks)
    train(training, 3)
    policy = LearnedPolicy(training.online, training.config, training.goals)
    policy.save(tmp_path / "policy")
    again = LearnedPolicy.load(tmp_path / "policy.json")
    seen = study(networks[0], seed=2).discovered
    for count in (1, 3, 1000):
        chosen = [each.choose(seen, np.random.default_rng(1), count) for each in (policy, again)]
        assert chosen[0] == chosen[1]
        assert len(set(chosen[0])) == min(count, len(seen.frontier))
        assert set(chosen[0]) <= set(seen.frontier)
    (tmp_path / "policy.safetensors").write_bytes(b"\x80\x04junk")
    with pytest.raises(InputError, match="not a policy"):
        LearnedPolicy.load(tmp_path / "policy.json")
    with pytest.raises(InputError):
        LearnedPolicy.load(tmp_path / "absent.json")


def test_a_policy_has_nothing_to_choose_without_a_frontier(networks: list[Network]) -> None:
    training = Training(quick(), networks)
    policy = LearnedPolicy(training.online, training.config, training.goals)
    alone = Discovered()
    alone.record_start(alone.add_person())
    assert policy.choose(alone, np.random.default_rng(0)) == []


def test_twins_that_differ_in_hidden_edges_are_treated_alike(networks: list[Network]) -> None:
    training = Training(quick(), networks)
    train(training, 3)
    policy = LearnedPolicy(training.online, training.config, training.goals)
    seen = study(networks[0], seed=4)
    hidden = [who for who in range(networks[0].n) if who not in seen.people]
    sources, targets, _ = networks[0].edges()
    twin = Network.from_edges([*sources, hidden[0]], [*targets, hidden[-1]], n=networks[0].n)
    again = Simulation(twin, [seen.people[person] for person in seen.discovered.start], np.random.default_rng(9))
    mirror = Simulation(
        networks[0], [seen.people[person] for person in seen.discovered.start], np.random.default_rng(9)
    )
    assert mirror.discovered == again.discovered
    one, other = (policy.choose(each.discovered, np.random.default_rng(3), 5) for each in (mirror, again))
    assert one == other


def test_a_thousand_people_are_scored_in_one_pass() -> None:
    star = Network.from_edges(np.zeros(3000, dtype=int), np.arange(1, 3001), name="star")
    seen = Simulation(star, [0, 5], np.random.default_rng(0)).discovered
    graph, state = Featuriser(quick(), np.random.default_rng(0))(seen)
    (values,), _ = score_frontiers(new_network(quick()), [state], np.array([[100.0, 80.0]]))
    assert graph.rows == 3
    assert len(values) == 1


def test_settings_are_parsed_in_their_type() -> None:
    assert parse_settings(["hidden=16", "layers=8,4", "shaping=true", "curriculum=none", "tau=0.5"]) == {
        "hidden": 16,
        "layers": (8, 4),
        "shaping": True,
        "curriculum": None,
        "tau": 0.5,
    }
    for wrong in ("nonsense=1", "hidden=x", "shaping=maybe", "double=true"):
        with pytest.raises(InputError):
            parse_settings([wrong])
    assert Config.from_dict(json.loads(json.dumps(quick().to_dict()))) == quick()


@pytest.mark.parametrize("stopped", [5, 7, 10])
def test_a_run_folder_is_complete_and_goes_on_where_it_stopped(
    stopped: int, networks: list[Network], tmp_path: Path
) -> None:
    def folder(where: str) -> TrainingFolder:
        return TrainingFolder(tmp_path / where, quick(), networks, "claim train")

    straight = folder("straight")
    straight.open(resume=False)
    straight.run(10, lambda metrics: None)

    def stop(metrics: dict[str, object]) -> None:
        if metrics.get("episode") == stopped:
            raise StoppedBetweenEpisodes

    broken = folder("broken")
    broken.open(resume=False)
    with pytest.raises(KeyboardInterrupt):
        broken.run(10, stop)
    with (tmp_path / "broken" / "metrics.jsonl").open("a") as file:
        file.write('{"episode": 11, "cut": ')  # what a kill in mid-write leaves
    again = folder("broken")
    again.open(resume=True)
    assert again.training.episode == stopped
    again.run(10, lambda metrics: None)
    assert_same(weights(straight.training), weights(again.training))
    lines = [json.loads(line) for line in (tmp_path / "broken" / "metrics.jsonl").read_text().splitlines()]
    assert [line["episode"] for line in lines] == list(range(1, 11))
    for name in ("validation.jsonl", "policy.json", "policy.safetensors"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
    assert {"manifest.json", "validation.jsonl", "tensorboard", "policy.json", "policy.safetensors"} <= {
        path.name for path in (tmp_path / "broken").iterdir()
    }
    with pytest.raises(InputError, match="--resume"):
        folder("broken").open(resume=False)


def test_a_run_broken_within_an_episode_goes_on_from_its_last_checkpoint(
    networks: list[Network], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(where: str) -> TrainingFolder:
        return TrainingFolder(tmp_path / where, quick(), networks, "claim train")

    straight, broken = folder("straight"), folder("broken")
    for each in (straight, broken):
        each.open(resume=False)
    straight.run(10, lambda metrics: None)
    with monkeypatch.context() as patched:
        patched.setattr(Training, "store", _stopped_in(8, Training.store))
        with pytest.raises(KeyboardInterrupt):
            broken.run(10, lambda metrics: None)
    again = folder("broken")
    again.open(resume=True)
    assert again.training.episode == 5
    again.run(10, lambda metrics: None)
    for name in ("validation.jsonl", "policy.json", "policy.safetensors"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()


def _stopped_in(number: int, store: Callable[..., None]) -> Callable[..., None]:
    def stop(training: Training, *given: object, **more: object) -> None:
        if training.episode == number - 1:
            raise KeyboardInterrupt
        store(training, *given, **more)

    return stop


def test_an_empty_checkpoint_is_refused_in_one_line(networks: list[Network], tmp_path: Path) -> None:
    (tmp_path / "checkpoint.pt").touch()
    with pytest.raises(InputError, match="not a checkpoint") as refused:
        TrainingFolder(tmp_path, quick(), networks, "claim train").open(resume=True)
    assert "\n" not in str(refused.value)


def test_a_run_whose_best_network_is_gone_cannot_go_on(networks: list[Network], tmp_path: Path) -> None:
    TrainingFolder(tmp_path, quick(), networks, "claim train").open(resume=False)
    (tmp_path / "policy.json").unlink()
    with pytest.raises(InputError, match="the best network so far, is gone"):
        TrainingFolder(tmp_path, quick(), networks, "claim train").open(resume=True)


def test_two_trainings_in_one_folder_are_one_too_many(networks: list[Network], tmp_path: Path) -> None:
    first, second = (TrainingFolder(tmp_path, quick(), networks, "claim train") for _ in range(2))
    first.open(resume=False)

    def begin_another(metrics: dict[str, object]) -> None:
        with pytest.raises(InputError, match="another training"):
            second.open(resume=True)

    first.run(2, begin_another)


@pytest.mark.parametrize("scores", [(1.0, 1.1, 1.3, 1.2), (1.0, 1.1, 1.05, 1.2), (1.0, 1.2, 1.3, 1.1)])
def test_an_end_between_validations_is_judged_and_leaves_no_trace_in_a_run_that_goes_on(
    scores: tuple[float, ...], networks: list[Network], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Validated after 0, 5 and 10 episodes, and after 7 if that is the end; scores are given, weights are trained."""
    score_after = dict(zip((0, 5, 7, 10), scores, strict=True))
    runs: list[TrainingFolder] = []

    def run(where: str, episodes: int, resume: bool = False) -> TrainingFolder:
        runs.append(TrainingFolder(tmp_path / where, quick(), networks[:1], "claim train"))
        runs[-1].open(resume)
        runs[-1].run(episodes, lambda metrics: None)
        return runs[-1]

    def reached(self: Validation, policy: QNetwork | str) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
        score = 1.0 if isinstance(policy, str) else score_after[runs[-1].training.episode]
        return {networks[0].name: np.array([score])}

    def kept(where: str) -> tuple[bytes, list[int], object]:
        lines = (tmp_path / where / "validation.jsonl").read_text().splitlines()
        weights = (tmp_path / where / "policy.safetensors").read_bytes()
        card = json.loads((tmp_path / where / "policy.json").read_text())
        return weights, [json.loads(line)["episode"] for line in lines], card["validation"]

    monkeypatch.setattr(Validation, "reached", reached)
    run("straight", 10)
    ended = run("ended", 7)
    assert ended.best()["episode"] == max((5, 7), key=lambda episode: score_after[episode])
    judged = kept("ended")
    assert judged[1] == [0, 5, 7]
    run("ended", 7, resume=True)  # there is nothing to do, and nothing changes
    assert kept("ended") == judged
    again = run("ended", 10, resume=True)
    assert kept("ended") == kept("straight")
    assert again.best()["episode"] == max((5, 10), key=lambda episode: score_after[episode])


@pytest.mark.parametrize("budget", [3, 7])
def test_every_budget_has_the_same_updates_an_episode(budget: int, networks: list[Network]) -> None:
    training = Training(quick(budget=budget, updates=4), networks)
    train(training, 5)
    assert training.updates == 4 * 5


def test_schedules_do_not_depend_on_the_number_of_episodes(networks: list[Network]) -> None:
    short, long = Training(quick(), networks), Training(quick(), networks)
    train(short, 3)
    train(long, 5)
    initial, floor = quick().exploration_initial_eps, quick().exploration_final_eps
    assert math.isclose(long.epsilon, max(floor, initial * quick().exploration_decay ** long.surveys))
    assert short.curriculum_weight > long.curriculum_weight


def parameters(network: QNetwork) -> list[np.ndarray]:  # type: ignore[type-arg]
    return [each.detach().numpy().copy() for each in network.parameters()]


def filled(networks: list[Network], **changes: object) -> Training:
    """A training that has played and not yet learned."""
    training = Training(quick(learning_starts=10**6, buffer_size=300, **changes), networks)
    train(training, 12)
    return training


def test_the_target_is_the_mean_of_all_updates_at_first_and_then_follows_slowly(networks: list[Network]) -> None:
    training = filled(networks, tau=0.25)
    seen, wanted = [], None
    for count in range(1, 8):
        training.update(training.sample_minibatch(20.0))
        training.update_target()
        seen.append(parameters(training.online))
        if count <= 4:
            wanted = [np.mean(each, axis=0) for each in zip(*seen, strict=True)]
        else:
            wanted = [0.75 * old + 0.25 * new for old, new in zip(wanted, seen[-1], strict=True)]
        for value, each in zip(parameters(training.target), wanted, strict=True):
            np.testing.assert_allclose(value, each, rtol=1e-4, atol=1e-6)


def test_a_batch_is_diverse_while_lambda_is_high_and_near_the_goal_later(networks: list[Network]) -> None:
    training = filled(networks)
    train(training, 60)
    before = training.rng.bit_generator.state
    batches = []
    for weight in (1000.0, 0.0):
        training.rng.bit_generator.state = before
        training.curriculum_weight = weight
        batches.append(training.sample_minibatch(20.0))
    training.rng.bit_generator.state = before
    drawn = training.replay.sample(3 * training.config.batch_size, training.rng)
    alike = similarity(np.array([each.embedding for each in drawn]), normalised=True)

    def covered(batch: list[Transition]) -> float:
        chosen = [next(i for i, each in enumerate(drawn) if each is one) for one in batch]
        return float(np.maximum(alike[chosen].max(axis=0), 0).sum())

    def distance(batch: list[Transition]) -> float:
        return sum(abs(math.log(each.episode_goal / 20.0)) for each in batch)

    diverse, near = batches
    assert covered(diverse) > 1.05 * covered(near)
    assert distance(near) < 0.9 * distance(diverse)
