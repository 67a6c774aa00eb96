"""CLAIM: whom to survey next in an unmapped social network, and whom to recruit as leaders.

>>> import claim
>>> network = claim.load("zone2")
>>> chosen = claim.select(network, k=10)
>>> reach = claim.influence(network, chosen.leaders)

Networks are given by name or path, or as a :class:`Network`, networkx graph, scipy sparse matrix or PyG data; policies
and selectors by name or as objects of your own. The names of this module are the stable interface.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium

if TYPE_CHECKING:
    from claim.advice import advise as advise
    from claim.cascades import influence as influence
    from claim.discovery import Discovered as Discovered
    from claim.discovery import Policy as Policy
    from claim.discovery import Selector as Selector
    from claim.errors import InputError as InputError
    from claim.evaluation.compare import compare as compare
    from claim.learning.api import train as train
    from claim.networks import Network as Network
    from claim.networks import load as load
    from claim.planning import plan as plan
    from claim.registry import register_policy as register_policy
    from claim.registry import register_selector as register_selector
    from claim.selection import select as select

__version__ = "0.2.0"

# Loaded on first use, so that ``import claim`` is quick and compiles nothing.
_HOME = {
    "Discovered": "claim.discovery",
    "InputError": "claim.errors",
    "Network": "claim.networks",
    "Policy": "claim.discovery",
    "Selector": "claim.discovery",
    "advise": "claim.advice",
    "compare": "claim.evaluation",
    "influence": "claim.cascades",
    "load": "claim.networks",
    "plan": "claim.planning",
    "register_policy": "claim.registry",
    "register_selector": "claim.registry",
    "select": "claim.selection",
    "train": "claim.learning.api",
}
__all__ = [*_HOME, "__version__"]


ENVIRONMENT = "claim/NetworkDiscovery-v0"  # for gymnasium.make, once claim is imported
if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(ENVIRONMENT, entry_point="claim.discovery.environment:make")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'claim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
