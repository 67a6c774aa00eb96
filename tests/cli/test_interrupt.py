"""Ctrl-C, or a worker that is killed, ends an evaluation with one line and without orphans."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those still running; a zombie has ended, and only its parent has not looked yet."""
    return [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


def evaluation_with_workers(*arguments: str) -> tuple[psutil.Popen, list[psutil.Process]]:
    """A long evaluation that is under way, and its processes."""
    given = arguments or ("--networks", "zone2", "--runs", "200000")
    command = [sys.executable, "-m", "claim", "evaluate", *given, "--workers", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    program = psutil.Popen(command, start_new_session=True, **pipes)
    deadline = time.monotonic() + 60
    while len(workers := program.children(recursive=True)) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(workers) >= 3, "no worker processes were started"
    time.sleep(1)
    return program, program.children(recursive=True)


def assert_all_end(workers: list[psutil.Process]) -> None:
    deadline = time.monotonic() + 20
    while alive(workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive(workers) == []


@pytest.mark.parametrize("whom", ["the program", "the whole group, as a terminal does"])
def test_ctrl_c_stops_everything(whom):
    program, workers = evaluation_with_workers()
    if whom == "the program":
        program.send_signal(signal.SIGINT)
    else:
        os.killpg(program.pid, signal.SIGINT)
    out, err = program.communicate(timeout=30)
    assert program.returncode == 130
    assert err == "claim: interrupted\n"
    assert out == ""
    assert_all_end(workers)


def is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return "--multiprocessing-fork" in process.cmdline()
    return False


def test_a_killed_worker_is_replaced_and_nothing_is_lost(tmp_path):
    arguments = ["--networks", "zone2", "--runs", "600", "--policies", "random"]
    program, workers = evaluation_with_workers(*arguments, "--json", str(tmp_path / "killed.json"))
    next(each for each in workers if is_worker(each)).kill()
    _, err = program.communicate(timeout=120)
    assert (program.returncode, err) == (0, "")
    command = [sys.executable, "-m", "claim", "evaluate", *arguments, "--workers", "1", "--json"]
    subprocess.run([*command, str(tmp_path / "whole.json")], check=True, capture_output=True)
    killed, whole = (json.loads((tmp_path / name).read_text())["rows"] for name in ("killed.json", "whole.json"))
    assert [row["values"] for row in killed] == [row["values"] for row in whole]


def test_workers_that_are_killed_again_and_again_are_one_line():
    program, workers = evaluation_with_workers()
    while program.poll() is None:
        for each in program.children():
            if is_worker(each):
                each.kill()
        time.sleep(0.05)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out) == (2, "")
    assert err == (
        "claim: a worker process was killed (its process ended with signal 9), perhaps for want of memory: "
        "try --workers 1\n"
    )
    assert_all_end(workers)
