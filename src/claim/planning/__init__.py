"""How many surveys are worth it: studies simulated before the first survey, or from what was discovered so far."""

from claim.planning.plan import Plan, Point, plan_further, plan_new

__all__ = ["Plan", "Point", "plan_further", "plan_new"]
