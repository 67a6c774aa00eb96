"""The live picture of the network: click, tap, find, drag, zoom, pinch, and the table beside it."""

import json
from collections.abc import Iterator

import pytest
from real_browser import PASSPHRASE, Server, Watched, until

from claim.field.store.library import Library
from claim.field.study import commands
from claim.field.study.setup import Setup

GROUPS, SIZE = 6, 20  # people who know each other, and bridges between them
EASY = 10


def fill(draft) -> None:
    """Groups of people around one who named them all; P1 is the first of these, and the last person has no contacts."""
    before = None
    for group in range(GROUPS):
        hub = commands.add_person(draft, f"Zoë Hub{group}", is_start=group < 2)
        commands.start_survey(draft, hub, consent=True)
        for i in range(SIZE):
            commands.name_new_contact(draft, hub, f"Person{group}-{i} Ñandú")
        if before:
            commands.name_contact(draft, hub, before)
        commands.end_survey(draft, hub)
        before = hub
    commands.end_survey(draft, "P2", "refused")
    commands.add_person(draft, "Alone Zubizarreta", is_start=True)


@pytest.fixture(scope="module")
def served(chromium, tmp_path_factory) -> Iterator[tuple[Server, str, str]]:
    """A server with an open study; the address of the study's pages, and the cookie."""
    directory = tmp_path_factory.mktemp("network") / "studies"
    opened = Library(directory, work=EASY).create(Setup("Groups", budget=10, leaders=3), PASSPHRASE)
    opened.run(fill)
    study = opened.study.state.study
    opened.lock()
    server = Server(directory)
    first = Watched(chromium, server.origin, "desktop")
    first.page.goto(server.address)
    first.page.goto(f"{server.origin}/?study={study}")
    first.page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    first.page.get_by_role("button", name="Unlock").first.click()
    first.page.wait_for_url(f"**/s/{study}*")
    yield server, study, first.context.storage_state()
    first.context.close()
    assert "Traceback" not in server.stop()


class Shown:
    """The page of the network, and what its picture says about itself."""

    def __init__(self, chromium, served, size: str = "desktop", **options) -> None:
        server, self.study, cookie = served
        touch = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
        options = {"reduced_motion": "reduce", **touch, **options}
        self.watched = Watched(chromium, server.origin, size, storage_state=cookie, **options)
        self.page = self.watched.page
        self.address = f"{server.origin}/s/{self.study}/network"
        self.page.goto(self.address)
        self.net = self.page.locator("#net")
        self.page.locator("#net[data-leaders]").wait_for()
        answer = self.page.request.get(f"{server.origin}/api/studies/{self.study}/picture")
        self.people = {each["code"]: each for each in answer.json()["people"]}

    def __getitem__(self, key: str) -> str:
        return self.net.get_attribute(f"data-{key}") or ""

    def at(self, code: str) -> tuple[float, float]:
        """Where a person is on the screen."""
        self.net.scroll_into_view_if_needed()
        box, (x, y) = self.net.bounding_box(), self.people[code]["place"]
        scale = float(self["scale"])
        across, down = (x - float(self["x"])) * scale, (y - float(self["y"])) * scale
        return box["x"] + box["width"] / 2 + across, box["y"] + box["height"] / 2 + down

    def empty(self) -> tuple[float, float]:
        """A spot of the picture where there is no person."""
        box = self.net.bounding_box()
        return box["x"] + 12, box["y"] + 12

    def choose(self, code: str) -> None:
        self.page.locator("#find").fill(code)
        until(lambda: self["chosen"] == code)

    def settle(self) -> None:
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def touch(self, *moments: list[tuple[float, float]]) -> None:
        """Fingers put down, moved from moment to moment, and lifted."""
        session = self.watched.context.new_cdp_session(self.page)
        for i, fingers in enumerate(moments):
            points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(fingers)]
            kind = "touchMove" if i else "touchStart"
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            self.settle()
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        self.settle()

    def close(self) -> None:
        self.watched.context.close()
        assert self.watched.troubles == []


@pytest.fixture
def shown(chromium, served) -> Iterator[Shown]:
    made = Shown(chromium, served)
    yield made
    made.close()


@pytest.fixture
def phone(chromium, served) -> Iterator[Shown]:
    made = Shown(chromium, served, "phone")
    yield made
    made.close()


def card(shown: Shown) -> str:
    return " ".join(shown.page.locator("[data-about]").inner_text().split())


