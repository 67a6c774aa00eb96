"""A training run in a folder: record, metrics as they come, checkpoints, and the policy that validated best.

manifest.json      how the run came about
metrics.jsonl      one line an episode
validation.jsonl   one line a validation: what the network reaches on start sets it never trains on
tensorboard/       the same as curves
checkpoint.pt      where the run stands; going on from it equals never having stopped
policy.json, policy.safetensors   the network that validated best so far
before-end.*       the one before, if a run ended between two validations and its last network was better
"""

import json
import math
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from claim.errors import InputError
from claim.evaluation.provenance import manifest
from claim.io.files import locked, make_folder
from claim.learning.checkpoint import read_checkpoint, restore, save_checkpoint
from claim.learning.config import Config
from claim.learning.policy import LearnedPolicy
from claim.learning.train import Training, train
from claim.networks import Network

Watch = Callable[[dict[str, Any]], None]
POLICY, BEFORE_END = "policy", "before-end"  # stems of policy files
YARDSTICK = "random-class"  # validation scores are relative to it, so that large networks do not outvote small ones


class StoppedBetweenEpisodes(KeyboardInterrupt):
    """Ctrl-C was pressed, and the episode is over."""


@dataclass
class TrainingFolder:
    """Trains up to a number of episodes in all, from wherever the folder stands."""

    path: Path
    config: Config
    networks: Sequence[Network]
    command: str
    curve: list[dict[str, Any]] = field(default_factory=list)

    @cached_property
    def training(self) -> Training:
        """The training; its first use estimates goals, which takes a while."""
        return Training(self.config, self.networks)

    @cached_property
    def _yardstick(self) -> dict[str, float]:
        reached = self.training.validation.reached_by(YARDSTICK)
        return {name: float(values.mean()) for name, values in reached.items()}

    @property
    def _validated(self) -> int:
        """The episode of the last validation."""
        return int(self.curve[-1]["episode"])

    def open(self, resume: bool) -> None:
        """Begin a new run, or take up the one that is there; a folder that will not do is refused before any work."""
        checkpoint = self.path / "checkpoint.pt"
        there = checkpoint.exists()
        if there and not resume:
            raise InputError(
                f"{self.path}: holds a run already; add --resume to go on with it, or choose another folder"
            )
        make_folder(self.path)
        with self._alone():
            if there:
                content = read_checkpoint(checkpoint, self.config, self.networks)
                self._check_policy_is_there()
                self.curve = restore(self.training, content)["curve"]
                _keep_lines(self.path / "metrics.jsonl", self.training.episode)
                _keep_lines(self.path / "validation.jsonl", self.training.episode)
                return
            for left in [*self.path.glob(f"{BEFORE_END}.*"), *self.path.glob("*.jsonl")]:
                left.unlink()
            record = manifest(self.command, self.config.to_dict(), self.networks)
            (self.path / "manifest.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            self._validate()

    def _check_policy_is_there(self) -> None:
        """The best network so far cannot be made again from a checkpoint, which has the present one only."""
        if not any((self.path / f"{stem}.json").exists() for stem in (POLICY, BEFORE_END)):
            raise InputError(f"{self.path}: policy.json, the best network so far, is gone: begin anew elsewhere")

    def run(self, episodes: int, watch: Watch) -> None:
        """Train up to ``episodes``; Ctrl-C stops after the current episode, and the checkpoint is written."""
        every = self.config.validate_every
        with self._alone(), self._recorder(watch) as record, _interruptible() as check:
            if self._validated < episodes:
                self._forget_end()

            def after_episode(metrics: dict[str, Any]) -> None:
                record(metrics)
                check()

            try:
                while self._validated < episodes:
                    stop = min(episodes, (self._validated // every + 1) * every)
                    train(self.training, stop, after_episode)
                    record(self._validate())
            except StoppedBetweenEpisodes:
                self._save()  # after anything else that happens within an episode the last checkpoint stands
                raise

    def _alone(self) -> AbstractContextManager[None]:
        return locked(self.path, "another training is at work in this folder")

    def _save(self) -> None:
        save_checkpoint(self.training, self.path / "checkpoint.pt", {"curve": self.curve})

    def policy(self) -> LearnedPolicy:
        """The policy as it stands, with its card: the target network, whose averaged weights are the steadier ones."""
        card = {
            "command": self.command,
            "episodes": self.training.episode,
            "seed": self.config.seed,
            "networks": {network.name: network.checksum for network in self.networks},
            "validation": self.curve,
        }
        return LearnedPolicy(self.training.target, self.config, self.training.goals, self.config.variant, card)

    def _validate(self) -> dict[str, Any]:
        """Measure the network on validation start sets; keep it if it is the best so far."""
        reached = self.training.validation.reached(self.training.target)
        means = {name: float(values.mean()) for name, values in reached.items()}
        score = float(np.mean([means[name] / self._yardstick[name] for name in means]))
        at = {"episode": self.training.episode, "updates": self.training.updates}
        entry = {**at, "score": score, "reached": means, YARDSTICK: self._yardstick}
        best = max((each["score"] for each in self.curve if self._has_learned(each)), default=-np.inf)
        self.curve.append(entry)
        with (self.path / "validation.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        if not self._has_learned(entry) or score > best:
            if not self._is_due(entry):
                self._move_policy(POLICY, BEFORE_END)
            self.policy().save(self.path / POLICY)
        self._save()
        return {"validation": entry}

    def _forget_end(self) -> None:
        """Undo the validation of an end between two others: a run that goes on would not have been validated there."""
        self.curve = [entry for entry in self.curve if self._is_due(entry)]
        lines = "".join(json.dumps(entry) + "\n" for entry in self.curve)
        (self.path / "validation.jsonl").write_text(lines, encoding="utf-8")
        self._move_policy(BEFORE_END, POLICY)

    def _move_policy(self, old: str, new: str) -> None:
        for path in self.path.glob(f"{old}.*"):
            path.replace(path.with_stem(new))

    def _is_due(self, entry: dict[str, Any]) -> bool:
        """Whether every run is validated there, wherever it ends."""
        return bool(entry["episode"] % self.config.validate_every == 0)

    def best(self) -> dict[str, Any]:
        """The validation of the policy that is kept; an untrained network is never chosen over a trained one."""
        return max(self.curve, key=lambda entry: (self._has_learned(entry), entry["score"]))

    def _has_learned(self, entry: dict[str, Any]) -> bool:
        return bool(entry.get("updates", entry["episode"]))  # runs begun by an earlier version did not count them

    @contextmanager
    def _recorder(self, watch: Watch) -> Iterator[Watch]:
        """Writes metrics to metrics.jsonl and TensorBoard, and shows them."""
        from torch.utils.tensorboard import SummaryWriter

        board = SummaryWriter(str(self.path / "tensorboard"))
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8", buffering=1) as file:

            def record(metrics: dict[str, Any]) -> None:
                if "validation" not in metrics:
                    file.write(json.dumps(metrics) + "\n")
                _to_board(board, metrics)
                watch(metrics)

            try:
                yield record
            finally:
                board.close()


def _to_board(board: Any, metrics: dict[str, Any]) -> None:
    if "validation" in metrics:
        entry = metrics["validation"]
        board.add_scalar("validation/score", entry["score"], entry["episode"])
        for name, value in entry["reached"].items():
            board.add_scalar(f"validation/{name}", value, entry["episode"])
        return
    for name in ("influence", "goal", "curriculum_weight", "epsilon", "loss"):
        if metrics[name] is not None:
            board.add_scalar(f"train/{name}", metrics[name], metrics["episode"])


@contextmanager
def _interruptible() -> Iterator[Callable[[], None]]:
    """Ctrl-C waits for the end of an episode; a second one does not."""
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    def check() -> None:
        if asked:
            raise StoppedBetweenEpisodes

    if threading.current_thread() is not threading.main_thread():
        yield check
        return
    previous = signal.signal(signal.SIGINT, ask)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, previous)


def _keep_lines(path: Path, episode: int) -> None:
    """Drop what was written after the checkpoint, before a run was cut off."""
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(line for line in lines if _episode_of(line) <= episode), encoding="utf-8")


def _episode_of(line: str) -> float:
    """The episode of a line; a broken one belongs to none."""
    try:
        return int(json.loads(line)["episode"]) if line.endswith("\n") else math.inf
    except (ValueError, KeyError, TypeError):
        return math.inf
