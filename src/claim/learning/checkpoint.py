"""Stop and go on: everything that changes during training, in one file that is never unpickled into code."""

import json
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch

from claim.errors import InputError
from claim.learning.config import Config
from claim.learning.observation import State
from claim.learning.replay import Replay, Transition
from claim.learning.train import Training
from claim.networks import Network

FORMAT = 1
NUMBERS = ("reward", "goal", "discounted_return", "desired", "achieved", "typical")  # of a transition
COUNTERS = ("episode", "surveys", "updates")
STATE_PARTS = ("features", "multiplicity", "offsets", "columns", "adjacency", "smoothing", "frontier")


class BrokenCheckpoint(InputError):
    """A checkpoint that nobody can go on from."""


def save_checkpoint(training: Training, path: Path, extra: dict[str, Any]) -> None:
    """Write networks, optimiser, replay, curriculum, exploration and generator states; whole or not at all."""
    content = {
        "format": FORMAT,
        "config": json.dumps(training.config.to_dict()),
        "checksums": [ground.network.checksum for ground in training.grounds],
        "online": training.online.state_dict(),
        "target": training.target.state_dict(),
        "optimiser": training.optimiser.state_dict(),
        "replay": _packed(training.replay),
        "counters": {name: getattr(training, name) for name in COUNTERS},
        "schedules": {"weight": training.weight, "epsilon": training.epsilon},
        "generator": json.dumps(training.rng.bit_generator.state),
        "extra": json.dumps(extra),
    }
    temporary = path.with_suffix(".part")
    try:
        with temporary.open("wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the new name with nothing behind it
    except (OSError, RuntimeError) as error:  # PyTorch has its own words for a full disk
        temporary.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot write it ({_first_line(error)}); the checkpoint before stands") from error
    os.replace(temporary, path)


def load_checkpoint(training: Training, path: Path) -> dict[str, Any]:
    """Bring a fresh training to where the checkpoint left off; returns the extra data."""
    return restore(training, read_checkpoint(path, training.config, [ground.network for ground in training.grounds]))


def read_checkpoint(path: Path, config: Config, networks: Sequence[Network]) -> dict[str, Any]:
    """What a checkpoint holds, if it is one of a training with these settings on these networks."""
    try:
        content: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, UnpicklingError, struct.error) as error:
        raise BrokenCheckpoint(f"{path}: not a checkpoint ({_first_line(error)})") from error
    _check_settings(path, json.loads(content["config"]), json.loads(json.dumps(config.to_dict())))
    if content["checksums"] != [network.checksum for network in networks]:
        raise InputError(f"{path}: was trained on other networks")
    return content


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:100]


def restore(training: Training, content: dict[str, Any]) -> dict[str, Any]:
    """Bring a fresh training to where the read checkpoint left off; returns the extra data."""
    training.online.load_state_dict(content["online"])
    training.target.load_state_dict(content["target"])
    training.optimiser.load_state_dict(content["optimiser"])
    training.replay = _unpacked(content["replay"])
    for name in COUNTERS:
        setattr(training, name, content["counters"][name])
    training.weight, training.epsilon = content["schedules"]["weight"], content["schedules"]["epsilon"]
    training.rng.bit_generator.state = json.loads(content["generator"])
    extra: dict[str, Any] = json.loads(content["extra"])
    return extra


def _check_settings(path: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    for name in {**there, **here}:
        if there.get(name) != here.get(name):
            was, asked = there.get(name), here.get(name)
            raise InputError(f"{path}: was trained with other settings ({name} was {was}, not {asked})")


def _packed(replay: Replay) -> dict[str, Any]:
    """The buffer as a few long tensors; a state shared by several transitions is stored once."""
    number: dict[int, int] = {}
    states: list[State] = []
    for transition in replay.transitions:
        for state in (transition.state, transition.following):
            if state is not None and id(state) not in number:
                number[id(state)] = len(states)
                states.append(state)
    packed: dict[str, Any] = {"capacity": replay.capacity, "next": replay.position}
    for part in STATE_PARTS:
        arrays = [getattr(state, part) for state in states]
        packed[part] = torch.from_numpy(np.concatenate(arrays)) if arrays else torch.zeros(0)
        packed[f"{part} lengths"] = torch.tensor([len(array) for array in arrays])
    rows = [
        [
            number[id(each.state)],
            each.action,
            -1 if each.following is None else number[id(each.following)],
            each.relabelled,
        ]
        for each in replay.transitions
    ]
    numbers = [[getattr(each, name) for name in NUMBERS] for each in replay.transitions]
    packed["rows"] = torch.tensor(rows, dtype=torch.int64).reshape(-1, 4)
    packed["numbers"] = torch.tensor(numbers, dtype=torch.float64).reshape(-1, len(NUMBERS))
    embeddings = [each.embedding for each in replay.transitions]
    packed["embeddings"] = torch.from_numpy(np.stack(embeddings)) if embeddings else torch.zeros(0)
    return packed


def _unpacked(packed: dict[str, Any]) -> Replay:
    parts = []
    for part in STATE_PARTS:
        cuts = np.cumsum(packed[f"{part} lengths"].numpy())[:-1]
        parts.append(np.split(packed[part].numpy(), cuts))
    states = [State(*arrays) for arrays in zip(*parts, strict=True)] if len(packed["rows"]) else []
    replay = Replay(packed["capacity"])
    embeddings = packed["embeddings"].numpy()
    for i, (row, values) in enumerate(zip(packed["rows"].tolist(), packed["numbers"].tolist(), strict=True)):
        state, action, following, relabelled = row
        after = None if following < 0 else states[following]
        named = dict(zip(NUMBERS, values, strict=True))
        replay.transitions.append(
            Transition(
                state=states[state],
                action=action,
                following=after,
                relabelled=bool(relabelled),
                embedding=embeddings[i],
                **named,
            )
        )
    replay.position = packed["next"]
    return replay