def test_a_click_opens_the_card_of_a_person(shown):
    shown.page.mouse.click(*shown.at("P1"))
    until(lambda: shown["chosen"] == "P1")
    text = card(shown)
    for part in ("Zoë Hub0", "P1", "surveyed", "start", "Contacts: 21", "Named by Zoë Hub1"):
        assert part in text
    shown.page.mouse.click(*shown.at("P2"))
    until(lambda: shown["chosen"] == "P2")
    assert "refused" in card(shown)
    assert "Contacts: 1 Zoë Hub0" in card(shown)
    shown.page.mouse.click(*shown.empty())
    until(lambda: shown["chosen"] == "")
    assert "No one is chosen" in card(shown)
    shown.page.mouse.click(*shown.at("P1"))
    shown.page.get_by_role("link", name="Open the page of this person").click()
    shown.page.wait_for_url("**/people/P1")


def test_the_card_leads_from_person_to_person(shown):
    shown.choose("P2")
    shown.page.locator("[data-about]").get_by_role("button", name="Zoë Hub0").first.press("Enter")
    until(lambda: shown["chosen"] == "P1")
    assert shown.page.evaluate("document.activeElement.textContent") == "Zoë Hub0"  # the focus stays in the card
    shown.page.keyboard.press("Escape")
    until(lambda: shown["chosen"] == "")
    assert shown.page.evaluate("document.activeElement.id") == "net"


def test_a_tap_opens_the_card_and_shows_it(phone):
    phone.page.set_viewport_size({"width": 390, "height": 600})
    phone.settle()
    phone.page.touchscreen.tap(*phone.at("P1"))
    until(lambda: phone["chosen"] == "P1")
    assert "Zoë Hub0" in card(phone)
    phone.page.wait_for_timeout(400)  # a click that comes late would hit the card
    assert phone["chosen"] == "P1"
    assert 0 < phone.page.locator("[data-about] h2").bounding_box()["y"] < 580
    assert phone.net.bounding_box()["y"] > -150  # and the picture is still to be seen


@pytest.mark.parametrize(("typed", "code"), [("zoe hub3", "P64"), ("p64", "P64"), ("person5-19 nandu", "P126")])
def test_find_centres_and_highlights(shown, typed, code):
    shown.page.locator("#find").fill(typed)
    until(lambda: shown["chosen"] == code)
    x, y = shown.people[code]["place"]
    until(lambda: float(shown["x"]) == pytest.approx(x, abs=0.2) and float(shown["y"]) == pytest.approx(y, abs=0.2))
    assert float(shown["scale"]) >= 0.5
    assert shown.page.locator("[data-say]").inner_text() == "1 person found."
    assert shown.page.locator("table.all tbody tr").count() == 1


def test_enter_goes_from_match_to_match(shown):
    shown.page.locator("#find").fill("hub")
    until(lambda: shown["found"] == str(GROUPS))
    assert shown["chosen"] == ""
    assert f"{GROUPS} people found" in shown.page.locator("[data-say]").inner_text()
    visited = []
    for _ in range(GROUPS + 1):
        before = shown["chosen"]
        shown.page.keyboard.press("Enter")
        until(lambda before=before: shown["chosen"] != before)
        visited.append(shown["chosen"])
    assert visited[0] == visited[-1] == "P1"
    assert len(set(visited)) == GROUPS
    shown.page.locator("#find").fill("nobody at all")
    until(lambda: shown["found"] == "0")
    assert shown.page.locator("[data-say]").inner_text() == "No one was found."
    assert shown.page.locator("table.all tbody tr").count() == 0


def test_names_do_not_leave_the_page(shown):
    shown.choose("P1")
    shown.page.locator("#find").fill("Zubizarreta")
    shown.page.keyboard.press("Enter")
    until(lambda: shown["chosen"] == "P127")
    page = shown.page
    kept = page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.title])"
    )
    assert "Zubizarreta" not in kept + page.url + json.dumps(
        page.evaluate("({ ...document.getElementById('net').dataset })")
    )
    assert json.loads(kept)[:2] == [{}, {}]
    assert page.url == shown.address


def test_a_drag_moves_the_view(shown):
    before = float(shown["x"]), float(shown["y"]), shown["scale"]
    x, y = shown.empty()
    shown.page.mouse.move(x, y)
    shown.page.mouse.down()
    shown.page.mouse.move(x + 100, y + 40, steps=5)
    shown.page.mouse.up()
    until(lambda: float(shown["x"]) == pytest.approx(before[0] - 100 / float(before[2]), abs=1))
    assert float(shown["y"]) == pytest.approx(before[1] - 40 / float(before[2]), abs=1)
    assert shown["scale"] == before[2]
    assert shown["chosen"] == ""  # a drag is no click


