"""Training, choosing and files hold where networks and estimates are not what they should be."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learning_cases import quick, quick_paper, star, weights
from threadpoolctl import threadpool_info, threadpool_limits

from claim.discovery import Discovered, Simulation, surveys
from claim.errors import InputError
from claim.learning.api import training_folder
from claim.learning.network import score_frontiers
from claim.learning.policy import LearnedPolicy
from claim.learning.run_folder import TrainingFolder
from claim.learning.train import Training
from claim.learning.validation import Validation
from claim.networks import Network, load


def islands(people: int = 12) -> Network:
    """People without contacts."""
    return Network.from_edges([], [], n=people, name="islands")


ODD = {
    "no contacts": (islands(), {}),
    "one person": (islands(1), {}),
    "two people": (star(1, "pair"), {"start": 1}),
    "mostly isolated start people": (Network.from_edges([0, 1, 2], [1, 2, 3], n=40, name="loose"), {"start": 4}),
    "a frontier that runs dry": (star(4, "small star"), {"budget": 9, "start": 1}),
    "start sets that cover the network": (load("zone1"), {"start": 10_000}),
    "start sets that see everyone": (star(6, "seen"), {"start": 6}),
    "a star of 3000": (star(3000), {"start": 2}),
    "more leaders than people": (star(5, "few"), {"leaders": 50, "start": 2}),
}


@pytest.mark.parametrize("case", ODD)
def test_training_goes_on_and_the_policy_chooses(case: str) -> None:
    network, changes = ODD[case]
    training = Training(quick(**changes), [network])
    training.train(6)
    assert training.episode == 6
    assert all(np.isfinite(value).all() for value in weights(training.average).values())
    assert all(np.isfinite(each.known).all() for each in training.replay)
    assert_chooses_well(training.policy(), training.networks[0].study(np.random.default_rng(0)))


@pytest.mark.parametrize("case", ["no contacts", "one person", "a frontier that runs dry"])
@pytest.mark.parametrize("change", [{"goal": False}, {"hindsight": False}, {"every_choice": False}])
def test_options_hold_too(case: str, change: dict[str, object]) -> None:
    network, changes = ODD[case]
    training = Training(quick(**(changes | change)), [network])
    training.train(6)
    assert all(np.isfinite(value).all() for value in weights(training.average).values())


@pytest.mark.parametrize("case", ["no contacts", "one person", "start sets that cover the network"])
def test_validation_holds_where_no_one_can_be_surveyed(case: str) -> None:
    network, changes = ODD[case]
    settings = quick(**changes)
    policy = Training(settings, [network]).policy()
    reached = Validation([network], settings).reached(policy)[network.name]
    assert np.isfinite(reached).all()
    assert (reached >= 1).all()


def assert_chooses_well(policy: LearnedPolicy, simulation: Simulation) -> None:
    """Only people of the frontier, each once, until none is left."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        waiting = simulation.discovered.frontier
        chosen = policy.choose(simulation.discovered, rng, 3)
        assert len(set(chosen)) == len(chosen) == min(3, len(waiting))
        assert set(chosen) <= set(waiting)
        if not chosen:
            return
        simulation.ask(chosen[0])


@pytest.fixture(scope="module")
def trained() -> LearnedPolicy:
    training = Training(quick(budget=5), [load("zone1")])
    training.train(20)
    return training.policy()


def test_a_start_person_alone_among_others(trained: LearnedPolicy) -> None:
    """Isolated start people are rows without edges beside a star."""
    network = Network.from_edges([0] * 6, [1, 2, 3, 4, 5, 6], n=12)
    seen = Simulation(network, [0, 8, 9, 10, 11], np.random.default_rng(0)).discovered
    assert seen.degree(1) == 0
    (chosen,) = trained.choose(seen, np.random.default_rng(0))
    assert chosen in seen.frontier


