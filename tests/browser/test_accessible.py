"""Labels, landmarks, headings, contrast and width of every page, light and dark, on a small screen."""

from real_browser import Server, Watched
from test_walk import press

PAGES = (
    "", "/people", "/next", "/next?count=3", "/same", "/network", "/leaders", "/export", "/import", "/history",
    "/settings", "/practice", "/people/P1", "/survey/P1", "/survey/P5", "/nothing",
    "/sessions", "/follow-up", "/print", "/print/sheets?count=3", "/print/consent", "/appointments", "/report",
)  # fmt: skip

LOOK = r"""() => {
  const found = [];
  const say = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
  const seen = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  for (const element of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (!element.labels.length && !element.ariaLabel) say("no label", element);
  for (const element of document.querySelectorAll("button, a[href], summary"))
    if (!(element.ariaLabel || element.textContent).trim()) say("no name", element);
  const ids = Array.from(document.querySelectorAll("[id]"), (element) => element.id);
  if (new Set(ids).size !== ids.length) found.push(`an id twice: ${ids.filter((id, i) => ids.indexOf(id) !== i)}`);
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  if (document.querySelectorAll("main").length !== 1 || !document.querySelector("header")) found.push("no landmarks");
  if (!document.documentElement.lang || !document.title) found.push("no language or title");
  const wide = document.documentElement.scrollWidth;
  if (wide > window.innerWidth) found.push(`too wide: ${wide}`);
  for (const name of ["aria-describedby", "aria-labelledby"])
    for (const each of document.querySelectorAll(`[${name}]`))
      if (!document.getElementById(each.getAttribute(name))) say(`${name} of nothing`, each);
  const channel = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const parts = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((value) => channel(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const element of document.querySelectorAll("body *")) {
    const own = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !seen(element) || element.closest("svg") || element.disabled || element.className === "skip") continue;
    const [one, two] = [light(getComputedStyle(element).color), light(behind(element))];
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (contrast < 4.5) say(`contrast ${contrast.toFixed(2)}`, element);
  }
  for (const element of document.querySelectorAll("button, .button, nav a, input[type=checkbox], input[type=radio]")) {
    const box = element.getBoundingClientRect();
    if (seen(element) && box.width && (box.height < 20 || box.width < 20)) say("too small to touch", element);
  }
  return found;
}"""

SPOIL = """() => {
  const add = (tag, textContent = "") =>
    document.body.appendChild(Object.assign(document.createElement(tag), { textContent }));
  add("input");
  add("h1", "twice");
  const faint = add("p", "hardly to be read");
  faint.style.color = getComputedStyle(document.body).backgroundColor;
  add("p", "far to the right").style.marginLeft = "2000px";
}"""


def test_every_page_can_be_used_by_everybody(chromium, studies):
    server = Server(studies, "--rehearsal")
    watched = Watched(chromium, server.origin, "phone")
    page = watched.page
    try:
        page.goto(server.address)
        base = page.url
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(base)
            assert page.evaluate(LOOK) == []
            page.evaluate(SPOIL)
            found = {each.partition(":")[0].split()[0] for each in page.evaluate(LOOK)}
            assert found >= {"no", "contrast", "not", "too"}
        for _ in range(3):
            page.goto(f"{base}/next")
            press(page, "Start the survey")
            page.get_by_label("This person agrees").check()
            press(page, "Begin")
            press(page, "Simulate the answer")
            page.locator("[data-leaves] button.main:not([hidden])").click()
            page.get_by_role("heading", name="Whom to survey next").wait_for()
        press(page, "Refused")
        page.wait_for_load_state()
        for path in ("/", "/new", *(base + each for each in PAGES)):
            page.goto(path if path.startswith("http") else server.origin + path)
            if path.endswith("/network"):  # with the card of a person
                page.locator("#net[data-leaders]").wait_for()
                page.locator("[data-suggested] button").first.click()
            page.evaluate("for (const each of document.querySelectorAll('details')) each.open = !each.matches('.more')")
            for scheme, width in (("light", 390), ("light", 320), ("dark", 390)):
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 700})
                assert page.evaluate(LOOK) == [], (path, scheme, width)
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{base}/network")
        page.locator("#net[data-leaders]").wait_for()
        watched.shot("23-dark")
    finally:
        watched.context.close()
        server.stop()
    assert [each for each in watched.troubles if "404" not in each] == []
