"""A real browser from the first run to the export, on a desk and on a phone.

``CLAIM_SCREENSHOTS=docs/images/field pytest tests/browser/test_walk.py`` renews the pictures of the guide.
"""

import io
import zipfile

import pytest
from real_browser import PASSPHRASE, Server, Watched, until


def press(page, name: str, **options) -> None:
    page.get_by_role("button", name=name, **options).first.click()


def save_contact(page, name: str, ticks: int, new: bool = False) -> None:
    """Type a name and wait for its tick; ``new``: it looks like another one and is somebody else."""
    page.wait_for_load_state()
    page.get_by_label("One contact a line").fill(name)
    page.keyboard.press("Enter")
    if new:
        press(page, "No, a new person")
    page.locator("[data-list] .ok").nth(ticks - 1).wait_for()


def new_study(watched, server) -> None:
    page = watched.page
    page.goto(server.address)
    assert "token" not in page.url
    watched.shot("01-first-run")
    page.get_by_role("link", name="New study").click()
    fill_in_study(watched)


def fill_in_study(watched) -> None:
    page = watched.page
    page.get_by_label("Title").fill("Drop-in centre")
    page.get_by_label("Surveys (budget)").fill("6")
    page.get_by_label("Leaders", exact=True).fill("2")
    watched.shot("02-new-study")
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_label("The same again").fill(PASSPHRASE)
    page.get_by_label("I understand").check()
    page.get_by_text("A lost passphrase cannot be recovered").scroll_into_view_if_needed()
    watched.shot("03-passphrase")
    press(page, "Begin the study")
    page.get_by_label("Name of a person you know").wait_for()


def first_people(watched) -> None:
    page = watched.page
    page.wait_for_load_state()
    for i, name in enumerate(("Ana Zubizarreta", "Benedikt Okafor"), start=1):
        page.get_by_label("Name of a person you know").fill(name)
        page.keyboard.press("Enter")
        page.locator("[data-list] .ok").nth(i - 1).wait_for()
    page.get_by_label("Name of a person you know").fill("ana zubizareta")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Yes, it is Ana Zubizarreta").wait_for()
    watched.shot("04-first-people")
    page.get_by_role("button", name="Yes, it is Ana Zubizarreta").click()
    page.locator("[data-list] .tag").first.wait_for()
    assert page.locator("[data-list] .ok").count() == 2


def survey_next(watched, contacts: list[str], shot: bool = False) -> None:
    page = watched.page
    page.get_by_role("link", name="Next person").first.click()
    if shot:
        watched.shot("05-next-person")
    press(page, "Start the survey")
    if shot:
        watched.shot("06-consent")
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    for i, name in enumerate(contacts, start=1):
        save_contact(page, name, i, new=name.startswith("Dann"))
    if shot:
        page.get_by_label("One contact a line").fill("Zubizarreta Benedikt Okafor")
        page.locator("[data-hints] button").first.wait_for()
        watched.shot("07-survey")
        page.get_by_label("One contact a line").fill("")
    press(page, "Finish the survey")
    page.get_by_role("heading", name="Whom to survey next").wait_for()


def more(page, name: str) -> None:
    """A page of the menu."""
    page.locator("details.more summary").click()
    page.locator("details.more").get_by_role("link", name=name).click()


def rehearse(page) -> None:
    """Interview a made-up person, a new one or one who was named."""
    page.get_by_role("link", name="Next person").first.click()
    page.wait_for_load_state()
    met = page.get_by_label("Name of the person you met")
    name = met.first.input_value() if met.count() else ""
    press(page, "Start the survey")
    page.locator("#consent, #ask-title").first.wait_for()
    if page.locator("#ask-title").count():  # named before, or a similar name
        known = page.get_by_role("button", name=f"Yes, it is {name} P")
        (known if known.count() else page.get_by_role("button", name="No, a new person")).click()
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    press(page, "Simulate the answer")
    page.get_by_text("The made-up person answered").wait_for()
    page.locator("[data-leaves] button.main:not([hidden])").click()
    page.get_by_role("heading", name="Whom to survey next").wait_for()


