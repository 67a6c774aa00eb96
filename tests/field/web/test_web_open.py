"""Open studies and the question who knows the most people, on the pages without script and in the JSON interface."""

import re

import pytest
from desk_client import PASSPHRASE, position

from claim.field.study.events import NEW_PERSON, Overridden
from claim.field.study.setup import Setup

FORM = {"title": "Village", "leaders": "2", "passphrase": PASSPHRASE, "again": PASSPHRASE, "understood": "1"}
ASKED = "Which of them knows the most people?"


@pytest.fixture
def study(desk) -> str:
    """An open study without people, which asks who knows the most people."""
    setup = Setup("Quiet village", open=True, interviews=6, hub_question=True, leaders=2, consent_text="I agree.")
    return desk.create(setup, PASSPHRASE)


def meet(browser, base, **fields):
    at = position(browser.get(f"{base}/next").text)
    return browser.post(f"{base}/next/new", {"action": "start", "at": at, **fields})


def survey(browser, base, code, *names):
    browser.post(f"{base}/survey/{code}/start", consent="1")
    for name in names:
        assert browser.post(f"{base}/survey/{code}/contact", name=name, same="new").status_code == 303


def types(desk, study, count: int) -> list[str]:
    return [event.type for event in desk.study(study).study.log[-count:]]


def test_a_study_is_made_open_and_its_settings_change(browser, desk):
    went = browser.post("/new", {**FORM, "open": "1", "interviews": "8", "hub_question": "1"}).headers["location"]
    assert went.endswith("/next?done=created_open")
    base = went.partition("/next")[0]
    opened = desk.study(base.removeprefix("/s/"))
    assert (opened.study.setup.open, opened.study.setup.interviews, opened.study.setup.hub_question) == (True, 8, True)
    page = browser.get(f"{base}/settings").text
    assert re.search(r'id="open"[^>]* checked', page)
    assert re.search(r'id="hub_question"[^>]* checked', page)
    browser.post(f"{base}/settings", {"title": "Village", "interviews": "9"})  # the boxes were cleared
    assert (opened.study.setup.open, opened.study.setup.interviews, opened.study.setup.hub_question) == (
        False,
        9,
        False,
    )
    refused = browser.post(f"{base}/settings", {"title": "Village", "interviews": "0", "open": "1"})
    assert refused.status_code == 400
    assert "number of interviews must be between 1 and 100000, not 0" in refused.text
    assert browser.post("/new", FORM).headers["location"].endswith("/people?done=created")


def test_a_new_person_is_recommended_met_and_interviewed(browser, desk, base, study):
    page = browser.text(f"{base}/next")
    assert "Interview a new person" in page
    assert "number the people and draw a number" in page
    assert meet(browser, base, name="Ana López").headers["location"] == f"{base}/survey/P1"
    assert types(desk, study, 3) == ["RecommendationShown", "PersonAdded", "NewPersonMet"]
    assert desk.study(study).study.state.shown.ranking == (NEW_PERSON,)
    survey(browser, base, "P1", "Ben", "Carla")
    assert desk.study(study).study.surveys[0].recommended
    assert "new person" in browser.text(f"{base}/people")
    asked = meet(browser, base, name="ben")
    assert asked.status_code == 200
    assert "The same person?" in asked.text
    assert 'name="action" value="start"' in asked.text
    went = meet(browser, base, name="ben", same="P2")
    assert went.headers["location"] == f"{base}/survey/P2"
    assert types(desk, study, 2) == ["RecommendationShown", "NewPersonMet"]
    assert desk.study(study).study.person("P2").is_new
    again = meet(browser, base, name="Ana", same="P1")
    assert again.status_code == 400
    assert "P1 was surveyed already: draw another person" in again.text
    assert meet(browser, base, name=" ").status_code == 400
    assert meet(browser, base, name="Zoe", action="no-show").status_code == 400


def test_a_form_sent_twice_meets_one_person(browser, desk, base, study):
    for _ in range(2):
        sent = browser.post(f"{base}/next/new", {"action": "start", "name": "Ana", "same": "new"}, nonce="one")
        assert sent.headers["location"] == f"{base}/survey/P1"
    assert len(desk.study(study).study.people) == 1


