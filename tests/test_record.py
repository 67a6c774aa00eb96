"""The tables of README and of the record say what the files in results/record hold, cell by cell."""

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from claim.experiments.published import INFLUENCE

ROOT = Path(__file__).parent.parent
BUDGETS = {"Five surveys": ("five",), "Ten, twenty and fifty surveys": ("ten", "twenty", "fifty")}
RULES = ("random", "change", "degree+inverse", "max-contact")
LARGEST_ERROR = "largest standard error"
# How README calls the policies that the record calls by their names
CALLED = {"random person": "random", "CHANGE with equal access": "change", "CLAIM trained here": "claim"}

Table = dict[str, dict[str, str]]  # cells by row and network


@cache
def measured(budget: str) -> dict[str, Any]:
    with gzip.open(ROOT / f"results/record/{budget}-surveys.json.gz", "rt", encoding="utf-8") as file:
        result: dict[str, Any] = json.load(file)
    return result


def table_under(heading: str, text: str) -> Table:
    """The first table under a heading."""
    section = re.split(r"^## ", text.split(f"## {heading}\n", 1)[1], flags=re.MULTILINE)[0]
    lines = re.search(r"(^\|.*\n)+", section, re.MULTILINE)[0].splitlines()
    first, *rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if "---" not in line]
    return {row[0]: dict(zip(first[1:], row[1:], strict=True)) for row in rows}


def expected(label: str, network: str, budget: str, with_error: bool) -> str:
    """The cell of a row: published, the best of a known network, the largest standard error, or measured."""
    result = measured(budget)
    if label.startswith("published CLAIM"):
        return f"{INFLUENCE['claim'][network]:g}"
    if label.startswith("OPT"):
        return f"{result['opt'][network]:.1f}"
    if label == LARGEST_ERROR:
        return f"{max(row['stderr'] for row in result['rows'] if row['network'] == network):.1f}"
    row = row_of(budget, network, *label.split(", "))
    return f"{row['mean']:.1f} ± {row['stderr']:.1f}" if with_error else f"{row['mean']:.1f}"


def row_of(budget: str, network: str, policy: str, selector: str) -> dict[str, Any]:
    sought = (network, CALLED.get(policy, policy), selector, "field")
    found = [row for row in measured(budget)["rows"] if _key(row) == sought]
    assert len(found) == 1, f"{policy}, {selector}: {len(found)} results on {network}"
    return found[0]


def _key(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return row["network"], row["policy"], row["selector"], row["protocol"]


def differences(table: Table, *budgets: str) -> list[str]:
    """Cells that are not what the results say; a cell has one number for each budget."""
    found = []
    for label, cells in table.items():
        for network, cell in cells.items():
            wanted = ", ".join(expected(label, network, budget, with_error=len(budgets) == 1) for budget in budgets)
            if cell != wanted:
                found.append(f"{label} on {network}: {cell}, not {wanted}")
    return found


def against_the_best_rule(budget: str, network: str) -> str:
    """Scout's paired difference, in per cent, from the fixed rule that reaches the most people on the network."""
    rows = [row_of(budget, network, rule, "foresight") for rule in RULES]
    best, scout = max(rows, key=lambda row: row["mean"]), row_of(budget, network, "scout", "foresight")
    gains = (np.array(scout["values"]) - best["values"]) / best["mean"] * 100
    return f"{gains.mean():+.1f} ± {gains.std(ddof=1) / len(gains) ** 0.5:.1f} %".replace("-", "−")


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def record() -> str:
    return (ROOT / "docs" / "notes" / "record.md").read_text(encoding="utf-8")


def test_the_table_of_readme_is_that_of_the_results() -> None:
    table = table_under("What it shows", readme())
    assert {"scout, foresight", "random person, greedy", "OPT: the whole network known"} <= set(table)
    assert differences(table, "five") == []


@pytest.mark.parametrize("heading", BUDGETS)
def test_the_tables_of_the_record_are_those_of_the_results_and_leave_nothing_out(heading: str) -> None:
    table, budgets = table_under(heading, record()), BUDGETS[heading]
    assert differences(table, *budgets) == []
    for budget in budgets:
        rows = measured(budget)["rows"]
        methods = {f"{row['policy']}, {row['selector']}" for row in rows}
        assert methods == set(table) - {"published CLAIM", LARGEST_ERROR}
        assert {network for cells in table.values() for network in cells} == {row["network"] for row in rows}


@pytest.mark.parametrize("budget", [budget for budgets in BUDGETS.values() for budget in budgets])
def test_runs_and_budget_are_those_the_page_names(budget: str) -> None:
    result = measured(budget)
    settings, runs = result["manifest"]["settings"], {row["runs"] for row in result["rows"]}
    assert len(runs) == 1
    assert f"--runs {runs.pop()} --budget {settings['budget']}" in record()


def test_scout_against_the_best_fixed_rule() -> None:
    table = table_under("Scout and the best fixed rule", record())
    for budget, cells in table.items():
        assert cells == {network: against_the_best_rule(f"rules-{budget}", network) for network in cells}
    assert set(table) == {"twenty", "fifty"}


def test_the_table_of_other_networks() -> None:
    table = table_under("Other networks", record())
    for label, cells in table.items():
        budget, method = label.split(": ")
        assert differences({method: cells}, f"unseen-{budget}") == []


def test_an_altered_number_is_found_out() -> None:
    """In every column and row of README's table, in the mean and in the error."""
    table = table_under("What it shows", readme())
    for label, cells in table.items():
        for network, cell in cells.items():
            for digit in {cell.index(".") - 1, len(cell) - 1}:
                wrong = cell[:digit] + str((int(cell[digit]) + 1) % 10) + cell[digit + 1 :]
                assert len(differences({label: {network: wrong}}, "five")) == 1


def test_rows_that_were_exchanged_are_found_out() -> None:
    lines = record().splitlines()
    one, other = (next(i for i, line in enumerate(lines) if line.startswith(row)) for row in ("| random,", "| change,"))
    cells = [lines[each].split("|", 2)[2] for each in (one, other)]
    lines[one], lines[other] = f"| random, greedy |{cells[1]}", f"| change, greedy |{cells[0]}"
    assert len(differences(table_under("Five surveys", "\n".join(lines)), "five")) > 6
