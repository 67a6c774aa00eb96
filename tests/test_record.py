"""The tables of README and of the record say what the files in results/record hold, cell by cell."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from claim.experiments.published import INFLUENCE

ROOT = Path(__file__).parent.parent
BUDGETS = {"Five": "five", "Ten": "ten", "Twenty": "twenty", "Fifty": "fifty"}
# How README calls the policies that the record calls by their names
CALLED = {"random person": "random", "CHANGE with equal access": "change", "CLAIM trained here": "claim"}

Table = dict[str, dict[str, str]]  # cells by row and network


@cache
def measured(budget: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((ROOT / f"results/record/{budget}-surveys.json").read_text(encoding="utf-8"))
    return result


def table_under(heading: str, text: str) -> Table:
    """The first table under a heading."""
    section = re.split(r"^## ", text.split(f"## {heading}\n", 1)[1], flags=re.MULTILINE)[0]
    lines = re.search(r"(^\|.*\n)+", section, re.MULTILINE)[0].splitlines()
    first, *rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if "---" not in line]
    return {row[0]: dict(zip(first[1:], row[1:], strict=True)) for row in rows}


def expected(label: str, network: str, result: dict[str, Any]) -> str:
    """The cell of a row: published, the best of a known network, or measured."""
    if label.startswith("published CLAIM"):
        return f"{INFLUENCE['claim'][network]:g}"
    if label.startswith("OPT"):
        return f"{result['opt'][network]:.1f}"
    policy, selector = label.split(", ")
    sought = (network, CALLED.get(policy, policy), selector, "field")
    found = [row for row in result["rows"] if _key(row) == sought]
    assert len(found) == 1, f"{label}: {len(found)} results on {network}"
    return f"{found[0]['mean']:.1f} ± {found[0]['stderr']:.1f}"


def _key(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return row["network"], row["policy"], row["selector"], row["protocol"]


def differences(table: Table, budget: str) -> list[str]:
    """Cells that are not what the results say."""
    result = measured(budget)
    return [
        f"{label} on {network}: {cell}, not {wanted}"
        for label, cells in table.items()
        for network, cell in cells.items()
        if cell != (wanted := expected(label, network, result))
    ]


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def record() -> str:
    return (ROOT / "docs" / "record.md").read_text(encoding="utf-8")


def test_the_table_of_readme_is_that_of_the_results() -> None:
    table = table_under("What it shows", readme())
    assert {"scout, foresight", "random person, greedy", "OPT: the whole network known"} <= set(table)
    assert differences(table, "five") == []


@pytest.mark.parametrize("heading", BUDGETS)
def test_the_tables_of_the_record_are_those_of_the_results_and_leave_nothing_out(heading: str) -> None:
    table, result = table_under(f"{heading} surveys", record()), measured(BUDGETS[heading])
    assert differences(table, BUDGETS[heading]) == []
    rows = {f"{row['policy']}, {row['selector']}" for row in result["rows"]}
    assert rows == {label for label in table if not label.startswith("published")}
    assert {network for cells in table.values() for network in cells} == {row["network"] for row in result["rows"]}


@pytest.mark.parametrize("heading", BUDGETS)
def test_runs_and_budget_are_those_the_page_names(heading: str) -> None:
    result = measured(BUDGETS[heading])
    settings, runs = result["manifest"]["settings"], {row["runs"] for row in result["rows"]}
    assert len(runs) == 1
    assert f"--runs {runs.pop()} --budget {settings['budget']}" in record()


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
