"""How many interviews are worth their cost, and how to spend them: estimated from simulated studies."""

from claim.planning.completion import completed
from claim.planning.drawn_leaders import MoreLeaders
from claim.planning.planner import plan
from claim.planning.result import Plan, Point
from claim.planning.settings import CLOSED, WAYS, PlanSettings
from claim.planning.studies import KINDS

__all__ = ["CLOSED", "KINDS", "WAYS", "MoreLeaders", "Plan", "PlanSettings", "Point", "completed", "plan"]
