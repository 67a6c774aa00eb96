"""Validation: what a policy reaches on start sets of its training networks that it is never trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from claim.discovery import Policy
from claim.evaluation.runs import Method, StudySettings, draw_start_sets, run_studies
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import named_seed

BASELINES = ("random-class", "random")  # scores are relative to the first: large networks do not outweigh small ones


@dataclass(frozen=True)
class Validation:
    """Studies from fixed start sets, the same for every policy, judged as ``claim evaluate --protocol paper`` does."""

    networks: Sequence[Network]
    settings: Any  # of a training: budget, start, leaders, p, validation_starts and seed

    def reached(self, policy: Policy | str) -> dict[str, FloatArray]:
        """People reached in every study, by network."""
        return {network.name: self._reached(network, policy) for network in self.networks}

    def _reached(self, network: Network, policy: Policy | str) -> FloatArray:
        given, seed = self.settings, int(named_seed(self.settings.seed, "validation").generate_state(1)[0])
        settings = StudySettings(seed, given.budget, given.start, given.leaders, given.p)
        starts = draw_start_sets(network, given.validation_starts, given.start, seed, "fresh")
        method = Method(policy, "greedy", "paper")
        studies = run_studies(network, method, settings, enumerate(starts), [given.budget])
        return np.array([outcome.influence for _, (outcome,) in studies])


def means(reached: dict[str, FloatArray]) -> dict[str, float]:
    """The mean of each network."""
    return {name: float(values.mean()) for name, values in reached.items()}


def score(reached: dict[str, float], baseline: dict[str, float]) -> float:
    """What is reached relative to a baseline, the mean over networks."""
    return float(np.mean([reached[name] / baseline[name] for name in reached]))
