"""The cases a team meets."""

from dataclasses import replace

import pytest
from paper import Paper

from claim.discovery.policies import POLICIES
from claim.discovery.reasons import who_named
from claim.errors import InputError
from claim.field.advice.leaders import choose_leaders
from claim.field.advice.recommend import REST, recommend
from claim.field.study import commands
from claim.field.study.commands import SelfNamed
from claim.field.study.events import Imported
from claim.messages import Message, People


@pytest.fixture
def paper() -> Paper:
    """Ana named Ben, Carla and Dan; Ben named Carla and Eva."""
    paper = Paper(budget=10, leaders=2, consent_text="We ask ...", seed=3, policy="degree+inverse")
    ana = paper.add("Ana", start=True)
    paper.survey(ana, "Ben", "Carla", "Dan")
    paper.survey("P2", "P3", "Eva")
    return paper


def states(paper: Paper) -> dict[str, str]:
    return {code: person.state for code, person in paper.study.people.items()}


def test_who_is_known_and_how(paper):
    carla = paper.study.people["P3"]
    assert (carla.first_named_by, carla.times_named, carla.named_by) == ("P1", 2, ("P1", "P2"))
    assert paper.study.people["P1"].contacts == ("P2", "P3", "P4")
    assert states(paper) == {"P1": "surveyed", "P2": "surveyed", "P3": "named", "P4": "named", "P5": "named"}
    assert (paper.study.spent, paper.study.left) == (1, 9)  # start people are on top


def test_reasons(paper):
    best = recommend(paper.study).ranking[0]
    assert best.person == "P3"
    assert best.reasons[0].translated({}, {"P1": "Ana", "P2": "Ben"}.get) == "named by Ana and Ben"


def test_nobody_is_their_own_contact(paper):
    with pytest.raises(SelfNamed):
        paper.survey("P3", "P3")
    assert states(paper)["P3"] == "named"


def test_merging_two_who_named_each_other_leaves_no_loop(paper):
    paper.run(lambda draft: commands.merge(draft, "P1", "P2"))
    assert "P2" not in paper.study.people
    assert all(tie.one != tie.other for tie in paper.study.ties)
    assert paper.study.people["P1"].codes == ("P1", "P2")
    assert len(paper.study.discovered()) == 4


def test_named_nobody_counts_as_an_answer(paper):
    paper.survey("P4")
    assert paper.study.people["P4"].state == "surveyed"
    assert paper.study.surveys[-1].outcome == "named nobody"
    assert paper.study.spent == 2


def test_an_exhausted_frontier_is_said(paper):
    for code in ("P3", "P4"):
        paper.run(lambda draft, code=code: commands.end_survey(draft, code, "refused"))
    paper.survey("P5")
    advice = recommend(paper.study)
    assert advice.ranking == ()
    assert ["no person is left" in str(note) for note in advice.notes] == [True]
    assert [str(note) for note in recommend(Paper().study).notes] == ["add the people you start with"]


def test_refusals_count_by_the_rule(paper):
    other = Paper(refusal_rule="answers", budget=1)
    other.add("Ana", start=True)
    other.survey("P1", "Ben")
    paper.run(lambda draft: commands.end_survey(draft, "P3", "refused"))
    other.run(lambda draft: commands.end_survey(draft, "P2", "refused"))
    assert (paper.study.spent, other.study.spent) == (2, 0)


def test_somebody_not_there_comes_back_later(paper):
    paper.run(lambda draft: commands.end_survey(draft, "P3", "no-show"))
    assert paper.study.spent == 1
    ranking = [each.person for each in recommend(paper.study, 3).ranking]
    assert ranking[-1] == "P3"
    assert set(ranking) == {"P3", "P4", "P5"}
    roster = [paper.add(f"Roster {i}") for i in range(REST)]
    for code in roster:
        paper.survey(code)
    assert recommend(paper.study).ranking[0].person == "P3"


def test_no_survey_without_consent(paper):
    with pytest.raises(InputError, match="consent"):
        paper.run(lambda draft: commands.start_survey(draft, "P3", consent=False))
    paper.run(lambda draft: commands.start_survey(draft, "P3", consent=True))
    assert paper.study.people["P3"].consent == "1"


def test_a_partial_survey_goes_on(paper):
    paper.run(lambda draft: commands.start_survey(draft, "P3", consent=True))
    paper.run(lambda draft: commands.name_contact(draft, "P3", "P4"))
    paper.run(lambda draft: commands.end_survey(draft, "P3", "partial"))
    assert "P3" not in [each.person for each in recommend(paper.study, 9).ranking]
    paper.run(lambda draft: commands.start_survey(draft, "P3", consent=False))
    paper.run(lambda draft: commands.end_survey(draft, "P3"))
    assert [survey.outcome for survey in paper.study.surveys if survey.person == "P3"] == ["answered"]


