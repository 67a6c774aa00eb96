"""``claim evaluate --source``: what was discovered, and no reach that nothing measures."""

import json

import pytest


def test_policies_discover_a_source_and_go_on_with_recorded_pages(claim, tmp_path):
    given = ("evaluate", "--source", "zone2", "--start-people", "3,60", "--policies", "scout,random", "--budget", "6")
    done = claim(*given, "--out", str(tmp_path / "pages"), "--json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["source"], found["start"], found["seed"]) == ("zone2", ["3", "60"], 10)
    assert [row["policy"] for row in found["rows"]] == ["scout", "random"]
    for row in found["rows"]:
        assert row["surveyed"] == row["pages"] == 8
        assert row["expected"][1] <= row["expected"][0] <= row["expected"][2]
        assert len(row["leaders"]) == min(10, row["people"])
    assert claim(*given, "--out", str(tmp_path / "pages"), "--json", "-").stdout == done.stdout
    table = claim(*given).stdout
    assert "expected reach" in " ".join(table.split())
    assert "Nothing measures it" in table


def test_a_folder_is_a_source_and_a_budget_counts_pages(claim, tmp_path):
    folder = tmp_path / "friends"
    folder.mkdir()
    (folder / "ties.csv").write_text("person,contact\n" + "".join(f"ana,p{i}\np{i},q{i}\n" for i in range(250)))
    given = ("evaluate", "--source", str(folder), "--start-people", "ana", "--policies", "random", "--json", "-")
    done = claim(*given, "--budget", "2", "--budget-unit", "pages", "--selector", "degree")
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["pages"], row["people"], row["cut_short"], row["surveyed"]) == (2, 201, 1, 1)
    assert row["expected"] is None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--source", "zone2", "--start-people", "1", "--refusal", "0.2"), "--refusal does not go with --source"),
        (("--source", "zone2", "--start-people", "1", "--entry", "open"), "--entry does not go with --source"),
        (("--source", "zone2"), "needs start people"),
        (("--start-people", "1"), "need --source"),
        (("--budget-unit", "pages"), "need --source"),
        (("--source", "nowhere:Source", "--start-people", "1"), "No module named"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(claim, options, problem):
    done = claim("evaluate", *options)
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
