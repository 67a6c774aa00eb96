"""Where a result comes from: software, settings, networks and the trained models that names stood for."""

import json
import platform
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claim import __version__
from claim.io.files import sha256_of
from claim.networks import Network
from claim.networks.catalogue import family_of
from claim.registry import find_shipped, is_file, is_learned

if TYPE_CHECKING:
    from claim.evaluation.runs import Method

SCHEMA_VERSION = 1
LIBRARIES = ("numpy", "scipy", "numba", "networkx", "torch")


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


def command_line(verb: str, options: Mapping[str, Any]) -> str:
    """Write a command: None and False leave an option out, True makes it a flag, a list repeats it."""
    words = ["claim", verb]
    for option, given in options.items():
        for value in given if isinstance(given, list) else [given]:
            if value is not None and value is not False:
                words += [f"--{option}"] if value is True else [f"--{option}", str(value)]
    return shlex.join(words)


@cache
def library_versions(libraries: tuple[str, ...]) -> dict[str, str]:
    """The version of this package and of those libraries that are installed."""
    found = {"claim": __version__}
    for library in libraries:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
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
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, encoding="utf-8", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


NO_FAMILY = "unknown"


def resolved(methods: "Iterable[Method]", networks: Iterable[Network], budget: int) -> dict[str, Any]:
    """By name and family of network the policies and selectors that were trained; empty where none was."""
    methods = list(methods)
    families = list(dict.fromkeys(family_of(network) for network in networks))
    policies = [name for each in methods if isinstance(name := each.policy, str) and is_learned(name)]
    chosen = [each.selector for each in methods if isinstance(each.selector, str)]
    selectors = [name for name in chosen if name.startswith("foresight")]
    found = {
        "policies": {name: {each or NO_FAMILY: _policy(name, each, budget) for each in families} for name in policies},
        "selectors": {name: {each or NO_FAMILY: _foresight(name, each) for each in families} for name in selectors},
    }
    return {kind: named for kind, named in found.items() if named}


def _policy(name: str, family: str | None, budget: int) -> dict[str, Any]:
    """A policy by its full name, or by the one on its card where it came from a file."""
    if is_file(name):
        weights = Path(name).with_suffix(".safetensors")
        card = json.loads(Path(name).with_suffix(".json").read_text(encoding="utf-8"))
        known = {"name": card["name"], "family": None, "budget": card["config"]["budget"]}
    else:
        meant = find_shipped(name, family, budget)
        weights = meant.stem.with_name(f"{meant.stem.name}.safetensors")
        full = f"{meant.variant}:{meant.family}@{meant.budget}"
        known = {"name": full, "family": meant.family, "budget": meant.budget}
    return {**known, "weights": sha256_of(weights)}  # as on its card, or it would not have been loaded


def _foresight(name: str, family: str | None) -> dict[str, str]:
    from claim.selection import selector_named
    from claim.selection.foresight.model import model_path

    full = selector_named(name, family=family).name
    return {"name": full, "sha256": sha256_of(model_path(full.partition(":")[2]))}
