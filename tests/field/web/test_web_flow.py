"""From the first run to the export, as a browser without script sees it."""

import io
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from desk_client import PASSPHRASE, position

from claim.field.study import commands
from claim.field.study.setup import Setup
from claim.field.web.app_state import MOST_PREVIEWS

NEW = {
    "title": "Drop-in centre",
    "question": "Whom do you talk to?",
    "budget": "5",
    "leaders": "2",
    "consent_text": "I agree.",
    "refusal_rule": "attempts",
    "retention": "2031-01-31",
    "passphrase": PASSPHRASE,
    "again": PASSPHRASE,
    "understood": "1",
}


def add(browser, base, *names, **fields):
    for name in names:
        assert browser.post(f"{base}/people", {"name": name, "same": "new", **fields}).status_code == 303


def survey(browser, base, code, *names):
    assert browser.post(f"{base}/survey/{code}/start", consent="1").status_code == 303
    for name in names:
        assert browser.post(f"{base}/survey/{code}/contact", name=name, same="new").status_code == 303
    assert browser.post(f"{base}/survey/{code}/end", outcome="answered").status_code == 303


def test_the_whole_way(browser, desk):
    assert "cannot be recovered" in browser.text("/")
    answer = browser.post("/new", {key: value for key, value in NEW.items() if key != "understood"})
    assert answer.status_code == 400
    assert "Drop-in centre" in answer.text
    assert PASSPHRASE not in answer.text
    base = browser.post("/new", NEW).headers["location"].removesuffix("/people?done=created")
    add(browser, base, "Ana López", start="1")
    assert "Whom to survey next" in browser.text(f"{base}/next")
    page = browser.get(f"{base}/next").text
    went = browser.post(f"{base}/next", person="P1", action="start", at=position(page))
    assert went.headers["location"] == f"{base}/survey/P1"
    assert browser.post(f"{base}/survey/P1/start").status_code == 400  # no consent, no survey
    survey(browser, base, "P1", "Ben", "Carla", "Dan Ortega")
    survey(browser, base, "P2", "Dann Ortega", "Eva")
    assert "named by Ana López" in browser.text(f"{base}/next")
    queue = browser.text(f"{base}/same")
    assert "Dan Ortega" in queue
    assert "Dann Ortega" in queue
    browser.post(f"{base}/same", action="merge", one="P4", other="P5")
    assert "No similar names" in browser.text(f"{base}/same")
    browser.post(f"{base}/same", action="unmerge", other="P5")
    browser.post(f"{base}/same", action="apart", one="P4", other="P5")
    assert "No similar names" in browser.text(f"{base}/same")
    assert "The same as a table" in browser.text(f"{base}/network")
    assert "leaders reach" in browser.text(f"{base}/leaders?attendance=80")
    for action in ("offered", "accepted", "attended"):
        assert browser.post(f"{base}/leaders", person="P1", action=action).status_code == 303
    assert "came 1, did not come 0" in browser.text(f"{base}/leaders")
    answer = browser.post(f"{base}/export", format="csv")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.namelist() == ["people.csv", "ties.csv", "surveys.csv", "log-head.txt"]
        assert b"Ana" not in archive.read("people.csv")
    assert "Exported" in browser.text(f"{base}/history")
    desk.study(base.removeprefix("/s/")).verify()


def test_a_recommendation_goes_into_the_log_with_what_came_of_it(browser, desk, base, study):
    add(browser, base, "Ana", "Ben", start="1")
    at = position(browser.get(f"{base}/next").text)
    browser.post(f"{base}/next", person="P1", action="refused", at=at)
    types = [event.type for event in desk.study(study).study.log[-2:]]
    assert types == ["RecommendationShown", "SurveyEnded"]
    at = position(browser.get(f"{base}/next").text)
    add(browser, base, "Carla")
    at = position(browser.get(f"{base}/next").text)
    assert browser.post(f"{base}/next", person="P3", action="start", at=at).status_code == 400  # no reason given
    answer = browser.post(f"{base}/next", person="P3", action="start", reason="is here today", at=at)
    assert answer.headers["location"] == f"{base}/survey/P3"
    assert desk.study(study).study.log[-1].type == "Overridden"