def test_who_refuses_needs_no_name(browser, desk, base, study):
    assert meet(browser, base, name="", action="refused").headers["location"] == f"{base}/next?done=refused_new"
    assert types(desk, study, 4) == ["RecommendationShown", "PersonAdded", "NewPersonMet", "SurveyEnded"]
    assert desk.study(study).study.left == 5
    assert "P1" in browser.text(f"{base}/people")
    assert meet(browser, base, name="Zoe", action="refused", same="new").status_code == 303
    assert "Zoe" in browser.text(f"{base}/people")
    for page in ("same", "network", "leaders", "history", "export"):
        assert browser.get(f"{base}/{page}").status_code == 200


def test_a_new_person_in_place_of_a_recommended_one_needs_a_reason(browser, desk, base, study):
    browser.post(f"{base}/people", name="Ana", same="new", start="1")
    assert "one of the people you start with" in browser.text(f"{base}/next")
    assert meet(browser, base, name="Zoe", same="new").status_code == 400
    assert meet(browser, base, name="Zoe", same="new", reason="came in first").status_code == 303
    assert isinstance(desk.study(study).study.log[-1].body, Overridden)


def test_a_closed_study_meets_nobody(browser, desk):
    base = f"/s/{desk.create(Setup('Closed'), PASSPHRASE)}"
    assert "Interview a new person" not in browser.text(f"{base}/next")
    assert meet(browser, base, name="Zoe", same="new").status_code == 400
    browser.post(f"{base}/people", name="Ana", same="new", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    assert ASKED not in browser.text(f"{base}/survey/P1")


def test_one_contact_is_marked_and_taken_back(browser, desk, base, study):
    meet(browser, base, name="Ana")
    survey(browser, base, "P1", "Ben", "Carla")
    assert ASKED in browser.text(f"{base}/survey/P1")

    def pressed() -> list[str]:
        return re.findall(r'aria-pressed="(\w+)"', browser.get(f"{base}/survey/P1").text)

    assert pressed() == ["false", "false"]
    for contact, marked in (("P2", "P2"), ("P3", "P3"), ("", None), ("P3", "P3")):
        assert browser.post(f"{base}/survey/P1/mark", contact=contact).status_code == 303
        assert desk.study(study).study.person("P1").marked == marked
    assert pressed() == ["false", "true"]
    assert browser.post(f"{base}/survey/P1/mark", contact="P1").status_code == 400
    assert "Said who knows the most people: Ana (P1), Carla (P3)" in browser.text(f"{base}/history")
    assert "Knows the most" in browser.text(f"{base}/people/P1")
    browser.post(f"{base}/survey/P1/remove", contact="P3")
    assert desk.study(study).study.person("P1").marked is None


def test_the_json_interface_recommends_and_marks(browser, desk, base, study):
    found = browser.api(f"{study}/next", method="GET").json()
    assert (found["ranking"][0]["person"], found["ranking"][0]["recommended"]) == ("new", True)
    assert len(found["how_to_draw"]) == 2
    assert desk.study(study).study.position == 1  # nothing was logged
    meet(browser, base, name="Ana")
    survey(browser, base, "P1", "Ben", "Carla")
    for body, marked in (({"contact": "P2"}, "P2"), ({"contact": "P3"}, "P3"), ({}, None)):
        assert browser.api(f"{study}/surveys/P1/mark", body, method="PUT").json() == {"marked": marked}
    assert browser.api(f"{study}/surveys/P1/mark", {"contact": "P9"}, method="PUT").status_code == 400
    answer = browser.api(f"{study}/surveys/P1/mark", {"contact": "P2"}, method="PUT", **{"X-CSRF-Token": "forged"})
    assert answer.status_code == 403


def test_pages_are_in_spanish_too(browser, base):
    browser.post("/language", language="es", back=base)
    page = browser.text(f"{base}/next")
    assert "Entrevistar a una persona nueva" in page
    assert "numere a las personas y sortee un número" in page
    assert "se ha entrevistado a 0 de 6 personas nuevas" in page


def test_practice_says_whom_the_team_met(browser, desk):
    base = f"/s/{desk.practise()}"
    page = browser.get(f"{base}/next").text
    assert f'value="{desk.rehearsal.drawn()}"' in page
    assert "By lot you met this made-up person" in page
