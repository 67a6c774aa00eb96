"""The practice study: made-up people answer, nothing is kept, and the score is honest."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

from claim.errors import InputError
from claim.field.advice.leaders import choose_leaders
from claim.field.advice.recommend import recommend
from claim.field.advice.rehearsal import INTERVIEWS, LEADERS, WAYS, Rehearsal, made_up_names, misspelt
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


def meet(rehearsal) -> str:
    """The code of the next person met by lot."""
    name = rehearsal.drawn()

    def command(draft):
        known = rehearsal.opened.view.index.same(name)
        code = known[0] if known else draft.new_person(name)
        commands.meet_new_person(draft, code)
        return code

    return rehearsal.opened.run(command).result


def follow(rehearsal, interviews: int) -> int:
    """Follow the advice; returns how many people were new."""
    new = 0
    for _ in range(interviews):
        first = recommend(rehearsal.opened.study).recommended[0].person
        new += first == "new"
        survey(rehearsal, meet(rehearsal) if first == "new" else first)
    return new


def test_it_begins_open_with_no_person_known_and_ends_without_a_trace(rehearsal):
    setup = rehearsal.opened.study.setup
    assert (setup.open, setup.rehearsal, setup.interviews) == (True, True, INTERVIEWS)
    assert not rehearsal.opened.study.people
    path = rehearsal.opened.store.path
    assert path.parent.stat().st_mode & 0o777 == 0o700
    rehearsal.end()
    assert not path.parent.exists()


def test_people_say_what_the_hidden_network_says(rehearsal):
    who = rehearsal.hidden(meet(rehearsal))
    assert survey(rehearsal, "P1") == rehearsal.network.degrees[who]
    named = {rehearsal.hidden(code) for code in rehearsal.opened.study.person("P1").contacts}
    assert named == set(rehearsal.network.contacts_of(who).tolist())


def test_answering_twice_says_the_same(rehearsal):
    meet(rehearsal)
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
    assert 0 < follow(rehearsal, INTERVIEWS) < INTERVIEWS
    leaders = [each.person for each in choose_leaders(rehearsal.opened.study).leaders]
    score = rehearsal.score(leaders)
    assert score.leaders == LEADERS
    assert LEADERS <= score.team <= score.best * 1.02
    for way in WAYS:
        spread = score.ways[way]
        assert LEADERS <= spread.low < spread.mean < spread.high <= score.best * 1.02
    assert rehearsal.score([]).team == 0


def test_repeated_studies_have_as_many_interviews_as_the_team_made(rehearsal):
    follow(rehearsal, 1)
    before = rehearsal.score(["P1"])
    follow(rehearsal, 7)
    after = rehearsal.score(["P1"])
    assert (before.team, before.best) == (after.team, after.best)
    assert all(before.ways[way].mean < after.ways[way].mean for way in WAYS)
    assert rehearsal.score(["P1"]) == after  # repeated studies are the same until more interviews are made


def test_people_are_met_by_lot_once_and_mark_a_contact_if_asked(rehearsal):
    setup = replace(rehearsal.opened.study.setup, hub_question=True)
    rehearsal.opened.run(lambda draft: commands.change_settings(draft, setup))
    names = []
    for _ in range(3):
        names.append(rehearsal.drawn())
        assert rehearsal.drawn() == names[-1]  # until they were asked
        survey(rehearsal, meet(rehearsal))
    study = rehearsal.opened.study
    assert len(set(names)) == len(study.discovered().start) == 3
    surveyed = [person for person in study.people.values() if person.contacts]
    assert surveyed
    assert all(person.marked in person.contacts for person in surveyed)


def test_a_rehearsal_that_was_closed_to_new_people_is_compared_with_open_studies(rehearsal):
    follow(rehearsal, 3)
    before = rehearsal.score(["P1"])
    closed = replace(rehearsal.opened.study.setup, open=False)
    rehearsal.opened.run(lambda draft: commands.change_settings(draft, closed))
    assert rehearsal.score(["P1"]) == before


def test_made_up_names_differ_and_slips_are_still_alike():
    rng = np.random.default_rng(1)
    names = made_up_names(1000, rng)
    assert len(set(names)) == 1000
    for name in names[:200]:
        slipped = misspelt(name, rng)
        assert slipped != name
        assert similarity(words(name), words(slipped)) > 0.84
