"""The encrypted file: what gets in, what can be got out, and what happens when things go wrong."""

import os
import random
import stat
from dataclasses import replace

import pytest
from paper import EASY, PASSPHRASE

from claim.errors import ClaimError, InputError
from claim.field.study import commands
from claim.field.study.setup import Setup

pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

from claim.field.advice.recommend import recommend
from claim.field.store import cipher, store
from claim.field.store.cipher import Gate, WrongPassphrase
from claim.field.store.session import OpenStudy
from claim.field.store.store import Conflict, Damaged, Store

NAMES = ("Ana Zubizarreta", "Benedikt Quattrocchi", "Çağla Ørsted", "Zubizarreta", "Quattrocchi", "Ørsted")


def scan(directory) -> list[str]:
    """Names found in any file below a directory, or in the name of a file."""
    found = []
    for path in directory.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        for name in (*NAMES, "Quiet title"):
            forms = [name.encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le")]
            if any(form in data for form in forms) or name in str(path):
                found.append(f"{name} in {path.name}")
    return found


def reopened(opened, passphrase=PASSPHRASE) -> Store:
    return Store.open(opened.store.path, passphrase, Gate(sleep=lambda seconds: None))


def test_what_was_read_on_opening_is_forgotten_with_the_key(opened):
    store = reopened(opened)
    store.close()
    with pytest.raises(InputError, match="locked"):
        store.contents()


def test_what_was_appended_is_there_when_opened_again(library, opened):
    log, people = opened.study.log, opened.study.people
    opened.lock()
    with library.open("", PASSPHRASE) as again:
        assert again.study.log == log
        assert again.study.people == people
        assert again.view.name("P2") == "Benedikt Quattrocchi"
        assert again.verify().texts == 3


def test_files_are_for_their_owner_only(library, tmp_path):
    before = os.umask(0)
    try:
        with library.create(Setup("x"), PASSPHRASE) as opened:
            opened.store.backup(tmp_path / "copy")
            modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (opened.store.path, tmp_path / "copy")]
            assert modes == [0o600, 0o600]
            assert stat.S_IMODE(os.stat(library.directory).st_mode) == 0o700
    finally:
        os.umask(before)


def test_no_name_is_ever_in_the_data_directory(library, opened, tmp_path, monkeypatch):
    journals = []
    real = store.Transaction.write

    def watched(*arguments):
        real(*arguments)
        journals.extend(library.directory.glob("*-journal"))
        assert scan(tmp_path) == []

    monkeypatch.setattr(store.Transaction, "write", watched)
    opened.run(lambda draft: commands.add_person(draft, "Zubizarreta Quattrocchi Ørsted " * 300))
    assert journals  # there was a rollback journal to look into
    opened.store.backup(tmp_path / "copy")
    opened.store.change_passphrase("another good one", EASY)
    opened.run(lambda draft: commands.withdraw(draft, "P2"))
    assert scan(tmp_path) == []
    opened.lock()
    assert scan(tmp_path) == []


def test_a_wrong_passphrase_says_one_thing_and_slows_down(library, opened, tmp_path):
    waits: list[float] = []
    gate = Gate(sleep=waits.append)
    other = tmp_path / "other"
    other.write_bytes(b"\x0a" + b"not a study" * 900)
    for _ in range(9):
        with pytest.raises(WrongPassphrase, match=r"^wrong passphrase, or not a study file$"):
            Store.open(opened.store.path, "wrong passphrase", gate)
    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    Store.open(opened.store.path, PASSPHRASE, gate).close()
    for path in (opened.store.path, other):
        with pytest.raises(WrongPassphrase):
            Store.open(path, "wrong passphrase", gate)
    assert waits[9:] == [0.25, 0.25]
    with pytest.raises(InputError, match="at least 10"):
        library.create(Setup("x"), "short")


def test_key_derivation_is_slow_by_default():
    import time

    began = time.perf_counter()
    cipher.derive_key(PASSPHRASE, cipher.new_salt())
    assert time.perf_counter() - began > 0.05
    assert cipher.derive_key("é" * 10, b"\x0a" * 16) == cipher.derive_key("e\u0301" * 10, b"\x0a" * 16)


