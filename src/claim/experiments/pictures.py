"""Drawing: panels side by side, bars in groups, lines with bands."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
import numpy.typing as npt

matplotlib.use("Agg")
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#2166ac", "#c0212f", "#1b7f4d", "#8e5bb5", "#c7761b", "#3b8ea5", "#6b6b6b", "#b0468c", "#4d4d00", "#000000")


def panels(count: int, columns: int = 3, width: float = 4.0, height: float = 2.9) -> "tuple[Figure, list[Axes]]":
    """A figure with so many panels."""
    columns = min(columns, count)
    lines = math.ceil(count / columns)
    figure = Figure(figsize=(max(width * columns, 5.0), height * lines + 0.6), layout="constrained")
    axes = list(figure.subplots(lines, columns, squeeze=False).ravel())
    for axis in axes[count:]:
        axis.remove()
    return figure, axes[:count]


def bars(axis: "Axes", groups: Sequence[str], series: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
    """Groups of bars, one colour a series, with its error as a line."""
    width = 0.8 / max(len(series), 1)
    for i, (label, (heights, errors)) in enumerate(series.items()):
        place = np.arange(len(groups)) + (i - (len(series) - 1) / 2) * width
        axis.bar(place, heights, width * 0.92, color=COLORS[i], label=label)
        axis.errorbar(place, heights, yerr=np.nan_to_num(errors), fmt="none", ecolor="#333333", capsize=2, linewidth=1)
    axis.set_xticks(range(len(groups)), list(groups), fontsize=9)
    finish(axis)


def line(
    axis: "Axes", x: npt.ArrayLike, mean: npt.ArrayLike, band: npt.ArrayLike, label: str, color: str, style: str = "-"
) -> None:
    """A line with a shaded band of plus and minus one error."""
    middle, spread = np.asarray(mean, float), np.nan_to_num(np.asarray(band, float))
    axis.plot(x, middle, style, color=color, label=label, linewidth=1.6, marker="o", markersize=2.5)
    axis.fill_between(np.asarray(x, float), middle - spread, middle + spread, color=color, alpha=0.13, linewidth=0)
    finish(axis)


def legend(figure: "Figure", axes: "Sequence[Axes]", columns: int = 5) -> None:
    """One legend for all panels, above them, with whatever any of them shows."""
    named: dict[str, Any] = {}
    for axis in axes:
        handles, labels = axis.get_legend_handles_labels()
        named |= {label: handle for handle, label in zip(handles, labels, strict=True) if label not in named}
    if named:
        figure.legend(
            named.values(), named.keys(), loc="outside upper center", ncols=columns, fontsize=8, frameon=False
        )


def title(axis: "Axes", text: str) -> None:
    """What a panel shows; names of networks are no formulas."""
    axis.set_title(text, fontsize=10, parse_math=False)


def finish(axis: "Axes") -> None:
    """Nothing that says nothing."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.grid(axis="y", color="#e8e8e8")
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=8)


def rendered(figure: "Figure", ending: str) -> bytes:
    """The picture as bytes, the same every time."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if ending == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "claim"}):
        figure.savefig(buffer, format=ending, dpi=130, metadata=metadata)
    return buffer.getvalue()
