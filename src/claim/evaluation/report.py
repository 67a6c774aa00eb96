"""The run folder of a comparison: record, results as JSON and CSV, figures, and one HTML page."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from claim.cascades import Reached, cascade
from claim.discovery import Discovered
from claim.evaluation.batches import run_batches
from claim.evaluation.compare import Comparison, Difference
from claim.evaluation.conclusion import SIGNIFICANT, conclusion
from claim.evaluation.report_kit import (
    PALETTE,
    Figure,
    Interval,
    Line,
    Section,
    bare,
    interval_panels,
    line_panels,
    write_report,
)
from claim.evaluation.runs import StudySettings, run_studies
from claim.evaluation.statistics import standard_error
from claim.evaluation.tables import Column, DataRow, Table, bold, cell, csv_text, marked_name, pivot, table
from claim.io.files import make_folder, write_whole
from claim.networks import Network
from claim.randomness import named_seed

BUDGETS = (0, 1, 2, 3, 5, 10, 20, 30, 50)  # surveys of the budget curves
MOST_RUNS = 40  # of a budget curve
MOST_STUDIES = 6  # pictures of single studies in a report
MOST_DRAWN = 1500  # people; a larger discovered network is a blot
RESULT_COLUMNS = ("network", "policy", "selector", "protocol", "runs", "mean", "stderr", "discovered", "reference")
DIFFERENCE_COLUMNS = ("network", "protocol", "a", "b", "difference", "ci95_low", "ci95_high", "p_value", "p_holm")
SURVEYED, NAMED, LEADER, OTHER, TIE = PALETTE[0], "#f4a33d", PALETTE[1], "#9aa0a6", "#c8ccd0"


def write_run_folder(result: Comparison, folder: Path, *, budgets: Sequence[int] = (), **placement: Any) -> Path:
    """Write everything about a comparison; returns the path of the report.

    With ``budgets``, such as :data:`BUDGETS`, also the curves of people reached against surveys. ``placement`` is where
    their studies run, as for :func:`run_batches`: workers, backend, address.
    """
    make_folder(folder)
    points = budget_curves(result, budgets, **placement) if budgets else []
    write_whole(folder / "results.csv", csv_text(map(vars, result.rows), RESULT_COLUMNS))
    intervals = [{**vars(each), "ci95_low": each.ci95[0], "ci95_high": each.ci95[1]} for each in result.comparisons]
    write_whole(folder / "comparisons.csv", csv_text(intervals, DIFFERENCE_COLUMNS))
    if points:
        write_whole(folder / "curves.csv", csv_text(points, list(points[0])))
    protocols = ", ".join(dict.fromkeys(row.protocol for row in result.rows))
    introduction = [
        *conclusion(result),
        f"{result.rows[0].runs} runs per network ({protocols} protocol), the same start sets and the same cascades for "
        "every policy.",
        f"Made by: {result.manifest['command']}",
    ]
    sections = _sections(result, points)
    return write_report(folder, "Survey policies compared", introduction, sections, result.to_dict(), result.manifest)


def budget_curves(result: Comparison, budgets: Sequence[int] = BUDGETS, **placement: Any) -> list[dict[str, Any]]:
    """People reached against surveys; each study is surveyed to the end and leaders are chosen along the way."""
    first = {name: starts[:MOST_RUNS] for name, starts in result.studies.starts.items()}
    points = []
    for row, runs in zip(
        result.rows, run_batches(replace(result.studies, starts=first), budgets, **placement), strict=True
    ):
        names = {name: getattr(row, name) for name in ("network", "policy", "selector", "protocol")}
        for surveys, (values, discovered, _) in zip(budgets, runs.transpose(1, 2, 0), strict=True):
            reached = {"runs": len(values), "mean": float(values.mean()), "stderr": standard_error(values)}
            points.append({**names, "surveys": surveys, **reached, "discovered": float(discovered.mean())})
    return points


# Sections ------------------------------------------------------------------------------------------------------------


def _sections(result: Comparison, points: Sequence[DataRow]) -> list[Section]:
    several = len({row.selector for row in result.rows}) > 1
    caption = "People reached by each method: mean and 95 % interval. Hollow points are references, not policies."
    figure = Figure("reached", caption, _reached_drawing(result, several))
    tables = [*_reached_tables(result, several), _rows_table(result, several)]
    sections = [Section("people-reached", "People reached", [], tables, [figure])]
    if points:
        caption = "People reached against the number of surveys; shaded, one standard error."
        curves = Figure("budget", caption, _curves_drawing(points, several))
        sections.append(Section("budget", "More or fewer surveys", [], [], [curves]))
    studies = Section("studies", "Single studies", [], [], _study_figures(result))
    return [*sections, _differences_section(result), studies]


def _reached_tables(result: Comparison, several: bool) -> list[Table]:
    """For each protocol one line a method and one column a network; the best method of each network is bold."""
    tables = []
    for protocol in dict.fromkeys(row.protocol for row in result.rows):
        mine = [row for row in result.rows if row.protocol == protocol]
        usable = [row for row in mine if not row.reference] or mine
        best = {name: max(row.mean for row in usable if row.network == name) for name in result.opt}
        rows: list[dict[str, Any]] = []
        for row in mine:
            is_best = row in usable and row.mean == best[row.network]
            rows.append({**vars(row), "method": marked_name(row, several), "best": is_best})
        for network, opt in result.opt.items():
            rows.append({"method": "OPT (whole network known)", "network": network, "mean": opt, "best": False})
        caption = f"People reached, {protocol} protocol: mean ± standard error. Bold: the most on a network."
        tables.append(pivot(f"reached-{protocol}", caption, rows, ["method"], "network", _reached_cell))
    return tables


def _reached_cell(row: DataRow) -> str:
    text = cell(row, "{mean:.2f} ± {stderr:.2f}") or cell(row, "{mean:.2f}")
    return bold(text) if row["best"] else text


def _rows_table(result: Comparison, several: bool) -> Table:
    rows = [
        {**vars(row), "label": marked_name(row, several), "of_opt": 100 * row.mean / result.opt[row.network]}
        for row in result.rows
    ]
    columns: list[Column] = [
        *("network", "protocol"),
        ("policy", "{label}"),
        ("people reached", "{mean:.2f}"),
        ("standard error", "{stderr:.2f}"),
        ("discovered", "{discovered:.0f}"),
        ("of OPT", "{of_opt:.0f %}"),
    ]
    return table("reached", "All rows, with the people discovered and the share of OPT", rows, columns, folded=True)


def _differences_section(result: Comparison) -> Section:
    if not result.comparisons:
        return Section("differences", "Paired differences", ["Only one method: nothing to compare."])
    words = (
        "Methods are compared run by run, on the same start sets and cascades. Columns are the methods of the lines, "
        "by number. A difference counts as significant if the paired t-test gives "
        f"p < {SIGNIFICANT} after Holm's correction over all pairs."
    )
    tables = []
    for protocol in dict.fromkeys(row.protocol for row in result.rows):
        pairs = [each for each in result.comparisons if each.protocol == protocol]
        pairs += [each.reversed() for each in pairs]
        caption = f"On how many networks the line is significantly ahead (+) or behind (−), {protocol} protocol"
        tables.append(_matrix(f"ahead-{protocol}", caption, pairs, _counts))
        for network in result.opt:
            here = [each for each in pairs if each.network == network]
            caption = f"{network}, {protocol} protocol: people more or fewer than the column; significant ones are bold"
            tables.append(replace(_matrix(f"differences-{network}", caption, here, _difference), folded=True))
    return Section("differences", "Paired differences", [words], [*tables, _differences_table(result)])


def _matrix(name: str, caption: str, pairs: list[Difference], form: Callable[[list[Difference]], str]) -> Table:
    names = list(dict.fromkeys(each.a for each in pairs))
    numbers = [str(i + 1) for i in range(len(names))]
    found = {(a, b): [each for each in pairs if (each.a, each.b) == (a, b)] for a in names for b in names}
    lines = [[f"{a} ({number})", *(form(found[a, b]) for b in names)] for number, a in zip(numbers, names, strict=True)]
    return Table(name, caption, ["method", *numbers], lines)


def _counts(pairs: list[Difference]) -> str:
    significant = [each.difference > 0 for each in pairs if each.p_holm < SIGNIFICANT]
    ahead, behind = significant.count(True), significant.count(False)
    return " ".join([f"+{ahead}"] * (ahead > 0) + [f"−{behind}"] * (behind > 0)) or ("0" if pairs else "")


def _difference(pairs: list[Difference]) -> str:
    text = "".join(f"{each.difference:+.1f}" for each in pairs)
    return bold(text) if any(each.p_holm < SIGNIFICANT for each in pairs) else text


def _differences_table(result: Comparison) -> Table:
    columns: list[Column] = [
        *("network", "protocol", "a", "b"),
        ("a − b", "{difference:+.2f}"),
        ("95 % interval", "{ci95[0]:+.2f} to {ci95[1]:+.2f}"),
        ("p (paired t)", "{p_value:.2g}"),
        ("p (Holm)", "{p_holm:.2g} {p_holm:*}"),
    ]
    caption = "All pairs with intervals (bootstrapped over runs) and p-values"
    return table("differences", caption, [vars(each) for each in result.comparisons], columns, folded=True)


# Figures -------------------------------------------------------------------------------------------------------------


def _reached_drawing(result: Comparison, several: bool) -> Drawing:
    panels: dict[str, list[Interval]] = {}
    for row in result.rows:
        title = f"{row.network} ({row.protocol}); OPT {result.opt[row.network]:.1f}"
        interval = Interval(marked_name(row, several), row.mean, row.stderr, hollow=row.reference)
        panels.setdefault(title, []).append(interval)
    return interval_panels(panels, "people reached (mean and 95 % interval)")


def _curves_drawing(points: Sequence[DataRow], several: bool) -> Drawing:
    panels: dict[str, dict[str, Line]] = {}
    looks = [(color, style) for style in ("-", "--") for color in PALETTE]
    for point in points:
        name = cell(point, "{policy} + {selector}" if several else "{policy}")
        lines = panels.setdefault(cell(point, "{network} ({protocol})"), {})
        color, style = looks[len(lines) % len(looks)]
        line = lines.setdefault(name, Line(name, color, [], style))
        line.points.append((point["surveys"], point["mean"], point["stderr"]))
    return line_panels({title: list(lines.values()) for title, lines in panels.items()}, "surveys", "people reached")


def _study_figures(result: Comparison) -> list[Figure]:
    caption = (
        "One study of the best policy: people surveyed (blue), named only (orange) and chosen as leaders (red ring); "
        "beside it one cascade of these leaders on the hidden network."
    )
    figures: list[Figure] = []
    for network in result.studies.networks[:MOST_STUDIES]:
        name = _file_name(f"study-{network.name}", [each.name for each in figures])
        figures.append(Figure(name, caption, _one_study(result, network)))
    return figures


def _file_name(wanted: str, taken: Iterable[str]) -> str:
    """A name that any file system accepts and that is not taken."""
    name = re.sub(r"[^\w.-]", "_", wanted)
    return name if name not in taken else _file_name(f"{name}_", taken)


def _one_study(result: Comparison, network: Network) -> Drawing:
    """The first run of the best policy on a network, run again; left the discovered network, right one cascade."""
    compared = result.studies
    rows = [row for row in result.rows if row.network == network.name]  # in the order of the methods
    best = max([row for row in rows if not row.reference] or rows, key=lambda row: row.mean)
    method = compared.methods[rows.index(best)]
    settings, start = compared.settings, compared.starts[network.name][0]
    ((simulation, outcomes),) = run_studies(network, method, settings, [(0, start)], [settings.budget])
    leaders = list(outcomes[-1].leaders)
    local = {who: i for i, who in enumerate(simulation.people)}
    trace = cascade(network, _attending(leaders, settings), settings.true_p(0), named_seed(settings.seed, "story"))
    drawing = Drawing(figsize=(11, 5.4), layout="constrained")
    left, right = drawing.subplots(1, 2, width_ratios=(3, 2))
    _draw_discovered(left, simulation.discovered, {local[who] for who in leaders if who in local})
    _draw_cascade(right, trace)
    title = f"{network.name}: one study with {best.policy} surveys and {best.selector} selection"
    drawing.suptitle(title, fontsize=11, parse_math=False)
    return drawing


def _attending(leaders: list[int], settings: StudySettings) -> list[int]:
    """The leaders who attend, in one draw."""
    draws = np.random.default_rng(named_seed(settings.seed, "attendance")).random(len(leaders))
    return [who for who, draw in zip(leaders, draws, strict=True) if draw < settings.attendance]


def _draw_discovered(axis: Axes, discovered: Discovered, leaders: set[int]) -> None:
    import networkx

    axis.set_axis_off()
    if not 0 < len(discovered) <= MOST_DRAWN:
        text = f"{len(discovered)} people: too many to draw" if len(discovered) else "no one is known"
        axis.text(0.5, 0.5, text, ha="center")
        return
    graph = discovered.as_network().to_networkx()
    place = networkx.spring_layout(graph, seed=1, k=1.6 / math.sqrt(max(1, len(discovered))), iterations=80)
    networkx.draw_networkx_edges(graph, place, ax=axis, edge_color=TIE, width=0.6)
    surveyed = set(discovered.surveyed)
    groups: list[tuple[str, list[int], dict[str, Any]]] = [
        ("named, not surveyed", [u for u in graph if u not in surveyed], {"node_color": NAMED, "node_size": 14}),
        ("surveyed", sorted(surveyed), {"node_color": SURVEYED, "node_size": 46}),
        ("leader", sorted(leaders), {"node_color": "none", "edgecolors": LEADER, "linewidths": 1.8, "node_size": 90}),
    ]
    for label, people, look in groups:
        networkx.draw_networkx_nodes(graph, place, nodelist=people, ax=axis, label=label, **look)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, fontsize=8, frameon=False)
    axis.set_title(f"discovered: {len(discovered)} people, {len(surveyed)} surveyed", fontsize=9)


def _draw_cascade(axis: Axes, trace: Sequence[Reached]) -> None:
    """People by the step in which they were reached, joined to the person who reached them."""
    reached, placed = Counter(event.step for event in trace), Counter[int]()
    place: dict[int, tuple[float, float]] = {}
    for event in trace:
        place[event.person] = (event.step, (placed[event.step] + 0.5) / reached[event.step])
        placed[event.step] += 1
        if event.by is not None:
            axis.plot(*zip(place[event.by], place[event.person], strict=True), color=TIE, linewidth=0.7, zorder=1)
    spots = np.array(list(place.values())).reshape(-1, 2)
    colors = [LEADER if event.by is None else OTHER for event in trace]
    axis.scatter(spots[:, 0], spots[:, 1], c=colors, s=18, zorder=2)
    axis.set_xticks(range(len(reached)))
    axis.set_xlabel("step", fontsize=9)
    axis.set_yticks([])
    axis.set_title(f"one cascade of these leaders: {len(trace)} people reached", fontsize=9)
    bare(axis)
    axis.spines["left"].set_visible(False)
