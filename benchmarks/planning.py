"""Plans against what happened: `python benchmarks/planning.py` prints the tables of docs/how-to/plan.md.

Studies on the training networks. New studies: what `claim plan` foretells from the true number of people and mean
degree, against the mean of studies on the network itself. Studies under way: five surveys in, the plan for further
surveys against how the same study went on. `CLAIM_DATA` names the folder of the networks.
"""

import argparse

import numpy as np

from claim.discovery import Simulation, policy_named, surveys
from claim.networks import Network, load
from claim.planning import PlanSettings, plan, reach_curve
from claim.selection import selector_named

NETWORKS = {"copen": "stars", "occupy": "stars", "plj": "clustered", "rob": "clustered"}
NUMBERS = (0, 5, 10, 20)
POLICY, START = "degree+inverse", 5


def truth(simulation: Simulation, settings: PlanSettings, rng: np.random.Generator) -> np.ndarray:
    policy, selector = policy_named(settings.policy), selector_named(settings.selector, settings.p, samples=300)
    return np.array(reach_curve(simulation, policy, selector, settings, rng)[0])


def begun(network: Network, before: int, settings: PlanSettings, rng: np.random.Generator) -> Simulation:
    simulation = Simulation(network, rng.choice(network.n, START, replace=False), rng)
    for _ in surveys(simulation, policy_named(settings.policy), before, rng):
        pass
    return simulation


def row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def listed(values: np.ndarray) -> list[str]:
    return [f"{value:.0f}" for value in values]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=50)
    parser.add_argument("--begun", type=int, default=20)
    given = parser.parse_args()
    settings = PlanSettings(policy=POLICY, surveys=NUMBERS, studies=given.studies)
    row("network", "what", *(f"{number} surveys" for number in NUMBERS))
    row(*["---"] * (2 + len(NUMBERS)))
    for name, kind in NETWORKS.items():
        network, rng = load(name), np.random.default_rng(1)
        real = np.array([truth(begun(network, 0, settings, rng), settings, rng) for _ in range(given.studies)])
        row(name, "true", *listed(real.mean(axis=0)))
        for assumed in (kind, "unknown"):
            planned = plan(network.n, 2 * network.m / network.n, assumed, START, settings=settings)
            cells = [f"{point.mean:.0f} ({point.low:.0f} to {point.high:.0f})" for point in planned.points]
            row("", f"planned, {assumed}", *cells)
    few = PlanSettings(policy=POLICY, surveys=NUMBERS, studies=20)
    for name in NETWORKS:
        network, rng = load(name), np.random.default_rng(3)
        real, planned, spans, inside = [], [], [], []
        for _ in range(given.begun):
            simulation = begun(network, 5, settings, rng)
            points = plan(network.n, known=simulation.discovered, settings=few).points
            real.append(truth(simulation, settings, rng))
            planned.append([point.mean for point in points])
            spans.append([(point.low, point.high) for point in points])
            inside.append([point.low <= value <= point.high for point, value in zip(points, real[-1], strict=True)])
        row(name, "true, under way, median", *listed(np.median(real, axis=0)))
        ends = np.median(spans, axis=0)
        pairs = zip(np.median(planned, axis=0), ends, strict=True)
        row("", "planned, median", *(f"{middle:.0f} ({low:.0f} to {high:.0f})" for middle, (low, high) in pairs))
        row("", "true value within the range", *(f"{100 * share:.0f} %" for share in np.mean(inside, axis=0)))


if __name__ == "__main__":
    main()
