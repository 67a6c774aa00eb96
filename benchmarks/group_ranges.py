"""How often the 90 % ranges of the expected reach in groups hold the truth, in simulated studies.

CLAIM_DATA=DIR python benchmarks/group_ranges.py
"""

import os
from pathlib import Path

import numpy as np

from claim.discovery import Simulation, policy_named, surveys
from claim.evaluation.runs import ReachEvaluator
from claim.networks import load
from claim.selection.foresight import FreeForesight, foresight_named

CASES = (
    ("antelope/antelope0.edges", "ethnicity"),
    ("antelope/antelope2.edges", "ethnicity"),
    ("antelope/antelope3.edges", "gender"),
    ("villages/village3.edges", "roof"),
)
RUNS, START, SURVEYS, LEADERS, P = 15, 5, 15, 10, 0.1
SMALLEST = 10  # people of a group that is counted


def measure(path: str, attribute: str, of_contacts: bool) -> None:
    """Print the share of ranges that hold the truth, and how wide they are."""
    network = load(Path(os.environ["CLAIM_DATA"]) / path)
    groups, evaluator = network.groups(attribute), ReachEvaluator(network, P, 4000, 5)
    found = []
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        start = rng.choice(network.n, START, replace=False)
        study = Simulation(network, start, rng, groups=groups, groups_of_contacts=of_contacts)
        for _ in surveys(study, policy_named("random"), SURVEYS, rng):
            pass
        selector: FreeForesight = foresight_named("foresight", p=P, people=network.n, fair="welfare:-2")
        leaders = selector.select(study.discovered, LEADERS, rng)
        whole = selector.expect(study.discovered, leaders, rng)
        true = evaluator.shares([study.people[who] for who in leaders], groups) * groups.sizes
        for name, each in selector.expect_groups(study.discovered, leaders, whole, rng).items():
            i = groups.names.index(name)
            if groups.sizes[i] >= SMALLEST:
                wide = each.high / max(each.low, 0.1)
                found.append((each.low <= true[i] <= each.high, each.reached / true[i], wide))
    held, ratio, width = np.array(found).T
    asked = "contacts asked for" if of_contacts else "surveyed people only"
    print(
        f"{path} {attribute}, {asked}: {100 * held.mean():.0f} % of {len(found)} ranges hold the truth; "
        f"expected / true {np.median(ratio):.2f}, high / low {np.median(width):.1f} (medians)",
        flush=True,
    )


if __name__ == "__main__":
    for path, attribute in CASES:
        for of_contacts in (False, True):
            measure(path, attribute, of_contacts)
