"""What reports are made of: figures, sections, and one HTML page that needs no other file."""

import base64
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
from matplotlib import figure, ticker
from matplotlib.axes import Axes

from claim.evaluation.compare import without_nan
from claim.evaluation.tables import NOT_RUN, Table
from claim.io.files import make_folder, write_whole

matplotlib.use("Agg")

PALETTE = ("#2166ac", "#c0212f", "#1b7f4d", "#8e5bb5", "#c7761b", "#3b8ea5", "#6b6b6b", "#b0468c", "#4d4d00", "#000000")
GRID, AXIS = "#e8e8e8", "#999999"
MOST_LISTED = 20  # items of a section that are shown without a click


@dataclass(frozen=True)
class Figure:
    """A drawing and what it shows."""

    name: str  # of its files
    caption: str
    drawing: figure.Figure

    @cached_property
    def svg(self) -> bytes:
        """As a vector picture, the same bytes every time."""
        return self.rendered("svg")

    def rendered(self, ending: str) -> bytes:
        """As a file of type ``svg`` or ``png``."""
        buffer = io.BytesIO()
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        with matplotlib.rc_context({"svg.hashsalt": "claim"}):
            self.drawing.savefig(buffer, format=ending, dpi=130, metadata=metadata)
        return buffer.getvalue()


@dataclass(frozen=True)
class Section:
    """Part of a report; paragraphs, figures, tables and a list, in this order."""

    name: str
    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    items: Sequence[str] = ()


# Files ---------------------------------------------------------------------------------------------------------------


def write_report(
    folder: Path, title: str, introduction: Sequence[str], sections: Sequence[Section], results: Any, record: Any
) -> Path:
    """Write the record, the results, each figure as SVG and PNG, and the page, whose path is returned."""
    _write_json(folder / "manifest.json", record)
    _write_json(folder / "results.json", results)
    make_folder(folder / "figures")
    for each in (each for section in sections for each in section.figures):
        write_whole(folder / "figures" / f"{each.name}.svg", each.svg)
        write_whole(folder / "figures" / f"{each.name}.png", each.rendered("png"))
    target = folder / "report.html"
    write_whole(target, page(title, introduction, sections, record))
    return target


def _write_json(path: Path, data: Any) -> None:
    """Plain data; numbers that are not finite become null."""
    write_whole(path, json.dumps(without_nan(data), indent=1, allow_nan=False) + "\n")


def page(title: str, introduction: Sequence[str], sections: Sequence[Section], record: Any) -> str:
    """The report as HTML, with links to its sections and the record at its end."""
    pages = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=pages, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["base64"] = lambda content: base64.b64encode(content).decode()
    environment.filters["plain"] = _without_bold
    environment.tests["numeric"] = _is_number
    given = {"title": title, "introduction": introduction, "sections": sections, "most_listed": MOST_LISTED}
    return environment.get_template("report.html").render(given, record=json.dumps(record, indent=1))


def _without_bold(text: str) -> str:
    return text[2:-2] if text.startswith("**") else text


def _is_number(text: str) -> bool:
    return _without_bold(text)[:1] in tuple("0123456789+-−") or text in ("–", "", NOT_RUN)


# Figures -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """Points joined by a line; the band around it is plus and minus one error."""

    label: str
    color: str
    points: list[tuple[float, float, float]]  # x, y and error
    style: str = "-"


@dataclass(frozen=True)
class Interval:
    """A mean and its standard error; a published value is marked beside it."""

    label: str
    mean: float | None
    stderr: float
    hollow: bool = False
    published: float | None = None


def line_panels(
    panels: Mapping[str, Sequence[Line]], x: str, y: str, columns: int = 3, width: float = 4.2
) -> figure.Figure:
    """One panel a title, with a line for each policy or method, and a legend above all panels."""
    drawing, axes = empty_panels(list(panels), columns, width)
    for axis, lines in zip(axes, panels.values(), strict=True):
        for each in lines:
            at, mean, error = np.nan_to_num(np.array(each.points, float).reshape(-1, 3).T)
            look: dict[str, Any] = {"linewidth": 1.6, "marker": "o", "markersize": 2.5}
            axis.plot(at, mean, each.style, color=each.color, label=each.label, **look)
            axis.fill_between(at, mean - error, mean + error, color=each.color, alpha=0.13, linewidth=0)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    return _labelled(drawing, axes, x, y)


