"""Runs the jobs of a grid on a backend: whatever is ready, each once, with another try for those that fail."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from claim.experiments.jobs import Failed, Job, Result, key_of, with_needs
from claim.experiments.store import Store

ATTEMPTS = 3
PATIENCE = 1.0  # seconds


class Backend(Protocol):
    """Where jobs run."""

    def free(self) -> int:
        """How many more jobs can be taken now."""
        ...

    def submit(self, job: Job, inputs: Sequence[Result]) -> None:
        """Begin a job."""
        ...

    def wait(self) -> list[tuple[Job, Result | Failed]]:
        """Wait until something has ended, or for about a second; says what."""
        ...

    def close(self) -> None:
        """End everything that is still running."""
        ...


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
    failures: dict[str, str] = field(default_factory=dict)  # by the job's name
    _waiting: list[Job] = field(init=False)
    _running: dict[str, Job] = field(default_factory=dict, init=False)
    _done: set[str] = field(default_factory=set, init=False)
    _attempts: dict[str, int] = field(default_factory=dict, init=False)
    _effort_before: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._all = with_needs(self.jobs)
        self._done = {key_of(job) for job in self._all if self.store.load(job) is not None}
        self._waiting = [job for job in self._all if key_of(job) not in self._done]
        self._effort_before = self._effort_done()

    def run(self) -> None:
        """Run everything that is not done; afterwards ``failures`` says what could not be done, and why."""
        self._began = time.monotonic()
        self.watch(self._standing())
        try:
            while self._begin_ready():
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
        self._drop_hopeless()
        while (job := self._next()) is not None and self.backend.free() > 0:
            self._waiting.remove(job)
            self._running[key_of(job)] = job
            self.backend.submit(job, [self._result(need) for need in job.needs])
        if job is not None and not self._running:
            time.sleep(PATIENCE)  # a cluster that has no core just now
        return job is not None or bool(self._running)

    def _next(self) -> Job | None:
        """What to begin next, if anything is ready and there is time."""
        return None if self._time_is_up() else next((each for each in self._waiting if self._ready(each)), None)

    def _end(self, job: Job, outcome: Result | Failed) -> None:
        key = key_of(job)
        del self._running[key]
        if not isinstance(outcome, Failed):
            self.store.save(job, outcome)
            self._done.add(key)
            return
        self._attempts[key] = self._attempts.get(key, 0) + 1
        self.store.log(
            job=job.name, key=key, attempt=self._attempts[key], reason=outcome.reason, details=outcome.details
        )
        if self._attempts[key] < ATTEMPTS:
            self._waiting.insert(0, job)
        else:
            self.failures[job.name] = f"{outcome.reason} ({ATTEMPTS} attempts)"

    def _drop_hopeless(self) -> None:
        """What needs a failed job fails with it; needs come first, so one pass is enough."""
        for job in list(self._waiting):
            lost = next((need.name for need in job.needs if need.name in self.failures), None)
            if lost is not None:
                self._waiting.remove(job)
                self.failures[job.name] = f"needs {lost}"

    def _ready(self, job: Job) -> bool:
        return all(key_of(need) in self._done for need in job.needs)

    def _result(self, job: Job) -> Result:
        result = self.store.load(job)
        if result is None:
            raise RuntimeError(f"the result of {job.name} has gone from {self.store.path(job)}")
        return result

    def _time_is_up(self) -> bool:
        return self.seconds is not None and time.monotonic() - self._began >= self.seconds

    def _effort_done(self) -> float:
        return sum(job.effort for job in self._all if key_of(job) in self._done)

    def _standing(self) -> Standing:
        done, total = self._effort_done(), sum(job.effort for job in self._all)
        now = done - self._effort_before
        left = (time.monotonic() - self._began) / now * (total - done) if now else None
        share = done / total if total else 1.0
        return Standing(len(self._done), len(self._all), share, tuple(job.name for job in self._running.values()), left)