def test_where_no_one_can_be_suggested_the_page_leads_on(browser, base):
    page = browser.get(f"{base}/next").text
    assert f'<a class="button main" href="{base}/people">' in page
    assert "Plan the round" not in page
    add(browser, base, "Ana", start="1")
    survey(browser, base, "P1")
    page = browser.get(f"{base}/next").text
    assert "no person is left to survey" in page
    assert f'<a class="button main" href="{base}/leaders">' in page


def test_a_round_of_several_people(browser, base):
    add(browser, base, "Ana", "Ben", "Carla", start="1")
    assert browser.get(f"{base}/next?count=3").text.count('class="box now card"') == 3
    assert browser.get(f"{base}/next?count=0").status_code == 422
    assert browser.get(f"{base}/next?count=11").status_code == 422


def test_a_similar_name_is_asked_about_before_it_is_saved(browser, desk, base, study):
    add(browser, base, "Ana López", start="1")
    asked = browser.post(f"{base}/people", name="ana lopez")
    assert asked.status_code == 200
    assert "The same person?" in asked.text
    assert "Not saved yet" in asked.text
    assert len(desk.study(study).study.people) == 1
    browser.post(f"{base}/people", name="ana lopez", same="P1")
    assert len(desk.study(study).study.people) == 1
    browser.post(f"{base}/survey/P1/start", consent="1")
    browser.post(f"{base}/survey/P1/contact", name="Benedikt")
    assert browser.post(f"{base}/survey/P1/contact", name="Benedict").status_code == 200
    assert browser.post(f"{base}/survey/P1/contact", name="P2").status_code == 200  # a code is a question too
    again = browser.post(f"{base}/survey/P1/contact", name="Benedict", same="P2")
    assert again.headers["location"].endswith("done=repeated")
    assert browser.post(f"{base}/survey/P1/contact", name="me", same="P1").status_code == 400


