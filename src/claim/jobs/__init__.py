"""Jobs that can be killed and continued: what each needs, where results are kept, and the sweep over all."""

import hashlib
import json
import os
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from claim.errors import ClaimError, InputError
from claim.io.files import locked, make_folder, write_whole
from claim.provenance import library_versions

RESULTS_VERSION = 2  # one more whenever a change of the code changes results: older ones are then run again
LIBRARIES = ("numpy", "scipy", "numba", "torch")

ATTEMPTS = 3
PATIENCE = 1.0  # seconds to wait for something to end

Result: TypeAlias = dict[str, Any]
BackendName: TypeAlias = Literal["local", "ray"]


class Job(Protocol):
    """One piece of work; a frozen dataclass that can be pickled."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """What people call it; no two jobs of a sweep have the same."""

    @property
    def effort(self) -> float:
        """About how many seconds it takes on one core; only the time left depends on it."""

    @property
    def needs(self) -> "tuple[Job, ...]":
        """The jobs whose results it starts from."""

    def identity(self) -> dict[str, Any]:
        """Everything the result depends on, apart from the needs, as plain data."""

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """Do it, from the results of the needs; the workspace keeps half-done work for the next attempt."""


@dataclass(frozen=True)
class Failed:
    """A failed attempt: why in one line, the traceback if there is one, and whether another attempt is no use."""

    reason: str
    details: str = ""
    final: bool = False


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
    """Run a job on one thread, in this process; an exception comes back as a failure."""
    os.environ["OMP_NUM_THREADS"] = "1"  # what numba's kernels go by
    try:
        with one_thread():
            return job.run(inputs, workspace)
    except ClaimError as error:
        return Failed(str(error), final=True)
    except Exception as error:
        text = str(error).strip().splitlines()
        return Failed(f"{type(error).__name__}: {text[0] if text else 'no message'}", traceback.format_exc())


def one_thread() -> AbstractContextManager[object]:
    """Keeps linear algebra on one thread: the last digits of its results depend on their number."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # it comes with the extra `learning`, as do the libraries that start threads
        return nullcontext()
    return threadpool_limits(1)  # type: ignore[no-any-return]


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


