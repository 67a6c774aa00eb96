"""Influence against the number of surveys, with both selectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.evaluation.statistics import standard_error
from claim.experiments import pictures
from claim.experiments.findings import Findings
from claim.experiments.paper import CURVES, FORESIGHT
from claim.experiments.section import NOT_RUN, Picture, Section, Table
from claim.networks import Network


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
    figure, axes = pictures.panels(len(networks), columns=4, width=3.4, height=2.8)
    for axis, network in zip(axes, networks, strict=True):
        for method, selector in methods:
            known = [
                row for row in rows if (row["network"], row["method"]) == (network, method) and row["mean"] is not None
            ]
            if known:
                x, mean, error = ([row[part] for row in known] for part in ("surveys", "mean", "stderr"))
                color = pictures.COLORS[_place(method, bare)]
                pictures.line(axis, x, mean, error, method, color, "-" if selector == "greedy" else "--")
        pictures.title(axis, network)
    pictures.legend(figure, axes, columns=4)
    figure.supxlabel("surveys", fontsize=9)
    figure.supylabel("people reached", fontsize=9)
    return figure


def _place(method: str, bare: Sequence[str]) -> int:
    """The same colour for a policy whoever chooses the leaders."""
    plain = method.replace(f" + {FORESIGHT}", "")
    return bare.index(plain) if plain in bare else len(bare)
