"""A sweep runs each job once, goes on where it was, and outlives jobs and processes that fail."""

import json
import os
import sys
from pathlib import Path

import psutil
import pytest
from experiment_cases import PATIENCE, Square, Stubborn, Waiting, eventually, pids, run_and_kill_a_worker

from claim.errors import InputError
from claim.jobs import Store, Sweep, key_of, with_needs
from claim.jobs.local import LocalBackend


def sweep(jobs, folder, workers=2, **settings):
    return Sweep(jobs, Store(folder), LocalBackend(workers, folder), **settings)


def ran(folder):
    path = folder / "ran.txt"
    return sorted(path.read_text().splitlines()) if path.exists() else []


def results(folder):
    return {path.name: path.read_bytes() for path in (folder / "jobs").iterdir()}


def test_needs_come_first_and_their_results_arrive(tmp_path):
    first, second = Square(2), Square(3)
    last = Square(1, needs=(first, second))
    standings = []
    going = sweep([last], tmp_path, watch=standings.append)
    going.run()
    assert going.failures == {}
    assert Store(tmp_path).load(last) == {"square": (1 + 4 + 9) ** 2}
    assert (standings[0].done, standings[0].total, standings[0].share) == (0, 3, 0.0)
    assert (standings[-1].done, standings[-1].share, standings[-1].running) == (3, 1.0, ())


def test_what_is_done_is_not_done_again(tmp_path):
    jobs = [Square(number) for number in range(4)]
    sweep(jobs[:2], tmp_path).run()
    assert ran(tmp_path) == ["square 0", "square 1"]
    sweep(jobs, tmp_path).run()
    assert ran(tmp_path) == [f"square {number}" for number in range(4)]
    Store(tmp_path).path(jobs[0]).write_text('{"half')
    sweep(jobs, tmp_path).run()
    assert ran(tmp_path) == ["square 0", *(f"square {number}" for number in range(4))]


def test_keys_follow_settings_and_needs():
    assert key_of(Square(1)) == key_of(Square(1))
    keys = {key_of(Square(1)), key_of(Square(2)), key_of(Square(1, needs=(Square(2),))), key_of(Stubborn(1))}
    assert len(keys) == 4
    assert [job.number for job in with_needs([Square(1, needs=(Square(2),)), Square(2)])] == [2, 1]


def test_a_job_that_fails_is_tried_again_then_reported_and_the_others_finish(tmp_path):
    hopeless, lucky = Stubborn(1, failures=99), Stubborn(2, failures=2)
    dependent = Square(7, needs=(hopeless,))
    going = sweep([hopeless, lucky, dependent, Square(5)], tmp_path)
    going.run()
    assert going.failures == {
        "stubborn 1": "ValueError: not this time (3 attempts)",
        "square 7": "needs stubborn 1",
    }
    assert ran(tmp_path) == ["square 5", "stubborn 2"]
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [entry["attempt"] for entry in log if entry["job"] == "stubborn 1"] == [1, 2, 3]
    assert "Traceback" in log[0]["details"]


def test_a_killed_process_costs_one_attempt_and_nothing_else(tmp_path):
    jobs = [Waiting(1), Waiting(2), Square(3)]
    going = sweep(jobs, tmp_path)
    run_and_kill_a_worker(going, tmp_path)
    assert going.failures == {}
    assert ran(tmp_path) == ["square 3", "waiting 1", "waiting 2"]
    assert len(pids(tmp_path, 2)) == 1
    assert ("exit code" if sys.platform == "win32" else "signal 9") in (tmp_path / "log.jsonl").read_text()


def test_time_that_is_up_begins_nothing_more(tmp_path):
    sweep([Square(1)], tmp_path, seconds=0).run()
    assert ran(tmp_path) == []


def test_a_cluster_without_a_core_is_waited_for(tmp_path):
    class Late(LocalBackend):
        asked = 0

        def free(self):
            self.asked += 1
            return super().free() if self.asked > 2 else 0

    going = Sweep([Square(2)], Store(tmp_path), Late(1, tmp_path))
    going.run()
    assert (going.missing, ran(tmp_path)) == (0, ["square 2"])


def test_two_sweeps_keep_out_of_each_others_way(tmp_path):
    with (
        Store(tmp_path).locked(),
        pytest.raises(InputError, match="another experiment is at work"),
        Store(tmp_path).locked(),
    ):
        pass
    with Store(tmp_path).locked():
        pass


PROGRAM = """
import sys
from pathlib import Path
from experiment_cases import Square, Waiting
from claim.jobs import Store, Sweep
from claim.jobs.local import LocalBackend

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    jobs = [Square(1), Square(2), Waiting(3), Waiting(4), Square(5, needs=(Waiting(3),))]
    with Store(folder).locked():
        Sweep(jobs, Store(folder), LocalBackend(2, folder)).run()
"""


def start(folder: Path) -> psutil.Popen:
    script = folder / "program.py"
    script.write_text(PROGRAM)
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return psutil.Popen([sys.executable, str(script), str(folder)], env={**os.environ, "PYTHONPATH": path})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_sweep_killed_in_the_middle_leaves_no_process_and_goes_on(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()
    (whole / "go").touch()
    assert start(whole).wait(PATIENCE) == 0
    first = start(cut)
    waiting = [eventually(lambda number=number: pids(cut, number))[0] for number in (3, 4)]
    first.kill()
    first.wait()
    eventually(lambda: not any(psutil.pid_exists(pid) and _lives(pid) for pid in waiting))
    (cut / "go").touch()
    assert start(cut).wait(PATIENCE) == 0
    assert ran(cut) == ["square 1", "square 2", "square 5", "waiting 3", "waiting 4"]
    assert results(cut) == results(whole)


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
