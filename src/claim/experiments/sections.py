"""Sections of the report on what the methods reach: each a function from results to tables and figures."""

from collections.abc import Sequence
from itertools import product
from math import nan
from typing import Any

import numpy as np

from claim.evaluation.report_kit import (
    PALETTE,
    Figure,
    Interval,
    Line,
    Section,
    bar_panels,
    interval_panels,
    line_panels,
)
from claim.evaluation.runs import ProtocolName
from claim.evaluation.statistics import paired_test, standard_error
from claim.evaluation.tables import Column, DataRow, Table, cell, pivot, table
from claim.experiments.jobs import SEED, Centrality
from claim.experiments.paper import (
    ABLATION,
    BASELINE,
    CLAIM,
    FORESIGHT,
    PROPERTIES,
    PROTOCOLS,
    SCOUT,
    STABILITY,
    SURVEYS,
    TABLE,
    UNTRAINED,
    Case,
    Method,
)
from claim.experiments.published import (
    CONFIDENTIAL,
    IMPROVEMENT,
    INFLUENCE,
    OPTIMUM,
    SPARSE_EXCEPTION,
    STARS,
    published,
)
from claim.experiments.published import STABILITY as PUBLISHED_STABILITY
from claim.experiments.results import Results, last_influence
from claim.jobs import Result
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import named_seed

OURS = TABLE[-1]  # chosen before the results were known: the best on each network would be too good by chance
OTHERS = (BASELINE, UNTRAINED, "random", "random-class", "change", "degree+inverse")  # compared with CLAIM
PAIRS = (  # the methods that are compared, the paper's comparison first
    *((Method(CLAIM), Method(other)) for other in OTHERS),
    *((method, Method(CLAIM)) for method in (Method(SCOUT), Method(CLAIM, FORESIGHT), Method(SCOUT, FORESIGHT))),
)
HALVES = ("sparse", "dense")
MEASURES = ("degree", "closeness", "betweenness")


# Parts of several sections -------------------------------------------------------------------------------------------


def reached(results: Results, method: Method, case: Case) -> dict[str, Any]:
    """A row: the mean over runs of a method on a network, with what the paper reports."""
    values, optimum = results.influence(method, case), results.optimum(case.network)
    mean, error = mean_and_error(values)
    beside = INFLUENCE.get(method.policy, {}) if method.selector == "greedy" and case.surveys == SURVEYS else {}
    return {
        "network": case.network.name,
        "protocol": case.protocol,
        "surveys": case.surveys,
        "method": method.name,
        "models": len(results.models(method, case) or ()),
        "runs": 0 if values is None else len(values),
        "part": results.part([method], case),
        "mean": mean,
        "stderr": error,
        "published": published(beside, case.network.name, case.protocol),
        "share_of_optimum": None if mean is None or optimum is None else mean / optimum,
    }


def reached_cell(row: DataRow) -> str:
    """Mean ± standard error (published)."""
    error = " ± {stderr:.2f}" if "stderr" in row else ""
    beside = "" if row["published"] is None else " ({published:.2f})"
    return cell(row, "{mean:.2f}" + error + beside + "{part}")


def mean_and_error(values: Sequence[float] | FloatArray | None) -> tuple[float, float] | tuple[None, None]:
    """Mean and standard error, if there are values."""
    return (None, None) if values is None or not len(values) else (float(np.mean(values)), standard_error(values))


def difference(results: Results, a: Method, b: Method, case: Case) -> dict[str, Any]:
    """Part of a row: the paired difference of two methods on a network."""
    first, second = (results.influence(each, case) for each in (a, b))
    return {"part": results.part([a, b], case), **paired_difference(first, second)}


def paired_difference(first: FloatArray | None, second: FloatArray | None) -> dict[str, Any]:
    """The mean difference over runs, its interval, percentage and p-value; None if there are no runs."""
    if first is None or second is None or not len(first):
        return dict.fromkeys(("difference", "low", "high", "percent", "p"))
    test = paired_test(first, second, np.random.default_rng(named_seed(SEED, "bootstrap")))
    found = {"difference": test.difference, "low": test.ci95[0], "high": test.ci95[1]}
    return {**found, "percent": 100 * test.difference / float(second.mean()), "p": test.p_value}


DIFFERENCE_COLUMNS: list[Column] = [
    ("difference", "{difference:+.2f}"),
    ("95 % interval", "{low:+.2f} to {high:+.2f}"),
    ("improvement", "{percent:+.2f %}"),
    ("p", "{p:.2g} {p:*}"),
]


