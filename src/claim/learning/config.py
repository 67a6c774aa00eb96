"""Settings of a training, validated when they are made, and the variants of the ablation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from claim.errors import InputError, check_number, check_settings


@dataclass(frozen=True)
class Config:
    """Settings of a training, with the names that the community uses; docs/how-to/train.md explains them."""

    variant: Literal["geometric-dqn", "goal-dqn", "her", "claim"] = "claim"
    # What tells the variants apart
    goal: Literal["input", "affine"] | None = "affine"  # how g enters Q; None: no goal, and the reward is I / OPT
    hindsight: Literal["final"] | None = "final"  # replay with the influence reached at the end as the goal
    curriculum: Literal["pursued"] | None = "pursued"  # prefer episodes that pursued a goal near the present one
    shaping: bool = True  # rewards less the potential I(G_t), which leaves the best policy as it is
    # The study
    budget: int = 5  # T, surveys
    start: int = 5  # start people
    leaders: int = 10
    p: float = 0.1  # probability that word passes along a contact
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
    gamma: float = 1.0  # a study ends after T surveys, and its influence counts in full
    updates: int = 5  # per episode; the paper's T, which is five, also for larger budgets
    batch_size: int = 100
    buffer_size: int = 30_000
    learning_starts: int = 1000  # surveys
    tau: float = 0.002  # Polyak step of the target network after every update
    exploration_initial_eps: float = 1.0
    exploration_decay: float = 0.999  # per survey
    exploration_final_eps: float = 0.3
    # Curriculum
    curriculum_weight: float = 30.0  # lambda at the start: diversity decides most of a batch
    curriculum_decay: float = 0.995  # per episode; after 1000 episodes proximity decides nearly all of it
    curriculum_candidates: int = 3  # m: candidates per transition chosen
    normalised_similarity: bool = True
    # Model choice
    validate_every: int = 100  # episodes
    validation_starts: int = 100  # per training network
    seed: int = 0

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(Config).items():
            _check(name, getattr(self, name), kind)
        if self.goal is None and (self.hindsight or self.curriculum):
            raise InputError("goal cannot be none with hindsight or a curriculum: both need goals")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a manifest or a policy file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Config":
        """Read settings from a file; removed settings are accepted at the one value that they can still have."""
        for name, only in RETIRED.items():
            if data.get(name, only) != only:
                raise InputError(f"the setting {name} was removed and can only be {only}, got {data[name]}")
        kept = {name: value for name, value in data.items() if name not in RETIRED}
        return cls(**{**kept, "layers": tuple(data["layers"])})


RETIRED = {"myopic_reward": 0.0, "returns": "bootstrap", "double": False, "loss": "people", "target_interval": 1}

EXPLORATION = ("exploration_initial_eps", "exploration_decay", "exploration_final_eps")
SHARES = ("p", "gamma", "tau", "curriculum_decay", *EXPLORATION)
MAY_BE_ZERO = ("learning_starts", "seed", "weight_decay", "curriculum_weight", *SHARES)


def _check(name: str, value: Any, kind: Any) -> None:
    """Validate a setting by its type and its name."""
    words = [word for each in (kind, *get_args(kind)) if get_origin(each) is Literal for word in get_args(each)]
    if words:
        if value not in words and not (value is None and NoneType in get_args(kind)):
            raise InputError(f"{name} must be one of {', '.join(words)}, got {value}")
    elif get_origin(kind) is tuple:
        if not (isinstance(value, tuple) and len(value) == len(get_args(kind)) and min(value) >= 1):
            raise InputError(f"{name} must be {len(get_args(kind))} numbers of at least 1, got {value}")
    elif kind in (int, float):
        check_number(0, 1 if name in SHARES else math.inf, above=name not in MAY_BE_ZERO, **{name: value})


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
    """Settings of a variant with some of them changed."""
    if name not in VARIANTS:
        raise InputError(f"the variant must be one of {', '.join(VARIANTS)}, got {name}")
    check_settings("train", Config, changes)
    return replace(VARIANTS[name], **changes)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Parse ``name=value`` pairs as changes to a configuration, each in the type of the setting."""
    defaults = {each.name: each.default for each in fields(Config)}
    changes: dict[str, Any] = {}
    for setting in settings:
        name, _, text = setting.partition("=")
        if name not in defaults:
            raise InputError(f"no setting is called {name!r} (known: {', '.join(defaults)})")
        try:
            changes[name] = _parsed(text, defaults[name])
        except (ValueError, KeyError) as error:
            raise InputError(f"{name} cannot be {text!r}") from error
    return changes


def written_setting(value: Any) -> str:
    """The inverse of parsing: the text of a value."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _parsed(text: str, default: Any) -> Any:
    if text.lower() in ("none", ""):
        return None
    if isinstance(default, bool):
        return {"true": True, "false": False}[text.lower()]
    if isinstance(default, tuple):
        return tuple(int(part) for part in text.split(","))
    return type(default)(text)
