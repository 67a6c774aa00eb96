"""Your own policies and selectors: as objects, registered by name, or as package.module:Class, on any workers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from newest import FirstSurveyed, Newest

import claim
from claim import registry
from claim.discovery import POLICIES
from claim.errors import InputError
from claim.evaluation.batches import FEWEST_FOR_PROCESSES

HERE = Path(__file__).parent
FEW = FEWEST_FOR_PROCESSES // 4  # runs of each of four methods or more, for which worker processes are started


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {"policies": {}, "selectors": {}})


def values(comparison) -> dict:
    return {(row.policy, row.selector): row.values for row in comparison.rows}


@pytest.mark.parametrize("workers", [1, 2])
def test_objects_are_compared_on_any_number_of_workers(workers):
    class Local(Newest):  # a class that no other process can import
        name = "local"

    found = claim.compare(
        ["zone2"], [Newest(), Local, "random"], selector=[FirstSurveyed(), "greedy"], runs=FEW, workers=workers
    )
    assert [row.policy for row in found.rows] == ["newest"] * 2 + ["local"] * 2 + ["random"] * 2
    first = claim.compare(["zone2"], [Newest(), "random"], selector=[FirstSurveyed(), "greedy"], runs=3, workers=1)
    for key, some in values(first).items():
        assert values(found)[key][:3] == some
    assert values(found)["newest", "greedy"] == values(found)["newest", "greedy"]
    assert values(found)["newest", "greedy"] != values(found)["random", "greedy"]


def test_registered_names_reach_worker_processes(monkeypatch):
    claim.register_policy("my-rule", Newest())
    claim.register_selector("my-selector", FirstSurveyed)
    monkeypatch.setitem(POLICIES, "newest", Newest())
    found = claim.compare("zone2", "my-rule,newest,random", selector="my-selector,greedy", runs=FEW, workers=2)
    assert {(row.policy, row.selector) for row in found.rows} == {
        (policy, selector) for policy in ("my-rule", "newest", "random") for selector in ("my-selector", "greedy")
    }
    assert values(found)["my-rule", "my-selector"] == values(found)["newest", "my-selector"]


def test_entry_points_are_found(tmp_path, monkeypatch):
    package = tmp_path / "mine-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    entries = "[claim.policies]\ninstalled = newest:Newest\n[claim.selectors]\nchosen = newest:FirstSurveyed\n"
    (package / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = claim.compare("zone2", ["installed"], selector=["chosen"], runs=2, workers=1)
    assert [(row.policy, row.selector) for row in found.rows] == [("installed", "chosen")]


@pytest.mark.parametrize("extra", [["--workers", "1"], ["--workers", "2"]])
def test_the_command_line_takes_a_class_of_a_file(tmp_path, extra):
    (tmp_path / "mine.py").write_text((HERE / "newest.py").read_text(encoding="utf-8"), encoding="utf-8")
    command = [
        sys.executable, "-m", "claim", "evaluate", "--networks", "zone2", "--policies", "mine:Newest,random",
        "--selector", "mine:FirstSurveyed,greedy", "--runs", str(FEW), "--out", "report", "--json", "out.json", *extra,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row["policy"] for row in rows] == ["newest", "newest", "random", "random"]
    assert "newest" in next((tmp_path / "report").glob("*.html")).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("CLAIM_NO_RAY") == "1", reason="Ray is left out")
def test_objects_and_files_on_ray(tmp_path):
    pytest.importorskip("ray", reason="needs Ray")
    (tmp_path / "mine.py").write_text((HERE / "newest.py").read_text(encoding="utf-8"), encoding="utf-8")
    command = [
        sys.executable, "-m", "claim", "evaluate", "--networks", "zone2", "--policies", "mine:Newest,random",
        "--runs", "30", "--backend", "ray", "--workers", "2", "--json", "out.json",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    here = claim.compare("zone2", [Newest(), "random"], runs=30, workers=1)
    assert [row["values"] for row in rows] == [row.values for row in here.rows]


@pytest.mark.parametrize(
    ("policies", "problem"),
    [
        ([3], r"a policy is a name or an object with choose\(discovered, rng, count\), got int"),
        ([FirstSurveyed()], "got FirstSurveyed"),
        (["newest:Missing"], "newest:Missing: module 'newest' has no attribute 'Missing'"),
        (["no.such.module:Rule"], "no.such.module:Rule: No module named 'no'"),
        ([Newest(), Newest()], "two policies are called newest"),
        (["snowbal"], "did you mean snowball"),
    ],
)
def test_what_is_no_policy_is_refused_in_one_line(policies, problem):
    with pytest.raises(InputError, match=problem) as caught:
        claim.compare("zone2", policies, runs=1)
    assert "\n" not in str(caught.value)


class Failing(Newest):
    name = "failing"

    def choose(self, discovered, rng, count=1):
        raise ValueError("a mistake in a policy")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mistake_in_a_policy_is_shown_with_its_traceback(workers):
    with pytest.raises((ValueError, RuntimeError), match="a mistake in a policy"):
        claim.compare("zone2", [Failing()], runs=FEWEST_FOR_PROCESSES, workers=workers)


@pytest.mark.needs("pandas")
def test_a_comparison_shows_as_a_table_in_a_notebook(monkeypatch):
    found = claim.compare("zone2", [Newest(), "random"], runs=2, workers=1)
    assert [row["policy"] for row in found.records()] == ["newest", "random"]
    assert found._repr_html_().count("<tr>") == 3
    assert list(found.to_frame()["policy"]) == ["newest", "random"]
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    with pytest.raises(InputError, match="pip install pandas"):
        found.to_frame()
