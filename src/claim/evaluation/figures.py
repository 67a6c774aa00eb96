"""Figures of a comparison, and reach against the number of surveys."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from claim.cascades import Reached
from claim.discovery import Discovered
from claim.evaluation.batches import Progress, play_batches, split
from claim.evaluation.compare import Comparison, Played, Row
from claim.evaluation.statistics import standard_error
from claim.evaluation.tables import marked_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BUDGETS = (0, 1, 2, 3, 5, 10, 20, 30, 50)
MOST_RUNS = 40


@dataclass(frozen=True)
class CurvePoint:
    """What one contender reaches on one network after so many surveys."""

    network: str
    policy: str
    selector: str
    protocol: str
    surveys: int
    runs: int
    mean: float
    stderr: float
    discovered: float


def budget_curves(
    played: Played,
    budgets: Sequence[int] = BUDGETS,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[CurvePoint]:
    """Every contender's curve; one study is surveyed to the end and leaders are chosen along the way."""
    grid = list(product(played.networks, played.contenders))
    batches = [
        split(network, contender, played.rules, played.starts[network.name][:MOST_RUNS], budgets)
        for network, contender in grid
    ]
    points = []
    for (network, contender), runs in zip(grid, play_batches(batches, workers, progress), strict=True):
        for i, surveys in enumerate(budgets):
            values = [outcomes[i].influence for outcomes in runs]
            discovered = float(np.mean([outcomes[i].discovered for outcomes in runs]))
            names = (network.name, *contender.names)
            error = standard_error(values)
            points.append(CurvePoint(*names, surveys, len(values), float(np.mean(values)), error, discovered))
    return points


matplotlib.use("Agg")


BLUE, ORANGE, RED, GREY = "#2166ac", "#f4a33d", "#c0212f", "#9aa0a6"
LINES = ("#2166ac", "#c0212f", "#1b7f4d", "#8e5bb5", "#c7761b", "#3b8ea5", "#6b6b6b", "#b0468c", "#4d4d00", "#000000")
MOST_DRAWN = 1500  # people; a larger discovered network is a blot


