"""Sections of the report on goals, learning curves and numbers of surveys: functions from results to tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import nan
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Drawing

from claim.evaluation.report_kit import AXIS, PALETTE, Figure, Line, Section, empty_panels, line_panels
from claim.evaluation.tables import Column, DataRow, Table, pivot, table
from claim.experiments.jobs import Train
from claim.experiments.paper import (
    CLAIM,
    CLAIM_VARIANTS,
    FORESIGHT,
    FROM_EPISODES,
    LARGER,
    PAPER_CLAIM,
    PAPER_VARIANTS,
    SURVEYS,
    UNTRAINED,
    Case,
    Method,
)
from claim.experiments.published import EPISODES
from claim.experiments.results import Results, last_influence
from claim.experiments.sections import (
    DIFFERENCE_COLUMNS,
    TESTED,
    difference,
    listed,
    mean_and_deviation,
    mean_and_error,
    reached,
    reached_cell,
)
from claim.networks import Network
from claim.networks.network import FloatArray

CLOSE = 0.2  # the paper: after training, the influence is "at most within 20 %" of the goal


# Goals ---------------------------------------------------------------------------------------------------------------


def goals(results: Results) -> Section:
    """The goal of each start set against the influence reached."""
    splits = results.paper.main_splits
    networks = dict.fromkeys((network for split in splits for network in split.test), "test")
    networks |= dict.fromkeys((network for split in splits for network in split.train), "training")
    reached = {network: _goals_and_reached(results, network) for network in networks}
    rows = [_goal_row(network, role, *reached[network]) for network, role in networks.items()]
    words = [
        f"The first model of {PAPER_CLAIM}, paper protocol, greedy oracle. Goals come from the averages of the "
        "family's training networks, as for a network of which nothing is known. The paper says that on the training "
        f"network copen the influence reached is within {CLOSE:.0%} of the goal, and mostly below it.",
    ]
    columns: list[Column] = [
        *("network", "role"),
        ("mean goal", "{goal:.1f}"),
        ("mean reached", "{reached:.1f}"),
        ("goal / reached", "{ratio:.2f}"),
        ("correlation", "{correlation:.2f}"),
        (f"within {CLOSE:.0%}", "{within:.0%}"),
        ("below the goal", "{below:.0%}"),
    ]
    shown = table("goals", "Goals against influence reached, over start sets", rows, columns)
    titles = [f"{network.name} ({role})" for network, role in networks.items()]
    return Section("goals", "Goals", words, [shown], [_goal_figure(titles, reached.values())])


def _goals_and_reached(results: Results, network: Network) -> tuple[FloatArray, FloatArray]:
    """Goal and people reached in each run (runs,); empty if it has not been run."""
    found = results.result(results.paper.goal_evaluation(network)) or {"goal": [], "influence": []}
    return np.array(found["goal"]), last_influence(found)


def _goal_row(network: Network, role: str, goal: FloatArray, influence: FloatArray) -> dict[str, Any]:
    row: dict[str, Any] = {"network": network.name, "role": role}
    if not len(goal):
        return row | dict.fromkeys(("runs", "goal", "reached", "ratio", "correlation", "within", "below"))
    varied = len(goal) > 1 and goal.std() > 1e-9 and influence.std() > 1e-9
    return row | {
        "runs": len(goal),
        "goal": float(goal.mean()),
        "reached": float(influence.mean()),
        "ratio": float(goal.mean() / influence.mean()),
        "correlation": float(np.corrcoef(goal, influence)[0, 1]) if varied else nan,
        "within": float(np.mean(np.abs(influence - goal) <= CLOSE * goal)),
        "below": float(np.mean(influence < goal)),
    }


def _goal_figure(titles: Sequence[str], reached: Iterable[tuple[FloatArray, FloatArray]]) -> Figure:
    drawing, axes = empty_panels(titles, columns=5, width=2.4, height=2.3)
    for axis, (goal, influence) in zip(axes, reached, strict=True):
        if len(goal):
            # Thousands of points are an image within the drawing: as shapes they would be most of the report
            axis.plot(goal, influence, ".", color=PALETTE[0], markersize=3, alpha=0.5, rasterized=True)
            most = float(max(goal.max(), influence.max()))
            axis.plot([0, most], [0, most], color=AXIS, linewidth=1)
    drawing.supxlabel("goal", fontsize=9)
    drawing.supylabel("people reached", fontsize=9)
    caption = "The heuristic's goal and people reached, one point a start set; on the line they are equal."
    return Figure("goals", caption, drawing)


# Learning curves -----------------------------------------------------------------------------------------------------


def sample_efficiency(results: Results) -> Section:
    """Validation curves of all variants and seeds."""
    paper, scale = results.paper, results.paper.scale
    ours, papers = (
        [group for split in paper.splits for each in variants if (group := paper.trainings(each, split))]
        for variants in (CLAIM_VARIANTS, PAPER_VARIANTS)
    )
    words = [
        f"{scale.episodes} episodes of {CLAIM}, half as many of its ablations except {FROM_EPISODES}, and "
        f"{scale.paper_episodes} of the paper's variants, instead of the {EPISODES} of the authors' early code; "
        "whether the curves have gone flat by then shows in the means over the first and the second half of the "
        "training. Validation start sets are never trained on; 1 is what surveying a random class of people reaches.",
    ]
    shown = _learning_table(results, "sample-efficiency", ["family", "method"], ours + papers)
    figures = [
        _learning_figure(results, "sample-efficiency", ours),
        _learning_figure(results, "sample-efficiency-paper", papers),
    ]
    return Section("sample-efficiency", "Sample efficiency", words, [shown], figures)


def _learning_table(results: Results, name: str, labels: list[str], groups: Sequence[Sequence[Train]]) -> Table:
    """A summary of each group's validations, which are all in the rows."""
    columns: list[Column] = [
        *(*labels, "models"),
        ("untrained", "{untrained:.3f}"),
        ("first half", "{first:.3f}"),
        ("second half", "{second:.3f}"),
        ("best", "{best:.3f}"),
        ("at episode", "{episode}"),
    ]
    caption = "Influence on validation start sets of the training networks, relative to surveying a random class"
    validations = [_validations(results, group) for group in groups]
    summaries = [_learning_summary(group, rows) for group, rows in zip(groups, validations, strict=True)]
    return replace(table(name, caption, summaries, columns), rows=[row for rows in validations for row in rows])


