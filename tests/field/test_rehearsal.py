"""The practice study: made-up people answer, nothing is kept, and the score is honest."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

from claim.errors import InputError
from claim.field.advice.leaders import choose_leaders
from claim.field.advice.recommend import recommend
from claim.field.advice.rehearsal import BUDGET, LEADERS, START, WAYS, Rehearsal, made_up_names, misspelt
from claim.field.study import commands
from claim.field.study.names import similarity, words


@pytest.fixture
def rehearsal():
    made = Rehearsal("Practice", "Whom do you talk to?", "I agree.", seed=4)
    yield made
    made.end()


def survey(rehearsal, code: str) -> int:
    rehearsal.opened.run(lambda draft: commands.start_survey(draft, code, consent=True))
    named = rehearsal.simulate(code)
    rehearsal.opened.run(lambda draft: commands.end_survey(draft, code))
    return named


def test_it_begins_with_the_start_people_and_ends_without_a_trace(rehearsal):
    assert len(rehearsal.opened.study.people) == START
    assert rehearsal.opened.study.setup.rehearsal
    path = rehearsal.opened.store.path
    assert path.parent.stat().st_mode & 0o777 == 0o700
    rehearsal.end()
    assert not path.parent.exists()


def test_people_say_what_the_hidden_network_says(rehearsal):
    who = rehearsal.hidden("P1")
    assert survey(rehearsal, "P1") == rehearsal.network.degrees[who]
    named = {rehearsal.hidden(code) for code in rehearsal.opened.study.person("P1").contacts}
    assert named == set(rehearsal.network.contacts_of(who).tolist())


def test_answering_twice_says_the_same(rehearsal):
    rehearsal.opened.run(lambda draft: commands.start_survey(draft, "P1", consent=True))
    rehearsal.simulate("P1")
    before = rehearsal.opened.study.person("P1").contacts
    rehearsal.simulate("P1")
    assert rehearsal.opened.study.person("P1").contacts == before


def test_somebody_the_team_made_up_cannot_answer(rehearsal):
    code = rehearsal.opened.run(lambda draft: commands.add_person(draft, "Qqq Xxx", is_start=True)).result
    rehearsal.opened.run(lambda draft: commands.start_survey(draft, code, consent=True))
    with pytest.raises(InputError, match="not part"):
        rehearsal.simulate(code)


def test_the_score_lies_between_nothing_and_the_best(rehearsal):
    for _ in range(START + BUDGET):
        survey(rehearsal, recommend(rehearsal.opened.study).recommended[0].person)
    leaders = [each.person for each in choose_leaders(rehearsal.opened.study).leaders]
    score = rehearsal.score(leaders)
    assert score.leaders == LEADERS
    assert LEADERS <= score.team <= score.best * 1.02
    for way in WAYS:
        spread = score.ways[way]
        assert LEADERS <= spread.low < spread.mean < spread.high <= score.best * 1.02
    assert rehearsal.score([]).team == 0


def test_random_surveys_are_as_many_as_the_team_made(rehearsal):
    before = rehearsal.score(["P1"])
    for _ in range(START + 4):
        survey(rehearsal, recommend(rehearsal.opened.study).recommended[0].person)
    after = rehearsal.score(["P1"])
    assert (before.team, before.best) == (after.team, after.best)
    assert all(before.ways[way].mean < after.ways[way].mean for way in ("advice", "random", "one-hop"))
    assert rehearsal.score(["P1"]) == after  # repeated studies are the same until more surveys are made


def test_an_open_study_with_marks_can_be_rehearsed(rehearsal):
    setup = replace(rehearsal.opened.study.setup, open=True, hub_question=True, interviews=START + 6)
    rehearsal.opened.run(lambda draft: commands.change_settings(draft, setup))
    before = rehearsal.score(["P1"])
    for _ in range(START):
        survey(rehearsal, recommend(rehearsal.opened.study).recommended[0].person)
    names = []
    for _ in range(3):
        assert recommend(rehearsal.opened.study).new_people == 1
        names.append(rehearsal.drawn())
        assert rehearsal.drawn() == names[-1]  # until they were asked

        def met(draft):
            known = rehearsal.opened.view.index.same(names[-1])
            code = known[0] if known else draft.new_person(names[-1])
            commands.meet_new_person(draft, code)
            return code

        survey(rehearsal, rehearsal.opened.run(met).result)
    study = rehearsal.opened.study
    assert len(set(names)) == 3
    assert len(study.discovered().start) == START + 3
    surveyed = [person for person in study.people.values() if person.contacts]
    assert all(person.marked in person.contacts for person in surveyed)
    assert rehearsal.score(["P1"]).ways["random"].mean > before.ways["random"].mean


def test_made_up_names_differ_and_slips_are_still_alike():
    rng = np.random.default_rng(1)
    names = made_up_names(1000, rng)
    assert len(set(names)) == 1000
    for name in names[:200]:
        slipped = misspelt(name, rng)
        assert slipped != name
        assert similarity(words(name), words(slipped)) > 0.84
