"""The same sweep on a real Ray of two worker processes: same results, and a killed worker costs one attempt."""

import os
import socket
import sys
import threading
from http.server import HTTPServer, SimpleHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from experiment_cases import PATIENCE, Square, Stubborn, Waiting, eventually, pids, run_and_kill_a_worker

from claim.errors import InputError
from claim.jobs import Store, Sweep
from claim.jobs.local import LocalBackend
from claim.jobs.ray import RayBackend

# Looked for, not imported: what Ray takes from the environment it takes when it is imported
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")


@pytest.fixture
def workers_find_these_tests(monkeypatch):
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)


@needs_ray
@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_these_tests")
def test_a_worker_killed_in_the_middle_costs_one_attempt_and_results_equal_local_ones(tmp_path):
    on_ray, here = tmp_path / "ray", tmp_path / "local"
    jobs = [Waiting(1), Waiting(2), Square(3, needs=(Waiting(1),)), Stubborn(4), Stubborn(5, failures=99), Square(6)]
    store = Store(on_ray)
    going = Sweep(jobs, store, RayBackend(on_ray, workers=2))
    run_and_kill_a_worker(going, on_ray)
    Store(here)
    (here / "go").touch()
    beside = Sweep(jobs, Store(here), LocalBackend(2, here))
    beside.run()
    assert going.failures == beside.failures == {"stubborn 5": "ValueError: not this time (3 attempts)"}
    assert len(pids(on_ray, 1)) == 2
    assert len(pids(on_ray, 2)) == 1
    assert {path.name: path.read_bytes() for path in (on_ray / "jobs").iterdir()} == {
        path.name: path.read_bytes() for path in (here / "jobs").iterdir()
    }


@pytest.fixture
def cluster_on_this_machine(tmp_path):
    """The address of a Ray that somebody started from the command line."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    ray = str(Path(sys.executable).parent / "ray")
    with (tmp_path / "ray.log").open("w") as log:
        head = psutil.Popen(
            [ray, "start", "--head", "--block", f"--port={port}", "--num-cpus=1", "--include-dashboard=false"],
            stdout=log,
            stderr=log,
        )
    eventually(lambda: "--block" in (tmp_path / "ray.log").read_text())
    yield f"127.0.0.1:{port}"
    processes = [head, *head.children(recursive=True)]
    head.terminate()
    head.wait(PATIENCE)
    psutil.wait_procs(processes, PATIENCE)


@needs_ray
@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_these_tests")
def test_a_cluster_that_is_there_already_is_used(tmp_path, cluster_on_this_machine):
    backend = RayBackend(tmp_path, cluster_on_this_machine)
    assert backend.free() == 1
    job, store = Square(3, needs=(Square(2),)), Store(tmp_path)
    going = Sweep([job], store, backend)
    going.run()
    assert going.failures == {}
    assert store.load(job) == {"square": 49}


def test_without_ray_the_word_is_clear(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(InputError, match="needs Ray"):
        RayBackend(tmp_path)


@needs_ray
def test_a_cluster_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"no Ray cluster at 127\.0\.0\.1:1: Connection refused"):
        RayBackend(tmp_path, address="127.0.0.1:1")


@needs_ray
def test_another_program_at_the_address_is_one_line(tmp_path):
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(InputError, match="another program answers there"):
            RayBackend(tmp_path, address=f"127.0.0.1:{other.server_port}")
        other.shutdown()