# At a glance ---------------------------------------------------------------------------------------------------------


def glance(results: Results) -> Section:
    """Published and measured CLAIM side by side, and what a team would use of this software."""
    rows = [_glance_row(results, network) for network in results.paper.networks.values()]
    columns = [
        ("network", "{network}{part}"),
        ("published CLAIM", "{published:.2f}"),
        ("CLAIM here, paper protocol", "{claim:.2f}"),
        ("difference", "{against_published:+.1f %}"),
        ("CLAIM here, field protocol", "{claim_in_field:.2f}"),
        (f"{OURS.name}, field protocol", "{ours:.2f}"),
        ("difference", "{ours_against_claim:+.1f %}"),
        ("OPT", "{optimum:.2f}"),
    ]
    words = [
        "Published numbers are in the paper protocol, means of 100 runs and uncertain by 1 to 3 people. In the field "
        "protocol only discovered people can be leaders, as in a real study."
    ]
    tables = [table("glance", "People reached after five surveys", rows, columns)]
    return Section("glance", "At a glance", words, tables)


def _glance_row(results: Results, network: Network) -> dict[str, Any]:
    paper, field = (reached(results, Method(CLAIM), Case(network, protocol)) for protocol in PROTOCOLS[::-1])
    ours = reached(results, OURS, Case(network, "field"))["mean"]
    return {
        "network": network.name,
        "part": field["part"] or paper["part"],
        "published": _or_nan(paper["published"]),
        "claim": paper["mean"],
        "against_published": 100 * (_or_nan(paper["mean"]) / _or_nan(paper["published"]) - 1),
        "claim_in_field": field["mean"],
        "method": OURS.name,
        "ours": ours,
        "ours_against_claim": 100 * (_or_nan(ours) / _or_nan(field["mean"]) - 1),
        "optimum": results.optimum(network),
    }


def _or_nan(value: float | None) -> float:
    return nan if value is None else value


# Table 3 and ablation ------------------------------------------------------------------------------------------------


def influence(results: Results) -> Section:
    """Table 3 in both protocols, with the published numbers, improvements and paired tests."""
    scale = results.paper.scale
    words = [
        f"Mean people reached ± its standard error over {scale.runs} start sets; 5 start people, 5 surveys, 10 "
        f"leaders, p = 0.1. A trained method is the mean of {scale.seeds} models trained from different seeds, run by "
        f"run; {UNTRAINED} are CLAIM's networks of the same seeds before their first update. In brackets what the "
        "paper reports (means of 100 runs, without standard errors).",
        "The published row of CHANGE is that of a CHANGE which drew its own start people (change-published); change "
        "has equal access. Only the paper protocol can be compared with published numbers.",
    ]
    if any(network in CONFIDENTIAL for network in results.paper.networks):
        words.append("The zones are synthetic stand-ins of a confidential survey, so no published number is given.")
    tables = [_reached_table(results, TABLE, protocol, "influence") for protocol in PROTOCOLS]
    figures = [_influence_figure(results, *each) for each in zip(tables, PROTOCOLS, strict=True)]
    tables += [_average_table(results, protocol) for protocol in PROTOCOLS]
    tables += [_improvement_table(results, protocol) for protocol in PROTOCOLS]
    return Section("influence", "Influence by network and method (Table 3)", words, tables, figures)


def ablation(results: Results) -> Section:
    """The ablation, with what this project adds."""
    words = [
        "The components of CLAIM one by one: Geometric-DQN, with a goal, with hindsight, with the curriculum. Below "
        "them what this project adds: the scout policy, and the foresight selector in place of the greedy oracle."
    ]
    tables = [_reached_table(results, ABLATION, protocol, "ablation") for protocol in PROTOCOLS]
    return Section("ablation", "Ablation", words, tables)


def _reached_table(results: Results, methods: Sequence[Method], protocol: ProtocolName, name: str) -> Table:
    networks = results.paper.networks.values()
    rows = [reached(results, method, Case(network, protocol)) for method in methods for network in networks]
    rows += [_optimum_row(results, network, protocol) for network in networks]
    caption = f"People reached, {protocol} protocol: mean ± standard error (published)"
    return pivot(f"{name}-{protocol}", caption, rows, ["method"], "network", reached_cell)


