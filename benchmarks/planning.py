"""Plans against what happened: `python benchmarks/planning.py` prints the tables of docs/how-to/plan.md.

Studies on the training networks. New studies: what `claim plan` foretells from the true number of people and mean
degree, against the mean of studies on the network itself. Studies under way: five surveys in, the plan for further
interviews against how the same study went on. `CLAIM_DATA` names the folder of the networks.
"""

import argparse
from dataclasses import replace

import numpy as np

from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.networks import Network, load
from claim.planning import PlanSettings, Point, plan
from claim.planning.studies import NetworkStudies, Way, run_studies

NETWORKS = {"copen": "stars", "occupy": "stars", "plj": "clustered", "rob": "clustered"}
START = 5


def true_reach(
    network: Network, numbers: list[int], settings: PlanSettings, seen: Discovered | None = None
) -> np.ndarray:
    """The mean reach in each way (ways, numbers of interviews), of studies on the network itself."""
    start, before = (START, 0) if seen is None else (0, len(seen.surveyed))
    ways = [Way.of(way, settings, numbers, start, before) for way in settings.ways]
    studies = NetworkStudies(network, range(settings.studies), seen)
    return run_studies([studies], ways, settings, None).reach.mean(axis=0)


def begun(network: Network, before: int, rng: np.random.Generator) -> tuple[Network, Discovered]:
    """A closed study after so many surveys, and the network with the people seen first."""
    simulation = Simulation(network, rng.choice(network.n, START, replace=False), rng)
    for _ in surveys(simulation, policy_named("scout"), before, rng):
        pass
    order = [*simulation.people, *sorted(set(range(network.n)) - set(simulation.people))]
    place = np.argsort(order)
    sources, targets, _ = network.edges()
    return Network.from_edges(place[sources], place[targets], n=network.n), simulation.discovered


def row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def listed(values: np.ndarray) -> list[str]:
    return [f"{value:.0f}" for value in values]


def spans(points: list[Point]) -> list[str]:
    return [f"{point.mean:.0f} ({point.low:.0f} to {point.high:.0f})" for point in points]


def new_studies(name: str, settings: PlanSettings) -> None:
    network = load(name)
    real = true_reach(network, settings.numbers(START), settings)
    kinds = (NETWORKS[name], "unknown")
    plans = [plan(network.n, 2 * network.m / network.n, kind, START, settings=settings) for kind in kinds]
    for i, way in enumerate(settings.ways):
        row(name, way, "true", *listed(real[i]))
        for kind, planned in zip(kinds, plans, strict=True):
            row("", "", f"planned, {kind}", *spans(planned.ways[way]))


def under_way(name: str, settings: PlanSettings, begun_studies: int) -> None:
    network, rng = load(name), np.random.default_rng(3)
    real, planned = [], []
    for _ in range(begun_studies):
        whole, seen = begun(network, 5, rng)
        points = plan(network.n, known=seen, settings=settings).ways.values()
        planned.append([[(point.mean, point.low, point.high) for point in each] for each in points])
        real.append(true_reach(whole, settings.numbers(0), replace(settings, studies=2), seen))
    truth, (means, lows, highs) = np.array(real), np.moveaxis(np.array(planned), -1, 0)  # (studies, ways, numbers)
    inside = ((lows <= truth) & (truth <= highs)).mean(axis=0)
    for i, way in enumerate(settings.ways):
        row(name, way, "true, median", *listed(np.median(truth[:, i], axis=0)))
        middle, low, high = (np.median(each[:, i], axis=0) for each in (means, lows, highs))
        row(
            "",
            "",
            "planned, median",
            *(f"{m:.0f} ({a:.0f} to {b:.0f})" for m, a, b in zip(middle, low, high, strict=True)),
        )
        row("", "", "true value within the range", *(f"{100 * share:.0f} %" for share in inside[i]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--studies", type=int, default=30)
    parser.add_argument("--begun", type=int, default=20)
    given = parser.parse_args()
    settings = PlanSettings(interviews=(10, 25), studies=given.studies, ways=("closed", "mix:best"))
    row("network", "way", "new studies", *(f"{number} interviews" for number in settings.numbers(START)))
    row(*["---"] * 5)
    for name in given.networks:
        new_studies(name, settings)
    further = replace(settings, interviews=(0, 5, 20), studies=20)
    row("network", "way", "under way", *(f"{number} further interviews" for number in further.numbers(0)))
    row(*["---"] * 6)
    for name in given.networks:
        under_way(name, further, given.begun)


if __name__ == "__main__":
    main()
