"""``claim experiment paper`` as people start it: interrupted, killed, continued, on Ray."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from experiment_cases import PATIENCE, eventually
from tiny_paper import TINY

from claim.cli import main
from claim.experiments import paper
from claim.experiments.jobs import RECORDS, Optimum, save_policy
from claim.jobs import Store

PROGRAM = Path(__file__).with_name("tiny_paper.py")
COMMAND = [sys.executable, str(PROGRAM), "experiment", "paper", "--quick", "--workers", "2"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=3 * PATIENCE)


def files(folder: Path, *kinds: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for kind in kinds for path in (folder / kind).iterdir()}


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture
def run_here(monkeypatch, capfd):
    """The same in this process, which has loaded PyTorch already."""
    monkeypatch.setattr(paper, "QUICK", TINY)

    def run_here(*arguments: str) -> subprocess.CompletedProcess[str]:
        with pytest.raises(SystemExit) as ended:
            main([*COMMAND[2:], *arguments])
        return subprocess.CompletedProcess(arguments, ended.value.code or 0, *capfd.readouterr())

    return run_here


def test_no_time_means_a_report_that_says_so(run_here, tmp_path):
    done = run_here("--out", str(tmp_path), "--hours", "0", "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["missing"] > 90
    assert "not run yet" in Path(result["report"]).read_text()


def test_mistakes_are_one_line(run_here, tmp_path):
    done = run_here("--out", str(tmp_path), "--address", "here:1")
    assert (done.returncode, done.stderr) == (2, "claim: --address is that of a Ray cluster: add --backend ray\n")
    (tmp_path / "file").touch()
    done = run_here("--out", str(tmp_path / "file"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_what_an_earlier_run_has_done_is_not_done_again(run_here, tmp_path):
    grid = paper.Paper(TINY, TINY.splits())
    training, other = (grid.trainings(policy, grid.splits[0])[0] for policy in ("claim", "claim without goal"))
    optimum = Optimum(grid.property_network)
    first, again = tmp_path / "first", tmp_path / "again"
    store, policies = Store(first), first / "policies"
    store.save(training, training.run([], first))
    store.save(optimum, optimum.run([], first))
    assert run_here("--out", str(first), "--hours", "0").returncode == 0
    save_policy(store.load(training), policies / other.label)  # the other training has other settings
    given = ("--out", str(again), "--hours", "0", "--earlier")
    done = run_here(*given, str(first))
    assert done.returncode == 0, done.stderr
    assert [Store(again).load(job) for job in (training, optimum)] == [store.load(job) for job in (training, optimum)]
    assert len(list((again / "jobs").iterdir())) == 2
    (policies / f"{other.label}.json").write_text("{}")
    done = run_here(*given, str(first))
    assert done.returncode == 2
    assert done.stderr == f"claim: {policies / other.label}.json: not the card of a trained policy\n"
    (policies / f"{other.label}.json").unlink()
    records = first / RECORDS
    records.write_bytes(records.read_bytes()[:-12])
    done = run_here(*given, str(first))
    assert (done.returncode, done.stderr) == (2, f"claim: {records}: not the results of an experiment\n")
    done = run_here(*given, str(tmp_path / "absent"))
    assert (done.returncode, done.stderr) == (2, f"claim: {tmp_path / 'absent'} is no folder of an earlier run\n")


@pytest.mark.slow
def test_interrupted_killed_and_continued_equals_never_stopped(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert run("--out", str(whole)).returncode == 0
    for stop in (signal.SIGINT, signal.SIGKILL):
        before = len(list((cut / "jobs").iterdir())) if cut.exists() else 0
        program = psutil.Popen(
            [*COMMAND, "--out", str(cut)],
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        eventually(lambda more=before + 5: cut.exists() and len(list((cut / "jobs").glob("*.json"))) >= more)
        workers = program.children(recursive=True)
        os.killpg(program.pid, stop) if stop == signal.SIGINT else program.kill()
        _, errors = program.communicate(timeout=PATIENCE)
        eventually(lambda workers=workers: not alive(workers))
        if stop == signal.SIGINT:
            assert program.returncode == 130
            assert errors.endswith("claim: interrupted\n")
            assert "Traceback" not in errors
    assert run("--out", str(cut)).returncode == 0
    kinds = ("jobs", "tables", "figures", "policies")
    assert files(cut, *kinds) == files(whole, *kinds)
    assert (cut / "report.html").read_bytes() == (whole / "report.html").read_bytes()


@pytest.mark.slow
def test_ray_finds_the_same_as_local_processes(tmp_path):
    pytest.importorskip("ray", reason="needs Ray")
    here, there = tmp_path / "local", tmp_path / "ray"
    assert run("--out", str(here)).returncode == 0
    done = run("--out", str(there), "--backend", "ray")
    assert done.returncode == 0, done.stderr
    kinds = ("jobs", "tables", "policies")
    assert files(there, *kinds) == files(here, *kinds)
