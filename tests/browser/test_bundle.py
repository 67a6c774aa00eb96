"""The program of ``make bundle``, unpacked elsewhere and started without Python, PATH or any other variable.

``CLAIM_BUNDLE`` names another archive than the one in ``dist``.
"""

import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from real_browser import PASSPHRASE, PATIENCE, Server, Watched
from test_open import begin
from test_walk import first_people, more, new_study, press, rehearse, survey_next, take_out

import claim

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "field" / "exchange"))  # for exchange_files.py
BUILT = sorted((ROOT / "dist").glob(f"claim-assistant-{claim.__version__}-linux-*.tar.gz"))
ARCHIVE = Path(os.environ.get("CLAIM_BUNDLE") or next(iter(BUILT), "none"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.system() != "Linux", reason="the archive of Linux"),
    pytest.mark.skipif(not ARCHIVE.exists(), reason="needs the program: make bundle"),
]


class Program(Server):
    """The program in a process of its own, with ``HOME`` and nothing else in its environment."""

    def __init__(self, folder: Path, home: Path, *options: str) -> None:
        self.command, self.environment = [str(folder / "claim-assistant"), "--no-browser"], {"HOME": str(home)}
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [*self.command, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment, cwd=home,
        )  # fmt: skip
        self.address = self._address()
        self.seconds = time.monotonic() - begun
        self.origin = self.address.partition("/launch")[0]

    def start_again(self) -> str:
        """Start the program a second time; gives the address that the running one opens."""
        settings = {"env": self.environment, "capture_output": True, "text": True, "timeout": PATIENCE}
        done = subprocess.run(self.command, **settings)
        assert done.returncode == 0, done.stderr
        assert "running already" in done.stderr
        return self._address()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The program, unpacked into a folder that is not the checkout and cannot be written."""
    place = tmp_path_factory.mktemp("unpacked")
    shutil.unpack_archive(ARCHIVE, place, filter="tar")
    unpacked = place / "claim-assistant"
    for each in (unpacked, *unpacked.rglob("*")):
        if each.is_dir() and not each.is_symlink():
            each.chmod(0o555)
    yield unpacked
    for each in (unpacked, *unpacked.rglob("*")):
        if each.is_dir() and not each.is_symlink():
            each.chmod(0o755)


@pytest.fixture
def home(tmp_path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def test_a_practice_study_with_one_survey_and_leaders(chromium, folder, home):
    before = sorted(folder.rglob("*"))
    program = Program(folder, home, "--rehearsal")
    watched = Watched(chromium, program.origin, "desktop")
    page = watched.page
    page.goto(program.address)
    page.get_by_text("This is practice").wait_for()
    rehearse(page)
    begun = time.monotonic()
    page.get_by_role("link", name="Leaders", exact=True).click()
    press(page, "Was asked")
    page.get_by_text("Noted.").wait_for()
    print(
        f"address after {program.seconds:.1f} s; leaders, compiled for the first time: {time.monotonic() - begun:.1f} s"
    )
    page.get_by_role("link", name="How you did").click()
    page.get_by_text("of the best possible").wait_for()
    watched.context.close()
    said = program.stop()
    assert watched.troubles == []
    assert "Traceback" not in said
    assert program.process.returncode == 0
    assert sorted(folder.rglob("*")) == before
    kept = home / ".cache" / "claim" / "compiled"
    assert {path.name.partition("_")[0] for path in kept.iterdir()} >= {"cascades", "foresight", "selection"}
    assert not (home / ".cache" / "numba").exists()  # where functions go that are not in real files


def test_a_study_is_kept_and_a_second_start_opens_it_locked(chromium, folder, home):
    program = Program(folder, home)
    watched = Watched(chromium, program.origin, "desktop")
    page = watched.page
    new_study(watched, program)
    first_people(watched)
    survey_next(watched, ["Carla Díaz", "Daniel Ortega"])
    assert take_out(watched).startswith(b"PK")
    watched.context.close()
    assert watched.troubles == []

    again = Watched(chromium, program.origin, "desktop")  # a browser without the cookie
    page = again.page
    page.goto(program.start_again())
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    press(page, "Unlock")
    page.get_by_role("heading", name="Drop-in centre").wait_for()
    again.context.close()
    assert again.troubles == []
    assert "Traceback" not in program.stop()
    studies = list((home / ".local" / "share" / "claim" / "studies").glob("*.study"))
    assert len(studies) == 1
    assert b"Zubizarreta" not in studies[0].read_bytes()


def test_a_spreadsheet_is_read_in_an_open_study(chromium, folder, home):
    from exchange_files import workbook

    program = Program(folder, home)
    watched = Watched(chromium, program.origin, "desktop")
    page = watched.page
    begin(page, program)
    more(page, "Bring data in")
    sheet = workbook({"people": [["name"], ["Ann Lee"], ["Bashir Khan"]]})
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    page.set_input_files("input[type=file]", {"name": "people.xlsx", "mimeType": kind, "buffer": sheet})
    press(page, "Look at them")
    page.get_by_text("2 people").wait_for()
    press(page, "Take it")
    page.get_by_text("Taken.").wait_for()
    watched.context.close()
    assert watched.troubles == []
    assert "Traceback" not in program.stop()
