"""``claim plan`` and the field conditions of ``claim evaluate`` on the command line."""

import json

import pytest

QUICK = ("--studies", "3", "--surveys", "0,2,4", "-k", "2")


def test_a_plan_for_a_new_study(claim):
    done = claim("plan", "--people", "60", "--mean-degree", "4", "--kind", "clustered", *QUICK)
    assert done.returncode == 0
    assert "People reached by 2 leaders after so many interviews" in done.stdout
    assert "What each of the interviews adds (mix:best)" in done.stdout
    assert "expect to reach about" in " ".join(done.stdout.split())
    assert "±" in done.stdout
    assert "recruit more leaders" not in done.stdout


def test_a_plan_as_json(claim):
    done = claim("plan", "--people", "60", "--mean-degree", "4", *QUICK, "--worth", "50", "--json", "-")
    data = json.loads(done.stdout)
    basis = {"people", "mean_degree", "kind", "start", "settings"}
    assert set(data) == basis | {"points", "ways", "worth", "advised", "worth_until", "enough", "advice"}
    assert [point["surveys"] for point in data["points"]] == [0, 2, 4]
    assert [point["interviews"] for point in data["points"]] == [5, 7, 9]
    assert data["points"] == data["ways"][data["advised"]]
    assert list(data["ways"]) == data["settings"]["ways"] == ["closed", "new", "mix:best", "scout"]
    assert (data["kind"], data["start"], data["enough"]) == ("unknown", 5, 5)
    assert done.stderr == ""


def test_a_plan_for_a_study_under_way(claim):
    arguments = ("plan", "names.csv", "--surveyed", "Ana,Ben", "--refused", "Cyd", "--people", "30", *QUICK)
    data = json.loads(claim(*arguments, "--json", "-").stdout)
    assert (data["known"], data["start"], data["surveyed"], data["refused"]) == (5, 2, 2, 1)
    assert "further interviews" in claim(*arguments).stdout


def test_a_plan_with_numbers_of_interviews_and_ways(claim):
    quick = ("--studies", "3", "--interviews", "6,9", "-k", "2", "--ways", "new,mix:0.5:random")
    arguments = ("plan", "--people", "60", "--mean-degree", "4", "--start", "4", *quick)
    data = json.loads(claim(*arguments, "--json", "-").stdout)
    assert {way: [point["interviews"] for point in points] for way, points in data["ways"].items()} == {
        "new": [6, 9], "mix:0.5:random": [6, 9],
    }  # fmt: skip
    assert data["settings"]["surveys"] == [2, 5]
    assert data["advised"] == "new"


def test_a_plan_with_costs_says_whether_more_leaders_are_cheaper(claim):
    costs = ("--cost-survey", "0", "--cost-leader", "9.5")
    arguments = ("plan", "--people", "60", "--mean-degree", "4", *QUICK, *costs)
    done = claim(*arguments)
    assert "Survey, or recruit more leaders? (an interview costs 0, a leader 9.5)" in done.stdout
    assert "break-even" in done.stdout
    assert "one-hop" in done.stdout
    data = json.loads(claim(*arguments, "--json", "-").stdout)
    assert {row["drawn"] for row in data["more_leaders"]} == {"random", "one-hop"}
    assert (data["settings"]["cost_survey"], data["settings"]["cost_leader"]) == (0, 9.5)


# Seven people surveyed, the last two of whom were found on the way and have many contacts.
FOUND = "".join(f"s{i},h{i % 2}\n" for i in range(5)) + "".join(f"h{i % 2},x{i}\n" for i in range(20))


def test_a_study_under_way_began_with_the_first_five_surveyed_or_with_whom_start_names(claim, tmp_path):
    (tmp_path / "found.csv").write_text(FOUND)
    arguments = ("plan", "found.csv", "--surveyed", "s0,s1,s2,s3,s4,h0,h1", "--people", "80", *QUICK, "--json", "-")
    default, first, everybody = (
        json.loads(claim(*arguments, *more).stdout)
        for more in ((), ("--start", "s4,s3,s2,s1,s0"), ("--start", "s0,s1,s2,s3,s4,h0,h1"))
    )
    assert [data["start"] for data in (default, first, everybody)] == [5, 5, 7]
    assert [data["surveyed"] for data in (default, first, everybody)] == [7, 7, 7]
    assert default["points"][0]["mean"] == first["points"][0]["mean"]
    assert default["points"][0]["mean"] != everybody["points"][0]["mean"]


def test_a_new_study_may_begin_with_another_number_of_people(claim):
    arguments = ("plan", "--people", "60", "--mean-degree", "4", *QUICK, "--json", "-")
    few, more = (json.loads(claim(*arguments, "--start", number).stdout) for number in ("1", "20"))
    assert (few["start"], more["start"]) == (1, 20)
    assert few["points"][0]["discovered"] < more["points"][0]["discovered"]


@pytest.mark.parametrize("ground", [("names.csv", "--surveyed", "Ana,Ben"), ("--mean-degree", "4")])
@pytest.mark.needs("torch")
@pytest.mark.usefixtures("trusted")
def test_a_plan_with_a_trained_policy(claim, monkeypatch, ground):
    from claim.learning.policy import LearnedPolicy

    asked = []
    choose = LearnedPolicy.choose
    monkeypatch.setattr(
        LearnedPolicy, "choose", lambda policy, *rest: asked.append(policy.settings.budget) or choose(policy, *rest)
    )
    arguments = ("plan", *ground, "--people", "30", "-k", "2", "--studies", "2", "--surveys", "0,2", "--json", "-")
    data = json.loads(claim(*arguments, "--policy", "shaped-dqn").stdout)
    assert data["settings"]["policy"] == "shaped-dqn"
    assert set(asked) == {5}
    asked.clear()
    many = (*arguments[:-3], "0,15", *arguments[-2:])
    assert claim(*many, "--policy", "shaped-dqn:animal").returncode == 0
    assert set(asked) == {20}


