"""The tables and figures of the paper, each made from the jobs' results."""

from collections.abc import Callable

from claim.experiments.findings import Findings
from claim.experiments.products.budget import budget_curves
from claim.experiments.products.density import density
from claim.experiments.products.efficiency import sample_efficiency
from claim.experiments.products.glance import glance
from claim.experiments.products.goals import goals
from claim.experiments.products.larger import larger_budgets
from claim.experiments.products.properties import properties
from claim.experiments.products.reached import ablation, influence
from claim.experiments.products.stability import stability
from claim.experiments.section import Section

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
