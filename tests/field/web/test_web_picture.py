"""The picture: the same every time, no two people on one spot, places that stay, and nothing but the network."""

import json
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # for paper.py

import numpy as np
import pytest
from hypothesis import given, settings
from paper import Paper, played, scripts

from claim.field.study import commands
from claim.field.study.study import Study
from claim.field.web.picture import NEAR, arrange, places_of, settled_ties, still_picture


def grown(surveys: int, seed: int = 0) -> Paper:
    rng, paper = random.Random(seed), Paper()
    paper.add("start", start=True)
    for i in range(surveys):
        people = [person.code for person in paper.study.people.values() if person.may_be_surveyed]
        if not people:
            break
        known = rng.sample(list(paper.study.people), min(2, len(paper.study.people)))
        person = rng.choice(people)
        paper.survey(
            person, *(f"p{i}-{j}" for j in range(rng.randrange(1, 6))), *(each for each in known if each != person)
        )
    return paper


def closest(places: list[tuple[float, float]]) -> float:
    return min(math.dist(a, b) for i, a in enumerate(places) for b in places[:i])


def test_people_keep_their_places_between_two_arrangements():
    paper = grown(27)
    before, ties = places_of(paper.study), len(paper.study.ties)
    paper.survey(next(p.code for p in paper.study.people.values() if p.may_be_surveyed), "x", "y")
    paper.add("late", start=True)
    assert settled_ties(len(paper.study.ties)) == settled_ties(ties)  # otherwise this is not between two
    after = places_of(paper.study)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 3


def test_the_steps_at_which_all_are_arranged_anew():
    steps = [settled_ties(count) for count in range(1000)]
    assert steps[:13] == list(range(13))
    assert all(step <= count < 1.4 * step + 1 for count, step in enumerate(steps) if count > 12)
    assert len(set(steps[12:])) < 16


def test_the_last_arrangement_is_used_again(monkeypatch):
    paper, kept = grown(30), {}
    first = places_of(paper.study, kept)
    monkeypatch.setattr("claim.field.web.picture.arrange", lambda pairs: pytest.fail("it was there already"))
    assert places_of(paper.study, kept) == first
    paper.add("late")
    assert places_of(paper.study, kept).items() >= first.items()


@pytest.mark.parametrize("surveys", [3, 60, 200])
def test_no_two_people_cover_each_other(surveys):
    places = list(places_of(grown(surveys).study).values())
    assert closest(places) >= NEAR - 0.2


@pytest.mark.parametrize(
    "pairs",
    [[(i, j) for i in range(60) for j in range(i)], [(0, i) for i in range(1, 300)]],
    ids=["all know all", "star"],
)
def test_a_crowd_finds_room_and_stays_together(pairs):
    places = arrange(np.array(pairs, dtype=np.int64))
    assert closest([tuple(place) for place in places.tolist()]) >= NEAR - 0.2
    assert np.ptp(places, axis=0).max() < 2.5 * NEAR * math.sqrt(len(places))


def test_the_printed_picture_shows_who_was_not_surveyed_and_leaders_on_top():
    paper = Paper()
    for name in ("Ana", "Ben"):
        paper.add(name, start=True)
    paper.survey("P1", "Carla")
    paper.run(lambda draft: commands.answer_of_leader(draft, "P1", "offered"))
    people = still_picture(paper.study, places_of(paper.study))["people"]
    assert {each["code"] for each in people if each["hollow"]} == {"P2"}
    assert [each["code"] for each in people if each["leads"]] == [people[-1]["code"]] == ["P1"]


def test_marks_in_print_leave_room_for_each_other():
    paper = Paper()
    paper.run(lambda draft: [commands.add_person(draft, f"p{i}") for i in range(2000)])
    picture = still_picture(paper.study, places_of(paper.study))
    assert 2 * 0.8 * picture["size"] <= NEAR + 0.1  # a mark's radius is 8 where its size is 10


def test_contacts_are_near_each_other():
    groups = [(10 * g + i, 10 * g + j) for g in range(20) for i in range(10) for j in range(i)]
    bridges = [(10 * g, 10 * g - 1) for g in range(1, 20)]
    places = arrange(np.array(groups + bridges, dtype=np.int64))
    lengths = [math.dist(places[one], places[other]) for one, other in groups]
    rng = random.Random(0)
    others = [math.dist(places[rng.randrange(200)], places[rng.randrange(200)]) for _ in range(1000)]
    assert 4 * np.median(lengths) < np.median(others)


def test_people_without_contacts_stand_below():
    paper = grown(10)
    with_contacts = set(places_of(paper.study))
    for i in range(30):
        paper.add(f"alone {i}", start=True)
    places = places_of(paper.study)
    lowest = max(places[code][1] for code in with_contacts)
    assert all(places[code][1] > lowest for code in places.keys() - with_contacts)
    assert closest(list(places.values())) >= NEAR - 0.2


@given(scripts)
@settings(max_examples=60, deadline=None)
def test_the_same_log_gives_the_same_picture(script):
    study = played(script).study
    places = places_of(study)
    assert places == places_of(Study(study.log))
    assert places.keys() == set(study.seen.codes)


# What the page gets --------------------------------------------------------------------------------------------------


@pytest.fixture
def small(desk, study):
    """Ana and Ben start; Ana named Carla and Dora, Ben named Carla; Dora refused; Emil has no contacts."""

    def fill(draft):
        ana, ben = (commands.add_person(draft, name, is_start=True) for name in ("Ana", "Ben"))
        commands.start_survey(draft, ana, consent=True)
        carla, dora = (commands.name_new_contact(draft, ana, name) for name in ("Carla", "Dora"))
        commands.end_survey(draft, ana)
        commands.start_survey(draft, ben, consent=True)
        commands.name_contact(draft, ben, carla)
        commands.end_survey(draft, ben, "partial")
        commands.end_survey(draft, dora, "refused")
        commands.add_person(draft, "Emil", is_start=True)

    desk.study(study).run(fill)
    return study


