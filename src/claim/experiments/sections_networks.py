"""Sections on the networks: density and properties."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.evaluation.runs import ProtocolName
from claim.evaluation.statistics import standard_error, t_test_p_value
from claim.evaluation.tables import stars
from claim.experiments import page
from claim.experiments.jobs import Centrality
from claim.experiments.page import NOT_RUN, Picture, Section, Table, shown
from claim.experiments.paper import BASELINE, CLAIM, PROPERTIES, PROTOCOLS, Method
from claim.experiments.published import CONFIDENTIAL, SPARSE_EXCEPTION
from claim.experiments.results import Findings
from claim.jobs import Result
from claim.networks import Network

HALVES = ("sparse", "dense")


def density(findings: Findings) -> Section:
    """Start sets cut at the median of |S ∪ N(S)| / |S|."""
    networks = [each for each in findings.paper.networks.values() if each.name not in CONFIDENTIAL]
    tables, rows_of = [], {}
    for protocol in PROTOCOLS:
        rows_of[protocol] = [_row(findings, each, protocol, half) for each in networks for half in HALVES]
        tables.append(_table(rows_of[protocol], protocol))
    figure = Picture(
        "density",
        "People reached from sparse and dense start sets, paper protocol: mean and standard error.",
        _figure(rows_of["paper"], [each.name for each in networks]),
    )
    words = [
        "A start set is dense if its people and their contacts are more, for each start person, than the median over "
        "the start sets of the network; those at the median count as sparse. Both methods play the same start sets.",
        *(_exception(rows_of[protocol], protocol) for protocol in PROTOCOLS),
    ]
    return Section("density", "Dense and sparse start sets", words, tables, [figure])


def _row(findings: Findings, network: Network, protocol: ProtocolName, half: str) -> dict[str, Any]:
    row: dict[str, Any] = {"network": network.name, "protocol": protocol, "half": half}
    row["part"] = findings.part([Method(CLAIM), Method(BASELINE)], network, protocol)
    row |= dict.fromkeys(("runs", "median", "claim", "claim_stderr", "baseline", "baseline_stderr", "difference", "p"))
    models = findings.models(Method(CLAIM), network, protocol)
    first, second = (findings.influence(Method(name), network, protocol) for name in (CLAIM, BASELINE))
    if models is None or first is None or second is None:
        return row
    ratios = np.array(models[0]["density"])
    median = float(np.median(ratios))
    chosen = ratios > median if half == "dense" else ratios <= median
    a, b = first[chosen], second[chosen]
    if not len(a):
        return {**row, "runs": 0, "median": median}
    return row | {
        "runs": len(a),
        "median": median,
        "claim": float(a.mean()),
        "claim_stderr": standard_error(a),
        "baseline": float(b.mean()),
        "baseline_stderr": standard_error(b),
        "difference": float((a - b).mean()),
        "p": t_test_p_value(a - b),
    }


def _table(rows: Sequence[dict[str, Any]], protocol: ProtocolName) -> Table:
    cells = [
        [
            row["network"] + row["part"],
            row["half"],
            NOT_RUN if row["runs"] is None else str(row["runs"]),
            shown(row["median"]),
            shown(row["claim"]),
            shown(row["baseline"]),
            shown(row["difference"], "+.2f"),
            NOT_RUN if row["p"] is None else f"{shown(row['p'], '.2g')} {stars(row['p'])}",
        ]
        for row in rows
    ]
    heads = ["network", "start sets", "runs", "median of the ratio", CLAIM, BASELINE, "difference", "p"]
    caption = f"People reached, {protocol} protocol, with the paired t-test of the difference"
    return Table(f"density-{protocol}", caption, heads, cells, rows)


def _exception(rows: Sequence[dict[str, Any]], protocol: ProtocolName) -> str:
    """Whether the baseline is ahead here where the paper says it is, and where else."""
    known = [row for row in rows if row["difference"] is not None]
    behind = [f"{row['network']} {row['half']} ({row['difference']:+.2f})" for row in known if row["difference"] < 0]
    words = f"{protocol.capitalize()} protocol: CLAIM is behind the baseline on {', '.join(behind) or 'none of them'}."
    exception = next((r for r in known if (r["network"], r["half"]) == (SPARSE_EXCEPTION, "sparse")), None)
    if exception is None:
        return f"{words} The paper's one exception, sparse start sets of {SPARSE_EXCEPTION}, has not been run."
    holds = "is found here too" if exception["difference"] < 0 else "is not found here"
    return f"{words} The paper's one exception, sparse start sets of {SPARSE_EXCEPTION}, {holds}."


def _figure(rows: Sequence[dict[str, Any]], networks: Sequence[str]) -> Any:
    figure, axes = page.panels(len(networks))
    for axis, network in zip(axes, networks, strict=True):
        known = [row for row in rows if row["network"] == network and row["claim"] is not None]
        series = {
            name: ([row[part] for row in known], [row[f"{part}_stderr"] for row in known])
            for name, part in ((BASELINE, "baseline"), (CLAIM, "claim"))
        }
        page.bars(axis, [row["half"] for row in known], series)
        page.title(axis, network)
    page.legend(figure, axes)
    figure.supylabel("people reached", fontsize=9)
    return figure


MEASURES = ("degree", "closeness", "betweenness")


def properties(findings: Findings) -> Section:
    """Degree, closeness and betweenness of surveyed people, overall and by step, and the discovered network's size."""
    network = findings.paper.property_network
    rows = [row for method in PROPERTIES for row in _rows(findings, method)]
    overall = Table(
        "properties",
        f"Surveyed people of {network.name}: means over surveys, in the whole network",
        ["method", *MEASURES, "people discovered"],
        [_overall_cells(rows, method) for method in PROPERTIES],
        [row for row in rows if row["step"] == "all"],
    )
    by_step = Table(
        "properties-by-step",
        "The same by survey",
        ["method", "survey", *MEASURES],
        [
            [row["method"], str(row["step"]), *_measures(row)]
            for row in rows
            if row["step"] != "all" and row["degree"] is not None
        ],
        [row for row in rows if row["step"] != "all"],
    )
    words = [
        f"On {network.name}, field protocol. Degree is the number of contacts; closeness and betweenness are "
        "normalised. All are taken from the whole network, which no policy sees. Trained methods: mean over models."
    ]
    figures = [
        Picture("properties", "Surveyed people, mean over all surveys with its standard error.", _overall(rows)),
        Picture("properties-by-step", "The same survey by survey.", _by_step(rows)),
    ]
    return Section("properties", "Who is surveyed", words, [overall, by_step], figures)


