"""The record of how a result came about, enough to make it again.

Nothing in it changes from one run of the same command to the next: no time, no host, no number of workers.
"""

import platform
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from claim.networks import Network

SCHEMA_VERSION = 1
LIBRARIES = ("claim", "numpy", "scipy", "numba", "networkx", "torch")


def manifest(command: str, settings: Mapping[str, Any], networks: Iterable[Network]) -> dict[str, Any]:
    """Command, settings, library versions, checksums of the data and the revision of the code."""
    return {
        "schema_version": SCHEMA_VERSION,
        "command": command,
        "settings": dict(settings),
        "versions": {"python": platform.python_version(), **library_versions(LIBRARIES)},
        "networks": {
            network.name: {"people": network.n, "edges": network.m, "checksum": network.checksum}
            for network in networks
        },
        "git": _revision(),
    }


@cache
def library_versions(libraries: tuple[str, ...]) -> dict[str, str]:
    """The versions of those that are installed."""
    found = {}
    for library in libraries:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _revision() -> dict[str, Any] | None:
    """The revision of the source tree this package runs from; None for an installed copy."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    revision = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return None if revision is None else {"revision": revision, "dirty": bool(changes)}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
