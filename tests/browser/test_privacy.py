"""What a browser with a normal profile keeps after a whole study: codes, and no name or title that was typed."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from real_browser import FLAGS, PASSPHRASE, PATIENCE, Server, until
from test_walk import press, save_contact

TITLE = "Quetzal shelter"
NAMES = ("Zubizarreta", "Okafor", "Ortega", "Orteja", "Haddad", "Lindqvist", "Nakamura", "Whitlock", "Papadakis")
REASON = "Ferdinand vouches"
WORDS = ("Quetzal", *NAMES, "Ferdinand")


class Profile:
    """A Chromium of its own, started as a person would start it, with a profile on the disk."""

    def __init__(self, chromium, folder: Path, *flags: str) -> None:
        self.folder, self.temporary = folder / "profile", folder / "temporary"
        self.downloads = folder / "downloads"
        for each in (self.temporary, self.downloads):
            each.mkdir(parents=True)
        command = [
            chromium.program, "--headless=new", *FLAGS.split(), *flags, f"--user-data-dir={self.folder}",
            "--remote-debugging-port=0", "about:blank",
        ]  # fmt: skip
        environment = {**os.environ, "TMPDIR": str(self.temporary), "HOME": str(folder)}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        chosen = self.folder / "DevToolsActivePort"
        until(lambda: chosen.exists() and chosen.read_text())
        port = chosen.read_text().split()[0]
        self.browser = chromium.playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
        self.page = self.browser.contexts[0].pages[0]
        self.page.set_default_timeout(1000 * PATIENCE)

    def download(self, button: str) -> None:
        with self.page.expect_download() as downloading:
            press(self.page, button)
        downloading.value.save_as(self.downloads / downloading.value.suggested_filename)

    def quit(self) -> None:
        """Quit as a person does, so that everything that is kept is written."""
        self.browser.new_browser_cdp_session().send("Browser.close")
        self.process.wait(timeout=PATIENCE)


@pytest.fixture(params=["script", pytest.param("no script", marks=pytest.mark.slow)])
def profile(request, chromium):
    flags = () if request.param == "script" else ("--blink-settings=scriptEnabled=false",)
    folder = Path(tempfile.mkdtemp(prefix="cb"))  # short: Chromium keeps a socket in it
    made = Profile(chromium, folder, *flags)
    made.has_script = request.param == "script"
    yield made
    if made.process.poll() is None:
        made.process.send_signal(signal.SIGKILL)
        made.process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def test_a_whole_study_leaves_no_name_and_no_title_behind(profile, studies, tmp_path):
    temporary = tmp_path / "server-temporary"
    temporary.mkdir()
    server = Server(studies, TMPDIR=str(temporary))
    page = profile.page
    profile.base = _create(page, server)
    _add(profile, "Ana Zubizarreta", "Benedikt Okafor")
    _survey(profile)
    _choose_another(profile)
    _correct(profile)
    _bring_in(profile, tmp_path)
    _merge(profile)
    page.goto(f"{profile.base}/network")
    page.goto(f"{profile.base}/leaders")
    press(page, "Was asked")
    page.get_by_text("Noted.").wait_for()
    page.goto(f"{profile.base}/export")
    profile.download("Save the file")
    _settings(profile)
    page.goto(f"{profile.base}/people/P1")
    profile.quit()
    out = server.stop() + server.out

    kept = [path for folder in (profile.folder, profile.temporary, profile.downloads, temporary, studies) for path in
            folder.rglob("*") if path.is_file() and not path.is_symlink()]  # fmt: skip
    assert _found(kept, [f"{profile.base}/people/P1"]), "the scan reads the history: the codes in addresses are there"
    assert _found(kept, WORDS) == {}
    assert [word for word in WORDS if word.casefold() in out.casefold()] == []
    assert [path.name for path in kept for word in WORDS if word.casefold() in path.name.casefold()] == []


def _create(page, server) -> str:
    page.goto(server.address)
    page.get_by_role("link", name="New study").click()
    for again in ("something else", PASSPHRASE):  # the first try is refused: the form comes back with the title
        page.get_by_label("Title").fill(TITLE)
        page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
        page.get_by_label("The same again").fill(again)
        page.get_by_label("I understand").check()
        press(page, "Begin the study")
    page.get_by_label("Name of a person you know").wait_for()
    return page.url.partition("/people")[0]


def _add(profile, *names: str) -> None:
    page = profile.page
    page.wait_for_load_state()
    for i, name in enumerate(names):
        page.get_by_label("Name of a person you know").fill(name)
        page.keyboard.press("Enter")
        if profile.has_script:
            page.locator("[data-list] .ok").nth(i).wait_for()
        else:
            page.get_by_text("Saved.").wait_for()


def _survey(profile) -> None:
    page = profile.page
    page.goto(f"{profile.base}/survey/P1")
    page.get_by_label("This person agrees").check()
    press(page, "Begin")
    for i, name in enumerate(("Daniel Ortega", "Daniel Orteja", "Farid Haddad"), start=1):
        if profile.has_script:
            save_contact(page, name, i, new=name.endswith("Orteja"))
            continue
        page.get_by_label("One contact a line").fill(name)
        press(page, "Save this contact")
        if name.endswith("Orteja"):
            press(page, "No, a new person")
        page.get_by_text("Contact saved.").wait_for()
    page.get_by_label("One contact a line").fill("Ana Zubizarreta")  # naming herself: refused
    page.keyboard.press("Enter")
    page.get_by_text("their own contact").first.wait_for()
    page.goto(f"{profile.base}/survey/P1")
    press(page, "Finish the survey")


def _choose_another(profile) -> None:
    page = profile.page
    page.goto(f"{profile.base}/next")
    form = page.locator("form", has=page.locator("[data-pick]"))
    page.locator("details", has=page.locator("[data-pick]")).last.locator("summary").click()
    form.locator("[name=person]").fill("P5")
    form.locator("[name=reason]").fill(REASON)
    form.get_by_role("button").first.click()
    page.get_by_role("heading", name="Haddad").wait_for()


def _correct(profile) -> None:
    page = profile.page
    page.goto(f"{profile.base}/people/P2")
    page.get_by_label("Name").fill("Benedikt Lindqvist")
    page.locator("form[action$=rename] button").click()
    page.goto(f"{profile.base}/people")


def _bring_in(profile, tmp_path: Path) -> None:
    page = profile.page
    file = tmp_path / "list.csv"
    file.write_text("name\nAkira Nakamura\nDaniel Whitlock\n", encoding="utf-8")
    page.goto(f"{profile.base}/import")
    page.set_input_files("input[type=file]", file)
    page.locator("main form button").first.click()
    page.get_by_text("Whitlock").first.wait_for(state="attached")
    page.locator("form[action$=take] button.main").click()
    page.get_by_role("heading", name="People").wait_for()
    file.unlink()


def _merge(profile) -> None:
    page = profile.page
    page.goto(f"{profile.base}/same")
    press(page, "One person")
    page.get_by_text("They are one person now").wait_for()


def _settings(profile) -> None:
    page = profile.page
    page.goto(f"{profile.base}/settings")
    page.locator("#question").fill("Whom does Papadakis know?")
    page.locator("form[action$=settings] button").first.click()
    page.wait_for_load_state()


def _found(paths: list[Path], words) -> dict[str, list[str]]:
    """The words that stand in files, however they are written, and where."""
    found: dict[str, list[str]] = {}
    for path in paths:
        try:
            content = path.read_bytes().lower()
        except FileNotFoundError:
            continue
        for word in words:
            if any(form.lower() in content for form in _forms(word)):
                found.setdefault(word, []).append(path.name)
    return found


def _forms(word: str) -> set[bytes]:
    texts = {word, quote(word), quote_plus(word), json.dumps(word)[1:-1]}
    return {text.encode(code) for text in texts for code in ("utf-8", "utf-16-le", "utf-16-be")}