def more_pages(watched) -> None:
    page = watched.page
    more(page, "Same person?")
    watched.shot("08-same-person")
    press(page, "One person")
    page.get_by_text("They are one person now").wait_for()
    page.get_by_role("link", name="Network", exact=True).click()
    page.locator("#net[data-leaders]").wait_for()
    scale = page.locator("#net").get_attribute("data-scale")
    page.locator("#net").focus()
    page.keyboard.press("+")
    until(lambda: page.locator("#net").get_attribute("data-scale") != scale)
    page.keyboard.press("0")
    until(lambda: page.locator("#net").get_attribute("data-scale") == scale)
    watched.shot("09-network")
    page.get_by_role("link", name="Leaders", exact=True).click()
    press(page, "Was asked")
    press(page, "Accepted")
    page.get_by_text("Noted.").wait_for()
    watched.shot("10-leaders")


def take_out(watched) -> bytes:
    page = watched.page
    more(page, "Take data out")
    watched.shot("11-export")
    with page.expect_download() as downloading:
        press(page, "Save the file")
    with open(downloading.value.path(), "rb") as file:
        return file.read()


def test_from_first_run_to_export(watched, server, studies):
    page = watched.page
    new_study(watched, server)
    first_people(watched)
    survey_next(watched, ["Carla Díaz", "Daniel Ortega", "Eva Lund"], shot=True)
    survey_next(watched, ["Danniel Ortega", "Farid Haddad"])
    page.get_by_role("link", name="Next person").first.click()
    press(page, "Not here")
    page.get_by_text("Noted: not here").wait_for()
    more_pages(watched)
    with zipfile.ZipFile(io.BytesIO(take_out(watched))) as archive:
        table = archive.read("people.csv").decode()
    assert "P1" in table
    assert "Zubizarreta" not in table
    more(page, "History")
    watched.shot("12-history")
    press(page, "Undo")
    page.get_by_text("Undone.").wait_for()
    more(page, "Settings")
    watched.shot("13-settings")
    press(page, "Lock", exact=True)
    page.get_by_label("Passphrase", exact=True).wait_for()
    watched.shot("14-unlock")
    page.get_by_label("Passphrase", exact=True).fill("not this one at all")
    press(page, "Unlock")
    page.get_by_text("Wrong passphrase").wait_for()
    watched.troubles.remove(next(each for each in watched.troubles if "403" in each))  # it was refused, as it should be
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    press(page, "Unlock")
    page.get_by_role("heading", name="Drop-in centre").wait_for()
    page.emulate_media(media="print")
    page.get_by_role("heading", name="Drop-in centre").wait_for()
    for path in studies.rglob("*"):
        assert b"Zubizarreta" not in path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
def test_a_rehearsal_with_nothing_to_configure(chromium, studies, size):
    server = Server(studies, "--rehearsal")
    watched = Watched(chromium, server.origin, size)
    page = watched.page
    page.goto(server.address)
    page.get_by_text("This is practice").wait_for()
    watched.shot("20-practice")
    for _ in range(6):
        rehearse(page)
    page.get_by_role("link", name="How you did").click()
    page.get_by_text("of the best possible").wait_for()
    watched.shot("21-practice-score")
    page.get_by_role("link", name="Network", exact=True).click()
    page.locator("#net[data-leaders]").wait_for()
    watched.shot("22-practice-network")
    watched.context.close()
    assert watched.troubles == []
    server.stop()
    assert not studies.exists() or not list(studies.iterdir())


