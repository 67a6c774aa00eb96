"""The page of the network: `python benchmarks/network_page.py` prints how long page, picture and leaders take.

Each is asked for on a new state of the study, so that nothing is left over from the request before, except the places
of the people, which are computed anew only when there are 40 % more contacts (`places` says how long that takes).
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

from claim.field.advice.rehearsal import made_up_names
from claim.field.store.library import Library
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.setup import Setup
from claim.field.web.app import bound, create_app
from claim.field.web.app_state import AppState
from claim.field.web.picture import places_of

SIZES = ((20, 6), (200, 50), (2000, 400))  # people and surveys
GROUP = 40  # most contacts are within groups of this size
CONTACTS = 12  # named in a survey
REPEATS = 5


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--browser", action="store_true", help="measure the first picture in Chromium too")
    browser = arguments.parse_args().browser
    table = Table(title="Milliseconds, median", caption="target: page 300, painted 1000 at 2,000 people")
    for column in ("people", "contacts", "page", "places", "picture", "leaders", *(["painted"] if browser else [])):
        table.add_column(column, justify="right")
    for people, surveys in SIZES:
        table.add_row(*measured(people, surveys, browser))
    Console().print(table)


def measured(people: int, surveys: int, browser: bool) -> list[str]:
    with bound(0) as door, tempfile.TemporaryDirectory() as folder:
        state = AppState(Library(Path(folder) / "studies", work=10), port=door.getsockname()[1])
        study = state.create(Setup("Speed", budget=surveys, leaders=8), "correct horse battery")
        opened = state.study(study)
        opened.run(lambda draft: fill(draft, people, surveys))
        client = TestClient(create_app(state), base_url=f"http://127.0.0.1:{state.port}", follow_redirects=False)
        client.get("/launch", params={"token": state.launch_token})

        def changed() -> None:
            opened.run(lambda draft: commands.add_person(draft, f"Late {time.time_ns()}", is_start=False))

        paths = (f"/s/{study}/network", f"/api/studies/{study}/picture", f"/api/studies/{study}/picture/leaders")
        page, picture, leaders = (
            milliseconds(lambda path=path: client.get(path).raise_for_status(), changed) for path in paths
        )
        places = milliseconds(lambda: places_of(opened.study), changed)
        painted = [f"{first_picture(state, door, study, dict(client.cookies), changed):.0f}"] if browser else []
        times = [f"{each:.0f}" for each in (page, places, picture, leaders)]
        row = [people, len(opened.study.ties), *times, *painted]
        state.shut_down()
    return [str(each) for each in row]


def milliseconds(work: Callable[[], object], before: Callable[[], object]) -> float:
    """Median of the work; a first round is not counted."""
    taken = []
    for _ in range(REPEATS + 1):
        before()
        began = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - began))
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
