"""Leader selection: the greedy oracle, sampling with bounds for very large networks, and quick baselines."""

from claim.selection.api import Selection, fair_curve, select
from claim.selection.greedy import Candidates, Ties
from claim.selection.selectors import METHODS, MethodSelector, selector_named

__all__ = ["METHODS", "Candidates", "MethodSelector", "Selection", "Ties", "fair_curve", "select", "selector_named"]