def tab_to(page, selector: str) -> None:
    """Press Tab until the element has the focus; it has to be reachable and to show it."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none"
            return
    raise AssertionError(f"{selector} cannot be reached by keyboard")


def enter(page, selector: str) -> None:
    tab_to(page, selector)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_by_keyboard_alone(chromium, server):
    watched = Watched(chromium, server.origin, "desktop")
    page = watched.page
    page.goto(server.address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    enter(page, "a[href='/new']")
    tab_to(page, "#title")
    page.keyboard.type("Keys")
    tab_to(page, "#passphrase")
    page.keyboard.type(PASSPHRASE)
    tab_to(page, "#again")
    page.keyboard.type(PASSPHRASE)
    tab_to(page, "#understood")
    page.keyboard.press("Space")
    enter(page, "button.main")
    tab_to(page, "#name")
    page.keyboard.type("Ana")
    page.keyboard.press("Enter")
    page.locator("[data-list] .ok").first.wait_for()
    page.keyboard.type("Ben")  # the focus stays in the line
    page.keyboard.press("Enter")
    page.locator("[data-list] .ok").nth(1).wait_for()
    enter(page, "main a[href$='/next']")
    enter(page, "button[value='start']")
    tab_to(page, "#consent")
    page.keyboard.press("Space")
    enter(page, "button.main")
    page.keyboard.type("Carla")  # the line has the focus already
    page.keyboard.press("Enter")
    page.locator("[data-list] .ok").first.wait_for()
    enter(page, "button[value='answered']")
    enter(page, "nav a[href$='/leaders']")
    enter(page, "button[value='offered']")
    enter(page, "nav a[href$='/network']")
    page.locator("#net[data-leaders]").wait_for()
    tab_to(page, "#find")
    page.keyboard.type("carla")
    until(lambda: page.locator("#net").get_attribute("data-chosen") == "P3")
    tab_to(page, "#net")
    before = page.locator("#net").get_attribute("data-x")
    page.keyboard.press("ArrowRight")
    until(lambda: page.locator("#net").get_attribute("data-x") != before)
    enter(page, "[data-about] a[href$='/people/P3']")
    page.go_back()
    enter(page, "footer button")  # round the end of the page, and from its beginning again
    tab_to(page, "details.more summary")
    page.keyboard.press("Enter")
    enter(page, "details.more a[href$='/export']")
    tab_to(page, "main button.main")
    with page.expect_download():
        page.keyboard.press("Enter")
    watched.context.close()
    assert watched.troubles == []


def test_without_script(chromium, server):
    watched = Watched(chromium, server.origin, "phone", java_script_enabled=False)
    page = watched.page
    new_study(watched, server)
    page.get_by_label("Name of a person you know").fill("Ana")
    press(page, "Add", exact=True)
    page.get_by_text("Saved.").wait_for()
    page.get_by_role("link", name="Next person").first.click()
    press(page, "Start the survey")
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    for name in ("Benedikt", "Benedict"):
        page.get_by_label("One contact a line").fill(name)
        press(page, "Save this contact")
    press(page, "No, a new person")
    page.get_by_text("Contact saved.").wait_for()
    assert page.locator("ol.saved li").count() == 2
    press(page, "Finish the survey")
    page.get_by_role("heading", name="Whom to survey next").wait_for()
    watched.context.close()
    assert watched.troubles == []


def test_two_windows_and_the_back_button(chromium, server):
    watched = Watched(chromium, server.origin, "desktop")
    page = watched.page
    new_study(watched, server)
    first_people(watched)
    page.get_by_role("link", name="Next person").first.click()
    other = watched.context.new_page()
    other.goto(page.url)
    press(other, "Refused")
    other.get_by_text("Noted: refused").wait_for()
    press(page, "Refused")
    page.get_by_role("heading", name="It was changed meanwhile").wait_for()
    page.get_by_role("link", name="See how it stands now").click()
    page.get_by_role("heading", name="Whom to survey next").wait_for()
    press(page, "Start the survey")
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    save_contact(page, "Carla", 1)
    page.go_back()
    page.go_forward()
    assert page.locator("ol.saved li").count() == 1
    watched.context.close()
    assert [each for each in watched.troubles if "409" not in each] == []


def test_names_leave_the_screen_when_nobody_is_there(chromium, server):
    watched = Watched(chromium, server.origin, "phone")
    page = watched.page
    page.clock.install()
    new_study(watched, server)
    page.wait_for_load_state()
    page.clock.fast_forward(14 * 60 * 1000)
    assert page.url.endswith("/people?done=created")
    page.clock.fast_forward(2 * 60 * 1000)
    page.get_by_role("heading", name="Studies").wait_for()
    watched.context.close()
    assert watched.troubles == []
