"""Names under which Gymnasium finds the environment; the parts are put together here."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claim.discovery.environment import NetworkDiscoveryEnv
    from claim.networks import Network

ENVIRONMENT = "claim/NetworkDiscovery-v0"


def register_environments() -> None:
    """Make ``gymnasium.make("claim/NetworkDiscovery-v0", network="zone2")`` work once claim is imported."""
    import gymnasium

    if ENVIRONMENT not in gymnasium.registry:
        gymnasium.register(ENVIRONMENT, entry_point="claim.registration:make_environment")


def make_environment(network: "Network | str" = "zone2", **settings: Any) -> "NetworkDiscoveryEnv":
    """The environment on a network, or on the network of that name or path, with the greedy oracle by default."""
    from claim.discovery.environment import NetworkDiscoveryEnv
    from claim.networks import load
    from claim.selection.selectors import GreedySelector

    hidden = load(network) if isinstance(network, str) else network
    selector = settings.pop("selector", None) or GreedySelector(p=settings.get("p", 0.1))
    return NetworkDiscoveryEnv(hidden, selector, **settings)
