"""Discovery: what anyone may see of a hidden network, simulated surveys, and policies that need no learning."""

from claim.discovery.discovered import NEW, Discovered, PersonClass, Status
from claim.discovery.policies import (
    POLICIES,
    chooses_leaders,
    draws_own_start,
    is_reference,
    only_open,
    policy_named,
    undirected_ic_only,
)
from claim.discovery.protocols import Policy, Selector
from claim.discovery.simulation import Frame, Simulation, at_checkpoints, surveys

__all__ = [
    "NEW", "POLICIES", "Discovered", "Frame", "PersonClass", "Policy", "Selector", "Simulation", "Status",
    "at_checkpoints", "chooses_leaders", "draws_own_start", "is_reference", "only_open", "policy_named", "surveys",
    "undirected_ic_only",
]  # fmt: skip
