"""Sections on other numbers of surveys and larger budgets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.evaluation.statistics import paired_test, standard_error
from claim.evaluation.tables import stars
from claim.experiments import page
from claim.experiments.jobs import SEED
from claim.experiments.page import NOT_RUN, Picture, Section, Table, shown
from claim.experiments.paper import BASELINE, CLAIM, CURVES, FORESIGHT, LARGER, SCOUT, UNTRAINED, Method
from claim.experiments.results import Findings
from claim.experiments.scales import Field
from claim.experiments.sections_training import SUMMARY, UNIT, Group
from claim.networks import Network
from claim.randomness import named_seed


def budget_curves(findings: Findings) -> Section:
    """From no survey to many, for the policies of the paper and of this project."""
    scale = findings.paper.scale
    rows = [row for network in findings.paper.networks.values() for row in _rows(findings, network)]
    heads = ["network", "method", *(str(each) for each in scale.checkpoints)]
    table = Table(
        "budget-curves",
        f"People reached by number of surveys, field protocol, mean of {scale.curve_runs} runs",
        heads,
        _cells(rows, scale.checkpoints),
        rows,
    )
    words = [
        "One study is surveyed to the end and leaders are chosen along the way. The first model of CLAIM, trained for "
        "5 surveys, is used for every number of them; where a line says so, the first one trained for a larger budget. "
        "Dashed lines: leaders by foresight instead of the greedy oracle.",
    ]
    figure = Picture("budget-curves", "People reached against surveys; shaded, one standard error.", _figure(rows))
    return Section("budget-curves", "Influence against surveys", words, [table], [figure])


def _rows(findings: Findings, network: Network) -> list[dict[str, Any]]:
    plays = {
        (name, method.selector): job
        for method in CURVES
        for name, job in findings.paper.curve_plays(method, network).items()
    }
    rows = []
    for (name, selector), job in plays.items():
        played = findings.result(job)
        for i, surveys in enumerate(job.checkpoints):
            values = None if played is None else [run[i] for run in played["influence"]]
            rows.append(
                {
                    "network": network.name,
                    "method": name,
                    "selector": selector,
                    "surveys": surveys,
                    "runs": job.runs,
                    "mean": None if values is None else float(np.mean(values)),
                    "stderr": None if values is None else standard_error(values),
                }
            )
    return rows


def _cells(rows: Sequence[dict[str, Any]], checkpoints: Sequence[int]) -> list[list[str]]:
    lines: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        text = NOT_RUN if row["mean"] is None else f"{row['mean']:.1f}"
        lines.setdefault((row["network"], row["method"]), []).append(text)
    return [[*names, *texts] for names, texts in lines.items()]


def _figure(rows: Sequence[dict[str, Any]]) -> Any:
    networks = list(dict.fromkeys(row["network"] for row in rows))
    methods = list(dict.fromkeys((row["method"], row["selector"]) for row in rows))
    bare = list(dict.fromkeys(method.removesuffix(f" + {FORESIGHT}") for method, _ in methods))
    figure, axes = page.panels(len(networks), columns=4, width=3.4, height=2.8)
    for axis, network in zip(axes, networks, strict=True):
        for method, selector in methods:
            known = [
                row for row in rows if (row["network"], row["method"]) == (network, method) and row["mean"] is not None
            ]
            if known:
                x, mean, error = ([row[part] for row in known] for part in ("surveys", "mean", "stderr"))
                color = page.COLORS[_place(method, bare)]
                page.line(axis, x, mean, error, method, color, "-" if selector == "greedy" else "--")
        page.title(axis, network)
    page.legend(figure, axes, columns=4)
    figure.supxlabel("surveys", fontsize=9)
    figure.supylabel("people reached", fontsize=9)
    return figure


def _place(method: str, bare: Sequence[str]) -> int:
    """The same colour for a policy whoever chooses the leaders."""
    plain = method.replace(f" + {FORESIGHT}", "")
    return bare.index(plain) if plain in bare else len(bare)


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
        _larger_figure(findings),
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


def _larger_figure(findings: Findings) -> Any:
    panels = _panels(findings)
    figure, axes = page.panels(len(panels), columns=2, width=5.0)
    for axis, (field, budget) in zip(axes, panels, strict=True):
        for group, color in zip(_groups(findings, field, budget), page.COLORS, strict=False):
            group.draw(findings, axis, color)
        axis.axhline(1.0, color="#999999", linewidth=1)
        page.title(axis, f"{field.family}, {budget} surveys")
    page.legend(figure, axes)
    figure.supxlabel("training episodes", fontsize=9)
    figure.supylabel("relative to a random class", fontsize=9)
    return figure
