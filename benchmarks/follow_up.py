"""How often the 90 % interval of p from a follow-up contains p: the tables of docs/notes/follow-up.md.

`python benchmarks/follow_up.py` simulates 500 follow-ups for each p on networks of three families by turns: a study by
scout, leaders by foresight, of whom 70 % come, a cascade on the hidden network, and a sample of the known people drawn
by lot. `CLAIM_DATA` names the folder of the networks.
"""

import argparse
from typing import NamedTuple

import numpy as np

from claim.cascades import cascade
from claim.discovery import Simulation, policy_named, surveys
from claim.field.advice.spreading import Estimate, draw_worlds
from claim.networks import Network, load
from claim.networks.catalogue import family_networks
from claim.randomness import named_seed
from claim.selection.foresight import foresight_named
from claim.selection.foresight.selection_state import SeenNetwork

FAMILIES = ("retweet", "animal", "villages")
LEADERS, START = 10, 5


class Settings(NamedTuple):
    """How the simulated studies are made."""

    budget: int
    asked: int
    attendance: float
    known_size: bool


class FollowUp(NamedTuple):
    """One simulated follow-up: how many people said yes, and the estimate of p."""

    yes: int
    estimate: Estimate


def follow_up(network: Network, p: float, settings: Settings, rng: np.random.Generator) -> FollowUp:
    """Simulate a study on a network and its follow-up; leaders are drawn again until one of them comes."""
    simulation = Simulation(network, rng.choice(network.n, START, replace=False).tolist(), rng)
    for _ in surveys(simulation, policy_named("scout"), settings.budget, rng):
        pass
    seen = simulation.discovered
    leaders = foresight_named("foresight", p=p, samples=200, attendance=settings.attendance).select(seen, LEADERS, rng)
    came: list[int] = []
    while not came:
        came = [leader for leader in leaders if rng.random() < settings.attendance]
    reached = {each.person for each in cascade(network, [simulation.people[who] for who in came], p, rng)}
    sample = rng.permutation([person for person in range(len(seen)) if person not in leaders])[: settings.asked]
    yes = np.array([simulation.people[person] in reached for person in sample])
    worlds = draw_worlds(SeenNetwork.of(seen), came, float(network.n) if settings.known_size else None, rng)
    return FollowUp(int(yes.sum()), worlds.estimate(sample.tolist(), yes))


def main() -> None:
    """Print the share of intervals that contain p, and how wide they are, for each p and family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="follow-ups for each p")
    parser.add_argument("--probabilities", default="0.05,0.1,0.2", help="values of p")
    parser.add_argument("--role", choices=("train", "test"), default="train", help="networks")
    parser.add_argument("--budget", type=int, default=20, help="surveys after the five start people")
    parser.add_argument("--asked", type=int, default=40, help="people asked after the sessions")
    parser.add_argument("--attendance", type=float, default=0.7)
    parser.add_argument("--known-size", action="store_true", help="the team knows the number of people")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    settings = Settings(given.budget, given.asked, given.attendance, given.known_size)
    networks = {family: [load(each.name) for each in family_networks(family, given.role)] for family in FAMILIES}
    print("| p | networks | follow-ups | interval holds | p is below it | above it | said yes | estimate | interval |")
    print("|---|---|---|---|---|---|---|---|---|")
    for p in map(float, given.probabilities.split(",")):
        found: dict[str, list[FollowUp]] = {family: [] for family in FAMILIES}
        for run in range(given.runs):
            family = FAMILIES[run % len(FAMILIES)]
            network = networks[family][run // len(FAMILIES) % len(networks[family])]
            rng = np.random.default_rng(named_seed(given.seed, f"follow-up at {p}", run))
            found[family].append(follow_up(network, p, settings, rng))
        every = [each for family in FAMILIES for each in found[family]]
        for name, rows in {"all": every, **found}.items():
            print(_row(p, name, rows), flush=True)


def _row(p: float, name: str, found: list[FollowUp]) -> str:
    low, middle, high = np.array([(each.estimate.low, each.estimate.p, each.estimate.high) for each in found]).T
    holds, below, above = (f"{100 * np.mean(each):.1f} %" for each in ((low <= p) & (p <= high), p < low, p > high))
    yes = np.mean([each.yes for each in found])
    typical = f"{np.median(middle):.3f} | {np.median(low):.3f} to {np.median(high):.3f}"
    return f"| {p} | {name} | {len(found)} | {holds} | {below} | {above} | {yes:.1f} | {typical} |"


if __name__ == "__main__":
    main()
