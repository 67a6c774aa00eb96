"""An open study from an empty one: a new person is recommended, interviewed and marks a contact."""

import pytest
from real_browser import PASSPHRASE, Watched, problems
from test_walk import press, save_contact, tab_to

NAMES = ("Zubizarreta", "Okafor", "Haddad", "Hadad")


def begin(page, server) -> None:
    page.goto(server.address)
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Title").fill("Village")
    page.get_by_label("New people may be interviewed").check()
    page.get_by_label("Interviews in all").fill("6")
    page.get_by_label("Also ask which of the contacts knows the most people").check()
    page.get_by_label("Leaders", exact=True).fill("2")
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_label("The same again").fill(PASSPHRASE)
    page.get_by_label("I understand").check()
    press(page, "Begin the study")
    page.get_by_role("heading", name="Interview a new person").wait_for()


def meet(page, name: str) -> None:
    page.get_by_label("Name of the person you met").fill(name)
    press(page, "Start the survey")


def pressed(page) -> list[str]:
    return [each.get_attribute("aria-pressed") for each in page.locator("[data-list] [aria-pressed]").all()]


@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
def test_from_nobody_to_the_next_recommendation(chromium, server, size):
    watched = Watched(chromium, server.origin, size)
    page, visited = watched.page, []
    page.on("framenavigated", lambda frame: visited.append(frame.url))
    begin(page, server)
    page.get_by_text("draw a number").wait_for()
    page.get_by_text("0 of 6 new people").wait_for()
    page.wait_for_load_state()
    assert problems(page) == []
    meet(page, "Ana Zubizarreta")
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    page.get_by_text("Which of them knows the most people?").wait_for()
    visited.append(page.title())
    for i, name in enumerate(("Benedikt Okafor", "Carla Haddad"), start=1):
        save_contact(page, name, i)
    assert pressed(page) == ["false", "false"]
    press(page, "Knows the most: Benedikt Okafor")
    page.locator("[data-list] [aria-pressed=true]").wait_for()
    tab_to(page, "li:last-child [aria-pressed]")  # by keyboard too
    page.keyboard.press("Enter")
    page.locator("li:last-child [aria-pressed=true]").wait_for()
    assert pressed(page) == ["false", "true"]
    page.reload()  # it was saved, and goes on from the page that the server makes
    assert pressed(page) == ["false", "true"]
    assert problems(page) == []
    press(page, "Knows the most: Carla Haddad")
    page.locator("[data-list] [aria-pressed=true]").wait_for(state="detached")
    press(page, "Knows the most: Carla Haddad")
    page.locator("[data-list] [aria-pressed=true]").wait_for()
    press(page, "Finish the survey")
    page.get_by_text("1 of 6 new people").wait_for()
    meet(page, "carla hadad")  # who was named before
    page.get_by_role("heading", name="The same person?").wait_for()
    visited.append(page.title())
    press(page, "Yes, it is Carla Haddad")
    page.get_by_role("heading", name="Carla Haddad").wait_for()
    visited.append(page.title())
    page.get_by_role("link", name="Next person").first.click()
    page.get_by_text("met as a new person, not interviewed yet").wait_for()
    press(page, "Refused")
    page.get_by_text("1 of 6 new people").wait_for()
    page.locator("section.card").get_by_role("button", name="Refused").click()  # without a name
    page.get_by_text("Noted: refused.").wait_for()
    assert len(visited) > 10
    assert not [each for each in visited for name in NAMES if name.casefold() in each.casefold()]
    watched.context.close()
    assert watched.troubles == []


def test_a_contact_is_marked_without_script(chromium, server):
    watched = Watched(chromium, server.origin, "phone", java_script_enabled=False)
    page = watched.page
    begin(page, server)
    meet(page, "Ana")
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    for name in ("Ben", "Carla"):
        page.get_by_label("One contact a line").fill(name)
        press(page, "Save this contact")
        page.get_by_text("Contact saved.").wait_for()
    for name, marked in (("Ben", ["true", "false"]), ("Carla", ["false", "true"]), ("Carla", ["false", "false"])):
        press(page, f"Knows the most: {name}")
        page.get_by_text("Noted.").wait_for()
        assert pressed(page) == marked
    watched.context.close()
    assert watched.troubles == []
