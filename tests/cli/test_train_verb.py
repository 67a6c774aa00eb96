"""``claim train`` by both trainings: after Ctrl-C, --resume gives the same policy as a run that was never stopped."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("torch")

EPISODES = 6
TINY = ["hidden=6", "clusters=3", "layers=16,8", "batch_size=8", "dimensions=4", "validation_starts=2"]
PATIENCE = 300  # seconds; only a program that hangs takes as long


def command(out: Path, *more: str) -> list[str]:
    changes = [part for setting in TINY for part in ("--set", setting)]
    given = ("--networks", "zone1", "--episodes", str(EPISODES), "--budget", "2", "--out", str(out))
    return [sys.executable, "-m", "claim", "train", *given, *changes, *more]


def episodes_of(out: Path) -> list[int]:
    path = out / "metrics.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line)["episode"] for line in lines if line.endswith("\n")]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("preset", [(), ("--preset", "paper")])
def test_a_run_stopped_by_ctrl_c_goes_on_to_the_same_policy(preset: tuple[str, ...], tmp_path: Path) -> None:
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    done = subprocess.run(command(straight, *preset), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert "6 episodes" in done.stdout
    long = [*command(stopped, *preset), "--episodes", "1000000"]
    program = subprocess.Popen(long, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not episodes_of(stopped) and time.monotonic() < deadline:
        time.sleep(0.02)
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=PATIENCE)
    assert program.returncode == 130
    assert err.endswith("claim: interrupted\n")
    last = episodes_of(stopped)[-1]
    until = str(max(EPISODES, last + 1))
    for out in (straight, stopped):
        again = [*command(out, *preset), "--episodes", until, "--resume"]
        done = subprocess.run(again, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
    assert episodes_of(stopped) == episodes_of(straight) == list(range(1, int(until) + 1))
    weights = [(out / "policy.safetensors").read_bytes() for out in (straight, stopped)]
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--variant", "her"), "the variant must be one of claim, got her; it is trained with --preset paper"),
        (("--preset", "paper", "--set", "variant=her"), "no setting is called 'variant'"),
        (("--preset", "paper", "--set", "averaging=0.5"), "no setting is called 'averaging'"),
        (("--set", "budget=0"), "budget must be at least 1, got 0"),
    ],
)
def test_wrong_settings_are_one_line(arguments, problem, claim):
    done = claim("train", "--networks", "zone1", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"claim: {problem}")
    assert done.stderr.count("\n") == 1
