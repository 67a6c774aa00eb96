"""A run folder: record, results for machines, figures, and one HTML page that needs nothing else."""

import base64
import csv
import html
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from claim.cascades import cascade
from claim.errors import InputError
from claim.evaluation.batches import Progress
from claim.evaluation.compare import Comparison, Difference, Row, without_nan
from claim.evaluation.figures import BUDGETS, CurvePoint, budget_curves
from claim.evaluation.runs import Contender, Rules, leaders_of_run, selector_for, studied
from claim.evaluation.tables import marked_name, number, stars
from claim.networks import Network
from claim.randomness import named_seed
from claim.registry import policy_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_STUDIES = 6  # pictures of single studies in a report


def write_run_folder(
    result: Comparison,
    folder: Path,
    *,
    budgets: Sequence[int] = BUDGETS,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write everything about a comparison; returns the path of the report."""
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot make this folder ({error.strerror})") from error
    _write_json(folder / "manifest.json", result.manifest)
    _write_json(folder / "results.json", result.to_dict())
    _write_csv(folder / "results.csv", Row, result.rows)
    _write_csv(folder / "comparisons.csv", Difference, result.comparisons)
    points = budget_curves(result.played, budgets, workers, progress)
    _write_csv(folder / "curves.csv", CurvePoint, points)
    figures = _figures(result, points)
    for name, figure in figures.items():
        for ending in ("svg", "png"):
            (folder / "figures" / f"{name}.{ending}").write_bytes(_rendered(figure, ending))
    page = folder / "report.html"
    page.write_text(_page(result, figures), encoding="utf-8")
    return page


def _figures(result: Comparison, points: Sequence[CurvePoint]) -> dict[str, "Figure"]:
    from claim.evaluation.figures import curves_figure, reached_figure

    figures = {"reached": reached_figure(result), "budget": curves_figure(points)}
    for network in result.played.networks[:MOST_STUDIES]:
        figures[_file_name(f"study-{network.name}", figures)] = _one_study(result, network)
    return figures


def _file_name(wanted: str, taken: Iterable[str]) -> str:
    """A name any file system takes, and not one that is taken."""
    name = re.sub(r"[^\w.-]", "_", wanted)
    return name if name not in taken else _file_name(f"{name}_", taken)


def _one_study(result: Comparison, network: Network) -> "Figure":
    """The first run of the best policy on a network, played again for the picture."""
    from claim.evaluation.figures import study_figure

    rows = [row for row in result.rows if row.network == network.name]
    best = max([row for row in rows if not row.reference] or rows, key=lambda row: row.mean)
    rules, start = result.played.rules, result.played.starts[network.name][0]
    policy = policy_for(best.policy, network, rules.budget)
    (simulation,) = studied(network, policy, rules, 0, start, [rules.budget])
    selector = selector_for(Contender(best.policy, best.selector, best.protocol), network, rules)
    leaders = leaders_of_run(simulation, selector, best.protocol, rules, 0)
    local = {who: i for i, who in enumerate(simulation.people)}
    story = cascade(network, _who_come(leaders, rules), rules.true_p(0), named_seed(rules.seed, "story"))
    title = f"{network.name}: one study with {best.policy} surveys and {best.selector} selection"
    return study_figure(simulation.discovered, [local[who] for who in leaders if who in local], story, title)


def _who_come(leaders: list[int], rules: Rules) -> list[int]:
    """The leaders who come, in one draw."""
    coins = np.random.default_rng(named_seed(rules.seed, "attendance")).random(len(leaders))
    return [who for who, coin in zip(leaders, coins, strict=True) if coin < rules.attendance]


def _rendered(figure: "Figure", ending: str) -> bytes:
    """The picture as bytes, the same every time."""
    import matplotlib

    buffer = io.BytesIO()
    metadata = {"Date": None} if ending == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "claim"}):
        figure.savefig(buffer, format=ending, dpi=130, metadata=metadata)
    return buffer.getvalue()


def _page(result: Comparison, figures: dict[str, "Figure"]) -> str:
    command = result.manifest["command"]
    captions = {
        "reached": "People reached by each policy: mean and 95 % interval. Hollow points are references, not policies.",
        "budget": "People reached against the number of surveys; shaded, one standard error.",
    }
    pictures = [_picture(figure, captions.get(name, _STUDY)) for name, figure in figures.items()]
    return _TEMPLATE.format(
        command=html.escape(command),
        protocols=", ".join(dict.fromkeys(row.protocol for row in result.rows)),
        runs=result.rows[0].runs,
        reached=_reached_table(result),
        differences=_differences_table(result),
        first_pictures="\n".join(pictures[:2]),
        studies="\n".join(pictures[2:]),
        manifest=html.escape(json.dumps(result.manifest, indent=1)),
    )


def _picture(figure: "Figure", caption: str) -> str:
    data = base64.b64encode(_rendered(figure, "svg")).decode()
    image = f'<img alt="{html.escape(caption)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{html.escape(caption)}</figcaption></figure>"


def _reached_table(result: Comparison) -> str:
    several = len({row.selector for row in result.rows}) > 1
    rows = [_reached_cells(row, several, result.opt[row.network]) for row in result.rows]
    rows += [
        [network, "", "OPT (whole network known)", f"{opt:.2f}", "", "", ""] for network, opt in result.opt.items()
    ]
    rows.sort(key=lambda cells: list(result.opt).index(cells[0]))
    heads = ["network", "protocol", "policy", "people reached", "standard error", "discovered", "of OPT"]
    return _table(heads, rows)


def _reached_cells(row: Row, several: bool, opt: float) -> list[str]:
    numbers = [f"{row.mean:.2f}", number(row.stderr, ".2f"), f"{row.discovered:.0f}", f"{100 * row.mean / opt:.0f} %"]
    return [row.network, row.protocol, marked_name(row, several), *numbers]


def _differences_table(result: Comparison) -> str:
    heads = ["network", "protocol", "a", "b", "a − b", "95 % interval", "p (paired t)", "p (Holm)"]
    rows = [_difference_cells(each) for each in result.comparisons]
    return _table(heads, rows) if rows else "<p>Only one contender: nothing to compare.</p>"


def _difference_cells(each: Difference) -> list[str]:
    interval = f"{each.ci95[0]:+.2f} to {each.ci95[1]:+.2f}"
    p_values = [number(each.p_value, ".2g"), f"{number(each.p_holm, '.2g')} {stars(each.p_holm)}"]
    return [each.network, each.protocol, each.a, each.b, f"{each.difference:+.2f}", interval, *p_values]


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in heads)
    body = "\n".join("<tr>" + "".join(map(_cell, cells)) + "</tr>" for cells in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _cell(text: str) -> str:
    number = text[:1] in tuple("0123456789+-")
    return f"<td{' class=n' * number}>{html.escape(text)}</td>"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row without its list of values, which results.json has, and with an interval as two numbers."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key == "ci95":
            flat["ci95_low"], flat["ci95_high"] = value or (None, None)
        elif key != "values":
            flat[key] = value
    return flat


def _write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _write_csv(path: Path, kind: type[Row | Difference | CurvePoint], rows: Sequence[Any]) -> None:
    """One line a row, below a header that is there even if no row is."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(_flat({each.name: None for each in fields(kind)})))
        writer.writeheader()
        writer.writerows(_flat(without_nan(asdict(row))) for row in rows)


_STUDY = (
    "One study of the best policy: people surveyed (blue), named only (orange) and chosen as leaders (red ring); "
    "beside it one cascade of these leaders on the hidden network."
)

_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Survey policies compared</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1c1f23; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
h1, h2 {{ line-height: 1.2; }}
code, pre {{ background: #f3f4f6; border-radius: 4px; padding: .1em .3em; overflow-x: auto; }}
pre {{ padding: 1em; font-size: .8rem; max-height: 24rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .7rem; border-bottom: 1px solid #dfe2e6; text-align: left; white-space: nowrap; }}
td.n {{ text-align: right; }}
th {{ position: sticky; top: 0; background: #fff; }}
figure {{ margin: 1.5rem 0; }}
img {{ max-width: 100%; height: auto; }}
figcaption {{ color: #555; font-size: .9rem; }}
</style>
</head>
<body>
<h1>Survey policies compared</h1>
<p>{runs} runs per network ({protocols} protocol), the same start sets and the same cascades for every policy.
Made by <code>{command}</code></p>
{first_pictures}
<h2>People reached</h2>
{reached}
<h2>Paired differences</h2>
<p>Positive: a reaches more people than b. Intervals are bootstrapped over runs; Holm's correction covers all rows.</p>
{differences}
<h2>Single studies</h2>
{studies}
<h2>Record</h2>
<pre>{manifest}</pre>
</body>
</html>
"""
