"""Make the files that come with the software again: ``python tools/make_shipped.py [--policies DIR] [NAME ...]``.

Names are those of trained policies (VARIANT.FAMILY.BUDGET), ``foresight.any`` and ``scout``; without names, all are
made. Policies of several seeds are trained in runs/policies/NAME.SEED, and continued there if they were interrupted.
``--policies`` takes them from the folder ``policies`` of a run of ``claim experiment paper`` instead. On start sets of
their training networks that no training used, they are compared with chance. The best of them is copied into the
package, and its card says what the comparison of all of them found.
"""

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "claim"
POLICIES = PACKAGE / "learning" / "policies"
FORESIGHT = PACKAGE / "selection" / "foresight" / "models"
SCOUT = PACKAGE / "discovery" / "policies"
RUNS = ROOT / "runs" / "policies"

FAMILIES = ("retweet", "animal", "zones", "all")
SEEDS = {"claim": 5, "paper-claim": 3, "geometric-dqn": 3, "goal-dqn": 1, "her": 1}
SEEDS_OF_20 = 3  # of claim for 20 surveys
EPISODES = {"5": 2560, "20": 320}  # of claim by budget; one for 20 surveys takes ten times as long
EPISODES_OF_ALL = 2  # times as many, on fifteen networks instead of one or two
START_SETS = 400
SEED = 10_000  # of their start sets
NAMES = [
    *(f"claim.{family}.{budget}" for budget in (5, 20) for family in FAMILIES),
    *(f"{variant}.{family}.5" for variant in SEEDS if variant != "claim" for family in ("retweet", "animal")),
    "foresight.any",
    "scout",
]


def main() -> None:
    """Make the files of some names, one after the other."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    arguments.add_argument("--policies", type=Path, metavar="DIR", help="trained policies of all seeds")
    given = arguments.parse_args()
    for unknown in set(given.names) - set(NAMES):
        arguments.error(f"{unknown} is not shipped")
    for name in given.names or NAMES:
        print(name, flush=True)
        make(name, given.policies)


def make(name: str, policies: Path | None) -> None:
    """Fit or train one of them and put its files into the package."""
    if name == "scout":
        run("claim.fitting.scout", str(SCOUT))
    elif name.startswith("foresight."):
        run("claim", "foresight", "train", "--out", str(FORESIGHT / "any.json"))
    else:
        variant, family, budget = name.split(".")
        seeds = SEEDS[variant] if budget == "5" else SEEDS_OF_20
        if policies is not None:
            cards = [policies / f"{name}.seed{seed}.json" for seed in range(seeds)]
        else:
            cards = [trained(variant, family, budget, seed) for seed in range(seeds)]
        ship(name, family, cards)


def trained(variant: str, family: str, budget: str, seed: int) -> Path:
    """Train one policy; returns its card."""
    out = RUNS / f"{variant}.{family}.{budget}.{seed}"
    options = ["--family", family, "--budget", budget, "--seed", str(seed), "--out", str(out), "--resume"]
    if variant != "claim":
        options += ["--preset", "paper", "--variant", variant.removeprefix("paper-")]
    if variant == "claim":
        options += ["--episodes", str(EPISODES[budget] * (EPISODES_OF_ALL if family == "all" else 1))]
    run("claim", "train", *options)
    return out / "policy.json"


def ship(name: str, family: str, cards: list[Path]) -> None:
    """Compare the policies of all seeds with chance, and copy the best of them with what was found."""
    from claim.learning.policy import load_policy
    from claim.learning.validation import BASELINES, Validation, against_chance, means, score
    from claim.networks.catalogue import load_all, networks_given

    networks, policies = load_all(networks_given(family, "train")), [load_policy(card) for card in cards]
    settings = replace(policies[0].settings, validation_starts=START_SETS, seed=SEED)
    found = against_chance(policies, networks, settings)
    validation = Validation(networks, settings)
    chance = means(validation.reached(BASELINES[0]))
    best = int(np.argmax([score(means(validation.reached(policy)), chance) for policy in policies]))
    print(f"{name}: {found}, best seed {best}", flush=True)
    card = json.loads(cards[best].read_text(encoding="utf-8")) | {"beats_chance": found}
    (POLICIES / f"{name}.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    shutil.copy(cards[best].with_suffix(".safetensors"), POLICIES / f"{name}.safetensors")


def run(module: str, *arguments: str) -> None:
    """Run a module of the package."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)


if __name__ == "__main__":
    main()
