"""The independent cascade model: shared worlds, influence with its standard error, and who reached whom."""

from claim.cascades.influence import Influence, Reached, cascade, influence, play_cascades
from claim.cascades.worlds import EdgeCoins, Worlds

__all__ = ["EdgeCoins", "Influence", "Reached", "Worlds", "cascade", "influence", "play_cascades"]
