"""Little is kept, for a limited time, and nothing is promised."""

import re
from dataclasses import fields, replace
from pathlib import Path

import claim.field
from claim.field.study import commands
from claim.field.study.events import PersonAdded

FIELD = Path(claim.field.__file__).parent


def test_after_the_day_to_close_every_page_says_so(browser, desk, base, study):
    opened = desk.study(study)
    for day, said in (("2999-01-01", False), ("2020-01-01", True)):
        setup = replace(opened.study.setup, retention=day)
        opened.run(lambda draft, setup=setup: commands.change_settings(draft, setup))
        for page in ("", "/people", "/next", "/leaders", "/settings"):
            assert (f"was to be closed by {day}" in browser.text(f"{base}{page}")) is said


def test_pages_say_what_a_recommendation_is_not(desk, study, browser, base):
    browser.post(f"{base}/people", name="Ana", same="new", start="1")
    assert "It is no judgement of a person, and no one has to be surveyed." in browser.text(f"{base}/next")
    page = browser.text(f"{base}/leaders")
    assert "Too little is known yet to say how many people these leaders reach" in page
    assert not re.search(r"reach(es)? about", page)
    browser.post(f"{base}/survey/P1/start", consent="1")
    browser.post(f"{base}/survey/P1/contact", name="Ben", same="new")
    browser.post(f"{base}/survey/P1/end", outcome="answered")
    page = browser.text(f"{base}/leaders")
    assert "Too little is known yet" in page
    opened = desk.study(study)
    setup = replace(opened.study.setup, size_low=8, size_high=8)
    opened.run(lambda draft: commands.change_settings(draft, setup))
    page = browser.text(f"{base}/leaders")
    assert re.search(r"These leaders reach about \d+ people, likely \d to [2-8]\.", page)
    assert "do not promise it" in page


def test_of_people_who_are_only_named_the_least_is_kept():
    assert {field.name for field in fields(PersonAdded)} == {"person", "name", "is_start", "from_roster"}


def test_nothing_is_ever_unpickled():
    for path in FIELD.rglob("*.py"):
        assert not re.search(r"\b(pickle|marshal|shelve|joblib|eval|exec)\b\s*[.(]", path.read_text(encoding="utf-8"))
