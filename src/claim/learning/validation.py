"""Validation: what a policy reaches on start sets of its training networks that it is never trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from claim.discovery import Policy
from claim.evaluation.runs import Method, StudySettings, draw_start_sets, run_studies
from claim.evaluation.statistics import hierarchical_test
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


def against_chance(policies: Sequence[Policy], networks: Sequence[Network], settings: Any) -> dict[str, Any]:
    """Compare the policies of several training seeds with random people and random classes, for a policy's card.

    ``shown`` says whether they beat both: the 95 % interval over trainings and start sets lies above 0. Differences are
    shares of what the other reaches, on average over networks.
    """
    validation = Validation(networks, settings)
    reached = [validation.reached(policy) for policy in policies]
    card: dict[str, Any] = {"trainings": len(policies), "start_sets": settings.validation_starts}
    for name in BASELINES:
        chance = validation.reached(name)
        ours = [np.mean([each[n] / chance[n].mean() for n in chance], axis=0) for each in reached]
        theirs = np.mean([values / values.mean() for values in chance.values()], axis=0)
        test = hierarchical_test(np.array(ours), theirs, np.random.default_rng(settings.seed))
        interval = None if np.isnan(test.stderr) else list(test.ci95)  # one training has none
        card[name] = {"difference": test.difference, "ci95": interval}
    card["shown"] = all(card[name]["ci95"] is not None and card[name]["ci95"][0] > 0 for name in BASELINES)
    return card
