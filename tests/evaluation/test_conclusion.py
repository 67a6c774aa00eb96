"""The sentences of a comparison say what its numbers say."""

from dataclasses import replace

import numpy as np
import pytest
from evaluation_cases import contacts, hubs_and_leaves

from claim.evaluation import compare
from claim.evaluation.compare import Comparison, differences
from claim.evaluation.conclusion import conclusion


@pytest.fixture(scope="module")
def compared() -> Comparison:
    networks = [hubs_and_leaves(), contacts()]
    return compare(networks, "random,change,max-contact,clairvoyant", runs=4, leaders=4, workers=1)


def made_up(compared: Comparison, reached: dict[tuple[str, str], float]) -> Comparison:
    """The comparison as if the methods had reached these people, with a little noise that differs by method."""
    rows = []
    for i, row in enumerate(compared.rows):
        values = reached.get((row.network, row.policy), row.mean) + np.random.default_rng(i).normal(0, 0.1, 30)
        rows.append(replace(row, values=values.tolist(), mean=float(values.mean()), runs=30))
    return replace(compared, rows=rows, comparisons=differences(rows, 1), opt={"hubs": 40.0, "contacts": 20.0})


def test_the_best_is_named_with_its_gain_and_where_it_is_significant(compared: Comparison) -> None:
    reached = {("hubs", "random"): 10.0, ("hubs", "change"): 20.0, ("hubs", "max-contact"): 9.0}
    reached |= {("contacts", "random"): 10.0, ("contacts", "change"): 10.0, ("contacts", "max-contact"): 10.0}
    (text,) = conclusion(made_up(compared, reached))
    assert text.startswith("On average over 2 networks, change reaches the most people: ")
    assert "50 to 50 % of OPT" in text
    assert "more than random, a difference that is significant on hubs." in text
    assert text.endswith("Significantly behind random: max-contact on hubs.")
    assert "clairvoyant" not in text


def test_equal_methods_are_called_so(compared: Comparison) -> None:
    reached = {(network, policy): 10.0 for network in ("hubs", "contacts") for policy in ("random", "change")}
    (text,) = conclusion(made_up(compared, reached | {("hubs", "max-contact"): 1.0, ("contacts", "max-contact"): 1.0}))
    assert "not significant on any network" in text or text.startswith("On average over 2 networks, random ")
    assert "Not significantly behind it on any network: " in text
    assert "Significantly behind random: max-contact on hubs and contacts." in text


def test_each_protocol_has_its_own(compared: Comparison) -> None:
    both = compare(contacts(), "random,change", protocol="field,paper", runs=4, leaders=4, workers=1)
    first, second = conclusion(both)
    assert first.startswith("Field protocol: ")
    assert second.startswith("Paper protocol: ")
    assert "On contacts, " in first


@pytest.mark.needs("torch")
def test_a_trained_policy_is_said_to_be_one_training(compared: Comparison) -> None:
    *_, last = conclusion(compare(contacts(), "random,shaped-dqn:zones", runs=2, workers=1))
    assert last.startswith("Trained policies (shaped-dqn:zones) are one training each: ")
    assert not any("training" in text for text in conclusion(compared))
    assert conclusion(compare(contacts(), "shaped-dqn:zones", runs=2, workers=1)) == []


def test_one_method_concludes_nothing(compared: Comparison) -> None:
    assert conclusion(compare(contacts(), "random", runs=2, workers=1)) == []


def test_no_interviews_reach_no_one_and_conclude_nothing() -> None:
    found = compare(contacts(), "new,scout,one-hop", entry="open", interviews=0, runs=2, workers=1)
    assert [row.mean for row in found.rows] == [0.0, 0.0, 0.0]
    assert conclusion(found) == []
