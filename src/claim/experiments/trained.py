"""Training as a job: a variant on a family's training networks, from one seed."""

import base64
import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claim.experiments.jobs import Job, Result, key_of
from claim.experiments.wishes import AS_ESTIMATED, Wish, train_towards
from claim.learning.config import Config, variant_named
from claim.networks import Network

if TYPE_CHECKING:
    from claim.learning.folder import TrainingFolder
    from claim.learning.policy import LearnedPolicy

SECONDS_AN_UPDATE = (0.016, 0.0009)  # and more for each survey of a study: larger studies are larger graphs
SECONDS_A_SURVEY = 0.004
SECONDS_A_VALIDATED_SURVEY = 0.002


@dataclass(frozen=True)
class Train:
    """Trains one policy; a killed training goes on from its last checkpoint. No episode: the network as it begins."""

    variant: str
    family: str
    networks: tuple[Network, ...]
    seed: int
    episodes: int
    settings: tuple[tuple[str, Any], ...] = ()  # changes to the variant's configuration
    wish: Wish = AS_ESTIMATED

    @property
    def config(self) -> Config:
        """The whole configuration."""
        return variant_named(self.variant, seed=self.seed, **dict(self.settings))

    @property
    def label(self) -> str:
        """Variant, family, surveys, seed, and what is not as usual; also a file name."""
        usual = f"{self.variant}.{self.family}.{self.config.budget}.seed{self.seed}"
        if not self.episodes:
            return f"{usual}.untrained"
        return usual if self.wish == AS_ESTIMATED else f"{usual}.{re.sub(r'[^a-z0-9.]+', '-', self.wish.name)}"

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        return f"train {self.label}"

    @property
    def effort(self) -> float:
        """Updates, episodes and validations."""
        config = self.config
        updates = config.updates * max(self.episodes - config.learning_starts // config.budget, 0)
        validated = (1 + self.episodes // config.validate_every) * len(self.networks) * config.validation_starts
        an_update = SECONDS_AN_UPDATE[0] + SECONDS_AN_UPDATE[1] * config.budget
        surveys = SECONDS_A_SURVEY * self.episodes + SECONDS_A_VALIDATED_SURVEY * validated
        return an_update * updates + surveys * config.budget + 2

    @property
    def needs(self) -> tuple[Job, ...]:
        """Nothing."""
        return ()

    def identity(self) -> dict[str, Any]:
        """Settings, episodes, networks and goals."""
        return {
            "config": self.config.to_dict(),
            "episodes": self.episodes,
            "networks": {network.name: network.checksum for network in self.networks},
            "wish": vars(self.wish),
        }

    @property
    def command(self) -> str:
        """The command line that trains the same policy (goals from other estimates have none)."""
        changes = "".join(f" --set {name}={_as_setting(value)}" for name, value in self.settings if name != "budget")
        return (
            f"claim train --variant {self.variant} --networks {','.join(each.name for each in self.networks)} "
            f"--episodes {self.episodes} --budget {self.config.budget} --seed {self.seed}{changes}"
        )

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """The validation curve and the policy that validated best."""
        import torch

        from claim.learning.checkpoint import BrokenCheckpoint

        torch.set_num_threads(1)
        path = workspace / "training" / f"{self.label}-{key_of(self)[:8]}"
        try:
            folder = self._opened(path)
        except BrokenCheckpoint:  # it would stand in the way for ever
            shutil.rmtree(path)
            folder = self._opened(path)
        folder.run(self.episodes, lambda metrics: None)
        weights = (path / "policy.safetensors").read_bytes()
        (path / "checkpoint.pt").unlink()  # up to a hundred megabytes that nobody needs any more
        card = json.loads((path / "policy.json").read_text(encoding="utf-8"))
        return {
            "curve": folder.curve,
            "card": {**card, "trained_towards": self.wish.name},
            "weights": base64.b64encode(weights).decode(),
        }

    def _opened(self, path: Path) -> "TrainingFolder":
        """The folder of the training, where it was left or at the beginning."""
        from claim.learning.folder import TrainingFolder

        if not (path / "checkpoint.pt").exists():
            shutil.rmtree(path, ignore_errors=True)
        folder = TrainingFolder(path, self.config, self.networks, self.command)
        train_towards(folder.training, self.wish)
        folder.open(resume=True)
        return folder


def save_policy(result: Result, stem: Path) -> None:
    """Write a trained policy as policy files."""
    stem.with_name(f"{stem.name}.json").write_text(json.dumps(result["card"], indent=1) + "\n", encoding="utf-8")
    stem.with_name(f"{stem.name}.safetensors").write_bytes(base64.b64decode(result["weights"]))


def load_policy(result: Result, training: Train) -> "LearnedPolicy":
    """The policy of a training's result, with goals of the kind it was trained towards."""
    policy = _loaded(json.dumps(result["card"]), result["weights"])
    return replace(policy, goals=training.wish.shaped(policy.goals, training.networks, training.config))


@lru_cache(maxsize=4)
def _loaded(card: str, weights: str) -> "LearnedPolicy":
    import torch

    from claim.learning.policy import LearnedPolicy

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        save_policy({"card": json.loads(card), "weights": weights}, Path(folder) / "policy")
        return LearnedPolicy.load(Path(folder) / "policy")


def _as_setting(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
