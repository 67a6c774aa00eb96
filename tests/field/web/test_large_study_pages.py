"""A thousand people and two hundred surveys; benchmarks/assistant_pages.py measures how long the pages take."""

import random

import pytest
from desk_client import PASSPHRASE, PORT, Browser

from claim.field.advice.rehearsal import made_up_names
from claim.field.store.library import Library
from claim.field.study import commands
from claim.field.study.setup import Setup
from claim.field.web.app_state import AppState

PAGES = (
    "", "/people", "/next", "/next?count=5", "/same", "/network", "/leaders", "/leaders?attendance=70", "/export",
    "/import", "/history", "/history?page=5", "/settings", "/people/P1", "/survey/P1",
    "/sessions", "/follow-up", "/print/sheets?count=5", "/appointments", "/report",
)  # fmt: skip
LONGEST = {"/report": 200_000}  # characters, for its picture; 60,000 for all others: a list of all people is longer


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    import numpy as np

    desk = AppState(Library(tmp_path_factory.mktemp("large") / "studies", work=10), port=PORT)
    study = desk.create(Setup("Large", budget=200), PASSPHRASE)
    rng, names = random.Random(0), made_up_names(1000, np.random.default_rng(0))

    def fill(draft):
        people = [commands.add_person(draft, name, is_start=i < 5) for i, name in enumerate(names)]
        for person in people[:200]:
            commands.start_survey(draft, person, consent=True)
            for contact in rng.sample(people, 10):
                if contact != person:
                    commands.name_contact(draft, person, contact)
            if person != "P1":
                commands.end_survey(draft, person)

    desk.study(study).run(fill)
    browser = Browser(desk)
    browser.get(f"/s/{study}/leaders")  # compiles
    yield browser, study
    desk.shut_down()


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_a_large_study_open_and_stay_short(large, page):
    browser, study = large
    answer = browser.get(f"/s/{study}{page}")
    assert answer.status_code == 200
    assert len(answer.text) < LONGEST.get(page, 60_000)


def test_contacts_of_a_large_study_are_saved(large):
    browser, study = large
    for i in range(3):
        body = {"name": f"New Contact {i}", "same": "new", "nonce": f"c{i}"}
        browser.api(f"{study}/surveys/P1/contacts", body).raise_for_status()
        assert f"New Contact {i}" in browser.api(f"{study}/similar", {"name": f"New Contact {i}"}).text
