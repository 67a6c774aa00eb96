"""Many runs at once: independent jobs on local processes, the same results on any number of them."""

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass

from claim.errors import ClaimError
from claim.evaluation.runs import Contender, Outcome, Rules, play_runs
from claim.networks import Network

RUNS_PER_JOB = 25
FEWEST_FOR_PROCESSES = 100  # runs; below that starting processes takes longer than it saves

Progress = Callable[[int, int], None]  # runs done, runs in all


@dataclass(frozen=True)
class Job:
    """Some runs of one contender on one network."""

    network: Network
    contender: Contender
    rules: Rules
    starts: tuple[tuple[int, list[int]], ...]
    checkpoints: tuple[int, ...]

    def play(self) -> list[list[Outcome]]:
        """Play the runs; in whatever process this happens."""
        return play_runs(self.network, self.contender, self.rules, self.starts, self.checkpoints)


def split(
    network: Network, contender: Contender, rules: Rules, starts: Sequence[list[int]], checkpoints: Sequence[int]
) -> list[Job]:
    """The jobs of one contender on one network."""
    numbered = list(enumerate(starts))
    return [
        Job(network, contender, rules, tuple(numbered[i : i + RUNS_PER_JOB]), tuple(checkpoints))
        for i in range(0, len(numbered), RUNS_PER_JOB)
    ]


def play_all(
    jobs: Sequence[Job], workers: int | None = None, progress: Progress | None = None
) -> list[list[list[Outcome]]]:
    """The outcomes of all jobs, in order."""
    total = sum(len(job.starts) for job in jobs)
    results: list[list[list[Outcome]]] = []
    done = 0
    try:
        for job, outcomes in zip(jobs, _results(jobs, total, workers), strict=True):
            results.append(outcomes)
            done += len(job.starts)
            if progress is not None:
                progress(done, total)
    except BrokenProcessPool as error:
        raise ClaimError("a worker process was killed, perhaps for want of memory: try --workers 1") from error
    return results


def play_batches(
    batches: Sequence[Sequence[Job]], workers: int | None = None, progress: Progress | None = None
) -> list[list[list[Outcome]]]:
    """The outcomes of all runs of each batch of jobs."""
    results = iter(play_all([job for batch in batches for job in batch], workers, progress))
    return [[outcomes for _ in batch for outcomes in next(results)] for batch in batches]


def _results(jobs: Sequence[Job], total: int, workers: int | None) -> Iterator[list[list[Outcome]]]:
    workers = workers or os.cpu_count() or 1
    if workers == 1 or total < FEWEST_FOR_PROCESSES:
        return (job.play() for job in jobs)
    from joblib import Parallel, delayed

    # A worker that has compiled kernels and loaded PyTorch has grown: it is replaced, and no job is lost.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    pool = Parallel(n_jobs=workers, return_as="generator")
    with interrupts_ignored():
        return pool(delayed(Job.play)(job) for job in jobs)  # type: ignore[no-any-return]


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Processes started in here never hear Ctrl-C, at which each would print a traceback of its own.

    This process hears it again as soon as they are started, and ends them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what becomes of signals
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
