"""Every verb: a table for people, and JSON with the documented keys and nothing else for machines."""

import json
import os
import stat

import pytest


def only_json(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_networks_are_listed_with_where_they_are_and_how_to_get_them(claim):
    data = only_json(claim("networks", "--json", "-"))
    assert set(data) == {"networks"}
    keys = {"name", "family", "role", "kind", "people", "edges", "present", "path", "how_to_get", "origin"}
    assert all(set(row) == keys for row in data["networks"])
    rows = {row["name"]: row for row in data["networks"]}
    assert rows["israel"]["people"] == 3698
    assert not rows["israel"]["present"]
    assert rows["israel"]["how_to_get"] == "claim networks fetch israel"
    assert rows["zone2"]["present"]
    assert rows["zone2"]["people"] > 0


def test_networks_in_the_data_directory_are_there(claim_program, data):
    for given in ({"CLAIM_DATA": str(data)}, {}):
        arguments = [] if given else ["--data-dir", str(data)]
        rows = only_json(claim_program("networks", *arguments, "--json", "-", **given))["networks"]
        kcs = next(row for row in rows if row["name"] == "kcs")
        assert kcs["present"]
        assert kcs["path"].endswith("kcs.edges")


def test_networks_for_people(claim):
    done = claim("networks")
    assert done.returncode == 0
    assert "zone2" in done.stdout
    assert "claim networks fetch israel" in " ".join(done.stdout.split())


def test_select_gives_integer_labels_for_an_integer_file(claim):
    data = only_json(claim("select", "numbers.edges", "-k", "2", "-p", "0.5", "--json", "-"))
    assert set(data) == {"leaders", "influence", "stderr", "seconds", "method", "network", "k", "p", "model"}
    assert len(data["leaders"]) == 2
    assert set(data["leaders"]) <= {10, 11, 12, 13, 14}
    assert 2 < data["influence"] < 5
    assert (data["network"], data["k"], data["p"]) == ("numbers", 2, 0.5)


def test_select_gives_text_labels_for_a_text_file_and_says_what_was_dropped(claim):
    done = claim("select", "names.csv", "-k", "9", "--json", "-")
    assert set(only_json(done)["leaders"]) == {"Ana", "Ben", "Cyd", "Dan", "Eve"}
    assert "1 self-loop" in done.stderr


@pytest.mark.parametrize("method", ["ris", "degree"])
def test_select_knows_other_methods(claim, method):
    data = only_json(claim("select", "numbers.edges", "-k", "1", "--method", method, "--json", "-"))
    assert data["method"] == method


def test_select_heeds_who_may_must_and_must_not_lead(claim):
    arguments = ("--may", "Ana,Ben,Dan", "--must", "Eve", "--must-not", "Dan")
    assert set(only_json(claim("select", "names.csv", "-k", "4", *arguments, "--json", "-"))["leaders"]) == {
        "Eve",
        "Ana",
        "Ben",
    }


def test_select_from_a_partly_known_network(claim):
    done = claim("select", "--known", "names.csv", "--surveyed", "Ana,Dan", "-k", "2", "--json", "-")
    assert len(only_json(done)["leaders"]) == 2
    for_people = claim("select", "--known", "names.csv", "--surveyed", "Ana,Dan", "-k", "2")
    assert "known part only (2 people surveyed)" in for_people.stderr
    assert "leader" in for_people.stdout


# Two hubs of many contacts, one found and one named by somebody found.
HUBS = "".join(f"s{i},h\n" for i in range(5)) + "".join(f"h,x{i}\n" for i in range(12)) + "x0,y\n"


def test_select_by_foresight_counts_contacts_not_yet_seen(claim, tmp_path):
    (tmp_path / "hubs.csv").write_text(HUBS)
    arguments = ("select", "--known", "hubs.csv", "--surveyed", "s0,s1,s2,s3,s4,h", "-k", "3", "--method", "foresight")
    data = only_json(claim(*arguments, "--json", "-"))
    assert len(set(data["leaders"])) == 3
    assert data["method"] == "foresight"
    expected = data["expected"]
    assert data["influence"] < expected["mean"]
    assert 3 <= expected["low"] < expected["mean"] < expected["high"]
    everybody = only_json(claim(*arguments, "--start", "s0,s1,s2,s3,s4,h", "--json", "-"))
    assert everybody["expected"] != expected
    assert only_json(claim(*arguments, "--start", "s4,s3,s2,s1,s0", "--json", "-"))["expected"] == expected


def test_select_by_foresight_says_why_and_who_comes_next(claim, tmp_path):
    (tmp_path / "hubs.csv").write_text(HUBS)
    arguments = ("select", "--known", "hubs.csv", "--surveyed", "s0,s1,s2,s3,s4,h", "--method", "foresight")
    data = only_json(claim(*arguments, "-k", "3", "--json", "-"))
    assert len(data["reasons"]) == 3
    first, *others = data["reasons"]
    assert first[0].startswith("reaches about")
    assert all(reasons[0].startswith("adds about") for reasons in others)
    assert data["leaders"][0] == "h"
    assert "was surveyed; 12 of 17 contacts were not" in first[1]
    longer = only_json(claim(*arguments, "-k", "8", "--json", "-"))["leaders"]
    assert data["leaders"] + data["replacements"] == longer
    shown = claim(*arguments, "-k", "3")
    words = " ".join(shown.stdout.replace("│", " ").split())
    assert "they reach about {mean:.0f} people, likely {low:.0f} to {high:.0f}".format(**data["expected"]) in words
    assert "reaches about" in words
    assert f"ask in this order: {', '.join(data['replacements'])}." in words
    assert shown.stderr == ""
    too_many = claim(*arguments, "-k", "2", "--must", "s0,s1,s2")
    assert "3 people must be chosen, but there are only 2 leaders" in too_many.stderr


def test_select_by_foresight_heeds_who_must_and_must_not_lead(claim, tmp_path):
    (tmp_path / "hubs.csv").write_text(HUBS)
    arguments = ("select", "--known", "hubs.csv", "--surveyed", "s0,h", "-k", "2", "--method", "foresight:free")
    assert "h" in only_json(claim(*arguments, "--json", "-"))["leaders"]
    assert set(
        only_json(claim(*arguments, "--must", "s4", "--may", "s3,h", "--must-not", "h", "--json", "-"))["leaders"]
    ) == {
        "s4",
        "s3",
    }


def test_the_same_seed_selects_the_same(claim):
    one, other = (only_json(claim("select", "zone2", "-k", "5", "--seed", "3", "--json", "-")) for _ in range(2))
    assert one["leaders"] == other["leaders"]
    assert one["influence"] == other["influence"]


def test_influence_of_leaders_given_by_label(claim):
    data = only_json(claim("influence", "numbers.edges", "--leaders", "10, 14,10", "-p", "1", "--json", "-"))
    assert set(data) == {"leaders", "influence", "stderr", "samples", "seconds", "network", "p", "model"}
    assert data["leaders"] == [10, 14]
    assert (data["influence"], data["stderr"], data["samples"]) == (5.0, 0.0, 10_000)


def test_influence_of_one_sample_has_no_standard_error(claim):
    arguments = ("influence", "names.csv", "--leaders", "Ana", "--samples", "1")
    assert only_json(claim(*arguments, "--json", "-"))["stderr"] is None
    assert "1 leaders reach" in claim(*arguments).stdout


def test_a_name_with_a_comma_stands_in_quotes(claim, tmp_path):
    (tmp_path / "commas.csv").write_text('"Lee, Cy",Ann\nAnn,Bob\n')
    data = only_json(claim("influence", "commas.csv", "--leaders", '"Lee, Cy",Bob', "--json", "-"))
    assert data["leaders"] == ["Lee, Cy", "Bob"]


def test_a_terminal_that_lacks_letters_is_no_obstacle(claim_program, folder):
    (folder / "uni.csv").write_text("Zoë,Ян\nЯн,李\n", encoding="utf-8")
    done = claim_program("influence", "uni.csv", "--leaders", "Ян", "--json", "-", PYTHONIOENCODING="cp1252")
    assert only_json(done)["leaders"] == ["Ян"]
    done = claim_program("select", "uni.csv", "-k", "2", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr


def test_names_may_stand_one_below_the_other(claim, tmp_path):
    data = only_json(claim("influence", "names.csv", "--leaders", "Ana\r\nCyd, Eve\n", "--json", "-"))
    assert data["leaders"] == ["Ana", "Cyd", "Eve"]


def test_robust_leaders_are_judged_by_every_belief(claim):
    given = (
        "select",
        "zone2",
        "-k",
        "4",
        "-p",
        "0.05,0.2",
        "--model",
        "ic,lt",
        "--robust",
        "worst",
        "--samples",
        "200",
    )
    data = only_json(claim(*given, "--json", "-"))
    assert (data["robust"], data["p"], data["model"]) == ("worst", [0.05, 0.2], ["ic", "lt"])
    assert [each["chosen_for"] for each in data["judged"]] == ["ic p=0.05", "ic p=0.2", "lt", "the worst ratio"]
    assert all(each["worst"] == min(each["ratios"].values()) for each in data["judged"])
    assert data["leaders"] == data["judged"][-1]["leaders"]
    assert "people at 100 %" in claim(*given).stdout


def test_advice_on_directed_ties_ranks_whom_people_named(claim):
    study = ("advise", "--known", "oneway.graphml", "--surveyed", "a,d")
    data = only_json(claim(*study, "--json", "-"))
    assert [(row["person"], row["named_by"]) for row in data["ranking"]] == [("b", ["a"])]
    assert "expected" not in data
    assert "leaders now" not in claim(*study).stdout


def test_evaluate_has_the_documented_keys_and_says_nothing_else(claim_program):
    arguments = ("--networks", "zone2,names.csv", "--policies", "random,change", "--runs", "3", "--start", "2")
    done = claim_program("evaluate", *arguments, "--protocol", "paper,field", "--workers", "1", "--json", "-")
    data = only_json(done)
    assert set(data) == {"rows", "opt", "comparisons", "manifest"}
    row = {"network", "policy", "selector", "protocol", "runs", "mean", "stderr", "values", "discovered"}
    row |= {"reference", "own_start"}
    assert all(set(each) == row for each in data["rows"])
    pair = {"network", "protocol", "a", "b", "difference", "ci95", "p_value", "p_holm"}
    assert all(set(each) == pair for each in data["comparisons"])
    assert len(data["rows"]) == 2 * 2 * 2
    assert set(data["opt"]) == {"zone2", "names"}
    assert done.stderr == ""


def test_the_command_of_the_manifest_makes_the_same_file_again(claim_program, tmp_path):
    arguments = ("--networks", "numbers.edges", "--policies", "random,snowball", "--runs", "4", "--start", "1")
    first = claim_program("evaluate", *arguments, "--refusal", "0.3", "--seed", "7", "--json", "-").stdout
    words = json.loads(first)["manifest"]["command"].split()
    assert words[0] == "claim"
    assert claim_program(*words[1:], "--json", "-").stdout == first


def test_evaluate_for_people_with_a_run_folder_and_a_file(claim, tmp_path):
    done = claim(
        "evaluate", "--networks", "zone2", "--policies", "random,clairvoyant", "--runs", "2", "--workers", "1",
        "--out", "run/first", "--json", "result.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "clairvoyant (reference)" in done.stdout
    assert "OPT" in done.stdout
    assert (tmp_path / "run" / "first" / "report.html").is_file()
    written = json.loads((tmp_path / "result.json").read_text())
    assert written == json.loads((tmp_path / "run" / "first" / "results.json").read_text())


def test_advise_ranks_people_with_reasons(claim):
    arguments = ("advise", "--known", "names.csv", "--surveyed", "Ana", "--refused", "Ben", "--policy", "max-degree")
    data = only_json(claim(*arguments, "--json", "-"))
    assert set(data) == {"policy", "surveyed", "people", "ranking", "expected"}
    assert (data["policy"], data["surveyed"], data["people"]) == ("max-degree", 1, 5)
    assert all(set(row) == {"rank", "person", "named_by", "reasons"} for row in data["ranking"])
    assert data["ranking"][0]["person"] == "Dan"
    assert data["ranking"][0]["named_by"] == ["Ana"]
    assert [row["rank"] for row in data["ranking"]] == [1, 2, 3]
    assert {row["person"] for row in data["ranking"]} == {"Cyd", "Dan", "Eve"}
    assert "named by Ana" in claim(*arguments).stdout


def test_advise_expects_the_reach_that_select_does_for_the_number_of_people(claim, tmp_path):
    (tmp_path / "hubs.csv").write_text(HUBS)
    study = ("--known", "hubs.csv", "--surveyed", "s0,s1,s2,s3,s4,h", "-k", "3", "--seed", "4")
    for people in ((), ("--people", "40")):
        advised = only_json(claim("advise", *study, *people, "--json", "-"))["expected"]
        assert (
            advised == only_json(claim("select", *study, *people, "--method", "foresight", "--json", "-"))["expected"]
        )
    assert advised["high"] <= 40
    assert "If you chose 3 leaders now: they reach about" in claim("advise", *study, "--people", "40").stdout
    assert "too little is known yet" in claim("advise", "--entry", "open").stdout


def test_advise_gives_integer_labels_and_as_many_as_asked_for(claim):
    data = only_json(claim("advise", "--known", "numbers.edges", "--surveyed", "10", "-n", "2", "--json", "-"))
    assert {row["person"] for row in data["ranking"]} == {11, 13}


def test_advise_says_so_when_nobody_is_left(claim):
    done = claim("advise", "--known", "numbers.edges", "--surveyed", "10,11,12,13", "--refused", "14")
    assert done.returncode == 0
    assert "no people are left to survey" in done.stdout


def test_advise_in_an_open_study_tells_how_to_draw_new_people(claim, folder):
    arguments = ("advise", "--entry", "open", "--policy", "mix:0.5:max-degree", "--interviews", "8", "-n", "5")
    begin = claim(*arguments)
    assert "1–4" in begin.stdout
    assert "interview 4 new people" in begin.stdout
    assert begin.stdout.count("by lot") == 1
    (folder / "marks.csv").write_text("Dan,Eve\n")
    known = ("--known", "names.csv", "--surveyed", "Ana,Dan,Zoe", "--start", "Ana,Zoe", "--marks", "marks.csv")
    data = only_json(claim(*arguments, *known, "--json", "-"))
    assert (data["policy"], data["surveyed"], data["people"]) == ("mix:0.5:max-degree", 3, 6)
    assert [row["new"] for row in data["ranking"]] == [True, True, False, False, False]
    assert [row["person"] for row in data["ranking"][:2]] == [None, None]
    shown = claim(*arguments, *known, "-n", "1")
    assert "interview a new person" in shown.stdout
    assert "not in names, so without contacts: Zoe" in shown.stderr
    assert "by lot" not in claim(*arguments, *known[:-4], "--policy", "random", "-n", "1").stdout


def test_select_takes_the_marks_and_people_of_an_open_study(claim, folder):
    (folder / "marks.csv").write_text("respondent,contact\nAna,Dan\n")
    arguments = ("select", "--known", "names.csv", "--surveyed", "Ana,Zoe", "--method", "foresight", "-k", "9")
    done = claim(*arguments, "--entry", "open", "--marks", "marks.csv", "--json", "-")
    assert set(only_json(done)["leaders"]) == {"Ana", "Ben", "Cyd", "Dan", "Eve", "Zoe"}
    assert "without contacts: Zoe" in done.stderr
    assert claim(*arguments, "--entry", "open").returncode == 0


ALIKE = "".join(f"s{i},p{i}\ns{i},q{i}\n" for i in range(8)) + "s0,s1\ns1,s2\n"


@pytest.mark.needs("torch")
@pytest.mark.usefixtures("trusted")
def test_advise_follows_trained_policies(claim, tmp_path):
    (tmp_path / "ties.csv").write_text(ALIKE)
    data = only_json(
        claim("advise", "--known", "ties.csv", "--surveyed", "s0,s1", "--policy", "shaped-dqn", "--json", "-")
    )
    assert data["policy"] == "shaped-dqn"
    assert {row["person"] for row in data["ranking"]} <= set(ALIKE.replace("\n", ",").split(",")) - {"s0", "s1"}
    assert len(data["ranking"]) == 10


@pytest.mark.needs("torch")
@pytest.mark.usefixtures("trusted")
def test_advise_follows_the_shipped_policy_of_the_nearest_budget(claim, tmp_path, monkeypatch):
    from claim.learning.policy import LearnedPolicy

    (tmp_path / "ties.csv").write_text(ALIKE)
    budgets = []
    monkeypatch.setattr(LearnedPolicy, "choose", lambda policy, *_: budgets.append(policy.settings.budget) or [])
    arguments = ("advise", "--known", "ties.csv", "--surveyed", "s0,s1", "--policy")
    for more in (
        ["shaped-dqn:retweet"],
        ["shaped-dqn:retweet", "--budget", "18"],
        ["shaped-dqn:retweet@5", "--budget", "20"],
    ):
        assert claim(*arguments, *more).returncode == 0
    assert budgets == [5, 20, 5]


@pytest.mark.needs("torch")
@pytest.mark.usefixtures("trusted")
def test_advise_gives_the_reasons_of_the_policy_that_ranks(claim, tmp_path):
    from claim.discovery.policies.scout import THEMES

    (tmp_path / "hubs.csv").write_text(HUBS)
    arguments = ("advise", "--known", "hubs.csv", "--surveyed", "s0,s1,x1,x0")

    def said(policy: str) -> set[str]:
        ranking = only_json(claim(*arguments, "--policy", policy, "--json", "-"))["ranking"]
        assert all(row["reasons"][0].startswith(("named by", "nobody surveyed")) for row in ranking)
        return {reason for row in ranking for reason in row["reasons"][1:]}

    themes = {words for theme in THEMES for words in (theme.high, theme.low)}
    assert said("scout")
    assert said("scout") <= themes
    assert any("likely the hub" in reason for reason in said("degree+inverse"))
    assert said("random") == {"drawn by chance"}
    assert said("shaped-dqn") == set()
    assert "claim explain shows why shaped-dqn ranks them so" in claim(*arguments, "--policy", "shaped-dqn").stdout
    assert "claim explain" not in claim(*arguments).stdout


@pytest.mark.needs("torch")
@pytest.mark.usefixtures("trusted")
def test_a_study_began_with_the_first_five_surveyed_or_with_whom_start_names(claim, tmp_path, monkeypatch):
    from claim.learning.policy import LearnedPolicy

    (tmp_path / "ties.csv").write_text(ALIKE)
    began = []
    monkeypatch.setattr(LearnedPolicy, "choose", lambda policy, seen, rng, count: began.append(seen) or [])
    arguments = ("advise", "--known", "ties.csv", "--surveyed", "s6,s5,s4,s3,s2,s1,s0", "--policy", "shaped-dqn")
    for more in ((), ("--start", "s0,s6")):
        assert claim(*arguments, *more).returncode == 0
    labels = list(dict.fromkeys(ALIKE.replace("\n", ",").split(",")))
    for seen, first in zip(began, (["s6", "s5", "s4", "s3", "s2"], ["s0", "s6"]), strict=True):
        assert [labels[person] for person in seen.start] == first
        assert {labels[person] for person in seen.surveyed} == {f"s{i}" for i in range(7)}


def test_advise_by_change_gives_everybody_surveyed_their_turn(claim, tmp_path):
    (tmp_path / "ties.csv").write_text(ALIKE)
    arguments = ("advise", "--known", "ties.csv", "--policy", "change", "--count", "1", "--json", "-")
    for surveyed in (["s0", "s1", "s2", "s3", "s4"], ["s0", "s1", "s2", "s3", "s4", "p0"]):
        (row,) = only_json(claim(*arguments, "--surveyed", ",".join(surveyed)))["ranking"]
        assert row["named_by"] == [surveyed[len(surveyed) - 5]]


def test_labels_are_shown_as_they_are(claim, tmp_path):
    (tmp_path / "odd.csv").write_text("[/b],a\n:smile:,a\n[red]x,a\n")
    shown = claim("advise", "--known", "odd.csv", "--surveyed", "a").stdout
    assert all(label in shown for label in ("[/b]", ":smile:", "[red]x"))
    assert "[/b]" in claim("select", "odd.csv", "-k", "4").stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_json_goes_through_links_and_into_devices(claim_program, tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    assert claim_program("select", "numbers.edges", "-k", "1", "--json", "link.json").returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["k"] == 1
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert claim_program("select", "numbers.edges", "-k", "1", "--json", "pipe").returncode == 0
    assert json.loads(os.read(reader, 100_000))["k"] == 1
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert not list(tmp_path.glob(".*.json.*"))


def test_the_version_is_told(claim):
    done = claim("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("claim ")


VERBS = [
    ["networks"], ["networks", "fetch"], ["select"], ["influence"], ["evaluate"], ["advise"], ["explain"], ["plan"],
    ["train"], ["foresight", "train"], ["foresight", "coverage"], ["experiment", "paper"],
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_has_help_with_an_example(claim, verb):
    done = claim(*verb, "--help")
    assert done.returncode == 0
    assert "Example: claim " + " ".join(verb) in " ".join(done.stdout.split())
    assert "--json" in done.stdout


def test_help_lists_the_verbs_and_a_bare_claim_shows_it_too(claim):
    helped, bare = claim("--help"), claim()
    assert helped.returncode == 0
    for verb in {words[0] for words in VERBS} | {"app", "study"}:
        assert verb in helped.stdout
    assert "Usage" in bare.stdout + bare.stderr
    assert "claim: " not in bare.stderr
