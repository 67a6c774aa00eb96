"""``claim.advice.advise`` from Python: the ranking that ``claim advise`` shows."""

import json
from types import SimpleNamespace

import pytest

from claim import registry
from claim.advice import advise, discovered_so_far
from claim.cli import main
from claim.discovery import NEW, policy_named
from claim.errors import InputError
from claim.networks import Network, load
from claim.planning import PlanSettings, plan
from claim.registry import OPEN_DEFAULT, find_policy
from claim.selection import select

TIES = "".join(f"s{i},h{i % 2}\n" for i in range(6)) + "h0,x\nh1,y\n"


@pytest.fixture
def ties(tmp_path):
    (tmp_path / "ties.csv").write_text(TIES)
    return tmp_path / "ties.csv"


def printed(capsys, *arguments):
    with pytest.raises(SystemExit):
        main([*arguments, "--json", "-"])
    return json.loads(capsys.readouterr().out)


def test_a_file_and_a_network_give_the_ranking_of_the_command_line(ties, capsys):
    given = {"surveyed": ["s0", "s1", "h1"], "refused": ["s2"], "start": ["s0"], "policy": "change"}
    lists = ("--surveyed", "s0,s1,h1", "--refused", "s2", "--start", "s0", "--policy", "change")
    expected = printed(capsys, "advise", "--known", str(ties), *lists)
    assert len(expected["ranking"]) == 6
    for known in (ties, str(ties), load(ties)):
        advice = advise(known, **given, leaders=10)
        assert advice.to_dict() == expected
        assert advice.rows == expected["ranking"]


class Newest:
    """Survey the person who was discovered last."""

    name = "newest"

    def choose(self, discovered, rng, count=1):
        return sorted(discovered.frontier, reverse=True)[:count]


def test_a_policy_may_be_an_object(ties):
    advice = advise(ties, surveyed=["s0"], policy=Newest(), count=2)
    assert advice.policy == "newest"
    assert [row["person"] for row in advice.rows] == ["y", "x"]
    named = advise(ties, surveyed=["s0"], policy="max-degree", seed=4)
    assert advise(ties, surveyed=["s0"], policy=policy_named("max-degree"), seed=4) == named


