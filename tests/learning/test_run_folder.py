"""Runs in folders, for both trainings: complete, resumable, and refused in one line; and the files of policies."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning_cases import quick, quick_paper, same, study, weights

from claim.discovery import Discovered, policy_named
from claim.errors import InputError
from claim.evaluation.runs import draw_start_sets
from claim.learning import paper, train
from claim.learning.api import training_folder, training_networks
from claim.learning.config import Preset
from claim.learning.policy import TrainedPolicy, load_policy, save_policy
from claim.learning.run_folder import StoppedBetweenEpisodes, TrainingFolder, read_checkpoint, save_checkpoint
from claim.learning.validation import Validation, against_chance, means, score
from claim.networks import Network, load

SETTINGS: dict[str, Any] = {"claim": quick(), "paper": quick_paper()}
both = pytest.mark.parametrize("kind", SETTINGS)


@pytest.fixture(scope="module")
def networks() -> list[Network]:
    return [load("zone1"), load("zone2")]


def training_of(kind: str, networks: list[Network]) -> Any:
    return (paper if kind == "paper" else train).Training(SETTINGS[kind], networks)


def test_claim_is_trained_on_a_family_and_its_look_alikes_and_the_paper_on_the_family(data: Path) -> None:
    def names(given: str, preset: Preset | None) -> list[str]:
        return [network.name for network in training_networks(given, preset, str(data))[1]]

    assert names("retweet", None) == ["copen", "occupy", "stars1", "stars2", "stars3", "stars4"]
    assert names("retweet", "paper") == ["copen", "occupy"]
    assert names("zones", None) == names("zones", "paper") == ["zone1"]
    assert names("copen", None) == ["copen"]


@both
@pytest.mark.parametrize("stopped", [5, 7, 10])
def test_a_run_folder_is_complete_and_goes_on_where_it_stopped(
    stopped: int, kind: str, networks: list[Network], tmp_path: Path
) -> None:
    def folder(where: str) -> TrainingFolder:
        return training_folder(tmp_path / where, SETTINGS[kind], networks, "claim train")

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
    assert same(*(weights(each.training.policy().network) for each in (straight, again)))
    lines = [json.loads(line) for line in (tmp_path / "broken" / "metrics.jsonl").read_text().splitlines()]
    assert [line["episode"] for line in lines] == list(range(1, 11))
    for name in ("validation.jsonl", "policy.json", "policy.safetensors"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
    assert {"manifest.json", "validation.jsonl", "tensorboard", "policy.json", "policy.safetensors"} <= {
        path.name for path in (tmp_path / "broken").iterdir()
    }
    with pytest.raises(InputError, match="--resume"):
        folder("broken").open(resume=False)


@both
def test_a_run_broken_within_an_episode_goes_on_from_its_last_checkpoint(
    kind: str, networks: list[Network], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(where: str) -> TrainingFolder:
        return training_folder(tmp_path / where, SETTINGS[kind], networks, "claim train")

    straight, broken = folder("straight"), folder("broken")
    for each in (straight, broken):
        each.open(resume=False)
    straight.run(10, lambda metrics: None)
    with monkeypatch.context() as patched:
        training = type(broken.training)
        patched.setattr(training, "sample", _stopped_in(8, training.sample))
        with pytest.raises(KeyboardInterrupt):
            broken.run(10, lambda metrics: None)
    again = folder("broken")
    again.open(resume=True)
    assert again.training.episode == 5
    again.run(10, lambda metrics: None)
    for name in ("validation.jsonl", "policy.json", "policy.safetensors"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()


def _stopped_in(number: int, sample: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def stop(training: Any) -> Any:
        if training.episode == number - 1:
            raise KeyboardInterrupt
        return sample(training)

    return stop


def test_an_empty_checkpoint_is_refused_in_one_line(networks: list[Network], tmp_path: Path) -> None:
    (tmp_path / "checkpoint.pt").touch()
    with pytest.raises(InputError, match="not a checkpoint") as refused:
        training_folder(tmp_path, quick(), networks, "claim train").open(resume=True)
    assert "\n" not in str(refused.value)


def test_two_trainings_in_one_folder_are_one_too_many(networks: list[Network], tmp_path: Path) -> None:
    first, second = (training_folder(tmp_path, quick(), networks, "claim train") for _ in range(2))
    first.open(resume=False)

    def begin_another(metrics: dict[str, object]) -> None:
        with pytest.raises(InputError, match="another training"):
            second.open(resume=True)

    first.run(2, begin_another)


@both
def test_an_end_between_validations_leaves_no_trace_in_a_run_that_goes_on(
    kind: str, networks: list[Network], tmp_path: Path
) -> None:
    """Validated after 0, 5 and 10 episodes, and after 7 if that is the end."""

    def run(where: str, episodes: int, resume: bool = False) -> None:
        folder = training_folder(tmp_path / where, SETTINGS[kind], networks[:1], "claim train")
        folder.open(resume)
        folder.run(episodes, lambda metrics: None)

    def kept(where: str) -> tuple[bytes, list[int], list[int]]:
        lines = (tmp_path / where / "validation.jsonl").read_text().splitlines()
        card = json.loads((tmp_path / where / "policy.json").read_text())
        parameters = (tmp_path / where / "policy.safetensors").read_bytes()
        episodes = [json.loads(line)["episode"] for line in lines]
        return parameters, episodes, [entry["episode"] for entry in card["validation"]]

    run("straight", 10)
    run("ended", 7)
    ended = kept("ended")
    assert ended[1] == ended[2] == [0, 5, 7]
    run("ended", 7, resume=True)  # there is nothing to do, and nothing changes
    assert kept("ended") == ended
    run("ended", 10, resume=True)
    assert kept("ended") == kept("straight")


def test_validation_takes_fixed_start_sets_that_no_policy_changes(
    networks: list[Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def noted(*given: Any) -> list[list[int]]:
        drawn.append(draw_start_sets(*given))
        return drawn[-1]

    monkeypatch.setattr("claim.learning.validation.draw_start_sets", noted)
    validation = Validation(networks[:1], quick(validation_starts=6))
    first, again, other = (validation.reached(policy)["zone1"] for policy in ("random", "random", "max-degree"))
    np.testing.assert_array_equal(first, again)
    assert len(first) == 6
    assert not np.array_equal(first, other)
    assert drawn[0] == drawn[1] == drawn[2]
    Validation(networks[:1], quick(validation_starts=6, seed=1)).reached("random")
    assert drawn[3] != drawn[0]


def test_a_score_is_the_mean_share_of_a_baseline() -> None:
    reached = means({"one": np.array([1.0, 3.0]), "two": np.array([30.0])})
    assert reached == {"one": 2.0, "two": 30.0}
    assert score(reached, {"one": 1.0, "two": 20.0}) == pytest.approx((2 + 1.5) / 2)


@both
def test_a_checkpoint_of_something_else_is_refused(kind: str, networks: list[Network], tmp_path: Path) -> None:
    path, settings = tmp_path / "checkpoint.pt", SETTINGS[kind]
    save_checkpoint(path, training_of(kind, networks), networks, [])
    assert read_checkpoint(path, settings, networks)["curve"] == "[]"
    with pytest.raises(InputError, match=r"other settings \(seed was 0, not 5\)"):
        read_checkpoint(path, type(settings)(**{**settings.to_dict(), "seed": 5}), networks)
    with pytest.raises(InputError, match="other networks"):
        read_checkpoint(path, settings, networks[:1])
    content = torch.load(path, weights_only=True)
    torch.save({**content, "format": 1}, path)
    with pytest.raises(InputError, match="another version"):
        read_checkpoint(path, settings, networks)
    path.write_bytes(b"junk")
    with pytest.raises(InputError, match="not a checkpoint"):
        read_checkpoint(path, settings, networks)


class Harmful:
    """Says so if it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        return pytest.fail, ("it was unpickled",)


