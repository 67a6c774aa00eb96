"""Lists that stay short, how far the study is, labels of locked studies, times, and numbers of the page's language."""

import re
import time
from datetime import datetime, timedelta

import pytest
from desk_client import PASSPHRASE
from test_web_flow import add, survey

from claim.field.study import commands
from claim.messages import Count, Message


def shown_people(page: str) -> list[str]:
    return re.findall(r'<th scope="row">\s*<a class="who"[^>]*><bdi>([^<]*)', page)


def many(browser, base, count: int) -> None:
    opened = browser.desk.study(base.removeprefix("/s/"))

    def command(draft):
        for i in range(count):
            commands.add_person(draft, f"Person Number{i:04d}", is_start=False)

    opened.run(command)


def test_people_come_in_pages(browser, base):
    many(browser, base, 120)
    first, last = (browser.get(f"{base}/people?page={number}").text for number in (1, 3))
    assert shown_people(first)[0] == "Person Number0000"
    assert len(shown_people(first)) == 50
    assert len(shown_people(last)) == 20
    assert "1 to 50 of 120 people" in first
    assert f"{base}/people?page=2" in first
    assert f"{base}/people?page=4" not in last
    assert shown_people(browser.get(f"{base}/people?page=99").text) == []


def test_people_are_found_by_part_of_a_name_or_by_code_and_no_address_has_it(browser, base):
    many(browser, base, 60)
    add(browser, base, "José Ramón Álvarez")
    for text in ("alva jose", "ÁLVAREZ", "p61"):
        answer = browser.post(f"{base}/people/find", text=text)
        assert shown_people(answer.text) == ["José Ramón Álvarez"], text
    assert shown_people(browser.post(f"{base}/people/find", text="nobody at all").text) == []
    assert len(shown_people(browser.post(f"{base}/people/find", text=" ").text)) == 50


def test_interviews_left_go_down_from_the_first_one_on(browser, base):
    add(browser, base, "Ana", "Ben", start="1")
    planned = re.search(r"0 of (\d+) interviews done, (\d+) left", browser.text(f"{base}/next"))
    assert planned is not None
    assert planned[1] == planned[2]
    survey(browser, base, "P1", "Carla")
    left = int(planned[1]) - 1
    assert f"1 of {planned[1]} interviews done, {left} left" in browser.text(f"{base}/next")
    assert f"Interviews left {left}" in browser.text(base)


def test_a_person_who_refused_is_no_replacement_unless_asked_for(browser, base):
    add(browser, base, "Ana", "Ben", start="1")
    survey(browser, base, "P1", "Carla", "Dina")
    page = browser.get(f"{base}/next").text
    at = re.search(r'name="at" value="(\d+)"', page)[1]
    assert browser.post(f"{base}/next", person="P2", action="refused", at=at).status_code == 303
    assert "Ben" not in browser.text(f"{base}/leaders").partition("Include or exclude")[0]
    browser.post(f"{base}/leaders", person="ben", action="include")  # by name
    assert "Ben" in browser.text(f"{base}/leaders").partition("Replacements")[0]


def test_a_locked_study_shows_its_label_and_nothing_else(browser, base):
    assert browser.post(f"{base}/settings/label", label="Tuesday team").status_code == 303
    browser.post("/lock")
    page = browser.text("/")
    assert "Tuesday team" in page
    assert "Drop-in" not in page
    browser.post("/unlock", study=base.removeprefix("/s/"), passphrase=PASSPHRASE)
    assert "Not encrypted" in browser.text(f"{base}/settings")
    browser.post(f"{base}/settings/label", label="")
    browser.post("/lock")
    assert "Tuesday team" not in browser.text("/")


@pytest.fixture
def local_zone(monkeypatch):
    """The clock of this machine is three hours behind UTC, in a zone called XYZ."""
    monkeypatch.setenv("TZ", "XYZ+3")
    time.tzset()
    yield "XYZ"
    monkeypatch.undo()
    time.tzset()