def test_withdrawal_takes_answers_and_whoever_hangs_on_them(paper):
    assert paper.study.known_only_through("P2") == ("P5",)
    erased = paper.run(lambda draft: commands.withdraw(draft, "P2"))
    assert erased == ("P2", "P5")
    assert states(paper) == {"P1": "surveyed", "P2": "withdrawn", "P3": "named", "P4": "named", "P5": "forgotten"}
    assert sorted(paper.texts.values()) == ["Ana", "Carla", "Dan"]
    assert len(paper.study.discovered()) == 3
    assert {(tie.one, tie.other) for tie in paper.study.ties} == {("P1", "P3"), ("P1", "P4")}
    assert paper.study.people["P3"].named_by == ("P1",)
    for refused in (
        lambda draft: commands.name_contact(draft, "P1", "P2"),
        lambda draft: commands.merge(draft, "P1", "P2"),
        lambda draft: commands.start_survey(draft, "P2", consent=True),
        lambda draft: commands.undo(draft, paper.study.position),
    ):
        with pytest.raises(InputError):
            paper.run(refused)


def test_what_somebody_said_stays_with_the_code_that_was_surveyed(paper):
    paper.run(lambda draft: commands.merge(draft, "P3", "P2"))
    assert not paper.run(lambda draft: commands.name_contact(draft, "P3", "P5"))  # said as P2 before
    paper.run(lambda draft: commands.name_new_contact(draft, "P3", "Eli"))
    paper.run(lambda draft: commands.unmerge(draft, "P2"))
    assert paper.study.people["P2"].contacts == ("P3", "P5", "P6")
    assert paper.study.people["P3"].state == "named"
    paper.run(lambda draft: commands.end_survey(draft, "P3", "refused"))


def test_withdrawal_of_a_merged_person_concerns_all_codes_and_remarks(paper):
    paper.run(lambda draft: commands.merge(draft, "P3", "P4"))
    paper.run(lambda draft: commands.rename(draft, "P3", "Karla"))
    paper.run(lambda draft: commands.override(draft, "P5", "Karla was asleep"))
    paper.run(lambda draft: commands.withdraw(draft, "P4"))
    assert sorted(paper.texts.values()) == ["Ana", "Ben", "Eva"]
    paper.run(lambda draft: commands.unmerge(draft, "P4"))
    assert (paper.study.people["P3"].state, paper.study.people["P4"].state) == ("withdrawn", "withdrawn")


def test_what_later_events_build_on_is_not_undone(paper):
    with pytest.raises(InputError, match=r"builds on it: undo that first"):
        paper.run(lambda draft: commands.undo(draft, 2))
    with pytest.raises(InputError, match="cannot be undone"):
        paper.run(lambda draft: commands.undo(draft, 1))
    with pytest.raises(InputError, match="no event 999"):
        paper.run(lambda draft: commands.undo(draft, 999))


def test_names_of_undone_steps_can_be_erased(paper):
    paper.add("Mistake")
    paper.run(lambda draft: commands.undo(draft, paper.study.position))
    assert "Mistake" in paper.texts.values()  # the undo can be undone
    assert paper.run(commands.erase_undone) == 1
    assert "Mistake" not in paper.texts.values()
    assert paper.run(commands.erase_undone) == 0
    assert paper.add("Next") == "P7"  # codes are not used twice


def test_an_import_is_one_step(paper):
    def whole(draft):
        draft.append(Imported("roster", "0" * 64, 2, 0))
        return [commands.add_person(draft, name) for name in ("Finn", "Gus")]

    before = paper.study.state
    assert paper.run(whole) == ["P6", "P7"]
    paper.run(lambda draft: commands.undo(draft, paper.study.position - 1))
    assert paper.study.state == before


def test_a_removed_tie_leaves_nobody_dangling(paper):
    paper.run(lambda draft: commands.remove_tie(draft, "P2", "P2", "P5"))
    assert not paper.study.people["P5"].known
    assert "P5" not in paper.study.seen.index


def test_what_was_recommended_is_on_the_survey(paper):
    advice = recommend(paper.study)
    assert paper.run(lambda draft: commands.show_advice(draft, advice))
    assert not paper.run(lambda draft: commands.show_advice(draft, advice))
    assert recommend(paper.study) == advice  # looking changes nothing
    paper.survey("P3")
    paper.run(lambda draft: commands.override(draft, "P4", "was there anyway"))
    paper.survey("P4")
    followed, overridden = paper.study.surveys[-2:]
    assert (followed.recommended, followed.override_reason, followed.policy) == (True, None, "degree+inverse")
    assert (overridden.recommended, paper.texts[overridden.override_reason]) == (False, "was there anyway")


