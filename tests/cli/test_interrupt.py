"""Ctrl-C, or a worker that is killed, ends an evaluation with one line and without orphans."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")

PATIENCE = 300  # seconds; only a program that hangs takes as long
POLICY = """
import os
import re
import time
from pathlib import Path

class Waiting:
    '''Writes its process id to at-work and waits for the file go.'''

    name = "waiting"

    def choose(self, discovered, rng, count=1):
        while not Path("go").exists():
            with open("at-work", "a") as file:
                file.write(f"{os.getpid()}\\n")
            time.sleep(0.05)
        return rng.permutation(discovered.frontier)[:count].tolist()
"""


def command(*arguments: str) -> list[str]:
    given = ("--networks", "zone2", "--policies", "mine:Waiting", "--runs", "100")  # fewer need no worker processes
    return [sys.executable, "-m", "claim", "evaluate", *given, *arguments]


def start_with_workers(folder: Path, *arguments: str) -> "psutil.Popen":
    """An evaluation on two worker processes, both of which are in the middle of a study."""
    (folder / "mine.py").write_text(POLICY)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    program = psutil.Popen(command("--workers", "2", *arguments), cwd=folder, start_new_session=True, **pipes)
    wait_until(lambda: len(at_work(folder)) == 2)
    return program


def at_work(folder: Path) -> set[int]:
    """The ids of the processes that were seen in a study."""
    path = folder / "at-work"
    return {int(line) for line in path.read_text().split()} if path.exists() else set()


def is_alive(process: "psutil.Process") -> bool:
    """Whether it still runs; a zombie has ended, and only its parent has not looked yet."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def wait_until(condition) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.mark.parametrize("whom", ["the program", "the whole group, as a terminal does"])
def test_ctrl_c_stops_everything(whom, tmp_path):
    program = start_with_workers(tmp_path)
    workers = program.children(recursive=True)
    assert {each.pid for each in workers} >= at_work(tmp_path)
    if whom == "the program":
        program.send_signal(signal.SIGINT)
    else:
        os.killpg(program.pid, signal.SIGINT)
    out, err = program.communicate(timeout=PATIENCE)
    assert program.returncode == 130
    assert err == "claim: interrupted\n"
    assert out == ""
    wait_until(lambda: not any(map(is_alive, workers)))


def test_a_killed_worker_is_replaced_and_nothing_is_lost(tmp_path):
    program = start_with_workers(tmp_path, "--json", "killed.json")
    os.kill(min(at_work(tmp_path)), signal.SIGKILL)
    wait_until(lambda: len(at_work(tmp_path)) == 3)
    (tmp_path / "go").touch()
    _, err = program.communicate(timeout=PATIENCE)
    assert program.returncode == 0
    assert re.fullmatch(r"[\d.]+ s\n", err)
    whole = command("--workers", "1", "--json", "whole.json")
    subprocess.run(whole, cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE)
    killed, whole = (json.loads((tmp_path / name).read_text())["rows"] for name in ("killed.json", "whole.json"))
    assert [row["values"] for row in killed] == [row["values"] for row in whole]


def test_workers_that_are_killed_again_and_again_are_one_line(tmp_path):
    program = start_with_workers(tmp_path)
    workers, killed = program.children(recursive=True), set()

    def kill_all_until_the_end() -> bool:
        for pid in at_work(tmp_path) - killed:
            with suppress(ProcessLookupError):  # the program ends its other workers
                os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        return program.poll() is not None

    wait_until(kill_all_until_the_end)
    out, err = program.communicate(timeout=PATIENCE)
    assert (program.returncode, out) == (2, "")
    assert err == (
        "claim: a worker process was killed (its process ended with signal 9), perhaps for want of memory: "
        "try --workers 1\n"
    )
    wait_until(lambda: not any(map(is_alive, workers)))
