"""Whom the policies survey: how central these people are in the whole network."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.evaluation.statistics import standard_error
from claim.experiments import pictures
from claim.experiments.findings import Findings
from claim.experiments.jobs import Result
from claim.experiments.measured import Centrality
from claim.experiments.paper import PROPERTIES, Method
from claim.experiments.section import Picture, Section, Table, shown

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
    figure, axes = pictures.panels(4, columns=4, width=3.0)
    for axis, measure in zip(axes, (*MEASURES, "discovered"), strict=True):
        for i, row in enumerate(known):
            error = np.nan_to_num(row.get(f"{measure}_stderr") or 0.0)
            axis.bar(i, row[measure], 0.7, color=pictures.COLORS[i], yerr=error, capsize=3)
        axis.set_xticks(range(len(known)), [row["method"] for row in known], fontsize=8)
        pictures.finish(axis)
        pictures.title(axis, "people discovered" if measure == "discovered" else measure)
    return figure


def _by_step(rows: Sequence[dict[str, Any]]) -> Any:
    figure, axes = pictures.panels(3)
    for axis, measure in zip(axes, MEASURES, strict=True):
        for i, method in enumerate(PROPERTIES):
            steps = [r for r in rows if r["method"] == method.name and r["step"] != "all" and r[measure] is not None]
            if steps:
                x, mean, error = ([r[part] for r in steps] for part in ("step", measure, f"{measure}_stderr"))
                pictures.line(axis, x, mean, error, method.name, pictures.COLORS[i])
                axis.set_xticks(x)
        pictures.title(axis, measure)
    pictures.legend(figure, axes)
    figure.supxlabel("survey", fontsize=9)
    return figure
