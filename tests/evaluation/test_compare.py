"""A comparison is fair, can be repeated, and says only what it knows."""

import json
import math

import numpy as np
import pytest
from evaluation_cases import contacts, hubs_and_leaves, study_results

import claim
from claim.errors import InputError
from claim.evaluation import compare
from claim.evaluation.batches import FEWEST_FOR_PROCESSES, RUNS_PER_JOB
from claim.evaluation.runs import Method, StudySettings, run_studies
from claim.evaluation.statistics import holm
from claim.evaluation.tables import comparison_tables, marked_name
from claim.networks import Network

ROW = {
    "network",
    "policy",
    "selector",
    "protocol",
    "runs",
    "mean",
    "stderr",
    "values",
    "discovered",
    "reference",
    "own_start",
}
DIFFERENCE = {"network", "protocol", "a", "b", "difference", "ci95", "p_value", "p_holm"}
MANIFEST = {"schema_version", "command", "settings", "versions", "networks", "git"}


@pytest.fixture(scope="module")
def small():
    """Two networks, three methods, both protocols."""
    return compare(
        [hubs_and_leaves(), contacts()],
        "random,change,clairvoyant",
        protocol=["field", "paper"],
        runs=12,
        seed=5,
        leaders=4,
        workers=1,
    )


def printed(result) -> str:
    from rich.console import Console

    console = Console(width=200, markup=False)
    with console.capture() as captured:
        for table in comparison_tables(result):
            console.print(table)
    return captured.get()


def no_constants(text: str):
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_the_package_offers_compare():
    assert claim.compare is compare


def test_there_is_a_row_for_every_network_policy_selector_and_protocol(small):
    names = {(row.network, row.policy, row.selector, row.protocol) for row in small.rows}
    assert len(names) == len(small.rows) == 2 * 3 * 2
    for row in small.rows:
        assert len(row.values) == row.runs == 12
        assert row.mean == pytest.approx(np.mean(row.values))
        assert row.stderr == pytest.approx(np.std(row.values, ddof=1) / math.sqrt(12))
        assert row.reference == (row.policy == "clairvoyant")
        assert 5 <= row.discovered <= 120


def test_the_data_has_exactly_the_documented_keys_and_no_nan(small):
    data = no_constants(json.dumps(small.to_dict()))
    assert set(data) == {"rows", "opt", "comparisons", "manifest"}
    assert all(set(row) == ROW for row in data["rows"])
    assert all(set(each) == DIFFERENCE for each in data["comparisons"])
    assert set(data["manifest"]) == MANIFEST
    assert set(data["opt"]) == {"hubs", "contacts"}


def test_comparisons_are_of_the_same_network_and_protocol_with_holm_over_all(small):
    rows = {(row.network, row.protocol, row.policy): row for row in small.rows}
    assert len(small.comparisons) == 2 * 2 * 3
    for each in small.comparisons:
        a, b = (np.array(rows[each.network, each.protocol, name].values) for name in (each.a, each.b))
        assert each.difference == pytest.approx((a - b).mean())
        assert each.ci95[0] <= each.difference <= each.ci95[1]
    assert [each.p_holm for each in small.comparisons] == holm([each.p_value for each in small.comparisons])


def test_nobody_does_better_than_opt(small):
    for row in small.rows:
        assert row.mean <= 1.05 * small.opt[row.network]  # greedy on 1000 worlds is not quite the best


def test_both_protocols_judge_the_same_studies(small):
    discovered = {(row.network, row.policy): set() for row in small.rows}
    for row in small.rows:
        discovered[row.network, row.policy].add(row.discovered)
    assert all(len(each) == 1 for each in discovered.values())


def test_every_policy_starts_from_the_same_people_and_is_judged_in_the_same_worlds(monkeypatch):
    asked = []

    def noted(network, method, settings, starts, checkpoints):
        asked.append((network.name, method.policy, starts, settings))
        return run_studies(network, method, settings, starts, checkpoints)

    monkeypatch.setattr("claim.evaluation.batches.run_studies", noted)
    compare([hubs_and_leaves(), contacts()], ["random", "snowball"], runs=4, workers=1)
    by_network: dict[str, list] = {}
    for name, _, starts, settings in asked:
        by_network.setdefault(name, []).append((starts, settings))
    assert all(len(each) == 2 and each[0] == each[1] for each in by_network.values())


