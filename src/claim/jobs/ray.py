"""The same jobs as tasks of a Ray cluster, one that is there or one on this machine."""

import logging
import os
import socket
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from claim.errors import InputError, install_command
from claim.jobs import PATIENCE, Failed, Job, Result, attempt

GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # how a gRPC client begins
SETTINGS_FRAME = 4  # and what the fourth byte of a gRPC server's answer says


class RayBackend:
    """One task a job and one core a task; the sweep tries a failed one again, as on local processes."""

    def __init__(self, workspace: Path, address: str | None = None, workers: int | None = None) -> None:
        self.workspace = workspace.resolve()
        self._ray = connect(address, workers)
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


def connect(address: str | None, workers: int | None) -> Any:
    """Ray, connected to the cluster at an address or to one that is started on this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    place = _host_and_port(address)
    if place is not None:
        _bring_token(place[0])
    try:
        import ray
    except ImportError as error:
        raise InputError(f"--backend ray needs Ray: {install_command('ray')}") from error
    try:
        if place is not None:
            _check_reachable(*place)
        own: dict[str, Any] = {"address": "local", "num_cpus": workers, "include_dashboard": False}
        settings = own if address is None else {"address": address}
        ray.init(**settings, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:
        where = "Ray does not start" if address is None else f"no Ray cluster at {address}"
        raise InputError(f"{where}: {_why(error)}") from error
    return ray


def _host_and_port(address: str | None) -> tuple[str, int] | None:
    """Host and port of an address; None for others, such as "auto"."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    return (host, int(port)) if host and port.isdecimal() else None


def _bring_token(host: str) -> None:
    """Have Ray send the token of this machine, if it has one, to a cluster on this machine, which asks for it."""
    with suppress(OSError), socket.socket() as own:
        own.bind((host, 0))  # no program can listen at the address of another machine
        if (Path.home() / ".ray" / "auth_token").exists():
            os.environ.setdefault("RAY_AUTH_MODE", "token")


def _check_reachable(host: str, port: int) -> None:
    """Find out at once whether Ray is there; it would try for minutes, and for ever where another program answers."""
    with socket.create_connection((host, port), timeout=10) as connection:
        connection.sendall(GREETING)
        answer = connection.recv(4)
    if answer[3:] != bytes([SETTINGS_FRAME]):
        raise ConnectionError("another program answers there (the dashboard has its own port)")


def _why(error: Exception) -> str:
    """What went wrong; under Ray's words about a connection may lie that it was refused for want of a token."""
    if "AuthenticationError" in "".join(traceback.format_exception(error)):
        return "it asks for a token; set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN unless ~/.ray/auth_token holds it"
    return getattr(error, "strerror", None) or (str(error).strip() or type(error).__name__).splitlines()[0]
