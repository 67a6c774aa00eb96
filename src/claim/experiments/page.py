"""Sections, pictures and the page of the experiments."""

import base64
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


NOT_RUN = "not run"


@dataclass(frozen=True)
class Table:
    """A table for people, and the same numbers in full for machines."""

    name: str  # of its file
    caption: str
    heads: Sequence[str]
    cells: Sequence[Sequence[str]]
    rows: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Picture:
    """A figure and what it shows."""

    name: str  # of its file
    caption: str
    figure: "Figure"

    @cached_property
    def svg(self) -> bytes:
        """As a vector picture; drawn once for its file and the page."""
        return rendered(self.figure, "svg")

    @cached_property
    def png(self) -> bytes:
        """As pixels."""
        return rendered(self.figure, "png")


@dataclass(frozen=True)
class Section:
    """One table or figure of the paper, with whatever belongs to it."""

    name: str
    title: str
    words: Sequence[str]
    tables: Sequence[Table] = field(default_factory=list)
    pictures: Sequence[Picture] = field(default_factory=list)


def shown(value: float | None, form: str = ".2f") -> str:
    """A number, a dash where there can be none, or that it has not been measured."""
    if value is None:
        return NOT_RUN
    return "–" if math.isnan(value) else format(value, form)


matplotlib.use("Agg")


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


def page(
    title: str, introduction: Sequence[str], sections: Sequence[Section], troubles: Sequence[str], record: Any
) -> str:
    """The whole report."""
    links = "".join(f'<li><a href="#{each.name}">{html.escape(each.title)}</a></li>' for each in sections)
    body = "\n".join(_section(each) for each in sections)
    return _TEMPLATE.format(
        title=html.escape(title),
        introduction=_paragraphs(introduction),
        links=links,
        sections=body,
        troubles=_troubles(troubles),
        record=html.escape(json.dumps(record, indent=1)),
    )


def _section(section: Section) -> str:
    parts = [f'<section id="{section.name}"><h2>{html.escape(section.title)}</h2>', _paragraphs(section.words)]
    parts += [_picture(each) for each in section.pictures]
    parts += [_table(each) for each in section.tables]
    return "\n".join([*parts, "</section>"])


def _paragraphs(words: Sequence[str]) -> str:
    return "\n".join(f"<p>{html.escape(each)}</p>" for each in words)


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.svg).decode()
    caption = html.escape(picture.caption)
    image = f'<img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _table(table: Table) -> str:
    head = "".join(_head(name, [cells[i] for cells in table.cells]) for i, name in enumerate(table.heads))
    body = "\n".join("<tr>" + "".join(map(_cell, cells)) + "</tr>" for cells in table.cells)
    caption = html.escape(table.caption)
    return (
        f'<div class="wide"><table><caption>{caption}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _head(name: str, column: Sequence[str]) -> str:
    """Over its column: numbers and their heads stand to the right."""
    numbers = sum(map(_is_number, column)) > len(column) / 2
    return f'<th scope="col"{" class=n" * numbers}><button>{html.escape(name)}</button></th>'


def _cell(text: str) -> str:
    return f"<td{' class=n' * _is_number(text)}>{html.escape(text)}</td>"


def _is_number(text: str) -> bool:
    return text[:1] in tuple("0123456789+-") or text in ("–", "not run")


def _troubles(troubles: Sequence[str]) -> str:
    if not troubles:
        return "<p>Everything has been run.</p>"
    listed = "<ul>" + "".join(f"<li>{html.escape(each)}</li>" for each in troubles) + "</ul>"
    return f"<details><summary>{len(troubles)} jobs</summary>{listed}</details>" if len(troubles) > 20 else listed


_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1c1f23; max-width: 78rem; margin: 2rem auto; padding: 0 1rem; }}
h1, h2 {{ line-height: 1.2; }}
h2 {{ margin-top: 3rem; border-top: 1px solid #dfe2e6; padding-top: 1.5rem; }}
p {{ max-width: 52rem; }}
pre {{ background: #f3f4f6; border-radius: 4px; padding: 1em; font-size: .8rem; max-height: 24rem; overflow: auto; }}
.wide {{ overflow-x: auto; margin: 1.5rem 0; }}
table {{ border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: #444; padding-bottom: .4rem; white-space: nowrap; }}
th, td {{ padding: .25rem .7rem; border-bottom: 1px solid #dfe2e6; text-align: left; white-space: nowrap; }}
th {{ white-space: normal; vertical-align: bottom; }}
th.n, td.n {{ text-align: right; }}
th button {{ all: unset; cursor: pointer; font-weight: 600; }}
th button:focus-visible {{ outline: 2px solid #2166ac; }}
th[aria-sort=ascending] button::after {{ content: " ↑"; }}
th[aria-sort=descending] button::after {{ content: " ↓"; }}
tbody tr:hover {{ background: #f6f8fa; }}
figure {{ margin: 1.5rem 0; }}
img {{ max-width: 100%; height: auto; }}
figcaption {{ color: #555; font-size: .9rem; }}
</style>
</head>
<body>
<h1>{title}</h1>
{introduction}
<ul>{links}<li><a href="#troubles">What has not been run</a></li><li><a href="#record">Record</a></li></ul>
{sections}
<section id="troubles"><h2>What has not been run</h2>
{troubles}
</section>
<section id="record"><h2>Record</h2>
<pre>{record}</pre>
</section>
<script>
for (const table of document.querySelectorAll("table")) {{
  const heads = [...table.querySelectorAll("th")];
  heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {{
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.cells[column].textContent;
    const order = (a, b) => {{
      const [x, y] = [parseFloat(key(a)), parseFloat(key(b))];
      return isNaN(x) || isNaN(y) ? key(a).localeCompare(key(b)) : x - y;
    }};
    const rows = [...table.tBodies[0].rows].sort(order);
    table.tBodies[0].append(...(down ? rows.reverse() : rows));
  }}));
}}
</script>
</body>
</html>
"""
