"""Sections on the reach of all methods."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.evaluation.runs import ProtocolName
from claim.evaluation.statistics import paired_test, standard_error
from claim.evaluation.tables import stars
from claim.experiments import page
from claim.experiments.jobs import SEED
from claim.experiments.page import NOT_RUN, Picture, Section, Table, shown
from claim.experiments.paper import ABLATION, BASELINE, CLAIM, FORESIGHT, PROTOCOLS, SCOUT, TABLE, UNTRAINED, Method
from claim.experiments.published import CONFIDENTIAL, EPISODES, IMPROVEMENT, OPTIMUM, STARS, published
from claim.experiments.results import Findings
from claim.experiments.scales import Field
from claim.experiments.sections_training import SUMMARY, UNIT, Group
from claim.learning.config import VARIANTS
from claim.networks import Network
from claim.randomness import named_seed

RIVALS = (  # who is compared with whom, as far as both exist
    (Method(CLAIM), Method(BASELINE)),
    (Method(CLAIM), Method(UNTRAINED)),
    (Method(CLAIM), Method("random")),
    (Method(CLAIM), Method("random-class")),
    (Method(CLAIM), Method("change")),
    (Method(CLAIM), Method("degree+inverse")),
    (Method(SCOUT), Method(CLAIM)),
    (Method(CLAIM, FORESIGHT), Method(CLAIM)),
    (Method(SCOUT, FORESIGHT), Method(CLAIM)),
)


def influence(findings: Findings) -> Section:
    """Table 3 in both protocols, with the published numbers beside, improvements and paired tests."""
    tables = [_reached(findings, TABLE, protocol, f"influence-{protocol}") for protocol in PROTOCOLS]
    tables += [_averages(findings, protocol) for protocol in PROTOCOLS]
    tables += [_improvements(findings, protocol) for protocol in PROTOCOLS]
    figures = [
        Picture(
            f"influence-{protocol}",
            f"People reached, {protocol} protocol: mean and 95 % interval; crosses are published means.",
            _dots(findings, protocol),
        )
        for protocol in PROTOCOLS
    ]
    return Section("influence", "Influence by network and method (Table 3)", _words(findings), tables, figures)


def ablation(findings: Findings) -> Section:
    """The ablation, with what this project adds beside it."""
    words = [
        "The components of CLAIM one by one: Geometric-DQN, with a goal, with hindsight, with the curriculum. Below "
        "them what this project adds: the scout policy, and the foresight selector in place of the greedy oracle."
    ]
    tables = [_reached(findings, ABLATION, protocol, f"ablation-{protocol}") for protocol in PROTOCOLS]
    return Section("ablation", "Ablation", words, tables)


def _words(findings: Findings) -> list[str]:
    scale = findings.paper.scale
    words = [
        f"Mean people reached ± its standard error over {scale.runs} start sets; 5 start people, 5 surveys, 10 "
        f"leaders, p = 0.1. A trained method is the mean of {scale.seeds} models trained from different seeds, run by "
        f"run; {UNTRAINED} are CLAIM's networks of the same seeds before their first update. In brackets what the "
        "paper reports (means of 100 runs, without standard errors).",
        "The published row of CHANGE is that of a CHANGE which drew its own start people (change-published); change "
        "has equal access. Only the paper protocol can be compared with published numbers.",
    ]
    if any(network in CONFIDENTIAL for network in findings.paper.networks):
        words.append("The zones are synthetic stand-ins of a confidential survey, so nothing published stands beside.")
    return words


def _reached(findings: Findings, methods: Sequence[Method], protocol: ProtocolName, name: str) -> Table:
    networks = list(findings.paper.networks.values())
    rows = [_row(findings, method, network, protocol) for method in methods for network in networks]
    optima = [_optimum_row(findings, network, protocol) for network in networks]
    cells = []
    for label in dict.fromkeys(row["method"] for row in rows + optima):
        cells.append([label, *(_cell(row) for row in rows + optima if row["method"] == label)])
    caption = f"People reached, {protocol} protocol: mean ± standard error (published)"
    return Table(name, caption, ["method", *(network.name for network in networks)], cells, rows + optima)


def _row(findings: Findings, method: Method, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    values = findings.influence(method, network, protocol)
    optimum = findings.optimum(network)
    mean = None if values is None else float(values.mean())
    beside = published(method.policy, network.name) if method.selector == "greedy" and protocol == "paper" else None
    return {
        "network": network.name,
        "protocol": protocol,
        "method": method.name,
        "runs": 0 if values is None else len(values),
        "part": findings.part([method], network, protocol),
        "mean": mean,
        "stderr": None if values is None else standard_error(values),
        "published": beside,
        "share_of_optimum": None if mean is None or optimum is None else mean / optimum,
    }


def _optimum_row(findings: Findings, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    beside = None if network.name in CONFIDENTIAL or protocol != "paper" else OPTIMUM.get(network.name)
    value = findings.optimum(network)
    row = {"network": network.name, "protocol": protocol, "method": "OPT", "runs": 0, "part": "", "mean": value}
    return {**row, "stderr": math.nan, "published": beside, "share_of_optimum": 1.0}


def _cell(row: dict[str, Any]) -> str:
    if row["mean"] is None:
        return NOT_RUN
    error = "" if math.isnan(row["stderr"]) else f" ± {row['stderr']:.2f}"
    beside = "" if row["published"] is None else f" ({row['published']:.2f})"
    return f"{row['mean']:.2f}{error}{beside}{row['part']}"


def _averages(findings: Findings, protocol: ProtocolName) -> Table:
    """How all methods stand on average over the networks that something is published of, or over all of them."""
    networks = list(findings.paper.networks.values())
    networks = [each for each in networks if published(CLAIM, each.name) is not None] or networks
    rows = [_average(findings, method, networks, protocol) for method in TABLE]
    cells = [
        [
            row["method"] + row["part"],
            NOT_RUN if row["runs"] == 0 else "–" if row["of_published"] is None else f"{row['of_published']:.1f} %",
            "" if row["method"] == CLAIM else _percents(row, "claim_ahead"),
            "" if row["method"] == CLAIM else _interval(row),
        ]
        for row in rows
    ]
    names = ", ".join(network.name for network in networks)
    caption = f"Averages of {names}, {protocol} protocol; intervals count start sets, not models"
    heads = ["method", "of CLAIM's published influence", "CLAIM is ahead by", "95 % interval"]
    return Table(f"average-{protocol}", caption, heads, cells, rows)


def _average(findings: Findings, method: Method, networks: Sequence[Network], protocol: ProtocolName) -> dict[str, Any]:
    mine = [findings.influence(method, network, protocol) for network in networks]
    claim = [findings.influence(Method(CLAIM), network, protocol) for network in networks]
    row: dict[str, Any] = {"protocol": protocol, "method": method.name, "part": "", "runs": 0}
    row |= dict.fromkeys(("of_published", "claim_ahead", "low", "high"))
    reached = [values for values in mine if values is not None]
    if len(reached) < len(networks):
        return row
    row |= {"runs": len(reached[0]), "part": findings.part([method], networks[0], protocol)}
    beside = [published(CLAIM, network.name) for network in networks]
    if None not in beside:
        row["of_published"] = 100 * float(np.mean([a.mean() / b for a, b in zip(reached, beside, strict=True)]))
    pairs = [(a, b) for a, b in zip(claim, reached, strict=True) if a is not None]
    if len(pairs) == len(networks):
        ahead = [100 * (a - b) / b.mean() for a, b in pairs]
        mean = float(np.mean([each.mean() for each in ahead]))
        error = 1.96 * float(np.sqrt(sum(standard_error(each) ** 2 for each in ahead))) / len(ahead)
        row |= {"claim_ahead": mean, "low": mean - error, "high": mean + error}
    return row


def _percents(row: dict[str, Any], name: str) -> str:
    return NOT_RUN if row[name] is None else f"{row[name]:+.2f} %"


def _interval(row: dict[str, Any]) -> str:
    return NOT_RUN if row["low"] is None else f"{row['low']:+.2f} to {row['high']:+.2f} %"


def _improvements(findings: Findings, protocol: ProtocolName) -> Table:
    networks = findings.paper.networks.values()
    rows = [_improvement(findings, a, b, network, protocol) for a, b in _rivals() for network in networks]
    cells = [
        [
            row["network"],
            f"{row['a']} against {row['b']}{row['part']}",
            shown(row["difference"], "+.2f"),
            NOT_RUN if row["difference"] is None else f"{row['low']:+.2f} to {row['high']:+.2f}",
            NOT_RUN if row["percent"] is None else f"{row['percent']:+.2f} %",
            shown(row["p"], ".2g") + (f" {stars(row['p'])}" if row["p"] is not None else ""),
            "" if row["published_percent"] is None else f"{row['published_percent']:+.2f} % {row['published_stars']}",
        ]
        for row in rows
    ]
    caption = (
        f"Improvements, {protocol} protocol, by paired t-test: * p < 0.05, ** p < 0.01, *** p < 0.001 (no correction; "
        "tests and intervals count start sets, not models, which differ too: see stability)"
    )
    heads = ["network", "who", "difference", "95 % interval", "improvement", "p", "published"]
    return Table(f"improvement-{protocol}", caption, heads, cells, rows)


def _rivals() -> list[tuple[Method, Method]]:
    return [(a, b) for a, b in RIVALS if {a, b} <= set(TABLE)]


def _improvement(findings: Findings, a: Method, b: Method, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    first, second = (findings.influence(each, network, protocol) for each in (a, b))
    row: dict[str, Any] = {"network": network.name, "protocol": protocol, "a": a.name, "b": b.name}
    row["part"] = findings.part([a, b], network, protocol)
    row |= dict.fromkeys(("difference", "low", "high", "percent", "p", "published_percent", "published_stars"))
    if first is not None and second is not None:
        test = paired_test(first, second, np.random.default_rng(named_seed(SEED, "bootstrap")))
        row |= {"difference": test.difference, "low": test.ci95[0], "high": test.ci95[1], "p": test.p_value}
        row["percent"] = 100 * test.difference / float(second.mean())
    comparable = protocol == "paper" and network.name not in CONFIDENTIAL and network.name in IMPROVEMENT
    if comparable and (a, b) == RIVALS[0]:
        row |= {"published_percent": IMPROVEMENT[network.name], "published_stars": STARS[network.name]}
    return row


def _dots(findings: Findings, protocol: ProtocolName) -> Any:
    networks = list(findings.paper.networks.values())
    figure, axes = page.panels(len(networks), columns=4, width=3.2, height=0.9 + 0.24 * len(TABLE))
    for i, (axis, network) in enumerate(zip(axes, networks, strict=True)):
        rows = [_row(findings, method, network, protocol) for method in reversed(TABLE)]
        for place, row in enumerate(rows):
            if row["mean"] is not None:
                error = 1.96 * np.nan_to_num(row["stderr"])
                axis.errorbar(row["mean"], place, xerr=error, fmt="o", color=page.COLORS[0], capsize=3, markersize=4)
            if row["published"] is not None:
                axis.plot(row["published"], place, "x", color=page.COLORS[1], markersize=6)
        labels = [row["method"] for row in rows] if i % 4 == 0 else [""] * len(rows)
        page.finish(axis)
        axis.set_yticks(range(len(rows)), labels, fontsize=8)
        axis.grid(axis="x", color="#e8e8e8")
        optimum = findings.optimum(network)
        page.title(axis, network.name if optimum is None else f"{network.name} (OPT {optimum:.1f})")
    figure.supxlabel("people reached", fontsize=9)
    return figure


OURS = TABLE[-1]  # settled beforehand; whoever comes out best on a network would flatter it


def glance(findings: Findings) -> Section:
    """Published and measured CLAIM side by side, and what a team would use of this software."""
    rows = [_glance_row(findings, network) for network in findings.paper.networks.values()]
    cells = [
        [
            row["network"] + row["part"],
            "–" if row["published"] is None else f"{row['published']:.2f}",
            shown(row["claim"]),
            _percent(row["against_published"]),
            shown(row["claim_in_field"]),
            shown(row["ours"]),
            _percent(row["ours_against_claim"]),
            shown(row["optimum"]),
        ]
        for row in rows
    ]
    measured = [
        "CLAIM here, paper protocol",
        "difference",
        "CLAIM here, field protocol",
        f"{OURS.name}, field protocol",
    ]
    heads = ["network", "published CLAIM", *measured, "difference", "OPT"]
    table = Table("glance", "People reached after five surveys", heads, cells, rows)
    words = [
        "Published numbers are in the paper protocol, means of 100 runs and uncertain by 1 to 3 people. In the field "
        "protocol only discovered people can be leaders, as in a real study."
    ]
    return Section("glance", "At a glance", words, [table])


def _glance_row(findings: Findings, network: Network) -> dict[str, Any]:
    beside = published(CLAIM, network.name)
    in_paper = _mean(findings, Method(CLAIM), network, "paper")
    in_field = _mean(findings, Method(CLAIM), network, "field")
    ours = _mean(findings, OURS, network, "field")
    return {
        "network": network.name,
        "part": findings.part([Method(CLAIM)], network, "field") or findings.part([Method(CLAIM)], network, "paper"),
        "published": beside,
        "claim": in_paper,
        "against_published": None if beside is None or in_paper is None else 100 * (in_paper / beside - 1),
        "claim_in_field": in_field,
        "method": OURS.name,
        "ours": ours,
        "ours_against_claim": None if ours is None or in_field is None else 100 * (ours / in_field - 1),
        "optimum": findings.optimum(network),
    }


def _mean(findings: Findings, method: Method, network: Network, protocol: ProtocolName) -> float | None:
    values = findings.influence(method, network, protocol)
    return None if values is None else float(values.mean())


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:+.1f} %"


def sample_efficiency(findings: Findings) -> Section:
    """Validation curves of all variants and seeds."""
    scale = findings.paper.scale
    groups = [group for field in findings.paper.fields for group in _groups(findings, field)]
    table = Table(
        "sample-efficiency",
        f"Influence on validation start sets of the training networks, {UNIT}",
        ["family", "variant", *SUMMARY],
        [[each.labels["family"], each.labels["variant"], *each.summary(findings)] for each in groups],
        [row for each in groups for row in each.rows(findings)],
    )
    words = [
        f"{scale.episodes} episodes instead of the {EPISODES} of the authors' early code; whether the curves have gone "
        "flat by then shows in the means over the first and the second half of the training. Validation start sets are "
        "never trained on; 1 is what surveying a random class of people reaches.",
    ]
    figure = Picture(
        "sample-efficiency",
        "Validation score against training episodes: mean over seeds, shaded one deviation.",
        _figure(findings),
    )
    return Section("sample-efficiency", "Sample efficiency", words, [table], [figure])


def _groups(findings: Findings, field: Field) -> list[Group]:
    return [Group(findings.paper.trainings(variant, field)) for variant in VARIANTS]


def _figure(findings: Findings) -> Any:
    fields = findings.paper.fields
    figure, axes = page.panels(len(fields))
    for axis, field in zip(axes, fields, strict=True):
        for group, color in zip(_groups(findings, field), page.COLORS, strict=False):
            group.draw(findings, axis, color)
        page.title(axis, field.family)
    page.legend(figure, axes)
    figure.supxlabel("training episodes", fontsize=9)
    figure.supylabel("relative to a random class", fontsize=9)
    return figure