def test_ctrl_c_ends_a_plan_with_one_line(claim, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("claim.planning.studies.choose_leaders", interrupted)
    done = claim("plan", "--people", "60", "--mean-degree", "4", *QUICK)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "claim: interrupted\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "needs the number of people"),
        (("--people", "50"), "needs the mean degree"),
        (
            ("--people", "50", "--mean-degree", "4", "--surveys", "many"),
            "--surveys takes whole numbers from 0",
        ),
        (("--people", "50", "--mean-degree", "4", "--worth", "0"), "worth must be above 0, got 0.0"),
        (("--people", "50", "--mean-degree", "4", "--interviews", "5,x"), "--interviews takes whole numbers from 0"),
        (("--people", "50", "--mean-degree", "4", "--interviews", "10,5"), "ascending whole numbers"),
        (("--people", "50", "--mean-degree", "4", "--interviews", "2,9"), "must be at least 5, got 2"),
        (
            ("--people", "50", "--mean-degree", "4", "--interviews", "5,10", "--surveys", "0,5"),
            "give --surveys or --interviews, not both",
        ),
        (("--people", "50", "--mean-degree", "4", "--ways", ""), "ways must be a list"),
        (("--people", "50", "--mean-degree", "4", "--ways", "closed,nwe"), "no policy is called 'nwe'"),
        (("--people", "50", "--mean-degree", "4", "--policy", "new"), "name it among the ways"),
        (("--people", "50", "--mean-degree", "4", "--cost-survey", "5"), "cost_leader is missing"),
        (("--people", "50", "--mean-degree", "4", "--cost-leader", "5"), "cost_survey is missing"),
        (
            ("--people", "50", "--mean-degree", "4", "--cost-leader", "-5", "--cost-survey", "1"),
            "cost_leader must be at least 0",
        ),
        (
            ("--people", "50", "--mean-degree", "4", "--cost-leader", "0", "--cost-survey", "0"),
            "must be above 0, got 0 for both",
        ),
        (
            ("names.csv", "--people", "50", "--surveyed", "Ana", "--cost-leader", "5", "--cost-survey", "1"),
            "costs are for plans without known ties",
        ),
        (("--people", "50", "--mean-degree", "4", "--surveyed", "Ana"), "takes no lists of people"),
        (("--people", "50", "--mean-degree", "4", "--kind", "odd"), "odd"),
        (("--people", "50", "--mean-degree", "4", "--start", "Ana"), "--start takes whole numbers from 0, got 'Ana'"),
        (("--people", "50", "--mean-degree", "4", "--start", "0"), "start_size must be at least 1"),
        (("names.csv", "--people", "50", "--surveyed", "Ana", "--kind", "stars"), "without known ties"),
        (("names.csv", "--people", "50", "--surveyed", "Ana", "--start", "Ben"), "Ben was known at the outset"),
        (("names.csv", "--people", "50", "--surveyed", "Ana", "--start", "5"), "'5'"),
        (("names.csv", "--people", "50"), "needs people who were surveyed"),
        (("names.csv", "--people", "50", "--surveyed", "Zoe"), "Zoe"),
        (("names.csv", "--people", "3", "--surveyed", "Ana"), "are known already"),
        (("--people", "50", "--mean-degree", "4", "--policy", "clam"), "no policy is called 'clam'"),
        (
            ("--people", "50", "--mean-degree", "4", "--policy", "shaped-dqn:shops"),
            "no shaped-dqn policy is shipped for 'shops'",
        ),
        (("--people", "50", "--mean-degree", "4", "--policy", "mine.json"), "mine.json: no such policy file"),
        (("nowhere.csv", "--people", "50", "--surveyed", "Ana"), "nowhere.csv"),
    ],
)
def test_what_makes_no_plan_is_one_line(claim, arguments, problem):
    done = claim("plan", *arguments)
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.splitlines()[-1].startswith("claim: ")
    assert done.stderr.count("\n") == 1 + done.stderr.count("dropped")
    assert done.stdout == ""


EVALUATE = ("evaluate", "--networks", "names.csv", "--policies", "random", "--runs", "2", "--workers", "1")


def test_field_conditions_are_options_of_evaluate(claim):
    field_conditions = ("--attendance", "0.6", "--p-range", "0.05,0.2", "--answers", "0.7")
    told, untold = (
        json.loads(claim(*EVALUATE, *field_conditions, *more, "--json", "-").stdout) for more in ((), ("--untold",))
    )
    assert told["manifest"]["command"].endswith("--attendance 0.6 --p-range 0.05,0.2 --report-rate 0.7")
    assert told["manifest"]["settings"]["p_range"] == [0.05, 0.2]
    assert untold["manifest"]["settings"]["selector_informed"] is False


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        (("--attendance", "0"), "attendance must be above 0 and at most 1"),
        (("--p-range", "0.1"), "two numbers"),
        (("--p-range", "a,b"), "--p-range takes two numbers"),
        (("--p-range", "0.3,0.1"), "the smaller first"),
        (("--answers", "1.5"), "report_rate must be above 0 and at most 1"),
    ],
)
def test_field_conditions_that_make_no_sense_are_one_line(claim, condition, problem):
    done = claim(*EVALUATE, *condition)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert problem in done.stderr