def test_times_are_local_with_the_zone(browser, base, study, desk, local_zone):
    add(browser, base, "Ana", start="1")
    survey(browser, base, "P1", "Mariana Costa", "Mariana Kosta")
    at = datetime.fromisoformat(desk.study(study).study.log[-1].at)
    shown = (at - timedelta(hours=3)).strftime(f"%Y-%m-%d %H:%M {local_zone}")
    for path in ("/history", "/same", "/people/P1"):
        assert f"{shown}<" in browser.get(base + path).text
    browser.post("/lock")
    listed = re.search(r"last changed (.*?)</p>", browser.get("/").text)[1]
    assert re.fullmatch(r"[\d-]+ [\d:]+ XYZ", listed)


def test_numbers_follow_the_language(browser):
    told = Message.of("reaches about {amount} people", amount=1.6)
    assert str(told) == "reaches about 1.6 people"
    assert told.translated({".": ","}) == "reaches about 1,6 people"
    from claim.field.web.i18n import texts_in

    limit = Message.of("more than {most} rows", most=Count(50_000))
    assert str(limit) == "more than 50,000 rows"
    assert texts_in("es").message(limit) == "más de 50\u00a0000 filas"
    assert (texts_in("en").number(12.34), texts_in("es").number(12.34), texts_in("es").number(3.0)) == (
        "12.3",
        "12,3",
        "3",
    )


def test_people_who_are_only_linked_through_others_are_not_ticked_together(browser, base):
    add(browser, base, "Ana", start="1")
    survey(browser, base, "P1", "Jana Ivanova", "Hana Ivanova", "Hanan Ivanova", "Hannan Ivanova")
    page = browser.get(f"{base}/same").text
    group = re.findall(r'<form[^>]*class="box" aria-label="[^"]*Ivanova.*?</form>', page, re.DOTALL)
    assert [each.count("checkbox") for each in group] == [4]
    assert re.findall(r'value="(P\d)" checked', group[0]) == ["P2", "P3"]


def test_people_who_were_not_surveyed_have_no_number_of_contacts(browser, base):
    add(browser, base, "Ana", "Ben", start="1")
    survey(browser, base, "P1", "Carla")
    page = browser.text(f"{base}/people")
    assert "Ana P1 start surveyed 0 1" in page
    assert "Carla P3 named 1 –" in page


def test_spellings_of_one_person_are_reviewed_at_once_and_the_step_is_undone_in_place(browser, base):
    add(browser, base, "Ana", "Ben", start="1")
    survey(browser, base, "P1", "Mariana Costa", "Mariana Kosta", "Zoe")
    survey(browser, base, "P2", "Mariana Costaa", "Zoe Two")
    page = browser.get(f"{base}/same")
    groups = re.findall(r'<form[^>]*class="box" aria-label="([^"]*Mariana[^"]*)"', page.text)
    assert len(groups) == 1
    assert set(groups[0].split(", ")) == {"Mariana Costa", "Mariana Kosta", "Mariana Costaa"}
    text = browser.text(f"{base}/same")
    assert re.search(r"named by Ana ?, 20\d\d-", text)
    assert "Known to more than one of them: Ana" in text
    codes = re.findall(r'id="same-(P\d+)"', page.text.partition("Mariana")[2])[:3]
    sent = {"action": "merge", "csrf": browser.desk.csrf, "nonce": "all", "one": codes}
    answer = browser.http.post(f"{base}/same", data=sent, headers={"Origin": "http://127.0.0.1:8123"})
    assert answer.status_code == 303
    study = browser.desk.study(base.removeprefix("/s/")).refresh().study
    assert sorted(study.state.merged) == sorted(codes[1:])
    after = browser.get(answer.headers["location"])
    number = re.search(r'name="number" value="(\d+)"', after.text)[1]
    undone = browser.post(f"{base}/history/undo", number=number, back="/same")
    assert undone.headers["location"].startswith(f"{base}/same")
    assert browser.desk.study(base.removeprefix("/s/")).refresh().study.state.merged == {}
    assert browser.post(f"{base}/same", action="merge", one="P1").status_code == 400
    apart = browser.http.post(
        f"{base}/same", data=sent | {"action": "apart", "nonce": "x"}, headers={"Origin": "http://127.0.0.1:8123"}
    )
    assert apart.status_code == 303
    assert "Mariana" not in browser.text(f"{base}/same").partition("Two names")[0]
