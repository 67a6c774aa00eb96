"""Processes that are killed, compete, or run out of disk."""

import os
import random
import signal
import time

import pytest
from paper import PASSPHRASE

from claim.field.study import commands
from claim.field.study.setup import Setup

pytest.importorskip("resource", reason="needs limits of processes, which Windows has not")
pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

import resource

from claim.field.store.cipher import WrongPassphrase
from claim.field.store.library import Library
from claim.field.store.store import NotSaved


def in_child(work) -> tuple[int, int]:
    """Run ``work(say)`` in another process; gives its id and a pipe with what it said, a line a word."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    try:
        os.close(read)
        work(lambda word: os.write(write, f"{word}\n".encode()))
    finally:
        os._exit(0)


def said(pipe: int, heard: bytes = b"") -> list[str]:
    with os.fdopen(pipe, "rb") as file:
        return (heard + file.read()).decode().split()


@pytest.fixture
def directory(library):
    with library.create(Setup("x"), PASSPHRASE) as opened:
        opened.run(lambda draft: commands.add_person(draft, "Ana", is_start=True))
        opened.run(lambda draft: commands.start_survey(draft, "P1", consent=True))
    return library.directory


def enter_contacts(directory, say, most: int = 10_000) -> None:
    with Library(directory).open("", PASSPHRASE) as opened:
        say("open")
        for i in range(most):
            code = opened.run(lambda draft, i=i: commands.name_new_contact(draft, "P1", f"{os.getpid()} {i}")).result
            say(code)


def kill_and_check(directory, rng: random.Random, before: int) -> int:
    child, pipe = in_child(lambda say: enter_contacts(directory, say))
    heard, some = b"", rng.randrange(1, 5)
    while heard.count(b"\n") <= some:  # it is open, and some contacts are in
        heard += os.read(pipe, 1)
    time.sleep(rng.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    acknowledged = said(pipe, heard)[1:]
    with Library(directory).open("", PASSPHRASE) as opened:
        people = opened.study.people
        assert set(acknowledged) <= set(people)
        assert before + len(acknowledged) <= len(people) <= before + len(acknowledged) + 1
        opened.verify()
        return len(people)


def test_no_acknowledged_contact_is_lost_by_20_kills(directory):
    rng, people = random.Random(1), 1
    for _ in range(20):
        people = kill_and_check(directory, rng, people)
    assert people > 20


@pytest.mark.slow
def test_no_acknowledged_contact_is_lost_by_200_kills(directory):
    rng, people = random.Random(2), 1
    for _ in range(200):
        people = kill_and_check(directory, rng, people)
    assert people > 200


@pytest.mark.parametrize("wait", [0.0, 0.002, 0.005, 0.01, 0.02, 0.05])
def test_a_kill_during_a_passphrase_change_leaves_one_whole_file(directory, wait):
    def change(say):
        with Library(directory).open("", PASSPHRASE) as opened:
            say("open")
            opened.store.change_passphrase("another good one", 10)

    child, pipe = in_child(change)
    os.read(pipe, 5)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(pipe)
    fits = []
    for passphrase in (PASSPHRASE, "another good one"):
        try:
            with Library(directory).open("", passphrase) as opened:
                fits.append(opened.study.position)
        except WrongPassphrase:
            continue
    assert fits == [4]


def test_two_processes_at_once_make_one_log(directory):
    children = [in_child(lambda say: enter_contacts(directory, say, 25)) for _ in range(2)]
    words = [said(pipe) for _, pipe in children]
    for child, _ in children:
        os.waitpid(child, 0)
    codes = [code for each in words for code in each if code != "open"]
    assert len(codes) == len(set(codes)) == 50
    with Library(directory).open("", PASSPHRASE) as opened:
        assert set(codes) <= set(opened.study.people)
        assert opened.verify().events == opened.study.position


def test_a_full_disk_acknowledges_nothing_it_did_not_save(directory):
    def fill(say):
        with Library(directory).open("", PASSPHRASE) as opened:
            size = opened.store.path.stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 30_000, size + 30_000))
            position = opened.study.position
            try:
                for i in range(5000):
                    opened.run(lambda draft, i=i: commands.name_new_contact(draft, "P1", f"person {i} " * 5))
                    position = opened.study.position
                    say(f"saved{position}")
            except NotSaved as error:
                say("full" if "nothing was saved" in str(error) and opened.study.position == position else "wrong")

    child, pipe = in_child(fill)
    words = said(pipe)
    os.waitpid(child, 0)
    assert words[-1] == "full"
    assert len(words) > 5
    with Library(directory).open("", PASSPHRASE) as opened:
        assert opened.study.position == int(words[-2].removeprefix("saved"))
        opened.run(lambda draft: commands.name_new_contact(draft, "P1", "after"))