def test_every_flipped_bit_is_noticed(opened, tmp_path):
    opened.lock()
    whole = opened.store.path.read_bytes()
    damaged = tmp_path / "damaged"
    rng = random.Random(4)
    places = [0, 5, 16, 4095, 4096, 8000, len(whole) - 1, *(rng.randrange(len(whole)) for _ in range(40))]
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.randrange(8)
        damaged.write_bytes(changed)
        with pytest.raises((WrongPassphrase, Damaged)) as caught:
            Store.open(damaged, PASSPHRASE, Gate(sleep=lambda seconds: None))
        assert "\n" not in str(caught.value)
    damaged.write_bytes(whole[: len(whole) - 4096])
    with pytest.raises((WrongPassphrase, Damaged)):
        Store.open(damaged, PASSPHRASE, Gate(sleep=lambda seconds: None))


def test_a_change_behind_the_log_is_noticed(opened):
    opened.lock()
    path = opened.store.path
    salt = path.read_bytes()[:16]
    for change in (
        "UPDATE texts SET text = 'Somebody Else' WHERE text LIKE 'Ana%'",
        "DROP TRIGGER events_stay_as_they_are; UPDATE events SET at = '2001-01-01' WHERE seq = 3",
    ):
        connection = cipher.connect(path, cipher.derive_key(PASSPHRASE, salt), salt)
        connection.executescript(change)
        connection.close()
        with pytest.raises(Damaged):
            reopened(opened)


def test_events_cannot_be_changed_or_deleted(opened):
    for statement in ("DELETE FROM events WHERE seq = 2", "UPDATE events SET at = 'x' WHERE seq = 2"):
        with pytest.raises(ClaimError, match="events are never"), opened.store.transaction(write=True) as file:
            file.connection.execute(statement)


def test_a_withdrawn_name_is_gone_from_the_decrypted_file(opened, tmp_path):
    opened.run(lambda draft: commands.override(draft, "P3", "Quattrocchi was ill"))
    assert opened.run(lambda draft: commands.withdraw(draft, "P2")).result == ("P2",)
    assert opened.view.name("P2") == "P2"
    assert opened.verify().erased == 2
    raw = opened.store._connect()
    assert raw.execute("PRAGMA freelist_count").fetchone() == (0,)
    raw.execute("ATTACH DATABASE ? AS plain KEY ''", (str(tmp_path / "plain"),))
    raw.execute("SELECT sqlcipher_export('plain')")
    raw.close()
    plain = (tmp_path / "plain").read_bytes()
    assert b"Zubizarreta" in plain  # the scan can find what is there
    assert b"Quattrocchi" not in plain
    reopened(opened).close()  # and the chain still verifies


def test_verify_counts_every_text_that_was_erased(opened):
    """Of P2: the name, the group, what they said of P3's group, and the door; what others said of others stays."""
    setup = replace(opened.study.setup, group="region", groups_of_contacts=True)
    opened.run(lambda draft: commands.change_settings(draft, setup))
    for by, person, group in (("P2", "P2", "north"), ("P2", "P3", "south"), ("P1", "P3", "west"), ("P1", "P1", "")):
        opened.run(lambda draft, said=(by, person, group): commands.say_group(draft, *said))
    opened.run(lambda draft: commands.make_appointment(draft, "P2", "2030-01-01T09:00", "blue door"))
    opened.run(lambda draft: commands.make_appointment(draft, "P1", "2030-01-01T10:00", "red door"))
    before = opened.verify()
    assert before.erased == 0
    opened.run(lambda draft: commands.withdraw(draft, "P2"))
    after = opened.verify()
    assert (after.erased, before.texts - after.texts) == (4, 4)


def test_stale_tabs_get_a_conflict_and_the_log_does_not_fork(opened):
    with OpenStudy(reopened(opened)) as other:
        position = opened.study.position
        other.run(lambda draft: commands.add_person(draft, "Dora"), expect=position)
        with pytest.raises(Conflict, match="changed elsewhere"):
            opened.run(lambda draft: commands.add_person(draft, "Emil"), expect=position)
        opened.run(lambda draft: commands.add_person(draft, "Emil"))
        assert [opened.view.name(code) for code in ("P4", "P5")] == ["Dora", "Emil"]
        assert other.refresh().study.log == opened.study.log


def test_what_changes_no_decision_makes_no_form_stale(opened):
    position = opened.study.position
    opened.run(lambda draft: commands.exported(draft, "csv"))
    opened.run(lambda draft: commands.show_advice(draft, recommend(draft.study)))
    opened.run(lambda draft: commands.add_person(draft, "Emil"), expect=position)
    for wrong in (position, -1, opened.study.position + 1):
        with pytest.raises(Conflict, match="changed elsewhere"):
            opened.run(lambda draft: commands.add_person(draft, "Dora"), expect=wrong)


