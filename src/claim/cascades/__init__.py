"""The independent cascade model: shared worlds, influence with its standard error, and the trace of a cascade."""

from claim.cascades.influence import Influence, Reached, cascade, influence, simulate_cascades
from claim.cascades.worlds import EdgeSampler, Worlds

__all__ = ["EdgeSampler", "Influence", "Reached", "Worlds", "cascade", "influence", "simulate_cascades"]
