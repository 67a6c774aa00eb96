"""Between a study and records: what leaves, what comes in, whole or not at all, undone as a whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from exchange_bundles import bundles
from exchange_files import again, egoweb, kobo, network_canvas, packed
from hypothesis import HealthCheck, example, given, settings

from claim.errors import InputError
from claim.field import Setup
from claim.field.exchange import export, preview
from claim.field.exchange.records import Bundle, PersonRecord, TieRecord
from claim.field.exchange.study import bundle_of, import_bundle, import_preview
from claim.field.store.library import Library
from claim.field.store.session import OpenStudy
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.state import GONE
from claim.field.study.study import Study
from claim.io.text import Source

PASSPHRASE = "correct horse battery staple"
QUICK = 10  # of key derivation; tests need not be slow


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "studies", work=QUICK)


@pytest.fixture
def study(library: Library) -> Iterator[OpenStudy]:
    with library.create(Setup("Empty"), PASSPHRASE) as opened:
        yield opened


@pytest.fixture
def busy(library: Library) -> Iterator[OpenStudy]:
    """Zoe (start) named Ann and Ben and said that they know each other; Ann named Cleo; Ben refused; Cleo leads.

    Zoe said that Ben knows the most people. Ann was drawn, and so was a person who refused and gave no name.
    """
    with library.create(Setup("Busy", open=True), PASSPHRASE) as opened:
        opened.run(_fill)
        yield opened


def _fill(draft: Draft) -> None:
    zoe = commands.add_person(draft, "Zoe Adler", is_start=True)
    commands.add_person(draft, "Rosa Listed")
    commands.start_survey(draft, zoe, consent=True)
    ann, ben = commands.name_new_contact(draft, zoe, "Ann Lee"), commands.name_new_contact(draft, zoe, "Ben")
    commands.report_tie(draft, zoe, ann, ben)
    commands.mark_contact(draft, zoe, ben)
    commands.end_survey(draft, zoe)
    commands.meet_new_person(draft, ann)
    commands.override(draft, ann, "Ben said that ann's friends meet here")
    commands.start_survey(draft, ann, consent=True)
    cleo = commands.name_new_contact(draft, ann, "Cleo")
    commands.end_survey(draft, ann)
    commands.end_survey(draft, ben, "refused")
    commands.end_survey(draft, cleo, "no-show")
    commands.answer_of_leader(draft, cleo, "offered")
    commands.answer_of_leader(draft, zoe, "offered")
    commands.answer_of_leader(draft, zoe, "accepted")
    commands.plan_session(draft, "2030-01-01T10:00", leaders=[zoe])
    commands.answer_of_leader(draft, zoe, "attended", 1)
    commands.answer_of_leader(draft, ann, "offered")
    commands.answer_of_leader(draft, ann, "accepted")
    commands.answer_of_leader(draft, ann, "not attended")
    commands.answer_of_leader(draft, ann, "declined")
    commands.answer_follow_up(draft, "P2", "yes")
    unnamed = draft.new_person(None)
    commands.meet_new_person(draft, unnamed)
    commands.end_survey(draft, unnamed, "refused")


def test_what_leaves_a_study(busy: OpenStudy) -> None:
    bundle = bundle_of(busy.view)
    by_name = {person.name: person for person in bundle.people}
    assert {name: person.status for name, person in by_name.items()} == {
        "Zoe Adler": "surveyed", "Rosa Listed": "named", "Ann Lee": "surveyed", "Ben": "refused", "Cleo": "no-show",
        None: "refused",
    }  # fmt: skip
    assert {name for name, person in by_name.items() if person.is_new} == {"Ann Lee", None}
    assert {name: person.marked for name, person in by_name.items() if person.marked} == {
        "Zoe Adler": by_name["Ben"].code
    }
    assert (by_name["Zoe Adler"].n_contacts, by_name["Ann Lee"].times_named, by_name["Cleo"].leader_rank) == (2, 1, 1)
    assert {name: person.leader for name, person in by_name.items() if person.leader} == {
        "Zoe Adler": "accepted", "Ann Lee": "declined", "Cleo": "offered",
    }  # fmt: skip
    assert (by_name["Zoe Adler"].sessions_attended, by_name["Zoe Adler"].sessions_missed) == (1, 0)
    assert (by_name["Ann Lee"].leader_rank, by_name["Rosa Listed"].follow_up) == (None, "yes")
    assert len(bundle.ties) == 4
    assert [survey.outcome for survey in bundle.surveys] == ["answered", "answered", "refused", "no-show", "refused"]


def test_names_in_remarks_do_not_leave(busy: OpenStudy) -> None:
    reason = bundle_of(busy.view).surveys[1].override_reason
    assert reason == "[name] said that [name] friends meet here"


def test_old_spellings_and_names_of_people_added_in_error_do_not_leave(busy: OpenStudy) -> None:
    def remark(draft: Draft) -> None:
        commands.override(draft, draft.state.root("P2"), "Thandi and Zanele brought her along")
        commands.start_survey(draft, "P2", consent=True)

    added = busy.run(lambda draft: commands.add_person(draft, "Thandi"))
    code = busy.run(lambda draft: commands.add_person(draft, "Zanele")).result
    assert code is not None
    busy.run(lambda draft: commands.rename(draft, code, "Zodwa"))
    busy.run(remark)
    busy.run(lambda draft: commands.undo(draft, added.events[0].seq))
    assert bundle_of(busy.view).surveys[-1].override_reason == "[name] and [name] brought her along"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Zanele Dube", "Zanele's sister is here today"),
        ("Zanele Dube", "we were told by the staff of the centre that it is better to ask her before Zanele Dube does"),
        ("Bo", "Bo told us she is leaving"),
        ("王伟", "他们说" * 30 + "王伟今天不在"),
    ],
)
def test_who_withdraws_is_in_no_remark(busy: OpenStudy, name: str, reason: str) -> None:
    code = busy.run(lambda draft: commands.add_person(draft, name)).result
    assert code is not None
    busy.run(lambda draft: commands.override(draft, "P2", reason))
    assert reason in busy.view.texts.values()
    busy.run(lambda draft: commands.withdraw(draft, code))
    assert reason not in busy.view.texts.values()


def test_those_who_withdrew_do_not_leave(busy: OpenStudy) -> None:
    ann = busy.view.find("Ann Lee")
    busy.run(lambda draft: commands.withdraw(draft, ann))
    bundle = bundle_of(busy.view)
    assert {person.name for person in bundle.people} == {"Zoe Adler", "Rosa Listed", "Ben", None}
    assert not any(ann in (tie.source, tie.target) for tie in bundle.ties)
    export(bundle, "csv")


def shape(bundle: Bundle) -> object:
    """The network and what is known of people, whatever their codes, times and policies."""
    place = {person.code: i for i, person in enumerate(bundle.people)}
    return (
        [(p.status, p.consent, p.n_contacts, p.times_named, p.is_start, p.leader_rank) for p in bundle.people],
        [(place.get(p.first_named_by or ""), p.is_new, place.get(p.marked or "")) for p in bundle.people],
        [(p.leader, p.sessions_attended, p.sessions_missed, p.follow_up) for p in bundle.people],
        {frozenset((place[t.source], place[t.target])): {place[c] for c in t.named_by} for t in bundle.ties},
        [(place[s.person_code], s.outcome, s.n_named) for s in bundle.surveys],
    )


@pytest.mark.parametrize("format", ["csv", "gephi-csv", "graphml", "gexf"])
def test_a_study_goes_into_another_study(busy: OpenStudy, study: OpenStudy, format: str) -> None:
    bundle = bundle_of(busy.view)
    back = again(export(bundle, format)).with_names(bundle.names)
    study.run(lambda draft: import_bundle(draft, back, what=format, digest="0" * 64))
    now = bundle_of(study.view)
    wanted, got = shape(bundle), shape(now)
    assert got[:3] == wanted[:3]  # type: ignore[index]
    if format == "csv":
        assert got == wanted
    assert sorted(now.names.values()) == sorted([*bundle.names.values(), "P6"])  # who has no name gets the code


@pytest.mark.parametrize(
    "file", [Source("nc.zip", packed(network_canvas())), Source("ego.zip", packed(egoweb())), Source("k.xlsx", kobo())]
)
def test_foreign_files_are_one_batch_and_undone_whole(busy: OpenStudy, file: Source) -> None:
    before = bundle_of(busy.view)
    looked_at = preview(file, existing=busy.view.index.names)
    done = busy.run(lambda draft: import_preview(draft, looked_at))
    assert len({event.batch for event in done.events}) == 1
    assert done.result is not None
    assert set(done.result) == {person.code for person in looked_at.bundle.people}
    after = bundle_of(busy.view)
    assert len(after.people) == len(before.people) + len(looked_at.bundle.people)
    assert len(after.ties) == len(before.ties) + len(looked_at.bundle.ties)
    busy.run(lambda draft: commands.undo(draft, done.events[-1].seq))
    assert bundle_of(busy.view) == before
    busy.verify()


def test_numbers_of_sessions_that_no_leader_can_have(study: OpenStudy) -> None:
    header = "person_code,leader,sessions_attended,sessions_missed\n"
    rows = "P1,offered,2,1\nP2,,3,\nP3,accepted,2000000000,\n"
    looked_at = preview([Source("people.csv", (header + rows).encode())])
    assert [str(problem) for problem in looked_at.problems] == ["people.csv:4: more than 1000 sessions of one person"]
    looked_at = preview([Source("people.csv", (header + rows.partition("P3")[0]).encode())])
    assert [str(note) for note in looked_at.notes] == [
        "people.csv:3: sessions of a person who was not asked to lead: left out"
    ]
    study.run(lambda draft: import_preview(draft, looked_at))
    leader = study.study.person("P1").leader
    assert leader is not None
    assert (leader.answer, leader.attended, leader.not_attended) == ("offered", 2, 1)  # asked again
    assert study.study.person("P2").leader is None


def test_people_in_the_file_can_be_people_in_the_study(busy: OpenStudy) -> None:
    looked_at = preview(Source("nc.zip", packed(network_canvas())), existing=busy.view.index.names)
    likely = {each.name: each for each in looked_at.duplicates if each.in_study}
    assert likely["Ben"].other_name == "Ben"
    assert likely["Ben"].score == 1.0
    assert likely["Ann"].other_name == "Ann Lee"
    same = {each.code: each.other_code for each in likely.values()}
    count = len(busy.study.people)
    busy.run(lambda draft: import_preview(draft, looked_at, same=same))
    assert len(busy.study.people) == count + len(looked_at.bundle.people) - len(same)


def test_problems_stop_the_whole_import(busy: OpenStudy) -> None:
    text = "person_code,status\r\nA,named\r\nB,nonsense\r\nC,odd\r\n"
    looked_at = preview(Source("people.csv", text.encode()))
    position = busy.study.position
    with pytest.raises(InputError, match=r"people\.csv:3: status 'nonsense' is none of .*\(and 1 more problems\)"):
        busy.run(lambda draft: import_preview(draft, looked_at))
    assert busy.study.position == position


def test_whom_the_file_or_the_study_does_not_know_is_refused(busy: OpenStudy) -> None:
    bundle = Bundle((PersonRecord("A"),))
    position = busy.study.position
    for same, word in (({"B": "P1"}, "no person in the file"), ({"A": "P99"}, "P99")):
        with pytest.raises(InputError, match=word):
            busy.run(lambda draft, same=same: import_bundle(draft, bundle, what="x", digest="", same=same))
    ann = busy.view.find("Ann Lee")
    busy.run(lambda draft: commands.withdraw(draft, ann))
    with pytest.raises(InputError, match="withdrawn"):
        busy.run(lambda draft: import_bundle(draft, bundle, what="x", digest="", same={"A": ann}))
    assert busy.study.position == position + 1


def test_ties_that_nobody_is_said_to_have_reported(study: OpenStudy) -> None:
    bundle = Bundle((PersonRecord("A"), PersonRecord("B", status="surveyed"), PersonRecord("C")),
                    (TieRecord("A", "B"), TieRecord("A", "C")))  # fmt: skip
    study.run(lambda draft: import_bundle(draft, bundle, what="graphml", digest=""))
    assert [person.state for person in study.study.people.values()] == ["partial", "surveyed", "named"]
    assert {(tie.one, tie.other): tie.named_by for tie in study.study.ties} == {
        ("P2", "P1"): ("P2",),
        ("P1", "P3"): ("P1",),
    }


def test_nobody_in_a_file_is_tied_to_themselves_in_the_study(busy: OpenStudy) -> None:
    bundle = Bundle((PersonRecord("A", status="surveyed"), PersonRecord("B")), (TieRecord("A", "B", named_by=("A",)),))
    zoe = busy.view.find("Zoe Adler")
    ties = len(busy.study.ties)
    busy.run(lambda draft: import_bundle(draft, bundle, what="x", digest="", same={"A": zoe, "B": zoe}))
    assert len(busy.study.ties) == ties


def test_marks_of_a_file_do_not_replace_those_of_the_study(busy: OpenStudy) -> None:
    ties = (TieRecord("A", "B", named_by=("A",)), TieRecord("C", "B", named_by=("C",)))
    people = (PersonRecord("A", status="surveyed", marked="B"), PersonRecord("B"))
    bundle = Bundle((*people, PersonRecord("C", status="surveyed", marked="B")), ties)
    zoe, ben = busy.view.find("Zoe Adler"), busy.view.find("Ben")
    codes = busy.run(lambda draft: import_bundle(draft, bundle, what="x", digest="", same={"A": zoe})).result
    assert codes is not None
    assert (busy.study.person(zoe).marked, busy.study.person(codes["C"]).marked) == (ben, codes["B"])


def test_nasty_names_stay_plain_text(study: OpenStudy) -> None:
    names = ["</script><script>alert(1)</script>", "\u202eevil", "a\x01b", "x" * 10_000, "=1+1", "'quoted'"]
    rows = "\r\n".join('"' + name.replace('"', '""') + '"' for name in names)
    looked_at = preview(Source("roster.csv", f"name\r\n{rows}\r\n".encode()))
    assert [person.name for person in looked_at.bundle.people] == names
    study.run(lambda draft: import_preview(draft, looked_at))
    stored = list(bundle_of(study.view).names.values())
    assert stored == ["</script><script>alert(1)</script>", "evil", "ab", "x" * 10_000, "=1+1", "'quoted'"]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(bundles())
@example(Bundle((PersonRecord("\xad"), PersonRecord("\x01"))))  # codes that cannot be seen
def test_any_bundle_fits_into_a_study(bundle: Bundle) -> None:
    draft = Draft(Study())
    commands.create(draft, "0" * 16, Setup("Any"))
    codes = import_bundle(draft, bundle, what="csv", digest="")
    present = {person.code for person in bundle.people if person.status not in GONE}
    assert set(codes) == present
    study = Study(draft.events)
    told = [tie for tie in bundle.ties if {tie.source, tie.target} <= present]
    told = [tie for tie in told if not tie.named_by or present.intersection(tie.named_by)]
    assert {frozenset((tie.one, tie.other)) for tie in study.ties} == {
        frozenset((codes[tie.source], codes[tie.target])) for tie in told
    }
    assert {person.code for person in study.people.values() if person.known} == set(codes.values())
    involved = {code for tie in bundle.ties for code in (tie.source, tie.target, *tie.named_by)}
    involved |= {survey.person_code for survey in bundle.surveys}
    for person in bundle.people:
        if person.code in present - involved and person.status != "surveying":
            assert study.person(codes[person.code]).state == person.status