def _optimum_row(results: Results, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    row: dict[str, Any] = {"network": network.name, "protocol": protocol, "method": "OPT", "part": ""}
    row["published"] = published(OPTIMUM, network.name, protocol)
    return {**row, "mean": results.optimum(network), "share_of_optimum": 1.0}


def _influence_figure(results: Results, shown: Table, protocol: ProtocolName) -> Figure:
    panels = {}
    for network in results.paper.networks.values():
        optimum = results.optimum(network)
        title = network.name if optimum is None else f"{network.name} (OPT {optimum:.1f})"
        panels[title] = [
            Interval(row["method"], row["mean"], row["stderr"], published=row["published"])
            for row in shown.rows
            if row["network"] == network.name and "stderr" in row
        ]
    caption = f"People reached, {protocol} protocol: mean and 95 % interval; crosses are published means."
    return Figure(f"influence-{protocol}", caption, interval_panels(panels, "people reached", columns=4))


def _average_table(results: Results, protocol: ProtocolName) -> Table:
    """All methods on average over the networks with published numbers, or over all networks if there are none."""
    networks = list(results.paper.networks.values())
    networks = [each for each in networks if published(INFLUENCE[CLAIM], each.name)] or networks
    columns = [
        ("method", "{method}{part}"),
        ("of CLAIM's published influence", "{of_published:.1f %}"),
        ("CLAIM is ahead by", "{claim_ahead:+.2f %}"),
        ("95 % interval", "{low:+.2f} to {high:+.2f} %"),
    ]
    names = ", ".join(network.name for network in networks)
    caption = f"Averages of {names}, {protocol} protocol; intervals count start sets, not models"
    rows = [_average(results, method, networks, protocol) for method in TABLE]
    return table(f"average-{protocol}", caption, rows, columns)


def _average(results: Results, method: Method, networks: Sequence[Network], protocol: ProtocolName) -> dict[str, Any]:
    row: dict[str, Any] = {"protocol": protocol, "method": method.name, "part": "", "runs": 0, "of_published": None}
    if method != Method(CLAIM):
        row |= dict.fromkeys(("claim_ahead", "low", "high"))
    values, claim = (_on_all(results, each, networks, protocol) for each in (method, Method(CLAIM)))
    if values is None:
        return row
    means = values.mean(axis=1)
    beside = np.array([published(INFLUENCE[CLAIM], network.name) for network in networks], float)
    row |= {"runs": values.shape[1], "part": results.part([method], Case(networks[0], protocol))}
    row["of_published"] = 100 * float(np.mean(means / beside))
    if claim is not None and method != Method(CLAIM):
        ahead = 100 * (claim - values) / means[:, None]
        mean = float(ahead.mean(axis=1).mean())
        error = 1.96 * float(np.sqrt(np.cumsum([standard_error(each) ** 2 for each in ahead])[-1])) / len(ahead)
        row |= {"claim_ahead": mean, "low": mean - error, "high": mean + error}
    return row


def _on_all(results: Results, method: Method, networks: Sequence[Network], protocol: ProtocolName) -> FloatArray | None:
    """People reached in each run (networks, runs), once all networks are done."""
    found = [results.influence(method, Case(network, protocol)) for network in networks]
    return None if any(each is None for each in found) else np.array(found)


def _improvement_table(results: Results, protocol: ProtocolName) -> Table:
    networks = results.paper.networks.values()
    columns: list[Column] = [
        "network",
        ("who", "{a} against {b}{part}"),
        *DIFFERENCE_COLUMNS,
        ("published", "{published_percent:+.2f} % {published_stars}"),
    ]
    caption = (
        f"Improvements, {protocol} protocol, by paired t-test: * p < 0.05, ** p < 0.01, *** p < 0.001 (no correction; "
        "tests and intervals count start sets, not models, which differ too: see stability)"
    )
    rows = [_improvement(results, a, b, Case(network, protocol)) for a, b in PAIRS for network in networks]
    return table(f"improvement-{protocol}", caption, rows, columns)


def _improvement(results: Results, a: Method, b: Method, case: Case) -> dict[str, Any]:
    network = case.network.name
    row: dict[str, Any] = {"network": network, "protocol": case.protocol, "a": a.name, "b": b.name}
    row |= difference(results, a, b, case)
    percent = published(IMPROVEMENT, network, case.protocol)
    if percent is not None and (a, b) == PAIRS[0]:
        row |= {"published_percent": percent, "published_stars": STARS[network]}
    return row


# Density figure ------------------------------------------------------------------------------------------------------


def density(results: Results) -> Section:
    """Start sets split at the median of |S ∪ N(S)| / |S|."""
    networks = [each for each in results.paper.networks.values() if each.name not in CONFIDENTIAL]
    rows = {protocol: [_density_row(results, Case(each, protocol), half) for each in networks for half in HALVES]
            for protocol in PROTOCOLS}  # fmt: skip
    columns = [
        ("network", "{network}{part}"),
        ("start sets", "{half}"),
        ("runs", "{runs}"),
        ("median of the ratio", "{median:.2f}"),
        (CLAIM, "{claim:.2f}"),
        (BASELINE, "{baseline:.2f}"),
        ("difference", "{difference:+.2f}"),
        ("p", "{p:.2g} {p:*}"),
    ]
    caption = "People reached, {} protocol, with the paired t-test of the difference"
    tables = [table(f"density-{each}", caption.format(each), rows[each], columns) for each in PROTOCOLS]
    words = [
        "A start set is dense if its people and their contacts are more, for each start person, than the median over "
        "the start sets of the network; those at the median count as sparse. Both methods have the same start sets.",
        *(_exception(rows[protocol], protocol) for protocol in PROTOCOLS),
    ]
    return Section("density", "Dense and sparse start sets", words, tables, [_density_figure(rows["paper"])])


def _density_row(results: Results, case: Case, half: str) -> dict[str, Any]:
    row: dict[str, Any] = {"network": case.network.name, "protocol": case.protocol, "half": half}
    row["part"] = results.part([Method(CLAIM), Method(BASELINE)], case)
    row |= dict.fromkeys(("runs", "median", "claim", "claim_stderr", "baseline", "baseline_stderr"))
    models = results.models(Method(CLAIM), case)
    first, second = (results.influence(Method(name), case) for name in (CLAIM, BASELINE))
    if models is not None and first is not None and second is not None:
        ratios = np.array(models[0]["density"])
        chosen = (ratios > np.median(ratios)) == (half == "dense")
        first, second = first[chosen], second[chosen]
        row |= {"runs": len(first), "median": float(np.median(ratios))}
        row["claim"], row["claim_stderr"] = mean_and_error(first)
        row["baseline"], row["baseline_stderr"] = mean_and_error(second)
        return row | paired_difference(first, second)
    return row | paired_difference(None, None)


def _exception(rows: Sequence[DataRow], protocol: ProtocolName) -> str:
    """Whether the baseline is ahead here where the paper says it is, and where else."""
    known = [row for row in rows if row["difference"] is not None]
    behind = [f"{row['network']} {row['half']} ({row['difference']:+.2f})" for row in known if row["difference"] < 0]
    words = f"{protocol.capitalize()} protocol: CLAIM is behind the baseline on {', '.join(behind) or 'none of them'}."
    sparse = [row["difference"] < 0 for row in known if (row["network"], row["half"]) == (SPARSE_EXCEPTION, "sparse")]
    found = ("is found here too" if sparse[0] else "is not found here") if sparse else "has not been run"
    return f"{words} The paper's one exception, sparse start sets of {SPARSE_EXCEPTION}, {found}."


def _density_figure(rows: Sequence[DataRow]) -> Figure:
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        series = panels.setdefault(row["network"], {BASELINE: [], CLAIM: []})
        series[BASELINE].append((row["baseline"], row["baseline_stderr"]))
        series[CLAIM].append((row["claim"], row["claim_stderr"]))
    caption = "People reached from sparse and dense start sets, paper protocol: mean and standard error."
    return Figure("density", caption, bar_panels(panels, HALVES, "people reached"))


# Stability table -----------------------------------------------------------------------------------------------------


def stability(results: Results) -> Section:
    """Mean and deviation over the models of different seeds."""
    words = [
        f"Mean ± deviation over {results.paper.scale.seeds} models trained from different seeds, each evaluated on the "
        "same start sets; in brackets what the paper reports of its three models (evaluated on different runs)."
    ]
    tables = []
    for protocol in PROTOCOLS:
        cases = product(results.paper.networks.values(), STABILITY)
        rows = [_stability_row(results, method, Case(network, protocol)) for network, method in cases]
        caption = f"Mean ± deviation over models, {protocol} protocol (published)"
        tables.append(pivot(f"stability-{protocol}", caption, rows, ["network"], "method", _stability_cell))
    return Section("stability", "Stability", words, tables)


def _stability_row(results: Results, method: Method, case: Case) -> dict[str, Any]:
    models = results.models(method, case)
    means = None if models is None else [float(last_influence(each).mean()) for each in models]
    beside = published(PUBLISHED_STABILITY[method.policy], case.network.name, case.protocol) or (None, None)
    return {
        "network": case.network.name,
        "protocol": case.protocol,
        "method": method.name,
        "part": results.part([method], case),
        "means": means,
        "mean": means and float(np.mean(means)),
        "deviation": means and (float(np.std(means, ddof=1)) if len(means) > 1 else nan),
        "published_mean": beside[0],
        "published_deviation": beside[1],
    }


def _stability_cell(row: DataRow) -> str:
    beside = "" if row["published_mean"] is None else " ({published_mean:.2f} ± {published_deviation:.2f})"
    return cell(row, "{mean:.2f} ± {deviation:.2f}" + beside + "{part}")


# Property figure -----------------------------------------------------------------------------------------------------


def properties(results: Results) -> Section:
    """Centralities of surveyed people, overall and by survey, and the size of the discovered network."""
    network = results.paper.property_network.name
    rows = [row for method in PROPERTIES for row in _property_rows(results, method)]
    overall = [row for row in rows if row["step"] == "all"]
    steps = [row for row in rows if row["step"] != "all"]
    words = [
        f"On {network}, field protocol. Degree is the number of contacts; closeness and betweenness are normalised. "
        "All are taken from the whole network, which no policy sees. Trained methods: mean over models."
    ]
    measures = [("degree", "{degree:.2f}"), ("closeness", "{closeness:.4f}"), ("betweenness", "{betweenness:.5f}")]
    columns = [("method", "{method}{part}"), *measures, ("people discovered", "{discovered:.1f}")]
    caption = f"Surveyed people of {network}: means over surveys, in the whole network"
    tables = [
        table("properties", caption, overall, columns),
        table("properties-by-step", "The same by survey", steps, ["method", ("survey", "{step}"), *measures]),
    ]
    known = [row for row in overall if row["degree"] is not None]
    bars = {
        measure: {row["method"]: [(row[measure], row[f"{measure}_stderr"])] for row in known} for measure in MEASURES
    }
    bars["people discovered"] = {row["method"]: [(row["discovered"], nan)] for row in known}
    drawing = bar_panels(bars, [""], "", columns=4)
    lines = line_panels({measure: _property_lines(steps, measure) for measure in MEASURES}, "survey", "")
    figures = [
        Figure("properties", "Surveyed people, mean over all surveys with its standard error.", drawing),
        Figure("properties-by-step", "The same survey by survey.", lines),
    ]
    return Section("properties", "Who is surveyed", words, tables, figures)


def _property_lines(steps: Sequence[DataRow], measure: str) -> list[Line]:
    lines = {method.name: Line(method.name, color, []) for method, color in zip(PROPERTIES, PALETTE, strict=False)}
    for row in steps:
        lines[row["method"]].points.append((row["step"], row[measure], row[f"{measure}_stderr"]))
    return list(lines.values())


def _property_rows(results: Results, method: Method) -> list[dict[str, Any]]:
    """One row for all surveys together, one for each survey."""
    case = Case(results.paper.property_network, "field")
    central, models = results.result(Centrality(case.network)), results.models(method, case)
    names = {"network": case.network.name, "method": method.name, "part": results.part([method], case)}
    if central is None or models is None:
        return [{**names, "step": "all", **dict.fromkeys((*MEASURES, "discovered"))}]
    steps = max((len(run) for model in models for run in model["surveyed"]), default=0)
    discovered = float(np.mean([run[-1] for model in models for run in model["discovered"]]))
    overall = {**names, "step": "all", **_centrality_means(models, central, range(steps)), "discovered": discovered}
    return [overall] + [
        {**names, "step": step + 1, **_centrality_means(models, central, [step])} for step in range(steps)
    ]


def _centrality_means(models: Sequence[Result], central: Result, steps: Sequence[int]) -> dict[str, float | None]:
    """Means over runs; the models of a method share a run's start set, so their surveyed people count together."""
    same_starts = zip(*(model["surveyed"] for model in models), strict=True)
    surveyed = ([run[step] for run in runs for step in steps if step < len(run)] for runs in same_starts)
    runs = [people for people in surveyed if people]
    found: dict[str, float | None] = {}
    for measure in MEASURES:
        values = np.array(central[measure])
        found[measure], found[f"{measure}_stderr"] = mean_and_error([values[people].mean() for people in runs])
    return found


SECTIONS = (glance, influence, density, ablation, stability, properties)
