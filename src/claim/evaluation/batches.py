"""Many runs at once: jobs of some runs each, in this process, on local processes or on a Ray cluster."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from claim.errors import ClaimError
from claim.evaluation.runs import Method, StudyResult, StudySettings, run_studies
from claim.jobs import BackendName, MemoryStore, Result, Sweep, backend_named
from claim.networks import Network

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
        """Run the studies."""
        found = []
        for _, outcomes in run_studies(self.network, self.method, self.settings, self.starts, self.checkpoints):
            found.append(outcomes)
        return {"outcomes": found}


def split(
    network: Network, method: Method, settings: StudySettings, starts: Sequence[list[int]], checkpoints: Sequence[int]
) -> list[Job]:
    """The jobs of one method on one network."""
    numbered = list(enumerate(starts))
    return [
        Job(network, method, settings, tuple(numbered[i : i + RUNS_PER_JOB]), tuple(checkpoints))
        for i in range(0, len(numbered), RUNS_PER_JOB)
    ]


def run_batches(
    batches: Sequence[Sequence[Job]],
    workers: int | None = None,
    progress: Progress | None = None,
    backend: BackendName = "local",
    address: str | None = None,
) -> list[list[list[StudyResult]]]:
    """The outcomes of all runs of each batch of jobs, the same on any number of workers and on any backend."""
    jobs = [job for batch in batches for job in batch]
    total, store = sum(len(job.starts) for job in jobs), MemoryStore()
    update = progress or (lambda done, total: None)
    if backend == "local" and (total < FEWEST_FOR_PROCESSES or (workers or os.cpu_count()) == 1):
        for number, job in enumerate(jobs):
            update(sum(len(each.starts) for each in jobs[:number]), total)
            store.save(job, job.run((), Path()))
        update(total, total)
    else:
        with TemporaryDirectory() as workspace:
            place = backend_named(backend, Path(workspace), workers, address)
            sweep = Sweep(jobs, store, place, lambda at: update(round(at.share * total), total), stop_at_failure=True)
            sweep.run()
        if sweep.failures:
            raise _error(sweep)
    return [[outcomes for job in batch for outcomes in (store.load(job) or {})["outcomes"]] for batch in batches]


def _error(sweep: Sweep) -> Exception:
    """What to raise for a failed job: its own error, or that its process was killed."""
    failure = sweep.last_failure
    assert failure is not None
    if failure.final:
        return ClaimError(failure.reason)
    if failure.details:
        return RuntimeError(f"{next(iter(sweep.failures))} failed\n{failure.details}")
    return ClaimError(f"a worker process was killed ({failure.reason}), perhaps for want of memory: try --workers 1")
