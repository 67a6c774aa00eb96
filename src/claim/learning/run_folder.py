"""A training run in a folder: manifest, metrics, checkpoints, and the policy that validated best.

manifest.json      how the run came about
metrics.jsonl      one line an episode
validation.jsonl   one line a validation: what the network reaches on start sets it never trains on
tensorboard/       the same as curves
checkpoint.pt      where the run stands; resuming from it equals never having stopped
policy.json, policy.safetensors   the network that validated best so far
before-end.*       the one before, if a run ended between two validations and its last network was better
"""

import json
import math
import signal
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from pickle import UnpicklingError
from types import FrameType
from typing import Any

import numpy as np
import torch

from claim.errors import InputError
from claim.io.files import locked, make_folder, write_whole
from claim.learning.config import Config
from claim.learning.policy import LearnedPolicy
from claim.learning.train import Training, train
from claim.networks import Network
from claim.provenance import manifest

Watch = Callable[[dict[str, Any]], None]
POLICY, BEFORE_END = "policy", "before-end"  # stems of policy files
BASELINE = "random-class"  # validation scores are relative to it, so that large networks do not outweigh small ones
FORMAT = 1  # of checkpoints
CURVES = ("influence", "goal", "curriculum_weight", "epsilon", "loss")  # of metrics, for TensorBoard
COUNTERS = ("episode", "surveys", "updates")


class StoppedBetweenEpisodes(KeyboardInterrupt):
    """Ctrl-C was pressed, and the episode is over."""


class BrokenCheckpoint(InputError):
    """A checkpoint that cannot be read."""


@dataclass
class TrainingFolder:
    """Trains up to a number of episodes in all, from wherever the folder stands."""

    path: Path
    config: Config
    networks: Sequence[Network]
    command: str
    curve: list[dict[str, Any]] = field(default_factory=list)  # the validations so far
    training: Training = field(init=False)  # from open() on

    @cached_property
    def _baseline(self) -> dict[str, float]:
        return _means(self.training.validation.reached(BASELINE))

    def open(self, resume: bool) -> None:
        """Begin a new run or resume the one in the folder; an unsuitable folder is refused before any work."""
        checkpoint = self.path / "checkpoint.pt"
        begun = checkpoint.exists()
        if begun and not resume:
            raise InputError(f"{self.path} holds a run already; add --resume to continue it, or choose another folder")
        make_folder(self.path)
        with self._lock():
            content = read_checkpoint(checkpoint, self.config, self.networks) if begun else None
            if begun and not any((self.path / f"{stem}.json").exists() for stem in (POLICY, BEFORE_END)):
                # A checkpoint holds the present network only.
                raise InputError(f"{self.path}: policy.json, the best network so far, is gone: begin anew elsewhere")
            self.training = Training(self.config, self.networks)  # estimates goals, which takes a while
            if content is not None:
                self.curve = restore(self.training, content)["curve"]
                for name in ("metrics.jsonl", "validation.jsonl"):
                    _drop_lines_after(self.path / name, self.training.episode)
                return
            for left in [*self.path.glob(f"{BEFORE_END}.*"), *self.path.glob("*.jsonl")]:
                left.unlink()
            record = manifest(self.command, self.config.to_dict(), self.networks)
            (self.path / "manifest.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            self._validate()

    def run(self, episodes: int, watch: Watch) -> None:
        """Train up to ``episodes``; Ctrl-C stops after the current episode, and the checkpoint is written."""
        every = self.config.validate_every
        with self._lock(), self._recorder(watch) as record, _interruptible() as check:
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

    def best(self) -> dict[str, Any]:
        """The validation of the policy that is kept; an untrained network is never chosen over a trained one."""
        return max(self.curve, key=lambda entry: (_has_learned(entry), entry["score"]))

    @property
    def _validated(self) -> int:
        """The episode of the last validation."""
        return int(self.curve[-1]["episode"])

    def _lock(self) -> AbstractContextManager[None]:
        return locked(self.path, "another training is at work in this folder")

    def _save(self) -> None:
        save_checkpoint(self.training, self.path / "checkpoint.pt", {"curve": self.curve})

    def _validate(self) -> dict[str, Any]:
        """Evaluate the target network on validation start sets; keep it if it is the best so far."""
        reached = _means(self.training.validation.reached(self.training.target))
        baseline = self._baseline
        score = float(np.mean([reached[name] / baseline[name] for name in reached]))
        entry: dict[str, Any] = {"episode": self.training.episode, "updates": self.training.updates}
        entry |= {"score": score, "reached": reached, BASELINE: baseline}
        best = max((each["score"] for each in self.curve if _has_learned(each)), default=-np.inf)
        self.curve.append(entry)
        with (self.path / "validation.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        if not _has_learned(entry) or score > best:
            if not self._is_due(entry):
                self._move_policy(POLICY, BEFORE_END)
            self._policy().save(self.path / POLICY)
        self._save()
        return {"validation": entry}

    def _policy(self) -> LearnedPolicy:
        """The present policy with its card: the target network, whose averaged weights vary less."""
        training, config = self.training, self.config
        card = {"command": self.command, "episodes": training.episode, "seed": config.seed}
        networks = {network.name: network.checksum for network in self.networks}
        card |= {"networks": networks, "validation": self.curve}
        return LearnedPolicy(training.target, config, training.goals, config.variant, card)

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

    @contextmanager
    def _recorder(self, watch: Watch) -> Iterator[Watch]:
        """Write metrics to metrics.jsonl and TensorBoard, and pass them on."""
        from torch.utils.tensorboard import SummaryWriter

        board = SummaryWriter(str(self.path / "tensorboard"))
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8", buffering=1) as file:

            def record(metrics: dict[str, Any]) -> None:
                entry = metrics.get("validation", metrics)
                if entry is metrics:
                    file.write(json.dumps(metrics) + "\n")
                    kind, curves = "train", {name: metrics[name] for name in CURVES}
                else:
                    kind, curves = "validation", {"score": entry["score"], **entry["reached"]}
                for name, value in curves.items():
                    if value is not None:
                        board.add_scalar(f"{kind}/{name}", value, entry["episode"])
                watch(metrics)

            try:
                yield record
            finally:
                board.close()


def _means(reached: dict[str, Any]) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in reached.items()}


def _has_learned(entry: dict[str, Any]) -> bool:
    return bool(entry.get("updates", entry["episode"]))  # runs begun by an earlier version did not count updates


@contextmanager
def _interruptible() -> Iterator[Callable[[], None]]:
    """Delay Ctrl-C until the end of an episode, where the yielded function raises; a second one stops at once."""
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


def _drop_lines_after(path: Path, episode: int) -> None:
    """Remove what was written after the checkpoint, before a run was cut off."""

    def episode_of(line: str) -> float:
        try:
            return int(json.loads(line)["episode"]) if line.endswith("\n") else math.inf
        except (ValueError, KeyError, TypeError):
            return math.inf  # a broken line

    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(line for line in lines if episode_of(line) <= episode), encoding="utf-8")


