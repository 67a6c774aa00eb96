"""A real browser from the leaders through sessions and follow-up to the report, on a desk and on a phone."""

import re

from test_walk import first_people, new_study, press, survey_next

NAMES = ("Zubizarreta", "Okafor", "Díaz", "Ortega", "Lund", "Haddad")


def open_page(page, name: str) -> None:
    page.locator("details.more summary").click()
    page.locator("details.more").get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", name=name, level=1).wait_for()


def choose_leaders(page) -> None:
    page.get_by_role("link", name="Leaders", exact=True).click()
    for action in ("Was asked", "Was asked", "Accepted", "Accepted"):
        with page.expect_navigation():
            press(page, action)
    page.get_by_text("2 of 2 leaders have accepted").wait_for()


def hold_session(watched) -> None:
    page = watched.page
    open_page(page, "Sessions")
    page.get_by_label("Date and time").fill("2099-03-01T14:30")
    page.get_by_label("Place (optional)").fill("town hall")
    press(page, "Save the session")
    page.get_by_role("heading", name="Session 1: 2099-03-01 14:30").wait_for()
    with page.expect_navigation():
        page.get_by_role("button", name="Session 1, Came").first.click()
    with page.expect_navigation():
        page.get_by_role("button", name="Session 1, Did not come").nth(1).click()
    page.get_by_text("1 of 2 invited leaders came").wait_for()
    watched.shot("15-sessions")


def replace_absent(page) -> None:
    page.get_by_role("link", name="Leaders", exact=True).click()
    page.get_by_text("did not come to any session").wait_for()
    before = page.locator("ol.cards").first.inner_text()
    press(page, "Replace", exact=False)
    page.get_by_text("Leaders missing before session 1").wait_for()
    assert page.locator("ol.cards").first.inner_text() != before


def ask_people(watched) -> None:
    page = watched.page
    open_page(page, "Follow-up")
    for answer in ("Yes", "No one did", "Cannot be asked"):
        with page.expect_navigation():
            page.locator(".card").get_by_role("button", name=answer).first.click()
    page.get_by_text("Estimated p:").wait_for()
    watched.shot("16-follow-up")
    press(page, "Use p =", exact=False)
    page.get_by_text("The study uses this value").wait_for()


def test_from_leaders_to_the_report(watched, server):
    page = watched.page
    new_study(watched, server)
    first_people(watched)
    survey_next(watched, ["Carla Díaz", "Daniel Ortega", "Eva Lund"])
    survey_next(watched, ["Farid Haddad"])
    choose_leaders(page)
    hold_session(watched)
    replace_absent(page)
    ask_people(watched)
    open_page(page, "History")
    press(page, "Undo")
    page.get_by_text("Undone.").wait_for()
    open_page(page, "Follow-up")
    page.get_by_role("button", name="Use p =").wait_for()
    page.goto(page.url.replace("/follow-up", "/report"))
    watched.shot("17-report")
    page.emulate_media(media="print")
    printed = page.locator("body").inner_text()
    assert "People known" in printed
    assert not [name for name in NAMES if name in printed]
    assert not page.get_by_role("button").and_(page.locator(":visible")).count()
    assert page.locator("svg.still g").count() > 5
    assert pages_printed(page) == 1
    page.evaluate("""() => {
        const rows = document.querySelector('.one-page tbody');
        while (rows.children.length < 30) rows.append(rows.firstElementChild.cloneNode(true));
    }""")
    assert pages_printed(page) == 1


def pages_printed(page) -> int:
    return len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4")))


def test_sheets_and_appointments_show_names_only_if_asked(watched, server):
    page = watched.page
    new_study(watched, server)
    first_people(watched)
    page.goto(page.url.partition("/people")[0] + "/print")
    page.get_by_role("button", name="Show").first.click()
    page.locator(".sheet").wait_for()  # one: several would be an error
    assert not [name for name in NAMES if name in page.locator("main").inner_text()]
    page.go_back()
    page.get_by_label("With names").first.check()
    page.get_by_role("button", name="Show").first.click()
    page.get_by_text("This page shows names").wait_for()
    assert not [name for name in NAMES if name in page.title() + page.url]
    page.goto(page.url.partition("/print")[0] + "/appointments")
    page.get_by_label("Name or code").fill("P1")
    page.get_by_label("Date and time").fill("2099-03-01T09:00")
    page.get_by_label("Place (optional)").fill("gate")
    press(page, "Save the appointment")
    page.get_by_role("cell", name="gate").wait_for()
    assert "Zubizarreta" not in page.locator("table").inner_text()
