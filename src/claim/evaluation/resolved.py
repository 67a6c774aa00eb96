"""Which trained policies and foresight models the names of a comparison stood for.

``claim`` and ``foresight`` mean another file on another family of networks, and other files after they were trained
again; the record of a comparison says which it was.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from claim.evaluation.runs import Contender
from claim.files import sha256_of
from claim.learning.naming import find_shipped, is_file, is_learned
from claim.networks import Network
from claim.networks.catalogue import family_of
from claim.selection import selector_named

NO_FAMILY = "unknown"


def resolved(contenders: Iterable[Contender], networks: Iterable[Network], budget: int) -> dict[str, Any]:
    """By name and family of network the policies and selectors that were trained; empty where none was."""
    contenders = list(contenders)
    families = list(dict.fromkeys(family_of(network) for network in networks))
    policies = dict.fromkeys(each.policy for each in contenders if is_learned(each.policy))
    selectors = dict.fromkeys(each.selector for each in contenders if each.selector.startswith("foresight"))
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
    from claim.selection.foresight.model import model_path

    full = selector_named(name, family=family).name
    return {"name": full, "sha256": sha256_of(model_path(full.partition(":")[2]))}
