"""The main walk in Firefox: a study, a survey of six contacts by keyboard, the network, leaders."""

import json

import pytest
from firefox import Firefox, program
from real_browser import PASSPHRASE, SIZES, Server

pytest.importorskip("fastapi", reason="needs FastAPI")
pytest.importorskip("sqlcipher3", reason="needs SQLCipher")
pytest.importorskip("websockets", reason="needs websockets: pip install websockets")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(program() is None, reason="needs Firefox: install it, or set CLAIM_FIREFOX to the program"),
]
NAMED = ("Bela", "Chidi", "Dora", "Emre", "Fatou", "Goran")


@pytest.fixture(params=["desktop", "phone"])
def firefox(request, tmp_path):
    server = Server(tmp_path / "studies")
    browser = Firefox(tmp_path / "profile", server.origin, **SIZES[request.param])
    browser.goto(server.address)
    yield browser
    browser.close()
    assert "Traceback" not in server.stop()
    assert browser.troubles == []


def new_study(firefox) -> None:
    firefox.click("a[href='/new']")
    firefox.fill("#title", "Drop-in centre")
    firefox.fill("#passphrase", PASSPHRASE)
    firefox.fill("#again", PASSPHRASE)
    firefox.click("#understood")
    firefox.click("main button.main")
    firefox.fill("#name", "Ana")
    firefox.press("Enter")
    firefox.until("document.querySelector('[data-list] .ok')")
    firefox.click("main a[href$='/next']")
    firefox.see("Whom to survey next")


def survey_by_keyboard(firefox) -> None:
    """The letters and eleven more keys, as in Chromium."""
    firefox.press("Enter")  # start the survey
    firefox.until("document.activeElement.id === 'consent'")
    firefox.press("Space", "Enter")
    firefox.until("document.activeElement.id === 'name'")
    for name in NAMED:
        firefox.press(*name, "Enter")
    firefox.until(f"document.querySelectorAll('[data-list] .ok').length === {len(NAMED)}")
    firefox.press("Enter")  # an empty line goes to the button
    firefox.press("Enter")
    firefox.see("Whom to survey next")


def test_from_a_new_study_to_leaders(firefox):
    new_study(firefox)
    survey_by_keyboard(firefox)
    firefox.click(".top nav a[href$='/people']")
    firefox.see("Goran")
    firefox.click(".top nav a[href$='/network']")
    firefox.until("document.querySelector('#net[data-leaders]')")
    firefox.fill("#find", "Emre")
    firefox.until("document.querySelector('#net').dataset.chosen === 'P5'")
    before = firefox.js("document.querySelector('#net').dataset.x")
    firefox.js("document.querySelector('#net').focus()")
    firefox.press("ArrowRight")
    firefox.until(f"document.querySelector('#net').dataset.x !== {json.dumps(before)}")
    firefox.click("[data-suggested] button")
    firefox.until("document.querySelector('[data-about] h2')")
    assert firefox.js("document.documentElement.scrollWidth <= innerWidth")
    firefox.click(".top nav a[href$='/leaders']")
    firefox.click("button[value='offered']")
    firefox.see("Noted.")
    firefox.click("button[value='accepted']")
    firefox.see("accepted")
    assert "Ana" not in firefox.js("document.title")