def test_the_picture_has_people_and_contacts(browser, small):
    answer = browser.get(f"/api/studies/{small}/picture")
    assert answer.headers["cache-control"] == "no-store"
    people, ties = answer.json()["people"], answer.json()["ties"]
    assert [each["name"] for each in people] == ["Ana", "Ben", "Carla", "Dora", "Emil"]
    assert [each["code"] for each in people] == ["P1", "P2", "P3", "P4", "P5"]
    assert [each["kind"] for each in people] == ["start", "start", "named", "refused", "start"]
    assert [each["state"] for each in people] == ["surveyed", "partial", "named", "refused", "named"]
    assert [each["named_by"] for each in people] == [[], [], [0, 1], [0], []]
    assert sorted(map(sorted, ties)) == [[0, 2], [0, 3], [1, 2]]
    assert not any(each["leads"] for each in people)
    fields = {"code", "name", "kind", "state", "leads", "start", "place", "named_by"}
    assert all(each.keys() == fields for each in people)  # nothing else of a person


def test_leaders_are_suggested_apart_from_the_picture(browser, small):
    leaders = browser.get(f"/api/studies/{small}/picture/leaders").json()["leaders"]
    assert len(leaders) == 2
    assert set(leaders) <= {"P1", "P2", "P3", "P4", "P5"}
    browser.post(f"/s/{small}/leaders", person="P5", action="offered", at="")
    people = browser.get(f"/api/studies/{small}/picture").json()["people"]
    assert [each["code"] for each in people if each["leads"]] == ["P5"]
    assert "P5" in browser.get(f"/api/studies/{small}/picture/leaders").json()["leaders"]
    assert "was asked to lead" in browser.text(f"/s/{small}/network")


def test_wishes_that_contradict_each_other_leave_the_picture_without_leaders(browser, desk, small):
    for person in ("P1", "P2", "P3"):
        browser.post(f"/s/{small}/leaders", person=person, action="include")
    assert browser.get(f"/api/studies/{small}/picture/leaders").json() == {"leaders": []}


def test_people_who_withdrew_are_not_in_it(browser, desk, small):
    def names() -> list[str]:
        return [each["name"] for each in browser.get(f"/api/studies/{small}/picture").json()["people"]]

    desk.study(small).run(lambda draft: commands.withdraw(draft, "P1"))
    assert names() == ["Ben", "Carla", "Dora", "Emil"]
    found = browser.get(f"/api/studies/{small}/picture").json()
    assert found["ties"] == [[0, 1]]
    assert [each["named_by"] for each in found["people"]] == [[], [0], [], []]
    assert "P1" not in json.dumps(found)
    desk.study(small).run(lambda draft: commands.withdraw(draft, "P2"))
    assert names() == ["Dora", "Emil"]  # Carla was known through Ana and Ben only
    assert "Carla" not in browser.text(f"/s/{small}/network")


def test_a_locked_study_shows_nothing(browser, desk, small):
    desk.lock()
    for path in ("picture", "picture/leaders"):
        answer = browser.get(f"/api/studies/{small}/{path}")
        assert answer.status_code == 423
        assert "Ana" not in answer.text


@pytest.mark.parametrize("path", ["picture", "picture/leaders"])
def test_the_door_is_the_same_as_for_other_pages(browser, small, path):
    address = f"/api/studies/{small}/{path}"
    for headers in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Cookie": "claim_8123=x"}):
        if "Cookie" in headers:
            browser.http.cookies.clear()
        answer = browser.get(address, headers=headers)
        assert answer.status_code == 403
        assert "Ana" not in answer.text


def test_the_table_has_the_same(browser, small):
    text = browser.text(f"/s/{small}/network")
    assert "Carla P3 named no 2 Ana , Ben Ana , Ben" in text
    assert "Dora P4 refused no 1 Ana Ana" in text


def test_the_table_comes_in_pages(browser, desk, study, base):
    names = [f"Nobody{i:03}x" for i in range(120)]
    desk.study(study).run(lambda draft: [commands.add_person(draft, name, is_start=True) for name in names])
    for page, shown in (
        ("", names[:50]),
        ("?page=2", names[50:100]),
        ("?page=3", names[100:]),
        ("?page=9", names[100:]),
    ):
        text = browser.text(f"{base}/network{page}")
        assert [name for name in names if name in text] == shown
    assert "Page 3 of 3" in text
    for wrong in ("0", "x", "-1"):
        assert browser.get(f"{base}/network?page={wrong}").status_code == 422
    assert len(browser.get(f"/api/studies/{study}/picture").json()["people"]) == 120


def test_long_lists_of_contacts_are_cut_in_the_table(browser, desk, study, base):
    def fill(draft):
        hub = commands.add_person(draft, "Hub", is_start=True)
        commands.start_survey(draft, hub, consent=True)
        for i in range(12):
            commands.name_new_contact(draft, hub, f"Contact{i}x")

    desk.study(study).run(fill)
    assert "Contact7x and 4 more" in browser.text(f"{base}/network")


def test_names_are_neither_in_the_address_nor_in_the_markup_of_the_picture(browser, small):
    page = browser.get(f"/s/{small}/network").text
    canvas = page[page.index("<canvas") : page.index("</canvas>")]
    title = page[page.index("<title>") : page.index("</title>")]
    for name in ("Ana", "Ben", "Carla", "Dora", "Emil"):
        assert name not in canvas + title
        assert f"={name}" not in page