def test_one_and_two_workers_give_the_same_result_and_again():
    networks = [hubs_and_leaves(), contacts()]
    runs = FEWEST_FOR_PROCESSES // 4 + RUNS_PER_JOB // 2
    assert runs * 4 >= FEWEST_FOR_PROCESSES  # so that processes are used
    one, two, again = (compare(networks, "random,change", runs=runs, workers=workers) for workers in (1, 2, 1))
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict()) == json.dumps(again.to_dict())


def test_linear_algebra_runs_on_one_thread_here_as_in_worker_processes():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    seen = []

    class Spy:
        name = "spy"

        def __deepcopy__(self, memo):
            return self

        def choose(self, discovered, rng, count=1):
            seen.extend(each["num_threads"] for each in threadpoolctl.threadpool_info())
            return discovered.frontier[:count]

    with threadpoolctl.threadpool_limits(2):
        compare(contacts(), Spy(), runs=1, workers=1)
    assert set(seen) == {1}


def test_another_seed_gives_another_result():
    values = [compare(contacts(), "random", runs=4, seed=seed, workers=1).rows[0].values for seed in (1, 2)]
    assert values[0] != values[1]


def test_adding_a_policy_changes_nothing_for_the_others(small):
    fewer = compare(
        [contacts(), hubs_and_leaves()], "change", protocol=["paper", "field"], runs=12, seed=5, leaders=4, workers=1
    )
    before = {(row.network, row.protocol): row.values for row in small.rows if row.policy == "change"}
    assert {(row.network, row.protocol): row.values for row in fewer.rows} == before


def test_more_runs_keep_the_first_ones():
    counts = (RUNS_PER_JOB + 5, 2 * RUNS_PER_JOB + 3)  # several jobs, which have to come back in order
    few, many = (compare(contacts(), "random", runs=runs, workers=1).rows[0].values for runs in counts)
    assert many[: len(few)] == few


def test_one_run_has_no_standard_error_and_no_p_value():
    result = compare(contacts(), "random,change", runs=1, workers=1)
    data = no_constants(json.dumps(result.to_dict()))
    assert [row["stderr"] for row in data["rows"]] == [None, None]
    assert (data["comparisons"][0]["p_value"], data["comparisons"][0]["p_holm"]) == (None, None)
    assert "nan" not in printed(result)


def test_equal_contenders_differ_by_nothing_not_by_minus_nothing():
    result = compare(Network.from_edges([0], [1], name="pair"), "random,change", runs=3, start=2, workers=1)
    assert result.comparisons[0].p_value == 1.0
    assert "-0.0" not in printed(result)


def test_a_single_policy_has_nothing_to_be_compared_with():
    result = compare(contacts(), "random", runs=3, workers=1)
    assert result.comparisons == []
    assert "random" in printed(result)


def test_no_surveys_at_all_are_a_comparison_too():
    result = compare(contacts(), "random,change", runs=5, budget=0, workers=1)
    assert result.rows[0].values == result.rows[1].values
    assert result.comparisons[0].p_value == 1.0


@pytest.mark.parametrize("protocol", ["field", "paper"])
def test_more_start_people_and_leaders_than_there_are_people_make_everybody_lead(protocol):
    result = compare(contacts(30), "random", protocol=protocol, runs=2, start=99, leaders=10**12, workers=1)
    assert result.rows[0].values == [30.0, 30.0]
    assert result.opt == {"contacts": 30.0}


def test_refusals_rounds_and_answers_are_played():
    calm = compare(contacts(), "random", runs=6, budget=10, workers=1).rows[0]
    harsh = compare(contacts(), "random", runs=6, budget=10, refusal=0.9, per_round=4, workers=1).rows[0]
    patient = compare(contacts(), "random", runs=6, budget=10, refusal=0.5, unit="answers", workers=1).rows[0]
    assert harsh.discovered < calm.discovered
    assert harsh.discovered < patient.discovered


