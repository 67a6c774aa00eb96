"""A log that was cut off, a log that was written anew, and a clock that was set back: noticed, and said."""

import json

import pytest
from paper import PASSPHRASE

from claim.errors import InputError
from claim.field.study import commands
from claim.field.study.events import BrokenLog, SetBack, clock_set_back, events_after, short_head

pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

from claim.field.store import cipher


def cut_off(path, last: int) -> None:
    """Delete the end of the log, as somebody with the passphrase can."""
    salt = path.read_bytes()[:16]
    connection = cipher.connect(path, cipher.derive_key(PASSPHRASE, salt), salt)
    connection.executescript(f"DROP TRIGGER events_stay; DELETE FROM events WHERE seq > {last}")
    connection.close()


def test_a_head_is_found_in_the_log(opened):
    head, log = opened.study.head, opened.study.log
    assert head == f"{len(log)}:{log[-1].hash}"
    opened.run(lambda draft: commands.add_person(draft, "Dora"))
    log = opened.study.log
    number, digits = head.split(":")
    for written in (
        head,
        short_head(head),
        f"{number}:{digits[:12]}",
        f" {number} : {digits[:8].upper()} {digits[8:16]}",
    ):
        assert events_after(written, log) == 1
    assert events_after(opened.study.head, log) == 0


def test_a_log_that_was_cut_off_or_written_anew_is_noticed(library, opened):
    head, log = opened.study.head, opened.study.log
    opened.lock()
    cut_off(opened.store.path, len(log) - 2)
    with library.open("", PASSPHRASE) as cut:
        cut.verify()  # alone, the chain cannot tell
        with pytest.raises(
            BrokenLog, match=f"cut off: it has {len(log) - 2} events, the head is that of event {len(log)}"
        ):
            events_after(head, cut.study.log)
        for name in ("Emil", "Frida"):
            cut.run(lambda draft, name=name: commands.add_person(draft, name))
        with pytest.raises(BrokenLog, match=f"changed: event {len(log)} does not have the hash"):
            events_after(head, cut.study.log)


@pytest.mark.parametrize(
    "head", ["", "12", "5f0c1a2b3c4d5e6f", "3:5f0c1a2b3c4", "0:5f0c1a2b3c4d", "3:xyz", "3:" + "a" * 65]
)
def test_what_is_no_head_is_said(opened, head):
    with pytest.raises(InputError, match="such as 12:5f0c1a2b3c4d5e6f"):
        events_after(head, opened.study.log)


def export_at(opened, at: str, monkeypatch) -> None:
    monkeypatch.setattr("claim.field.store.session.now", lambda: at)
    opened.run(lambda draft: commands.exported(draft, "csv"))


def test_a_clock_that_was_set_back_is_found(opened, monkeypatch):
    assert clock_set_back(opened.study.log) == ()
    number = opened.study.position
    for at in ("2031-05-01T10:00:00.000Z", "2031-05-01T10:00:00.000Z", "2031-05-01T07:57:30.000Z"):
        export_at(opened, at, monkeypatch)
    for at in ("2031-05-01T07:57:29.750Z", "2031-05-02T00:00:00.000Z", "2031-04-01T00:00:00.000Z"):
        export_at(opened, at, monkeypatch)
    found = clock_set_back(opened.refresh().study.log)
    assert found == (SetBack(number + 3, 7350.0), SetBack(number + 4, 0.25), SetBack(number + 6, 31 * 86400.0))
    assert [each.span for each in found] == ["2 h 2 min", "250 ms", "31 d"]
    assert opened.verify().set_back == found


def test_verify_and_history_show_head_and_clock(opened, command, monkeypatch):
    export_at(opened, "2001-05-01T10:00:00.000Z", monkeypatch)
    log = opened.refresh().study.log
    head, number = opened.study.head, len(log)
    warning = f"the clock was set back: event {number} is dated"
    shown = command("history")
    assert warning in " ".join(shown.stdout.split())
    assert f"head of the log: {short_head(head)}" in shown.stdout
    found = json.loads(command("history", "--json", "-").stdout)
    assert (found["head"], [each["event"] for each in found["set_back"]]) == (head, [number])
    shown = command("verify", "--head", f"2:{log[1].hash[:12]}")
    assert shown.exit_code == 0  # a warning: the chain is in order
    assert f"in order: the log contains event 2 with this hash and has {number - 2} events after it" in shown.stdout
    assert f"head {head}" in shown.stdout
    assert f"warning: {warning}" in shown.stderr
    found = json.loads(command("verify", "--head", head, "--json", "-").stdout)
    assert (found["events"], found["head"], found["after_head"]) == (number, head, 0)
    assert [each["event"] for each in found["set_back"]] == [number]
    with pytest.raises(BrokenLog, match="cut off"):
        command("verify", "--head", f"{number + 1}:{'a' * 12}")
