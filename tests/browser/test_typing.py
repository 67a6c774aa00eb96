"""Typing never answers a question: the keys of a name go into the name, however fast they come."""

import pytest
from real_browser import Watched
from test_walk import new_study, press


@pytest.mark.parametrize("pause", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in (50, 120, 300, 600))])
def test_the_next_name_does_not_answer_same_person(chromium, server, pause):
    """``pause``: milliseconds between keys."""
    watched = Watched(chromium, server.origin, "desktop")
    page = watched.page
    new_study(watched, server)
    page.wait_for_load_state()
    for name in ("Ana", "Mariana Costa"):
        page.get_by_label("Name of somebody you know").fill(name)
        page.keyboard.press("Enter")
    page.locator("[data-list] .ok").nth(1).wait_for()
    page.goto(page.url.partition("?")[0].replace("/people", "/survey/P1"))
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    page.wait_for_load_state()
    page.keyboard.type("Mariana Kosta", delay=pause)
    page.keyboard.press("Enter")
    page.wait_for_timeout(pause)
    page.keyboard.type("Juan Carlos Pérez", delay=pause)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Yes, it is Mariana Costa").wait_for()
    page.locator("[data-list] .ok").first.wait_for()
    assert page.locator("[data-list] li[data-code] bdi").all_inner_texts() == ["Juan Carlos Pérez"]
    assert page.evaluate("document.activeElement.id") == "name"
    page.keyboard.press("Enter")  # an empty line answers nothing either
    page.keyboard.press("Space")
    page.wait_for_timeout(200)
    assert page.locator("[data-list] li[data-code]").count() == 1
    page.reload()
    assert page.locator("ol.saved li bdi").all_inner_texts() == ["Juan Carlos Pérez"]
    watched.context.close()
    assert watched.troubles == []