def save_checkpoint(training: Training, path: Path, extra: dict[str, Any]) -> None:
    """Write everything that changes during training, whole or not at all; it is never unpickled into code."""
    content = {
        "format": FORMAT,
        "config": json.dumps(training.config.to_dict()),
        "checksums": [each.network.checksum for each in training.networks],
        "online": training.online.state_dict(),
        "target": training.target.state_dict(),
        "optimiser": training.optimiser.state_dict(),
        "replay": training.replay.state_dict(),
        "counters": {name: getattr(training, name) for name in COUNTERS},
        "schedules": {"weight": training.curriculum_weight, "epsilon": training.epsilon},
        "generator": json.dumps(training.rng.bit_generator.state),
        "extra": json.dumps(extra),
    }
    buffer = BytesIO()
    torch.save(content, buffer)
    try:
        write_whole(path, buffer.getvalue())
    except OSError as error:
        raise InputError(f"{path}: cannot write it ({error.strerror}); the checkpoint before stands") from error


def read_checkpoint(path: Path, config: Config, networks: Sequence[Network]) -> dict[str, Any]:
    """Read a checkpoint and check that it is one of a training with these settings on these networks."""
    try:
        content: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, UnpicklingError, struct.error) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise BrokenCheckpoint(f"{path}: not a checkpoint ({reason})") from error
    there, here = Config.from_dict(json.loads(content["config"])).to_dict(), config.to_dict()
    for name in here:
        if there[name] != here[name]:
            raise InputError(f"{path}: was trained with other settings ({name} was {there[name]}, not {here[name]})")
    if content["checksums"] != [network.checksum for network in networks]:
        raise InputError(f"{path}: was trained on other networks")
    return content


def restore(training: Training, content: dict[str, Any]) -> dict[str, Any]:
    """Bring a new training to the point of a checkpoint; returns the extra data."""
    for name in ("online", "target", "optimiser", "replay"):
        getattr(training, name).load_state_dict(content[name])
    for name in COUNTERS:
        setattr(training, name, content["counters"][name])
    training.curriculum_weight, training.epsilon = content["schedules"]["weight"], content["schedules"]["epsilon"]
    training.rng.bit_generator.state = json.loads(content["generator"])
    extra: dict[str, Any] = json.loads(content["extra"])
    return extra
