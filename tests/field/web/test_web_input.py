"""Hostile input stays plain text: in lists, the picture, print, exports, headers and addresses."""

import io
import re
import zipfile
from html import unescape

import pytest

NAMES = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7*7 }}{% raw %}",
    "%s%n {name} {0}",
    "Quax\u202eZub",
    "Quax\u0001Zub",
    "x" * 10_000,
    "'; DROP TABLE events; --",
    "=cmd|' /C calc'!A0",
    "\ud7ff\ufffe",
]
PAGES = ("/people", "/next", "/next?count=3", "/same", "/network", "/leaders", "/history", "/people/P1", "/survey/P1")


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
def test_names_stay_plain_text_everywhere(browser, desk, base, study, name):
    assert browser.post(f"{base}/people", name=name, same="new", start="1").status_code == 303
    assert browser.post(f"{base}/people", name=name + " two", same="new", start="1").status_code == 303
    browser.post(f"{base}/survey/P1/start", consent="1")
    assert browser.post(f"{base}/survey/P1/contact", name=f"{name[:9990]} three", same="new").status_code == 303
    kept = desk.study(study).view.name("P1")
    for page in PAGES:
        answer = browser.get(base + page)
        assert answer.status_code == 200, page
        assert not re.search(
            r"<script(?! src=\"/static/(?:app|network).js\" defer)|<img|onerror=(?!alert)", answer.text.lower()
        )
        assert "\u202e" not in answer.text
        assert "\u0001" not in answer.text
        assert "49" not in re.sub(r"\d{3,}|[a-z0-9-]{20,}", "", kept)
    assert kept[:60] in unescape(browser.get(f"{base}/people").text)
    for format in ("csv", "graphml", "gexf", "gephi-csv", "rds"):
        answer = browser.post(f"{base}/export", format=format)
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert all(kept.encode() not in archive.read(each) for each in archive.namelist())


def test_nothing_but_blanks_and_invisible_characters_is_no_name(browser, base, study):
    for name in ("", "   ", "\u0001\u202e", "\n"):
        assert browser.post(f"{base}/people", name=name, same="new").status_code == 400
        assert browser.api(f"{study}/people", {"name": name, "nonce": "n", "same": "new"}).status_code in (400, 422)


@pytest.mark.parametrize(
    "title",
    [
        "../../etc/passwd",
        "a\r\nSet-Cookie: x=1",
        "</title><script>",
        "C:\\con",
        'x"; filename="evil',
        "\u202etxt.exe",
        "{{ 1 }}",
    ],
)
def test_titles_lead_nowhere(browser, desk, title):
    form = {"title": title, "passphrase": "correct horse battery", "again": "correct horse battery", "understood": "1"}
    answer = browser.post("/new", form)
    assert answer.status_code == 303
    base = answer.headers["location"].partition("/people")[0]
    assert re.fullmatch(r"/s/[0-9a-f]{16}", base)
    page = browser.get(base).text
    assert "<script>" not in page
    assert "\u202e" not in page
    for path in ("/export", "/settings/backup"):
        answer = browser.post(base + path, format="csv")
        assert re.fullmatch(r'attachment; filename="[a-z0-9.-]+"', answer.headers["content-disposition"])
        assert "x=1" not in str(answer.headers.get("set-cookie"))
    assert {path.suffix for path in desk.library.directory.iterdir()} == {".study"}


def test_messages_in_the_address_come_from_the_catalogue_only(browser, base):
    for done in ("<script>", "../x", "added%0d%0aX: y", "error"):
        assert 'id="flash"></div>' in browser.get(f"{base}/people?done={done}").text
    assert "Saved." in browser.get(f"{base}/people?done=added").text


def test_unknown_people_are_one_clear_word(browser, base, study):
    for path in ("/people/P99", "/survey/P99", "/people/%3Cscript%3E"):
        answer = browser.get(base + path)
        assert answer.status_code == 400
        assert "<script>" not in answer.text
    assert browser.api(f"{study}/surveys/P99/contacts", {"name": "x", "nonce": "n"}).status_code == 400


def test_hostile_file_names_are_only_shown(browser, base, desk):
    files = {"files": ('..\\..\\<script>"x".csv', b"name\nAna\n")}
    look = browser.post(f"{base}/import", files=files)
    assert look.status_code == 303
    assert "<script>" not in browser.get(look.headers["location"]).text.replace('<script src="/static', "")
    assert {path.suffix for path in desk.library.directory.iterdir()} == {".study"}


def test_large_files_stay_in_memory(browser, base, monkeypatch):
    import tempfile

    def refuse(*_, **__):
        raise AssertionError("a file brought in was written to the disk")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    content = b"name\n" + b"".join(b"Person %d of the list\n" % i for i in range(60_000))
    assert len(content) > 1 << 20
    answer = browser.post(f"{base}/import", files={"files": ("roster.csv", content)})
    assert answer.status_code == 400  # more rows than a table may have
    assert "rows" in answer.text
