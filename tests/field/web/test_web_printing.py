"""Pages to print: sheets, consent form, appointments and the report, with codes unless names are asked for."""

import re

import pytest
from desk_client import Browser
from test_web_flow import add, survey
from test_web_sessions import WHEN, follow

NAMES = ("Zubizarreta", "Okafor", "Lindqvist")


@pytest.fixture
def filled(browser, base) -> str:
    add(browser, base, "Ana Zubizarreta", "Ben Okafor", start="1")
    survey(browser, base, "P1", *(f"Carla{i} Lindqvist" for i in "klmno"))
    return base


def main_of(browser: Browser, path: str) -> str:
    """The part of a page that is printed."""
    found = re.search(r"<main.*</main>", browser.get(path).text, re.S)
    assert found is not None
    return found[0]


def named(text: str) -> set[str]:
    return {name for name in NAMES if name in text}


def test_sheets_have_codes_and_names_only_if_asked_for(browser, filled):
    page = main_of(browser, f"{filled}/print/sheets?count=3")
    assert page.count('class="sheet"') == 3
    assert page.count("I agree.") == 3
    assert "P2" in page
    assert not named(page)
    assert "Okafor" in main_of(browser, f"{filled}/print/sheets?count=3&names=1")
    assert browser.get(f"{filled}/print/sheets?count=11").status_code == 422


def test_the_consent_form_has_the_text_and_its_version(browser, filled):
    page = browser.text(f"{filled}/print/consent")
    assert "I agree." in page
    assert "Version 1 of the consent text" in page
    assert "Signature" in page


def test_appointments_are_listed_by_time_until_the_survey(browser, filled):
    for person, when, place in (("P2", "2099-01-02T10:00", "gate"), ("P3", "2099-01-01T09:00", "kitchen")):
        assert (
            browser.post(f"{filled}/appointments", person=person, when=when, place=place, action="make").status_code
            == 303
        )
    page = main_of(browser, f"{filled}/appointments")
    assert page.index("2099-01-01 09:00") < page.index("2099-01-02 10:00")
    assert "kitchen" in page
    assert not named(page)
    assert "Okafor" in main_of(browser, f"{filled}/appointments?names=1")
    browser.post(f"{filled}/appointments", person="P3", action="cancel")
    assert "kitchen" not in browser.text(f"{filled}/appointments")
    survey(browser, filled, "P2", "Eva")
    assert "gate" not in browser.text(f"{filled}/appointments")
    assert browser.post(f"{filled}/appointments", person="P3", when="noon", action="make").status_code == 400
    assert browser.post(f"{filled}/appointments", person="P3", action="later").status_code == 400


def test_the_report_has_figures_and_a_picture_in_codes(browser, filled):
    before = browser.text(f"{filled}/report")
    assert "People interviewed 1" in before
    for action in ("offered", "accepted"):
        browser.post(f"{filled}/leaders", person="P1", action=action)
    for action in ("offered", "declined"):
        browser.post(f"{filled}/leaders", person="P2", action=action)
    browser.post(f"{filled}/sessions", when=WHEN, place="Okafor's house", person=["P1"])
    browser.post(f"{filled}/sessions/1", person="P1", action="attended")
    follow(browser, filled, "yn")
    page = browser.text(f"{filled}/report")
    for figure in ("People known 7", "Asked to lead 2", "Declined 1", "Sessions 1", "Attendance 100 %", "Said yes 1"):
        assert figure in page
    assert "Found by the follow-up: about" in page
    assert "Expected with p = 0.1: about" in page
    assert "P2 declined 0 0" in page
    whole = main_of(browser, f"{filled}/report")
    assert whole.count("translate(") == 7
    assert not named(whole)


def test_pages_to_print_have_no_name_in_their_title(browser, filled):
    for path in (
        "print",
        "print/sheets?names=1",
        "print/consent",
        "appointments?names=1",
        "report",
        "sessions",
        "follow-up",
    ):
        title = re.search(r"<title>(.*?)</title>", browser.get(f"{filled}/{path}").text)
        assert title is not None
        assert not named(title[1])
