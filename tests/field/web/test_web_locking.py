"""Locked: nothing is read or written, wrong passphrases say one thing, idle studies lock themselves."""

import logging

import pytest
from desk_client import PASSPHRASE

from claim.field.store import store
from claim.field.store.library import Library
from claim.field.study.setup import Setup
from claim.field.web.app_state import AppState

READS = ("", "/people", "/next", "/same", "/network", "/leaders", "/export", "/import", "/history", "/settings")


@pytest.fixture(autouse=True)
def waited(monkeypatch):
    """How long wrong passphrases would have waited."""
    seconds: list[float] = []
    monkeypatch.setattr(store.GATE, "_sleep", seconds.append)
    return seconds


def test_writes_are_refused_while_locked(browser, desk, base, study):
    browser.post(f"{base}/people", name="Ana", same="new", start="1")
    browser.post("/lock")
    for path in (
        "/people",
        "/next",
        "/same",
        "/leaders",
        "/settings",
        "/export",
        "/survey/P1/contact",
        "/history/undo",
    ):
        answer = browser.post(base + path, name="Ben", person="P1", action="refused", format="csv")
        assert answer.status_code == 423, path
        assert "Nothing was saved" in answer.text
    assert browser.api(f"{study}/people", {"name": "Ben", "nonce": "n"}).status_code == 423
    for path in READS:
        answer = browser.get(base + path)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/?study={study}")
    assert browser.get(f"/api/studies/{study}").status_code == 423
    assert "Quiet centre" not in browser.get("/").text
    assert browser.post("/unlock", study=study, passphrase=PASSPHRASE).status_code == 303
    assert len(desk.study(study).study.people) == 1


def test_idle_studies_lock_themselves(browser, desk, clock, base, study):
    clock.now += 14 * 60
    assert browser.get(base).status_code == 200  # somebody is here
    clock.now += 14 * 60
    assert browser.get(base).status_code == 200
    clock.now += 15 * 60
    assert browser.get(base).status_code == 303
    assert study not in desk.titles()


def test_the_time_to_lock_is_a_setting_that_is_remembered(browser, desk, clock, base, study):
    assert browser.post(f"{base}/settings/lock", minutes="2").status_code == 303
    for minutes in ("0", "241", "", "x"):
        assert browser.post(f"{base}/settings/lock", minutes=minutes).status_code == 400
    clock.now += 2 * 60
    desk.lock_if_idle()
    assert not desk.titles()
    again = AppState(Library(desk.library.directory))
    assert again.preferences.lock_minutes == 2
    assert (desk.library.directory / "preferences.json").stat().st_mode & 0o777 == 0o600


def test_what_is_typed_while_it_locks_is_shown_again(browser, desk, base, study):
    desk.lock()
    answer = browser.post(f"{base}/people", name="Ana Zubizarreta", same="new")
    assert answer.status_code == 423
    assert "Ana Zubizarreta" in answer.text


def test_a_wrong_passphrase_says_one_thing_and_slows_down(browser, desk, base, study, waited):
    browser.post("/lock")
    desk.library.directory.joinpath("0123456789abcdef.study").write_bytes(b"not a study at all" * 100)
    told = set()
    for name, passphrase in [(study, "wrong"), (study, ""), (study, "x" * 5000), ("0123456789abcdef", PASSPHRASE)]:
        answer = browser.post("/unlock", study=name, passphrase=passphrase)
        assert answer.status_code == 403
        told.add("Wrong passphrase, or not a study file." in answer.text)
        assert passphrase == "" or passphrase not in answer.text
    assert told == {True}
    assert waited[:3] == [0.25, 0.5, 1.0]


def test_studies_that_are_not_there(browser, desk):
    for name in ("f" * 16, "../../etc/passwd", "", "F" * 16, "*", "0" * 15):
        assert browser.post("/unlock", study=name, passphrase=PASSPHRASE).status_code == 404
        if name and "/" not in name:
            assert browser.get(f"/s/{name}").status_code == 404


def test_a_study_locked_while_a_request_is_under_way_is_only_locked(browser, desk, base, study):
    desk.study(study).lock()  # the key is gone, the desk has not noticed
    desk._open.pop(study)
    assert browser.post(f"{base}/people", name="Ana", same="new").status_code == 423


def test_logs_hold_no_names(browser, desk, base, study, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)

    def broken(*_, **__):
        raise RuntimeError("about Ana Zubizarreta")

    browser.post(f"{base}/people", name="Ana Zubizarreta", same="new")
    monkeypatch.setattr("claim.field.view.overview", broken)
    browser.http.raise_server_exceptions = False
    answer = browser.get(base)
    assert answer.status_code == 500
    assert "Zubizarreta" not in answer.text
    told = [record.getMessage() + (record.exc_text or "") for record in caplog.records if record.name != "httpx2"]
    assert any("RuntimeError" in message for message in told)
    assert not any("Zubizarreta" in message or "Ana" in message for message in told)


def test_nothing_of_a_name_is_in_the_data_directory(browser, desk, base, study):
    browser.post(f"{base}/people", name="Ana Zubizarreta", same="new", start="1")
    browser.post(f"{base}/import", files={"files": ("r.csv", b"name\nZubizarreta Quattrocchi\n")})
    browser.post(f"{base}/export", format="csv")
    for path in desk.library.directory.rglob("*"):
        assert b"Zubizarreta" not in path.read_bytes()
        assert "Zubizarreta" not in path.name


def test_a_practice_study_is_not_locked(browser, desk, clock):
    base = browser.post("/rehearsal").headers["location"]
    clock.now += 3600
    assert browser.get(base).status_code == 200


def test_two_studies_are_kept_apart(browser, desk, base, study):
    other = desk.create(Setup("Another"), "another passphrase")
    browser.post(f"{base}/people", name="Ana", same="new")
    assert "Ana" not in browser.text(f"/s/{other}/people")
    browser.post("/lock")
    assert browser.get("/").text.count('type="radio"') == 2
