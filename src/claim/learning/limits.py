"""Which values settings may have, so that a mistake is told before anything is trained."""

import math
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from claim.errors import InputError
from claim.learning.config import VARIANTS, Config

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
