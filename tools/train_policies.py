"""Train the policies that come with the software: ``python tools/train_policies.py [NAME ...]``.

Each is one ``claim train`` into runs/policies/NAME, taken up where it stands if it was cut off; the network that
validated best is then put beside the package's others. Names are VARIANT.FAMILY.BUDGET; without names, all are trained.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "src" / "claim" / "learning" / "policies"
RUNS = ROOT / "runs" / "policies"

VARIANTS = ("claim", "geometric-dqn")
FAMILIES = ("retweet", "animal", "zones", "all")
EPISODES = {5: 1000, 20: 1000}
POLICIES = [
    *(f"{variant}.{family}.5" for variant in VARIANTS for family in FAMILIES),
    *(f"claim.{family}.20" for family in FAMILIES),
]


def main(names: list[str]) -> None:
    """Train and place the policies of some names, one after the other."""
    for unknown in set(names) - set(POLICIES):
        sys.exit(f"{unknown} is not shipped (known: {', '.join(POLICIES)})")
    for name in names or POLICIES:
        print(name, flush=True)
        train(name)


def train(name: str) -> None:
    """Train one policy and put it beside the others."""
    variant, family, budget = name.split(".")
    out = RUNS / name
    options = ["--variant", variant, "--family", family, "--budget", budget, "--seed", "0", "--out", str(out)]
    episodes = ["--episodes", str(EPISODES[int(budget)]), "--resume"]
    subprocess.run([sys.executable, "-m", "claim", "train", *options, *episodes], check=True)
    SHIPPED.mkdir(exist_ok=True)
    for ending in (".json", ".safetensors"):
        shutil.copy(out / f"policy{ending}", SHIPPED / f"{name}{ending}")


if __name__ == "__main__":
    main(sys.argv[1:])