def test_the_leaves_of_a_large_star_are_alike(trained: LearnedPolicy) -> None:
    seen = Simulation(star(3000), [0], np.random.default_rng(0)).discovered
    firsts = {trained.choose(seen, np.random.default_rng(seed))[0] for seed in range(40)}
    assert len(firsts) > 30
    assert sorted(trained.choose(seen, np.random.default_rng(0), 5000)) == list(range(1, 3001))


def test_values_do_not_depend_on_the_number_of_threads(trained: LearnedPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def spy(*given: Any) -> Any:
        seen.extend(each["num_threads"] for each in threadpool_info())
        return score_frontiers(*given)

    monkeypatch.setattr("claim.learning.policy.score_frontiers", spy)
    simulation = Simulation(load("zone1"), [0, 1], np.random.default_rng(0))
    with threadpool_limits(2):
        trained.choose(simulation.discovered, np.random.default_rng(0))
    assert set(seen) == {1}


def test_a_study_that_uses_up_the_network_ends(trained: LearnedPolicy) -> None:
    network = load("zone1")
    rng = np.random.default_rng(3)
    simulation = Simulation(network, [0, 1, 2], rng)
    attempts = sum(1 for _ in surveys(simulation, trained, 10 * network.n, rng))
    assert attempts == len(simulation.discovered) - 3
    assert simulation.discovered.frontier == []


def test_everyone_refuses(trained: LearnedPolicy) -> None:
    rng = np.random.default_rng(3)
    simulation = Simulation(load("zone1"), [0, 1, 2], rng, refusal=1.0)
    attempts = sum(1 for _ in surveys(simulation, trained, 1000, rng))
    assert attempts == len(simulation.discovered.refused) > 0


def test_a_network_without_anyone_discovered(trained: LearnedPolicy) -> None:
    assert trained.choose(Discovered(), np.random.default_rng(0)) == []


def folder_of(path: Path, settings: Any = None, network: str = "zone1") -> TrainingFolder:
    return training_folder(path, settings or quick(), [load(network)], "claim train")


def test_a_kill_loses_no_metrics_of_episodes_that_the_checkpoint_has(tmp_path: Path) -> None:
    """A resumed run goes on from the checkpoint; lines still waiting in memory would be lost for good."""
    folder = folder_of(tmp_path)
    folder.open(resume=False)
    written: list[list[int]] = []

    def watch(metrics: dict[str, object]) -> None:
        if "validation" in metrics:
            lines = (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
            written.append([json.loads(line)["episode"] for line in lines])

    folder.run(10, watch)
    assert written == [list(range(1, 6)), list(range(1, 11))]


def broken_checkpoint(folder: Path) -> None:
    folder.mkdir()
    (folder / "checkpoint.pt").write_text("nothing of the kind")


def a_file(path: Path) -> None:
    path.write_text("not a folder")


NO_FOLDER = {
    "a file": (a_file, "run", False, "cannot make this folder"),
    "below a file": (a_file, "run/first", False, "cannot make this folder"),
    "a file, to go on with": (a_file, "run", True, "cannot make this folder"),
    "a run that is there": (broken_checkpoint, "run", False, "holds a run already"),
    "a run that cannot be read": (broken_checkpoint, "run", True, "not a checkpoint"),
}


@pytest.mark.parametrize("case", NO_FOLDER)
def test_a_folder_that_will_not_do_is_refused_before_any_work(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Training, "__init__", lambda *given: pytest.fail("worked before it looked"))
    prepare, where, resume, clue = NO_FOLDER[case]
    prepare(tmp_path / "run")
    with pytest.raises(InputError, match=clue) as refused:
        folder_of(tmp_path / where).open(resume)
    assert "\n" not in str(refused.value)


def test_a_run_with_other_settings_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of(tmp_path).open(resume=False)
    monkeypatch.setattr(Training, "__init__", lambda *given: pytest.fail("worked before it looked"))
    for settings, network, clue in (
        (quick(seed=3), "zone1", "seed was 0"),
        (quick_paper(), "zone1", "other settings"),
        (quick(), "stars4", "other networks"),
    ):
        with pytest.raises(InputError, match=clue):
            folder_of(tmp_path, settings, network).open(resume=True)
