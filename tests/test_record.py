"""The tables of README and of the record say what the files in results/record hold, cell by cell."""

import csv
import gzip
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from claim.experiments.published import INFLUENCE, published

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "results" / "record"
BUDGETS = {"Five surveys": ("five",), "Ten, twenty and fifty surveys": ("ten", "twenty", "fifty")}
RULES = ("random", "change", "degree+inverse", "max-contact")
LARGEST_ERROR = "largest standard error"
# How README calls the policies that the record calls by their names
CALLED = {"CHANGE": "change", "CHANGE with equal access": "change", "`shaped-dqn`": "shaped-dqn", "`claim`": "claim"}
CLOSED = {10: "five-surveys", 25: "twenty-surveys", 55: "fifty-surveys"}  # files by the number of interviews
OPENED = {
    "new people; a random contact of each leads": ("open-{}", "one-hop"),
    "new and named people (`mix:best`)": ("open-{}", "mix:best"),
    "the same, asked who knows the most people": ("open-{}-marks", "mix:best"),
}
OPEN_STUDIES = [f"open-{interviews}{question}" for interviews in CLOSED for question in ("", "-marks")]
FIELD, PAPER = "What a team can do (field protocol)", "Comparison with the paper (paper protocol)"

Table = dict[str, dict[str, str]]  # cells by row and network


def measured(budget: str) -> dict[str, Any]:
    """The results of a number of surveys, or those of a file."""
    return read(budget if budget.startswith("open-") else f"{budget}-surveys")


@cache
def read(name: str) -> dict[str, Any]:
    with gzip.open(RECORD / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        result: dict[str, Any] = json.load(file)
    return result


def table_under(heading: str, text: str) -> Table:
    """The first table under a heading."""
    section = re.split(r"^## ", text.split(f"## {heading}\n", 1)[1], flags=re.MULTILINE)[0]
    lines = re.search(r"(^\|.*\n)+", section, re.MULTILINE)[0].splitlines()
    first, *rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if "---" not in line]
    return {row[0]: dict(zip(first[1:], row[1:], strict=True)) for row in rows}


def expected(label: str, network: str, budget: str, with_error: bool) -> str:
    """The cell of a row: the best of a known network, the largest standard error, or measured."""
    result = measured(budget)
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


class MainRow(NamedTuple):
    """A row of README's main table."""

    interviews: str
    who: str
    selector: str
    cells: dict[str, str]

    @property
    def source(self) -> tuple[str, str]:
        """The file and the policy that the cells are from."""
        closed = re.fullmatch(r"5 start people, (\d+) by (.+)", self.who)
        if closed:
            assert int(self.interviews) == 5 + int(closed[1])
            return CLOSED[int(self.interviews)], CALLED.get(closed[2], closed[2])
        file, policy = OPENED[self.who]
        return file.format(self.interviews), policy

    def expected(self, network: str) -> str:
        if self.who.startswith("OPT"):
            return f"{read('five-surveys')['opt'][network]:.1f}"
        file, policy = self.source
        sought = (network, policy, self.selector, "field")
        (row,) = (row for row in read(file)["rows"] if _key(row) == sought)
        return f"{row['mean']:.1f} ± {row['stderr']:.1f}"


def main_rows(text: str) -> list[MainRow]:
    section = text.split(f"### {FIELD}\n", 1)[1].split("###")[0]
    lines = re.search(r"(^\|.*\n)+", section, re.MULTILINE)[0].splitlines()
    first, *rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if "---" not in line]
    return [MainRow(*row[:3], dict(zip(first[3:], row[3:], strict=True))) for row in rows]


def test_the_main_table_of_readme_is_that_of_the_results() -> None:
    rows = main_rows(readme())
    assert {row.interviews for row in rows} == {"10", "25", "55", "all"}
    assert {row.who for row in rows} >= {*OPENED, "5 start people, 5 by random"}
    for row in rows:
        assert row.cells == {network: row.expected(network) for network in row.cells}


def test_readme_marks_the_most_people_reached_with_each_number_of_interviews() -> None:
    lines = readme().split(FIELD)[1].split("OPT:")[0].splitlines()
    rows = [line.strip("|").split("|") for line in lines if " ± " in line]
    for interviews in CLOSED:
        block = [row[3:] for row in rows if row[0].strip() == str(interviews)]
        for column in zip(*block, strict=True):
            numbers = [float(cell.strip(" *").split()[0]) for cell in column]
            assert ["**" in cell for cell in column] == [number == max(numbers) for number in numbers]


def test_readme_compares_with_the_paper_in_its_protocol_alone() -> None:
    table = table_under(PAPER, readme())
    with (ROOT / "results/paper/tables/influence-paper.csv").open(newline="", encoding="utf-8") as file:
        found = {(row["method"], row["network"]): row for row in csv.DictReader(file)}
    for label, cells in table.items():
        for network, cell in cells.items():
            if label.startswith("published "):
                method = {"CLAIM": "paper-claim", "CHANGE": "change-published"}[label.split()[1].strip(",")]
                assert cell == f"{published(INFLUENCE[method], network):g}"
            else:
                row = found[CALLED.get(label, label.strip("`")), network]
                assert cell == f"{float(row['mean']):.1f} ± {float(row['stderr']):.1f}"
    assert "ublished" not in readme().split(FIELD)[1].split(PAPER)[0]
    assert "zone2" not in table


@pytest.mark.slow
def test_the_first_command_of_readme_prints_what_readme_shows(tmp_path: Path) -> None:
    block = re.search(r"```console\n\$ (claim evaluate .*?)\n(.*?)```", readme(), re.DOTALL)
    command = [sys.executable, "-m", *block[1].split()]
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    shown, printed = (re.sub(r"[\s─]+", " ", text) for text in (block[2], done.stdout + done.stderr))
    for part in shown.split("..."):
        assert part.strip() in printed
    assert (tmp_path / "runs/compare/figures/study-stars5.png").is_file()


@pytest.mark.parametrize("heading", BUDGETS)
def test_the_tables_of_the_record_are_those_of_the_results_and_leave_nothing_out(heading: str) -> None:
    table, budgets = table_under(heading, record()), BUDGETS[heading]
    assert differences(table, *budgets) == []
    for budget in budgets:
        rows = measured(budget)["rows"]
        methods = {f"{row['policy']}, {row['selector']}" for row in rows}
        assert methods == set(table) - {LARGEST_ERROR}
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
        assert cells == {network: against_the_best_rule(budget, network) for network in cells}
    assert set(table) == {"twenty", "fifty"}


def test_the_table_of_other_networks() -> None:
    table = table_under("Other networks", record())
    for label, cells in table.items():
        budget, method = label.split(": ")
        assert differences({method: cells}, f"unseen-{budget}") == []


@pytest.mark.parametrize("name", OPEN_STUDIES)
def test_the_tables_of_open_studies_are_those_of_the_results(name: str) -> None:
    interviews, asked = re.fullmatch(r"open-(\d+)(-marks)?", name).groups()
    heading = f"Open studies of {interviews} interviews" + (" with the question" if asked else "")
    table = table_under(heading, record())
    assert differences(table, name) == []
    assert set(table) == {f"{row['policy']}, {row['selector']}" for row in read(name)["rows"]}


def test_an_altered_number_is_found_out() -> None:
    """In every column and row of a table, in the mean and in the error."""
    table = table_under("Five surveys", record())
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
