"""Sections of the report on what the methods reach: each a function from results to tables and figures."""

from collections.abc import Sequence
from functools import partial
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
from claim.evaluation.statistics import FEWEST_TRAININGS, hierarchical_test, paired_test, standard_error
from claim.evaluation.tables import Column, DataRow, Table, cell, pivot, table
from claim.experiments.jobs import SEED, Centrality
from claim.experiments.paper import (
    ABLATED_VARIANTS,
    ABLATION,
    BASELINE,
    CLAIM,
    CLAIM_ABLATION,
    FORESIGHT,
    FROM_EPISODES,
    PAPER_CLAIM,
    PROPERTIES,
    PROTOCOLS,
    SCOUT,
    SHAPED,
    STABILITY,
    SURVEYS,
    TABLE,
    UNTRAINED,
    VARIANTS,
    Case,
    FamilySplit,
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
from claim.experiments.results import Results, by_model, is_trained, last_influence
from claim.jobs import Result
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import named_seed

OURS = TABLE[-1]  # chosen before the results were known: the best on each network would be too good by chance
# Compared with claim
OTHERS = (BASELINE, PAPER_CLAIM, SHAPED, UNTRAINED, "random", "random-class", "change", "degree+inverse")
PAIRS = (  # the methods that are compared, the paper's comparison first
    (Method(PAPER_CLAIM), Method(BASELINE)),
    *((Method(CLAIM), Method(other)) for other in OTHERS),
    *((method, Method(CLAIM)) for method in (Method(SCOUT), Method(CLAIM, FORESIGHT), Method(SCOUT, FORESIGHT))),
)
COMPARED = (Method(PAPER_CLAIM), Method(CLAIM))  # with the baseline, on dense and sparse start sets
HALVES = ("sparse", "dense")
MEASURES = ("degree", "closeness", "betweenness")


# Parts of several sections -------------------------------------------------------------------------------------------


def reached(results: Results, method: Method, case: Case) -> dict[str, Any]:
    """A row: the mean over models and runs of a method on a network, with what the paper reports."""
    values, optimum = results.influence(method, case), results.optimum(case.network)
    mean, error = mean_and_error(values) if results.is_planned(method, case) else (nan, nan)
    beside = INFLUENCE.get(method.policy, {}) if method.selector == "greedy" and case.surveys == SURVEYS else {}
    return {
        "network": case.network.name,
        "protocol": case.protocol,
        "surveys": case.surveys,
        "method": method.name,
        "models": len(results.models(method, case) or ()),
        "runs": 0 if values is None else values.shape[-1],
        "part": results.part([method], case),
        "mean": mean,
        "stderr": error,
        "published": published(beside, case.network.name, case.protocol),
        "share_of_optimum": None if mean is None or optimum is None else mean / optimum,
    }


def reached_cell(row: DataRow) -> str:
    """Mean ± standard error (published); a dash where the method is not trained on the family."""
    if row["mean"] is not None and np.isnan(row["mean"]):
        return "–"
    error = " ± {stderr:.2f}" if "stderr" in row else ""
    beside = "" if row["published"] is None else " ({published:.2f})"
    return cell(row, "{mean:.2f}" + error + beside + "{part}")


def mean_and_error(values: Sequence[float] | FloatArray | None) -> tuple[float, float] | tuple[None, None]:
    """Mean and standard error of values (runs,) or (models, runs), if there are any."""
    return (None, None) if values is None or not np.size(values) else (float(np.mean(values)), standard_error(values))


def difference(results: Results, a: Method, b: Method, case: Case) -> dict[str, Any]:
    """Part of a row: the paired difference of two methods on a network."""
    first, second = (results.influence(each, case) for each in (a, b))
    return {"part": results.part([a, b], case), **paired_difference(first, second, a.policy == b.policy)}


def paired_difference(first: FloatArray | None, second: FloatArray | None, same_models: bool = False) -> dict[str, Any]:
    """The mean difference, its standard error, interval, percentage and p-value; None if there are no runs.

    Values are (models, runs) or (runs,). Two methods with the same models are compared model by model.
    """
    if first is None or second is None or not first.size:
        return dict.fromkeys(("difference", "stderr", "low", "high", "percent", "p"))
    rng = np.random.default_rng(named_seed(SEED, "bootstrap"))
    if first.ndim == second.ndim == 1:
        test = paired_test(first, second, rng)
    elif same_models and first.shape == second.shape:
        test = hierarchical_test(first - second, np.zeros(first.shape[-1]), rng)
    else:
        test = hierarchical_test(first, second, rng)
    found = {"difference": test.difference, "stderr": test.stderr, "low": test.ci95[0], "high": test.ci95[1]}
    return {**found, "percent": 100 * test.difference / float(second.mean()), "p": test.p_value}


def interval_cell(row: DataRow, unit: str = "") -> str:
    """The interval, or one dash if there is none."""
    text = cell(row, "{low:+.2f} to {high:+.2f}" + unit)
    return "–" if text.startswith("–") else text


TESTED = (
    "intervals and p-values bootstrapped over start sets and models, no interval with one model, no p-value with fewer "
    f"than {FEWEST_TRAININGS}: * p < 0.05, ** p < 0.01, *** p < 0.001 (no correction)"
)
DIFFERENCE_COLUMNS: list[Column] = [
    ("difference", "{difference:+.2f}"),
    ("95 % interval", interval_cell),
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
        (f"{PAPER_CLAIM}, paper protocol", "{paper_claim:.2f}"),
        ("against published", "{paper_claim_against_published:+.1f %}"),
        (f"{CLAIM}, paper protocol", "{claim:.2f}"),
        ("against published", "{claim_against_published:+.1f %}"),
        (f"{CLAIM}, field protocol", "{claim_in_field:.2f}"),
        (f"{OURS.name}, field protocol", "{ours:.2f}"),
        (f"against {CLAIM}", "{ours_against_claim:+.1f %}"),
        ("OPT", "{optimum:.2f}"),
    ]
    words = [
        "Published numbers are in the paper protocol, means of 100 runs and uncertain by 1 to 3 people. In the field "
        f"protocol only discovered people can be leaders, as in a real study. {PAPER_CLAIM} is the paper's method, "
        f"trained by its Algorithm 1; {CLAIM} is the method of this project."
    ]
    tables = [table("glance", "People reached after five surveys", rows, columns)]
    return Section("glance", "At a glance", words, tables)


def listed(names: Sequence[str]) -> str:
    """Names with commas, and an "and" before the last."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _glance_row(results: Results, network: Network) -> dict[str, Any]:
    paper, claim = (reached(results, Method(name), Case(network, "paper")) for name in (PAPER_CLAIM, CLAIM))
    field, ours = (reached(results, method, Case(network, "field")) for method in (Method(CLAIM), OURS))
    beside = _or_nan(paper["published"])
    return {
        "network": network.name,
        "part": results.part([Method(PAPER_CLAIM), Method(CLAIM)], Case(network, "paper")),
        "published": beside,
        "paper_claim": paper["mean"],
        "paper_claim_against_published": 100 * (_or_nan(paper["mean"]) / beside - 1),
        "claim": claim["mean"],
        "claim_against_published": 100 * (_or_nan(claim["mean"]) / beside - 1),
        "claim_in_field": field["mean"],
        "method": OURS.name,
        "ours": ours["mean"],
        "ours_against_claim": 100 * (_or_nan(ours["mean"]) / _or_nan(field["mean"]) - 1),
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
        f"leaders, p = 0.1. A trained method is the mean of its models, which are trained from different seeds "
        f"({_models(results)}), and its standard error counts models too; {UNTRAINED} are {CLAIM}'s networks of the "
        "same seeds before their first update. In brackets what the paper reports (means of 100 runs, without standard "
        "errors).",
        f"The paper's variants are trained for {listed([split.family for split in results.paper.main_splits])} only, "
        f"and have a dash elsewhere. {SHAPED}, the method of this project's earlier versions, is one training.",
        "The published row of CHANGE is that of a CHANGE which drew its own start people (change-published); change "
        "has equal access. Only the paper protocol can be compared with published numbers.",
    ]
    if any(network in CONFIDENTIAL for network in results.paper.networks):
        words.append("The zones are synthetic stand-ins of a confidential survey, so no published number is given.")
    verdicts = list(filter(None, (_not_above_random(results, protocol) for protocol in PROTOCOLS)))
    if verdicts:
        above = "A method is above random surveys if the whole 95 % interval of the difference is above 0"
        words.append(" ".join([*verdicts, f"{above}; with one training, the interval counts start sets only."]))
    tables = [_reached_table(results, TABLE, protocol, "influence") for protocol in PROTOCOLS]
    figures = [_influence_figure(results, *each) for each in zip(tables, PROTOCOLS, strict=True)]
    tables += [_average_table(results, TABLE, protocol, "average") for protocol in PROTOCOLS]
    tables += [_improvement_table(results, protocol) for protocol in PROTOCOLS]
    return Section("influence", "Influence by network and method (Table 3)", words, tables, figures)


def _models(results: Results) -> str:
    """How many models the trained methods of the main table have."""
    main = results.paper.main_splits[0]
    counts = {method.policy: len(results.paper.trainings(method.policy, main)) for method in TABLE
              if method.policy in VARIANTS}  # fmt: skip
    return ", ".join(f"{policy} {count}" for policy, count in counts.items())


def _not_above_random(results: Results, protocol: ProtocolName) -> str:
    """Which trained methods are not above random surveys, and where; empty if none has been run."""
    cases = [Case(network, protocol) for network in results.paper.networks.values()]
    methods = [each for each in TABLE if is_trained(each) and each.policy != UNTRAINED and each.selector == "greedy"]
    above = {(method.name, case.network.name): _above_random(results, method, case)
             for method, case in product(methods, cases)}  # fmt: skip
    if all(each is None for each in above.values()):
        return ""
    found: dict[tuple[str, ...], list[str]] = {}  # methods, by networks
    for method in methods:
        where = tuple(case.network.name for case in cases if above[method.name, case.network.name] is False)
        found.setdefault(where, []).append(method.name)
    sentences = [
        f"on {listed(where)}, {listed(names)} {'are' if len(names) > 1 else 'is'} not above random surveys"
        for where, names in found.items()
        if where
    ]
    verdict = "; ".join(sentences) or "every trained method that has been run is above random surveys"
    return f"{protocol.capitalize()} protocol: {verdict}."


def _above_random(results: Results, method: Method, case: Case) -> bool | None:
    """Whether the interval of the difference from random surveys is above 0; None if it has not been run."""
    values, random = results.influence(method, case), results.influence(Method("random"), case)
    if values is None or random is None:
        return None
    low: float = paired_difference(values if len(values) > 1 else values[0], random)["low"]
    return low > 0


def ablation(results: Results) -> Section:
    """The ablation of the paper, and that of this project's method."""
    times = ABLATED_VARIANTS[FROM_EPISODES].times
    words = [
        "The components of the paper's method one by one, in the paper protocol: Geometric-DQN, with a goal, with "
        "hindsight, with the curriculum.",
        f"Then {CLAIM} with one part changed at a time, trained in half as many episodes as elsewhere. {FROM_EPISODES} "
        f"tries only the class of people that an episode chooses, not every class, in {times} times as many episodes.",
    ]
    tables = [
        _reached_table(results, ABLATION, "paper", "ablation"),
        _reached_table(results, CLAIM_ABLATION, "paper", "ablation-claim"),
    ]
    tables.append(_average_table(results, CLAIM_ABLATION, "paper", "ablation-claim-average"))
    rows = [_last_validations(results, each, split) for each in ABLATED_VARIANTS for split in results.paper.splits]
    caption = "Validation score after the last episode, 1 is a random class: mean ± deviation over models"
    form = "{mean:.3f} ± {deviation:.3f}{part}"
    tables.append(pivot("ablation-claim-validation", caption, rows, ["method"], "family", form))
    return Section("ablation", "Ablation", words, tables)


def _last_validations(results: Results, policy: str, split: FamilySplit) -> dict[str, Any]:
    trainings = results.paper.trainings(policy, split)
    found = [result["curve"][-1]["score"] for each in trainings if (result := results.result(each)) is not None]
    row: dict[str, Any] = {"method": policy, "family": split.family, "models": len(found), "part": ""}
    if 0 < len(found) < len(trainings):
        row["part"] = f" [{len(found)} of {len(trainings)} models]"
    return row | dict(zip(("mean", "deviation"), mean_and_deviation(found), strict=True))


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """Mean and standard deviation, NaN for a single value, if there are any values."""
    if not values:
        return None, None
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else nan


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
    caption = f"People reached, {protocol} protocol: mean ± 1.96 standard errors; crosses are published means."
    return Figure(f"influence-{protocol}", caption, interval_panels(panels, "people reached", columns=4))


def _average_table(results: Results, methods: Sequence[Method], protocol: ProtocolName, name: str) -> Table:
    """Methods on average over the networks that the paper's variants are trained for."""
    networks = [network for split in results.paper.main_splits for network in split.test]
    columns: list[Column] = [
        ("method", "{method}{part}"),
        ("of CLAIM's published influence", "{of_published:.1f %}"),
        (f"{CLAIM} is ahead by", "{claim_ahead:+.2f %}"),
        ("95 % interval", partial(interval_cell, unit=" %")),
    ]
    names = ", ".join(network.name for network in networks)
    caption = f"Averages of {names}, {protocol} protocol; intervals bootstrapped over start sets and models"
    rows = [_average(results, method, networks, protocol) for method in methods]
    return table(f"{name}-{protocol}", caption, rows, columns)


def _average(results: Results, method: Method, networks: Sequence[Network], protocol: ProtocolName) -> dict[str, Any]:
    row: dict[str, Any] = {"protocol": protocol, "method": method.name, "part": "", "runs": 0, "of_published": None}
    if method != Method(CLAIM):
        row |= dict.fromkeys(("claim_ahead", "low", "high"))
    values, claim = (_on_all(results, each, networks, protocol) for each in (method, Method(CLAIM)))
    if values is None:
        return row
    means = np.array([each.mean() for each in values])
    beside = np.array([published(INFLUENCE[PAPER_CLAIM], network.name) for network in networks], float)
    row |= {"runs": values.shape[-1], "part": results.part([method], Case(networks[0], protocol))}
    row["of_published"] = 100 * float(np.mean(means / beside))
    if claim is not None and method != Method(CLAIM):
        # In % of the method, averaged over networks, whose start sets are independent
        first, second = (100 * np.mean((each.T / means).T, axis=0) for each in (claim, values))
        found = paired_difference(first, second, method.policy == CLAIM)
        row |= {"claim_ahead": found["difference"], "low": found["low"], "high": found["high"]}
    return row


def _on_all(results: Results, method: Method, networks: Sequence[Network], protocol: ProtocolName) -> FloatArray | None:
    """People reached (networks, models, runs) or (networks, runs), once all networks have a result.

    While trainings are missing, as many models are taken of each network as all networks have.
    """
    found = [results.influence(method, Case(network, protocol)) for network in networks]
    known = [each for each in found if each is not None]
    return np.array([each[: min(map(len, known))] for each in known]) if len(known) == len(found) else None


def _improvement_table(results: Results, protocol: ProtocolName) -> Table:
    networks = results.paper.networks.values()
    columns: list[Column] = [
        "network",
        ("who", "{a} against {b}{part}"),
        *DIFFERENCE_COLUMNS,
        ("published", "{published_percent:+.2f} % {published_stars}"),
    ]
    caption = f"Improvements, {protocol} protocol; {TESTED}"
    cases = product(PAIRS, (Case(network, protocol) for network in networks))
    rows = [_improvement(results, *pair, case) for pair, case in cases if _both_planned(results, *pair, case)]
    return table(f"improvement-{protocol}", caption, rows, columns)


def _both_planned(results: Results, a: Method, b: Method, case: Case) -> bool:
    return results.is_planned(a, case) and results.is_planned(b, case)


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
    networks = [network for split in results.paper.main_splits for network in split.test]
    cases = product(COMPARED, networks, HALVES)
    rows = [_density_row(results, method, Case(network, "paper"), half) for method, network, half in cases]
    columns: list[Column] = [
        ("method", "{method}{part}"),
        "network",
        ("start sets", "{half}"),
        ("runs", "{runs}"),
        ("median of the ratio", "{median:.2f}"),
        ("people reached", "{mean:.2f}"),
        (BASELINE, "{baseline:.2f}"),
        ("difference", "{difference:+.2f}"),
        ("95 % interval", interval_cell),
        ("p", "{p:.2g} {p:*}"),
    ]
    tables = [table("density", f"People reached, paper protocol; {TESTED}", rows, columns)]
    words = [
        "A start set is dense if its people and their contacts are more, for each start person, than the median over "
        "the start sets of the network; those at the median count as sparse. All methods have the same start sets.",
        _exception(rows),
    ]
    return Section("density", "Dense and sparse start sets", words, tables, [_density_figure(rows)])


def _density_row(results: Results, method: Method, case: Case, half: str) -> dict[str, Any]:
    row: dict[str, Any] = {"method": method.name, "network": case.network.name, "protocol": case.protocol, "half": half}
    row["part"] = results.part([method, Method(BASELINE)], case)
    row |= dict.fromkeys(("runs", "median", "mean", "mean_stderr", "baseline", "baseline_stderr"))
    models = results.models(method, case)
    first, second = (results.influence(each, case) for each in (method, Method(BASELINE)))
    if models is not None and first is not None and second is not None:
        ratios = np.array(models[0]["density"])
        chosen = (ratios > np.median(ratios)) == (half == "dense")
        first, second = first[:, chosen], second[:, chosen]
        row |= {"runs": first.shape[-1], "median": float(np.median(ratios))}
        row["mean"], row["mean_stderr"] = mean_and_error(first)
        row["baseline"], row["baseline_stderr"] = mean_and_error(second)
        return row | paired_difference(first, second)
    return row | paired_difference(None, None)


def _exception(rows: Sequence[DataRow]) -> str:
    """Where methods are behind the baseline, and whether the paper's CLAIM is where the paper says it is."""
    known = [row for row in rows if row["difference"] is not None]
    behind = {
        method.name: [
            f"{row['network']} {row['half']} ({row['difference']:+.2f})"
            for row in known
            if row["method"] == method.name and row["difference"] < 0
        ]
        for method in COMPARED
    }
    words = [f"{name} is behind {BASELINE} on {', '.join(where) or 'none of them'}." for name, where in behind.items()]
    exception = (PAPER_CLAIM, SPARSE_EXCEPTION, "sparse")
    sparse = [row["difference"] < 0 for row in known if (row["method"], row["network"], row["half"]) == exception]
    found = ("is found here too" if sparse[0] else "is not found here") if sparse else "has not been run"
    words.append(f"The paper's one exception, sparse start sets of {SPARSE_EXCEPTION}, {found}.")
    return " ".join(words)


def _density_figure(rows: Sequence[DataRow]) -> Figure:
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        series = panels.setdefault(row["network"], {BASELINE: []})
        if row["method"] == COMPARED[0].name:
            series[BASELINE].append((row["baseline"], row["baseline_stderr"]))
        series.setdefault(row["method"], []).append((row["mean"], row["mean_stderr"]))
    caption = "People reached from sparse and dense start sets, paper protocol: mean and standard error."
    return Figure("density", caption, bar_panels(panels, HALVES, "people reached"))


# Stability table -----------------------------------------------------------------------------------------------------


def stability(results: Results) -> Section:
    """Mean and deviation over the models of different seeds."""
    words = [
        f"Mean ± deviation over models trained from different seeds ({_models(results)}), each evaluated on the same "
        "start sets; in brackets what the paper reports of its three models (evaluated on different runs)."
    ]
    cases = product(results.paper.networks.values(), STABILITY)
    rows = [_stability_row(results, method, Case(network, "paper")) for network, method in cases]
    caption = "Mean ± deviation over models, paper protocol (published)"
    tables = [pivot("stability", caption, rows, ["network"], "method", _stability_cell)]
    return Section("stability", "Stability", words, tables)


def _stability_row(results: Results, method: Method, case: Case) -> dict[str, Any]:
    models = results.models(method, case)
    means = [float(last_influence(each).mean()) for each in models or ()]
    mean, deviation = mean_and_deviation(means) if results.is_planned(method, case) else (nan, nan)
    beside = published(PUBLISHED_STABILITY.get(method.policy, {}), case.network.name, case.protocol) or (None, None)
    return {
        "network": case.network.name,
        "protocol": case.protocol,
        "method": method.name,
        "part": results.part([method], case),
        "means": means,
        "mean": mean,
        "deviation": deviation,
        "published_mean": beside[0],
        "published_deviation": beside[1],
    }


def _stability_cell(row: DataRow) -> str:
    if row["mean"] is not None and np.isnan(row["mean"]):
        return "–"
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
        f"On {network}. Degree is the number of contacts; closeness and betweenness are normalised. "
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
    case = Case(results.paper.property_network, "paper")
    central, models = results.result(Centrality(case.network)), results.models(method, case)
    names = {"network": case.network.name, "method": method.name, "part": results.part([method], case)}
    if central is None or models is None:
        return [{**names, "step": "all", **dict.fromkeys((*MEASURES, "discovered"))}]
    steps = max((len(run) for model in models for run in model["surveyed"]), default=0)
    discovered = float(np.mean([run[-1] for model in models for run in model["discovered"]]))
    overall = _centrality_means(method, models, central, slice(None))
    return [{**names, "step": "all", **overall, "discovered": discovered}] + [
        {**names, "step": step + 1, **_centrality_means(method, models, central, slice(step, step + 1))}
        for step in range(steps)
    ]


def _centrality_means(
    method: Method, models: Sequence[Result], central: Result, steps: slice
) -> dict[str, float | None]:
    """Means over models and runs of the people surveyed in some steps, over the runs in which all models survey."""
    surveyed = [[run[steps] for run in model["surveyed"]] for model in models]
    chosen = [i for i, runs in enumerate(zip(*surveyed, strict=True)) if all(runs)]
    found: dict[str, float | None] = {}
    for measure in MEASURES:
        values = np.array(central[measure])
        means = [np.array([values[runs[i]].mean() for i in chosen]) for runs in surveyed]
        found[measure], found[f"{measure}_stderr"] = mean_and_error(by_model(method, means))
    return found


SECTIONS = (glance, influence, density, ablation, stability, properties)