def test_a_person_can_be_dragged_aside(shown):
    x, y = shown.at("P127")
    before = shown["x"]
    shown.page.mouse.move(x, y)
    shown.page.mouse.down()
    shown.page.mouse.move(x + 60, y - 20, steps=5)
    shown.page.mouse.up()
    shown.settle()
    assert shown["dragged"] == "P127"
    assert shown["x"] == before
    shown.page.mouse.click(x, y)
    shown.settle()
    assert shown["chosen"] == ""
    shown.page.mouse.click(x + 60, y - 20)
    until(lambda: shown["chosen"] == "P127")


def test_wheel_and_buttons_and_keys_zoom(shown):
    fitted = float(shown["scale"])
    x, y = shown.at("P1")
    shown.page.mouse.move(x, y)
    shown.page.mouse.wheel(0, -300)
    until(lambda: float(shown["scale"]) > 1.5 * fitted)
    assert shown.at("P1") == pytest.approx((x, y), abs=1.5)  # what is under the pointer stays there
    assert shown.page.evaluate("scrollY") == 0
    before = float(shown["scale"])
    shown.page.get_by_role("button", name="Zoom out").click()
    until(lambda: float(shown["scale"]) == pytest.approx(before / 1.5, rel=0.01))
    shown.page.get_by_role("button", name="Zoom in").click()
    until(lambda: float(shown["scale"]) == pytest.approx(before, rel=0.01))
    shown.page.get_by_role("button", name="Show everything").click()
    until(lambda: float(shown["scale"]) == pytest.approx(fitted, rel=0.01))
    shown.net.focus()
    shown.page.keyboard.press("+")
    until(lambda: float(shown["scale"]) == pytest.approx(1.5 * fitted, rel=0.01))
    shown.page.keyboard.press("0")
    until(lambda: float(shown["scale"]) == pytest.approx(fitted, rel=0.01))
    for _ in range(40):
        shown.page.keyboard.press("-")
    shown.settle()
    assert float(shown["scale"]) >= 0.4 * fitted


def test_names_appear_closer_by(shown):
    far = int(shown["labels"])
    shown.choose("P1")
    shown.page.locator("#find").fill("")
    until(lambda: shown["chosen"] == "")
    for _ in range(2):
        shown.page.get_by_role("button", name="Zoom in").click()
    shown.settle()
    assert int(shown["labels"]) > 10
    assert far < len(shown.people) / 2


def test_a_leader_shows_whom_they_reach(shown):
    buttons = shown.page.locator("[data-suggested] button")
    assert buttons.count() == 3
    assert shown["leaders"] == "3"
    buttons.first.click()
    until(lambda: shown["chosen"] != "")
    leader = shown["chosen"]
    index = {code: i for i, code in enumerate(shown.people)}
    answer = shown.page.request.get(shown.address.replace("/s/", "/api/studies/").replace("/network", "/picture"))
    contacts = {i: set() for i in range(len(index))}
    for one, other in answer.json()["ties"]:
        contacts[one].add(other)
        contacts[other].add(one)
    direct = contacts[index[leader]]
    through = set().union(*(contacts[each] for each in direct)) - direct - {index[leader]}
    assert (shown["direct"], shown["through"]) == (str(len(direct)), str(len(through)))
    assert f"{len(direct)} people directly, {len(through)} more" in card(shown)
    assert buttons.first.get_attribute("aria-pressed") == "true"
    shown.choose("P2")  # no leader: contacts only
    assert shown["through"] == "0"
    assert "forecast" not in card(shown)


def test_one_finger_moves_and_two_fingers_zoom(phone):
    phone.net.scroll_into_view_if_needed()
    box, before, scrolled = phone.net.bounding_box(), float(phone["x"]), phone.page.evaluate("scrollY")
    x, y = box["x"] + 40, box["y"] + 30
    phone.touch([(x, y)], [(x + 30, y)], [(x + 60, y)], [(x + 90, y - 60)])
    assert float(phone["x"]) < before - 50
    assert phone.page.evaluate("scrollY") == scrolled  # inside of it a swipe does not scroll
    scale = float(phone["scale"])
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    phone.touch(*([(x - away, y), (x + away, y)] for away in (30, 45, 60, 90)))
    assert float(phone["scale"]) == pytest.approx(3 * scale, rel=0.1)
    assert phone["chosen"] == ""
    phone.touch(*([(x - away, y), (x + away, y)] for away in (90, 60, 45)))
    assert float(phone["scale"]) == pytest.approx(1.5 * scale, rel=0.1)


