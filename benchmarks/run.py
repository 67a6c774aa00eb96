"""Run the benchmarks: ratios against peers measured side by side, growth and memory.

    python benchmarks/run.py [--json FILE] [--only NAME]

Real networks are read from the folder in CLAIM_DATA; without it, generated ones stand in.
"""

import argparse
import json
import os
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import cluster_selection
import decisions
import evaluation_speed
import greedy_selection
import influence_precision
import large_files
import large_networks
import large_studies
import pynetim_selection
import training
from measure import Result
from rich.console import Console
from rich.table import Table

BENCHMARKS = {
    "influence": influence_precision.run,
    "greedy": greedy_selection.run,
    "pynetim": pynetim_selection.run,
    "large": large_networks.run,
    "cluster": cluster_selection.run,
    "studies": large_studies.run,
    "files": large_files.run,
    "evaluation": evaluation_speed.run,
    "decisions": decisions.run,
    "training": training.run,
}


def main() -> None:
    arguments = _arguments()
    console = Console()
    results = {}
    for name, benchmark in BENCHMARKS.items():
        if arguments.only in (None, name):
            with console.status(f"{name} ..."):
                results[name] = benchmark()
            console.print(_table(results[name]))
    if arguments.json:
        record = {"machine": _machine(), "results": {name: asdict(result) for name, result in results.items()}}
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to a file")
    parser.add_argument("--only", choices=list(BENCHMARKS), help="run one benchmark only")
    return parser.parse_args()


def _table(result: Result) -> Table:
    table = Table(title=result.title, caption=f"target: {result.target}", title_justify="left", caption_justify="left")
    for column in result.rows[0]:
        table.add_column(column, justify="left" if isinstance(result.rows[0][column], str) else "right")
    for row in result.rows:
        table.add_row(*map(_text, row.values()))
    return table


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _machine() -> dict[str, object]:
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("numpy", "numba", "cynetdiff")},
    }


if __name__ == "__main__":
    main()
