"""Many runs at once: jobs of some runs each, in this process, on local processes or on a Ray cluster."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from claim.errors import ClaimError
from claim.evaluation.runs import Method, StudySettings, run_studies
from claim.jobs import BackendName, Result, Store, Sweep, backend_named, one_thread
from claim.networks import Network
from claim.networks.network import FloatArray

RUNS_PER_JOB = 25
FEWEST_FOR_PROCESSES = 100  # runs; below that starting processes takes longer than it saves

Progress: TypeAlias = Callable[[int, int], None]  # runs done, runs in all


@dataclass(frozen=True, eq=False)
class Job:
    """Some runs of one method on one network."""

    network: Network
    method: Method
    settings: StudySettings
    starts: tuple[tuple[int, list[int]], ...]
    checkpoints: tuple[int, ...]
    needs: tuple[()] = ()

    @property
    def name(self) -> str:
        """What it is called in messages."""
        policy, selector, protocol = self.method.names
        runs = f"runs {self.starts[0][0]} to {self.starts[-1][0]}"
        return f"{policy} + {selector} on {self.network.name} ({protocol}, {runs})"

    @property
    def effort(self) -> float:
        """The number of runs; only relative to that of other jobs."""
        return float(len(self.starts))

    def identity(self) -> dict[str, Any]:
        """Its name: within one comparison no two jobs have the same."""
        return {"name": self.name}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """People reached, discovered and drawn as new people or start people in each run, at each checkpoint."""
        outcomes = []
        for _, found in run_studies(self.network, self.method, self.settings, self.starts, self.checkpoints):
            outcomes.append([(each.influence, each.discovered, each.new, *each.shares) for each in found])
        return {"outcomes": outcomes}


@dataclass(frozen=True)
class ComparedStudies:
    """Every method on every network, from the start sets of each network."""

    networks: list[Network]
    methods: list[Method]
    settings: StudySettings
    starts: dict[str, list[list[int]]]  # by network

    def jobs(self, network: Network, method: Method, checkpoints: Sequence[int]) -> list[Job]:
        """The jobs of one method on one network."""
        numbered = list(enumerate(self.starts[network.name]))
        return [
            Job(network, method, self.settings, tuple(numbered[i : i + RUNS_PER_JOB]), tuple(checkpoints))
            for i in range(0, len(numbered), RUNS_PER_JOB)
        ]


def run_batches(
    studies: ComparedStudies,
    checkpoints: Sequence[int],
    workers: int | None = None,
    progress: Progress | None = None,
    backend: BackendName = "local",
    address: str | None = None,
) -> list[FloatArray]:
    """People reached, discovered and new, and shares of groups (runs, checkpoints, 3 + groups) by each method on each
    network.

    They are the same on any number of workers and on any backend.
    """
    batches = [studies.jobs(*each, checkpoints) for each in product(studies.networks, studies.methods)]
    jobs = [job for batch in batches for job in batch]
    total, update = sum(len(job.starts) for job in jobs), progress or (lambda done, total: None)
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        if backend == "local" and (total < FEWEST_FOR_PROCESSES or (workers or os.cpu_count()) == 1):
            for number, job in enumerate(jobs):
                update(sum(len(each.starts) for each in jobs[:number]), total)
                with one_thread():
                    store.save(job, job.run((), store.folder))
            update(total, total)
        else:
            place = backend_named(backend, store.folder, workers, address)
            sweep = Sweep(jobs, store, place, lambda at: update(round(at.share * total), total), stop_at_failure=True)
            sweep.run()
            if sweep.failures:
                raise _error(sweep)
        return [np.concatenate([(store.load(job) or {})["outcomes"] for job in batch]) for batch in batches]


def _error(sweep: Sweep) -> Exception:
    """What to raise for a failed job: its own error, or that its process was killed."""
    failure = sweep.last_failure
    assert failure is not None
    if failure.final:
        return ClaimError(failure.reason)
    if failure.details:
        return RuntimeError(f"{next(iter(sweep.failures))} failed\n{failure.details}")
    return ClaimError(f"a worker process was killed ({failure.reason}), perhaps for want of memory: try --workers 1")
