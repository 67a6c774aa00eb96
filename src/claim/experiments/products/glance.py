"""Where this project stands against the paper, in one small table."""

from typing import Any

from claim.evaluation.protocols import ProtocolName
from claim.experiments.findings import Findings
from claim.experiments.paper import CLAIM, TABLE, Method
from claim.experiments.published import published
from claim.experiments.section import Section, Table, shown
from claim.networks import Network

OURS = TABLE[-1]  # settled beforehand; whoever comes out best on a network would flatter it


def glance(findings: Findings) -> Section:
    """Published and measured CLAIM side by side, and what a team would use of this software."""
    rows = [_row(findings, network) for network in findings.paper.networks.values()]
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


def _row(findings: Findings, network: Network) -> dict[str, Any]:
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
