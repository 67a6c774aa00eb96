"""The pages of the assistant: `python benchmarks/assistant_pages.py` prints how long the server takes for each.

Times are processor time, all threads together, so that other programs on the machine do not count. Each page is asked
for on a new state of the study, so that nothing is left over from the request before, except the places of the people
in the picture, which are computed anew only when there are 40 % more contacts (`places` says how long that takes).
`open` is the time to open the study, without the derivation of the key, which takes about half a second by design.
With Playwright and Chromium, `painted` is the time from the start of the navigation to the first picture on the screen.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import uvicorn
from rich.console import Console
from rich.table import Table
from starlette.testclient import TestClient

from claim.field.advice.rehearsal import EASY, made_up_names
from claim.field.store.library import Library
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.setup import Setup
from claim.field.web.app import bound, create_app
from claim.field.web.app_state import AppState
from claim.field.web.picture import places_of

SIZES = ((20, 6), (200, 50), (2000, 400))  # people and surveys
PAGES = (
    "", "/people", "/people?page=40", "/next", "/next?count=5", "/same", "/network", "/leaders",
    "/leaders?attendance=70", "/export", "/import", "/history", "/history?page=5", "/settings", "/people/P1",
    "/survey/P1", "/sessions", "/follow-up", "/print/sheets?count=5", "/appointments", "/report",
)  # fmt: skip
PARTS = ("/picture", "/picture/leaders")  # what the page of the network asks for
PASSPHRASE = "correct horse battery"
GROUP = 40  # most contacts are within groups of this size
CONTACTS = 12  # named in a survey
REPEATS = 5


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--browser", action="store_true", help="measure the first picture in Chromium too")
    browser = arguments.parse_args().browser
    table = Table(title="Milliseconds, median", caption="target at 2,000 people: pages 300, open and painted 1000")
    table.add_column("")
    columns = []
    for people, surveys in SIZES:
        table.add_column(f"{people} people, {surveys} surveys", justify="right")
        columns.append(measured(people, surveys, browser))
    for name in columns[0]:
        table.add_row(name, *(f"{column[name]:.0f}" for column in columns))
    Console().print(table)


def measured(people: int, surveys: int, browser: bool) -> dict[str, float]:
    with bound(0) as door, tempfile.TemporaryDirectory() as folder:
        state = AppState(Library(Path(folder) / "studies", work=EASY), port=door.getsockname()[1])
        study = state.create(Setup("Speed", budget=surveys, leaders=8), PASSPHRASE)
        opened = state.study(study)
        opened.run(lambda draft: fill(draft, people, surveys))
        client = TestClient(create_app(state), base_url=f"http://127.0.0.1:{state.port}", follow_redirects=False)
        client.get("/launch", params={"token": state.launch_token})

        def changed() -> None:
            opened.run(lambda draft: commands.add_person(draft, f"Late {time.time_ns()}", is_start=False))

        def took(address: str) -> float:
            return milliseconds(lambda: client.get(address).raise_for_status(), changed)

        times = {page or "overview": took(f"/s/{study}{page}") for page in PAGES}
        times |= {part: took(f"/api/studies/{study}{part}") for part in PARTS}
        times["places"] = milliseconds(lambda: places_of(opened.study), changed)
        times["open"] = milliseconds(lambda: state.library.open(study, PASSPHRASE).lock(), changed)
        if browser:
            times["painted"] = first_picture(state, door, study, dict(client.cookies), changed)
        state.shut_down()
    return times


def milliseconds(work: Callable[[], object], before: Callable[[], object]) -> float:
    """Median processor time of the work; a first round is not counted."""
    taken = []
    for _ in range(REPEATS + 1):
        before()
        began = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - began))
    return statistics.median(taken[1:])


def fill(draft: Draft, people: int, surveys: int) -> None:
    """Surveys of people of groups, who name others of their group and now and then a stranger."""
    rng, names = random.Random(0), made_up_names(people, np.random.default_rng(0))
    codes: dict[int, str] = {}
    waiting = rng.sample(range(people), 5)
    for who in waiting:
        codes[who] = commands.add_person(draft, names[who], is_start=True)
    for _ in range(surveys):
        who = waiting.pop(rng.randrange(len(waiting)))
        commands.start_survey(draft, codes[who], consent=True)
        group = who // GROUP * GROUP
        near = [each for each in range(group, min(group + GROUP, people)) if each != who]
        named = {*rng.sample(near, min(CONTACTS, len(near))), rng.randrange(people)} - {who}
        for other in sorted(named):
            if other in codes:
                commands.name_contact(draft, codes[who], codes[other])
            else:
                codes[other] = commands.name_new_contact(draft, codes[who], names[other])
                waiting.append(other)
        commands.end_survey(draft, codes[who])
    for who in range(people):
        if who not in codes:
            codes[who] = commands.add_person(draft, names[who], is_start=False)


def first_picture(
    state: AppState, door: object, study: str, cookies: dict[str, str], before: Callable[[], object]
) -> float:
    """Median milliseconds from the start of the navigation."""
    from playwright.sync_api import sync_playwright

    server = uvicorn.Server(uvicorn.Config(create_app(state), log_level="error", lifespan="off", ws="none"))
    serving = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
    serving.start()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page()
        address = f"http://127.0.0.1:{state.port}"
        page.context.add_cookies([{"name": name, "value": value, "url": address} for name, value in cookies.items()])
        times = []
        for _ in range(REPEATS):
            before()
            page.goto(f"{address}/s/{study}/network")
            page.locator("#net[data-painted]").wait_for()
            times.append(float(page.locator("#net").get_attribute("data-painted") or "nan"))
        chromium.close()
    server.should_exit = True
    serving.join()
    return statistics.median(times)


if __name__ == "__main__":
    main()
