"""Jobs on processes of this machine; one that dies takes only its own job with it."""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType

import cloudpickle

from claim.jobs import Failed, Job, Result, attempt

PATIENCE = 1.0  # seconds


@dataclass
class Worker:
    """A process and the line to it."""

    process: SpawnProcess
    line: Connection
    job: Job | None = None

    def outcome(self) -> Result | Failed:
        """What it says of its job, or that it died over it."""
        try:
            return self.line.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            self.process.join()
            return Failed(f"its process ended with {_ending(self.process.exitcode)}")


class InlineBackend:
    """Jobs one after the other in this process; an exception ends the sweep."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self._ended: list[tuple[Job, Result | Failed]] = []

    def free(self) -> int:
        """One place, unless a result waits to be taken."""
        return 1 - len(self._ended)

    def submit(self, job: Job, inputs: Sequence[Result]) -> None:
        """Run a job to its end."""
        self._ended.append((job, job.run(inputs, self.workspace)))

    def wait(self) -> list[tuple[Job, Result | Failed]]:
        """The job that ended."""
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Nothing runs any more."""


class LocalBackend:
    """As many processes as asked for, started when needed and used again."""

    def __init__(self, workers: int, workspace: Path) -> None:
        self.workspace = workspace
        self._most = workers
        self._workers: list[Worker] = []

    def free(self) -> int:
        """Processes without a job, started or not."""
        return self._most - sum(each.job is not None for each in self._workers)

    def submit(self, job: Job, inputs: Sequence[Result]) -> None:
        """Hand a job to an idle process."""
        worker = next((each for each in self._workers if each.job is None), None) or self._start()
        worker.job = job
        with suppress(OSError):  # it died while it was idle; the next wait says so
            worker.line.send_bytes(cloudpickle.dumps((job, list(inputs), self.workspace)))

    def wait(self) -> list[tuple[Job, Result | Failed]]:
        """Jobs that ended, well or not."""
        busy = {each.line: each for each in self._workers if each.job is not None}
        ended: list[tuple[Job, Result | Failed]] = []
        for line in wait(list(busy), PATIENCE):
            worker = busy[line]  # type: ignore[index]
            assert worker.job is not None
            ended.append((worker.job, worker.outcome()))
            worker.job = None
            if not worker.process.is_alive():
                self._workers.remove(worker)
        return ended

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.line.close()
        self._workers = []

    def _start(self) -> Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with interrupts_ignored(), _without_main():
            process.start()
        theirs.close()  # so that the line ends when the process does
        worker = Worker(process, ours)
        self._workers.append(worker)
        return worker


def _serve(line: Connection) -> None:
    """A worker's life: take a job, say what came of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; whoever started us ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        while True:
            line.send(attempt(*pickle.loads(line.recv_bytes())))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _end_with_parent() -> None:
    """Not to go on with work nobody waits for, which the next sweep would begin a second time."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _ending(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


@contextmanager
def _without_main() -> Iterator[None]:
    """Processes started in here do not run the user's script again; its classes are sent with the jobs."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


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
