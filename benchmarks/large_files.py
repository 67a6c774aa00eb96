"""Edge lists of 10^6 and 10^7 ties, plain and packed: seconds and peak memory of reading them, and the binary form.

Each measurement has a process of its own. ``growth`` is the exponent of the processor time over the number of ties.
CLAIM_TIES is the largest number of ties (10^7 unless given).
"""

import gzip
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from measure import Result, peak_megabytes

from claim.networks import load
from claim.networks.formats import binary

SMALLEST = 1_000_000
WARM_UP = 300_000  # ties: enough that all loops are compiled
PACKED = {"read gzip": ".gz", "read zstd": ".zst"}
STEPS = ("read", *PACKED, "load .claimnet")
TARGET = "growth at most 1.1; the binary form in less than 1 s"


def run() -> Result:
    result = Result("Large edge lists, processor time", TARGET)
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        largest = int(float(os.environ.get("CLAIM_TIES", "1e7")))
        for ties in (WARM_UP, *(SMALLEST * 10**i for i in range(int(math.log10(largest / SMALLEST)) + 1))):
            path = Path(folder) / f"{ties}.edges"
            _write(path, ties)
            rows.append([_in_own_process(step, path) for step in STEPS])
            for each in path.parent.iterdir():
                each.unlink()
        for fewer, more in pairwise(rows[1:]):
            for before, after in zip(fewer, more, strict=True):
                after["growth"] = math.log10(after["seconds"] / before["seconds"])
        result.rows = [row for of_size in rows[1:] for row in of_size]
    return result


def _write(path: Path, ties: int) -> None:
    """Ties between random people, five for each person."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for begin in range(0, ties, 100_000):
            pairs = rng.integers(0, ties // 5, (min(100_000, ties - begin), 2))
            file.write("".join(f"{one} {other}\n" for one, other in pairs.tolist()))


def _pack(path: Path, ending: str) -> Path:
    """The same file, packed."""
    packed = path.with_name(path.name + ending)
    with path.open("rb") as plain, packed.open("wb") as file:
        if ending == ".gz":
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packing:
                shutil.copyfileobj(plain, packing, 1 << 20)
        else:
            zstandard.ZstdCompressor(level=1).copy_stream(plain, file)
    return packed


def _in_own_process(step: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, str(Path(__file__)), step, str(path)]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def measure(step: str, path: Path) -> dict[str, Any]:
    """One step on one file; the first one leaves the binary form for the second."""
    mapped = path.with_suffix(binary.ENDING)
    source = mapped if step == STEPS[-1] else _pack(path, PACKED[step]) if step in PACKED else path
    began = time.process_time()
    network = load(source)
    seconds = time.process_time() - began
    peak = peak_megabytes()
    if step == "read":
        binary.write(network, mapped)
    return {"step": step, "ties": network.m, "seconds": seconds, "growth": None, "peak MB": peak}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
