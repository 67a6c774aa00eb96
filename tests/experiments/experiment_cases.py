"""Small jobs for the tests of sweeps; in a module of their own, so that worker processes can import them."""

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from claim.jobs import Result, Sweep

PATIENCE = 600  # seconds; only what hangs takes as long, on a busy machine too


@dataclass(frozen=True)
class Square:
    """Squares a number, or the sum of what it needs."""

    number: int
    needs: tuple[Any, ...] = ()
    effort: float = 1.0

    @property
    def name(self) -> str:
        return f"square {self.number}"

    def identity(self) -> dict[str, Any]:
        return {"number": self.number}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        with (workspace / "ran.txt").open("a") as file:
            file.write(f"{self.name}\n")
        return {"square": (self.number + sum(each["square"] for each in inputs)) ** 2}


@dataclass(frozen=True)
class Stubborn(Square):
    """Fails so many times before it works."""

    failures: int = 1

    @property
    def name(self) -> str:
        return f"stubborn {self.number}"

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        tries = workspace / f"tries-{self.number}"
        tries.open("a").write("x")
        if len(tries.read_text()) <= self.failures:
            raise ValueError(f"not this time\n{self.number}")
        return super().run(inputs, workspace)


@dataclass(frozen=True)
class Waiting(Square):
    """Says which process it runs in and waits until it is told to go on."""

    @property
    def name(self) -> str:
        return f"waiting {self.number}"

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        with (workspace / f"pids-{self.number}").open("a") as file:
            file.write(f"{os.getpid()}\n")
        while not (workspace / "go").exists():
            time.sleep(0.05)
        return super().run(inputs, workspace)


def pids(workspace: Path, number: int) -> list[int]:
    """The processes in which a waiting job was begun, in order."""
    path = workspace / f"pids-{number}"
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_and_kill_a_worker(going: Sweep, workspace: Path) -> None:
    """Run a sweep with two waiting jobs and kill the process of the first while both wait."""

    def kill_one() -> None:
        victim = eventually(lambda: pids(workspace, 1))[0]
        assert eventually(lambda: pids(workspace, 2)) != [victim]
        psutil.Process(victim).kill()
        eventually(lambda: len(pids(workspace, 1)) == 2)
        (workspace / "go").touch()

    killer = threading.Thread(target=kill_one)
    killer.start()
    going.run()
    killer.join()


def eventually(condition: Any) -> Any:
    """Wait until a condition holds; its value."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return value
