"""How wide ranges have to be on a network that foresight was not trained on: prints the table of docs/foresight.md.

`python benchmarks/ranges_left_out.py` leaves one training network after the other out of its family's model, and counts
how often ranges of that model, made wider by a factor, hold the true reach on the network left out. Takes half an hour
of one core. `CLAIM_DATA` names the folder of the networks.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from claim.networks import Network
from claim.selection.foresight.calibrate import judged_studies
from claim.selection.foresight.fitted import FittedForesight
from claim.selection.foresight.model import Model, read_model
from claim.selection.foresight.training import Plan, train_family, training_networks

FAMILIES = ("retweet", "animal")
PLAN = Plan(look_alikes=108)
BUDGETS, P, STUDIES = (5, 10, 20), 0.1, 200
FACTORS = (1.0, 1.1, 1.3, 1.5)


def without(left: Network, family: str, networks: list[Network]) -> Model:
    others = [network for network in networks if network is not left]
    with tempfile.TemporaryDirectory() as folder:
        return read_model(
            train_family(family, others, Path(folder) / "model.json", np.random.default_rng(5), plan=PLAN)
        )


def held(left: Network, family: str, model: Model) -> list[float]:
    """By factor, the share of studies in the range, averaged over the numbers of surveys."""
    assert model.ranges is not None
    rng, selectors = np.random.default_rng(9), {"fitted": FittedForesight(family=family, model=model)}
    judged = [judged_studies([(left, STUDIES)], selectors, rng, [budget], [P])["fitted"] for budget in BUDGETS]
    ranges = [replace(model.ranges, wider=factor) for factor in FACTORS]
    return [float(np.mean([each.covered(wide).held for each in judged])) for wide in ranges]


def main() -> None:
    print("| left out |" + "".join(f" {factor} |" for factor in FACTORS))
    print("|---" * (1 + len(FACTORS)) + "|")
    for family in FAMILIES:
        networks = training_networks(family)
        for left in networks:
            shares = held(left, family, without(left, family, networks))
            print(f"| {left.name} |" + "".join(f" {100 * share:.0f} % |" for share in shares), flush=True)


if __name__ == "__main__":
    main()
