"""Reverse influence sampling on a real Ray: the result of one process, with any number of workers and if they die."""

import os
import signal
import time
from importlib.util import find_spec

import numpy as np
import pytest
from selection_cases import random_network

from claim.selection import select
from claim.selection.greedy import Candidates, Chosen, Task
from claim.selection.reverse import ReverseSampler, ReverseSets
from claim.selection.ris import ris

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray"),
    pytest.mark.slow,
]


@pytest.fixture
def many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claim.selection.ris.PIECE", 3000)


def chosen_by(holding) -> Chosen:  # type: ignore[no-untyped-def]
    network = random_network(300, 1500, directed=True, own=True)
    task = Task(network, Candidates.of(300, 5, must=[4]), 5, 0.1, 1, np.random.default_rng(0))
    return ris(task, holding=holding)


@pytest.mark.usefixtures("many_pieces")
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_same_leaders_and_guarantee_with_any_number_of_workers(workers: int) -> None:
    from claim.selection.cluster import RayReverseSets

    there = chosen_by(lambda sampler: RayReverseSets(sampler, workers=workers))
    assert there == chosen_by(ReverseSets)


@pytest.mark.usefixtures("many_pieces")
def test_killed_workers_change_nothing_and_only_their_sets_are_drawn_again() -> None:
    from claim.selection.cluster import RayReverseSets

    class Deadly(RayReverseSets):
        """Kills a worker before each kind of step, once."""

        def __init__(self, sampler: ReverseSampler) -> None:
            super().__init__(sampler, workers=2)
            self.waiting = ["draw", "begin", "follow", "cover", "meet"]
            self.again: list[int] = []

        def _each(self, step):  # type: ignore[no-untyped-def]
            name = next((name for name in self.waiting if name in step.__qualname__.split(".")), None)
            if name is not None and (name == "draw" or all(self._pieces)):
                self.waiting.remove(name)
                worker = self._workers[1]
                pid = self._ray.get(worker.process.remote())
                os.kill(pid, signal.SIGKILL)
                time.sleep(0.5)
            return super()._each(step)

        def _replace(self, i: int) -> None:
            self.again.append(i)
            super()._replace(i)

        def close(self) -> None:
            lived.append(self)
            super().close()

    lived: list[Deadly] = []
    assert chosen_by(Deadly) == chosen_by(ReverseSets)
    assert lived[0].waiting == []
    assert lived[0].again == [1] * 5


def test_select_takes_the_backend() -> None:
    network = random_network(200, 600)
    here, there = select(network, 4, method="ris"), select(network, 4, backend="ray", workers=2)
    assert there == here
