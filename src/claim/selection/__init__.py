"""Leader selection: the greedy oracle, sampling with bounds for very large networks, and quick baselines."""

from claim.selection.api import METHODS, Selection, select
from claim.selection.greedy import Candidates, Ties
from claim.selection.selectors import GreedySelector, selector_named

__all__ = ["METHODS", "Candidates", "GreedySelector", "Selection", "Ties", "select", "selector_named"]
