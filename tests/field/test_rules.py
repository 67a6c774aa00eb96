"""The rules a study can follow: those that are there, trained ones only where they can be loaded."""

import pytest
from paper import Paper

from claim import registry
from claim.discovery.policies import POLICIES, is_reference
from claim.errors import InputError
from claim.field import DEFAULT_POLICY
from claim.field.advice import recommend as rules
from claim.field.advice.recommend import recommend
from claim.field.study import commands


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Two policies as if they came with the software; their networks know nothing."""
    pytest.importorskip("torch", reason="needs PyTorch")
    from claim.learning.config import Config
    from claim.learning.network import new_network
    from claim.learning.policy import LearnedPolicy, save_policy

    monkeypatch.setattr(registry, "FOLDER", tmp_path)
    config = Config()
    shown = {"beats_chance": {"shown": True}}
    policy = LearnedPolicy(new_network(config.shape, config.seed).eval(), config, card=shown)
    for name in ("claim.all.5", "claim.zones.20"):
        save_policy(policy, tmp_path / name)
    return tmp_path


def study(**settings: object) -> Paper:
    paper = Paper(leaders=2, **settings)
    ana = paper.add("Ana", start=True)
    ben = paper.survey(ana, "Ben", "Carla", "Dan")[0]
    paper.survey(ben, "Eva")
    return paper


def test_the_default_comes_first_and_all_can_advise():
    found = rules.offered()
    assert found[0] == DEFAULT_POLICY
    assert len(set(found)) == len(found)
    for name in found:
        assert name in POLICIES or registry.is_learned(name)
        assert name not in POLICIES or not is_reference(POLICIES[name])
        rules.check_rule(name, budget=5)


def test_scout_appears_where_it_is_registered(monkeypatch):
    monkeypatch.setitem(POLICIES, "scout", POLICIES["snowball"])
    assert "scout" in rules.offered()
    monkeypatch.delitem(POLICIES, "scout")
    assert "scout" not in rules.offered() or DEFAULT_POLICY == "scout"


@pytest.mark.parametrize("name", ["clairvoyant", "no-such-rule", "claim:nowhere", "/etc/passwd.json", "x.safetensors"])
def test_what_cannot_advise_is_refused(name):
    with pytest.raises(InputError):
        rules.check_rule(name, budget=5)
    with pytest.raises(InputError):
        Paper(policy=name)


def test_a_reference_is_refused_with_its_name():
    with pytest.raises(InputError, match="clairvoyant must see the whole network; it cannot give advice"):
        study(policy="clairvoyant")


def test_trained_rules_advise_and_are_noted_with_their_hash(shipped):
    assert {"claim", "claim:zones"} <= set(rules.offered())
    paper = study(policy="claim", budget=5)
    advice = recommend(paper.study)
    assert advice == recommend(paper.study)
    assert advice.policy == "claim"
    assert len(advice.policy_hash or "") == 64
    assert {each.person for each in advice.ranking} == {"P3", "P4", "P5"}
    assert all(each.reasons for each in advice.ranking)
    paper.run(lambda draft: commands.show_advice(draft, advice))
    assert paper.study.state.shown.policy_hash == advice.policy_hash


def test_without_pytorch_there_is_a_clear_word(shipped, monkeypatch):
    paper = study(policy="claim")
    monkeypatch.setattr("claim.registry.NEEDED", ("torch", "no_such_module"))
    assert not [name for name in rules.offered() if name.startswith("claim")]
    with pytest.raises(InputError, match=r'needs PyTorch \(pip install "claim-network\[learning\]"\): choose another'):
        recommend(paper.study)
    with pytest.raises(InputError, match="PyTorch"):
        study(policy="claim:zones")


def test_a_rule_that_was_not_shown_to_beat_chance_is_not_offered_and_does_not_decide(shipped):
    card = shipped / "claim.all.5.json"
    paper = study(policy="claim")
    assert recommend(paper.study).policy == "claim"
    card.write_text(card.read_text().replace('"shown": true', '"shown": false'))
    assert "claim" not in rules.offered()
    advice = recommend(paper.study)
    assert (advice.policy, advice.policy_hash) == (DEFAULT_POLICY, None)
    assert "claim was not shown to be better than chance, so scout decides" in [str(note) for note in advice.notes]
