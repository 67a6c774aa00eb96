"""Sessions, replacements and the follow-up, as a browser without script sees them."""

import re
from dataclasses import replace

import pytest
from desk_client import position
from test_web_flow import add, survey

from claim.field.study import commands

WHEN = "2099-03-01T14:30"


@pytest.fixture
def led(browser, base) -> str:
    """A study whose two leaders, Ana and Ben, accepted."""
    add(browser, base, "Ana", "Ben", start="1")
    survey(browser, base, "P1", *(f"Carla {i}" for i in "klmno"))
    survey(browser, base, "P2", *(f"Dan {i}" for i in "klmno"))
    for person in ("P1", "P2"):
        for action in ("offered", "accepted"):
            assert browser.post(f"{base}/leaders", person=person, action=action).status_code == 303
    return base


def follow(browser, base: str, answers: str) -> list[str]:
    """Answer for the people whom the page suggests, first in line first; returns them."""
    asked = []
    for letter in answers:
        page = browser.get(f"{base}/follow-up").text
        person = page.split('class="box now card"')[1].split('name="person" value="')[1].split('"')[0]
        answer = {"y": "yes", "n": "no", "-": "not asked"}[letter]
        assert browser.post(f"{base}/follow-up", person=person, answer=answer).status_code == 303
        asked.append(person)
    return asked


def test_sessions_are_planned_moved_and_attended(browser, led):
    assert "Plan a session" in browser.text(f"{led}/sessions")
    planned = browser.post(f"{led}/sessions", when=WHEN, place="town hall", person=["P1", "P2"])
    assert planned.status_code == 303
    page = browser.text(f"{led}/sessions")
    assert "Session 1: 2099-03-01 14:30 town hall 0 of 2 invited leaders came" in page
    browser.post(f"{led}/sessions/1", person="P1", action="attended")
    browser.post(f"{led}/sessions/1", person="P2", action="not attended")
    assert "1 of 2 invited leaders came" in browser.text(f"{led}/sessions")
    pressed = re.findall(r'aria-pressed="true" aria-label="([^"]*)"', browser.get(f"{led}/sessions").text)
    assert pressed == ["Session 1, Came: Ana", "Session 1, Did not come: Ben"]
    browser.post(f"{led}/sessions", when="2099-04-01T10:00", place="", session="1")
    assert "Session 1: 2099-04-01 10:00" in browser.text(f"{led}/sessions")
    assert browser.post(f"{led}/sessions", when="soon").status_code == 400
    assert browser.post(f"{led}/sessions/1", person="P1", action="accepted").status_code == 400
    history = browser.text(f"{led}/history")
    assert "Session planned: Session 1: 2099-03-01 14:30: “town hall”" in history
    assert "Leader: Session 1: Ana (P1): came" in history


def test_the_overview_says_what_to_do_now(browser, base):
    def now() -> str:
        return browser.text(base).partition("What to do now")[2].partition("interviews done")[0]

    assert "Add the people you know" in now()
    add(browser, base, "Ana", "Ben", start="1")
    assert "The next interview is ready" in now()
    survey(browser, base, "P1", "Carla Costa", "Dan")
    assert browser.post(f"{base}/survey/P2/start", consent="1").status_code == 303
    assert "A survey is under way" in now()
    for name in ("Carla Kosta", "Dan"):
        browser.post(f"{base}/survey/P2/contact", name=name, same="P4" if name == "Dan" else "new")
    browser.post(f"{base}/survey/P2/end", outcome="answered")
    for person in ("P3", "P4", "P5"):
        browser.post(f"{base}/next", person=person, action="refused", reason="met", at=position(browser.get(base).text))
    assert "Some names may be the same person" in now()
    browser.post(f"{base}/same", action="merge", one="P3", other="P5")
    assert "Choose whom to ask to lead" in now()
    for person in ("P1", "P2"):
        for action in ("offered", "accepted"):
            browser.post(f"{base}/leaders", person=person, action=action)
    assert "Plan the sessions" in now()
    browser.post(f"{base}/sessions", when=WHEN, person=["P1", "P2"])
    assert "record who came" in now()
    browser.post(f"{base}/sessions/1", person="P1", action="attended")
    assert "Ask people whether anyone talked" in now()


def test_leaders_who_do_not_come_are_shown_and_replaced(browser, led):
    browser.post(f"{led}/sessions", when=WHEN, person=["P1", "P2"])
    browser.post(f"{led}/sessions/1", person="P2", action="not attended")
    page = browser.text(f"{led}/leaders")
    assert "did not come to any session" in page
    assert "Leaders missing" not in page
    browser.post(f"{led}/leaders", person="P2", action="replaced")
    page = browser.text(f"{led}/leaders")
    assert "Leaders missing before session 1 on 2099-03-01 14:30: 1." in page
    assert "did not come to any session" not in page
    assert "Ben P2 replaced" in page.partition("Declined or replaced")[2]
    assert "Ben" not in page.partition("Declined or replaced")[0].partition("Suggested leaders")[2]


