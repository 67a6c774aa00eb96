"""``claim explain``: tables for people, JSON for machines, one clear line for mistakes."""

import json

import pytest

from claim.learning.config import Config
from claim.learning.network import new_network
from claim.learning.policy import LearnedPolicy, save_policy

KNOWN = ("explain", "--known", "names.csv", "--surveyed", "Ana,Dan")


@pytest.fixture
def files(folder):
    """An untrained policy, which has reasons too."""
    config = Config(hidden=8, clusters=4, layers=(16, 8), dimensions=6)
    save_policy(LearnedPolicy(new_network(config.shape, 0), config), folder / "claim")
    (folder / "broken.json").write_text("{}")
    (folder / "broken.safetensors").touch()
    return folder


def only_json(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_json_has_the_documented_keys(claim, files):
    data = only_json(claim(*KNOWN, "--policy", "claim.json", "--json", "-"))
    assert set(data) == {"policy", "surveyed", "people", "lead", "classes", "changes"}
    assert (data["surveyed"], data["people"]) == (2, 5)
    rows = {tuple(row["members"]): row for row in data["classes"]}
    assert set(rows) == {("Ben",), ("Cyd",), ("Eve",)}
    assert all(
        set(row) == {"rank", "value", "members", "contacts", "named_by", "namer_degrees"} for row in data["classes"]
    )
    assert rows[("Ben",)]["named_by"] == ["Ana"]
    assert rows[("Ben",)]["namer_degrees"] == [2]
    assert rows[("Ben",)]["contacts"] == 2
    assert rows[("Cyd",)]["named_by"] == []
    assert {row["about"] for row in data["changes"]} <= {"chosen", "rival"}
    assert all(set(row) == {"about", "if", "lead", "choice", "changed"} for row in data["changes"])


def test_for_people(claim, files):
    done = claim(*KNOWN, "--policy", "claim.json", "--refused", "Ben")
    assert done.returncode == 0
    assert "would survey" in done.stdout
    assert "What it would do if" in done.stdout
    assert "Ben" not in done.stdout.split("What it would do if")[0]


def test_a_simulated_study_is_repeatable(claim, files):
    arguments = ("explain", "--network", "zone1", "--surveys", "2", "--seed", "4", "--policy", "claim.json")
    one, other = (claim(*arguments, "--json", "-") for _ in range(2))
    assert one.stdout == other.stdout
    assert only_json(one)["surveyed"] == 5 + 2


def test_the_shipped_policy_is_that_of_the_nearest_budget(claim):
    arguments = ("--policy", "shaped-dqn:retweet", "--json", "-")
    few, many, named = (
        only_json(claim(*KNOWN, *more, *arguments[2:]))["classes"]
        for more in (arguments[:2], (*arguments[:2], "--budget", "30"), ("--policy", "shaped-dqn:retweet@20"))
    )
    assert few != many
    assert many == named
    simulated = ("explain", "--network", "stars1", "--json", "-")
    few, many, named = (
        only_json(claim(*simulated, *more))["classes"]
        for more in (
            ("--policy", "shaped-dqn"),
            ("--policy", "shaped-dqn", "--budget", "20"),
            ("--policy", "shaped-dqn:retweet@20"),
        )
    )
    assert few != many
    assert many == named


def test_nobody_left(claim, files):
    arguments = ("explain", "--known", "numbers.edges", "--surveyed", "10,11,12,13,14", "--policy", "claim.json")
    assert "no people are left to survey" in claim(*arguments).stdout
    assert only_json(claim(*arguments, "--json", "-"))["classes"] == []


MISTAKES = {
    "neither": (["explain", "--policy", "claim.json"], "either --known or --network"),
    "both": ([*KNOWN, "--network", "zone1", "--policy", "claim.json"], "either --known or --network"),
    "a simulated study with surveyed people": (["explain", "--network", "zone1", "--surveyed", "1"], "go with --known"),
    "surveys of a known network": ([*KNOWN, "--surveys", "2"], "goes with --network"),
    "a rule": ([*KNOWN, "--policy", "degree+inverse"], "no trained policy"),
    "a policy file that is not there": ([*KNOWN, "--policy", "nowhere.json"], "nowhere.json"),
    "a file that is no policy": ([*KNOWN, "--policy", "broken.json"], "not a policy"),
    "a start person not surveyed": (
        [*KNOWN, "--policy", "claim.json", "--start", "Eve"],
        "Eve was known at the outset",
    ),
    "surveyed and refused": (
        [*KNOWN, "--policy", "claim.json", "--refused", "Ana"],
        "listed both as surveyed and as refused",
    ),
    "a stranger": ([*KNOWN, "--policy", "claim.json", "--refused", "Zoe"], "there is no person 'Zoe'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_clear_line(claim, files, mistake):
    arguments, clue = MISTAKES[mistake]
    done = claim(*arguments)
    lines = [line for line in done.stderr.splitlines() if "self-loop" not in line]
    assert done.returncode == 2, done.stderr
    assert len(lines) == 1
    assert lines[0].startswith("claim: ")
    assert clue in lines[0]
    assert done.stdout == ""
