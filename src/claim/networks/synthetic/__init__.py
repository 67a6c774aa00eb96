"""Synthetic families that come with the project, and the generators behind them for look-alikes of any size."""

from claim.networks.synthetic.families import FAMILIES, SyntheticFamily
from claim.networks.synthetic.retweet import retweet_like
from claim.networks.synthetic.vole import vole_like
from claim.networks.synthetic.zone import zone_like

__all__ = ["FAMILIES", "SyntheticFamily", "retweet_like", "vole_like", "zone_like"]
