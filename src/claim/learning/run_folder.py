"""A training run in a folder: manifest, metrics, checkpoints, and the policy.

manifest.json      how the run came about
metrics.jsonl      one line an episode
validation.jsonl   one line a validation: what the network reaches on start sets it never trains on
tensorboard/       the same as curves
checkpoint.pt      where the run stands; resuming from it equals never having stopped
policy.json, policy.safetensors   the policy at the last validation
"""

import json
import math
import signal
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from pickle import UnpicklingError
from types import FrameType
from typing import Any, Protocol

import torch

from claim.errors import InputError
from claim.io.files import locked, make_folder, write_whole
from claim.learning.policy import TrainedPolicy, save_policy
from claim.learning.validation import BASELINES, Validation, means, score
from claim.networks import Network
from claim.provenance import manifest

Watch = Callable[[dict[str, Any]], None]
POLICY = "policy"  # stem of the policy files
FORMAT = 3  # of checkpoints


class Training(Protocol):
    """What a training has to offer: see claim.learning.train and claim.learning.paper."""

    settings: Any  # a dataclass with to_dict(), seed, validate_every, and what Validation needs
    episode: int
    updates: int

    def train(self, episodes: int, watch: Watch) -> None:
        """Train up to ``episodes`` in all; ``watch`` gets the metrics of each episode."""

    def policy(self) -> TrainedPolicy:
        """The policy as it stands."""

    def state_dict(self) -> dict[str, Any]:
        """All that changes, as tensors, numbers and texts."""

    def load_state_dict(self, content: dict[str, Any]) -> None:
        """Go on from there."""


class StoppedBetweenEpisodes(KeyboardInterrupt):
    """Ctrl-C was pressed, and the episode is over."""


class BrokenCheckpoint(InputError):
    """A checkpoint that cannot be read."""


@dataclass
class TrainingFolder:
    """Trains up to a number of episodes in all, from wherever the folder stands."""

    path: Path
    settings: Any
    networks: Sequence[Network]
    begin: Callable[[], Training]  # makes the training, which takes a while
    command: str
    curve: list[dict[str, Any]] = field(default_factory=list)  # the validations so far
    training: Training = field(init=False)  # from open() on

    @cached_property
    def _validation(self) -> Validation:
        return Validation(self.networks, self.settings)

    @cached_property
    def _baselines(self) -> dict[str, dict[str, float]]:
        return {name: means(self._validation.reached(name)) for name in BASELINES}

    def open(self, resume: bool) -> None:
        """Begin a new run or resume the one in the folder; an unsuitable folder is refused before any work."""
        checkpoint = self.path / "checkpoint.pt"
        begun = checkpoint.exists()
        if begun and not resume:
            raise InputError(f"{self.path} holds a run already; add --resume to continue it, or choose another folder")
        make_folder(self.path)
        with self._lock():
            content = read_checkpoint(checkpoint, self.settings, self.networks) if begun else None
            self.training = self.begin()
            if content is not None:
                self.training.load_state_dict(content["training"])
                self.curve = json.loads(content["curve"])
                for name in ("metrics.jsonl", "validation.jsonl"):
                    _drop_lines_after(self.path / name, self.training.episode)
                return
            for left in self.path.glob("*.jsonl"):
                left.unlink()
            record = manifest(self.command, self.settings.to_dict(), self.networks)
            (self.path / "manifest.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            self._validate()

    def run(self, episodes: int, watch: Watch) -> None:
        """Train up to ``episodes``; Ctrl-C stops after the current episode, and the checkpoint is written."""
        every = self.settings.validate_every
        with self._lock(), self._recorder(watch) as record, _interruptible() as check:
            if self._validated < episodes:
                self._forget_end()

            def after_episode(metrics: dict[str, Any]) -> None:
                record(metrics)
                check()

            try:
                while self._validated < episodes:
                    stop = min(episodes, (self._validated // every + 1) * every)
                    self.training.train(stop, after_episode)
                    record(self._validate())
            except StoppedBetweenEpisodes:
                self._save()  # after anything else that happens within an episode the last checkpoint stands
                raise

    @property
    def _validated(self) -> int:
        """The episode of the last validation."""
        return int(self.curve[-1]["episode"])

    def _lock(self) -> AbstractContextManager[None]:
        return locked(self.path, "another training is at work in this folder")

    def _save(self) -> None:
        save_checkpoint(self.path / "checkpoint.pt", self.training, self.networks, self.curve)

    def _validate(self) -> dict[str, Any]:
        """Evaluate the policy on validation start sets, and write it and a checkpoint."""
        policy, baselines = self.training.policy(), self._baselines
        reached = means(self._validation.reached(policy))
        entry: dict[str, Any] = {"episode": self.training.episode, "updates": self.training.updates}
        entry |= {"score": score(reached, baselines[BASELINES[0]]), "reached": reached, **baselines}
        self.curve.append(entry)
        with (self.path / "validation.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        save_policy(replace(policy, card=self._card()), self.path / POLICY)
        self._save()
        return {"validation": entry}

    def _card(self) -> dict[str, Any]:
        networks = {network.name: network.checksum for network in self.networks}
        made = {"command": self.command, "episodes": self.training.episode, "seed": self.settings.seed}
        return {**made, "networks": networks, "validation": self.curve}

    def _forget_end(self) -> None:
        """Undo the validation of an end between two others: a run that goes on would not have been validated there."""
        self.curve = [entry for entry in self.curve if entry["episode"] % self.settings.validate_every == 0]
        lines = "".join(json.dumps(entry) + "\n" for entry in self.curve)
        (self.path / "validation.jsonl").write_text(lines, encoding="utf-8")

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
                    kind, curves = "train", {name: value for name, value in metrics.items() if _is_curve(name, value)}
                else:
                    kind, curves = "validation", {"score": entry["score"], **entry["reached"]}
                for name, value in curves.items():
                    board.add_scalar(f"{kind}/{name}", value, entry["episode"])
                watch(metrics)

            try:
                yield record
            finally:
                board.close()


def _is_curve(name: str, value: Any) -> bool:
    return name != "episode" and isinstance(value, (int, float))


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


def save_checkpoint(path: Path, training: Training, networks: Sequence[Network], curve: list[dict[str, Any]]) -> None:
    """Write everything that changes during training, whole or not at all; it is never unpickled into code."""
    content = {
        "format": FORMAT,
        "settings": json.dumps(training.settings.to_dict()),
        "checksums": [network.checksum for network in networks],
        "training": training.state_dict(),
        "curve": json.dumps(curve),
    }
    buffer = BytesIO()
    torch.save(content, buffer)
    try:
        write_whole(path, buffer.getvalue())
    except OSError as error:
        raise InputError(f"{path}: cannot write it ({error.strerror}); the checkpoint before stands") from error


def read_checkpoint(path: Path, settings: Any, networks: Sequence[Network]) -> dict[str, Any]:
    """Read a checkpoint and check that it is one of a training with these settings on these networks."""
    try:
        content: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, UnpicklingError, struct.error) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise BrokenCheckpoint(f"{path}: not a checkpoint ({reason})") from error
    if content.get("format") != FORMAT:
        raise InputError(f"{path}: was written by another version, which has to finish it")
    there, here = json.loads(content["settings"]), json.loads(json.dumps(settings.to_dict()))
    for name in {**here, **there}:
        if there.get(name) != here.get(name):
            was, now = there.get(name), here.get(name)
            raise InputError(f"{path}: was trained with other settings ({name} was {was}, not {now})")
    if content["checksums"] != [network.checksum for network in networks]:
        raise InputError(f"{path}: was trained on other networks")
    return content
