"""How much a result depends on the seed a policy was trained from."""

from typing import Any

import numpy as np

from claim.evaluation.protocols import ProtocolName
from claim.experiments.findings import Findings, last_influence
from claim.experiments.paper import PROTOCOLS, STABILITY, Method
from claim.experiments.published import CONFIDENTIAL
from claim.experiments.published import STABILITY as PUBLISHED
from claim.experiments.section import NOT_RUN, Section, Table, shown
from claim.networks import Network


def stability(findings: Findings) -> Section:
    """Mean and deviation over the models of different seeds."""
    words = [
        f"Mean ± deviation over {findings.paper.scale.seeds} models trained from different seeds, each judged on the "
        "same start sets; in brackets what the paper reports of its three models (judged on different sets of runs)."
    ]
    return Section("stability", "Stability", words, [_table(findings, protocol) for protocol in PROTOCOLS])


def _table(findings: Findings, protocol: ProtocolName) -> Table:
    networks = findings.paper.networks.values()
    rows = [_row(findings, method, network, protocol) for network in networks for method in STABILITY]
    cells = [[network.name, *(_cell(row) for row in rows if row["network"] == network.name)] for network in networks]
    heads = ["network", *(method.name for method in STABILITY)]
    caption = f"Mean ± deviation over models, {protocol} protocol (published)"
    return Table(f"stability-{protocol}", caption, heads, cells, rows)


def _row(findings: Findings, method: Method, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    models = findings.models(method, network, protocol)
    means = None if models is None else [float(last_influence(each).mean()) for each in models]
    beside = PUBLISHED[method.policy].get(network.name) if protocol == "paper" else None
    if network.name in CONFIDENTIAL:
        beside = None
    return {
        "network": network.name,
        "protocol": protocol,
        "method": method.name,
        "part": findings.part([method], network, protocol),
        "means": means,
        "mean": None if means is None else float(np.mean(means)),
        "deviation": None if means is None else float(np.std(means, ddof=1)) if len(means) > 1 else float("nan"),
        "published_mean": None if beside is None else beside[0],
        "published_deviation": None if beside is None else beside[1],
    }


def _cell(row: dict[str, Any]) -> str:
    if row["mean"] is None:
        return NOT_RUN
    beside = (
        "" if row["published_mean"] is None else f" ({row['published_mean']:.2f} ± {row['published_deviation']:.2f})"
    )
    return f"{row['mean']:.2f} ± {shown(row['deviation'])}{beside}{row['part']}"
