"""``kill -9`` in the middle of entry: what got its tick on the screen is in the file."""

import os
import random
import time

import pytest
from real_browser import PASSPHRASE, Server, Watched

pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

from claim.field.store.library import Library
from claim.field.study import commands
from claim.field.study.setup import Setup

EASY = 10
TICKED = """before => [...document.querySelectorAll("[data-list] li")]
  .slice(before).some((line) => line.querySelector(".ok"))"""


@pytest.fixture
def study(studies) -> str:
    with Library(studies, work=EASY).create(Setup("Killed"), PASSPHRASE) as opened:
        opened.run(lambda draft: commands.add_person(draft, "Ana", is_start=True))
        opened.run(lambda draft: commands.start_survey(draft, "P1", consent=True))
        return opened.study.state.study


def enter_until_killed(chromium, studies, study: str, rng: random.Random, round_: int) -> list[str]:
    """Names that were ticked off on the screen when the server was gone."""
    server = Server(studies)
    watched = Watched(chromium, server.origin, "desktop")
    page = watched.page
    try:
        page.goto(server.address)
        page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
        page.get_by_role("button", name="Unlock").click()
        page.get_by_role("link", name="Ana").first.click()
        before = page.locator("[data-list] li").count()
        field = page.get_by_label("One contact a line")
        for i in range(rng.randrange(2, 6)):
            field.fill(f"{words(round_, i)}")
            field.press("Enter")
        page.wait_for_function(TICKED, arg=before)
        time.sleep(rng.uniform(0, 0.08))
        server.kill()
        page.wait_for_function("() => !document.querySelector('[data-list] .hint')")
        lines = page.locator("[data-list] li").all()[before:]
        return [line.locator("bdi").first.inner_text() for line in lines if line.locator(".ok").count()]
    finally:
        watched.context.close()
        server.kill()


def words(round_: int, i: int) -> str:
    """Names far enough from each other that nobody is asked whether they are the same."""
    letters = random.Random(round_ * 1000 + i)
    return " ".join("".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(2))


def check(chromium, studies, study, rounds: int, seed: int) -> None:
    rng, ticked = random.Random(seed), 0
    for round_ in range(rounds):
        acknowledged = enter_until_killed(chromium, studies, study, rng, round_)
        with Library(studies).open(study, PASSPHRASE) as opened:
            names = {opened.view.name(code) for code in opened.study.person("P1").contacts}
            assert set(acknowledged) <= names
            opened.verify()
        ticked += len(acknowledged)
    assert ticked  # otherwise nothing was tested


def test_no_ticked_contact_is_lost_by_2_kills(chromium, studies, study):
    check(chromium, studies, study, 2, 1)


@pytest.mark.slow
def test_no_ticked_contact_is_lost_by_many_kills(chromium, studies, study):
    """As many as ``CLAIM_KILLS`` says: each starts a server anew, and 200 of them take a quarter of an hour."""
    check(chromium, studies, study, int(os.environ.get("CLAIM_KILLS", "10")), 2)