def test_named_nobody_partial_and_corrections(browser, desk, base, study):
    add(browser, base, "Ana", "Ben", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    browser.post(f"{base}/survey/P1/end", outcome="nobody")
    assert desk.study(study).study.surveys[0].outcome == "named nobody"
    browser.post(f"{base}/survey/P2/start", consent="1")
    browser.post(f"{base}/survey/P2/contact", name="Carla", same="new")
    assert browser.post(f"{base}/survey/P2/end", outcome="nobody").status_code == 400
    browser.post(f"{base}/survey/P2/end", outcome="partial")
    browser.post(f"{base}/survey/P2/start", consent="1")
    browser.post(f"{base}/survey/P2/remove", contact="P3")
    browser.post(f"{base}/survey/P2/end", outcome="answered")
    assert desk.study(study).study.surveys[1].outcome == "named nobody"
    browser.post(f"{base}/people/P2/rename", name="Benjamin")
    assert "Benjamin" in browser.text(f"{base}/people/P2")
    browser.post(f"{base}/people/P2/start")
    assert not desk.study(study).study.person("P2").is_start


def test_withdrawal_asks_for_the_code_and_erases(browser, desk, base, study):
    add(browser, base, "Ana", "Ben", start="1")
    at = position(browser.get(f"{base}/people/P1").text)
    assert browser.post(f"{base}/people/P1/withdraw", confirm="P2", at=at).status_code == 400
    assert browser.post(f"{base}/people/P1/withdraw", confirm="p1", at=at).status_code == 303
    assert "Ana" not in browser.text(f"{base}/people")
    assert browser.get(f"{base}/people/P1").status_code == 200
    assert browser.get(f"{base}/survey/P1").status_code == 400
    assert "Ana" not in browser.text(f"{base}/history")


def test_undo_from_the_history(browser, desk, base, study):
    add(browser, base, "Ana", start="1")
    number = re.search(r'name="number" value="(\d+)"', browser.get(f"{base}/history").text)
    assert browser.post(f"{base}/history/undo", number=number.group(1)).status_code == 303
    assert not desk.study(study).study.people
    assert "undone" in browser.text(f"{base}/history")
    assert browser.post(f"{base}/history/undo", number="1").status_code == 400
    assert browser.post(f"{base}/settings/erase").status_code == 303


def test_a_round_goes_on_while_people_refuse_or_are_surveyed(browser, base):
    add(browser, base, "Ana", start="1")
    survey(browser, base, "P1", *(f"{name} {name}son" for name in ("Bo", "Cyd", "Dov", "Eli", "Fay", "Gus")))

    def shown(path: str) -> list[str]:
        page = browser.get(f"{base}{path}").text
        shown.at = position(page)
        return re.findall(r'<h2 id="p-(P\d+)">', page)

    first, second, third = shown("/next?count=3")
    browser.post(f"{base}/next", person=first, action="refused", count="3", at=shown.at)
    *kept, fourth = shown("/next")
    assert kept == [second, third]
    assert fourth not in (first, second, third)
    browser.post(f"{base}/next", person=second, action="start", count="", at=shown.at)
    survey(browser, base, second, "Hal Halson")
    assert shown("/next") == [third, fourth]
    assert "room for 2 people" in browser.text(f"{base}/next")
    assert len(shown("/next?count=1")) == 1  # planned anew


def test_a_rule_that_this_machine_lacks_is_said_and_people_are_chosen_by_hand(browser, base, desk, study, monkeypatch):
    add(browser, base, "Ana", "Ben", start="1")
    setup = replace(desk.study(study).study.setup, policy="claim")
    with monkeypatch.context() as elsewhere:  # made on a machine that has the rule
        elsewhere.setattr(commands, "check_rule", lambda *rule: None)
        desk.study(study).run(lambda draft: commands.change_settings(draft, setup))
    monkeypatch.setattr("claim.registry.NEEDED", ("no_such_module",))
    page = browser.get(f"{base}/next")
    assert page.status_code == 200
    assert "claim" in browser.text(f"{base}/next")
    assert 'role="alert"' in page.text
    at = position(page.text)
    assert browser.post(f"{base}/next", person="P1", action="start", at=at, reason="").status_code == 400
    started = browser.post(f"{base}/next", person="P1", action="start", at=at, reason="she is here")
    assert started.headers["location"].endswith("/survey/P1")
    assert "(recommended)" in browser.get(f"{base}/settings").text


def test_wishes_that_cannot_be_met_are_said_where_they_can_be_taken_back(browser, base):
    add(browser, base, "Ana", "Ben", "Carla", start="1")
    for code in ("P1", "P2", "P3"):
        browser.post(f"{base}/leaders", person=code, action="include")
    page = browser.text(f"{base}/leaders")
    assert "3 people are to lead" in page
    browser.post(f"{base}/leaders", person="P3", action="none")
    assert "Suggested leaders" in browser.text(f"{base}/leaders")
    assert browser.post(f"{base}/leaders", person="P1", action="crown").status_code == 400


def test_sending_twice_is_one_step_and_other_words_in_the_same_form_are_another(browser, desk, base, study):
    for _ in range(2):
        assert browser.post(f"{base}/people", name="Ana", same="new", nonce="one").status_code == 303
    assert len(desk.study(study).study.people) == 1
    browser.post(f"{base}/people", name="Ben", same="new", nonce="one")  # after Back
    assert len(desk.study(study).study.people) == 2


def test_a_form_made_on_an_older_state_is_a_conflict_that_loses_nothing(browser, desk, base, study):
    add(browser, base, "Ana", "Ben", start="1")
    page = browser.get(f"{base}/settings").text
    add(browser, base, "Carla")
    form = {"title": "Another title", "budget": "7", "leaders": "2", "question": "Who, really?", "at": position(page)}
    answer = browser.post(f"{base}/settings", form)
    assert answer.status_code == 409
    assert "It was changed meanwhile" in answer.text
    assert "Who, really?" in answer.text
    assert desk.study(study).study.setup.title == "Quiet centre"
    again = {**form, "at": position(answer.text) if 'name="at" value=""' not in answer.text else ""}
    assert browser.post(f"{base}/settings", again).status_code == 303
    assert desk.study(study).study.setup.title == "Another title"


def test_a_full_disk_is_said_plainly(browser, desk, base, study, monkeypatch):
    from claim.field.store.store import NotSaved

    def full(*_, **__):
        raise NotSaved("nothing was saved: the disk is full or cannot be written to")

    monkeypatch.setattr("claim.field.store.store.Transaction.write", full)
    answer = browser.post(f"{base}/people", name="Ana", same="new")
    assert answer.status_code == 507
    assert "Nothing was saved" in answer.text
    assert "Ana" in answer.text
    body = {"name": "Ana", "nonce": "n"}
    answer = browser.api(f"{study}/people", body)
    assert (answer.status_code, answer.json()["error"]) == (507, "NotSaved")
    monkeypatch.undo()
    assert browser.api(f"{study}/people", body).json()["saved"]


def test_settings_give_a_changed_consent_text_a_new_version(browser, desk, base, study):
    form = {"title": "T", "budget": "3", "leaders": "1", "consent_text": "I agree to more."}
    browser.post(f"{base}/settings", form)
    setup = desk.study(study).study.setup
    assert (setup.consent_version, setup.budget) == ("2", 3)
    bad = browser.post(f"{base}/settings", {**form, "budget": "many"})
    assert bad.status_code == 400
    assert "whole number" in bad.text


def test_backup_passphrase_and_close(browser, desk, base, study):
    add(browser, base, "Ana", start="1")
    backup = browser.post(f"{base}/settings/backup")
    head = desk.study(study).study.head.replace(":", "-")[:14]  # 2 events, 12 digits
    assert backup.headers["content-disposition"] == f'attachment; filename="study-{study}-{head}.backup"'
    assert b"Ana" not in backup.content
    wrong = browser.post(f"{base}/settings/passphrase", passphrase="no", new_passphrase="another good one", again="x")
    assert wrong.status_code == 403
    changed = {"passphrase": PASSPHRASE, "new_passphrase": "another good one", "again": "another good one"}
    assert browser.post(f"{base}/settings/passphrase", changed).status_code == 303
    assert browser.post(f"{base}/settings/close", confirm="nope").status_code == 400
    closed = browser.post(f"{base}/settings/close", confirm="Quiet centre")
    assert "The study is closed" in closed.text
    assert browser.get(base).status_code == 404
    assert not list(desk.library.list())


def test_the_name_key_asks_again_and_is_noted(browser, desk, base, study, tmp_path):
    from claim.field.exchange.export import read_name_key

    add(browser, base, "Ana", start="1")
    form = {"passphrase": "wrong wrong wrong", "key_passphrase": "a key of its own", "key_again": "a key of its own"}
    assert browser.post(f"{base}/export/names", form).status_code == 403
    answer = browser.post(f"{base}/export/names", {**form, "passphrase": PASSPHRASE})
    assert answer.status_code == 200
    (tmp_path / "key").write_bytes(answer.content)
    assert read_name_key(tmp_path / "key", "a key of its own") == {"P1": "Ana"}
    body = desk.study(study).study.log[-1].body
    assert (body.what, body.with_names) == ("names", True)
    assert not [path for path in desk.library.directory.iterdir() if path.suffix == ".key"]


@pytest.mark.parametrize("format", ["csv", "gephi-csv", "graphml", "gexf", "rds"])
def test_every_export_is_a_zip_of_codes_and_the_head_of_the_log(browser, desk, base, study, format):
    add(browser, base, "Ana Zubizarreta", start="1")
    survey(browser, base, "P1", "Benedikt Quattrocchi")
    head = desk.study(study).study.head
    answer = browser.post(f"{base}/export", format=format)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        for name in archive.namelist():
            assert b"Zubizarreta" not in archive.read(name)
        assert archive.read("log-head.txt").decode().splitlines()[0] == head
    assert browser.post(f"{base}/export", format="../../etc").status_code == 400


def test_an_import_is_looked_at_taken_whole_and_undone(browser, desk, base, study):
    add(browser, base, "Ana López", start="1")
    roster = b"name\nAna Lopez\nBen\nCarla\n"
    look = browser.post(f"{base}/import", files={"files": ("../../roster.csv", roster)})
    preview = look.headers["location"]
    page = browser.get(preview).text
    assert "3 people" in page
    assert "Ana López" in page
    answers = dict.fromkeys(set(re.findall(r'name="(dup\.[^"]+)" value="s:P1"', page)), "s:P1")
    assert len(answers) == 1
    before = desk.study(study).study.position
    assert browser.post(f"{preview}/take", answers).status_code == 303
    assert len(desk.study(study).study.people) == 3
    browser.post(f"{base}/history/undo", number=str(before + 1))
    assert len(desk.study(study).study.people) == 1
    expired = browser.get(preview)  # forgotten once taken
    assert expired.status_code == 400
    assert "expired" in expired.text


def test_somebody_who_looks_like_two_is_asked_about_once(browser, base):
    for name in ("Maria Lopez", "Marta Lopez", "Ana", "Ana"):
        add(browser, base, name, start="1", anyway="1")
    look = browser.post(f"{base}/import", files={"files": ("r.csv", b"name\nMaria Lopes\nana\n")})
    page = browser.get(look.headers["location"]).text
    boxes = [part for part in page.split("<fieldset>") if "dup." in part]
    asked = [re.findall(r'name="(dup[^"]+)" value="([^"]*)"( checked)?', box) for box in boxes]
    assert {len({name for name, _, _ in each}) for each in asked} == {1}
    assert sorted(value for each in asked for _, value, _ in each) == ["", "", "s:P1", "s:P2", "s:P3", "s:P4"]
    assert not any(checked for each in asked for _, _, checked in each)  # two people are called Ana


def test_columns_can_be_mapped_and_files_forgotten(browser, base):
    table = b"who,friend\nAna,Ben\nAna,Carla\n"
    preview = browser.post(f"{base}/import", files={"files": ("x.csv", table)}).headers["location"]
    page = browser.get(preview).text
    assert "map." in page
    chosen = re.search(r'name="was" value="([^"]+)"', page).group(1)
    roles = re.findall(r'name="(map\.[^"]+)"', page)
    mapping = {roles[0]: "friend"}
    changed = browser.post(preview, {"format": chosen, "was": chosen, "join": "1", **mapping}).headers["location"]
    assert 'value="friend" selected' in browser.get(changed).text
    assert 'value="friend" selected' not in browser.get(preview).text  # a page takes what it shows
    assert browser.post(f"{changed}/drop").status_code == 303
    assert browser.get(changed).status_code == 400
    assert browser.post(f"{base}/import", files={"files": ("x.csv", b"")}).status_code == 400
    assert browser.post(f"{base}/import", files={"files": ("x.xml", b"<!DOCTYPE x><graphml/>")}).status_code == 400


def test_a_preview_imports_its_own_file_whatever_another_tab_does(browser, desk, base, study):
    add(browser, base, "Ana López", start="1")
    first = browser.post(f"{base}/import", files={"files": ("a.csv", b"name\nAna Lopez\nBen\n")}).headers["location"]
    page = browser.get(first).text
    answers = dict.fromkeys(set(re.findall(r'name="(dup\.[^"]+)" value="s:P1"', page)), "s:P1")
    browser.post(f"{base}/import", files={"files": ("b.csv", b"name\nCarla\nDan\nEva\n")})
    assert browser.post(f"{first}/take", answers, at=position(page)).status_code == 303
    view = desk.study(study).view
    assert [view.name(code) for code in view.study.people] == ["Ana López", "Ben"]


def test_a_preview_of_one_study_is_not_that_of_another(browser, desk, base):
    preview = browser.post(f"{base}/import", files={"files": ("a.csv", b"name\nBen\n")}).headers["location"]
    other = desk.create(Setup("Other"), PASSPHRASE)
    assert browser.get(preview.replace(base, f"/s/{other}")).status_code == 400


def test_previews_beyond_the_most_that_are_kept_expire(browser, base):
    def look() -> str:
        return browser.post(f"{base}/import", files={"files": ("a.csv", b"name\nBen\n")}).headers["location"]

    first, *others = [look() for _ in range(MOST_PREVIEWS + 1)]
    assert "expired" in browser.post(f"{first}/take").text
    assert {browser.get(each).status_code for each in others} == {200}


def test_an_import_is_asked_about_again_if_the_study_changed_meanwhile(browser, desk, base, study):
    preview = browser.post(f"{base}/import", files={"files": ("a.csv", b"name\nBen\n")}).headers["location"]
    page = browser.get(preview).text
    add(browser, base, "Ben")
    assert browser.post(f"{preview}/take", at=position(page)).status_code == 409
    assert len(desk.study(study).study.people) == 1


def test_naming_oneself_is_refused_with_a_hint(browser, desk, base, study):
    add(browser, base, "Ana López", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    for answer in ("", "new"):
        refused = browser.post(f"{base}/survey/P1/contact", name="lopez ana", same=answer)
        assert refused.status_code == 400
        assert "add a surname or a nickname" in refused.text
    assert list(desk.study(study).study.people) == ["P1"]


def test_parallel_additions_of_one_name_make_one_person(browser, desk, base, study):
    add(browser, base, "Ben", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    for path in ("people", "surveys/P1/contacts"):
        name = {"people": "Ana López", "surveys/P1/contacts": "Carla Díaz"}[path]
        before = len(desk.study(study).study.people)

        def save(i, path=path, name=name):
            return browser.api(f"{study}/{path}", {"name": name, "nonce": str(i)}).json()

        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(save, range(6)))
        assert sum(answer["saved"] for answer in answers) == 1
        assert all(answer["matches"] for answer in answers if not answer["saved"])
        assert len(desk.study(study).study.people) == before + 1


def test_titles_of_pages_hold_codes_only(browser, desk, base, study):
    add(browser, base, "Ana Zubizarreta", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    for page in ("", "/people", "/people/P1", "/survey/P1", "/next", "/network", "/leaders", "/same", "/settings"):
        title = re.search(r"<title>(.*?)</title>", browser.get(base + page).text, re.DOTALL).group(1)
        assert study in title
        assert "Zubizarreta" not in title
        assert "Quiet centre" not in title


def test_a_rehearsal_needs_nothing_and_ends_with_a_score(browser, desk):
    base = browser.post("/rehearsal").headers["location"]
    assert "practice" in browser.text(base)
    assert "Interview at least one person first" in browser.text(f"{base}/practice")
    for _ in range(6):
        page = browser.get(f"{base}/next").text
        at, name = position(page), desk.rehearsal.drawn()
        assert f'value="{name}"' in page
        known = desk.rehearsal.opened.view.index.same(name)
        same = known[0] if known else "new"
        went = browser.post(f"{base}/next/new", name=name, same=same, action="start", at=at).headers["location"]
        browser.post(f"{went}/start", consent="1")
        browser.post(f"{went}/simulate")
        assert browser.post(f"{went}/end", outcome="answered").status_code == 303
    score = browser.text(f"{base}/practice")
    assert re.search(r"reach [\d.]+ of the 200 made-up people on average: \d+ % of the best possible", score)
    assert len(re.findall(r"\d to \d", score.partition("Before")[0])) == 3
    headline = re.search(r"These leaders reach (about .*?)\.", browser.text(f"{base}/leaders"))
    before = re.search(r"Before, the estimate was (about .*?)\.", score)
    assert (headline and headline[1].replace(" people", "")) == (before and before[1])  # no number, or the same one
    assert browser.post(f"{base}/export/names", passphrase="x").status_code == 400
    assert browser.post(f"{base}/settings/close", confirm="Practice").status_code == 400
    directory = desk.rehearsal.opened.store.path.parent
    assert browser.post(f"{base}/practice/end").status_code == 303
    assert not directory.exists()
    assert browser.get(base).status_code == 404


def test_only_practice_people_answer_by_themselves(browser, base):
    add(browser, base, "Ana", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    assert browser.post(f"{base}/survey/P1/simulate").status_code == 400
    assert browser.get(f"{base}/practice").status_code == 400
