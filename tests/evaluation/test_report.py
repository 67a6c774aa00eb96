"""The run folder is complete, and the report needs nothing but itself."""

import base64
import csv
import json
import re

import pytest
from evaluation_cases import contacts, hubs_and_leaves

from claim.errors import InputError
from claim.evaluation import compare
from claim.evaluation.conclusion import conclusion
from claim.evaluation.report import BUDGETS, budget_curves, write_run_folder
from claim.evaluation.report_kit import Section, page
from claim.evaluation.tables import cell, pivot
from claim.networks import Network


@pytest.fixture(scope="module")
def result():
    return compare(
        [hubs_and_leaves(), contacts()],
        "random,change,clairvoyant",
        protocol="field,paper",
        runs=4,
        leaders=4,
        workers=1,
    )


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "one" / "two"
    assert write_run_folder(result, path, budgets=(0, 2, 5), workers=1) == path / "report.html"
    return path


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_folder_has_everything(folder):
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    names = ("reached", "budget", "study-hubs", "study-contacts")
    figures = {f"figures/{name}.{ending}" for name in names for ending in ("svg", "png")}
    assert files == figures | {
        "manifest.json",
        "results.json",
        "results.csv",
        "comparisons.csv",
        "curves.csv",
        "report.html",
    }
    assert all((folder / name).stat().st_size > 100 for name in files)


def test_the_tables_say_what_the_comparison_found(folder, result):
    rows = rows_of(folder / "results.csv")
    assert [float(row["mean"]) for row in rows] == [row.mean for row in result.rows]
    assert [row["reference"] for row in rows] == [str(row.reference) for row in result.rows]
    assert "values" not in rows[0]
    differences = rows_of(folder / "comparisons.csv")
    assert [float(row["ci95_low"]) for row in differences] == [each.ci95[0] for each in result.comparisons]
    assert json.loads((folder / "results.json").read_text()) == json.loads(json.dumps(result.to_dict()))
    assert json.loads((folder / "manifest.json").read_text()) == result.manifest


def test_the_curve_at_the_budget_is_the_result(folder, result):
    curves = {
        (point["network"], point["policy"], point["protocol"]): float(point["mean"])
        for point in rows_of(folder / "curves.csv")
        if point["surveys"] == "5"
    }
    assert curves == {(row.network, row.policy, row.protocol): row.mean for row in result.rows}


def test_curves_are_drawn_only_if_asked_for(result, tmp_path):
    html = write_run_folder(result, tmp_path, workers=1).read_text(encoding="utf-8")
    assert not (tmp_path / "curves.csv").exists()
    assert not list((tmp_path / "figures").glob("budget.*"))
    assert 'id="budget"' not in html


def test_curves_go_from_no_survey_to_fifty(result):
    assert (BUDGETS[0], BUDGETS[-1]) == (0, 50)
    points = budget_curves(result, (0, 50), workers=1)
    assert {point["surveys"] for point in points} == {0, 50}
    assert len(points) == 2 * len(result.rows)


def test_the_report_is_self_contained(folder):
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert re.search(r"https?://", html) is None
    links = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"'\s>)]*)""", html)
    sections = [link for link in links if link.startswith("#")]
    assert all(f'<section id="{link[1:]}">' in html for link in sections)
    links = [link for link in links if link not in sections]
    assert len(links) == 4
    assert all(link.startswith("data:image/svg+xml;base64,") for link in links)
    for link in links:
        picture = base64.b64decode(link.partition(",")[2]).decode()
        assert not re.findall(r"""href=["'](?!#)""", picture)
    assert not re.search(r"<(script \S|link|iframe)\b", html)


def test_the_report_shows_numbers_marks_and_its_own_command(folder, result):
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert f"{result.rows[0].mean:.2f}" in html
    assert "clairvoyant (reference)" in html
    assert f"{result.opt['hubs']:.2f}" in html
    assert result.manifest["command"] in html


