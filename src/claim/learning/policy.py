"""A trained policy, which surveys the person of the highest Q-value, and its files.

A policy file is two files: weights as safetensors, and a JSON card with their checksum, the settings and how they were
trained. Neither is unpickled.
"""

import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes
from threadpoolctl import ThreadpoolController

from claim.discovery import Discovered
from claim.errors import InputError
from claim.io.files import sha256_of, write_whole
from claim.learning.config import Config
from claim.learning.network import QNetwork, new_network, score_frontiers
from claim.learning.observation import RowGraph, observe
from claim.learning.paper import Estimates, GeometricDQN, PaperPolicy, Settings
from claim.networks.network import FloatArray
from claim.registry import find_shipped, is_file

FORMAT = 1


@lru_cache(maxsize=1)
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True)
class LearnedPolicy:
    """A network, and the settings it was trained with."""

    network: QNetwork
    settings: Config
    name: str = "claim"
    card: dict[str, Any] = field(default_factory=dict, repr=False)
    undirected_ic_only: ClassVar = True

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """Take a random member of the class of the highest value, then one of the next class, and round again."""
        if not discovered.frontier:
            return []
        graph, values = self.scores(discovered)
        order = graph.frontier[np.argsort(-values, kind="stable")]
        waiting = [rng.permutation(np.array(graph.members[row])).tolist() for row in order]
        chosen: list[int] = []
        while waiting and len(chosen) < count:
            chosen += [members.pop() for members in waiting]
            waiting = [members for members in waiting if members]
        return chosen[:count]

    def scores(self, discovered: Discovered) -> tuple[RowGraph, FloatArray]:
        """The rows of a discovered network and the value of each row of its frontier, (frontier,)."""
        with _threads().limit(limits=1):  # faster for small matrices, and the same values on every machine
            graph, state = observe(discovered, self.network.shape)
            (values,) = score_frontiers(self.network, [state])
        return graph, values.astype(np.float64)


TrainedPolicy = LearnedPolicy | PaperPolicy


def save_policy(policy: TrainedPolicy, path: Path) -> None:
    """Write ``path.safetensors`` and ``path.json``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = path.with_name(f"{path.name}.safetensors")
    write_whole(weights, to_bytes(policy.network.state_dict()))
    card = {"format": FORMAT, "name": policy.name, **_described(policy), **policy.card, "weights": sha256_of(weights)}
    path.with_name(f"{path.name}.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def _described(policy: TrainedPolicy) -> dict[str, Any]:
    if isinstance(policy, PaperPolicy):
        return {"preset": "paper", "config": policy.settings.to_dict(), "estimates": asdict(policy.estimates)}
    return {"config": policy.settings.to_dict()}


def load_policy(path: Path) -> TrainedPolicy:
    """Read a policy from its card, its weights, or their common stem."""
    stem = path.with_suffix("") if is_file(path.name) else path
    weights = stem.with_name(f"{stem.name}.safetensors")
    try:
        card = json.loads(stem.with_name(f"{stem.name}.json").read_text(encoding="utf-8"))
        checksum = sha256_of(weights)
        if card.get("weights", checksum) != checksum:
            raise ValueError("the weights beside the card are those of another one")
        policy = _untrained(card)
        policy.network.load_state_dict(load_file(weights))
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}") from error
    except (InputError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"{stem}: not a policy of this version ({reason})") from error
    policy.network.eval()
    return policy


def _untrained(card: dict[str, Any]) -> TrainedPolicy:
    """The policy of a card, before its weights are loaded."""
    if card.get("preset") == "paper":
        settings = Settings(**{**card["config"], "layers": tuple(card["config"]["layers"])})
        rest = _rest(card, "preset", "estimates")
        return PaperPolicy(GeometricDQN(settings), settings, Estimates(**card["estimates"]), card["name"], rest)
    config = Config.from_dict(card["config"])
    return LearnedPolicy(new_network(config.shape, config.seed), config, card["name"], _rest(card))


def _rest(card: dict[str, Any], *known: str) -> dict[str, Any]:
    return {key: value for key, value in card.items() if key not in ("format", "name", "config", "weights", *known)}


def learned_policy(name: str, family: str | None = None, budget: int = 5) -> TrainedPolicy:
    """The policy of a name for a network of a family (if known) and a budget, or from a file."""
    return _load(Path(name) if is_file(name) else find_shipped(name, family, budget).stem)


@lru_cache(maxsize=32)
def _load(path: Path) -> TrainedPolicy:
    return load_policy(path)
