"""Settings of a training, validated when they are made, and what can be trained."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from claim.errors import InputError, check_number, check_whole

Preset = Literal["paper"]
VARIANTS: dict[Preset | None, tuple[str, ...]] = {
    None: ("claim",),
    "paper": ("geometric-dqn", "goal-dqn", "her", "claim"),
}
EPISODES: dict[Preset | None, int] = {None: 1280, "paper": 1000}  # unless said otherwise
TRAINED = ("geometric-dqn", "goal-dqn", "her", "paper-claim", "claim", "shaped-dqn")  # names of trained policies


@dataclass(frozen=True)
class Shape:
    """The shape of a Q-network."""

    features: Literal["signals", "netmf"]
    dimensions: int  # of NetMF
    hidden: int
    clusters: int
    layers: tuple[int, int]
    goal: bool


@dataclass(frozen=True)
class Config:
    """Settings of ``claim``; docs/how-to/train.md explains them, docs/concepts/claim.md the method."""

    # What the ablation changes
    goal: bool = True  # Q(s, a, g) is the chance to reach g; without: Q(s, a) is the reach
    hindsight: bool = True  # learn about goals in hindsight; without: about the goal that the episode pursued
    curriculum: bool = False  # choose batches by proximity and diversity; without: at random
    every_choice: bool = True  # try every class of people in each state; without: only the one chosen
    # The study
    budget: int = 5  # T, surveys
    start: int = 5  # start people
    leaders: int = 10
    p: float = 0.1  # probability that word passes along a contact
    # Features and network
    features: Literal["signals", "netmf"] = "signals"  # what a team can count, or the closed form of DeepWalk
    dimensions: int = 2  # of NetMF
    hidden: int = 64
    clusters: int = 32
    layers: tuple[int, int] = (128, 64)
    # Learning
    exploration_eps: float = 0.3  # share of random choices in episodes
    states: int = 5  # of an episode, in which choices are tried; at random if it has more
    updates: int = 3  # per episode
    batch_size: int = 32  # states
    goals: int = 12  # pseudo-goals per state and update
    cross_entropy: float = 1.0  # weight of the cross-entropy beside the centred squared error
    learning_rate: float = 1e-3
    learning_rate_decay: float = 0.9982  # per episode
    final_learning_rate: float = 1e-4
    weight_decay: float = 0.01
    averaging: float = 0.999  # of the weights that act, per update
    # Curriculum
    curriculum_candidates: int = 3  # m: candidates per state chosen
    curriculum_weight: float = 1.0  # λ at the start
    curriculum_decay: float = 0.99  # per episode
    # Validation
    validate_every: int = 320  # episodes
    validation_starts: int = 100  # per training network
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def variant(self) -> str:
        """What is trained with these settings."""
        return "claim"

    @property
    def shape(self) -> Shape:
        """The shape of the network."""
        return Shape(self.features, self.dimensions, self.hidden, self.clusters, self.layers, self.goal)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a manifest or a policy file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Config":
        """Read settings from a file."""
        return cls(**{**data, "layers": tuple(data["layers"])})


SHARES = (
    "p",
    "gamma",
    "averaging",
    "curriculum_decay",
    "learning_rate_decay",
    "exploration_eps",
    "exploration_initial_eps",
    "exploration_decay",
    "exploration_final_eps",
)
MAY_BE_ZERO = ("seed", "weight_decay", "cross_entropy", "curriculum_weight", *SHARES)


def check_fields(settings: Any) -> None:
    """Validate the settings of a training, a dataclass, by their types and names."""
    for name, kind in get_type_hints(type(settings)).items():
        _check(name, getattr(settings, name), kind)


def _check(name: str, value: Any, kind: Any) -> None:
    """Validate a setting by its type and its name."""
    words = [word for each in (kind, *get_args(kind)) if get_origin(each) is Literal for word in get_args(each)]
    if words:
        if value not in words and not (value is None and NoneType in get_args(kind)):
            raise InputError(f"{name} must be one of {', '.join(words)}, got {value}")
    elif get_origin(kind) is tuple:
        count = len(get_args(kind))
        if not (isinstance(value, tuple) and len(value) == count and all(type(n) is int and n >= 1 for n in value)):
            raise InputError(f"{name} must be {count} whole numbers of at least 1, got {value}")
    elif kind is bool:
        if not isinstance(value, bool):
            raise InputError(f"{name} must be true or false, got {value}")
    elif kind is int:
        check_whole(0 if name in MAY_BE_ZERO else 1, **{name: value})
    elif kind is float:
        check_number(0, 1 if name in SHARES else math.inf, above=name not in MAY_BE_ZERO, **{name: value})


def parse_settings(settings: Sequence[str], preset: Preset | None = None) -> dict[str, Any]:
    """Parse ``name=value`` pairs as changes to a configuration, each in the type of the setting."""
    from claim.learning.paper import Settings

    kind = Settings if preset == "paper" else Config
    defaults = {each.name: each.default for each in fields(kind) if each.name != "variant"}  # it has its own option
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
    if isinstance(default, bool):
        return {"true": True, "false": False}[text.lower()]
    if isinstance(default, tuple):
        return tuple(int(part) for part in text.split(","))
    return type(default)(text)
