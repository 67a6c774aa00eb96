"""Bringing backups back: what is compared, what is needed, what is kept, and what a crash leaves."""

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from paper import EASY, PASSPHRASE

from claim.errors import ClaimError, InputError
from claim.field.study import commands
from claim.field.study.events import (
    ConsentWithdrawn,
    PersonAdded,
    RecommendationShown,
    Restored,
    events_after,
    head_of,
)
from claim.field.study.setup import Setup

pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

from claim.field.advice.recommend import recommend
from claim.field.store.cipher import WrongPassphrase
from claim.field.store.library import Library, StudyHere, compare
from claim.field.store.store import Conflict, Damaged, Store
from claim.field.study.study import Study
from claim.io import files

DATA = Path(__file__).parent / "data"
NEW = "another good one"


def add(opened, *names: str) -> None:
    for name in names:
        opened.run(lambda draft, name=name: commands.add_person(draft, name))


def log_of(path: Path, passphrase: str = PASSPHRASE):
    store = Store.open(path, passphrase)
    try:
        return store.events()
    finally:
        store.close()


def replaced(library, here, copy, passphrase=PASSPHRASE, current=PASSPHRASE):
    with pytest.raises(StudyHere) as found:
        library.restore(copy, passphrase)
    return library.replace(here, copy, passphrase, current, compare(here.study.log, found.value.log))


@pytest.fixture
def copy(opened, tmp_path) -> Path:
    opened.store.backup(tmp_path / "copy")
    return tmp_path / "copy"


def test_a_study_that_is_gone_comes_back(library, opened, copy):
    log = opened.study.log
    opened.lock()
    library.delete(opened.store.path.stem)
    with library.restore(copy, PASSPHRASE) as again:
        assert again.study.log[:-1] == log
        assert again.study.log[-1].body == Restored()
        assert again.view.name("P2") == "Benedikt Quattrocchi"
    assert len(list(library.directory.iterdir())) == 1


@pytest.mark.parametrize(("here", "backup"), [(0, 0), (3, 0), (0, 2), (3, 2)])
def test_each_side_is_counted(library, opened, copy, tmp_path, here, backup):
    shared = opened.study.position
    elsewhere = Library(tmp_path / "elsewhere", work=EASY)
    with elsewhere.restore(copy, PASSPHRASE) as other:
        add(other, *("Xaver" for _ in range(backup - 1)))
        if backup:
            other.store.backup(copy)
    add(opened, *("Dora" for _ in range(here)))
    with pytest.raises(StudyHere) as found:
        library.restore(copy, PASSPHRASE)
    comparison = compare(opened.study.log, found.value.log)
    assert (comparison.shared, comparison.here, comparison.backup) == (shared, here, backup)
    assert (comparison.head_here, comparison.head_backup) == (opened.study.head, head_of(found.value.log))
    assert comparison.withdrawn == ()


def test_a_replaced_study_is_kept_and_the_restore_is_in_the_log(library, opened, copy):
    log = opened.study.log
    add(opened, "Dora", "Emil")
    before = opened.study
    done = replaced(library, opened, copy)
    with done.opened as again:
        assert again.study.log[:-1] == log
        assert again.study.log[-1].body == Restored(before.head, 2)
        with pytest.raises(InputError, match="cannot be undone"):
            again.run(lambda draft: commands.undo(draft, len(log) + 1))
        assert again.study.state.step == Study(log).state.step  # the next recommendation is the one it was
        assert log_of(done.kept) == before.log
        assert done.kept.name == f"{before.state.study}-{len(before.log)}-{before.log[-1].hash[:12]}.replaced"
        assert [file.id for file in library.list()] == [before.state.study]
        back = replaced(library, again, done.kept)
    with back.opened as newest:
        assert newest.study.log[:-1] == before.log
        assert newest.study.log[-1].body == Restored(head_of(log_of(back.kept)), 1)


