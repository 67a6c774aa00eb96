"""Sections of the report on what the methods reach: each a function from results to tables and figures."""

from collections.abc import Sequence
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
from claim.evaluation.tables import NOT_RUN, Column, DataRow, Table, cell, pivot, table
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
    Method,
)
from claim.experiments.published import CONFIDENTIAL, IMPROVEMENT, OPTIMUM, SPARSE_EXCEPTION, STARS, published
from claim.experiments.published import STABILITY as PUBLISHED_STABILITY
from claim.experiments.results import Results, last_influence
from claim.jobs import Result
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import named_seed

OURS = TABLE[-1]  # chosen before the results were known: the best on each network would be too good by chance
PAIRS = (  # the methods that are compared, the paper's comparison first
    *((Method(CLAIM), Method(other)) for other in (BASELINE, UNTRAINED, "random", "random-class")),
    *((Method(CLAIM), Method(other)) for other in ("change", "degree+inverse")),
    *((method, Method(CLAIM)) for method in (Method(SCOUT), Method(CLAIM, FORESIGHT), Method(SCOUT, FORESIGHT))),
)
HALVES = ("sparse", "dense")
MEASURES = ("degree", "closeness", "betweenness")


# Parts of several sections -------------------------------------------------------------------------------------------


def reached(
    results: Results, method: Method, network: Network, protocol: ProtocolName, budget: int = SURVEYS
) -> dict[str, Any]:
    """A row: the mean over runs of a method on a network, with what the paper reports."""
    values, optimum = results.influence(method, network, protocol, budget), results.optimum(network)
    mean = None if values is None else float(values.mean())
    comparable = method.selector == "greedy" and protocol == "paper" and budget == SURVEYS
    return {
        "network": network.name,
        "protocol": protocol,
        "surveys": budget,
        "method": method.name,
        "models": len(results.models(method, network, protocol, budget) or ()),
        "runs": 0 if values is None else len(values),
        "part": results.part([method], network, protocol, budget),
        "mean": mean,
        "stderr": None if values is None else standard_error(values),
        "published": published(method.policy, network.name) if comparable else None,
        "share_of_optimum": None if mean is None or optimum is None else mean / optimum,
    }


def reached_cell(row: DataRow) -> str:
    """Mean ± standard error (published)."""
    if row["mean"] is None:
        return NOT_RUN
    error = " ± {stderr:.2f}" if "stderr" in row else ""
    beside = "" if row["published"] is None else " ({published:.2f})"
    return cell(row, "{mean:.2f}" + error + beside + "{part}")


def difference(first: FloatArray | None, second: FloatArray | None) -> dict[str, Any]:
    """The paired difference of two methods over runs, its interval, percentage and p-value; None if one is missing."""
    if first is None or second is None or not len(first):
        return dict.fromkeys(("difference", "low", "high", "percent", "p"))
    test = paired_test(first, second, np.random.default_rng(named_seed(SEED, "bootstrap")))
    percent = 100 * test.difference / float(second.mean())
    found = {"difference": test.difference, "low": test.ci95[0], "high": test.ci95[1]}
    return {**found, "percent": percent, "p": test.p_value}


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
    return Section(
        "glance", "At a glance", words, [table("glance", "People reached after five surveys", rows, columns)]
    )


def _glance_row(results: Results, network: Network) -> dict[str, Any]:
    beside = published(CLAIM, network.name)
    paper, field = (reached(results, Method(CLAIM), network, protocol) for protocol in PROTOCOLS[::-1])
    ours = reached(results, OURS, network, "field")
    return {
        "network": network.name,
        "part": field["part"] or paper["part"],
        "published": nan if beside is None else beside,
        "claim": paper["mean"],
        "against_published": _percent_more(paper["mean"], beside),
        "claim_in_field": field["mean"],
        "method": OURS.name,
        "ours": ours["mean"],
        "ours_against_claim": _percent_more(ours["mean"], field["mean"]),
        "optimum": results.optimum(network),
    }


def _percent_more(value: float | None, reference: float | None) -> float:
    return nan if value is None or reference is None else 100 * (value / reference - 1)


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
    figures = [
        _influence_figure(results, each.rows, protocol) for each, protocol in zip(tables, PROTOCOLS, strict=True)
    ]
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
    rows = [reached(results, method, network, protocol) for method in methods for network in networks]
    rows += [_optimum_row(results, network, protocol) for network in networks]
    caption = f"People reached, {protocol} protocol: mean ± standard error (published)"
    return pivot(f"{name}-{protocol}", caption, rows, ["method"], "network", reached_cell)


