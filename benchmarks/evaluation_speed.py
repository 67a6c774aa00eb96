"""A comparison of survey policies as a user runs it: 100 runs, 6 networks, 4 policies, from the command line."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Result

REAL = "israel,damascus,obama,assad,bhp,kcs"
GENERATED = "retweet-like,vole-like"
COMMAND = "evaluate --policies random,change,max-degree,degree+inverse --protocol field --runs 100 --seed 10"


def run() -> Result:
    networks = REAL if os.environ.get("CLAIM_DATA") else GENERATED
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*COMMAND.split(), "--networks", networks, "--json", str(Path(folder) / "evaluation.json")]
        first, second = (_seconds(arguments) for _ in range(2))
    row = {"networks": networks, "first run s": first, "second run s": second}
    return Result(f"claim {COMMAND}", "under a minute, start of the program included", [row])


def _seconds(arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "claim", *arguments], check=True, capture_output=True)
    return time.perf_counter() - began
