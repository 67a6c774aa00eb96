"""How good a network is on training networks, from start sets it never trains on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claim.discovery import Simulation, policy_named, surveys
from claim.learning.config import Config
from claim.learning.features import Featuriser
from claim.learning.goals import GoalHeuristic
from claim.learning.qnetwork import QNetwork, score_frontiers
from claim.learning.states import State
from claim.learning.studies import Ground, goal_of
from claim.networks.network import FloatArray
from claim.randomness import named_seed


@dataclass
class Validation:
    """Fixed start sets of the training networks, surveyed in lockstep so that one pass scores all of them."""

    grounds: Sequence[Ground]
    config: Config
    goals: GoalHeuristic

    def reached(self, network: QNetwork) -> dict[str, FloatArray]:
        """The influence of every validation study of each training network, with the network's greedy choices."""
        return {ground.network.name: self._reached(ground, network) for ground in self.grounds}

    def reached_by(self, policy: str) -> dict[str, FloatArray]:
        """The same for a policy that needs no learning, on the same start sets."""
        return {ground.network.name: self._reached_by(ground, policy) for ground in self.grounds}

    def _begin(self, ground: Ground) -> list[Simulation]:
        seeds = named_seed(self.config.seed, "validation", ground.network.name).spawn(self.config.validation_starts)
        return [ground.begin(np.random.default_rng(seed)) for seed in seeds]

    def _reached(self, ground: Ground, network: QNetwork) -> FloatArray:
        simulations = self._begin(ground)
        rng = np.random.default_rng(named_seed(self.config.seed, "validation choices"))
        goals = np.array([goal_of(self.goals, simulation.discovered) for simulation in simulations])
        featurisers = [Featuriser(self.config, rng) for _ in simulations]
        for _ in range(self.config.budget):
            going = [i for i, simulation in enumerate(simulations) if simulation.discovered.frontier]
            if not going:
                break
            seen = [featurisers[i](simulations[i].discovered) for i in going]
            chosen = best_rows(network, [state for _, state in seen], goals[going])
            for i, (graph, _), row in zip(going, seen, chosen, strict=True):
                simulations[i].ask(int(rng.choice(graph.members[row])))
        return self._judge(ground, simulations)

    def _reached_by(self, ground: Ground, policy: str) -> FloatArray:
        simulations = self._begin(ground)
        rng = np.random.default_rng(named_seed(self.config.seed, "validation choices", policy))
        for simulation in simulations:
            for _ in surveys(simulation, policy_named(policy), self.config.budget, rng):
                pass
        return self._judge(ground, simulations)

    def _judge(self, ground: Ground, simulations: Sequence[Simulation]) -> FloatArray:
        return np.array(
            [
                ground.influence(simulation, np.random.default_rng(named_seed(self.config.seed, "oracle", i)))
                for i, simulation in enumerate(simulations)
            ]
        )


def best_rows(network: QNetwork, states: Sequence[State], goals: FloatArray) -> list[int]:
    """The row of the highest value in each state."""
    values, frontiers, _ = score_frontiers(network, states, goals)
    ends = [*frontiers.starts[1:], len(values)]
    picks = [int(values[a:b].argmax()) for a, b in zip(frontiers.starts, ends, strict=True)]
    return [int(state.frontier[pick]) for state, pick in zip(states, picks, strict=True)]