def reached_figure(result: Comparison) -> Figure:
    """One panel a network: mean and 95 % interval of each contender; references are hollow."""
    panels = list(dict.fromkeys((row.network, row.protocol) for row in result.rows))
    columns = min(3, len(panels))
    lines = math.ceil(len(panels) / columns)
    tallest = max(sum((row.network, row.protocol) == panel for row in result.rows) for panel in panels)
    figure = Figure(figsize=(4.2 * columns, lines * (0.9 + 0.32 * tallest)), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    several = len({row.selector for row in result.rows}) > 1
    for axis, panel in zip(axes, panels, strict=False):
        rows = [row for row in result.rows if (row.network, row.protocol) == panel]
        _intervals(axis, rows, several)
        axis.set_title(f"{panel[0]} ({panel[1]}); OPT {result.opt[panel[0]]:.1f}", fontsize=10, parse_math=False)
    for axis in axes[len(panels) :]:
        axis.remove()
    figure.supxlabel("people reached (mean and 95 % interval)", fontsize=9)
    return figure


def _intervals(axis: "Axes", rows: Sequence[Row], several: bool) -> None:
    for place, row in enumerate(reversed(rows)):
        error = 0.0 if math.isnan(row.stderr) else 1.96 * row.stderr
        face = "white" if row.reference else BLUE
        axis.errorbar(row.mean, place, xerr=error, fmt="o", color=BLUE, markerfacecolor=face, capsize=3)
    names = [marked_name(row, several) for row in reversed(rows)]
    axis.set_yticks(range(len(rows)), names, fontsize=9)
    axis.set_ylim(-0.6, len(rows) - 0.4)
    axis.grid(axis="x", color="#e0e0e0")
    _bare(axis)


def curves_figure(points: Sequence[CurvePoint]) -> Figure:
    """Influence against the number of surveys, one panel a network and protocol."""
    panels = list(dict.fromkeys((point.network, point.protocol) for point in points))
    columns = min(3, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * lines + 0.6), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    several = len({point.selector for point in points}) > 1
    names = list(dict.fromkeys((point.policy, point.selector) for point in points))
    for axis, panel in zip(axes, panels, strict=False):
        for i, name in enumerate(names):
            line = [q for q in points if (q.network, q.protocol) == panel and (q.policy, q.selector) == name]
            _curve(axis, line, f"{name[0]} + {name[1]}" if several else name[0], i)
        axis.set_title(f"{panel[0]} ({panel[1]})", fontsize=10, parse_math=False)
    for axis in axes[len(panels) :]:
        axis.remove()
    figure.supxlabel("surveys", fontsize=9)
    figure.supylabel("people reached", fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=8, frameon=False)
    return figure


def _curve(axis: "Axes", line: Sequence[CurvePoint], label: str, i: int) -> None:
    surveys = [point.surveys for point in line]
    mean = np.array([point.mean for point in line])
    error = np.nan_to_num(np.array([point.stderr for point in line]))
    style = "-" if i < len(LINES) else "--"
    color = LINES[i % len(LINES)]
    axis.plot(surveys, mean, style, color=color, label=label, linewidth=1.6, marker="o", markersize=2.5)
    axis.fill_between(surveys, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
    axis.grid(color="#e8e8e8")
    _bare(axis)


def study_figure(discovered: Discovered, leaders: Sequence[int], story: Sequence[Reached], title: str) -> Figure:
    """Left, what one study discovered and whom it chose; right, one cascade of these leaders, step by step."""
    figure = Figure(figsize=(11, 5.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _discovered_panel(left, discovered, leaders)
    _cascade_panel(right, story)
    figure.suptitle(title, fontsize=11, parse_math=False)
    return figure


def _discovered_panel(axis: "Axes", discovered: Discovered, leaders: Sequence[int]) -> None:
    import networkx

    axis.set_axis_off()
    if len(discovered) > MOST_DRAWN:
        axis.text(0.5, 0.5, f"{len(discovered)} people: too many to draw", ha="center")
        return
    graph = discovered.as_network().to_networkx()
    place = networkx.spring_layout(graph, seed=1, k=1.6 / math.sqrt(max(1, len(discovered))), iterations=80)
    networkx.draw_networkx_edges(graph, place, ax=axis, edge_color="#c8ccd0", width=0.6)
    chosen, surveyed = set(leaders), set(discovered.surveyed)
    groups: list[tuple[str, list[int], dict[str, Any]]] = [
        ("named, not surveyed", [u for u in graph if u not in surveyed], {"node_color": ORANGE, "node_size": 14}),
        ("surveyed", sorted(surveyed), {"node_color": BLUE, "node_size": 46}),
        ("leader", sorted(chosen), {"node_color": "none", "edgecolors": RED, "linewidths": 1.8, "node_size": 90}),
    ]
    for label, people, look in groups:
        networkx.draw_networkx_nodes(graph, place, nodelist=people, ax=axis, label=label, **look)
    axis.legend(loc="lower left", fontsize=8, frameon=False)
    axis.set_title(f"discovered: {len(discovered)} people, {len(surveyed)} surveyed", fontsize=9)


def _cascade_panel(axis: "Axes", story: Sequence[Reached]) -> None:
    by_step: dict[int, list[Reached]] = {}
    for event in story:
        by_step.setdefault(event.step, []).append(event)
    place: dict[int, tuple[float, float]] = {}
    for step, events in by_step.items():
        for i, event in enumerate(events):
            place[event.person] = (step, (i + 0.5) / len(events))
            if event.by is not None:
                (x0, y0), (x1, y1) = place[event.by], place[event.person]
                axis.plot([x0, x1], [y0, y1], color="#c8ccd0", linewidth=0.7, zorder=1)
    spots = np.array(list(place.values())).reshape(-1, 2)
    colors = [RED if event.by is None else GREY for event in story]
    axis.scatter(spots[:, 0], spots[:, 1], c=colors, s=18, zorder=2)
    axis.set_xticks(range(len(by_step)))
    axis.set_xlabel("step", fontsize=9)
    axis.set_yticks([])
    axis.set_title(f"one cascade of these leaders: {len(story)} people reached", fontsize=9)
    _bare(axis)
    axis.spines["left"].set_visible(False)


def _bare(axis: "Axes") -> None:
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.tick_params(labelsize=8)