def test_the_passphrase_in_force_is_needed_and_stays(library, opened, copy):
    opened.store.change_passphrase(NEW, EASY)
    add(opened, "Dora")
    log = opened.study.log
    for current in (PASSPHRASE, "neither of the two"):
        with pytest.raises(WrongPassphrase):
            replaced(library, opened, copy, PASSPHRASE, current)
    with pytest.raises(WrongPassphrase):
        library.replace(opened, copy, NEW, NEW, compare(log, log))
    assert opened.refresh().study.log == log  # nothing was replaced so far
    replaced(library, opened, copy, PASSPHRASE, NEW).opened.lock()
    with pytest.raises(WrongPassphrase):
        library.open("", PASSPHRASE)
    with library.open("", NEW) as again:
        assert [again.view.name(code) for code in again.study.people][1:] == ["Benedikt Quattrocchi", "Çağla Ørsted"]


def test_a_damaged_backup_replaces_nothing(library, opened, copy, tmp_path):
    broken = bytearray(copy.read_bytes())
    broken[9000] ^= 1
    (tmp_path / "broken").write_bytes(broken)
    before = sorted(library.directory.iterdir())
    with pytest.raises(Damaged):
        library.restore(tmp_path / "broken", PASSPHRASE)
    with pytest.raises(InputError, match="no such file"):
        library.restore(tmp_path / "none", PASSPHRASE)
    assert sorted(library.directory.iterdir()) == before


def test_what_was_entered_after_the_comparison_is_not_lost(library, opened, copy, monkeypatch):
    with pytest.raises(StudyHere) as found:
        library.restore(copy, PASSPHRASE)
    comparison = compare(opened.study.log, found.value.log)
    with library.open("", PASSPHRASE) as other:
        add(other, "Dora")
        with pytest.raises(Conflict, match="compare"):
            library.replace(opened, copy, PASSPHRASE, PASSPHRASE, comparison)
        real = Store.replace_with

        def overtaken(self, *arguments):
            add(other, "Emil")  # at the last moment before the write lock is taken
            return real(self, *arguments)

        monkeypatch.setattr(Store, "replace_with", overtaken)
        with pytest.raises(Conflict, match="compare"):
            library.replace(opened, copy, PASSPHRASE, PASSPHRASE, compare(opened.study.log, found.value.log))
        assert len(other.refresh().study.people) == 5
    assert not list(library.directory.glob("*.replaced"))


def test_whoever_has_the_replaced_study_open_writes_nothing_into_it(library, opened, copy):
    with library.open("", PASSPHRASE) as other:
        done = replaced(library, opened, copy)
        done.opened.lock()
        with pytest.raises(Conflict, match="open it again"):
            add(other, "Emil")
    with pytest.raises(InputError, match="locked"):
        add(opened, "Emil")


def test_people_who_withdrew_are_named_before_their_names_come_back(library, opened, copy):
    add(opened, "Dora")
    for code in ("P2", "P4"):
        opened.run(lambda draft, code=code: commands.withdraw(draft, code))
    with pytest.raises(StudyHere) as found:
        library.restore(copy, PASSPHRASE)
    assert compare(opened.study.log, found.value.log).withdrawn == ("P2",)  # the backup never had P4
    assert compare(opened.study.log, opened.study.log).withdrawn == ()


def test_closing_destroys_what_was_kept(library, opened, copy, tmp_path):
    add(opened, "Dora")
    done = replaced(library, opened, copy)
    os.link(done.kept, tmp_path / "same file")
    library.close_study(done.opened)
    assert list(library.directory.iterdir()) == []
    with pytest.raises((WrongPassphrase, Damaged)):
        Store.open(tmp_path / "same file", PASSPHRASE)
    assert log_of(copy)  # the team's own backups are theirs


def test_a_study_that_cannot_be_opened_is_moved_away_first(library, opened, copy, tmp_path):
    opened.lock()
    opened.store.path.write_bytes(b"\x0a" + b"damaged" * 3000)
    with pytest.raises(StudyHere):
        library.restore(copy, PASSPHRASE)
    opened.store.path.rename(tmp_path / "away")
    with library.restore(copy, PASSPHRASE) as again:
        assert len(again.study.people) == 3