def _optimum_row(results: Results, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    beside = None if network.name in CONFIDENTIAL or protocol != "paper" else OPTIMUM.get(network.name)
    row = {"network": network.name, "protocol": protocol, "method": "OPT", "part": "", "published": beside}
    return {**row, "mean": results.optimum(network), "share_of_optimum": 1.0}


def _influence_figure(results: Results, rows: Sequence[DataRow], protocol: ProtocolName) -> Figure:
    panels = {}
    for network in results.paper.networks.values():
        optimum = results.optimum(network)
        title = network.name if optimum is None else f"{network.name} (OPT {optimum:.1f})"
        mine = [row for row in rows if row["network"] == network.name and "stderr" in row]
        panels[title] = [
            Interval(row["method"], row["mean"], row["stderr"], published=row["published"]) for row in mine
        ]
    caption = f"People reached, {protocol} protocol: mean and 95 % interval; crosses are published means."
    return Figure(f"influence-{protocol}", caption, interval_panels(panels, "people reached", columns=4))


def _average_table(results: Results, protocol: ProtocolName) -> Table:
    """All methods on average over the networks with published numbers, or over all networks if there are none."""
    networks = list(results.paper.networks.values())
    networks = [each for each in networks if published(CLAIM, each.name) is not None] or networks
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
    mine = [results.influence(method, network, protocol) for network in networks]
    claim = [results.influence(Method(CLAIM), network, protocol) for network in networks]
    values = [each for each in mine if each is not None]
    row: dict[str, Any] = {"protocol": protocol, "method": method.name, "part": "", "runs": 0, "of_published": None}
    if method != Method(CLAIM):
        row |= dict.fromkeys(("claim_ahead", "low", "high"))
    if len(values) < len(networks):
        return row
    row |= {"runs": len(values[0]), "part": results.part([method], networks[0], protocol)}
    beside = [published(CLAIM, network.name) or nan for network in networks]
    row["of_published"] = 100 * float(np.mean([a.mean() / b for a, b in zip(values, beside, strict=True)]))
    pairs = [(a, b) for a, b in zip(claim, values, strict=True) if a is not None]
    if len(pairs) == len(networks) and method != Method(CLAIM):
        ahead = [100 * (a - b) / b.mean() for a, b in pairs]
        mean = float(np.mean([each.mean() for each in ahead]))
        error = 1.96 * float(np.sqrt(sum(standard_error(each) ** 2 for each in ahead))) / len(ahead)
        row |= {"claim_ahead": mean, "low": mean - error, "high": mean + error}
    return row


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
    rows = [_improvement(results, a, b, network, protocol) for a, b in PAIRS for network in networks]
    return table(f"improvement-{protocol}", caption, rows, columns)


def _improvement(results: Results, a: Method, b: Method, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    row: dict[str, Any] = {"network": network.name, "protocol": protocol, "a": a.name, "b": b.name}
    row["part"] = results.part([a, b], network, protocol)
    row |= difference(*(results.influence(each, network, protocol) for each in (a, b)))
    comparable = protocol == "paper" and network.name not in CONFIDENTIAL and network.name in IMPROVEMENT
    if comparable and (a, b) == PAIRS[0]:
        row |= {"published_percent": IMPROVEMENT[network.name], "published_stars": STARS[network.name]}
    return row


# Density figure ------------------------------------------------------------------------------------------------------


def density(results: Results) -> Section:
    """Start sets split at the median of |S ∪ N(S)| / |S|."""
    networks = [each for each in results.paper.networks.values() if each.name not in CONFIDENTIAL]
    rows = {protocol: [_density_row(results, each, protocol, half) for each in networks for half in HALVES]
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


def _density_row(results: Results, network: Network, protocol: ProtocolName, half: str) -> dict[str, Any]:
    row: dict[str, Any] = {"network": network.name, "protocol": protocol, "half": half}
    row["part"] = results.part([Method(CLAIM), Method(BASELINE)], network, protocol)
    row |= dict.fromkeys(("runs", "median", "claim", "claim_stderr", "baseline", "baseline_stderr"))
    models = results.models(Method(CLAIM), network, protocol)
    first, second = (results.influence(Method(name), network, protocol) for name in (CLAIM, BASELINE))
    if models is None or first is None or second is None:
        return row | difference(None, None)
    ratios = np.array(models[0]["density"])
    row["median"] = float(np.median(ratios))
    chosen = ratios > row["median"] if half == "dense" else ratios <= row["median"]
    row["runs"] = int(chosen.sum())
    for name, values in (("claim", first[chosen]), ("baseline", second[chosen])):
        if len(values):
            row |= {name: float(values.mean()), f"{name}_stderr": standard_error(values)}
    return row | difference(first[chosen], second[chosen])


def _exception(rows: Sequence[DataRow], protocol: ProtocolName) -> str:
    """Whether the baseline is ahead here where the paper says it is, and where else."""
    known = [row for row in rows if row["difference"] is not None]
    behind = [f"{row['network']} {row['half']} ({row['difference']:+.2f})" for row in known if row["difference"] < 0]
    words = f"{protocol.capitalize()} protocol: CLAIM is behind the baseline on {', '.join(behind) or 'none of them'}."
    exception = next((r for r in known if (r["network"], r["half"]) == (SPARSE_EXCEPTION, "sparse")), None)
    found = "has not been run"
    if exception is not None:
        found = "is found here too" if exception["difference"] < 0 else "is not found here"
    return f"{words} The paper's one exception, sparse start sets of {SPARSE_EXCEPTION}, {found}."


def _density_figure(rows: Sequence[DataRow]) -> Figure:
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        series = panels.setdefault(row["network"], {BASELINE: [], CLAIM: []})
        for name, part in ((BASELINE, "baseline"), (CLAIM, "claim")):
            series[name].append((_or_nan(row[part]), _or_nan(row[f"{part}_stderr"])))
    caption = "People reached from sparse and dense start sets, paper protocol: mean and standard error."
    return Figure("density", caption, bar_panels(panels, HALVES, "people reached"))


def _or_nan(value: float | None) -> float:
    return nan if value is None else value


# Stability table -----------------------------------------------------------------------------------------------------


def stability(results: Results) -> Section:
    """Mean and deviation over the models of different seeds."""
    words = [
        f"Mean ± deviation over {results.paper.scale.seeds} models trained from different seeds, each evaluated on the "
        "same start sets; in brackets what the paper reports of its three models (evaluated on different runs)."
    ]
    tables = []
    for protocol in PROTOCOLS:
        rows = [
            _stability_row(results, method, network, protocol)
            for network in results.paper.networks.values()
            for method in STABILITY
        ]
        caption = f"Mean ± deviation over models, {protocol} protocol (published)"
        tables.append(pivot(f"stability-{protocol}", caption, rows, ["network"], "method", _stability_cell))
    return Section("stability", "Stability", words, tables)


def _stability_row(results: Results, method: Method, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    models = results.models(method, network, protocol)
    means = None if models is None else [float(last_influence(each).mean()) for each in models]
    comparable = protocol == "paper" and network.name not in CONFIDENTIAL
    mean, deviation = PUBLISHED_STABILITY[method.policy].get(network.name, (None, None)) if comparable else (None, None)
    return {
        "network": network.name,
        "protocol": protocol,
        "method": method.name,
        "part": results.part([method], network, protocol),
        "means": means,
        "mean": None if means is None else float(np.mean(means)),
        "deviation": None if means is None else float(np.std(means, ddof=1)) if len(means) > 1 else nan,
        "published_mean": mean,
        "published_deviation": deviation,
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
    measures = [("degree", "{degree:.2f}"), ("closeness", "{closeness:.4f}"), ("betweenness", "{betweenness:.5f}")]
    tables = [
        table(
            "properties",
            f"Surveyed people of {network}: means over surveys, in the whole network",
            overall,
            [("method", "{method}{part}"), *measures, ("people discovered", "{discovered:.1f}")],
        ),
        table(
            "properties-by-step", "The same by survey", steps, [("method", "{method}"), ("survey", "{step}"), *measures]
        ),
    ]
    words = [
        f"On {network}, field protocol. Degree is the number of contacts; closeness and betweenness are normalised. "
        "All are taken from the whole network, which no policy sees. Trained methods: mean over models."
    ]
    known = [row for row in overall if row["degree"] is not None]
    bars = {
        title: {row["method"]: [(row[measure], row.get(f"{measure}_stderr", nan))] for row in known}
        for measure, title in (*zip(MEASURES, MEASURES, strict=True), ("discovered", "people discovered"))
    }
    lines = {measure: _property_lines(steps, measure) for measure in MEASURES}
    figures = [
        Figure(
            "properties",
            "Surveyed people, mean over all surveys with its standard error.",
            bar_panels(bars, [""], "", columns=4),
        ),
        Figure("properties-by-step", "The same survey by survey.", line_panels(lines, "survey", "")),
    ]
    return Section("properties", "Who is surveyed", words, tables, figures)


def _property_lines(steps: Sequence[DataRow], measure: str) -> list[Line]:
    lines = {method.name: Line(method.name, color, []) for method, color in zip(PROPERTIES, PALETTE, strict=False)}
    for row in steps:
        lines[row["method"]].points.append((row["step"], row[measure], row[f"{measure}_stderr"]))
    return list(lines.values())


def _property_rows(results: Results, method: Method) -> list[dict[str, Any]]:
    """One row for all surveys together, one for each survey."""
    network = results.paper.property_network
    central, models = results.result(Centrality(network)), results.models(method, network, "field")
    names = {"network": network.name, "method": method.name, "part": results.part([method], network, "field")}
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