def _validations(results: Results, trainings: Sequence[Train]) -> list[dict[str, Any]]:
    """One row a validation; models are numbered by their seeds."""
    rows = []
    for training in trainings:
        for entry in (results.result(training) or {"curve": []})["curve"]:
            on_networks = ", ".join(f"{network} {mean:.2f}" for network, mean in entry["reached"].items())
            labels = {**_labels(training), "model": training.seed, "episode": entry["episode"]}
            rows.append({**labels, "score": entry["score"], "reached": on_networks})
    return rows


def _labels(training: Train) -> dict[str, Any]:
    return {"family": training.family, "surveys": training.config.budget, "method": training.method}


def _learning_summary(trainings: Sequence[Train], rows: Sequence[DataRow]) -> dict[str, Any]:
    """Means over the models before training, in both halves of the training, and of the best validation."""
    done, wanted = len({row["model"] for row in rows}), len(trainings)
    models = str(done) if done == wanted else f"{done} of {wanted}"
    summary = {**_labels(trainings[0]), "models": models, "episode": nan}
    if not rows:
        return summary | dict.fromkeys(("untrained", "first", "second", "best"))
    means = {episode: float(np.mean(scores)) for episode, scores in _scores(rows).items()}
    half, best = max(means) / 2, max(means, key=lambda episode: means[episode])
    first = [row["score"] for row in rows if 0 < row["episode"] <= half]
    second = [row["score"] for row in rows if row["episode"] > half]
    halves = {"first": float(np.mean(first or nan)), "second": float(np.mean(second or nan))}
    return summary | halves | {"untrained": means.get(0), "best": means[best], "episode": best}


def _scores(rows: Sequence[DataRow]) -> dict[int, list[float]]:
    """Validation scores of all models, by episode."""
    scores: dict[int, list[float]] = {episode: [] for episode in sorted(row["episode"] for row in rows)}
    for row in rows:
        scores[row["episode"]].append(row["score"])
    return scores


def _learning_figure(results: Results, name: str, groups: Sequence[Sequence[Train]], columns: int = 3) -> Figure:
    """One panel a family and budget with one line a method."""
    panels: dict[str, list[Line]] = {}
    for group in groups:
        budget = group[0].config.budget
        lines = panels.setdefault(group[0].family + (f", {budget} surveys" if budget != SURVEYS else ""), [])
        points: list[tuple[float, float, float]] = [
            (100 * episode / group[0].episodes, *mean_and_deviation(scores))
            for episode, scores in _scores(_validations(results, group)).items()
        ]
        lines.append(Line(group[0].method, PALETTE[len(lines)], points))
    drawing = line_panels(panels, "% of the training episodes", "relative to a random class", columns)
    caption = "Validation score against training: mean over seeds, shaded one deviation; 1 is a random class."
    return Figure(name, caption, drawing)