def killed_at(step: int, directory: Path, copy: Path) -> bool:
    """Restore in another process that kills itself at the given file operation; False if it came to its end."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)
    left = step

    def dying(real):
        def run(*arguments, **options):
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return real(*arguments, **options)

        return run

    try:
        library = Library(directory, work=EASY)
        with library.open("", NEW) as here:
            log = log_of(copy)
            for module, name in (
                (files, "create_private"),
                (files, "sync"),
                (os, "replace"),
            ):
                setattr(module, name, dying(getattr(module, name)))
            library.replace(here, copy, PASSPHRASE, NEW, compare(here.study.log, log))
    finally:
        os._exit(0)


def test_a_kill_at_any_moment_loses_nothing(library, opened, copy):
    opened.store.change_passphrase(NEW, EASY)
    add(opened, "Dora")
    study, log, short = opened.store.path.stem, opened.study.log, log_of(copy)
    opened.lock()
    shutil.copy(opened.store.path, copy.with_name("before"))
    left_alone, step = 0, 0
    while killed_at(step, library.directory, copy):
        kept = list(library.directory.glob("*.replaced"))
        with library.open(study, NEW) as now:
            if now.study.log == log:
                left_alone += 1
            else:
                assert now.study.log[:-1] == short
                assert [log_of(each, NEW) for each in kept] == [log]
        for each in kept:
            each.unlink()
        shutil.copy(copy.with_name("before"), opened.store.path)
        step += 1
    assert 5 < left_alone < step  # it was killed before the replacement, and after it
    with library.open(study, NEW) as now:
        assert now.study.log[:-1] == short


# On the command line --------------------------------------------------------------------------------------------------


def test_restore_compares_asks_and_keeps(library, opened, command, tmp_path):
    copy = str(tmp_path / "copy")
    saved = json.loads(command("backup", copy, "--json", "-").stdout)
    assert (saved["events"], saved["head"]) == (opened.study.position, opened.study.head)
    for name in ("Dora", "Emil"):
        opened.run(lambda draft, name=name: commands.add_person(draft, name))
    differ = "the study here has 2 events that the backup lacks; the backup has 0 that are not here"
    refused = command("restore", copy)
    assert refused.exit_code == 2
    assert differ in refused.stdout
    refused = command("restore", copy, "--json", "-")
    assert (refused.exit_code, json.loads(refused.stdout)["comparison"]["here"]) == (2, 2)
    asked = command("restore", copy, "--replace", answer="n\n")
    assert asked.exit_code != 0
    assert differ in asked.stderr
    assert len(opened.refresh().study.people) == 5  # nothing was replaced so far
    before = opened.study.head
    command("restore", copy, "--replace", "--json", str(tmp_path / "done.json"), answer="y\n")
    done = json.loads((tmp_path / "done.json").read_text())
    assert (done["comparison"]["here"], done["comparison"]["backup"]) == (2, 0)
    last = json.loads(command("history", "--json", "-").stdout)["events"][-1]
    assert (last["type"], last["body"]) == ("Restored", {"replaced": before, "discarded": 2})
    assert "discarded 2 of" in " ".join(command("history").stdout.split())
    assert [each["study"] for each in json.loads(command("list", "--json", "-").stdout)["studies"]] == [done["study"]]
    shown = command("restore", done["kept"], "--replace", "--yes")
    assert "is kept in" in shown.stdout
    assert json.loads(command("people", "--json", "-").stdout)["people"] == 5


def test_names_that_were_erased_are_announced(library, opened, command, tmp_path):
    opened.store.backup(tmp_path / "copy")
    opened.run(lambda draft: commands.withdraw(draft, "P2"))
    shown = command("restore", str(tmp_path / "copy"), "--replace", "--yes")
    assert "names of people who withdrew: P2" in shown.stderr


def test_a_backup_with_an_older_passphrase(library, command, tmp_path, monkeypatch):
    with library.create(Setup("Second"), "an older passphrase") as opened:
        opened.store.backup(tmp_path / "copy")
        opened.store.change_passphrase(PASSPHRASE, EASY)
    monkeypatch.setenv("CLAIM_BACKUP_PASSPHRASE", "an older passphrase")
    assert command("restore", str(tmp_path / "copy"), "--replace", "--yes").exit_code == 0
    assert command("verify").exit_code == 0  # with the passphrase in force


# Files of the version before -----------------------------------------------------------------------------------------
# Made by a program of file version 2 (which knows no event Restored); the backup has an older passphrase.

OLD_HEAD = "23:d16039596801a01c50deeb2aa67b93b587abe2401efd5b885e14e0a854968ffc"
OLD_STUDY = "b53f6eaf43e434af"


@pytest.fixture
def old(library):
    library.directory.mkdir()
    shutil.copy(DATA / "version-2.study", library.directory / f"{OLD_STUDY}.study")
    with library.open(OLD_STUDY, "the second passphrase") as opened:
        yield opened


def test_a_study_of_version_2_opens_verifies_and_goes_on(old):
    assert old.verify().head == OLD_HEAD
    assert [old.view.name(code) for code in old.study.people] == ["Ilka Fenbright", "Osric Vale", "P3", "Wendell Ashby"]
    assert sum(isinstance(event.body, PersonAdded | ConsentWithdrawn) for event in old.study.log) == 7
    add(old, "Yorick Hale")
    assert (old.verify().events, events_after(OLD_HEAD, old.study.log)) == (24, 1)


def test_a_backup_of_version_2_comes_back(library, tmp_path):
    with library.restore(DATA / "version-2.backup", "the first passphrase") as opened:
        assert opened.study.state.study == OLD_STUDY
        assert opened.view.name("P3") == "Tamsin Quill"
        add(opened, "Yorick Hale")
        opened.verify()


def test_a_backup_of_version_2_replaces_its_study(library, old):
    with pytest.raises(StudyHere) as found:
        library.restore(DATA / "version-2.backup", "the first passphrase")
    comparison = compare(old.study.log, found.value.log)
    assert (comparison.shared, comparison.here, comparison.backup) == (13, 10, 0)
    assert comparison.withdrawn == ("P3",)
    old_backup = (DATA / "version-2.backup").read_bytes()
    done = library.replace(old, DATA / "version-2.backup", "the first passphrase", "the second passphrase", comparison)
    with done.opened as again:
        assert again.study.log[-1].body == Restored(OLD_HEAD, 10)
        again.verify()
    assert head_of(log_of(done.kept, "the second passphrase")) == OLD_HEAD
    assert (DATA / "version-2.backup").read_bytes() == old_backup


# Made by a program of file version 3, which knows neither open studies nor marks.
VERSION_3 = ("068b99837d49bb4a", "29:a046a362e421f2f82d81d63d6f496e1789da4193c9b14d65f4aa0baebc0ee338")


def test_a_study_of_version_3_stays_closed_and_keeps_what_was_recommended(library):
    study, head = VERSION_3
    library.directory.mkdir()
    shutil.copy(DATA / "version-3.study", library.directory / f"{study}.study")
    with library.open(study, "the third passphrase") as opened:
        setup = opened.study.setup
        assert (setup.open, setup.hub_question, setup.rule, opened.study.left) == (False, False, "degree+inverse", 4)
        shown = [event.body for event in opened.study.log if isinstance(event.body, RecommendationShown)]
        assert [each.ranking[: each.count] for each in shown] == [("P4",), ("P3", "P6"), ("P3", "P5")]
        assert [each.person for each in recommend(opened.study).ranking] == list(shown[-1].ranking)
        assert not opened.run(lambda draft: commands.show_advice(draft, recommend(draft.study))).events
        assert opened.verify().head == head
        opened.run(lambda draft: commands.change_settings(draft, replace(setup, open=True, hub_question=True)))
        opened.run(lambda draft: commands.meet_new_person(draft, draft.new_person("Yorick Hale")))
        opened.run(lambda draft: commands.mark_contact(draft, "P1", "P4"))
        assert events_after(head, opened.study.log) == 4
    with library.open(study, "the third passphrase") as again:
        assert (again.study.person("P1").marked, again.study.person("P8").is_new) == ("P4", True)


def test_an_older_program_says_that_a_newer_one_is_needed(library, opened, monkeypatch):
    from claim.field.store import store

    opened.lock()
    monkeypatch.setattr(store, "VERSION", 3)
    with pytest.raises(ClaimError, match="install a newer one"):
        library.open("", PASSPHRASE)
