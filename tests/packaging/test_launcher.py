"""The program for people without Python: what it says, where it listens, and that it runs only once."""

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import launcher
import pytest
from launcher import OneProgram

from claim.field.web.app import bound
from claim.field.web.i18n import LANGUAGES, chosen_language

PATIENCE = 120  # seconds


class TestTexts:
    def test_both_languages_say_the_same(self):
        assert set(launcher.TEXTS) == set(LANGUAGES)
        english, spanish = launcher.TEXTS["en"], launcher.TEXTS["es"]
        assert set(english) == set(spanish)
        for key, text in english.items():
            assert re.findall(r"{\w+}", text) == re.findall(r"{\w+}", spanish[key])

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such variables")
    @pytest.mark.parametrize(
        ("variables", "language"),
        [
            ({}, "en"),
            ({"LANG": "es_MX.UTF-8"}, "es"),
            ({"LANG": "es_MX.UTF-8", "LC_ALL": "en_GB.UTF-8"}, "en"),
            ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": ""}, "en"),
            ({"LANG": "C", "LC_MESSAGES": "es"}, "es"),
        ],
    )
    def test_the_language_is_that_of_the_system(self, monkeypatch, variables, language):
        for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert chosen_language(None, launcher.system_language()) == language


def test_the_usual_port_unless_it_is_taken():
    with bound(0) as door:
        port = door.getsockname()[1]
        assert launcher.usable_port(port) == 0
    assert launcher.usable_port(port) == port


class TestOneProgram:
    def test_the_second_is_turned_away_until_the_first_ends(self, tmp_path):
        first, second = OneProgram(tmp_path / "studies"), OneProgram(tmp_path / "studies")
        assert first.begin()
        assert not second.begin()
        first.end()
        assert second.begin()
        second.end()

    def test_studies_elsewhere_have_a_program_of_their_own(self, tmp_path):
        first, second = OneProgram(tmp_path / "one"), OneProgram(tmp_path / "two")
        assert first.begin()
        assert second.begin()
        first.end()
        second.end()

    def test_the_running_one_hears_once_that_its_page_is_wanted(self, tmp_path):
        first, second = OneProgram(tmp_path), OneProgram(tmp_path)
        first.begin()
        assert not first.asked_to_open()
        answers: list[bool] = []
        asking = threading.Thread(target=lambda: answers.append(second.ask_to_open(PATIENCE)))
        asking.start()
        while not first.asked_to_open():
            time.sleep(0.01)
        asking.join()
        assert answers == [True]
        assert not first.asked_to_open()
        first.end()

    def test_a_running_one_that_does_not_answer_is_reported(self, tmp_path):
        first, second = OneProgram(tmp_path), OneProgram(tmp_path)
        first.begin()
        assert not second.ask_to_open(seconds=0.1)
        assert not first.asked_to_open()  # the request is gone with the one who made it
        first.end()

    def test_a_request_from_before_is_forgotten(self, tmp_path):
        (tmp_path / ".assistant.open").touch()
        program = OneProgram(tmp_path)
        program.begin()
        assert not program.asked_to_open()
        program.end()

    @pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX")
    def test_only_the_owner_can_ask(self, tmp_path):
        folder = tmp_path / "studies"
        program = OneProgram(folder)
        program.begin()
        program.ask_to_open(seconds=0)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]
        program.end()


class TestEnvironment:
    @pytest.fixture(autouse=True)
    def _cache(self, monkeypatch, tmp_path):
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        monkeypatch.setattr(launcher, "cache_directory", lambda: tmp_path / "cache")
        yield
        os.environ.pop("NUMBA_CACHE_DIR", None)

    def test_compiled_code_is_kept_in_the_users_cache(self, tmp_path):
        launcher.keep_compiled_code()
        assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / "cache" / "compiled")
        assert (tmp_path / "cache" / "compiled").is_dir()

    def test_a_folder_of_ones_own_stays(self, monkeypatch):
        monkeypatch.setenv("NUMBA_CACHE_DIR", "/elsewhere")
        launcher.keep_compiled_code()
        assert os.environ["NUMBA_CACHE_DIR"] == "/elsewhere"

    def test_a_cache_that_cannot_be_written_does_no_harm(self, tmp_path):
        (tmp_path / "cache").write_text("a file, not a folder")
        launcher.keep_compiled_code()
        assert "NUMBA_CACHE_DIR" not in os.environ

    def test_a_browser_gets_the_libraries_of_the_system(self, monkeypatch):
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        monkeypatch.setenv("LD_LIBRARY_PATH", "/bundle/_internal")
        launcher.use_system_libraries()
        assert "LD_LIBRARY_PATH" not in os.environ
        monkeypatch.setenv("LD_LIBRARY_PATH", "/bundle/_internal")
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/usr/own")
        launcher.use_system_libraries()
        assert os.environ["LD_LIBRARY_PATH"] == "/usr/own"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the browser")
class TestProgram:
    @pytest.fixture
    def variables(self, tmp_path) -> dict[str, str]:
        browser = tmp_path / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
        browser.chmod(0o755)
        here = {"HOME": str(tmp_path), "CLAIM_STUDIES": str(tmp_path / "studies"), "LC_ALL": "es_ES.UTF-8"}
        return {**os.environ, **here, "BROWSER": f"{browser} %s", "PYTHONPATH": os.pathsep.join(sys.path)}

    def test_a_second_start_opens_the_running_one_and_a_closed_window_stops_it(self, tmp_path, variables):
        command = [sys.executable, launcher.__file__, "--port", "0"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=variables, **streams) as running:
            try:
                ready, _, _ = select.select([running.stdout], [], [], PATIENCE)
                first = running.stdout.readline().strip() if ready else ""
                again = subprocess.run(command, env=variables, timeout=PATIENCE, capture_output=True, text=True)
                second = running.stdout.readline().strip()
                running.send_signal(signal.SIGHUP)
                _, said = running.communicate(timeout=PATIENCE)
            finally:
                running.kill()
        assert (again.returncode, again.stdout) == (0, "")
        assert again.stderr.startswith("El asistente ya está en marcha.")
        assert first.startswith("http://127.0.0.1:")
        assert first.partition("=")[0] == second.partition("=")[0]
        assert first != second
        assert opened(tmp_path / "opened") == [first, second]
        assert running.returncode == 0, said
        assert f"Los estudios se guardan, cifrados, en {tmp_path / 'studies'}" in said
        assert said.endswith("El asistente ha terminado.\n")

    def test_what_is_wrong_is_said_in_one_line(self, tmp_path, variables):
        (tmp_path / "studies").write_text("a file, not a folder")
        command = [sys.executable, launcher.__file__]
        done = subprocess.run(command, env=variables, timeout=PATIENCE, capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr == f"El asistente no puede iniciarse: {tmp_path / 'studies'}: File exists\n"


def opened(file: Path) -> list[str]:
    """The addresses that the browser was given; it may need a moment."""
    end = time.monotonic() + PATIENCE
    while not file.exists() or len(file.read_text().splitlines()) < 2:
        assert time.monotonic() < end, "the browser was not started twice"
        time.sleep(0.05)
    return file.read_text().splitlines()
