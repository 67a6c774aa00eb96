"""How messages spread: independent cascades and other models, shared worlds, and influence with its standard error."""

from claim.cascades.influence import Influence, Reached, cascade, simulate_cascades
from claim.cascades.models import IC, Diffusion, Model, influence
from claim.cascades.worlds import EdgeSampler, Worlds

__all__ = [
    "IC", "Diffusion", "EdgeSampler", "Influence", "Model", "Reached", "Worlds", "cascade", "influence",
    "simulate_cascades",
]  # fmt: skip
