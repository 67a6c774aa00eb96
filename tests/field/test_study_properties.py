"""What holds after any sequence of commands."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paper import Paper, played, scripts, without

from claim.discovery import Status
from claim.errors import InputError
from claim.field.advice.recommend import recommend
from claim.field.study import commands
from claim.field.study.events import read_log
from claim.field.study.state import counting, fold
from claim.field.study.study import Study

quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(scripts)
def test_the_state_follows_from_the_log_alone(script):
    paper = played(script)
    assert Study(paper.study.log).state == paper.study.state
    assert read_log(event.as_data() for event in paper.study.log) == paper.study.log


@quick
@given(scripts, st.sampled_from(["name new", "answered", "refused", "merge", "start survey", "rename", "start person"]))
def test_undo_of_the_last_step_restores_exactly(script, what):
    paper = played(script)
    before, advised = paper.study, recommend(paper.study, 2)
    if not paper.step(what, 11, 5):
        return
    paper.run(lambda draft: commands.undo(draft, paper.study.position))
    assert paper.study.state == before.state
    assert paper.study.people == before.people
    assert paper.study.ties == before.ties
    assert paper.study.discovered() == before.discovered()
    assert recommend(paper.study, 2) == advised


@quick
@given(scripts, st.integers(1, 200))
def test_undo_of_any_step_is_the_log_without_it(script, number):
    paper = played(script)
    study, number = paper.study, 1 + number % paper.study.position
    try:
        undone = paper.run(lambda draft: commands.undo(draft, number))
    except InputError:
        return
    rest = counting(study.log, study.undone.union(undone))
    if not any(type(study.log[seq - 1].body).__name__ == "Undone" for seq in undone):
        assert paper.study.state == fold(without(tuple(rest), undone))
    paper.run(lambda draft: commands.undo(draft, paper.study.position))  # and back again
    assert paper.study.state == study.state


@quick
@given(scripts, st.integers(0, 60), st.integers(0, 60))
def test_merge_and_unmerge_restore_exactly(script, one, two):
    paper = played(script)
    before = paper.study
    codes = [code for code in before.people if not before.people[code].gone]
    if len(codes) < 2:
        return
    keep, other = codes[one % len(codes)], codes[two % len(codes)]
    if keep == other:
        return
    paper.run(lambda draft: commands.merge(draft, keep, other))
    assert other not in paper.study.people
    paper.run(lambda draft: commands.unmerge(draft, other))
    assert (paper.study.people, paper.study.ties) == (before.people, before.ties)
    assert paper.study.discovered() == before.discovered()
    later = paper.study.state.copy()
    later.step = before.state.step
    assert later == before.state


@quick
@given(scripts, st.none() | st.integers(1, 4))
def test_advice_is_lawful_and_repeatable(script, count):
    study = played(script).study
    advice = recommend(study, count)
    assert advice == recommend(Study(study.log), count)
    for suggestion in advice.ranking:
        person = study.people[suggestion.person]
        assert person.state in ("named", "no-show", "not found")
        assert person.known
        assert 1 <= len(suggestion.reasons) <= 3
        assert all(str(reason) for reason in suggestion.reasons)
    assert len({suggestion.person for suggestion in advice.ranking}) == len(advice.ranking)


@quick
@given(scripts)
def test_the_discovered_network_mirrors_the_people(script):
    study = played(script).study
    seen = study.seen
    expected = {"refused": Status.REFUSED, "surveyed": Status.SURVEYED, "partial": Status.SURVEYED}
    for code, index in seen.index.items():
        person = study.people[code]
        assert not person.gone
        assert seen.discovered.status[index] == expected.get(
            person.state, Status.SURVEYED if person.state == "surveying" else Status.NAMED
        )
    assert len(seen.discovered.ties()[0]) == len(study.ties)
    assert not {code for tie in study.ties for code in (tie.one, tie.other)} - set(seen.codes)


@quick
@given(scripts)
def test_no_body_holds_a_name(script):
    paper: Paper = played(script)
    for event in paper.study.log[1:]:
        text = str(event.as_data())
        assert "person " not in text
        assert "start 1" not in text
        assert "because" not in text