def test_files_are_never_unpickled_into_code(networks: list[Network], tmp_path: Path) -> None:
    torch.save({"format": 2, "curve": Harmful()}, tmp_path / "checkpoint.pt")
    with pytest.raises(InputError, match="not a checkpoint"):
        read_checkpoint(tmp_path / "checkpoint.pt", quick(), networks)
    save_policy(training_of("claim", networks).policy(), tmp_path / "policy")
    forget_checksum(tmp_path / "policy.json")
    (tmp_path / "policy.safetensors").write_bytes(pickle.dumps(Harmful()))
    with pytest.raises(InputError, match="not a policy"):
        load_policy(tmp_path / "policy.json")


def forget_checksum(card: Path) -> None:
    content = json.loads(card.read_text())
    del content["weights"]
    card.write_text(json.dumps(content))


@both
def test_policy_files_round_trip(kind: str, networks: list[Network], tmp_path: Path) -> None:
    training = training_of(kind, networks)
    training.train(2)
    policy: TrainedPolicy = training.policy()
    save_policy(policy, tmp_path / "policy")
    for name in ("policy.json", "policy.safetensors", "policy"):
        again = load_policy(tmp_path / name)
        assert type(again) is type(policy)
        assert again.name == policy.name == ("paper-claim" if kind == "paper" else "claim")
        assert same(weights(again.network), weights(policy.network))
        for seed, count in enumerate((1, 3, 1000)):
            seen = study(networks[0], seed).discovered
            chosen = [each.choose(seen, np.random.default_rng(1), count) for each in (policy, again)]
            assert chosen[0] == chosen[1]
            assert len(set(chosen[0])) == min(count, len(seen.frontier))
    if isinstance(policy, paper.PaperPolicy):
        assert isinstance(again, paper.PaperPolicy)
        assert (again.settings, again.estimates) == (policy.settings, policy.estimates)


