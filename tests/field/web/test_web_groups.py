"""Groups on the pages: asked for on the survey, in history and undo, and the reach in each on the leaders page."""

import pytest
from test_web_flow import add, survey
from test_web_import import look

from claim.field.study import commands

GROUPS = {"group": "Village", "groups_of_contacts": "1"}


@pytest.fixture
def asks(browser, base, desk, study):
    """Ask for villages in the study; returns it."""
    set_groups(browser, base, **GROUPS)
    return desk.study(study)


def set_groups(browser, base, **fields):
    assert browser.post(f"{base}/settings", title="Drop-in", leaders="2", **fields).status_code == 303


def test_no_page_asks_for_a_group_by_default(browser, base):
    add(browser, base, "Ana", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    for page in ("/survey/P1", "/people/P1", "/leaders", "/print/sheets"):
        assert "roup" not in browser.text(base + page)
    answer = browser.post(f"{base}/survey/P1/groups", {"group.P1": "north"})
    assert answer.status_code == 400
    assert "asks for no group" in answer.text


def test_a_survey_asks_for_groups_and_its_end_saves_them(browser, base, asks):
    add(browser, base, "Ana", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    browser.post(f"{base}/survey/P1/contact", name="Ben", same="new")
    page = browser.get(f"{base}/survey/P1").text
    assert 'name="group.P1"' in page
    assert 'name="group.P2"' in page
    browser.post(f"{base}/survey/P1/end", {"outcome": "answered", "group.P1": "Alto <b>", "group.P2": "unknown"})
    assert asks.view.groups == {"P1": "Alto <b>"}
    browser.post(f"{base}/survey/P1/groups", {"group.P1": "", "group.P2": "Bajo"})
    assert asks.view.groups == {"P2": "Bajo"}
    assert asks.study.person("P1").state == "surveyed"
    browser.post(f"{base}/people/P2/group", group="alto <b>")
    assert "alto &lt;b&gt;" in browser.get(f"{base}/people/P2").text
    assert "Group: Ben (P2), Ana (P1): “Bajo”" in browser.text(f"{base}/history")
    browser.post(f"{base}/history/undo", number=str(asks.study.position))
    assert asks.view.groups == {"P2": "Bajo"}


def test_groups_of_contacts_are_asked_only_if_the_study_says_so(browser, base, asks):
    set_groups(browser, base, group="Village")
    add(browser, base, "Ana", start="1")
    survey(browser, base, "P1", "Ben")
    assert 'name="group.P2"' not in browser.get(f"{base}/survey/P1").text
    assert browser.post(f"{base}/survey/P1/groups", {"group.P2": "Bajo"}).status_code == 400
    assert asks.view.groups == {}


def test_the_script_saves_a_group_as_it_is_typed(browser, base, study, asks):
    add(browser, base, "Ana", start="1")
    survey(browser, base, "P1", "Ben")
    assert 'data-group="Village"' in browser.get(f"{base}/survey/P1").text
    for said, spelt in (("Alto", "Alto"), ("ALTO", "Alto"), ("?", None)):
        answer = browser.api(f"{study}/surveys/P1/groups/P2", {"group": said}, "PUT")
        assert answer.json() == {"group": spelt}
    assert browser.api(f"{study}/surveys/P1/groups/P2", {"group": "x" * 101}, "PUT").status_code == 400


@pytest.fixture
def known(browser, base, asks):
    """A hub with contacts in one village, and a chain in another: two groups of ten people or more."""

    def enter(draft):
        hub = commands.add_person(draft, "Hub", is_start=True)
        commands.start_survey(draft, hub, consent=True)
        alto = [hub, *(commands.name_new_contact(draft, hub, f"A{i} Alto") for i in range(20))]
        commands.end_survey(draft, hub)
        bajo = [commands.add_person(draft, "B0", is_start=True)]
        for i in range(10):
            commands.start_survey(draft, bajo[-1], consent=True)
            bajo.append(commands.name_new_contact(draft, bajo[-1], f"B{i} Bajo"))
            commands.end_survey(draft, bajo[-2])
        for person in (*alto, *bajo):
            commands.say_group(draft, person, person, "Alto" if person in alto else "Bajo")

    asks.run(enter)
    set_groups(browser, base, **GROUPS, p="0.3", size_low="40", size_high="40")
    return asks


def test_leaders_and_report_show_the_reach_by_group(browser, base, known):
    for page in ("/leaders", "/report"):
        text = browser.text(base + page)
        assert "Reach by group (Village), an estimate" in text
        assert "Groups of which fewer than ten people are known are not shown" in text
    browser.post(f"{base}/people/P22/group", group="unknown")
    browser.post(f"{base}/people/P23/group", group="unknown")  # nine are left
    for page in ("/leaders", "/report"):
        assert "Reach by group" not in browser.text(base + page)


def test_leaders_are_balanced_between_groups_as_a_step_that_can_be_undone(browser, base, known):
    page = browser.get(f"{base}/leaders").text
    assert "chosen to reach the most people" in page
    at = known.study.position
    assert browser.post(f"{base}/leaders/fair", fair="welfare:-2", at=str(at)).status_code == 303
    assert known.study.setup.fair == "welfare:-2"
    page = browser.text(f"{base}/leaders")
    assert "These leaders are balanced" in page
    assert "Leaders chosen for the most people would reach about" in page
    assert browser.post(f"{base}/leaders/fair", fair="none", at=str(at)).status_code == 409
    assert browser.post(f"{base}/leaders/fair", fair="all", at=str(at)).status_code == 400
    browser.post(f"{base}/history/undo", number=str(known.study.position))
    assert known.study.setup.fair == "none"


def test_a_file_with_groups_says_so_where_the_study_asks_for_none(browser, base, desk, study):
    file = b"name,group\nAna,Alto\nBen,\n"
    preview = look(browser, base, file)
    assert "This study does not ask for a group" in browser.text(preview)
    set_groups(browser, base, group="Village")
    page = browser.text(preview)
    assert "This study does not ask for a group" not in page
    assert "group : their group" in page
    browser.post(f"{preview}/take", at=str(desk.study(study).study.position))
    assert desk.study(study).view.groups == {"P1": "Alto"}
