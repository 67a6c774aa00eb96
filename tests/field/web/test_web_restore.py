"""Backups on the pages: compare, confirm, keep."""

import html
import re

import pytest
from desk_client import EASY, PASSPHRASE
from test_web_flow import add

from claim.field.study import commands
from claim.field.study.events import Restored, short_head

NEW = "another good one"


@pytest.fixture
def backup(browser, desk, base) -> bytes:
    """A backup with Ana in it; then the passphrase is changed and Ben is added."""
    add(browser, base, "Ana", start="1")
    content = browser.post(f"{base}/settings/backup").content
    desk.study(base.removeprefix("/s/")).store.change_passphrase(NEW, EASY)
    add(browser, base, "Ben")
    return content


def upload(browser, content: bytes, passphrase: str = PASSPHRASE):
    return browser.post("/restore", files={"backup": ("x", content)}, passphrase=passphrase)


def confirmation(browser) -> dict[str, str]:
    page = browser.get("/restore").text
    return {name: re.search(rf'name="{name}" value="([^"]+)"', page)[1] for name in ("pending", "head")}


def test_a_backup_replaces_a_study_only_after_the_comparison(browser, desk, base, study, backup):
    before = desk.study(study).study
    answer = upload(browser, backup)
    assert (answer.status_code, answer.headers["location"]) == (303, "/restore")
    assert desk.study(study).study.log == before.log
    said = browser.text("/restore")
    assert "Events that only the study here has: 1. Events that only the backup has: 0." in said
    assert str(desk.library.directory) in said
    form = confirmation(browser)
    wrong = browser.post("/restore/replace", form, passphrase=PASSPHRASE)  # that of the backup
    assert wrong.status_code == 403
    assert "not the passphrase of the study that is here" in wrong.text
    assert desk.study(study).study.log == before.log
    done = browser.post("/restore/replace", form, passphrase=NEW)
    assert (done.status_code, done.headers["location"]) == (303, f"{base}/history?done=replaced")
    assert list(desk.study(study).study.people) == ["P1"]
    assert desk.study(study).study.log[-1].body == Restored(before.head, 1)
    history = browser.text(f"{base}/history?done=replaced")
    kept = next(desk.library.directory.glob("*.replaced"))
    assert f"the log with the head {short_head(before.head)}; events of that log which it lacks: 1." in history
    assert str(kept) in history
    assert [file.id for file in desk.library.list()] == [study]
    assert browser.post("/restore/replace", form, passphrase=NEW).status_code == 400  # sent twice
    browser.post("/lock")
    assert browser.post("/unlock", study=study, passphrase=PASSPHRASE).status_code == 403
    assert browser.post("/unlock", study=study, passphrase=NEW).status_code == 303
    assert upload(browser, kept.read_bytes(), NEW).headers["location"] == "/restore"  # and back again
    browser.post("/restore/replace", confirmation(browser), passphrase=NEW)
    assert list(desk.study(study).study.people) == ["P1", "P2"]


def test_a_study_that_is_gone_comes_back_at_once(browser, desk, base, study, backup):
    browser.post(f"{base}/settings/close", confirm="Quiet centre")
    assert upload(browser, backup).headers["location"] == f"{base}?done=restored"
    assert desk.study(study).study.log[-1].body == Restored()
    assert "Backup brought back" in browser.text(f"{base}/history")


def test_a_locked_study_is_unlocked_before_it_is_compared(browser, desk, study, backup):
    browser.post("/lock")
    answer = upload(browser, backup)
    assert answer.status_code == 423
    path = desk.library.find(study).path
    assert "Unlock it, then choose the backup again" in answer.text
    assert str(path) in html.unescape(answer.text)  # to be moved away if it cannot be opened
    assert desk.pending_restore is None


def test_what_waits_for_an_answer_is_dropped(browser, desk, study, backup):
    for how in ("/restore/drop", "/lock"):
        upload(browser, backup)
        form = confirmation(browser)
        assert browser.post(how).status_code == 303
        assert browser.get("/restore").headers["location"] == "/"
        assert browser.post("/restore/replace", form, passphrase=NEW).status_code == 400
        desk.unlock(study, NEW)
    assert len(desk.study(study).study.people) == 2
    assert PASSPHRASE not in repr(desk.pending_restore)


def test_a_page_confirms_its_own_backup_and_the_study_it_showed(browser, desk, base, study, backup):
    upload(browser, backup)
    first = confirmation(browser)
    upload(browser, backup)
    assert browser.post("/restore/replace", first, passphrase=NEW).status_code == 400
    form = confirmation(browser)
    add(browser, base, "Carla")
    late = browser.post("/restore/replace", form, passphrase=NEW)
    assert late.status_code == 409
    assert "Events that only the study here has: 2." in late.text
    assert len(desk.study(study).study.people) == 3


def test_people_who_withdrew_are_listed_and_all_is_said_in_spanish(browser, desk, base, study, backup):
    desk.study(study).run(lambda draft: commands.withdraw(draft, "P1"))
    upload(browser, backup)
    assert "the backup still has their names: P1." in browser.text("/restore")
    browser.post("/language", language="es")
    assert "Pasos que solo tiene el estudio de aquí: 2." in browser.text("/restore")
    form = confirmation(browser)
    add(browser, base, "Carla")
    late = browser.post("/restore/replace", form, passphrase=NEW)
    assert "el estudio cambió entretanto" in late.text
    browser.post("/restore/replace", confirmation(browser), passphrase=NEW)
    assert "Copia recuperada. Reemplazó el historial" in browser.text(f"{base}/history")
    assert "el historial fue cortado" in browser.text(f"{base}/history?head=99:{'a' * 12}")
