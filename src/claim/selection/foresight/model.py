"""The files of fitted models: trees and range factors as JSON, with a card of their origin."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from claim.errors import InputError
from claim.networks.network import FloatArray
from claim.selection.foresight.features import BEFORE, FEATURES
from claim.selection.foresight.gate import Gate
from claim.selection.foresight.ranges import WIDER_AFTER_TRAINING, Ranges
from claim.selection.foresight.reach import Reach
from claim.selection.foresight.trees import Trees, mixed

SCHEMA = 1
TRUST = 0.8  # of the corrections of a mix, as a power: a network differs from those of its sort; see the notes
FREE = "free"  # the file of the selector without training: range factors only


@dataclass(frozen=True)
class Model:
    """Trees for factors on what ``free`` expects: of the hidden reach, and of what a leader adds.

    Leaders are compared by trees that were fitted to sorts of networks apart, and are mixed by how much a study looks
    like each sort. How many people leaders add is guessed by trees for all sorts.
    """

    hidden: Trees  # of the features BEFORE
    gains: tuple[Trees, ...]  # of FEATURES, for each sort
    gate: Gate | None = None  # None: there is one sort
    level: Trees | None = None  # of FEATURES; None: the same as those that compare leaders
    ranges: Ranges | None = None  # of models that have no calibrated reach
    reach: Reach | None = None
    card: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def gain_in(self, study: FloatArray) -> Trees:
        """The trees of what a leader adds in a study, given by one number for each name of ``STUDY``."""
        if self.gate is None:
            return self.gains[0]
        return mixed(self.gains, (TRUST * self.gate.shares(study)).tolist())


def save_model(model: Model, path: Path) -> Path:
    """Write a model as JSON."""
    data = {
        "schema": SCHEMA,
        "card": model.card,
        "before": list(BEFORE),
        "features": list(FEATURES),
        "reach": model.reach and model.reach.to_dict(),
        "hidden": model.hidden.to_dict(),
        "gains": [each.to_dict() for each in model.gains],
        "gate": model.gate and model.gate.to_dict(),
        "level": model.level and model.level.to_dict(),
    }
    return write_json(path, data)


def write_json(path: Path, data: dict[str, Any]) -> Path:
    """One line a key: small, and differences can be read."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in data.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    return path


def read_model(path: Path) -> Model:
    """Read and validate a model file."""
    data = _read(path)
    if not {"gain", "gains"} & data.keys():
        raise InputError(f"{path}: has no trees; a foresight model that chooses leaders has them")
    try:
        before, features = (places(data[name], known) for name, known in (("before", BEFORE), ("features", FEATURES)))
        hidden = Trees.from_dict(data["hidden"], before)
        gains = tuple(Trees.from_dict(each, features) for each in data.get("gains") or [data["gain"]])
        gate = data.get("gate") and Gate.from_dict(data["gate"])
        level = data.get("level") and Trees.from_dict(data["level"], features)
        if len(gains) != (len(gate.sorts) if gate else 1) or len({each.leaves.shape[1] for each in gains}) > 1:
            raise ValueError("the trees do not go with the gate")
        ranges = data.get("ranges") and Ranges.from_dict(data["ranges"], WIDER_AFTER_TRAINING)
        reach = data.get("reach") and Reach.from_dict(data["reach"])
        return Model(hidden, gains, gate, level, ranges, reach, data["card"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: no foresight model ({error})") from error


def places(names: Sequence[str], known: Sequence[str]) -> list[int]:
    """Where the features of a file are among those of this version, which may have more of them."""
    other = next((name for name in names if name not in known), None)
    if other is not None:
        raise ValueError(f"trained on a feature {other!r} that this version does not have; train it again")
    return [known.index(name) for name in names]


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot read it ({error.strerror})") from error
    except ValueError as error:
        raise InputError(f"{path}: no foresight model ({error})") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise InputError(f"{path}: no foresight model of schema {SCHEMA}")
    return data


def shipped_path(name: str) -> Path:
    """The file of a shipped model."""
    return Path(str(files("claim.selection.foresight").joinpath("models", f"{name}.json")))


def model_path(form: str) -> Path:
    """The file of a form of foresight: a shipped model, or the file itself."""
    return Path(form) if form.endswith(".json") else shipped_path(form)


def shipped_names() -> list[str]:
    """The families of the shipped models."""
    folder = shipped_path(FREE).parent
    return sorted(path.stem for path in folder.glob("*.json") if path.stem != FREE)


@cache
def shipped_model(name: str) -> Model:
    """The model of a family."""
    return read_model(shipped_path(name))


@cache
def free_ranges() -> Ranges:
    """The range factors of the selector without training."""
    return Ranges.from_dict(_read(shipped_path(FREE))["ranges"])
