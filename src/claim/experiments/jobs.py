"""Jobs: independent pieces of work whose results follow from their settings alone.

A job's key is made from everything its result depends on. Whoever runs it, in whatever order and on whatever machine,
gets the same result, so that one that is on disk under its key need not be run again.
"""

import hashlib
import json
import os
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from claim.manifest import library_versions

RESULTS_VERSION = 2  # one more whenever a change of the code changes results: older ones are then run again
LIBRARIES = ("claim", "numpy", "scipy", "numba", "torch")

Result: TypeAlias = dict[str, Any]


class Job(Protocol):
    """One piece of work; a frozen dataclass that can be pickled."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """What people call it; no two jobs of a sweep have the same."""
        ...

    @property
    def effort(self) -> float:
        """About how many seconds it takes on one core; only the time left depends on it."""
        ...

    @property
    def needs(self) -> "tuple[Job, ...]":
        """The jobs whose results it starts from."""
        ...

    def identity(self) -> dict[str, Any]:
        """Everything the result depends on, apart from the needs, as plain data."""
        ...

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """Do it, from the results of the needs; the workspace keeps half-done work for the next attempt."""
        ...


@dataclass(frozen=True)
class Failed:
    """An attempt that came to nothing: why in one line, and the traceback if there is one."""

    reason: str
    details: str = ""


@cache
def key_of(job: Job) -> str:
    """The address of a job's result."""
    content = {
        "kind": type(job).__name__,
        "identity": job.identity(),
        "needs": [key_of(each) for each in job.needs],
        "versions": {"results": RESULTS_VERSION, **library_versions(LIBRARIES)},
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def attempt(job: Job, inputs: Sequence[Result], workspace: Path) -> Result | Failed:
    """Run a job on one thread, in whatever process this is; what goes wrong in it comes back as a failure."""
    from threadpoolctl import threadpool_limits

    os.environ["OMP_NUM_THREADS"] = "1"  # what numba's kernels go by
    try:
        with threadpool_limits(1):
            return job.run(inputs, workspace)
    except Exception as error:
        text = str(error).strip().splitlines()
        return Failed(f"{type(error).__name__}: {text[0] if text else 'no message'}", traceback.format_exc())


def with_needs(jobs: Sequence[Job]) -> list[Job]:
    """The jobs and everything they need, each once, needs first."""
    found: dict[str, Job] = {}

    def visit(job: Job) -> None:
        if key_of(job) not in found:
            for need in job.needs:
                visit(need)
            found[key_of(job)] = job

    for job in jobs:
        visit(job)
    return list(found.values())
