"""The same jobs as tasks of a Ray cluster, one that is there or one on this machine."""

import logging
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claim.errors import InputError
from claim.experiments.jobs import Failed, Job, Result, attempt

PATIENCE = 1.0  # seconds


class RayBackend:
    """One task a job and one core a task; who failed is tried again by the sweep, as on local processes."""

    def __init__(self, workspace: Path, address: str | None = None, workers: int | None = None) -> None:
        self.workspace = workspace.resolve()
        self._ray = _connect(address, workers)
        self._task = self._ray.remote(num_cpus=1, max_retries=0)(attempt)
        self._running: dict[Any, Job] = {}

    def free(self) -> int:
        """Cores of the cluster, as many as it has now, less the tasks that run."""
        return max(int(self._ray.cluster_resources().get("CPU", 0)) - len(self._running), 0)

    def submit(self, job: Job, inputs: Sequence[Result]) -> None:
        """Begin a task."""
        self._running[self._task.remote(job, list(inputs), self.workspace)] = job

    def wait(self) -> list[tuple[Job, Result | Failed]]:
        """Tasks that ended, well or not."""
        ended, _ = self._ray.wait(list(self._running), num_returns=1, timeout=PATIENCE)
        return [(self._running.pop(task), self._outcome(task)) for task in ended]

    def close(self) -> None:
        """End all tasks, and a cluster that was started for them."""
        for task in self._running:
            self._ray.cancel(task, force=True)
        self._ray.shutdown()

    def _outcome(self, task: Any) -> Result | Failed:
        try:
            return self._ray.get(task)  # type: ignore[no-any-return]
        except self._ray.exceptions.RayError as error:  # the worker or its machine died
            return Failed(f"{type(error).__name__}: {str(error).strip().splitlines()[0]}", str(error))


def _connect(address: str | None, workers: int | None) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise InputError("--backend ray needs Ray: pip install 'claim[ray]'") from error
    if address is not None:
        _knock(address)
    own: dict[str, Any] = {"address": "local", "num_cpus": workers, "include_dashboard": False}
    settings = own if address is None else {"address": address}
    try:
        ray.init(**settings, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InputError(f"no Ray cluster at {address}: {str(error).strip().splitlines()[0]}") from error
    return ray


def _knock(address: str) -> None:
    """Find out at once whether anybody is there; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):  # such as "auto"
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise InputError(f"no Ray cluster at {address}: {error.strerror or error}") from error
