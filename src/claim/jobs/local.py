"""Jobs on processes of this machine; one that dies takes only its own job with it."""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import cast

import cloudpickle

from claim.jobs import PATIENCE, Failed, Job, Result, attempt

MOST_ON_WINDOWS = 60  # processes that it can wait for at once


class LocalBackend:
    """As many processes as asked for, started when needed and used again."""

    def __init__(self, workers: int, workspace: Path) -> None:
        self.workspace = workspace
        self._most = min(workers, MOST_ON_WINDOWS) if sys.platform == "win32" else workers
        self._idle: list[tuple[Connection, SpawnProcess]] = []
        self._busy: dict[Connection, tuple[SpawnProcess, Job]] = {}

    def free(self) -> int:
        """Processes without a job, started or not."""
        return self._most - len(self._busy)

    def submit(self, job: Job, inputs: Sequence[Result]) -> None:
        """Hand a job to an idle process."""
        line, process = self._idle.pop() if self._idle else _start()
        self._busy[line] = process, job
        with suppress(OSError):  # it died while it was idle; the next wait says so
            line.send_bytes(cloudpickle.dumps((job, list(inputs), self.workspace)))

    def wait(self) -> list[tuple[Job, Result | Failed]]:
        """Jobs that ended, well or not."""
        ended: list[tuple[Job, Result | Failed]] = []
        for line in cast("list[Connection]", wait(list(self._busy), PATIENCE)):
            process, job = self._busy.pop(line)
            try:
                ended.append((job, line.recv()))
                self._idle.append((line, process))
            except (EOFError, OSError):
                process.join()
                code = process.exitcode or 0
                ending = f"signal {-code}" if code < 0 else f"exit code {code}"
                ended.append((job, Failed(f"its process ended with {ending}")))
        return ended

    def close(self) -> None:
        """End all processes."""
        workers = [*self._idle, *((line, process) for line, (process, _) in self._busy.items())]
        for _, process in workers:
            process.kill()
        for line, process in workers:
            process.join()
            line.close()
        self._idle, self._busy = [], {}


def _start() -> tuple[Connection, SpawnProcess]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with _interrupts_ignored(), _without_main():
        process.start()
    theirs.close()  # so that the line ends when the process does
    return ours, process


def _serve(line: Connection) -> None:
    """Worker loop: run the jobs that come through the connection and send back their results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the process that started us ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        while True:
            line.send(attempt(*pickle.loads(line.recv_bytes())))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _end_with_parent() -> None:
    """End work whose result is no longer awaited: the next sweep would begin it a second time."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


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
def _interrupts_ignored() -> Iterator[None]:
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