def test_the_report_opens_with_the_conclusion_and_one_picture(folder, result):
    html = (folder / "report.html").read_text(encoding="utf-8")
    opening, _, rest = html.partition("<img ")
    assert all(f"{text}</p>" in opening for text in conclusion(result))
    assert len(conclusion(result)) == 2
    assert "<table" not in opening
    assert rest.startswith('alt="People reached by each method')
    assert rest.index("<table") < rest.index("<details>")


def test_pairs_are_a_matrix_that_unfolds(folder, result):
    html = (folder / "report.html").read_text(encoding="utf-8")
    matrix = html[html.index("<caption>On how many networks") :]
    lines = re.findall(r"<tr><td>(.*?)</td>(.*?)</tr>", matrix[: matrix.index("</table>")])
    assert [name for name, _ in lines] == ["random (1)", "change (2)", "clairvoyant (3)"]
    shown = {each.network for each in result.comparisons}
    assert all(f"<details><summary>{network}, field protocol" in html for network in shown)
    assert "<details><summary>All pairs" in html


def test_writing_twice_gives_the_same_bytes(folder, result, tmp_path):
    write_run_folder(result, tmp_path, budgets=(0, 2, 5), workers=1)
    for path in folder.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes(), path.name


def test_one_run_of_one_policy_makes_a_readable_folder(tmp_path):
    one = compare(contacts(), "random", runs=1, workers=1)
    html = write_run_folder(one, tmp_path, budgets=(0, 5), workers=1).read_text(encoding="utf-8")
    assert "nan" not in re.sub(r"base64,[^\"]*", "", html)
    assert "nothing to compare" in html
    assert rows_of(tmp_path / "comparisons.csv") == []
    assert (tmp_path / "comparisons.csv").read_text().startswith("network,protocol,a,b,difference,ci95_low,ci95_high,")
    assert rows_of(tmp_path / "results.csv")[0]["stderr"] == ""


def test_odd_names_of_networks_harm_neither_folder_nor_pictures(tmp_path):
    odd = Network.from_edges([0, 1], [1, 2], name="../a$b$c<script>")
    result = compare(odd, "random", runs=2, start=1, workers=1)
    html = write_run_folder(result, tmp_path / "out", budgets=(0, 2), workers=1).read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "figures" / "study-.._a_b_c_script_.png").is_file()
    assert html.count("<script>") == 1  # the report's own, which sorts tables
    assert "a$b$c&lt;script&gt;" in html


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, result):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot make this folder"):
        write_run_folder(result, tmp_path / "file" / "out")


def test_cells_say_what_is_not_there():
    row = {"mean": 12.345, "stderr": float("nan"), "p": 0.004, "later": None}
    assert cell(row, "{mean:.2f} ± {stderr:.2f}") == "12.35 ± –"
    assert cell(row, "{mean:+.1f %}") == "+12.3 %"
    assert cell(row, "{stderr:+.1f %}") == "–"
    assert cell(row, "{p:.2g} {p:*}") == "0.004 **"
    assert cell(row, "{mean:.1f} to {later:.1f}") == "not run"
    assert cell(row, "{absent:.1f}") == ""


def test_a_pivot_has_a_column_for_each_value():
    means = {("a", "x"): 1.0, ("a", "y"): 2.0, ("b", "x"): 3.0, ("b", "y"): None}
    rows = [{"method": method, "network": network, "mean": mean} for (method, network), mean in means.items()]
    made = pivot("t", "", rows, ["method"], "network", "{mean:.1f}")
    assert made.as_markdown() == "| method | x | y |\n| --- | ---: | ---: |\n| a | 1.0 | 2.0 |\n| b | 3.0 | not run |\n"
    assert made.as_csv() == "method,network,mean\na,x,1.0\na,y,2.0\nb,x,3.0\nb,y,\n"


def test_a_long_list_is_folded():
    sections = [Section("s", "S", items=[f"job {i} <b>" for i in range(count)]) for count in (20, 21)]
    short, long = (page("T", [], [each], {}) for each in sections)
    assert "<details>" not in short
    assert "<details><summary>21</summary>" in long
    assert "job 20 &lt;b&gt;" in long