def test_a_study_began_with_as_many_people_as_its_policy_was_trained_with(ties):
    class OfTwo(Newest):
        settings = SimpleNamespace(start=2)

    answered = ["s0", "h1", "s3"]
    for policy, first in ((OfTwo(), 2), (Newest(), 3)):  # without settings: the first five
        assert len(discovered_so_far(load(ties), answered, policy=policy).start) == first


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"surveyed": ["Zoe"]}, "Zoe"),
        ({"surveyed": ["s0"], "refused": ["s0"]}, "s0 is listed both as surveyed and as refused"),
        ({"surveyed": ["s0"], "start": ["s1"]}, "s1 was known at the outset and must be among the people surveyed"),
        ({"policy": "clairvoyant"}, "clairvoyant is a reference that must see the whole network"),
        ({"policy": "randm"}, "did you mean random"),
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"known": None}, "the ties named so far are missing"),
        ({"interviews": 10}, "interviews are counted in open studies"),
        ({"policy": "mix:best"}, "mix:best interviews new people: add --entry open"),
        ({"entry": "half"}, "entry must be closed or open, got 'half'"),
        ({"entry": "open", "budget": 5}, "--budget is for closed studies"),
        ({"entry": "open", "interviews": -1}, "interviews must be at least 0, got -1"),
        ({"entry": "open", "policy": "change-published"}, "it is for closed studies"),
        ({"entry": "open", "surveyed": "s0"}, "people must be a list of labels, got 's0'"),
        (
            {"entry": "open", "surveyed": ["s0"], "start": ["s1"]},
            "s1 was interviewed as a new person and must be among",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_refused(ties, given, problem):
    with pytest.raises(InputError, match=problem):
        advise(**{"known": ties, **given})


def test_a_quota_steers_the_interviews_by_what_the_file_of_people_says(ties, tmp_path, capsys):
    (tmp_path / "groups.csv").write_text("person,region\ns0,north\ns2,north\ns4,north\nx,south\n")
    study = ("--known", str(ties), "--surveyed", "s0,h0", "--group", "region", "--policy", "quota:equal:max-degree")
    found = printed(capsys, "advise", *study, "--people-file", str(tmp_path / "groups.csv"))
    assert found["ranking"][0]["person"] == "x"
    assert "fewer people of the group south were asked than planned" in found["ranking"][0]["reasons"]
    known = load(ties, people=tmp_path / "groups.csv")
    given = {"surveyed": ["s0", "h0"], "group": "region", "policy": "quota:north=1+south=0:max-degree"}
    assert advise(known, **given).rows[0]["person"] in {"s2", "s4"}
    with pytest.raises(InputError, match="steers interviews by groups: add --group ATTRIBUTE"):
        advise(known, surveyed=["s0"], policy="quota:equal:scout")
    with pytest.raises(InputError, match="'age' is not known of its people"):
        advise(known, **given | {"group": "age"})


# Marks


def test_marks_are_given_as_pairs_or_a_dictionary(ties):
    answered = ["s0", "h1"]
    by_pairs, by_dictionary = (
        discovered_so_far(load(ties), answered, marks=marks)
        for marks in ([("h1", "y"), ("s0", "h0"), ("h1", "y")], {"h1": "y", "s0": "h0"})
    )
    assert by_pairs == by_dictionary
    labels = load(ties).labels
    assert {labels[person]: labels[contact] for person, contact in by_pairs.marks.items()} == {"h1": "y", "s0": "h0"}


class MostMarked:
    """Survey, and recruit, the people with the most marks."""

    name = "most-marked"

    def choose(self, discovered, rng, count=1):
        return sorted(discovered.frontier, key=lambda person: -len(discovered.marked_by(person)))[:count]

    def select(self, discovered, k, rng):
        return sorted(range(len(discovered)), key=lambda person: -len(discovered.marked_by(person)))[:k]


def test_policies_and_selectors_see_the_marks(ties):
    study = {"surveyed": ["s0", "h1"], "marks": [("h1", "s3")]}
    assert advise(ties, **study, policy=MostMarked()).rows[0]["person"] == "s3"
    assert select(ties, 1, method=MostMarked(), **study).leaders == ["s3"]
    assert "s3" in select(ties, 8, method="foresight", **study).leaders


@pytest.mark.parametrize(
    ("marks", "problem"),
    [
        ([("h1", "Zoe")], "there is no person 'Zoe' in ties"),
        ([("Zoe", "h1")], "there is no person 'Zoe' in ties"),
        ([("h1", "x")], "h1 marked x, who is not a contact of h1 in ties"),
        ([("h0", "x")], "h0 marked x and must be among the people surveyed"),
        ([("h1", "s1"), ("h1", "y")], "h1 marked both s1 and y: a person marks one contact"),
        ("h1,y", "marks are pairs of a person and the contact they marked, got 'h1,y'"),
        ([("h1", "s1", "y")], "marks are pairs"),
    ],
)
def test_marks_that_no_answer_can_have_are_refused_in_one_line(ties, marks, problem):
    for give_marks in (advise, lambda *given, **more: select(*given, **more, method="foresight")):
        with pytest.raises(InputError, match=problem) as caught:
            give_marks(ties, surveyed=["s0", "h1"], marks=marks)
        assert "\n" not in str(caught.value)


def test_a_method_that_does_not_use_marks_refuses_them(ties):
    with pytest.raises(InputError, match="greedy chooses by ties alone"):
        select(ties, 2, surveyed=["h1"], marks=[("h1", "y")])


# Open studies


def test_an_open_study_begins_without_ties():
    advice = advise(entry="open", interviews=5, count=3)
    assert (advice.policy, advice.surveyed, advice.people) == (OPEN_DEFAULT, 0, 0)
    assert [row["rank"] for row in advice.rows] == [1, 2, 3]
    assert all(row["new"] and row["person"] is None and not row["named_by"] for row in advice.rows)
    assert all(row["reasons"] for row in advice.rows)
    only_new = advise(entry="open", interviews=5, policy="mix:1:random", count=1)
    assert only_new.rows[0]["reasons"] == ["0 of 5 new people have been interviewed"]
    assert advise(Network.from_edges([], []), entry="open", interviews=5, count=3) == advice


def test_closed_advice_has_the_same_keys_as_before(ties):
    assert set(advise(ties, surveyed=["s0"]).rows[0]) == {"rank", "person", "named_by", "reasons"}


def test_new_people_come_where_the_policy_wants_them(ties):
    study = {"surveyed": ["s0", "s1", "s2"], "entry": "open", "interviews": 10, "policy": "mix:0.5:max-degree"}
    rows = advise(ties, **study, count=4).rows
    assert [row["new"] for row in rows] == [
        True,
        True,
        False,
        False,
    ]
    assert rows[0]["reasons"] == ["3 of 5 new people have been interviewed; named people follow"]
    assert (rows[2]["person"], rows[2]["named_by"]) == ("h0", ["s0", "s2"])


def test_new_people_follow_where_no_one_named_is_left(ties):
    rows = advise(ties, ["s0", "h0", "h1"], entry="open", policy="random", count=12).rows
    left = {"s1", "s2", "s3", "s4", "s5", "x", "y"}
    assert {row["person"] for row in rows[:7]} == left
    assert [row["new"] for row in rows] == [False] * 7 + [True] * 5
    assert {str(row["reasons"]) for row in rows[7:]} == {"['no one else who was named is left to interview']"}


class OnlyNew:
    """A policy that gives no reasons."""

    name = "only-new"

    def choose(self, discovered, rng, count=1):
        return [NEW] * count


def test_a_policy_of_your_own_may_choose_new_people_in_an_open_study_only(ties):
    assert [row["reasons"] for row in advise(ties, ["s0"], entry="open", policy=OnlyNew(), count=2).rows] == [[], []]
    with pytest.raises(InputError, match="chose a new person, but none can be interviewed"):
        advise(ties, ["s0"], policy=OnlyNew())


def test_the_new_people_of_an_open_study_are_those_no_one_had_named_before(ties):
    network = load(ties)

    def drawn(answered, **more):
        seen = discovered_so_far(network, answered, entry="open", **more)
        assert [network.labels[person] for person in seen.surveyed] == answered  # in the order of the interviews
        return [network.labels[person] for person in seen.start]

    assert drawn(["s0", "h0", "s1", "x", "y"]) == ["s0", "s1", "y"]  # s0 named h0, who named x
    assert drawn(["h0", "s0"]) == ["h0"]
    assert drawn(["h0", "s0"], start=["s0", "h0"]) == ["h0", "s0"]  # s0 was named before, and drawn all the same


def test_people_without_ties_are_part_of_an_open_study(ties):
    advice = advise(ties, ["s0", "loner"], ["unwilling"], entry="open", policy="mix:0.2:random")
    assert (advice.surveyed, advice.people) == (2, 12)
    assert not {"loner", "unwilling"} & {row["person"] for row in advice.rows}
    with pytest.raises(InputError, match="there is no person 'loner'"):
        advise(ties, ["s0", "loner"])
    study = {"surveyed": ["s0", "loner"], "entry": "open", "method": "foresight"}
    assert set(select(ties, 11, **study).leaders) == {*load(ties).labels, "loner"}


def test_the_default_of_open_studies_replaces_a_policy_that_was_not_shown_to_beat_chance(verdicts, ties):
    advice = advise(ties, ["s0"], policy="claim", entry="open")
    assert advice.policy == OPEN_DEFAULT
    assert advice.note.endswith(f"{OPEN_DEFAULT} advises instead")


def test_a_plan_from_python_is_the_plan_of_the_command_line(ties, capsys):
    settings = PlanSettings(leaders=2, surveys=(0, 2), studies=3, worth=0.5)
    options = ("-k", "2", "--surveys", "0,2", "--studies", "3", "--worth", "0.5")
    further = plan(30, known=ties, surveyed=["s0", "h0"], refused=["x"], settings=settings)
    lists = ("--surveyed", "s0,h0", "--refused", "x")
    assert further.to_dict() == printed(capsys, "plan", str(ties), "--people", "30", *lists, *options)
    assert further == plan(30, known=load(ties), surveyed=["s0", "h0"], refused=["x"], settings=settings)
    new = plan(40, 3.0, "stars", 2, settings=settings)
    ground = ("--people", "40", "--mean-degree", "3", "--kind", "stars", "--start", "2")
    assert new.to_dict() == printed(capsys, "plan", *ground, *options)


@pytest.fixture
def verdicts(tmp_path, monkeypatch):
    """Two shipped policies as their cards describe them; only the retweet one was shown to beat chance."""
    pytest.importorskip("torch", reason="needs PyTorch")
    from claim.learning.config import Config
    from claim.learning.network import new_network
    from claim.learning.policy import LearnedPolicy, save_policy

    monkeypatch.setattr(registry, "FOLDER", tmp_path)
    config, network = Config(), new_network(Config().shape, 0)
    for family, card in {"retweet": {"beats_chance": {"shown": True}}, "all": {}}.items():
        save_policy(LearnedPolicy(network, config, "claim", card), tmp_path / f"claim.{family}.5")
    return tmp_path


@pytest.mark.usefixtures("verdicts")
def test_the_default_advises_in_place_of_a_policy_that_was_not_shown_to_beat_chance(ties):
    asked = {"surveyed": ["s0", "h0"], "seed": 3}
    advice = advise(ties, policy="claim", **asked)
    assert (advice.policy, advice.rows) == ("scout", advise(ties, **asked).rows)
    assert advice.to_dict()["note"] == (
        "claim:all@5 was not shown to beat chance on its training networks: scout advises instead"
    )
    named = advise(ties, policy="claim:retweet", **asked)
    assert (named.policy, named.note) == ("claim:retweet", None)
    assert "note" not in named.to_dict()
    planned = plan(50, 3.0, policy="claim", surveys=(0, 2), studies=2)
    assert (planned.settings.policy, planned.to_dict()["note"]) == ("scout", advice.note)
    assert plan(50, 3.0, policy="claim:retweet", surveys=(0, 2), studies=2).settings.policy == "claim:retweet"


def test_a_policy_file_advises_as_asked(verdicts, ties):
    file = str(verdicts / "claim.all.5.json")
    advice = advise(ties, surveyed=["s0", "h0"], policy=file)
    assert (advice.policy, advice.note) == (file, None)


@pytest.mark.usefixtures("verdicts")
def test_comparisons_run_the_policy_that_is_named_whatever_its_verdict():
    assert find_policy("claim", None, 5).name == "claim"
