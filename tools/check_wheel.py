"""Check that the wheel works without the checkout.

    python tools/check_wheel.py [WHEEL]

Builds the wheel, unless one is given, installs it with constraints.txt into an empty environment in a temporary folder,
and runs it there: a comparison with only the core dependencies, then a trained policy and the assistant with extras.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
EVALUATE = ["evaluate", "--networks", "zone2", "--selector", "greedy,foresight", "--runs", "5", "--json", "result.json"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", nargs="?", type=Path, help="the wheel to check; built from the checkout by default")
    given = parser.parse_args().wheel
    with tempfile.TemporaryDirectory(prefix="claim-wheel-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        wheel = given.resolve() if given else build(folder)
        check_files(wheel)
        installed = Installed(folder)
        installed.install(str(wheel))
        installed.check_core()
        installed.install(f"{wheel}[learning,app]")
        installed.check_trained_policy()
        installed.check_assistant()
    print(f"{wheel.name} works outside the checkout")


def build(folder: Path) -> Path:
    """Build the wheel from a copy of the sources, so that nothing left over from an earlier build gets into it."""
    print("build the wheel")
    copy = folder / "source"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    subprocess.run([sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", folder, copy], check=True)
    return next(folder.glob("*.whl"))


def check_files(wheel: Path) -> None:
    """Every file of the package is in the wheel: models, policies, templates and texts too."""
    source = ROOT / "src"
    ours = {path.relative_to(source).as_posix() for path in (source / "claim").rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        missing = sorted(name for name in ours - set(archive.namelist()) if "__pycache__" not in name)
    require(not missing, f"not in the wheel: {', '.join(missing)}")


class Installed:
    """An environment of its own, and a working folder that is not the checkout."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        venv.create(folder / "environment", with_pip=True)
        self.bin = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
        left_out = ("PYTHONPATH", "VIRTUAL_ENV", "CLAIM_DATA")
        self.variables = {name: value for name, value in os.environ.items() if name not in left_out}
        self.variables["CLAIM_STUDIES"] = str(self.work / "studies")

    def install(self, what: str) -> None:
        print(f"install {Path(what).name}")
        command = [self.bin / "python", *PIP, "install", "--constraint", ROOT / "constraints.txt", what]
        subprocess.run(command, cwd=self.work, env=self.variables, check=True)

    def claim(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        print("claim", *arguments, flush=True)
        options = {"cwd": self.work, "env": self.variables, "capture_output": True, "encoding": "utf-8"}
        return subprocess.run([self.bin / "claim", *arguments], timeout=300, **options)

    def check_core(self) -> None:
        """A comparison runs, and a trained policy is refused in one line."""
        self.compare("random,scout", rows=4)
        refused = self.claim(*EVALUATE, "--policies", "claim")
        one_line = refused.returncode == 2 and len(refused.stderr.splitlines()) == 1 and "PyTorch" in refused.stderr
        require(one_line, f"without PyTorch the policy claim should give one line, got: {refused.stderr}")

    def check_trained_policy(self) -> None:
        self.compare("claim", rows=2)

    def compare(self, policies: str, rows: int) -> None:
        done = self.claim(*EVALUATE, "--policies", policies)
        require(done.returncode == 0, done.stderr)
        found = json.loads((self.work / "result.json").read_text(encoding="utf-8"))["rows"]
        require(len(found) == rows, f"{rows} rows expected, got {len(found)}")
        require(all(row["mean"] > 1 for row in found), f"more than one person is always reached, got {found}")

    def check_assistant(self) -> None:
        """The practice study opens at the address that is printed, and the program ends when asked to."""
        command = [self.bin / "claim", "app", "--rehearsal", "--no-browser"]
        print("claim", *command[1:], flush=True)
        options = {"cwd": self.work, "env": self.variables, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        with subprocess.Popen(command, **options) as program:
            too_long = threading.Timer(120, program.kill)
            too_long.start()
            try:
                address = program.stdout.readline().strip()
                require(address.startswith("http://127.0.0.1:"), f"an address expected, got {address!r}")
                cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
                with cookies.open(address, timeout=60) as page:
                    require(page.status == 200, f"{address} answers {page.status}")
                    require(b"<html" in page.read(), f"{address} shows no page")
            finally:
                too_long.cancel()
                program.terminate()
                program.wait(60)


def require(holds: bool, problem: str) -> None:
    if not holds:
        sys.exit(f"check_wheel: {problem}")


if __name__ == "__main__":
    main()