@both
def test_a_card_with_the_weights_of_another_policy_is_refused(
    kind: str, networks: list[Network], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        training = training_of(kind, networks)
        training.train(1 if name == "one" else 2)
        save_policy(training.policy(), tmp_path / name)
    (tmp_path / "one.safetensors").write_bytes((tmp_path / "two.safetensors").read_bytes())
    with pytest.raises(InputError, match="weights beside the card are those of another one") as refused:
        load_policy(tmp_path / "one.json")
    assert "\n" not in str(refused.value)
    other = training_of("claim" if kind == "paper" else "paper", networks)
    save_policy(other.policy(), tmp_path / "three")
    (tmp_path / "one.safetensors").write_bytes((tmp_path / "three.safetensors").read_bytes())
    forget_checksum(tmp_path / "one.json")
    with pytest.raises(InputError, match="not a policy of this version") as refused:
        load_policy(tmp_path / "one.json")
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="No such file"):
        load_policy(tmp_path / "absent.json")


@both
def test_a_policy_has_nothing_to_choose_without_a_frontier(kind: str, networks: list[Network]) -> None:
    alone = Discovered()
    alone.record_start(alone.add_person())
    assert training_of(kind, networks).policy().choose(alone, np.random.default_rng(0)) == []


# Against chance ------------------------------------------------------------------------------------------------------


def test_a_card_says_whether_all_trainings_together_beat_chance() -> None:
    networks = [load("stars1")]
    settings = quick(validation_starts=40, budget=5)
    for name, shown in (("clairvoyant", True), ("random", False)):
        card = against_chance([policy_named(name)] * 3, networks, settings)
        assert (card["trainings"], card["start_sets"], card["shown"]) == (3, 40, shown)
        low, high = card["random-class"]["ci95"]
        assert low <= card["random-class"]["difference"] <= high
    alone = against_chance([policy_named("clairvoyant")], networks, settings)
    assert alone["shown"] is False
    assert alone["random"]["ci95"] is None
    assert alone["random"]["difference"] > 0
