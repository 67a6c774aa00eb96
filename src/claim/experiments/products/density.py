"""CLAIM against the baseline from dense and from sparse start sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.evaluation.protocols import ProtocolName
from claim.evaluation.statistics import standard_error, t_test_p_value
from claim.evaluation.tables import stars
from claim.experiments import pictures
from claim.experiments.findings import Findings
from claim.experiments.paper import BASELINE, CLAIM, PROTOCOLS, Method
from claim.experiments.published import CONFIDENTIAL, SPARSE_EXCEPTION
from claim.experiments.section import NOT_RUN, Picture, Section, Table, shown
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
    figure, axes = pictures.panels(len(networks))
    for axis, network in zip(axes, networks, strict=True):
        known = [row for row in rows if row["network"] == network and row["claim"] is not None]
        series = {
            name: ([row[part] for row in known], [row[f"{part}_stderr"] for row in known])
            for name, part in ((BASELINE, "baseline"), (CLAIM, "claim"))
        }
        pictures.bars(axis, [row["half"] for row in known], series)
        pictures.title(axis, network)
    pictures.legend(figure, axes)
    figure.supylabel("people reached", fontsize=9)
    return figure