def interval_panels(panels: Mapping[str, Sequence[Interval]], x: str, columns: int = 3) -> figure.Figure:
    """One panel a title: means with 95 % intervals, one line each; all panels have the same lines."""
    tallest = max(map(len, panels.values()))
    drawing, axes = empty_panels(list(panels), columns, 12.6 / columns, 0.9 + 0.28 * tallest)
    for i, (axis, intervals) in enumerate(zip(axes, panels.values(), strict=True)):
        for place, each in enumerate(reversed(intervals)):
            if each.mean is not None:
                error, face = 1.96 * np.nan_to_num(each.stderr), "white" if each.hollow else PALETTE[0]
                look: dict[str, Any] = {"color": PALETTE[0], "markerfacecolor": face, "markersize": 5, "capsize": 3}
                axis.errorbar(each.mean, place, xerr=error, fmt="o", **look)
            if each.published is not None:
                axis.plot(each.published, place, "x", color=PALETTE[1], markersize=6)
        labels = [each.label for each in reversed(intervals)]
        axis.set_yticks(range(len(labels)), labels if i % columns == 0 else [""] * len(labels))
        axis.set_ylim(-0.6, len(labels) - 0.4)
        axis.grid(axis="x", color=GRID)
    return _labelled(drawing, axes, x, "")


def bar_panels(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], groups: Sequence[str], y: str, columns: int = 3
) -> figure.Figure:
    """One panel a title with groups of bars: for each series the height and error in each group."""
    drawing, axes = empty_panels(list(panels), columns, 12.6 / columns)
    for axis, series in zip(axes, panels.values(), strict=True):
        width = 0.8 / max(len(series), 1)
        for i, (label, bars) in enumerate(series.items()):
            place = np.arange(len(bars)) + (i - (len(series) - 1) / 2) * width
            heights, errors = np.array(bars, float).T  # None becomes NaN
            axis.bar(place, heights, width * 0.92, color=PALETTE[i], label=label)
            axis.errorbar(place, heights, yerr=np.nan_to_num(errors), fmt="none", ecolor="#333333", capsize=2)
        axis.set_xticks(range(len(groups)), groups)
    return _labelled(drawing, axes, "", y)


def empty_panels(
    titles: Sequence[str], columns: int = 3, width: float = 4.2, height: float = 2.9
) -> tuple[figure.Figure, list[Axes]]:
    """A drawing with one panel a title, each ``width`` by ``height`` inches."""
    columns = min(columns, len(titles))
    lines = math.ceil(len(titles) / columns)
    drawing = figure.Figure(figsize=(max(width * columns, 5.0), height * lines + 0.6), layout="constrained")
    axes = list(drawing.subplots(lines, columns, squeeze=False).ravel())
    for axis in axes[len(titles) :]:
        axis.remove()
    for axis, title in zip(axes, titles, strict=False):
        axis.set_title(title, fontsize=10, parse_math=False)  # a name with dollar signs is no formula
        axis.grid(axis="y", color=GRID)
        axis.set_axisbelow(True)
        bare(axis)
    return drawing, axes[: len(titles)]


def bare(axis: Axes) -> None:
    """Take away the frame at the top and on the right."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)


def _labelled(drawing: figure.Figure, axes: Sequence[Axes], x: str, y: str) -> figure.Figure:
    """Names of the axes and one legend for all panels."""
    drawing.supxlabel(x, fontsize=9)
    drawing.supylabel(y, fontsize=9)
    named: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if named:
        drawing.legend(named.values(), named, loc="outside upper center", ncols=5, fontsize=8, frameon=False)
    return drawing