def test_a_changed_consent_text_needs_a_new_version(paper):
    from dataclasses import replace

    changed = replace(paper.study.setup, consent_text="We ask more")
    with pytest.raises(InputError, match="new version"):
        paper.run(lambda draft: commands.change_settings(draft, changed))
    paper.run(lambda draft: commands.change_settings(draft, replace(changed, consent_version="2")))
    assert paper.study.setup.consent_version == "2"


def test_settings_are_checked():
    for wrong in ({"budget": -1}, {"p": 2.0}, {"refusal_rule": "x"}, {"retention": "soon"}, {"policy": "clairvoyant"}):
        with pytest.raises(InputError):
            Paper(**wrong)


def test_a_closed_study_takes_nothing_more(paper):
    paper.run(commands.close)
    with pytest.raises(InputError, match="closed"):
        paper.add("Late")


def test_leaders_with_wishes_answers_and_replacements(paper):
    setup = replace(paper.study.setup, size_low=8, size_high=8)
    paper.run(lambda draft: commands.change_settings(draft, setup))
    first = choose_leaders(paper.study)
    assert first == choose_leaders(paper.study)
    assert len(first.leaders) == 2
    assert first.known == 5
    assert first.reach is not None
    assert 2 <= first.reach.low <= first.reach.mean <= first.reach.high
    assert first.replacements
    wanted = choose_leaders(paper.study, include=["P5"], exclude=["P1"])
    assert wanted.leaders[0].person == "P5"
    assert "P1" not in [each.person for each in (*wanted.leaders, *wanted.replacements)]
    less = choose_leaders(paper.study, attendance=0.5)
    assert less.reach.mean < first.reach.mean
    paper.run(lambda draft: commands.answer_of_leader(draft, first.leaders[0].person, "offered"))
    paper.run(lambda draft: commands.answer_of_leader(draft, first.leaders[0].person, "declined"))
    after = choose_leaders(paper.study)
    assert first.leaders[0].person not in [each.person for each in (*after.leaders, *after.replacements)]
    with pytest.raises(InputError, match="cannot lead"):
        choose_leaders(paper.study, include=[first.leaders[0].person])


def test_whoever_withdrew_does_not_lead(paper):
    paper.run(lambda draft: commands.wish_for_leader(draft, "P3", "include"))
    paper.run(lambda draft: commands.withdraw(draft, "P3"))
    assert "P3" not in [each.person for each in choose_leaders(paper.study).leaders]
    assert choose_leaders(Paper().study).leaders == ()


def test_a_round_goes_on_until_its_places_are_used():
    paper = Paper(budget=20, leaders=2, seed=5)
    ana = paper.add("Ana", start=True)
    paper.survey(ana, *(f"Friend {i}" for i in range(12)))

    def planned(count: int | None = None) -> list[str]:
        advice = recommend(paper.study, count)
        paper.run(lambda draft: commands.show_advice(draft, advice))
        return [each.person for each in advice.recommended]

    first, second, third = planned(3)
    assert planned() == [first, second, third]
    paper.run(lambda draft: commands.end_survey(draft, first, "refused"))
    *kept, fourth = planned()
    assert kept == [second, third]
    assert fourth not in (first, second, third)
    paper.run(lambda draft: commands.end_survey(draft, second, "no-show"))
    assert planned()[:2] == [third, fourth]
    assert second not in planned()
    fifth = planned()[2]
    paper.survey(third, "Somebody", "Else")
    assert planned() == [fourth, fifth]
    paper.survey(fourth)
    assert planned() == [fifth]
    paper.survey(fifth)
    assert len(planned()) == 1
    assert len(planned(2)) == 2


def test_a_rule_that_speaks_for_itself_is_heard(paper, monkeypatch):
    class Curious:
        name = "curious"

        def choose(self, discovered, rng, count=1):
            return discovered.frontier[:count]

        def reasons(self, discovered, person):
            count = Message.of("has {count} contacts", count=discovered.degree(person))
            return [who_named(discovered, person), count, Message.of("so has {person}", person=People((person,)))]

    monkeypatch.setitem(POLICIES, "curious", Curious())
    paper.run(lambda draft: commands.change_settings(draft, replace(paper.study.setup, policy="curious")))
    reasons = recommend(paper.study).ranking[0].reasons
    assert [str(reason) for reason in reasons] == ["named by P1 and P2", "has 2 contacts", "so has P3"]