def _rows(findings: Findings, method: Method) -> list[dict[str, Any]]:
    """One row for all surveys together, one for each step."""
    network = findings.paper.property_network
    central = findings.result(Centrality(network))
    models = findings.models(method, network, "field")
    empty: dict[str, Any] = {"network": network.name, "method": method.name, "discovered": None}
    empty["part"] = findings.part([method], network, "field")
    empty |= {name: None for measure in MEASURES for name in (measure, f"{measure}_stderr")}
    if central is None or models is None:
        return [{**empty, "step": "all"}]
    steps = max((len(run) for model in models for run in model["surveyed"]), default=0)
    rows = [{**empty, "step": "all", **_means(models, central, range(steps))}]
    rows[0]["discovered"] = float(np.mean([run[-1] for model in models for run in model["discovered"]]))
    return rows + [{**empty, "step": step + 1, **_means(models, central, [step])} for step in range(steps)]


def _means(models: Sequence[Result], central: Result, steps: Sequence[int]) -> dict[str, float | None]:
    """Means over runs; the models of a method share a run's start set, so that their people count together."""
    people = [
        [run[step] for run in same_start for step in steps if step < len(run)]
        for same_start in zip(*(model["surveyed"] for model in models), strict=True)
    ]
    runs = [each for each in people if each]
    found: dict[str, float | None] = {}
    for measure in MEASURES:
        values = np.array(central[measure])
        per_run = [float(values[each].mean()) for each in runs]
        found[measure] = float(np.mean(per_run)) if per_run else None
        found[f"{measure}_stderr"] = standard_error(per_run) if per_run else None
    return found


def _overall_cells(rows: Sequence[dict[str, Any]], method: Method) -> list[str]:
    row = next(each for each in rows if (each["method"], each["step"]) == (method.name, "all"))
    return [method.name + row["part"], *_measures(row), shown(row["discovered"], ".1f")]


def _measures(row: dict[str, Any]) -> list[str]:
    return [shown(row["degree"], ".2f"), shown(row["closeness"], ".4f"), shown(row["betweenness"], ".5f")]


def _overall(rows: Sequence[dict[str, Any]]) -> Any:
    known = [row for row in rows if row["step"] == "all" and row["degree"] is not None]
    figure, axes = page.panels(4, columns=4, width=3.0)
    for axis, measure in zip(axes, (*MEASURES, "discovered"), strict=True):
        for i, row in enumerate(known):
            error = np.nan_to_num(row.get(f"{measure}_stderr") or 0.0)
            axis.bar(i, row[measure], 0.7, color=page.COLORS[i], yerr=error, capsize=3)
        axis.set_xticks(range(len(known)), [row["method"] for row in known], fontsize=8)
        page.finish(axis)
        page.title(axis, "people discovered" if measure == "discovered" else measure)
    return figure


def _by_step(rows: Sequence[dict[str, Any]]) -> Any:
    figure, axes = page.panels(3)
    for axis, measure in zip(axes, MEASURES, strict=True):
        for i, method in enumerate(PROPERTIES):
            steps = [r for r in rows if r["method"] == method.name and r["step"] != "all" and r[measure] is not None]
            if steps:
                x, mean, error = ([r[part] for r in steps] for part in ("step", measure, f"{measure}_stderr"))
                page.line(axis, x, mean, error, method.name, page.COLORS[i])
                axis.set_xticks(x)
        page.title(axis, measure)
    page.legend(figure, axes)
    figure.supxlabel("survey", fontsize=9)
    return figure