def test_follow_up_goes_by_lot_and_estimates_p(browser, desk, led):
    assert "Record first which leaders came" in browser.text(f"{led}/follow-up")
    browser.post(f"{led}/sessions", when=WHEN, person=["P1", "P2"])
    browser.post(f"{led}/sessions/1", person="P1", action="attended")
    asked = follow(browser, led, "yyn-n")
    assert len(set(asked)) == 5
    assert not {"P1", "P2"} & set(asked)
    page = browser.text(f"{led}/follow-up")
    for shown in (
        "People asked 4",
        "Said yes 2",
        "Leaders who came 1",
        "Estimated p:",
        "could not be asked",
        "The range is wide",
    ):
        assert shown in page
    assert browser.post(f"{led}/follow-up", person="P1", answer="yes").status_code == 400
    assert browser.post(f"{led}/follow-up", person=asked[0], answer="perhaps").status_code == 400
    browser.post(f"{led}/follow-up", person=asked[0], answer="no")
    assert "Said yes 1" in browser.text(f"{led}/follow-up")


def test_the_next_wave_is_chosen_by_who_came_and_what_people_said(browser, desk, base):
    """Ana, Ben and Eva know six, five and four people; Ana leads, and one more leader is wanted."""
    add(browser, base, "Ana", "Ben", "Eva", start="1")
    for i, person in enumerate(("P1", "P2", "P3")):
        survey(browser, base, person, *(f"{('Carla', 'Dan', 'Fred')[i]} {j}" for j in "klmnop"[: 6 - i]))
    study = desk.study(base.removeprefix("/s/"))
    study.run(lambda draft: commands.change_settings(draft, replace(study.study.setup, selector="greedy")))

    def suggested() -> list[str]:
        cards = browser.get(f"{base}/leaders").text.partition("<ol")[2].partition("<details")[0]
        return list(dict.fromkeys(re.findall(r'name="person" value="(P\d+)"', cards)))

    for action in ("offered", "accepted"):
        browser.post(f"{base}/leaders", person="P1", action=action)
    assert "Leaders who came" not in browser.text(f"{base}/leaders")
    assert suggested()[:2] == ["P1", "P2"]
    browser.post(f"{base}/sessions", when=WHEN, person=["P1"])
    browser.post(f"{base}/sessions/1", person="P1", action="attended")
    assert "Leaders who came: 1." in browser.text(f"{base}/leaders")
    of_ben = [code for code, each in desk.study(base.removeprefix("/s/")).study.people.items() if "P2" in each.named_by]
    for person in ("P2", *of_ben):
        browser.post(f"{base}/follow-up", person=person, answer="yes")
    page = browser.text(f"{base}/leaders")
    assert f"that someone talked to them: {1 + len(of_ben)}." in page
    assert not {"P2", *of_ben} & set(suggested())
    assert suggested()[:2] == ["P1", "P3"]
    browser.post(f"{base}/follow-up", person="P2", answer="no")
    assert "P2" in suggested()


def test_the_estimate_is_used_when_it_is_accepted_and_undone_from_the_history(browser, desk, led):
    study = led.removeprefix("/s/")
    assert browser.post(f"{led}/follow-up/accept", at=position(browser.get(led).text)).status_code == 400
    browser.post(f"{led}/sessions", when=WHEN, person=["P1"])
    browser.post(f"{led}/sessions/1", person="P1", action="attended")
    follow(browser, led, "yyyyyy")
    before = desk.study(study).study
    assert before.setup.p == 0.1
    at = position(browser.get(f"{led}/follow-up").text)
    assert browser.post(f"{led}/follow-up/accept", at=at).status_code == 303
    after = desk.study(study).study
    assert after.log[-1].type == "SettingsChanged"
    assert after.setup.p > 0.3
    assert "The study uses this value" in browser.text(f"{led}/follow-up")
    browser.post(f"{led}/history/undo", number=str(after.position))
    assert desk.study(study).study.setup == before.setup


def test_history_shows_the_reasons_of_overrides(browser, base):
    add(browser, base, "Ana", "Ben", start="1")
    add(browser, base, "Carla")
    at = position(browser.get(f"{base}/next").text)
    browser.post(f"{base}/next", person="P3", action="start", reason="is here <today>", at=at)
    assert "Another person chosen: Carla (P3): “is here <today>”" in browser.text(f"{base}/history")