def test_a_token_appends_once(opened):
    def command(draft):
        return commands.name_new_contact(draft, "P1", "Dora")

    first = opened.run(command, token="form 7")
    again = opened.run(command, token="form 7", expect=3)  # however stale
    assert (first.repeated, again.repeated, again.result) == (False, True, None)
    assert again.events == first.events
    assert len(opened.study.people) == 4
    for token in ("", "x" * 300):
        with pytest.raises(InputError, match="token"):
            opened.run(command, token=token)


def test_passphrase_change(library, opened):
    salt = opened.store.path.read_bytes()[:16]
    old = reopened(opened)
    opened.store.change_passphrase("another good one", EASY)
    opened.run(lambda draft: commands.add_person(draft, "Dora"))
    assert opened.store.path.read_bytes()[:16] != salt
    with pytest.raises(Conflict, match="open it again"):
        old.events()
    opened.lock()
    with pytest.raises(WrongPassphrase):
        reopened(opened)
    with library.open("", "another good one") as again:
        assert again.view.name("P4") == "Dora"
    assert [path.suffix for path in library.directory.iterdir()] == [".study"]


def test_a_version_1_file_becomes_like_new(library, opened):
    log, texts = opened.study.log, opened.view.texts
    path = library.directory / ("f" * 16 + ".study")
    salt = cipher.new_salt(EASY)
    path.touch(0o600)
    old = cipher.connect(path, cipher.derive_key(PASSPHRASE, salt), salt)
    for statement in store.MIGRATIONS[0]:
        old.execute(statement)
    old.execute("PRAGMA user_version = 1")
    old.execute("ATTACH DATABASE ? AS new KEY ?", (str(opened.store.path), _raw_key(opened.store)))
    old.execute("INSERT INTO events SELECT * FROM new.events")
    old.execute("INSERT INTO texts SELECT * FROM new.texts")
    old.close()
    migrated = Store.open(path, PASSPHRASE)
    with OpenStudy(migrated) as again:
        assert (again.study.log, again.view.texts) == (log, texts)
        again.run(lambda draft: commands.add_person(draft, "Dora"), token="tokens work")
    with cipher.connect(path, cipher.derive_key(PASSPHRASE, salt), salt) as later:
        later.execute("PRAGMA user_version = 99")
    with pytest.raises(ClaimError, match="newer"):
        Store.open(path, PASSPHRASE)


def _raw_key(opened_store) -> str:
    return cipher.key_pragma(bytes(opened_store._key), opened_store._salt).strip('"')


def test_a_locked_study_writes_nothing(opened):
    opened.lock()
    for step in (lambda: opened.run(lambda draft: commands.add_person(draft, "Dora")), opened.store.events):
        with pytest.raises(InputError, match="locked"):
            step()
    assert opened.view.texts == {}


def test_closing_destroys_the_key(library, opened, tmp_path):
    import shutil

    path, study = opened.store.path, opened.study.state.study
    os.link(path, tmp_path / "same file")  # what is left of it on the disk
    shutil.copy(path, tmp_path / "before")
    closed = library.close_study(opened)
    assert (closed["study"], library.list()) == (study, [])
    assert (tmp_path / "same file").read_bytes()[:16] != (tmp_path / "before").read_bytes()[:16]
    with pytest.raises((WrongPassphrase, Damaged)):
        Store.open(tmp_path / "same file", PASSPHRASE, Gate(sleep=lambda seconds: None))


def test_a_library_finds_studies_by_their_ids_only(library, opened, monkeypatch):
    (library.directory / "notes.study").write_text("not an id")
    assert [file.id for file in library.list()] == [opened.study.state.study]
    for name in ("../../etc/passwd", "zz"):
        with pytest.raises(InputError, match="no study"):
            library.find(name)
    with pytest.raises(InputError, match="which study"):
        library.delete("")
    library.delete(opened.study.state.study[:6])
    assert library.list() == []
    monkeypatch.setenv("CLAIM_STUDIES", "/somewhere")
    from claim.field.store.library import default_directory

    assert str(default_directory()) == "/somewhere"


def test_errors_show_no_names(opened, monkeypatch):
    def broken(file, *_):
        file.connection.execute("INSERT INTO texts VALUES (?, ?, ?)", ("x", None, "Zubizarreta"))

    monkeypatch.setattr(store.Transaction, "write", broken)
    with pytest.raises(ClaimError) as caught:
        opened.run(lambda draft: commands.add_person(draft, "Zubizarreta"))
    assert "Zubizarreta" not in str(caught.value) + str(caught.value.__cause__)
