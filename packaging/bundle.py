"""Build the field assistant as a program for people without Python.

    python packaging/bundle.py [--out dist]

Needs ``pip install ".[app,bundle]"``; ``make bundle`` does both. Makes, for the system it runs on, the folder
``dist/claim-assistant``, starts the program in it once, and packs it as ``claim-assistant-VERSION-SYSTEM-ARCH`` (.zip
on Windows, else .tar.gz) with the checksum beside it.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.request
import zipfile
from pathlib import Path

import icon

ROOT = Path(__file__).resolve().parent.parent
NAME = "claim-assistant"
SYSTEMS = {"Darwin": "macos"}
PATIENCE = 300  # seconds
MACHINES = {"amd64": "x86_64", "aarch64": "arm64"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the field assistant as a program of its own.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the folder and the archive go")
    out, begun = parser.parse_args().out.resolve(), time.monotonic()
    folder = build(out, ROOT / "build" / "bundle")
    try_out(folder)
    archive = pack(folder, archive_name(version()))
    write_checksum(archive)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"{folder}: {size / 1e6:.0f} MB\n{archive}: {archive.stat().st_size / 1e6:.0f} MB")
    print(f"{time.monotonic() - begun:.0f} seconds")


def version() -> str:
    sys.path.insert(0, str(ROOT / "src"))
    from claim import __version__

    return __version__


def archive_name(version: str) -> str:
    """The archive's name without its ending, the same for every build of a version on a kind of system."""
    system, machine = platform.system(), platform.machine().lower()
    return f"{NAME}-{version}-{SYSTEMS.get(system, system.lower())}-{MACHINES.get(machine, machine)}"


def build(out: Path, work: Path) -> Path:
    """Run PyInstaller; returns the folder with the program."""
    icon.write(work)
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    command += ["--distpath", str(out), "--workpath", str(work), str(ROOT / "packaging" / f"{NAME}.spec")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "0"})  # the same order of names every time
    shutil.copy(work / "icon.png", out / NAME)
    shutil.copy(ROOT / "LICENSE", out / NAME / "LICENSE.txt")
    return out / NAME


def try_out(folder: Path) -> None:
    """Start the program: its practice study opens, and is compared with simulated ones."""
    with tempfile.TemporaryDirectory(prefix="claim-bundle-", ignore_cleanup_errors=True) as home:
        own = {"CLAIM_STUDIES": os.path.join(home, "studies"), "NUMBA_CACHE_DIR": os.path.join(home, "compiled")}
        command = [str(folder / NAME), "--rehearsal", "--no-browser", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **own}) as program:
            too_long = threading.Timer(PATIENCE, program.kill)
            too_long.start()
            try:
                assert program.stdout is not None
                address = program.stdout.readline().strip()
                cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
                with cookies.open(address) as page:
                    study = page.url
                cookies.open(f"{study}/practice").close()
            finally:
                too_long.cancel()
                program.terminate()


def pack(folder: Path, name: str) -> Path:
    """Pack a folder into an archive beside it: files in order of their names, without the builder's user name."""
    files = sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    if sys.platform == "win32":
        archive = folder.with_name(f"{name}.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in files:
                packed.write(path, path.relative_to(folder.parent))
        return archive
    archive = folder.with_name(f"{name}.tar.gz")
    with tarfile.open(archive, "w:gz") as tar:
        for path in files:
            tar.add(path, path.relative_to(folder.parent), filter=_without_owner)
    return archive


def _without_owner(file: tarfile.TarInfo) -> tarfile.TarInfo:
    file.uid = file.gid = 0
    file.uname = file.gname = ""
    return file


def write_checksum(archive: Path) -> Path:
    """Write the SHA-256 checksum beside the archive, as ``sha256sum --check`` reads it."""
    target = archive.with_name(f"{archive.name}.sha256")
    with archive.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    target.write_text(f"{checksum}  {archive.name}\n", encoding="utf-8", newline="\n")
    return target


if __name__ == "__main__":
    main()
