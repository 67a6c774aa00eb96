"""A real disk that is full or read-only: one clear line on the page, nothing acknowledged that is not saved."""

import re
import subprocess

import pytest
from desk_client import EASY, PASSPHRASE, PORT, Browser
from test_web_flow import NEW

from claim.field.store.library import Library
from claim.field.study.setup import Setup
from claim.field.web.app_state import AppState

SAYS = "Nothing was saved: the disk is full or cannot be written to. Make room, then send it again."


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 300 kB of its own; only where one may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=300k", "claim-test", str(place)]
    try:
        subprocess.run(options, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def small(small_disk):
    desk = AppState(Library(small_disk / "studies", work=EASY), port=PORT)
    study = desk.create(Setup("Small"), PASSPHRASE)
    yield Browser(desk), f"/s/{study}", study, small_disk
    desk.shut_down()


def test_a_full_disk(small):
    browser, base, study, disk = small
    (disk / "filler").write_bytes(bytes(100_000))
    saved = []
    for i in range(400):
        answer = browser.api(f"{study}/people", {"name": f"Person {i} " * 40, "same": "new", "nonce": f"n{i}"})
        if answer.status_code != 200:
            break
        saved.append(answer.json()["code"])
    assert (answer.status_code, answer.json()["message"]) == (507, SAYS)
    assert len(saved) > 2
    page = browser.post(f"{base}/people", name="Quattrocchi", same="new")
    assert page.status_code == 507
    assert SAYS in page.text
    assert "Quattrocchi" in page.text  # what was typed is not lost
    assert browser.get(f"{base}/people").status_code == 200
    (disk / "filler").unlink()
    assert browser.api(f"{study}/people", {"name": "After", "same": "new", "nonce": "after"}).json()["saved"]
    with Library(disk / "studies").open(study, PASSPHRASE) as opened:
        assert list(opened.study.people) == [*saved, f"P{len(saved) + 1}"]


def test_a_read_only_disk(small):
    browser, base, study, disk = small
    assert browser.post(f"{base}/people", name="Ana", same="new").status_code == 303
    browser.post("/lock")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert browser.post("/unlock", study=study, passphrase=PASSPHRASE).status_code == 303  # it can still be read
    for path, fields in (
        (f"{base}/people", {"name": "Ben", "same": "new"}),
        ("/language", {"language": "es"}),
        (f"{base}/settings/lock", {"minutes": "5"}),
        (f"{base}/settings/backup", {}),
        (f"{base}/export", {"format": "csv"}),
    ):
        page = browser.post(path, fields)
        assert (path, page.status_code) == (path, 507)
        assert SAYS in page.text
    page = browser.post("/new", NEW)
    assert page.status_code in (400, 507)
    assert re.search(r'role="alert"><p>[^<]*(saved|used)', page.text)
    for path in ("/people", "/next", "/network", "/leaders", "/history"):
        assert browser.get(f"{base}{path}").status_code == 200
