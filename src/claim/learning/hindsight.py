"""Rewards against a goal, and the goals that hindsight puts in its place (Andrychowicz et al., 2017).

Everything here returns new values. A relabelled transition stands beside its original in the replay buffer, and the
original keeps the goal and the reward that it was stored with.
"""

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from claim.errors import InputError
from claim.networks.network import FloatArray

Strategy = Literal["final", "future"]


@overload
def reward(influence: float, goal: float, final: bool) -> float: ...
@overload
def reward(influence: npt.ArrayLike, goal: npt.ArrayLike, final: npt.ArrayLike) -> FloatArray | float: ...
def reward(influence: npt.ArrayLike, goal: npt.ArrayLike, final: npt.ArrayLike) -> FloatArray | float:
    """R_{t,g} = (I - g) / g at the last step, else 0; for one transition or for arrays of them."""
    desired = np.asarray(goal, dtype=np.float64)
    if not (desired > 0).all():
        raise InputError("a goal must be greater than 0")
    gained = (np.asarray(influence, dtype=np.float64) - desired) / desired
    rewards = np.where(final, gained, 0.0)
    return rewards if rewards.ndim else float(rewards)


def pseudo_goals(strategy: Strategy, influences: Sequence[float], step: int) -> list[float]:
    """The goals to replay the transition from G_t to G_{t+1} with, t being ``step``.

    ``influences[t]`` is what leaders chosen from G_t reach, t = 0 ... T. ``final`` is the influence at the end of the
    episode, as in the paper; ``future`` those of all discovered networks after the transition, each value once.
    """
    last = len(influences) - 1
    if not 0 <= step < last:
        raise InputError(f"an episode of {max(last, 0)} steps has no step {step}")
    if strategy == "final":
        return [influences[last]]
    if strategy == "future":
        return list(dict.fromkeys(influences[step + 1 :]))
    raise InputError(f"no hindsight strategy is called {strategy!r} (known: final, future)")