class Store:
    """The folder of a sweep: ``jobs/<key>.json`` for results, ``log.jsonl`` for what went wrong."""

    def __init__(self, folder: Path, revision: Any = None) -> None:
        self.folder, self.revision = folder, revision
        make_folder(folder / "jobs")

    def path(self, job: Job) -> Path:
        """Where a job's result is or will be."""
        return self.folder / "jobs" / f"{key_of(job)}.json"

    def load(self, job: Job) -> Result | None:
        """The result of a job, if it is there and whole."""
        record = self.record(job)
        return None if record is None else record["result"]

    def record(self, job: Job) -> dict[str, Any] | None:
        """The result of a job with the record of how it came about."""
        try:
            record: dict[str, Any] = json.loads(self.path(job).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and record.get("result") else None

    def save(self, job: Job, result: Result) -> None:
        """Keep a result."""
        record = {"name": job.name, "identity": job.identity(), "git": self.revision, "result": result}
        write_whole(self.path(job), json.dumps(record, allow_nan=False) + "\n")

    def log(self, **entry: Any) -> None:
        """One more line of what went wrong."""
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def locked(self) -> AbstractContextManager[None]:
        """Keep a second sweep out of the folder."""
        return locked(self.folder, "another experiment is at work in this folder")


class Backend(Protocol):
    """Where jobs run."""

    def free(self) -> int:
        """How many more jobs can be taken now."""

    def submit(self, job: Job, inputs: Sequence[Result]) -> None:
        """Begin a job."""

    def wait(self) -> list[tuple[Job, Result | Failed]]:
        """Wait until something has ended, or for about a second; says what."""

    def close(self) -> None:
        """End everything that is still running."""


def backend_named(name: BackendName, workspace: Path, workers: int | None, address: str | None) -> Backend:
    """Local processes, by default as many as there are cores, or tasks of the Ray cluster at an address."""
    if name == "ray":
        from claim.jobs.ray import RayBackend

        return RayBackend(workspace, address, workers)
    if name != "local":
        raise InputError(f"backend must be local or ray, got {name!r}")
    from claim.jobs.local import LocalBackend

    return LocalBackend(workers or os.cpu_count() or 1, workspace)


@dataclass(frozen=True)
class Standing:
    """How far a sweep is."""

    done: int
    total: int
    share: float  # of the effort
    running: tuple[str, ...]
    seconds_left: float | None  # None: too early to say


Watch = Callable[[Standing], None]


@dataclass
class Sweep:
    """All jobs of a grid and what they need."""

    jobs: Sequence[Job]
    store: Store
    backend: Backend
    watch: Watch = lambda standing: None
    seconds: float | None = None  # after that many no job is begun
    stop_at_failure: bool = False
    failures: dict[str, str] = field(default_factory=dict)  # by the job's name
    last_failure: Failed | None = None

    def __post_init__(self) -> None:
        self._all = with_needs(self.jobs)
        self._running: dict[str, Job] = {}
        self._attempts = Counter[str]()
        self._done = {key_of(job) for job in self._all if self.store.load(job) is not None}
        self._waiting = [job for job in self._all if key_of(job) not in self._done]
        self._effort_before = self._effort_done()

    def run(self) -> None:
        """Run everything that is not done; afterwards ``failures`` says what could not be done, and why."""
        self._began = time.monotonic()
        self.watch(self._standing())
        try:
            while not (self.stop_at_failure and self.failures) and self._begin_ready():
                for job, outcome in self.backend.wait() if self._running else ():
                    self._end(job, outcome)
                self.watch(self._standing())
        finally:
            self.backend.close()

    @property
    def missing(self) -> int:
        """How many jobs have no result."""
        return len(self._all) - len(self._done)

    def _begin_ready(self) -> bool:
        """Hand out what is ready; False once nothing is running and nothing more will be."""
        self._fail_dependents()
        while (job := self._next()) is not None and self.backend.free() > 0:
            self._waiting.remove(job)
            self._running[key_of(job)] = job
            self.backend.submit(job, [self.store.load(need) or {} for need in job.needs])
        if job is not None and not self._running:
            time.sleep(PATIENCE)  # a cluster that has no core just now
        return job is not None or bool(self._running)

    def _next(self) -> Job | None:
        """The next job that is ready, if there is time left."""
        if self.seconds is not None and time.monotonic() - self._began >= self.seconds:
            return None
        return next((job for job in self._waiting if all(key_of(need) in self._done for need in job.needs)), None)

    def _end(self, job: Job, outcome: Result | Failed) -> None:
        key = key_of(job)
        del self._running[key]
        if not isinstance(outcome, Failed):
            self.store.save(job, outcome)
            self._done.add(key)
            return
        self._attempts[key] += 1
        reason, attempt = outcome.reason, self._attempts[key]
        self.store.log(job=job.name, key=key, attempt=attempt, reason=reason, details=outcome.details)
        if attempt < ATTEMPTS and not outcome.final:
            self._waiting.insert(0, job)
        else:
            self.failures[job.name] = reason if outcome.final else f"{reason} ({ATTEMPTS} attempts)"
            self.last_failure = outcome

    def _fail_dependents(self) -> None:
        """Fail the jobs that need a failed one; needs come first in the list, so one pass is enough."""
        for job in list(self._waiting):
            lost = next((need.name for need in job.needs if need.name in self.failures), None)
            if lost is not None:
                self._waiting.remove(job)
                self.failures[job.name] = f"needs {lost}"

    def _effort_done(self) -> float:
        return sum(job.effort for job in self._all if key_of(job) in self._done)

    def _standing(self) -> Standing:
        done, total = self._effort_done(), sum(job.effort for job in self._all)
        now = done - self._effort_before
        left = (time.monotonic() - self._began) / now * (total - done) if now else None
        share = done / total if total else 1.0
        return Standing(len(self._done), len(self._all), share, tuple(job.name for job in self._running.values()), left)