def test_references_and_own_start_sets_are_marked_in_tables():
    result = compare(contacts(), "random,clairvoyant,change-published", runs=2, workers=1)
    assert [marked_name(row, False) for row in result.rows] == [
        "random",
        "clairvoyant (reference)",
        "change-published (own start)",
    ]
    assert "clairvoyant (reference)" in printed(result)


def test_progress_counts_all_runs():
    seen = []
    compare(contacts(), "random,change", runs=RUNS_PER_JOB + 3, workers=1, progress=lambda *done: seen.append(done))
    assert seen[-1] == (2 * (RUNS_PER_JOB + 3),) * 2
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_networks_are_given_by_name_family_file_or_as_they_are(tmp_path):
    path = tmp_path / "my ties.csv"
    path.write_text("ann,bob\nbob,cyd\n")
    result = compare([str(path), "zones", contacts(), "zone2"], "random", runs=1, workers=1)
    assert list(result.opt) == ["my ties", "zone2", "zone3", "contacts"]
    command = result.manifest["command"]
    assert f"--networks '{path},zone2,zone3,contacts'" in command
    assert list(compare("zone2,zone3", "random", runs=1, workers=1).opt) == ["zone2", "zone3"]


def test_the_command_of_the_manifest_names_every_setting_that_matters():
    result = compare(
        contacts(), "change,random", runs=2, seed=3, budget=4, start=2, leaders=6, p=0.2, starts="fresh", per_round=2,
        refusal=0.1, unit="answers", workers=1,
    )  # fmt: skip
    assert result.manifest["command"] == (
        "claim evaluate --networks contacts --policies change,random --selector greedy --protocol field --runs 2 "
        "--seed 3 --budget 4 --start-size 2 --leaders 6 --probability 0.2 "
        "--start-sets fresh --round 2 --refusal 0.1 --budget-unit answers"
    )


def test_the_manifest_has_checksums_and_versions_and_no_time(small):
    record = small.manifest
    assert record["networks"]["hubs"]["checksum"] == hubs_and_leaves().checksum
    assert {"python", "numpy", "claim"} <= set(record["versions"])
    assert record["settings"]["seed"] == 5
    words = json.dumps(record).lower()
    assert not any(word in words for word in ("time", "date", "host", "worker", "user"))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"runs": 0}, "runs must be at least 1"),
        ({"budget": -1}, "budget must be at least 0"),
        ({"start": 0}, "start_size must be at least 1"),
        ({"leaders": 0}, "leaders must be at least 1"),
        ({"per_round": 0}, "round must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"p": 1.5}, "p must be between 0 and 1"),
        ({"p": float("nan")}, "p must be between 0 and 1"),
        ({"refusal": -0.1}, "refusal must be between 0 and 1"),
        ({"unit": "tries"}, "attempts or answers"),
        ({"starts": "published"}, "no start sets are published"),
        ({"policies": "randm"}, "did you mean random"),
        ({"policies": ","}, "at least one policy"),
        ({"selector": "greed"}, "no selector"),
        ({"protocol": "lab"}, "no protocol"),
        ({"networks": []}, "no network"),
        ({"networks": [contacts(), contacts()]}, "two networks are called contacts"),
        ({"networks": "no-such-network"}, "no known network"),
    ],
)
def test_what_makes_no_comparison_is_refused_before_anything_is_played(settings, problem, monkeypatch):
    monkeypatch.setattr("claim.evaluation.batches.run_studies", lambda *_: pytest.fail("it was played"))
    arguments = {"networks": contacts(), "policies": "random", **settings}
    with pytest.raises(InputError, match=problem):
        compare(**arguments)


def test_an_edge_with_its_own_probability_is_judged_by_it():
    certain = Network.from_edges([0], [1], probabilities=[1.0], name="certain")
    (outcomes,) = study_results(
        certain, Method("random", "greedy", "field"), StudySettings(0, leaders=1), [(0, [0])], [0]
    )
    assert outcomes[0].influence == 2.0