def test_a_finger_drags_a_person_only_after_a_tap(phone):
    phone.page.get_by_role("button", name="Zoom in").tap()
    phone.settle()
    x, y = phone.at("P1")
    path = ([(x, y)], [(x + 20, y)], [(x + 40, y)])
    before = float(phone["x"])
    phone.touch(*path)
    assert float(phone["x"]) < before - 10
    assert phone["dragged"] == ""
    x, y = phone.at("P1")
    phone.page.touchscreen.tap(x, y)
    until(lambda: phone["chosen"] == "P1")
    x, y = phone.at("P1")
    before = phone["x"]
    phone.touch([(x, y)], [(x + 20, y)], [(x + 40, y)])
    assert phone["dragged"] == "P1"
    assert phone["x"] == before


def test_a_swipe_outside_scrolls_the_page(phone):
    before = phone["x"], phone["y"], phone["scale"]
    box = phone.page.locator("h1").bounding_box()
    x, y = box["x"] + 100, box["y"] + 10
    phone.page.evaluate("scrollTo(0, 0)")
    phone.touch(*([(x, y - step)] for step in range(0, 140, 20)))
    until(lambda: phone.page.evaluate("scrollY") > 50)
    assert (phone["x"], phone["y"], phone["scale"]) == before


def test_the_table_is_paged_and_leads_into_the_picture(shown):
    rows = shown.page.locator("table.all tbody tr")
    assert rows.count() == 50
    shown.page.get_by_role("button", name="Next", exact=True).press("Enter")
    assert "Person2-7 Ñandú" in rows.first.inner_text()
    assert shown.page.evaluate("document.activeElement.textContent") == "Next"
    shown.page.keyboard.press("Enter")
    assert rows.count() == len(shown.people) - 100
    assert shown.page.get_by_role("button", name="Next", exact=True).is_disabled()
    assert "Page 3 of 3" in shown.page.locator("[data-pages]").inner_text()
    rows.last.get_by_role("button", name="Show: Alone Zubizarreta").press("Enter")
    until(lambda: shown["chosen"] == "P127")
    assert shown.page.evaluate("scrollY + innerHeight") > shown.net.bounding_box()["y"]
    assert shown.page.evaluate("document.documentElement.scrollHeight") < 9000


def test_the_table_of_the_script_is_the_table_of_the_server(chromium, served, shown):
    plain = Watched(chromium, served[0].origin, "desktop", storage_state=served[2], java_script_enabled=False)
    plain.page.goto(f"{shown.address}?page=2")
    assert not plain.page.locator("#net").is_visible()
    assert "The picture needs JavaScript" in plain.page.content()
    rows = [row.split("\t") for row in plain.page.locator("table.all tbody tr").all_inner_texts()]
    plain.page.get_by_role("link", name="Next", exact=True).click()
    assert "Page 3 of 3" in plain.page.locator("[data-pages]").inner_text()
    plain.context.close()
    shown.page.get_by_role("button", name="Next", exact=True).click()
    mine = [row.split("\t") for row in shown.page.locator("table.all tbody tr").all_inner_texts()]
    assert [[cell.strip() for cell in row[3:]] for row in mine] == [[cell.strip() for cell in row[3:]] for row in rows]
    assert [row[1] for row in mine] == [row[1] for row in rows]


COLOUR = """([x, y]) => {
  const net = document.getElementById("net");
  const box = net.getBoundingClientRect();
  const ratio = net.width / box.width;
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  pen.drawImage(net, (x - box.x) * ratio, (y - box.y) * ratio, 1, 1, 0, 0, 1, 1);
  return Array.from(pen.getImageData(0, 0, 1, 1).data);
}"""


def test_colours_follow_the_theme(shown):
    shown.choose("P64")
    x, y = shown.at("P64")
    for scheme, colour in (("dark", (124, 199, 191)), ("light", (31, 95, 91)), ("dark", (124, 199, 191))):
        shown.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        until(lambda colour=colour: tuple(shown.page.evaluate(COLOUR, [x, y])[:3]) == colour)


FIND = """(code) => new Promise((done) => {
  const find = document.getElementById("find");
  find.value = code;
  find.dispatchEvent(new Event("input"));
  const seen = () => document.getElementById("net").dataset.x;
  requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(seen()))));
})"""


def test_less_motion_when_asked_for(chromium, served, shown):
    wanted = shown.people["P126"]["place"][0]
    assert float(shown.page.evaluate(FIND, "P126")) == pytest.approx(wanted, abs=0.2)
    moving = Shown(chromium, served, reduced_motion="no-preference")
    assert float(moving.page.evaluate(FIND, "P126")) != pytest.approx(wanted, abs=0.2)
    until(lambda: float(moving["x"]) == pytest.approx(wanted, abs=0.2))
    moving.close()
