"""Training networks with the worlds of their rewards, and validation on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from claim.cascades import Worlds
from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.learning.config import Config
from claim.learning.goals import GoalHeuristic
from claim.learning.network import QNetwork, score_frontiers
from claim.learning.observation import Featuriser, State
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import named_seed
from claim.selection import select
from claim.selection.greedy import Candidates, Task, greedy

ORACLES = 8  # how often the oracle chooses before a reward is known; each choice is judged in worlds of its own
ORACLE_SAMPLES = 100
WORLDS_AN_ORACLE = 125
ESTIMATION_RUNS = 50


@dataclass(frozen=True)
class Ground:
    """A training network with the worlds in which its rewards are counted."""

    network: Network
    config: Config

    @cached_property
    def worlds(self) -> tuple[Worlds, ...]:
        """Fixed worlds, the same for the whole training."""
        seeds = named_seed(self.config.seed, "worlds", self.network.name).generate_state(ORACLES).tolist()
        return tuple(Worlds.draw(self.network, self.config.p, WORLDS_AN_ORACLE, seed) for seed in seeds)

    @cached_property
    def optimum(self) -> float:
        """OPT(G*), by which the baseline's rewards are scaled."""
        leaders = select(self.network, self.config.leaders, self.config.p).leaders
        return float(np.mean([worlds.influence(leaders).mean for worlds in self.worlds]))

    @cached_property
    def goals(self) -> GoalHeuristic:
        """The goal heuristic with the network's own estimates; the average influence is that of random surveys."""
        rng = np.random.default_rng(named_seed(self.config.seed, "estimates", self.network.name))
        average = np.mean([_random_study(self, rng) for _ in range(ESTIMATION_RUNS)])
        return GoalHeuristic.of_networks([self.network], float(average), self.config.start)

    def begin(self, rng: np.random.Generator) -> Simulation:
        """A study from a new start set."""
        start = rng.choice(self.network.n, min(self.config.start, self.network.n), replace=False)
        return Simulation(self.network, start.tolist(), rng)

    def influence(self, simulation: Simulation, rng: np.random.Generator) -> float:
        """I(O(G_t)): what the oracle's leaders reach on the hidden network, on average over the oracle's luck.

        Most people of a small discovered graph are worth the same to the oracle, and which of them it takes decides
        more of what one choice reaches than the surveys do; see docs/training.md.
        """
        seen = simulation.discovered.as_network()
        people, leaders = np.array(simulation.people), min(self.config.leaders, seen.n)
        candidates = Candidates.of(seen.n, leaders)
        reached = [
            worlds.influence(people[greedy(Task(seen, candidates, leaders, self.config.p, ORACLE_SAMPLES, rng))]).mean
            for worlds in self.worlds
        ]
        return float(np.mean(reached))


def family_goals(grounds: Sequence[Ground], start: int) -> GoalHeuristic:
    """The goal heuristic for a network of the family of which nothing is known: its training networks' averages."""
    influences = [ground.goals.average_influence for ground in grounds]
    return GoalHeuristic.of_networks([ground.network for ground in grounds], influences, start)


def _random_study(ground: Ground, rng: np.random.Generator) -> float:
    simulation = ground.begin(rng)
    for _ in surveys(simulation, policy_named("random"), ground.config.budget, rng):
        pass
    return ground.influence(simulation, rng)


def goal_of(heuristic: GoalHeuristic, discovered: Discovered) -> tuple[float, float]:
    """g for the start people of a study, and the average influence; at least one person, so that ratios exist."""
    return max(heuristic.goal_for(discovered), 1.0), max(heuristic.average_influence, 1.0)


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
