"""More surveys than the paper's five: policies trained for larger budgets against rules and their untrained selves."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.evaluation.statistics import paired_test, standard_error
from claim.evaluation.tables import stars
from claim.experiments import pictures
from claim.experiments.findings import Findings
from claim.experiments.learning_curves import SUMMARY, UNIT, Group
from claim.experiments.paper import BASELINE, CLAIM, LARGER, SCOUT, UNTRAINED, Method
from claim.experiments.played import SEED
from claim.experiments.scales import Field
from claim.experiments.section import NOT_RUN, Picture, Section, Table, shown
from claim.networks import Network
from claim.randomness import named_seed

LEARNED = (CLAIM, BASELINE)
RIVALS = tuple(
    Method(policy) for policy in (UNTRAINED, "random", "random-class", "change", "degree+inverse", BASELINE, SCOUT)
)


def larger_budgets(findings: Findings) -> Section:
    """What CLAIM reaches when it is trained for more surveys, and how it learns."""
    scale = findings.paper.scale
    if not findings.paper.larger_fields:
        return Section("larger-budgets", "Larger budgets", ["This scale has no larger budgets."])
    plan = ", ".join(f"{episodes} episodes for {budget} surveys" for budget, episodes in scale.larger)
    words = [
        f"CLAIM and Geometric-DQN trained for larger budgets ({plan}; {scale.seeds} seeds), field protocol, greedy "
        f"oracle, {scale.larger_runs} start sets a network. A trained method is the mean of its models, run by run; "
        f"{UNTRAINED} are CLAIM's networks of the same seeds before their first update.",
    ]
    tables = [_reached(findings, budget) for budget, _ in scale.larger]
    tables += [_differences(findings), _curves(findings)]
    figure = Picture(
        "larger-budgets",
        "Validation score against training episodes: mean over seeds, shaded one deviation; 1 is a random class.",
        _figure(findings),
    )
    return Section("larger-budgets", "Larger budgets", words, tables, [figure])


def _networks(findings: Findings) -> list[Network]:
    return [network for field in findings.paper.larger_fields for network in field.test]


def _reached(findings: Findings, budget: int) -> Table:
    networks = _networks(findings)
    rows = [_row(findings, method, network, budget) for method in LARGER for network in networks]
    cells = []
    for method in LARGER:
        mine = [row for row in rows if row["method"] == method.name]
        notes = [findings.part([method], network, "field", budget) for network in networks]
        cells.append([method.name, *(_cell(row) + note for row, note in zip(mine, notes, strict=True))])
    caption = f"People reached after {budget} surveys: mean ± standard error"
    return Table(f"larger-{budget}", caption, ["method", *(each.name for each in networks)], cells, rows)


def _row(findings: Findings, method: Method, network: Network, budget: int) -> dict[str, Any]:
    models = findings.models(method, network, "field", budget)
    values = findings.influence(method, network, "field", budget)
    return {
        "network": network.name,
        "surveys": budget,
        "method": method.name,
        "models": 0 if models is None else len(models),
        "runs": 0 if values is None else len(values),
        "mean": None if values is None else float(values.mean()),
        "stderr": None if values is None else standard_error(values),
    }


def _cell(row: dict[str, Any]) -> str:
    return NOT_RUN if row["mean"] is None else f"{row['mean']:.2f} ± {shown(row['stderr'])}"


def _differences(findings: Findings) -> Table:
    rivals = [each for each in RIVALS if each in LARGER]
    rows = [
        _difference(findings, rival, network, budget)
        for budget, _ in findings.paper.scale.larger
        for rival in rivals
        for network in _networks(findings)
    ]
    cells = [
        [
            str(row["surveys"]),
            f"{CLAIM} against {row['against']}{row['part']}",
            row["network"],
            shown(row["difference"], "+.2f"),
            NOT_RUN if row["difference"] is None else f"{row['low']:+.2f} to {row['high']:+.2f}",
            NOT_RUN if row["percent"] is None else f"{row['percent']:+.2f} %",
            NOT_RUN if row["p"] is None else f"{shown(row['p'], '.2g')} {stars(row['p'])}",
        ]
        for row in rows
    ]
    heads = ["surveys", "who", "network", "difference", "95 % interval", "improvement", "p"]
    caption = "Paired differences of CLAIM trained for the budget: * p < 0.05, ** p < 0.01, *** p < 0.001"
    return Table("larger-differences", caption, heads, cells, rows)


def _difference(findings: Findings, rival: Method, network: Network, budget: int) -> dict[str, Any]:
    claim = Method(CLAIM)
    first, second = (findings.influence(each, network, "field", budget) for each in (claim, rival))
    row: dict[str, Any] = {"surveys": budget, "network": network.name, "against": rival.name}
    row["part"] = findings.part([claim, rival], network, "field", budget)
    row |= dict.fromkeys(("difference", "low", "high", "percent", "p"))
    if first is not None and second is not None:
        test = paired_test(first, second, np.random.default_rng(named_seed(SEED, "bootstrap")))
        row |= {"difference": test.difference, "low": test.ci95[0], "high": test.ci95[1], "p": test.p_value}
        row["percent"] = 100 * test.difference / float(second.mean())
    return row


def _groups(findings: Findings, field: Field, budget: int) -> list[Group]:
    return [Group(findings.paper.trainings(variant, field, budget)) for variant in LEARNED]


def _panels(findings: Findings) -> Sequence[tuple[Field, int]]:
    return [(field, budget) for budget, _ in findings.paper.scale.larger for field in findings.paper.larger_fields]


def _curves(findings: Findings) -> Table:
    groups = [group for field, budget in _panels(findings) for group in _groups(findings, field, budget)]
    return Table(
        "larger-learning",
        f"Influence on validation start sets of the training networks, {UNIT}",
        ["family", "surveys", "variant", *SUMMARY],
        [[*map(str, each.labels.values()), *each.summary(findings)] for each in groups],
        [row for each in groups for row in each.rows(findings)],
    )


def _figure(findings: Findings) -> Any:
    panels = _panels(findings)
    figure, axes = pictures.panels(len(panels), columns=2, width=5.0)
    for axis, (field, budget) in zip(axes, panels, strict=True):
        for group, color in zip(_groups(findings, field, budget), pictures.COLORS, strict=False):
            group.draw(findings, axis, color)
        axis.axhline(1.0, color="#999999", linewidth=1)
        pictures.title(axis, f"{field.family}, {budget} surveys")
    pictures.legend(figure, axes)
    figure.supxlabel("training episodes", fontsize=9)
    figure.supylabel("relative to a random class", fontsize=9)
    return figure
