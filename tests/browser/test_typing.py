"""Typing never answers a question: the keys of a name go into the name, however fast they come."""

import pytest
from real_browser import Watched
from test_walk import new_study, press


def survey_of_ana(chromium, server) -> Watched:
    """The survey of Ana is open; Mariana Costa is known too."""
    watched = Watched(chromium, server.origin, "desktop")
    page = watched.page
    new_study(watched, server)
    page.wait_for_load_state()
    for name in ("Ana", "Mariana Costa"):
        page.get_by_label("Name of a person you know").fill(name)
        page.keyboard.press("Enter")
    page.locator("[data-list] .ok").nth(1).wait_for()
    page.goto(page.url.partition("?")[0].replace("/people", "/survey/P1"))
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    return watched


@pytest.mark.parametrize("pause", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in (50, 120, 300, 600))])
def test_the_next_name_does_not_answer_same_person(chromium, server, pause):
    """``pause``: milliseconds between keys."""
    watched = survey_of_ana(chromium, server)
    page = watched.page
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
    assert page.evaluate("document.activeElement.id") == "name"
    press(page, "Finish the survey")  # not while a name is not saved
    page.wait_for_timeout(200)
    assert "/survey/" in page.url
    assert page.evaluate("document.activeElement.closest('.ask') !== null")
    page.reload()
    assert page.locator("ol.saved li bdi").all_inner_texts() == ["Juan Carlos Pérez"]
    watched.context.close()
    assert watched.troubles == []


def test_a_survey_of_six_contacts_takes_few_keys(chromium, server):
    """From the next-person page back to it by keyboard: the letters and eleven more keys."""
    watched = Watched(chromium, server.origin, "desktop")
    page = watched.page
    new_study(watched, server)
    page.wait_for_load_state()
    page.get_by_label("Name of a person you know").fill("Ana")
    page.keyboard.press("Enter")
    page.locator("[data-list] .ok").wait_for()
    page.goto(page.url.partition("?")[0].replace("/people", "/next"))
    keys = 0

    def press_key(key: str) -> None:
        nonlocal keys
        page.keyboard.press(key)
        keys += 1

    press_key("Enter")  # start the survey
    page.wait_for_url("**/survey/**")
    page.wait_for_load_state()
    press_key("Space")  # the person agrees
    press_key("Enter")
    page.get_by_label("One contact a line").wait_for()
    page.wait_for_load_state()
    named = ["Bela", "Chidi", "Dora", "Emre", "Fatou", "Goran"]
    for name in named:
        page.keyboard.type(name)
        press_key("Enter")
    page.locator("[data-list] .ok").nth(5).wait_for()
    press_key("Enter")  # an empty line goes to the button
    press_key("Enter")
    page.wait_for_url("**/next**")
    assert keys == 11
    page.goto(page.url.partition("?")[0].replace("/next", "/people/P1"))
    assert page.locator("main li a.who bdi").all_inner_texts() == named
    watched.context.close()


def test_a_suggestion_is_taken_with_the_arrow_and_enter_and_typing_goes_on_from_it(chromium, server):
    watched = survey_of_ana(chromium, server)
    page = watched.page
    page.get_by_label("One contact a line").wait_for()
    page.wait_for_load_state()
    page.keyboard.type("Mariana")
    page.locator("[data-hints] button").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")  # belongs to a name: nobody is taken
    page.keyboard.type("Ko")
    assert page.get_by_label("One contact a line").input_value() == "Mariana Ko"
    page.get_by_label("One contact a line").fill("Mariana")
    page.locator("[data-hints] button").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("[data-list] .ok").wait_for()
    assert page.locator("[data-list] .code").all_inner_texts() == ["P2"]
    watched.context.close()


def test_a_group_is_saved_as_its_field_is_left(chromium, server):
    watched = survey_of_ana(chromium, server)
    page = watched.page
    survey = page.url.partition("?")[0]
    page.goto(survey.replace("/survey/P1", "/settings"))
    page.get_by_label("Ask which group people are in").fill("Village")
    page.get_by_label("Also ask it about the contacts they name").check()
    press(page, "Save the settings")
    page.goto(survey)
    page.keyboard.type("Juan\n")
    page.get_by_label("Village: Juan").fill("Alto")
    page.get_by_label("Village of this person").fill("ALTO")
    page.keyboard.press("Tab")
    while page.locator("#own-group").input_value() != "Alto":  # as it was spelt before
        page.wait_for_timeout(50)
    assert page.get_by_text("Alto ✓ saved").is_visible()
    page.reload()
    assert page.get_by_label("Village: Juan").input_value() == "Alto"
    page.get_by_label("Village: Juan").fill("Bajo")
    press(page, "Finish the survey")
    page.wait_for_url("**/next?done=answered")
    page.goto(survey)
    assert page.get_by_label("Village: Juan").input_value() == "Bajo"
    watched.context.close()
    assert watched.troubles == []
