"""The head of the log and its clock in the history."""

from test_web_flow import add

from claim.field.study import commands
from claim.field.study.events import short_head


def test_the_history_shows_the_head_and_checks_one(browser, desk, base, study):
    add(browser, base, "Ana", start="1")
    head = desk.study(study).study.head
    page = browser.text(f"{base}/history")
    assert short_head(head) in page
    assert head in page
    add(browser, base, "Ben", "Carla")
    said = browser.text(f"{base}/history?head={short_head(head)}")
    assert "In order: the log contains the event with this number and hash; events after it: 2." in said
    assert "the log was changed: event 2 does not" in browser.text(f"{base}/history?head=2:{'a' * 12}")
    assert "the log was cut off: it has 4 events" in browser.text(f"{base}/history?head=5:{'a' * 12}")
    assert "a head is a number, a colon" in browser.text(f"{base}/history?head=nonsense")


def test_the_history_shows_a_clock_that_was_set_back(browser, desk, base, study, monkeypatch):
    assert "set back" not in browser.text(f"{base}/history")
    for at in ("2031-05-01T10:00:00.000Z", "2031-05-01T07:00:00.000Z"):
        monkeypatch.setattr("claim.field.store.session.now", lambda at=at: at)
        desk.study(study).run(lambda draft: commands.exported(draft, "csv"))
    said = browser.text(f"{base}/history")
    assert "The clock of a machine was set back" in said
    assert "Event 3: 3 h before event 2" in said
