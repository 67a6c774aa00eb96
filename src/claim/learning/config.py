"""Settings of a training, and limits on threads and memory."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from claim.errors import InputError
from claim.learning.hindsight import Strategy


@dataclass(frozen=True)
class Config:
    """Settings of a run, with the community's names for them; what each does is said in docs/training.md."""

    variant: str = "claim"
    # What tells the variants apart
    goal: Literal["input", "affine"] | None = "affine"  # how g enters Q; None: no goal, and the reward is I / OPT
    hindsight: Strategy | None = "final"
    curriculum: Literal["pursued", "literal"] | None = "pursued"
    shaping: bool = True  # rewards less the potential I(G_t), which leaves the best policy as it is
    myopic_reward: float = 0.0  # per newly discovered person, as an option of the Geometric-DQN baseline
    # The study
    budget: int = 5
    start: int = 5
    leaders: int = 10
    p: float = 0.1
    # Features and network
    features: Literal["netmf", "deepwalk"] = "netmf"
    dimensions: int = 2
    hidden: int = 64
    clusters: int = 32
    layers: tuple[int, int] = (128, 64)
    convolved_actions: bool = True
    # Learning
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    gamma: float = 1.0  # a study ends after T surveys, and whom its leaders reach counts in full
    updates: int = 5  # an episode; the paper's T, which is five, also where more people are surveyed
    batch_size: int = 100
    buffer_size: int = 30_000
    learning_starts: int = 1000  # surveys
    returns: Literal["bootstrap", "monte-carlo"] = "bootstrap"
    double: bool = False
    loss: Literal["people", "goal"] = "people"  # errors count in people, or in units of the goal
    tau: float = 0.002  # Polyak step of the target network after every update; 1 with an interval copies it
    target_interval: int = 1  # episodes between steps of the target network
    exploration_initial_eps: float = 1.0
    exploration_decay: float = 0.999  # per survey
    exploration_final_eps: float = 0.3
    # Curriculum
    curriculum_weight: float = 30.0  # lambda at the start: diversity decides most of a batch
    curriculum_decay: float = 0.995  # per episode; after 1000 episodes proximity decides nearly all of it
    curriculum_candidates: int = 3  # m: candidates per experience chosen
    normalised_similarity: bool = True
    # Model choice
    validate_every: int = 100  # episodes
    validation_starts: int = 100  # per training network
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a manifest or a policy file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Config":
        """The configuration a file describes."""
        return cls(**{**data, "layers": tuple(data["layers"])})


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """``name=value`` pairs as changes to a configuration, each in the type of the setting."""
    known = {each.name: each for each in fields(Config)}
    changes: dict[str, Any] = {}
    for setting in settings:
        name, _, text = setting.partition("=")
        if name not in known:
            raise InputError(f"no setting is called {name!r} (known: {', '.join(known)})")
        changes[name] = _parsed(name, text, known[name].default)
    return changes


def _parsed(name: str, text: str, default: Any) -> Any:
    if text.lower() in ("none", ""):
        return None
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(default, tuple):
            return tuple(int(part) for part in text.split(","))
        return type(default)(text) if default is not None else text
    except (ValueError, KeyError) as error:
        raise InputError(f"{name} cannot be {text!r}") from error


VARIANTS: dict[str, Config] = {
    config.variant: config
    for config in (
        Config(variant="geometric-dqn", goal=None, hindsight=None, curriculum=None),
        Config(variant="goal-dqn", hindsight=None, curriculum=None),
        Config(variant="her", curriculum=None),
        Config(variant="claim"),
    )
}


def variant_named(name: str, **changes: Any) -> Config:
    """A variant with some settings changed."""
    if name not in VARIANTS:
        raise InputError(f"no variant is called {name!r} (known: {', '.join(VARIANTS)})")
    return replace(VARIANTS[name], **changes)


EXPLORATION = ("exploration_initial_eps", "exploration_decay", "exploration_final_eps")
SHARES = ("p", "gamma", "tau", "curriculum_decay", *EXPLORATION)
MAY_BE_ZERO = ("learning_starts", "seed", "weight_decay", "curriculum_weight", "myopic_reward", *SHARES)


def checked(config: Config) -> Config:
    """The same configuration, or an error that names the first setting that cannot be as it is."""
    if config.variant not in VARIANTS:
        raise InputError(f"no variant is called {config.variant!r} (known: {', '.join(VARIANTS)})")
    for name, kind in get_type_hints(Config).items():
        _check(name, getattr(config, name), kind)
    if config.goal is None and (config.hindsight or config.curriculum):
        raise InputError("goal cannot be none with hindsight or a curriculum: both go by goals")
    return config


def _check(name: str, value: Any, kind: Any) -> None:
    words = _words(kind)
    if value is None and NoneType in get_args(kind):
        return
    if words:
        if value not in words:
            raise InputError(f"{name} cannot be {value!r} (known: {', '.join(words)})")
    elif get_origin(kind) is tuple:
        if not (isinstance(value, tuple) and len(value) == len(get_args(kind)) and min(value) >= 1):
            raise InputError(f"{name} must be {len(get_args(kind))} numbers of at least 1, not {value}")
    elif kind in (int, float):
        _check_number(name, value)


def _words(kind: Any) -> list[str]:
    """The words that a setting can be, if it is one of a few."""
    choices = (kind, *get_args(kind))
    return [word for choice in choices if get_origin(choice) is Literal for word in get_args(choice)]


def _check_number(name: str, value: Any) -> None:
    if value is None or not math.isfinite(value):
        raise InputError(f"{name} must be a number, not {value}")
    if name in SHARES and not 0 <= value <= 1:
        raise InputError(f"{name} must be between 0 and 1, not {value}")
    if value < 0 or (value == 0 and name not in MAY_BE_ZERO):
        raise InputError(f"{name} must be {'at least' if name in MAY_BE_ZERO else 'more than'} 0, not {value}")
