"""Discovery: what anyone may see of a hidden network, simulated surveys, and policies that need no learning."""

from claim.discovery.discovered import Discovered, PersonClass, Status
from claim.discovery.policies import POLICIES, draws_own_start, is_reference, policy_named
from claim.discovery.protocols import Policy, Selector
from claim.discovery.simulation import Simulation, at_checkpoints, surveys

__all__ = [
    "POLICIES", "Discovered", "PersonClass", "Policy", "Selector", "Simulation", "Status", "at_checkpoints",
    "draws_own_start", "is_reference", "policy_named", "surveys",
]  # fmt: skip
