"""The same sweep on a real Ray of two worker processes: same results, and a killed worker costs one attempt."""

import os
import signal
import threading
from pathlib import Path

import pytest
from experiment_cases import Square, Stubborn, Waiting, eventually, pids

from claim.errors import InputError
from claim.experiments.cluster import RayBackend
from claim.experiments.local import LocalBackend
from claim.experiments.store import Store
from claim.experiments.sweep import Sweep


@pytest.fixture
def workers_find_these_tests(monkeypatch):
    pytest.importorskip("ray", reason="needs Ray: pip install 'claim[ray]'")
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.mark.slow
@pytest.mark.usefixtures("workers_find_these_tests")
def test_a_worker_killed_in_the_middle_costs_one_attempt_and_results_equal_local_ones(tmp_path):
    on_ray, here = tmp_path / "ray", tmp_path / "local"
    jobs = [Waiting(1), Waiting(2), Square(3, needs=(Waiting(1),)), Stubborn(4), Stubborn(5, failures=99), Square(6)]
    store = Store(on_ray)
    going = Sweep(jobs, store, RayBackend(on_ray, workers=2))

    def kill_one():
        victim = eventually(lambda: pids(on_ray, 1))[0]
        assert eventually(lambda: pids(on_ray, 2)) != [victim]
        os.kill(victim, signal.SIGKILL)
        eventually(lambda: len(pids(on_ray, 1)) == 2)
        (on_ray / "go").touch()

    killer = threading.Thread(target=kill_one)
    killer.start()
    going.run()
    killer.join()
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


def test_without_ray_the_word_is_clear(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(InputError, match="needs Ray"):
        RayBackend(tmp_path)


def test_a_cluster_that_is_not_there_is_one_line(tmp_path):
    pytest.importorskip("ray", reason="needs Ray: pip install 'claim[ray]'")
    with pytest.raises(InputError, match=r"no Ray cluster at 127\.0\.0\.1:1: Connection refused"):
        RayBackend(tmp_path, address="127.0.0.1:1")
