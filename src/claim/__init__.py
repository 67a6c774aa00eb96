"""CLAIM: whom to survey next in a social network nobody has a map of, and whom to recruit at the end.

>>> import claim
>>> network = claim.load("zone2")
>>> chosen = claim.select(network, k=10)
>>> reach = claim.influence(network, chosen.leaders)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claim.cascades import influence as influence
    from claim.discovery import Discovered as Discovered
    from claim.evaluation import compare as compare
    from claim.networks import Network as Network
    from claim.networks import load as load
    from claim.registry import register_policy as register_policy
    from claim.registry import register_selector as register_selector
    from claim.selection import select as select

# Loaded on first use, so that ``import claim`` is quick and compiles nothing.
_HOME = {
    "Discovered": "claim.discovery",
    "Network": "claim.networks",
    "compare": "claim.evaluation",
    "influence": "claim.cascades",
    "load": "claim.networks",
    "register_policy": "claim.registry",
    "register_selector": "claim.registry",
    "select": "claim.selection",
}
__all__ = list(_HOME)


def _register_environment() -> None:
    """Make ``gymnasium.make("claim/NetworkDiscovery-v0", network="zone2")`` work once claim is imported."""
    import gymnasium

    name = "claim/NetworkDiscovery-v0"
    if name not in gymnasium.registry:
        gymnasium.register(name, entry_point="claim.discovery.environment:make_environment")


_register_environment()


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'claim' has no attribute {name!r}")
