"""Influence against the number of surveys."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from claim.evaluation.compare import Played
from claim.evaluation.jobs import Progress, play_batches, split
from claim.evaluation.statistics import standard_error

BUDGETS = (0, 1, 2, 3, 5, 10, 20, 30, 50)
MOST_RUNS = 40


@dataclass(frozen=True)
class CurvePoint:
    """What one contender reaches on one network after so many surveys."""

    network: str
    policy: str
    selector: str
    protocol: str
    surveys: int
    runs: int
    mean: float
    stderr: float
    discovered: float


def budget_curves(
    played: Played,
    budgets: Sequence[int] = BUDGETS,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[CurvePoint]:
    """Every contender's curve; one study is surveyed to the end and leaders are chosen along the way."""
    grid = list(product(played.networks, played.contenders))
    batches = [
        split(network, contender, played.rules, played.starts[network.name][:MOST_RUNS], budgets)
        for network, contender in grid
    ]
    points = []
    for (network, contender), runs in zip(grid, play_batches(batches, workers, progress), strict=True):
        for i, surveys in enumerate(budgets):
            values = [outcomes[i].influence for outcomes in runs]
            discovered = float(np.mean([outcomes[i].discovered for outcomes in runs]))
            names = (network.name, contender.policy, contender.selector, contender.protocol)
            error = standard_error(values)
            points.append(CurvePoint(*names, surveys, len(values), float(np.mean(values)), error, discovered))
    return points
