"""Make the files that come with the software again: ``python tools/make_shipped.py [NAME ...]``.

Names are those of trained policies (VARIANT.FAMILY.BUDGET), of foresight models (foresight.FAMILY) and ``scout``;
without names, all are made. Policies are trained in runs/policies/NAME and continued there if they were interrupted;
the network that validated best is copied into the package.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "claim"
POLICIES = PACKAGE / "learning" / "policies"
FORESIGHT = PACKAGE / "selection" / "foresight" / "models"
SCOUT = PACKAGE / "discovery" / "policies" / "scout_weights.json"
RUNS = ROOT / "runs" / "policies"

FAMILIES = ("retweet", "animal", "zones", "all")
EPISODES = 1000
NAMES = [
    *(f"{variant}.{family}.5" for variant in ("claim", "geometric-dqn") for family in FAMILIES),
    *(f"claim.{family}.20" for family in FAMILIES),
    *(f"foresight.{family}" for family in (*FAMILIES, "free")),
    "scout",
]


def main(names: list[str]) -> None:
    """Make the files of some names, one after the other."""
    for unknown in set(names) - set(NAMES):
        sys.exit(f"{unknown} is not shipped (known: {', '.join(NAMES)})")
    for name in names or NAMES:
        print(name, flush=True)
        make(name)


def make(name: str) -> None:
    """Fit or train one of them and put its files into the package."""
    if name == "scout":
        run("claim.fitting.scout", str(SCOUT))
    elif name.startswith("foresight."):
        family = name.partition(".")[2]
        run("claim", "foresight", "train", "--family", family, "--out", str(FORESIGHT / f"{family}.json"))
    else:
        variant, family, budget = name.split(".")
        out = RUNS / name
        options = ["--variant", variant, "--family", family, "--budget", budget, "--seed", "0", "--out", str(out)]
        run("claim", "train", *options, "--episodes", str(EPISODES), "--resume")
        for ending in (".json", ".safetensors"):
            shutil.copy(out / f"policy{ending}", POLICIES / f"{name}{ending}")


def run(module: str, *arguments: str) -> None:
    """Run a module of the package."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
