"""Training networks with the worlds that their rewards are counted in, and validation on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from claim.cascades import Worlds
from claim.discovery import Simulation, policy_named, surveys
from claim.learning.config import Config
from claim.learning.goals import GoalHeuristic, goal_of
from claim.learning.network import QNetwork, score_frontiers
from claim.learning.observation import Featuriser
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import named_seed
from claim.selection import select
from claim.selection.greedy import Candidates, Task, greedy

ORACLES = 8  # choices of the oracle per reward; each is evaluated in worlds of its own
ORACLE_SAMPLES = 100
WORLDS_AN_ORACLE = 125
ESTIMATION_RUNS = 50


@dataclass(frozen=True)
class TrainingNetwork:
    """A training network with the fixed live-edge worlds that rewards are counted in."""

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
        leaders = select(self.network, self.config.leaders, self.config.p).indices
        return float(np.mean([worlds.influence(leaders).mean for worlds in self.worlds]))

    @cached_property
    def goals(self) -> GoalHeuristic:
        """The goal heuristic with the network's own estimates; the average influence is that of random surveys."""
        rng = np.random.default_rng(named_seed(self.config.seed, "estimates", self.network.name))
        reached = []
        for _ in range(ESTIMATION_RUNS):
            simulation = self.start_study(rng)
            for _ in surveys(simulation, policy_named("random"), self.config.budget, rng):
                pass
            reached.append(self.influence(simulation, rng))
        return GoalHeuristic.of_networks([self.network], float(np.mean(reached)), self.config.start)

    def start_study(self, rng: np.random.Generator) -> Simulation:
        """S = sample(G): a study from a new start set."""
        start = rng.choice(self.network.n, min(self.config.start, self.network.n), replace=False)
        return Simulation(self.network, start.tolist(), rng)

    def influence(self, simulation: Simulation, rng: np.random.Generator) -> float:
        """I(O(G_t)): people whom the oracle's leaders reach on the hidden network, on average over its choices.

        Most people of a small discovered graph are worth the same to the oracle, and which of them it takes decides
        more of what one choice reaches than the surveys do; see docs/notes/learning.md.
        """
        seen = simulation.discovered.as_network()
        people, leaders = np.array(simulation.people), min(self.config.leaders, seen.n)
        candidates = Candidates.of(seen.n, leaders)
        reached = [
            worlds.influence(people[greedy(Task(seen, candidates, leaders, self.config.p, ORACLE_SAMPLES, rng))]).mean
            for worlds in self.worlds
        ]
        return float(np.mean(reached))


@dataclass
class Validation:
    """Studies from fixed start sets of the training networks, which are never trained on."""

    networks: Sequence[TrainingNetwork]
    config: Config
    goals: GoalHeuristic

    def reached(self, policy: QNetwork | str) -> dict[str, FloatArray]:
        """People reached in every study, by network: greedy choices of a Q-network, or a policy by name."""
        reached, seed = {}, self.config.seed
        for network in self.networks:
            starts = named_seed(seed, "validation", network.network.name).spawn(self.config.validation_starts)
            simulations = [network.start_study(np.random.default_rng(each)) for each in starts]
            if isinstance(policy, str):
                rng = np.random.default_rng(named_seed(seed, "validation choices", policy))
                for simulation in simulations:
                    for _ in surveys(simulation, policy_named(policy), self.config.budget, rng):
                        pass
            else:
                self._survey_in_lockstep(simulations, policy)
            oracles = [np.random.default_rng(named_seed(seed, "oracle", i)) for i in range(len(simulations))]
            influences = [network.influence(*each) for each in zip(simulations, oracles, strict=True)]
            reached[network.network.name] = np.array(influences)
        return reached

    def _survey_in_lockstep(self, simulations: Sequence[Simulation], network: QNetwork) -> None:
        """Take the surveys of all studies round by round, so that one pass of the network scores a whole round."""
        rng = np.random.default_rng(named_seed(self.config.seed, "validation choices"))
        goals = np.array([goal_of(self.goals, simulation.discovered) for simulation in simulations])
        observe = [Featuriser(self.config, rng) for _ in simulations]
        for _ in range(self.config.budget):
            going_on = [i for i, simulation in enumerate(simulations) if simulation.discovered.frontier]
            if not going_on:
                return
            graphs, states = zip(*(observe[i](simulations[i].discovered) for i in going_on), strict=True)
            values, _ = score_frontiers(network, states, goals[going_on])
            for i, graph, of_rows in zip(going_on, graphs, values, strict=True):
                row = graph.frontier[of_rows.argmax()]
                simulations[i].ask(int(rng.choice(graph.members[row])))