# Numbers of surveys --------------------------------------------------------------------------------------------------


def larger_budgets(results: Results) -> Section:
    """What claim reaches when it is trained for more surveys, and how it learns."""
    paper, scale = results.paper, results.paper.scale
    networks = [network for split in paper.main_splits for network in split.test]
    trained = [paper.trainings(CLAIM, split, scale.larger_budget) for split in paper.main_splits]
    words = [
        f"{CLAIM} trained for {scale.larger_budget} surveys ({scale.larger_episodes} episodes, {len(trained[0])} "
        f"seeds), evaluated after {listed([str(each) for each in scale.larger_surveys])} surveys; field protocol, "
        f"greedy oracle, {scale.larger_runs} start sets a network. A trained method is the mean of its models, and its "
        f"standard error counts models too; {UNTRAINED} are {CLAIM}'s networks of the same seeds before their first "
        "update.",
    ]
    tables = []
    for surveys in scale.larger_surveys:
        caption = f"People reached after {surveys} surveys: mean ± standard error"
        cases = [Case(network, "field", surveys) for network in networks]
        rows = [reached(results, method, case) for method, case in product(LARGER, cases)]
        tables.append(pivot(f"larger-{surveys}", caption, rows, ["method"], "network", reached_cell))
    differences = [
        {
            **{"surveys": surveys, "network": network.name, "against": other.name},
            **difference(results, Method(CLAIM), other, Case(network, "field", surveys)),
        }
        for surveys, other, network in product(scale.larger_surveys, LARGER, networks)
        if other != Method(CLAIM)
    ]
    caption = f"Paired differences of {CLAIM} trained for {scale.larger_budget} surveys; {TESTED}"
    columns: list[Column] = ["surveys", ("who", f"{CLAIM} against {{against}}{{part}}"), "network", *DIFFERENCE_COLUMNS]
    tables.append(table("larger-differences", caption, differences, columns))
    tables.append(_learning_table(results, "larger-learning", ["family", "surveys", "method"], trained))
    figure = _learning_figure(results, "larger-budgets", trained, columns=2)
    for axis in figure.drawing.axes:
        axis.axhline(1.0, color=AXIS, linewidth=1)
    return Section("larger-budgets", "Larger budgets", words, tables, [figure])


def budget_curves(results: Results) -> Section:
    """Influence against surveys, for the policies of the paper and of this project."""
    scale = results.paper.scale
    rows = [row for network in results.paper.networks.values() for row in _curve_rows(results, network)]
    caption = f"People reached by number of surveys, field protocol, mean of {scale.curve_runs} runs"
    shown = pivot("budget-curves", caption, rows, ["network", "method"], "surveys", "{mean:.1f}")
    words = [
        f"One study is surveyed to the end and leaders are selected along the way. The first model of {CLAIM}, trained "
        "for 5 surveys, is used for every number of them; where a line says so, the first one trained for more. "
        "Dashed lines: leaders by foresight instead of the greedy oracle.",
    ]
    caption = "People reached against surveys; shaded, one standard error over start sets."
    figure = Figure("budget-curves", caption, _curve_drawing(rows))
    return Section("budget-curves", "Influence against surveys", words, [shown], [figure])


def _curve_rows(results: Results, network: Network) -> Iterator[dict[str, Any]]:
    for (name, selector), job in results.paper.curve_evaluations(network).items():
        found = results.result(job)
        for i, surveys in enumerate(job.checkpoints):
            mean, error = mean_and_error(None if found is None else [run[i] for run in found["influence"]])
            labels = {"network": network.name, "method": name, "selector": selector, "surveys": surveys}
            yield {**labels, "runs": job.runs, "mean": mean, "stderr": error}


def _curve_drawing(rows: Sequence[dict[str, Any]]) -> Drawing:
    plain = {row["method"]: row["method"].replace(f" + {FORESIGHT}", "") for row in rows}
    colors = dict(zip(dict.fromkeys(plain.values()), PALETTE, strict=False))  # the same for both selectors
    panels: dict[str, dict[str, Line]] = {row["network"]: {} for row in rows}
    for row in rows:
        if row["mean"] is not None:
            name, style = row["method"], "-" if row["selector"] == "greedy" else "--"
            line = panels[row["network"]].setdefault(name, Line(name, colors[plain[name]], [], style))
            line.points.append((row["surveys"], row["mean"], row["stderr"]))
    lines = {network: list(found.values()) for network, found in panels.items()}
    return line_panels(lines, "surveys", "people reached", columns=4, width=3.4)


SECTIONS = (goals, sample_efficiency, larger_budgets, budget_curves)
