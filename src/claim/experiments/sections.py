"""The tables and figures of the paper, each made from the jobs' results."""

from collections.abc import Callable

from claim.experiments.page import Section
from claim.experiments.results import Findings
from claim.experiments.sections_budget import budget_curves, larger_budgets
from claim.experiments.sections_networks import density, properties
from claim.experiments.sections_reach import ablation, glance, influence, sample_efficiency
from claim.experiments.sections_training import goals, stability

Product = Callable[[Findings], Section]

PRODUCTS: tuple[Product, ...] = (
    glance,
    influence,
    density,
    ablation,
    stability,
    properties,
    goals,
    sample_efficiency,
    larger_budgets,
    budget_curves,
)
