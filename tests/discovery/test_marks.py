"""The marks of the hub question: what they weigh, and how far a study can trust them."""

import numpy as np
import pytest

from claim.discovery import Discovered, Frame, Simulation, surveys
from claim.discovery.policies.marks import SIGNALS, Trust, mark_signals, trust_in_marks, weight_of_marks
from claim.fitting.scout import MarkedMoment, fit_trust
from claim.networks import load
from claim.registry import find_policy


def hub_study(right: bool) -> Discovered:
    """Six people each name a hub of their own and two loners; three of the people they marked have been surveyed."""
    seen = Discovered()
    for _ in range(6):
        seen.record_start(seen.add_person())
    for drawn in range(6):
        named = [seen.add_person(drawn) for _ in range(3)]
        for person in named:
            seen.add_tie(drawn, person)
        hub, loner, _ = named
        seen.record_mark(drawn, hub if right else loner)
        if drawn < 3:
            for person in (hub, loner):
                seen.record_survey(person)
                for _ in range(12 if person == hub else 0):
                    seen.add_tie(person, seen.add_person(person))
    return seen


def overlapping_study(right: bool) -> Discovered:
    """Eight new people each name one person whom all name, and three whom only they name; they mark one of these."""
    seen = Discovered()
    people = [seen.add_person() for _ in range(8)]
    for person in people:
        seen.record_start(person)
    popular = seen.add_person(people[0])
    for person in people:
        seen.add_tie(person, popular)
        others = [seen.add_person(person) for _ in range(3)]
        for other in others:
            seen.add_tie(person, other)
        seen.record_mark(person, popular if right else others[0])
    return seen


def signal(seen: Discovered, name: str) -> float:
    return float(mark_signals(seen)[SIGNALS.index(name)])


def test_a_mark_weighs_the_logarithm_of_the_contacts_it_was_chosen_from():
    seen = Discovered()
    one, two = seen.add_person(), seen.add_person()
    for person, contacts in ((one, 1), (two, 5)):
        seen.record_start(person)
        named = [seen.add_person(person) for _ in range(contacts)]
        for contact in named:
            seen.add_tie(person, contact)
        seen.record_mark(person, named[0])
    assert sorted(weight_of_marks(seen).values()) == pytest.approx([0.0, np.log(5)])
    assert sorted(weight_of_marks(seen, more=1).values()) == pytest.approx([np.log(2), np.log(6)])


def test_there_is_no_trust_without_marks():
    assert trust_in_marks(Discovered()) == 0.0
    assert mark_signals(Discovered()).tolist() == [0.0] * len(SIGNALS)


@pytest.mark.parametrize(("study", "name"), [(hub_study, "more contacts"), (overlapping_study, "named more")])
def test_trust_follows_what_is_seen_of_marked_people(study, name):
    right, wrong = study(True), study(False)
    assert signal(right, name) > 1 > -0.5 > signal(wrong, name)
    assert trust_in_marks(right) > 0.8 > trust_in_marks(wrong) + 0.15


def test_the_only_contact_of_a_person_is_no_evidence():
    seen = Discovered()
    for _ in range(5):
        person = seen.add_person()
        seen.record_start(person)
        contact = seen.add_person(person)
        seen.add_tie(person, contact)
        seen.record_mark(person, contact)
        seen.record_survey(contact)
    assert mark_signals(seen).tolist() == [0.0] * len(SIGNALS)


@pytest.mark.parametrize("name", ["stars5", "zone2"])
def test_simulated_studies_find_out_whether_marks_say_anything(name):
    network, trust = load(name), {}
    for noise in (0.5, 1000.0):
        found = []
        for seed in range(12):
            rng = np.random.default_rng(seed)
            study = Simulation(network, (), rng, frame=Frame(), hub_question=noise)
            for _ in surveys(study, find_policy("mix:best", budget=25), 25, rng):
                pass
            found.append(trust_in_marks(study.discovered))
        trust[noise] = np.mean(found)
    assert trust[0.5] > 0.8
    assert trust[1000.0] < trust[0.5] - 0.2


def test_fitting_finds_what_tells_useful_marks_apart():
    rng, moments = np.random.default_rng(0), []
    for _ in range(3000):
        signals = rng.normal(size=len(SIGNALS))
        useful = rng.random() < 1 / (1 + np.exp(-(1.0 + 2.0 * signals[1])))
        moments.append(MarkedMoment("made up", signals, bool(useful)))
    found = fit_trust(moments)
    assert found.constant == pytest.approx(1.0, abs=0.2)
    assert found.weights == pytest.approx([0, 2, 0, 0], abs=0.2)
    assert Trust.from_json(found.to_json()).to_json() == found.to_json()
    with pytest.raises(ValueError, match="other signals"):
        Trust.from_json(found.to_json().replace('"named more"', '"something else"'))
