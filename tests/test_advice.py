"""``claim.advice.advise`` from Python: the ranking that ``claim advise`` shows."""

import json
from types import SimpleNamespace

import pytest

from claim import registry
from claim.advice import advise, discovered_so_far
from claim.cli import main
from claim.discovery import policy_named
from claim.errors import InputError
from claim.networks import load
from claim.planning import PlanSettings, plan
from claim.registry import find_policy

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
        advice = advise(known, **given)
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
    ],
)
def test_settings_that_cannot_be_used_are_refused(ties, given, problem):
    with pytest.raises(InputError, match=problem):
        advise(ties, **given)


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
