"""The reach to expect on networks of other kinds: prints a table of docs/notes/foresight.md.

`python benchmarks/reach_coverage.py` simulates closed and open studies on the textbook networks of `other_kinds.py`, or
on files that are given, with 5 and 10 leaders, and counts how often the range contains the true reach.
"""

import argparse

import numpy as np
from other_kinds import made

from claim.fitting.reach import coverage
from claim.fitting.studies import StudyPlan, simulated_studies
from claim.networks import Network, load
from claim.randomness import named_seed
from claim.selection.foresight import foresight_named

STUDIES = {"closed": StudyPlan(0.0, surveys=(5, 20)), "open": StudyPlan(1.0, interviews=(10, 25))}
LEADERS = (5, 10)
POPULATIONS = ("known", "estimated")


def covered(network: Network, studies: int, selector: str, p: float) -> list[str]:
    """How often the range holds, its width, and the error of the estimate, by what is known of the number of people."""
    cells, chosen = [], foresight_named(selector, p=p)
    for population in POPULATIONS:
        found = []
        for name, plan in STUDIES.items():
            for k in LEADERS:
                rng = np.random.default_rng(named_seed(1, network.name, name, k))
                plan = StudyPlan(plan.open_share, plan.surveys, plan.interviews, chances=(p,))
                found.append(coverage(simulated_studies(network, studies, rng, plan), chosen, k, population, 1))
        held, ratio, error, over = (
            np.mean([row[key] for row in found]) for key in ("held", "ratio", "error", "too many")
        )
        cells += [f"{100 * held:.0f} %", f"{ratio:.1f}", f"{100 * error:.0f} %", f"{100 * over:.0f} %"]
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="Networks to try instead of the textbook networks.")
    parser.add_argument("--studies", type=int, default=25, help="Of each sort: closed and open, with 5 and 10 leaders.")
    parser.add_argument("--selector", default="foresight")
    parser.add_argument("-p", type=float, default=0.1)
    given = parser.parse_args()
    networks = [load(each) for each in given.files]
    networks = networks or [Network.from_networkx(graph, name) for name, graph in made().items()]
    columns = ("held", "high / low", "error", "above the people")
    print(f"| | {' | '.join(f'{each}, {what}' for each in POPULATIONS for what in columns)} |")
    print("|---" * (1 + len(POPULATIONS) * len(columns)) + "|")
    for network in networks:
        print(
            f"| {network.name} | {' | '.join(covered(network, given.studies, given.selector, given.p))} |", flush=True
        )


if __name__ == "__main__":
    main()
