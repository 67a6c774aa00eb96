"""axe-core finds nothing on any page, light and dark, and no page is wider than its window."""

import pytest
from real_browser import PASSPHRASE, SIZES, Server, Watched, problems
from test_walk import fill_in_study, first_people, more, press, rehearse, survey_next

PRACTICE = (
    "", "/people", "/next", "/next?count=3", "/same", "/network", "/leaders", "/export", "/import", "/history",
    "/settings", "/practice", "/people/P1", "/survey/P1", "/survey/P2", "/nothing",
    "/sessions", "/follow-up", "/print", "/print/sheets?count=3", "/print/consent", "/appointments", "/report",
)  # fmt: skip
SPOIL = """() => {
  const add = (tag, textContent = "") =>
    document.querySelector("main").appendChild(Object.assign(document.createElement(tag), { textContent }));
  add("input");
  add("p", "hardly to be read").style.opacity = 0.3;
  add("p", "far to the right").style.marginLeft = "2000px";
  for (const each of "xy") add("button", each).style = "min-height: 0; padding: 0; margin: 0; font-size: 8px";
}"""


class Checked:
    """Checks a page light and dark, with what it folds away unfolded; on a phone in a narrow window too."""

    def __init__(self, page, size: str) -> None:
        self.page = page
        self.widths = [SIZES[size]["width"], *([320] if size == "phone" else [])]
        self.height = SIZES[size]["height"]

    def check(self) -> None:
        self.page.wait_for_load_state()
        unfold = "for (const each of document.querySelectorAll('details')) each.open = !each.matches('.more')"
        self.page.evaluate(unfold)
        found = {}
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            for width in self.widths:
                self.page.set_viewport_size({"width": width, "height": self.height})
                if here := problems(self.page):
                    found[self.page.url.rpartition("/")[2], scheme, width] = here
        assert found == {}
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": self.widths[0], "height": self.height})

    def at(self, address: str) -> None:
        self.page.goto(address)
        self.check()


def test_problems_are_found(chromium, server):
    watched = Watched(chromium, server.origin, "phone")
    page = watched.page
    page.goto(server.address)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.reload()
        assert problems(page) == []
        page.evaluate(SPOIL)
        found = {each.partition(":")[0] for each in problems(page)}
        assert found >= {"label", "color-contrast", "target-size", "too wide"}
    watched.context.close()


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.slow)])
def test_every_page_of_a_study_can_be_used_by_everybody(chromium, studies, size):
    server = Server(studies, "--rehearsal")
    watched = Watched(chromium, server.origin, size)
    page = watched.page
    checked = Checked(page, size)
    try:
        page.goto(server.address)
        base = page.url
        for _ in range(3):
            rehearse(page)
        press(page, "Refused")
        for path in PRACTICE:
            checked.at(base + path)
        page.goto(f"{base}/network")
        page.locator("#net[data-leaders]").wait_for()
        page.locator("[data-suggested] button").first.click()  # the card of a person
        checked.check()
        page.emulate_media(color_scheme="dark")
        page.goto(f"{base}/network")
        page.locator("#net[data-leaders]").wait_for()
        watched.shot("23-dark")
    finally:
        watched.context.close()
        server.stop()
    assert [each for each in watched.troubles if "404" not in each] == []


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.slow)])
def test_every_page_around_a_study_can_be_used_by_everybody(chromium, server, size):
    """First run, new study, questions, import, locking, restoring and closing."""
    watched = Watched(chromium, server.origin, size)
    page = watched.page
    checked = Checked(page, size)
    page.goto(server.address)
    checked.check()
    page.get_by_role("link", name="New study").click()
    checked.check()
    fill_in_study(watched)
    first_people(watched)
    page.get_by_label("Name of a person you know").fill("Ana Zubizareta")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Yes, it is Ana Zubizarreta").wait_for()
    checked.check()  # with the question of the script
    survey_next(watched, ["Carla Díaz", "Daniel Ortega"])
    survey_next(watched, ["Danniel Ortega"])
    base = page.url.partition("/next")[0]
    checked.at(f"{base}/same")
    press(page, "One person")
    page.get_by_text("They are one person now").wait_for()
    checked.check()
    page.goto(f"{base}/leaders")
    press(page, "Was asked")
    page.get_by_text("Noted.").wait_for()
    checked.check()
    page.goto(f"{base}/import")
    rows = b"name,friend_1,age\nNina Berg,Omar Said,31\nana zubizareta,Nina Berg,\n"
    page.set_input_files("input[type=file]", {"name": "form.csv", "mimeType": "text/csv", "buffer": rows})
    press(page, "Look at them")
    page.get_by_role("button", name="Take it").wait_for()
    checked.check()
    page.goto(f"{base}/settings")
    with page.expect_download() as saving:
        press(page, "Save a backup")
    with open(saving.value.path(), "rb") as file:
        backup = file.read()
    checked.at(server.origin)  # an open study, and the form for backups unfolded
    page.set_input_files("#backup", {"name": "study.backup", "mimeType": "application/octet-stream", "buffer": backup})
    page.locator("#restore-passphrase").fill(PASSPHRASE)
    page.locator("form[action='/restore'] button").click()
    page.get_by_role("button", name="Replace").wait_for()
    checked.check()
    press(page, "Lock", exact=True)
    page.get_by_label("Passphrase", exact=True).fill("not this one at all")
    press(page, "Unlock")
    page.get_by_text("Wrong passphrase").wait_for()
    checked.check()
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    press(page, "Unlock")
    page.get_by_role("heading", name="Drop-in centre").wait_for()
    more(page, "Settings")
    page.locator("summary", has_text="Close the study").click()
    page.locator("#confirm").fill("Drop-in centre")
    page.locator("form[action$='/close'] button").click()
    page.get_by_role("heading", name="The study is closed").wait_for()
    checked.check()
    watched.context.close()
    assert [each for each in watched.troubles if "403" not in each] == []
