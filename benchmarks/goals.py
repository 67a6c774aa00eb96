"""Goals against what is reached: `python benchmarks/goals.py` prints tables of docs/notes/learning.md.

Random surveys (five start people, T = 5) on the training networks, leaders by the greedy oracle in the paper protocol.
The average influence of a network is measured on other start sets than those that its goals are held against.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from claim.cascades import Worlds
from claim.discovery import Simulation, surveys
from claim.discovery.policies.simple import RandomPerson
from claim.evaluation.runs import ORACLE, choose_leaders
from claim.learning.goals import GoalHeuristic, neighbours_of_start
from claim.networks import Network, load
from claim.selection import MethodSelector

FAMILIES = {"retweet": ("copen", "occupy"), "animal": ("plj", "rob")}
START_SIZE, BUDGET, LEADERS, P = 5, 5, 10, 0.1
WORLDS = 1000

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """What random surveys reached on one network, and what the goals are made of."""

    network: Network
    neighbours: list[int]
    reached: Floats
    average_influence: float  # of other start sets

    @property
    def own(self) -> GoalHeuristic:
        return GoalHeuristic(self.network.n, self.network.m, self.average_influence, START_SIZE)

    def goals(self, heuristic: GoalHeuristic) -> Floats:
        return np.array([heuristic.goal(count) for count in self.neighbours])


def one_run(network: Network, worlds: Worlds, rng: np.random.Generator) -> tuple[int, float]:
    """The number of contacts of the start people, and the influence reached."""
    study = Simulation(network, rng.choice(network.n, START_SIZE, replace=False), rng)
    neighbours = neighbours_of_start(study.discovered)
    for _ in surveys(study, RandomPerson(), BUDGET, rng):
        pass
    selector = MethodSelector(P, **ORACLE["paper"])
    return neighbours, worlds.influence(choose_leaders("paper", study, selector, LEADERS, rng)).mean


def measure(name: str, runs: int, seed: int) -> Outcomes:
    network = load(name)
    worlds = Worlds.draw(network, P, WORLDS, seed)
    rng = np.random.default_rng(seed)
    results = [one_run(network, worlds, rng) for _ in range(2 * runs)]
    reached = np.array([influence for _, influence in results])
    return Outcomes(network, [count for count, _ in results[:runs]], reached[:runs], float(reached[runs:].mean()))


def comparison(outcomes: Outcomes, heuristic: GoalHeuristic) -> str:
    """Mean and deviation of goals, their correlation with what was reached, and how often they are near it."""
    goals, reached = outcomes.goals(heuristic), outcomes.reached
    correlation = np.corrcoef(goals, reached)[0, 1] if goals.std() else np.nan
    rewards = (reached - goals) / goals
    return (
        f"{heuristic.p_prime:.3f} | {goals.mean():.1f} ± {goals.std():.1f} | {correlation:.2f} "
        f"| {(np.abs(rewards) <= 0.2).mean():.0%} | {rewards.mean():.2f} ± {rewards.std():.2f}"
    )


def table_of_goals(families: dict[str, list[Outcomes]]) -> None:
    print("| network | reached | estimates | p' | goal | correlation | within 20 % | reward |")
    print("|---|---|---|---|---|---|---|---|")
    for members in families.values():
        for outcomes in members:
            reached = f"{outcomes.reached.mean():.1f} ± {outcomes.reached.std():.1f}"
            print(f"| {outcomes.network.name} | {reached} | own | {comparison(outcomes, outcomes.own)} |")
            print(f"| | | family | {comparison(outcomes, family_heuristic(members))} |")


def family_heuristic(members: list[Outcomes]) -> GoalHeuristic:
    """The averages of a family's training networks."""
    influences = [outcomes.average_influence for outcomes in members]
    return GoalHeuristic.of_networks([outcomes.network for outcomes in members], influences, START_SIZE)


WRONG: dict[str, Callable[[GoalHeuristic], GoalHeuristic]] = {
    "right": lambda h: h,
    "people / 2": lambda h: replace(h, people=h.people / 2),
    "people × 2": lambda h: replace(h, people=h.people * 2),
    "edges / 2": lambda h: replace(h, edges=h.edges / 2),
    "edges × 2": lambda h: replace(h, edges=h.edges * 2),
    "people and edges / 2": lambda h: replace(h, people=h.people / 2, edges=h.edges / 2),
    "people and edges × 2": lambda h: replace(h, people=h.people * 2, edges=h.edges * 2),
    "influence / 2": lambda h: replace(h, average_influence=h.average_influence / 2),
    "influence × 2": lambda h: replace(h, average_influence=h.average_influence * 2),
}


def table_of_wrong_estimates(families: dict[str, list[Outcomes]]) -> None:
    everybody = [outcomes for members in families.values() for outcomes in members]
    print("| estimates | " + " | ".join(outcomes.network.name for outcomes in everybody) + " |")
    print("|---|" + "---|" * len(everybody))
    for name, wrong in WRONG.items():
        cells = []
        for outcomes in everybody:
            goals = outcomes.goals(wrong(outcomes.own))
            correlation = np.corrcoef(goals, outcomes.reached)[0, 1] if goals.std() else np.nan
            cells.append(f"{goals.mean():.1f} ± {goals.std():.1f} ({correlation:.2f})")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="start sets a network")
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    families = {
        family: [measure(name, settings.runs, settings.seed) for name in names] for family, names in FAMILIES.items()
    }
    table_of_goals(families)
    print()
    table_of_wrong_estimates(families)


if __name__ == "__main__":
    main()
